package decision

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/function-aws-machinepool/apis/v1alpha1"
	"github.com/crossplane-contrib/function-aws-machinepool/internal/condition"
	"github.com/crossplane-contrib/function-aws-machinepool/internal/pool"
)

func secret(b pool.BootstrapData) change { return func(o *pool.Observation) { o.Bootstrap = b } }

func TestBootstrapCondition(t *testing.T) {
	ready := func(s condition.Status, reason, message string) condition.Condition {
		return condition.New("BootstrapConfigReady", s, reason, message)
	}
	cases := map[string]struct {
		reason string
		args   *pool.Observation
		want   condition.Condition
	}{
		"NotFetched": {
			reason: "What Crossplane has not fetched yet is not known to be missing.",
			args:   newPool(secret(pool.BootstrapData{Source: pool.SourceNotFetched})),
			want:   ready("Unknown", "NotFetched", "waiting for Crossplane to fetch Secret team-a/demo-pool-0"),
		},
		"NotFound": {
			reason: "A Secret that does not exist is named, and what to do.",
			args:   newPool(noSecret),
			want:   ready("False", "NotFound", "Secret team-a/demo-pool-0 does not exist: wait for the bootstrap provider to create it, or change spec.bootstrap.dataSecretRef"),
		},
		"Gone": {
			reason: "One that is gone leaves what is staged.",
			args:   steadyPool(noSecret),
			want:   ready("False", "NotFound", "Secret team-a/demo-pool-0 does not exist: wait for the bootstrap provider to create it, or change spec.bootstrap.dataSecretRef; the data that is staged stays"),
		},
		"Empty": {
			reason: "A Secret without the key is told with the key.",
			args:   newPool(secret(pool.BootstrapData{Source: pool.SourceEmpty})),
			want:   ready("False", "Empty", `Secret team-a/demo-pool-0 has no data at key "value": wait for the bootstrap provider to fill it, or change spec.bootstrap.dataSecretRef.key`),
		},
		"Emptied": {
			reason: "One that lost its key leaves what is staged.",
			args:   steadyPool(secret(pool.BootstrapData{Source: pool.SourceEmpty})),
			want:   ready("False", "Empty", `Secret team-a/demo-pool-0 has no data at key "value": wait for the bootstrap provider to fill it, or change spec.bootstrap.dataSecretRef.key; the data that is staged stays`),
		},
		"Malformed": {
			reason: "Data that is no base64 is told, and not shown.",
			args:   newPool(secret(pool.BootstrapData{Source: pool.SourceMalformed})),
			want:   ready("False", "Malformed", `the data of Secret team-a/demo-pool-0 at key "value" is not base64`),
		},
		"Staging": {
			reason: "New data is being staged until its object is Ready and Synced.",
			args:   newPool(),
			want:   ready("False", "Staging", "the bootstrap data is being staged in S3"),
		},
		"NotSynced": {
			reason: "Data that rotated is being staged while its object is not Synced.",
			args:   steadyPool(func(o *pool.Observation) { o.Managed.Object.Synced = false }),
			want:   ready("False", "Staging", "the bootstrap data is being staged in S3 bucket demo-bootstrap: where that lasts, the managed resource of the object says why"),
		},
		"BucketGone": {
			reason: "A bucket that cannot be written, while the cluster exports another one, is named.",
			args: steadyPool(func(o *pool.Observation) {
				o.Managed.Object.Ready = false
				o.Composite.Spec.Cluster.Exports.BootstrapBucket = "new-bucket"
			}),
			want: ready("False", "Staging", "the bootstrap data is being staged in S3 bucket demo-bootstrap, where the pool's object is: the cluster now exports another bucket; if bucket demo-bootstrap is gone, make it again, or create another pool"),
		},
		"Refused": {
			reason: "A Secret that the pool may not name is not told about, whether or not it exists.",
			args:   newPool(func(o *pool.Observation) { o.Bootstrap = pool.BootstrapData{Source: pool.SourceRefused} }),
			want:   ready("False", "Refused", "the Secret that spec.bootstrap.dataSecretRef names is not read: the pool may not name it"),
		},
		"TooLarge": {
			reason: "Data that no managed resource can hold leaves what is staged.",
			args:   steadyPool(func(o *pool.Observation) { o.Bootstrap = pool.BootstrapData{Source: pool.SourceTooLarge} }),
			want:   ready("False", "TooLarge", `the data of Secret team-a/demo-pool-0 at key "value" is larger than 524288 bytes: compress it, or have it fetch the rest; the data that is staged stays`),
		},
		"Staged": {
			reason: "Data whose object is Ready and Synced is staged.",
			args:   steadyPool(),
			want:   ready("True", "Staged", "the bootstrap data is staged in S3"),
		},
		"OtherBucket": {
			reason: "Data stays in the bucket that it was staged in, and says so.",
			args:   steadyPool(func(o *pool.Observation) { o.Composite.Spec.Cluster.Exports.BootstrapBucket = "new-bucket" }),
			want:   ready("True", "Staged", `the bootstrap data is staged in S3 bucket demo-bootstrap, where it stays: the cluster now exports another bucket`),
		},
		"ClusterScoped": {
			reason: "A Secret of a cluster-scoped pool is named with its own namespace.",
			args: newPool(noSecret, func(o *pool.Observation) {
				o.Composite.SetNamespace("")
				o.Composite.Spec.Bootstrap.DataSecretRef.Namespace = "secrets"
			}),
			want: ready("False", "NotFound", "Secret secrets/demo-pool-0 does not exist: wait for the bootstrap provider to create it, or change spec.bootstrap.dataSecretRef"),
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			d := Of(tc.args)
			if diff := cmp.Diff(tc.want, conditionOf(t, d, condition.TypeBootstrapConfigReady)); diff != "" {
				t.Errorf("\n%s\nOf(...): -want, +got:\n%s", tc.reason, diff)
			}
			if len(d.Refused) > 0 {
				t.Errorf("\n%s\nOf(...): refused: %s", tc.reason, Message(d.Refused))
			}
		})
	}
}

