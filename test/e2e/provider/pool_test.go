//go:build e2eprovider

package provider

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/function-aws-machinepool/internal/simulator"
	"github.com/crossplane-contrib/function-aws-machinepool/test/e2e/internal/awsproxy"
	"github.com/crossplane-contrib/function-aws-machinepool/test/e2e/internal/kube"
	"github.com/crossplane-contrib/function-aws-machinepool/test/e2e/internal/provider"
)

const (
	// patience with anything that should come about.
	patience = 5 * time.Minute
	// settleTime is how long nothing more may be called before a scene is over: the provider looks at everything once more.
	settleTime = poll + 5*time.Second
	// sameLines of a transcript are printed, and more of them only counted.
	sameLines = 5
)

// A pool under test, in a namespace of its own.
type pool struct {
	*testing.T

	ctx             context.Context
	namespace, name string
	// images by version.
	images map[string]string
}

func newPool(t *testing.T, namespace string) *pool {
	t.Helper()
	p := &pool{T: t, ctx: t.Context(), namespace: namespace, name: "workers", images: map[string]string{}}
	p.must(s.client.Apply(p.ctx, kube.Namespaces, object("v1", "Namespace", namespace, nil)))
	for _, v := range []string{versionA, versionB} {
		image, err := s.publish(p.ctx, v)
		p.must(err)
		p.images[v] = image
	}
	return p
}

func (p *pool) must(err error) {
	p.Helper()
	if err != nil {
		p.Fatal(err)
	}
}

// create the pool with its Secret. More is of the spec.
func (p *pool) create(more kube.Object) {
	p.Helper()
	p.rotate("first")
	p.createWithoutSecret(more)
}

// createWithoutSecret creates the pool alone, which has no group then.
func (p *pool) createWithoutSecret(more kube.Object) {
	p.Helper()
	exports, err := s.exports(p.ctx)
	p.must(err)
	spec := kube.Object{
		"crossplane":        kube.Object{"compositionRef": kube.Object{"name": "reading"}},
		"cluster":           kube.Object{"exports": exports},
		"kubernetesVersion": versionA, "replicas": int64(3),
		"instanceType": "m6i.large",
		"machineImage": kube.Object{"owner": account},
		"bootstrap":    kube.Object{"dataSecretRef": kube.Object{"name": p.name}},
	}
	maps.Copy(spec, more)
	_, err = s.client.Create(p.ctx, pools, kube.Object{
		"apiVersion": pools.GroupVersion().String(), "kind": pools.Kind,
		"metadata": kube.Object{"namespace": p.namespace, "name": p.name}, "spec": spec,
	}, false)
	p.must(err)
}

// rotate the bootstrap data.
func (p *pool) rotate(content string) {
	p.Helper()
	p.must(s.client.Apply(p.ctx, kube.Secrets, secret(p.namespace, p.name, "value", bootstrapData(content))))
}

// edit the pool's spec.
func (p *pool) edit(patch kube.Object) {
	p.Helper()
	_, err := s.client.Patch(p.ctx, pools, p.namespace, p.name, kube.Object{"spec": patch})
	p.must(err)
}

// xr is the pool as it is now; nil when there is none.
func (p *pool) xr() kube.Object {
	p.Helper()
	o, err := s.client.Get(p.ctx, pools, p.namespace, p.name)
	p.must(err)
	return o
}

// mrs of the pool by composition resource name, those that are being deleted among them.
func (p *pool) mrs() map[string]kube.Object {
	p.Helper()
	out := map[string]kube.Object{}
	for _, k := range []kube.Resource{provider.Groups, provider.Templates, provider.Objects, provider.Policies, provider.Hooks} {
		list, err := s.client.List(p.ctx, k, p.namespace, "crossplane.io/composite="+p.name)
		p.must(err)
		for _, o := range list {
			out[simulator.Text(o, "metadata", "annotations", "crossplane.io/composition-resource-name")] = o
		}
	}
	return out
}

// group of the pool in AWS; nil when there is none.
func (p *pool) group() *awsproxy.Group {
	p.Helper()
	g, err := s.account.Group(p.ctx, simulator.Text(p.xr(), "status", "autoscalingGroupName"))
	p.must(err)
	return g
}

// objectKey that the pool's bootstrap data is staged under.
func (p *pool) objectKey() string { return "pool/" + p.namespace + "/" + p.name }

// templates of the account by name.
func (p *pool) templates() map[string]awsproxy.Template {
	p.Helper()
	all, err := s.account.Templates(p.ctx)
	p.must(err)
	out := map[string]awsproxy.Template{}
	for _, t := range all {
		out[t.Name] = t
	}
	return out
}

