// Command prose holds the language of the project: no sentence of a page or of a doc comment has more than 35 words, and none has a word
// of the list below. Who reads them is no native speaker, and tired.
//
//	go run ./tools/prose
package main

import (
	"bytes"
	"context"
	"fmt"
	"go/ast"
	"go/doc/comment"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"regexp"
	"strings"
)

// maxWords of a sentence.
const maxWords = 35

// avoided are words and phrases, with what to write instead.
//
//nolint:gochecknoglobals // A constant, if Go had them of maps.
var avoided = map[string]string{
	"mend":        "fix",
	"mended":      "fixed",
	"heed":        "follow, or obey",
	"heeds":       "follows, or obeys",
	"let off":     "ignored",
	"lets off":    "ignores",
	"utilize":     "use",
	"leverage":    "use",
	"in order to": "to",
}

func main() {
	out, err := exec.CommandContext(context.Background(), "git", "ls-files", "*.md", "*.go").Output()
	if err != nil {
		fmt.Fprintln(os.Stderr, "prose: cannot list files:", err)
		os.Exit(1)
	}
	found := 0
	for path := range strings.FieldsSeq(string(out)) {
		b, err := os.ReadFile(path)
		if err != nil {
			fmt.Fprintln(os.Stderr, "prose:", err)
			os.Exit(1)
		}
		for _, problem := range problems(path, b) {
			fmt.Printf("%s: %s\n", path, problem)
			found++
		}
	}
	if found > 0 {
		fmt.Printf("%d sentences to make shorter or plainer\n", found)
		os.Exit(1)
	}
}

// problems of a file's sentences. Generated code has none.
func problems(path string, content []byte) []string {
	var paragraphs []string
	switch {
	case path == "tools/prose/main.go" || path == "tools/prose/main_test.go" || bytes.Contains(content, []byte("// Code generated ")):
	case strings.HasSuffix(path, ".md"):
		paragraphs = paragraphsOfPage(string(content))
	default:
		paragraphs = paragraphsOfComments(content)
	}
	var out []string
	for _, p := range paragraphs {
		for _, s := range sentences(p) {
			out = append(out, problemsOf(s)...)
		}
	}
	return out
}

func problemsOf(sentence string) []string {
	var out []string
	if n := len(word.FindAllString(sentence, -1)); n > maxWords {
		out = append(out, fmt.Sprintf("%d words, more than %d: %s", n, maxWords, sentence))
	}
	padded := " " + strings.ToLower(sentence) + " "
	for avoid, instead := range avoided {
		if at := strings.Index(padded, " "+avoid); at >= 0 && !isLetter(padded[at+1+len(avoid)]) {
			out = append(out, fmt.Sprintf("%q, write %s: %s", avoid, instead, sentence))
		}
	}
	return out
}

func isLetter(c byte) bool { return c >= 'a' && c <= 'z' }

var (
	word      = regexp.MustCompile(`[\pL\pN'’/_.-]+`)
	codeBlock = regexp.MustCompile("(?s)```.*?```")
	codeSpan  = regexp.MustCompile("`[^`]*`")
	// marker is for a generator, and no prose.
	marker = regexp.MustCompile(`(?m)^\+.*$`)
	link   = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)
	// item begins a paragraph of its own within a block of lines.
	item = regexp.MustCompile(`\n[ \t]*(?:[-*] |[|#]|[0-9]+\. )`)
	// end of a sentence is where the next one begins with a capital or with what stands for one.
	end = regexp.MustCompile("[.!?][)\"*]*\\s+[\\p{Lu}`\"*(\\[{]")
)

// paragraphsOfPage of Markdown: cells of tables and items of lists are paragraphs too.
func paragraphsOfPage(page string) []string {
	page = codeBlock.ReplaceAllString(page, "")
	page = item.ReplaceAllStringFunc(page, func(s string) string { return "\n\n" + strings.TrimPrefix(s, "\n") })
	var out []string
	for block := range strings.SplitSeq(page, "\n\n") {
		block = link.ReplaceAllString(codeSpan.ReplaceAllString(block, "X"), "$1")
		for cell := range strings.SplitSeq(block, "|") {
			out = append(out, strings.Join(strings.Fields(cell), " "))
		}
	}
	return out
}

// paragraphsOfComments are those of a file's doc comments, without lists and code.
func paragraphsOfComments(source []byte) []string {
	file, err := parser.ParseFile(token.NewFileSet(), "", source, parser.ParseComments)
	if err != nil {
		return nil
	}
	var out []string
	add := func(g *ast.CommentGroup) {
		if g == nil {
			return
		}
		var p comment.Parser
		for _, block := range p.Parse(marker.ReplaceAllString(g.Text(), "")).Content {
			if paragraph, ok := block.(*comment.Paragraph); ok {
				out = append(out, codeSpan.ReplaceAllString(plain(paragraph.Text), "X"))
			}
		}
	}
	add(file.Doc)
	ast.Inspect(file, func(n ast.Node) bool {
		switch d := n.(type) {
		case *ast.FuncDecl:
			add(d.Doc)
		case *ast.GenDecl:
			add(d.Doc)
		case *ast.TypeSpec:
			add(d.Doc)
		case *ast.ValueSpec:
			add(d.Doc)
		case *ast.Field:
			add(d.Doc)
		}
		return true
	})
	return out
}

func plain(text []comment.Text) string {
	var b strings.Builder
	for _, t := range text {
		switch t := t.(type) {
		case comment.Plain:
			b.WriteString(string(t))
		case comment.Italic:
			b.WriteString(string(t))
		case *comment.Link:
			b.WriteString(plain(t.Text))
		case *comment.DocLink:
			b.WriteString(plain(t.Text))
		}
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

// sentences of a paragraph.
func sentences(paragraph string) []string {
	var out []string
	for {
		at := end.FindStringIndex(paragraph)
		if at == nil {
			return append(out, paragraph)
		}
		cut := at[0] + strings.IndexAny(paragraph[at[0]:], " \t")
		out = append(out, paragraph[:cut])
		paragraph = strings.TrimSpace(paragraph[cut:])
	}
}
