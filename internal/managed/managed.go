// Package managed renders a decision into provider-aws managed resources: canonical, so that equal decisions give equal
// resources. The provider's namespaced types serve both scopes, since their parameters have the same shape in both and
// only group, version and the provider configuration's reference differ.
package managed

import (
	"cmp"
	"fmt"

	v1 "github.com/crossplane/crossplane-runtime/v2/apis/common/v1"
	v2 "github.com/crossplane/crossplane-runtime/v2/apis/common/v2"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/crossplane-contrib/function-aws-machinepool/internal/decision"
	"github.com/crossplane-contrib/function-aws-machinepool/internal/naming"
	"github.com/crossplane-contrib/function-aws-machinepool/internal/pool"
)

// A Manifest is a managed resource to be.
type Manifest struct {
	// Resource is its composed resource name.
	Resource string
	// Object as plain JSON values.
	Object map[string]any
	// Ready says that the managed resource is Ready and Synced.
	Ready bool
}

// Render the resources of a decision, in a fixed order.
func Render(o *pool.Observation, d decision.Decision) ([]Manifest, error) {
	r := renderer{Observation: o, common: d.Common, versions: versions[o.Scope()]}
	for _, t := range d.Templates {
		r.add(t.Resource, t.Held, t.ExternalName, t.Healthy, func() fresh { return r.launchTemplate(t) })
	}
	if g := d.Group; g != nil {
		r.add(naming.ResourceGroup, heldGroup(g), g.Name, g.Healthy, func() fresh { return r.autoscalingGroup(g) })
	}
	if obj := d.Object; obj != nil {
		r.add(naming.ResourceObject, heldObject(obj), "", obj.Healthy, func() fresh { return r.object(obj) })
	}
	if p := d.Policy; p != nil {
		r.add(naming.ResourcePolicy, p.Held, naming.ScalingPolicy, p.Healthy, func() fresh { return r.policy(p) })
	}
	for _, h := range d.Hooks {
		r.add(h.Resource, h.Held, h.Spec.Name, h.Healthy, func() fresh { return r.lifecycleHook(h) })
	}
	return r.manifests, r.err
}

// A fresh managed resource: what of it is ours to write. Its status is not, and to encode one only to drop it again
// takes as long as all the rest.
type fresh struct {
	kind        string
	annotations map[string]string
	// spec is a pointer to the provider's own type of it.
	spec any
}

// A renderer collects manifests up to the first error.
type renderer struct {
	*pool.Observation

	common    *decision.Common
	versions  scopeVersions
	manifests []Manifest
	err       error
}

// add a resource, held as it is or rendered anew. A name that AWS knows it by is always sent: the provider does not
// keep one that it did not get from us.
func (r *renderer) add(resource string, held decision.Held, externalName string, ready bool, render func() fresh) {
	if r.err != nil {
		return
	}
	var object map[string]any
	annotations := map[string]any{}
	if held != nil {
		object = map[string]any{"apiVersion": held.APIVersion, "kind": held.Kind, "spec": held.Spec}
		externalName = cmp.Or(externalName, held.ExternalName)
		for k, v := range held.Annotations {
			annotations[k] = v
		}
	} else {
		made := render()
		spec, err := toMap(made.spec)
		if err != nil {
			r.err = fmt.Errorf("cannot encode composed resource %q: %w", resource, err)
			return
		}
		object = map[string]any{"kind": made.kind, "spec": spec}
		r.versions.fit(object)
		for k, v := range made.annotations {
			annotations[k] = v
		}
	}
	if externalName != "" {
		annotations[meta.AnnotationKeyExternalName] = externalName
	}
	if len(annotations) > 0 {
		object["metadata"] = map[string]any{"annotations": annotations}
	}
	r.manifests = append(r.manifests, Manifest{Resource: resource, Object: object, Ready: ready})
}

// toMap encodes a spec, without an initProvider that says nothing.
func toMap(spec any) (map[string]any, error) {
	m, err := runtime.DefaultUnstructuredConverter.ToUnstructured(spec)
	if err != nil {
		return nil, err
	}
	if init, ok := m["initProvider"].(map[string]any); ok && len(init) == 0 {
		delete(m, "initProvider")
	}
	return m, nil
}

// spec that every managed resource has. LateInitialize is left out: it would copy what AWS reports into the spec, the
// desired capacity and the template's name among it, and fight autoscalers and rolls.
func (r *renderer) spec() v2.ManagedResourceSpec {
	return v2.ManagedResourceSpec{
		ManagementPolicies: v1.ManagementPolicies{
			v1.ManagementActionObserve, v1.ManagementActionCreate, v1.ManagementActionUpdate, v1.ManagementActionDelete,
		},
		ProviderConfigReference: &v1.ProviderConfigReference{
			Kind: r.Input.ProviderConfigRef.Kind,
			Name: r.Input.ProviderConfigRef.Name,
		},
	}
}

func pointers(values []string) []*string {
	out := make([]*string, 0, len(values))
	for _, v := range values {
		out = append(out, &v)
	}
	return out
}

func pointerMap(values map[string]string) map[string]*string {
	out := make(map[string]*string, len(values))
	for k, v := range values {
		out[k] = &v
	}
	return out
}
