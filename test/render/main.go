// Command render shows what the function makes of each example. It runs the
// function on a free port and renders example/ with the real Crossplane CLI and
// core, which need no Docker for that. What comes out is compared with
// test/render/golden, so a change of it is seen.
//
// It is `make render`; run it from the repository's root.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
)

// errDiffers says that a case came out other than its golden.
var errDiffers = errors.New("not as test/render/golden has it: look at the difference, then accept it with `make render UPDATE=1`")

// A config is what the command line says.
type config struct {
	function string // the function's binary
	cli      string // the Crossplane CLI
	core     string // Crossplane itself
	examples string // the folder of the examples
	golden   string // the folder of what they should come out as
	out      string // the folder to write what they came out as
	update   bool   // accept what came out
}

func main() {
	cfg := config{}
	flag.StringVar(&cfg.function, "function", ".cache/bin/function", "the function's `binary`")
	flag.StringVar(&cfg.cli, "cli", ".cache/bin/crossplane-cli", "the Crossplane CLI's `binary`")
	flag.StringVar(&cfg.core, "core", ".cache/bin/crossplane-core", "Crossplane's own `binary`")
	flag.StringVar(&cfg.examples, "examples", "example", "the examples' `folder`")
	flag.StringVar(&cfg.golden, "golden", "test/render/golden", "the `folder` of what the examples should come out as")
	flag.StringVar(&cfg.out, "out", ".cache/render", "the `folder` to write what they came out as")
	flag.BoolVar(&cfg.update, "update", false, "accept what the examples came out as")
	flag.Parse()

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, cfg)

	stop()

	if err != nil {
		fmt.Fprintln(os.Stderr, "\nrender:", err)
		os.Exit(1)
	}
}

// run renders every case, all of them even if one fails, and stops what it started.
func run(ctx context.Context, cfg config) error {
	if err := os.MkdirAll(cfg.out, 0o750); err != nil {
		return err
	}

	cloud, err := startAWS(ctx)
	if err != nil {
		return err
	}
	defer cloud.stop()

	fn, err := startFunction(ctx, cfg.function, cloud.environment())
	if err != nil {
		return err
	}
	defer fn.stop()

	var failed []string

	for i, c := range cases {
		fmt.Printf("%s%d. %s\n   %s\n\n", separator(i), i+1, c.title, c.about)

		if err := show(ctx, cfg, fn.address, c); err != nil {
			if ctx.Err() != nil {
				return errors.New("interrupted")
			}

			fmt.Fprintf(os.Stderr, "\nFAILED: %v\n", err)
			failed = append(failed, c.name)
		}
	}

	if len(failed) > 0 {
		if logs := fn.logs.String(); logs != "" {
			fmt.Fprintf(os.Stderr, "\nThe function's log:\n%s", indent(logs))
		}

		return fmt.Errorf("%d of %d cases failed: %s", len(failed), len(cases), strings.Join(failed, ", "))
	}

	fmt.Printf("\n%d cases rendered as expected. The full YAML is in %s.\n", len(cases), relative(cfg.out))

	return nil
}

// show renders one case, prints what a person wants to see of it, and holds it
// against its golden.
func show(ctx context.Context, cfg config, address string, c renderCase) error {
	if cfg.update {
		if err := c.observe(ctx, cfg, address); err != nil {
			return fmt.Errorf("cannot play provider-aws: %w", err)
		}
	}

	got, err := c.render(ctx, cfg, address)
	if err != nil {
		return err
	}

	if c.refused {
		fmt.Printf("Refused, as it should be, and what exists stays as it is:\n\n%s", indent(listed(got)))
	} else if err := printRendered(os.Stdout, got, c.observedFile(cfg.examples)); err != nil {
		return err
	}

	file := filepath.Join(cfg.out, c.name+".yaml")
	if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
		return err
	}

	fmt.Printf("\nFull output: %s\n", relative(file))

	return compare(ctx, filepath.Join(cfg.golden, c.name+".yaml"), file, cfg.update)
}

// separator stands between two cases.
func separator(i int) string {
	if i == 0 {
		return ""
	}

	return "\n────────────────────────────────────────────────────────────────────────\n\n"
}

// relative is a path as a person at the repository's root would write it.
func relative(path string) string {
	if wd, err := os.Getwd(); err == nil {
		if rel, err := filepath.Rel(wd, path); err == nil && filepath.IsLocal(rel) {
			return rel
		}
	}

	return path
}
