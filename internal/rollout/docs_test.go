package rollout

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestDocumentation holds the table of phases and reasons in docs/rollouts.md, and its diagram, against the constants: none
// is missing there, and nothing is there that does not exist.
func TestDocumentation(t *testing.T) {
	b, err := os.ReadFile("../../docs/rollouts.md")
	if err != nil {
		t.Fatal(err)
	}
	documented := map[string]map[string]bool{"Phase": {}, "Reason": {}}
	for _, row := range regexp.MustCompile("(?m)^\\| (?:`(\\w+)`)? ?\\| `(\\w+)` \\|").FindAllStringSubmatch(string(b), -1) {
		if row[1] != "" {
			documented["Phase"][row[1]] = true
		}
		documented["Reason"][row[2]] = true
	}
	declared := constants(t)
	if diff := cmp.Diff(declared, documented); diff != "" {
		t.Errorf("phases and reasons, -declared, +documented:\n%s", diff)
	}
	drawn := map[string]bool{}
	for _, edge := range regexp.MustCompile(`(?m)^ +(\w+) --> (\w+)`).FindAllStringSubmatch(string(b), -1) {
		drawn[edge[1]], drawn[edge[2]] = true, true
	}
	if diff := cmp.Diff(declared["Phase"], drawn); diff != "" {
		t.Errorf("phases, -declared, +drawn:\n%s", diff)
	}
}

// constants of the types Phase and Reason, by type.
func constants(t *testing.T) map[string]map[string]bool {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "machine.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]map[string]bool{"Phase": {}, "Reason": {}}
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		of, ok := spec.Type.(*ast.Ident)
		if !ok || out[of.Name] == nil {
			return true
		}
		for _, v := range spec.Values {
			// The constants of the API are called after their values.
			if api, ok := v.(*ast.SelectorExpr); ok {
				out[of.Name][strings.TrimPrefix(api.Sel.Name, of.Name)] = true
			}
		}
		return true
	})
	return out
}