func TestBootstrapFormat(t *testing.T) {
	const cloudConfig, ignition = "#cloud-boothook\n#!/bin/sh\n", `{"ignition":{"version":"3.0.0","config":{"replace":{"source":"s3://demo-bootstrap/pool/team-a/demo-pool-0"}}}}`
	format := func(f v1alpha1.BootstrapFormat) change {
		return func(o *pool.Observation) { o.Composite.Spec.Bootstrap.Format = f }
	}
	cases := map[string]struct {
		reason string
		args   *pool.Observation
		want   string // Beginning of the user data.
	}{
		"Default":         {reason: "Without a format it is cloud-config.", args: newPool(), want: cloudConfig},
		"Secret":          {reason: "The Secret names the format.", args: newPool(secret(pool.BootstrapData{Source: pool.SourceFound, Payload: []byte("{}"), Format: "ignition"})), want: ignition},
		"Spec":            {reason: "The spec names the format.", args: newPool(format("ignition")), want: ignition},
		"SpecWins":        {reason: "The spec wins over the Secret.", args: newPool(format("cloud-config"), secret(pool.BootstrapData{Source: pool.SourceFound, Payload: []byte("{}"), Format: "ignition"})), want: cloudConfig},
		"SpecWinsOverAny": {reason: "The spec wins over a format that no one supports.", args: newPool(format("ignition"), secret(pool.BootstrapData{Source: pool.SourceFound, Payload: []byte("{}"), Format: "powershell"})), want: ignition},
		"SpecAlone":       {reason: "With the format in the spec, the template need not wait for the Secret.", args: newPool(format("ignition"), noSecret), want: ignition},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			d := Of(tc.args)
			if len(d.Templates) != 1 || d.Templates[0].Held != nil {
				t.Fatalf("\n%s\nOf(...): want one rendered template, got %+v; refused: %s", tc.reason, d.Templates, Message(d.Refused))
			}
			if got := d.Templates[0].UserData; !strings.HasPrefix(got, tc.want) {
				t.Errorf("\n%s\nOf(...): the user data does not begin with %q:\n%s", tc.reason, tc.want, got)
			}
			if strings.Contains(d.Templates[0].UserData, "do-not-tell") {
				t.Errorf("\n%s\nOf(...): the payload is in the user data", tc.reason)
			}
		})
	}
	t.Run("Waits", func(t *testing.T) {
		if d := Of(newPool(noSecret)); len(d.Templates) > 0 {
			t.Errorf("a template is made though the format is not known: %+v", d.Templates)
		}
	})
}

