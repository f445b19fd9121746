package aws

import (
	"strings"
	"testing"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/crossplane-contrib/function-aws-machinepool/input/v1beta1"
	"github.com/crossplane-contrib/function-aws-machinepool/internal/pool"
)

func TestParseCredentials(t *testing.T) {
	const source = "MachinePoolSharedCredentials"
	type want struct {
		credentials awssdk.Credentials
		err         string
	}

	cases := map[string]struct {
		reason string
		args   string
		want   want
	}{
		"Key": {
			reason: "As provider-aws documents it.",
			args:   "[default]\naws_access_key_id = AKIA1\naws_secret_access_key = s/1+\n",
			want:   want{credentials: awssdk.Credentials{AccessKeyID: "AKIA1", SecretAccessKey: "s/1+", Source: source}},
		},
		"Session": {
			reason: "A token may end with what also separates a key from its value.",
			args:   "[default]\naws_access_key_id=ASIA1\naws_secret_access_key=s1\naws_session_token=dG9rZW4==\n",
			want:   want{credentials: awssdk.Credentials{AccessKeyID: "ASIA1", SecretAccessKey: "s1", SessionToken: "dG9rZW4==", Source: source}},
		},
		"Lenient": {
			reason: "A key's case, Windows line ends, comments, a region and other profiles do not matter.",
			args:   "# mine\r\n[other]\r\naws_access_key_id = AKIA2\r\n[Default]\r\nregion = us-east-1\r\nAWS_ACCESS_KEY_ID : AKIA1\r\n  aws_secret_access_key = s1\r\n",
			want:   want{credentials: awssdk.Credentials{AccessKeyID: "AKIA1", SecretAccessKey: "s1", Source: source}},
		},
		"NoProfile": {
			reason: "provider-aws reads a text without a profile as the profile default.",
			args:   "aws_access_key_id = AKIA1\naws_secret_access_key = s1",
			want:   want{credentials: awssdk.Credentials{AccessKeyID: "AKIA1", SecretAccessKey: "s1", Source: source}},
		},
		"Percent": {
			reason: "A value is taken as it stands.",
			args:   "[default]\naws_access_key_id = AKIA1\naws_secret_access_key = %(aws_access_key_id)s",
			want:   want{credentials: awssdk.Credentials{AccessKeyID: "AKIA1", SecretAccessKey: "%(aws_access_key_id)s", Source: source}},
		},
		"Empty":        {reason: "Nothing.", args: "", want: want{err: "the pipeline step's credentials are empty"}},
		"NotINI":       {reason: "What is not an INI is not quoted.", args: "[default]\ncanary-secret\n", want: want{err: "the pipeline step's credentials are not a shared-credentials INI"}},
		"OtherProfile": {reason: "Another profile is not taken.", args: "[other]\naws_access_key_id = AKIA2\naws_secret_access_key = s\n", want: want{err: "the pipeline step's credentials lack aws_access_key_id or aws_secret_access_key in their profile default"}},
		"Capitals":     {reason: "provider-aws does not find a profile in capitals either.", args: "[DEFAULT]\naws_access_key_id = AKIA1\naws_secret_access_key = s\n", want: want{err: "the pipeline step's credentials lack aws_access_key_id or aws_secret_access_key in their profile default"}},
		"NoSecret":     {reason: "Half a key is none.", args: "[default]\naws_access_key_id = AKIA1\n", want: want{err: "the pipeline step's credentials lack aws_access_key_id or aws_secret_access_key in their profile default"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := parseCredentials([]byte(tc.args))
			msg := ""
			if err != nil {
				msg = err.Error()
			}
			if diff := cmp.Diff(tc.want, want{credentials: got, err: msg}, cmp.AllowUnexported(want{})); diff != "" {
				t.Errorf("\n%s\nparseCredentials(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// Whatever is wrong with a Secret, its text is not shown.
func TestParseCredentialsNeverQuotes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lines := rapid.SliceOf(rapid.SampledFrom([]string{
			"[default]", "[default", "[]", "canary", "canary = canary", "aws_access_key_id = canary", "aws_secret_access_key", "aws_secret_access_key = \"\"\"canary", "= canary", "canary \\", "`canary",
		})).Draw(t, "lines")
		if _, err := parseCredentials([]byte(strings.Join(lines, "\n"))); err != nil && strings.Contains(err.Error(), "canary") {
			t.Errorf("the error quotes the Secret: %v", err)
		}
	})
}

// Two identities have the same key only if they are the same.
func TestKeyOf(t *testing.T) {
	text := rapid.SampledFrom([]string{"", "a", "b", "ab", "ba"})
	identity := rapid.Custom(func(t *rapid.T) pool.Identity {
		id := pool.Identity{Source: rapid.SampledFrom([]v1beta1.Identity{v1beta1.IdentityPod, v1beta1.IdentitySecret}).Draw(t, "source")}
		id.SharedCredentials = []byte(text.Draw(t, "credentials"))
		for range rapid.IntRange(0, 2).Draw(t, "roles") {
			id.AssumeRoleChain = append(id.AssumeRoleChain, v1beta1.AssumeRole{RoleARN: text.Draw(t, "arn"), ExternalID: text.Draw(t, "externalID")})
		}
		return id
	})
	rapid.Check(t, func(t *rapid.T) {
		a, b := identity.Draw(t, "a"), identity.Draw(t, "b")
		ra, rb := text.Draw(t, "regionA"), text.Draw(t, "regionB")
		same := cmp.Equal(a, b) && ra == rb
		if got := keyOf(a, ra) == keyOf(b, rb); got != same {
			t.Errorf("keyOf: %+v in %q, %+v in %q: want same key %t, got %t", a, ra, b, rb, same, got)
		}
	})
}
