//go:build e2eprovider

package provider

import (
	"context"
	"encoding/base64"
	"encoding/xml"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/crossplane-contrib/function-aws-machinepool/internal/simulator"
	"github.com/crossplane-contrib/function-aws-machinepool/test/e2e/internal/awsproxy"
	"github.com/crossplane-contrib/function-aws-machinepool/test/e2e/internal/controlplane"
	"github.com/crossplane-contrib/function-aws-machinepool/test/e2e/internal/kube"
)

const (
	// account of moto.
	account = "123456789012"
	bucket  = "demo-bootstrap"

	versionA = "v1.34.1"
	versionB = "v1.35.0"
)

var (
	pools           = kube.NewResource("aws.machinepool.fn.crossplane.io", "v1alpha1", "machinepools", "MachinePool", true)
	providerConfigs = kube.NewResource("aws.m.upbound.io", "v1beta1", "clusterproviderconfigs", "ClusterProviderConfig", false)
)

func object(apiVersion, kind, name string, fields kube.Object) kube.Object {
	o := kube.Object{"apiVersion": apiVersion, "kind": kind, "metadata": kube.Object{"name": name}}
	maps.Copy(o, fields)
	return o
}

// secret of a namespace with one key.
func secret(namespace, name, key, value string) kube.Object {
	o := object("v1", "Secret", name, kube.Object{"data": kube.Object{key: base64.StdEncoding.EncodeToString([]byte(value))}})
	simulator.SetField(o, namespace, "metadata", "namespace")
	return o
}

// packages to install: one Configuration, from a registry on this machine, and the function's way to AWS.
func (s *suite) packages() []kube.Object {
	env := func(name, value string) kube.Object { return kube.Object{"name": name, "value": value} }
	out := []kube.Object{object("pkg.crossplane.io/v1beta1", "DeploymentRuntimeConfig", "default", kube.Object{
		"spec": kube.Object{"deploymentTemplate": kube.Object{"spec": kube.Object{
			"selector": kube.Object{},
			"template": kube.Object{"spec": kube.Object{"containers": []any{kube.Object{
				"name": "package-runtime",
				"env":  []any{env("AWS_ENDPOINT_URL", s.aws.URL), env("AWS_EC2_METADATA_DISABLED", "true")},
			}}}},
		}}},
	})}
	out = append(out, object("pkg.crossplane.io/v1beta1", "ImageConfig", "local", kube.Object{"spec": kube.Object{
		"matchImages":  []any{kube.Object{"type": "Prefix", "prefix": "xpkg.crossplane.io/crossplane-contrib"}},
		"rewriteImage": kube.Object{"prefix": s.registry.Host + "/crossplane-contrib"},
	}}))
	return append(out, object("pkg.crossplane.io/v1", "Configuration", configurationName, kube.Object{
		"spec": kube.Object{"package": "xpkg.crossplane.io/" + configPackage + ":" + packageTag},
	}))
}

// configure the provider and a Composition whose function reads AWS with a Secret.
func (s *suite) configure(ctx context.Context) error {
	ini := func(key string) string {
		return fmt.Sprintf("[default]\naws_access_key_id = %s\naws_secret_access_key = e2e\n", key)
	}
	err := s.apply(ctx,
		secret(controlplane.Namespace, "aws-creds-provider", "credentials", ini(providerKey)),
		secret(controlplane.Namespace, "aws-creds-function", "credentials", ini(functionKey)),
		object("apiextensions.crossplane.io/v1", "Composition", "reading", kube.Object{"spec": kube.Object{
			"compositeTypeRef": kube.Object{"apiVersion": pools.GroupVersion().String(), "kind": pools.Kind},
			"mode":             "Pipeline",
			"pipeline": []any{kube.Object{
				"step": "machine-pool", "functionRef": kube.Object{"name": functionName},
				"credentials": []any{kube.Object{
					"name": "aws-creds", "source": "Secret",
					"secretRef": kube.Object{"namespace": controlplane.Namespace, "name": "aws-creds-function"},
				}},
				"input": kube.Object{
					"apiVersion": "machinepool.fn.crossplane.io/v1beta1", "kind": "Input",
					"providerConfigRef": kube.Object{"kind": "ClusterProviderConfig", "name": "default"},
					"aws":               kube.Object{"identity": "Secret", "credentials": "aws-creds"},
					"refresh":           kube.Object{"stableSeconds": int64(10), "changingSeconds": int64(3)},
				},
			}},
		}}))
	if err != nil {
		return err
	}
	if err := s.await(ctx, kube.CRDs, "clusterproviderconfigs.aws.m.upbound.io", "Established"); err != nil {
		return err
	}
	return s.client.Apply(ctx, providerConfigs, object("aws.m.upbound.io/v1beta1", "ClusterProviderConfig", "default", kube.Object{"spec": kube.Object{
		"credentials": kube.Object{
			"source":    "Secret",
			"secretRef": kube.Object{"namespace": controlplane.Namespace, "name": "aws-creds-provider", "key": "credentials"},
		},
		"endpoint": kube.Object{
			"url":               kube.Object{"type": "Static", "static": s.aws.URL},
			"services":          []any{"autoscaling", "ec2", "iam", "s3", "sts"},
			"hostnameImmutable": true, "source": "Custom",
		},
		"skip_credentials_validation": true, "skip_requesting_account_id": true, "skip_metadata_api_check": true,
		"skip_region_validation": true, "s3_use_path_style": true,
	}}))
}

