package paste

import (
	"bytes"
	"strings"
	"sync"

	"github.com/go-json-experiment/json/jsontext"
)

// maxFields bounds the fields of one record that are looked at; maxDepth how deep they may be nested.
const (
	maxFields = 400
	maxDepth  = 5
)

// decoders are kept, since every line of a log would allocate one.
var decoders = sync.Pool{New: func() any { return &recordReader{} }}

type recordReader struct {
	dec jsontext.Decoder
	buf bytes.Buffer
}

// json reads a record in JSON. Keys may come twice (the first one counts), and what stands before a cut counts.
func (p *logParser) json(s string, layer int) bool {
	if len(s) < 2 || s[0] != '{' || (s[1] != '"' && s[1] != ' ' && s[1] != '}') {
		return false
	}
	r := jsonRecord(s)
	return r.into(p, layer)
}

// jsonRecord gathers the fields of an object, as far as it can be read.
func jsonRecord(s string) record {
	j := decoders.Get().(*recordReader)
	defer decoders.Put(j)
	j.buf.Reset()
	j.buf.WriteString(s)
	j.dec.Reset(&j.buf, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	var r record
	j.object(&r, "", 0, maxFields)
	return r
}

// object reads one object into r and gives how many fields may still be read; negative when the text ended early.
func (j *recordReader) object(r *record, parent string, depth, left int) int {
	if _, err := j.dec.ReadToken(); err != nil {
		return -1
	}
	for {
		tok, err := j.dec.ReadToken()
		if err != nil || tok.Kind() != '"' {
			if err == nil && tok.Kind() == '}' {
				return left
			}
			return -1
		}
		key := tok.String()
		if left--; left < 0 {
			return -1
		}
		switch j.dec.PeekKind() {
		case '{':
			if depth >= maxDepth {
				if j.dec.SkipValue() != nil {
					return -1
				}
				continue
			}
			name := key
			if parent != "" && (key == "labels" || key == "resource") {
				name = "labels"
			}
			if left = j.object(r, name, depth+1, left); left < 0 {
				return -1
			}
		case '[':
			if j.dec.SkipValue() != nil {
				return -1
			}
		default:
			tok, err := j.dec.ReadToken()
			if err != nil {
				return -1
			}
			if k := tok.Kind(); k == '"' || k == '0' {
				value := tok.String()
				if k == '"' && (len(value) > 0 && value[0] == '{') && (key == "message" || key == "msg") && strings.HasSuffix(value, "}") {
					// A JSON record inside a JSON string.
					inner := logParser{}
					if inner.json(value, maxLayers) && inner.line.Message != "" {
						value = inner.line.Message
					}
				}
				r.put(parent, key, value)
			}
		}
	}
}
