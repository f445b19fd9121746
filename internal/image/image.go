// Package image decides which AMI a pool's instances boot.
package image

import (
	"fmt"
	"strings"

	"github.com/crossplane-contrib/function-aws-machinepool/apis/v1alpha1"
	"github.com/crossplane-contrib/function-aws-machinepool/internal/pool"
)

// Reasons of the condition ImageResolved.
const (
	ReasonPinned     = "Pinned"
	ReasonFound      = "Found"
	ReasonLastKnown  = "LastKnown"
	ReasonNotFound   = "NotFound"
	ReasonNotRead    = "ImageNotRead"
	ReasonReadFailed = "ReadFailed"
	ReasonNoVersion  = "NoKubernetesVersion"
	ReasonNoExports  = "NoClusterExports"
)

// QueryFor returns what to look for in AWS: nil when the image is pinned, or when the name format asks for a version
// that the pool does not have.
func QueryFor(s *v1alpha1.MachinePoolSpec) *pool.ImageQuery {
	if isPinned(s) {
		return nil
	}
	name, ok := Name(s)
	if !ok {
		return nil
	}
	return &pool.ImageQuery{Owner: s.MachineImage.Owner, Name: name, Architecture: string(s.MachineImage.Architecture)}
}

func isPinned(s *v1alpha1.MachinePoolSpec) bool {
	return s.MachineImage.ID != nil && *s.MachineImage.ID != ""
}

// Name fills a pool's name format in: {version} is the Kubernetes version as given, {semver} the same without a leading
// v, both without a + suffix, which no AMI name can hold. It returns false when the format asks for a version that
// the pool does not have.
func Name(s *v1alpha1.MachinePoolSpec) (string, bool) {
	format := s.MachineImage.NameFormat
	if s.KubernetesVersion == nil || *s.KubernetesVersion == "" {
		return format, !strings.Contains(format, "{semver}") && !strings.Contains(format, "{version}")
	}
	version, _, _ := strings.Cut(*s.KubernetesVersion, "+")
	return strings.NewReplacer("{semver}", strings.TrimPrefix(version, "v"), "{version}", version).Replace(format), true
}

// A Resolution is a pool's image, or why there is none.
type Resolution struct {
	// ID of the image; empty when it is not known.
	ID string
	// Resolved says that the image is the one that the spec asks for.
	Resolved bool
	// Reason and Message for the condition.
	Reason, Message string
}

// Resolve decides a pool's image. A lookup that failed or found nothing never changes one: the last known stays, which
// is that of the roll key's own template and no other's, since another's is made for another version.
func Resolve(s *v1alpha1.MachinePoolSpec, region string, read pool.Read[*pool.Image], lastKnown string) Resolution {
	if isPinned(s) {
		id := *s.MachineImage.ID
		return Resolution{ID: id, Resolved: true, Reason: ReasonPinned, Message: "the spec pins image " + id}
	}
	name, ok := Name(s)
	if !ok {
		return unresolved(lastKnown, ReasonNoVersion, fmt.Sprintf("machineImage.nameFormat %q needs a version: set spec.kubernetesVersion, or spec.machineImage.id", s.MachineImage.NameFormat))
	}
	wanted := fmt.Sprintf("an available %s image of owner %s in %s named %q", s.MachineImage.Architecture, s.MachineImage.Owner, region, name)
	switch {
	case !read.Asked:
		return unresolved(lastKnown, ReasonNotRead, "the function does not read AWS to look for "+wanted+": set spec.machineImage.id, or aws.identity in the function's Input")
	case read.Failed():
		return unresolved(lastKnown, ReasonReadFailed, "cannot look for "+wanted+": "+read.Err.Message)
	case read.Value == nil:
		return unresolved(lastKnown, ReasonNotFound, "AWS does not have "+wanted+": check spec.machineImage and spec.kubernetesVersion")
	}
	return Resolution{ID: read.Value.ID, Resolved: true, Reason: ReasonFound, Message: fmt.Sprintf("the newest image is %s (%s)", read.Value.ID, read.Value.Name)}
}

// WaitsForExports is the resolution of an image that is looked up once the cluster's exports say where.
func WaitsForExports(lastKnown string) Resolution {
	return unresolved(lastKnown, ReasonNoExports, "the image is looked up once the cluster's exports say in which region")
}

func unresolved(lastKnown, reason, message string) Resolution {
	if lastKnown != "" {
		message += "; the pool keeps " + lastKnown
	}
	return Resolution{ID: lastKnown, Reason: reason, Message: message}
}
