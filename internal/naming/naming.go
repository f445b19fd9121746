// Package naming derives the names that a pool's resources have in AWS. A name that was observed always wins over
// one computed here: to a provider a rename is a deletion and a creation, and a renamed group is a lost group.
package naming

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

const (
	// maxGroupBaseLength is how much of a group's readable name is kept, in bytes. With the hash behind it the name
	// has at most 63 characters, and a template's name, which adds a roll key, stays far below AWS's 128.
	maxGroupBaseLength = 54

	// hashLength is how many hex digits of a SHA-256 tell two names apart.
	hashLength = 8

	// ScalingPolicy is the name of the target tracking policy within its group.
	ScalingPolicy = "cpu-target-tracking"
)

// A Pool identifies a pool in its cluster.
type Pool struct {
	// ClusterID is the cluster's kubernetes_cluster_id.
	ClusterID string
	// Namespace of the composite. Empty when it is cluster-scoped.
	Namespace string
	// Name of the composite.
	Name string
}

// Group returns the pool's Auto Scaling group name: at most 63 characters of [a-z0-9-], different for every cluster,
// namespace and name.
func Group(p Pool) string {
	base := "mp-"
	if p.Namespace != "" {
		base += p.Namespace + "-"
	}
	base = strings.Map(toGroupNameRune, strings.ToLower(base+p.Name))
	if len(base) > maxGroupBaseLength {
		base = base[:maxGroupBaseLength]
	}
	sum := sha256.Sum256([]byte(p.ClusterID + "/" + p.Namespace + "/" + p.Name))
	return strings.TrimRight(base, "-") + "-" + hex.EncodeToString(sum[:])[:hashLength]
}

// GroupOfARN returns the name of the Auto Scaling group of an ARN, empty when it is no such ARN.
// https://docs.aws.amazon.com/autoscaling/ec2/userguide/ec2-auto-scaling-resources.html
func GroupOfARN(arn string) string {
	_, name, _ := strings.Cut(arn, ":autoScalingGroupName/")
	return name
}

func toGroupNameRune(r rune) rune {
	if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '-' {
		return r
	}
	return '-'
}

// Template returns the name of the launch template that a group uses for an attempt.
func Template(group string, a Attempt) string { return group + "-" + a.String() }

// BootstrapObjectKey returns the S3 key that a pool's bootstrap data is staged under.
func BootstrapObjectKey(pool string) string { return "pool/" + pool }
