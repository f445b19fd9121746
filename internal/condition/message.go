package condition

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/crossplane-contrib/function-aws-machinepool/apis/v1alpha1"
)

// MaxMessageLength of a message, in bytes. Ten errors with their paths fit into it. A condition could hold 16 times as much
// (https://pkg.go.dev/k8s.io/apimachinery/pkg/apis/meta/v1#Condition), but nobody reads so much.
const MaxMessageLength = v1alpha1.MaxMessageLength

// cutMark ends a message that was cut.
const cutMark = " ..."

// Message returns a text as one line of at most MaxMessageLength bytes, without characters that a terminal could take for
// commands. Messages are made of others' texts as well: of names, and of what AWS says.
func Message(text string) string {
	if len(text) <= MaxMessageLength && strings.IndexFunc(text, isUnprintable) < 0 {
		return text
	}
	// A message is cut before it is cleaned: what is cut away costs nothing.
	cut := len(text) > MaxMessageLength
	if cut {
		end := MaxMessageLength - len(cutMark)
		for end > 0 && !utf8.RuneStart(text[end]) {
			end--
		}
		text = text[:end]
	}
	text = strings.Map(func(r rune) rune {
		if isUnprintable(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, " "))
	if cut {
		text += cutMark
	}
	return text
}

// isUnprintable reports whether a character is none that a line shows: a control character, a line or paragraph separator, one
// that changes the direction of what follows.
func isUnprintable(r rune) bool { return r == utf8.RuneError || !unicode.IsPrint(r) }