func TestBootstrapRefused(t *testing.T) {
	long := map[string]string{}
	size := 0
	for i := range 128 {
		k, v := fmt.Sprintf("example.org/%060d", i), strings.Repeat("v", 63)
		long[k] = v
		size += len(k) + len("=") + len(v)
	}
	size += len(long) - 1 // Commas.
	cases := map[string]struct {
		reason string
		args   *pool.Observation
		want   []string
	}{
		"Format": {
			reason: "A format that no one supports is refused, and not repeated: it may be anything.",
			args:   newPool(secret(pool.BootstrapData{Source: pool.SourceFound, Payload: []byte("x"), Format: "do-not-tell"})),
			want:   []string{`spec.bootstrap.dataSecretRef: Forbidden: the Secret's key "format" names no supported format: set it, or spec.bootstrap.format, to cloud-config or ignition`},
		},
		"IgnitionGzip": {
			reason: "Ignition cannot fetch gzip from S3.",
			args:   newPool(secret(pool.BootstrapData{Source: pool.SourceFound, Payload: []byte{0x1f, 0x8b, 8}, Format: "ignition"})),
			want:   []string{"spec.bootstrap.dataSecretRef: Forbidden: the bootstrap data is gzip, which Ignition cannot fetch from S3: make the bootstrap provider write plain JSON"},
		},
		"IgnitionLabels": {
			reason: "Ignition takes no node labels; the Secret's format is only known here.",
			args: newPool(secret(pool.BootstrapData{Source: pool.SourceFound, Payload: []byte("{}"), Format: "ignition"}), func(o *pool.Observation) {
				o.Composite.Spec.NodeLabels = map[string]string{"a": "b"}
			}),
			want: []string{"spec.nodeLabels: Forbidden: node labels cannot be set with Ignition: set them in the bootstrap data (for kubeadm, nodeRegistration.kubeletExtraArgs) and remove spec.nodeLabels"},
		},
		"Oversize": {
			reason: "Labels that make the user data too long are refused, with what it takes, what the limit is and what they take.",
			args:   newPool(func(o *pool.Observation) { o.Composite.Spec.NodeLabels = long }),
			want: []string{
				"spec.nodeLabels: Forbidden: the user data takes ", " bytes, EC2's limit is 16384: remove or shorten node labels, which take " + fmt.Sprint(size),
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			d := Of(tc.args)
			got := Message(d.Refused)
			for _, w := range tc.want {
				if !strings.Contains(got, w) {
					t.Errorf("\n%s\nOf(...): refused with %q, which lacks %q", tc.reason, got, w)
				}
			}
			if strings.Contains(got, "do-not-tell") {
				t.Errorf("\n%s\nOf(...): refused with what is in the Secret: %s", tc.reason, got)
			}
			if len(d.Templates) > 0 || d.Object != nil {
				t.Errorf("\n%s\nOf(...): composes though it refuses", tc.reason)
			}
		})
	}
	accepted := map[string]*pool.Observation{
		"CloudConfigGzip": newPool(secret(pool.BootstrapData{Source: pool.SourceFound, Payload: []byte{0x1f, 0x8b, 8}})),
		"IgnitionDroppedLabels": newPool(secret(pool.BootstrapData{Source: pool.SourceFound, Payload: []byte("{}"), Format: "ignition"}), func(o *pool.Observation) {
			o.Composite.Spec.NodeLabels = map[string]string{"node-role.kubernetes.io/worker": ""}
		}),
	}
	for name, o := range accepted {
		t.Run(name, func(t *testing.T) {
			if d := Of(o); len(d.Refused) > 0 || len(d.Templates) != 1 {
				t.Errorf("Of(...): refused with %q, templates %+v", Message(d.Refused), d.Templates)
			}
		})
	}
}

