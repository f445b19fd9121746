package main

import (
	"context"
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode"

	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/crossplane-contrib/function-aws-machinepool/apis/v1alpha1"
	"github.com/crossplane-contrib/function-aws-machinepool/internal/condition"
	"github.com/crossplane-contrib/function-aws-machinepool/internal/naming"
	"github.com/crossplane-contrib/function-aws-machinepool/internal/pool"
)

// The tests of this file are attacks by whoever may create a pool, write its status, or publish an object that it names.
// SECURITY.md says who that is. Each attack was carried out once.

// victimsGroup is the group of another team.
const victimsGroup = "mp-team-b-payments-0123abcd"

// attackerGroup is the name that the attacker's pool has by computation.
const attackerGroup = "mp-team-a-demo-pool-0-bfc02ea5ebb16afd"

// attack is a request of a pool of namespace team-a with this spec, status and Input on top of what every pool needs.
func attack(tb testing.TB, spec, status, input string) *fnv1.RunFunctionRequest {
	tb.Helper()
	req := &fnv1.RunFunctionRequest{
		Meta:  &fnv1.RequestMeta{Tag: "attack"},
		Input: structOf(tb, "apiVersion: machinepool.fn.crossplane.io/v1beta1\nkind: Input\n"+input),
		Observed: &fnv1.State{Composite: &fnv1.Resource{Resource: structOf(tb, `
apiVersion: aws.machinepool.fn.crossplane.io/v1alpha1
kind: MachinePool
metadata: {name: demo-pool-0, namespace: team-a, creationTimestamp: "2026-11-29T12:00:00Z"}
spec:
  cluster:
    exports:
      schema: captf.io/aws-cluster/v1
      region: us-east-1
      kubernetes_cluster_id: demo-1960e37c
      failure_domains: {us-east-1a: {subnet_id: subnet-0aaa0000000000001}}
      security_group_ids: {worker: [sg-0e0000000000000e1]}
      instance_profiles: {worker: demo-worker}
      bootstrap_bucket: demo-bootstrap
  kubernetesVersion: v1.34.1
  replicas: 0
  machineImage: {id: ami-0123456789abcdef0}
  bootstrap: {dataSecretRef: {name: demo-pool-0}}
`)}},
		RequiredResources: map[string]*fnv1.Resources{"bootstrap-data": {Items: []*fnv1.Resource{{Resource: structOf(tb, `
apiVersion: v1
kind: Secret
metadata: {name: demo-pool-0, namespace: team-a}
data: {value: `+base64.StdEncoding.EncodeToString([]byte("#cloud-config\n{}\n"))+`}
`)}}}},
	}
	xr := req.GetObserved().GetComposite().GetResource().GetFields()
	if spec != "" {
		setSpec(tb, req, spec)
	}
	if status != "" {
		xr["status"] = structpb.NewStructValue(structOf(tb, status))
	}
	return req
}

// readsAWS is an Input with which the function reads AWS.
const readsAWS = "aws: {identity: Pod}"

// run a request as often as it takes a new pool to get its group, and return every response.
func run(t *testing.T, reader AWSReader, req *fnv1.RunFunctionRequest) []*fnv1.RunFunctionResponse {
	t.Helper()
	f := NewFunction(WithAWSReader(reader))
	var rsps []*fnv1.RunFunctionResponse
	for range 5 {
		rsp, err := f.RunFunction(context.Background(), proto.CloneOf(req))
		if err != nil {
			t.Fatalf("RunFunction(...): %v", err)
		}
		rsps = append(rsps, rsp)
		if isFatal(rsp) {
			break
		}
		req = observe(t, req, rsp)
	}
	return rsps
}

func isFatal(rsp *fnv1.RunFunctionResponse) bool {
	return slices.ContainsFunc(rsp.GetResults(), func(r *fnv1.Result) bool { return r.GetSeverity() == fnv1.Severity_SEVERITY_FATAL })
}

// said is every text that a response says to people.
func said(rsp *fnv1.RunFunctionResponse) []string {
	var out []string
	for _, r := range rsp.GetResults() {
		out = append(out, r.GetMessage())
	}
	for _, c := range rsp.GetConditions() {
		out = append(out, c.GetMessage(), c.GetReason())
	}
	status := rsp.GetDesired().GetComposite().GetResource().GetFields()["status"].GetStructValue().GetFields()
	for _, part := range []string{"health", "rollout"} {
		out = append(out, status[part].GetStructValue().GetFields()["message"].GetStringValue())
	}
	return out
}

