package rollout

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/crossplane-contrib/function-aws-machinepool/apis/v1alpha1"
)

func rolls(version, imageID *string, trigger string) *v1alpha1.MachinePoolSpec {
	return &v1alpha1.MachinePoolSpec{
		KubernetesVersion: version,
		MachineImage:      v1alpha1.MachineImage{ID: imageID},
		Rollout:           v1alpha1.Rollout{Trigger: trigger},
	}
}

// The wanted keys were made by sha256sum over the JSON that each reason quotes.
func TestKey(t *testing.T) {
	cases := map[string]struct {
		reason string
		args   *v1alpha1.MachinePoolSpec
		want   string
	}{
		"Version": {
			reason: `{"kubernetesVersion":"v1.34.1","machineImage":{"id":null},"rollout":{"trigger":""}}`,
			args:   rolls(new("v1.34.1"), nil, ""),
			want:   "a537c9ea",
		},
		"VersionWithSuffix": {
			reason: `{"kubernetesVersion":"v1.34.1+rke2r1","machineImage":{"id":null},"rollout":{"trigger":""}}`,
			args:   rolls(new("v1.34.1+rke2r1"), nil, ""),
			want:   "a93707d9",
		},
		"PinnedImage": {
			reason: `{"kubernetesVersion":"v1.34.1","machineImage":{"id":"ami-0123456789abcdef0"},"rollout":{"trigger":""}}`,
			args:   rolls(new("v1.34.1"), new("ami-0123456789abcdef0"), ""),
			want:   "497384ff",
		},
		"All": {
			reason: `{"kubernetesVersion":"v1.34.1+rke2r2","machineImage":{"id":null},"rollout":{"trigger":"2026-11-29"}}`,
			args:   rolls(new("v1.34.1+rke2r2"), nil, "2026-11-29"),
			want:   "5c0bd7d1",
		},
		"None": {
			reason: `{"kubernetesVersion":null,"machineImage":{"id":null},"rollout":{"trigger":""}}`,
			args:   rolls(nil, nil, ""),
			want:   "acd76f45",
		},
		"Empty": {
			reason: "Unset and empty are the same.",
			args:   rolls(new(""), new(""), ""),
			want:   "acd76f45",
		},
		"HTMLCharacters": {
			reason: `Characters that Go escapes for HTML stay as they are: {"kubernetesVersion":null,"machineImage":{"id":null},"rollout":{"trigger":"<a & b>"}}`,
			args:   rolls(nil, nil, "<a & b>"),
			want:   "df34fa3a",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, Key(tc.args)); diff != "" {
				t.Errorf("\n%s\nKey(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestKeyRolls tells what rolls a pool from what does not: the table of docs/lifecycle.md.
func TestKeyRolls(t *testing.T) {
	cases := map[string]struct {
		reason string
		change func(s *v1alpha1.MachinePoolSpec)
		want   bool
	}{
		"Version":              {reason: "Another version rolls.", change: func(s *v1alpha1.MachinePoolSpec) { s.KubernetesVersion = new("v1.34.2+rke2r1") }, want: true},
		"Suffix":               {reason: "Another suffix rolls.", change: func(s *v1alpha1.MachinePoolSpec) { s.KubernetesVersion = new("v1.34.1+rke2r2") }, want: true},
		"NoSuffix":             {reason: "The suffix that goes rolls.", change: func(s *v1alpha1.MachinePoolSpec) { s.KubernetesVersion = new("v1.34.1") }, want: true},
		"NoV":                  {reason: "The version is taken to the letter.", change: func(s *v1alpha1.MachinePoolSpec) { s.KubernetesVersion = new("1.34.1+rke2r1") }, want: true},
		"Image":                {reason: "A pinned image rolls.", change: func(s *v1alpha1.MachinePoolSpec) { s.MachineImage.ID = new("ami-00000001") }, want: true},
		"Trigger":              {reason: "Any change of the trigger rolls.", change: func(s *v1alpha1.MachinePoolSpec) { s.Rollout.Trigger = "again" }, want: true},
		"InstanceType":         {reason: "An instance type is changed in place.", change: func(s *v1alpha1.MachinePoolSpec) { s.InstanceType = "m7i.large" }},
		"NodeLabels":           {reason: "Node labels are changed in place.", change: func(s *v1alpha1.MachinePoolSpec) { s.NodeLabels = map[string]string{"a": "b"} }},
		"ImageFilter":          {reason: "A looked-up image is changed in place.", change: func(s *v1alpha1.MachinePoolSpec) { s.MachineImage.NameFormat = "other-{version}" }},
		"ImageOwner":           {reason: "A looked-up image is changed in place.", change: func(s *v1alpha1.MachinePoolSpec) { s.MachineImage.Owner = "self" }},
		"Architecture":         {reason: "A looked-up image is changed in place.", change: func(s *v1alpha1.MachinePoolSpec) { s.MachineImage.Architecture = v1alpha1.ArchitectureARM64 }},
		"RootDevice":           {reason: "The root volume is changed in place.", change: func(s *v1alpha1.MachinePoolSpec) { s.MachineImage.RootDeviceName = "/dev/xvda" }},
		"RootVolume":           {reason: "The root volume is changed in place.", change: func(s *v1alpha1.MachinePoolSpec) { s.RootVolume.SizeGiB = 80 }},
		"Spot":                 {reason: "Spot is changed in place.", change: func(s *v1alpha1.MachinePoolSpec) { s.Spot = true }},
		"PublicIP":             {reason: "A public address is changed in place.", change: func(s *v1alpha1.MachinePoolSpec) { s.PublicIP = true }},
		"SSHKey":               {reason: "A key pair is changed in place.", change: func(s *v1alpha1.MachinePoolSpec) { s.SSHKeyName = new("ops") }},
		"SecurityGroups":       {reason: "Security groups are changed in place.", change: func(s *v1alpha1.MachinePoolSpec) { s.AdditionalSecurityGroupIDs = []string{"sg-00000001"} }},
		"Tags":                 {reason: "Tags are changed in place.", change: func(s *v1alpha1.MachinePoolSpec) { s.AdditionalTags = map[string]string{"a": "b"} }},
		"HopLimit":             {reason: "The hop limit is changed in place.", change: func(s *v1alpha1.MachinePoolSpec) { s.InstanceMetadataHopLimit = 2 }},
		"Replicas":             {reason: "Replicas make the group grow or shrink.", change: func(s *v1alpha1.MachinePoolSpec) { s.Replicas = new(int32(9)) }},
		"Autoscaling":          {reason: "Autoscaling is turned on in place.", change: func(s *v1alpha1.MachinePoolSpec) { s.Autoscaling = &v1alpha1.Autoscaling{MaxReplicas: 3} }},
		"FailureDomains":       {reason: "Zones are changed in place.", change: func(s *v1alpha1.MachinePoolSpec) { s.FailureDomains = []string{"us-east-1a"} }},
		"BootstrapSecret":      {reason: "Bootstrap data only rewrites the object.", change: func(s *v1alpha1.MachinePoolSpec) { s.Bootstrap.DataSecretRef.Name = "other" }},
		"BootstrapFormat":      {reason: "The format changes the user data in place.", change: func(s *v1alpha1.MachinePoolSpec) { s.Bootstrap.Format = v1alpha1.BootstrapFormatIgnition }},
		"Warmup":               {reason: "A warmup counts for rolls that start afterwards.", change: func(s *v1alpha1.MachinePoolSpec) { s.Rollout.InstanceWarmupSeconds = new(int32(1)) }},
		"LifecycleHooks":       {reason: "Hooks are changed in place.", change: func(s *v1alpha1.MachinePoolSpec) { s.LifecycleHooks = []v1alpha1.LifecycleHook{{Name: "drain"}} }},
		"ImageSetToEmpty":      {reason: "An empty image id pins none.", change: func(s *v1alpha1.MachinePoolSpec) { s.MachineImage.ID = new("") }},
		"ClusterExportsChange": {reason: "What the cluster exports changes in place.", change: func(s *v1alpha1.MachinePoolSpec) { s.Cluster.Exports = &v1alpha1.Exports{Region: "eu-west-1"} }},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := rolls(new("v1.34.1+rke2r1"), nil, "")
			before := Key(s)
			tc.change(s)
			if got := Key(s) != before; got != tc.want {
				t.Errorf("\n%s\nKey(...) changes: want %t, got %t", tc.reason, tc.want, got)
			}
		})
	}
}

// TestKeyTellsApart holds that no value can pass for a value of another field.
func TestKeyTellsApart(t *testing.T) {
	text := rapid.OneOf(rapid.SampledFrom([]string{"", "v1.34.1", "ami-00000001", `","machineImage":{"id":"a"}`, `\`, `"`, "null"}), rapid.StringMatching(`[ -~]{0,20}`))
	rapid.Check(t, func(t *rapid.T) {
		type fields struct{ version, image, trigger string }
		draw := func(name string) fields {
			return fields{version: text.Draw(t, name+" version"), image: text.Draw(t, name+" image"), trigger: text.Draw(t, name+" trigger")}
		}
		key := func(f fields) string { return Key(rolls(&f.version, &f.image, f.trigger)) }
		a, b := draw("a"), draw("b")
		if (a == b) != (key(a) == key(b)) {
			t.Errorf("Key(%+v) is %q, Key(%+v) is %q", a, key(a), b, key(b))
		}
	})
}
