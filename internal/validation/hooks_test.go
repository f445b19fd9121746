package validation

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/function-aws-machinepool/apis/v1alpha1"
)

func TestLifecycleHooks(t *testing.T) {
	type args struct {
		change func(*v1alpha1.MachinePoolSpec)
	}

	type want struct {
		errs []string
	}

	cases := map[string]struct {
		reason string
		args   args
		want   want
	}{
		"Fine": {
			reason: "A hook needs a name and a transition, and a name may hold a slash.",
			args: args{change: func(s *v1alpha1.MachinePoolSpec) {
				s.LifecycleHooks = []v1alpha1.LifecycleHook{{Name: "drain/nodes", Transition: v1alpha1.LifecycleTransitionTerminating}}
			}},
		},
		"Repeated": {
			reason: "A hook is known by its name.",
			args: args{change: func(s *v1alpha1.MachinePoolSpec) {
				s.LifecycleHooks = []v1alpha1.LifecycleHook{
					{Name: "a", Transition: v1alpha1.LifecycleTransitionLaunching},
					{Name: "a", Transition: v1alpha1.LifecycleTransitionTerminating},
				}
			}},
			want: want{errs: []string{
				`spec.lifecycleHooks[1]: Duplicate value: "a"`,
			}},
		},
		"Empty": {
			reason: "Everything that a hook lacks should be named at once.",
			args: args{change: func(s *v1alpha1.MachinePoolSpec) {
				s.LifecycleHooks = []v1alpha1.LifecycleHook{{}}
			}},
			want: want{errs: []string{
				`spec.lifecycleHooks[0].name: Required value`,
				`spec.lifecycleHooks[0].transition: Required value`,
			}},
		},
		"LongARNs": {
			reason: "Auto Scaling takes no ARN of more than 255 characters on a hook, although IAM has longer ones.",
			args: args{change: func(s *v1alpha1.MachinePoolSpec) {
				s.LifecycleHooks = []v1alpha1.LifecycleHook{{
					Name: "drain", Transition: v1alpha1.LifecycleTransitionTerminating,
					NotificationTargetARN: new("arn:aws:sqs:us-east-1:123456789012:" + strings.Repeat("q", 221)),
					RoleARN:               new("arn:aws:iam::123456789012:role/" + strings.Repeat("r", 225)),
				}}
			}},
			want: want{errs: []string{
				`spec.lifecycleHooks[0].notificationTargetARN: Too long: may not be more than 255 bytes`,
				`spec.lifecycleHooks[0].roleARN: Too long: may not be more than 255 bytes`,
			}},
		},
		"All": {
			reason: "Everything about a hook should be told at once.",
			args: args{change: func(s *v1alpha1.MachinePoolSpec) {
				s.LifecycleHooks = []v1alpha1.LifecycleHook{{
					Name:                    "drain nodes",
					Transition:              "Stopping",
					HeartbeatTimeoutSeconds: new(int32(29)),
					DefaultResult:           "ABANDON",
					RoleARN:                 new("arn:aws:iam::123456789012:user/u"),
				}}
			}},
			want: want{errs: []string{
				`spec.lifecycleHooks[0]: Invalid value: "": set notificationTargetARN and roleARN together or neither: Auto Scaling needs the role to notify the target`,
				`spec.lifecycleHooks[0].defaultResult: Unsupported value: "ABANDON": supported values: "Continue", "Abandon"`,
				`spec.lifecycleHooks[0].heartbeatTimeoutSeconds: Invalid value: 29: spec.lifecycleHooks[0].heartbeatTimeoutSeconds in body should be greater than or equal to 30`,
				`spec.lifecycleHooks[0].name: Invalid value: "drain nodes": must be 1 to 255 letters, digits, -, _ and /`,
				`spec.lifecycleHooks[0].roleARN: Invalid value: "arn:aws:iam::123456789012:user/u": must be the ARN of an IAM role`,
				`spec.lifecycleHooks[0].transition: Unsupported value: "Stopping": supported values: "Launching", "Terminating"`,
			}},
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want.errs, messages(MachinePool(pool(tc.args.change)))); diff != "" {
				t.Errorf("%s\nMachinePool(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