// nothingNames fails for a text that stands anywhere in what is desired, names of resources and statuses included.
func nothingNames(t *testing.T, rsps []*fnv1.RunFunctionResponse, text string) {
	t.Helper()
	for i, rsp := range rsps {
		if d := rsp.GetDesired().String(); strings.Contains(d, text) {
			at := strings.Index(d, text)
			t.Errorf("run %d: what is desired names %q: ...%s...", i, text, d[max(0, at-80):min(len(d), at+len(text)+20)])
		}
	}
}

// groupsName is the one that the group is given when it is first composed.
func groupsName(rsps []*fnv1.RunFunctionResponse) string {
	for _, rsp := range rsps {
		if name := externalName(rsp); name != "" {
			return name
		}
	}
	return ""
}

func externalName(rsp *fnv1.RunFunctionResponse) string {
	return rsp.GetDesired().GetResources()[resourceGroup].GetResource().GetFields()["metadata"].GetStructValue().
		GetFields()["annotations"].GetStructValue().GetFields()["crossplane.io/external-name"].GetStringValue()
}

// A pool without a group, whose status names another team's: the provider would have scaled that group to 0 replicas and
// put the attacker's launch template into it.
func TestAStatusDoesNotNameAnotherPoolsGroup(t *testing.T) {
	for name, input := range map[string]string{"None": "", "Pod": readsAWS} {
		t.Run(name, func(t *testing.T) {
			req := attack(t, "", "{autoscalingGroupName: "+victimsGroup+", ready: true}", input)
			rsps := run(t, victimsAWS(t), req)
			if got := groupsName(rsps); got != attackerGroup {
				t.Errorf("the group's name is %q, want %q", got, attackerGroup)
			}
			nothingNames(t, rsps[1:], victimsGroup)
			// Until the pool has a group, its status keeps what it says. Nothing is made of it.
			for resource, r := range rsps[0].GetDesired().GetResources() {
				if strings.Contains(r.String(), victimsGroup) {
					t.Errorf("%s names the victim's group", resource)
				}
			}
		})
	}
}

// victimsAWS has the victim's group. It fails the test when it is asked for the group or for its members.
func victimsAWS(t *testing.T) AWSReader {
	return AWSReaderFn(func(_ context.Context, q pool.Query) pool.Reading {
		if q.GroupName == victimsGroup || slices.Contains(q.Claims, victimsGroup) {
			t.Errorf("AWS is asked for the group %s", victimsGroup)
		}
		r := pool.Reading{Claims: free(q)}
		if q.GroupName != "" {
			r.Group = pool.Read[*pool.Group]{Asked: true, Value: &pool.Group{Name: q.GroupName}}
			r.Instances = pool.Read[[]pool.Instance]{Asked: true}
		}
		return r
	})
}

// TestAnObjectOfAnotherKindIsNotThePoolsGroup holds that an object of the tenant's own, which spec.crossplane.resourceRefs makes Crossplane
// show under the name of the pool's group, template or staged object, names nothing in AWS.
func TestAnObjectOfAnotherKindIsNotThePoolsGroup(t *testing.T) {
	forged := structOf(t, `{apiVersion: v1, kind: ConfigMap,
		metadata: {name: forged, namespace: team-a, annotations: {crossplane.io/external-name: `+victimsGroup+`}},
		spec: {forProvider: {name: `+victimsGroup+`-497384ff, bucket: `+victimsGroup+`, key: `+victimsGroup+`, region: us-east-1}},
		status: {atProvider: {id: `+victimsGroup+`, arn: "arn:aws:autoscaling:us-east-1:123456789012:autoScalingGroup:x:autoScalingGroupName/`+victimsGroup+`"}}}`)
	for _, name := range []string{resourceGroup, resourceObject, "launch-template-497384ff"} {
		t.Run(name, func(t *testing.T) {
			req := attack(t, "", "", readsAWS)
			if req.Observed.Resources == nil {
				req.Observed.Resources = map[string]*fnv1.Resource{}
			}
			req.Observed.Resources[name] = &fnv1.Resource{Resource: forged}
			nothingNames(t, run(t, victimsAWS(t), req), victimsGroup)
		})
	}
}

