package decision

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/function-aws-machinepool/apis/v1alpha1"
	"github.com/crossplane-contrib/function-aws-machinepool/internal/condition"
	"github.com/crossplane-contrib/function-aws-machinepool/internal/pool"
)

// TestStatusIsBound holds that no answer of AWS, no managed resource and no earlier status make a status that the XRD refuses:
// it would be refused in every run.
func TestStatusIsBound(t *testing.T) {
	long := strings.Repeat("x", 1<<16)
	many := make([]string, 0, 30000)
	var instances []pool.Instance
	group := &pool.Group{ARN: groupARN + long, Name: groupNameInAWS, DesiredCapacity: 30000, LaunchTemplateID: "lt-current"}
	for i := range 30000 {
		id := fmt.Sprintf("i-%017x", i)
		many = append(many, id)
		instances = append(instances, pool.Instance{ID: id, Zone: "us-east-1a", State: long, InternalIPs: many[:min(i, 20)]})
		group.Members = append(group.Members, pool.GroupMember{InstanceID: id, Zone: "us-east-1a", LifecycleState: "InService", LaunchTemplateID: "lt-older"})
	}
	read := func(n int) change {
		return func(o *pool.Observation) {
			o.AWS.Group.Value = group
			o.AWS.Instances.Value = instances[:n]
			o.AWS.Refresh = pool.Read[*pool.Refresh]{Asked: true, Value: &pool.Refresh{ID: long, Status: long, StatusReason: long}}
		}
	}
	cases := map[string]*pool.Observation{
		"ManyInstances":    readPool(read(5000)),
		"TooManyInstances": readPool(read(30000)),
		"LongAnswers":      readPool(read(3)),
		"LongProblem": readPool(func(o *pool.Observation) {
			o.AWS.Group.Err = &pool.ReadError{Reason: pool.ReadFailed, Message: long}
		}),
		"Earlier": readPool(readFails, func(o *pool.Observation) {
			o.AWS.Earlier = pool.Read[[]pool.Instance]{Asked: true, At: time.Unix(1, 0), Value: instances}
		}),
		"Managed": steadyPool(func(o *pool.Observation) {
			o.Managed.Group.ARN, o.Managed.Group.Name, o.Managed.Group.SentTemplateID = long, long, long
			o.Managed.Templates[currentTemplate] = pool.ObservedTemplate{ID: long, Name: long, ImageID: long}
		}),
		"EarlierStatus": readPool(readFails, func(o *pool.Observation) {
			o.Composite.Status = v1alpha1.MachinePoolStatus{
				AutoscalingGroupName: long, ProviderID: long, ProviderIDList: many, LaunchTemplateID: long, ImageID: long,
				FailureDomains: many, InheritedFailureDomains: many, DroppedNodeLabels: many,
				Instances: make([]v1alpha1.Instance, 2000),
				Rollout:   &v1alpha1.RolloutStatus{RollKey: long, Phase: long, Message: long, LostReading: long, EarlierRefresh: long, RetiredAttempts: many},
			}
		}),
	}
	for name, o := range cases {
		t.Run(name, func(t *testing.T) {
			d := Of(o)
			if len(d.Refused) > 0 {
				t.Fatalf("Of(...): refused: %.1000s", condition.Errors(d.Refused))
			}
			bound := d.Status
			bound.Bound()
			if diff := cmp.Diff(bound, d.Status); diff != "" {
				t.Errorf("Of(...).Status is not bound: -bound, +got:\n%.2000s", diff)
			}
			if known := len(o.Composite.Status.ProviderIDList); len(d.Status.ProviderIDList) < min(known, v1alpha1.MaxProviderIDs) {
				t.Errorf("Of(...).Status: the list of provider ids is shorter: %d after %d", len(d.Status.ProviderIDList), known)
			}
		})
	}
}
