package node

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
)

// unpack the program that an image runs into a folder, and return its path.
func unpack(ctx context.Context, image, dir string) (string, error) {
	ref, err := name.ParseReference(image)
	if err != nil {
		return "", err
	}
	img, err := remote.Image(ref, remote.WithContext(ctx))
	if err != nil {
		return "", err
	}
	cf, err := img.ConfigFile()
	if err != nil {
		return "", err
	}
	if len(cf.Config.Entrypoint) != 1 {
		return "", fmt.Errorf("%s runs %q, which is not one program", image, cf.Config.Entrypoint)
	}
	entrypoint := cf.Config.Entrypoint[0]

	files := mutate.Extract(img)
	defer files.Close() //nolint:errcheck // It was read as far as it is needed.
	for r := tar.NewReader(files); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return "", fmt.Errorf("%s has no %s", image, entrypoint)
		}
		if err != nil {
			return "", err
		}
		if "/"+strings.TrimLeft(h.Name, "./") != entrypoint {
			continue
		}
		path := filepath.Join(dir, filepath.Base(entrypoint))
		f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o700) //nolint:gosec // It is to be run.
		if err != nil {
			return "", err
		}
		_, err = io.Copy(f, r) //nolint:gosec // It is our own package.
		return path, errors.Join(err, f.Close())
	}
}
