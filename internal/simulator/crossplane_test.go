package simulator

import (
	"context"
	"testing"

	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/crossplane-contrib/function-aws-machinepool/internal/pool"
)

// A fakeFunction answers with what the test says, and remembers what it was asked.
type fakeFunction struct {
	answer   func(req *fnv1.RunFunctionRequest) *fnv1.RunFunctionResponse
	requests []*fnv1.RunFunctionRequest
}

func (f *fakeFunction) RunFunction(_ context.Context, req *fnv1.RunFunctionRequest) (*fnv1.RunFunctionResponse, error) {
	f.requests = append(f.requests, &fnv1.RunFunctionRequest{Observed: req.GetObserved(), RequiredResources: req.GetRequiredResources()})
	return f.answer(req), nil
}

// desire resources, each with a size.
func desire(sizes map[string]float64) *fnv1.RunFunctionResponse {
	rsp := &fnv1.RunFunctionResponse{Desired: &fnv1.State{Composite: &fnv1.Resource{}, Resources: map[string]*fnv1.Resource{}}}
	for name, size := range sizes {
		s, err := structpb.NewStruct(Object{"kind": "Object", "spec": Object{"forProvider": Object{"size": size}}})
		if err != nil {
			panic(err)
		}
		rsp.Desired.Resources[name] = &fnv1.Resource{Resource: s}
	}
	return rsp
}

func newControlPlane(answer func(req *fnv1.RunFunctionRequest) *fnv1.RunFunctionResponse) (*Crossplane, *fakeFunction) {
	f := &fakeFunction{answer: answer}
	return NewCrossplane(f, &Clock{}, Object{"metadata": Object{"name": "pool"}, "spec": Object{}}, Object{}), f
}

// TestGarbageCollection holds that it comes before apply, that what left desired is out of sight while it terminates,
// and that a stale view of it stops the whole reconcile.
func TestGarbageCollection(t *testing.T) {
	sizes := map[string]float64{"a": 1, "b": 1}
	c, f := newControlPlane(func(*fnv1.RunFunctionRequest) *fnv1.RunFunctionResponse { return desire(sizes) })
	c.Reconcile(t.Context(), ReconcileOptions{})
	SetField(c.MR("a"), []any{"keep"}, "metadata", "finalizers")
	c.Mark()

	SetField(c.MR("a"), "x", "status", "seen")
	sizes = map[string]float64{"b": 2}
	r := c.Reconcile(t.Context(), ReconcileOptions{StaleMRs: true})
	if size, _ := Number(c.MR("b"), "spec", "forProvider", "size"); r.Err == nil || size != 1 {
		t.Errorf("a stale view collects garbage: error %v, b has size %d", r.Err, size)
	}

	r = c.Reconcile(t.Context(), ReconcileOptions{FailApplyAt: 1})
	if diff := cmp.Diff([]string{"a"}, r.Deleted); diff != "" || r.Err == nil {
		t.Errorf("garbage is not collected before apply, error %v, -want, +got:\n%s", r.Err, diff)
	}
	if c.MR("a") == nil {
		t.Errorf("a resource with a finalizer is gone at once")
	}
	c.Reconcile(t.Context(), ReconcileOptions{})
	if _, seen := f.requests[len(f.requests)-1].GetObserved().GetResources()["a"]; seen {
		t.Errorf("a resource that terminates is still observed")
	}
}