// The group's managed resource lost its annotations, as in a restore, and the status was written by the attacker.
func TestAStatusDoesNotNameTheGroupOfARestoredPool(t *testing.T) {
	rsps := run(t, victimsAWS(t), attack(t, "", "", readsAWS))
	req := attack(t, "", "{autoscalingGroupName: "+victimsGroup+"}", readsAWS)
	req = observe(t, req, rsps[len(rsps)-1])
	req.Observed.Composite.Resource.Fields["status"] = structpb.NewStructValue(structOf(t, "{autoscalingGroupName: "+victimsGroup+"}"))
	group := req.GetObserved().GetResources()[resourceGroup].GetResource()
	delete(group.GetFields()["metadata"].GetStructValue().GetFields(), "annotations")
	delete(group.GetFields(), "status")

	rsps = run(t, victimsAWS(t), req)
	if got := externalName(rsps[0]); got != attackerGroup {
		t.Errorf("the group's name is %q, want %q, which the pool's launch template was named after", got, attackerGroup)
	}
	nothingNames(t, rsps, victimsGroup)
}

// A pool of which AWS says that the group of its name is another's composes nothing.
func TestAStrangersGroupIsNotTakenOver(t *testing.T) {
	owners := map[string]naming.Pool{
		"NoTags":           {},
		"AnotherNamespace": {ClusterID: "demo-1960e37c", Namespace: "team-b", Name: "demo-pool-0"},
		"AnotherCluster":   {ClusterID: "prod", Namespace: "team-a", Name: "demo-pool-0"},
		"ClusterScoped":    {ClusterID: "demo-1960e37c", Name: "demo-pool-0"},
	}
	for name, owner := range owners {
		t.Run(name, func(t *testing.T) {
			aws := AWSReaderFn(func(_ context.Context, q pool.Query) pool.Reading {
				r := pool.Reading{Claims: free(q)}
				r.Claims[attackerGroup] = pool.Read[*pool.Claim]{Asked: true, Value: &pool.Claim{Owner: owner, MaxSize: 3, Members: 3}}
				return r
			})
			for i, rsp := range run(t, aws, attack(t, "", "", readsAWS)) {
				if n := len(rsp.GetDesired().GetResources()); n > 0 || isFatal(rsp) {
					t.Errorf("run %d: %d resources are desired, fatal %t", i, n, isFatal(rsp))
				}
				if c := conditionIn(rsp, v1alpha1.ConditionInfrastructureReady); c.GetReason() != "GroupNameTaken" {
					t.Errorf("run %d: InfrastructureReady says %s: %s", i, c.GetReason(), c.GetMessage())
				}
			}
		})
	}
}

func conditionIn(rsp *fnv1.RunFunctionResponse, t condition.Type) *fnv1.Condition {
	for _, c := range rsp.GetConditions() {
		if c.GetType() == t {
			return c
		}
	}
	return nil
}

// The status of a pool that exists names another's group: what is read stays the pool's own.
func TestAStatusDoesNotShowAnotherGroupsMembers(t *testing.T) {
	rsps := run(t, victimsAWS(t), attack(t, "", "", readsAWS))
	req := observe(t, attack(t, "", "", readsAWS), rsps[len(rsps)-1])
	req.Observed.Composite.Resource.Fields["status"] = structpb.NewStructValue(structOf(t, "{autoscalingGroupName: "+victimsGroup+", providerID: 'arn:aws:autoscaling:us-east-1:123456789012:autoScalingGroup:1:autoScalingGroupName/"+victimsGroup+"'}"))
	nothingNames(t, run(t, victimsAWS(t), req), victimsGroup)
}

// Names of launch templates follow the group's name, so a forged one took those of the victim's next roll.
func TestAStatusDoesNotTakeAnotherPoolsTemplateNames(t *testing.T) {
	for _, rsp := range run(t, victimsAWS(t), attack(t, "", "{autoscalingGroupName: "+victimsGroup+"}", "")) {
		for name, r := range rsp.GetDesired().GetResources() {
			shown := r.GetResource().GetFields()["spec"].GetStructValue().GetFields()["forProvider"].GetStructValue().GetFields()["name"].GetStringValue()
			if strings.HasPrefix(name, "launch-template-") && !strings.HasPrefix(shown, attackerGroup+"-") {
				t.Errorf("%s has the name %q", name, shown)
			}
		}
	}
}

