package simulator

import (
	"fmt"
	"slices"
)

const finalizer = "finalizer.managedresource.crossplane.io"

// A Provider is provider-aws: it reconciles managed resources against AWS, one call of Reconcile at a time.
//
// All its operations are asynchronous. One starts in one Reconcile and its outcome shows in a later one; meanwhile the
// managed resource is not observed at all, so that its status stands still (upjet, Observe of an async external).
type Provider struct {
	// Latency is how many more Reconciles an operation takes to end. Zero: it is over by the next one.
	Latency int

	aws     *AWS
	memory  map[string]*memory
	crashes crash
}

// A crash of the provider in the midst of a creation, before or after AWS has made the thing.
type crash int

const (
	noCrash crash = iota
	crashBefore
	crashAfter
)

// memory is what a provider knows of a managed resource and has not written anywhere.
type memory struct {
	// id of the external resource, once it was created or observed.
	id string
	// shown says that the id stands in the status.
	shown bool
	op    *operation
}

// An operation that is under way. Step returns true when it has to be taken again.
type operation struct {
	name string
	step func() (again bool, err error)
	left int
	over bool
	err  error
}

// NewProvider returns a provider for an AWS account.
func NewProvider(a *AWS) *Provider {
	return &Provider{aws: a, memory: map[string]*memory{}}
}

// Restart loses all that was not written into a managed resource. These are ids of templates that no one has sent
// back as their external name (P1), and operations under way, such as a refresh that was still to start (P14).
func (p *Provider) Restart() {
	for _, m := range p.memory {
		if m.id != "" && !m.shown {
			p.aws.forgotten[m.id] = true
		}
	}
	clear(p.memory)
	for _, m := range p.aws.Moves {
		m.Lost = m.Lost || m.Refresh == nil
	}
}

// Remembers reports whether a restart of the provider would lose something of a managed resource.
func (p *Provider) Remembers(mr Object) bool {
	m, ok := p.memory[keyOf(mr)]
	return ok && (m.id != "" || m.op != nil)
}

// CrashOnCreate makes the provider die in the midst of its next creation, before or after AWS has made the thing, and
// start again. What it was creating then waits for a person, as the provider cannot tell what came of it.
func (p *Provider) CrashOnCreate(made bool) {
	p.crashes = crashBefore
	if made {
		p.crashes = crashAfter
	}
}

// Heal ends all faults.
func (p *Provider) Heal() { p.crashes = noCrash }

// Reconcile a managed resource, in place. It returns true when the resource is gone from AWS and has no finalizer of the
// provider left.
func (p *Provider) Reconcile(mr Object) (gone bool) {
	p.aws.Clock.step()
	e, known := externals()[Text(mr, "kind")]
	if !known {
		return false
	}
	m := p.remember(mr)
	deleting := Text(mr, fieldMetadata, "deletionTimestamp") != ""
	if !deleting {
		addFinalizer(mr)
		e.initialize(mr)
	}
	if IsCreationIncomplete(mr) {
		// Before anything is observed, and when it is to be deleted as well (crossplane-runtime, managed.Reconciler).
		p.setCondition(mr, Condition{Type: typeReady, Status: "False", Reason: "Creating"})
		p.setCondition(mr, Condition{Type: typeSynced, Status: "False", Reason: "ReconcileError", Message: createIncomplete})
		return false
	}
	if m.op != nil && !p.goOn(mr, m) {
		return false
	}
	r := &reconciliation{Provider: p, external: e, mr: mr, memory: m}
	if deleting {
		return r.delete()
	}
	r.reconcile()
	return false
}

func (p *Provider) remember(mr Object) *memory {
	key := keyOf(mr)
	m, ok := p.memory[key]
	if !ok {
		m = &memory{}
		p.memory[key] = m
	}
	return m
}

func keyOf(mr Object) string {
	return fmt.Sprint(Text(mr, "kind"), "/", Text(mr, fieldMetadata, "namespace"), "/", Text(mr, fieldMetadata, "name"), "/", Text(mr, fieldMetadata, "uid"))
}

// goOn with an operation. It returns false while the operation is under way, when nothing is observed.
func (p *Provider) goOn(mr Object, m *memory) bool {
	op := m.op
	if !op.over {
		p.take(mr, op)
		return false
	}
	if op.left > 0 {
		op.left--
		return false
	}
	m.op = nil
	return true
}

// start an operation: its first step is taken at once.
func (p *Provider) start(mr Object, m *memory, name string, step func() (bool, error)) {
	m.op = &operation{name: name, step: step, left: p.Latency}
	p.take(mr, m.op)
}

func (p *Provider) take(mr Object, op *operation) {
	again, err := op.step()
	op.over, op.err = !again, err
	if again {
		return
	}
	if err == nil {
		p.setCondition(mr, Condition{Type: typeLastAsync, Status: "True", Reason: "Success"})
		return
	}
	p.setCondition(mr, Condition{Type: typeLastAsync, Status: "False", Reason: "Async" + op.name + "Failure", Message: err.Error()})
	p.setCondition(mr, Condition{Type: typeSynced, Status: "False", Reason: "ReconcileError", Message: err.Error()})
}

