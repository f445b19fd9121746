package simulator

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"time"

	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
)

// Crossplane is the control plane of one composite: its API server, and the reconciler that calls the function.
type Crossplane struct {
	// XR is the composite.
	XR Object
	// Input of the function's pipeline step.
	Input Object
	// Objects that the function may require, by ObjectKey.
	Objects map[string]Object
	// MRs are the managed resources that exist, by their own names. Those that leave desired stay while they terminate.
	MRs map[string]Object
	// Fresh says that nothing will be seen as it was before, which makes steps cheaper.
	Fresh bool
	// Ahead is how far the API server's clock is ahead of that of AWS.
	Ahead time.Duration
	// Quick skips calls of the function whose responses Crossplane throws away.
	Quick bool

	function Function
	clock    *Clock
	// made counts the managed resources that were ever made.
	made    int
	applied map[string]Object
	// before the last step, and what the last reconcile saw.
	before, seen snapshot
	// requirements that the last call had, and Crossplane's first call of the next one need not find out again.
	requirements *fnv1.Requirements
	clones       memo[Object]
	resources    memo[*fnv1.Resource]
}

// A snapshot is what a cache that lags behind still shows.
type snapshot struct {
	xr  Object
	mrs map[string]Object
}

// A view is what one reconcile observes: the composite and its managed resources by composed resource name.
type view struct {
	xr  Object
	mrs map[string]Object
}

// ReconcileOptions of one reconcile.
type ReconcileOptions struct {
	// StaleXR and StaleMRs show the composite, or its managed resources, as they were one step ago.
	StaleXR, StaleMRs bool
	// Stuck makes a stale view that of the last reconcile, whatever has happened since. A cache never goes back behind what
	// it showed.
	Stuck bool
	// Order is a permutation in which n resources are applied. Crossplane's is random (C5). Nil: by name.
	Order func(n int) []int
	// FailApplyAt makes an apply fail, counted from 1, which stops the rest (C5). 0: none fails.
	FailApplyAt int
	// Refused is the composed resource name of one that cannot be applied, which stops the rest as well.
	Refused string
}

// A Reconcile is what came of one.
type Reconcile struct {
	// Request of the last call, and the Response to it.
	Request  *fnv1.RunFunctionRequest
	Response *fnv1.RunFunctionResponse
	// Fatal says that the function refused, and nothing was touched.
	Fatal bool
	// Deleted are the composed resource names of what was garbage collected.
	Deleted []string
	// Err is why Crossplane itself stopped before its end.
	Err error
}

// NewCrossplane returns the control plane of a composite.
func NewCrossplane(f Function, clock *Clock, xr, input Object) *Crossplane {
	c := &Crossplane{
		XR: xr, Input: input, Objects: map[string]Object{}, MRs: map[string]Object{},
		function: f, clock: clock, applied: map[string]Object{}, clones: memo[Object]{}, resources: memo[*fnv1.Resource]{},
	}
	SetField(c.XR, "6f1c5bd5-0d5f-4a52-8d19-2d8f0b3e4c11", fieldMetadata, "uid")
	c.CatchUp()
	return c
}

// now as the API server writes it.
func (c *Crossplane) now() string { return text(c.clock.Now().Add(c.Ahead)) }

// Mark a step: from now on a stale reconcile sees this moment.
func (c *Crossplane) Mark() {
	if !c.Fresh {
		c.before = c.snapshot()
	}
}

// CatchUp of every cache: no reconcile will see anything older than this moment.
func (c *Crossplane) CatchUp() {
	c.Mark()
	c.seen = c.before
}

func (c *Crossplane) snapshot() snapshot {
	s := snapshot{xr: Clone(c.XR), mrs: make(map[string]Object, len(c.MRs))}
	for name, mr := range c.MRs {
		s.mrs[name] = c.clones.of(name, mr, Clone)
	}
	return s
}

// cached is what a stale view shows.
func (c *Crossplane) cached(o ReconcileOptions) snapshot {
	if o.Stuck {
		return c.seen
	}
	return c.before
}

// see what a reconcile observes.
func (c *Crossplane) see(o ReconcileOptions) view {
	v := c.view(o)
	if c.Fresh {
		return v
	}
	now, old := c.snapshot(), c.cached(o)
	if o.StaleXR {
		now.xr = old.xr
	}
	if o.StaleMRs {
		maps.Copy(now.mrs, old.mrs)
	}
	c.seen = now
	return v
}

// MR returns the managed resource of a composed resource name, terminating or not; nil when there is none.
func (c *Crossplane) MR(resource string) Object { return c.MRs[c.nameOf(resource)] }

