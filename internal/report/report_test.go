package report

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
	"github.com/goccy/go-yaml"
	"github.com/google/go-cmp/cmp"

	"github.com/probedoctor/probedoctor/rules"
	"github.com/probedoctor/probedoctor/sources/evidence"
)

func TestUnknownFormat(t *testing.T) {
	var b strings.Builder
	err := Write(&b, saturated(), Options{Format: "xml"})
	if err == nil || b.Len() > 0 {
		t.Fatalf("err = %v, wrote %d bytes", err, b.Len())
	}
	for _, f := range Formats() {
		if !strings.Contains(err.Error(), f) {
			t.Errorf("the error %q does not name %s", err, f)
		}
	}
}

func TestNotANumberIsAnError(t *testing.T) {
	list := saturated()
	list.Items[0].Ranked[0].Probability = math.NaN()
	for _, format := range []string{JSON, YAML} {
		if err := Write(&strings.Builder{}, list, Options{Format: format}); err == nil {
			t.Errorf("%s: no error for NaN", format)
		}
	}
}

// No line but a command's is wider than the page, and colour changes nothing but colour.
func TestWidthAndColour(t *testing.T) {
	commands := map[string]bool{}
	for _, list := range samples {
		for _, d := range list().Items {
			var all []string
			for _, s := range d.Remediation {
				_, u := undo(s.Undo)
				all = append(all, s.Command, u)
			}
			for _, v := range d.Verify {
				all = append(all, v.Command)
			}
			for _, m := range d.Missing {
				all = append(all, m.Collect)
			}
			for _, c := range d.Ranked {
				all = append(all, "probedoctor why-not "+c.ID)
			}
			for _, c := range all {
				for l := range strings.SplitSeq(c, "\n") {
					commands[strings.TrimSpace(l)] = true
				}
			}
		}
	}
	for name, list := range samples {
		for width := 40; width <= 220; width += 3 {
			for _, o := range []Options{{Width: width}, {Width: width, Wide: true}, {Width: width, ASCII: true}} {
				plain := render(t, list(), o)
				for l := range strings.SplitSeq(plain, "\n") {
					if ansi.StringWidth(l) > width && !commands[strings.TrimPrefix(strings.TrimSpace(l), "more: ")] {
						t.Errorf("%s, %d columns: %d cells: %s", name, width, ansi.StringWidth(l), l)
					}
				}
				for _, color := range []ColorMode{Color16, ColorTrue} {
					o.Color = color
					if diff := cmp.Diff(plain, ansi.Strip(render(t, list(), o))); diff != "" {
						t.Fatalf("%s, %d columns, colour %d reads differently:\n%s", name, width, color, diff)
					}
				}
			}
		}
	}
}

// A command is on one line, whole, at every width: it is there to be copied.
func TestCommandsAreWhole(t *testing.T) {
	list := saturated()
	for _, width := range []int{40, 80, 220} {
		got := "\n" + render(t, list, Options{Width: width, Wide: true})
		d := list.Items[0]
		for _, c := range []string{d.Remediation[0].Command, d.Remediation[0].Undo, d.Verify[0].Command, d.Missing[0].Collect, d.Missing[1].Collect} {
			if !strings.Contains(got, "\n           "+c+"\n") {
				t.Errorf("%d columns: not on a line of its own: %s", width, c)
			}
		}
	}
}

// What is narrow loses no word of a statement, and wide loses none at all.
func TestNoStatementIsLost(t *testing.T) {
	list := saturated()
	squeeze := func(s string) string { return strings.Join(strings.Fields(s), " ") }
	narrow, wide := squeeze(render(t, list, Options{Width: 40})), squeeze(render(t, list, Options{Width: 220, Wide: true}))
	for _, c := range list.Items[0].Ranked {
		if c.Summary != "" && !strings.Contains(narrow, c.Summary) {
			t.Errorf("40 columns lost %q", c.Summary)
		}
		for _, s := range append(c.For, c.Against...) {
			if !strings.Contains(wide, s.Statement) {
				t.Errorf("wide lost %q", s.Statement)
			}
		}
	}
	for ref, x := range list.Items[0].Evidence {
		if !strings.Contains(wide, x.Excerpt) || !strings.Contains(wide, string(ref)) {
			t.Errorf("wide lost %s", ref)
		}
	}
	for _, e := range list.Items[0].Trace {
		if !strings.Contains(wide, e.Rule) {
			t.Errorf("wide lost rule %s", e.Rule)
		}
	}
}

