//go:build e2e

package e2e

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/crossplane-contrib/function-aws-machinepool/internal/simulator"
	"github.com/crossplane-contrib/function-aws-machinepool/test/e2e/internal/kube"
	"github.com/crossplane-contrib/function-aws-machinepool/test/e2e/internal/provider"
)

// What example/policy/tenants.yaml allows as it is.
const (
	allowedRole   = "arn:aws:iam::111122223333:role/machinepool-hooks"
	allowedTarget = "arn:aws:sqs:us-east-1:111122223333:machinepool-hooks"
	allowedKey    = "arn:aws:kms:us-east-1:111122223333:key/0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0"
	allowedGroup  = "sg-0123456789abcdef0"
)

// here is a policy's binding to this namespace alone: other tests run beside this one.
func (n *tenant) here(binding kube.Object) kube.Object {
	binding = simulator.Clone(binding)
	simulator.SetField(binding, kube.Object{"matchLabels": kube.Object{"kubernetes.io/metadata.name": n.namespace}}, "spec", "matchResources", "namespaceSelector")
	return binding
}

// enforce the policies of example/policy.
func (n *tenant) enforce() {
	n.Helper()
	objects, err := kube.ReadYAML(filepath.Join(n.root, "example", "policy", "tenants.yaml"))
	n.must(err)
	for i, o := range objects {
		if _, kind := kube.GroupKind(o); kind == "ValidatingAdmissionPolicyBinding" {
			objects[i] = n.here(o)
		}
	}
	n.must(n.apply(n.ctx, objects...))
}

// modest is a pool that the policies of example/policy let through. The patch is of its spec.
func (n *tenant) modest(name string, patch kube.Object) kube.Object {
	s := spec(name)
	delete(s, "crossplane")
	return kube.Object{
		"apiVersion": pools.GroupVersion().String(), "kind": pools.Kind,
		"metadata": kube.Object{"namespace": n.namespace, "name": name},
		"spec":     merge(s, patch),
	}
}

// TestTenantPolicy holds that example/policy/tenants.yaml, with the Role of docs/operations.md, refuses what it says and lets
// all else through.
func TestTenantPolicy(t *testing.T) { //nolint:tparallel // They look at the same pools.
	t.Parallel()
	n := newTenant(t)
	// Made before there was a policy.
	n.create("older", kube.Object{
		"cluster":      kube.Object{"exports": exports(n.namespace)},
		"publicIP":     true,
		"machineImage": kube.Object{"id": imageA},
		"replicas":     int64(60),
		"lifecycleHooks": []any{kube.Object{
			"name": "drain", "transition": "Terminating", "roleARN": "arn:aws:iam::111122223333:role/other", "notificationTargetARN": allowedTarget,
		}},
	})
	n.awaitReady("older", 60)
	n.enforce()
	dev := n.user("tenant", shared.manual(t)["Role/machinepools"])
	n.eventually("the policy is in force", func() (bool, string) {
		_, err := dev.Create(n.ctx, pools, n.modest("forced", kube.Object{"publicIP": true}), true)
		return apierrors.IsInvalid(err) && strings.Contains(err.Error(), "spec.publicIP: "), errText(err)
	})

	t.Run("Refused", func(t *testing.T) { policyRefuses(n.within(t), dev) })
	t.Run("Allowed", func(t *testing.T) { policyAllows(n.within(t), dev) })
	t.Run("Older", func(t *testing.T) { policyKeeps(n.within(t), dev) })
	t.Run("Status", func(t *testing.T) { statusIsCrossplanes(n.within(t), dev) })
}

