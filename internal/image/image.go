// Package image decides which AMI a pool's instances boot.
package image

import (
	"fmt"
	"strings"

	"github.com/crossplane-contrib/function-aws-machinepool/apis/v1alpha1"
	"github.com/crossplane-contrib/function-aws-machinepool/internal/condition"
	"github.com/crossplane-contrib/function-aws-machinepool/internal/pool"
)

// stateAvailable is the one in which instances can be launched from an image.
const stateAvailable = "available"

// QueryFor returns what to look for in AWS: the pinned image, or the name format and the version that it is filled with. Nil
// when the format asks for what the version does not have.
func QueryFor(s *v1alpha1.MachinePoolSpec) *pool.ImageQuery {
	if IsPinned(s) {
		return &pool.ImageQuery{ID: *s.MachineImage.ID}
	}
	if _, ok := Name(s); !ok {
		return nil
	}
	return &pool.ImageQuery{Owner: s.MachineImage.Owner, Name: s.MachineImage.NameFormat, Version: version(s), Architecture: string(s.MachineImage.Architecture)}
}

// IsPinned reports whether the spec names its image.
func IsPinned(s *v1alpha1.MachinePoolSpec) bool {
	return s.MachineImage.ID != nil && *s.MachineImage.ID != ""
}

func version(s *v1alpha1.MachinePoolSpec) string {
	if s.KubernetesVersion == nil {
		return ""
	}
	return *s.KubernetesVersion
}

// Name fills a pool's name format in: {version} is the Kubernetes version as given, {semver} the same without a leading
// v, both without a + suffix, and {suffix} is what stands behind the +. It returns false when the format asks for what
// the version does not have.
func Name(s *v1alpha1.MachinePoolSpec) (string, bool) {
	return fill(s.MachineImage.NameFormat, version(s))
}

// A Resolution is a pool's image, or why there is none.
type Resolution struct {
	// ID of the image. When it is empty no launch template is made, and one that exists stays as it is.
	ID string
	// RootDevice is the name of the device that the root volume is put on.
	RootDevice string
	// Resolved says that the image is the one that the spec asks for.
	Resolved bool
	// Reason and Message for the condition.
	Reason, Message string
}

// Last is what was known of a pool's image.
type Last struct {
	// ID of the image in the roll key's own template, and of no other's, which is made for another version. Empty when there
	// is none.
	ID string
	// RootDevice in that template.
	RootDevice string
	// Told is the condition ImageResolved as it was last reported.
	Told condition.Condition
}

// Resolve decides a pool's image. A read that failed or found nothing never changes one: the last known stays, on the device
// that it has. Where AWS is not read at all, the device is the spec's: nothing else is known of it.
func Resolve(s *v1alpha1.MachinePoolSpec, read pool.Read[*pool.Image], last Last) Resolution {
	var r Resolution
	if IsPinned(s) {
		r = pinned(s, read, last)
	} else {
		r = lookedUp(s, read, last)
	}
	if r.RootDevice == "" {
		r.RootDevice = s.MachineImage.RootDeviceName
	}
	return r
}

func pinned(s *v1alpha1.MachinePoolSpec, read pool.Read[*pool.Image], last Last) Resolution {
	id := *s.MachineImage.ID
	r := Resolution{ID: id, Resolved: true, Reason: v1alpha1.ReasonPinned, Message: "the spec pins image " + id}
	switch {
	case !read.Asked:
		return r
	case read.Failed() && last.isToldOf(id):
		return last.again()
	case read.Failed():
		r.RootDevice = last.RootDevice
		return r
	case read.Value == nil:
		return unresolved(last, v1alpha1.ReasonNotFound, fmt.Sprintf("AWS does not have image %s, which the spec pins, in the cluster's region for the account of the function's identity: "+
			"it is deregistered, of another region, or not shared: change spec.machineImage.id", id))
	}
	i := read.Value
	switch {
	case i.State != "" && i.State != stateAvailable:
		return unresolved(last, v1alpha1.ReasonNotAvailable, fmt.Sprintf("image %s, which the spec pins, cannot be launched: its state is %s: change spec.machineImage.id", id, i.State))
	case !boots(s.InstanceType, i.Architecture):
		return mismatch(s, i.Architecture, "image "+id)
	case i.Architecture != "" && i.Architecture != string(s.MachineImage.Architecture):
		return unresolved(last, v1alpha1.ReasonArchitectureMismatch, fmt.Sprintf("image %s, which the spec pins, is %s, and machineImage.architecture is %s: change spec.machineImage.architecture, which must be the instance type's, or spec.machineImage.id",
			id, i.Architecture, s.MachineImage.Architecture))
	}
	return onItsDevice(s, i, last, r)
}

