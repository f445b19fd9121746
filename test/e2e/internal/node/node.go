// Package node plays the nodes of a cluster that has none: it runs the Deployments that Crossplane makes of its packages.
// What it runs is what the package holds, with the arguments, the environment and the certificates that the Deployment
// gives it.
package node

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/crossplane-contrib/function-aws-machinepool/internal/simulator"
	"github.com/crossplane-contrib/function-aws-machinepool/test/e2e/internal/controlplane"
	"github.com/crossplane-contrib/function-aws-machinepool/test/e2e/internal/kube"
	"github.com/crossplane-contrib/function-aws-machinepool/test/e2e/internal/process"
)

const (
	period       = 500 * time.Millisecond
	startTimeout = time.Minute
	// grpcPort of every function's Service.
	grpcPort = "9443"
)

// A Node runs Deployments of Crossplane's namespace.
type Node struct {
	client *kube.Client
	keeper *process.Keeper
	proxy  *Proxy
	dir    string

	mu   sync.Mutex
	pods map[string]*Pod
}

// A Pod is the one of a function's Deployment.
type Pod struct {
	// Name of the Deployment.
	Name string
	// Metrics of the function are served here.
	Metrics string

	// Address at which it listens for calls.
	Address string

	process  *process.Process
	function string
}

// New returns a node that keeps its pods below dir.
func New(client *kube.Client, k *process.Keeper, p *Proxy, dir string) *Node {
	return &Node{client: client, keeper: k, proxy: p, dir: dir, pods: map[string]*Pod{}}
}

// Run the node until the context ends. What fails is tried again, as a kubelet does.
func (n *Node) Run(ctx context.Context, sayf func(format string, args ...any)) {
	said := map[string]string{}
	for ctx.Err() == nil {
		// An API server that is down changes nothing about what runs.
		if deployments, err := n.client.List(ctx, kube.Deployments, controlplane.Namespace, ""); err == nil {
			n.prune(deployments)
			for _, d := range deployments {
				name := simulator.Text(d, "metadata", "name")
				err := n.reconcile(ctx, d)
				if err != nil && ctx.Err() == nil && said[name] != err.Error() {
					said[name] = err.Error()
					sayf("node: %s: %v", name, err)
				}
			}
		}
		select {
		case <-ctx.Done():
		case <-time.After(period):
		}
	}
}

// Function returns the pod of a Function by its name, nil while there is none.
func (n *Node) Function(name string) *Pod {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, p := range n.pods {
		if p.function == name {
			return p
		}
	}
	return nil
}

// PID of the pod's program.
func (p *Pod) PID() int { return p.process.PID() }

// Kill the pod's program by SIGKILL. The node starts it again.
func (p *Pod) Kill() { p.process.Kill() }

// CPU that the pod's program has used.
func (p *Pod) CPU() (time.Duration, error) { return p.process.CPU() }

// prune the pods of Deployments that are gone: those of a package's older revision.
func (n *Node) prune(deployments []kube.Object) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for name, p := range n.pods {
		if !slices.ContainsFunc(deployments, func(d kube.Object) bool { return simulator.Text(d, "metadata", "name") == name }) {
			p.process.Stop()
			delete(n.pods, name)
		}
	}
}

func (n *Node) reconcile(ctx context.Context, d kube.Object) error {
	owners, _ := simulator.Field(d, "metadata", "ownerReferences").([]any)
	if len(owners) != 1 {
		return errors.New("it has no owner")
	}
	if simulator.Text(owners[0], "kind") == "FunctionRevision" {
		if err := n.run(ctx, d); err != nil {
			return err
		}
	}
	// The tests play the providers, so theirs are always there.
	return n.markAvailable(ctx, d)
}

