package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"regexp"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const (
	root = "../.."
	docs = root + "/docs/proof.md"
)

var update = flag.Bool("update", false, "write the table of mutants into docs/proof.md")

// TestMutantsApply holds that every mutant still applies to the function as it is.
func TestMutantsApply(t *testing.T) {
	properties := map[string]bool{}
	for _, m := range mutants {
		properties[m.property] = true
		if _, err := m.mutated(root); err != nil {
			t.Error(err)
		}
	}
	for _, p := range []string{deletion, convergence, refreshes, rotation, stillness, capacity} {
		if !properties[p] {
			t.Errorf("no mutant shows that property %s bites", p)
		}
	}
}

// TestMutantsAreDocumented holds the table in docs/proof.md against the list.
func TestMutantsAreDocumented(t *testing.T) {
	var want bytes.Buffer
	want.WriteString("| a function that | breaks property |\n| --- | --- |\n")
	for _, m := range mutants {
		fmt.Fprintf(&want, "| %s | %s |\n", m.name, m.property)
	}
	b, err := os.ReadFile(docs)
	if err != nil {
		t.Fatal(err)
	}
	table := regexp.MustCompile(`(?m)^\| a function that \|(.*\n\|)*.*\n`)
	if *update {
		b = table.ReplaceAllLiteral(b, want.Bytes())
		if err := os.WriteFile(docs, b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(want.String(), string(table.Find(b))); diff != "" {
		t.Errorf("docs/proof.md, -want, +got (go test ./test/mutants -update writes it):\n%s", diff)
	}
}
