package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/function-aws-machinepool/input/v1beta1"
	"github.com/crossplane-contrib/function-aws-machinepool/internal/aws/simulated"
	"github.com/crossplane-contrib/function-aws-machinepool/internal/pool"
	"github.com/crossplane-contrib/function-aws-machinepool/internal/simulator"
)

// Replicas of the function, each of which reads AWS with a Reader of its own, as in production. Crossplane balances its calls
// among them.
type replicas struct {
	each []*replica
	// next is the one that the next call goes to.
	next func() int
	// last is the one that the last call went to.
	last *replica
}

type replica struct {
	*Function

	reader AWSReader
	// readings of its last run.
	readings []pool.Reading
}

func newReplicas(account *simulator.Reader, n int) *replicas {
	r := &replicas{}
	for range n {
		one := &replica{reader: simulated.NewReader(account)}
		one.Function = NewFunction(WithAWSReader(one))
		r.each = append(r.each, one)
	}
	calls := 0
	r.next = func() int { calls++; return calls }
	return r
}

// RunFunction on the next replica.
func (r *replicas) RunFunction(ctx context.Context, req *fnv1.RunFunctionRequest) (*fnv1.RunFunctionResponse, error) {
	r.last = r.each[r.next()%len(r.each)]
	r.last.readings = nil
	return r.last.RunFunction(ctx, req)
}

// Read AWS, and keep what it said.
func (r *replica) Read(ctx context.Context, q pool.Query) pool.Reading {
	reading := r.reader.Read(ctx, q)
	r.readings = append(r.readings, reading)
	return reading
}

// neighbourRuns on a replica: another pool, whose read can take along what is kept of this one, which renews its group's part
// alone.
func (r *replica) neighbourRuns(ctx context.Context) {
	r.reader.Read(ctx, pool.Query{
		Identity: pool.Identity{Source: v1beta1.IdentityPod}, Region: "us-east-1", GroupName: "mp-neighbour", MaxAge: 7500 * time.Millisecond,
	})
}

// A deployment is a pool with so many replicas of the function, in virtual time.
type deployment struct {
	*life

	replicas *replicas
	account  *simulator.Reader
}

// inVirtualTime plays with a pool that runs, whose calls all go to the first replica until a test says otherwise.
func inVirtualTime(t *testing.T, n int, play func(t *testing.T, d deployment)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		aws := newAccount()
		aws.Clock.Real = true
		account := simulator.NewReader(aws)
		d := deployment{replicas: newReplicas(account, n), account: account}
		d.on(0)
		d.life = newLifeOf(t, settings[1], poolName, account, d.replicas)
		d.Quick = true
		for range 30 {
			d.after(10 * time.Second)
			d.round()
		}
		if len(d.members()) != 3 || d.phase() != "Idle" {
			t.Fatalf("a pool that is left alone has %d members and is %s", len(d.members()), d.phase())
		}
		play(t, d)
	})
}

// on a replica go the calls from now on.
func (d deployment) on(replica int) { d.replicas.next = func() int { return replica } }

func (d deployment) after(pause time.Duration) { time.Sleep(pause) }

// warnings of the last run.
func (l *life) warnings() []string {
	var out []string
	for _, r := range l.last.Response.GetResults() {
		if r.GetSeverity() == fnv1.Severity_SEVERITY_WARNING {
			out = append(out, r.GetMessage())
		}
	}
	return out
}

// TestHealthyRollIsNeverLost is a roll whose refresh was last read when its key changed, and whose group a while before that. The
// run that first sees the switch has both answers still: neither says anything of the refresh that was started meanwhile.
func TestHealthyRollIsNeverLost(t *testing.T) {
	for n := range 2 {
		t.Run(fmt.Sprint(n+1, " replicas"), func(t *testing.T) {
			inVirtualTime(t, n+1, func(t *testing.T, d deployment) {
				d.AWS.RefreshDelay = 2
				d.run(simulator.ReconcileOptions{})
				d.after(3 * time.Second)
				d.set("v1.34.2", "kubernetesVersion")
				for i := range 60 {
					d.on(i % (n + 1))
					d.run(simulator.ReconcileOptions{})
					if d.phase() == "Lost" || len(d.warnings()) > 0 {
						t.Fatalf("a healthy roll is %s after %d runs, warnings %q", d.phase(), i, d.warnings())
					}
					d.PollAll()
					d.after(400 * time.Millisecond)
					if i%3 == 0 {
						d.AWS.Tick()
					}
				}
				if len(d.group().Refreshes) != 1 || d.phase() != "Idle" || len(d.AWS.Templates) != 1 {
					t.Errorf("want one refresh and one template in phase Idle, got %d and %d in phase %s", len(d.group().Refreshes), len(d.AWS.Templates), d.phase())
				}
			})
		})
	}
}

