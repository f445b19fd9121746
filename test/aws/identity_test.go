//go:build moto

package aws_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/function-aws-machinepool/apis/v1alpha1"
	"github.com/crossplane-contrib/function-aws-machinepool/internal/simulator"
	"github.com/crossplane-contrib/function-aws-machinepool/test/aws/moto"
)

const secretIdentity = "{identity: Secret, credentials: aws-creds}"

// Two pools in one process with a Secret each: every call is signed with its own pool's key, and a rotated Secret is used
// from the next run on. The size is the spec's here.
func TestFunctionSignsInWithSecrets(t *testing.T) {
	t.Parallel()
	m := moto.Start(t)
	w := startWire(t, m)
	w.answer("DescribeInstanceRefreshes", refreshes())
	// The pod's own credentials must not be used.
	fn := startFunction(t, podEnv(w.URL))
	image := publish(t, m, "any")
	keys := map[string]bool{}
	var pools []*machinePool
	for _, name := range []string{"a", "b"} {
		p := newPool(t, fn, m, name, secretIdentity)
		simulator.SetField(p.XR, image, "spec", "machineImage", "id")
		simulator.SetField(p.XR, nil, "spec", "autoscaling")
		simulator.SetField(p.XR, int64(2), "spec", "replicas")
		p.signIn("AKIA"+name, canary)
		pools = append(pools, p)
		s := p.until("created "+name, func(s v1alpha1.MachinePoolStatus) bool {
			return s.Health != nil && s.Health.Healthy && len(s.Instances) == 2
		})
		p.wantMembers("created "+name, map[string]int{"running": 2})
		if want := "mp-team-a-" + name + "-"; !strings.HasPrefix(s.AutoscalingGroupName, want) {
			t.Errorf("want a group %s..., got %s", want, s.AutoscalingGroupName)
		}
	}
	calls, n := w.since(0)
	for _, c := range calls {
		keys[c.KeyID] = true
	}
	if diff := cmp.Diff(map[string]bool{"AKIAa": true, "AKIAb": true}, keys); diff != "" {
		t.Errorf("keys: -want, +got:\n%s", diff)
	}

	p := pools[0]
	p.signIn("AKIArotated", canary)
	simulator.SetField(p.XR, int64(4), "spec", "replicas")
	p.until("scaled", func(s v1alpha1.MachinePoolStatus) bool { return *s.Replicas == 4 && len(s.ProviderIDList) == 4 })
	p.wantHealth("scaled", "running", true, "4 of 4 instances running")
	calls, _ = w.since(n)
	for _, c := range calls {
		if c.KeyID != "AKIArotated" {
			t.Errorf("rotated: want the new key only, got %+v", c)
		}
	}
	if len(calls) == 0 {
		t.Error("rotated: want calls")
	}
}

// Moto checks signatures and policies here: the policy of docs/aws-access.md is enough, and less is not.
func TestFunctionNeedsTheDocumentedPolicy(t *testing.T) {
	t.Parallel()
	m := moto.Start(t)
	w := startWire(t, m)
	w.answer("DescribeInstanceRefreshes", refreshes())
	fn := startFunction(t, map[string]string{"AWS_ENDPOINT_URL": w.URL})
	image := publish(t, m, "capa-ami-ubuntu-24.04-v1.34.1-20260101")
	policy := documentedPolicy(t)
	keyID, secret := makeUser(t, m, "reads", policy)
	narrowID, narrowSecret := makeUser(t, m, "reads-less", without(t, policy, "ec2:DescribeInstances"))

	p := newPool(t, fn, m, "demo-pool-0", secretIdentity)
	p.signIn(keyID, secret)
	s := p.until("created", func(s v1alpha1.MachinePoolStatus) bool { return s.Health.Healthy && rolloutIs(s, "Idle") })
	if s.ImageID != image || len(s.ProviderIDList) != 3 {
		t.Fatalf("created: got %+v", s)
	}
	// From here on moto lets nobody in without a reason.
	p.idle = true
	enforce(t, m)
	p.wantQuiet("the documented policy")

	cases := map[string]struct {
		present         func()
		reason, message string
		// images says that images cannot be looked up either.
		images bool
	}{
		"one action is missing": {
			present: func() { p.signIn(narrowID, narrowSecret) },
			reason:  "AccessDenied", message: "ec2:DescribeInstances was denied",
		},
		"the secret is wrong": {
			present: func() { p.signIn(keyID, canary) },
			reason:  "CredentialsInvalid", message: "credentials", images: true,
		},
		"the key is unknown": {
			present: func() { p.signIn("AKIACANARY0000000000", canary) },
			reason:  "CredentialsInvalid", message: "credentials", images: true,
		},
		"the Secret is no INI": {
			present: func() { p.present(canary + " [") },
			reason:  "CredentialsInvalid", message: "not a shared-credentials INI", images: true,
		},
		"there is no Secret": {
			present: func() { p.credentials = nil },
			reason:  "CredentialsInvalid", message: "empty", images: true,
		},
	}
	for name, c := range cases {
		p.takeEvents()
		c.present()
		got := p.until(name, func(s v1alpha1.MachinePoolStatus) bool { return s.Health.State == "unknown" })
		if !slices.Equal(got.Health.Reasons, []string{c.reason}) || !strings.Contains(got.Health.Message, c.message) {
			t.Errorf("%s: want %s with %q, got %+v", name, c.reason, c.message, got.Health)
		}
		p.wantKept(name, s)
		if events := p.events; !c.images && len(events) != 1 {
			t.Errorf("%s: want one event, got %q", name, events)
		}
		p.wantEvent(name, c.reason)
		p.wantQuiet(name)

		p.signIn(keyID, secret)
		p.until(name+": repaired", func(s v1alpha1.MachinePoolStatus) bool { return s.Health.Healthy })
		p.wantEvent(name+": repaired", "Healthy")
	}
}

