package evidence

import (
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var noon = time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)

func pod(name string) Object { return Object{Namespace: "shop", Kind: "Pod", Name: name} }

func ptr[T any](v T) *T { return &v }

const statusMessage = "Readiness probe failed: HTTP probe failed with statuscode: 503"

func unhealthy(name string, first, last time.Time, count int) Event {
	return Event{Object: pod(name), Container: "web", Type: "Warning", Reason: "Unhealthy", Message: statusMessage, Count: count,
		First: first, Last: last, Component: "kubelet"}
}

// sample is a set with something of every kind, and with duplicates.
func sample() *Set {
	scrape := func(v float64, at time.Time) Series {
		return Series{Name: "busy", Labels: map[string]string{"pod": "a", "b": "c"}, Samples: []Sample{{at, v}, {at.Add(-time.Minute), 1}}}
	}
	return &Set{
		Events: []Event{
			unhealthy("a", noon.Add(-time.Hour), noon, 9),
			unhealthy("a", noon.Add(-time.Hour), noon, 9),
			unhealthy("b", Ago(7*time.Minute), Ago(2*time.Minute), 3),
			{Object: pod("a"), Reason: "Killing", Message: "Container web failed liveness probe, will be restarted", Count: 1, First: noon, Last: noon},
		},
		Pods: []Pod{
			{Object: pod("a"), Item: Item{File: "2.json", Line: 7, Observed: noon, Excerpt: "a"}, Containers: []Container{{Name: "web", Started: ptr(true)}}},
			{Object: pod("a"), Item: Item{File: "1.json", Line: 9, Source: "kubernetes", Excerpt: "a"}, Containers: []Container{{Name: "web", Started: ptr(true)}}},
			{Object: pod("b"), Labels: map[string]string{"x": "1", "y": "2"}},
		},
		Workloads:    []Workload{{Object: Object{Kind: "Deployment", Name: "web"}, Desired: 3}, {Object: Object{Kind: "Deployment", Name: "api"}}},
		Autoscalers:  []Autoscaler{{Object: Object{Name: "web"}, LastScale: noon.Add(-time.Minute), Current: 3, Desired: 4}},
		Nodes:        []Node{{Object: Object{Kind: "Node", Name: "n2"}}, {Object: Object{Kind: "Node", Name: "n1"}, CPU: math.NaN()}},
		Services:     []Service{{Object: Object{Kind: "Service", Name: "web"}}},
		Series:       []Series{scrape(3, noon), scrape(math.NaN(), noon), scrape(math.Inf(1), noon), scrape(3, noon)},
		Logs:         []LogLine{{At: Dayless(11, 59, 0, 0, time.UTC), Message: "slow"}, {At: Yearless(3, 13, 8, 0, 0, 0, time.UTC), Message: "older"}},
		Requests:     []Request{{At: noon, Path: "/x", Status: 200, Duration: ptr(time.Second)}, {At: noon, Path: "/x", Status: 200}},
		Targets:      []Target{{Group: "g", ID: "10.0.0.2"}, {Group: "g", ID: "10.0.0.1", Codes: []int{500}}},
		HealthChecks: []HealthCheck{{Group: "g", Interval: 10 * time.Second}},
		Listeners:    []Listener{{Address: "::", Port: "80"}},
		Queries:      []Query{{Signal: "b"}, {Signal: "a"}, {Signal: "b"}},
		Coverage:     []Coverage{{SourcePods, CoverageOK, ""}, {SourceEvents, CoverageOK, ""}, {SourcePods, CoverageOK, ""}},
	}
}

// plain gives the exported content of a finished set in a form to compare.
func plain(s *Set) map[string]any {
	out := map[string]any{}
	v := reflect.ValueOf(*s)
	for i := range v.NumField() {
		if f := v.Type().Field(i); f.IsExported() {
			out[f.Name] = v.Field(i).Interface()
		}
	}
	return out
}

func shuffle[T any](r *rand.Rand, s []T) {
	r.Shuffle(len(s), func(i, j int) { s[i], s[j] = s[j], s[i] })
}

