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
		c.fetchAll(req, requirements)
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
		c.fetchAll(req, requirements)
	}
	return nil, errors.New("requirements did not stabilize")
}

func (c *Crossplane) fetchAll(req *fnv1.RunFunctionRequest, requirements *fnv1.Requirements) {
	req.RequiredResources = map[string]*fnv1.Resources{}
	for name, selector := range requirements.GetResources() {
		req.RequiredResources[name] = c.fetch(selector)
	}
}

// fetch a required resource. One that does not exist is there without items (C7).
func (c *Crossplane) fetch(s *fnv1.ResourceSelector) *fnv1.Resources {
	key := ObjectKey(s.GetKind(), s.GetNamespace(), s.GetMatchName())
	object, ok := c.Objects[key]
	if !ok {
		return &fnv1.Resources{}
	}
	return &fnv1.Resources{Items: []*fnv1.Resource{c.resource(key, object)}}
}

// ObjectKey of an object that the function may require.
func ObjectKey(kind, namespace, name string) string {
	return fmt.Sprint(kind, "/", namespace, "/", name)
}

// request for a view of the control plane.
func (c *Crossplane) request(v view) *fnv1.RunFunctionRequest {
	req := &fnv1.RunFunctionRequest{
		Meta:     &fnv1.RequestMeta{},
		Input:    c.resource("input", c.Input).GetResource(),
		Observed: &fnv1.State{Composite: c.resource("composite", v.xr), Resources: map[string]*fnv1.Resource{}},
		Desired:  &fnv1.State{},
	}
	for name, mr := range v.mrs {
		req.Observed.Resources[name] = c.resource("composed/"+name, mr)
	}
	return req
}

// resource of a request. Requests share those that stay as they are: a function has no business changing them.
func (c *Crossplane) resource(name string, o Object) *fnv1.Resource {
	return c.resources.of(name, o, func(o Object) *fnv1.Resource {
		s, err := structpb.NewStruct(o)
		if err != nil {
			panic(err) // A test has put something into the world that is no JSON.
		}
		return &fnv1.Resource{Resource: s}
	})
}

// IsFatal reports whether a response stops the pipeline.
func IsFatal(rsp *fnv1.RunFunctionResponse) bool {
	for _, r := range rsp.GetResults() {
		if r.GetSeverity() == fnv1.Severity_SEVERITY_FATAL {
			return true
		}
	}
	return false
}
