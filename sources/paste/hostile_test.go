package paste

import (
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
)

// endless gives head and then a unit again and again, size bytes in all.
type endless struct {
	head, unit string
	size       int64
	at         int
}

func newEndless(head, unit string, size int64) *endless {
	return &endless{head: head, unit: strings.Repeat(unit, 1+(64<<10)/len(unit)), size: size}
}

func (e *endless) Read(p []byte) (int, error) {
	if e.size <= 0 {
		return 0, io.EOF
	}
	if len(p) > int(e.size) {
		p = p[:e.size]
	}
	n := copy(p, e.head)
	e.head = e.head[n:]
	for n < len(p) {
		c := copy(p[n:], e.unit[e.at:])
		n += c
		e.at = (e.at + c) % len(e.unit)
	}
	e.size -= int64(n)
	return n, nil
}

// Inputs without an end must run through in bounded memory and be named in the coverage.
func TestEndlessInput(t *testing.T) {
	const size = 256 << 20
	for _, c := range []struct{ name, head, unit string }{
		{"zeros", "", "\x00"},
		{"one line of text", "", "a"},
		{"brackets", "", "["},
		{"nested objects", "", `{"a":`},
		{"JSON string", `{"a":"`, "a"},
		{"escapes in a JSON string", `{"items":[{"kind":"Event","message":"`, `\u0061`},
		{"a number", `{"items":[{"kind":"Event","count":`, "1"},
		{"white space in JSON", "{", "\t"},
		{"one line of YAML", "apiVersion: v1\na: [", "["},
		{"dashes", "apiVersion: v1\nx:\n  ", "- "},
		{"invalid UTF-8", "", "\xff"},
	} {
		t.Run(c.name, func(t *testing.T) {
			runtime.GC()
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			set, err := Read([]string{"-"}, newEndless(c.head, c.unit, size), Options{})
			runtime.ReadMemStats(&after)
			if err != nil {
				t.Fatal(err)
			}
			if grown := int64(after.HeapSys) - int64(before.HeapSys); grown > 64<<20 {
				t.Errorf("the heap grew by %d MiB", grown>>20)
			}
			if len(set.Coverage) == 0 || set.Coverage[0].Status == "ok" {
				t.Errorf("coverage %v", covered(set))
			}
		})
	}
}

// Documents beyond the bounds keep what is within, and say so. The sizes are small so that the test is quick; memory is
// bounded by the same counters.
func TestBeyondBounds(t *testing.T) {
	for _, c := range []struct {
		name, head, unit string
		size             int64
		want             string
	}{
		{"list in an object", `{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a"},"x":[`, "0,", 4 << 20, "the JSON ends early"},
		{"empty elements", `{"items":[`, "{},", 4 << 20, "the JSON ends early"},
		{"lines of a YAML document", "apiVersion: v1\nkind: Pod\nx:\n", "  - a\n", 1 << 20, fmt.Sprintf("or %d lines", MaxYAMLLines)},
		{"deep YAML", "apiVersion: v1\nkind: Pod\nx:\n  ", "- ", 8 << 10, "nested deeper"},
		{"flow YAML", "apiVersion: v1\nkind: Pod\nx: ", "[", 8 << 10, "nested deeper"},
	} {
		t.Run(c.name, func(t *testing.T) {
			set, err := Read([]string{"-"}, newEndless(c.head, c.unit, c.size), Options{})
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(covered(set), "\n"); !strings.Contains(got, c.want) {
				t.Errorf("coverage %q does not say %q", got, c.want)
			}
		})
	}
	// Just within the JSON decoder's own limit of nesting, far beyond ours.
	deep := `{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a"},"x":` + strings.Repeat("[", 5000) + strings.Repeat("]", 5000) + `}`
	set := readInput(t, deep)
	if len(set.Pods) != 1 || !strings.Contains(covered(set)[0], "nested deeper than 100") {
		t.Errorf("pods %v, coverage %v", podNames(set), covered(set))
	}
}

// Of a log longer than what is kept the end stays, with the stack trace that goes on below its last record.
func TestLongLogKeepsItsEnd(t *testing.T) {
	dir := t.TempDir()
	first := write(t, dir, "a.log", strings.Repeat("2026-11-29T14:03:11Z INFO old\n", MaxKept-1))
	last := write(t, dir, "b.log", "2026-11-29T14:03:11Z INFO old\n2026-11-29T14:03:11Z INFO old\n"+"2026-11-29T14:03:12Z ERROR newest\n\tat com.example.Cart.get(Cart.java:7)\n")
	set, err := Read([]string{first, last}, nil, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if n := len(set.Logs); n == 0 || n > MaxKept {
		t.Fatalf("%d lines are kept, not 1 to %d", n, MaxKept)
	}
	if last := set.Logs[len(set.Logs)-1]; !strings.Contains(last.Message, "newest") || !strings.Contains(last.Message, "Cart.java") {
		t.Errorf("the last record kept is %q", last.Message)
	}
	if got := strings.Join(covered(set), "\n"); !strings.Contains(got, "those read first are not kept") {
		t.Errorf("coverage %q does not say what is missing", got)
	}
}
