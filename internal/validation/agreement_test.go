package validation

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	extv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"pgregory.net/rapid"
	"sigs.k8s.io/yaml"

	"github.com/crossplane-contrib/function-aws-machinepool/apis/v1alpha1"
	"github.com/crossplane-contrib/function-aws-machinepool/input/v1beta1"
)

// Whatever the XRD admits, the function takes, and the other way round: the cases in test/admission are chosen, these are
// not.
func TestAgreesWithTheXRD(t *testing.T) {
	admit := admitting(t, schemaIn(t, xrdPath))

	rapid.Check(t, func(t *rapid.T) {
		xr := map[string]any{"spec": anySpec(t)}

		data, err := json.Marshal(xr)
		if err != nil {
			t.Fatal(err)
		}
		pool := &v1alpha1.MachinePool{}
		if err := json.Unmarshal(data, pool); err != nil {
			t.Fatal(err)
		}
		pool.Default()
		ours := append(MachinePool(pool), Object(xr)...)

		theirs := admit(xr)
		if (len(ours) == 0) != (len(theirs) == 0) {
			t.Errorf("The function says %q, the XRD %q, of %s", ours, theirs, data)
		}
	})
}

// So it is of an Input, which no API server judges: its CRD is what people and editors read.
func TestInputAgreesWithItsCRD(t *testing.T) {
	admit := admitting(t, schemaIn(t, inputPath))
	changes := []func(*rapid.T, map[string]any){
		set(anyWordMap, "tags"),
		set(anyWord, "providerConfigRef", "name"),
		set(anyWord, "aws", "credentials"),
		func(t *rapid.T, in map[string]any) {
			set(func(*rapid.T) any { return []any{map[string]any{"roleARN": anyWord(t), "externalID": anyWord(t)}} }, "aws", "assumeRoleChain")(t, in)
		},
	}

	rapid.Check(t, func(t *rapid.T) {
		object := map[string]any{}
		rapid.SampledFrom(changes).Draw(t, "change")(t, object)

		data, err := json.Marshal(object)
		if err != nil {
			t.Fatal(err)
		}
		in := &v1beta1.Input{}
		if err := json.Unmarshal(data, in); err != nil {
			t.Fatal(err)
		}
		emptyName := in.ProviderConfigRef.Name == "" && object["providerConfigRef"] != nil
		in.Default()
		ours, theirs := Input(in), admit(object)
		// A name that was written and is empty is like none to the function.
		if (len(ours) == 0) != (len(theirs) == 0) && !emptyName {
			t.Errorf("The function says %q, the CRD %q, of %s", ours, theirs, data)
		}
	})
}

const (
	xrdPath   = "../../configuration/machinepools.yaml"
	inputPath = "../../package/input/machinepool.fn.crossplane.io_inputs.yaml"
)

// schemaIn returns the schema of an XRD or a CRD.
func schemaIn(t *testing.T, path string) *extv1.JSONSchemaProps {
	t.Helper()

	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	definition := struct {
		Spec struct {
			Versions []struct {
				Schema struct {
					OpenAPIV3Schema *extv1.JSONSchemaProps `json:"openAPIV3Schema"` //nolint:tagliatelle // Kubernetes spells it so.
				} `json:"schema"`
			} `json:"versions"`
		} `json:"spec"`
	}{}
	if err := yaml.Unmarshal(data, &definition); err != nil {
		t.Fatal(err)
	}

	return definition.Spec.Versions[0].Schema.OpenAPIV3Schema
}

// admitting returns the API server's judgement of objects of a schema.
func admitting(t *testing.T, v1 *extv1.JSONSchemaProps) func(xr map[string]any) field.ErrorList {
	t.Helper()

	props := &apiextensions.JSONSchemaProps{}
	if err := extv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(v1, props, nil); err != nil {
		t.Fatal(err)
	}
	structural, err := schema.NewStructural(props)
	if err != nil {
		t.Fatal(err)
	}
	validator, _, err := validation.NewSchemaValidator(props)
	if err != nil {
		t.Fatal(err)
	}
	rules := cel.NewValidator(structural, true, celconfig.PerCallLimit)

	return func(xr map[string]any) field.ErrorList {
		defaulting.PruneNonNullableNullsWithoutDefaults(xr, structural)
		defaulting.Default(xr, structural)

		errs := validation.ValidateCustomResource(nil, xr, validator)
		errs = append(errs, listtype.ValidateListSetsAndMaps(nil, structural, xr)...)
		if len(errs) > 0 {
			return errs
		}
		errs, _ = rules.Validate(context.Background(), nil, structural, xr, nil, celconfig.RuntimeCELCostBudget)

		return errs
	}
}