func TestFinishDoesNotDependOnOrder(t *testing.T) {
	want := sample()
	want.Finish(FinishOptions{})
	for seed := range uint64(50) {
		r := rand.New(rand.NewPCG(seed, 1))
		got := sample()
		shuffle(r, got.Events)
		shuffle(r, got.Pods)
		shuffle(r, got.Workloads)
		shuffle(r, got.Nodes)
		shuffle(r, got.Series)
		for i := range got.Series {
			shuffle(r, got.Series[i].Samples)
		}
		shuffle(r, got.Logs)
		shuffle(r, got.Requests)
		shuffle(r, got.Targets)
		shuffle(r, got.Queries)
		shuffle(r, got.Coverage)
		got.Finish(FinishOptions{})
		sameNaN := cmp.Comparer(func(a, b float64) bool { return math.Float64bits(a) == math.Float64bits(b) })
		if diff := cmp.Diff(plain(want), plain(got), sameNaN); diff != "" {
			t.Fatalf("seed %d (-sorted +shuffled):\n%s", seed, diff)
		}
	}
}

func TestFinishRemovesDuplicates(t *testing.T) {
	s := sample()
	s.Finish(FinishOptions{})
	for name, n := range map[string][2]int{
		"events": {len(s.Events), 3}, "pods": {len(s.Pods), 2}, "series with NaN and Inf": {len(s.Series), 3},
		"requests": {len(s.Requests), 2}, "queries": {len(s.Queries), 2}, "coverage": {len(s.Coverage), 2}, "failures": {len(s.Failures), 2},
	} {
		if n[0] != n[1] {
			t.Errorf("%s: %d, want %d", name, n[0], n[1])
		}
	}
	a := s.Pods[0].Item
	if a.File != "1.json" || a.Line != 9 || !a.Observed.Equal(noon) || a.Source != "kubernetes" {
		t.Errorf("what was read twice is not joined: %+v", a)
	}
	for i := range s.Series {
		if !slices.IsSortedFunc(s.Series[i].Samples, func(a, b Sample) int { return a.At.Compare(b.At) }) {
			t.Errorf("samples are not sorted: %v", s.Series[i].Samples)
		}
	}
}

func TestRefs(t *testing.T) {
	s := sample()
	s.Finish(FinishOptions{})
	for i := range s.Failures {
		v, ok := s.Lookup(s.Failures[i].Cites)
		if _, event := v.(*Event); !ok || !event {
			t.Errorf("%s does not resolve to an event", s.Failures[i].Cites)
		}
	}
	v, ok := s.Lookup(s.Nodes[0].Ref)
	if it, is := ItemOf(v); !ok || !is || it.Ref != s.Nodes[0].Ref {
		t.Errorf("%s does not resolve", s.Nodes[0].Ref)
	}
	if _, ok := s.Lookup("event:000000000000"); ok {
		t.Error("an unknown reference resolves")
	}

	// The file, the line and the time of reading are no part of the reference; the content is.
	ref := func(change func(*Pod)) Ref {
		p := Pod{Object: pod("a"), Containers: []Container{{Name: "web", LastState: ContainerState{ExitCode: ptr(137)}}}}
		change(&p)
		s := &Set{Pods: []Pod{p}}
		s.Finish(FinishOptions{})
		return s.Pods[0].Ref
	}
	same := ref(func(*Pod) {})
	if got := ref(func(p *Pod) { p.File, p.Line, p.Observed, p.Locator = "x", 3, noon, "l" }); got != same {
		t.Errorf("%s became %s by another place of reading", same, got)
	}
	for name, change := range map[string]func(*Pod){
		"name":        func(p *Pod) { p.Object.Name = "b" },
		"exit code":   func(p *Pod) { p.Containers[0].LastState.ExitCode = ptr(1) },
		"no code":     func(p *Pod) { p.Containers[0].LastState.ExitCode = nil },
		"label":       func(p *Pod) { p.Labels = map[string]string{"a": "b"} },
		"a text that": func(p *Pod) { p.Object.Namespace, p.Object.Kind = "shopPod", "" },
	} {
		if ref(change) == same {
			t.Errorf("%s does not change the reference", name)
		}
	}
}

