package simulator

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand"
	"path"
	"slices"
	"time"

	"github.com/crossplane-contrib/function-aws-machinepool/internal/image"
	"github.com/crossplane-contrib/function-aws-machinepool/internal/pool"
	"github.com/crossplane-contrib/function-aws-machinepool/internal/tagging"
)

// A Part of a reading.
type Part string

// Parts of a reading.
const (
	PartGroup     Part = "group"
	PartInstances Part = "instances"
	PartImage     Part = "image"
	PartRefresh   Part = "refresh"
)

// A Reader reads AWS for the function, as its AWSReader.
type Reader struct {
	aws *AWS
	// failing parts, and why.
	failing map[Part]pool.ReadReason
	// cut is how many of the instances an incomplete answer of EC2 lacks.
	cut int
	// lost says that the group is not found, as in another account.
	lost bool
	// Lag is for how long after its start answers may lack a new refresh. AWS is eventually consistent, and an earlier answer
	// need not come from where a later one does: one in three has it, in no order.
	Lag time.Duration
	// answers that have it come by chance, the same in each replay.
	answers *rand.Rand
	// kept are the instances of each group's last answer without a failure, right or wrong, as a cache has them.
	kept map[string]pool.Read[[]pool.Instance]
	// Queries counts what was asked.
	Queries int
}

// NewReader returns a reader of an AWS account.
func NewReader(a *AWS) *Reader {
	answers := rand.New(rand.NewSource(1)) //nolint:gosec // It makes histories, not secrets, and the same in each replay.
	return &Reader{aws: a, answers: answers, failing: map[Part]pool.ReadReason{}, kept: map[string]pool.Read[[]pool.Instance]{}}
}

// Fail makes a part fail until Heal.
func (r *Reader) Fail(p Part, why pool.ReadReason) { r.failing[p] = why }

// Cut makes EC2 forget the first n living instances of every answer, without an error, until Heal.
func (r *Reader) Cut(n int) { r.cut = n }

// Lose makes the group and its instances invisible until Heal, as with another account's identity.
func (r *Reader) Lose() { r.lost = true }

// Failing says why a part fails; empty when it does not.
func (r *Reader) Failing(p Part) pool.ReadReason { return r.failing[p] }

// Images of the account, oldest first.
func (r *Reader) Images() []Image { return r.aws.Images }

// ImageDate is when the nth image was made, as AWS spells it.
func ImageDate(n int) string {
	return time.Date(2026, 1, 1, n, 0, 0, 0, time.UTC).Format("2006-01-02T15:04:05.000Z")
}

// Lies reports whether answers are wrong and look right.
func (r *Reader) Lies() bool { return r.lost || r.cut > 0 }

// Heal ends all faults.
func (r *Reader) Heal() {
	clear(r.failing)
	r.cut, r.lost = 0, false
}

// Read what a query asks for.
func (r *Reader) Read(_ context.Context, q pool.Query) pool.Reading {
	r.Queries++
	out := pool.Reading{}
	if q.GroupName != "" {
		out.Group = part(r, PartGroup, func() *pool.Group { return r.Group(q.GroupName) })
		out.Instances = part(r, PartInstances, func() []pool.Instance { return r.Instances(q.GroupName) })
		if out.Group.Known() && out.Instances.Known() {
			r.kept[q.GroupName] = out.Instances
		} else {
			out.Earlier = r.kept[q.GroupName]
			out.Earlier.Value = slices.Clone(out.Earlier.Value)
		}
	}
	for _, name := range q.Claims {
		if out.Claims == nil {
			out.Claims = map[string]pool.Read[*pool.Claim]{}
		}
		out.Claims[name] = part(r, PartGroup, func() *pool.Claim { return r.Claim(name) })
	}
	if q.Image != nil {
		out.Image = part(r, PartImage, func() *pool.Image { return r.image(*q.Image) })
	}
	if q.Refresh && q.GroupName != "" {
		out.Refresh = part(r, PartRefresh, func() *pool.Refresh { return r.Refresh(q.GroupName) })
	}
	return out
}

