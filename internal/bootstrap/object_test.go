package bootstrap

import (
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// TestNewObject holds the hosts against what botocore 1.43 makes of the same names.
func TestNewObject(t *testing.T) {
	type args struct {
		region, bucket, key string
	}
	cases := map[string]struct {
		reason string
		args   args
		want   object
	}{
		"Public": {
			reason: "The public partition.",
			args:   args{region: "eu-central-1", bucket: "demo", key: "pool/a"},
			want: object{
				host:          "demo.s3.eu-central-1.amazonaws.com",
				dualStackHost: "demo.s3.dualstack.eu-central-1.amazonaws.com",
				path:          "/pool/a",
			},
		},
		"China": {
			reason: "China has a domain of its own.",
			args:   args{region: "cn-northwest-1", bucket: "demo", key: "pool/a"},
			want: object{
				host:          "demo.s3.cn-northwest-1.amazonaws.com.cn",
				dualStackHost: "demo.s3.dualstack.cn-northwest-1.amazonaws.com.cn",
				path:          "/pool/a",
			},
		},
		"GovCloud": {
			reason: "GovCloud is in the public domain.",
			args:   args{region: "us-gov-west-1", bucket: "demo", key: "pool/a"},
			want: object{
				host:          "demo.s3.us-gov-west-1.amazonaws.com",
				dualStackHost: "demo.s3.dualstack.us-gov-west-1.amazonaws.com",
				path:          "/pool/a",
			},
		},
		"Sovereign": {
			reason: "The European Sovereign Cloud has a domain of its own.",
			args:   args{region: "eusc-de-east-1", bucket: "demo", key: "pool/a"},
			want: object{
				host:          "demo.s3.eusc-de-east-1.amazonaws.eu",
				dualStackHost: "demo.s3.dualstack.eusc-de-east-1.amazonaws.eu",
				path:          "/pool/a",
			},
		},
		"Secret": {
			reason: "Regions of the secret partitions differ by one letter.",
			args:   args{region: "us-isob-east-1", bucket: "demo", key: "pool/a"},
			want: object{
				host:          "demo.s3.us-isob-east-1.sc2s.sgov.gov",
				dualStackHost: "demo.s3.dualstack.us-isob-east-1.sc2s.sgov.gov",
				path:          "/pool/a",
			},
		},
		"DottedBucket": {
			reason: "S3's wildcard certificate covers one label, so a dotted bucket goes into the path.",
			args:   args{region: "us-east-1", bucket: "demo.example.org", key: "pool/a"},
			want: object{
				host:          "s3.us-east-1.amazonaws.com",
				dualStackHost: "s3.dualstack.us-east-1.amazonaws.com",
				path:          "/demo.example.org/pool/a",
			},
		},
		"OldBucket": {
			reason: "Host names have no case, old buckets do.",
			args:   args{region: "us-east-1", bucket: "Demo_1", key: "pool/a"},
			want: object{
				host:          "s3.us-east-1.amazonaws.com",
				dualStackHost: "s3.dualstack.us-east-1.amazonaws.com",
				path:          "/Demo_1/pool/a",
			},
		},
		"EncodedKey": {
			reason: "Every byte but the unreserved and the slash is encoded, as SigV4 does.",
			args:   args{region: "us-east-1", bucket: "demo", key: "pool/a b+c'~/é%"},
			want: object{
				host:          "demo.s3.us-east-1.amazonaws.com",
				dualStackHost: "demo.s3.dualstack.us-east-1.amazonaws.com",
				path:          "/pool/a%20b%2Bc%27~/%C3%A9%25",
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := newObject(tc.args.region, tc.args.bucket, tc.args.key)
			if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(object{})); diff != "" {
				t.Errorf("\n%s\nnewObject(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestDNSSuffix(t *testing.T) {
	cases := map[string]struct {
		reason string
		args   string
		want   string
	}{
		"Europe":  {reason: "An ordinary region.", args: "eu-west-1", want: "amazonaws.com"},
		"ISO":     {reason: "Top Secret, east.", args: "us-iso-east-1", want: "c2s.ic.gov"},
		"ISOF":    {reason: "Its own domain.", args: "us-isof-south-1", want: "csp.hci.ic.gov"},
		"ISOE":    {reason: "Its own domain.", args: "eu-isoe-west-1", want: "cloud.adc-e.uk"},
		"Unknown": {reason: "A new region is most likely public.", args: "xx-north-9", want: "amazonaws.com"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, dnsSuffix(tc.args)); diff != "" {
				t.Errorf("\n%s\ndnsSuffix(%q): -want, +got:\n%s", tc.reason, tc.args, diff)
			}
		})
	}
}

// TestPercentEncode: any key comes back, and only RFC 3986's unreserved characters and slashes stand for themselves.
func TestPercentEncode(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		key := string(rapid.SliceOf(rapid.Byte()).Draw(t, "key"))
		encoded := percentEncode(key)
		back, err := url.PathUnescape(encoded)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(key, back); diff != "" {
			t.Fatalf("decoded again: -want, +got:\n%s", diff)
		}
		if strings.ContainsAny(encoded, " !*'();:@&=+$,?#[]\"\\<>^`{|}") {
			t.Fatalf("%q holds reserved characters", encoded)
		}
	})
}
