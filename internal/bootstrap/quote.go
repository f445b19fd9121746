package bootstrap

import "strings"

// quote makes one single-quoted word of POSIX sh, in which nothing is special but the quote itself. The value must hold
// no NUL, which no shell can hold.
func quote(value string) string {
	return "'" + strings.ReplaceAll(value, "'", `'\''`) + "'"
}
