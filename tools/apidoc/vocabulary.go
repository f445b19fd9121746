package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

const vocabularyHeader = `## Conditions, reasons, phases and states

Go programs find them as constants in ` + "`apis/v1alpha1`" + `.

`

// writeVocabulary writes a table for each group of constants in a Go file: their values, and what their comments say.
func writeVocabulary(b *strings.Builder, path string) error {
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments)
	if err != nil {
		return fmt.Errorf("cannot parse vocabulary: %w", err)
	}
	b.WriteString(vocabularyHeader)
	for _, d := range file.Decls {
		group, ok := d.(*ast.GenDecl)
		if !ok || group.Tok != token.CONST {
			continue
		}
		fmt.Fprintf(b, "%s\n\n| value | meaning |\n| --- | --- |\n", prose(group.Doc.Text()))
		for _, s := range group.Specs {
			if err := writeConstant(b, s.(*ast.ValueSpec)); err != nil { //nolint:forcetypeassert // A constant is one.
				return err
			}
		}
		b.WriteString("\n")
	}
	return nil
}

func writeConstant(b *strings.Builder, c *ast.ValueSpec) error {
	name := c.Names[0].Name
	literal, ok := c.Values[0].(*ast.BasicLit)
	if !ok {
		return fmt.Errorf("constant %s is no literal", name)
	}
	value, err := strconv.Unquote(literal.Value)
	if err != nil {
		return fmt.Errorf("cannot read constant %s: %w", name, err)
	}
	meaning, ok := strings.CutPrefix(prose(c.Doc.Text()), name+" ")
	if !ok {
		return fmt.Errorf("the comment of constant %s does not begin with its name", name)
	}
	meaning = strings.TrimPrefix(strings.TrimPrefix(strings.TrimPrefix(meaning, "says "), "that "), "is ")
	first, size := utf8.DecodeRuneInString(meaning)
	fmt.Fprintf(b, "| `%s` | %c%s |\n", value, unicode.ToUpper(first), meaning[size:])
	return nil
}