// Types of a managed resource's conditions.
const (
	typeReady  = "Ready"
	typeSynced = "Synced"
	// It changes when an asynchronous operation ends, and only then: while one is under way the managed resource looks as it
	// did before (upjet, callbackFn). There is no condition AsyncOperation: v2.5.0 turns it off (make e2e-provider).
	typeLastAsync = "LastAsyncOperation"
)

func (p *Provider) setCondition(mr Object, c Condition) { setCondition(mr, c, p.aws.Clock.text()) }

// A reconciliation of one managed resource.
type reconciliation struct {
	*Provider
	external

	mr     Object
	memory *memory
}

// id of the external resource: what the provider remembers, else what is persisted.
func (r *reconciliation) id() string {
	if r.memory.id != "" {
		return r.memory.id
	}
	return externalName(r.mr)
}

func externalName(mr Object) string {
	return Text(mr, fieldMetadata, fieldAnnotations, annotationExternalName)
}

func (r *reconciliation) reconcile() {
	atProvider, upToDate := r.observe(r.aws, r.id(), r.mr)
	switch {
	case atProvider == nil:
		r.createIt()
	case !upToDate:
		r.show(atProvider)
		r.start(r.mr, r.memory, "Update", r.update(r.aws, r.id(), r.mr))
	default:
		// An update that failed half way is forgotten as soon as nothing differs any more: this is how a roll gets lost
		// (P5).
		r.show(atProvider)
		r.setCondition(r.mr, Condition{Type: typeSynced, Status: "True", Reason: "ReconcileSuccess"})
		r.setCondition(r.mr, Condition{Type: typeLastAsync, Status: "True", Reason: "Success"})
	}
}

// show what is observed. Nothing here writes an id into the external name: without LateInitialize among the management
// policies, which no one asks for, the provider leaves that to others (P1).
func (r *reconciliation) show(atProvider Object) {
	r.memory.id, r.memory.shown = r.id(), true
	SetField(r.mr, atProvider, fieldStatus, fieldAtProvider)
	r.setCondition(r.mr, Condition{Type: typeReady, Status: "True", Reason: "Available"})
	if lateInitializes(r.mr) {
		r.lateInitialize(r.mr, atProvider)
	}
}

func lateInitializes(mr Object) bool {
	policies := Texts(mr, fieldSpec, "managementPolicies")
	return slices.Contains(policies, "*") || slices.Contains(policies, "LateInitialize")
}

func (r *reconciliation) createIt() {
	now := r.aws.Clock.text()
	SetField(r.mr, now, fieldMetadata, fieldAnnotations, annotationPending)
	r.setCondition(r.mr, Condition{Type: typeReady, Status: "False", Reason: "Creating"})
	r.setCondition(r.mr, Condition{Type: typeSynced, Status: "True", Reason: "ReconcileSuccess"})
	r.memory.id = ""
	create := r.create(r.aws, externalName(r.mr), r.mr)
	if r.crashes != noCrash {
		r.crash(create)
		return
	}
	r.start(r.mr, r.memory, "Create", func() (bool, error) {
		id, err := create()
		r.memory.id, r.memory.shown = id, false
		return false, err
	})
	SetField(r.mr, now, fieldMetadata, fieldAnnotations, annotationSucceeded)
}

// crash while the creation is under way: nothing says any more what came of it.
func (r *reconciliation) crash(create func() (string, error)) {
	if r.crashes == crashAfter {
		// Whether it came to something is what no one knows.
		if id, err := create(); err == nil {
			r.aws.forgotten[id] = true
		}
	}
	SetField(r.mr, nil, fieldMetadata, fieldAnnotations, annotationSucceeded)
	r.crashes = noCrash
	r.Restart()
}

const createIncomplete = "cannot determine creation result - remove the " + annotationPending + " annotation if it is safe to proceed"

// IsCreationIncomplete reports whether the provider was interrupted while it created a resource.
func IsCreationIncomplete(mr Object) bool {
	return Text(mr, fieldMetadata, fieldAnnotations, annotationPending) != "" && Text(mr, fieldMetadata, fieldAnnotations, annotationSucceeded) == ""
}

func (r *reconciliation) delete() (gone bool) {
	r.setCondition(r.mr, Condition{Type: typeReady, Status: "False", Reason: "Deleting"})
	if atProvider, _ := r.observe(r.aws, r.id(), r.mr); atProvider == nil {
		// Whatever has an id that no one remembers stays behind in AWS.
		r.aws.forgotten[Text(r.mr, fieldStatus, fieldAtProvider, "id")] = true
		delete(r.Provider.memory, keyOf(r.mr))
		removeFinalizer(r.mr)
		return true
	}
	r.start(r.mr, r.memory, "Delete", r.remove(r.aws, r.id(), r.mr))
	return false
}

func addFinalizer(mr Object) {
	if list := Texts(mr, fieldMetadata, "finalizers"); !slices.Contains(list, finalizer) {
		have, _ := Field(mr, fieldMetadata, "finalizers").([]any)
		SetField(mr, append(have, finalizer), fieldMetadata, "finalizers")
	}
}

func removeFinalizer(mr Object) {
	var left []any
	for _, f := range Texts(mr, fieldMetadata, "finalizers") {
		if f != finalizer {
			left = append(left, f)
		}
	}
	if left == nil {
		SetField(mr, nil, fieldMetadata, "finalizers")
		return
	}
	SetField(mr, left, fieldMetadata, "finalizers")
}
