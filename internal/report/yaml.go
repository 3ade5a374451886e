package report

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode/utf8"

	"github.com/probedoctor/probedoctor/rules"
)

// marshalYAML writes the same document as [marshalJSON], with the same order of keys, as YAML in block style.
//
// It is written here and not by the YAML library that reads the project's files: that one quotes a key or a string only
// where it would misread it itself, which leaves raw control characters and words that other readers take for a bool or a
// number. Here a string is plain only if no reader can mistake it, else it is in double quotes with JSON's escapes, all of
// which YAML has.
func marshalYAML(list *rules.DiagnosisList) ([]byte, error) {
	doc, err := marshalJSON(list)
	if err != nil {
		return nil, err
	}
	w := yamlWriter{dec: json.NewDecoder(bytes.NewReader(doc))}
	w.dec.UseNumber()
	if err := w.value(0, false); err != nil {
		return nil, err
	}
	return w.out, nil
}

// yamlWriter turns the tokens of a JSON document into YAML.
type yamlWriter struct {
	dec *json.Decoder
	out []byte
}

// value writes the next value behind a key ("key:"), behind a dash ("-", inList) or at the beginning of the document.
func (w *yamlWriter) value(depth int, inList bool) error {
	t, err := w.dec.Token()
	if err != nil {
		return err
	}
	delim, nested := t.(json.Delim)
	if !nested {
		w.scalar(t)
		return nil
	}
	first := true
	for w.dec.More() {
		// The first key of a mapping in a list stands behind the dash; every other entry on a line of its own.
		if first && inList {
			w.out = append(w.out, ' ')
		} else {
			if len(w.out) > 0 && w.out[len(w.out)-1] != '\n' {
				w.out = append(w.out, '\n')
			}
			w.out = append(w.out, strings.Repeat("  ", depth)...)
		}
		first = false
		if delim == '[' {
			w.out = append(w.out, '-')
			if err := w.value(depth+1, true); err != nil {
				return err
			}
			continue
		}
		key, err := w.dec.Token()
		if err != nil {
			return err
		}
		name, _ := key.(string) // the keys of a JSON object are strings
		w.out = append(appendYAMLString(w.out, name), ':')
		if err := w.value(depth+1, false); err != nil {
			return err
		}
	}
	if first {
		w.out = append(w.out, " []\n"...)
		if delim == '{' {
			copy(w.out[len(w.out)-3:], "{}")
		}
	}
	_, err = w.dec.Token() // the closing delimiter
	return err
}

func (w *yamlWriter) scalar(t json.Token) {
	w.out = append(w.out, ' ')
	switch t := t.(type) {
	case string:
		w.out = appendYAMLString(w.out, t)
	case json.Number:
		w.out = append(w.out, t...)
	case bool:
		if t {
			w.out = append(w.out, "true"...)
		} else {
			w.out = append(w.out, "false"...)
		}
	default:
		w.out = append(w.out, "null"...)
	}
	w.out = append(w.out, '\n')
}

// appendYAMLString writes s plain or quoted. Unlike in JSON, \u is a whole character and never half of a pair, so what lies
// above U+FFFF has the long form, as in [escapeRune]. The input was read from JSON, so it is UTF-8.
func appendYAMLString(out []byte, s string) []byte {
	if plainYAML(s) {
		return append(out, s...)
	}
	out = append(out, '"')
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == '"' || r == '\\':
			out = append(out, '\\', byte(r))
		case r == '\n':
			out = append(out, `\n`...)
		case r == '\t':
			out = append(out, `\t`...)
		case unsafeRune(r):
			out = append(out, escapeRune(r)...)
		default:
			out = append(out, s[i:i+size]...)
		}
		i += size
	}
	return append(out, '"')
}

// plainYAML is stricter than the specification: words that begin with a letter and hold only letters, digits, spaces and
// marks that mean nothing in YAML. Whatever could be a number, a date, a bool or null (also of YAML 1.1: y, no, off) is not
// plain.
func plainYAML(s string) bool {
	if s == "" || !isLetter(s[0]) || s[len(s)-1] == ' ' {
		return false
	}
	for i := range len(s) {
		c := s[i]
		if !isLetter(c) && (c < '0' || c > '9') && !strings.ContainsRune(" -_./,;()+=%'", rune(c)) {
			return false
		}
	}
	switch strings.ToLower(s) {
	case "y", "n", "yes", "no", "on", "off", "true", "false", "null":
		return false
	}
	return true
}

func isLetter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }
