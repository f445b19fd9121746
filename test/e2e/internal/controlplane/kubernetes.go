// Package controlplane runs a real control plane on this machine: etcd, kube-apiserver, kube-controller-manager and
// Crossplane. There are no nodes; package node plays the one that Crossplane's packages need.
package controlplane

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"

	"github.com/crossplane-contrib/function-aws-machinepool/test/e2e/internal/process"
)

// startTimeout is how long a server may take to be ready. A busy machine with two cores can take its time.
const startTimeout = 2 * time.Minute

// clusterName in kubeconfigs and certificates.
const clusterName = "e2e"

// controllers are all that a control plane without nodes needs: owners take their dependents along, namespaces go, and
// aggregated ClusterRoles are filled.
const controllers = "garbage-collector-controller,namespace-controller,clusterrole-aggregation-controller"

// Binaries of the control plane.
type Binaries struct {
	Etcd, APIServer, ControllerManager, Crossplane string
}

// Kubernetes is an API server with what it stands on.
type Kubernetes struct {
	// Config of an administrator.
	Config *rest.Config
	// Kubeconfig of the same.
	Kubeconfig string

	keeper    *process.Keeper
	binaries  Binaries
	dir       string
	authority *authority
	etcd      string
	address   string
	apiServer *process.Process
}

// StartKubernetes starts etcd, the API server and the controllers. Everything is kept below dir.
func StartKubernetes(ctx context.Context, k *process.Keeper, b Binaries, dir string) (*Kubernetes, error) {
	a, err := newAuthority()
	if err != nil {
		return nil, err
	}
	c := &Kubernetes{keeper: k, binaries: b, dir: dir, authority: a}
	for _, start := range []func(context.Context) error{c.startEtcd, c.prepare, c.StartAPIServer, c.startControllers} {
		if err := start(ctx); err != nil {
			return nil, err
		}
	}
	return c, nil
}

func (c *Kubernetes) startEtcd(ctx context.Context) error {
	client, peer := FreeAddress(), FreeAddress()
	c.etcd = "http://" + client
	_, err := c.keeper.Start("etcd", exec.Command(c.binaries.Etcd,
		"--data-dir="+filepath.Join(c.dir, "etcd"), "--unsafe-no-fsync", "--log-level=warn",
		"--listen-client-urls="+c.etcd, "--advertise-client-urls="+c.etcd,
		"--listen-peer-urls=http://"+peer, "--initial-advertise-peer-urls=http://"+peer, "--initial-cluster=default=http://"+peer))
	if err != nil {
		return err
	}
	return waitFor(ctx, "etcd", http.DefaultClient, c.etcd+"/health")
}

// prepare the files of the API server and the administrator's way to it.
func (c *Kubernetes) prepare(context.Context) error {
	c.address = FreeAddress()
	serving, err := c.authority.issue("kube-apiserver")
	if err != nil {
		return err
	}
	for name, content := range map[string][]byte{"ca.crt": c.authority.pem, "apiserver.crt": serving.cert, "apiserver.key": serving.key} {
		if err := os.WriteFile(filepath.Join(c.dir, name), content, 0o600); err != nil {
			return err
		}
	}
	if c.Kubeconfig, err = c.Kubeconfigure("admin", "system:masters"); err != nil {
		return err
	}
	c.Config, err = c.configure("admin", "system:masters")
	return err
}

