package managed

import (
	"bytes"
	"encoding/base64"
	"slices"
	"strings"
	"testing"

	"github.com/crossplane-contrib/function-aws-machinepool/apis/v1alpha1"
	"github.com/crossplane-contrib/function-aws-machinepool/internal/decision"
)

const launchTemplate = `
apiVersion: ec2.aws.m.upbound.io/v1beta1
kind: LaunchTemplate
spec:
  managementPolicies: [Observe, Create, Update, Delete]
  providerConfigRef: {kind: ClusterProviderConfig, name: default}
  forProvider:
    region: us-east-1
    name: mp-team-a-demo-pool-0-1a2b3c4d-497384ff
    description: MachinePool team-a/demo-pool-0
    imageId: ami-0123456789abcdef0
    instanceType: m6i.large
    updateDefaultVersion: true
    userData: I2Nsb3VkLWJvb3Rob29rCg==
    blockDeviceMappings:
    - deviceName: /dev/sda1
      ebs: {deleteOnTermination: "true", encrypted: "true", volumeSize: 40, volumeType: gp3}
    iamInstanceProfile: {name: demo-worker}
    metadataOptions:
      httpEndpoint: enabled
      httpTokens: required
      httpPutResponseHopLimit: 1
      instanceMetadataTags: disabled
    networkInterfaces:
    - deviceIndex: 0
      associatePublicIpAddress: "false"
      deleteOnTermination: "true"
      securityGroups: [sg-0e0000000000000e1]
    tagSpecifications:
    - resourceType: instance
      tags: {kubernetes.io/cluster/demo-1960e37c: owned, team: a, Name: demo-pool-0}
    - resourceType: network-interface
      tags: {kubernetes.io/cluster/demo-1960e37c: owned, team: a}
    - resourceType: volume
      tags: {kubernetes.io/cluster/demo-1960e37c: owned, team: a, Name: demo-pool-0}
    tags: {kubernetes.io/cluster/demo-1960e37c: owned, team: a}
`

func TestLaunchTemplate(t *testing.T) {
	cluster := append(inClusterScope("ec2.aws.upbound.io/v1beta2"), set("spec.forProvider.description", "MachinePool demo-pool-0"))

	cases := map[string]renderCase{
		"Plain": {
			reason: "A pool that asks for nothing special has no key pair, no KMS key, no market options and no public address.",
			args:   aPool("team-a"),
		},
		"PlainInClusterScope": {
			reason: "In cluster scope only the version, the reference and the description differ.",
			args:   aPool(""),
			want:   cluster,
		},
		"Everything": {
			reason: "Every choice of the spec reaches its field.",
			args:   aPool("team-a", spec(chooseEverything), onAmazonLinux),
			want:   everything(),
		},
		"EverythingInClusterScope": {
			reason: "Every choice of the spec reaches its field, in cluster scope too.",
			args:   aPool("", spec(chooseEverything), onAmazonLinux),
			want:   slices.Concat(everything(), cluster),
		},
		"Spot": {
			reason: "A spot pool has market options, and nothing else of its template changes.",
			args:   aPool("team-a", spec(func(s *v1alpha1.MachinePoolSpec) { s.Spot = true })),
			want:   []edit{set("spec.forProvider.instanceMarketOptions", map[string]any{"marketType": "spot"})},
		},
		"PublicIP": {
			reason: "A public address is asked for on the one interface, as text.",
			args:   aPool("team-a", spec(func(s *v1alpha1.MachinePoolSpec) { s.PublicIP = true })),
			want:   []edit{set("spec.forProvider.networkInterfaces[0].associatePublicIpAddress", "true")},
		},
		"KnownID": {
			reason: "The provider does not keep a template's id by itself, so it is sent from the first run that sees it.",
			args:   aPool("team-a", func(s *situation) { s.d.Templates[0].ExternalName = "lt-0aaa0000000000001" }),
			want:   []edit{set("metadata.annotations[crossplane.io/external-name]", "lt-0aaa0000000000001")},
		},
		"KnownIDInClusterScope": {
			reason: "The id is sent in cluster scope too.",
			args:   aPool("", func(s *situation) { s.d.Templates[0].ExternalName = "lt-0aaa0000000000001" }),
			want:   append(cluster, set("metadata.annotations[crossplane.io/external-name]", "lt-0aaa0000000000001")),
		},
		"SecurityGroupsInOrder": {
			reason: "Groups are sent in the order that is decided, worker first: another order would be another template version.",
			args: aPool("team-a", common(func(c *decision.Common) {
				c.SecurityGroupIDs = []string{"sg-0f0000000000000f1", "sg-0e0000000000000e1"}
			})),
			want: []edit{set("spec.forProvider.networkInterfaces[0].securityGroups", []any{"sg-0f0000000000000f1", "sg-0e0000000000000e1"})},
		},
		"OwnNameTag": {
			reason: "The Name of instances and volumes is the pool's. A user's own Name tag stays where the function sets none.",
			args:   aPool("team-a", common(func(c *decision.Common) { c.Tags = map[string]string{"Name": "theirs"} })),
			want: []edit{
				set("spec.forProvider.tags", map[string]any{"Name": "theirs"}),
				set("spec.forProvider.tagSpecifications[0].tags", map[string]any{"Name": "demo-pool-0"}),
				set("spec.forProvider.tagSpecifications[1].tags", map[string]any{"Name": "theirs"}),
				set("spec.forProvider.tagSpecifications[2].tags", map[string]any{"Name": "demo-pool-0"}),
			},
		},
	}
	testRender(t, "launch-template-497384ff", launchTemplate, cases)
}

