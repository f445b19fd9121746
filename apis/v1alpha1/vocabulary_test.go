package v1alpha1

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strings"
	"testing"
)

// TestVocabularyIsNamedAfterItsValues holds that a constant's name tells its value, so that both are found by one search.
func TestVocabularyIsNamedAfterItsValues(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "vocabulary.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		found++
		name, value := spec.Names[0].Name, strings.Trim(spec.Values[0].(*ast.BasicLit).Value, `":`)
		for _, prefix := range []string{"Condition", "Reason", "Phase", "Health"} {
			if rest, ok := strings.CutPrefix(name, prefix); ok && strings.EqualFold(rest, value) {
				return true
			}
		}
		t.Errorf("%s has the value %q", name, value)
		return true
	})
	if found < 60 {
		t.Errorf("found %d constants, want all of them", found)
	}
}