// words are made of pieces that the syntaxes know, so that some are right, some almost.
func word(t *rapid.T, name string) string {
	pieces := []string{
		"a", "A", "0", "-", ".", "_", "/", ":", " ", "\n", "'", "#", "+", "*", "?", "{", "}", "\\", "ö", "", "value", "Native", "External",
		"sg-0abc1234", "ami-0abc1234", "89abcdef0", "m6i.large", "amazon", "819546954734", "{semver}", "{version}", "/dev/sda1", "gp2", "arm64",
		"arn:aws:kms:us-east-1:123456789012:key/", "arn:aws:iam::123456789012:role/", "arn:aws:sqs:us-east-1:123456789012:", "Continue", "Abandon",
		"v1.34.1", "+rke2r1", "example.org/", "v1", "Cluster", "demo", "aws:", "AWS:", "captf.io/", "kubernetes.io/cluster/", "kubernetes.io/",
		"us-east-1", "us-east-1a", "us-west-2-lax-1a", ",", "subnet-0abc1234", "Captf.IO/", "crossplane-", "Crossplane-", "KubernetesCluster", "%", "\x1b", "..",
		"node.kubernetes.io/", "topology.kubernetes.io/zone", "Launching", "Terminating", "cloud-config", "ignition", "captf.io/aws-cluster/v1",
		strings.Repeat("x", 63), strings.Repeat("y", 128), strings.Repeat("z", 253),
	}

	return strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 1, 2).Draw(t, name), "")
}

func anySpec(t *rapid.T) map[string]any {
	spec := map[string]any{
		"cluster":   map[string]any{"exportsFrom": map[string]any{"apiVersion": "v1", "kind": "Cluster", "name": "demo"}},
		"bootstrap": map[string]any{"dataSecretRef": map[string]any{"name": "demo"}},
	}
	// A few fields at a time, or nothing would ever be admitted.
	for _, change := range rapid.SliceOfN(rapid.SampledFrom(changes), 1, 2).Draw(t, "changes") {
		change(t, spec)
	}

	return spec
}