func TestFinishTimes(t *testing.T) {
	log := func(at time.Time) *Set { return &Set{Logs: []LogLine{{At: at, Message: "m"}}} }
	anchored := func(at time.Time, anchor time.Time) *Set {
		s := log(at)
		s.Events = []Event{{Object: pod("anchor"), First: anchor, Last: anchor}}
		return s
	}
	tokyo := time.FixedZone("", 9*3600)
	newYork := time.FixedZone("", -5*3600)
	newYear := time.Date(2026, 1, 1, 0, 10, 0, 0, time.UTC)
	cases := []struct {
		name     string
		set      *Set
		at       time.Time
		want     time.Time
		relative bool
	}{
		{"ages against the given moment", log(Ago(5 * time.Minute)), noon, noon.Add(-5 * time.Minute), false},
		{"ages against the newest time in the evidence", anchored(Ago(5*time.Minute), noon), time.Time{}, noon.Add(-5 * time.Minute), false},
		{"the given moment goes first", anchored(Ago(5*time.Minute), noon), noon.Add(time.Hour), noon.Add(55 * time.Minute), false},
		{"ages without an anchor stay relative", log(Ago(5 * time.Minute)), time.Time{}, Ago(5 * time.Minute), true},
		{"no year", anchored(Yearless(3, 14, 11, 0, 0, 0, time.UTC), noon), time.Time{}, noon.Add(-time.Hour), false},
		{"no year, last year", anchored(Yearless(11, 3, 18, 22, 10, 0, time.UTC), noon), time.Time{}, time.Date(2025, 11, 3, 18, 22, 10, 0, time.UTC), false},
		{"no year, over the new year", anchored(Yearless(12, 31, 23, 59, 0, 0, time.UTC), newYear), time.Time{}, time.Date(2025, 12, 31, 23, 59, 0, 0, time.UTC), false},
		{"no year, other zone", anchored(Yearless(1, 1, 1, 0, 0, 0, tokyo), newYear), time.Time{}, time.Date(2025, 12, 31, 16, 0, 0, 0, time.UTC), false},
		{"no year, converted", anchored(Yearless(12, 31, 23, 0, 0, 0, newYork).UTC(), noon), time.Time{}, time.Date(2026, 1, 1, 4, 0, 0, 0, time.UTC), false},
		{"the 29th of February", anchored(Yearless(2, 29, 1, 0, 0, 0, time.UTC), noon), time.Time{}, time.Date(2024, 2, 29, 1, 0, 0, 0, time.UTC), false},
		{"no year at all", log(Yearless(2, 29, 1, 0, 0, 0, time.UTC)), time.Time{}, time.Date(PlaceholderYear, 2, 29, 1, 0, 0, 0, time.UTC), false},
		{"no date", anchored(Dayless(9, 40, 7, 902e6, time.UTC), noon), time.Time{}, time.Date(2026, 3, 14, 9, 40, 7, 902e6, time.UTC), false},
		{"no date, yesterday", anchored(Dayless(23, 50, 0, 0, time.UTC), noon), time.Time{}, time.Date(2026, 3, 13, 23, 50, 0, 0, time.UTC), false},
		{"no date, a clock ahead", anchored(Dayless(12, 10, 0, 0, time.UTC), noon), time.Time{}, noon.Add(10 * time.Minute), false},
		{"no date, other zone", anchored(Dayless(1, 0, 0, 0, tokyo), noon), time.Time{}, time.Date(2026, 3, 13, 16, 0, 0, 0, time.UTC), false},
		{"no date at all", log(Dayless(9, 0, 0, 0, time.UTC)), time.Time{}, time.Date(PlaceholderYear, 1, 2, 9, 0, 0, 0, time.UTC), false},
		{"unknown stays unknown", anchored(time.Time{}, noon), time.Time{}, time.Time{}, false},
		{"absolute", log(noon.In(tokyo)), time.Time{}, noon, false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			c.set.Finish(FinishOptions{At: c.at})
			if got := c.set.Logs[0].At; !got.Equal(c.want) {
				t.Errorf("got %s, want %s", got, c.want)
			}
			if c.set.Relative != c.relative {
				t.Errorf("Relative is %t", c.set.Relative)
			}
		})
	}

	s := &Set{Logs: []LogLine{{At: Ago(12 * time.Minute)}}}
	s.Finish(FinishOptions{})
	if got := Before(s.End); got != 12*time.Minute {
		t.Errorf("the end is %s before the paste", got)
	}
	s = &Set{Pods: []Pod{{Item: Item{Observed: Ago(0)}, Created: Ago(time.Hour)}}}
	s.Finish(FinishOptions{At: noon})
	if p := s.Pods[0]; !p.Observed.Equal(noon) || !p.Created.Equal(noon.Add(-time.Hour)) || !s.End.Equal(noon) {
		t.Errorf("observed %s, created %s, end %s", p.Observed, p.Created, s.End)
	}
}

