package pool

import (
	"time"

	"github.com/crossplane-contrib/function-aws-machinepool/apis/v1alpha1"
	"github.com/crossplane-contrib/function-aws-machinepool/input/v1beta1"
	"github.com/crossplane-contrib/function-aws-machinepool/internal/naming"
)

// A Query says what a run wants to know from AWS.
type Query struct {
	// Identity is who asks.
	Identity Identity
	// Tenant is who the run is for: the namespace of the pool or of its claim, empty when it has neither. What the reads
	// keep and queue is shared fairly between tenants.
	Tenant string
	// Region to ask in, for example us-east-1.
	Region string
	// GroupName is the Auto Scaling group to read with its members. Empty when no group was composed yet.
	GroupName string
	// Claims are names that a group of the pool would have or had, while no managed resource tells which one is its own. Of
	// each it is read who owns a group of that name, and no member: the group may be a stranger's.
	Claims []string
	// Image to look up, or a pinned one to look at.
	Image *ImageQuery
	// Refresh asks for the group's newest instance refresh.
	Refresh bool
	// MaxAge is how old a cached answer may be.
	MaxAge time.Duration
	// Anew are the parts of which no answer will do that was kept.
	Anew Parts
}

// Parts of a reading.
type Parts struct {
	// Members are the group and its instances, which are read together.
	Members bool
	Image   bool
	Refresh bool
}

// An Identity is who reads AWS.
type Identity struct {
	// Source of the first credentials.
	Source v1beta1.Identity
	// SharedCredentials is a shared-credentials INI, for IdentitySecret. It is a secret: never print it.
	SharedCredentials []byte
	// AssumeRoleChain is assumed in order, on top of the source.
	AssumeRoleChain []v1beta1.AssumeRole
}

// An ImageQuery looks for the newest image that matches, or at a pinned one.
type ImageQuery struct {
	// ID of a pinned image. Nothing else is set then.
	ID string
	// Owner is the account that owns the image, or an alias such as amazon.
	Owner string
	// Name is the format of the image's name: * and ? are wildcards, and {version}, {semver} and {suffix} stand for Version.
	Name string
	// Version of Kubernetes that the image is for, for example v1.34.1+rke2r1.
	Version string
	// Architecture is x86_64 or arm64.
	Architecture string
}

// A Reading is what AWS says, part by part. The zero Reading says that nothing was read.
type Reading struct {
	// Group by name. A nil value that was read says that AWS has no such group.
	Group Read[*Group]
	// Claims by name. A nil value that was read says that the name is free.
	Claims map[string]Read[*Claim]
	// Instances tagged with the group's name, in whatever state. EC2 lists one that is terminated for about an hour.
	Instances Read[[]Instance]
	// Earlier are the instances that were read a short while ago, where that fails now. The status knows them too, but
	// Crossplane may show one from before it did. Where another replica of the function has read AWS since, the status knows better.
	Earlier Read[[]Instance]
	// Image is the newest that matches, or the pinned one. A nil value that was read says that there is none.
	Image Read[*Image]
	// Refresh is the group's newest instance refresh. A nil value that was read says that there was never one.
	Refresh Read[*Refresh]
}

// A Read is one part of a Reading: not asked for, known, or failed.
type Read[T any] struct {
	// Asked says that a read was wanted.
	Asked bool
	// Value that AWS returned. Only meaningful when Known.
	Value T
	// Err is why the read failed, nil when it did not.
	Err *ReadError
	// At is when AWS was asked. It tells readings apart, and a reading from its copy in a cache.
	At time.Time
	// Anew says that AWS was asked in this very run, so that no answer is newer which an earlier run was given: not by this
	// process, and not by another.
	Anew bool
}

// Kept reports whether the answer is one that an earlier run may have been given a newer one than.
func (r Read[T]) Kept() bool { return r.Known() && !r.Anew }

// Known reports whether the read was made and is whole.
func (r Read[T]) Known() bool { return r.Asked && r.Err == nil }

// Failed reports whether the read was wanted and its answer cannot be trusted.
func (r Read[T]) Failed() bool { return r.Asked && r.Err != nil }

// settleTime is how long after a reading another one is made that agrees with it. AWS is eventually consistent: two answers of
// the same moment can both be too old.
const settleTime = 5 * time.Second

// IsAfter reports whether an answer is long enough after the first of two that it is another one. There is none before a first.
func IsAfter(first, answer time.Time) bool {
	return !first.IsZero() && !answer.Before(first.Add(settleTime))
}

// A ReadReason is why a read of AWS failed, in PascalCase.
type ReadReason string

// Why a read of AWS failed.
const (
	ReadThrottled          ReadReason = v1alpha1.ReasonThrottled
	ReadAccessDenied       ReadReason = v1alpha1.ReasonAccessDenied
	ReadCredentialsInvalid ReadReason = v1alpha1.ReasonCredentialsInvalid
	ReadTimedOut           ReadReason = v1alpha1.ReasonTimedOut
	ReadClockSkewed        ReadReason = v1alpha1.ReasonClockSkewed
	ReadPartial            ReadReason = v1alpha1.ReasonPartialRead
	ReadFailed             ReadReason = v1alpha1.ReasonReadFailed
)

// A ReadError is a failed read, fit to be shown: it holds no credential, no token and no request id, so that the
// same failure reads the same in every run.
type ReadError struct {
	Reason  ReadReason
	Message string
}

// A Claim is an Auto Scaling group that has a name which a pool would have or had: what tells whose it is.
type Claim struct {
	// Owner is the pool that the group's tags name. The zero value says that they name none.
	Owner naming.Pool
	// Deleting says that AWS deletes the group.
	Deleting bool
	// MaxSize of the group, in instances. provider-aws sets 0 before it deletes a group.
	MaxSize int32
	// Members is how many instances the group has.
	Members int
}

// A Group is an Auto Scaling group as AWS describes it.
type Group struct {
	ARN              string
	Name             string
	DesiredCapacity  int32
	LaunchTemplateID string
	Members          []GroupMember
}

// A GroupMember is an instance as its Auto Scaling group lists it.
type GroupMember struct {
	InstanceID string
	Zone       string
	// LifecycleState as Auto Scaling spells it, for example InService or Terminating:Wait.
	LifecycleState       string
	LaunchTemplateID     string
	ProtectedFromScaleIn bool
}

// An Instance is a member as EC2 describes it.
type Instance struct {
	ID   string
	Zone string
	// State as EC2 spells it: pending, running, shutting-down, terminated, stopping or stopped.
	State string
	// InternalIPs are the private addresses of the primary network interface, IPv4 before IPv6.
	InternalIPs []string
}

// Gone reports whether the instance is terminated, or about to be, which nothing takes back.
func (i Instance) Gone() bool { return i.State == "shutting-down" || i.State == "terminated" }

// An Image is an AMI. What AWS does not say of it is empty.
type Image struct {
	ID   string
	Name string
	// RootDevice is the name of its root device, for example /dev/xvda.
	RootDevice string
	// Architecture as EC2 spells it, for example x86_64.
	Architecture string
	// State as EC2 spells it, for example available.
	State string
}

// A Refresh is an instance refresh of a group.
type Refresh struct {
	ID string
	// Status as Auto Scaling spells it, for example InProgress.
	Status string
	// StartTime of the refresh; zero where AWS does not say.
	StartTime time.Time
	// StatusReason is what AWS says in words: one line, printable, of at most 256 characters.
	StatusReason       string
	PercentageComplete int32
}