func TestObject(t *testing.T) {
	type want struct {
		none        bool
		held        bool
		bucket, key string
		payload     string
		healthy     bool
	}
	cases := map[string]struct {
		reason string
		args   *pool.Observation
		want   want
	}{
		"New": {
			reason: "Data is staged under the pool's name.",
			args:   newPool(),
			want:   want{bucket: "demo-bootstrap", key: "pool/team-a/demo-pool-0", payload: secretPayload},
		},
		"NoData": {
			reason: "Without data nothing is staged.",
			args:   newPool(noSecret),
			want:   want{none: true},
		},
		"NoExports": {
			reason: "Without exports there is no bucket.",
			args:   newPool(noExports),
			want:   want{none: true},
		},
		"Steady": {
			reason: "What is staged is rendered anew.",
			args:   steadyPool(),
			want:   want{bucket: "demo-bootstrap", key: "pool/demo-pool-0", payload: secretPayload, healthy: true},
		},
		"Rotated": {
			reason: "Data that rotated goes to the same place.",
			args:   steadyPool(secret(pool.BootstrapData{Source: pool.SourceFound, Payload: []byte("new")})),
			want:   want{bucket: "demo-bootstrap", key: "pool/demo-pool-0", payload: "new", healthy: true},
		},
		"BucketAndKeyStay": {
			reason: "Neither bucket nor key of what is staged can change.",
			args: steadyPool(func(o *pool.Observation) {
				o.Managed.Object.Bucket, o.Managed.Object.Key = "old-bucket", "old/key"
			}),
			want: want{bucket: "old-bucket", key: "old/key", payload: secretPayload, healthy: true},
		},
		"SecretGone": {
			reason: "What is staged stays as it is when the Secret goes.",
			args:   steadyPool(noSecret),
			want:   want{held: true, bucket: "demo-bootstrap", key: "pool/demo-pool-0", healthy: true},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := want{none: true}
			if obj := Of(tc.args).Object; obj != nil {
				got = want{held: obj.Held != nil, bucket: obj.Bucket, key: obj.Key, payload: string(obj.Payload), healthy: obj.Healthy}
			}
			if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(want{})); diff != "" {
				t.Errorf("\n%s\nOf(...).Object: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
	t.Run("TemplateFetchesFromThere", func(t *testing.T) {
		d := Of(steadyPool(func(o *pool.Observation) { o.Managed.Object.Bucket, o.Managed.Object.Key = "old-bucket", "old/key" }))
		for _, w := range []string{"bucket='old-bucket'", "key='old/key'"} {
			if !strings.Contains(d.Templates[0].UserData, w) {
				t.Errorf("the user data does not fetch what is staged: it lacks %s", w)
			}
		}
	})
}

// TestDroppedNodeLabels holds that what the kubelet may not set is left out and listed.
func TestDroppedNodeLabels(t *testing.T) {
	d := Of(newPool(func(o *pool.Observation) {
		o.Composite.Spec.NodeLabels = map[string]string{"node-role.kubernetes.io/worker": "", "tier": "web", "k8s.io/b": "x"}
	}))
	if diff := cmp.Diff([]string{"k8s.io/b", "node-role.kubernetes.io/worker"}, d.Status.DroppedNodeLabels); diff != "" {
		t.Errorf("Of(...).Status.DroppedNodeLabels: -want, +got:\n%s", diff)
	}
	if got := d.Templates[0].UserData; !strings.Contains(got, "labels='tier=web'") {
		t.Errorf("Of(...): the user data does not set the label that is left:\n%.500s", got)
	}
}
