package simulator

import (
	"encoding/base64"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func testTemplate(name string) Object {
	return Object{
		"kind":     "LaunchTemplate",
		"metadata": Object{"name": "pool-" + name, "uid": "uid-" + name},
		"spec": Object{
			"managementPolicies": []any{"Observe", "Create", "Update", "Delete"},
			"forProvider":        Object{"region": "us-east-1", "name": name, "imageId": "ami-1", "tags": Object{"a": "b"}},
		},
	}
}

func testGroup(templateID string) Object {
	return Object{
		"kind":     "AutoscalingGroup",
		"metadata": Object{"name": "pool-group", "uid": "uid-group", "annotations": Object{annotationExternalName: "mp-pool"}},
		"spec": Object{
			"managementPolicies": []any{"Observe", "Create", "Update", "Delete"},
			"forProvider": Object{
				"minSize": 1.0, "maxSize": 5.0, "vpcZoneIdentifier": []any{"subnet-a", "subnet-b"},
				"launchTemplate": Object{"id": templateID, "version": "$Latest"}, "instanceRefresh": Object{"strategy": "Rolling"},
			},
			"initProvider": Object{"desiredCapacity": 3.0},
		},
	}
}

func testAWS() *AWS {
	return NewAWS(map[string]string{"subnet-a": "us-east-1a", "subnet-b": "us-east-1b"})
}

// bench is an account with a provider, a template and, when it is asked for, a group that runs from it.
type bench struct {
	*AWS
	*Provider

	t               *testing.T
	template, group Object
}

func newBench(t *testing.T, withGroup bool) *bench {
	t.Helper()
	a := testAWS()
	b := &bench{t: t, AWS: a, Provider: NewProvider(a), template: testTemplate("first")}
	b.reconcile(b.template, 2)
	if withGroup {
		b.group = testGroup(b.idOf(b.template))
		b.reconcile(b.group, 2)
		b.tick(4)
		b.reconcile(b.group, 1)
	}
	return b
}

func (b *bench) reconcile(mr Object, times int) {
	for range times {
		b.Reconcile(mr)
	}
}

func (b *bench) tick(times int) {
	for range times {
		b.Tick()
	}
}

func (b *bench) idOf(mr Object) string { return Text(mr, fieldStatus, fieldAtProvider, "id") }

func (b *bench) use(template Object) {
	SetField(b.group, b.idOf(template), fieldSpec, fieldForProvider, "launchTemplate", "id")
}

// TestTemplateQuirks holds what docs/provider-behaviour.md says of launch templates.
func TestTemplateQuirks(t *testing.T) {
	type result struct {
		ID, ExternalName, Ready, Synced string
		Versions                        int
	}
	const id, other = "lt-00000000000000001", "lt-00000000000000002"
	cases := map[string]struct {
		reason string
		after  func(b *bench)
		want   result
	}{
		"Created": {
			reason: "The id shows in the status and is persisted nowhere.",
			after:  func(*bench) {},
			want:   result{ID: id, Ready: "True", Synced: "True", Versions: 1},
		},
		"Changed": {
			reason: "A change makes one version.",
			after: func(b *bench) {
				SetField(b.template, "ami-2", fieldSpec, fieldForProvider, "imageId")
				b.reconcile(b.template, 4)
			},
			want: result{ID: id, Ready: "True", Synced: "True", Versions: 2},
		},
		"TagsAlone": {
			reason: "Tags alone fail once, after they were written.",
			after: func(b *bench) {
				SetField(b.template, "c", fieldSpec, fieldForProvider, "tags", "a")
				b.reconcile(b.template, 1)
				if got := ConditionOf(b.template, typeSynced).Status; got != "False" {
					b.t.Errorf("Synced is %s after a change of tags alone, want False", got)
				}
				b.reconcile(b.template, 2)
			},
			want: result{ID: id, Ready: "True", Synced: "True", Versions: 1},
		},
		"Restarted": {
			reason: "A restart loses the id, and the name is taken for good; the status still shows the id.",
			after:  func(b *bench) { b.Restart(); b.reconcile(b.template, 6) },
			want:   result{ID: id, Ready: "False", Synced: "False", Versions: 1},
		},
		"Healed": {
			reason: "The id as external name heals it at once.",
			after: func(b *bench) {
				b.Restart()
				b.reconcile(b.template, 6)
				SetField(b.template, id, fieldMetadata, fieldAnnotations, annotationExternalName)
				b.reconcile(b.template, 2)
			},
			want: result{ID: id, ExternalName: id, Ready: "True", Synced: "True", Versions: 1},
		},
		"RestartedWithExternalName": {
			reason: "With the id as external name a restart changes nothing.",
			after: func(b *bench) {
				SetField(b.template, id, fieldMetadata, fieldAnnotations, annotationExternalName)
				b.Restart()
				b.reconcile(b.template, 3)
			},
			want: result{ID: id, ExternalName: id, Ready: "True", Synced: "True", Versions: 1},
		},
		"LateInitialized": {
			reason: "With LateInitialize the provider does persist it.",
			after: func(b *bench) {
				SetField(b.template, []any{"*"}, fieldSpec, "managementPolicies")
				b.reconcile(b.template, 1)
			},
			want: result{ID: id, ExternalName: id, Ready: "True", Synced: "True", Versions: 1},
		},
		"RemovedOutOfBand": {
			reason: "A template that is gone from AWS is created again, with another id.",
			after:  func(b *bench) { b.RemoveTemplate(id); b.reconcile(b.template, 2) },
			want:   result{ID: other, Ready: "True", Synced: "True", Versions: 1},
		},
		"Crashed": {
			reason: "What the provider was creating when it died waits for a person.",
			after: func(b *bench) {
				b.RemoveTemplate(id)
				b.CrashOnCreate(false)
				b.reconcile(b.template, 4)
			},
			want: result{ID: id, Ready: "False", Synced: "False"},
		},
		"CrashedLate": {
			reason: "Even where AWS has made it: no one knows.",
			after: func(b *bench) {
				b.RemoveTemplate(id)
				b.CrashOnCreate(true)
				b.reconcile(b.template, 4)
			},
			want: result{ID: id, Ready: "False", Synced: "False", Versions: 1},
		},
		"Late": {
			reason: "Operations can take long, and show nothing meanwhile.",
			after: func(b *bench) {
				b.Latency = 3
				SetField(b.template, "ami-2", fieldSpec, fieldForProvider, "imageId")
				b.reconcile(b.template, 4)
				if v, _ := Number(b.template, fieldStatus, fieldAtProvider, "latestVersion"); v != 1 {
					b.t.Errorf("the status shows version %d while the operation is under way", v)
				}
			},
			want: result{ID: id, Ready: "True", Synced: "True", Versions: 2},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, false)
			tc.after(b)
			got := result{
				ID: b.idOf(b.template), ExternalName: externalName(b.template),
				Ready: ConditionOf(b.template, typeReady).Status, Synced: ConditionOf(b.template, typeSynced).Status,
			}
			if lt := b.TemplateNamed("first"); lt != nil {
				got.Versions = len(lt.Versions)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s\n-want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestGroupQuirks holds what docs/provider-behaviour.md says of Auto Scaling groups.
func TestGroupQuirks(t *testing.T) {
	type result struct {
		Desired, OnFirst, OnSecond int
		// Refreshes by status, oldest first.
		Refreshes []string
		Synced    string
		LastAsync string
	}
	second := func(b *bench) Object {
		b.t.Helper()
		mr := testTemplate("second")
		b.reconcile(mr, 2)
		return mr
	}
	ok := func(r result) result { r.Synced, r.LastAsync = "True", "True"; return r }
	cases := map[string]struct {
		reason string
		after  func(b *bench)
		want   result
	}{
		"Created": {
			reason: "initProvider says how large a group starts.",
			after:  func(*bench) {},
			want:   ok(result{Desired: 3, OnFirst: 3}),
		},
		"DesiredLeftAlone": {
			reason: "A desired capacity that someone set stays, whatever else changes.",
			after: func(b *bench) {
				_ = b.SetDesired("mp-pool", 5)
				SetField(b.group, 2.0, fieldSpec, fieldForProvider, "minSize")
				b.reconcile(b.group, 3)
				b.tick(3)
			},
			want: ok(result{Desired: 5, OnFirst: 5}),
		},
		"BoundsMoveDesired": {
			reason: "Bounds that leave the desired capacity out move it.",
			after: func(b *bench) {
				SetField(b.group, 2.0, fieldSpec, fieldForProvider, "maxSize")
				b.reconcile(b.group, 3)
				b.tick(3)
			},
			want: ok(result{Desired: 2, OnFirst: 2}),
		},
		"Rolled": {
			reason: "Another template id replaces every member by one refresh.",
			after:  func(b *bench) { b.use(second(b)); b.reconcile(b.group, 3); b.tick(12) },
			want:   ok(result{Desired: 3, OnSecond: 3, Refreshes: []string{RefreshSuccessful}}),
		},
		"NewVersionRollsNothing": {
			reason: "$Latest moving on starts no refresh.",
			after: func(b *bench) {
				SetField(b.template, "ami-2", fieldSpec, fieldForProvider, "imageId")
				b.reconcile(b.template, 3)
				b.reconcile(b.group, 3)
				b.tick(6)
			},
			want: ok(result{Desired: 3, OnFirst: 3}),
		},
		"LostRoll": {
			reason: "A refresh that fails to start is never started again, and nothing says so.",
			after: func(b *bench) {
				b.FailNext(StartInstanceRefresh, 1)
				b.use(second(b))
				b.reconcile(b.group, 6)
				b.tick(12)
			},
			want: ok(result{Desired: 3, OnFirst: 3}),
		},
		"UpdateRetried": {
			reason: "An update of the group that fails is made again.",
			after: func(b *bench) {
				b.FailNext(UpdateAutoScalingGroup, 1)
				b.use(second(b))
				b.reconcile(b.group, 6)
				b.tick(12)
			},
			want: ok(result{Desired: 3, OnSecond: 3, Refreshes: []string{RefreshSuccessful}}),
		},
		"RefreshCancelled": {
			reason: "A new update during a refresh cancels it, waits for that, and starts another.",
			after: func(b *bench) {
				b.use(second(b))
				b.reconcile(b.group, 3)
				b.tick(3)
				b.use(b.template)
				b.reconcile(b.group, 1)
				if got := Text(b.group, fieldStatus, fieldAtProvider, "launchTemplate", "id"); got == b.idOf(b.template) {
					b.t.Errorf("the status moves on while the operation is under way")
				}
				for range 12 {
					b.tick(1)
					b.reconcile(b.group, 1)
				}
			},
			want: ok(result{Desired: 3, OnFirst: 3, Refreshes: []string{RefreshCancelled, RefreshSuccessful}}),
		},
		"TemplateDeletedInUse": {
			reason: "A template can be deleted while the group uses it; then nothing launches.",
			after: func(b *bench) {
				b.RemoveTemplate(b.idOf(b.template))
				b.Terminate(b.Groups["mp-pool"].Members[0].ID)
				b.tick(4)
			},
			want: ok(result{Desired: 3, OnFirst: 2}),
		},
		"NoSuchTemplate": {
			reason: "AWS refuses a template that does not exist.",
			after: func(b *bench) {
				SetField(b.group, "lt-none", fieldSpec, fieldForProvider, "launchTemplate", "id")
				b.reconcile(b.group, 2)
				b.reconcile(b.group, 1)
			},
			want: result{Desired: 3, OnFirst: 3, Synced: "False", LastAsync: "False"},
		},
		"RemovedOutOfBand": {
			reason: "A group that is gone is created again, at the size of initProvider.",
			after: func(b *bench) {
				_ = b.SetDesired("mp-pool", 5)
				b.RemoveGroup("mp-pool")
				b.reconcile(b.group, 2)
				b.tick(3)
			},
			want: ok(result{Desired: 3, OnFirst: 3}),
		},
		"ProtectedIgnored": {
			reason: "A refresh succeeds with protected members left.",
			after: func(b *bench) {
				b.Groups["mp-pool"].Members[0].Protected = true
				b.use(second(b))
				b.reconcile(b.group, 3)
				b.tick(12)
			},
			want: ok(result{Desired: 3, OnFirst: 1, OnSecond: 2, Refreshes: []string{RefreshSuccessful}}),
		},
		"ZoneRemoved": {
			reason: "Members of a zone that the group left are replaced elsewhere, without a refresh.",
			after: func(b *bench) {
				SetField(b.group, []any{"subnet-b"}, fieldSpec, fieldForProvider, "vpcZoneIdentifier")
				b.reconcile(b.group, 3)
				b.tick(10)
				for _, m := range b.Groups["mp-pool"].Live() {
					if m.Zone != "us-east-1b" {
						b.t.Errorf("%s is still in %s", m.ID, m.Zone)
					}
				}
			},
			want: ok(result{Desired: 3, OnFirst: 3}),
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, true)
			tc.after(b)
			g := b.Groups["mp-pool"]
			got := result{
				Desired: g.Desired, Synced: ConditionOf(b.group, typeSynced).Status, LastAsync: ConditionOf(b.group, typeLastAsync).Status,
				OnFirst: g.MemberTemplates()[b.idOf(b.template)],
			}
			got.OnSecond = len(g.Live()) - got.OnFirst
			for _, r := range g.Refreshes {
				got.Refreshes = append(got.Refreshes, r.Status)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s\n-want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestInitProviderZero holds that a desired capacity of 0 is not sent on creation.
func TestInitProviderZero(t *testing.T) {
	b := newBench(t, false)
	group := testGroup(b.idOf(b.template))
	SetField(group, 0.0, fieldSpec, "initProvider", "desiredCapacity")
	b.reconcile(group, 2)
	if got := b.Groups["mp-pool"].Desired; got != 1 {
		t.Errorf("a group with an initial desired capacity of 0 starts at %d, want its minimum 1", got)
	}
}

// TestNameInitialized holds that a group without an external name is named after its managed resource.
func TestNameInitialized(t *testing.T) {
	b := newBench(t, false)
	group := testGroup(b.idOf(b.template))
	SetField(group, nil, fieldMetadata, fieldAnnotations)
	b.reconcile(group, 2)
	if _, ok := b.Groups["pool-group"]; !ok || externalName(group) != "pool-group" {
		t.Errorf("the group is called %q in AWS's %v", externalName(group), b.Groups)
	}
}

// TestDeletion holds that a template goes at once, a group only when it is empty, and that what no one remembers stays
// behind.
func TestDeletion(t *testing.T) {
	b := newBench(t, true)
	for _, mr := range []Object{b.group, b.template} {
		SetField(mr, b.Clock.text(), fieldMetadata, "deletionTimestamp")
	}
	if b.Reconcile(b.group) || b.Groups["mp-pool"] == nil {
		t.Errorf("a group goes at once, with members")
	}
	b.tick(3)
	for range 3 {
		if b.Reconcile(b.group) {
			break
		}
	}
	if len(b.Groups) > 0 || len(Texts(b.group, fieldMetadata, "finalizers")) > 0 {
		t.Errorf("the group stays: %v", b.Groups)
	}
	b.Restart()
	if !b.Reconcile(b.template) || len(b.Templates) != 1 {
		t.Errorf("a template that the provider forgot is deleted nonetheless: %v", b.Templates)
	}
}

// TestObjectQuirks holds that a change of the content is uploaded, also after a failure, and an edit in S3 is not noticed.
func TestObjectQuirks(t *testing.T) {
	content := func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }
	a := testAWS()
	p := NewProvider(a)
	mr := Object{
		"kind": "Object", "metadata": Object{"name": "pool-object"},
		"spec": Object{"forProvider": Object{"bucket": "b", "key": "k", "contentBase64": content("one")}},
	}
	steps := []struct {
		reason string
		act    func()
		want   string
	}{
		{reason: "It is created.", act: func() {}, want: "one"},
		{reason: "An edit in S3 stays.", act: func() { a.S3["b/k"].Content = []byte("edited") }, want: "edited"},
		{reason: "A change is uploaded.", act: func() { SetField(mr, content("two"), fieldSpec, fieldForProvider, "contentBase64") }, want: "two"},
		{reason: "A failed upload is made again.", act: func() {
			a.FailNext(PutObject, 1)
			SetField(mr, content("three"), fieldSpec, fieldForProvider, "contentBase64")
		}, want: "three"},
		{reason: "What is gone comes back.", act: func() { a.RemoveObject("b/k") }, want: "three"},
	}
	for _, s := range steps {
		s.act()
		for range 4 {
			p.Reconcile(mr)
		}
		if got := string(a.S3["b/k"].Content); got != s.want {
			t.Errorf("%s\nS3 holds %q, want %q", s.reason, got, s.want)
		}
	}
}

// TestGroupPartsNeedTheGroup holds that policies and hooks fail before the group exists, and go with it.
func TestGroupPartsNeedTheGroup(t *testing.T) {
	b := newBench(t, false)
	policy := Object{
		"kind": "Policy", "metadata": Object{"name": "pool-policy", "annotations": Object{annotationExternalName: "cpu"}},
		"spec": Object{"forProvider": Object{"autoscalingGroupName": "mp-pool"}},
	}
	b.reconcile(policy, 3)
	if got := ConditionOf(policy, typeSynced).Status; got != "False" {
		t.Errorf("a policy without its group is Synced %s, want False", got)
	}
	group := testGroup(b.idOf(b.template))
	b.reconcile(group, 2)
	b.reconcile(policy, 3)
	if len(b.Groups["mp-pool"].Policies) != 1 || ConditionOf(policy, typeReady).Status != "True" {
		t.Errorf("the policy is not there once its group is: %v", policy[fieldStatus])
	}
	b.RemoveGroup("mp-pool")
	b.reconcile(group, 2)
	if len(b.Groups["mp-pool"].Policies) != 0 {
		t.Errorf("a group that is made again has its old policies")
	}
}

// TestMoves holds that each move of a group is told with what came of its refresh.
func TestMoves(t *testing.T) {
	type result struct {
		Moves, Lost, Refreshed int
	}
	cases := map[string]struct {
		reason string
		before func(b *bench)
		after  func(b *bench)
		want   result
	}{
		"Refreshed": {
			reason: "A move starts a refresh.",
			want:   result{Moves: 1, Refreshed: 1},
		},
		"Lost": {
			reason: "The provider forgets a refresh that it could not start.",
			before: func(b *bench) { b.FailNext(StartInstanceRefresh, 1) },
			want:   result{Moves: 1, Lost: 1},
		},
		"Restarted": {
			reason: "A restart between the two calls loses the second.",
			before: func(b *bench) {
				// The one before has to be cancelled first.
				g := b.Groups["mp-pool"]
				g.Refreshes = append(g.Refreshes, &Refresh{ID: "by-hand", Status: RefreshInProgress})
			},
			after: func(b *bench) { b.Restart() },
			want:  result{Moves: 1, Lost: 1},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, true)
			second := testTemplate("second")
			b.reconcile(second, 2)
			if tc.before != nil {
				tc.before(b)
			}
			b.use(second)
			b.reconcile(b.group, 1)
			if tc.after != nil {
				tc.after(b)
			}
			b.reconcile(b.group, 2)
			got := result{}
			for _, m := range b.Moves {
				got.Moves++
				got.Lost += b2i(m.Lost)
				got.Refreshed += b2i(m.Refresh != nil)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s\n-want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestMisdeeds holds that a template that goes while its group is on it is told.
func TestMisdeeds(t *testing.T) {
	b := newBench(t, true)
	SetField(b.template, "2026-01-01T00:00:00Z", fieldMetadata, "deletionTimestamp")
	b.reconcile(b.template, 2)
	if len(b.Misdeeds) != 1 {
		t.Errorf("misdeeds are %v, want the one", b.Misdeeds)
	}
}

// TestSetAside holds that neither a refresh nor scaling in touches a member in Standby, and that a refresh ends all the same.
func TestSetAside(t *testing.T) {
	b := newBench(t, true)
	g := b.Groups["mp-pool"]
	aside := g.Members[0]
	aside.Lifecycle = LifecycleStandby
	second := testTemplate("second")
	b.reconcile(second, 2)
	b.use(second)
	b.reconcile(b.group, 1)
	b.tick(20)
	if got := g.Refreshes[0].Status; got != RefreshSuccessful {
		t.Errorf("the refresh is %s", got)
	}
	if diff := cmp.Diff(map[string]int{b.idOf(b.template): 1, b.idOf(second): 2}, g.MemberTemplates()); diff != "" {
		t.Errorf("members by template, -want, +got:\n%s", diff)
	}
}
