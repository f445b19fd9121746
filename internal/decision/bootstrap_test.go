package decision

import (
	"bytes"
	"compress/gzip"
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
			want:   ready("False", "TooLarge", `the data of Secret team-a/demo-pool-0 at key "value" is larger than 524288 bytes (512 KiB): compress it if it is cloud-config, or have it fetch the rest; the data that is staged stays`),
		},
		"Staged": {
			reason: "Data whose object is Ready and Synced is staged.",
			args:   steadyPool(),
			want:   ready("True", "Staged", "the bootstrap data is staged in S3"),
		},
		"LeftOutTags": {
			reason: "Tags for which the object has no room are named: policies and bills may go by these.",
			args: steadyPool(func(o *pool.Observation) {
				o.Input.Tags = map[string]string{"cost": "1"}
				o.Composite.Spec.AdditionalTags = map[string]string{"b": "2", "a": "1"}
			}),
			want: ready("True", "Staged", "the bootstrap data is staged in S3; the object takes 5 tags, and has no room for: a, b"),
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
			if diff := cmp.Diff(tc.want, conditionOf(t, d, v1alpha1.ConditionBootstrapConfigReady)); diff != "" {
				t.Errorf("\n%s\nOf(...): -want, +got:\n%s", tc.reason, diff)
			}
			if len(d.Refused) > 0 {
				t.Errorf("\n%s\nOf(...): refused: %s", tc.reason, condition.Errors(d.Refused))
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
		"Secret":          {reason: "The Secret names the format.", args: newPool(secret(pool.BootstrapData{Source: pool.SourceFound, Payload: []byte(ignitionPayload), Format: "ignition"})), want: ignition},
		"Spec":            {reason: "The spec names the format.", args: newPool(format("ignition"), secret(pool.BootstrapData{Source: pool.SourceFound, Payload: []byte(ignitionPayload)})), want: ignition},
		"SpecWins":        {reason: "The spec wins over the Secret.", args: newPool(format("cloud-config"), secret(pool.BootstrapData{Source: pool.SourceFound, Payload: []byte(secretPayload), Format: "ignition"})), want: cloudConfig},
		"SpecWinsOverAny": {reason: "The spec wins over a format that no one supports.", args: newPool(format("ignition"), secret(pool.BootstrapData{Source: pool.SourceFound, Payload: []byte(ignitionPayload), Format: "powershell"})), want: ignition},
		"SpecAlone":       {reason: "With the format in the spec, the template need not wait for the Secret.", args: newPool(format("ignition"), noSecret), want: ignition},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			d := Of(tc.args)
			if len(d.Templates) != 1 || d.Templates[0].Held != nil {
				t.Fatalf("\n%s\nOf(...): want one rendered template, got %+v; refused: %s", tc.reason, d.Templates, condition.Errors(d.Refused))
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
			args: newPool(secret(pool.BootstrapData{Source: pool.SourceFound, Payload: []byte(ignitionPayload), Format: "ignition"}), func(o *pool.Observation) {
				o.Composite.Spec.NodeLabels = map[string]string{"a": "b"}
			}),
			want: []string{`spec.nodeLabels: Forbidden: the Secret's key "format" says ignition: `, "node labels cannot be set with Ignition: set them in the bootstrap data (for kubeadm, nodeRegistration.kubeletExtraArgs) and remove spec.nodeLabels"},
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
			got := condition.Errors(d.Refused)
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
		"CloudConfigGzip": newPool(secret(pool.BootstrapData{Source: pool.SourceFound, Payload: gzipped(t, secretPayload)})),
		"IgnitionDroppedLabels": newPool(secret(pool.BootstrapData{Source: pool.SourceFound, Payload: []byte(ignitionPayload), Format: "ignition"}), func(o *pool.Observation) {
			o.Composite.Spec.NodeLabels = map[string]string{"node-role.kubernetes.io/worker": ""}
		}),
	}
	for name, o := range accepted {
		t.Run(name, func(t *testing.T) {
			if d := Of(o); len(d.Refused) > 0 || len(d.Templates) != 1 {
				t.Errorf("Of(...): refused with %q, templates %+v", condition.Errors(d.Refused), d.Templates)
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
			args:   steadyPool(secret(pool.BootstrapData{Source: pool.SourceFound, Payload: []byte("#cloud-config\nnew: true\n")})),
			want:   want{bucket: "demo-bootstrap", key: "pool/demo-pool-0", payload: "#cloud-config\nnew: true\n", healthy: true},
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

func gzipped(t *testing.T, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// found bootstrap data, of the format that the Secret names.
func found(payload, format string) change {
	return secret(pool.BootstrapData{Source: pool.SourceFound, Payload: []byte(payload), Format: format})
}

func ignitionPool(o *pool.Observation) {
	t := o.Managed.Templates[currentTemplate]
	t.Format = v1alpha1.BootstrapFormatIgnition
	o.Managed.Templates[currentTemplate] = t
}

func labelled(o *pool.Observation) { o.Composite.Spec.NodeLabels = map[string]string{"tier": "web"} }

// TestAPayloadThatNoInstanceCanUseIsTold holds that such data refuses a new pool, and that one that exists keeps what it has
// staged and says what is wrong. Neither quotes the data.
func TestAPayloadThatNoInstanceCanUseIsTold(t *testing.T) {
	const (
		firstLine   = "the bootstrap data is not cloud-config: its first line must be #cloud-config, or ## template: jinja before that"
		notIgnition = "the bootstrap data is not an Ignition config: it must be JSON, from its first line on, with ignition.version"
	)
	cases := map[string]struct {
		reason  string
		payload string
		format  string
		want    string
	}{
		"MIME":          {reason: "Several parts.", payload: "MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=\"//\"\n\ndo-not-tell", want: firstLine},
		"Script":        {reason: "It is not run.", payload: "#!/bin/bash\ndo-not-tell", want: firstLine},
		"Include":       {reason: "It is not fetched.", payload: "#include\nhttps://do-not-tell", want: firstLine},
		"Blanks":        {reason: "Nothing is in it.", payload: " \n\t\n", want: firstLine},
		"BOM":           {reason: "Bytes that no editor shows.", payload: "\xef\xbb\xbf" + secretPayload, want: firstLine},
		"GzipScript":    {reason: "Compressed or not.", payload: string(gzipped(t, "#!/bin/sh\ndo-not-tell")), want: firstLine},
		"GzipCut":       {reason: "A part is not enough.", payload: string(gzipped(t, secretPayload)[:20]), want: "the bootstrap data is damaged gzip"},
		"NoFormat":      {reason: "Ignition without its format.", payload: ignitionPayload, want: firstLine + `; it is an Ignition config: set spec.bootstrap.format, or the Secret's key "format", to ignition`},
		"WrongFormat":   {reason: "The reverse, with nothing that the pool could boot.", payload: "#!/bin/sh\ndo-not-tell", format: "ignition", want: notIgnition},
		"GzipIgnition":  {reason: "Ignition does not decompress it.", payload: string(gzipped(t, ignitionPayload)), format: "ignition", want: "the bootstrap data is gzip, which Ignition cannot fetch from S3: make the bootstrap provider write plain JSON"},
		"NoVersion":     {reason: "Ignition needs its version.", payload: `{"ignition": {}, "passwd": "do-not-tell"}`, format: "ignition", want: notIgnition},
		"NotWhole":      {reason: "And all of the JSON.", payload: ignitionPayload[:40], format: "ignition", want: notIgnition},
		"JinjaOfScript": {reason: "A template of what is not taken.", payload: "## template: jinja\n#!/bin/sh\n", want: firstLine},
	}
	for name, tc := range cases {
		t.Run("New"+name, func(t *testing.T) {
			d := Of(newPool(found(tc.payload, tc.format)))
			if diff := cmp.Diff("spec.bootstrap.dataSecretRef: Forbidden: "+tc.want, condition.Errors(d.Refused)); diff != "" {
				t.Errorf("\n%s\nOf(...).Refused: -want, +got:\n%s", tc.reason, diff)
			}
			want := condition.New("BootstrapConfigReady", "False", "Malformed", tc.want)
			if diff := cmp.Diff(want, conditionOf(t, d, v1alpha1.ConditionBootstrapConfigReady)); diff != "" {
				t.Errorf("\n%s\nOf(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
		t.Run(name, func(t *testing.T) {
			d := Of(steadyPool(found(tc.payload, tc.format), newVersion))
			if len(d.Refused) > 0 {
				t.Fatalf("\n%s\nOf(...): refused with %s", tc.reason, condition.Errors(d.Refused))
			}
			want := condition.New("BootstrapConfigReady", "False", "Malformed", tc.want+"; the data that is staged stays")
			if diff := cmp.Diff(want, conditionOf(t, d, v1alpha1.ConditionBootstrapConfigReady)); diff != "" {
				t.Errorf("\n%s\nOf(...): -want, +got:\n%s", tc.reason, diff)
			}
			if d.Object == nil || d.Object.Held == nil || len(d.Object.Payload) > 0 {
				t.Errorf("\n%s\nOf(...): the data that is staged does not stay", tc.reason)
			}
			if hasTemplate(d, newerTemplate) || !hasTemplate(d, currentTemplate) {
				t.Errorf("\n%s\nOf(...): a roll to nodes that could never join begins", tc.reason)
			}
		})
	}
}

// TestNoRollBeginsWithDataThatCannotBeStaged holds that data that is too large, or not decodable, holds a roll as unusable data
// does, even where the spec names the format.
func TestNoRollBeginsWithDataThatCannotBeStaged(t *testing.T) {
	for _, source := range []pool.Source{pool.SourceTooLarge, pool.SourceMalformed} {
		d := Of(steadyPool(newVersion, secret(pool.BootstrapData{Source: source}), func(o *pool.Observation) {
			o.Composite.Spec.Bootstrap.Format = v1alpha1.BootstrapFormatCloudConfig
			o.Composite.Spec.Replicas = new(int32(7))
		}))
		if hasTemplate(d, newerTemplate) || !hasTemplate(d, currentTemplate) {
			t.Errorf("%s: a roll begins", source)
		}
		if d.Group == nil || d.Group.Held != nil || d.Group.Capacity.Min != 7 {
			t.Errorf("%s: the pool does not scale: %+v", source, d.Group)
		}
	}
}

// TestASecretsFormatNeverStopsAPoolThatExists holds that whatever the Secret's key "format" says, a pool that exists is not
// refused for it, is sent its tokens where its instances can boot with them, scales, and says what is wrong.
func TestASecretsFormatNeverStopsAPoolThatExists(t *testing.T) {
	const (
		unsupported  = `the Secret's key "format" names no supported format: set it, or spec.bootstrap.format, to cloud-config or ignition`
		labels       = `the Secret's key "format" says ignition: node labels cannot be set with Ignition: set them in the bootstrap data (for kubeadm, nodeRegistration.kubeletExtraArgs) and remove spec.nodeLabels`
		notIgnition  = `the bootstrap data is not an Ignition config: it must be JSON, from its first line on, with ignition.version; it is cloud-config: set spec.bootstrap.format, or the Secret's key "format", to cloud-config`
		notCloudInit = `the bootstrap data is not cloud-config: its first line must be #cloud-config, or ## template: jinja before that; it is an Ignition config: set spec.bootstrap.format, or the Secret's key "format", to ignition`
		dataStays    = "; the data that is staged stays"
		cloudStaged  = "; the launch template stays as it is, with cloud-config data, which is still staged"
		ignStaged    = "; the launch template stays as it is, with ignition data, which is still staged"
		newToken     = "#cloud-config\n# do-not-tell the new token"
	)
	type want struct {
		message string
		payload string
	}
	cases := map[string]struct {
		reason string
		args   []change
		want   want
	}{
		"Unsupported": {
			reason: "The pool's nodes boot cloud-config, and that is what came.",
			args:   []change{found(newToken, "do-not-tell")},
			want:   want{message: unsupported + cloudStaged, payload: newToken},
		},
		"UnsupportedAndUnusable": {
			reason: "What the pool's nodes cannot boot with is not staged.",
			args:   []change{found("#!do-not-tell", "do-not-tell")},
			want:   want{message: unsupported + dataStays},
		},
		"IgnitionWithLabels": {
			reason: "The bootstrap provider turned to Ignition, which the labels do not fit: the pool's nodes cannot boot with it.",
			args:   []change{labelled, found(ignitionPayload, "ignition")},
			want:   want{message: labels + dataStays},
		},
		"LabelsOfAnIgnitionPool": {
			reason: "The pool's nodes boot Ignition, and then its author adds labels.",
			args:   []change{ignitionPool, labelled, found(ignitionPayload, "ignition")},
			want:   want{message: labels + ignStaged, payload: ignitionPayload},
		},
		"FormatAlone": {
			reason: "Only the key turned: the data is as before.",
			args:   []change{labelled, found(newToken, "ignition")},
			want:   want{message: notIgnition + cloudStaged, payload: newToken},
		},
		"FormatLost": {
			reason: "The key of an Ignition pool is gone, and the data is as before.",
			args:   []change{ignitionPool, found(ignitionPayload, "")},
			want:   want{message: notCloudInit + ignStaged, payload: ignitionPayload},
		},
		"AuthorsFormatComesFirst": {
			reason: "The author's format does not fit the data yet.",
			args: []change{found(newToken, ""), func(o *pool.Observation) {
				o.Composite.Spec.Bootstrap.Format = v1alpha1.BootstrapFormatIgnition
			}},
			want: want{message: notIgnition + cloudStaged, payload: newToken},
		},
		"ExportsGoneToo": {
			reason: "Without exports the launch template cannot turn to Ignition, so its nodes are not sent it.",
			args:   []change{noExports, found(ignitionPayload, "ignition")},
			want: want{message: "the bootstrap data is ignition, the launch template boots cloud-config, and cannot change while the cluster's exports are missing" +
				dataStays},
		},
		"UnsupportedAndExportsGone": {
			reason: "Tokens rotate without exports, too.",
			args:   []change{noExports, found(newToken, "do-not-tell")},
			want:   want{message: unsupported + cloudStaged, payload: newToken},
		},
		"NotKnownHow": {
			reason: "Nothing is staged where it is not known what the nodes boot with.",
			args: []change{found(newToken, "do-not-tell"), func(o *pool.Observation) {
				o.Managed.Templates[currentTemplate] = pool.ObservedTemplate{Resource: resource("LaunchTemplate"), ID: "lt-current"}
			}},
			want: want{message: unsupported + dataStays},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			d := Of(steadyPool(tc.args...))
			if len(d.Refused) > 0 {
				t.Fatalf("\n%s\nOf(...): refused with %s", tc.reason, condition.Errors(d.Refused))
			}
			if diff := cmp.Diff(condition.New("BootstrapConfigReady", "False", "Malformed", tc.want.message), conditionOf(t, d, v1alpha1.ConditionBootstrapConfigReady)); diff != "" {
				t.Errorf("\n%s\nOf(...): -want, +got:\n%s", tc.reason, diff)
			}
			if d.Object == nil {
				t.Fatalf("\n%s\nOf(...): the object is lost", tc.reason)
			}
			if diff := cmp.Diff(tc.want.payload, string(d.Object.Payload)); diff != "" {
				t.Errorf("\n%s\nOf(...).Object.Payload: -want, +got:\n%s", tc.reason, diff)
			}
			if len(d.Templates) != 1 || d.Templates[0].Held == nil {
				t.Errorf("\n%s\nOf(...): the launch template does not stay as it is: %+v", tc.reason, d.Templates)
			}
		})
	}
	t.Run("WithoutObject", func(t *testing.T) {
		d := Of(steadyPool(found(newToken, "do-not-tell"), func(o *pool.Observation) { o.Managed.Object = nil }))
		if len(d.Refused) > 0 {
			t.Fatalf("a pool that lost its object is refused: %s", condition.Errors(d.Refused))
		}
		if d.Object == nil || string(d.Object.Payload) != newToken {
			t.Error("what its instances boot with is not staged anew")
		}
	})
	t.Run("OwnFormatStaysFatal", func(t *testing.T) {
		d := Of(steadyPool(labelled, found(ignitionPayload, ""), func(o *pool.Observation) {
			o.Composite.Spec.Bootstrap.Format = v1alpha1.BootstrapFormatIgnition
		}))
		if got := condition.Errors(d.Refused); !strings.HasPrefix(got, "spec.nodeLabels: ") {
			t.Errorf("what only the author wrote is not refused: %q", got)
		}
	})
	t.Run("ObservedBucket", func(t *testing.T) {
		d := Of(steadyPool(labelled, func(o *pool.Observation) { o.Managed.Object.Bucket = "demo/bootstrap" }))
		if len(d.Refused) > 0 {
			t.Errorf("what someone else wrote into a managed resource refuses the pool: %s", condition.Errors(d.Refused))
		}
	})
}

// TestANewFormatDoesNotStopReplicas holds that a pool whose Secret has a format that it cannot have still scales.
func TestANewFormatDoesNotStopReplicas(t *testing.T) {
	for name, changes := range map[string][]change{
		"IgnitionWithLabels": {labelled, found(ignitionPayload, "ignition")},
		"Unsupported":        {found(secretPayload, "powershell")},
		"Unusable":           {found("#!/bin/sh\n", "")},
	} {
		t.Run(name, func(t *testing.T) {
			d := Of(steadyPool(append(changes, func(o *pool.Observation) { o.Composite.Spec.Replicas = new(int32(7)) })...))
			if len(d.Refused) > 0 {
				t.Fatalf("refused: %s", condition.Errors(d.Refused))
			}
			if d.Group == nil || d.Group.Held != nil || d.Group.TemplateID != "lt-current" {
				t.Fatalf("want the group rendered with the template that it has, got %+v", d.Group)
			}
			if diff := cmp.Diff(int32(7), d.Group.Capacity.Min); diff != "" {
				t.Errorf("-want instances, +got:\n%s", diff)
			}
			if !d.Ready {
				t.Error("a pool that works is not Ready")
			}
		})
	}
}

// TestABootedFormatIsTheGroups holds that, in a roll to another format, the format of the group's own template counts.
func TestABootedFormatIsTheGroups(t *testing.T) {
	o := steadyPool(newerTemplateExists)
	newer := o.Managed.Templates[newerTemplate]
	newer.Format = v1alpha1.BootstrapFormatIgnition
	o.Managed.Templates[newerTemplate] = newer
	if got := bootsWith(o); got != v1alpha1.BootstrapFormatCloudConfig {
		t.Errorf("bootsWith(...): want the group's, got %q", got)
	}
	o.Managed.Group.SentTemplateID = "lt-newer"
	if got := bootsWith(o); got != v1alpha1.BootstrapFormatIgnition {
		t.Errorf("bootsWith(...) after the switch: want the group's, got %q", got)
	}
	o.Managed.Group = nil
	if got := bootsWith(o); got != "" {
		t.Errorf("bootsWith(...) of templates that differ: want none, got %q", got)
	}
}
