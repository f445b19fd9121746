package admission

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apiextensions-apiserver/pkg/registry/customresource/tableconvertor"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// A cell is what kubectl get shows in a column; wide ones need -o wide.
type cell struct {
	Column string
	Value  any
	Wide   bool
}

// row returns the cells of an XR but its name and age.
func row(t *testing.T, variant string, xr map[string]any) []cell {
	t.Helper()

	convertor, err := tableconvertor.New(derive(t)[variant].Spec.Versions[0].AdditionalPrinterColumns)
	if err != nil {
		t.Fatal(err)
	}
	table, err := convertor.ConvertToTable(context.Background(), &unstructured.Unstructured{Object: xr}, &metav1.TableOptions{})
	if err != nil {
		t.Fatal(err)
	}

	var cells []cell
	for i, column := range table.ColumnDefinitions {
		if column.Name == "Name" || column.Name == "AGE" {
			continue
		}
		cells = append(cells, cell{Column: column.Name, Value: table.Rows[0].Cells[i], Wide: column.Priority > 0})
	}

	return cells
}

func TestColumns(t *testing.T) {
	type args struct {
		variant string
		status  map[string]any
	}

	type want struct {
		cells []cell
	}

	status := map[string]any{
		"autoscalingGroupName": "mp-team-a-demo-pool-0-1a2b3c4d",
		"replicas":             int64(3),
		"readyReplicas":        int64(2),
		"imageID":              "ami-0123456789abcdef0",
		"health":               map[string]any{"state": "running", "healthy": false},
		"rollout":              map[string]any{"phase": "Refreshing"},
		"conditions": []any{
			map[string]any{"type": "Synced", "status": "True"},
			map[string]any{"type": "Ready", "status": "False"},
		},
	}

	cases := map[string]struct {
		reason string
		args   args
		want   want
	}{
		"Namespaced": {
			reason: "One line should say whether a pool is fine.",
			args:   args{variant: "Namespaced", status: status},
			want: want{cells: []cell{
				{Column: "VERSION", Value: "v1.34.1"},
				{Column: "DESIRED", Value: int64(3)},
				{Column: "MEMBERS", Value: int64(2)},
				{Column: "HEALTH", Value: "running"},
				{Column: "HEALTHY", Value: false},
				{Column: "ROLLOUT", Value: "Refreshing"},
				{Column: "IMAGE", Value: "ami-0123456789abcdef0", Wide: true},
				{Column: "GROUP", Value: "mp-team-a-demo-pool-0-1a2b3c4d", Wide: true},
				{Column: "SYNCED", Value: "True"},
				{Column: "READY", Value: "False"},
				{Column: "COMPOSITION"},
				{Column: "COMPOSITIONREVISION", Wide: true},
			}},
		},
		"Claim": {
			reason: "A claim's line should say the same.",
			args:   args{variant: "LegacyCluster claim", status: status},
			want: want{cells: []cell{
				{Column: "VERSION", Value: "v1.34.1"},
				{Column: "DESIRED", Value: int64(3)},
				{Column: "MEMBERS", Value: int64(2)},
				{Column: "HEALTH", Value: "running"},
				{Column: "HEALTHY", Value: false},
				{Column: "ROLLOUT", Value: "Refreshing"},
				{Column: "IMAGE", Value: "ami-0123456789abcdef0", Wide: true},
				{Column: "GROUP", Value: "mp-team-a-demo-pool-0-1a2b3c4d", Wide: true},
				{Column: "SYNCED", Value: "True"},
				{Column: "READY", Value: "False"},
				{Column: "CONNECTION-SECRET"},
			}},
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			xr := readXR(t, "pool.yaml")
			xr["status"] = tc.args.status
			if errs := servers(t)[tc.args.variant].prune(xr); len(errs) > 0 {
				t.Fatalf("the CRD does not have the status that the columns show: %v", errs)
			}
			if diff := cmp.Diff(tc.want.cells, row(t, tc.args.variant, xr)); diff != "" {
				t.Errorf("%s\nrow(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