// Composed are the managed resources that the composite refers to, by composed resource name.
func (c *Crossplane) Composed() map[string]Object { return Clone(c.composed()) }

func (c *Crossplane) composed() map[string]Object { return c.view(ReconcileOptions{}).mrs }

// Sees reports whether a reconcile would observe a managed resource.
func (c *Crossplane) Sees(o ReconcileOptions, resource string) bool {
	return c.view(o).mrs[resource] != nil
}

// Reconcile the composite once.
func (c *Crossplane) Reconcile(ctx context.Context, o ReconcileOptions) Reconcile {
	c.clock.step()
	v := c.see(o)
	req := c.request(v)
	rsp, err := c.call(ctx, req)
	if err != nil {
		return Reconcile{Request: req, Err: err}
	}
	r := Reconcile{Request: req, Response: rsp, Fatal: IsFatal(rsp)}
	if r.Fatal {
		c.setConditions(rsp, true)
		return r
	}
	desired := map[string]Object{}
	for name, d := range rsp.GetDesired().GetResources() {
		desired[name] = d.GetResource().AsMap()
	}
	c.Mark()
	if r.Deleted, r.Err = c.collectGarbage(v, desired, o.StaleMRs); r.Err != nil {
		return r
	}
	c.refer(desired)
	if r.Err = c.applyAll(desired, o); r.Err != nil {
		return r
	}
	c.writeStatus(rsp)
	return r
}

// view follows the composite's references, as nothing else says which resources are its own: one that left desired
// vanishes at once, even while it still terminates (C3).
func (c *Crossplane) view(o ReconcileOptions) view {
	v := view{xr: c.XR, mrs: map[string]Object{}}
	if o.StaleXR {
		v.xr = c.cached(o).xr
	}
	refs, _ := Field(v.xr, fieldSpec, "crossplane", "resourceRefs").([]any)
	for _, ref := range refs {
		mr, ok := c.MRs[Text(ref, "name")]
		if old, cached := c.cached(o).mrs[Text(ref, "name")]; o.StaleMRs && cached {
			// What the cache lacks is read from the API server.
			mr, ok = old, true
		}
		if ok {
			v.mrs[Text(mr, fieldMetadata, fieldAnnotations, annotationResourceName)] = mr
		}
	}
	return v
}

// collectGarbage deletes what is observed and not desired, before anything is applied (C1). It updates each such
// resource first, which a stale observation makes fail and ends the reconcile.
func (c *Crossplane) collectGarbage(v view, desired map[string]Object, stale bool) ([]string, error) {
	var deleted []string
	for _, name := range sortedKeys(v.mrs) {
		if _, ok := desired[name]; ok {
			continue
		}
		mr, exists := c.MRs[c.nameOf(name)]
		if !exists {
			continue
		}
		if stale && Hash(mr) != Hash(v.mrs[name]) {
			return deleted, errors.New("cannot garbage collect " + name + ": the object has been modified")
		}
		deleted = append(deleted, name)
		c.Delete(name)
	}
	return deleted, nil
}

// purge what terminates and has no finalizer left.
func (c *Crossplane) purge(resource string) {
	mr := c.MR(resource)
	if Text(mr, fieldMetadata, "deletionTimestamp") != "" && len(Texts(mr, fieldMetadata, "finalizers")) == 0 {
		delete(c.MRs, c.nameOf(resource))
		delete(c.applied, c.nameOf(resource))
	}
}

// refer to all that is desired, before it is applied.
func (c *Crossplane) refer(desired map[string]Object) {
	refs := make([]any, 0, len(desired))
	for _, name := range sortedKeys(desired) {
		refs = append(refs, Object{"apiVersion": desired[name]["apiVersion"], "kind": desired[name]["kind"], "name": c.nameOf(name)})
	}
	SetField(c.XR, refs, fieldSpec, "crossplane", "resourceRefs")
}

func (c *Crossplane) applyAll(desired map[string]Object, o ReconcileOptions) error {
	names := sortedKeys(desired)
	order := make([]int, len(names))
	for i := range order {
		order[i] = i
	}
	if o.Order != nil {
		order = o.Order(len(names))
	}
	for n, i := range order {
		if n+1 == o.FailApplyAt {
			return errors.New("cannot apply " + names[i] + ": the API server is not reachable")
		}
		if names[i] == o.Refused {
			return errors.New("cannot apply " + names[i] + ": forbidden")
		}
		c.apply(names[i], desired[names[i]])
	}
	return nil
}

