// Package naming derives the names that a pool's resources have in AWS. A name that was observed always wins over
// one computed here: to a provider a rename is a deletion and a creation, and a renamed group is a lost group.
package naming

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// ScalingPolicy is the name of the target tracking policy within its group.
const ScalingPolicy = "cpu-target-tracking"

// A groupForm says how long the two parts of a group's name are. With a dash between them the name has at most 63
// characters. A template's name adds a roll key and a number, and stays far below AWS's 128.
type groupForm struct {
	// base is how much of the readable part is kept, in bytes.
	base int
	// hash is how many hex digits of a SHA-256 tell two names apart.
	hash int
}

// Forms of a group's name. No name has both forms: the ninth character from the end is a dash in the former one and a hex
// digit in the current one.
var (
	// current has 64 bits of hash: whoever chooses a cluster id freely does not find another pool's name.
	current = groupForm{base: 46, hash: 16} //nolint:gochecknoglobals // A constant, if Go had them of structs.
	// former has 32 bits, which one core goes through in minutes. Groups that exist keep such names; no new one gets one.
	former = groupForm{base: 54, hash: 8} //nolint:gochecknoglobals // As above.
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
func Group(p Pool) string { return current.name(p) }

// FormerGroup returns the name that earlier versions gave the pool's group. A group may only be taken for the pool's by
// such a name where its tags say so as well.
func FormerGroup(p Pool) string { return former.name(p) }

// name of a pool's group. Neither a namespace nor a name holds a slash, so that the hash is over another text for each pool,
// whatever the cluster id holds.
func (f groupForm) name(p Pool) string {
	base := "mp-"
	if p.Namespace != "" {
		base += p.Namespace + "-"
	}
	base = strings.Map(toGroupNameRune, strings.ToLower(base+p.Name))
	if len(base) > f.base {
		base = base[:f.base]
	}
	sum := sha256.Sum256([]byte(p.ClusterID + "/" + p.Namespace + "/" + p.Name))
	return strings.TrimRight(base, "-") + "-" + hex.EncodeToString(sum[:])[:f.hash]
}

// GroupOfARN returns the name of the Auto Scaling group of an ARN, empty when it is no such ARN.
// https://docs.aws.amazon.com/autoscaling/ec2/userguide/ec2-auto-scaling-resources.html
func GroupOfARN(arn string) string {
	_, name, _ := strings.Cut(arn, ":autoScalingGroupName/")
	return name
}

// AccountOfARN returns the account of an ARN, empty where it has none.
// https://docs.aws.amazon.com/IAM/latest/UserGuide/reference-arns.html
func AccountOfARN(arn string) string {
	parts := strings.SplitN(arn, ":", 6)
	if len(parts) < 6 {
		return ""
	}
	return parts[4]
}

func toGroupNameRune(r rune) rune {
	if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '-' {
		return r
	}
	return '-'
}

// Template returns the name of the launch template that a group uses for an attempt.
func Template(group string, a Attempt) string { return group + "-" + a.String() }

// GroupOfTemplate is the inverse of Template: the name of the group that a template was named after. It is empty for a name
// that is not the attempt's.
func GroupOfTemplate(template string, a Attempt) string {
	group, ok := strings.CutSuffix(template, "-"+a.String())
	if !ok {
		return ""
	}
	return group
}

// BootstrapObjectKey returns the S3 key that a pool's bootstrap data is staged under: pool/<namespace>/<name>, and without a
// namespace pool/<name>. Pools of one name in two namespaces share a cluster's bucket, and each boots what is its own.
func BootstrapObjectKey(p Pool) string {
	if p.Namespace == "" {
		return "pool/" + p.Name
	}
	return "pool/" + p.Namespace + "/" + p.Name
}
