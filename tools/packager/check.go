package main

import (
	"archive/tar"
	"bytes"
	"context"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"sigs.k8s.io/yaml"
)

// contents are what a package must hold.
type contents struct {
	manifests []string // each "apiVersion kind name"
	arch      string   // of the runtime; empty for a package that has none
}

// check opens a package as a control plane would, checks it, and says what it is.
func check(ctx context.Context, pkg string, want contents) error {
	img, err := tarball.ImageFromPath(pkg, nil)
	if err != nil {
		return err
	}
	digest, err := img.Digest()
	if err != nil {
		return err
	}
	files, err := flatten(img)
	if err != nil {
		return err
	}
	got, err := manifests(files["package.yaml"])
	if err != nil {
		return fmt.Errorf("package.yaml: %w", err)
	}
	slices.Sort(want.manifests)
	if !slices.Equal(got, want.manifests) {
		return fmt.Errorf("%s holds\n  %s\nbut should hold\n  %s", pkg,
			strings.Join(got, "\n  "), strings.Join(want.manifests, "\n  "))
	}
	info, err := os.Stat(pkg)
	if err != nil {
		return err
	}
	fmt.Printf("\n%s  %s  %s\n", pkg, megabytes(info.Size()), digest)
	for _, m := range got {
		fmt.Println("  holds", m)
	}
	if want.arch == "" {
		return nil
	}
	return checkRuntime(ctx, img, files, want.arch)
}

// checkRuntime checks that the image can run on a node that has nothing else.
func checkRuntime(ctx context.Context, img v1.Image, files map[string][]byte, arch string) error {
	cf, err := img.ConfigFile()
	if err != nil {
		return err
	}
	if cf.OS != "linux" || cf.Architecture != arch {
		return fmt.Errorf("the image is for %s/%s, not linux/%s", cf.OS, cf.Architecture, arch)
	}
	if cf.Config.User != nonroot || !slices.Equal(cf.Config.Entrypoint, []string{"/" + entrypoint}) {
		return fmt.Errorf("the image runs %v as %q, not /%s as %s", cf.Config.Entrypoint, cf.Config.User, entrypoint, nonroot)
	}
	if len(files[certsFile]) == 0 {
		return errors.New("the image has no root certificates, so the function could not call AWS")
	}
	program := files[entrypoint]
	exe, err := elf.NewFile(bytes.NewReader(program))
	if err != nil {
		return fmt.Errorf("/%s: %w", entrypoint, err)
	}
	for _, p := range exe.Progs {
		if p.Type == elf.PT_INTERP {
			return fmt.Errorf("/%s is not static", entrypoint)
		}
	}
	fmt.Printf("  runs  /%s (static, linux/%s, %s) as %s\n", entrypoint, arch, megabytes(int64(len(program))), nonroot)
	if arch != runtime.GOARCH || runtime.GOOS != "linux" {
		return nil
	}
	return checkStarts(ctx, program)
}

// checkStarts runs the binary that came out of the package.
func checkStarts(ctx context.Context, program []byte) error {
	dir, err := os.MkdirTemp("", "packager-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	path := filepath.Join(dir, entrypoint)
	if err := os.WriteFile(path, program, 0o700); err != nil {
		return err
	}
	return run(exec.CommandContext(ctx, path, "--help"))
}

// megabytes is a size for people.
func megabytes(bytes int64) string {
	return fmt.Sprintf("%.2f MB", float64(bytes)/1e6)
}

// flatten is the image's file system as a container would see it.
func flatten(img v1.Image) (map[string][]byte, error) {
	fs := mutate.Extract(img)
	defer func() { _ = fs.Close() }()
	files := map[string][]byte{}
	for r := tar.NewReader(fs); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return files, nil
		}
		if err != nil {
			return nil, err
		}
		content, err := io.ReadAll(r)
		if err != nil {
			return nil, err
		}
		files[strings.TrimPrefix(h.Name, "/")] = content
	}
}

// manifests names the objects of a YAML stream, sorted.
func manifests(stream []byte) ([]string, error) {
	var out []string
	for doc := range strings.SplitSeq("\n"+string(stream), "\n---\n") {
		var o struct {
			APIVersion string `json:"apiVersion"`
			Kind       string `json:"kind"`
			Metadata   struct {
				Name string `json:"name"`
			} `json:"metadata"`
		}
		if err := yaml.Unmarshal([]byte(doc), &o); err != nil {
			return nil, err
		}
		if o.Kind != "" {
			out = append(out, o.APIVersion+" "+o.Kind+" "+o.Metadata.Name)
		}
	}
	slices.Sort(out)
	return out, nil
}