var changes = []func(t *rapid.T, spec map[string]any){
	set(anyWord, "kubernetesVersion"),
	set(anyNumber, "replicas"),
	set(anyNumber, "autoscaling", "minReplicas"),
	func(t *rapid.T, spec map[string]any) {
		spec["autoscaling"] = map[string]any{"minReplicas": anyNumber(t), "maxReplicas": anyNumber(t), "scaler": anyWord(t), "targetCPUPercent": anyNumber(t)}
	},
	func(t *rapid.T, spec map[string]any) {
		spec["autoscaling"] = map[string]any{"minReplicas": anyNumber(t), "maxReplicas": anyNumber(t)}
	},
	set(anyWords, "failureDomains"),
	set(anyWord, "bootstrap", "dataSecretRef", "name"),
	set(anyWord, "bootstrap", "dataSecretRef", "namespace"),
	set(anyWord, "bootstrap", "dataSecretRef", "key"),
	set(anyWord, "bootstrap", "format"),
	func(t *rapid.T, spec map[string]any) {
		set(func(*rapid.T) any { return "ignition" }, "bootstrap", "format")(t, spec)
		spec["nodeLabels"] = anyWordMap(t)
	},
	set(anyWordMap, "nodeLabels"),
	set(anyWord, "instanceType"),
	set(anyWord, "machineImage", "id"),
	set(anyWord, "machineImage", "owner"),
	set(anyWord, "machineImage", "nameFormat"),
	set(anyWord, "machineImage", "architecture"),
	set(anyWord, "machineImage", "rootDeviceName"),
	set(anyNumber, "rootVolume", "sizeGiB"),
	set(anyWord, "rootVolume", "type"),
	set(anyWord, "rootVolume", "kmsKeyID"),
	set(anyWord, "sshKeyName"),
	set(anyWords, "additionalSecurityGroupIDs"),
	set(anyWordMap, "additionalTags"),
	set(anyNumber, "instanceMetadataHopLimit"),
	set(anyNumber, "rollout", "instanceWarmupSeconds"),
	set(anyWord, "rollout", "trigger"),
	set(anyWord, "cluster", "exportsFrom", "apiVersion"),
	set(anyWord, "cluster", "exportsFrom", "kind"),
	set(anyWord, "cluster", "exportsFrom", "namespace"),
	set(anyWord, "cluster", "exportsFrom", "fieldPath"),
	set(anyWord, "cluster", "exportsFrom", "name"),
	set(anyWord, "cluster", "exports", "schema"),
	exported(anyWord, "region"),
	exported(anyWord, "kubernetes_cluster_id"),
	exported(anyWord, "bootstrap_bucket"),
	exported(anyWord, "instance_profiles", "worker"),
	exported(anyWords, "security_group_ids", "worker"),
	exported(func(t *rapid.T) any {
		zones := map[string]any{}
		for range rapid.IntRange(0, 3).Draw(t, "count") {
			zones[word(t, "zone")] = map[string]any{"subnet_id": word(t, "subnet")}
		}

		return zones
	}, "failure_domains"),
	exported(func(t *rapid.T) any {
		zones := map[string]any{}
		for i := range rapid.IntRange(63, 66).Draw(t, "count") {
			zones[fmt.Sprintf("us-east-1-z-%d", i)] = map[string]any{}
		}

		return zones
	}, "failure_domains"),
	exported(func(t *rapid.T) any {
		var groups []any
		for i := range rapid.IntRange(15, 18).Draw(t, "count") {
			groups = append(groups, fmt.Sprintf("sg-%08x", i))
		}

		return groups
	}, "security_group_ids", "worker"),
	func(t *rapid.T, spec map[string]any) {
		spec["lifecycleHooks"] = []any{
			map[string]any{"name": anyWord(t), "transition": "Launching"},
			map[string]any{"name": anyWord(t), "transition": "Terminating", "heartbeatTimeoutSeconds": anyNumber(t)},
		}
	},
	func(t *rapid.T, spec map[string]any) {
		spec["lifecycleHooks"] = []any{map[string]any{"name": "a", "transition": anyWord(t), "notificationTargetARN": anyWord(t), "roleARN": anyWord(t)}}
	},
}

// exported sets a field of inline exports, which have a schema.
func exported(value func(*rapid.T) any, path ...string) func(*rapid.T, map[string]any) {
	return func(t *rapid.T, spec map[string]any) {
		set(func(*rapid.T) any { return v1alpha1.ExportsSchema }, "cluster", "exports", "schema")(t, spec)
		set(value, append([]string{"cluster", "exports"}, path...)...)(t, spec)
	}
}

func set(value func(*rapid.T) any, path ...string) func(*rapid.T, map[string]any) {
	return func(t *rapid.T, spec map[string]any) {
		into := spec
		for _, name := range path[:len(path)-1] {
			next, ok := into[name].(map[string]any)
			if !ok {
				next = map[string]any{}
				into[name] = next
			}
			into = next
		}
		into[path[len(path)-1]] = value(t)
	}
}

func anyWord(t *rapid.T) any { return word(t, "word") }

func anyNumber(t *rapid.T) any {
	return rapid.OneOf(rapid.Int64Range(-2, 102), rapid.Int64Range(16383, 16386)).Draw(t, "number")
}

func anyWords(t *rapid.T) any {
	count := rapid.IntRange(0, 3).Draw(t, "count")
	words := make([]any, 0, count)
	for range count {
		words = append(words, word(t, "word"))
	}

	return words
}

func anyWordMap(t *rapid.T) any {
	words := map[string]any{}
	for range rapid.IntRange(0, 3).Draw(t, "count") {
		words[word(t, "key")] = word(t, "value")
	}

	return words
}