// Where nothing is singled out, the next check is read before the candidates.
func TestUndecidedChecksFirst(t *testing.T) {
	for _, format := range []string{Text, Wide, Markdown} {
		got := render(t, undecidedList(), Options{Format: format})
		plainly := strings.Index(got, "does not single out a cause")
		check := strings.Index(got, "tomcat_threads_busy_threads")
		candidate := strings.Index(got, "Stall inside the runtime")
		if plainly < 0 || check < plainly || candidate < check {
			t.Errorf("%s: said at %d, check at %d, candidates at %d", format, plainly, check, candidate)
		}
	}
}

// A display reference is the same item in text, wide and markdown.
func TestLabelsAreTheSameEverywhere(t *testing.T) {
	d := saturated().Items[0]
	l := newLabels(&d)
	wide, md := render(t, saturated(), Options{Wide: true, Width: 200}), render(t, saturated(), Options{Format: Markdown})
	for ref, x := range d.Evidence {
		if want := fmt.Sprintf("   %-5s %s", "["+l.of[ref].String()+"]", x.Excerpt); !strings.Contains(strings.Join(strings.Fields(wide), " "), strings.Join(strings.Fields(want), " ")) {
			t.Errorf("wide lacks %q", want)
		}
		if want := "- `[" + l.of[ref].String() + "]` " + code(x.Excerpt); !strings.Contains(md, want) {
			t.Errorf("markdown lacks %q", want)
		}
	}
	if got := l.cite(refs("log:0a1b2c3d4e5f", "log:1a1b2c3d4e5f", "log:2a1b2c3d4e5f", "series:0a1b2c3d4e5f", "log:0a1b2c3d4e5f"), 0); got != "[l1–l3 s1]" {
		t.Errorf("cite = %q", got)
	}
	if got := l.cite(refs("event:0a1b2c3d4e5f", "log:1a1b2c3d4e5f", "series:0a1b2c3d4e5f", "pod:0a1b2c3d4e5f"), 3); got != "[e2 l2 …]" {
		t.Errorf("cite = %q", got)
	}
	if got := l.cite(nil, 3); got != "" {
		t.Errorf("cite of nothing = %q", got)
	}
}

func TestDeterminism(t *testing.T) {
	for _, format := range Formats() {
		want := render(t, saturated(), Options{Format: format})
		for range 100 {
			if got := render(t, saturated(), Options{Format: format}); got != want {
				t.Fatalf("%s differs from run to run", format)
			}
		}
	}
}

// Write does not change the list that it is given.
func TestInputIsNotChanged(t *testing.T) {
	list, zone := saturated(), time.FixedZone("X", 3600)
	list.Items[0].Window.Start = list.Items[0].Window.Start.In(zone)
	before := fmt.Sprintf("%#v", list)
	for _, format := range Formats() {
		render(t, list, Options{Format: format})
	}
	if after := fmt.Sprintf("%#v", list); after != before {
		t.Errorf("changed: %s", cmp.Diff(before, after))
	}
}

