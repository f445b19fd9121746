//go:build moto

package aws_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/crossplane-contrib/function-aws-machinepool/apis/v1alpha1"
	"github.com/crossplane-contrib/function-aws-machinepool/internal/simulator"
	"github.com/crossplane-contrib/function-aws-machinepool/test/aws/moto"
)

// settleTime is how long a change may take to show. Answers are cached for half a second here.
const settleTime = 20 * time.Second

// account is moto's.
const account = "123456789012"

// A machinePool is a MachinePool whose control plane is the simulator's, whose function is the real binary, and whose AWS is moto.
// provider-aws is played. It creates and updates the template and the group in moto, and reports what it sees.
type machinePool struct {
	*simulator.Crossplane

	// credentials of the pipeline step.
	credentials map[string]*fnv1.Credentials
	// idle stops the provider, so that moto hears of the function only.
	idle bool

	t    *testing.T
	moto *moto.Server
	fn   *function
	// events since they were last taken.
	events []string
	ready  fnv1.Ready
	// sent to AWS last, by the group's name.
	sent map[string]string
}

// newPool is a common pool, with the Input's aws section as given. Its images are moto's own account's.
func newPool(t *testing.T, fn *function, m *moto.Server, name, aws string) *machinePool {
	t.Helper()
	domains := map[string]any{}
	for _, zone := range []string{"us-east-1a", "us-east-1b"} {
		domains[zone] = map[string]any{"subnet_id": m.Call(t, "ec2", region, "DescribeSubnets", moto.Params{"Filter.1.Name": "availability-zone", "Filter.1.Value.1": zone}).First(t, "subnetId")}
	}
	xr := object(t, `
apiVersion: aws.machinepool.fn.crossplane.io/v1alpha1
kind: MachinePool
metadata: {name: `+name+`, namespace: team-a}
spec:
  cluster:
    exports:
      schema: captf.io/aws-cluster/v1
      region: us-east-1
      kubernetes_cluster_id: demo-1960e37c
      security_group_ids: {worker: [sg-0e0000000000000e1]}
      instance_profiles: {worker: demo-worker}
      bootstrap_bucket: demo-bootstrap
  kubernetesVersion: v1.34.1+rke2r1
  replicas: 3
  autoscaling: {minReplicas: 0, maxReplicas: 6, scaler: External}
  instanceType: m6i.large
  machineImage: {owner: "`+account+`"}
  bootstrap: {dataSecretRef: {name: bootstrap}}
`)
	simulator.SetField(xr, domains, "spec", "cluster", "exports", "failure_domains")
	p := &machinePool{t: t, moto: m, fn: fn, sent: map[string]string{}}
	p.Crossplane = simulator.NewCrossplane(p, &simulator.Clock{}, xr, object(t, `
apiVersion: machinepool.fn.crossplane.io/v1beta1
kind: Input
aws: `+aws+`
refresh: {stableSeconds: 1, changingSeconds: 1}
`))
	p.Objects[simulator.ObjectKey("Secret", "team-a", "bootstrap")] = object(t, `
apiVersion: v1
kind: Secret
metadata: {name: bootstrap, namespace: team-a}
data: {value: `+base64.StdEncoding.EncodeToString([]byte("#cloud-config\nruncmd: [echo "+canary+"]\n"))+`}
`)
	return p
}

