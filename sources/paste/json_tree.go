package paste

import (
	"bytes"
	"strconv"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// budget is what is left of the memory that a tree may take.
type budget struct {
	left int
	over bool
}

func (b *budget) take(n int) bool {
	if b.left -= n; b.left < 0 {
		b.over = true
	}
	return !b.over
}

// tree reads the next value whatever it is. What goes beyond the budget or too deep is skipped and left out.
func (j *jsonReader) tree(room *budget, name string, depth int) (any, error) {
	kind := j.dec.PeekKind()
	if name == "managedFields" || name == "kubectl.kubernetes.io/last-applied-configuration" {
		return nil, j.dec.SkipValue()
	}
	if depth > MaxDepth {
		room.over = true
	}
	if !room.take(nodeCost) {
		return nil, j.dec.SkipValue()
	}
	switch kind {
	case '{':
		if _, err := j.dec.ReadToken(); err != nil {
			return nil, err
		}
		obj := map[string]any{}
		for j.dec.PeekKind() != '}' {
			name, err := j.name()
			if err != nil {
				return nil, err
			}
			room.take(len(name))
			v, err := j.tree(room, name, depth+1)
			if err != nil {
				return nil, err
			}
			if v != nil {
				obj[name] = v
			}
		}
		_, err := j.dec.ReadToken()
		return obj, err
	case '[':
		if _, err := j.dec.ReadToken(); err != nil {
			return nil, err
		}
		list := []any{}
		for j.dec.PeekKind() != ']' {
			v, err := j.tree(room, "", depth+1)
			if err != nil {
				return nil, err
			}
			if !room.over {
				list = append(list, v)
			}
		}
		_, err := j.dec.ReadToken()
		return list, err
	case '"':
		s, err := j.text()
		if !room.take(len(s)) {
			return nil, err
		}
		return s, err
	}
	tok, err := j.dec.ReadToken()
	if err != nil {
		return nil, err
	}
	switch tok.Kind() {
	case 't', 'f':
		return tok.Bool(), nil
	case '0':
		f, err := strconv.ParseFloat(tok.String(), 64)
		if err != nil {
			// A number beyond float64 is as good as not there.
			return nil, nil
		}
		return f, nil
	}
	return nil, nil
}

// pool keeps one copy of texts that come again and again: names, reasons, nodes, messages.
type pool struct {
	known map[string]string
	buf   []byte
}

const (
	poolEntries = 1 << 14
	poolText    = 512
)

// unquote gives the text of a JSON string.
func (p *pool) unquote(v jsontext.Value) string {
	b := unquoted(v)
	if bytes.IndexByte(b, '\\') >= 0 || !utf8.Valid(b) {
		// The error only says that invalid UTF-8 was replaced.
		p.buf, _ = jsontext.AppendUnquote(p.buf[:0], v)
		b = p.buf
	}
	return p.text(b)
}

func (p *pool) text(b []byte) string {
	if len(b) > poolText {
		return string(b)
	}
	if s, ok := p.known[string(b)]; ok {
		return s
	}
	switch {
	case p.known == nil:
		p.known = make(map[string]string, 256)
	case len(p.known) >= poolEntries:
		clear(p.known) // keeps its tables
	}
	s := string(b)
	p.known[s] = s
	return s
}

// unquoted gives the raw text between the quotes of a JSON string, and any other value as it is.
func unquoted(v jsontext.Value) []byte {
	if len(v) >= 2 && v[0] == '"' {
		return v[1 : len(v)-1]
	}
	return v
}
