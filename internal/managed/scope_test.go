package managed

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestScopes(t *testing.T) {
	cases := map[string]struct {
		reason string
		args   situation
		want   map[string]string
	}{
		"Namespaced": {
			reason: "A namespaced composite may compose namespaced resources only.",
			args:   aPool("team-a"),
			want: map[string]string{
				"LaunchTemplate":   "ec2.aws.m.upbound.io/v1beta1",
				"AutoscalingGroup": "autoscaling.aws.m.upbound.io/v1beta1",
				"Policy":           "autoscaling.aws.m.upbound.io/v1beta1",
				"Object":           "s3.aws.m.upbound.io/v1beta1",
				"LifecycleHook":    "autoscaling.aws.m.upbound.io/v1beta1",
			},
		},
		"Cluster": {
			reason: "A cluster-scoped composite has no namespace to put resources in.",
			args:   aPool(""),
			want: map[string]string{
				"LaunchTemplate":   "ec2.aws.upbound.io/v1beta2",
				"AutoscalingGroup": "autoscaling.aws.upbound.io/v1beta3",
				"Policy":           "autoscaling.aws.upbound.io/v1beta2",
				"Object":           "s3.aws.upbound.io/v1beta2",
				"LifecycleHook":    "autoscaling.aws.upbound.io/v1beta1",
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			manifests, err := Render(tc.args.o, tc.args.d)
			if err != nil {
				t.Fatalf("\n%s\nRender(...): unexpected error: %v", tc.reason, err)
			}
			got := map[string]string{}
			for _, m := range manifests {
				got[m.Object["kind"].(string)] = m.Object["apiVersion"].(string)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nRender(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
