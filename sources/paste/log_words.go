package paste

import (
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// cleanLog takes away what surrounds a record: colours, Markdown's quote mark, the quotes of a JSON string.
func cleanLog(s string) string {
	if strings.IndexByte(s, 0x1b) >= 0 {
		s = ansi.Strip(s)
	}
	s = strings.TrimSpace(s)
	for strings.HasPrefix(s, "> ") {
		s = strings.TrimLeft(s[2:], " ")
	}
	i := strings.IndexByte(s, '"')
	if i < 0 {
		return s
	}
	if i == 0 {
		if end := endOfQuoted(s); end > 2 && (end == len(s) || s[end:] == ",") {
			return strings.TrimSpace(unescape(s[1 : end-1]))
		}
		return s
	}
	if s[i-1] == '\\' {
		// Cut out of a JSON string: every quote is escaped, save one that may close the string.
		s = strings.TrimSuffix(s, ",")
		if n := len(s); s[n-1] == '"' && s[n-2] != '\\' {
			s = s[:n-1]
		}
		return strings.TrimSpace(unescape(s))
	}
	return s
}

// endOfQuoted gives the index behind the quoted string at the start of s, 0 when it is not closed.
func endOfQuoted(s string) int {
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return 0
}

// unescape resolves \" \\ \n \t and \/; other escapes stay as they are, since a TLS hello is recognised by them.
func unescape(s string) string {
	i := strings.IndexByte(s, '\\')
	if i < 0 {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	for {
		b.WriteString(s[:i])
		s = s[i:]
		if len(s) < 2 {
			b.WriteString(s)
			return b.String()
		}
		switch s[1] {
		case '"', '\\', '/', '\'':
			b.WriteByte(s[1])
		case 'n':
			b.WriteByte('\n')
		case 't':
			b.WriteByte('\t')
		case 'r':
		default:
			b.WriteString(s[:2])
		}
		s = s[2:]
		if i = strings.IndexByte(s, '\\'); i < 0 {
			b.WriteString(s)
			return b.String()
		}
	}
}

// capText bounds s without cutting a rune.
func capText(s string) string {
	if len(s) <= maxMessage {
		return s
	}
	n := maxMessage
	for n > maxMessage-utf8.UTFMax && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// firstWord splits s behind its first word and drops the blanks between.
func firstWord(s string) (word, rest string) {
	for i := 0; i < len(s); i++ {
		if s[i] == ' ' || s[i] == '\t' {
			return s[:i], strings.TrimLeft(s[i:], " \t")
		}
	}
	return s, ""
}

func joinMessage(msg, tail string) string {
	tail = strings.TrimSpace(tail)
	switch {
	case tail == "":
		return msg
	case msg == "":
		return tail
	}
	return msg + " " + tail
}

// levelOf gives the level that a word of a log means, empty when it means none.
func levelOf(word string) string {
	var buf [12]byte
	if len(word) < 3 || len(word) > len(buf) {
		return ""
	}
	for i := range len(word) {
		buf[i] = word[i] | 0x20
	}
	switch string(buf[:len(word)]) {
	case "trace", "trce", "trc", "verbose", "vrb", "finest", "finer", "fine", "silly":
		return "TRACE"
	case "debug", "dbug", "dbg", "config":
		return "DEBUG"
	case "info", "information", "inf", "notice", "log":
		return "INFO"
	case "warn", "warning", "wrn":
		return "WARN"
	case "error", "err", "eror", "severe", "fail":
		return "ERROR"
	case "fatal", "panic", "dpanic", "critical", "crit", "emerg", "emergency", "alert", "ftl":
		return "FATAL"
	}
	return ""
}
