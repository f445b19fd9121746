package bootstrap

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/crossplane-contrib/function-aws-machinepool/apis/v1alpha1"
)

var update = flag.Bool("update", false, "write the golden files instead of comparing with them")

func cloudConfigStub() Stub {
	return Stub{
		Format: v1alpha1.BootstrapFormatCloudConfig,
		Region: "us-east-1",
		Bucket: "demo-bootstrap",
		Key:    "pool/demo-pool-0",
		NodeLabels: map[string]string{
			"pool":                        "demo-pool-0",
			"node.kubernetes.io/exclude":  "",
			"example.org/disk":            "ssd",
			"topology.kubernetes.io/zone": "us-east-1a",
		},
	}
}

func ignitionStub() Stub {
	s := cloudConfigStub()
	s.Format = v1alpha1.BootstrapFormatIgnition
	s.NodeLabels = nil
	return s
}

func TestUserDataGolden(t *testing.T) {
	cases := map[string]struct {
		reason string
		args   Stub
	}{
		"cloud-config.txt": {
			reason: "The stub for cloud-init is a boothook: assignments, then the script, labels sorted.",
			args:   cloudConfigStub(),
		},
		"ignition.json": {
			reason: "The stub for Ignition is a config that replaces itself.",
			args:   ignitionStub(),
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := UserData(tc.args)
			if err != nil {
				t.Fatalf("\n%s\nUserData(...): %v", tc.reason, err)
			}
			path := filepath.Join("testdata", name)
			if *update {
				if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("\n%s\nUserData(...): -want, +got (go test -update writes it):\n%s", tc.reason, diff)
			}
		})
	}
}

func TestUserDataErrors(t *testing.T) {
	with := func(s Stub, change func(*Stub)) Stub {
		change(&s)
		return s
	}
	cases := map[string]struct {
		reason string
		args   Stub
		want   string
	}{
		"UnknownFormat": {
			reason: "Only the two formats have a stub.",
			args:   with(cloudConfigStub(), func(s *Stub) { s.Format = "shell" }),
			want:   `unknown bootstrap format "shell": use cloud-config or ignition`,
		},
		"NoRegion": {
			reason: "The region is a part of S3's host name.",
			args:   with(cloudConfigStub(), func(s *Stub) { s.Region = "" }),
			want:   `region "" is none: use one such as us-east-1`,
		},
		"RegionWithHost": {
			reason: "A region cannot point the stub at another host.",
			args:   with(cloudConfigStub(), func(s *Stub) { s.Region = "example.org/x" }),
			want:   `region "example.org/x" is none: use one such as us-east-1`,
		},
		"NoBucket": {
			reason: "There is nothing to fetch from.",
			args:   with(cloudConfigStub(), func(s *Stub) { s.Bucket = "" }),
			want:   "the bootstrap bucket has no name",
		},
		"BucketWithSlash": {
			reason: "A slash would make a part of the key of it.",
			args:   with(ignitionStub(), func(s *Stub) { s.Bucket = "demo/x" }),
			want:   `bucket "demo/x" holds a slash: use the bucket's name alone`,
		},
		"NoKey": {
			reason: "There is nothing to fetch.",
			args:   with(ignitionStub(), func(s *Stub) { s.Key = "" }),
			want:   "the bootstrap key has no name",
		},
		"KeyWithNewline": {
			reason: "The log shows the key on one line.",
			args:   with(cloudConfigStub(), func(s *Stub) { s.Key = "pool/a\nb" }),
			want:   `bootstrap key "pool/a\nb" holds control characters: use printable ones`,
		},
		"IgnitionWithLabels": {
			reason: "Ignition has no stub to write labels.",
			args:   with(ignitionStub(), func(s *Stub) { s.NodeLabels = map[string]string{"a": "b"} }),
			want: "node labels cannot be set with Ignition: set them in the bootstrap data " +
				"(for kubeadm, nodeRegistration.kubeletExtraArgs) and remove spec.nodeLabels",
		},
		"UnfilteredLabel": {
			reason: "A kubelet would exit on it.",
			args: with(cloudConfigStub(), func(s *Stub) {
				s.NodeLabels = map[string]string{"node-role.kubernetes.io/worker": ""}
			}),
			want: `node label "node-role.kubernetes.io/worker" is not one a kubelet may set: filter the labels first`,
		},
		"LabelKey": {
			reason: "A kubelet would exit on it.",
			args:   with(cloudConfigStub(), func(s *Stub) { s.NodeLabels = map[string]string{"a,b": ""} }),
			want: `node label key "a,b": name part must consist of alphanumeric characters, '-', '_' or '.', and must start ` +
				`and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for ` +
				`validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')`,
		},
		"LabelValue": {
			reason: "A value cannot end the quotes of the kubelet's environment file.",
			args:   with(cloudConfigStub(), func(s *Stub) { s.NodeLabels = map[string]string{"a": `x" --v=9`} }),
			want: `value "x\" --v=9" of node label "a": a valid label must be an empty string or consist of alphanumeric ` +
				`characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or ` +
				`'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')`,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := UserData(tc.args)
			if err == nil {
				t.Fatalf("\n%s\nUserData(...): no error", tc.reason)
			}
			if diff := cmp.Diff(tc.want, err.Error()); diff != "" {
				t.Errorf("\n%s\nUserData(...): -want error, +got error:\n%s", tc.reason, diff)
			}
			if got != "" {
				t.Errorf("\n%s\nUserData(...): an error with %d bytes of user data", tc.reason, len(got))
			}
		})
	}
}

