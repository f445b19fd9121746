// Command mutants shows that the simulator bites: it makes one mistake after the other in the function, runs the
// properties over random histories, and expects the property that docs/proof.md names to fail.
//
// The tree is not touched: each mistake is laid over it. Histories come from a fixed seed, and are those of one setting of
// the four, in which every property has all there is to break, or for a few mutants those without AWS reads.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

func main() {
	root := flag.String("root", ".", "the module's directory")
	run := flag.String("run", "", "only mutants whose name matches this expression")
	checks := flag.Int("checks", 3000, "histories to try at most")
	seed := flag.Int("seed", 1, "seed of the histories")
	flag.Parse()
	if err := tryAll(*root, regexp.MustCompile(*run), *checks, *seed); err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(1)
	}
}

func tryAll(root string, only *regexp.Regexp, checks, seed int) error {
	dir, err := os.MkdirTemp("", "mutants")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	tried, failed := 0, 0
	for _, m := range mutants {
		if !only.MatchString(m.name) {
			continue
		}
		tried++
		start := time.Now()
		verdict := "ok  "
		killers, err := try(root, dir, m, checks, seed)
		if err == nil && !slices.Contains(killers, m.property) {
			err = fmt.Errorf("property %s did not fail, these did: %q", m.property, killers)
		}
		if err != nil {
			verdict = "FAIL"
			failed++
		}
		fmt.Printf("%s %4.0fs  %s: killed by %s\n", verdict, time.Since(start).Seconds(), m.name, strings.Join(killers, "; "))
		if err != nil {
			fmt.Printf("      %v\n", err)
		}
	}
	fmt.Printf("%d mutants, %d killed as they should be\n", tried, tried-failed)
	if failed > 0 || tried == 0 {
		return errors.New("not every mutant is killed by its property")
	}
	return nil
}

// mutated is the file with the mistake in it.
func (m mutant) mutated(root string) ([]byte, error) {
	b, err := os.ReadFile(filepath.Join(root, m.file))
	if err != nil {
		return nil, err
	}
	if n := strings.Count(string(b), m.from); n != 1 {
		return nil, fmt.Errorf("the mutant %q does not apply: %s has its text %d times", m.name, m.file, n)
	}
	return []byte(strings.Replace(string(b), m.from, m.to, 1)), nil
}

func (m mutant) setting() string {
	if m.blind {
		return "Namespaced"
	}
	return "NamespacedReadingAWS"
}

var failure = regexp.MustCompile(`property (\d, [^:]+):`)

// try a mutant, and return the properties that fail.
func try(root, dir string, m mutant, checks, seed int) ([]string, error) {
	content, err := m.mutated(root)
	if err != nil {
		return nil, err
	}
	original, err := filepath.Abs(filepath.Join(root, m.file))
	if err != nil {
		return nil, err
	}
	file, overlay, binary := filepath.Join(dir, "mutant.go"), filepath.Join(dir, "overlay.json"), filepath.Join(dir, "mutant.test")
	layers, err := json.Marshal(map[string]map[string]string{"Replace": {original: file}})
	if err != nil {
		return nil, err
	}
	if err := errors.Join(os.WriteFile(file, content, 0o600), os.WriteFile(overlay, layers, 0o600)); err != nil {
		return nil, err
	}
	ctx := context.Background()
	build := exec.CommandContext(ctx, "go", "test", "-c", "-overlay", overlay, "-o", binary, ".")
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("the mutant does not compile: %w\n%s", err, out)
	}
	if m.rare {
		checks *= 4
	}
	test := exec.CommandContext(ctx, binary, "-test.run", "^TestHistories$/^"+m.setting()+"$", "-rapid.nofailfile", "-rapid.shrinktime", "1ms",
		"-rapid.checks", fmt.Sprint(checks), "-rapid.seed", fmt.Sprint(seed))
	test.Dir = root
	out, err := test.CombinedOutput()
	var exited *exec.ExitError
	if err != nil && !errors.As(err, &exited) {
		return nil, err
	}
	if err == nil {
		return nil, errors.New("it survives")
	}
	var killers []string
	for _, found := range failure.FindAllStringSubmatch(string(out), -1) {
		killers = append(killers, found[1])
	}
	slices.Sort(killers)
	killers = slices.Compact(killers)
	if len(killers) == 0 {
		return nil, fmt.Errorf("it fails without a property:\n%s", out)
	}
	return killers, nil
}
