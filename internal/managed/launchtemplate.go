package managed

import (
	"encoding/base64"
	"fmt"

	ec2 "github.com/upbound/provider-aws/v2/apis/namespaced/ec2/v1beta1"

	"github.com/crossplane-contrib/function-aws-machinepool/internal/decision"
	"github.com/crossplane-contrib/function-aws-machinepool/internal/tagging"
)

// launchTemplate renders a launch template. The provider makes a new version of it for any difference, so every list
// has a fixed order and user data is one line of canonical base64.
func (r *renderer) launchTemplate(t decision.Template) fresh {
	s := r.Composite.Spec
	p := ec2.LaunchTemplateParameters_2{
		Region:      &r.common.Region,
		Name:        &t.Name,
		Description: new(description(r.displayName())),
		ImageID:     &t.ImageID,
		// $Latest is what the group launches from; the default version follows for people and tools that look at it.
		UpdateDefaultVersion: new(true),
		InstanceType:         &s.InstanceType,
		KeyName:              s.SSHKeyName,
		UserData:             new(base64.StdEncoding.EncodeToString([]byte(t.UserData))),
		BlockDeviceMappings:  r.rootDevice(t.RootDevice),
		IAMInstanceProfile:   &ec2.IAMInstanceProfileParameters{Name: &r.common.InstanceProfile},
		MetadataOptions: &ec2.LaunchTemplateMetadataOptionsParameters{
			HTTPEndpoint:            new("enabled"),
			HTTPTokens:              new("required"),
			HTTPPutResponseHopLimit: new(float64(s.InstanceMetadataHopLimit)),
			// An account can turn tags in metadata on for all, which refuses every tag key with a slash, as ours have.
			InstanceMetadataTags: new("disabled"),
		},
		// Security groups go with the interface: EC2 takes them in one place only.
		NetworkInterfaces: []ec2.NetworkInterfacesParameters{{
			DeviceIndex:              new(float64(0)),
			AssociatePublicIPAddress: new(fmt.Sprint(s.PublicIP)),
			DeleteOnTermination:      new("true"),
			SecurityGroups:           pointers(r.common.SecurityGroupIDs),
		}},
		TagSpecifications: r.tagSpecifications(),
		Tags:              pointerMap(r.common.Tags),
	}
	if s.Spot {
		p.InstanceMarketOptions = &ec2.LaunchTemplateInstanceMarketOptionsParameters{MarketType: new("spot")}
	}
	return fresh{kind: kindLaunchTemplate, spec: &ec2.LaunchTemplateSpec{ManagedResourceSpec: r.spec(), ForProvider: p}}
}

// maxDescription is how long a version's description may be, in characters. Names of Kubernetes are of ASCII characters.
// Source: VersionDescription in https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_CreateLaunchTemplate.html.
const maxDescription = 255

// description of a pool's template, cut where the pool's name is longer.
func description(name string) string {
	d := "MachinePool " + name
	return d[:min(len(d), maxDescription)]
}

// displayName of the pool for people.
func (r *renderer) displayName() string {
	if ns := r.Composite.GetNamespace(); ns != "" {
		return ns + "/" + r.Composite.GetName()
	}
	return r.Composite.GetName()
}

// rootDevice is always encrypted: with the given key, else with the account's default one. Booleans in it are strings.
func (r *renderer) rootDevice(name string) []ec2.BlockDeviceMappingsParameters {
	v := r.Composite.Spec.RootVolume
	return []ec2.BlockDeviceMappingsParameters{{
		DeviceName: &name,
		EBS: &ec2.EBSParameters{
			DeleteOnTermination: new("true"),
			Encrypted:           new("true"),
			KMSKeyID:            v.KMSKeyID,
			VolumeSize:          new(float64(v.SizeGiB)),
			VolumeType:          &v.Type,
		},
	}}
}

// tagSpecifications tag what an instance launches with, sorted by type.
func (r *renderer) tagSpecifications() []ec2.TagSpecificationsParameters {
	named := pointerMap(tagging.Named(r.common.Tags, r.Composite.GetName()))
	return []ec2.TagSpecificationsParameters{
		{ResourceType: new("instance"), Tags: named},
		{ResourceType: new("network-interface"), Tags: pointerMap(r.common.Tags)},
		{ResourceType: new("volume"), Tags: named},
	}
}