// An attempt with a number of 63 bits made the function count down from it, for ever, on one core a call.
func TestAStatusDoesNotKeepTheFunctionBusy(t *testing.T) {
	const key = "497384ff"
	for _, number := range []string{"9000000000000000000", "9223372036854775807", "80000000", "99999", "-1"} {
		status := "{rollout: {rollKey: " + key + ", phase: Idle, retiredAttempts: ['" + key + "-" + number + "']}}"
		for _, rsp := range run(t, victimsAWS(t), attack(t, "", status, "")) {
			for name := range rsp.GetDesired().GetResources() {
				attempt, ok := naming.AttemptOfTemplate(name)
				if ok && (attempt.RollKey != key || attempt.Number > naming.MaxAttempt) {
					t.Errorf("with attempt %s let go, %s is composed", number, name)
				}
			}
		}
	}
}

// A status of many attempts, whatever they are, costs what ten cost.
func TestManyRetiredAttemptsAreForgotten(t *testing.T) {
	attempts := make([]string, 5000)
	for i := range attempts {
		attempts[i] = fmt.Sprintf("'%s-%d'", strings.Repeat("a", 1+i%100), i)
	}
	rsp := run(t, victimsAWS(t), attack(t, "", "{rollout: {retiredAttempts: ["+strings.Join(attempts, ", ")+"]}}", ""))[0]
	kept := rsp.GetDesired().GetComposite().GetResource().GetFields()["status"].GetStructValue().GetFields()["rollout"].GetStructValue().GetFields()["retiredAttempts"].GetListValue().GetValues()
	if len(kept) > 10 {
		t.Errorf("%d attempts are remembered, want 10 at most", len(kept))
	}
}

const canaryOfAnother = "canary-of-another-teams-object-3f2e"

// foreign is an object that holds a canary in every place that a pool reads, under the key that names the case.
func foreign(t *testing.T, namespace, fields string) *fnv1.Resources {
	t.Helper()
	object := structOf(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: app}, data: "+fields+"}")
	if namespace != "" {
		object.GetFields()["metadata"].GetStructValue().Fields["namespace"] = structpb.NewStringValue(namespace)
	}
	return &fnv1.Resources{Items: []*fnv1.Resource{{Resource: object}}}
}

// Whatever an object holds that a pool names, no message repeats any of it.
func TestAnothersObjectIsNotQuoted(t *testing.T) {
	complete := `schema: captf.io/aws-cluster/v1, region: us-east-1, kubernetes_cluster_id: demo-1960e37c, failure_domains: {us-east-1a: {subnet_id: subnet-0aaa0000000000001}}, security_group_ids: {worker: [sg-0e0000000000000e1]}, instance_profiles: {worker: demo-worker}, bootstrap_bucket: demo-bootstrap`
	with := func(field, value string) string {
		return "{" + strings.Replace(complete, field, value, 1) + "}"
	}
	const canary = canaryOfAnother
	cases := map[string]string{
		"Schema":           with("captf.io/aws-cluster/v1", canary),
		"SchemaAlone":      "{schema: " + canary + "}",
		"LongSchema":       "{schema: '" + strings.Repeat(canary, 30_000) + "'}",
		"Region":           with("us-east-1,", canary+"!,"),
		"ClusterID":        with("demo-1960e37c", "'"+canary+" *'"),
		"Zone":             with("us-east-1a", "'"+canary+"'"),
		"ZoneWithoutNet":   with("us-east-1a: {subnet_id: subnet-0aaa0000000000001}", "'"+canary+"': {}"),
		"ZoneOfText":       with("us-east-1a: {subnet_id: subnet-0aaa0000000000001}", "'"+canary+"': '"+canary+"'"),
		"Subnet":           with("subnet-0aaa0000000000001", canary),
		"SubnetOfAnother":  with("subnet_id: subnet-0aaa0000000000001", "subnet_id: {"+canary+": 1}"),
		"SecurityGroup":    with("sg-0e0000000000000e1", canary),
		"SecurityGroups":   with("[sg-0e0000000000000e1]", "{"+canary+": 1}"),
		"Profile":          with("demo-worker", "'"+canary+"/x'"),
		"Bucket":           with("demo-bootstrap", "'"+canary+"/x'"),
		"TextAsExports":    "'" + canary + "'",
		"ListAsExports":    "[" + canary + "]",
		"UnknownFields":    with("bootstrap_bucket: demo-bootstrap", canary+": {"+canary+": "+canary+"}"),
		"ZoneOfThePool":    with("us-east-1a", "us-east-1z"),
		"NothingOfExports": "{" + canary + ": " + canary + "}",
	}
	for name, data := range cases {
		t.Run(name, func(t *testing.T) {
			req := attack(t, "cluster: {exportsFrom: {apiVersion: v1, kind: ConfigMap, name: app, fieldPath: data}}", "", "")
			req.GetRequiredResources()["cluster-exports"] = foreign(t, "team-a", data)
			for i, rsp := range run(t, victimsAWS(t), req) {
				for _, text := range said(rsp) {
					if strings.Contains(text, canary[:12]) || strings.Contains(text, "us-east-1z") {
						t.Errorf("run %d says %q", i, text)
					}
				}
			}
		})
	}
}

