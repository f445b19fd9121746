package aws

import (
	"context"
	"encoding/pem"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/crossplane-contrib/function-aws-machinepool/input/v1beta1"
	"github.com/crossplane-contrib/function-aws-machinepool/internal/pool"
)

func okAnswers() map[string][]wireAnswer {
	return map[string][]wireAnswer{
		"DescribeAutoScalingGroups": {wireGroups(wireDemoGroup)},
		"DescribeInstances":         {wireInstances("", wireInstance("i-1", "running", ""))},
	}
}

func keysByAction(w *wire) map[string]string {
	out := map[string]string{}
	for _, r := range w.seen() {
		out[r.action] = r.keyID
	}
	return out
}

func TestIdentityPod(t *testing.T) {
	w := newWire(t, okAnswers())
	wireEnv(t, w.URL)
	t.Setenv("AWS_ACCESS_KEY_ID", "AKIAPOD")
	t.Setenv("AWS_SECRET_ACCESS_KEY", canarySecret)
	got := newWireReader(&recorder{}).Read(context.Background(), query("demo"))
	if !got.Group.Known() || !got.Instances.Known() {
		t.Errorf("want a reading, got %+v", got)
	}
	if diff := cmp.Diff(map[string]string{"DescribeAutoScalingGroups": "AKIAPOD", "DescribeInstances": "AKIAPOD"}, keysByAction(w)); diff != "" {
		t.Errorf("signed by: -want, +got:\n%s", diff)
	}
}

func TestIdentityPodHasNone(t *testing.T) {
	w := newWire(t, okAnswers())
	wireEnv(t, w.URL)
	got := newWireReader(&recorder{}).Read(context.Background(), query("demo"))
	want := pool.Reading{
		Group:     unknown[*pool.Group](pool.ReadCredentialsInvalid, "no credentials could be had for autoscaling:DescribeAutoScalingGroups: check the identity of the function (docs/aws-access.md)"),
		Instances: unknown[[]pool.Instance](pool.ReadCredentialsInvalid, "no credentials could be had for autoscaling:DescribeAutoScalingGroups: check the identity of the function (docs/aws-access.md)"),
	}
	if diff := cmp.Diff(want, got, anyTime()); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
	if n := len(w.seen()); n != 0 {
		t.Errorf("want no call, got %d", n)
	}
}

func TestIdentitySecretIsBroken(t *testing.T) {
	cases := map[string]struct {
		reason string
		args   pool.Identity
		want   string
	}{
		"NotINI": {
			reason: "A Secret that is no INI.",
			args:   pool.Identity{Source: v1beta1.IdentitySecret, SharedCredentials: []byte(canarySecret)},
			want:   "the pipeline step's credentials are not a shared-credentials INI (docs/aws-access.md)",
		},
		"Missing": {
			reason: "A step without credentials.",
			args:   pool.Identity{Source: v1beta1.IdentitySecret},
			want:   "the pipeline step's credentials are empty (docs/aws-access.md)",
		},
		"Unknown": {
			reason: "An identity that is none.",
			args:   pool.Identity{Source: "canary", SharedCredentials: sharedCredentials(canaryKeyID)},
			want:   "the identity is none of None, Pod and Secret (docs/aws-access.md)",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			log := &recorder{}
			got := newWireReader(log).Read(context.Background(), pool.Query{Identity: tc.args, Region: "us-east-1", GroupName: "demo"})
			want := pool.Reading{Group: unknown[*pool.Group](pool.ReadCredentialsInvalid, tc.want), Instances: unknown[[]pool.Instance](pool.ReadCredentialsInvalid, tc.want)}
			if diff := cmp.Diff(want, got, anyTime()); diff != "" {
				t.Errorf("\n%s\n-want, +got:\n%s", tc.reason, diff)
			}
			noCanary(t, got, log)
		})
	}
}

