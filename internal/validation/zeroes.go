package validation

import (
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/crossplane-contrib/function-aws-machinepool/apis/v1alpha1"
)

// A zero is a field whose Go type cannot tell a zero that was written from one that was not, and what is wrong with a zero
// that was written.
type zero struct {
	path  string
	wrong func(*field.Path) field.ErrorList
}

var zeroes = []zero{ //nolint:gochecknoglobals // A constant list.
	{"spec.cluster.exportsFrom.fieldPath", func(p *field.Path) field.ErrorList { return notEmpty(p, "") }},
	{"spec.autoscaling.scaler", func(p *field.Path) field.ErrorList {
		return oneOf(p, "", v1alpha1.ScalerNative, v1alpha1.ScalerExternal)
	}},
	{"spec.autoscaling.targetCPUPercent", func(p *field.Path) field.ErrorList { return targetCPUPercent(p, 0) }},
	{"spec.bootstrap.dataSecretRef.key", func(p *field.Path) field.ErrorList { return secretKey(p, "") }},
	{"spec.bootstrap.format", func(p *field.Path) field.ErrorList {
		return oneOf(p, "", v1alpha1.BootstrapFormatCloudConfig, v1alpha1.BootstrapFormatIgnition)
	}},
	{"spec.instanceType", func(p *field.Path) field.ErrorList { return instanceType(p, "") }},
	{"spec.machineImage.owner", func(p *field.Path) field.ErrorList { return imageOwner.check(p, "") }},
	{"spec.machineImage.nameFormat", func(p *field.Path) field.ErrorList { return nameFormat(p, "") }},
	{"spec.machineImage.architecture", func(p *field.Path) field.ErrorList {
		return oneOf(p, "", v1alpha1.ArchitectureX8664, v1alpha1.ArchitectureARM64)
	}},
	{"spec.machineImage.rootDeviceName", func(p *field.Path) field.ErrorList { return deviceName.check(p, "") }},
	{"spec.rootVolume.sizeGiB", func(p *field.Path) field.ErrorList { return volumeSize(p, 0) }},
	{"spec.rootVolume.type", func(p *field.Path) field.ErrorList { return volumeType(p, "") }},
	{"spec.instanceMetadataHopLimit", func(p *field.Path) field.ErrorList { return hopLimit(p, 0) }},
}

// Zeroes returns what is wrong with the zeroes that were written into an XR, sorted by path: MachinePool.Default takes
// them for absent and would quietly replace them. The XR is the object as Crossplane sends it.
func Zeroes(xr map[string]any) field.ErrorList {
	var errs field.ErrorList
	for _, z := range zeroes {
		path := strings.Split(z.path, ".")
		value, found, err := unstructured.NestedFieldNoCopy(xr, path...)
		if err != nil || !found || !isZero(value) {
			continue
		}
		errs = append(errs, z.wrong(field.NewPath(path[0], path[1:]...))...)
	}

	return sorted(errs)
}

// isZero says that a value was written and is zero. Numbers are float64 when they come through protobuf, and null is like
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