func lookedUp(s *v1alpha1.MachinePoolSpec, read pool.Read[*pool.Image], last Last) Resolution {
	name, ok := Name(s)
	switch {
	case !ok && strings.Contains(s.MachineImage.NameFormat, placeSuffix) && version(s) != "":
		return unresolved(last, v1alpha1.ReasonNoKubernetesVersion, fmt.Sprintf("machineImage.nameFormat %q needs a version with a + suffix: change spec.machineImage.nameFormat or spec.kubernetesVersion, or set spec.machineImage.id", s.MachineImage.NameFormat))
	case !ok:
		return unresolved(last, v1alpha1.ReasonNoKubernetesVersion, fmt.Sprintf("machineImage.nameFormat %q needs a version: set spec.kubernetesVersion, or spec.machineImage.id", s.MachineImage.NameFormat))
	case !boots(s.InstanceType, string(s.MachineImage.Architecture)):
		return mismatch(s, string(s.MachineImage.Architecture), "machineImage.architecture")
	}
	wanted := fmt.Sprintf("an available %s image of owner %s in the cluster's region named %q", s.MachineImage.Architecture, s.MachineImage.Owner, name)
	switch {
	case !read.Asked:
		last.RootDevice = ""
		return unresolved(last, v1alpha1.ReasonImageNotRead, "the function does not read AWS to look for "+wanted+": set spec.machineImage.id, or aws.identity in the function's Input")
	case read.Failed():
		return unresolved(last, v1alpha1.ReasonReadFailed, "cannot look for "+wanted+": "+read.Err.Message)
	case read.Value == nil:
		return unresolved(last, v1alpha1.ReasonNotFound, "AWS does not have "+wanted+": check spec.machineImage and spec.kubernetesVersion")
	}
	i := read.Value
	r := Resolution{ID: i.ID, Resolved: true, Reason: v1alpha1.ReasonFound, Message: fmt.Sprintf("the newest image is %s (%s)", i.ID, i.Name)}
	return onItsDevice(s, i, last, r)
}

// onItsDevice puts the root volume on the image's own root device. Under another name it would be a second volume: the root
// would come as the image has it, of the image's size and perhaps not encrypted. A spec that leaves the default takes what
// the image has. One that names another device asks for what cannot be.
func onItsDevice(s *v1alpha1.MachinePoolSpec, i *pool.Image, last Last, r Resolution) Resolution {
	named := s.MachineImage.RootDeviceName
	switch {
	case i.RootDevice == "":
		return r
	case named == v1alpha1.DefaultRootDeviceName || named == i.RootDevice:
		r.RootDevice = i.RootDevice
		return r
	}
	return unresolved(last, v1alpha1.ReasonRootDeviceMismatch, fmt.Sprintf("the root device of image %s is %s, and machineImage.rootDeviceName is %s: with that name the root volume would stay as the image has it, perhaps not encrypted: remove spec.machineImage.rootDeviceName",
		i.ID, i.RootDevice, named))
}

// mismatch says that the instance type cannot boot the image. A launch template of both launches nothing, so none is made,
// and one that exists stays whole.
func mismatch(s *v1alpha1.MachinePoolSpec, architecture, of string) Resolution {
	return Resolution{Reason: v1alpha1.ReasonInstanceTypeMismatch, Message: fmt.Sprintf("instanceType %s is %s, and %s is %s: change spec.instanceType or spec.machineImage",
		s.InstanceType, ArchitectureOf(s.InstanceType), of, architecture)}
}

// WaitsForExports is the resolution of an image that is looked up once the cluster's exports say where.
func WaitsForExports(last Last) Resolution {
	return unresolved(last, v1alpha1.ReasonNoClusterExports, "the image is looked up once the cluster's exports say in which region")
}

// WaitsForInput is the resolution of an image that is looked up once the function's Input can be used.
func WaitsForInput(last Last) Resolution {
	return unresolved(last, v1alpha1.ReasonImageNotRead, "the image is looked up once the function's Input can be used")
}

func unresolved(last Last, reason, message string) Resolution {
	if last.ID != "" {
		message += "; the pool keeps " + last.ID
	}
	return Resolution{ID: last.ID, RootDevice: last.RootDevice, Reason: reason, Message: message}
}

// isToldOf reports whether the last answer of AWS was that a pinned image will not do.
func (l Last) isToldOf(id string) bool {
	switch l.Told.Reason {
	case v1alpha1.ReasonNotFound, v1alpha1.ReasonNotAvailable, v1alpha1.ReasonArchitectureMismatch, v1alpha1.ReasonInstanceTypeMismatch, v1alpha1.ReasonRootDeviceMismatch:
		return l.Told.Status == condition.False && strings.Contains(l.Told.Message, id)
	}
	return false
}

// again is the resolution that the last run told.
func (l Last) again() Resolution {
	r := Resolution{ID: l.ID, RootDevice: l.RootDevice, Reason: l.Told.Reason, Message: l.Told.Message}
	if r.Reason == v1alpha1.ReasonInstanceTypeMismatch {
		r.ID = ""
	}
	return r
}
