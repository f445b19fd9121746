// Package provider plays provider-aws against the API server: it watches managed resources and lets the simulator's
// provider reconcile them, with the simulator's AWS behind it.
package provider

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"github.com/crossplane-contrib/function-aws-machinepool/internal/simulator"
	"github.com/crossplane-contrib/function-aws-machinepool/test/e2e/internal/kube"
)

const (
	// period of a round, in which every managed resource is reconciled once and AWS moves on by one tick.
	period = 300 * time.Millisecond
	// workers that write at the same time.
	workers = 8
	// calm is how many rounds a managed resource has to be left as it is to be looked at seldom, and seldom how many rounds
	// that is.
	calm, seldom = 3, 10
)

// A Provider plays provider-aws, and AWS.
type Provider struct {
	client *kube.Client
	caches map[kube.Resource]cache.Store

	mu       sync.Mutex
	aws      *simulator.AWS
	provider *simulator.Provider

	// written holds what was written last and may not have come back yet.
	written sync.Map
	// idle counts for each managed resource how many rounds changed nothing.
	idle sync.Map
	// paused namespaces, whose managed resources are left alone.
	paused sync.Map
	// left regions, to whoever provides them.
	left sync.Map
}

// New returns a provider of an account whose subnets are in zones.
func New(client *kube.Client, zones map[string]string) *Provider {
	a := simulator.NewAWS(zones)
	// The function compares when a refresh was started with when the API server made a launch template.
	a.Clock.Real = true
	return &Provider{client: client, caches: map[kube.Resource]cache.Store{}, aws: a, provider: simulator.NewProvider(a)}
}

// AWS lets someone look at the account, or change it, while no one else does.
func (p *Provider) AWS(do func(a *simulator.AWS)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	do(p.aws)
}

// Pause leaves a namespace's managed resources alone, until it is called with false.
func (p *Provider) Pause(namespace string, pause bool) {
	if pause {
		p.paused.Store(namespace, true)
		// Whatever is under way is over after a round.
		time.Sleep(3 * period)
		return
	}
	p.paused.Delete(namespace)
}

// Leave a region's managed resources to someone else, who changes them in place; to the simulator again when that is nil.
func (p *Provider) Leave(region string, provide func(ctx context.Context, mr kube.Object) error) {
	if provide == nil {
		p.left.Delete(region)
		return
	}
	p.left.Store(region, provide)
}

// provide a managed resource, in place.
func (p *Provider) provide(ctx context.Context, mr kube.Object) error {
	if f, ok := p.left.Load(simulator.Text(mr, "spec", "forProvider", "region")); ok {
		provide, _ := f.(func(context.Context, kube.Object) error)
		return provide(ctx, mr)
	}
	p.AWS(func(*simulator.AWS) { p.provider.Reconcile(mr) })
	return nil
}

// Run the provider until the context ends.
func (p *Provider) Run(ctx context.Context, sayf func(format string, args ...any)) {
	for _, kind := range Kinds() {
		store, informer := cache.NewInformerWithOptions(cache.InformerOptions{
			ListerWatcher: p.listWatch(ctx, kind), ObjectType: &unstructured.Unstructured{}, Handler: cache.ResourceEventHandlerFuncs{},
		})
		p.caches[kind] = store
		go informer.RunWithContext(ctx)
	}
	queue := make(chan work)
	defer close(queue)
	var busy sync.WaitGroup
	for range workers {
		go func() {
			for w := range queue {
				if err := p.reconcile(ctx, w.kind, w.mr); err != nil && ctx.Err() == nil && !passing(err) {
					sayf("provider: %v", err)
				}
				busy.Done()
			}
		}()
	}
	for round := 0; ctx.Err() == nil; round++ {
		for _, w := range p.due(round) {
			busy.Add(1)
			queue <- w
		}
		busy.Wait()
		p.AWS(func(a *simulator.AWS) { a.Tick() })
		select {
		case <-ctx.Done():
		case <-time.After(period):
		}
	}
}

// due in a round are the managed resources of namespaces that are not paused, the calm ones now and then.
func (p *Provider) due(round int) []work {
	var out []work
	for kind, store := range p.caches {
		for _, o := range store.List() {
			mr, _ := o.(*unstructured.Unstructured)
			if _, paused := p.paused.Load(mr.GetNamespace()); !paused && !p.isCalm(mr, round) {
				out = append(out, work{kind: kind, mr: mr})
			}
		}
	}
	return out
}

// An idleness is how many rounds changed nothing about one version of a managed resource.
type idleness struct {
	version string
	rounds  int
}

