// Command packager builds the Crossplane packages of this repository with no
// Docker: the function's runtime image from a static binary, the Function
// package around it, and the Configuration package. It then opens what it built
// and checks that everything a control plane needs is inside.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
)

const (
	functionRoot      = "package"
	configurationRoot = "configuration"
)

// A build is what to build and with what.
type build struct {
	cli     string
	out     string
	version string
	archs   []string
}

func main() {
	b := build{}
	flag.StringVar(&b.cli, "cli", "", "path to the crossplane CLI")
	flag.StringVar(&b.out, "out", ".cache/package", "folder to write the packages to")
	flag.StringVar(&b.version, "version", "v0.0.0", "version to label the runtime image with")
	flag.Parse()
	b.archs = flag.Args()

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := b.run(ctx)
	stop()

	if err != nil {
		fmt.Fprintln(os.Stderr, "package:", err)
		os.Exit(1)
	}
}

func (b build) run(ctx context.Context) error {
	if b.cli == "" || len(b.archs) == 0 {
		return errors.New("usage: packager -cli <crossplane CLI> [-out <folder>] [-version <version>] <architecture> [<architecture>]")
	}
	if err := os.MkdirAll(b.out, 0o755); err != nil {
		return err
	}
	for _, arch := range b.archs {
		if err := b.function(ctx, arch); err != nil {
			return fmt.Errorf("function for %s: %w", arch, err)
		}
	}
	if err := b.configuration(ctx); err != nil {
		return fmt.Errorf("configuration: %w", err)
	}
	fmt.Println("\nPush them with: crossplane xpkg push -f <package>[,<package>] <registry>/<name>:<tag>")
	return nil
}

// function builds and checks the Function package for one architecture.
func (b build) function(ctx context.Context, arch string) error {
	binary := filepath.Join(b.out, "function-linux-"+arch)
	image := filepath.Join(b.out, "runtime-linux-"+arch+".tar")
	pkg := filepath.Join(b.out, "function-aws-machinepool-linux-"+arch+".xpkg")

	fmt.Printf("building the function for linux/%s, static, about 2 minutes the first time ...\n", arch)
	compile := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags", "-s -w", "-o", binary, ".")
	compile.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOARCH="+arch)
	if err := run(compile); err != nil {
		return err
	}
	if err := writeRuntimeImage(binary, image, arch, b.version); err != nil {
		return fmt.Errorf("runtime image: %w", err)
	}
	// Nothing but the package's own manifests goes in: no examples folder.
	if err := run(exec.CommandContext(ctx, b.cli, "xpkg", "build", "--package-root", functionRoot,
		"--embed-runtime-image-tarball", image, "--package-file", pkg)); err != nil {
		return err
	}
	return check(ctx, pkg, contents{
		manifests: []string{
			"meta.pkg.crossplane.io/v1 Function function-aws-machinepool",
			"apiextensions.k8s.io/v1 CustomResourceDefinition inputs.machinepool.fn.crossplane.io",
		},
		arch: arch,
	})
}

// configuration builds and checks the Configuration package.
func (b build) configuration(ctx context.Context) error {
	pkg := filepath.Join(b.out, "configuration-aws-machinepool.xpkg")
	if err := run(exec.CommandContext(ctx, b.cli, "xpkg", "build", "--package-root", configurationRoot,
		"--package-file", pkg)); err != nil {
		return err
	}
	return check(ctx, pkg, contents{
		manifests: []string{
			"meta.pkg.crossplane.io/v1 Configuration configuration-aws-machinepool",
			"apiextensions.crossplane.io/v2 CompositeResourceDefinition machinepools.aws.machinepool.fn.crossplane.io",
			"apiextensions.crossplane.io/v1 Composition machinepools.aws.machinepool.fn.crossplane.io",
		},
	})
}

// run runs a command and shows what it printed only if it failed.
func run(cmd *exec.Cmd) error {
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", cmd, err, out)
	}
	return nil
}
