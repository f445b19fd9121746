package observation

import (
	"encoding/base64"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/function-aws-machinepool/apis/v1alpha1"
	"github.com/crossplane-contrib/function-aws-machinepool/internal/pool"
)

func TestFromManaged(t *testing.T) {
	const conditions = `conditions: [{type: Ready, status: "True"}, {type: Synced, status: "True"}]`
	healthy := func(kind string, spec map[string]any) pool.Resource {
		return pool.Resource{APIVersion: "g.upbound.io/v1", Kind: kind, Annotations: map[string]string{}, Spec: spec, Ready: true, Synced: true}
	}
	none := func(change func(*pool.Managed)) pool.Managed {
		m := pool.Managed{Templates: map[string]pool.ObservedTemplate{}, Hooks: map[string]pool.Resource{}}
		change(&m)
		return m
	}
	bare := func() pool.Resource { return pool.Resource{Annotations: map[string]string{}, Spec: map[string]any{}} }
	template := func(change func(*pool.ObservedTemplate)) pool.Managed {
		return none(func(m *pool.Managed) {
			tpl := pool.ObservedTemplate{Resource: bare()}
			change(&tpl)
			m.Templates["launch-template-1a2b3c4d"] = tpl
		})
	}
	cases := map[string]struct {
		reason string
		args   string
		want   pool.Managed
	}{
		"None": {reason: "A new pool has nothing.", args: `{}`, want: none(func(*pool.Managed) {})},
		"Theirs": {
			reason: "Resources of other steps of the pipeline are left alone.",
			args:   `{bucket: {resource: {kind: Bucket}}, launch: {resource: {}}, autoscaling-group-2: {resource: {}}, launch-template-base: {resource: {}}, launch-template-1a2b3c4d: {resource: {apiVersion: v1, kind: ConfigMap}}, lifecycle-hook-a: {resource: {apiVersion: example.org.upbound.io/v1, kind: Hook}}}`,
			want:   none(func(*pool.Managed) {}),
		},
		"Group": {
			reason: "A group is known by its external name; numbers are floats; the function's own annotations are kept, others are not its to send.",
			args: `{autoscaling-group: {resource: {apiVersion: g.upbound.io/v1, kind: AutoscalingGroup,
				metadata: {generation: 7, annotations: {crossplane.io/external-name: mp, machinepool.fn.crossplane.io/x: kept, theirs: left}},
				spec: {forProvider: {region: r, minSize: 0, vpcZoneIdentifier: [s2, s1], launchTemplate: {id: lt-2}}},
				status: {atProvider: {id: other, arn: arn, desiredCapacity: 0, launchTemplate: {id: lt-1}}, ` + conditions + `}}}}`,
			want: none(func(m *pool.Managed) {
				r := healthy("AutoscalingGroup", map[string]any{"forProvider": map[string]any{
					"region": "r", "minSize": float64(0), "vpcZoneIdentifier": []any{"s2", "s1"}, "launchTemplate": map[string]any{"id": "lt-2"},
				}})
				r.ExternalName = "mp"
				r.Region = "r"
				r.Annotations = map[string]string{"machinepool.fn.crossplane.io/x": "kept"}
				m.Group = &pool.ObservedGroup{
					Resource: r, Name: "mp", ARN: "arn", SentTemplateID: "lt-2", Generation: 7, TemplateID: "lt-1",
					Subnets: []string{"s2", "s1"}, DesiredCapacity: new(int32(0)),
				}
			}),
		},
		"TemplateRootDevice": {
			reason: "A template's image and root device were asked for together.",
			args:   `{launch-template-1a2b3c4d: {resource: {spec: {forProvider: {imageId: ami-1, blockDeviceMappings: [{deviceName: /dev/xvda}]}}}}}`,
			want: template(func(tpl *pool.ObservedTemplate) {
				tpl.Spec = map[string]any{"forProvider": map[string]any{"imageId": "ami-1", "blockDeviceMappings": []any{map[string]any{"deviceName": "/dev/xvda"}}}}
				tpl.ImageID, tpl.RootDevice = "ami-1", "/dev/xvda"
			}),
		},
		"GroupOfNoExternalName": {
			reason: "The provider's id of a group is its name.",
			args:   `{autoscaling-group: {resource: {status: {atProvider: {id: mp}}}}}`,
			want:   none(func(m *pool.Managed) { m.Group = &pool.ObservedGroup{Resource: bare(), Name: "mp"} }),
		},
		"GroupWithoutStatus": {
			reason: "A desired capacity that is not observed is not 0.",
			args:   `{autoscaling-group: {resource: {}}}`,
			want:   none(func(m *pool.Managed) { m.Group = &pool.ObservedGroup{Resource: bare()} }),
		},
		"Template": {
			reason: "The id that AWS assigned wins over an external name.",
			args: `{launch-template-1a2b3c4d: {resource: {metadata: {annotations: {crossplane.io/external-name: lt-9}, creationTimestamp: "2026-11-29T12:00:00Z"},
				status: {atProvider: {id: lt-1}}}}}`,
			want: template(func(tpl *pool.ObservedTemplate) {
				tpl.ID, tpl.ExternalName = "lt-1", "lt-9"
				tpl.Created = time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)
			}),
		},
		"TemplateForCloudConfig": {
			reason: "The user data says what format its instances boot with; its beginning is enough.",
			args: `{launch-template-1a2b3c4d: {resource: {spec: {forProvider: {userData: "` +
				base64.StdEncoding.EncodeToString([]byte("#cloud-boothook\n#!/bin/sh\n# Made by function-aws-machinepool")) + `"}}}}}`,
			want: template(func(tpl *pool.ObservedTemplate) {
				tpl.Format = v1alpha1.BootstrapFormatCloudConfig
				tpl.Spec = map[string]any{"forProvider": map[string]any{
					"userData": base64.StdEncoding.EncodeToString([]byte("#cloud-boothook\n#!/bin/sh\n# Made by function-aws-machinepool")),
				}}
			}),
		},
		"TemplateOfOthersUserData": {
			reason: "User data that is no base64 is none of the function's.",
			args:   `{launch-template-1a2b3c4d: {resource: {spec: {forProvider: {userData: "#cloud-boothook"}}}}}`,
			want: template(func(tpl *pool.ObservedTemplate) {
				tpl.Spec = map[string]any{"forProvider": map[string]any{"userData": "#cloud-boothook"}}
			}),
		},
		"TemplateRestored": {
			reason: "After a restore without status the external name is the only trace of the id.",
			args:   `{launch-template-1a2b3c4d: {resource: {metadata: {annotations: {crossplane.io/external-name: lt-9}}}}}`,
			want:   template(func(tpl *pool.ObservedTemplate) { tpl.ID, tpl.ExternalName = "lt-9", "lt-9" }),
		},
		"TemplateNamedByAPerson": {
			reason: "An external name that is no id of a template is none.",
			args:   `{launch-template-1a2b3c4d: {resource: {metadata: {annotations: {crossplane.io/external-name: mine}}}}}`,
			want:   template(func(tpl *pool.ObservedTemplate) { tpl.ExternalName = "mine" }),
		},
		"TemplateWithATakenName": {
			reason: "Two problems at once are one, the same in every run.",
			args: `{launch-template-1a2b3c4d: {resource: {status: {conditions: [
				{type: Synced, status: "False", message: "cannot determine creation result - remove the annotation"},
				{type: LastAsyncOperation, status: "False", message: "InvalidLaunchTemplateName.AlreadyExistsException: in use"}]}}}}`,
			want: template(func(tpl *pool.ObservedTemplate) { tpl.Creation = pool.CreationNameTaken }),
		},
		"TemplateBeingDeleted": {
			reason: "One that is being deleted is there for a while.",
			args:   `{launch-template-1a2b3c4d: {resource: {metadata: {deletionTimestamp: "2026-11-29T18:00:00Z"}}}}`,
			want:   template(func(tpl *pool.ObservedTemplate) { tpl.Terminating = true }),
		},
		"TemplateThatFails": {
			reason: "Any other failure is one that the provider tries again.",
			args: `{launch-template-1a2b3c4d: {resource: {status: {conditions: [
				{type: Ready, status: "False", reason: Creating},
				{type: LastAsyncOperation, status: "False", message: "UnauthorizedOperation"}]}}}}`,
			want: template(func(tpl *pool.ObservedTemplate) { tpl.Creation = pool.CreationFailing }),
		},
		"TemplateOnItsWay": {
			reason: "One that is being created is no failure.",
			args:   `{launch-template-1a2b3c4d: {resource: {status: {conditions: [{type: Ready, status: "False", reason: Creating}, {type: Synced, status: "True"}]}}}}`,
			want:   template(func(tpl *pool.ObservedTemplate) { tpl.Synced = true }),
		},
		"Object": {
			reason: "Bucket and key are where the object is.",
			args:   `{bootstrap-object: {resource: {apiVersion: g.upbound.io/v1, kind: Object, spec: {forProvider: {bucket: b, key: k}}, status: {` + conditions + `}}}}`,
			want: none(func(m *pool.Managed) {
				m.Object = &pool.ObservedObject{Resource: healthy("Object", map[string]any{"forProvider": map[string]any{"bucket": "b", "key": "k"}}), Bucket: "b", Key: "k"}
			}),
		},
		"OfOtherKinds": {
			reason: "What is of another kind than the provider's, or of another API, is not the pool's, whatever it is called.",
			args: `{autoscaling-group: {resource: {apiVersion: v1, kind: ConfigMap, metadata: {annotations: {crossplane.io/external-name: victim}}}},
				bootstrap-object: {resource: {apiVersion: aws.m.upbound.io/v1beta1, kind: ProviderConfig}},
				scaling-policy: {resource: {apiVersion: example.org/v1, kind: Policy}},
				launch-template-1a2b3c4d: {resource: {apiVersion: ec2.aws.m.upbound.io/v1beta1, kind: Instance}},
				lifecycle-hook-a: {resource: {apiVersion: v1, kind: LifecycleHook}}}`,
			want: none(func(*pool.Managed) {}),
		},
		"PolicyAndHooks": {
			reason: "A resource is healthy when it is Ready and Synced, not one of the two.",
			args: `{scaling-policy: {resource: {status: {conditions: [{type: Ready, status: "True"}, {type: Synced, status: "False"}]}}},
				lifecycle-hook-a: {resource: {status: {conditions: [{type: Synced, status: "True"}]}}},
				lifecycle-hook-b: {resource: {}}}`,
			want: none(func(m *pool.Managed) {
				p, a := bare(), bare()
				p.Ready, a.Synced = true, true
				m.Policy = &p
				m.Hooks["lifecycle-hook-a"], m.Hooks["lifecycle-hook-b"] = a, bare()
			}),
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			// Maps are shuffled in each run.
			for range 20 {
				got := observe(t, parse(t, `{observed: {resources: `+tc.args+`}}`)).Managed
				if diff := cmp.Diff(tc.want, got); diff != "" {
					t.Fatalf("\n%s\nFrom(...): -want, +got:\n%s", tc.reason, diff)
				}
			}
		})
	}
}