// An object of another namespace, or without one, is not asked for, and that it is there is not told: whether it exists and
// whatever it holds, the answer is the same.
func TestAnothersObjectIsNotProbed(t *testing.T) {
	cases := map[string]string{
		"AnotherNamespace": "{apiVersion: v1, kind: ConfigMap, name: app, namespace: team-b, fieldPath: data}",
		"AnotherKind":      "{apiVersion: apps/v1, kind: Deployment, name: app, namespace: team-b, fieldPath: 'spec.replicas[7]'}",
		"Secret":           "{apiVersion: v1, kind: Secret, name: app, fieldPath: data}",
	}
	for name, ref := range cases {
		t.Run(name, func(t *testing.T) {
			var first string
			for i, object := range []*fnv1.Resources{nil, {}, foreign(t, "team-b", "{}"), foreign(t, "team-b", "{schema: "+canaryOfAnother+"}"), foreign(t, "team-b", "'"+canaryOfAnother+"'")} {
				req := attack(t, "cluster: {exportsFrom: "+ref+"}", "", "")
				if object != nil {
					req.GetRequiredResources()["cluster-exports"] = object
				}
				rsp := run(t, victimsAWS(t), req)[0]
				if _, asked := rsp.GetRequirements().GetResources()["cluster-exports"]; asked {
					t.Errorf("object %d is asked for", i)
				}
				answer := strings.Join(said(rsp), "\n")
				if i == 0 {
					first = answer
				}
				if answer != first {
					t.Errorf("object %d is told apart:\n%s\nand without it:\n%s", i, answer, first)
				}
				if !isFatal(rsp) {
					t.Errorf("object %d: a new pool that names it is not refused", i)
				}
			}
		})
	}
}

// TestAnObjectThatWasNotAskedForIsNotRead holds that nothing is read of an object that is not the one which the pool names, and
// that the pool says the same as where there is none. A request that names a namespace finds a cluster-scoped object as well.
func TestAnObjectThatWasNotAskedForIsNotRead(t *testing.T) {
	ask := func(found *fnv1.Resources) *fnv1.RunFunctionResponse {
		req := attack(t, "cluster: {exportsFrom: {apiVersion: v1, kind: ConfigMap, name: app, fieldPath: data}}", "", "")
		req.GetRequiredResources()["cluster-exports"] = found
		return run(t, victimsAWS(t), req)[0]
	}
	none := ask(&fnv1.Resources{})
	if c := conditionIn(none, v1alpha1.ConditionClusterExportsAvailable); c.GetReason() != "NotFound" {
		t.Errorf("without an object: ClusterExportsAvailable says %s: %s", c.GetReason(), c.GetMessage())
	}
	for name, other := range map[string]string{
		"ClusterScoped":  "{apiVersion: v1, kind: ConfigMap, metadata: {name: app}, data: {schema: captf.io/aws-cluster/v1}}",
		"OtherNamespace": "{apiVersion: v1, kind: ConfigMap, metadata: {name: app, namespace: team-b}, data: {schema: captf.io/aws-cluster/v1}}",
		"OtherName":      "{apiVersion: v1, kind: ConfigMap, metadata: {name: other, namespace: team-a}, data: x}",
		"OtherKind":      "{apiVersion: v1, kind: Secret, metadata: {name: app, namespace: team-a}, data: {schema: x}}",
	} {
		t.Run(name, func(t *testing.T) {
			rsp := ask(&fnv1.Resources{Items: []*fnv1.Resource{{Resource: structOf(t, other)}}})
			if diff := cmp.Diff(none, rsp, protocmp.Transform()); diff != "" {
				t.Errorf("-response without an object, +with one that was not asked for:\n%s", diff)
			}
		})
	}
}

