//go:build e2e

package e2e

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/yaml"

	"github.com/crossplane-contrib/function-aws-machinepool/internal/simulator"
	"github.com/crossplane-contrib/function-aws-machinepool/test/e2e/internal/kube"
)

// An admissionCase is one of test/admission: a merge patch of the spec of sparse.yaml, and what is said of the result.
type admissionCase struct {
	Name   string      `json:"name"`
	Reason string      `json:"reason"`
	Spec   kube.Object `json:"spec"`
	Says   []string    `json:"says"`
}

// TestAdmission holds that the real API server says of each case what test/admission expects of its libraries.
func TestAdmission(t *testing.T) {
	t.Parallel()
	n := newTenant(t)
	sparse := readAdmission[kube.Object](t, "sparse.yaml")

	cases := append(readAdmission[[]admissionCase](t, "refused.yaml"), readAdmission[[]admissionCase](t, "accepted.yaml")...)
	queue := make(chan admissionCase)
	var workers sync.WaitGroup
	for range 4 {
		workers.Go(func() {
			for tc := range queue {
				xr := simulator.Clone(sparse)
				simulator.SetField(xr, n.namespace, "metadata", "namespace")
				overlay(xr["spec"].(kube.Object), tc.Spec)
				_, err := n.client.Create(n.ctx, pools, xr, true)
				slices.Sort(tc.Says)
				if diff := cmp.Diff(tc.Says, causes(err)); diff != "" {
					t.Errorf("%s: %s\n-want, +got:\n%s", tc.Name, tc.Reason, diff)
				}
			}
		})
	}
	for _, tc := range cases {
		queue <- tc
	}
	close(queue)
	workers.Wait()
	if len(cases) < 50 {
		t.Errorf("only %d cases", len(cases))
	}

	xr := simulator.Clone(sparse)
	simulator.SetField(xr, n.namespace, "metadata", "namespace")
	simulator.SetField(xr, "m6i.large", "spec", "instancetype")
	if _, err := n.client.Create(n.ctx, pools, xr, true); !apierrors.IsBadRequest(err) {
		t.Errorf("an unknown field is refused with %v, want a bad request", err)
	}
}

func readAdmission[T any](t *testing.T, name string) T {
	t.Helper()
	var out T
	data, err := os.ReadFile(filepath.Join("..", "admission", "testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(data, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// overlay is a merge patch in which null stays null, as someone may write it.
func overlay(into, patch kube.Object) {
	for k, v := range patch {
		from, isMap := v.(kube.Object)
		if to, both := into[k].(kube.Object); isMap && both {
			overlay(to, from)
			continue
		}
		into[k] = v
	}
}

// serverAlone says what no library says: that it did not evaluate CEL rules, and what the scale subresource wants.
var serverAlone = []string{
	"<nil>: Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation",
	".spec.replicas: Invalid value: -1: should be a non-negative integer",
}

// causes that the API server gives, in the words of its libraries. None is no error.
func causes(err error) []string {
	if err == nil {
		return nil
	}
	var status apierrors.APIStatus
	if !errors.As(err, &status) || status.Status().Details == nil {
		return []string{err.Error()}
	}
	var out []string
	for _, c := range status.Status().Details.Causes {
		out = append(out, c.Field+": "+c.Message)
	}
	slices.Sort(out)
	return slices.DeleteFunc(out, func(s string) bool { return slices.Contains(serverAlone, s) })
}
