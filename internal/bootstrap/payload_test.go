package bootstrap

import (
	"bytes"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/function-aws-machinepool/apis/v1alpha1"
)

func TestCheckPayload(t *testing.T) {
	const secret = "abcdef.0123456789abcdef"
	type args struct {
		format  Format
		payload []byte
	}
	const (
		notIgnition = "the bootstrap data is not an Ignition config: it must be JSON, from its first line on, with ignition.version"
		isIgnition  = `; it is an Ignition config: set spec.bootstrap.format, or the Secret's key "format", to ignition`
		isCloudInit = `; it is cloud-config: set spec.bootstrap.format, or the Secret's key "format", to cloud-config`
	)
	cloudConfig := func(payload string) args {
		return args{format: v1alpha1.BootstrapFormatCloudConfig, payload: []byte(payload)}
	}
	ignition := func(payload string) args {
		return args{format: v1alpha1.BootstrapFormatIgnition, payload: []byte(payload)}
	}
	compressed := string(compress(secret, ""))
	cases := map[string]struct {
		reason string
		args   args
		want   string
	}{
		"CloudConfig": {
			reason: "Plain cloud-config is what kubeadm writes.",
			args:   cloudConfig("#cloud-config\n" + secret),
		},
		"GzipCloudConfig": {
			reason: "The stub decompresses it.",
			args:   cloudConfig(string(compress("#cloud-config\n"+secret, ""))),
		},
		"Script": {
			reason: "What the first line must be is said, and not what it is.",
			args:   cloudConfig("#!/bin/sh\n" + secret),
			want:   "the bootstrap data is not cloud-config: its first line must be #cloud-config, or ## template: jinja before that",
		},
		"GzipDamaged": {
			reason: "The stub cannot decompress it.",
			args:   cloudConfig(compressed[:20]),
			want:   "the bootstrap data is damaged gzip",
		},
		"IgnitionForCloudConfig": {
			reason: "Data whose format is not set where it belongs: what to set is said.",
			args:   cloudConfig(`{"ignition": {"version": "3.0.0"}, "passwd": "` + secret + `"}`),
			want:   "the bootstrap data is not cloud-config: its first line must be #cloud-config, or ## template: jinja before that" + isIgnition,
		},
		"Ignition": {
			reason: "Plain JSON is what Ignition fetches.",
			args:   ignition("\n{\"passwd\": {}, \"ignition\": {\"config\": {}, \"version\": \"2.3.0\"}}\n"),
		},
		"GzipIgnition": {
			reason: "Ignition does not decompress what it fetches from S3.",
			args:   ignition(compressed),
			want: "the bootstrap data is gzip, which Ignition cannot fetch from S3: " +
				"make the bootstrap provider write plain JSON",
		},
		"GzipIgnitionCutShort": {
			reason: "The magic number is enough to know.",
			args:   ignition("\x1f\x8b"),
			want: "the bootstrap data is gzip, which Ignition cannot fetch from S3: " +
				"make the bootstrap provider write plain JSON",
		},
		"CloudConfigForIgnition": {
			reason: "Data whose format is set wrong: what to set is said.",
			args:   ignition("#cloud-config\n" + secret),
			want:   notIgnition + isCloudInit,
		},
		"IgnitionWithoutVersion": {
			reason: "Ignition refuses a config without its version.",
			args:   ignition(`{"ignition": {"config": "` + secret + `"}}`),
			want:   notIgnition,
		},
		"IgnitionVersionIsNoText": {
			reason: "A number is no version.",
			args:   ignition(`{"ignition": {"version": 3}}`),
			want:   notIgnition,
		},
		"IgnitionIsNoObject": {
			reason: "Nor has a text one.",
			args:   ignition(`{"ignition": "` + secret + `"}`),
			want:   notIgnition,
		},
		"IgnitionCutShort": {
			reason: "JSON must be whole.",
			args:   ignition(`{"ignition": {"version": "3.0.0"}, "passwd": "` + secret),
			want:   notIgnition,
		},
		"IgnitionTwice": {
			reason: "And nothing may follow.",
			args:   ignition(`{"ignition": {"version": "3.0.0"}}{"x": "` + secret + `"}`),
			want:   notIgnition,
		},
		"IgnitionBOM": {
			reason: "Nor come before it.",
			args:   ignition("\xef\xbb\xbf" + `{"ignition": {"version": "3.0.0"}}`),
			want:   notIgnition,
		},
		"Empty": {
			reason: "Nothing is no config.",
			args:   ignition(""),
			want:   notIgnition,
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

// TestNoGzipBomb holds that no more of the data is decompressed than says what it is.
func TestNoGzipBomb(t *testing.T) {
	bomb := compress("#cloud-config\n"+strings.Repeat("\n", 8<<20), "")
	bomb = bomb[:len(bomb)-1] // Whoever gets this far finds that it is cut.
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	head, err := headOf(bomb)
	runtime.ReadMemStats(&after)
	if err != nil || len(head) != headBytes {
		t.Errorf("headOf(...): want %d bytes, got %d, %v", headBytes, len(head), err)
	}
	if got := after.TotalAlloc - before.TotalAlloc; got > 1<<20 {
		t.Errorf("headOf(...): %d bytes allocated for %d of gzip", got, len(bomb))
	}
}

// TestGzipOfNothing holds that data that is made to cost is not read to its end.
func TestGzipOfNothing(t *testing.T) {
	nothing := compress("", "")
	members := bytes.Repeat(nothing, MaxPayloadBytes/len(nothing))
	blocks := append(bytes.Clone(nothing[:10]), bytes.Repeat([]byte{0, 0, 0, 0xff, 0xff}, MaxPayloadBytes/5)...)
	for name, payload := range map[string][]byte{"Members": members, "Blocks": blocks} {
		t.Run(name, func(t *testing.T) {
			// The stub refuses these, the first since it is empty. That they are not read on shows by what is said.
			got := CheckPayload(v1alpha1.BootstrapFormatCloudConfig, payload)
			if diff := cmp.Diff(errNotCloudConfig.Error(), fmt.Sprint(got)); diff != "" {
				t.Errorf("CheckPayload(...): -want, +got:\n%s", diff)
			}
		})
	}
}

func TestFormatOf(t *testing.T) {
	for _, s := range []Stub{cloudConfigStub(), ignitionStub()} {
		userData, err := UserData(s)
		if err != nil {
			t.Fatal(err)
		}
		// A launch template is looked at by its beginning.
		for _, text := range []string{userData, userData[:24]} {
			if diff := cmp.Diff(s.Format, FormatOf(text)); diff != "" {
				t.Errorf("FormatOf(%q...): -want, +got:\n%s", userData[:24], diff)
			}
		}
	}
	for _, text := range []string{"", "#!/bin/sh\n", "#cloud-config\n", "#cloud-boothook", "{}"} {
		if got := FormatOf(text); got != "" {
			t.Errorf("FormatOf(%q): want none, got %q", text, got)
		}
	}
}
