package paste

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/probedoctor/probedoctor/sources/evidence"
	"github.com/probedoctor/probedoctor/sources/kubeobj"
)

// errTokenTooLong ends the reading of a document with a token beyond MaxToken.
var errTokenTooLong = fmt.Errorf("a JSON token of more than %d MiB", MaxToken>>20)

// jsonReader reads one JSON document after the other from an input, as a stream of tokens.
type jsonReader struct {
	in  *lineInput
	dec *jsontext.Decoder
	// served counts what the decoder took of this document, replay holds its first bytes.
	served int64
	replay []byte
	pool   pool

	// take is given every object with its first line; it reports whether the object was understood.
	take func(obj map[string]any, line int, incomplete bool) bool
	// takeEvent is given every event of a list.
	takeEvent func(raw *kubeobj.RawEvent, line int)

	raw        kubeobj.RawEvent
	understood int // objects and events that were
	unknown    int // elements of lists that were not
	cut        int // objects that were larger than MaxTree or nested deeper than MaxDepth
}

// Read gives the decoder what comes next, unless it gathers an endless token.
func (j *jsonReader) Read(p []byte) (int, error) {
	if j.served-j.dec.InputOffset() > MaxToken {
		return 0, errTokenTooLong
	}
	n, err := j.in.Read(p)
	if room := replayBytes - len(j.replay); room > 0 {
		j.replay = append(j.replay, p[:min(n, room)]...)
	}
	j.served += int64(n)
	return n, err
}

// document reads the document at the input's position and leaves the input behind it, or behind the last token that could
// be read when there is an error.
func (j *jsonReader) document() error {
	opts := []jsontext.Options{jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)}
	j.served, j.replay = 0, j.replay[:0]
	j.understood, j.unknown, j.cut = 0, 0, 0
	if j.dec == nil {
		j.dec = jsontext.NewDecoder(strings.NewReader(""), opts...)
	}
	j.dec.Reset(j, opts...)
	err := j.value()
	j.in.unread(j.dec.UnreadBuffer())
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return err
}

// line is the number of the line of the token that was read last.
func (j *jsonReader) line() int { return j.in.lineNo - bytes.Count(j.dec.UnreadBuffer(), newline) }

func (j *jsonReader) value() error {
	switch j.dec.PeekKind() {
	case '{':
		return j.object()
	case '[':
		return j.elements("")
	}
	return j.dec.SkipValue()
}

// object reads an object of the top level. Its items are streamed; all other members are gathered into a tree.
func (j *jsonReader) object() error {
	if _, err := j.dec.ReadToken(); err != nil {
		return err
	}
	line := j.line()
	head, kind, streamed := map[string]any{}, "", false
	room := budget{left: MaxTree}
	for j.dec.PeekKind() != '}' {
		name, err := j.name()
		if err != nil {
			return err
		}
		switch {
		case name == "items" && j.dec.PeekKind() == '[':
			streamed = true
			if err := j.elements(strings.TrimSuffix(kind, "List")); err != nil {
				return err
			}
		case name == "data" && head["status"] == "success" && j.dec.PeekKind() == '{':
			streamed = true
			if err := j.promData(line); err != nil {
				return err
			}
		default:
			v, err := j.tree(&room, name, 1)
			if err != nil {
				return err
			}
			if name == "kind" {
				kind, _ = v.(string)
			}
			if room.take(len(name)) && v != nil {
				head[name] = v
			}
		}
	}
	if _, err := j.dec.ReadToken(); err != nil {
		return err
	}
	if room.over {
		j.cut++
	}
	if streamed {
		if head["warnings"] != nil || head["isPartial"] == true {
			// They stand beside the streamed series and say that some are missing.
			j.take(map[string]any{
				"status": "success", "warnings": head["warnings"], "isPartial": head["isPartial"],
				"data": map[string]any{"resultType": "vector", "result": []any{}},
			}, line, room.over)
		}
		// The elements are what was wanted; an empty list is understood as well.
		if j.unknown == 0 {
			j.understood++
		}
		return nil
	}
	if j.take(head, line, room.over) {
		j.understood++
	}
	return nil
}