func TestSameEventTwice(t *testing.T) {
	hour := noon.Add(-time.Hour)
	row := func(name string, first, last time.Time, count int, change ...func(*Event)) Event {
		e := unhealthy("a", first, last, count)
		e.Name = name
		for _, f := range change {
			f(&e)
		}
		return e
	}
	floor := func(e *Event) { e.AtLeast = true }
	cases := []struct {
		name   string
		events []Event
		counts []int
	}{
		{"a watch prints the row again", []Event{row("a.1", hour, noon, 9), row("a.1", hour, noon.Add(-time.Minute), 8)}, []int{9}},
		{"two objects of one text", []Event{row("a.1", hour, noon, 9), row("a.2", hour.Add(time.Minute), noon, 4)}, []int{9, 4}},
		{"JSON and describe", []Event{row("a.1", hour, noon, 9), row("", hour.Add(30*time.Second), noon, 9)}, []int{9}},
		{"describe, twice", []Event{row("", hour, noon, 9), row("", hour.Add(20*time.Second), noon.Add(-time.Minute), 7)}, []int{9}},
		{"describe and get events", []Event{row("", hour, noon, 9), row("", time.Time{}, noon, 1, floor)}, []int{9}},
		{"without any time", []Event{row("", hour, noon, 9), row("", time.Time{}, time.Time{}, 1, floor)}, []int{9}},
		{"another burst", []Event{row("", hour, hour, 2), row("", noon, noon, 3)}, []int{2, 3}},
		{"another pod", []Event{row("", hour, noon, 9), row("", hour, noon, 8, func(e *Event) { e.Object.Name = "b" })}, []int{9, 8}},
		{"another namespace", []Event{row("", hour, noon, 9), row("", hour, noon, 8, func(e *Event) { e.Object.Namespace = "b" })}, []int{9, 8}},
		{"no namespace", []Event{row("", hour, noon, 9), row("", hour, noon, 8, func(e *Event) { e.Object.Namespace = "" })}, []int{9}},
		{"another container", []Event{row("", hour, noon, 9), row("", hour, noon, 8, func(e *Event) { e.Container = "b" })}, []int{9, 8}},
		{"a higher count is no repetition", []Event{row("a.1", hour, noon, 2), row("", hour, noon, 8)}, []int{2, 8}},
	}
	for _, c := range cases {
		for _, reverse := range []bool{false, true} {
			s := &Set{Events: slices.Clone(c.events), Requests: []Request{{At: noon}}}
			if reverse {
				slices.Reverse(s.Events)
			}
			s.Finish(FinishOptions{})
			var counts []int
			for _, e := range s.Events {
				counts = append(counts, e.Count)
			}
			slices.Sort(counts)
			want := slices.Sorted(slices.Values(c.counts))
			if !slices.Equal(counts, want) {
				t.Errorf("%s, reversed %t: counts %v, want %v", c.name, reverse, counts, want)
			}
		}
	}
}

