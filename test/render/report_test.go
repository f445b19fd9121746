package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const (
	group = `apiVersion: autoscaling.aws.m.upbound.io/v1beta1
kind: AutoscalingGroup
metadata: {annotations: {crossplane.io/composition-resource-name: autoscaling-group}}
spec:
  forProvider: {minSize: 3, maxSize: 5, launchTemplate: {id: lt-1, version: $Latest}, vpcZoneIdentifier: [a, b]}
  initProvider: {desiredCapacity: 4}
`
	template = `apiVersion: ec2.aws.m.upbound.io/v1beta1
kind: LaunchTemplate
metadata: {annotations: {crossplane.io/composition-resource-name: launch-template-1, crossplane.io/external-name: lt-1}}
spec: {forProvider: {imageId: ami-1, instanceType: m6i.large, userData: aGVsbG8=, instanceMarketOptions: {marketType: spot}}}
`
	composite = `apiVersion: aws.machinepool.fn.crossplane.io/v1alpha1
kind: MachinePool
metadata: {name: demo}
status:
  replicas: 0
  conditions:
  - {type: Synced, status: "True", reason: ReconcileSuccess}
  - {type: Ready, status: "False", reason: Creating, message: Unready resources}
`
	result = `apiVersion: render.crossplane.io/v1beta1
kind: Result
severity: Warning
reason: Broken
message: 'Pipeline step "machine-pool": something is broken'
`
)

func TestPrintRendered(t *testing.T) {
	observed := filepath.Join(t.TempDir(), "observed.yaml")
	bigger := strings.Replace(group, "maxSize: 5", "maxSize: 9", 1)
	old := strings.Replace(template, "launch-template-1", "launch-template-0", 1)

	if err := os.WriteFile(observed, []byte(template+"---\n"+old+"---\n"+group), 0o600); err != nil {
		t.Fatal(err)
	}

	var out bytes.Buffer

	rendered := strings.Join([]string{composite, bigger, template, result}, "---\n")
	if err := printRendered(&out, rendered, observed); err != nil {
		t.Fatal(err)
	}

	want := `MachinePool demo
  replicas: 0

  CONDITION  STATUS  REASON            MESSAGE
  Ready      False   Creating          Unready resources
  Synced     True    ReconcileSuccess

          RESOURCE           KIND              WHAT
  update  autoscaling-group  AutoscalingGroup  3 to 9 instances, 4 at first, lt-1 $Latest, 2 subnets
  keep    launch-template-1  LaunchTemplate    lt-1, ami-1, m6i.large, spot, 5 bytes user data
  delete  launch-template-0  LaunchTemplate    lt-1, ami-1, m6i.large, spot, 5 bytes user data

  EVENT    REASON  MESSAGE
  Warning  Broken  something is broken
`
	if out.String() != want {
		t.Errorf("printRendered(...): got:\n%s\nwant:\n%s", &out, want)
	}
}

func TestTableWraps(t *testing.T) {
	got := table([][]string{{"A", "TEXT"}, {"one", strings.Repeat("word ", 40)}})
	for line := range strings.Lines(got) {
		if len(line) > width {
			t.Errorf("table(...): a line of %d characters: %q", len(line), line)
		}
	}

	if !strings.Contains(got, "\n       word") {
		t.Errorf("table(...): a wrapped line does not start under its column:\n%s", got)
	}
}

func TestRefusal(t *testing.T) {
	stderr := "crossplane: error: cannot render composite resource: crossplane internal render: pipeline returned fatal: " +
		"crossplane: error: cannot render composite resource: cannot compose resources: pipeline step \"x\" returned a fatal result: " +
		"spec.a: bad\nspec.b: bad\n"
	want := "pipeline step \"x\" returned a fatal result: spec.a: bad\nspec.b: bad\n"

	if got := refusal(stderr); got != want {
		t.Errorf("refusal(...): got %q, want %q", got, want)
	}
}

func TestSteady(t *testing.T) {
	own := "apiVersion: render.crossplane.io/v1beta1\nkind: Result\nmessage: Composed resource \"a\" is not yet ready\nreason: ComposeResources\n"
	rendered := "---\n" + composite + "---\n" + own + "---\n" + result

	if got, want := steady(rendered), "---\n"+composite+"---\n"+result; got != want {
		t.Errorf("steady(...): got:\n%s\nwant:\n%s", got, want)
	}
}