// elements reads a list of objects. kind is theirs where the list says it.
func (j *jsonReader) elements(kind string) error {
	if _, err := j.dec.ReadToken(); err != nil {
		return err
	}
	for {
		switch j.dec.PeekKind() {
		case ']':
			_, err := j.dec.ReadToken()
			return err
		case '{':
			if j.understood == 0 && j.unknown >= maxTries {
				if err := j.dec.SkipValue(); err != nil {
					return err
				}
				continue
			}
			if err := j.element(kind); err != nil {
				return err
			}
		default:
			if err := j.dec.SkipValue(); err != nil {
				return err
			}
			j.unknown++
		}
	}
}

func (j *jsonReader) name() (string, error) {
	v, err := j.dec.ReadValue()
	if err != nil {
		return "", err
	}
	return j.pool.unquote(v), nil
}

// promData streams the data of a Prometheus answer: each series is handed on as an answer of its own.
func (j *jsonReader) promData(line int) error {
	resultType := ""
	return j.members(func(name []byte) error {
		switch {
		case string(name) == "resultType" && j.dec.PeekKind() == '"':
			s, err := j.text()
			resultType = s
			return err
		case string(name) != "result" || j.dec.PeekKind() != '[' || resultType == "scalar" || resultType == "string":
			room := budget{left: MaxTree}
			key := string(name) // the decoder reuses its bytes
			v, err := j.tree(&room, key, 2)
			if err != nil {
				return err
			}
			if _, list := v.([]any); list && key == "alerts" {
				j.take(map[string]any{"status": "success", "data": map[string]any{"alerts": v}}, line, room.over)
			} else if list && resultType != "" {
				j.promAnswer(resultType, v, line, room.over)
			}
			return nil
		}
		if _, err := j.dec.ReadToken(); err != nil {
			return err
		}
		for j.dec.PeekKind() != ']' {
			room := budget{left: MaxTree}
			v, err := j.tree(&room, "", 3)
			if err != nil {
				return err
			}
			// With sorted keys the result comes before its type; the element's own field tells it.
			typ := resultType
			if m, ok := v.(map[string]any); ok && typ == "" {
				typ = "vector"
				if m["values"] != nil || m["histograms"] != nil {
					typ = "matrix"
				}
			}
			j.promAnswer(typ, []any{v}, j.line(), room.over)
		}
		_, err := j.dec.ReadToken()
		return err
	})
}

func (j *jsonReader) promAnswer(resultType string, result any, line int, cut bool) {
	if cut {
		j.cut++
	}
	answer := map[string]any{
		"status": "success", "data": map[string]any{"resultType": resultType, "result": result},
	}
	if j.take(answer, line, cut) {
		j.understood++
	} else {
		j.unknown++
	}
}

// jsonWhy puts an error of the decoder into words, without the offset: the line is given beside it.
func jsonWhy(err error) string {
	var syntax *jsontext.SyntacticError
	switch {
	case errors.Is(err, errTokenTooLong):
		return errTokenTooLong.Error()
	case errors.Is(err, io.ErrUnexpectedEOF):
		return "the JSON ends early"
	case errors.As(err, &syntax):
		return "broken JSON: " + syntax.Err.Error()
	}
	return err.Error()
}

// The readers of structured answers that are no Kubernetes objects. They append to the set and return an error that says
// why the tree is not what it seems.
var (
	// readPromAPI reads an answer of the Prometheus API: {"status":"success","data":{"resultType":…,"result":[…]}}. Of a
	// large answer it is called once for every series.
	readPromAPI func(tree map[string]any, o kubeobj.Origin, set *evidence.Set) error = promAnswer
	// readELB reads what aws elbv2 prints: {"TargetHealthDescriptions":…} or {"TargetGroups":…}.
	readELB func(tree map[string]any, o kubeobj.Origin, set *evidence.Set) error = elbAnswer
)