// onAmazonLinux is an image whose root device has another name than the default.
func onAmazonLinux(s *situation) { s.d.Templates[0].RootDevice = "/dev/xvda" }

func chooseEverything(s *v1alpha1.MachinePoolSpec) {
	s.InstanceType = "c7g.xlarge"
	s.SSHKeyName = new("ops")
	s.InstanceMetadataHopLimit = 2
	s.RootVolume = v1alpha1.RootVolume{SizeGiB: 8, Type: "gp2", KMSKeyID: new("arn:aws:kms:us-east-1:123456789012:key/k")}
}

func everything() []edit {
	return []edit{
		set("spec.forProvider.instanceType", "c7g.xlarge"),
		set("spec.forProvider.keyName", "ops"),
		set("spec.forProvider.metadataOptions.httpPutResponseHopLimit", 2),
		set("spec.forProvider.blockDeviceMappings", []any{map[string]any{
			"deviceName": "/dev/xvda",
			"ebs": map[string]any{
				"deleteOnTermination": "true", "encrypted": "true", "volumeSize": 8, "volumeType": "gp2",
				"kmsKeyId": "arn:aws:kms:us-east-1:123456789012:key/k",
			},
		}}),
	}
}

// The provider compares user data as text: a line break or other padding would be a new template version in every run.
func TestLaunchTemplateUserData(t *testing.T) {
	cases := map[string]struct {
		reason string
		args   string
	}{
		"Long":       {reason: "What MIME would wrap stays one line.", args: strings.Repeat("0123456789\n", 1000)},
		"Padded":     {reason: "Padding is canonical.", args: "#cloud-boothook\n#"},
		"AlphabetOf": {reason: "The alphabet is the standard one, not that of URLs.", args: "\xfb\xff\xfe?>"},
		"NotUTF8":    {reason: "Bytes stay bytes.", args: "\x00\x1f\x8b\xff"},
	}
	for name, tc := range cases {
		for _, namespace := range []string{"team-a", ""} {
			t.Run(name+"/"+scopeName(namespace), func(t *testing.T) {
				s := aPool(namespace, func(s *situation) { s.d.Templates[0].UserData = tc.args })
				object := rendered(t, s, "launch-template-497384ff").Object
				got, _ := object["spec"].(map[string]any)["forProvider"].(map[string]any)["userData"].(string)
				if strings.ContainsAny(got, "\r\n \t") {
					t.Errorf("\n%s\nuserData: want one line, got %q", tc.reason, got)
				}
				raw, err := base64.StdEncoding.Strict().DecodeString(got)
				if err != nil {
					t.Fatalf("\n%s\nuserData: not canonical base64: %v", tc.reason, err)
				}
				if !bytes.Equal(raw, []byte(tc.args)) {
					t.Errorf("\n%s\nuserData: want %q, got %q", tc.reason, tc.args, raw)
				}
			})
		}
	}
}

// Two templates live side by side during a roll, the old one held and the new one rendered.
func TestLaunchTemplatesSideBySide(t *testing.T) {
	s := aPool("team-a", func(s *situation) {
		held := s.d.Templates[0]
		held.Resource, held.ExternalName = "launch-template-00000000", "lt-0"
		held.Held = &poolResource
		s.d.Templates = append([]decision.Template{held}, s.d.Templates...)
	})
	if got := rendered(t, s, "launch-template-00000000").Object["spec"].(map[string]any)["theirs"]; got != "theirs" {
		t.Errorf("Render(...): the old template is not as observed: %v", got)
	}
	// The new one would otherwise take over the AWS template of the old one.
	if meta, ok := rendered(t, s, "launch-template-497384ff").Object["metadata"]; ok {
		t.Errorf("Render(...): the new template has metadata before AWS knows it: %v", meta)
	}
}

// TestDescription holds that a template's description is no longer than EC2 takes, whatever the pool is called.
func TestDescription(t *testing.T) {
	for name, want := range map[string]string{
		"team-a/demo":                        "MachinePool team-a/demo",
		"team-a/" + strings.Repeat("d", 236): "MachinePool team-a/" + strings.Repeat("d", 236),
		"team-a/" + strings.Repeat("d", 253): "MachinePool team-a/" + strings.Repeat("d", 236),
	} {
		if got := description(name); got != want {
			t.Errorf("description(%q): want %q, got %q", name, want, got)
		}
	}
}
