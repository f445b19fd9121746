// Package tagging decides the tags of a pool's AWS resources.
package tagging

import (
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"unicode"

	"k8s.io/apimachinery/pkg/util/sets"
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

// All returns the tags of a resource: the Composition's, over which the pool's win, and over all of them our own.
//
// A key that a higher layer has in another case counts as the same. To AWS these are two tags, but the conditions of IAM's
// policies do not tell them apart: a pool could not replace the Composition's tag, and yet make a policy read its own.
// Source: https://docs.aws.amazon.com/IAM/latest/UserGuide/access_tags.html#access_tags_control-tag-keys.
func All(composition, pool, own map[string]string) map[string]string {
	tags := maps.Clone(own)
	for _, lower := range []map[string]string{pool, composition} {
		taken := folded(maps.Keys(tags))
		for k, v := range lower {
			if !taken.Has(fold(k)) {
				tags[k] = v
			}
		}
	}
	return tags
}

// OnObject returns the tags of the staged bootstrap object: our own, then the Composition's, then the pool's, each in the
// order of their keys, as many as S3 and the provider leave room for. It also returns the keys that are left out for want of
// room, sorted. The Composition's come first, and win, since they say who may read the data: what a pool's author adds must
// not push them off.
func OnObject(composition, pool, own map[string]string) (tags map[string]string, leftOut []string) {
	tags = maps.Clone(own)
	for _, lower := range []map[string]string{composition, pool} {
		taken := folded(maps.Keys(tags)).Union(folded(slices.Values(leftOut)))
		for _, k := range slices.Sorted(maps.Keys(lower)) {
			switch {
			case taken.Has(fold(k)):
			case len(tags) >= MaxOnObject:
				leftOut = append(leftOut, k)
			default:
				tags[k] = lower[k]
			}
		}
	}
	slices.Sort(leftOut)
	return tags, leftOut
}

// Named returns the tags with the name that people look for, and without its key in another case.
func Named(tags map[string]string, name string) map[string]string {
	named := make(map[string]string, len(tags)+1)
	for k, v := range tags {
		if !strings.EqualFold(k, KeyName) {
			named[k] = v
		}
	}
	named[KeyName] = name
	return named
}

// folded keys are equal where they differ in case only.
func folded(keys iter.Seq[string]) sets.Set[string] {
	f := sets.New[string]()
	for k := range keys {
		f.Insert(fold(k))
	}
	return f
}

// fold returns the same text for all texts that strings.EqualFold calls equal. To lower case, some letters stay apart: the long s
// of Unicode is one with S, and the sign of Kelvin with K.
func fold(text string) string {
	return strings.Map(func(r rune) rune {
		first := r
		for other := unicode.SimpleFold(r); other != r; other = unicode.SimpleFold(other) {
			first = min(first, other)
		}
		return first
	}, text)
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
