//go:build e2e

package e2e

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/crossplane-contrib/function-aws-machinepool/internal/simulator"
	"github.com/crossplane-contrib/function-aws-machinepool/test/e2e/internal/kube"
	"github.com/crossplane-contrib/function-aws-machinepool/test/e2e/internal/provider"
)

// A recorder keeps every version of a namespace's pools and managed resources, in the order in which they were written.
// A test that only looks now and then would miss what is gone again.
type recorder struct {
	client *kube.Client
	// mark is the pool's version from which on a test judges.
	mark string

	mu     sync.Mutex
	frames []frame
}

// A frame is one version of an object. Gone says that it was deleted then.
type frame struct {
	kind   string
	object kube.Object
	gone   bool
}

// record a namespace from now on: from before the pool is made, so that what is repeated is known.
func record(n *tenant) *recorder {
	n.Helper()
	r := &recorder{client: n.client}
	n.Cleanup(func() {
		if n.Failed() {
			r.keep(n)
		}
	})
	for _, k := range []kube.Resource{pools, provider.Groups, provider.Templates, provider.Objects, provider.Policies} {
		list, err := n.client.In(k, n.namespace).List(n.ctx, metav1.ListOptions{})
		n.must(err)
		w := &watcher{recorder: r, kind: k, namespace: n.namespace, known: map[types.UID]*unstructured.Unstructured{}}
		w.listed(list)
		go w.run(n.ctx)
	}
	return r
}

// judge from a version of the pool on.
func (r *recorder) judge(from kube.Object) {
	r.mark = simulator.Text(from, "metadata", "resourceVersion")
}

// A watcher records the objects of one kind.
type watcher struct {
	*recorder

	kind      kube.Resource
	namespace string
	// from is the version from which on nothing is recorded yet.
	from string
	// known objects, as they were recorded last.
	known map[types.UID]*unstructured.Unstructured
}

// run goes on where it was when the API server comes back, or with a list where that does not know any more what came since:
// one that was restarted remembers nothing from before.
func (w *watcher) run(ctx context.Context) {
	for ctx.Err() == nil {
		err := w.watch(ctx)
		if apierrors.IsResourceExpired(err) || apierrors.IsGone(err) {
			err = w.list(ctx)
		}
		if err == nil {
			continue
		}
		select {
		case <-ctx.Done():
		case <-time.After(200 * time.Millisecond):
		}
	}
}

// watch until the API server ends it.
func (w *watcher) watch(ctx context.Context) error {
	events, err := w.client.In(w.kind, w.namespace).Watch(ctx, metav1.ListOptions{ResourceVersion: w.from, AllowWatchBookmarks: true})
	if err != nil {
		return err
	}
	defer events.Stop()
	for e := range events.ResultChan() {
		if e.Type == watch.Error {
			return apierrors.FromObject(e.Object)
		}
		u, ok := e.Object.(*unstructured.Unstructured)
		if !ok {
			return fmt.Errorf("a watch of %s says %T", w.kind.Resource, e.Object)
		}
		w.from = u.GetResourceVersion()
		if e.Type != watch.Bookmark {
			w.saw(u, e.Type == watch.Deleted)
		}
	}
	return nil
}