// TestApply holds server-side apply: what is not sent any more vanishes, what others wrote stays, and so does the name.
func TestApply(t *testing.T) {
	cases := map[string]struct {
		reason             string
		object, last, next Object
		want               Object
	}{
		"Retracted": {
			reason: "A field that was sent and is not any more vanishes.",
			object: Object{"spec": Object{"a": 1.0, "b": 2.0}}, last: Object{"spec": Object{"a": 1.0, "b": 2.0}}, next: Object{"spec": Object{"a": 1.0}},
			want: Object{"spec": Object{"a": 1.0}},
		},
		"ForeignStays": {
			reason: "A field of someone else stays, beside ours and without.",
			object: Object{"annotations": Object{"ours": "x", "theirs": "y"}}, last: Object{"annotations": Object{"ours": "x"}}, next: Object{},
			want: Object{"annotations": Object{"theirs": "y"}},
		},
		"ListsWhole": {
			reason: "Lists are replaced.",
			object: Object{"l": []any{"a", "b"}}, last: Object{"l": []any{"a", "b"}}, next: Object{"l": []any{"b"}},
			want: Object{"l": []any{"b"}},
		},
		"Changed": {
			reason: "A field that is sent is as sent.",
			object: Object{"spec": Object{"a": 5.0}}, last: Object{"spec": Object{"a": 1.0}}, next: Object{"spec": Object{"a": 1.0}},
			want: Object{"spec": Object{"a": 1.0}},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			apply(tc.object, tc.last, tc.next)
			if diff := cmp.Diff(tc.want, tc.object); diff != "" {
				t.Errorf("%s\n-want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestFatal holds that a fatal result touches nothing, and that conditions which it lacks become Unknown.
func TestFatal(t *testing.T) {
	fatal := false
	c, _ := newControlPlane(func(*fnv1.RunFunctionRequest) *fnv1.RunFunctionResponse {
		rsp := desire(map[string]float64{"a": 1})
		rsp.Conditions = []*fnv1.Condition{
			{Type: "Kept", Status: fnv1.Status_STATUS_CONDITION_TRUE, Reason: "Good"},
			{Type: "Ready", Status: fnv1.Status_STATUS_CONDITION_TRUE, Reason: "NotOurs"},
		}
		if fatal {
			return &fnv1.RunFunctionResponse{Conditions: rsp.GetConditions()[:1], Results: []*fnv1.Result{{Severity: fnv1.Severity_SEVERITY_FATAL}}}
		}
		rsp.Conditions = append(rsp.Conditions, &fnv1.Condition{Type: "Lost", Status: fnv1.Status_STATUS_CONDITION_FALSE, Reason: "Bad"})
		return rsp
	})
	c.Reconcile(t.Context(), ReconcileOptions{})
	fatal = true
	if r := c.Reconcile(t.Context(), ReconcileOptions{}); !r.Fatal || len(r.Deleted) > 0 || c.MR("a") == nil {
		t.Errorf("a fatal result touched something: %+v", r.Deleted)
	}
	want := map[string]string{"Kept": "Good", "Lost": "FatalError", "Ready": "Creating", "Synced": "ReconcileError"}
	for condition, reason := range want {
		if got := ConditionOf(c.XR, condition); got.Reason != reason {
			t.Errorf("condition %s is %+v, want reason %s", condition, got, reason)
		}
	}
}

// TestRequirements holds the order of calls: first without, then with what is required; what does not exist is there
// without items.
func TestRequirements(t *testing.T) {
	selector := func(name string) *fnv1.ResourceSelector {
		return &fnv1.ResourceSelector{Kind: "Secret", Match: &fnv1.ResourceSelector_MatchName{MatchName: name}}
	}
	c, f := newControlPlane(func(*fnv1.RunFunctionRequest) *fnv1.RunFunctionResponse {
		rsp := desire(nil)
		rsp.Requirements = &fnv1.Requirements{Resources: map[string]*fnv1.ResourceSelector{"there": selector("a"), "gone": selector("b")}}
		return rsp
	})
	c.Objects[ObjectKey("Secret", "", "a")] = Object{"kind": "Secret"}
	c.Reconcile(t.Context(), ReconcileOptions{})
	if len(f.requests) != 2 || len(f.requests[0].GetRequiredResources()) != 0 {
		t.Fatalf("%d calls, the first with %v", len(f.requests), f.requests[0].GetRequiredResources())
	}
	got := map[string]int{}
	for name, r := range f.requests[1].GetRequiredResources() {
		got[name] = len(r.GetItems())
	}
	if diff := cmp.Diff(map[string]int{"there": 1, "gone": 0}, got); diff != "" {
		t.Errorf("items by requirement, -want, +got:\n%s", diff)
	}
}

// TestGeneration holds that a resource has another one with every change of its spec, and of nothing else.
func TestGeneration(t *testing.T) {
	size := 1.0
	c, _ := newControlPlane(func(*fnv1.RunFunctionRequest) *fnv1.RunFunctionResponse { return desire(map[string]float64{"a": size}) })
	for i, want := range []int{1, 1, 2} {
		if i == 2 {
			size = 2
		}
		c.Reconcile(t.Context(), ReconcileOptions{})
		SetField(c.MR("a"), float64(i), "status", "seen")
		if got, _ := Number(c.MR("a"), "metadata", "generation"); got != want {
			t.Errorf("after %d reconciles the generation is %d, want %d", i+1, got, want)
		}
	}
}

// TestRefused holds that one resource which cannot be applied keeps the status from being written.
func TestRefused(t *testing.T) {
	c, _ := newControlPlane(func(*fnv1.RunFunctionRequest) *fnv1.RunFunctionResponse {
		rsp := desire(map[string]float64{"a": 1, "b": 1})
		rsp.Desired.Composite = &fnv1.Resource{Resource: &structpb.Struct{Fields: map[string]*structpb.Value{
			"status": structpb.NewStructValue(&structpb.Struct{Fields: map[string]*structpb.Value{"seen": structpb.NewStringValue("x")}}),
		}}}
		return rsp
	})
	for _, tc := range []struct{ refused, want string }{{refused: "b"}, {want: "x"}} {
		r := c.Reconcile(t.Context(), ReconcileOptions{Refused: tc.refused})
		if got := Text(c.XR, "status", "seen"); got != tc.want || (r.Err != nil) != (tc.refused != "") {
			t.Errorf("with %q refused the status is %q and the error %v, want %q", tc.refused, got, r.Err, tc.want)
		}
	}
	if c.MR("a") == nil {
		t.Error("what comes before it is not applied")
	}
}

// TestStale holds what old views show: the step before, or what the last reconcile saw, and never anything older than that.
func TestStale(t *testing.T) {
	cases := map[string]struct {
		reason string
		stuck  bool
		act    func(c *Crossplane)
		want   string
	}{
		"OneStep":      {reason: "One step ago is before the last poll.", act: func(*Crossplane) {}, want: "two"},
		"Stuck":        {reason: "A stuck cache shows what the last reconcile saw.", stuck: true, act: func(*Crossplane) {}, want: "one"},
		"StillStuck":   {reason: "It shows it again and again.", stuck: true, act: func(c *Crossplane) { c.Reconcile(t.Context(), ReconcileOptions{Stuck: true, StaleMRs: true}) }, want: "one"},
		"NeverBack":    {reason: "What was shown once is not taken back.", stuck: true, act: func(c *Crossplane) { c.Reconcile(t.Context(), ReconcileOptions{}) }, want: "three"},
		"NeverBackOne": {reason: "A step counts as well.", stuck: true, act: func(c *Crossplane) { c.Reconcile(t.Context(), ReconcileOptions{StaleMRs: true}) }, want: "two"},
		"CaughtUp":     {reason: "A cache that caught up shows what is.", stuck: true, act: func(c *Crossplane) { c.CatchUp() }, want: "three"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c, f := newControlPlane(func(*fnv1.RunFunctionRequest) *fnv1.RunFunctionResponse { return desire(map[string]float64{"a": 1}) })
			c.Reconcile(t.Context(), ReconcileOptions{})
			SetField(c.MR("a"), "one", "status", "seen")
			c.Reconcile(t.Context(), ReconcileOptions{})
			for _, text := range []string{"two", "three"} {
				c.Mark()
				SetField(c.MR("a"), text, "status", "seen")
			}
			tc.act(c)
			c.Reconcile(t.Context(), ReconcileOptions{Stuck: tc.stuck, StaleMRs: true})
			seen := f.requests[len(f.requests)-1].GetObserved().GetResources()["a"].GetResource().AsMap()
			if got := Text(seen, "status", "seen"); got != tc.want {
				t.Errorf("%s\nit shows %q, want %q", tc.reason, got, tc.want)
			}
		})
	}
}

// TestStaleXR holds that a reconcile with a stale composite works from its old references, and replaces the new ones.
func TestStaleXR(t *testing.T) {
	sizes := map[string]float64{"a": 1}
	c, f := newControlPlane(func(*fnv1.RunFunctionRequest) *fnv1.RunFunctionResponse { return desire(sizes) })
	c.Reconcile(t.Context(), ReconcileOptions{})
	sizes = map[string]float64{"a": 1, "b": 1}
	c.Reconcile(t.Context(), ReconcileOptions{})
	sizes = map[string]float64{"a": 1}
	r := c.Reconcile(t.Context(), ReconcileOptions{StaleXR: true})
	if _, seen := f.requests[len(f.requests)-1].GetObserved().GetResources()["b"]; seen || len(r.Deleted) > 0 {
		t.Errorf("a stale composite refers to b, or b was deleted: %v", r.Deleted)
	}
	if diff := cmp.Diff([]string{"b"}, c.Leaked()); diff != "" {
		t.Errorf("leaked, -want, +got:\n%s", diff)
	}
}

// TestReader holds that each part of a reading fails by itself, and what an incomplete answer lacks.
func TestReader(t *testing.T) {
	type result struct {
		Group, Instances, Image, Refresh string
		Members, Listed                  int
	}
	state := func(asked bool, err *pool.ReadError) string {
		switch {
		case !asked:
			return "not asked"
		case err != nil:
			return string(err.Reason)
		}
		return "known"
	}
	query := pool.Query{GroupName: "mp-pool", Image: &pool.ImageQuery{Owner: "1", Name: "img-*", Architecture: "arm64"}}
	known := result{Group: "known", Instances: "known", Image: "known", Refresh: "not asked", Members: 3, Listed: 3}
	cases := map[string]struct {
		reason string
		fault  func(r *Reader)
		want   func(r result) result
	}{
		"Whole":     {reason: "Nothing fails.", fault: func(*Reader) {}, want: func(r result) result { return r }},
		"Throttled": {reason: "One part fails.", fault: func(r *Reader) { r.Fail(PartGroup, pool.ReadThrottled) }, want: func(r result) result { r.Group, r.Members = "Throttled", 0; return r }},
		"Cut":       {reason: "EC2 forgets one.", fault: func(r *Reader) { r.Cut(1) }, want: func(r result) result { r.Listed = 2; return r }},
		"Lost":      {reason: "Another account.", fault: func(r *Reader) { r.Lose() }, want: func(r result) result { r.Members, r.Listed = 0, 0; return r }},
		"Healed":    {reason: "All is well again.", fault: func(r *Reader) { r.Cut(1); r.Lose(); r.Heal() }, want: func(r result) result { return r }},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, true)
			b.Images = []Image{{ID: "ami-1", Name: "img-1", Owner: "1", Architecture: "arm64"}, {ID: "ami-2", Name: "img-2", Owner: "1", Architecture: "arm64"}, {ID: "ami-3", Name: "img-3", Owner: "2", Architecture: "arm64"}}
			r := NewReader(b.AWS)
			tc.fault(r)
			read := r.Read(t.Context(), query)
			got := result{
				Group: state(read.Group.Asked, read.Group.Err), Instances: state(read.Instances.Asked, read.Instances.Err),
				Image: state(read.Image.Asked, read.Image.Err), Refresh: state(read.Refresh.Asked, read.Refresh.Err), Listed: len(read.Instances.Value),
			}
			if read.Group.Value != nil {
				got.Members = len(read.Group.Value.Members)
			}
			if diff := cmp.Diff(tc.want(known), got); diff != "" {
				t.Errorf("%s\n-want, +got:\n%s", tc.reason, diff)
			}
			if got := read.Image.Value.ID; got != "ami-2" {
				t.Errorf("%s\nthe newest image is %s, want ami-2", tc.reason, got)
			}
		})
	}
}
