package kubeobj

import (
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// tree is an object as encoding/json or a YAML decoder gives it. Its readers are total: a field of another type than
// expected reads as one that is missing, so a bad field loses only itself.
type tree map[string]any

// sub gives the object under the path, nil when there is none. A nil tree may be read.
func (t tree) sub(path ...string) tree {
	for _, key := range path {
		next, _ := t[key].(map[string]any)
		t = next
	}
	return t
}

// has tells whether the key is there with another value than null.
func (t tree) has(key string) bool { return t[key] != nil }

// list gives the elements of the list under key that are objects.
func (t tree) list(key string) []tree {
	items, _ := t[key].([]any)
	out := make([]tree, 0, len(items))
	for _, it := range items {
		if m, ok := it.(map[string]any); ok {
			out = append(out, m)
		}
	}
	return out
}

// str gives a text; a number or a boolean is printed, since YAML reads unquoted versions and ports as such.
func (t tree) str(key string) string { return scalar(t[key]) }

// strs gives the scalars of a list.
func (t tree) strs(key string) []string {
	items, _ := t[key].([]any)
	var out []string
	for _, it := range items {
		switch it.(type) {
		case map[string]any, []any, nil:
		default:
			out = append(out, scalar(it))
		}
	}
	return out
}

// strMap gives an object of scalars.
func (t tree) strMap(key string) map[string]string {
	m := t.sub(key)
	if len(m) == 0 {
		return nil
	}
	out := make(map[string]string, len(m))
	for k, v := range m {
		switch v.(type) {
		case map[string]any, []any, nil:
		default:
			out[k] = scalar(v)
		}
	}
	return out
}

// integer gives a whole number, also when it is written as text, and whether there is one.
func (t tree) integer(key string) (int, bool) {
	switch v := t[key].(type) {
	case float64:
		if v == math.Trunc(v) && math.Abs(v) < 1<<53 {
			return int(v), true
		}
	case int:
		return v, true
	case int64:
		return int(v), true
	case uint64:
		if v <= math.MaxInt64 {
			return int(v), true
		}
	case json.Number:
		return atoi(v.String())
	case string:
		return atoi(v)
	}
	return 0, false
}

func atoi(s string) (int, bool) {
	n, err := strconv.Atoi(strings.TrimSpace(s))
	return n, err == nil
}

// intOr gives a whole number, or def when there is none.
func (t tree) intOr(key string, def int) int {
	if n, ok := t.integer(key); ok {
		return n
	}
	return def
}

// boolean gives a truth value and whether there is one.
func (t tree) boolean(key string) (value, ok bool) {
	switch v := t[key].(type) {
	case bool:
		return v, true
	case string:
		b, err := strconv.ParseBool(v)
		return b, err == nil
	}
	return false, false
}

func (t tree) isTrue(key string) bool {
	b, _ := t.boolean(key)
	return b
}

// time gives a timestamp in UTC, zero when there is none.
func (t tree) time(key string) time.Time {
	switch v := t[key].(type) {
	case string:
		return ParseTime(v)
	case time.Time:
		return v.UTC()
	}
	return time.Time{}
}

// ParseTime reads a timestamp of the API (RFC 3339, with or without fractions); zero when it is none.
func ParseTime(s string) time.Time {
	if t, err := time.Parse(time.RFC3339, s); err == nil {
		return t.UTC()
	}
	return time.Time{}
}

func scalar(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case bool:
		return strconv.FormatBool(v)
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	case int:
		return strconv.Itoa(v)
	case int64:
		return strconv.FormatInt(v, 10)
	case uint64:
		return strconv.FormatUint(v, 10)
	case json.Number:
		return v.String()
	case time.Time:
		return v.UTC().Format(time.RFC3339Nano)
	}
	return ""
}

// keys gives the keys in order.
func (t tree) keys() []string {
	keys := make([]string, 0, len(t))
	for k := range t {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
