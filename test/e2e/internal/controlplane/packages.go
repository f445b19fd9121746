package controlplane

import (
	"archive/tar"
	"bytes"
	"context"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"path/filepath"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/static"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"sigs.k8s.io/yaml"

	"github.com/crossplane-contrib/function-aws-machinepool/internal/simulator"
)

// A Registry of packages on this machine.
type Registry struct {
	// Host is 127.0.0.1 and a port: Crossplane refuses localhost as not fully qualified.
	Host string

	server *http.Server
}

// StartRegistry starts an empty registry, which is gone with the tests.
func StartRegistry() (*Registry, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	r := &Registry{Host: l.Addr().String()}
	r.server = &http.Server{Handler: registry.New(registry.Logger(log.New(io.Discard, "", 0)))} //nolint:gosec // It serves this machine only.
	go func() { _ = r.server.Serve(l) }()
	return r, nil
}

// Stop the registry.
func (r *Registry) Stop() { _ = r.server.Close() }

// Push the package in a file, under a path and tags.
func (r *Registry) Push(ctx context.Context, file, path string, tags ...string) error {
	img, err := tarball.ImageFromPath(file, nil)
	if err != nil {
		return err
	}
	return r.push(ctx, img, path, tags...)
}

// Republish a package under another tag, as another image with the same content.
func (r *Registry) Republish(ctx context.Context, path, from, to string) error {
	ref, err := name.NewTag(r.Host + "/" + path + ":" + from)
	if err != nil {
		return err
	}
	img, err := remote.Image(ref, remote.WithContext(ctx))
	if err != nil {
		return err
	}
	cf, err := img.ConfigFile()
	if err != nil {
		return err
	}
	cf = cf.DeepCopy()
	if cf.Config.Labels == nil {
		cf.Config.Labels = map[string]string{}
	}
	cf.Config.Labels["org.opencontainers.image.version"] = to
	if img, err = mutate.ConfigFile(img, cf); err != nil {
		return err
	}
	return r.push(ctx, img, path, to)
}

// PushProvider pushes a stand-in for a provider's package: its kinds in one version each, and no program. The tests play
// the provider.
func (r *Registry) PushProvider(ctx context.Context, path, tag, crdFolder string, versions map[string]string) error {
	var stream bytes.Buffer
	fmt.Fprintf(&stream, "apiVersion: meta.pkg.crossplane.io/v1\nkind: Provider\nmetadata:\n  name: %s\n", filepath.Base(path))
	for file, version := range versions {
		content, err := inOneVersion(filepath.Join(crdFolder, file), version)
		if err != nil {
			return err
		}
		stream.WriteString("---\n")
		stream.Write(content)
	}
	layer, err := packageLayer(stream.Bytes())
	if err != nil {
		return err
	}
	img, err := mutate.AppendLayers(empty.Image, layer)
	if err != nil {
		return err
	}
	return r.push(ctx, img, path, tag)
}

// inOneVersion is a CRD that is served and stored in one of its versions.
func inOneVersion(file, version string) ([]byte, error) {
	content, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	crd := map[string]any{}
	if err := yaml.Unmarshal(content, &crd); err != nil {
		return nil, err
	}
	all, _ := simulator.Field(crd, "spec", "versions").([]any)
	for _, v := range all {
		if simulator.Text(v, "name") == version {
			one, _ := v.(map[string]any)
			one["storage"], one["served"] = true, true
			simulator.SetField(crd, []any{one}, "spec", "versions")
			return yaml.Marshal(crd)
		}
	}
	return nil, fmt.Errorf("%s has no version %s", file, version)
}

// packageLayer has all that Crossplane reads of a package.
func packageLayer(content []byte) (v1.Layer, error) {
	var archive bytes.Buffer
	w := tar.NewWriter(&archive)
	if err := w.WriteHeader(&tar.Header{Name: "package.yaml", Mode: 0o644, Size: int64(len(content))}); err != nil {
		return nil, err
	}
	if _, err := w.Write(content); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return static.NewLayer(archive.Bytes(), types.OCIUncompressedLayer), nil
}

func (r *Registry) push(ctx context.Context, img v1.Image, path string, tags ...string) error {
	for _, t := range tags {
		tag, err := name.NewTag(r.Host + "/" + path + ":" + t)
		if err != nil {
			return err
		}
		if err := remote.Write(tag, img, remote.WithContext(ctx)); err != nil {
			return fmt.Errorf("cannot push %s: %w", tag, err)
		}
	}
	return nil
}
