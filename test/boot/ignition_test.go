//go:build boot

package boot

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/crossplane-contrib/function-aws-machinepool/apis/v1alpha1"
	"github.com/crossplane-contrib/function-aws-machinepool/internal/bootstrap"
)

const ignitionPayload = `{
  "ignition": {"version": "3.0.0"},
  "storage": {"files": [{"path": "/etc/kubeadm.yml", "mode": 384, "contents": {"source": "data:,` + joinToken + `"}}]}
}`

// fetchIgnition is how an instance fetches, and ignitionHosts is where.
var (
	fetchIgnition = []string{
		"/usr/lib/dracut/modules.d/30ignition/ignition",
		"--platform=aws", "--stage=fetch", "--log-to-stdout", "--fetch-timeout=30s",
	}
	ignitionHosts = []string{
		"s3.amazonaws.com", "s3.us-east-1.amazonaws.com", "demo-bootstrap.s3.amazonaws.com",
		"s3.dualstack.us-east-1.amazonaws.com", "demo-bootstrap.s3.dualstack.us-east-1.amazonaws.com",
	}
)

func ignitionStub() bootstrap.Stub {
	s := demo()
	s.Format = v1alpha1.BootstrapFormatIgnition
	return s
}

// TestIgnitionValidates: Ignition's own validator takes the stub, and no other.
func TestIgnitionValidates(t *testing.T) {
	quoted := ignitionStub()
	quoted.Key = "pool/it's \"a\" {b}?c#d%41é"
	cases := map[string]struct {
		reason string
		text   string
		code   int
	}{
		"Stub":     {reason: "The stub is a valid config.", text: userData(t, ignitionStub())},
		"Quoted":   {reason: "So it is with any key.", text: userData(t, quoted)},
		"Boothook": {reason: "The validator does refuse what is none.", text: userData(t, demo()), code: 1},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			m := newMachine(t)
			m.write("/tmp/config.ign", tc.text, 0o600)
			if r := m.run("ignition-validate", "/tmp/config.ign"); r.code != tc.code {
				t.Errorf("%s\nignition-validate: status %d, want %d\n%s", tc.reason, r.code, tc.code, r.out)
			}
		})
	}
}

// TestIgnitionFetches runs Ignition as an instance does: user data from the metadata, and then the config it points to,
// from S3 with the instance's role.
func TestIgnitionFetches(t *testing.T) {
	for name, key := range map[string]string{"Plain": demo().Key, "Quoted": "pool/it's a {b}?c#d%41é"} {
		t.Run(name, func(t *testing.T) {
			resetServers(t)
			s := ignitionStub()
			s.Key = key
			s3.putAs(s.Bucket, s.Key, ignitionPayload)
			metadata.userData = userData(t, s)
			m := newMachine(t, ignitionHosts...)

			r := m.run(fetchIgnition...)
			if r.code != 0 {
				t.Fatalf("ignition: status %d\n%s", r.code, r.out)
			}
			var config struct {
				Storage struct {
					Files []struct {
						Path string `json:"path"`
					} `json:"files"`
				} `json:"storage"`
			}
			if err := json.Unmarshal([]byte(m.read("/run/ignition.json")), &config); err != nil {
				t.Fatal(err)
			}
			if len(config.Storage.Files) != 1 || config.Storage.Files[0].Path != "/etc/kubeadm.yml" {
				t.Errorf("Ignition got %s", m.read("/run/ignition.json"))
			}
			for _, request := range s3.seen() {
				if request.bucket != s.Bucket || strings.TrimPrefix(request.key, "/") != s.Key {
					t.Errorf("requests %v", s3.seen())
				}
			}
			if !slices.Contains(metadata.requests, "PUT /latest/api/token") {
				t.Errorf("metadata was not asked as version 2: %v", metadata.requests)
			}
		})
	}
}

// TestIgnitionOldSpec: Ignition 3 refuses a config of version 2, which Cluster API's kubeadm provider writes for Flatcar.
func TestIgnitionOldSpec(t *testing.T) {
	resetServers(t)
	s := ignitionStub()
	s3.putAs(s.Bucket, s.Key, `{"ignition": {"version": "2.3.0"}}`)
	metadata.userData = userData(t, s)
	m := newMachine(t, ignitionHosts...)
	r := m.run(fetchIgnition...)
	if r.code == 0 || !strings.Contains(r.out, "unsupported config version") {
		t.Errorf("ignition: status %d, want it to refuse the version\n%s", r.code, r.out)
	}
}
