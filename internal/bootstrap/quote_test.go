package bootstrap

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestQuote(t *testing.T) {
	cases := map[string]struct {
		reason string
		args   string
		want   string
	}{
		"Empty":     {reason: "An empty word is a word.", args: "", want: "''"},
		"Plain":     {reason: "Everything is quoted, so that every line looks alike.", args: "a", want: "'a'"},
		"Expansion": {reason: "Nothing expands within single quotes.", args: "$(id)`id`$HOME", want: "'$(id)`id`$HOME'"},
		"Quote":     {reason: "A quote is written outside of the quotes.", args: "it's", want: `'it'\''s'`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, quote(tc.args)); diff != "" {
				t.Errorf("\n%s\nquote(%q): -want, +got:\n%s", tc.reason, tc.args, diff)
			}
		})
	}
}

// TestQuoteRoundTrip: the machine's sh reads back any value but NUL as one word.
func TestQuoteRoundTrip(t *testing.T) {
	sh := shell(t)
	rapid.Check(t, func(t *rapid.T) {
		value := strings.ReplaceAll(rapid.OneOf(
			rapid.String(),
			rapid.StringOf(rapid.SampledFrom([]rune("'\"\\$`\n\t;&|() a"))),
			rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) }),
		).Draw(t, "value"), "\x00", "")
		cmd := exec.Command(sh)
		cmd.Stdin = strings.NewReader("set -- " + quote(value) + "\n" + `printf '%s %s.' "$#" "$1"`)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("sh: %v\n%s", err, out)
		}
		if diff := cmp.Diff("1 "+value+".", string(out)); diff != "" {
			t.Fatalf("what sh reads: -want, +got:\n%s", diff)
		}
	})
}
