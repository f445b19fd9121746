//go:build e2e

package e2e

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/crossplane-contrib/function-aws-machinepool/internal/simulator"
	"github.com/crossplane-contrib/function-aws-machinepool/test/e2e/internal/awsapi"
	"github.com/crossplane-contrib/function-aws-machinepool/test/e2e/internal/controlplane"
	"github.com/crossplane-contrib/function-aws-machinepool/test/e2e/internal/kube"
	"github.com/crossplane-contrib/function-aws-machinepool/test/e2e/internal/node"
	"github.com/crossplane-contrib/function-aws-machinepool/test/e2e/internal/process"
	"github.com/crossplane-contrib/function-aws-machinepool/test/e2e/internal/provider"
)

// bringUpTimeout is for all before the first test.
const bringUpTimeout = 5 * time.Minute

const (
	packageTag         = "v0.1.0"
	functionPackage    = "crossplane-contrib/function-aws-machinepool"
	configPackage      = "crossplane-contrib/configuration-aws-machinepool"
	functionName       = "crossplane-contrib-function-aws-machinepool"
	configurationName  = "configuration-aws-machinepool"
	awsPackagesVersion = "v2.5.0"
)

// A suite is what the tests share.
type suite struct {
	dir        string
	root       string
	keeper     *process.Keeper
	kubernetes *controlplane.Kubernetes
	crossplane *controlplane.Crossplane
	registry   *controlplane.Registry
	client     *kube.Client
	node       *node.Node
	// byHand says that the packages that the Configuration depends on are installed one by one.
	byHand   bool
	provider *provider.Provider
	aws      *awsapi.Server

	stop    context.CancelFunc
	stopped sync.WaitGroup
	closers []func()
}

// shared is the control plane of all tests that do not need one of their own.
var shared *suite

func TestMain(m *testing.M) {
	flag.Parse()
	// Tests wait more than they work, and they have a namespace each.
	if err := flag.Set("test.parallel", "64"); err != nil {
		panic(err)
	}
	os.Exit(run(m))
}

// run the tests between bringing everything up and stopping it, however that goes.
func run(m *testing.M) int {
	// Ctrl-C reaches the tests alone, since every program has a process group of its own.
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		<-signals
		sayf("interrupted")
		for _, s := range running.all() {
			s.close(false)
		}
		os.Exit(1)
	}()

	began := time.Now()
	s, err := startSuite(context.Background(), false)
	if err != nil {
		sayf("cannot bring the control plane up: %v", err)
		return 1
	}
	sayf("the control plane is up after %s", time.Since(began).Round(time.Second))
	shared = s
	code := m.Run()
	s.close(code == 0)
	return code
}

// suites that run, so that none is left running by a test that is interrupted.
type suites struct {
	mu   sync.Mutex
	list []*suite
}

var running suites

func (l *suites) add(s *suite) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.list = append(l.list, s)
}

func (l *suites) all() []*suite {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.list)
}

// startSuite brings a control plane up, or nothing.
func startSuite(ctx context.Context, byHand bool) (*suite, error) {
	s, err := newSuite()
	if err != nil {
		return nil, err
	}
	s.byHand = byHand
	running.add(s)
	ctx, cancel := context.WithTimeout(ctx, bringUpTimeout)
	defer cancel()
	if err := s.bringUp(ctx); err != nil {
		s.close(false)
		return nil, err
	}
	return s, nil
}

// ownSuite is a control plane of a test's own, for what no other test could bear. Its packages are installed by hand.
func ownSuite(t *testing.T) *suite {
	t.Helper()
	s, err := startSuite(t.Context(), true)
	if err != nil {
		t.Fatalf("cannot bring a control plane up: %v", err)
	}
	t.Cleanup(func() { s.close(!t.Failed()) })
	return s
}

func newSuite() (*suite, error) {
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		return nil, err
	}
	runs := filepath.Join(controlplane.Cache(root), "e2e")
	if err := os.MkdirAll(runs, 0o700); err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(runs, time.Now().Format("20060102-150405-"))
	if err != nil {
		return nil, err
	}
	logs := filepath.Join(dir, "logs")
	return &suite{dir: dir, root: root, keeper: process.NewKeeper(logs), stop: func() {}}, os.Mkdir(logs, 0o700)
}

