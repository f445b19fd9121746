package v1alpha1

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// many makes n of something.
func many(n int) []string {
	all := make([]string, 0, n)
	for i := range n {
		all = append(all, fmt.Sprintf("%d", i))
	}

	return all
}

// full is a status as large as the XRD takes one, its messages in characters of two bytes.
func full() MachinePoolStatus {
	text := func(length int) string { return strings.Repeat("x", length) }
	message := strings.Repeat("ö", 2048)
	s := MachinePoolStatus{
		AutoscalingGroupName:    text(255),
		ProviderID:              text(2048),
		ProviderIDList:          append(many(4999), text(128)),
		LaunchTemplateID:        text(64),
		ImageID:                 text(64),
		FailureDomains:          append(many(63), text(63)),
		InheritedFailureDomains: append(many(63), text(63)),
		DroppedNodeLabels:       append(many(127), text(317)),
		Health:                  &Health{State: text(63), Message: message, Reasons: append(many(127), text(128))},
		Rollout: &RolloutStatus{
			RollKey: text(32), Phase: text(63), Message: message, LostReading: text(64), EarlierRefresh: text(64),
			RetiredAttempts: append(many(9), text(32)),
		},
	}
	for range 1000 {
		i := Instance{ProviderID: text(128), InstanceID: text(64), FailureDomain: text(63), State: text(63)}
		for range 16 {
			i.Addresses = append(i.Addresses, Address{Type: text(63), Address: text(64)})
		}
		s.Instances = append(s.Instances, i)
	}

	return s
}

func TestBound(t *testing.T) {
	cases := map[string]struct {
		reason string
		status MachinePoolStatus
		want   MachinePoolStatus
	}{
		"Empty": {
			reason: "A status that says nothing should stay so.",
		},
		"NoIdentifiers": {
			reason: "What has characters that no identifier has is none, whoever wrote it: terminals show more of it than there is.",
			status: MachinePoolStatus{
				ProviderIDList: []string{"aws:///us-east-1a/i-1", "aws:///us-east-1a/i-2\n"}, ImageID: "ami-1\x1b[2J",
				Instances: []Instance{{ProviderID: "aws:///us-east-1a/i-1", InstanceID: "i-1", State: "\u202ednuor"}},
				Rollout:   &RolloutStatus{EarlierRefresh: "a\tb", RetiredAttempts: []string{"1a2b3c4d", "1a2b3c4d\x00"}},
			},
			want: MachinePoolStatus{
				ProviderIDList: []string{"aws:///us-east-1a/i-1"},
				Instances:      []Instance{{ProviderID: "aws:///us-east-1a/i-1", InstanceID: "i-1"}},
				Rollout:        &RolloutStatus{RetiredAttempts: []string{"1a2b3c4d"}},
			},
		},
		"Full": {
			reason: "A status of just the size that fits should stay as it is.",
			status: full(),
			want:   full(),
		},
		"Identifiers": {
			reason: "A part of an identifier would be another's, so one that is too long should go.",
			status: MachinePoolStatus{
				AutoscalingGroupName: strings.Repeat("g", 256), ProviderID: strings.Repeat("a", 2049), LaunchTemplateID: strings.Repeat("l", 65), ImageID: strings.Repeat("i", 65),
				ProviderIDList: []string{"a", strings.Repeat("p", 129), "b"},
				Rollout:        &RolloutStatus{RollKey: strings.Repeat("k", 33), LostReading: strings.Repeat("r", 65), EarlierRefresh: strings.Repeat("r", 65), RetiredAttempts: []string{strings.Repeat("k", 33), "k"}},
			},
			want: MachinePoolStatus{ProviderIDList: []string{"a", "b"}, Rollout: &RolloutStatus{RetiredAttempts: []string{"k"}}},
		},
		"Messages": {
			reason: "A message should be cut, and show it.",
			status: MachinePoolStatus{Health: &Health{Message: strings.Repeat("ö", 2049)}, Rollout: &RolloutStatus{Message: strings.Repeat("m", 1<<20)}},
			want: MachinePoolStatus{
				Health:  &Health{Message: strings.Repeat("ö", 2045) + "..."},
				Rollout: &RolloutStatus{Message: strings.Repeat("m", 2045) + "..."},
			},
		},
		"Lists": {
			reason: "A list should keep its first items.",
			status: MachinePoolStatus{
				ProviderIDList: many(5001), FailureDomains: many(65), InheritedFailureDomains: many(65), DroppedNodeLabels: many(129),
				Health: &Health{Reasons: many(129)},
			},
			want: MachinePoolStatus{
				ProviderIDList: many(5000), FailureDomains: many(64), InheritedFailureDomains: many(64), DroppedNodeLabels: many(128),
				Health: &Health{Reasons: many(128)},
			},
		},
		"RetiredAttempts": {
			reason: "Of the attempts that were let go the latest should be kept: their templates may still exist.",
			status: MachinePoolStatus{Rollout: &RolloutStatus{RetiredAttempts: many(60000)}},
			want:   MachinePoolStatus{Rollout: &RolloutStatus{RetiredAttempts: many(60000)[59990:]}},
		},
		"Instances": {
			reason: "An instance whose id is none should go, and of others what is none of theirs.",
			status: MachinePoolStatus{Instances: []Instance{
				{ProviderID: strings.Repeat("p", 129), InstanceID: "i-1"},
				{ProviderID: "p", InstanceID: strings.Repeat("i", 65)},
				{ProviderID: "p", InstanceID: "i", FailureDomain: strings.Repeat("z", 64), State: strings.Repeat("s", 64), Addresses: []Address{
					{Type: "InternalIP", Address: strings.Repeat("1", 65)}, {Type: strings.Repeat("t", 64), Address: "10.0.0.1"}, {Type: "InternalIP", Address: "10.0.0.2"},
				}},
			}},
			want: MachinePoolStatus{Instances: []Instance{{ProviderID: "p", InstanceID: "i", Addresses: []Address{{Type: "InternalIP", Address: "10.0.0.2"}}}}},
		},
		"ManyInstances": {
			reason: "Instances beyond the thousandth should go, and addresses beyond the sixteenth.",
			status: MachinePoolStatus{Instances: append(make([]Instance, 1000), Instance{InstanceID: "i"})},
			want:   MachinePoolStatus{Instances: make([]Instance, 1000)},
		},
		"ManyAddresses": {
			reason: "Instances beyond the thousandth should go, and addresses beyond the sixteenth.",
			status: MachinePoolStatus{Instances: []Instance{{Addresses: make([]Address, 17)}}},
			want:   MachinePoolStatus{Instances: []Instance{{Addresses: make([]Address, 16)}}},
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, before := tc.status, *tc.status.DeepCopy()
			got.Bound()
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s\nBound(): -want, +got:\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(before, tc.status); diff != "" {
				t.Errorf("%s\nBound() changed what it was given in place: -before, +after:\n%s", tc.reason, diff)
			}
		})
	}
}
