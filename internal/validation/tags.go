package validation

import (
	"regexp"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Limits of tags. AWS takes 50 tags on a resource; the function needs some of them itself. Lengths are in characters.
// Source: https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/Using_Tags.html#tag-restrictions.
const (
	maxTags           = 40
	maxTagKeyLength   = 128
	maxTagValueLength = 256
)

// tagCharacters are those that Auto Scaling takes, the strictest of the services whose resources a pool tags.
var tagCharacters = regexp.MustCompile(`^[\p{L}\p{N}\p{Z}+=._:/@-]*$`)

// tags checks tags that users give, of a pool or of a Composition.
func tags(path *field.Path, tags map[string]string) field.ErrorList {
	errs := atMostMany(path, len(tags), maxTags)
	for key, value := range tags {
		errs = append(errs, tagKey(path.Key(key), key)...)
		errs = append(errs, tagValue(path.Key(key), value)...)
	}

	return errs
}

func tagKey(path *field.Path, key string) field.ErrorList {
	var errs field.ErrorList
	if n := runes(key); n < 1 || n > maxTagKeyLength {
		errs = append(errs, field.Invalid(path, key, "a tag's key must have 1 to 128 characters"))
	}
	if !tagCharacters.MatchString(key) {
		errs = append(errs, field.Invalid(path, key, "a tag's key may hold only letters, numbers, spaces and + - = . _ : / @"))
	}
	if reservedTag(key) {
		errs = append(errs, field.Invalid(path, key, "a tag's key must not start with aws:, captf.io/, kubernetes.io/cluster/ or machinepool.fn.crossplane.io/: these are reserved"))
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

// reservedTag says that a key belongs to AWS, which does not mind its case, to Cluster API Provider Terraform, to the
// cluster or to this function.
func reservedTag(key string) bool {
	if strings.HasPrefix(strings.ToLower(key), "aws:") {
		return true
	}
	for _, prefix := range []string{"captf.io/", "kubernetes.io/cluster/", "machinepool.fn.crossplane.io/"} {
		if strings.HasPrefix(key, prefix) {
			return true
		}
	}

	return false
}