// isCalm reports whether a managed resource need not be looked at in this round: nobody changed it, and AWS did not either. A
// provider polls such ones every ten minutes.
func (p *Provider) isCalm(mr *unstructured.Unstructured, round int) bool {
	i, known := p.idle.Load(mr.GetUID())
	if !known {
		return false
	}
	last, _ := i.(idleness)
	uid := string(mr.GetUID())
	return last.version == mr.GetResourceVersion() && last.rounds >= calm && (round+int(uid[0])+int(uid[1]))%seldom != 0
}

// rest notes a round that changed nothing.
func (p *Provider) rest(mr *unstructured.Unstructured) {
	i, _ := p.idle.Load(mr.GetUID())
	last, _ := i.(idleness)
	if last.version != mr.GetResourceVersion() {
		last = idleness{version: mr.GetResourceVersion()}
	}
	last.rounds++
	p.idle.Store(mr.GetUID(), last)
}

type work struct {
	kind kube.Resource
	mr   *unstructured.Unstructured
}

// passing errors go by themselves: someone else wrote first, it is gone, or the API server is down.
func passing(err error) bool {
	var down *url.Error
	return apierrors.IsConflict(err) || apierrors.IsNotFound(err) || errors.As(err, &down)
}

func (p *Provider) listWatch(ctx context.Context, kind kube.Resource) cache.ListerWatcher {
	return &cache.ListWatch{
		ListWithContextFunc: func(_ context.Context, o metav1.ListOptions) (runtime.Object, error) {
			return p.client.In(kind, "").List(ctx, o)
		},
		WatchFuncWithContext: func(_ context.Context, o metav1.ListOptions) (watch.Interface, error) {
			return p.client.In(kind, "").Watch(ctx, o)
		},
	}
}

// reconcile one managed resource and write what that changed: metadata first, then the status, as provider-aws does.
func (p *Provider) reconcile(ctx context.Context, kind kube.Resource, cached *unstructured.Unstructured) error {
	before := p.newest(cached)
	after, err := plain(before.Object)
	if err != nil {
		return err
	}
	if err := p.provide(ctx, after); err != nil {
		return err
	}
	// Numbers must have the types that an API server's have.
	if after, err = plain(after); err != nil {
		return err
	}

	if equal(before.Object, after) {
		p.rest(before)
		return nil
	}
	return p.write(ctx, kind, before, after)
}

// newest version of a managed resource that is known: what was written may not have come back yet.
func (p *Provider) newest(cached *unstructured.Unstructured) *unstructured.Unstructured {
	w, ok := p.written.Load(cached.GetUID())
	if !ok {
		return cached
	}
	last, _ := w.(*unstructured.Unstructured)
	if newer, err := resourceversion.CompareResourceVersion(last.GetResourceVersion(), cached.GetResourceVersion()); err == nil && newer > 0 {
		return last
	}
	return cached
}

// write what changed.
func (p *Provider) write(ctx context.Context, kind kube.Resource, before *unstructured.Unstructured, after kube.Object) (err error) {
	status := after["status"]
	if !equal(without(before.Object), without(after)) {
		if after, err = p.client.Update(ctx, kind, after); err != nil {
			return fmt.Errorf("cannot update %s %s: %w", kind.Kind, before.GetName(), err)
		}
	}
	u := &unstructured.Unstructured{Object: after}
	if gone := u.GetDeletionTimestamp() != nil && len(u.GetFinalizers()) == 0; gone {
		return nil
	}
	if status != nil && !equal(before.Object["status"], status) {
		after["status"] = status
		if after, err = p.client.Update(ctx, kind, after, "status"); err != nil {
			return fmt.Errorf("cannot update the status of %s %s: %w", kind.Kind, before.GetName(), err)
		}
	}
	p.written.Store(before.GetUID(), &unstructured.Unstructured{Object: after})
	return nil
}

// without the status, which is written on its own.
func without(o kube.Object) kube.Object {
	out := make(kube.Object, len(o))
	for k, v := range o {
		if k != "status" {
			out[k] = v
		}
	}
	return out
}

func plain(o kube.Object) (kube.Object, error) {
	data, err := json.Marshal(o)
	if err != nil {
		return nil, err
	}
	u := &unstructured.Unstructured{}
	if err := u.UnmarshalJSON(data); err != nil {
		return nil, err
	}
	return u.Object, nil
}

func equal(a, b any) bool {
	x, errX := json.Marshal(a)
	y, errY := json.Marshal(b)
	return errX == nil && errY == nil && bytes.Equal(x, y)
}
