package cluster

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/crossplane-contrib/function-aws-machinepool/apis/v1alpha1"
)

// exports that are complete, changed by each of the given functions.
func exports(change ...func(e *v1alpha1.Exports)) *v1alpha1.Exports {
	e := &v1alpha1.Exports{
		Schema:              "captf.io/aws-cluster/v1",
		Region:              "us-east-1",
		KubernetesClusterID: "demo-1960e37c",
		FailureDomains:      map[string]v1alpha1.FailureDomain{"us-east-1a": {SubnetID: "subnet-0aaa0000000000001"}, "us-east-1b": {SubnetID: "subnet-0bbb0000000000001"}},
		SecurityGroupIDs:    v1alpha1.SecurityGroupIDs{Worker: []string{"sg-0e0000000000000e1"}},
		InstanceProfiles:    v1alpha1.InstanceProfiles{Worker: "demo-worker"},
		BootstrapBucket:     "demo-bootstrap",
	}
	for _, f := range change {
		f(e)
	}
	return e
}

func TestMissing(t *testing.T) {
	cases := map[string]struct {
		reason string
		args   *v1alpha1.Exports
		want   []string
	}{
		"Complete":  {reason: "Complete exports lack nothing.", args: exports()},
		"Schema":    {reason: "The contract is needed.", args: exports(func(e *v1alpha1.Exports) { e.Schema = "" }), want: []string{"schema"}},
		"Region":    {reason: "A region is needed.", args: exports(func(e *v1alpha1.Exports) { e.Region = "" }), want: []string{"region"}},
		"ClusterID": {reason: "A cluster id is needed.", args: exports(func(e *v1alpha1.Exports) { e.KubernetesClusterID = "" }), want: []string{"kubernetes_cluster_id"}},
		"Profile":   {reason: "The worker's instance profile is needed.", args: exports(func(e *v1alpha1.Exports) { e.InstanceProfiles.Worker = "" }), want: []string{"instance_profiles.worker"}},
		"Bucket":    {reason: "The bootstrap bucket is needed.", args: exports(func(e *v1alpha1.Exports) { e.BootstrapBucket = "" }), want: []string{"bootstrap_bucket"}},
		"NoZones":   {reason: "A zone is needed.", args: exports(func(e *v1alpha1.Exports) { e.FailureDomains = nil }), want: []string{"failure_domains"}},
		"NoSubnets": {
			reason: "Every zone needs a subnet, and each that lacks one is named.",
			args: exports(func(e *v1alpha1.Exports) {
				e.FailureDomains["us-east-1c"] = v1alpha1.FailureDomain{}
				e.FailureDomains["us-east-1a"] = v1alpha1.FailureDomain{}
			}),
			want: []string{"failure_domains.us-east-1a.subnet_id", "failure_domains.us-east-1c.subnet_id"},
		},
		"NoGroups": {reason: "A security group of the workers is needed.", args: exports(func(e *v1alpha1.Exports) { e.SecurityGroupIDs.Worker = nil }), want: []string{"security_group_ids.worker"}},
		"EmptyGroup": {
			reason: "An empty security group is none.",
			args:   exports(func(e *v1alpha1.Exports) { e.SecurityGroupIDs.Worker = []string{"sg-0e0000000000000e1", ""} }),
			want:   []string{"security_group_ids.worker"},
		},
		"All": {
			reason: "All that is missing is named, sorted.",
			args:   &v1alpha1.Exports{},
			want:   []string{"bootstrap_bucket", "failure_domains", "instance_profiles.worker", "kubernetes_cluster_id", "region", "schema", "security_group_ids.worker"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, Inline().missing(tc.args)); diff != "" {
				t.Errorf("\n%s\nmissing(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestSchema(t *testing.T) {
	cases := map[string]struct {
		reason string
		args   *v1alpha1.Exports
		want   string
	}{
		"Supported": {reason: "The one schema is fine.", args: exports()},
		"None":      {reason: "Exports that name no schema are incomplete, not of another one.", args: exports(func(e *v1alpha1.Exports) { e.Schema = "" })},
		"Other": {
			reason: "Another schema is refused, and both are named.",
			args:   exports(func(e *v1alpha1.Exports) { e.Schema = "captf.io/azure-cluster/v1" }),
			want:   `spec.cluster.exports.schema: Invalid value: "captf.io/azure-cluster/v1": the cluster exports schema "captf.io/azure-cluster/v1", this function reads "captf.io/aws-cluster/v1": point the pool at exports of that schema`,
		},
		"OtherVersion": {
			reason: "Another version of the schema is another schema.",
			args:   exports(func(e *v1alpha1.Exports) { e.Schema = "captf.io/aws-cluster/v2" }),
			want:   `spec.cluster.exports.schema: Invalid value: "captf.io/aws-cluster/v2": the cluster exports schema "captf.io/aws-cluster/v2", this function reads "captf.io/aws-cluster/v1": point the pool at exports of that schema`,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := ""
			if err := Inline().Schema(tc.args); err != nil {
				got = err.Error()
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nSchema(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestComplete(t *testing.T) {
	cases := map[string]struct {
		reason string
		args   *v1alpha1.Exports
		want   string
	}{
		"Complete": {reason: "Complete exports are fine.", args: exports()},
		"Incomplete": {
			reason: "All missing fields are in one message.",
			args: exports(func(e *v1alpha1.Exports) {
				e.Region, e.BootstrapBucket = "", ""
				e.FailureDomains = map[string]v1alpha1.FailureDomain{"us-east-1a": {}}
			}),
			want: "spec.cluster.exports: Required value: the exports lack bootstrap_bucket, failure_domains.us-east-1a.subnet_id, region: add them",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := ""
			if err := Inline().Complete(tc.args); err != nil {
				got = err.Error()
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nComplete(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestSyntax(t *testing.T) {
	good := func() *v1alpha1.Exports {
		return &v1alpha1.Exports{
			Region:              "us-gov-west-1",
			KubernetesClusterID: "demo-1960e37c",
			FailureDomains:      map[string]v1alpha1.FailureDomain{"us-gov-west-1a": {SubnetID: "subnet-0aaa0000000000001"}},
			SecurityGroupIDs:    v1alpha1.SecurityGroupIDs{Worker: []string{"sg-0e0000000000000e1"}},
			InstanceProfiles:    v1alpha1.InstanceProfiles{Worker: "demo-worker"},
			BootstrapBucket:     "demo-bootstrap",
		}
	}
	cases := map[string]struct {
		reason string
		args   func(*v1alpha1.Exports)
		want   []string
	}{
		"Good": {
			reason: "Exports as AWS takes them pass, in every partition.",
			args:   func(*v1alpha1.Exports) {},
		},
		"Region": {
			reason: "A region becomes part of the host names that signed requests go to.",
			args:   func(e *v1alpha1.Exports) { e.Region = `us east"; rm` },
			want:   []string{`spec.cluster.exports.region: Invalid value: "us east\"; rm": must be an AWS region such as us-east-1`},
		},
		"ClusterID": {
			reason: "A tag's key has 128 characters at most, 22 of which come before the id.",
			args:   func(e *v1alpha1.Exports) { e.KubernetesClusterID = strings.Repeat("c", 107) },
			want:   []string{`spec.cluster.exports.kubernetes_cluster_id: Too long: may not be more than 106 bytes`},
		},
		"Profile": {
			reason: "A launch template takes a name here, and an ARN elsewhere.",
			args: func(e *v1alpha1.Exports) {
				e.InstanceProfiles.Worker = "arn:aws:iam::123456789012:instance-profile/demo"
			},
			want: []string{`spec.cluster.exports.instance_profiles.worker: Invalid value: "arn:aws:iam::123456789012:instance-profile/demo": must be the name of an instance profile, not its ARN`},
		},
		"Bucket": {
			reason: "A slash would move the key.",
			args:   func(e *v1alpha1.Exports) { e.BootstrapBucket = "a/b" },
			want:   []string{`spec.cluster.exports.bootstrap_bucket: Invalid value: "a/b": must be the name of an S3 bucket: 3 to 63 letters, digits, -, . and _, with a letter or digit first and last`},
		},
		"Many": {
			reason: "Every fault is named, by its path.",
			args: func(e *v1alpha1.Exports) {
				e.FailureDomains["us-gov-west-1b"] = v1alpha1.FailureDomain{SubnetID: "vpc-1"}
				e.SecurityGroupIDs.Worker = append(e.SecurityGroupIDs.Worker, "web")
			},
			want: []string{
				`spec.cluster.exports.failure_domains[us-gov-west-1b].subnet_id: Invalid value: "vpc-1": must be a subnet id such as subnet-0123456789abcdef0`,
				`spec.cluster.exports.security_group_ids.worker[1]: Invalid value: "web": must be a security group id such as sg-0123456789abcdef0`,
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			e := good()
			tc.args(e)
			var got []string
			for _, err := range Inline().Syntax(e) {
				got = append(got, err.Error())
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nSyntax(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// refused is what a Checker says of exports, in the order in which its checks are to be made.
func refused(c Checker, e *v1alpha1.Exports) []string {
	if errs := c.Bounds(e); len(errs) > 0 {
		return messages(errs)
	}
	if err := c.Schema(e); err != nil {
		return []string{err.Error()}
	}
	if err := c.Complete(e); err != nil {
		return []string{err.Error()}
	}
	return messages(c.Syntax(e))
}

func messages(errs field.ErrorList) []string {
	var all []string
	for _, err := range errs {
		all = append(all, err.Error())
	}
	return all
}

// zones that a cluster has, each in a subnet, by name.
func zones(names ...string) map[string]v1alpha1.FailureDomain {
	fds := map[string]v1alpha1.FailureDomain{}
	for i, name := range names {
		fds[name] = v1alpha1.FailureDomain{SubnetID: fmt.Sprintf("subnet-%08x", i)}
	}
	return fds
}

// many makes n of something.
func many(n int, format string) []string {
	all := make([]string, 0, n)
	for i := range n {
		all = append(all, fmt.Sprintf(format, i))
	}
	return all
}

// Whoever names an object in spec.cluster.exportsFrom must not learn what it holds: not by a value, a key, a length or a
// place in a list.
func TestPublishedValuesAreNotQuoted(t *testing.T) {
	const secret = "s3cr3t"
	cases := map[string]struct {
		reason string
		args   *v1alpha1.Exports
		want   []string
	}{
		"Complete": {
			reason: "Exports that are fine are not refused.",
			args:   exports(),
		},
		"Schema": {
			reason: "A ConfigMap can have a key schema.",
			args:   exports(func(e *v1alpha1.Exports) { e.Schema = secret }),
			want:   []string{`spec.cluster.exportsFrom: Invalid value: the exports' schema: this function reads "captf.io/aws-cluster/v1": point the pool at exports of that schema`},
		},
		"LongSchema": {
			reason: "A long one is told in the same words, so that its length is not told.",
			args:   exports(func(e *v1alpha1.Exports) { e.Schema = strings.Repeat(secret, 1000) }),
			want:   []string{`spec.cluster.exportsFrom: Invalid value: the exports' schema: this function reads "captf.io/aws-cluster/v1": point the pool at exports of that schema`},
		},
		"Incomplete": {
			reason: "What is missing is named as the contract does, and once.",
			args: exports(func(e *v1alpha1.Exports) {
				e.Region = ""
				e.FailureDomains = map[string]v1alpha1.FailureDomain{secret: {}, "us-east-1b": {}}
			}),
			want: []string{"spec.cluster.exportsFrom: Required value: the exports lack failure_domains[*].subnet_id, region: add them"},
		},
		"Every": {
			reason: "Each field that is wrong is named once, with its rule.",
			args: exports(func(e *v1alpha1.Exports) {
				e.Region, e.KubernetesClusterID, e.BootstrapBucket, e.InstanceProfiles.Worker = secret, secret+" ", secret+"/", secret+"/"
				e.FailureDomains = map[string]v1alpha1.FailureDomain{secret: {SubnetID: secret}, "us-east-1b": {SubnetID: secret}}
				e.SecurityGroupIDs.Worker = []string{secret, "sg-0e0000000000000e1", secret}
			}),
			want: []string{
				"spec.cluster.exportsFrom: Invalid value: the exports' bootstrap_bucket: must be the name of an S3 bucket: 3 to 63 letters, digits, -, . and _, with a letter or digit first and last",
				"spec.cluster.exportsFrom: Invalid value: the exports' failure_domains: must be the name of an availability zone such as us-east-1a or us-west-2-lax-1a",
				"spec.cluster.exportsFrom: Invalid value: the exports' failure_domains[*].subnet_id: must be a subnet id such as subnet-0123456789abcdef0",
				"spec.cluster.exportsFrom: Invalid value: the exports' instance_profiles.worker: must be the name of an instance profile, not its ARN",
				"spec.cluster.exportsFrom: Invalid value: the exports' kubernetes_cluster_id: must be 1 to 106 letters, digits and + - = . _ : / @",
				"spec.cluster.exportsFrom: Invalid value: the exports' region: must be an AWS region such as us-east-1",
				"spec.cluster.exportsFrom: Invalid value: the exports' security_group_ids.worker[*]: must be a security group id such as sg-0123456789abcdef0",
			},
		},
		"Many": {
			reason: "How many there are is not told.",
			args: exports(func(e *v1alpha1.Exports) {
				e.SecurityGroupIDs.Worker = many(60000, "sg-%08x")
				e.FailureDomains = zones(many(25000, "us-east-1-"+secret+"-%d")...)
			}),
			want: []string{
				"spec.cluster.exportsFrom: Invalid value: the exports' failure_domains: must have at most 64 items",
				"spec.cluster.exportsFrom: Invalid value: the exports' security_group_ids.worker: must have at most 16 items",
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := refused(Published(), tc.args)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nPublished(): -want, +got:\n%s", tc.reason, diff)
			}
			if strings.Contains(strings.Join(got, ""), secret) {
				t.Errorf("\n%s\nPublished(): %q holds what the object does", tc.reason, got)
			}
		})
	}
}

// What the pool's own author wrote is quoted, with its place, but for what is longer than it may be.
func TestInlineValuesAreQuoted(t *testing.T) {
	cases := map[string]struct {
		reason string
		args   *v1alpha1.Exports
		want   []string
	}{
		"Values": {
			reason: "A value is named by its place.",
			args: exports(func(e *v1alpha1.Exports) {
				e.FailureDomains = map[string]v1alpha1.FailureDomain{"us-east-1a": {SubnetID: "nodes"}}
				e.SecurityGroupIDs.Worker = []string{"sg-0e0000000000000e1", "nodes"}
			}),
			want: []string{
				`spec.cluster.exports.failure_domains[us-east-1a].subnet_id: Invalid value: "nodes": must be a subnet id such as subnet-0123456789abcdef0`,
				`spec.cluster.exports.security_group_ids.worker[1]: Invalid value: "nodes": must be a security group id such as sg-0123456789abcdef0`,
			},
		},
		"Long": {
			reason: "What is too long is not repeated: it can be as long as an object can be.",
			args: exports(func(e *v1alpha1.Exports) {
				e.FailureDomains = zones(strings.Repeat("z", 1<<20))
				e.SecurityGroupIDs.Worker = []string{strings.Repeat("s", 1<<20)}
				e.Schema, e.BootstrapBucket = strings.Repeat("s", 254), strings.Repeat("b", 64)
			}),
			want: []string{
				"spec.cluster.exports.bootstrap_bucket: Too long: may not be more than 63 bytes",
				"spec.cluster.exports.failure_domains: Invalid value: must be the name of an availability zone such as us-east-1a or us-west-2-lax-1a",
				"spec.cluster.exports.schema: Too long: may not be more than 253 bytes",
				"spec.cluster.exports.security_group_ids.worker[0]: Too long: may not be more than 20 bytes",
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, refused(Inline(), tc.args)); diff != "" {
				t.Errorf("\n%s\nInline(): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// A list is refused by its length, before any of its entries is looked at: 140,000 ids fit into an object.
func TestManySecurityGroupsAreRefusedByTheirNumber(t *testing.T) {
	most, more := many(16, "sg-%08x"), many(140000, "none-%d")
	for name, c := range map[string]Checker{"Inline": Inline(), "Published": Published()} {
		t.Run(name, func(t *testing.T) {
			if got := refused(c, exports(func(e *v1alpha1.Exports) { e.SecurityGroupIDs.Worker = most })); len(got) > 0 {
				t.Errorf("16 security groups are refused: %q", got)
			}
			e := exports(func(e *v1alpha1.Exports) { e.SecurityGroupIDs.Worker = more })
			if got := c.Bounds(e); len(got) != 1 || !strings.HasSuffix(got[0].Detail, "must have at most 16 items") {
				t.Errorf("140,000 security groups: want their number to be refused, got %v", got)
			}
			if allocations := testing.AllocsPerRun(10, func() { c.Bounds(e) }); allocations > 50 {
				t.Errorf("140,000 security groups: their number is not all that is looked at: %.0f allocations", allocations)
			}
		})
	}
}

func TestManyZonesAreRefusedByTheirNumber(t *testing.T) {
	for name, c := range map[string]Checker{"Inline": Inline(), "Published": Published()} {
		t.Run(name, func(t *testing.T) {
			if got := refused(c, exports(func(e *v1alpha1.Exports) { e.FailureDomains = zones(many(64, "us-east-1-z-%d")...) })); len(got) > 0 {
				t.Errorf("64 zones are refused: %q", got)
			}
			e := exports(func(e *v1alpha1.Exports) { e.FailureDomains = zones(many(25000, "none-%d")...) })
			if got := c.Bounds(e); len(got) != 1 || !strings.HasSuffix(got[0].Detail, "must have at most 64 items") {
				t.Errorf("25,000 zones: want their number to be refused, got %v", got)
			}
			if allocations := testing.AllocsPerRun(10, func() { c.Bounds(e) }); allocations > 50 {
				t.Errorf("25,000 zones: their number is not all that is looked at: %.0f allocations", allocations)
			}
		})
	}
}

// A zone's name becomes a part of a record that is a list with commas, of annotations and of conditions.
func TestExportedZoneNamesAreChecked(t *testing.T) {
	cases := map[string]bool{
		"us-east-1a":              true,
		"us-gov-west-1b":          true,
		"us-iso-east-1a":          true,
		"us-isob-east-1a":         true,
		"eu-isoe-west-1a":         true,
		"eusc-de-east-1a":         true,
		"cn-northwest-1c":         true,
		"mx-central-1a":           true,
		"ap-southeast-2-akl-1a":   true,
		"us-west-2-lax-1a":        true,
		"us-east-1-bos-1a":        true,
		"us-east-1-wl1-bos-wlz-1": true,
		"eu-west-3-cmn-wlz-1a":    true,

		"":                            false,
		"a":                           false,
		"us-east-1":                   false,
		"us-east-1a,us-east-1b":       false,
		"us-east-1a,":                 false,
		"us-east-1a\n":                false,
		"us-east-1a\x00":              false,
		"us-east-1a us-east-1b":       false,
		"US-EAST-1A":                  false,
		"us-east-1-":                  false,
		"us-east-1/a":                 false,
		"use1-az1":                    false,
		"us-east-1\u0430":             false, // A Cyrillic a.
		strings.Repeat("us-east-", 9): false,
	}
	for name, ok := range cases {
		t.Run(name, func(t *testing.T) {
			for _, c := range []Checker{Inline(), Published()} {
				got := refused(c, exports(func(e *v1alpha1.Exports) { e.FailureDomains = zones(name) }))
				if ok != (len(got) == 0) {
					t.Errorf("zone %q: want accepted %t, got %q", name, ok, got)
				}
			}
		})
	}
}
