package simulator

import (
	"context"
)

// A World is one composite with all that is around it.
type World struct {
	*Crossplane

	AWS      *AWS
	Provider *Provider
	Reader   *Reader
}

// NewWorld puts a composite into an account. The function must read AWS with the given reader, if it does.
func NewWorld(f Function, r *Reader, xr, input Object) *World {
	return &World{Crossplane: NewCrossplane(f, r.aws.Clock, xr, input), AWS: r.aws, Provider: NewProvider(r.aws), Reader: r}
}

// Poll makes the provider reconcile the managed resource of one composed resource name.
func (w *World) Poll(resource string) {
	w.PollEach([]string{resource}, func(poll func()) { poll() })
}

// PollEach makes the provider reconcile one managed resource after the other, each within a step of its own.
func (w *World) PollEach(resources []string, step func(poll func())) {
	for i, resource := range resources {
		if i == len(resources)-1 {
			// No reconcile comes in between, so none sees what was before the steps before.
			w.Mark()
		}
		step(func() { w.poll(w.nameOf(resource)) })
	}
}

// PollAll makes the provider reconcile every managed resource that exists, by name.
func (w *World) PollAll() {
	w.Mark()
	for _, name := range sortedKeys(w.MRs) {
		w.poll(name)
	}
}

func (w *World) poll(name string) {
	mr, ok := w.MRs[name]
	if !ok {
		return
	}
	w.Provider.Reconcile(mr)
	w.purge(Text(mr, fieldMetadata, fieldAnnotations, annotationResourceName))
}

// Edit the composite's spec, as a user.
func (w *World) Edit(edit func(spec Object)) {
	w.Mark()
	spec, _ := w.XR[fieldSpec].(Object)
	edit(spec)
}

// Round is a reconcile, then a poll of everything, then a tick of AWS.
func (w *World) Round(ctx context.Context) Reconcile {
	r := w.Reconcile(ctx, ReconcileOptions{})
	w.PollAll()
	w.AWS.Tick()
	return r
}