func part[T any](r *Reader, p Part, read func() T) pool.Read[T] {
	if why, fails := r.failing[p]; fails {
		return pool.Read[T]{Asked: true, At: r.aws.Clock.Now(), Err: &pool.ReadError{Reason: why, Message: fmt.Sprintf("cannot read the %s: %s", p, why)}}
	}
	return pool.Read[T]{Asked: true, At: r.aws.Clock.Now(), Anew: true, Value: read()}
}

// Group of a name as the account describes it, nil when it has none.
func (r *Reader) Group(name string) *pool.Group {
	g, ok := r.aws.Groups[name]
	if !ok || r.lost {
		return nil
	}
	out := &pool.Group{
		ARN: g.ARN, Name: g.Name, DesiredCapacity: int32Of(g.Desired), LaunchTemplateID: g.TemplateID,
	}
	for _, m := range g.Members {
		out.Members = append(out.Members, pool.GroupMember{
			InstanceID: m.ID, Zone: m.Zone, LifecycleState: m.Lifecycle,
			LaunchTemplateID: m.TemplateID, ProtectedFromScaleIn: m.Protected,
		})
	}
	return out
}

// Claim is what tells whose a group of a name is, nil when the account has none.
func (r *Reader) Claim(name string) *pool.Claim {
	g, ok := r.aws.Groups[name]
	if !ok || r.lost {
		return nil
	}
	out := &pool.Claim{MaxSize: int32Of(g.Max), Members: len(g.Members)}
	tags, _ := g.Settings["tag"].([]any)
	for _, t := range tags {
		tag, _ := t.(Object)
		value := Text(tag, "value")
		switch Text(tag, "key") {
		case tagging.KeyCluster:
			out.Owner.ClusterID = value
		case tagging.KeyNamespace:
			out.Owner.Namespace = value
		case tagging.KeyPool:
			out.Owner.Name = value
		}
	}
	return out
}

// visible is how long EC2 lists an instance that is terminated.
const visible = time.Hour

// Instances of a group as the account describes them.
func (r *Reader) Instances(group string) []pool.Instance {
	out := make([]pool.Instance, 0, len(r.aws.Instances))
	lacks := r.cut
	for _, id := range sortedKeys(r.aws.Instances) {
		i := r.aws.Instances[id]
		switch {
		case r.lost || i.Group != group || !i.lives() && r.aws.Clock.Now().Sub(i.Ended) > visible:
			continue
		case i.lives() && lacks > 0:
			lacks--
			continue
		}
		out = append(out, pool.Instance{ID: i.ID, Zone: i.Zone, State: i.State, InternalIPs: []string{i.IP}})
	}
	return out
}

// image is the pinned one, or the newest that is wanted; Images are oldest first.
func (r *Reader) image(q pool.ImageQuery) *pool.Image {
	isWanted := image.IsWanted(q)
	for _, i := range slices.Backward(r.aws.Images) {
		matches, err := path.Match(image.Filter(q), i.Name)
		if q.ID == i.ID || q.ID == "" && err == nil && matches && isWanted(i.Name) && i.Owner == q.Owner && i.Architecture == q.Architecture {
			return &pool.Image{ID: i.ID, Name: i.Name, RootDevice: i.Device(), Architecture: i.Architecture, State: "available"}
		}
	}
	return nil
}

// Device is the name of the image's root device.
func (i Image) Device() string { return cmp.Or(i.RootDevice, "/dev/sda1") }

// Refresh is the newest of a group, nil when it has none.
func (r *Reader) Refresh(group string) *pool.Refresh {
	g, ok := r.aws.Groups[group]
	if !ok || len(g.Refreshes) == 0 || r.lost {
		return nil
	}
	last := g.Refreshes[len(g.Refreshes)-1]
	if r.aws.Clock.Now().Sub(last.Started) < r.Lag && r.answers.Intn(3) != 0 {
		if len(g.Refreshes) == 1 {
			return nil
		}
		last = g.Refreshes[len(g.Refreshes)-2]
	}
	return &pool.Refresh{
		ID: last.ID, Status: last.Status, StartTime: last.Started, StatusReason: last.Reason,
		PercentageComplete: int32Of(g.percentage(last)),
	}
}

func int32Of(n int) int32 { return int32(min(n, math.MaxInt32)) } //nolint:gosec // It is bounded.
