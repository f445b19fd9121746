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

	// What exists already, for `make render UPDATE=1` to write observed.yaml.
	settled bool   // everything the XR asks for
	after   string // everything that another case asks for, and one run of this one's XR
	desired int    // with a desired size that AWS chose since
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

		settled: true,
	},
	{
		name:  "with-reads",
		title: "A pool that reads AWS",
		about: "The newest image is looked up, and members and health are known. The third instance is still starting.",

		settled: true,
	},
	{
		name:  "roll",
		title: "A roll in its middle",
		about: "kubernetesVersion went up. AWS has the new launch template, so the group moves to it; the old one stays until it has.",

		after: "steady-state",
	},
	{
		name:  "spot-autoscaled",
		title: "An autoscaled pool of Spot Instances",
		about: "AWS scales between two bounds on CPU; the desired size that it chose is left alone.",

		settled: true,
		desired: 7,
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

// compositionFile is the folder's own pipeline where it has one, else that of all.
func compositionFile(examples, dir string) string {
	if own := filepath.Join(dir, "composition.yaml"); exists(own) {
		return own
	}

	return filepath.Join(examples, "composition.yaml")
}

func (c renderCase) observedFile(examples string) string {
	file := filepath.Join(examples, c.name, "observed.yaml")
	if _, err := os.Stat(file); err != nil {
		return ""
	}

	return file
}

// A refusedError says that the function returned a fatal result.
type refusedError struct{ message string }

// Error is what a control plane shows on the XR.
func (e refusedError) Error() string { return e.message }

// render is what the case comes out as: YAML, or the error of one that is refused.
func (c renderCase) render(ctx context.Context, cfg config, address string) (string, error) {
	dir := filepath.Join(cfg.examples, c.name)
	i := inputs{
		xr:       filepath.Join(dir, "xr.yaml"),
		required: filepath.Join(dir, "required.yaml"),
		observed: c.observedFile(cfg.examples),
	}
	out, err := i.render(ctx, cfg, address)

	refused := refusedError{}

	switch {
	case c.refused && errors.As(err, &refused):
		return refused.message, nil
	case c.refused && err == nil:
		return "", errors.New("rendered, but it should have been refused")
	default:
		return out, err
	}
}

// inputs are the files that a run of the function takes.
type inputs struct{ xr, required, observed string }

// render is what `crossplane composition render` prints.
func (i inputs) render(ctx context.Context, cfg config, address string) (string, error) {
	args := []string{
		"composition", "render", i.xr,
		compositionFile(cfg.examples, filepath.Dir(i.xr)),
		filepath.Join(cfg.examples, "functions.yaml"),
		"--xrd", filepath.Join(cfg.examples, "xrd.yaml"),
		"--required-resources", i.required,
		"--include-function-results",
		"--crossplane-binary", cfg.core,
		"--function-annotations", "render.crossplane.io/runtime=Development",
		"--function-annotations", "render.crossplane.io/runtime-development-target=" + address,
	}

	if i.observed != "" {
		args = append(args, "--observed-resources", i.observed)
	}

	var stdout, stderr bytes.Buffer

	cmd := exec.CommandContext(ctx, cfg.cli, args...)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = stopTimeout
	err := cmd.Run()

	switch {
	case err == nil:
		return steady(stdout.String()), nil
	case strings.Contains(stderr.String(), "returned a fatal result: "):
		return "", refusedError{message: refusal(stderr.String())}
	default:
		return "", fmt.Errorf("%w: %s\n%s", err, strings.Join(cmd.Args, " "), stderr.String())
	}
}

// readingTime is when AWS was read, which is another time in every run.
var readingTime = regexp.MustCompile(`listedReading: "[^"]*"`)

// steady leaves out what Crossplane itself says about each resource, which comes in
// another order every time, and when AWS was read.
func steady(rendered string) string {
	var out strings.Builder

	for doc := range documents([]byte(rendered)) {
		if text := strings.Trim(string(doc), "\n"); text != "" && !strings.Contains(text, "\nmessage: Composed resource ") {
			out.WriteString("---\n" + text + "\n")
		}
	}

	return readingTime.ReplaceAllString(out.String(), `listedReading: "2026-01-01T00:00:00.000000000Z"`)
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