// TestAClusterScopedKindIsAskedFor holds that the platform can let pools name objects without a namespace.
func TestAClusterScopedKindIsAskedFor(t *testing.T) {
	req := attack(t, "cluster: {exportsFrom: {apiVersion: v1, kind: Node, name: app, fieldPath: data}}", "", "exportsFrom: {clusterKinds: [{apiVersion: v1, kind: Node}]}")
	asked := run(t, victimsAWS(t), req)[0].GetRequirements().GetResources()["cluster-exports"]
	if asked == nil || asked.Namespace != nil {
		t.Errorf("a kind that the platform lists is asked for as %v, want it without a namespace", asked)
	}
}

// A Secret of another namespace is not asked for, and one text says so whether it exists or not.
func TestAnothersSecretIsNotProbed(t *testing.T) {
	var first string
	for i, secret := range []*fnv1.Resources{nil, {}, {Items: []*fnv1.Resource{{Resource: structOf(t, "{data: {}}")}}}, {Items: []*fnv1.Resource{{Resource: structOf(t, "{data: {value: YQ==, format: eA==}}")}}}} {
		req := attack(t, "bootstrap: {dataSecretRef: {name: token, namespace: kube-system}}", "", "")
		delete(req.GetRequiredResources(), "bootstrap-data")
		if secret != nil {
			req.GetRequiredResources()["bootstrap-data"] = secret
		}
		rsp := run(t, victimsAWS(t), req)[0]
		if _, asked := rsp.GetRequirements().GetResources()["bootstrap-data"]; asked {
			t.Errorf("Secret %d is asked for", i)
		}
		answer := strings.Join(said(rsp), "\n")
		if i == 0 {
			first = answer
		}
		if answer != first || !isFatal(rsp) {
			t.Errorf("Secret %d is told apart, or not refused:\n%s\nand without it:\n%s", i, answer, first)
		}
	}
}

// Texts of others are bounded and one line, wherever they come from.
func TestAMessageFitsIntoACondition(t *testing.T) {
	zones := make([]string, 3000)
	for i := range zones {
		zones[i] = fmt.Sprintf("'us-west-%d'", i)
	}
	long := strings.Repeat("x", 200_000)
	cases := map[string]struct{ spec, status string }{
		"ManyZones":    {spec: "failureDomains: [" + strings.Join(zones, ", ") + "]"},
		"LongType":     {spec: "instanceType: " + long},
		"LongImage":    {spec: "{machineImage: {nameFormat: '{semver}" + long + "'}}"},
		"LongSchema":   {spec: "cluster: {exports: {schema: " + long + "}}"},
		"Escapes":      {spec: `{cluster: {exportsFrom: {apiVersion: v1, kind: ConfigMap, name: "a\e[2J\nb", fieldPath: "data\n\e[31m"}}}`},
		"LongPath":     {spec: "cluster: {exportsFrom: {apiVersion: v1, kind: ConfigMap, name: a, fieldPath: 'a[" + long + "'}}"},
		"LastMessages": {spec: "replicas: -1", status: "conditions: [{type: RollingOut, status: 'False', reason: UpToDate, message: \"" + long + "\\n\\e[2J\"}]"},
		"WrongType":    {spec: "replicas: " + long},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			for _, rsp := range run(t, victimsAWS(t), attack(t, tc.spec, tc.status, "")) {
				fits(t, rsp)
			}
		})
	}
}

// fits holds every text to one line that a condition can hold.
func fits(t *testing.T, rsp *fnv1.RunFunctionResponse) {
	t.Helper()
	for _, text := range said(rsp) {
		if len(text) > condition.MaxMessageLength {
			t.Errorf("a text has %d bytes: %.80s...", len(text), text)
		}
		if i := strings.IndexFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }); i >= 0 {
			t.Errorf("a text holds %q: %.200q", text[i], text)
		}
	}
}