func TestIdentityRotates(t *testing.T) {
	w := newWire(t, okAnswers())
	wireEnv(t, w.URL)
	r := newWireReader(&recorder{})
	q := pool.Query{Region: "us-east-1", GroupName: "demo", MaxAge: time.Minute}
	for _, key := range []string{"AKIAOLD", "AKIAOLD", "AKIANEW", "AKIANEW"} {
		q.Identity = secretIdentity(key)
		if got := r.Read(context.Background(), q); !got.Group.Known() || !got.Instances.Known() {
			t.Fatalf("%s: got %+v", key, got)
		}
	}
	keys := make([]string, 0, 4)
	for _, req := range w.seen() {
		keys = append(keys, req.keyID)
	}
	if diff := cmp.Diff([]string{"AKIAOLD", "AKIAOLD", "AKIANEW", "AKIANEW"}, keys); diff != "" {
		t.Errorf("want one read of two calls for each credential: -want, +got:\n%s", diff)
	}
}

func TestAssumeRoleChain(t *testing.T) {
	answers := okAnswers()
	answers["AssumeRole"] = []wireAnswer{wireCredentials("ASIAFIRST"), wireCredentials("ASIASECOND")}
	w := newWire(t, answers)
	wireEnv(t, w.URL)
	registry, log := prometheus.NewPedanticRegistry(), &recorder{}
	r := NewReader(WithRegisterer(registry), WithLogger(log))
	q := pool.Query{Region: "us-east-1", GroupName: "demo", Identity: secretIdentity(canaryKeyID,
		v1beta1.AssumeRole{RoleARN: "arn:aws:iam::" + canaryAccount + ":role/one"},
		v1beta1.AssumeRole{RoleARN: "arn:aws:iam::" + canaryAccount + ":role/two", ExternalID: canaryExtID},
	)}
	var got pool.Reading
	for range 2 {
		got = r.Read(context.Background(), q)
		if !got.Group.Known() || !got.Instances.Known() {
			t.Fatalf("want a reading, got %+v", got)
		}
	}
	noCanary(t, got, log)

	type step struct{ Action, KeyID, Role, ExternalID, Session string }
	steps := make([]step, 0, 6)
	for _, req := range w.seen() {
		s := step{Action: req.action, KeyID: req.keyID}
		if req.action == "AssumeRole" {
			s.Role, s.ExternalID, s.Session = strings.TrimPrefix(req.form.Get("RoleArn"), "arn:aws:iam::"+canaryAccount+":role/"), req.form.Get("ExternalId"), req.form.Get("RoleSessionName")
		}
		steps = append(steps, s)
	}
	want := []step{
		{Action: "AssumeRole", KeyID: canaryKeyID, Role: "one", Session: "function-aws-machinepool"},
		{Action: "AssumeRole", KeyID: "ASIAFIRST", Role: "two", ExternalID: canaryExtID, Session: "function-aws-machinepool"},
		{Action: "DescribeAutoScalingGroups", KeyID: "ASIASECOND"},
		{Action: "DescribeInstances", KeyID: "ASIASECOND"},
		{Action: "DescribeAutoScalingGroups", KeyID: "ASIASECOND"},
		{Action: "DescribeInstances", KeyID: "ASIASECOND"},
	}
	if diff := cmp.Diff(want, steps); diff != "" {
		t.Errorf("requests: -want, +got:\n%s", diff)
	}

	counted := `# HELP machinepool_aws_calls_total Calls to AWS by operation and result: OK, or why it failed. The SDK's retries of a call are in machinepool_aws_requests_total.
# TYPE machinepool_aws_calls_total counter
machinepool_aws_calls_total{operation="autoscaling:DescribeAutoScalingGroups",result="OK"} 2
machinepool_aws_calls_total{operation="ec2:DescribeInstances",result="OK"} 2
machinepool_aws_calls_total{operation="sts:AssumeRole",result="OK"} 2
# HELP machinepool_aws_requests_total Requests to AWS by operation: calls and the SDK's retries of them.
# TYPE machinepool_aws_requests_total counter
machinepool_aws_requests_total{operation="autoscaling:DescribeAutoScalingGroups"} 2
machinepool_aws_requests_total{operation="ec2:DescribeInstances"} 2
machinepool_aws_requests_total{operation="sts:AssumeRole"} 2
`
	if err := testutil.GatherAndCompare(registry, strings.NewReader(counted), "machinepool_aws_calls_total", "machinepool_aws_requests_total"); err != nil {
		t.Error(err)
	}
}

