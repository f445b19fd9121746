package pool

import (
	"time"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/crossplane-contrib/function-aws-machinepool/apis/v1alpha1"
	"github.com/crossplane-contrib/function-aws-machinepool/input/v1beta1"
	"github.com/crossplane-contrib/function-aws-machinepool/internal/condition"
)

// An Observation is all that one run knows: what the user wants, what other objects provide, what exists.
type Observation struct {
	// Composite is the pool, its spec defaulted and its status as the last run left it.
	Composite *v1alpha1.MachinePool
	// Tenant is whose pool it is: its own namespace or that of its claim. Empty when it has neither.
	Tenant string
	// Undecodable is what is wrong with the composite as it was sent and cannot be told from the decoded one.
	Undecodable field.ErrorList
	// Conditions of the composite as last reported, by type.
	Conditions map[string]condition.Condition
	// Input of the pipeline step, defaulted.
	Input *v1beta1.Input
	// InputErrors say why the Input cannot be used. Input then holds defaults, and an identity that is empty.
	InputErrors field.ErrorList
	// Taken are the names of the pool's composed resources under which an earlier step of the pipeline desires resources of
	// its own, sorted.
	Taken []string
	// Exports of the pool's cluster.
	Exports Exports
	// Bootstrap data of the pool.
	Bootstrap BootstrapData
	// Credentials of the pipeline step for AWS: a shared-credentials INI. A secret: never print it.
	Credentials []byte
	// Managed resources that exist.
	Managed Managed
	// AWS is what AWS says. The zero Reading when it was not asked.
	AWS Reading
}

// A Scope is where a pool's managed resources live.
type Scope string

// Scopes.
const (
	ScopeNamespaced Scope = "Namespaced"
	ScopeCluster    Scope = "Cluster"
)

// Scope of the managed resources follows the composite's: a namespaced composite may only compose namespaced
// resources, and a cluster-scoped one has no namespace to put them in.
func (o *Observation) Scope() Scope {
	if o.Composite.GetNamespace() == "" {
		return ScopeCluster
	}
	return ScopeNamespaced
}

// A Source says how far an input from another object has come.
type Source string

// Sources.
const (
	// SourceFound is an object that was fetched and holds what was asked for.
	SourceFound Source = "Found"
	// SourceNotFetched is an object that Crossplane has not fetched yet: it does so in this same reconciliation.
	SourceNotFetched Source = "NotFetched"
	// SourceNotFound is an object that does not exist.
	SourceNotFound Source = "NotFound"
	// SourceEmpty is an object that exists and lacks the field, or has it empty.
	SourceEmpty Source = "Empty"
	// SourceMalformed is an object whose field has another shape.
	SourceMalformed Source = "Malformed"
	// SourceTooLarge is an object whose field is larger than a pool can use.
	SourceTooLarge Source = "TooLarge"
	// SourceRefused is an object that the pool may not name. It is not asked for.
	SourceRefused Source = "Refused"
)

// Exports of the pool's cluster, as found.
type Exports struct {
	Source Source
	// Inline says that they stand in the composite's own spec.
	Inline bool
	// Detail of a malformed source: which fields of the exports have the wrong type. It names no other field of the object,
	// and no value.
	Detail string
	// Refused says why the pool may not name the object; nil where it may.
	Refused *field.Error
	// Value is not nil when found. It may still be incomplete or of another schema.
	Value *v1alpha1.Exports
}

// BootstrapData is the content of the bootstrap Secret. It is a secret: never print it.
type BootstrapData struct {
	Source Source
	// Payload to stage, byte for byte.
	Payload []byte
	// Format that the Secret itself names; empty when it names none.
	Format string
}

// Managed resources that exist, by their role.
type Managed struct {
	Group     *ObservedGroup
	Templates map[string]ObservedTemplate // By composed resource name.
	Object    *ObservedObject
	Policy    *Resource
	Hooks     map[string]Resource // By composed resource name.
}

// A Resource is a managed resource as observed.
type Resource struct {
	APIVersion string
	Kind       string
	// ExternalName annotation; empty when the provider has not set one.
	ExternalName string
	// Region that it is in.
	Region string
	// Annotations of the function's own.
	Annotations map[string]string
	// Spec as plain JSON values, to send again as it is.
	Spec map[string]any
	// Ready and Synced are the managed resource's own conditions.
	Ready, Synced bool
}

// Healthy reports whether the managed resource is Ready and Synced.
func (r *Resource) Healthy() bool { return r.Ready && r.Synced }

// An ObservedGroup is the Auto Scaling group's managed resource.
type ObservedGroup struct {
	Resource

	// Name in AWS; empty when not known yet.
	Name string
	// ARN, empty until the group exists in AWS.
	ARN string
	// AvailableSince is when the provider first saw it there, to the second; zero where that is not known.
	AvailableSince time.Time
	// SentTemplateID is the launch template that was last asked for.
	SentTemplateID string
	// Generation of the managed resource: the API server counts the changes of its spec. Zero where that is not known.
	Generation int64
	// TemplateID is the launch template that the group has in AWS.
	TemplateID string
	// Subnets last asked for.
	Subnets []string
	// DesiredCapacity in AWS; nil until observed.
	DesiredCapacity *int32
	// Busy says that the provider has an operation of the group under way.
	Busy bool
	// ClusterID is the kubernetes_cluster_id that the group was last tagged with; empty where that is not known.
	ClusterID string
	// Terminating says that the managed resource is being deleted.
	Terminating bool
}

// InAWS reports whether the group was seen in AWS.
func (g *ObservedGroup) InAWS() bool { return g != nil && g.ARN != "" }

// An ObservedTemplate is a launch template's managed resource.
type ObservedTemplate struct {
	Resource

	// Name in AWS, which cannot change.
	Name string
	// ID in AWS, empty until it is created.
	ID string
	// ImageID last asked for.
	ImageID string
	// Format of the bootstrap data that its instances boot with; empty where its user data is none of the function's.
	Format v1alpha1.BootstrapFormat
	// RootDevice is the name of the root device that was last asked for.
	RootDevice string
	// Created is when the managed resource was; zero when not known.
	Created time.Time
	// Creation is why the provider cannot create it, empty while it still may.
	Creation CreationProblem
	// Terminating says that the managed resource is being deleted.
	Terminating bool
}

// A CreationProblem is why the provider cannot create a resource.
type CreationProblem string

// Creation problems.
const (
	// CreationNameTaken says that AWS has another resource of that name.
	CreationNameTaken CreationProblem = "NameTaken"
	// CreationUndetermined says that the provider was interrupted while it created the resource, and does nothing more
	// until a person says what came of that.
	CreationUndetermined CreationProblem = "Undetermined"
	// CreationFailing says that its last try failed in another way, and that it tries again.
	CreationFailing CreationProblem = "Failing"
)

// An ObservedObject is the staged bootstrap data's managed resource.
type ObservedObject struct {
	Resource

	// Bucket and Key, which cannot change once the object is in S3.
	Bucket, Key string
	// InAWS says that the object was seen in S3.
	InAWS bool
}