// apply one resource by server-side apply (C4). Its name follows from the composite and the composed resource name,
// so that one which still terminates is applied to all the same, and terminates nonetheless (core, ChildName).
func (c *Crossplane) apply(resource string, next Object) {
	name := c.nameOf(resource)
	mr, exists := c.MRs[name]
	if !exists {
		mr = Object{}
		c.MRs[name] = mr
		c.made++
		SetField(mr, fmt.Sprint(resource, "-", c.made), fieldMetadata, "uid")
		SetField(mr, c.now(), fieldMetadata, "creationTimestamp")
	}
	SetField(next, name, fieldMetadata, "name")
	if ns := Text(c.XR, fieldMetadata, "namespace"); ns != "" {
		SetField(next, ns, fieldMetadata, "namespace")
	}
	SetField(next, Text(c.XR, fieldMetadata, "name"), fieldMetadata, "labels", "crossplane.io/composite")
	SetField(next, resource, fieldMetadata, fieldAnnotations, annotationResourceName)
	spec := Hash(mr[fieldSpec])
	apply(mr, c.applied[name], next)
	if Hash(mr[fieldSpec]) != spec {
		generation, _ := Number(mr, fieldMetadata, "generation")
		SetField(mr, int64(generation+1), fieldMetadata, "generation")
	}
	c.applied[name] = next
	if Text(c.XR, fieldMetadata, "namespace") == "" && Text(mr, fieldSpec, "deletionPolicy") == "" {
		// The CRD's default.
		SetField(mr, "Delete", fieldSpec, "deletionPolicy")
	}
}

// nameOf a composed resource's managed resource.
func (c *Crossplane) nameOf(resource string) string {
	sum := sha256.Sum256([]byte(Text(c.XR, fieldMetadata, "uid") + resource))
	return Text(c.XR, fieldMetadata, "name") + "-" + hex.EncodeToString(sum[:])[:12]
}

// writeStatus is all of a composite that a function writes (C6). Fields that it no longer sends vanish.
func (c *Crossplane) writeStatus(rsp *fnv1.RunFunctionResponse) {
	status, _ := Field(rsp.GetDesired().GetComposite().GetResource().AsMap(), fieldStatus).(Object)
	if status == nil {
		status = Object{}
	}
	if conditions := Field(c.XR, fieldStatus, fieldConditions); conditions != nil {
		status[fieldConditions] = conditions
	}
	c.XR[fieldStatus] = status
	c.setConditions(rsp, false)
	ready := Condition{Type: typeReady, Status: "False", Reason: "Creating"}
	if isReady(rsp) {
		ready = Condition{Type: typeReady, Status: "True", Reason: "Available"}
	}
	setCondition(c.XR, ready, c.now())
}

// isReady goes by what the response says of the composite, else by what it says of every resource, and never by conditions
// (Crossplane v2.3.4, internal/controller/apiextensions/composite/reconciler.go).
func isReady(rsp *fnv1.RunFunctionResponse) bool {
	if said := rsp.GetDesired().GetComposite().GetReady(); said != fnv1.Ready_READY_UNSPECIFIED {
		return said == fnv1.Ready_READY_TRUE
	}
	for _, r := range rsp.GetDesired().GetResources() {
		if r.GetReady() != fnv1.Ready_READY_TRUE {
			return false
		}
	}
	return true
}

// Leaked managed resources exist, do not terminate, and are referred to by nothing: a reconcile with a stale composite
// replaces references that it does not know of (core, UpdateResourceRefs). Only a person can find them.
func (c *Crossplane) Leaked() []string {
	composed := c.composed()
	var leaked []string
	for _, name := range sortedKeys(c.MRs) {
		resource := Text(c.MRs[name], fieldMetadata, fieldAnnotations, annotationResourceName)
		if composed[resource] == nil && Text(c.MRs[name], fieldMetadata, "deletionTimestamp") == "" {
			leaked = append(leaked, resource)
		}
	}
	return leaked
}

// Delete a managed resource by its composed resource name, as a person.
func (c *Crossplane) Delete(resource string) {
	if mr := c.MR(resource); mr != nil {
		SetField(mr, c.now(), fieldMetadata, "deletionTimestamp")
		c.purge(resource)
	}
}

// LoseStatus of the composite, as a restored backup does.
func (c *Crossplane) LoseStatus() { delete(c.XR, fieldStatus) }

// DropAnnotations of every managed resource, as a restored backup can, but for the one by which Crossplane knows it.
func (c *Crossplane) DropAnnotations() {
	for _, name := range sortedKeys(c.MRs) {
		resource := Text(c.MRs[name], fieldMetadata, fieldAnnotations, annotationResourceName)
		SetField(c.MRs[name], Object{annotationResourceName: resource}, fieldMetadata, fieldAnnotations)
	}
}
