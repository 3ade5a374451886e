package report

import (
	"strings"
	"unicode/utf8"
)

// mdText escapes one line of text, which [Safe] has made, for GitHub flavoured Markdown, so that it says what it says: no
// HTML, no emphasis, no link, image, reference, mention or formula comes out of it. A word that a renderer might turn into
// a link or a mention (it has "://", "@", "www." or "#" and a digit) becomes a code span, since no escape stops that.
//
// The result must not begin a block: callers put a mark, a word or a bullet of their own before it.
func mdText(s string) string {
	words := strings.Split(s, " ")
	for i, w := range words {
		if linkish(w) {
			words[i] = code(w)
		} else {
			words[i] = escapeWord(w)
		}
	}
	return strings.Join(words, " ")
}

// linkish tells whether a renderer might make a link or a mention of w.
func linkish(w string) bool {
	low := strings.ToLower(w)
	if strings.Contains(low, "://") || strings.Contains(low, "www.") || strings.Contains(low, "@") {
		return true
	}
	for _, scheme := range []string{"mailto:", "xmpp:", "javascript:", "data:"} {
		if strings.Contains(low, scheme) {
			return true
		}
	}
	_, after, found := strings.Cut(w, "#")
	return found && after != "" && after[0] >= '0' && after[0] <= '9'
}

func escapeWord(w string) string {
	var b strings.Builder
	for i, r := range w {
		switch r {
		case '&':
			b.WriteString("&amp;")
		case '<':
			b.WriteString("&lt;")
		case '>':
			b.WriteString("&gt;")
		case '_':
			// Inside a word GitHub takes it as it is, and so does a person who reads the raw text.
			if i == 0 || i == len(w)-1 || !wordByte(w[i-1]) || !wordByte(w[i+1]) {
				b.WriteByte('\\')
			}
			b.WriteByte('_')
		case '\\', '`', '*', '[', ']', '|', '~', '$', '!', '#':
			b.WriteByte('\\')
			b.WriteRune(r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

func wordByte(c byte) bool {
	return isLetter(c) || c >= '0' && c <= '9' || c >= utf8.RuneSelf
}

// code is a code span around s: its fence is longer than any run of backticks inside, and it has spaces where s begins or
// ends with one. An empty s gives the empty string.
func code(s string) string {
	if s == "" {
		return ""
	}
	fence := "`"
	for strings.Contains(s, fence) {
		fence += "`"
	}
	if s[0] == '`' || s[len(s)-1] == '`' || s[0] == ' ' && s[len(s)-1] == ' ' {
		s = " " + s + " "
	}
	return fence + s + fence
}
