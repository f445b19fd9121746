package syntax

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// TestMatches holds each syntax to what AWS and Kubernetes write, in forms other than the commonest too, and to what would
// mean something else where the value is used.
func TestMatches(t *testing.T) {
	cases := map[string]struct {
		syntax    Syntax
		good, bad []string
	}{
		"Region": {
			syntax: Region,
			good:   []string{"us-east-1", "us-gov-west-1", "us-iso-east-1", "us-isof-south-1", "eu-isoe-west-1", "eusc-de-east-1", "cn-north-1", "ap-southeast-7", "mx-central-1", "il-central-1"},
			bad:    []string{"", "us-east-1a", "us-east", "us", "us_east_1", "us-east-1.amazonaws.com.example.org", "us-east-1#", "us-east-1@", "localhost", "xn--east-1", "us-east-1\n", "-east-1", "us-east-100"},
		},
		"Zone": {
			syntax: Zone,
			good: []string{
				"us-east-1a", "us-gov-west-1b", "us-iso-east-1a", "us-isob-east-1a", "eu-isoe-west-1a", "eusc-de-east-1a", "cn-northwest-1c", "mx-central-1a",
				"ap-southeast-2-akl-1a", "us-west-2-lax-1a", "us-east-1-bos-1a", "us-east-1-wl1-bos-wlz-1", "eu-west-3-cmn-wlz-1a",
			},
			bad: []string{
				"", "a", "us-east-1", "us-east-1a,us-east-1b", "us-east-1a,", "us-east-1a\n", "us-east-1a\x00", "us-east-1a us-east-1b", "US-EAST-1A", "us-east-1-",
				"us-east-1/a", "use1-az1", "us-east-1\u0430", "us-east-1-" + strings.Repeat("z", 54),
			},
		},
		"ClusterID": {
			syntax: ClusterID,
			good:   []string{"demo-1960e37c", strings.Repeat("c", 106), "a/b:c@d"},
			bad:    []string{"", strings.Repeat("c", 107), "demo#1", "demo 1", "ö"},
		},
		"SubnetID": {
			syntax: SubnetID,
			good:   []string{"subnet-0abc1234", "subnet-0123456789abcdef0"},
			bad:    []string{"", "subnet-a", "subnet-0123456789abcdef", "subnet-0123456789ABCDEF0", "subnet-0123456789abcdef01", "subnet-ghij1234", "vpc-0abc1234", "subnet-0abc1234,subnet-0abc1235"},
		},
		"SecurityGroupID": {
			syntax: SecurityGroupID,
			good:   []string{"sg-0abc1234", "sg-0123456789abcdef0"},
			bad:    []string{"", "sg-1", "sg-0123456789abcdef", "sg-ghij1234", "default", "sg-0123456789abcdef01"},
		},
		"InstanceProfile": {
			syntax: InstanceProfile,
			good:   []string{"demo-worker", "a+=,.@_-", strings.Repeat("p", 128)},
			bad:    []string{"", "arn:aws:iam::123456789012:instance-profile/demo", "a/b", strings.Repeat("p", 129)},
		},
		"KeyPairName": {
			syntax: KeyPairName,
			good:   []string{"demo", "my key (2)", "Jörg's key", strings.Repeat("k", 255)},
			bad:    []string{"", "demo\n", "\x1b[2Jdemo", strings.Repeat("k", 256)},
		},
		"Bucket": {
			syntax: Bucket,
			good:   []string{"abc", "demo.bootstrap", "Old_Bucket", strings.Repeat("b", 63)},
			bad:    []string{"", "ab", "a/b", "..", "...", "../a", "-abc", "abc.", "a b", strings.Repeat("b", 64), strings.Repeat("b", 255)},
		},
		"ObjectName": {
			syntax: ObjectName,
			good:   []string{"demo", "demo.example.org", "system:demo", "Demo_1", "a..b"},
			bad:    []string{"", ".", "..", "../secrets", "demo/status", "demo%2f", "demo?watch=true", "demo#", "demo\n", "demo\x1b[2J", "d\u202eomed", strings.Repeat("n", 254)},
		},
		"FieldPath": {
			syntax: FieldPath,
			good:   []string{"status.exports", "status.outputs[0].value", "metadata.annotations[example.org/a b]"},
			bad:    []string{"", "status\n", "status\x1b[2J", "status\u202e", "Köln", strings.Repeat("p", 1025)},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			for _, value := range slices.Concat(tc.good, tc.bad) {
				if want := slices.Contains(tc.good, value); tc.syntax.Matches(value) != want {
					t.Errorf("Matches(%q): want %t", value, want)
				}
			}
		})
	}
}

func TestCheck(t *testing.T) {
	cases := map[string]struct {
		reason string
		args   string
		want   field.ErrorList
	}{
		"Good": {reason: "What matches is not refused.", args: "us-east-1"},
		"Bad": {
			reason: "What does not match is quoted.", args: "moon-1",
			want: field.ErrorList{field.Invalid(field.NewPath("region"), "moon-1", Region.Words)},
		},
		"Long": {
			reason: "What is too long is not: it can be as long as an object can be.", args: strings.Repeat("r", 1<<20),
			want: field.ErrorList{field.TooLong(field.NewPath("region"), "", 63)},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, Region.Check(field.NewPath("region"), tc.args)); diff != "" {
				t.Errorf("\n%s\nCheck(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
