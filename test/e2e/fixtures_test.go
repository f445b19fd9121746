//go:build e2e

package e2e

import (
	"context"
	"encoding/base64"
	"fmt"

	"github.com/crossplane-contrib/function-aws-machinepool/internal/simulator"
	"github.com/crossplane-contrib/function-aws-machinepool/test/e2e/internal/kube"
)

// What pools refer to.
var (
	pools    = kube.NewResource("aws.machinepool.fn.crossplane.io", "v1alpha1", "machinepools", "MachinePool", true)
	clusters = kube.NewResource("example.org", "v1", "clusters", "Cluster", true)
)

// Compositions of pools. The shipped one reads no AWS; the others do, and are asked again soon, so that tests need not
// wait for a minute.
const (
	shipped       = "machinepools.aws.machinepool.fn.crossplane.io"
	reading       = "reading"
	readingStable = 10
	quick         = "quick"
	// usual is looked at as seldom as the shipped one while it is steady. Without that, 200 pools keep an API server busy.
	usual       = "usual"
	usualStable = 60
)

const (
	versionA = "v1.34.1"
	versionB = "v1.35.0"
	imageA   = "ami-0aaaaaaaaaaaaaaa1"
	imageB   = "ami-0bbbbbbbbbbbbbbb1"
)

// zones by subnet.
func zones() map[string]string {
	return map[string]string{
		"subnet-0aaa0000000000001": "us-east-1a", "subnet-0bbb0000000000001": "us-east-1b",
		"subnet-0ccc0000000000001": "us-east-1c", "subnet-0ddd0000000000001": "us-east-1d",
	}
}

func images() []simulator.Image {
	return []simulator.Image{
		{ID: imageA, Name: "capa-ami-ubuntu-24.04-v1.34.1-1", Owner: "819546954734", Architecture: "x86_64"},
		{ID: imageB, Name: "capa-ami-ubuntu-24.04-v1.35.0-1", Owner: "819546954734", Architecture: "x86_64"},
	}
}

// exports of a cluster with three zones. Each namespace has a bucket of its own.
func exports(namespace string) kube.Object {
	return kube.Object{
		"schema": "captf.io/aws-cluster/v1", "region": "us-east-1", "kubernetes_cluster_id": namespace,
		"failure_domains": kube.Object{
			"us-east-1a": kube.Object{"subnet_id": "subnet-0aaa0000000000001"},
			"us-east-1b": kube.Object{"subnet_id": "subnet-0bbb0000000000001"},
			"us-east-1c": kube.Object{"subnet_id": "subnet-0ccc0000000000001"},
		},
		"security_group_ids": kube.Object{"worker": []any{"sg-0e0000000000000e1"}},
		"instance_profiles":  kube.Object{"worker": "demo-worker"},
		"bootstrap_bucket":   namespace + "-bootstrap",
	}
}

// cluster that publishes exports.
func cluster(namespace, name string, exports kube.Object) kube.Object {
	return kube.Object{
		"apiVersion": "example.org/v1", "kind": "Cluster", "metadata": kube.Object{"namespace": namespace, "name": name},
		"status": kube.Object{"exports": exports},
	}
}

// secret with bootstrap data.
func secret(namespace, name, content string) kube.Object {
	return kube.Object{
		"apiVersion": "v1", "kind": "Secret", "metadata": kube.Object{"namespace": namespace, "name": name},
		"data": kube.Object{
			"format": base64.StdEncoding.EncodeToString([]byte("cloud-config")),
			"value":  base64.StdEncoding.EncodeToString([]byte("#cloud-config\nruncmd: [echo " + content + "]\n")),
		},
	}
}

// crd of a kind whose objects may hold anything.
func crd(r kube.Resource) kube.Object {
	return kube.Object{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": kube.Object{"name": r.Resource + "." + r.Group},
		"spec": kube.Object{
			"group": r.Group, "scope": "Namespaced", "names": kube.Object{"kind": r.Kind, "plural": r.Resource},
			"versions": []any{kube.Object{
				"name": r.Version, "served": true, "storage": true,
				"schema": kube.Object{"openAPIV3Schema": kube.Object{"type": "object", "x-kubernetes-preserve-unknown-fields": true}},
			}},
		},
	}
}

// readable is the ClusterRole that lets Crossplane fetch a foreign kind, as docs/operations.md has it.
func readable(r kube.Resource) kube.Object {
	return kube.Object{
		"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole",
		"metadata": kube.Object{"name": "machinepool-exports-" + r.Resource, "labels": kube.Object{"rbac.crossplane.io/aggregate-to-crossplane": "true"}},
		"rules":    []any{kube.Object{"apiGroups": []any{r.Group}, "resources": []any{r.Resource}, "verbs": []any{"get", "list", "watch"}}},
	}
}

// composition of pools that read AWS with the pod's identity.
func composition(name, apiVersion string, stable, changing int64) kube.Object {
	return kube.Object{
		"apiVersion": "apiextensions.crossplane.io/v1", "kind": "Composition", "metadata": kube.Object{"name": name},
		"spec": kube.Object{
			"compositeTypeRef": kube.Object{"apiVersion": apiVersion, "kind": "MachinePool"},
			"mode":             "Pipeline",
			"pipeline": []any{kube.Object{
				"step": "machine-pool", "functionRef": kube.Object{"name": functionName},
				"input": kube.Object{
					"apiVersion": "machinepool.fn.crossplane.io/v1beta1", "kind": "Input",
					"providerConfigRef": kube.Object{"kind": "ClusterProviderConfig", "name": "default"},
					"aws":               kube.Object{"identity": "Pod"},
					"refresh":           kube.Object{"stableSeconds": stable, "changingSeconds": changing},
				},
			}},
		},
	}
}

// prepare what all tests share.
func (s *suite) prepare(ctx context.Context) error {
	const api = "aws.machinepool.fn.crossplane.io/v1alpha1"
	if err := s.apply(ctx, crd(clusters), readable(clusters), composition(reading, api, readingStable, 3), composition(quick, api, 4, 2), composition(usual, api, usualStable, 3)); err != nil {
		return err
	}
	if err := s.await(ctx, kube.CRDs, "", "clusters.example.org", "Established"); err != nil {
		return err
	}
	return s.await(ctx, kube.XRDs, "", "machinepools.aws.machinepool.fn.crossplane.io", "Established")
}

// spec of a pool with all it needs in its own namespace.
func spec(name string) kube.Object {
	return kube.Object{
		"crossplane": kube.Object{"compositionRef": kube.Object{"name": reading}},
		"cluster": kube.Object{
			"exportsFrom": kube.Object{"apiVersion": "example.org/v1", "kind": "Cluster", "name": "demo"},
		},
		"kubernetesVersion": versionA, "replicas": int64(3),
		"bootstrap": kube.Object{"dataSecretRef": kube.Object{"name": name}},
	}
}

// merge is a merge patch, in place.
func merge(into, patch kube.Object) kube.Object {
	for k, v := range patch {
		from, isMap := v.(kube.Object)
		to, both := into[k].(kube.Object)
		switch {
		case v == nil:
			delete(into, k)
		case isMap && both:
			merge(to, from)
		default:
			into[k] = v
		}
	}
	return into
}

func describe(o kube.Object) string {
	return fmt.Sprintf("%v %s/%s", o["kind"], simulator.Text(o, "metadata", "namespace"), simulator.Text(o, "metadata", "name"))
}
