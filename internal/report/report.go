// Package report writes a decision into a response.
package report

import (
	"errors"
	"fmt"
	"maps"
	"time"

	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	"github.com/crossplane/function-sdk-go/response"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/structpb"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/crossplane-contrib/function-aws-machinepool/input/v1beta1"
	"github.com/crossplane-contrib/function-aws-machinepool/internal/cluster"
	"github.com/crossplane-contrib/function-aws-machinepool/internal/condition"
	"github.com/crossplane-contrib/function-aws-machinepool/internal/decision"
	"github.com/crossplane-contrib/function-aws-machinepool/internal/managed"
	"github.com/crossplane-contrib/function-aws-machinepool/internal/observation"
	"github.com/crossplane-contrib/function-aws-machinepool/internal/pool"
	"github.com/crossplane-contrib/function-aws-machinepool/internal/syntax"
)

// DefaultTTL of a response when no Input says otherwise. The time to live is the only timer that Crossplane has with
// realtime compositions, and 0 would mean never.
const DefaultTTL = 15 * time.Second

// Requirements asks Crossplane for the objects that a pool refers to. They are asked for in every response: what a
// response does not ask for is not there in the next request.
//
// An object that the pool may not name is not asked for: what Crossplane reads for a pool, it reads with rights of its own.
func Requirements(rsp *fnv1.RunFunctionResponse, o *pool.Observation) {
	resources := map[string]*fnv1.ResourceSelector{}
	secret := o.Composite.Spec.Bootstrap.DataSecretRef
	if syntax.ObjectName.Matches(secret.Name) && o.Bootstrap.Source != pool.SourceRefused {
		resources[observation.RequiredBootstrap] = selector("v1", "Secret", secret.Namespace, secret.Name)
	}
	if exports := o.Composite.Spec.Cluster.ExportsFrom; exports != nil && syntax.ObjectName.Matches(exports.Name) && o.Exports.Source != pool.SourceRefused {
		resources[observation.RequiredExports] = selector(exports.APIVersion, exports.Kind, cluster.NamespaceOf(o.Input.ExportsFrom, exports), exports.Name)
	}
	rsp.Requirements = &fnv1.Requirements{Resources: resources}
}

func selector(apiVersion, kind, namespace, name string) *fnv1.ResourceSelector {
	s := &fnv1.ResourceSelector{ApiVersion: apiVersion, Kind: kind, Match: &fnv1.ResourceSelector_MatchName{MatchName: name}}
	if namespace != "" {
		s.Namespace = &namespace
	}
	return s
}

// Undecodable reports a request that no pool can be made out of. It is fatal, as a refusal is.
func Undecodable(rsp *fnv1.RunFunctionResponse, last map[condition.Type]condition.Condition, err error) {
	conditions(rsp, decision.Refused(err.Error(), last))
	response.Fatal(rsp, errors.New(condition.Message(err.Error())))
}

// Refusal reports a decision that composes nothing. It is fatal, and so leaves everything that exists as it is.
func Refusal(rsp *fnv1.RunFunctionResponse, d decision.Decision) {
	conditions(rsp, d.Conditions)
	response.Fatal(rsp, errors.New(condition.Errors(d.Refused)))
}

// Pool reports a decision and the resources rendered from it.
func Pool(rsp *fnv1.RunFunctionResponse, o *pool.Observation, d decision.Decision, manifests []managed.Manifest) error {
	if err := desire(rsp, manifests, d.Ready); err != nil {
		return err
	}
	if err := status(rsp, d); err != nil {
		return err
	}
	conditions(rsp, d.Conditions)
	for _, e := range d.Events {
		result(rsp, e)
	}
	rsp.Meta.Ttl = durationpb.New(ttl(o.Input.Refresh, d.Changing))
	return nil
}

func ttl(r v1beta1.Refresh, changing bool) time.Duration {
	if changing {
		return time.Duration(r.ChangingSeconds) * time.Second
	}
	return time.Duration(r.StableSeconds) * time.Second
}

