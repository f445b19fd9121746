package decision

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/crossplane-contrib/function-aws-machinepool/apis/v1alpha1"
	"github.com/crossplane-contrib/function-aws-machinepool/input/v1beta1"
	"github.com/crossplane-contrib/function-aws-machinepool/internal/capacity"
	"github.com/crossplane-contrib/function-aws-machinepool/internal/naming"
	"github.com/crossplane-contrib/function-aws-machinepool/internal/pool"
)

// How old a pool must be before it takes up a group that exists already and is its own. Both times are far longer than
// provider-aws takes to begin, and to end, the deletion of a group.
const (
	// settleTime is for a group in service. The group of a pool that was deleted a moment ago looks the same until
	// provider-aws begins to delete it.
	settleTime = 3 * time.Minute
	// emptyTime is for a group that may have no instance and has none. provider-aws makes a group so before it deletes it.
	emptyTime = 15 * time.Minute
)

// A claim is the name of a pool's group, and whether the pool may use the name.
//
// Only two things prove a name to be the pool's: a managed resource of the pool that has the name, and a group in AWS whose
// tags name the pool. The status proves nothing: whoever may write it can write any name there.
type claim struct {
	// name of the group. Empty while nothing tells it.
	name string
	// reason and message say why nothing may be made under the name. Both are empty where the pool may use it.
	reason, message string
}

// isHeld reports whether nothing may be made under the name.
func (c claim) isHeld() bool { return c.reason != "" }

// usable is the name where the pool may use it, else empty.
func (c claim) usable() string {
	if c.isHeld() {
		return ""
	}
	return c.name
}

func claimOf(o *pool.Observation, e *v1alpha1.Exports) claim {
	if name := provenGroupName(o); name != "" {
		return claim{name: name}
	}
	names := claimedNames(o, e)
	if len(names) == 0 {
		return claim{}
	}
	if e == nil || o.Input.AWS.Identity == v1beta1.IdentityNone {
		return claim{name: names[0]}
	}
	for _, name := range names {
		if c := unreadClaim(o.AWS.Claims[name], name); c.isHeld() {
			return c
		}
	}
	for _, name := range names {
		read := o.AWS.Claims[name]
		if read.Value != nil && read.Value.Owner == identityOf(o, e) {
			return ownGroup(o, read, name)
		}
	}
	if o.AWS.Claims[names[0]].Value != nil {
		return claim{name: names[0], reason: v1alpha1.ReasonGroupNameTaken, message: fmt.Sprintf(
			"AWS has an Auto Scaling group %s already, and its tags do not say that it is this pool's: delete that group, or, if it is this pool's, give it the tags of this pool again", names[0])}
	}
	return claim{name: names[0]}
}

// provenGroupName is the name that the pool's managed resources prove to be its group's: that of the group's own, else the one
// that a launch template in AWS was named after. A template is made under a name only once that is known to be free or
// the pool's. From then on the group is never held back: a view that lacks the group, because it is older than the group's
// first composition, must not make Crossplane forget it.
func provenGroupName(o *pool.Observation) string {
	if name := observedGroupName(o); name != "" {
		return name
	}
	for _, resource := range slices.Sorted(maps.Keys(o.Managed.Templates)) {
		t := o.Managed.Templates[resource]
		attempt, ok := naming.AttemptOfTemplate(resource)
		if name := naming.GroupOfTemplate(t.Name, attempt); ok && t.ID != "" && name != "" {
			return name
		}
	}
	return ""
}

// claimedNames are those that a group of the pool would have or had, while no managed resource proves one: the name that is
// computed, and after it the one that earlier versions computed. The latter counts only where AWS has a group of that name
// whose tags name the pool.
func claimedNames(o *pool.Observation, e *v1alpha1.Exports) []string {
	if e == nil {
		return nil
	}
	p := identityOf(o, e)
	return []string{naming.Group(p), naming.FormerGroup(p)}
}

// identityOf a pool in its cluster, as names and tags have it.
func identityOf(o *pool.Observation, e *v1alpha1.Exports) naming.Pool {
	return naming.Pool{ClusterID: e.KubernetesClusterID, Namespace: o.Composite.GetNamespace(), Name: o.Composite.GetName()}
}

// unreadClaim holds a name of which AWS did not say whose it is.
func unreadClaim(read pool.Read[*pool.Claim], name string) claim {
	switch {
	case !read.Asked:
		return claim{name: name, reason: v1alpha1.ReasonGroupNameNotRead, message: "whether AWS has an Auto Scaling group " + name + " already is not read yet"}
	case read.Failed():
		return claim{name: name, reason: v1alpha1.ReasonGroupNameNotRead, message: "whether AWS has an Auto Scaling group " + name + " already is not known: " + read.Err.Message}
	}
	return claim{}
}

// ownGroup takes up a group that is the pool's own by its tags, as after a restore, unless the group may be that of a pool of
// the same name which was deleted. Its nodes are about to go, and what is made under its name with them.
func ownGroup(o *pool.Observation, read pool.Read[*pool.Claim], name string) claim {
	age := read.At.Sub(o.Composite.GetCreationTimestamp().Time)
	isEmptied := read.Value.MaxSize == 0 && capacity.Of(&o.Composite.Spec).Max > 0
	switch {
	case read.Value.Deleting, isEmptied && (read.Value.Members > 0 || age < emptyTime):
		return claim{name: name, reason: v1alpha1.ReasonGroupDeleting, message: fmt.Sprintf(
			"the Auto Scaling group %s of an earlier pool of this name is being deleted: this pool is composed once AWS has no such group", name)}
	case age < settleTime:
		return claim{name: name, reason: v1alpha1.ReasonGroupExists, message: fmt.Sprintf(
			"AWS has this pool's Auto Scaling group %s already: the pool takes the group up when the pool is %d minutes old, unless the group is deleted until then", name, int(settleTime.Minutes()))}
	}
	return claim{name: name}
}
