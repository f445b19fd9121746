package image

import (
	"regexp"
	"strings"

	"github.com/crossplane-contrib/function-aws-machinepool/apis/v1alpha1"
)

// A family of instance types is named by its series, its generation and its attributes, of which the first may be the maker of
// the processor. There, g is AWS (Graviton), a is AMD and i is Intel. A variant such as flex stands behind a hyphen.
// https://docs.aws.amazon.com/ec2/latest/instancetypes/instance-type-names.html
var processor = regexp.MustCompile(`^[a-z]+[0-9]+([agi])[a-z]*(?:-flex)?$`)

// firstGraviton is the one family that does not name its Graviton.
const firstGraviton = "a1"

// ArchitectureOf returns an instance type's architecture where its name tells. It is empty where the name does not: of the
// families from before Intel was named, such as m5, and of any that names other hardware.
func ArchitectureOf(instanceType string) v1alpha1.Architecture {
	family, _, _ := strings.Cut(instanceType, ".")
	if family == firstGraviton {
		return v1alpha1.ArchitectureARM64
	}
	m := processor.FindStringSubmatch(family)
	switch {
	case m == nil:
		return ""
	case m[1] == "g":
		return v1alpha1.ArchitectureARM64
	}
	return v1alpha1.ArchitectureX8664
}

// boots reports whether an instance type may boot an image of an architecture: false only where both are known, and differ.
func boots(instanceType, architecture string) bool {
	known := ArchitectureOf(instanceType)
	switch v1alpha1.Architecture(architecture) {
	case v1alpha1.ArchitectureARM64, v1alpha1.ArchitectureX8664:
		return known == "" || architecture == string(known)
	}
	return true
}