// ids of a group's members.
func ids(g *awsproxy.Group) []string {
	var out []string
	for _, m := range g.Members {
		out = append(out, m.ID)
	}
	slices.Sort(out)
	return out
}

// eventually something is so.
func (p *pool) eventually(what string, ask func() (bool, string)) {
	p.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	if err := kube.Poll(ctx, 300*time.Millisecond, ask); err != nil {
		if errors.Is(err, context.DeadlineExceeded) {
			p.Fatalf("it never came about that %s: %v\n%s", what, err, state(p.xr(), p.mrs()))
		}
		p.Fatal(err)
	}
}

// awaitIdle waits until the pool is Ready with members that are all up to date, on one template.
func (p *pool) awaitIdle(members int) kube.Object {
	p.Helper()
	var xr kube.Object
	p.eventually(fmt.Sprintf("the pool is ready and idle with %d members", members), func() (bool, string) {
		xr = p.xr()
		templates := 0
		for name, mr := range p.mrs() {
			if strings.HasPrefix(name, "launch-template-") {
				templates++
			}
			if simulator.ConditionOf(mr, "Ready").Status != "True" || simulator.ConditionOf(mr, "Synced").Status != "True" {
				return false, name + " is not ready and synced"
			}
		}
		return templates == 1 && simulator.ConditionOf(xr, "Ready").Status == "True" && simulator.ConditionOf(xr, "Synced").Status == "True" &&
			simulator.Text(xr, "status", "rollout", "phase") == "Idle" && simulator.Field(xr, "status", "health", "healthy") == any(true) &&
			len(simulator.Texts(xr, "status", "providerIDList")) == members, fmt.Sprintf("%d templates", templates)
	})
	return xr
}

// A scene is one thing that happens to a pool, with all that was called because of it.
type scene struct {
	*pool

	began  time.Time
	mark   int
	mu     sync.Mutex
	phases []string
	last   string
}

// play a scene: act, then nothing more for a while. Without one that was played to its end those after it make no sense.
func (p *pool) play(title string, act func(*scene)) {
	p.Helper()
	interrupted := false
	p.Run(title, func(t *testing.T) {
		inner := *p
		inner.T, inner.ctx = t, t.Context()
		c := &scene{pool: &inner, began: time.Now(), mark: s.aws.Mark()}
		watching, stop := context.WithCancel(inner.ctx)
		defer stop()
		go c.watch(watching)
		defer func() { c.tell(title) }()
		interrupted = true
		act(c)
		interrupted = false
	})
	if interrupted {
		p.FailNow()
	}
}

// watch the phases of the pool's rollout.
func (c *scene) watch(ctx context.Context) {
	for ctx.Err() == nil {
		if xr, err := s.client.Get(ctx, pools, c.namespace, c.name); err == nil && xr != nil {
			rolling, ready := simulator.ConditionOf(xr, "RollingOut"), simulator.ConditionOf(xr, "Ready")
			now := fmt.Sprintf("%s/%s, %s, Ready %s", simulator.Text(xr, "status", "rollout", "phase"), rolling.Reason, simulator.Text(xr, "status", "health", "state"), ready.Status)
			c.mu.Lock()
			if now != c.last {
				c.last = now
				c.phases = append(c.phases, since(time.Now(), c.began)+"  "+now)
			}
			c.mu.Unlock()
		}
		select {
		case <-ctx.Done():
		case <-time.After(200 * time.Millisecond):
		}
	}
}

// notef something for the transcript.
func (c *scene) notef(format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.phases = append(c.phases, since(time.Now(), c.began)+"  * "+fmt.Sprintf(format, args...))
}

// tell the scene.
func (c *scene) tell(title string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	lines, reads := c.phases, map[string]int{}
	for _, call := range s.aws.Since(c.mark) {
		if call.Writes() || call.Code != "" {
			lines = append(lines, since(call.Time, c.began)+"    "+call.Caller+" "+call.String())
		} else {
			reads[call.Caller+" "+call.Action]++
		}
	}
	slices.SortStableFunc(lines, func(a, b string) int { return strings.Compare(a[:7], b[:7]) })
	sayf("\n== %s: %s", c.namespace, title)
	said := map[string]int{}
	for _, l := range lines {
		if said[l[7:]]++; said[l[7:]] <= sameLines {
			sayf("%s", l)
		}
	}
	for l, n := range said {
		if n > sameLines {
			sayf("           %d more of:%s", n-sameLines, l)
		}
	}
	for _, k := range slices.Sorted(maps.Keys(reads)) {
		if !strings.HasPrefix(k, "test ") {
			sayf("           %dx %s", reads[k], k)
		}
	}
}

