package bootstrap

import (
	"bytes"
	"compress/gzip"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/function-aws-machinepool/apis/v1alpha1"
)

func TestCheckPayload(t *testing.T) {
	const secret = "abcdef.0123456789abcdef"
	var compressed bytes.Buffer
	w := gzip.NewWriter(&compressed)
	if _, err := w.Write([]byte(secret)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	type args struct {
		format  Format
		payload []byte
	}
	cases := map[string]struct {
		reason string
		args   args
		want   string
	}{
		"CloudConfig": {
			reason: "Plain cloud-config is what kubeadm writes.",
			args:   args{format: v1alpha1.BootstrapFormatCloudConfig, payload: []byte("#cloud-config\n")},
		},
		"GzipCloudConfig": {
			reason: "The stub decompresses it.",
			args:   args{format: v1alpha1.BootstrapFormatCloudConfig, payload: compressed.Bytes()},
		},
		"Ignition": {
			reason: "Plain JSON is what Ignition fetches.",
			args:   args{format: v1alpha1.BootstrapFormatIgnition, payload: []byte("{}")},
		},
		"GzipIgnition": {
			reason: "Ignition does not decompress what it fetches from S3.",
			args:   args{format: v1alpha1.BootstrapFormatIgnition, payload: compressed.Bytes()},
			want: "the bootstrap data is gzip, which Ignition cannot fetch from S3: " +
				"make the bootstrap provider write plain JSON",
		},
		"GzipIgnitionCutShort": {
			reason: "The magic number is enough to know.",
			args:   args{format: v1alpha1.BootstrapFormatIgnition, payload: []byte("\x1f\x8b")},
			want: "the bootstrap data is gzip, which Ignition cannot fetch from S3: " +
				"make the bootstrap provider write plain JSON",
		},
		"Empty": {
			reason: "Whether there is bootstrap data is not for this check.",
			args:   args{format: v1alpha1.BootstrapFormatIgnition},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := ""
			if err := CheckPayload(tc.args.format, tc.args.payload); err != nil {
				got = err.Error()
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nCheckPayload(...): -want error, +got error:\n%s", tc.reason, diff)
			}
			if strings.Contains(got, secret) {
				t.Errorf("\n%s\nCheckPayload(...): the error quotes the payload", tc.reason)
			}
		})
	}
}
