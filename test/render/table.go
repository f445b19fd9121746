package main

import (
	"strings"
	"unicode/utf8"
)

// width is how wide a table may get before its last column wraps.
const width = 130

// table lays rows out in columns. The last column wraps.
func table(rows [][]string) string {
	if len(rows) == 0 {
		return ""
	}

	last := len(rows[0]) - 1
	widths := make([]int, last)

	for _, row := range rows {
		for i := range widths {
			widths[i] = max(widths[i], utf8.RuneCountInString(row[i]))
		}
	}

	left := 2
	for _, w := range widths {
		left += w + 2
	}

	var out strings.Builder

	for _, row := range rows {
		var line strings.Builder

		line.WriteString("  ")

		for i, w := range widths {
			line.WriteString(row[i] + strings.Repeat(" ", w-utf8.RuneCountInString(row[i])+2))
		}

		for i, part := range wrap(row[last], width-left) {
			if i > 0 {
				line.WriteString("\n" + strings.Repeat(" ", left))
			}

			line.WriteString(part)
		}

		out.WriteString(strings.TrimRight(line.String(), " ") + "\n")
	}

	return out.String()
}

// wrap breaks text between words into lines of a length, at least of one word.
func wrap(text string, length int) []string {
	lines := []string{""}

	for word := range strings.FieldsSeq(text) {
		line := &lines[len(lines)-1]

		switch {
		case *line == "":
			*line = word
		case utf8.RuneCountInString(*line)+1+utf8.RuneCountInString(word) <= length:
			*line += " " + word
		default:
			lines = append(lines, word)
		}
	}

	return lines
}

// indent moves each line of text to the right.
func indent(text string) string {
	return "  " + strings.ReplaceAll(strings.TrimRight(text, "\n"), "\n", "\n  ") + "\n"
}