// What AWS says of a refresh that ended is as long as AWS, or whoever answers for it, wants.
func TestWhatAWSSaysFitsIntoACondition(t *testing.T) {
	const templateID = "lt-0aaa0000000000001"
	reason := strings.Repeat("The instance refresh failed.\n\x1b[2J", 60_000)
	aws := AWSReaderFn(func(_ context.Context, q pool.Query) pool.Reading {
		r := pool.Reading{Claims: free(q)}
		if q.GroupName == "" {
			return r
		}
		r.Group = pool.Read[*pool.Group]{Asked: true, Value: &pool.Group{Name: q.GroupName, DesiredCapacity: 1, LaunchTemplateID: templateID, Members: []pool.GroupMember{
			{InstanceID: "i-00000000000000001", Zone: "us-east-1a", LifecycleState: "InService", LaunchTemplateID: "lt-0bbb0000000000001"},
		}}}
		r.Instances = pool.Read[[]pool.Instance]{Asked: true, Value: []pool.Instance{{ID: "i-00000000000000001", Zone: "us-east-1a", State: "running"}}}
		r.Refresh = pool.Read[*pool.Refresh]{Asked: true, Value: &pool.Refresh{ID: "r", Status: "Failed", StatusReason: reason}}
		return r
	})
	found := false
	for _, rsp := range run(t, aws, attack(t, "replicas: 1", "", readsAWS)) {
		fits(t, rsp)
		found = found || strings.Contains(strings.Join(said(rsp), " "), "The instance refresh failed.")
	}
	if !found {
		t.Error("no run says how the refresh ended")
	}
}

