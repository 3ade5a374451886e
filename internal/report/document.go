package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/probedoctor/probedoctor/rules"
)

// marshalJSON writes the document of docs/diagnosis.schema.json: indented, map keys sorted, "<" left as it is, one final
// newline. Characters that a terminal would obey or hide are \u escapes, so the text is safe to print and loses nothing.
func marshalJSON(list *rules.DiagnosisList) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(list); err != nil {
		return nil, err
	}
	return escapeUnsafe(b.Bytes()), nil
}

// escapeUnsafe replaces what encoding/json leaves as it is but a terminal should not see. Outside strings a JSON text is
// ASCII, so every such character is inside one, where \u is allowed. encoding/json has already escaped what is below U+0020
// and replaced what is not UTF-8.
func escapeUnsafe(in []byte) []byte {
	out := make([]byte, 0, len(in))
	for i := 0; i < len(in); {
		if c := in[i]; c < 0x7f {
			out = append(out, c)
			i++
			continue
		}
		r, size := utf8.DecodeRune(in[i:])
		if !unsafeRune(r) {
			out = append(out, in[i:i+size]...)
		} else {
			out = appendJSONEscape(out, r)
		}
		i += size
	}
	return out
}

func appendJSONEscape(out []byte, r rune) []byte {
	if r <= 0xffff {
		return fmt.Appendf(out, `\u%04x`, r)
	}
	hi, lo := utf16.EncodeRune(r)
	return fmt.Appendf(out, `\u%04x\u%04x`, hi, lo)
}