func TestAssumeRoleDenied(t *testing.T) {
	answers := okAnswers()
	answers["AssumeRole"] = []wireAnswer{queryError(403, "AccessDenied", "User: arn:aws:iam::"+canaryAccount+":user/canary is not authorized to perform: sts:AssumeRole")}
	w := newWire(t, answers)
	wireEnv(t, w.URL)
	log := &recorder{}
	got := newWireReader(log).Read(context.Background(), pool.Query{Region: "us-east-1", GroupName: "demo", Identity: secretIdentity(canaryKeyID,
		v1beta1.AssumeRole{RoleARN: "arn:aws:iam::" + canaryAccount + ":role/canary", ExternalID: canaryExtID})})
	message := "sts:AssumeRole was denied: the role must exist, trust who assumes it and expect the external id (docs/aws-access.md)"
	want := pool.Reading{Group: unknown[*pool.Group](pool.ReadAccessDenied, message), Instances: unknown[[]pool.Instance](pool.ReadAccessDenied, message)}
	if diff := cmp.Diff(want, got, anyTime()); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
	noCanary(t, got, log)
	if !strings.Contains(log.all(), "sts:AssumeRole") {
		t.Errorf("want the denied call logged, got:\n%s", log.all())
	}
}

// counters are the values of the metrics by name and labels.
func counters(t *testing.T, g prometheus.Gatherer, names ...string) map[string]float64 {
	t.Helper()
	families, err := g.Gather()
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]float64{}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			key := f.GetName()
			for _, l := range m.GetLabel() {
				key += " " + l.GetValue()
			}
			if slices.Contains(names, f.GetName()) {
				out[key] = m.GetCounter().GetValue()
			}
		}
	}
	return out
}

// Credentials are fetched by one caller for all, without a deadline of the SDK's: a response that stalls in its body, once,
// must not leave the identity without credentials.
func TestSigningInStalls(t *testing.T) {
	if got := newSDK(logging.NewNopLogger(), newMetrics(nil)).http.GetTimeout(); got != requestTimeout {
		t.Errorf("want each request to end, got a timeout of %s", got)
	}

	const container = `{"AccessKeyId": "ASIASTALLED", "SecretAccessKey": "` + canarySecret + `", "Token": "` + canaryToken + `", "Expiration": "2099-01-01T00:00:00Z"}`
	token := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(token, []byte(canaryToken), 0o600); err != nil {
		t.Fatal(err)
	}
	assumed := wireCredentials("ASIASTALLED").body
	role := v1beta1.AssumeRole{RoleARN: "arn:aws:iam::" + canaryAccount + ":role/one"}

	cases := map[string]struct {
		reason string
		env    func(url string) map[string]string
		id     pool.Identity
		action string
		body   string
	}{
		"AssumeRole": {
			reason: "A role of the chain.",
			id:     secretIdentity(canaryKeyID, role),
			action: "AssumeRole",
			body:   assumed,
		},
		"WebIdentity": {
			reason: "IRSA.",
			env: func(url string) map[string]string {
				return map[string]string{"AWS_ENDPOINT_URL_STS": url, "AWS_ROLE_ARN": role.RoleARN, "AWS_WEB_IDENTITY_TOKEN_FILE": token}
			},
			id:     podIdentity,
			action: "AssumeRoleWithWebIdentity",
			body:   strings.ReplaceAll(assumed, "AssumeRole", "AssumeRoleWithWebIdentity"),
		},
		"Container": {
			reason: "EKS Pod Identity's agent, whose requests have no action.",
			env: func(url string) map[string]string {
				return map[string]string{"AWS_CONTAINER_CREDENTIALS_FULL_URI": url}
			},
			id:   podIdentity,
			body: container,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			answers := okAnswers()
			answers[tc.action] = []wireAnswer{{body: tc.body, stall: true}, {body: tc.body}}
			w := newWire(t, answers)
			wireEnv(t, w.URL)
			if tc.env != nil {
				for k, v := range tc.env(w.URL) {
					t.Setenv(k, v)
				}
			}
			registry := prometheus.NewPedanticRegistry()
			r := NewReader(WithRegisterer(registry), func(o *options) {
				o.tune = func(s *sdk) { s.maxBackoff, s.http = time.Millisecond, s.http.WithTimeout(300*time.Millisecond) }
			})
			read := func(wait time.Duration) pool.Reading {
				ctx, cancel := context.WithTimeout(context.Background(), wait)
				defer cancel()
				return r.Read(ctx, pool.Query{Identity: tc.id, Region: "us-east-1", GroupName: "demo"})
			}
			if got := read(100 * time.Millisecond); got.Group.Failed() && got.Group.Err.Reason != pool.ReadTimedOut {
				t.Errorf("\n%s\nwhile it stalls: want TimedOut, got %+v", tc.reason, got.Group)
			}
			if got := read(readBudget); !got.Group.Known() || !got.Instances.Known() {
				t.Errorf("\n%s\nafter that: want a reading, got %+v, %+v", tc.reason, got.Group.Err, got.Instances.Err)
			}
			// Pod Identity's agent is not AWS.
			want := map[string]float64{}
			if tc.action != "" {
				want["machinepool_aws_calls_total sts:"+tc.action+" OK"] = 1
				want["machinepool_aws_requests_total sts:"+tc.action] = 2
			}
			counted := counters(t, registry, "machinepool_aws_calls_total", "machinepool_aws_requests_total")
			for k, n := range counted {
				if strings.HasPrefix(k, "machinepool_aws_requests_total") && !strings.Contains(k, "sts:") && n > 2 {
					t.Errorf("\n%s\nwant at most two requests to read twice, got %s: %v", tc.reason, k, n)
				}
			}
			maps.DeleteFunc(counted, func(k string, _ float64) bool { return !strings.Contains(k, "sts:") })
			if diff := cmp.Diff(want, counted); diff != "" {
				t.Errorf("\n%s\nsigning in is counted: -want, +got:\n%s", tc.reason, diff)
			}
			if n := w.actions()[tc.action]; n != 2 {
				t.Errorf("\n%s\nwant it asked for again once, got %d requests", tc.reason, n)
			}
		})
	}
}

