package paste

import (
	"bytes"
	"io"
	"strings"
	"unicode"
)

// sniffBytes is how much of a file's head is looked at to tell text from what is none.
const sniffBytes = 8 << 10

// archives are the first bytes of packed files.
var archives = []string{"\x1f\x8b", "\x28\xb5\x2f\xfd", "BZh", "\xfd7zXZ\x00", "PK\x03\x04", "7z\xbc\xaf\x27\x1c", "\x04\x22\x4d\x18"}

// sniffed opens the input as text. why says what it is when it is no text.
func sniffed(r io.Reader) (in *lineInput, why string, err error) {
	in = newLineInput(r)
	for in.end < sniffBytes && in.more() {
	}
	head := in.buf[:min(in.end, sniffBytes)]
	if in.err != nil && in.err != io.EOF && len(head) == 0 {
		return nil, "", in.err
	}
	if len(bytes.TrimSpace(head)) == 0 && in.err == io.EOF {
		return nil, "empty", nil
	}
	for _, magic := range archives {
		if bytes.HasPrefix(head, []byte(magic)) {
			return nil, "a compressed archive, not text; unpack it first", nil
		}
	}
	for _, bom := range []struct {
		mark string
		high bool
	}{{"\xff\xfe", false}, {"\xfe\xff", true}} {
		if bytes.HasPrefix(head, []byte(bom.mark)) {
			in.advance(len(bom.mark))
			return newLineInput(&utf16Reader{r: in, high: bom.high}), "", nil
		}
	}
	if bytes.HasPrefix(head, []byte("\xef\xbb\xbf")) {
		in.advance(3)
	}
	if bytes.IndexByte(head, 0) >= 0 {
		if len(head) > 262 && string(head[257:262]) == "ustar" {
			return nil, "a tar archive, not text; unpack it first", nil
		}
		return nil, "binary, not text", nil
	}
	return in, "", nil
}

// jsonStart tells whether a JSON object, or a list of objects, may begin with the line. A line that only looks so (a
// bracketed time, a braced template) is excluded here; what is no JSON after all is read as text again.
func jsonStart(line []byte) bool {
	s := bytes.TrimSpace(line)
	if len(s) == 0 {
		return false
	}
	rest := bytes.TrimSpace(s[1:])
	switch s[0] {
	case '{':
		return len(rest) == 0 || rest[0] == '"' || rest[0] == '}'
	case '[':
		return len(rest) == 0 || rest[0] == '{' || rest[0] == ']'
	}
	return false
}

// signatures are in every JSON document that the package reads; a JSON object on one line without any of them is the line
// of a log.
var signatures = [][]byte{
	[]byte(`"kind"`), []byte(`"involvedObject"`), []byte(`"regarding"`), []byte(`"resultType"`), []byte(`"TargetHealth`),
	[]byte(`"TargetGroup`), []byte(`"mustNotTop"`), []byte(`"items"`), []byte(`"cluster_statuses"`), []byte(`"TagDescriptions"`),
	[]byte(`"alerts":[`),
}

func signed(line []byte) bool {
	for _, s := range signatures {
		if bytes.Contains(line, s) {
			return true
		}
	}
	return false
}

// mayStartYAML is the cheap half of yamlStart, for lines that are asked in their millions.
func mayStartYAML(line []byte) bool {
	head := line[:min(len(line), 256)]
	return bytes.Contains(head, []byte("apiVersion:")) || bytes.Contains(head, []byte("kind: "))
}

// yamlStart tells whether a YAML manifest begins with the line: an apiVersion or a kind, alone or as the first field of a
// list element.
func yamlStart(line string) bool {
	s := strings.TrimLeft(strings.TrimLeft(line, " "), "- ")
	if strings.HasPrefix(s, "apiVersion:") {
		return true
	}
	kind, ok := strings.CutPrefix(s, "kind: ")
	kind = strings.Trim(strings.TrimSpace(kind), `"'`)
	if !ok || kind == "" || kind[0] < 'A' || kind[0] > 'Z' {
		return false
	}
	return strings.IndexFunc(kind, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) < 0
}

// yamlGoesOn tells whether the line can belong to a YAML document whose lines begin at column indent.
func yamlGoesOn(line string, indent int) bool {
	trimmed := strings.TrimLeft(line, " ")
	if trimmed == "" || trimmed[0] == '#' {
		return true
	}
	n := len(line) - len(trimmed)
	switch {
	case n > indent:
		return true
	case strings.HasPrefix(line, "+ "), strings.HasPrefix(line, "- "), strings.HasPrefix(trimmed, "{{"), diffMark(line):
		return true
	case n < indent:
		return false
	case strings.HasPrefix(trimmed, "- "), trimmed == "-", trimmed == "}", trimmed == "]":
		return true
	}
	return yamlKey(trimmed)
}

// diffMark tells a line of a unified diff: a mark in the first column and the indented line behind it.
func diffMark(line string) bool {
	return len(line) > 2 && (line[0] == '+' || line[0] == '-') && line[1] == ' '
}

// yamlKey tells whether the text begins with a key of the API: one word that begins with a small letter, and a colon.
// The rows of kubectl describe ("Name:  cart-0") begin with a capital.
func yamlKey(s string) bool {
	i := strings.IndexByte(s, ':')
	if i <= 0 || i > 256 || i+1 < len(s) && s[i+1] != ' ' || s[0] >= 'A' && s[0] <= 'Z' {
		return false
	}
	key := strings.Trim(s[:i], `"'`)
	return key != "" && strings.IndexFunc(key, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("._/-*$", r)
	}) < 0
}

// yamlSeparator tells the line between two documents.
func yamlSeparator(line string) bool {
	s := strings.TrimSpace(line)
	return s == "---" || strings.HasPrefix(s, "--- #") || strings.HasPrefix(s, "--- !")
}
