// Package node plays the nodes of a cluster that has none: it runs the Deployments that Crossplane makes of its packages.
// What it runs is what the package holds, with the arguments, the environment and the certificates that the Deployment
// gives it.
package node

import (
	"context"
	"errors"
	"fmt"
	"maps"
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

	mu sync.Mutex
	// pods by their Deployments' names.
	pods map[string][]*Pod
	// balancers by Service. Only Run uses them.
	balancers map[string]*balancer
}

// A Pod is one of a function's Deployment.
type Pod struct {
	// Deployment that it is of, by name.
	Deployment string
	// Metrics of the function are served here.
	Metrics string

	// Address at which it listens for calls.
	Address string

	process  *process.Process
	function string
	// certs is the folder of the certificate that it serves with.
	certs string
}

// New returns a node that keeps its pods below dir.
func New(client *kube.Client, k *process.Keeper, p *Proxy, dir string) *Node {
	return &Node{client: client, keeper: k, proxy: p, dir: dir, pods: map[string][]*Pod{}, balancers: map[string]*balancer{}}
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

// Function returns the pods of a Function by its name, none while none runs.
func (n *Node) Function(name string) []*Pod {
	n.mu.Lock()
	defer n.mu.Unlock()
	var out []*Pod
	for _, deployment := range slices.Sorted(maps.Keys(n.pods)) {
		for _, p := range n.pods[deployment] {
			if p.function == name {
				out = append(out, p)
			}
		}
	}
	return out
}

// PID of the pod's program.
func (p *Pod) PID() int { return p.process.PID() }

// Kill the pod's program by SIGKILL. The node starts it again.
func (p *Pod) Kill() { p.process.Kill() }

// CPU that the pod's program has used.
func (p *Pod) CPU() (time.Duration, error) { return p.process.CPU() }

// prune the pods of Deployments that are gone: those of a package's older revision.
func (n *Node) prune(deployments []kube.Object) {
	var gone []*Pod
	n.mu.Lock()
	for name, pods := range n.pods {
		if !slices.ContainsFunc(deployments, func(d kube.Object) bool { return simulator.Text(d, "metadata", "name") == name }) {
			gone = append(gone, pods...)
			delete(n.pods, name)
		}
	}
	n.mu.Unlock()
	// They serve for some seconds after they are told to stop.
	var stopped sync.WaitGroup
	for _, p := range gone {
		stopped.Go(p.process.Stop)
	}
	stopped.Wait()
}

func (n *Node) reconcile(ctx context.Context, d kube.Object) error {
	owners, _ := simulator.Field(d, "metadata", "ownerReferences").([]any)
	if len(owners) != 1 {
		return errors.New("it has no owner")
	}
	if simulator.Text(owners[0], "kind") == "FunctionRevision" {
		if err := n.runAll(ctx, d); err != nil {
			return err
		}
	}
	// The tests play the providers, so theirs are always there.
	return n.markAvailable(ctx, d)
}

// runAll the pods of a Deployment that do not run, and send the calls of its Service to all that do.
func (n *Node) runAll(ctx context.Context, d kube.Object) error {
	name := simulator.Text(d, "metadata", "name")
	replicas, ok := simulator.Number(d, "spec", "replicas")
	if !ok {
		replicas = 1
	}
	n.mu.Lock()
	before := n.pods[name]
	n.mu.Unlock()
	var pods []*Pod
	for i := range replicas {
		if i < len(before) && before[i].runs() {
			pods = append(pods, before[i])
			continue
		}
		pod, err := n.run(ctx, d, filepath.Join(n.dir, fmt.Sprintf("%s-%d", name, i)))
		if err != nil {
			return err
		}
		pods = append(pods, pod)
	}
	if slices.Equal(before, pods) {
		return nil
	}
	if err := n.serve(ctx, pods); err != nil {
		return err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.pods[name] = pods
	return nil
}

// serve a function's Service with these pods.
func (n *Node) serve(ctx context.Context, pods []*Pod) error {
	service := pods[0].function + "." + controlplane.Namespace
	b := n.balancers[service]
	if b == nil {
		certs := filepath.Join(n.dir, "caller-of-"+service)
		if err := controlplane.WriteSecret(ctx, n.client, controlplane.Namespace, controlplane.ClientSecret, certs); err != nil {
			return err
		}
		var err error
		if b, err = startBalancer(service, certs); err != nil {
			return err
		}
		n.balancers[service] = b
	}
	b.set(pods)
	n.proxy.Route(net.JoinHostPort(service, grpcPort), b.Address)
	return nil
}

// runs reports whether the pod's program has not ended.
func (p *Pod) runs() bool {
	select {
	case <-p.process.Done():
		return false
	default:
		return true
	}
}

// run one pod of a Deployment, with its files in a folder.
func (n *Node) run(ctx context.Context, d kube.Object, dir string) (*Pod, error) {
	template, _ := simulator.Field(d, "spec", "template", "spec").(map[string]any)
	containers, _ := template["containers"].([]any)
	if len(containers) != 1 {
		return nil, fmt.Errorf("it has %d containers", len(containers))
	}
	container := containers[0]
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	program, err := unpack(ctx, simulator.Text(container, "image"), dir)
	if err != nil {
		return nil, err
	}
	env, certs, err := n.environment(ctx, template, container, dir)
	if err != nil {
		return nil, err
	}

	pod := &Pod{
		Deployment: simulator.Text(d, "metadata", "name"), Address: controlplane.FreeAddress(), Metrics: controlplane.FreeAddress(),
		function: simulator.Text(d, "spec", "selector", "matchLabels", "pkg.crossplane.io/function"), certs: certs,
	}
	args := append(simulator.Texts(container, "args"), "--address="+pod.Address, "--metrics-address="+pod.Metrics)
	cmd := exec.Command(program, args...)
	cmd.Env = env
	if pod.process, err = n.keeper.Start("function", cmd); err != nil {
		return nil, err
	}
	if err := waitFor(ctx, pod); err != nil {
		pod.process.Kill()
		return nil, err
	}
	return pod, nil
}

// environment of a container, whose volumes of Secrets are folders here, and the folder of the certificates that it serves with.
func (n *Node) environment(ctx context.Context, template map[string]any, container any, dir string) (out []string, certs string, err error) {
	folders := map[string]string{}
	volumes, _ := template["volumes"].([]any)
	mounts, _ := simulator.Field(container, "volumeMounts").([]any)
	for _, m := range mounts {
		i := slices.IndexFunc(volumes, func(v any) bool { return simulator.Text(v, "name") == simulator.Text(m, "name") })
		if i < 0 || simulator.Text(volumes[i], "secret", "secretName") == "" {
			return nil, "", fmt.Errorf("volume %s is of no Secret", simulator.Text(m, "name"))
		}
		folder := filepath.Join(dir, simulator.Text(m, "name"))
		if err := controlplane.WriteSecret(ctx, n.client, controlplane.Namespace, simulator.Text(volumes[i], "secret", "secretName"), folder); err != nil {
			return nil, "", err
		}
		folders[simulator.Text(m, "mountPath")] = folder
	}
	// Nothing of this machine's environment: a function that needs more than its Deployment gives does not start.
	list, _ := simulator.Field(container, "env").([]any)
	for _, e := range list {
		value := simulator.Text(e, "value")
		if folder, mounted := folders[value]; mounted {
			value = folder
			if simulator.Text(e, "name") == "TLS_SERVER_CERTS_DIR" {
				certs = folder
			}
		}
		out = append(out, simulator.Text(e, "name")+"="+value)
	}
	return out, certs, nil
}

func (n *Node) markAvailable(ctx context.Context, d kube.Object) error {
	if simulator.ConditionOf(d, "Available").Status == "True" {
		return nil
	}
	now := time.Now().UTC().Format(time.RFC3339)
	replicas, _ := simulator.Number(d, "spec", "replicas")
	_, err := n.client.Patch(ctx, kube.Deployments, controlplane.Namespace, simulator.Text(d, "metadata", "name"), kube.Object{
		"status": kube.Object{
			"observedGeneration": simulator.Field(d, "metadata", "generation"),
			"replicas":           replicas, "readyReplicas": replicas, "availableReplicas": replicas, "updatedReplicas": replicas,
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
