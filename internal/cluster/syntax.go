package cluster

import (
	"fmt"
	"maps"
	"regexp"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/crossplane-contrib/function-aws-machinepool/apis/v1alpha1"
)

// syntax of a field: what it must match, and in words.
type syntax struct {
	pattern *regexp.Regexp
	words   string
}

// Syntax of the exports. They become host names, tag keys and parameters of AWS, which would refuse them late, or take
// them for something else.
var syntaxes = struct{ region, clusterID, subnet, group, profile, bucket syntax }{ //nolint:gochecknoglobals // Compiled once.
	region: syntax{regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)+$`), "must be an AWS region such as us-east-1"},
	// The id is part of a tag's key, which has 128 characters at most.
	clusterID: syntax{regexp.MustCompile(`^[A-Za-z0-9+=._:/@-]{1,106}$`), "must be 1 to 106 letters, digits and + - = . _ : / @"},
	subnet:    syntax{regexp.MustCompile(`^subnet-[0-9a-z]+$`), "must be a subnet id such as subnet-0123456789abcdef0"},
	group:     syntax{regexp.MustCompile(`^sg-[0-9a-z]+$`), "must be a security group id such as sg-0123456789abcdef0"},
	// https://docs.aws.amazon.com/IAM/latest/APIReference/API_CreateInstanceProfile.html
	profile: syntax{regexp.MustCompile(`^[A-Za-z0-9+=,.@_-]{1,128}$`), "must be the name of an instance profile, not its ARN"},
	// https://docs.aws.amazon.com/AmazonS3/latest/userguide/bucketnamingrules.html, old names in us-east-1 included.
	bucket: syntax{regexp.MustCompile(`^[A-Za-z0-9._-]{3,255}$`), "must be the name of an S3 bucket"},
}

// CheckSyntax refuses complete exports whose fields AWS could not take, each by its path.
func CheckSyntax(e *v1alpha1.Exports, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	check := func(s syntax, p *field.Path, value string) {
		if !s.pattern.MatchString(value) {
			errs = append(errs, field.Invalid(p, value, s.words))
		}
	}
	check(syntaxes.region, path.Child("region"), e.Region)
	check(syntaxes.clusterID, path.Child("kubernetes_cluster_id"), e.KubernetesClusterID)
	for _, zone := range slices.Sorted(maps.Keys(e.FailureDomains)) {
		check(syntaxes.subnet, path.Child("failure_domains").Key(zone).Child("subnet_id"), e.FailureDomains[zone].SubnetID)
	}
	for i, id := range e.SecurityGroupIDs.Worker {
		check(syntaxes.group, path.Child("security_group_ids", "worker").Index(i), id)
	}
	check(syntaxes.profile, path.Child("instance_profiles", "worker"), e.InstanceProfiles.Worker)
	check(syntaxes.bucket, path.Child("bootstrap_bucket"), e.BootstrapBucket)
	return errs
}

// maxSecurityGroups on one network interface, where the account's quota is raised as far as it goes.
// https://docs.aws.amazon.com/vpc/latest/userguide/amazon-vpc-limits.html
const maxSecurityGroups = 16

// CheckSecurityGroups refuses more security groups, the cluster's included, than an interface can have.
func CheckSecurityGroups(ids []string, path *field.Path) *field.Error {
	if len(ids) <= maxSecurityGroups {
		return nil
	}
	return field.Invalid(path, len(ids),
		fmt.Sprintf("with the cluster's worker groups these are %d security groups, a network interface has %d at most: remove %d", len(ids), maxSecurityGroups, len(ids)-maxSecurityGroups))
}
