package evidence

import (
	"strings"
	"time"
)

// decoration is what people and chats put around a message.
const decoration = " \t\r\n\"'`*_>“”‘’"

// leadDecoration is what may stand before one: decoration and the marks of list items.
const leadDecoration = decoration + "-•"

// undecorate strips the outer decoration and the prefixes that the kubelet and kubectl put before a message.
func undecorate(s string) string {
	inner := strings.TrimLeft(s, leadDecoration)
	lead := s[:len(s)-len(inner)]
	return strings.TrimSpace(trimDecoration(cutKnownPrefixes(inner), lead))
}

// trimDecoration strips from the end of s what stood before its beginning: as many quotes as there were, and all of
// the Markdown marks.
func trimDecoration(s, lead string) string {
	s = strings.TrimRight(s, " \t\r\n")
	for s != "" && lead != "" {
		c := s[len(s)-1]
		i := strings.IndexByte(lead, c)
		if i < 0 || c >= 0x80 || c == '-' {
			break
		}
		if c != '*' && c != '_' {
			lead = lead[:i] + lead[i+1:]
		}
		s = strings.TrimRight(s[:len(s)-1], " \t\r\n")
	}
	for _, pair := range [...][2]string{{"“", "”"}, {"‘", "’"}} {
		if strings.Contains(lead, pair[0]) {
			s = strings.TrimSuffix(s, pair[1])
		}
	}
	return s
}

// cutKnownPrefixes removes "(combined from similar events): " and "spec.containers{name}: ".
func cutKnownPrefixes(s string) string {
	for range 4 {
		s = strings.TrimLeft(s, " \t")
		if rest, ok := strings.CutPrefix(s, "(combined from similar events):"); ok {
			s = rest
			continue
		}
		if strings.HasPrefix(s, "spec.") {
			if i := strings.Index(s, "}:"); i > 0 && !strings.ContainsAny(s[:i], " \t\n") {
				s = s[i+len("}:"):]
				continue
			}
		}
		break
	}
	return s
}

// cutElision removes the dots with which somebody shortened the beginning of a text. Three dots that begin a masked
// path or address are left.
func cutElision(s string) (string, bool) {
	rest := strings.TrimLeft(s, ".…")
	if len(s)-len(rest) < 3 || !strings.HasPrefix(rest, " ") {
		return s, false
	}
	return strings.TrimLeft(rest, " "), true
}

// unescapeQuotes turns \" into ", as in a message that was cut out of JSON.
func unescapeQuotes(s string) string {
	if !strings.Contains(s, `\"`) {
		return s
	}
	return strings.ReplaceAll(s, `\"`, `"`)
}

// cutTo stores what follows the prefix in rest.
func cutTo(s, prefix string, rest *string) bool {
	after, ok := strings.CutPrefix(s, prefix)
	if ok {
		*rest = after
	}
	return ok
}

// hasPrefixFold is strings.HasPrefix without regard to ASCII case.
func hasPrefixFold(s, prefix string) bool {
	return len(s) >= len(prefix) && strings.EqualFold(s[:len(prefix)], prefix)
}

// minCut is how many bytes of a phrase must be left for a text that was cut off to be recognised.
const minCut = 12

// begins tells whether s begins with the phrase, or is the phrase with its end cut off.
func begins(s, phrase string) bool {
	if strings.HasPrefix(s, phrase) {
		return true
	}
	if len(s) > len(phrase)+len("…") || len(s) < minCut {
		return false
	}
	s = strings.TrimRight(s, ".… \t\"'`*_")
	return len(s) >= minCut && strings.HasPrefix(phrase, s)
}

// containsAny tells whether s contains one of the phrases.
func containsAny(s string, phrases ...string) bool {
	for _, p := range phrases {
		if strings.Contains(s, p) {
			return true
		}
	}
	return false
}

// lowerASCII is s in lower case with every byte in its place: strings.ToLower changes the length of some texts.
func lowerASCII(s string) string {
	b := []byte(s)
	for i, c := range b {
		if c >= 'A' && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
	return string(b)
}

func isLetter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }
func isDigit(c byte) bool  { return c >= '0' && c <= '9' }

// number reads the decimal number at the beginning of s, 0 when there is none or it has more than 5 digits.
func number(s string) int {
	n, i := 0, 0
	for ; i < len(s) && isDigit(s[i]); i++ {
		if i == 5 {
			return 0
		}
		n = n*10 + int(s[i]-'0')
	}
	return n
}

// durationAfter reads the Go duration that follows the phrase ("within 1s").
func durationAfter(s, phrase string) time.Duration {
	i := strings.LastIndex(s, phrase)
	if i < 0 {
		return 0
	}
	word := s[i+len(phrase):]
	end := 0
	for end < len(word) && (isDigit(word[end]) || isLetter(word[end]) || word[end] == '.' && end+1 < len(word) && isDigit(word[end+1]) || word[end] >= 0x80) {
		end++
	}
	d, err := time.ParseDuration(word[:end])
	if err != nil || d < 0 {
		return 0
	}
	return d
}
