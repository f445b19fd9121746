package validation

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestObject(t *testing.T) {
	type args struct {
		xr map[string]any
	}

	type want struct {
		errs []string
	}

	cases := map[string]struct {
		reason string
		args   args
		want   want
	}{
		"Absent": {
			reason: "What is absent should be left to the defaults.",
			args:   args{xr: map[string]any{}},
		},
		"Null": {
			reason: "A null should be like an absent field.",
			args: args{xr: map[string]any{"spec": map[string]any{
				"instanceType": nil,
				"autoscaling":  nil,
				"rootVolume":   map[string]any{"sizeGiB": nil},
			}}},
		},
		"Written": {
			reason: "Zeroes that were written should be refused whatever way their numbers came, sorted by path.",
			args: args{xr: map[string]any{"spec": map[string]any{
				"rootVolume":               map[string]any{"sizeGiB": float64(0)},
				"instanceMetadataHopLimit": int64(0),
				"instanceType":             "",
			}}},
			want: want{errs: []string{
				`spec.instanceMetadataHopLimit: Invalid value: 0: spec.instanceMetadataHopLimit in body should be greater than or equal to 1`,
				`spec.instanceType: Invalid value: "": must be an EC2 instance type such as m6i.large`,
				`spec.rootVolume.sizeGiB: Invalid value: 0: spec.rootVolume.sizeGiB in body should be greater than or equal to 8`,
			}},
		},
		"Required": {
			reason: "Bounds of autoscaling that were not written should be asked for: 0 is a bound too.",
			args:   args{xr: map[string]any{"spec": map[string]any{"autoscaling": map[string]any{}}}},
			want: want{errs: []string{
				`spec.autoscaling.maxReplicas: Required value`,
				`spec.autoscaling.minReplicas: Required value`,
			}},
		},
		"OtherTypes": {
			reason: "What is of another type should be left to the decoder, and never panic.",
			args:   args{xr: map[string]any{"spec": map[string]any{"autoscaling": "on", "rootVolume": []any{}, "instanceType": 1}}},
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want.errs, messages(Object(tc.args.xr))); diff != "" {
				t.Errorf("%s\nObject(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
