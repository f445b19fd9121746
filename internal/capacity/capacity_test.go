package capacity

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/crossplane-contrib/function-aws-machinepool/apis/v1alpha1"
)

func TestOf(t *testing.T) {
	autoscaled := func(replicas, lowest, highest int32) *v1alpha1.MachinePoolSpec {
		return &v1alpha1.MachinePoolSpec{Replicas: &replicas, Autoscaling: &v1alpha1.Autoscaling{MinReplicas: lowest, MaxReplicas: highest}}
	}
	cases := map[string]struct {
		reason string
		args   *v1alpha1.MachinePoolSpec
		want   Capacity
	}{
		"Replicas": {
			reason: "Without autoscaling, min, max and desired are replicas.",
			args:   &v1alpha1.MachinePoolSpec{Replicas: new(int32(3))},
			want:   Capacity{Min: 3, Max: 3, Initial: 3},
		},
		"Zero": {
			reason: "0 is a size like any other.",
			args:   &v1alpha1.MachinePoolSpec{Replicas: new(int32(0))},
			want:   Capacity{},
		},
		"Between": {
			reason: "With autoscaling, replicas within the bounds are the size to begin with.",
			args:   autoscaled(3, 2, 5),
			want:   Capacity{Min: 2, Max: 5, Initial: 3},
		},
		"Below": {
			reason: "Replicas below the bounds are raised to the minimum.",
			args:   autoscaled(1, 2, 5),
			want:   Capacity{Min: 2, Max: 5, Initial: 2},
		},
		"Above": {
			reason: "Replicas above the bounds are lowered to the maximum.",
			args:   autoscaled(9, 2, 5),
			want:   Capacity{Min: 2, Max: 5, Initial: 5},
		},
		"ToZero": {
			reason: "An autoscaled pool may begin empty.",
			args:   autoscaled(0, 0, 5),
			want:   Capacity{Min: 0, Max: 5, Initial: 0},
		},
		"External": {
			reason: "Who sets desired does not matter.",
			args: &v1alpha1.MachinePoolSpec{
				Replicas:    new(int32(1)),
				Autoscaling: &v1alpha1.Autoscaling{MinReplicas: 2, MaxReplicas: 5, Scaler: v1alpha1.ScalerExternal},
			},
			want: Capacity{Min: 2, Max: 5, Initial: 2},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, Of(tc.args)); diff != "" {
				t.Errorf("\n%s\nOf(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestOfIsWithinBounds holds what AWS asks of every group: min <= desired <= max.
func TestOfIsWithinBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := &v1alpha1.MachinePoolSpec{Replicas: new(rapid.Int32Range(0, 2000).Draw(t, "replicas"))}
		if rapid.Bool().Draw(t, "autoscaling") {
			lowest := rapid.Int32Range(0, 2000).Draw(t, "min")
			s.Autoscaling = &v1alpha1.Autoscaling{MinReplicas: lowest, MaxReplicas: lowest + rapid.Int32Range(0, 2000).Draw(t, "more")}
		}
		c := Of(s)
		if c.Min > c.Initial || c.Initial > c.Max {
			t.Errorf("Of(...): desired %d is not in [%d, %d]", c.Initial, c.Min, c.Max)
		}
		if within := s.Autoscaling == nil || *s.Replicas >= c.Min && *s.Replicas <= c.Max; within && c.Initial != *s.Replicas {
			t.Errorf("Of(...): desired %d, though %d replicas are within bounds", c.Initial, *s.Replicas)
		}
	})
}