// StartAPIServer starts the API server, at the same address each time, and waits for it.
func (c *Kubernetes) StartAPIServer(ctx context.Context) error {
	_, port, err := net.SplitHostPort(c.address)
	if err != nil {
		return err
	}
	file := func(name string) string { return filepath.Join(c.dir, name) }
	cmd := exec.Command(c.binaries.APIServer,
		"--etcd-servers="+c.etcd, "--bind-address=127.0.0.1", "--secure-port="+port,
		"--client-ca-file="+file("ca.crt"), "--tls-cert-file="+file("apiserver.crt"), "--tls-private-key-file="+file("apiserver.key"),
		"--service-account-issuer=https://kubernetes.default.svc", "--service-account-key-file="+file("apiserver.key"), "--service-account-signing-key-file="+file("apiserver.key"),
		"--authorization-mode=RBAC", "--service-cluster-ip-range=10.96.0.0/24", "--disable-admission-plugins=ServiceAccount",
		// There is no aggregated API, and a busy machine is no reason to refuse anyone.
		"--enable-priority-and-fairness=false", "--max-requests-inflight=2000", "--max-mutating-requests-inflight=1000",
		"--shutdown-delay-duration=0s")
	// It is what the tests wait for, and a third of its time went into collecting garbage.
	cmd.Env = append(os.Environ(), "GOGC=400")
	c.apiServer, err = c.keeper.Start("kube-apiserver", cmd)
	if err != nil {
		return err
	}
	client, err := rest.HTTPClientFor(c.Config)
	if err != nil {
		return err
	}
	return waitFor(ctx, "kube-apiserver", client, c.Config.Host+"/readyz")
}

// CPU that the API server has used.
func (c *Kubernetes) CPU() (time.Duration, error) { return c.apiServer.CPU() }

// KillAPIServer ends the API server without a warning.
func (c *Kubernetes) KillAPIServer() { c.apiServer.Kill() }

func (c *Kubernetes) startControllers(context.Context) error {
	kubeconfig, err := c.Kubeconfigure("system:kube-controller-manager", "system:masters")
	if err != nil {
		return err
	}
	_, err = c.keeper.Start("kube-controller-manager", exec.Command(c.binaries.ControllerManager,
		"--kubeconfig="+kubeconfig, "--controllers="+controllers, "--leader-elect=false", "--secure-port=0",
		"--authentication-skip-lookup=true", "--kube-api-qps=200", "--kube-api-burst=400"))
	return err
}

// Kubeconfigure writes a kubeconfig for a user and returns its path.
func (c *Kubernetes) Kubeconfigure(user string, groups ...string) (string, error) {
	pair, err := c.authority.issue(user, groups...)
	if err != nil {
		return "", err
	}
	content, err := yaml.Marshal(map[string]any{
		"apiVersion": "v1", "kind": "Config", "current-context": user,
		"clusters": []any{map[string]any{"name": clusterName, "cluster": map[string]any{
			"server": "https://" + c.address, "certificate-authority-data": c.authority.pem,
		}}},
		"users": []any{map[string]any{"name": user, "user": map[string]any{
			"client-certificate-data": pair.cert, "client-key-data": pair.key,
		}}},
		"contexts": []any{map[string]any{"name": user, "context": map[string]any{"cluster": clusterName, "user": user}}},
	})
	if err != nil {
		return "", err
	}
	path := filepath.Join(c.dir, strings.ReplaceAll(user, ":", "-")+".kubeconfig")
	return path, os.WriteFile(path, content, 0o600)
}

func (c *Kubernetes) configure(user string, groups ...string) (*rest.Config, error) {
	pair, err := c.authority.issue(user, groups...)
	if err != nil {
		return nil, err
	}
	return &rest.Config{
		Host:            "https://" + c.address,
		TLSClientConfig: rest.TLSClientConfig{CAData: c.authority.pem, CertData: pair.cert, KeyData: pair.key},
		QPS:             500, Burst: 1000,
		// That a finalizer has no path and an API is old is not news of ours.
		WarningHandler: rest.NoWarnings{},
	}, nil
}

// FreeAddress is one that nobody listened at just now.
func FreeAddress() string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		// A machine without a free port runs no tests.
		panic(err)
	}
	defer l.Close() //nolint:errcheck // It was never used.
	return l.Addr().String()
}

// waitFor a server to answer well.
func waitFor(ctx context.Context, name string, client *http.Client, url string) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	said := "nothing yet"
	for {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			return err
		}
		rsp, err := client.Do(req)
		if err == nil {
			_ = rsp.Body.Close()
			if rsp.StatusCode == http.StatusOK {
				return nil
			}
			said = rsp.Status
		} else if ctx.Err() == nil {
			said = err.Error()
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s is not ready: %s", name, said)
		case <-time.After(100 * time.Millisecond):
		}
	}
}