// run the function of a Deployment if it does not.
func (n *Node) run(ctx context.Context, d kube.Object) error {
	name := simulator.Text(d, "metadata", "name")
	n.mu.Lock()
	pod := n.pods[name]
	n.mu.Unlock()
	if pod != nil {
		select {
		case <-pod.process.Done():
		default:
			return nil
		}
	}

	template, _ := simulator.Field(d, "spec", "template", "spec").(map[string]any)
	containers, _ := template["containers"].([]any)
	if len(containers) != 1 {
		return fmt.Errorf("it has %d containers", len(containers))
	}
	container := containers[0]
	dir := filepath.Join(n.dir, name)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	program, err := unpack(ctx, simulator.Text(container, "image"), dir)
	if err != nil {
		return err
	}
	env, err := n.environment(ctx, template, container, dir)
	if err != nil {
		return err
	}

	pod = &Pod{
		Name: name, Address: controlplane.FreeAddress(), Metrics: controlplane.FreeAddress(),
		function: simulator.Text(d, "spec", "selector", "matchLabels", "pkg.crossplane.io/function"),
	}
	args := append(simulator.Texts(container, "args"), "--address="+pod.Address, "--metrics-address="+pod.Metrics)
	cmd := exec.Command(program, args...)
	cmd.Env = env
	if pod.process, err = n.keeper.Start("function", cmd); err != nil {
		return err
	}
	if err := waitFor(ctx, pod); err != nil {
		pod.process.Kill()
		return err
	}
	n.proxy.Route(net.JoinHostPort(pod.function+"."+controlplane.Namespace, grpcPort), pod.Address)
	n.mu.Lock()
	defer n.mu.Unlock()
	n.pods[name] = pod
	return nil
}

// environment of a container, whose volumes of Secrets are folders here.
func (n *Node) environment(ctx context.Context, template map[string]any, container any, dir string) ([]string, error) {
	folders := map[string]string{}
	volumes, _ := template["volumes"].([]any)
	mounts, _ := simulator.Field(container, "volumeMounts").([]any)
	for _, m := range mounts {
		i := slices.IndexFunc(volumes, func(v any) bool { return simulator.Text(v, "name") == simulator.Text(m, "name") })
		if i < 0 || simulator.Text(volumes[i], "secret", "secretName") == "" {
			return nil, fmt.Errorf("volume %s is of no Secret", simulator.Text(m, "name"))
		}
		folder := filepath.Join(dir, simulator.Text(m, "name"))
		if err := controlplane.WriteSecret(ctx, n.client, controlplane.Namespace, simulator.Text(volumes[i], "secret", "secretName"), folder); err != nil {
			return nil, err
		}
		folders[simulator.Text(m, "mountPath")] = folder
	}
	// Nothing of this machine's environment: a function that needs more than its Deployment gives does not start.
	var out []string
	list, _ := simulator.Field(container, "env").([]any)
	for _, e := range list {
		value := simulator.Text(e, "value")
		if folder, mounted := folders[value]; mounted {
			value = folder
		}
		out = append(out, simulator.Text(e, "name")+"="+value)
	}
	return out, nil
}

func (n *Node) markAvailable(ctx context.Context, d kube.Object) error {
	if simulator.ConditionOf(d, "Available").Status == "True" {
		return nil
	}
	now := time.Now().UTC().Format(time.RFC3339)
	_, err := n.client.Patch(ctx, kube.Deployments, controlplane.Namespace, simulator.Text(d, "metadata", "name"), kube.Object{
		"status": kube.Object{
			"observedGeneration": simulator.Field(d, "metadata", "generation"),
			"replicas":           1, "readyReplicas": 1, "availableReplicas": 1, "updatedReplicas": 1,
			"conditions": []any{kube.Object{
				"type": "Available", "status": "True", "reason": "MinimumReplicasAvailable", "message": "the tests run it",
				"lastUpdateTime": now, "lastTransitionTime": now,
			}},
		},
	}, "status")
	return err
}

// waitFor a function to listen.
func waitFor(ctx context.Context, pod *Pod) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	dialer := net.Dialer{}
	for {
		if conn, err := dialer.DialContext(ctx, "tcp", pod.Address); err == nil {
			return conn.Close()
		}
		select {
		case <-pod.process.Done():
			return fmt.Errorf("the function ended: %w", errors.Join(pod.process.Err()))
		case <-ctx.Done():
			return errors.New(strings.TrimSpace("the function does not listen at " + pod.Address))
		case <-time.After(20 * time.Millisecond):
		}
	}
}