func TestEndpointsPerService(t *testing.T) {
	answers := okAnswers()
	groups, instances := newWire(t, answers), newWire(t, answers)
	wireEnv(t, "http://127.0.0.1:1")
	t.Setenv("AWS_ENDPOINT_URL_AUTO_SCALING", groups.URL)
	t.Setenv("AWS_ENDPOINT_URL_EC2", instances.URL)
	got := newWireReader(&recorder{}).Read(context.Background(), pool.Query{Identity: secretIdentity(canaryKeyID), Region: "us-east-1", GroupName: "demo"})
	if !got.Group.Known() || !got.Instances.Known() {
		t.Errorf("want a reading, got %+v, %+v", got.Group.Err, got.Instances.Err)
	}
	if diff := cmp.Diff([]map[string]int{{"DescribeAutoScalingGroups": 1}, {"DescribeInstances": 1}}, []map[string]int{groups.actions(), instances.actions()}); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
}

// TestRegionsShareTheirConnections holds that no region has connections, and certificates of its own, where AWS_CA_BUNDLE is set.
func TestRegionsShareTheirConnections(t *testing.T) {
	server := httptest.NewTLSServer(http.NotFoundHandler())
	defer server.Close()
	bundle := filepath.Join(t.TempDir(), "ca.pem")
	block := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	if err := os.WriteFile(bundle, block, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("AWS_CA_BUNDLE", bundle)
	s := newSDK(logging.NewNopLogger(), newMetrics(prometheus.NewRegistry()))
	used := map[awssdk.HTTPClient]bool{}
	for i := range 3 {
		c, err := s.clients(t.Context(), secretIdentity(canaryKeyID), madeUpRegion(i))
		if err != nil {
			t.Fatal(err)
		}
		used[c.EC2.(*ec2.Client).Options().HTTPClient] = true
		used[c.AutoScaling.(*autoscaling.Client).Options().HTTPClient] = true
	}
	if len(used) != 1 {
		t.Errorf("want one client for all regions, got %d", len(used))
	}
}
