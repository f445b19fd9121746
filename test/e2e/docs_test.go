//go:build e2e

package e2e

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/rest"

	"github.com/crossplane-contrib/function-aws-machinepool/internal/simulator"
	"github.com/crossplane-contrib/function-aws-machinepool/test/e2e/internal/kube"
)

// manual is the YAML that docs/operations.md shows, by kind and name.
func (s *suite) manual(t *testing.T) map[string]kube.Object {
	t.Helper()
	doc, err := os.ReadFile(filepath.Join(s.root, "docs", "operations.md"))
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]kube.Object{}
	for _, block := range regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllSubmatch(doc, -1) {
		objects, err := kube.ParseYAML(block[1])
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range objects {
			_, kind := kube.GroupKind(o)
			out[kind+"/"+simulator.Text(o, "metadata", "name")] = o
		}
	}
	return out
}

// TestManual holds that what docs/operations.md tells people to apply does what it says.
func TestManual(t *testing.T) { //nolint:tparallel // All but one take no time.
	t.Parallel()
	shown := shared.manual(t)

	t.Run("ExportsRole", func(t *testing.T) {
		if diff := cmp.Diff(readable(clusters), shown["ClusterRole/machinepool-exports-clusters"]); diff != "" {
			t.Errorf("the ClusterRole of the other tests is not the one shown: -want, +got:\n%s", diff)
		}
	})
	t.Run("Configuration", func(t *testing.T) {
		if got, want := simulator.Text(shown["Configuration/"+configurationName], "spec", "package"), "xpkg.crossplane.io/"+configPackage+":"+packageTag; got != want {
			t.Errorf("package %s, want the one of the other tests, %s", got, want)
		}
	})
	t.Run("RuntimeConfig", func(t *testing.T) {
		if _, err := shared.client.Create(t.Context(), kube.RuntimeConfigs, shown["DeploymentRuntimeConfig/function-aws-machinepool"], true); err != nil {
			t.Errorf("the API server does not take it: %v", err)
		}
	})
	t.Run("SecretsPolicy", func(t *testing.T) {
		n := newTenant(t)
		n.must(n.apply(n.ctx, shown["ValidatingAdmissionPolicy/machinepool-secrets"], n.here(shown["ValidatingAdmissionPolicyBinding/machinepool-secrets"])))
		dev := n.developer("dev")

		pool := func(name string, ref kube.Object) kube.Object {
			return kube.Object{
				"apiVersion": pools.GroupVersion().String(), "kind": pools.Kind,
				"metadata": kube.Object{"namespace": n.namespace, "name": name},
				"spec":     merge(spec("own"), kube.Object{"bootstrap": kube.Object{"dataSecretRef": ref}}),
			}
		}
		n.eventually("the policy is in force", func() (bool, string) {
			_, err := dev.Create(n.ctx, pools, pool("theirs", kube.Object{"name": "crossplane-root-ca", "namespace": "crossplane-system"}), true)
			return apierrors.IsInvalid(err) || apierrors.IsForbidden(err) && strings.Contains(err.Error(), "you may not read Secret crossplane-system/crossplane-root-ca"), errText(err)
		})
		if _, err := dev.Create(n.ctx, pools, pool("other", kube.Object{"name": "other"}), true); err == nil {
			t.Error("a Secret of the same namespace that the user may not read is not refused")
		}
		if _, err := dev.Create(n.ctx, pools, pool("own", kube.Object{"name": "own"}), true); err != nil {
			t.Errorf("a Secret that the user may read is refused: %v", err)
		}
	})
}

func errText(err error) string {
	if err == nil {
		return "it is not refused"
	}
	return err.Error()
}

// developer is a client of a user who may create pools in the namespace, and read one Secret of it.
func (n *tenant) developer(user string) *kube.Client {
	n.Helper()
	return n.user(user, kube.Object{
		"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role", "metadata": kube.Object{"name": user},
		"rules": []any{
			kube.Object{"apiGroups": []any{pools.Group}, "resources": []any{"machinepools"}, "verbs": []any{"create"}},
			kube.Object{"apiGroups": []any{""}, "resources": []any{"secrets"}, "resourceNames": []any{"own"}, "verbs": []any{"get"}},
		},
	})
}

// user is a client of a user who has a Role in the namespace, and no other rights.
func (n *tenant) user(user string, role kube.Object) *kube.Client {
	n.Helper()
	const rbac = "rbac.authorization.k8s.io"
	roles := kube.NewResource(rbac, "v1", "roles", "Role", true)
	bindings := kube.NewResource(rbac, "v1", "rolebindings", "RoleBinding", true)
	role = simulator.Clone(role)
	simulator.SetField(role, n.namespace, "metadata", "namespace")
	n.must(n.client.Apply(n.ctx, roles, role))
	n.must(n.client.Apply(n.ctx, bindings, kube.Object{
		"apiVersion": rbac + "/v1", "kind": "RoleBinding", "metadata": kube.Object{"namespace": n.namespace, "name": user},
		"roleRef":  kube.Object{"apiGroup": rbac, "kind": "Role", "name": simulator.Text(role, "metadata", "name")},
		"subjects": []any{kube.Object{"kind": "User", "apiGroup": rbac, "name": user}},
	}))
	cfg := rest.CopyConfig(n.kubernetes.Config)
	cfg.Impersonate = rest.ImpersonationConfig{UserName: user, Groups: []string{"system:authenticated"}}
	client, err := kube.NewClient(cfg)
	n.must(err)
	return client
}