func policyRefuses(n *tenant, dev *kube.Client) {
	hook := func(role, target string) kube.Object {
		return kube.Object{"lifecycleHooks": []any{kube.Object{"name": "drain", "transition": "Terminating", "roleARN": role, "notificationTargetARN": target}}}
	}
	cases := map[string]struct {
		reason string
		patch  kube.Object
		says   string
	}{
		"InlineExports": {
			reason: "They choose the instance profile and the bucket.",
			patch:  kube.Object{"cluster": kube.Object{"exports": exports(n.namespace)}},
			says:   "spec.cluster.exports: ",
		},
		"ExportsOfAnotherKind": {
			reason: "Crossplane would watch every object of the kind, or hang.",
			patch:  kube.Object{"cluster": kube.Object{"exportsFrom": kube.Object{"apiVersion": "v1", "kind": "ConfigMap"}}},
			says:   "spec.cluster.exportsFrom: ",
		},
		"ExportsOfAnotherNamespace": {
			reason: "They are another tenant's cluster.",
			patch:  kube.Object{"cluster": kube.Object{"exportsFrom": kube.Object{"namespace": "team-b"}}},
			says:   "spec.cluster.exportsFrom.namespace: ",
		},
		"ExportsOfAnotherField": {
			reason: "It may be one that the tenant writes.",
			patch:  kube.Object{"cluster": kube.Object{"exportsFrom": kube.Object{"fieldPath": "metadata.annotations"}}},
			says:   "spec.cluster.exportsFrom.fieldPath: ",
		},
		"HookRole": {
			reason: "The provider passes any role to Auto Scaling that it may pass.",
			patch:  hook("arn:aws:iam::111122223333:role/admin", allowedTarget),
			says:   "spec.lifecycleHooks: use a roleARN ",
		},
		"HookTarget": {
			reason: "Messages would go to another account.",
			patch:  hook(allowedRole, "arn:aws:sqs:us-east-1:444455556666:theirs"),
			says:   "spec.lifecycleHooks: use a notificationTargetARN ",
		},
		"SecurityGroup": {
			reason: "It may let the instances reach what the cluster's own groups do not.",
			patch:  kube.Object{"additionalSecurityGroupIDs": []any{allowedGroup, "sg-0badbadbadbadbad0"}},
			says:   "spec.additionalSecurityGroupIDs: ",
		},
		"KMSKey": {
			reason: "It may be another tenant's.",
			patch:  kube.Object{"rootVolume": kube.Object{"kmsKeyID": "arn:aws:kms:us-east-1:111122223333:key/other"}},
			says:   "spec.rootVolume.kmsKeyID: ",
		},
		"Tag": {
			reason: "IAM policies and cost reports go by tags.",
			patch:  kube.Object{"additionalTags": kube.Object{"team/name": "a", "data-class": "public"}},
			says:   "spec.additionalTags: ",
		},
		"Replicas": {
			reason: "They cost money, and the account's quota is everybody's.",
			patch:  kube.Object{"replicas": int64(51)},
			says:   "spec.replicas: ask for 50 instances at most",
		},
		"MaxReplicas": {
			reason: "The group's maximum is what it may cost.",
			patch:  kube.Object{"autoscaling": kube.Object{"minReplicas": int64(1), "maxReplicas": int64(51), "scaler": "External"}},
			says:   "spec.autoscaling.maxReplicas: ask for 50 instances at most",
		},
		"PublicIP": {
			reason: "The internet would reach the instances.",
			patch:  kube.Object{"publicIP": true},
			says:   "spec.publicIP: ",
		},
		"Composition": {
			reason: "Another one has other credentials and other limits.",
			patch:  kube.Object{"crossplane": kube.Object{"compositionRef": kube.Object{"name": reading}}},
			says:   "spec.crossplane.compositionRef: ",
		},
		"CompositionSelector": {
			reason: "It is another way to choose one.",
			patch:  kube.Object{"crossplane": kube.Object{"compositionSelector": kube.Object{"matchLabels": kube.Object{"a": "b"}}}},
			says:   "spec.crossplane: set nothing but compositionRef",
		},
		"CompositionRevision": {
			reason: "An older one lacks the limits that came later.",
			patch:  kube.Object{"crossplane": kube.Object{"compositionRevisionRef": kube.Object{"name": "older"}}},
			says:   "spec.crossplane: set nothing but compositionRef",
		},
		"CompositionUpdatePolicy": {
			reason: "The pool would stay with the revision that it has.",
			patch:  kube.Object{"crossplane": kube.Object{"compositionUpdatePolicy": "Manual"}},
			says:   "spec.crossplane: set nothing but compositionRef",
		},
		"ResourceRefs": {
			reason: "Crossplane would take the managed resource for the pool's.",
			patch: kube.Object{"crossplane": kube.Object{"resourceRefs": []any{kube.Object{
				"apiVersion": "autoscaling.aws.m.upbound.io/v1beta1", "kind": "AutoscalingGroup", "name": "other",
			}}}},
			says: "spec.crossplane: set nothing but compositionRef",
		},
	}
	for name, tc := range cases {
		n.Run(name, func(t *testing.T) {
			_, err := dev.Create(n.ctx, pools, n.modest("refused", tc.patch), true)
			if !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), tc.says) {
				t.Errorf("%s\nwant it to be refused with %q, got: %s", tc.reason, tc.says, errText(err))
			}
		})
	}
}

