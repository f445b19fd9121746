package condition

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestMessage(t *testing.T) {
	cases := map[string]struct {
		reason string
		args   string
		want   string
	}{
		"Plain":     {reason: "A line stays as it is.", args: "spec.replicas: must be ≥ 0", want: "spec.replicas: must be ≥ 0"},
		"Empty":     {reason: "So does nothing.", args: "", want: ""},
		"Newlines":  {reason: "Lines become one.", args: "a\nb\r\nc\u2028d", want: "a b  c d"},
		"Escapes":   {reason: "A terminal gets no commands.", args: "a\x1b[2Jb\x00", want: "a [2Jb "},
		"Direction": {reason: "Nor does a text turn the direction of what follows.", args: "a\u202eb", want: "a b"},
		"NotUTF8":   {reason: "Bytes that are no text become one blank.", args: "a\xff\xfeb", want: "a b"},
		"Fits":      {reason: "The longest line is whole.", args: strings.Repeat("x", MaxMessageLength), want: strings.Repeat("x", MaxMessageLength)},
		"Long":      {reason: "A longer one is cut, and says so.", args: strings.Repeat("x", MaxMessageLength+1), want: strings.Repeat("x", MaxMessageLength-len(cutMark)) + cutMark},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := Message(tc.args); got != tc.want {
				t.Errorf("\n%s\nMessage(...): want %q, got %q", tc.reason, tc.want, got)
			}
		})
	}
}

// TestMessageAlways holds that whatever is put into a message, it is one line that fits, and that it does not change when it is
// put into another one alone.
func TestMessageAlways(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := string(rapid.SliceOfN(rapid.Byte(), 0, 300).Draw(t, "bytes"))
		if rapid.Bool().Draw(t, "long") {
			text = strings.Repeat(text+rapid.String().Draw(t, "text"), 20)
		}
		got := Message(text)
		if len(got) > MaxMessageLength || !utf8.ValidString(got) || strings.ContainsFunc(got, func(r rune) bool { return !unicode.IsPrint(r) }) {
			t.Errorf("Message(%q): %q", text, got)
		}
		if again := Message(got); again != got {
			t.Errorf("Message(%q): %q, and of that %q", text, got, again)
		}
	})
}
