package bench

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/probedoctor/probedoctor/rules"
)

// cause is one of a ranked list.
func cause(id string, p float64, role rules.Role) rules.Cause {
	return rules.Cause{ID: id, Role: role, Probability: p}
}

func roots(p float64, ids ...string) []rules.Cause {
	var out []rules.Cause
	for _, id := range ids {
		out = append(out, cause(id, p, rules.RootCause))
	}
	return out
}

// recording makes one whose diagnosis has an incident for each list.
func recording(name string, e Expected, incidents ...[]rules.Cause) Recording {
	list := &rules.DiagnosisList{}
	for _, ranked := range incidents {
		list.Items = append(list.Items, rules.Diagnosis{Ranked: ranked})
	}
	return Recording{Name: name, Expected: e, Diagnoses: list}
}

func TestCompare(t *testing.T) {
	e := Expected{ID: "x", Also: []string{"y"}, MustNotTop: []string{"z"}}
	for _, c := range []struct {
		name string
		rec  Recording
		want Result
	}{
		{"right", recording("", e, roots(0.8, "x", "y", "z")), Result{Place: 1, First: "x", Probability: 0.8}},
		{"one that takes part is first", recording("", e, roots(0.4, "y", "x")), Result{Place: 2, First: "y", Probability: 0.4, Also: true}},
		{"one that must not be is first", recording("", e, roots(0.4, "z", "y", "x")), Result{Place: 3, First: "z", Probability: 0.4, Forbidden: true}},
		{"a forbidden one that is second does no harm", recording("", e, roots(0.4, "w", "z", "y", "x")), Result{Place: 4, First: "w", Probability: 0.4}},
		{"not in the list", recording("", e, roots(0.4, "w")), Result{First: "w", Probability: 0.4}},
		{"equal probabilities: the one that is printed first counts", recording("", e, roots(0.25, "w", "x")), Result{Place: 2, First: "w", Probability: 0.25}},
		{"contributing and noise count by their place, not their role",
			recording("", e, []rules.Cause{cause("x", 0.9, rules.Noise), cause("w", 0.3, rules.RootCause)}), Result{Place: 1, First: "x", Probability: 0.9}},
		{"the place counts, not the probability",
			recording("", e, []rules.Cause{cause("w", 0.3, rules.RootCause), cause("x", 0.9, rules.Contributing)}), Result{Place: 2, First: "w", Probability: 0.3}},
		{"of several incidents the first", recording("", e, roots(0.5, "w"), roots(0.9, "x")), Result{First: "w", Probability: 0.5}},
		{"a first incident without a cause", recording("", e, nil, roots(0.9, "x")), Result{}},
		{"no incident", recording("", e), Result{}},
		{"no diagnosis", Recording{Expected: e}, Result{}},
	} {
		c.want.Expected = "x"
		if diff := cmp.Diff(c.want, compare(c.rec)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

func sample() []Recording {
	key := func(id string, thin bool) Expected { return Expected{ID: id, Thin: thin, MustNotTop: []string{"z"}} }
	return []Recording{
		recording("a", key("x", false), roots(0.9, "x", "y")),
		recording("b", key("x", true), roots(0.5, "w", "v", "x")),
		recording("c", key("u", false), roots(0.1, "z", "w", "v", "u")),
		recording("d", key("x", true)),
		recording("e", key("y", false), roots(1, "y")),
	}
}

func TestMeasure(t *testing.T) {
	s := Measure("dir", sample())
	if diff := cmp.Diff(Accuracy{N: 5, First: 2, FirstThree: 3, ForbiddenFirst: 1, Nothing: 1}, s.All); diff != "" {
		t.Errorf("all: %s", diff)
	}
	if diff := cmp.Diff(Accuracy{N: 3, First: 2, FirstThree: 2, ForbiddenFirst: 1}, s.NotThin); diff != "" {
		t.Errorf("not thin: %s", diff)
	}
	causes := []CauseRow{{"u", 1, 0, 0}, {"x", 3, 1, 2}, {"y", 1, 1, 1}}
	if diff := cmp.Diff(causes, s.Causes); diff != "" {
		t.Errorf("causes: %s", diff)
	}
	// (0.9−1)² + 0.5² + 0.1² + (1−1)² over the four for which something was named.
	if s.Brier == nil || math.Abs(*s.Brier-0.0675) > 1e-9 {
		t.Errorf("Brier score %v, want 0.0675", s.Brier)
	}
	if len(s.Reliability) != 10 {
		t.Fatalf("%d bins", len(s.Reliability))
	}
	for i, b := range s.Reliability {
		if b.From != float64(i)/10 || b.To != float64(i+1)/10 {
			t.Errorf("bin %d is %v to %v", i, b.From, b.To)
		}
		// A bound belongs to the bin above it, and 1 to the last.
		n, right := map[int]int{1: 1, 5: 1, 9: 2}[i], map[int]int{9: 2}[i]
		if b.N != n || b.Right != right || (b.Mean == nil) != (n == 0) {
			t.Errorf("bin %d: %d recordings, %d right, mean %v; want %d and %d", i, b.N, b.Right, b.Mean, n, right)
		}
	}
	if m := s.Reliability[9].Mean; m != nil && *m != 0.95 {
		t.Errorf("the mean of the last bin is %v, want 0.95", *m)
	}
}

// Every probability of four places falls into the bin whose bounds are printed for it.
func TestBins(t *testing.T) {
	for i := range 10001 {
		p := float64(i) / 1e4
		s := Measure("", []Recording{recording("", Expected{ID: "x"}, roots(p, "x"))})
		want := min(i/1000, 9)
		if s.Reliability[want].N != 1 {
			t.Fatalf("%v is not in the bin from %v", p, s.Reliability[want].From)
		}
	}
}

func TestMeasureNothing(t *testing.T) {
	s := Measure("dir", nil)
	if s.Brier != nil || s.All.N != 0 {
		t.Errorf("Brier score %v over %d", s.Brier, s.All.N)
	}
	d := Document{Score: s}
	if text := d.Text(); !strings.Contains(text, "0 recordings in dir, 0 of them thin") || strings.Contains(text, "NaN") {
		t.Error(text)
	}
}

// The reference values are those of the usual tables of the score interval.
func TestInterval(t *testing.T) {
	for _, c := range []struct {
		k, n      int
		low, high float64
	}{{0, 10, 0, 0.2775}, {10, 10, 0.7225, 1}, {5, 10, 0.2366, 0.7634}, {1, 29, 0.0061, 0.1718}} {
		low, high := interval(c.k, c.n)
		if math.Abs(low-c.low) > 1e-4 || math.Abs(high-c.high) > 1e-4 {
			t.Errorf("%d of %d: %.4f to %.4f, want %.4f to %.4f", c.k, c.n, low, high, c.low, c.high)
		}
	}
}

func TestParseExpected(t *testing.T) {
	got, err := ParseExpected([]byte(`{"id":"x","also":["y"],"thin":true,"confidence":"likely","mustNotTop":[],"why":"so"}`))
	if err != nil {
		t.Fatal(err)
	}
	want := Expected{ID: "x", Also: []string{"y"}, Thin: true, Confidence: "likely", MustNotTop: []string{}, Why: "so"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	for _, c := range []struct{ key, why string }{
		{`{"mustNotTop":[]}`, "id is missing"},
		{`{"id":"x"}`, "mustNotTop is missing"},
		{`{"id":"x","mustNotTop":null}`, "mustNotTop is missing"},
		{`{"id":"x","mustNotTop":["y","x"]}`, `has the expected cause "x"`},
		{`{"id":"x","mustNotTop":[],"thinn":true}`, "thinn"},
		{`{"ID":"x","mustNotTop":[]}`, "ID"},
		{`{"id":"x","id":"y","mustNotTop":[]}`, "duplicate"},
		{`{"id":"x","mustNotTop":[]} Readiness probe failed`, "after top-level value"},
		{``, "EOF"},
	} {
		if _, err := ParseExpected([]byte(c.key)); err == nil || !strings.Contains(err.Error(), c.why) {
			t.Errorf("%s: %v, want %q", c.key, err, c.why)
		}
	}
}