func TestFailures(t *testing.T) {
	kubelet := func(name string) LogLine {
		return LogLine{Origin: "kubelet", Object: pod(name), Container: "web", At: noon, Message: `"Probe failed" probeType="Readiness" output="HTTP probe failed with statuscode: 503"`}
	}
	combined := unhealthy("c", noon, noon, 5)
	combined.Combined = true
	double := unhealthy("a", noon, noon, 2)
	double.Reason, double.Message = "ProbeError", "Readiness probe error: HTTP probe failed with statuscode: 503\nbody: x"
	bareDouble := double
	bareDouble.Reason = ""
	other := unhealthy("o", noon, noon, 1)
	other.Reason, other.Message = "ProbeError", "Readiness probe error: HTTP probe failed with statuscode: 500"
	custom := unhealthy("z", noon, noon, 1)
	custom.Reason = "SomethingElse"
	s := &Set{
		Events: []Event{unhealthy("a", noon, noon, 2), double, bareDouble, other, combined, custom},
		Logs:   []LogLine{kubelet("a"), kubelet("k"), {Origin: "app", Object: pod("z"), Message: statusMessage}},
	}
	s.Finish(FinishOptions{})
	got := map[string]int{}
	for _, f := range s.Failures {
		got[f.Object.Name+"/"+f.Container] += f.Count
	}
	// OpenShift's doubles and the kubelet's log repeat what is known; a combined row is the pod's and no container's.
	want := map[string]int{"a/web": 2, "o/web": 1, "c/": 5, "k/web": 1}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("failures (-want +got):\n%s", diff)
	}
}

func TestCovered(t *testing.T) {
	s := &Set{Coverage: []Coverage{
		{SourcePods, CoverageOK, ""}, {SourceEvents, CoverageOK, ""}, {SourceEvents, CoveragePartial, "a.txt:3: cut"}, {SourceLogs, CoverageDenied, ""},
	}}
	for source, want := range map[string]bool{SourcePods: true, SourceEvents: false, SourceLogs: false, SourceMetrics: false} {
		if got := s.Covered(source); got != want {
			t.Errorf("Covered(%q) is %t", source, got)
		}
	}
}

func TestMergeKeepsEverything(t *testing.T) {
	s := &Set{}
	s.Merge(sample())
	if diff := cmp.Diff(plain(sample()), plain(s), cmp.Comparer(func(a, b float64) bool { return math.Float64bits(a) == math.Float64bits(b) })); diff != "" {
		t.Errorf("lost in the merge (-want +got):\n%s", diff)
	}
}

func BenchmarkFinish(b *testing.B) {
	events := make([]Event, 100_000)
	for i := range events {
		events[i] = unhealthy("web-"+strconv.Itoa(i%5000), noon.Add(-time.Duration(i)*time.Second), noon, i+1)
		events[i].Name = "e" + strconv.Itoa(i)
	}
	for b.Loop() {
		s := &Set{Events: slices.Clone(events)}
		s.Finish(FinishOptions{})
	}
}

// What has no year gets one that nobody takes for real, and the coverage says so.
func TestNoYearIsSaid(t *testing.T) {
	s := &Set{Logs: []LogLine{{Item: Item{Source: "logs", Locator: "l", Excerpt: "x"}, At: Yearless(time.November, 18, 14, 2, 3, 0, time.UTC)}}}
	s.Finish(FinishOptions{})
	if s.Logs[0].At.Year() != PlaceholderYear || len(s.Coverage) != 1 || s.Coverage[0].Status != CoveragePartial {
		t.Errorf("at %v, coverage %+v", s.Logs[0].At, s.Coverage)
	}
	s = &Set{Logs: []LogLine{{Item: Item{Source: "logs", Locator: "l", Excerpt: "x"}, At: Yearless(time.November, 18, 14, 2, 3, 0, time.UTC)}}}
	s.Finish(FinishOptions{At: time.Date(2026, 11, 19, 0, 0, 0, 0, time.UTC)})
	if s.Logs[0].At.Year() != 2026 || len(s.Coverage) != 0 {
		t.Errorf("at %v, coverage %+v", s.Logs[0].At, s.Coverage)
	}
}