func TestJSONRoundTrip(t *testing.T) {
	for name, sample := range samples {
		text := render(t, sample(), Options{Format: JSON})
		var got rules.DiagnosisList
		if err := json.Unmarshal([]byte(text), &got); err != nil {
			t.Fatal(err)
		}
		want := Normalize(sample())
		for i := range want.Items {
			for ref, x := range want.Items[i].Evidence {
				x.File, x.Line = "", 0 // no part of the document
				want.Items[i].Evidence[ref] = x
			}
		}
		if diff := cmp.Diff(want, &got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if strings.Contains(text, "null") {
			t.Errorf("%s: the document holds null", name)
		}
		if !strings.HasSuffix(text, "}\n") || strings.HasSuffix(text, "\n\n") {
			t.Errorf("%s: it does not end with one newline", name)
		}
	}
	if got := render(t, nil, Options{Format: JSON}); got != "{\n  \"apiVersion\": \"probedoctor/v1\",\n  \"kind\": \"DiagnosisList\",\n  \"items\": [],\n  \"coverage\": []\n}\n" {
		t.Errorf("no list: %s", got)
	}
}

// Nothing of an item that was left nil is null in the document.
func TestNoNull(t *testing.T) {
	list := &rules.DiagnosisList{Items: []rules.Diagnosis{{
		Symptoms: []rules.Symptom{{}}, Failures: []rules.FailureGroup{{}}, RuledOut: []rules.RuledOut{{}}, Trace: []rules.TraceEntry{{}},
		Ranked: []rules.Cause{{For: []rules.Statement{{}}, Against: []rules.Statement{{}}}, {}},
	}, {}}}
	for _, format := range []string{JSON, YAML} {
		if got := render(t, list, Options{Format: format}); strings.Contains(got, "null") {
			t.Errorf("%s holds null:\n%s", format, got)
		}
	}
}

// The YAML is the JSON document: the same values, read by a YAML reader, in the same order of keys.
func TestYAMLIsTheJSONDocument(t *testing.T) {
	lists := map[string]*rules.DiagnosisList{"hostile": hostileList(hostile)}
	for name, sample := range samples {
		lists[name] = sample()
	}
	for name, list := range lists {
		var fromJSON, fromYAML any
		asJSON, asYAML := render(t, list, Options{Format: JSON}), render(t, list, Options{Format: YAML})
		if err := json.Unmarshal([]byte(asJSON), &fromJSON); err != nil {
			t.Fatal(err)
		}
		if err := yaml.Unmarshal([]byte(asYAML), &fromYAML); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		again, err := json.Marshal(fromYAML)
		if err != nil {
			t.Fatal(err)
		}
		fromYAML = nil
		if err := json.Unmarshal(again, &fromYAML); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(fromJSON, fromYAML); diff != "" {
			t.Errorf("%s (-json +yaml):\n%s", name, diff)
		}
		if a, b := keysOf(asJSON), keysOf(asYAML); !reflect.DeepEqual(a, b) {
			t.Errorf("%s: keys in another order (-json +yaml):\n%s", name, cmp.Diff(a, b))
		}
	}
}

// keysOf lists the plain keys of an indented document line by line.
func keysOf(doc string) []string {
	var keys []string
	for l := range strings.SplitSeq(doc, "\n") {
		key, _, ok := strings.Cut(strings.TrimLeft(l, " -"), ":")
		key = strings.Trim(key, `"`)
		if ok && plainYAML(key) && !strings.Contains(key, " ") && !strings.HasPrefix(strings.TrimLeft(l, " -"), `"`+key+":") {
			keys = append(keys, key)
		}
	}
	return keys
}

func TestYAMLStrings(t *testing.T) {
	for _, s := range []string{"", "y", "No", "on", "null", "~", "1", "1e3", "0x1f", "1:20", "2026-03-01", ".nan", "-", "- a", "? a", "a: b", "a #b",
		"#a", "a:", " a", "a ", "*a", "&a", "!a", "|", ">", "%a", "@a", "`a", "'a'", `"a"`, `a\b`, "a\nb", "a\tb", "\x1b[31m", "\u202e", "\u2028", "\x7f", "é",
		"値", "🧨", "{a}", "[a]", "=", "<<", "a,b", "a'b", "---", "...", "true", "NULL"} {
		var got map[string]string
		text := string(appendYAMLString([]byte("k: "), s))
		if err := yaml.Unmarshal([]byte(text), &got); err != nil {
			t.Errorf("%q: %v", text, err)
		} else if got["k"] != s {
			t.Errorf("%q reads as %q", text, got["k"])
		}
		for _, r := range text {
			if unsafeRune(r) {
				t.Errorf("%q holds %U", text, r)
			}
		}
	}
}

func TestTimesInZone(t *testing.T) {
	w := rules.Window{Start: at("23:02:11"), End: at("23:19:40")}
	for _, c := range []struct {
		window rules.Window
		zone   *time.Location
		want   string
	}{
		{w, nil, "2026-03-01 23:02–23:19 UTC"},
		{w, time.FixedZone("CET", 3600), "2026-03-02 00:02–00:19 CET"},
		{rules.Window{Start: at("23:02:11"), End: at("23:02:40")}, nil, "2026-03-01 23:02:11–23:02:40 UTC"},
		{rules.Window{Start: at("23:02:11"), End: at("23:02:11")}, nil, "2026-03-01 23:02:11 UTC"},
		{rules.Window{Start: at("23:02:11"), End: at("23:02:11").Add(2 * time.Hour)}, nil, "2026-03-01 23:02 – 2026-03-02 01:02 UTC"},
		{rules.Window{Relative: true, StartAge: "12m0s", EndAge: "12m0s"}, nil, "12 min before the paste"},
		{rules.Window{Relative: true, StartAge: "3h20m5s", EndAge: "37s"}, nil, "3 h 20 min to 37 s before the paste"},
		{rules.Window{Relative: true, StartAge: "70h0m0s"}, nil, "2 d 22 h before the paste"},
		{rules.Window{Relative: true}, nil, ""},
		{rules.Window{}, nil, ""},
	} {
		if got := strings.ReplaceAll(windowText(c.window, c.zone, "–"), glue, " "); got != c.want {
			t.Errorf("windowText(%+v) = %q, want %q", c.window, got, c.want)
		}
	}
}

func TestVerdict(t *testing.T) {
	cause := func(role rules.Role, p float64) rules.Cause { return rules.Cause{ID: "x", Role: role, Probability: p} }
	for _, c := range []struct {
		ranked []rules.Cause
		want   bool
	}{
		{nil, false},
		{[]rules.Cause{cause(rules.RootCause, 0.5)}, true},
		{[]rules.Cause{cause(rules.RootCause, 0.49), cause(rules.Contributing, 0.9)}, false},
		{[]rules.Cause{cause(rules.Contributing, 0.9)}, false},
		{[]rules.Cause{cause(rules.Noise, 0.9), cause(rules.RootCause, 0.2)}, true},
		{[]rules.Cause{cause(rules.RootCause, 0.2), cause(rules.Noise, 0.9)}, false},
	} {
		if got := verdict(&rules.Diagnosis{Ranked: c.ranked}) != nil; got != c.want {
			t.Errorf("verdict(%+v) = %v", c.ranked, got)
		}
	}
}

func TestNumbers(t *testing.T) {
	for p, want := range map[float64]string{0: "<1 %", 0.004: "<1 %", 0.5: "50 %", 0.994: "99 %", 0.996: ">99 %", 1: "100 %", math.NaN(): "? %"} {
		if got := strings.ReplaceAll(percent(p), glue, " "); got != want {
			t.Errorf("percent(%v) = %q, want %q", p, got, want)
		}
	}
	for n, want := range map[int]string{0: "0", 999: "999", 1000: "1,000", 1234567: "1,234,567", -1204: "-1,204"} {
		if got := number(n); got != want {
			t.Errorf("number(%d) = %q, want %q", n, got, want)
		}
	}
	if got := unicodeGlyphs.bar(0.999, 10); got != "█████████░" {
		t.Errorf("the bar of 99.9 %% is %q: full is for what is certain", got)
	}
}

// Failures that are nothing but known probes must not be lost where the probe or the phase is not known.
func TestFailuresOfUnknownKind(t *testing.T) {
	d := &rules.Diagnosis{Failures: []rules.FailureGroup{
		{Phase: evidence.PhaseUnknown, Outcome: evidence.OutcomeUnknown, Life: "unknown", Count: 3},
		{Phase: evidence.PhaseStatus, Outcome: evidence.OutcomeStatus, Life: "live", Count: 2, AtLeast: true, Status: map[int]int{503: 1, 500: 1},
			ByProbe: map[evidence.ProbeKind]int{evidence.Startup: 2}},
		{Phase: evidence.PhaseExec, Outcome: evidence.OutcomeTimeout, Life: "live", Count: 1, Result: evidence.Errored},
	}}
	total, byProbe, byPhase := failuresText(d, "≥")
	got := strings.ReplaceAll(total+" / "+byProbe+" / "+strings.Join(byPhase, " / "), glue, " ")
	want := "≥6 probe failures / startup ≥2 / 3 of a kind that could not be told / ≥2 status 500, 503 / 1 exec timeout (discarded by the kubelet)"
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if !utf8.ValidString(got) {
		t.Error("not UTF-8")
	}
}