// list what there is, in place of what was not watched.
func (w *watcher) list(ctx context.Context) error {
	list, err := w.client.In(w.kind, w.namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	w.listed(list)
	return nil
}

// listed objects are recorded, and those that were known and are there no more, as gone by then.
func (w *watcher) listed(list *unstructured.UnstructuredList) {
	w.from = list.GetResourceVersion()
	gone := maps.Clone(w.known)
	for i := range list.Items {
		u := &list.Items[i]
		before := gone[u.GetUID()]
		delete(gone, u.GetUID())
		if before == nil || before.GetResourceVersion() != u.GetResourceVersion() {
			w.saw(u, false)
		}
	}
	for _, u := range gone {
		u = u.DeepCopy()
		u.SetResourceVersion(w.from)
		w.saw(u, true)
	}
}

func (w *watcher) saw(u *unstructured.Unstructured, gone bool) {
	w.known[u.GetUID()] = u
	if gone {
		delete(w.known, u.GetUID())
	}
	w.add(w.kind, u, gone)
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

func (f frame) deleting() bool {
	return f.gone || simulator.Text(f.object, "metadata", "deletionTimestamp") != ""
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

// neverUnready holds that a pool's Ready was True in every version of it since the mark, but for echoes.
func (r *recorder) neverUnready(t *testing.T, pool string) {
	t.Helper()
	versions, mark := r.versions(t, pool)
	for i := mark; i < len(versions); i++ {
		f := versions[i]
		c := simulator.ConditionOf(f.object, "Ready")
		if c.Status == "True" || gocmp.Equal(conditions(versions[i-1].object), conditions(f.object)) {
			// Nobody wrote the conditions of the latter: the version before was judged.
			continue
		}
		if of := echoes(versions[:i], f); of != "" {
			t.Logf("Crossplane repeated old conditions of %s, Ready=%s among them: %s", pool, c.Status, of)
			continue
		}
		t.Errorf("%s was Ready=%s at version %s, written by %v: %s %s; %s", pool, c.Status, f.version(), writers(versions[i-1], f), c.Reason, c.Message, state(f.object))
		return
	}
}

// versions of a pool in their order, and the position of the first one after the mark.
func (r *recorder) versions(t *testing.T, pool string) (out []frame, mark int) {
	t.Helper()
	for _, f := range r.all() {
		if f.kind != pools.Kind || f.name() != pool || f.gone {
			continue
		}
		out = append(out, f)
		if f.version() == r.mark {
			mark = len(out)
		}
	}
	if mark == 0 {
		t.Fatalf("version %q of %s was not recorded", r.mark, pool)
	}
	return out, mark
}

// statusOwner is the field manager with which Crossplane applies the function's status to a composite.
const statusOwner = "apiextensions.crossplane.io/composite"

// echoes says which of the versions before one has the very same conditions, each with its time, where Crossplane may have
// written them in applying the function's status. It applies the conditions of its cache with that, and the cache lags behind
// (composition_functions.go of v2.3.4; https://github.com/crossplane/crossplane/issues/7062). Nobody else is excused.
func echoes(before []frame, f frame) string {
	if len(before) == 0 || !slices.Contains(writers(before[len(before)-1], f), statusOwner+" Apply status") {
		return ""
	}
	for _, b := range slices.Backward(before) {
		if gocmp.Equal(conditions(b.object), conditions(f.object)) {
			return fmt.Sprintf("version %s, applied by %s, has the conditions of version %s", f.version(), statusOwner, b.version())
		}
	}
	return ""
}

// conditions by type, but for Responsive: Crossplane sets that anew whenever it reads a composite.
func conditions(o kube.Object) map[string]any {
	out := map[string]any{}
	for _, c := range list(o, "status", "conditions") {
		out[simulator.Text(c, "type")] = c
	}
	delete(out, "Responsive")
	return out
}

// writers of a version: the field managers whose time moved. Times are whole seconds: where none moved, those whose time is
// the latest.
func writers(before, after frame) []string {
	times := func(f frame) map[string]string {
		out := map[string]string{}
		for _, m := range list(f.object, "metadata", "managedFields") {
			who := simulator.Text(m, "manager") + " " + simulator.Text(m, "operation") + " " + simulator.Text(m, "subresource")
			out[strings.TrimSpace(who)] = simulator.Text(m, "time")
		}
		return out
	}
	was, is := times(before), times(after)
	latest := slices.Max(append(slices.Collect(maps.Values(is)), ""))
	var moved, last []string
	for _, who := range names(is) {
		if is[who] != was[who] {
			moved = append(moved, who)
		}
		if is[who] == latest {
			last = append(last, who)
		}
	}
	if len(moved) == 0 {
		return last
	}
	return moved
}

// keep all that was recorded beside the logs, for whoever wants to know why a test failed.
func (r *recorder) keep(n *tenant) {
	n.Helper()
	var out []kube.Object
	for _, f := range r.all() {
		out = append(out, f.object)
	}
	if err := os.WriteFile(filepath.Join(n.keeper.Dir, n.namespace+".json"), pretty(out), 0o600); err != nil {
		n.Error(err)
	}
}

// neverDeleted holds that no managed resource was deleted, but for those that may be.
func (r *recorder) neverDeleted(t *testing.T, may func(name string) bool) {
	t.Helper()
	for _, f := range r.all() {
		if f.kind != pools.Kind && f.deleting() && !may(f.name()) {
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

// stoodStill holds that nothing was written about a pool since the mark: there is no version, or each is an echo whose
// content, conditions and all, was there before the mark.
func (r *recorder) stoodStill(t *testing.T, pool string) {
	t.Helper()
	versions, mark := r.versions(t, pool)
	for i := mark; i < len(versions); i++ {
		f := versions[i]
		known := slices.ContainsFunc(versions[:mark], func(b frame) bool { return gocmp.Equal(content(b.object), content(f.object)) })
		if of := echoes(versions[:i], f); of != "" && known {
			t.Logf("Crossplane repeated itself about %s: %s", pool, of)
			continue
		}
		t.Errorf("%s was written to by %v, version %s:\n%s", pool, writers(versions[i-1], f), f.version(), gocmp.Diff(content(versions[i-1].object), content(f.object)))
		return
	}
}

// content of an object, less who wrote it when.
func content(o kube.Object) kube.Object {
	out := simulator.Clone(o)
	simulator.SetField(out, nil, "metadata", "managedFields")
	simulator.SetField(out, nil, "metadata", "resourceVersion")
	return out
}
