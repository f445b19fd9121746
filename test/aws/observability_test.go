//go:build moto

package aws_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/crossplane-contrib/function-aws-machinepool/apis/v1alpha1"
)

// What docs/aws-access.md says of metrics and logs is so.
func TestFunctionIsObservable(t *testing.T) {
	t.Parallel()
	m, _, fn := start(t)
	publish(t, m, "capa-ami-ubuntu-24.04-v1.34.1-20260101")
	p := newPool(t, fn, m, "demo-pool-0", "{identity: Pod}")
	p.until("created", func(s v1alpha1.MachinePoolStatus) bool { return s.Health.Healthy && rolloutIs(s, "Idle") })
	// Runs in quick succession, of which the later ones answer from the cache.
	for range 5 {
		p.run()
	}

	doc, err := os.ReadFile("../../docs/aws-access.md")
	if err != nil {
		t.Fatal(err)
	}
	got := fn.scrape(t)
	documented := regexp.MustCompile("(?m)^\\| `(machinepool_[a-z_]+)` ").FindAllStringSubmatch(string(doc), -1)
	if len(documented) < 7 {
		t.Errorf("want the documented metrics, got %v", documented)
	}
	names := map[string]bool{}
	for _, d := range documented {
		names[d[1]] = true
		if !strings.Contains(got, "# TYPE "+d[1]+" ") {
			t.Errorf("want %s served", d[1])
		}
	}
	for _, served := range regexp.MustCompile(`(?m)^# TYPE (machinepool_\S+)`).FindAllStringSubmatch(got, -1) {
		if !names[served[1]] {
			t.Errorf("%s is served and not documented", served[1])
		}
	}
	for _, want := range []string{
		`machinepool_aws_calls_total{operation="autoscaling:DescribeAutoScalingGroups",result="OK"}`,
		`machinepool_aws_calls_total{operation="autoscaling:DescribeInstanceRefreshes",result="OK"}`,
		`machinepool_aws_calls_total{operation="ec2:DescribeImages",result="OK"}`,
		`machinepool_aws_calls_total{operation="ec2:DescribeInstances",result="OK"}`,
		`machinepool_aws_lookups_total{read="membership",source="cache"}`,
		`machinepool_aws_batch_keys_count{read="membership"}`,
		`machinepool_aws_read_age_seconds_count{read="image"}`,
		`machinepool_aws_views 1`,
		// The SDK's own.
		`grpc_server_handled_total{`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("want %s served", want)
		}
	}

	log := fn.log.String()
	for _, want := range []string{
		`"namespace": "team-a", "name": "demo-pool-0"`,
		`Called AWS	{"operation": "ec2:DescribeInstances", "region": "us-east-1", "keys": 1, "result": "OK", "milliseconds": `,
	} {
		if !strings.Contains(log, want) {
			t.Errorf("want %s logged", want)
		}
	}
	for _, hidden := range []string{"AKIAPOD", "cloud-config", "forProvider", "kubernetes_cluster_id", "sg-0e0000000000000e1", "lt-", "ami-"} {
		if strings.Contains(log, hidden) {
			t.Errorf("want no request logged, got %s", hidden)
		}
	}
}
