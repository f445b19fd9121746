//go:build e2eprovider

package provider

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/crossplane-contrib/function-aws-machinepool/internal/simulator"
	"github.com/crossplane-contrib/function-aws-machinepool/test/e2e/internal/awsproxy"
	"github.com/crossplane-contrib/function-aws-machinepool/test/e2e/internal/controlplane"
	"github.com/crossplane-contrib/function-aws-machinepool/test/e2e/internal/kube"
	"github.com/crossplane-contrib/function-aws-machinepool/test/e2e/internal/node"
	"github.com/crossplane-contrib/function-aws-machinepool/test/e2e/internal/process"
	"github.com/crossplane-contrib/function-aws-machinepool/test/e2e/internal/provider"
)

const (
	// bringUpTimeout is for all before the first test.
	bringUpTimeout = 5 * time.Minute

	packageTag        = "v0.1.0"
	functionPackage   = "crossplane-contrib/function-aws-machinepool"
	configPackage     = "crossplane-contrib/configuration-aws-machinepool"
	functionName      = "crossplane-contrib-function-aws-machinepool"
	configurationName = "configuration-aws-machinepool"
	providerVersion   = "v2.5.0"
	providerModule    = "github.com/upbound/provider-aws/v2"
)

// Access keys, by which the proxy tells callers apart.
const (
	functionKey = "AKIAFUNCTION"
	providerKey = "AKIAPROVIDER"
	testKey     = "AKIATEST"
)

// A suite is what the tests share.
type suite struct {
	dir, root string

	keeper     *process.Keeper
	kubernetes *controlplane.Kubernetes
	registry   *controlplane.Registry
	client     *kube.Client
	// aws as the proxy before it sees it, account as the test does.
	aws      *awsproxy.Proxy
	account  *awsproxy.Client
	programs map[string]*program

	stop    context.CancelFunc
	stopped sync.WaitGroup
	closers []func()
}

// s is the suite that runs.
var s *suite

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(run(m))
}

// run the tests between bringing everything up and stopping it, however that goes.
func run(m *testing.M) int {
	began := time.Now()
	var err error
	if s, err = newSuite(); err != nil {
		fmt.Fprintln(os.Stderr, "e2e-provider:", err)
		return 1
	}
	ctx, cancel := context.WithTimeout(context.Background(), bringUpTimeout)
	defer cancel()

	// Ctrl-C reaches the tests alone, since every program has a process group of its own.
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		<-signals
		s.close()
		fmt.Fprintln(os.Stderr, "e2e-provider: interrupted; logs are in", s.dir)
		os.Exit(1)
	}()

	code := 1
	if err := s.bringUp(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "e2e-provider: cannot bring the control plane up:", err)
	} else {
		sayf("provider-aws %s and the control plane are up after %s", providerVersion, time.Since(began).Round(time.Second))
		code = m.Run()
	}
	s.close()
	if code != 0 {
		fmt.Fprintln(os.Stderr, "e2e-provider: logs are in", s.dir)
		return code
	}
	if err := os.RemoveAll(s.dir); err != nil {
		fmt.Fprintln(os.Stderr, "e2e-provider:", err)
	}
	return code
}

func newSuite() (*suite, error) {
	root, err := filepath.Abs(filepath.Join("..", "..", ".."))
	if err != nil {
		return nil, err
	}
	runs := filepath.Join(controlplane.Cache(root), "e2e")
	if err := os.MkdirAll(runs, 0o700); err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(runs, time.Now().Format("20060102-150405-provider-"))
	if err != nil {
		return nil, err
	}
	logs := filepath.Join(dir, "logs")
	return &suite{
		dir: dir, root: root, keeper: process.NewKeeper(logs), stop: func() {}, programs: map[string]*program{},
	}, os.Mkdir(logs, 0o700)
}

func (s *suite) bin(name string) string {
	return filepath.Join(controlplane.Cache(s.root), "bin", name)
}

