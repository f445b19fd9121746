package main

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// TestSecurityNamesItsTests holds that each test that SECURITY.md names is in the file that it names.
func TestSecurityNamesItsTests(t *testing.T) {
	doc, err := os.ReadFile("SECURITY.md")
	if err != nil {
		t.Fatal(err)
	}
	named := regexp.MustCompile(`\[((?:Test|Fuzz|Benchmark)\w+)\]\(([^)]+)\)`).FindAllStringSubmatch(string(doc), -1)
	if len(named) < 40 {
		t.Errorf("SECURITY.md names only %d tests", len(named))
	}
	for _, n := range named {
		name, path := n[1], filepath.FromSlash(n[2])
		source, err := os.ReadFile(path)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if !regexp.MustCompile(`(?m)^func ` + name + `\(`).Match(source) {
			t.Errorf("%s is not in %s", name, path)
		}
	}
}
