package report

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Limits of untrusted text, in characters. They keep one hostile line from filling a screen; the JSON document has all.
const (
	safeLimit    = 2000
	nameLimit    = 300
	excerptLimit = 800
	// commandLimit is far above any command that a runbook writes. A longer one is not shown at all: a command that was
	// cut must not be copied.
	commandLimit = 16000
	// marksLimit is how many combining marks may stand on one character; living scripts need three.
	marksLimit = 4
)

// Safe makes untrusted text fit for one line of a terminal or of a document. What a terminal would obey or hide is shown as
// an escape: control characters (ESC as \x1b, DEL as \x7f, C1 as \u009b), bidirectional controls, zero-width and other
// format characters (\u202e, \u200b), line and paragraph separators, private and unassigned code points, and bytes that are
// not UTF-8 (\xff). A line break becomes ⏎; a tab and every kind of space a single space character each. Text of more than
// 2000 characters is cut, and the cut is shown by an ellipsis.
//
// Safe(Safe(s)) == Safe(s), and printable text of one line comes back as it is.
func Safe(s string) string { return safeN(s, safeLimit) }

// safeN is [Safe] with another limit.
func safeN(s string, limit int) string {
	if plain(s) && len(s) <= limit {
		return s
	}
	var b strings.Builder
	n, marks := 0, 0
	put := func(t string) bool {
		n += utf8.RuneCountInString(t)
		if n <= limit {
			b.WriteString(t)
		}
		return n <= limit
	}
	s = strings.ReplaceAll(s, "\r\n", "\n")
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		out := s[i : i+size]
		switch {
		case r == utf8.RuneError && size == 1:
			out = fmt.Sprintf(`\x%02x`, s[i])
		case r == '\n':
			out = "⏎"
		case r == '\t' || unicode.Is(unicode.Zs, r):
			out = " "
		case unsafeRune(r):
			out = escapeRune(r)
		}
		if unicode.Is(unicode.M, r) {
			if marks++; marks > marksLimit {
				out = escapeRune(r)
			}
		} else {
			marks = 0
		}
		if !put(out) {
			return cut(b.String(), limit)
		}
		i += size
	}
	return b.String()
}

// cut shortens s, which is safe already, to at most limit characters with the ellipsis.
func cut(s string, limit int) string {
	for utf8.RuneCountInString(s) > limit-1 {
		_, size := utf8.DecodeLastRuneInString(s)
		s = s[:len(s)-size]
	}
	return s + "…"
}

// safeCommand makes a command or query fit to be shown and copied. Line breaks are kept, since a patch may have several
// lines; everything else that [Safe] would show as an escape is shown so here too. Values inside a command are quoted by
// whoever made the command.
func safeCommand(s string) []string {
	if utf8.RuneCountInString(s) > commandLimit {
		return []string{fmt.Sprintf("(a command of %d bytes is not shown here; -o json has it)", len(s))}
	}
	lines := strings.Split(strings.Trim(strings.ReplaceAll(s, "\r\n", "\n"), "\n"), "\n")
	for i, l := range lines {
		lines[i] = safeN(strings.TrimRight(l, " \t"), 10*commandLimit)
	}
	return lines
}

// safeQuery is [safeCommand] for what has one line: a query or a command whose values no shell quoting protects.
func safeQuery(s string) string {
	return strings.Join(safeCommand(strings.ReplaceAll(s, "\n", "⏎")), "")
}

// plain tells whether s is printable ASCII, which is most text.
func plain(s string) bool {
	for i := range len(s) {
		if s[i] < 0x20 || s[i] > 0x7e {
			return false
		}
	}
	return true
}

// unsafeRune tells whether a terminal might obey r, or not show it. Letters, marks, numbers, punctuation, symbols and
// spaces are graphic (unicode.IsGraphic); controls, format characters (bidi, zero-width, tags), the separators U+2028 and
// U+2029, private, unassigned and non-characters are not. The fillers are letters by class that show as nothing.
func unsafeRune(r rune) bool {
	switch r {
	case '\u115f', '\u1160', '\u3164', '\uffa0', '\u034f':
		return true
	}
	return !unicode.IsGraphic(r)
}

func escapeRune(r rune) string {
	switch {
	case r < 0x80:
		return fmt.Sprintf(`\x%02x`, r)
	case r <= 0xffff:
		return fmt.Sprintf(`\u%04x`, r)
	}
	return fmt.Sprintf(`\U%08x`, r)
}