func (s *suite) bringUp(ctx context.Context) error {
	etcd, err := exec.LookPath("etcd")
	if err != nil {
		return fmt.Errorf("%w: install it, on Debian and Ubuntu with: apt-get install etcd-server", err)
	}
	binaries := controlplane.Binaries{
		Etcd: etcd, APIServer: s.bin("kube-apiserver"), ControllerManager: s.bin("kube-controller-manager"), Crossplane: s.bin("crossplane-core"),
	}
	for _, b := range []string{binaries.APIServer, binaries.ControllerManager, binaries.Crossplane, s.bin("provider-aws-ec2")} {
		if _, err := os.Stat(b); err != nil {
			return fmt.Errorf("%w: `make e2e-provider` builds it", err)
		}
	}
	for _, step := range []func(context.Context) error{
		func(ctx context.Context) error {
			var err error
			if s.kubernetes, err = controlplane.StartKubernetes(ctx, s.keeper, binaries, s.dir); err != nil {
				return err
			}
			s.client, err = kube.NewClient(s.kubernetes.Config)
			return err
		},
		s.startAWS, s.startCrossplane, s.install, s.configure, s.startPrograms,
	} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// startAWS with what pools refer to.
func (s *suite) startAWS(ctx context.Context) error {
	python := os.Getenv("MACHINEPOOL_MOTO_PYTHON")
	if python == "" {
		return errors.New("MACHINEPOOL_MOTO_PYTHON names no Python that has moto: `make e2e-provider` sees to it")
	}
	moto, err := awsproxy.StartMoto(ctx, s.keeper, python)
	if err != nil {
		return err
	}
	if s.aws, err = awsproxy.Start(ctx, moto, map[string]string{functionKey: "function", providerKey: "provider", testKey: "test"}); err != nil {
		return err
	}
	s.closers = append(s.closers, s.aws.Stop)
	s.account = awsproxy.NewClient(s.aws.URL, testKey)
	return s.account.CreateBucket(ctx, bucket)
}

// startCrossplane with what is played of a cluster.
func (s *suite) startCrossplane(ctx context.Context) error {
	var background context.Context
	background, s.stop = context.WithCancel(context.WithoutCancel(ctx))
	proxy, err := node.StartProxy()
	if err != nil {
		return err
	}
	s.closers = append(s.closers, proxy.Stop)
	if s.registry, err = controlplane.StartRegistry(); err != nil {
		return err
	}
	s.closers = append(s.closers, s.registry.Stop)
	module, err := controlplane.ModuleDir(ctx, filepath.Join(s.root, "tools", "crossplane-core"), "github.com/crossplane/crossplane/v2")
	if err != nil {
		return err
	}
	if _, err = controlplane.StartCrossplane(ctx, s.kubernetes, s.client, module, proxy.Address); err != nil {
		return err
	}
	n := node.New(s.client, s.keeper, proxy, s.dir)
	s.stopped.Go(func() { n.Run(background, sayf) })
	return nil
}

// install the packages: ours as they ship, and stand-ins for the providers', which hold their kinds.
func (s *suite) install(ctx context.Context) error {
	packages := filepath.Join(controlplane.Cache(s.root), "package")
	if err := s.registry.Push(ctx, filepath.Join(packages, "function-aws-machinepool-linux-"+runtime.GOARCH+".xpkg"), functionPackage, packageTag); err != nil {
		return err
	}
	if err := s.registry.Push(ctx, filepath.Join(packages, "configuration-aws-machinepool.xpkg"), configPackage, packageTag); err != nil {
		return err
	}
	module, err := controlplane.ModuleDir(ctx, s.root, providerModule)
	if err != nil {
		return err
	}
	crds := filepath.Join(module, "package", "crds")
	for name, files := range provider.CRDs() {
		if err := s.registry.PushProvider(ctx, "crossplane-contrib/"+name, providerVersion, crds, files); err != nil {
			return err
		}
	}
	// The kinds of the providers' own configuration come with a package that they depend on.
	for _, file := range []string{"clusterproviderconfigs", "providerconfigs", "providerconfigusages"} {
		objects, err := kube.ReadYAML(filepath.Join(crds, "aws.m.upbound.io_"+file+".yaml"))
		if err != nil {
			return err
		}
		if err := s.apply(ctx, objects...); err != nil {
			return err
		}
	}
	if err := s.apply(ctx, s.packages()...); err != nil {
		return err
	}
	if err := s.await(ctx, kube.Configurations, configurationName, "Installed", "Healthy"); err != nil {
		return err
	}
	if err := s.await(ctx, kube.Functions, functionName, "Installed", "Healthy"); err != nil {
		return err
	}
	for _, k := range provider.Kinds() {
		if err := s.await(ctx, kube.CRDs, k.Resource+"."+k.Group, "Established"); err != nil {
			return err
		}
	}
	return s.await(ctx, kube.XRDs, "machinepools.aws.machinepool.fn.crossplane.io", "Established")
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
func (s *suite) await(ctx context.Context, r kube.Resource, name string, conditions ...string) error {
	return kube.Poll(ctx, 200*time.Millisecond, func() (bool, string) {
		o, err := s.client.Get(ctx, r, "", name)
		if err != nil {
			return false, err.Error()
		}
		for _, c := range conditions {
			if got := simulator.ConditionOf(o, c); o == nil || got.Status != "True" {
				return false, fmt.Sprintf("%s %s is not %s: %s %s", r.Kind, name, c, got.Reason, got.Message)
			}
		}
		return true, ""
	})
}

// close stops everything, in the opposite order.
func (s *suite) close() {
	s.stop()
	s.stopped.Wait()
	s.keeper.StopAll()
	for _, c := range s.closers {
		c()
	}
}

func sayf(format string, args ...any) { fmt.Printf(strings.TrimSuffix(format, "\n")+"\n", args...) }
