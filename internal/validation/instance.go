package validation

import (
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/crossplane-contrib/function-aws-machinepool/apis/v1alpha1"
	"github.com/crossplane-contrib/function-aws-machinepool/internal/syntax"
)

// Limits of what EC2 launches.
const (
	// Source: HttpPutResponseHopLimit in
	// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_InstanceMetadataOptionsRequest.html.
	minHopLimit = 1
	maxHopLimit = 64
	// Gibibytes of a gp2 volume. Less than 8 is no room for an operating system and its images.
	// Source: https://docs.aws.amazon.com/ebs/latest/userguide/ebs-volume-types.html.
	minVolumeSizeGiB = 8
	maxVolumeSizeGiB = 16384
	// EC2 takes 16 on a network interface, and one is the cluster's.
	// Source: https://docs.aws.amazon.com/vpc/latest/userguide/amazon-vpc-limits.html#vpc-limits-security-groups.
	maxSecurityGroups = 15
)

func instanceType(path *field.Path, name string) field.ErrorList {
	return syntax.InstanceType.Check(path, name)
}

func hopLimit(path *field.Path, hops int32) field.ErrorList {
	return between(path, hops, minHopLimit, maxHopLimit)
}

func securityGroupIDs(path *field.Path, ids []string) field.ErrorList {
	if errs := atMostMany(path, len(ids), maxSecurityGroups); len(errs) > 0 {
		return errs
	}
	var errs field.ErrorList
	for i, id := range ids {
		errs = append(errs, syntax.SecurityGroupID.Check(path.Index(i), id)...)
	}

	return errs
}

func rootVolume(path *field.Path, v *v1alpha1.RootVolume) field.ErrorList {
	errs := volumeSize(path.Child("sizeGiB"), v.SizeGiB)
	errs = append(errs, volumeType(path.Child("type"), v.Type)...)

	return append(errs, syntax.KMSKeyARN.Optional(path.Child("kmsKeyID"), v.KMSKeyID)...)
}

func volumeSize(path *field.Path, gib int32) field.ErrorList {
	return between(path, gib, minVolumeSizeGiB, maxVolumeSizeGiB)
}

func volumeType(path *field.Path, name string) field.ErrorList {
	return oneOf(path, name, "gp3", "gp2")
}
