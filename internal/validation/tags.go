package validation

import (
	"regexp"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Limits of tags. AWS takes 50 tags on a resource; the function needs some of them itself. Lengths are in characters.
// Source: https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/Using_Tags.html#tag-restrictions.
const (
	maxTags           = 40
	maxTagKeyLength   = 128
	maxTagValueLength = 256
)

// tagCharacters are those that Auto Scaling takes, the strictest of the services whose resources a pool tags. A key has no space at
// its ends: it would look like another key, and AWS's console drops such a space.
var (
	tagCharacters    = regexp.MustCompile(`^[\p{L}\p{N}\p{Z}+=._:/@-]*$`)
	tagKeyCharacters = regexp.MustCompile(`^([\p{L}\p{N}+=._:/@-]([\p{L}\p{N}\p{Z}+=._:/@-]*[\p{L}\p{N}+=._:/@-])?)?$`)
)

// reservedTags belong to AWS, to Cluster API Provider Terraform, to provider-aws (crossplane-kind, -name and -providerconfig:
// a second writer of these writes for ever), to the cluster, whose older tag is KubernetesCluster, and to this function. Case
// does not count: the keys of IAM's conditions have none.
// Source: https://docs.aws.amazon.com/IAM/latest/UserGuide/access_tags.html#access_tags_control-tag-keys.
var reservedTags = regexp.MustCompile(`(?i)^(aws:|captf[.]io/|crossplane-|kubernetes[.]io/cluster/|kubernetescluster$|machinepool[.]fn[.]crossplane[.]io/)`)

// tags checks tags that users give, of a pool or of a Composition.
func tags(path *field.Path, tags map[string]string) field.ErrorList {
	if errs := atMostMany(path, len(tags), maxTags); len(errs) > 0 {
		return errs
	}
	var errs field.ErrorList
	for key, value := range tags {
		errs = append(errs, tagKey(path.Key(key), key)...)
		errs = append(errs, tagValue(path.Key(key), value)...)
	}

	return errs
}

func tagKey(path *field.Path, key string) field.ErrorList {
	if n := utf8.RuneCountInString(key); n < 1 || n > maxTagKeyLength {
		return field.ErrorList{field.Invalid(path, key, "a tag's key must have 1 to 128 characters")}
	}
	var errs field.ErrorList
	if !tagKeyCharacters.MatchString(key) {
		errs = append(errs, field.Invalid(path, key, "a tag's key may hold only letters, numbers, + - = . _ : / @, and spaces that are not at its ends"))
	}
	if reservedTags.MatchString(key) {
		errs = append(errs, field.Invalid(path, key, "a tag's key must not be KubernetesCluster or start with aws:, captf.io/, crossplane-, kubernetes.io/cluster/ or machinepool.fn.crossplane.io/, in any case: these are reserved"))
	}

	return errs
}

func tagValue(path *field.Path, value string) field.ErrorList {
	if errs := atMostLong(path, value, maxTagValueLength); len(errs) > 0 {
		return errs
	}
	if tagCharacters.MatchString(value) {
		return nil
	}

	return field.ErrorList{field.Invalid(path, value, "a tag's value may hold only letters, numbers, spaces and + - = . _ : / @")}
}
