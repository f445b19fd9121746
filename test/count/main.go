// Command count makes `go test -json` readable and counts what ran: a line for
// each package, everything that a failed test printed, and at the end how many
// tests passed and failed. It fails if a test failed, a package did not build, or
// nothing ran at all.
//
//	go test -json ./... | go run ./test/count -tally /tmp/tally
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
)

func main() {
	tally := flag.String("tally", "", "a `file` to write \"<passed> <failed> <skipped>\" to")
	flag.Parse()

	if err := run(os.Stdin, os.Stdout, *tally); err != nil {
		fmt.Fprintln(os.Stderr, "count:", err)
		os.Exit(1)
	}
}

func run(in io.Reader, out io.Writer, tally string) error {
	c := newCounter(out)
	if err := c.read(in); err != nil {
		return err
	}

	fmt.Fprintf(out, "\nTests that passed: %d, failed: %d, skipped: %d\n", c.passed, c.failed, c.skipped)

	if tally != "" {
		line := fmt.Sprintf("%d %d %d\n", c.passed, c.failed, c.skipped)
		if err := os.WriteFile(tally, []byte(line), 0o600); err != nil {
			return err
		}
	}

	switch {
	case c.failed > 0:
		return fmt.Errorf("%d failed", c.failed)
	case c.passed == 0:
		return errors.New("no test ran")
	default:
		return nil
	}
}

// An event is a line of `go test -json`; see `go doc test2json`.
type event struct {
	Action      string
	Package     string
	ImportPath  string // of what did not build
	Test        string
	Output      string
	Elapsed     float64
	FailedBuild string
}

// A test is a test, or a package where its name is empty.
type test struct{ pkg, name string }

// A counter counts the tests of one run.
type counter struct {
	out     io.Writer
	passed  int
	failed  int
	skipped int

	output map[test]string   // of what has not ended yet
	builds map[string]string // what the compiler said and was not shown yet, by import path
	failedIn,
	ranIn map[string]int // by package
}

func newCounter(out io.Writer) *counter {
	return &counter{
		out:      out,
		output:   map[test]string{},
		builds:   map[string]string{},
		failedIn: map[string]int{},
		ranIn:    map[string]int{},
	}
}

func (c *counter) read(in io.Reader) error {
	lines := bufio.NewReader(in)

	for {
		line, err := lines.ReadBytes('\n')
		if len(line) > 0 {
			c.line(line)
		}

		if errors.Is(err, io.EOF) {
			return nil
		}

		if err != nil {
			return err
		}
	}
}

// line counts a line, or shows it if it is none of go test's.
func (c *counter) line(line []byte) {
	var e event
	if err := json.Unmarshal(line, &e); err != nil { //nolint:musttag // The names are test2json's.
		fmt.Fprintf(c.out, "%s", line)
		return
	}

	t := test{pkg: e.Package, name: e.Test}

	switch {
	case e.Action == "output":
		c.output[t] += e.Output
	case e.Action == "build-output":
		c.builds[e.ImportPath] += e.Output
	case t.name == "":
		c.packageEnded(e)
	default:
		c.testEnded(t, e.Action)
	}
}

func (c *counter) testEnded(t test, action string) {
	switch action {
	case "pass":
		c.passed++
		c.ranIn[t.pkg]++
	case "skip":
		c.skipped++
		fmt.Fprint(c.out, c.output[t])
	case "fail":
		c.failed++
		c.failedIn[t.pkg]++
		fmt.Fprint(c.out, c.output[t])
	default:
		return
	}

	delete(c.output, t)
}

func (c *counter) packageEnded(e event) {
	switch e.Action {
	case "pass":
		fmt.Fprintf(c.out, "ok    %s  %d tests  %.1fs\n", e.Package, c.ranIn[e.Package], e.Elapsed)
	case "fail":
		// A package that fails with none of its tests did not build, or crashed.
		if c.failedIn[e.Package] == 0 {
			c.failed++

			fmt.Fprint(c.out, c.builds[e.FailedBuild], c.unfinished(e.Package))
			delete(c.builds, e.FailedBuild)
		}

		fmt.Fprint(c.out, withoutVerdict(c.output[test{pkg: e.Package}]))
		fmt.Fprintf(c.out, "FAIL  %s  %.1fs\n", e.Package, e.Elapsed)
	}
}

// withoutVerdict is what a package printed but for go test's own lines, which say
// no more than ours.
func withoutVerdict(printed string) string {
	var out strings.Builder

	for line := range strings.Lines(printed) {
		if line != "FAIL\n" && !strings.HasPrefix(line, "FAIL\t") {
			out.WriteString(line)
		}
	}

	return out.String()
}

// unfinished is what the tests of a package printed that never ended.
func (c *counter) unfinished(pkg string) string {
	var out strings.Builder

	for t, printed := range c.output {
		if t.pkg == pkg && t.name != "" {
			out.WriteString(printed)
		}
	}

	return out.String()
}
