package main

import (
	"archive/tar"
	"bytes"
	"encoding/pem"
	"io"
	"os"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"golang.org/x/crypto/x509roots/fallback/bundle"
)

// What the image holds beside the function, as the Dockerfile's does: an unprivileged user, a folder for temporary files and
// root certificates. There is no base image.
const (
	entrypoint = "function"
	certsFile  = "etc/ssl/certs/ca-certificates.crt"
	nonroot    = "65532:65532"
	passwd     = "nonroot:x:65532:65532:nonroot:/home/nonroot:/sbin/nologin\n"
	group      = "nonroot:x:65532:\n"
)

// writeRuntimeImage writes a tarball of an image that runs the binary. The same
// binary always makes the same image: no time enters it.
func writeRuntimeImage(binary, out, arch, version string) error {
	program, err := os.ReadFile(binary)
	if err != nil {
		return err
	}
	base, err := layer(
		file{name: "tmp/", mode: 0o1777},
		file{name: "etc/passwd", mode: 0o644, content: []byte(passwd)},
		file{name: "etc/group", mode: 0o644, content: []byte(group)},
		file{name: certsFile, mode: 0o644, content: rootCertificates()},
	)
	if err != nil {
		return err
	}
	app, err := layer(file{name: entrypoint, mode: 0o755, content: program})
	if err != nil {
		return err
	}
	img, err := mutate.AppendLayers(empty.Image, base, app)
	if err != nil {
		return err
	}
	img, err = mutate.ConfigFile(img, configFile(img, arch, version))
	if err != nil {
		return err
	}
	tag, err := name.NewTag("function-aws-machinepool:" + arch)
	if err != nil {
		return err
	}
	return tarball.WriteToFile(out, tag, img)
}

// configFile is the image's configuration: how to run it, and what it is.
func configFile(img v1.Image, arch, version string) *v1.ConfigFile {
	cf := &v1.ConfigFile{}
	if have, err := img.ConfigFile(); err == nil {
		cf = have.DeepCopy()
	}
	cf.OS, cf.Architecture = "linux", arch
	cf.Config = v1.Config{
		Entrypoint:   []string{"/" + entrypoint},
		User:         nonroot,
		WorkingDir:   "/",
		Env:          []string{"PATH=/", "SSL_CERT_FILE=/" + certsFile},
		ExposedPorts: map[string]struct{}{"8080/tcp": {}, "9443/tcp": {}},
		Labels: map[string]string{
			"org.opencontainers.image.title":    "function-aws-machinepool",
			"org.opencontainers.image.source":   "https://github.com/crossplane-contrib/function-aws-machinepool",
			"org.opencontainers.image.licenses": "Apache-2.0",
			"org.opencontainers.image.version":  version,
		},
	}
	return cf
}

// rootCertificates are Mozilla's as PEM, so that the function can call AWS. Roots
// with constraints are left out, since PEM cannot carry a constraint.
func rootCertificates() []byte {
	var out bytes.Buffer
	for root := range bundle.Roots() {
		if root.Constraint == nil {
			out.Write(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: root.Certificate}))
		}
	}
	return out.Bytes()
}

// A file is one entry of a layer; a name that ends in / is a folder.
type file struct {
	name    string
	mode    int64
	content []byte
}

func layer(files ...file) (v1.Layer, error) {
	var buf bytes.Buffer
	w := tar.NewWriter(&buf)
	for _, f := range files {
		kind := byte(tar.TypeReg)
		if f.content == nil {
			kind = tar.TypeDir
		}
		if err := w.WriteHeader(&tar.Header{Typeflag: kind, Name: f.name, Mode: f.mode, Size: int64(len(f.content))}); err != nil {
			return nil, err
		}
		if _, err := w.Write(f.content); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return tarball.LayerFromOpener(func() (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(buf.Bytes())), nil
	})
}
