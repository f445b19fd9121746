package controlplane

import (
	"context"
	_ "embed"
	"encoding/base64"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/crossplane-contrib/function-aws-machinepool/internal/simulator"
	"github.com/crossplane-contrib/function-aws-machinepool/test/e2e/internal/kube"
	"github.com/crossplane-contrib/function-aws-machinepool/test/e2e/internal/process"
)

// Namespace of Crossplane.
const Namespace = "crossplane-system"

// ClientSecret holds the certificate that Crossplane calls functions with.
const ClientSecret = "crossplane-tls-client"

const (
	serverSecret = "crossplane-tls-server"
	caSecret     = "crossplane-root-ca"
)

//go:embed crossplane.yaml
var chart []byte

// Crossplane runs on a Kubernetes, as the service account of its chart and with no more rights than that.
type Crossplane struct {
	*Kubernetes

	// MetricsURL of Crossplane.
	MetricsURL string

	client     *kube.Client
	kubeconfig string
	proxy      string
	process    *process.Process
}

// StartCrossplane installs Crossplane from its module's folder, as the chart does, and starts it. Calls of functions go
// through the HTTP proxy, as there is no DNS of a cluster.
func StartCrossplane(ctx context.Context, k *Kubernetes, client *kube.Client, module, proxy string) (*Crossplane, error) {
	c := &Crossplane{Kubernetes: k, client: client, proxy: proxy}
	objects, err := kube.ParseYAML(chart)
	if err != nil {
		return nil, err
	}
	for _, o := range objects {
		r, known := kube.ByKind(o)
		if !known {
			return nil, fmt.Errorf("crossplane.yaml: unknown kind %v", o["kind"])
		}
		if err := client.Apply(ctx, r, o); err != nil {
			return nil, err
		}
	}
	// A client certificate in place of the token that the pod has.
	if c.kubeconfig, err = k.Kubeconfigure("system:serviceaccount:"+Namespace+":crossplane", "system:serviceaccounts", "system:serviceaccounts:"+Namespace, "system:authenticated"); err != nil {
		return nil, err
	}
	if err := c.init(ctx, module); err != nil {
		return nil, err
	}
	if err := c.Start(ctx); err != nil {
		return nil, err
	}
	return c, nil
}

// init is the chart's init container.
func (c *Crossplane) init(ctx context.Context, module string) error {
	run := func() error {
		cmd := exec.Command(c.binaries.Crossplane, "core", "init", "--activation=*",
			"--cr-ds-path="+filepath.Join(module, "cluster", "crds"),
			"--webhook-configurations-path="+filepath.Join(module, "cluster", "webhookconfigurations"))
		cmd.Env = c.environment("WEBHOOK_SERVICE_NAME=crossplane-webhooks", "WEBHOOK_SERVICE_NAMESPACE="+Namespace, "WEBHOOK_SERVICE_PORT=9443")
		return c.keeper.Run(ctx, "crossplane-init", cmd)
	}
	// It stops when a kind that it has just made is not served yet, and is run again by the pod. So it is before the
	// ClusterRoles have been aggregated.
	var err error
	for range 10 {
		if err = run(); err == nil {
			break
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(time.Second):
		}
	}
	if err != nil {
		return err
	}
	// Nothing serves the webhook that protects what is in use.
	hooks, err := c.client.List(ctx, kube.Webhooks, "", "")
	if err != nil {
		return err
	}
	for _, h := range hooks {
		if err := c.client.Delete(ctx, kube.Webhooks, "", simulator.Text(h, "metadata", "name")); err != nil {
			return err
		}
	}
	return nil
}

// Start Crossplane with its defaults and wait for it.
func (c *Crossplane) Start(ctx context.Context) error {
	certs := filepath.Join(c.dir, "crossplane-tls-client")
	if err := WriteSecret(ctx, c.client, Namespace, ClientSecret, certs); err != nil {
		return err
	}
	packages := filepath.Join(c.dir, "xpkg")
	if err := os.MkdirAll(packages, 0o700); err != nil {
		return err
	}
	metrics, health := FreeAddress(), FreeAddress()
	cmd := exec.Command(c.binaries.Crossplane, "core", "start", "--debug", "--enable-webhooks=false",
		"--xpkg-cache-dir="+packages,
		"--metrics-port="+port(metrics), "--health-probe-port="+port(health))
	// Go's HTTP clients never use a proxy for addresses of the machine itself, which all others here have.
	cmd.Env = c.environment("HTTPS_PROXY=http://"+c.proxy, "TLS_CLIENT_CERTS_DIR="+certs)
	var err error
	if c.process, err = c.keeper.Start("crossplane", cmd); err != nil {
		return err
	}
	c.MetricsURL = "http://" + metrics + "/metrics"
	return waitFor(ctx, "crossplane", http.DefaultClient, c.MetricsURL)
}

// environment of the chart's containers.
func (c *Crossplane) environment(more ...string) []string {
	return append(append(os.Environ(), "KUBECONFIG="+c.kubeconfig, "POD_NAMESPACE="+Namespace, "POD_SERVICE_ACCOUNT=crossplane",
		"TLS_CA_SECRET_NAME="+caSecret, "TLS_SERVER_SECRET_NAME="+serverSecret, "TLS_CLIENT_SECRET_NAME="+ClientSecret), more...)
}

// CPU that Crossplane has used.
func (c *Crossplane) CPU() (time.Duration, error) { return c.process.CPU() }

// Kill Crossplane without a warning.
func (c *Crossplane) Kill() { c.process.Kill() }

// Running reports whether Crossplane runs.
func (c *Crossplane) Running() bool {
	select {
	case <-c.process.Done():
		return false
	default:
		return true
	}
}

// WriteSecret writes each key of a Secret as a file of a folder, as a volume of a pod has it.
func WriteSecret(ctx context.Context, client *kube.Client, namespace, name, dir string) error {
	secret, err := client.Get(ctx, kube.Secrets, namespace, name)
	if err != nil {
		return err
	}
	data, _ := secret["data"].(map[string]any)
	if len(data) == 0 {
		return fmt.Errorf("the Secret %s/%s is empty", namespace, name)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	for key := range data {
		content, err := base64.StdEncoding.DecodeString(simulator.Text(data, key))
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, key), content, 0o600); err != nil {
			return err
		}
	}
	return nil
}

func port(address string) string {
	_, p, _ := net.SplitHostPort(address)
	return p
}
