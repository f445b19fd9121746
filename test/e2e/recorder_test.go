//go:build e2e

package e2e

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/crossplane-contrib/function-aws-machinepool/internal/simulator"
	"github.com/crossplane-contrib/function-aws-machinepool/test/e2e/internal/kube"
	"github.com/crossplane-contrib/function-aws-machinepool/test/e2e/internal/provider"
)

// A recorder keeps every version of a namespace's pools and managed resources, in the order in which they were written.
// A test that only looks now and then would miss what is gone again.
type recorder struct {
	since  time.Time
	mu     sync.Mutex
	frames []frame
}

// A frame is one version of an object. Gone says that it was deleted then.
type frame struct {
	kind   string
	object kube.Object
	gone   bool
}

// record a namespace from now on.
func record(n *tenant) *recorder {
	n.Helper()
	r := &recorder{since: time.Now().Truncate(time.Second)}
	for _, k := range []kube.Resource{pools, provider.Groups, provider.Templates, provider.Objects, provider.Policies} {
		list, err := s.client.In(k, n.namespace).List(n.ctx, metav1.ListOptions{})
		n.must(err)
		for i := range list.Items {
			r.add(k, &list.Items[i], false)
		}
		go r.watch(n.ctx, k, n.namespace, list.GetResourceVersion())
	}
	return r
}

// watch goes on where it was when the API server comes back.
func (r *recorder) watch(ctx context.Context, k kube.Resource, namespace, from string) {
	for ctx.Err() == nil {
		w, err := s.client.In(k, namespace).Watch(ctx, metav1.ListOptions{ResourceVersion: from, AllowWatchBookmarks: true})
		if err != nil {
			select {
			case <-ctx.Done():
			case <-time.After(200 * time.Millisecond):
			}
			continue
		}
		for e := range w.ResultChan() {
			u, ok := e.Object.(*unstructured.Unstructured)
			if !ok {
				continue
			}
			if e.Type != watch.Error {
				from = u.GetResourceVersion()
			}
			if e.Type == watch.Added || e.Type == watch.Modified || e.Type == watch.Deleted {
				r.add(k, u, e.Type == watch.Deleted)
			}
		}
	}
}

func (r *recorder) add(k kube.Resource, u *unstructured.Unstructured, gone bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.frames = append(r.frames, frame{kind: k.Kind, object: u.Object, gone: gone})
}

// all frames, as they were written. Resource versions are counted for all kinds at once.
func (r *recorder) all() []frame {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := slices.Clone(r.frames)
	slices.SortStableFunc(out, func(a, b frame) int {
		order, err := resourceversion.CompareResourceVersion(a.version(), b.version())
		if err != nil {
			return cmp.Compare(a.version(), b.version())
		}
		return order
	})
	return out
}

func (f frame) version() string { return simulator.Text(f.object, "metadata", "resourceVersion") }

// name of a composed resource within its pool; a pool's own name.
func (f frame) name() string {
	if n := simulator.Text(f.object, "metadata", "annotations", "crossplane.io/composition-resource-name"); n != "" {
		return n
	}
	return simulator.Text(f.object, "metadata", "name")
}

// first frame after another one that is as asked, and its position; -1 when there is none.
func first(frames []frame, after int, is func(frame) bool) int {
	for i := after + 1; i < len(frames); i++ {
		if is(frames[i]) {
			return i
		}
	}
	return -1
}

// neverUnready holds that a pool's Ready was True in every version of it.
//
// But for those in which Crossplane repeats an old condition: it applies the function's status together with the conditions
// of its cache, and corrects them a moment later. On a busy machine that cache lags behind. A condition that became False
// before the recording began is such a one.
func (r *recorder) neverUnready(t *testing.T, pool string) {
	t.Helper()
	for _, f := range r.all() {
		if f.kind != pools.Kind || f.name() != pool {
			continue
		}
		if c := simulator.ConditionOf(f.object, "Ready"); c.Status != "True" && !r.repeats(f.object) {
			t.Errorf("%s was Ready=%s at version %s: %s %s; %s", pool, c.Status, f.version(), c.Reason, c.Message, state(f.object))
			return
		}
	}
}

// repeats says that Ready is as it was before the recording.
func (r *recorder) repeats(o kube.Object) bool {
	list, _ := simulator.Field(o, "status", "conditions").([]any)
	for _, c := range list {
		at, err := time.Parse(time.RFC3339, simulator.Text(c, "lastTransitionTime"))
		if simulator.Text(c, "type") == "Ready" && err == nil {
			return at.Before(r.since)
		}
	}
	return false
}

// neverDeleted holds that no managed resource was deleted, but for those that may be.
func (r *recorder) neverDeleted(t *testing.T, may func(name string) bool) {
	t.Helper()
	for _, f := range r.all() {
		deleting := simulator.Text(f.object, "metadata", "deletionTimestamp") != "" || f.gone
		if f.kind != pools.Kind && deleting && !may(f.name()) {
			t.Errorf("%s was deleted at version %s", describe(f.object), f.version())
			return
		}
	}
}

// nothing may be deleted.
func nothing(string) bool { return false }

// only what is named may be deleted.
func only(allowed ...string) func(string) bool {
	return func(name string) bool { return slices.Contains(allowed, name) }
}

// story of what was written, for a failure's message.
func (r *recorder) story() string {
	out := ""
	for _, f := range r.all() {
		out += fmt.Sprintf("%s %s %s gone=%t deleting=%q", f.version(), f.kind, f.name(), f.gone, simulator.Text(f.object, "metadata", "deletionTimestamp"))
		switch f.kind {
		case "AutoscalingGroup":
			out += fmt.Sprintf(" wants %s has %s", simulator.Text(f.object, "spec", "forProvider", "launchTemplate", "id"), simulator.Text(f.object, "status", "atProvider", "launchTemplate", "id"))
		case "LaunchTemplate":
			out += " is " + simulator.Text(f.object, "status", "atProvider", "id")
		case "MachinePool":
			out += fmt.Sprintf(" %v ready=%s", simulator.Field(f.object, "status", "rollout"), simulator.ConditionOf(f.object, "Ready").Status)
		}
		out += "\n"
	}
	return out
}

// changes from each version to the next, for a failure's message.
func (r *recorder) changes() string {
	out, last := "", map[string]kube.Object{}
	for _, f := range r.all() {
		key := f.kind + "/" + f.name()
		if before := last[key]; before != nil {
			out += fmt.Sprintf("%s %s:\n%s\n", key, f.version(), gocmp.Diff(before, f.object))
		}
		last[key] = f.object
	}
	return out
}

// repeated says that all versions of a pool are the same but for when its conditions became what they are. Crossplane v2.3.4
// applies the conditions of its cache with the function's status: once that cache was behind, two sets of times can take turns,
// one reconcile after the other, for good.
func (r *recorder) repeated(t *testing.T, pool string) bool {
	t.Helper()
	var contents []string
	for _, f := range r.all() {
		if f.kind != pools.Kind || f.name() != pool {
			continue
		}
		o := simulator.Clone(f.object)
		simulator.SetField(o, nil, "metadata", "managedFields")
		simulator.SetField(o, nil, "metadata", "resourceVersion")
		list, _ := simulator.Field(o, "status", "conditions").([]any)
		for _, c := range list {
			if c, ok := c.(kube.Object); ok {
				delete(c, "lastTransitionTime")
			}
		}
		contents = append(contents, string(pretty(o)))
	}
	slices.Sort(contents)
	return len(contents) > 1 && len(slices.Compact(contents)) == 1
}