// settle waits until the provider has looked at everything once more.
func (c *scene) settle() {
	select {
	case <-c.ctx.Done():
	case <-time.After(settleTime):
	}
}

// writes of the provider in this scene, those that failed among them.
func (c *scene) writes() []*awsproxy.Call {
	var out []*awsproxy.Call
	for _, call := range s.aws.Since(c.mark) {
		if call.Caller == "provider" && call.Writes() {
			out = append(out, call)
		}
	}
	return out
}

// wantWrites holds that the provider made these calls and no others, in any order.
func (c *scene) wantWrites(want ...string) {
	c.Helper()
	wanted, got := map[string]int{}, map[string]int{}
	for _, name := range want {
		wanted[name]++
	}
	for _, call := range c.writes() {
		name := call.Service + ":" + call.Action
		if call.Code != "" {
			name += " " + call.Code
		}
		got[name]++
	}
	// The provider can forget a creation that ends just as it looks (docs/operations.md) and repeat it half a minute later. What
	// is put twice is the same; more often than that it fights with AWS about it.
	for _, put := range []string{"autoscaling:PutScalingPolicy", "autoscaling:PutLifecycleHook"} {
		if got[put] == wanted[put]+1 && wanted[put] > 0 {
			c.notef("%s was repeated", put)
			got[put] = wanted[put]
		}
	}
	if diff := cmp.Diff(wanted, got); diff != "" {
		c.Errorf("calls of the provider that change something: -want, +got:\n%s", diff)
	}
}

// wantOrder holds that of these actions the last call of each came before the first of the next.
func (c *scene) wantOrder(actions ...string) {
	c.Helper()
	writes := c.writes()
	for i, action := range actions[:len(actions)-1] {
		last, next := -1, len(writes)
		for at, call := range writes {
			if call.Action == action {
				last = at
			}
			if call.Action == actions[i+1] {
				next = min(next, at)
			}
		}
		if last > next {
			c.Errorf("%s came after %s", action, actions[i+1])
		}
	}
}

// wantOnOneTemplate holds that the pool has one template in AWS, under its name, that the group and its members use it, and
// that its id is the external name.
func (c *scene) wantOnOneTemplate(name string) {
	c.Helper()
	xr, g := c.xr(), c.group()
	id := simulator.Text(xr, "status", "launchTemplateID")
	var names []string
	for n := range c.templates() {
		if strings.HasPrefix(n, g.Name) {
			names = append(names, n)
		}
	}
	if diff := cmp.Diff([]string{name}, names); diff != "" {
		c.Errorf("templates in AWS: -want, +got:\n%s", diff)
	}
	if got := c.templates()[name].ID; got != id || g.Template.ID != id {
		c.Errorf("the pool says template %s; AWS has %s of that name, and the group on %s", id, got, g.Template.ID)
	}
	for _, m := range g.Members {
		if m.Template.ID != id {
			c.Errorf("%s is on %s, want %s", m.ID, m.Template.ID, id)
		}
	}
	for n, mr := range c.mrs() {
		if strings.HasPrefix(n, "launch-template-") && simulator.Text(mr, "metadata", "annotations", "crossplane.io/external-name") != id {
			c.Errorf("%s has the external name %q, want %s", n, simulator.Text(mr, "metadata", "annotations", "crossplane.io/external-name"), id)
		}
	}
}

// templateName that the pool's current roll key has, with a suffix of an attempt.
func (c *scene) templateName(attempt string) string {
	xr := c.xr()
	return simulator.Text(xr, "status", "autoscalingGroupName") + "-" + simulator.Text(xr, "status", "rollout", "rollKey") + attempt
}

// wantRefreshes holds how the group's refreshes ended, the newest first.
func (c *scene) wantRefreshes(want ...string) {
	c.Helper()
	var got []string
	for _, r := range s.aws.Refreshes(simulator.Text(c.xr(), "status", "autoscalingGroupName")) {
		got = append(got, r.Status)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		c.Errorf("instance refreshes: -want, +got:\n%s", diff)
	}
}

// wantReplaced holds that none of these is a member any more, or that all still are.
func (c *scene) wantReplaced(before []string, replaced bool) {
	c.Helper()
	now := ids(c.group())
	for _, id := range before {
		if slices.Contains(now, id) == replaced {
			c.Errorf("members before: %v, now: %v; want them replaced: %t", before, now, replaced)
			return
		}
	}
}
