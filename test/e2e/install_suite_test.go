//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/crossplane-contrib/function-aws-machinepool/internal/simulator"
	"github.com/crossplane-contrib/function-aws-machinepool/test/e2e/internal/kube"
	"github.com/crossplane-contrib/function-aws-machinepool/test/e2e/internal/provider"
)

// install the packages as a user does, with one Configuration: Crossplane resolves the rest.
func (s *suite) install(ctx context.Context) error {
	if err := s.push(ctx); err != nil {
		return err
	}
	objects := []kube.Object{runtimeConfig(s.aws.URL)}
	for from, to := range map[string]string{"xpkg.crossplane.io/crossplane-contrib": "crossplane-contrib", "xpkg.upbound.io/upbound": "upbound"} {
		objects = append(objects, kube.Object{
			"apiVersion": "pkg.crossplane.io/v1beta1", "kind": "ImageConfig", "metadata": kube.Object{"name": to},
			"spec": kube.Object{
				"matchImages":  []any{kube.Object{"type": "Prefix", "prefix": from}},
				"rewriteImage": kube.Object{"prefix": s.registry.Host + "/" + to},
			},
		})
	}
	objects = append(objects, s.packages()...)
	if err := s.apply(ctx, objects...); err != nil {
		return err
	}
	if err := s.await(ctx, kube.Configurations, "", configurationName, "Installed", "Healthy"); err != nil {
		return err
	}
	if err := s.await(ctx, kube.Functions, "", functionName, "Installed", "Healthy"); err != nil {
		return err
	}
	for _, k := range provider.Kinds() {
		if err := s.await(ctx, kube.CRDs, "", k.Resource+"."+k.Group, "Established"); err != nil {
			return err
		}
	}
	background, cancel := context.WithCancel(context.Background())
	s.closers = append(s.closers, cancel)
	go s.provider.Run(background, sayf) //nolint:contextcheck // It runs until it is closed.
	return s.prepare(ctx)
}

// packages to install: the Configuration alone, or by hand all that it depends on, as docs/operations.md says. By hand the
// providers are the other build of the same source, under names of its own.
func (s *suite) packages() []kube.Object {
	pkg := func(kind, name, source string) kube.Object {
		return kube.Object{
			"apiVersion": "pkg.crossplane.io/v1", "kind": kind, "metadata": kube.Object{"name": name}, "spec": kube.Object{"package": source},
		}
	}
	configuration := pkg("Configuration", configurationName, "xpkg.crossplane.io/"+configPackage+":"+packageTag)
	if !s.byHand {
		return []kube.Object{configuration}
	}
	simulator.SetField(configuration, true, "spec", "skipDependencyResolution")
	out := []kube.Object{configuration, pkg("Function", functionName, "xpkg.crossplane.io/"+functionPackage+":"+packageTag)}
	for name := range provider.CRDs() {
		out = append(out, pkg("Provider", "our-"+name, "xpkg.upbound.io/upbound/"+name+":"+awsPackagesVersion))
	}
	return out
}

// runtimeConfig is Crossplane's default one, which gives the function two pods, between which calls alternate, and its way to AWS as
// a user would: through the pod's environment.
func runtimeConfig(endpoint string) kube.Object {
	env := func(name, value string) kube.Object { return kube.Object{"name": name, "value": value} }
	return kube.Object{
		"apiVersion": "pkg.crossplane.io/v1beta1", "kind": "DeploymentRuntimeConfig", "metadata": kube.Object{"name": "default"},
		"spec": kube.Object{"deploymentTemplate": kube.Object{"spec": kube.Object{
			"replicas": int64(2),
			"selector": kube.Object{},
			"template": kube.Object{"spec": kube.Object{"containers": []any{kube.Object{
				"name": "package-runtime",
				"env": []any{
					env("AWS_ENDPOINT_URL", endpoint), env("AWS_ACCESS_KEY_ID", "AKIAE2E"), env("AWS_SECRET_ACCESS_KEY", "e2e"),
					env("AWS_EC2_METADATA_DISABLED", "true"),
				},
			}}}},
		}}},
	}
}

// apply objects of kinds that kube knows.
func (s *suite) apply(ctx context.Context, objects ...kube.Object) error {
	for _, o := range objects {
		r, known := kube.ByKind(o)
		if !known {
			return fmt.Errorf("unknown kind %v", o["kind"])
		}
		if err := s.client.Apply(ctx, r, o); err != nil {
			return err
		}
	}
	return nil
}

// await conditions of an object that are to be True.
func (s *suite) await(ctx context.Context, r kube.Resource, namespace, name string, conditions ...string) error {
	return kube.Poll(ctx, 200*time.Millisecond, func() (bool, string) {
		o, err := s.client.Get(ctx, r, namespace, name)
		switch {
		case err != nil:
			return false, err.Error()
		case o == nil:
			return false, fmt.Sprintf("there is no %s %s", r.Kind, name)
		}
		var missing []string
		for _, c := range conditions {
			if got := simulator.ConditionOf(o, c); got.Status != "True" {
				missing = append(missing, fmt.Sprintf("%s %s is not %s: %s %s: %s", r.Kind, name, c, got.Status, got.Reason, got.Message))
			}
		}
		return len(missing) == 0, strings.Join(missing, "; ")
	})
}
