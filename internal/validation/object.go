package validation

import (
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/crossplane-contrib/function-aws-machinepool/apis/v1alpha1"
	"github.com/crossplane-contrib/function-aws-machinepool/internal/syntax"
)

// A zero is a field whose Go type cannot tell a zero that was written from one that was not, and what is wrong with a zero
// that was written.
type zero struct {
	path  string
	wrong func(*field.Path) field.ErrorList
}

var zeroes = []zero{ //nolint:gochecknoglobals // A constant list.
	{"spec.cluster.exportsFrom.fieldPath", func(p *field.Path) field.ErrorList { return syntax.FieldPath.Check(p, "") }},
	{"spec.autoscaling.scaler", func(p *field.Path) field.ErrorList {
		return oneOf(p, "", v1alpha1.ScalerNative, v1alpha1.ScalerExternal)
	}},
	{"spec.autoscaling.targetCPUPercent", func(p *field.Path) field.ErrorList { return targetCPUPercent(p, 0) }},
	{"spec.bootstrap.dataSecretRef.key", func(p *field.Path) field.ErrorList { return secretKey(p, "") }},
	{"spec.bootstrap.format", func(p *field.Path) field.ErrorList {
		return oneOf(p, "", v1alpha1.BootstrapFormatCloudConfig, v1alpha1.BootstrapFormatIgnition)
	}},
	{"spec.instanceType", func(p *field.Path) field.ErrorList { return instanceType(p, "") }},
	{"spec.machineImage.owner", func(p *field.Path) field.ErrorList { return syntax.ImageOwner.Check(p, "") }},
	{"spec.machineImage.nameFormat", func(p *field.Path) field.ErrorList { return nameFormat(p, "") }},
	{"spec.machineImage.architecture", func(p *field.Path) field.ErrorList {
		return oneOf(p, "", v1alpha1.ArchitectureX8664, v1alpha1.ArchitectureARM64)
	}},
	{"spec.machineImage.rootDeviceName", func(p *field.Path) field.ErrorList { return syntax.DeviceName.Check(p, "") }},
	{"spec.rootVolume.sizeGiB", func(p *field.Path) field.ErrorList { return volumeSize(p, 0) }},
	{"spec.rootVolume.type", func(p *field.Path) field.ErrorList { return volumeType(p, "") }},
	{"spec.instanceMetadataHopLimit", func(p *field.Path) field.ErrorList { return hopLimit(p, 0) }},
}

// required are the numbers that must be written: a decoded MachinePool has 0 for them otherwise, and a pool with a minimum of
// 0 that nobody asked for may lose all its members.
var required = []string{"spec.autoscaling.minReplicas", "spec.autoscaling.maxReplicas"} //nolint:gochecknoglobals // A constant list.

// Object returns what is wrong with an XR that cannot be told once it is decoded, sorted by path. These are zeroes that
// were written, which MachinePool.Default takes for absent and would quietly replace, and numbers that were not. The XR is
// the object as Crossplane sends it. The rest is for MachinePool to say.
func Object(xr map[string]any) field.ErrorList {
	var errs field.ErrorList
	for _, z := range zeroes {
		if value, found := at(xr, strings.Split(z.path, ".")); found && isZero(value) {
			errs = append(errs, z.wrong(pathOf(z.path))...)
		}
	}
	for _, path := range required {
		names := strings.Split(path, ".")
		last := len(names) - 1
		parent, found := at(xr, names[:last])
		fields, isObject := parent.(map[string]any)
		if found && isObject && fields[names[last]] == nil {
			errs = append(errs, field.Required(pathOf(path), ""))
		}
	}

	return sorted(errs)
}

// at returns the value at a path, if each of its fields is there. What is of another type than expected is for the decoder
// to refuse.
func at(object map[string]any, names []string) (any, bool) {
	value, found, err := unstructured.NestedFieldNoCopy(object, names...)

	return value, found && err == nil
}

func pathOf(path string) *field.Path {
	names := strings.Split(path, ".")

	return field.NewPath(names[0], names[1:]...)
}

// isZero reports whether a value was written and is zero. Numbers are float64 when they come through protobuf, and null is like
// absent.
func isZero(value any) bool {
	switch v := value.(type) {
	case string:
		return v == ""
	case int64:
		return v == 0
	case float64:
		return v == 0
	default:
		return false
	}
}
