// Package shell quotes untrusted words for a POSIX shell. It runs nothing.
package shell

import "strings"

// Quote gives word as a single shell word. Words of harmless characters stay as they are, so that commands stay readable.
func Quote(word string) string {
	if word != "" && strings.IndexFunc(word, needsQuote) < 0 {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

func needsQuote(r rune) bool {
	switch {
	case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9':
		return false
	}
	return !strings.ContainsRune("-_./:@%+,=", r)
}
