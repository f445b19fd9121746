package simulator

import (
	"context"
	"errors"
	"fmt"

	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"
)

// A Function is the function under test.
type Function interface {
	RunFunction(ctx context.Context, req *fnv1.RunFunctionRequest) (*fnv1.RunFunctionResponse, error)
}

// maxIterations of a function that asks for required resources (core, MaxRequirementsIterations).
const maxIterations = 5

// call the function, first without and then with what it requires, until its requirements are stable. A
// Quick one goes straight to the call with what the last reconcile required, as responses to earlier calls are thrown away.
func (c *Crossplane) call(ctx context.Context, req *fnv1.RunFunctionRequest) (*fnv1.RunFunctionResponse, error) {
	var requirements *fnv1.Requirements
	if c.Quick && c.requirements != nil {
		requirements = c.requirements
		if err := c.fetchAll(req, requirements); err != nil {
			return nil, err
		}
	}
	for range maxIterations + 1 {
		// Anew in each iteration: in one process the SDK's response shares its desired state with the request.
		req.Desired = &fnv1.State{}
		rsp, err := c.function.RunFunction(ctx, req)
		if err != nil {
			return nil, err
		}
		if IsFatal(rsp) || proto.Equal(rsp.GetRequirements(), requirements) {
			return rsp, nil
		}
		requirements = rsp.GetRequirements()
		c.requirements = requirements
		if err := c.fetchAll(req, requirements); err != nil {
			return nil, err
		}
	}
	return nil, errors.New("requirements did not stabilize")
}

func (c *Crossplane) fetchAll(req *fnv1.RunFunctionRequest, requirements *fnv1.Requirements) error {
	req.RequiredResources = map[string]*fnv1.Resources{}
	for name, selector := range requirements.GetResources() {
		r, err := c.fetch(selector)
		if err != nil {
			return err
		}
		req.RequiredResources[name] = r
	}
	return nil
}

// fetch a required resource. One that does not exist is there without items (notes, Crossplane core).
func (c *Crossplane) fetch(s *fnv1.ResourceSelector) (*fnv1.Resources, error) {
	out := &fnv1.Resources{}
	object, ok := c.Objects[ObjectKey(s.GetKind(), s.GetNamespace(), s.GetMatchName())]
	if !ok {
		return out, nil
	}
	r, err := structpb.NewStruct(object)
	if err != nil {
		return nil, err
	}
	out.Items = []*fnv1.Resource{{Resource: r}}
	return out, nil
}

// ObjectKey of an object that the function may require.
func ObjectKey(kind, namespace, name string) string {
	return fmt.Sprint(kind, "/", namespace, "/", name)
}

// request for a view of the control plane.
func (c *Crossplane) request(v view) (*fnv1.RunFunctionRequest, error) {
	input, err := structpb.NewStruct(c.Input)
	if err != nil {
		return nil, err
	}
	xr, err := structpb.NewStruct(v.xr)
	if err != nil {
		return nil, err
	}
	req := &fnv1.RunFunctionRequest{
		Meta:     &fnv1.RequestMeta{},
		Input:    input,
		Observed: &fnv1.State{Composite: &fnv1.Resource{Resource: xr}, Resources: map[string]*fnv1.Resource{}},
		Desired:  &fnv1.State{},
	}
	for name, mr := range v.mrs {
		r, err := structpb.NewStruct(mr)
		if err != nil {
			return nil, err
		}
		req.Observed.Resources[name] = &fnv1.Resource{Resource: r}
	}
	return req, nil
}

// IsFatal says that a response stops the pipeline.
func IsFatal(rsp *fnv1.RunFunctionResponse) bool {
	for _, r := range rsp.GetResults() {
		if r.GetSeverity() == fnv1.Severity_SEVERITY_FATAL {
			return true
		}
	}
	return false
}
