package v1alpha1

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	extv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"sigs.k8s.io/yaml"
)

// fromXRD is what an API server makes of the XRD's schema.
func fromXRD(t *testing.T) *schema.Structural {
	t.Helper()

	data, err := os.ReadFile("../../configuration/machinepools.yaml")
	if err != nil {
		t.Fatal(err)
	}
	xrd := struct {
		Spec struct {
			Versions []struct {
				Schema struct {
					OpenAPIV3Schema *extv1.JSONSchemaProps `json:"openAPIV3Schema"`
				} `json:"schema"`
			} `json:"versions"`
		} `json:"spec"`
	}{}
	if err := yaml.Unmarshal(data, &xrd); err != nil {
		t.Fatal(err)
	}
	props := &apiextensions.JSONSchemaProps{}
	if err := extv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(xrd.Spec.Versions[0].Schema.OpenAPIV3Schema, props, nil); err != nil {
		t.Fatal(err)
	}
	structural, err := schema.NewStructural(props)
	if err != nil {
		t.Fatal(err)
	}

	return structural
}

func TestDefault(t *testing.T) {
	// As a string, because what is absent matters here.
	cases := map[string]struct {
		reason string
		xr     string
		want   MachinePoolSpec
	}{
		"Sparse": {
			reason: "An XR with what must be set should get every default, in objects that are absent too.",
			xr:     `{"spec": {"cluster": {"exportsFrom": {"apiVersion": "v1", "kind": "Cluster", "name": "demo"}}, "bootstrap": {"dataSecretRef": {"name": "demo"}}}}`,
			want: MachinePoolSpec{
				Cluster: ClusterSource{
					ExportsFrom: &ExportsReference{APIVersion: "v1", Kind: "Cluster", Name: "demo", FieldPath: "status.exports"},
				},
				Replicas:     new(int32(1)),
				Bootstrap:    Bootstrap{DataSecretRef: SecretKeyReference{Name: "demo", Key: "value"}},
				InstanceType: "m6i.large",
				MachineImage: MachineImage{
					Owner:          "819546954734",
					NameFormat:     "capa-ami-ubuntu-24.04-?{semver}-*",
					Architecture:   ArchitectureX8664,
					RootDeviceName: "/dev/sda1",
				},
				RootVolume:               RootVolume{SizeGiB: 40, Type: "gp3"},
				InstanceMetadataHopLimit: 1,
				Rollout:                  Rollout{InstanceWarmupSeconds: new(int32(300))},
			},
		},
		"Nulls": {
			reason: "A null should get what an absent field gets.",
			xr: `{"spec": {"cluster": {"exportsFrom": null, "exports": {"schema": "captf.io/aws-cluster/v1"}}, "bootstrap": {"dataSecretRef": {"name": "demo", "key": null}, "format": null},
				"replicas": null, "instanceType": null, "machineImage": null, "rootVolume": {"sizeGiB": null, "kmsKeyID": null}, "rollout": null, "spot": null,
				"instanceMetadataHopLimit": null, "lifecycleHooks": null, "sshKeyName": null, "additionalTags": null}}`,
			want: MachinePoolSpec{
				Cluster:      ClusterSource{Exports: &Exports{Schema: "captf.io/aws-cluster/v1"}},
				Replicas:     new(int32(1)),
				Bootstrap:    Bootstrap{DataSecretRef: SecretKeyReference{Name: "demo", Key: "value"}},
				InstanceType: "m6i.large",
				MachineImage: MachineImage{
					Owner:          "819546954734",
					NameFormat:     "capa-ami-ubuntu-24.04-?{semver}-*",
					Architecture:   ArchitectureX8664,
					RootDeviceName: "/dev/sda1",
				},
				RootVolume:               RootVolume{SizeGiB: 40, Type: "gp3"},
				InstanceMetadataHopLimit: 1,
				Rollout:                  Rollout{InstanceWarmupSeconds: new(int32(300))},
			},
		},
		"Nested": {
			reason: "Objects that are there should get the defaults of what they lack, those in lists too.",
			xr: `{"spec": {"cluster": {"exports": {}}, "bootstrap": {"dataSecretRef": {"name": "demo", "namespace": "a"}}, "autoscaling": {"minReplicas": 0, "maxReplicas": 2},
				"machineImage": {"id": "ami-0123456789abcdef0"}, "rootVolume": {"type": "gp2"}, "rollout": {"trigger": "now"},
				"lifecycleHooks": [{"name": "a", "transition": "Launching"}, {"name": "b", "transition": "Terminating", "heartbeatTimeoutSeconds": 30, "defaultResult": "Continue"}]}}`,
			want: MachinePoolSpec{
				Cluster:      ClusterSource{Exports: &Exports{}},
				Replicas:     new(int32(1)),
				Autoscaling:  &Autoscaling{MaxReplicas: 2, Scaler: ScalerNative, TargetCPUPercent: 60},
				Bootstrap:    Bootstrap{DataSecretRef: SecretKeyReference{Name: "demo", Namespace: "a", Key: "value"}},
				InstanceType: "m6i.large",
				MachineImage: MachineImage{
					ID:             new("ami-0123456789abcdef0"),
					Owner:          "819546954734",
					NameFormat:     "capa-ami-ubuntu-24.04-?{semver}-*",
					Architecture:   ArchitectureX8664,
					RootDeviceName: "/dev/sda1",
				},
				RootVolume:               RootVolume{SizeGiB: 40, Type: "gp2"},
				InstanceMetadataHopLimit: 1,
				Rollout:                  Rollout{InstanceWarmupSeconds: new(int32(300)), Trigger: "now"},
				LifecycleHooks: []LifecycleHook{
					{Name: "a", Transition: LifecycleTransitionLaunching, HeartbeatTimeoutSeconds: new(int32(3600)), DefaultResult: LifecycleHookResultAbandon},
					{Name: "b", Transition: LifecycleTransitionTerminating, HeartbeatTimeoutSeconds: new(int32(30)), DefaultResult: LifecycleHookResultContinue},
				},
			},
		},
		"Set": {
			reason: "What is set should stay, zeroes that mean something too.",
			xr: `{"spec": {"cluster": {"exportsFrom": {"apiVersion": "v1", "kind": "Cluster", "name": "demo", "fieldPath": "spec.exports"}}, "replicas": 0,
				"autoscaling": {"minReplicas": 1, "maxReplicas": 2, "scaler": "External", "targetCPUPercent": 1}, "bootstrap": {"dataSecretRef": {"name": "demo", "key": "data"}, "format": "ignition"},
				"instanceType": "m7g.large", "machineImage": {"owner": "self", "nameFormat": "x-{version}", "architecture": "arm64", "rootDeviceName": "/dev/xvda"},
				"rootVolume": {"sizeGiB": 8, "type": "gp2"}, "instanceMetadataHopLimit": 2, "rollout": {"instanceWarmupSeconds": 0}, "spot": true, "publicIP": true}}`,
			want: MachinePoolSpec{
				Cluster: ClusterSource{
					ExportsFrom: &ExportsReference{APIVersion: "v1", Kind: "Cluster", Name: "demo", FieldPath: "spec.exports"},
				},
				Replicas:     new(int32(0)),
				Autoscaling:  &Autoscaling{MinReplicas: 1, MaxReplicas: 2, Scaler: ScalerExternal, TargetCPUPercent: 1},
				Bootstrap:    Bootstrap{DataSecretRef: SecretKeyReference{Name: "demo", Key: "data"}, Format: BootstrapFormatIgnition},
				InstanceType: "m7g.large",
				MachineImage: MachineImage{
					Owner:          "self",
					NameFormat:     "x-{version}",
					Architecture:   ArchitectureARM64,
					RootDeviceName: "/dev/xvda",
				},
				RootVolume:               RootVolume{SizeGiB: 8, Type: "gp2"},
				Spot:                     true,
				PublicIP:                 true,
				InstanceMetadataHopLimit: 2,
				Rollout:                  Rollout{InstanceWarmupSeconds: new(int32(0))},
			},
		},
	}

	structural := fromXRD(t)

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			ours := &MachinePool{}
			if err := json.Unmarshal([]byte(tc.xr), ours); err != nil {
				t.Fatal(err)
			}
			ours.Default()
			if diff := cmp.Diff(tc.want, ours.Spec); diff != "" {
				t.Errorf("%s\nDefault(): -want, +got:\n%s", tc.reason, diff)
			}

			if diff := cmp.Diff(tc.want, defaultedByAPIServer(t, structural, tc.xr).Spec); diff != "" {
				t.Errorf("%s\nThe XRD: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func defaultedByAPIServer(t *testing.T, structural *schema.Structural, xr string) *MachinePool {
	t.Helper()

	object := map[string]any{}
	if err := json.Unmarshal([]byte(xr), &object); err != nil {
		t.Fatal(err)
	}
	defaulting.PruneNonNullableNullsWithoutDefaults(object, structural)
	defaulting.Default(object, structural)

	data, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	pool := &MachinePool{}
	if err := json.Unmarshal(data, pool); err != nil {
		t.Fatal(err)
	}

	return pool
}