// TestWhatOthersPublishNeverStopsAPoolThatExists holds that a pool that exists is refused for nothing but its own spec. What its
// cluster, its Composition or its Secret's owner got wrong holds what exists, and the pool's size and bootstrap data still apply.
func TestWhatOthersPublishNeverStopsAPoolThatExists(t *testing.T) {
	const rotated = "#cloud-config\n# rotated\n"
	published := func(change func(exports map[string]*structpb.Value)) func(*testing.T, *fnv1.RunFunctionRequest) {
		return func(t *testing.T, req *fnv1.RunFunctionRequest) {
			t.Helper()
			exports := structpb.NewStructValue(&structpb.Struct{Fields: inlineExports(req)})
			change(exports.GetStructValue().GetFields())
			setSpec(t, req, "cluster: {exportsFrom: {apiVersion: example.org/v1, kind: Cluster, name: demo}}")
			object := structOf(t, "{apiVersion: example.org/v1, kind: Cluster, metadata: {name: demo, namespace: team-a}, status: {}}")
			object.GetFields()["status"].GetStructValue().Fields = map[string]*structpb.Value{"exports": exports}
			req.GetRequiredResources()["cluster-exports"] = &fnv1.Resources{Items: []*fnv1.Resource{{Resource: object}}}
		}
	}
	composed := func(input string) func(*testing.T, *fnv1.RunFunctionRequest) {
		return func(t *testing.T, req *fnv1.RunFunctionRequest) {
			t.Helper()
			req.Input = structOf(t, input)
		}
	}
	manyTags := func(prefix string, n int) string {
		var tags []string
		for i := range n {
			tags = append(tags, fmt.Sprintf("%s-%d: x", prefix, i))
		}
		return "{" + strings.Join(tags, ", ") + "}"
	}
	cases := map[string]struct {
		reason    string
		change    func(*testing.T, *fnv1.RunFunctionRequest)
		condition condition.Type
		why       string
		says      string
	}{
		"SecurityGroups": {
			reason: "The cluster's security groups and the pool's own are more than AWS takes.",
			change: published(func(exports map[string]*structpb.Value) {
				groups := listOf(16, func(i int) any { return fmt.Sprintf("sg-%017x", i) })
				exports["security_group_ids"] = valueOf(map[string]any{"worker": groups})
			}),
			condition: v1alpha1.ConditionClusterExportsAvailable, why: "TooMany", says: "spec.additionalSecurityGroupIDs",
		},
		"Tags": {
			reason:    "The Composition's tags and the pool's own are more than AWS takes.",
			change:    composed("tags: " + manyTags("composition", 40)),
			condition: v1alpha1.ConditionClusterExportsAvailable, why: "TooMany", says: "spec.additionalTags",
		},
		"UndecodableInput": {
			reason:    "The Composition's author misspelt a field.",
			change:    composed("{aws: {identity: Pod}, tag: {a: b}}"),
			condition: v1alpha1.ConditionInputsValid, why: "InputUnusable", says: `unknown field "tag"`,
		},
		"InvalidInput": {
			reason:    "The Composition's author wrote a value that cannot be used.",
			change:    composed("{aws: {identity: Pod}, refresh: {changingSeconds: -1}}"),
			condition: v1alpha1.ConditionInputsValid, why: "InputUnusable", says: "refresh.changingSeconds",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			own := "{additionalSecurityGroupIDs: [sg-0e0000000000000ff], additionalTags: " + manyTags("own", 8) + "}"
			rsps := run(t, victimsAWS(t), attack(t, own, "", readsAWS))
			req := observe(t, attack(t, own, "", readsAWS), rsps[len(rsps)-1])
			before := managedIn(req.GetObserved())
			tc.change(t, req)
			setSpec(t, req, "replicas: 7")
			setData(req, "value", []byte(rotated))

			rsp := run(t, victimsAWS(t), req)[0]
			if isFatal(rsp) {
				t.Fatalf("\n%s\nthe pool is refused: %s", tc.reason, strings.Join(said(rsp), "; "))
			}
			if c := conditionIn(rsp, tc.condition); c.GetReason() != tc.why || !strings.Contains(c.GetMessage(), tc.says) {
				t.Errorf("\n%s\n%s says %s: %s", tc.reason, tc.condition, c.GetReason(), c.GetMessage())
			}
			group := before[resourceGroup]["spec"].(map[string]any)["forProvider"].(map[string]any)
			group["minSize"], group["maxSize"] = 7.0, 7.0
			object := before[resourceObject]["spec"].(map[string]any)["forProvider"].(map[string]any)
			object["contentBase64"] = base64.StdEncoding.EncodeToString([]byte(rotated))
			if diff := cmp.Diff(before, managedIn(rsp.GetDesired())); diff != "" {
				t.Errorf("\n%s\nwhat exists, but for its size and its bootstrap data: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// managedIn a state are the specs of its composed resources as plain values, by the names of the resources.
func managedIn(s *fnv1.State) map[string]map[string]any {
	out := map[string]map[string]any{}
	for name, r := range s.GetResources() {
		out[name] = map[string]any{"spec": r.GetResource().AsMap()["spec"]}
	}
	return out
}

// TestAnEarlierStepDoesNotReplaceThePoolsResources holds that a pool is refused when an earlier step of the pipeline desires
// something else under the name of one of its resources. The pool is left as it is then: Crossplane would delete the pool's
// for it.
func TestAnEarlierStepDoesNotReplaceThePoolsResources(t *testing.T) {
	const own = "{lifecycleHooks: [{name: drain, transition: Terminating}]}"
	rsps := run(t, victimsAWS(t), attack(t, own, "", readsAWS))
	settled := observe(t, attack(t, own, "", readsAWS), rsps[len(rsps)-1])
	resources := settled.GetObserved().GetResources()
	if len(resources) != 4 {
		t.Fatalf("the pool has %d resources, want a group, an object, a template and a hook", len(resources))
	}
	for name := range resources {
		t.Run(name, func(t *testing.T) {
			req := proto.CloneOf(settled)
			req.Desired = &fnv1.State{Resources: map[string]*fnv1.Resource{
				name: {Resource: structOf(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: other}}")},
			}}
			rsp := run(t, victimsAWS(t), req)[0]
			if texts := strings.Join(said(rsp), "; "); !isFatal(rsp) || !strings.Contains(texts, "desired.resources["+name+"]: Forbidden: an earlier step of the pipeline") {
				t.Errorf("fatal %t: %s", isFatal(rsp), texts)
			}
		})
	}
}

// TestAnEarlierStepComposesTemplatesOfItsOwn holds that what an earlier step composes under a name that a pool's could have is
// passed on, and no reason to refuse the pool.
func TestAnEarlierStepComposesTemplatesOfItsOwn(t *testing.T) {
	rsps := run(t, victimsAWS(t), attack(t, "", "", readsAWS))
	req := observe(t, attack(t, "", "", readsAWS), rsps[len(rsps)-1])
	theirs := &fnv1.Resource{Resource: structOf(t, "{apiVersion: ec2.aws.m.upbound.io/v1beta1, kind: LaunchTemplate, spec: {forProvider: {name: theirs}}}")}
	const name = "launch-template-0badcafe"
	req.GetObserved().GetResources()[name] = theirs
	req.Desired = &fnv1.State{Resources: map[string]*fnv1.Resource{name: theirs}}
	rsp := run(t, victimsAWS(t), req)[0]
	if isFatal(rsp) {
		t.Fatalf("the pool is refused: %s", strings.Join(said(rsp), "; "))
	}
	if diff := cmp.Diff(theirs, rsp.GetDesired().GetResources()[name], protocmp.Transform()); diff != "" {
		t.Errorf("what the earlier step desires: -want, +got:\n%s", diff)
	}
}
