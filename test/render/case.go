package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

// A renderCase is one folder of example/.
type renderCase struct {
	name    string
	title   string
	about   string
	refused bool // the function is expected to refuse it
}

// cases in the order of a pool's life.
//
//nolint:gochecknoglobals // A table.
var cases = []renderCase{
	{
		name:  "first-composition",
		title: "First composition",
		about: "A new pool. The group waits until AWS has the launch template and the bootstrap object.",
	},
	{
		name:  "steady-state",
		title: "Steady state",
		about: "Everything exists and is Ready: nothing changes.",
	},
	{
		name:  "roll",
		title: "A roll in its middle",
		about: "kubernetesVersion went up. AWS has the new launch template, so the group moves to it; the old one stays until it has.",
	},
	{
		name:  "spot-autoscaled",
		title: "An autoscaled pool of Spot Instances",
		about: "AWS scales between two bounds on CPU; the desired size that it chose is left alone.",
	},
	{
		name:  "ignition",
		title: "An Ignition pool on a pinned image",
		about: "Flatcar: the user data is an Ignition config that replaces itself with the bootstrap object.",
	},
	{
		name:    "refused",
		title:   "A spec that can never work",
		about:   "Every mistake is named at once, with its path.",
		refused: true,
	},
}

func (c renderCase) observedFile(examples string) string {
	file := filepath.Join(examples, c.name, "observed.yaml")
	if _, err := os.Stat(file); err != nil {
		return ""
	}

	return file
}

// render is what `crossplane composition render` prints for the case: YAML, or the
// error of a case that is refused.
func (c renderCase) render(ctx context.Context, cfg config, address string) (string, error) {
	dir := filepath.Join(cfg.examples, c.name)
	args := []string{
		"composition", "render",
		filepath.Join(dir, "xr.yaml"),
		filepath.Join(cfg.examples, "composition.yaml"),
		filepath.Join(cfg.examples, "functions.yaml"),
		"--required-resources", filepath.Join(dir, "required.yaml"),
		"--include-function-results",
		"--crossplane-binary", cfg.core,
		"--function-annotations", "render.crossplane.io/runtime=Development",
		"--function-annotations", "render.crossplane.io/runtime-development-target=" + address,
	}

	if xrd := filepath.Join(cfg.examples, "xrd.yaml"); exists(xrd) {
		args = append(args, "--xrd", xrd)
	}

	if observed := c.observedFile(cfg.examples); observed != "" {
		args = append(args, "--observed-resources", observed)
	}

	var stdout, stderr bytes.Buffer

	cmd := exec.CommandContext(ctx, cfg.cli, args...)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = stopTimeout
	err := cmd.Run()

	switch {
	case err == nil && !c.refused:
		return stdout.String(), nil
	case err == nil:
		return "", errors.New("rendered, but it should have been refused")
	case c.refused && strings.Contains(stderr.String(), "returned a fatal result: "):
		return refusal(stderr.String()), nil
	default:
		return "", fmt.Errorf("%w: %s\n%s", err, strings.Join(cmd.Args, " "), stderr.String())
	}
}

// beforeRefusal is how far the error of a refused case is about Crossplane's inner
// workings, which differ by how it is run.
var beforeRefusal = regexp.MustCompile(`(?s)^.*cannot compose resources: `)

// refusal is the part of the CLI's error that a control plane shows on the XR.
func refusal(stderr string) string {
	return strings.TrimRight(beforeRefusal.ReplaceAllString(stderr, ""), "\n") + "\n"
}

// compare holds a file against its golden, or makes it the golden.
func compare(ctx context.Context, golden, file string, update bool) error {
	if update {
		content, err := os.ReadFile(file)
		if err != nil {
			return err
		}

		if err := os.MkdirAll(filepath.Dir(golden), 0o750); err != nil {
			return err
		}

		return os.WriteFile(golden, content, 0o644)
	}

	if !exists(golden) {
		return fmt.Errorf("%w (there is no %s)", errDiffers, golden)
	}

	diff := exec.CommandContext(ctx, "git", "--no-pager", "diff", "--no-index", "--no-color", "--", golden, file)
	if out, err := diff.CombinedOutput(); err != nil {
		return fmt.Errorf("%w\n%s", errDiffers, out)
	}

	return nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