// TestLostRollTakesTwoReadings holds that a roll which is lost is found by two readings of each part, however often it runs.
func TestLostRollTakesTwoReadings(t *testing.T) {
	inVirtualTime(t, 2, func(t *testing.T, d deployment) {
		d.AWS.FailNext(simulator.StartInstanceRefresh, 1)
		d.set("v1.34.2", "kubernetesVersion")
		var lost time.Time
		for i := range 200 {
			d.on(i % 2)
			d.run(simulator.ReconcileOptions{})
			if d.phase() == "Lost" && lost.IsZero() {
				lost = time.Now()
			}
			if !lost.IsZero() && d.condition("RollingOut").Reason == "Retrying" {
				break
			}
			d.PollAll()
			d.after(300 * time.Millisecond)
		}
		if took := time.Since(lost); lost.IsZero() || took < 5*time.Second || took > 20*time.Second {
			t.Errorf("a lost roll is started again %s after it was found", took)
		}
	})
}

// TestFleetRolls upgrades 50 pools of one account together.
func TestFleetRolls(t *testing.T) {
	const pools = 50
	synctest.Test(t, func(t *testing.T) {
		aws := newAccount()
		aws.Clock.Real, aws.RefreshDelay = true, 2
		account := simulator.NewReader(aws)
		function := newReplicas(account, 2)
		var fleet []*life
		for i := range pools {
			l := newLifeOf(t, settings[1], fmt.Sprintf("pool-%02d", i), account, function)
			l.Fresh, l.Quick = true, true
			l.set(object{"name": poolName, "namespace": exportsNamespace}, "bootstrap", "dataSecretRef")
			fleet = append(fleet, l)
		}
		round := func(check func(l *life)) {
			for i, l := range fleet {
				l.run(simulator.ReconcileOptions{})
				check(l)
				l.PollAll()
				if i%10 == 0 {
					time.Sleep(200 * time.Millisecond)
				}
			}
			aws.Tick()
		}
		for range 15 {
			round(func(*life) {})
		}
		refreshes := aws.Refreshes
		for _, l := range fleet {
			if l.phase() != "Idle" || len(aws.Groups) != pools {
				t.Fatalf("a pool is %s, there are %d groups", l.phase(), len(aws.Groups))
			}
			l.set("v1.34.2", "kubernetesVersion")
		}
		for range 30 {
			round(func(l *life) {
				if l.phase() == "Lost" || len(l.warnings()) > 0 {
					t.Fatalf("%s is %s, warnings %q", simulator.Text(l.XR, "metadata", "name"), l.phase(), l.warnings())
				}
			})
		}
		if got := aws.Refreshes - refreshes; got != pools {
			t.Errorf("%d refreshes for %d pools", got, pools)
		}
		for _, l := range fleet {
			if l.phase() != "Idle" {
				t.Errorf("%s is %s", simulator.Text(l.XR, "metadata", "name"), l.phase())
			}
		}
	})
}

// instanceIDs are those of the instances that the status lists.
func (l *life) instanceIDs() []string {
	var ids []string
	for _, id := range simulator.Texts(l.XR, "status", "providerIDList") {
		ids = append(ids, id[strings.LastIndex(id, "/")+1:])
	}
	return ids
}