func policyAllows(n *tenant, dev *kube.Client) {
	for name, patch := range map[string]kube.Object{
		"Least": nil,
		"AllThatIsAllowed": {
			"crossplane":                 kube.Object{"compositionRef": kube.Object{"name": shipped}},
			"cluster":                    kube.Object{"exportsFrom": kube.Object{"namespace": "clusters"}},
			"lifecycleHooks":             []any{kube.Object{"name": "drain", "transition": "Terminating", "roleARN": allowedRole, "notificationTargetARN": allowedTarget}, kube.Object{"name": "join", "transition": "Launching"}},
			"additionalSecurityGroupIDs": []any{allowedGroup},
			"rootVolume":                 kube.Object{"kmsKeyID": allowedKey},
			"additionalTags":             kube.Object{"team/name": "a", "cost-center": "17"},
			"autoscaling":                kube.Object{"minReplicas": int64(1), "maxReplicas": int64(50), "scaler": "External"},
			"publicIP":                   false,
		},
		"OwnNamespace": {"cluster": kube.Object{"exportsFrom": kube.Object{"namespace": n.namespace}}},
	} {
		if _, err := dev.Create(n.ctx, pools, n.modest("allowed", patch), true); err != nil {
			n.Errorf("%s is refused: %v", name, err)
		}
	}

	// One that is really made, so that Crossplane writes its own part of the spec, and its user goes on with it.
	n.must(n.client.Apply(n.ctx, kube.Secrets, secret(n.namespace, "made", "first")))
	_, err := dev.Create(n.ctx, pools, n.modest("made", kube.Object{
		"crossplane": kube.Object{"compositionRef": kube.Object{"name": shipped}}, "machineImage": kube.Object{"id": imageA},
	}), false)
	n.must(err)
	n.awaitCondition("made", "Ready", "True")
	if _, err := dev.Patch(n.ctx, pools, n.namespace, "made", kube.Object{"spec": kube.Object{"nodeLabels": kube.Object{"tier": "gold"}, "replicas": int64(4)}}); err != nil {
		n.Errorf("the pool's user may not change it: %v", err)
	}
	if _, err := dev.Patch(n.ctx, pools, n.namespace, "made", kube.Object{"spec": kube.Object{"replicas": int64(5)}}, "scale"); err != nil {
		n.Errorf("the pool's user may not scale it: %v", err)
	}
	if _, err := dev.Patch(n.ctx, pools, n.namespace, "made", kube.Object{"spec": kube.Object{"replicas": int64(51)}}, "scale"); err == nil || !strings.Contains(err.Error(), "50 instances at most") {
		n.Errorf("scale goes past the policy: %s", errText(err))
	}
	// What Crossplane wrote is not the user's to take away.
	if _, err := dev.Patch(n.ctx, pools, n.namespace, "made", kube.Object{"spec": kube.Object{"crossplane": kube.Object{"resourceRefs": nil}}}); err == nil || !strings.Contains(err.Error(), "resourceRefs are Crossplane's own") {
		n.Errorf("the pool's managed resources can be taken from it: %s", errText(err))
	}
	n.must(n.client.Delete(n.ctx, pools, n.namespace, "made"))
}