// publish an image for a version, and return its id.
func (s *suite) publish(ctx context.Context, version string) (string, error) {
	images, err := s.account.Call(ctx, "ec2", "DescribeImages", nil)
	if err != nil {
		return "", err
	}
	instance, err := s.account.Call(ctx, "ec2", "RunInstances", awsproxy.Params{"ImageId": awsproxy.First(images, "imageId"), "MinCount": "1", "MaxCount": "1"})
	if err != nil {
		return "", err
	}
	id := awsproxy.First(instance, "instanceId")
	image, err := s.account.Call(ctx, "ec2", "CreateImage", awsproxy.Params{"InstanceId": id, "Name": "capa-ami-ubuntu-24.04-" + version + "-1"})
	if err != nil {
		return "", err
	}
	_, err = s.account.Call(ctx, "ec2", "TerminateInstances", awsproxy.Params{"InstanceId.1": id})
	return awsproxy.First(image, "imageId"), err
}

// exports of a cluster in moto's default network.
func (s *suite) exports(ctx context.Context) (kube.Object, error) {
	content, err := s.account.Call(ctx, "ec2", "DescribeSubnets", nil)
	if err != nil {
		return nil, err
	}
	subnets := struct {
		Items []struct {
			ID   string `xml:"subnetId"`
			Zone string `xml:"availabilityZone"`
		} `xml:"subnetSet>item"`
	}{}
	if err := xml.Unmarshal(content, &subnets); err != nil {
		return nil, err
	}
	zones := kube.Object{}
	for _, i := range subnets.Items {
		if slices.Contains([]string{"us-east-1a", "us-east-1b", "us-east-1c"}, i.Zone) {
			zones[i.Zone] = kube.Object{"subnet_id": i.ID}
		}
	}
	groups, err := s.account.Call(ctx, "ec2", "DescribeSecurityGroups", nil)
	if err != nil {
		return nil, err
	}
	return kube.Object{
		"schema": "captf.io/aws-cluster/v1", "region": awsproxy.Region, "kubernetes_cluster_id": "demo-1960e37c",
		"failure_domains":    zones,
		"security_group_ids": kube.Object{"worker": []any{awsproxy.First(groups, "groupId")}},
		"instance_profiles":  kube.Object{"worker": "demo-worker"},
		"bootstrap_bucket":   bucket,
	}, nil
}

func bootstrapData(content string) string {
	return "#cloud-config\nruncmd: [echo " + content + "]\n"
}

// state of a pool and its managed resources in some lines, for a failure's message.
func state(xr kube.Object, mrs map[string]kube.Object) string {
	out := []string{fmt.Sprintf("rollout %v, health %v, members %v", simulator.Field(xr, "status", "rollout"), simulator.Field(xr, "status", "health"), simulator.Texts(xr, "status", "providerIDList"))}
	for _, o := range append([]kube.Object{xr}, slices.Collect(maps.Values(mrs))...) {
		out = append(out, fmt.Sprintf("%v %s %s", o["kind"], simulator.Text(o, "metadata", "annotations", "crossplane.io/external-name"), simulator.Text(o, "metadata", "deletionTimestamp")))
		list, _ := simulator.Field(o, "status", "conditions").([]any)
		for _, c := range list {
			out = append(out, fmt.Sprintf("  %s=%s %s %s", simulator.Text(c, "type"), simulator.Text(c, "status"), simulator.Text(c, "reason"), simulator.Text(c, "message")))
		}
	}
	return strings.Join(out, "\n")
}

// since a time, in seconds.
func since(t, began time.Time) string { return fmt.Sprintf("%6.1fs", t.Sub(began).Seconds()) }