// TestUserDataLimit: EC2's limit can be used up to its last byte.
func TestUserDataLimit(t *testing.T) {
	s := cloudConfigStub()
	s.NodeLabels = nil
	base, err := UserData(s)
	if err != nil {
		t.Fatal(err)
	}

	s.NodeLabels = labelsTaking(MaxUserDataBytes - len(base))
	got, err := UserData(s)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(MaxUserDataBytes, len(got)); diff != "" {
		t.Errorf("the largest user data: -want bytes, +got bytes:\n%s", diff)
	}

	s.NodeLabels = labelsTaking(MaxUserDataBytes - len(base) + 1)
	_, err = UserData(s)
	want := fmt.Sprintf("the user data takes 16385 bytes, EC2's limit is 16384: remove or shorten node labels, which take %d",
		MaxUserDataBytes-len(base)+1)
	if err == nil {
		t.Fatal("UserData(...): no error one byte over the limit")
	}
	if diff := cmp.Diff(want, err.Error()); diff != "" {
		t.Errorf("UserData(...): -want error, +got error:\n%s", diff)
	}
}

// labelsTaking makes labels that take that many bytes when joined: k0000=xxx,k0001=xxx.
func labelsTaking(size int) map[string]string {
	const name, value = len("k0000="), 40
	labels := map[string]string{}
	for size -= name; size > 2*(name+value); size -= name + value + len(",") {
		labels[fmt.Sprintf("k%04d", len(labels))] = strings.Repeat("x", value)
	}
	first := size / 2 // The last two share the rest.
	labels[fmt.Sprintf("k%04d", len(labels))] = strings.Repeat("x", first)
	labels[fmt.Sprintf("k%04d", len(labels))] = strings.Repeat("x", size-first-name-len(","))
	return labels
}

// TestUserDataSize keeps the stub small: what it takes is lost to labels.
func TestUserDataSize(t *testing.T) {
	s := cloudConfigStub()
	s.NodeLabels = nil
	got, err := UserData(s)
	if err != nil {
		t.Fatal(err)
	}
	if limit := 12 << 10; len(got) > limit {
		t.Errorf("the stub takes %d bytes, want at most %d", len(got), limit)
	}
}

// TestUserDataDeterminism: maps come in any order, the text does not.
func TestUserDataDeterminism(t *testing.T) {
	want, err := UserData(cloudConfigStub())
	if err != nil {
		t.Fatal(err)
	}
	for range 50 {
		got, err := UserData(cloudConfigStub())
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("UserData(...): -first, +later:\n%s", diff)
		}
	}
}

// TestStubSyntax parses the stub with the machine's sh. What it does is test/boot's to show.
func TestStubSyntax(t *testing.T) {
	sh := shell(t)
	got, err := UserData(cloudConfigStub())
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(sh, "-n")
	cmd.Stdin = strings.NewReader(got)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("sh -n: %v\n%s", err, out)
	}
}

// TestStubAssignments: the shell reads back every value just as it was, whatever it holds.
func TestStubAssignments(t *testing.T) {
	sh := shell(t)
	rapid.Check(t, func(t *rapid.T) {
		s := cloudConfigStub()
		s.Bucket = s3Name("bucket").Draw(t, "bucket")
		s.Key = s3Name("key").Draw(t, "key")
		s.Bucket = strings.ReplaceAll(s.Bucket, "/", "-")
		got, err := UserData(s)
		if err != nil {
			t.Fatal(err)
		}
		assignments, _, found := strings.Cut(got, "\n"+stubScript())
		if !found {
			t.Fatal("the script does not follow its assignments")
		}
		cmd := exec.Command(sh)
		cmd.Stdin = strings.NewReader(assignments + "\n" + `printf '%s\n' "$region" "$bucket" "$key" "$labels"`)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("sh: %v\n%s", err, out)
		}
		want := strings.Join([]string{s.Region, s.Bucket, s.Key, joinLabels(s.NodeLabels), ""}, "\n")
		if diff := cmp.Diff(want, string(out)); diff != "" {
			t.Fatalf("what sh reads: -want, +got:\n%s", diff)
		}
	})
}

// s3Name draws names that UserData takes, with a taste for what shells treat specially.
func s3Name(label string) *rapid.Generator[string] {
	return rapid.OneOf(
		rapid.StringOfN(rapid.SampledFrom([]rune(`'"\$`+"`"+`(){}[]<>|&;*?!#~%^=+-_./ aZ0é€`)), 1, 40, -1),
		rapid.String(),
	).Filter(func(s string) bool { return checkS3Name(label, s) == nil })
}

func shell(t *testing.T) string {
	t.Helper()
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("no sh on this machine")
	}
	return sh
}