func (s *suite) bringUp(ctx context.Context) error {
	bin := filepath.Join(controlplane.Cache(s.root), "bin")
	etcd, err := exec.LookPath("etcd")
	if err != nil {
		return fmt.Errorf("%w: install it, on Debian and Ubuntu with: apt-get install etcd-server", err)
	}
	binaries := controlplane.Binaries{
		Etcd: etcd, APIServer: filepath.Join(bin, "kube-apiserver"), ControllerManager: filepath.Join(bin, "kube-controller-manager"),
		Crossplane: filepath.Join(bin, "crossplane-core"),
	}
	for _, b := range []string{binaries.APIServer, binaries.ControllerManager, binaries.Crossplane} {
		if _, err := os.Stat(b); err != nil {
			return fmt.Errorf("%w: `make e2e` builds it", err)
		}
	}
	if s.kubernetes, err = controlplane.StartKubernetes(ctx, s.keeper, binaries, s.dir); err != nil {
		return err
	}
	if s.client, err = kube.NewClient(s.kubernetes.Config); err != nil {
		return err
	}
	if err := s.startPlayers(ctx); err != nil {
		return err
	}
	return s.install(ctx)
}

// startPlayers starts what is played, and Crossplane, which needs some of it.
func (s *suite) startPlayers(ctx context.Context) error { //nolint:contextcheck // What is played runs until it is closed.
	var background context.Context
	background, s.stop = context.WithCancel(context.Background())

	proxy, err := node.StartProxy()
	if err != nil {
		return err
	}
	s.closers = append(s.closers, proxy.Stop)
	if s.registry, err = controlplane.StartRegistry(); err != nil {
		return err
	}
	s.closers = append(s.closers, s.registry.Stop)
	s.provider = provider.New(s.client, zones())
	s.provider.AWS(func(a *simulator.AWS) { a.Images = images() })
	if s.aws, err = awsapi.Start(s.provider.AWS); err != nil {
		return err
	}
	s.closers = append(s.closers, s.aws.Stop)

	module, err := controlplane.ModuleDir(ctx, filepath.Join(s.root, "tools", "crossplane-core"), "github.com/crossplane/crossplane/v2")
	if err != nil {
		return err
	}
	if s.crossplane, err = controlplane.StartCrossplane(ctx, s.kubernetes, s.client, module, proxy.Address); err != nil {
		return err
	}
	s.node = node.New(s.client, s.keeper, proxy, s.dir)
	s.stopped.Go(func() { s.node.Run(background, sayf) })
	return nil
}

// close stops everything, in the opposite order. What it logged goes too if all is well.
func (s *suite) close(well bool) {
	s.stop()
	s.stopped.Wait()
	s.keeper.StopAll()
	for _, c := range s.closers {
		c()
	}
	if !well {
		sayf("logs are in %s", s.dir)
		return
	}
	if err := os.RemoveAll(s.dir); err != nil {
		sayf("%v", err)
	}
}

func sayf(format string, args ...any) { fmt.Fprintf(os.Stderr, "e2e: "+format+"\n", args...) }

// arch of the function's package.
const arch = runtime.GOARCH

func (s *suite) push(ctx context.Context) error {
	packages := filepath.Join(controlplane.Cache(s.root), "package")
	if err := s.registry.Push(ctx, filepath.Join(packages, "function-aws-machinepool-linux-"+arch+".xpkg"), functionPackage, packageTag); err != nil {
		return err
	}
	if err := s.registry.Push(ctx, filepath.Join(packages, "configuration-aws-machinepool.xpkg"), configPackage, packageTag); err != nil {
		return err
	}
	module, err := controlplane.ModuleDir(ctx, s.root, "github.com/upbound/provider-aws/v2")
	if err != nil {
		return err
	}
	for name, crds := range provider.CRDs() {
		for _, org := range []string{"crossplane-contrib", "upbound"} {
			if err := s.registry.PushProvider(ctx, org+"/"+name, awsPackagesVersion, filepath.Join(module, "package", "crds"), crds); err != nil {
				return err
			}
		}
	}
	return nil
}
