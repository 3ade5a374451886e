package evidence

import (
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"math"
	"reflect"
	"slices"
	"time"
)

// hasher collects the content of an item for its Ref. Every text is preceded by its length, so that no text can imitate
// the end of another.
type hasher struct{ buf []byte }

func newHasher() *hasher { return &hasher{buf: make([]byte, 0, 1024)} }
func (h *hasher) reset() { h.buf = h.buf[:0] }
func (h *hasher) sum() string {
	s := sha256.Sum256(h.buf)
	return hex.EncodeToString(s[:6])
}

func (h *hasher) str(parts ...string) {
	for _, p := range parts {
		h.int(int64(len(p)))
		h.buf = append(h.buf, p...)
	}
}

func (h *hasher) int(n int64) {
	for range 8 {
		h.buf = append(h.buf, byte(n))
		n >>= 8
	}
}

func (h *hasher) bool(b bool) {
	if b {
		h.buf = append(h.buf, 1)
	} else {
		h.buf = append(h.buf, 0)
	}
}

func (h *hasher) time(t time.Time) {
	h.int(t.Unix())
	h.int(int64(t.Nanosecond()))
}

func (h *hasher) object(o Object) { h.str(o.Cluster, o.Namespace, o.Kind, o.Name, o.UID) }

// item hashes the item without what depends on how it was read. JSON would not do: it has no NaN, which is a common
// value of a series.
func (h *hasher) item(v any, it *Item) {
	saved := *it
	*it = Item{Excerpt: saved.Excerpt}
	h.value(reflect.ValueOf(v).Elem())
	*it = saved
}

// value hashes a value of the kinds that this package's types are made of.
func (h *hasher) value(v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		if t, ok := v.Interface().(time.Time); ok {
			h.time(t)
			return
		}
		for i := range v.NumField() {
			h.value(v.Field(i))
		}
	case reflect.Slice:
		h.int(int64(v.Len()))
		for i := range v.Len() {
			h.value(v.Index(i))
		}
	case reflect.Map:
		m := v.Interface().(map[string]string)
		h.int(int64(len(m)))
		for _, k := range slices.Sorted(maps.Keys(m)) {
			h.str(k, m[k])
		}
	case reflect.Pointer:
		h.bool(!v.IsNil())
		if !v.IsNil() {
			h.value(v.Elem())
		}
	case reflect.String:
		h.str(v.String())
	case reflect.Bool:
		h.bool(v.Bool())
	case reflect.Float64:
		h.int(int64(math.Float64bits(v.Float())))
	case reflect.Int, reflect.Int64:
		h.int(v.Int())
	default:
		panic("evidence: a field of kind " + v.Kind().String() + " has no place in a Ref")
	}
}

func eventContent(h *hasher, e *Event) {
	h.object(e.Object)
	h.str(e.Container, e.Type, e.Reason, e.Message, e.Component, e.Host, e.Name)
	h.int(int64(e.Count))
	h.time(e.First)
	h.time(e.Last)
	h.bool(e.Combined)
	h.bool(e.AtLeast)
}

func logContent(h *hasher, l *LogLine) {
	// The namespace may come from another line of the text; the locator has it where the line's own source names it.
	h.str(l.Object.Kind, l.Object.Name, l.Locator)
	h.str(l.Origin, l.Container, l.Node, l.Level, l.Logger, l.Thread, l.Route, l.Message)
	h.time(l.At)
}

func seriesContent(h *hasher, s *Series) {
	h.str(s.Signal, s.Stack, s.Name, s.Query, s.Type, s.Excerpt)
	h.int(int64(len(s.Labels)))
	for _, k := range slices.Sorted(maps.Keys(s.Labels)) {
		h.str(k, s.Labels[k])
	}
	for i := range s.Samples {
		h.time(s.Samples[i].At)
		h.int(int64(math.Float64bits(s.Samples[i].Value)))
	}
}

func requestContent(h *hasher, r *Request) {
	h.object(r.Object)
	h.str(r.Container, r.Method, r.Host, r.Port, r.Path, r.UserAgent, r.Client, r.By, r.Excerpt)
	h.int(int64(r.Status))
	h.bool(r.Duration != nil)
	if r.Duration != nil {
		h.int(int64(*r.Duration))
	}
	h.time(r.At)
}
