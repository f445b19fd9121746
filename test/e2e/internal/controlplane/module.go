package controlplane

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// Cache is where the Makefile of the checkout at root puts what it builds.
func Cache(root string) string {
	if dir := os.Getenv("MACHINEPOOL_CACHE"); dir != "" {
		return dir
	}
	return filepath.Join(root, ".cache")
}

// ModuleDir is where Go keeps a module that another, in the folder of, requires. It is downloaded if need be.
func ModuleDir(ctx context.Context, of, module string) (string, error) {
	cmd := exec.CommandContext(ctx, "go", "mod", "download", "-json", module)
	cmd.Dir = of
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("cannot find %s: %w", module, err)
	}
	m := struct {
		Dir   string `json:"dir"`
		Error string `json:"error"`
	}{}
	if err := json.Unmarshal(out, &m); err != nil {
		return "", err
	}
	if m.Dir == "" {
		return "", errors.New(m.Error)
	}
	return m.Dir, nil
}