// TestAnotherReplicasOlderAnswer holds that nothing older than what the status was made from changes it: the first replica
// reads, something happens, the second one reads that, and the first runs again while its answers are kept.
func TestAnotherReplicasOlderAnswer(t *testing.T) {
	cases := map[string]struct {
		reason string
		// before the first replica reads, and then before the second one does.
		before, happens func(d deployment)
		// tells what must stay.
		tells func(d deployment) string
	}{
		"ListIsNotShortened": {
			reason: "A member that was launched since stays on the list.",
			before: func(d deployment) {
				d.set(float64(4), "replicas")
				d.run(simulator.ReconcileOptions{})
			},
			happens: func(d deployment) {
				d.PollAll()
				d.AWS.Tick()
			},
			tells: func(d deployment) string {
				return fmt.Sprint(len(d.instanceIDs()), simulator.Text(d.XR, "status", "health", "message"))
			},
		},
		"ListIsNotLengthened": {
			reason:  "Nor does one that has gone come back.",
			happens: func(d deployment) { d.AWS.Terminate(d.members()[0]); d.AWS.Tick(); d.AWS.Tick() },
			tells:   func(d deployment) string { return fmt.Sprint(d.instanceIDs()) },
		},
		"ImageStays": {
			reason: "A newer image is not replaced by an older one: each would be a version of the template.",
			happens: func(d deployment) {
				d.AWS.Images = append(d.AWS.Images, simulator.Image{ID: "ami-0000000000000000f", Name: "capa-ami-ubuntu-24.04-v1.34.1-2", Owner: "819546954734", Architecture: "x86_64"})
			},
			tells: func(d deployment) string {
				return fmt.Sprint(simulator.Text(d.XR, "status", "imageID"), len(d.AWS.Templates[d.group().TemplateID].Versions))
			},
		},
		"PhaseStays": {
			reason: "A roll that was seen to be over does not go on, nor comes its template back.",
			before: func(d deployment) {
				d.set("v1.34.2", "kubernetesVersion")
				for !d.group().IsRefreshing() || len(d.group().MemberTemplates()) == 1 {
					d.after(10 * time.Second)
					d.round()
				}
				d.run(simulator.ReconcileOptions{})
			},
			happens: func(d deployment) {
				for d.group().IsRefreshing() {
					d.AWS.Tick()
				}
			},
			tells: func(d deployment) string { return fmt.Sprint(d.phase(), len(d.AWS.Templates)) },
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, 2, func(t *testing.T, d deployment) {
				d.on(1)
				if tc.before != nil {
					tc.before(d)
				}
				d.run(simulator.ReconcileOptions{})
				d.after(8 * time.Second)
				d.on(0)
				d.run(simulator.ReconcileOptions{})
				d.after(time.Second)
				tc.happens(d)
				d.on(1)
				before := tc.tells(d)
				for range 2 {
					d.run(simulator.ReconcileOptions{})
					d.PollAll()
				}
				want := tc.tells(d)
				if want == before {
					t.Fatalf("\n%s\nthe second replica does not see what happened: %s", tc.reason, want)
				}
				for i := range 12 {
					d.on(i % 2)
					d.after(300 * time.Millisecond)
					d.run(simulator.ReconcileOptions{})
					d.PollAll()
					if got := tc.tells(d); got != want {
						t.Fatalf("\n%s\nafter run %d, on replica %d: want %s, got %s", tc.reason, i, i%2, want, got)
					}
				}
			})
		})
	}
}

// TestAnotherReplicasOlderMembersWhileReadsFail holds that a replica which cannot read AWS does not put a member back on the list that
// another replica has seen leave it, because it remembers that member from before.
func TestAnotherReplicasOlderMembersWhileReadsFail(t *testing.T) {
	for _, fails := range []simulator.Part{simulator.PartGroup, simulator.PartInstances} {
		t.Run(string(fails), func(t *testing.T) {
			inVirtualTime(t, 2, func(t *testing.T, d deployment) {
				d.on(1)
				d.run(simulator.ReconcileOptions{})
				before := d.instanceIDs()
				d.AWS.Terminate(d.members()[0])
				for range 3 {
					d.AWS.Tick()
				}
				d.on(0)
				for range 3 {
					d.after(10 * time.Second)
					d.run(simulator.ReconcileOptions{})
				}
				want := d.instanceIDs()
				if slices.Equal(before, want) || len(want) != 3 {
					t.Fatalf("the first replica does not see that a member was replaced: before %v, after %v", before, want)
				}
				d.account.Fail(fails, pool.ReadFailed)
				for i := range 6 {
					d.on((i + 1) % 2)
					d.after(5 * time.Second)
					d.run(simulator.ReconcileOptions{})
					if diff := cmp.Diff(want, d.instanceIDs()); diff != "" {
						t.Fatalf("after run %d, on replica %d: -want, +got:\n%s", i, (i+1)%2, diff)
					}
				}
			})
		})
	}
}
