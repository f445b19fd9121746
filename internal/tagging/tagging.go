// Package tagging decides the tags of a pool's AWS resources.
package tagging

import (
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Limits, in tags.
const (
	// maxPerResource is what AWS takes on one resource, not counting its own aws: tags.
	// https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/Using_Tags.html
	maxPerResource = 50
	// providerTags is how many provider-aws adds to a resource with a tags field: crossplane-kind, -name and
	// -providerconfig.
	providerTags = 3
	// MaxOnObject is what may be sent for an S3 object: S3 takes 10 and provider-aws adds its own.
	MaxOnObject = 5
)

// Tag keys that the function sets.
const (
	KeyName      = "Name"
	KeyCluster   = "machinepool.fn.crossplane.io/cluster"
	KeyNamespace = "machinepool.fn.crossplane.io/namespace"
	KeyPool      = "machinepool.fn.crossplane.io/name"

	prefixCluster = "kubernetes.io/cluster/"
	valueOwned    = "owned"
)

// A Pool as its tags name it.
type Pool struct {
	ClusterID, Namespace, Name string
}

// Own returns the tags that the function itself sets on every resource. No one can override them. A cluster-scoped
// pool has no namespace tag.
func Own(p Pool) map[string]string {
	own := map[string]string{
		prefixCluster + p.ClusterID: valueOwned,
		KeyCluster:                  p.ClusterID,
		KeyPool:                     p.Name,
	}
	if p.Namespace != "" {
		own[KeyNamespace] = p.Namespace
	}
	return own
}

// Merge returns one map of all the layers, in which a later layer's value wins.
func Merge(layers ...map[string]string) map[string]string {
	merged := map[string]string{}
	for _, l := range layers {
		maps.Copy(merged, l)
	}
	return merged
}

// OnObject returns the tags of the staged bootstrap object: our own, then as many of the user's as S3 and the provider
// leave room for, in the order of their keys.
func OnObject(own, user map[string]string) map[string]string {
	tags := maps.Clone(own)
	for _, k := range slices.Sorted(maps.Keys(user)) {
		if len(tags) >= MaxOnObject {
			break
		}
		if _, ours := tags[k]; !ours {
			tags[k] = user[k]
		}
	}
	return tags
}

// CheckCount refuses more tags than AWS would take on the pool's most tagged resource, its launch template.
func CheckCount(merged map[string]string, path *field.Path) *field.Error {
	limit := maxPerResource - providerTags
	if len(merged) <= limit {
		return nil
	}
	return field.Invalid(path, len(merged),
		fmt.Sprintf("the Composition's tags, additionalTags and the function's own make %d tags, AWS takes %d on one resource, of which provider-aws sets %d: remove %d", len(merged), maxPerResource, providerTags, len(merged)-limit))
}
