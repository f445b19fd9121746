package aws

import (
	"strings"
	"unicode"
)

// oneLine is what may be shown of others' text: its printable characters, in one line and without spaces at its ends, at
// most maxTextRunes of them. What is longer ends with three dots.
func oneLine(s string) string {
	const dots = "..."
	var out strings.Builder
	n, space := 0, false
	// keep is where the text is cut if it turns out to be too long.
	keep := 0
	for _, r := range s {
		switch {
		case unicode.IsSpace(r):
			space = n > 0
			continue
		case !unicode.IsPrint(r):
			continue
		}
		if space {
			n++
			out.WriteByte(' ')
		}
		n, space = n+1, false
		if n > maxTextRunes {
			return out.String()[:keep] + dots
		}
		out.WriteRune(r)
		if n <= maxTextRunes-len(dots) {
			keep = out.Len()
		}
	}
	return out.String()
}
