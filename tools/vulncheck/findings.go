package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
)

// stdlib is how govulncheck calls the module of Go itself.
const stdlib = "stdlib"

// A finding is one vulnerability of a module that is in the program, as deep as it was found.
type finding struct {
	ID, Module, Version string
	// Fixed is the first version without it; empty when there is none.
	Fixed string
	// Summary of what is wrong.
	Summary string
	// Linked says that a function that is vulnerable is in the program.
	Linked bool
}

// A message is one of govulncheck's stream, as far as it is read. See https://pkg.go.dev/golang.org/x/vuln/internal/govulncheck.
type message struct {
	OSV *struct {
		ID      string `json:"id"`
		Summary string `json:"summary"`
	} `json:"osv"`
	Finding *struct {
		OSV   string `json:"osv"`
		Fixed string `json:"fixed_version"` //nolint:tagliatelle // Govulncheck's own name.
		Trace []struct {
			Module   string `json:"module"`
			Version  string `json:"version"`
			Function string `json:"function"`
		} `json:"trace"`
	} `json:"finding"`
}

// findings of govulncheck's JSON stream, sorted. It tells each one up to three times: of its module, package and functions.
func findings(r io.Reader) ([]finding, error) {
	all, summaries := map[string]finding{}, map[string]string{}
	for d := json.NewDecoder(r); ; {
		m := message{}
		if err := d.Decode(&m); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, err
		}
		if m.OSV != nil {
			summaries[m.OSV.ID] = m.OSV.Summary
		}
		if m.Finding == nil || len(m.Finding.Trace) == 0 {
			continue
		}
		at := m.Finding.Trace[0]
		key := m.Finding.OSV + " " + at.Module
		all[key] = finding{
			ID: m.Finding.OSV, Module: at.Module, Version: at.Version, Fixed: m.Finding.Fixed,
			Linked: all[key].Linked || at.Function != "",
		}
	}
	out := make([]finding, 0, len(all))
	for _, key := range slices.Sorted(maps.Keys(all)) {
		f := all[key]
		f.Summary = summaries[f.ID]
		out = append(out, f)
	}
	return out, nil
}

// judge says what was found, and errs if a newer version of a module would end any of it.
func judge(found []finding, out io.Writer) error {
	curable, ofGo := 0, 0
	for _, f := range found {
		fixed, linked := "no version without it", "not in the program"
		if f.Fixed != "" {
			fixed = "fixed in " + f.Fixed
		}
		if f.Linked {
			linked = "in the program"
		}
		fmt.Fprintf(out, "  %s  %s %s, %s, %s: %s\n", f.ID, f.Module, f.Version, fixed, linked, f.Summary)
		switch {
		case f.Module == stdlib:
			ofGo++
		case f.Fixed != "":
			curable++
		}
	}
	if ofGo > 0 {
		fmt.Fprintf(out, "%d of Go itself: build what you run with a newer Go\n", ofGo)
	}
	if curable > 0 {
		return fmt.Errorf("%d of modules that have a version without it: go get <module>@<version>", curable)
	}
	fmt.Fprintf(out, "none of a module that has a version without it\n")
	return nil
}