// policyKeeps holds that a pool which had more before the policy came can be worked with, and gets no more.
func policyKeeps(n *tenant, dev *kube.Client) {
	change := func(spec kube.Object, subresource ...string) error {
		_, err := dev.Patch(n.ctx, pools, n.namespace, "older", kube.Object{"spec": spec}, subresource...)
		return err
	}
	for name, spec := range map[string]kube.Object{
		"labels":  {"nodeLabels": kube.Object{"tier": "gold"}},
		"version": {"kubernetesVersion": versionB, "machineImage": kube.Object{"id": imageB}},
		"size":    {"replicas": int64(59)},
	} {
		if err := change(spec); err != nil {
			n.Errorf("%s of a pool that was there before the policy cannot be changed: %v", name, err)
		}
	}
	if err := change(kube.Object{"replicas": int64(58)}, "scale"); err != nil {
		n.Errorf("a pool that was there before the policy cannot be scaled down: %v", err)
	}
	for says, spec := range map[string]kube.Object{
		"spec.cluster.exports: ": {"cluster": kube.Object{"exports": kube.Object{"bootstrap_bucket": "another-bucket"}}},
		"spec.replicas: ":        {"replicas": int64(70)},
		"use a roleARN ": {"lifecycleHooks": []any{kube.Object{
			"name": "drain", "transition": "Terminating", "roleARN": "arn:aws:iam::111122223333:role/admin", "notificationTargetARN": allowedTarget,
		}}},
	} {
		if err := change(spec); err == nil || !strings.Contains(err.Error(), says) {
			n.Errorf("a pool that was there before the policy gets more: want %q, got %s", says, errText(err))
		}
	}
}

// statusIsCrossplanes holds that a status is written by no one else: neither by whom the Role does not allow it, nor by whom
// another role does.
func statusIsCrossplanes(n *tenant, dev *kube.Client) {
	forged := kube.Object{"status": kube.Object{"autoscalingGroupName": "mp-team-b-payments-0123456789abcdef"}}
	if _, err := dev.Patch(n.ctx, pools, n.namespace, "older", forged, "status"); !apierrors.IsForbidden(err) {
		n.Errorf("the Role lets its user write a status: %s", errText(err))
	}
	editor := n.user("editor", kube.Object{
		"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role", "metadata": kube.Object{"name": "editor"},
		// As Crossplane's RBAC manager writes it, aggregated to those who edit.
		"rules": []any{kube.Object{"apiGroups": []any{pools.Group}, "resources": []any{"machinepools", "machinepools/status"}, "verbs": []any{"*"}}},
	})
	n.eventually("the policy refuses a status", func() (bool, string) {
		_, err := editor.Patch(n.ctx, pools, n.namespace, "older", forged, "status")
		return err != nil && strings.Contains(err.Error(), "a MachinePool's status is written by Crossplane alone"), errText(err)
	})
	n.eventually("Crossplane goes on writing it", func() (bool, string) {
		xr := n.xr("older")
		return simulator.ConditionOf(xr, "Synced").Status == "True" && simulator.Text(xr, "status", "autoscalingGroupName") != "mp-team-b-payments-0123456789abcdef", state(xr)
	})
	// Nothing that the pool is made of is its user's either.
	for name, mr := range n.mrs("older") {
		group, kind := kube.GroupKind(mr)
		i := slices.IndexFunc(provider.Kinds(), func(r kube.Resource) bool { return r.Group == group && r.Kind == kind })
		r := provider.Kinds()[i]
		if _, err := dev.Patch(n.ctx, r, n.namespace, simulator.Text(mr, "metadata", "name"), kube.Object{"metadata": kube.Object{"labels": kube.Object{"a": "b"}}}); !apierrors.IsForbidden(err) {
			n.Errorf("the Role lets its user write %s: %s", name, errText(err))
		}
	}
}