// desire adds the manifests to what earlier steps of the pipeline desire. The resources of a pool that works are all ready:
// Crossplane would otherwise count a template that is on its way in or out.
func desire(rsp *fnv1.RunFunctionResponse, manifests []managed.Manifest, works bool) error {
	resources := make(map[string]*fnv1.Resource, len(manifests))
	maps.Copy(resources, rsp.GetDesired().GetResources())
	for _, m := range manifests {
		s, err := structpb.NewStruct(m.Object)
		if err != nil {
			return fmt.Errorf("cannot encode composed resource %q: %w", m.Resource, err)
		}
		resources[m.Resource] = &fnv1.Resource{Resource: s, Ready: ready(m.Ready || works)}
	}
	rsp.Desired = &fnv1.State{Composite: rsp.GetDesired().GetComposite(), Resources: resources}
	return nil
}

// status writes the composite's status beside what earlier steps desire of it. A pool that does not work is not ready. Whether
// one that does is ready is left to Crossplane, which counts what other steps compose as well: only what an earlier step says
// outright of the composite stays.
func status(rsp *fnv1.RunFunctionResponse, d decision.Decision) error {
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&d.Status)
	if err != nil {
		return fmt.Errorf("cannot encode the status: %w", err)
	}
	ours, err := structpb.NewStruct(fields)
	if err != nil {
		return fmt.Errorf("cannot encode the status: %w", err)
	}
	earlier := rsp.GetDesired().GetComposite()
	object := maps.Clone(earlier.GetResource().GetFields())
	if object == nil {
		object = map[string]*structpb.Value{}
	}
	merged := maps.Clone(object["status"].GetStructValue().GetFields())
	if merged == nil {
		merged = map[string]*structpb.Value{}
	}
	maps.Copy(merged, ours.GetFields())
	object["status"] = structpb.NewStructValue(&structpb.Struct{Fields: merged})
	rsp.Desired.Composite = &fnv1.Resource{
		Resource:          &structpb.Struct{Fields: object},
		ConnectionDetails: earlier.GetConnectionDetails(),
		Ready:             compositeReady(earlier.GetReady(), d.Ready),
	}
	return nil
}

func compositeReady(earlier fnv1.Ready, works bool) fnv1.Ready {
	if !works {
		return fnv1.Ready_READY_FALSE
	}
	return earlier
}

func ready(r bool) fnv1.Ready {
	if r {
		return fnv1.Ready_READY_TRUE
	}
	return fnv1.Ready_READY_FALSE
}

var statuses = map[condition.Status]fnv1.Status{ //nolint:gochecknoglobals // A constant table.
	condition.True:    fnv1.Status_STATUS_CONDITION_TRUE,
	condition.False:   fnv1.Status_STATUS_CONDITION_FALSE,
	condition.Unknown: fnv1.Status_STATUS_CONDITION_UNKNOWN,
}

// conditions of the composite, and of its claim when it has one.
func conditions(rsp *fnv1.RunFunctionResponse, cs []condition.Condition) {
	for _, c := range cs {
		rsp.Conditions = append(rsp.Conditions, &fnv1.Condition{
			Type:    c.Type,
			Status:  statuses[c.Status],
			Reason:  c.Reason,
			Message: &c.Message,
			Target:  fnv1.Target_TARGET_COMPOSITE_AND_CLAIM.Enum(),
		})
	}
}

func result(rsp *fnv1.RunFunctionResponse, e decision.Event) {
	severity := fnv1.Severity_SEVERITY_NORMAL
	if e.Warning {
		severity = fnv1.Severity_SEVERITY_WARNING
	}
	rsp.Results = append(rsp.Results, &fnv1.Result{
		Severity: severity,
		Message:  e.Message,
		Reason:   &e.Reason,
		Target:   fnv1.Target_TARGET_COMPOSITE_AND_CLAIM.Enum(),
	})
}