func object(t *testing.T, text string) simulator.Object {
	t.Helper()
	out := simulator.Object{}
	if err := yaml.Unmarshal([]byte(text), &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// signIn with a shared-credentials INI.
func (p *machinePool) signIn(keyID, secret string) {
	p.present("[default]\naws_access_key_id = " + keyID + "\naws_secret_access_key = " + secret + "\n")
}

// present the text as the pipeline step's credential.
func (p *machinePool) present(ini string) {
	p.credentials = map[string]*fnv1.Credentials{"aws-creds": {Source: &fnv1.Credentials_CredentialData{
		CredentialData: &fnv1.CredentialData{Data: map[string][]byte{"credentials": []byte(ini)}},
	}}}
}

// RunFunction calls the binary, with the step's credentials, as Crossplane does.
func (p *machinePool) RunFunction(ctx context.Context, req *fnv1.RunFunctionRequest) (*fnv1.RunFunctionResponse, error) {
	req.Credentials = p.credentials
	rsp, err := p.fn.RunFunction(ctx, req)
	if text := rsp.String(); strings.Contains(withoutPayload(rsp), canary) {
		p.t.Errorf("the response shows what is secret: %s", text)
	}
	return rsp, err
}

// withoutPayload is a response less the bootstrap object, which is where the payload belongs.
func withoutPayload(rsp *fnv1.RunFunctionResponse) string {
	var out strings.Builder
	for name, r := range rsp.GetDesired().GetResources() {
		if name != "bootstrap-object" {
			out.WriteString(r.String())
		}
	}
	for _, r := range rsp.GetResults() {
		out.WriteString(r.String())
	}
	for _, c := range rsp.GetConditions() {
		out.WriteString(c.String())
	}
	return out.String() + rsp.GetDesired().GetComposite().String()
}

// run the function once, and the provider after it.
func (p *machinePool) run() v1alpha1.MachinePoolStatus {
	p.t.Helper()
	r := p.Reconcile(p.t.Context(), simulator.ReconcileOptions{})
	if r.Err != nil || r.Fatal {
		p.t.Fatalf("cannot reconcile: %v, %v", r.Err, r.Response.GetResults())
	}
	if len(r.Deleted) > 0 && slices.Contains(r.Deleted, "autoscaling-group") {
		p.t.Fatalf("the group was deleted, with %v", r.Deleted)
	}
	for _, e := range r.Response.GetResults() {
		p.events = append(p.events, e.GetReason()+": "+e.GetMessage())
	}
	p.ready = r.Response.GetDesired().GetComposite().GetReady()
	if !p.idle {
		p.provide()
	}
	return p.status()
}

func (p *machinePool) status() v1alpha1.MachinePoolStatus {
	p.t.Helper()
	var s v1alpha1.MachinePoolStatus
	b, err := json.Marshal(p.XR["status"])
	if err != nil {
		p.t.Fatal(err)
	}
	if err := json.Unmarshal(b, &s); err != nil {
		p.t.Fatal(err)
	}
	return s
}

// condition of the composite: its status and reason, and its message.
func (p *machinePool) condition(kind string) (what, message string) {
	list, _ := simulator.Field(p.XR, "status", "conditions").([]any)
	for _, c := range list {
		if simulator.Text(c, "type") == kind {
			return simulator.Text(c, "status") + " " + simulator.Text(c, "reason"), simulator.Text(c, "message")
		}
	}
	return "", ""
}

// until runs the function until the status is as wanted.
func (p *machinePool) until(what string, want func(v1alpha1.MachinePoolStatus) bool) v1alpha1.MachinePoolStatus {
	p.t.Helper()
	deadline := time.Now().Add(settleTime)
	for {
		s := p.run()
		if want(s) {
			return s
		}
		if time.Now().After(deadline) {
			b, _ := yaml.Marshal(p.XR["status"])
			p.t.Fatalf("%s: not within %s; the status is\n%s", what, settleTime, b)
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// takeEvents returns and forgets them.
func (p *machinePool) takeEvents() []string {
	e := p.events
	p.events = nil
	return e
}

// wantQuiet holds that further runs, each with an answer of its own from AWS, change and tell nothing.
func (p *machinePool) wantQuiet(when string) {
	p.t.Helper()
	p.takeEvents()
	before := simulator.Clone(p.XR)
	for range 2 {
		time.Sleep(550 * time.Millisecond)
		p.run()
	}
	if diff := cmp.Diff(before, p.XR); diff != "" {
		p.t.Errorf("%s: want the composite to stay as it is: -want, +got:\n%s", when, diff)
	}
	if e := p.takeEvents(); len(e) > 0 {
		p.t.Errorf("%s: want no event, got %q", when, e)
	}
}

func (p *machinePool) wantHealth(when, state string, healthy bool, message string, reasons ...string) {
	p.t.Helper()
	want := &v1alpha1.Health{State: state, Healthy: healthy, Message: message, Reasons: reasons}
	if diff := cmp.Diff(want, p.status().Health); diff != "" {
		p.t.Errorf("%s: health: -want, +got:\n%s", when, diff)
	}
}

func (p *machinePool) wantConditions(when string, want map[string]string) {
	p.t.Helper()
	got := map[string]string{}
	for kind := range want {
		got[kind], _ = p.condition(kind)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		p.t.Errorf("%s: conditions: -want, +got:\n%s", when, diff)
	}
}

// publish an image of the name, and return its id.
func publish(t *testing.T, m *moto.Server, name string) string {
	t.Helper()
	base := m.Call(t, "ec2", region, "DescribeImages", nil).First(t, "imageId")
	instance := m.Call(t, "ec2", region, "RunInstances", moto.Params{"ImageId": base, "MinCount": "1", "MaxCount": "1"}).First(t, "instanceId")
	image := m.Call(t, "ec2", region, "CreateImage", moto.Params{"InstanceId": instance, "Name": name}).First(t, "imageId")
	m.Call(t, "ec2", region, "TerminateInstances", moto.Params{"InstanceId.1": instance})
	return image
}

// provide plays provider-aws.
func (p *machinePool) provide() {
	p.t.Helper()
	for _, name := range slices.Sorted(maps.Keys(p.MRs)) {
		mr := p.MRs[name]
		switch mr["kind"] {
		case "LaunchTemplate":
			p.provideTemplate(mr)
		case "AutoscalingGroup":
			p.provideGroup(mr)
		default:
			simulator.SetField(mr, "there", "status", "atProvider", "id")
		}
		conditions := []any{}
		for kind, reason := range map[string]string{"Ready": "Available", "Synced": "ReconcileSuccess"} {
			conditions = append(conditions, simulator.Object{"type": kind, "status": "True", "reason": reason})
		}
		slices.SortFunc(conditions, func(a, b any) int {
			return strings.Compare(simulator.Text(a, "type"), simulator.Text(b, "type"))
		})
		simulator.SetField(mr, conditions, "status", "conditions")
	}
}

func (p *machinePool) provideTemplate(mr simulator.Object) {
	p.t.Helper()
	if simulator.Text(mr, "status", "atProvider", "id") != "" {
		return
	}
	id := p.moto.Call(p.t, "ec2", region, "CreateLaunchTemplate", moto.Params{
		"LaunchTemplateName":              simulator.Text(mr, "spec", "forProvider", "name"),
		"LaunchTemplateData.ImageId":      simulator.Text(mr, "spec", "forProvider", "imageId"),
		"LaunchTemplateData.InstanceType": simulator.Text(mr, "spec", "forProvider", "instanceType"),
	}).First(p.t, "launchTemplateId")
	simulator.SetField(mr, id, "status", "atProvider", "id")
}

func (p *machinePool) provideGroup(mr simulator.Object) {
	p.t.Helper()
	name := simulator.Text(mr, "metadata", "annotations", "crossplane.io/external-name")
	template := simulator.Text(mr, "spec", "forProvider", "launchTemplate", "id")
	params := moto.Params{
		"AutoScalingGroupName":            name,
		"LaunchTemplate.LaunchTemplateId": template,
		"LaunchTemplate.Version":          simulator.Text(mr, "spec", "forProvider", "launchTemplate", "version"),
		"MinSize":                         number(mr, "spec", "forProvider", "minSize"),
		"MaxSize":                         number(mr, "spec", "forProvider", "maxSize"),
	}
	sent := fmt.Sprint(params)
	switch p.sent[name] {
	case sent:
		return
	case "":
		params["DesiredCapacity"] = number(mr, "spec", "initProvider", "desiredCapacity")
		params["VPCZoneIdentifier"] = strings.Join(simulator.Texts(mr, "spec", "forProvider", "vpcZoneIdentifier"), ",")
		p.moto.Call(p.t, "autoscaling", region, "CreateAutoScalingGroup", params)
	default:
		p.moto.Call(p.t, "autoscaling", region, "UpdateAutoScalingGroup", params)
	}
	p.sent[name] = sent
	group := p.moto.Call(p.t, "autoscaling", region, "DescribeAutoScalingGroups", moto.Params{"AutoScalingGroupNames.member.1": name})
	simulator.SetField(mr, simulator.Object{
		"id":              name,
		"arn":             group.First(p.t, "AutoScalingGroupARN"),
		"launchTemplate":  simulator.Object{"id": template},
		"desiredCapacity": float64(3),
	}, "status", "atProvider")
}

func number(o simulator.Object, path ...string) string {
	n, _ := simulator.Number(o, path...)
	return fmt.Sprint(n)
}