// wantKept holds that what is known of members and image is what was known before.
func (p *machinePool) wantKept(when string, before v1alpha1.MachinePoolStatus) {
	p.t.Helper()
	s := p.status()
	if diff := cmp.Diff(before.ProviderIDList, s.ProviderIDList); diff != "" {
		p.t.Errorf("%s: list: -want, +got:\n%s", when, diff)
	}
	if diff := cmp.Diff(before.Instances, s.Instances); diff != "" {
		p.t.Errorf("%s: instances: -want, +got:\n%s", when, diff)
	}
	if diff := cmp.Diff(before.Replicas, s.Replicas); diff != "" {
		p.t.Errorf("%s: replicas: -want, +got:\n%s", when, diff)
	}
	if s.ImageID != before.ImageID || !s.Ready || !*s.Initialization.Provisioned {
		p.t.Errorf("%s: want image %s and a ready pool, got %+v", when, before.ImageID, s)
	}
	if n := len(p.composed("AutoscalingGroup")) + len(p.composed("LaunchTemplate")); n != 2 {
		p.t.Errorf("%s: want the group and its template, got %d", when, n)
	}
}

// documentedPolicy is the first one in docs/aws-access.md.
func documentedPolicy(t *testing.T) string {
	t.Helper()
	doc, err := os.ReadFile("../../docs/aws-access.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(doc), "```json\n")
	policy, _, _ := strings.Cut(rest, "```")
	if n := strings.Count(policy, ":Describe"); n != 4 || !json.Valid([]byte(policy)) {
		t.Fatalf("want the least policy, got %s", policy)
	}
	return policy
}

// without the action, which must not be the policy's first.
func without(t *testing.T, policy, action string) string {
	t.Helper()
	less := regexp.MustCompile(`,\s*"`+action+`"`).ReplaceAllString(policy, "")
	if less == policy || !json.Valid([]byte(less)) {
		t.Fatalf("want the policy without %s, got %s", action, less)
	}
	return less
}

// makeUser with an access key and a policy.
func makeUser(t *testing.T, m *moto.Server, name, policy string) (keyID, secret string) {
	t.Helper()
	m.Call(t, "iam", region, "CreateUser", moto.Params{"UserName": name})
	m.Call(t, "iam", region, "PutUserPolicy", moto.Params{"UserName": name, "PolicyName": name, "PolicyDocument": policy})
	key := m.Call(t, "iam", region, "CreateAccessKey", moto.Params{"UserName": name})
	return key.First(t, "AccessKeyId"), key.First(t, "SecretAccessKey")
}

// enforce makes moto check every signature and policy from now on.
func enforce(t *testing.T, m *moto.Server) {
	t.Helper()
	resp, err := http.Post(m.URL+"/moto-api/reset-auth", "text/plain", bytes.NewBufferString("0"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		t.Fatalf("cannot make moto check: %s", resp.Status)
	}
}
