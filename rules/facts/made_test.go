package facts_test

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/probedoctor/probedoctor/rules/facts"
	"github.com/probedoctor/probedoctor/sources/evidence"
)

// The incidents of these tests are made by hand: small, and with numbers that a reader can check in the head.

// nine is the moment from which the tests count minutes.
var nine = time.Date(2026, time.March, 14, 9, 0, 0, 0, time.UTC)

func at(minutes float64) time.Time { return nine.Add(time.Duration(minutes * float64(time.Minute))) }

// made is an incident of the container app of the Deployment shop/web, with failures of readiness from 9:00 to 9:10.
func made(change func(in *facts.Incident)) *facts.Incident {
	in := &facts.Incident{
		Set: &evidence.Set{End: at(10)}, Namespace: "shop", Container: "app", Start: at(0), End: at(10),
		Workload: evidence.Object{Namespace: "shop", Kind: "Deployment", Name: "web"},
		Series:   map[string][]*evidence.Series{}, Signatures: map[string]facts.Signature{},
	}
	if change != nil {
		change(in)
	}
	return in
}

// covered says of sources that they were read whole; an event of another workload was read as well.
func covered(in *facts.Incident, sources ...string) {
	in.Set.Events = []evidence.Event{{Item: evidence.Item{Source: "kubernetes"}, Reason: "Pulled"}}
	for _, s := range sources {
		in.Set.Coverage = append(in.Set.Coverage, evidence.Coverage{Source: s, Status: evidence.CoverageOK})
	}
}

// ref numbers the items of an incident.
func ref(kind string, n int) evidence.Ref { return evidence.Ref(fmt.Sprintf("%s:%d", kind, n)) }

// pod adds a pod that runs since an hour before the incident and is Ready unless the change says otherwise.
func pod(in *facts.Incident, name string, change func(p *evidence.Pod)) *evidence.Pod {
	p := &evidence.Pod{
		Item:   evidence.Item{Ref: ref("pod", len(in.Pods))},
		Object: evidence.Object{Namespace: "shop", Kind: "Pod", Name: name}, Created: at(-60), Started: at(-60),
		Conditions: []evidence.Condition{{Type: "Ready", Status: "True", Transition: at(-59)}},
		Containers: []evidence.Container{{Name: "app", StatusKnown: true, Ready: true, State: evidence.ContainerState{Status: "running", Started: at(-60)}}},
	}
	if change != nil {
		change(p)
	}
	in.Pods = append(in.Pods, p)
	return p
}

func notReady(since time.Time) func(p *evidence.Pod) {
	return func(p *evidence.Pod) {
		p.Conditions = []evidence.Condition{{Type: "Ready", Status: "False", Transition: since}}
		p.Containers[0].Ready = false
	}
}

// fail adds a failed readiness probe that timed out while awaiting headers, once at 9:00, unless the change says otherwise.
func fail(in *facts.Incident, pod string, change func(f *facts.Failure)) {
	n := len(in.Failures)
	f := facts.Failure{Life: facts.Live, Failure: &evidence.Failure{
		Verdict: evidence.Verdict{Probe: evidence.Readiness, Result: evidence.Failed, Phase: evidence.PhaseAwaitingHeaders, Outcome: evidence.OutcomeTimeout},
		Cites:   ref("event", n), Object: evidence.Object{Namespace: "shop", Kind: "Pod", Name: pod}, Container: "app",
		Count: 1, First: at(0), Last: at(0),
	}}
	if change != nil {
		change(&f)
	}
	in.Failures = append(in.Failures, f)
}

func span(first, last time.Time, count int) func(f *facts.Failure) {
	return func(f *facts.Failure) { f.First, f.Last, f.Count = first, last, count }
}

func outcome(phase evidence.Phase, o evidence.Outcome) func(f *facts.Failure) {
	return func(f *facts.Failure) { f.Phase, f.Outcome = phase, o }
}

// probe adds a probe of the container, with all the failures of its kind.
func probe(in *facts.Incident, kind evidence.ProbeKind, spec *evidence.ProbeSpec) {
	p := facts.Probe{Kind: kind, Spec: spec}
	if spec != nil {
		spec.Probe, p.SpecRef = kind, ref("pod", 99)
	}
	for i := range in.Failures {
		if in.Failures[i].Probe == kind {
			p.Failures = append(p.Failures, &in.Failures[i])
		}
	}
	in.Probes = append(in.Probes, p)
}

func event(in *facts.Incident, reason, message string, when time.Time) *evidence.Event {
	e := &evidence.Event{Item: evidence.Item{Ref: ref("event", 100+len(in.Events))}, Reason: reason, Message: message, Count: 1, First: when, Last: when}
	in.Events = append(in.Events, e)
	return e
}

func series(in *facts.Incident, signal, pod string, values ...float64) {
	s := &evidence.Series{Item: evidence.Item{Ref: ref("series", len(in.Series[signal]))}, Signal: signal, Labels: map[string]string{}}
	if pod != "" {
		s.Labels["pod"] = pod
	}
	for i, v := range values {
		s.Samples = append(s.Samples, evidence.Sample{At: at(float64(i)), Value: v})
	}
	in.Series[signal] = append(in.Series[signal], s)
}

func request(in *facts.Incident, path string, change func(r *evidence.Request)) {
	r := &evidence.Request{Item: evidence.Item{Ref: ref("request", len(in.Requests))}, Path: path, Status: 200, By: "server", At: at(1)}
	if change != nil {
		change(r)
	}
	in.Requests = append(in.Requests, r)
}

func took(d time.Duration, pod string) func(r *evidence.Request) {
	return func(r *evidence.Request) { r.Duration, r.Object.Name = &d, pod }
}

func line(in *facts.Incident, pod, message string, when time.Time) *evidence.LogLine {
	l := &evidence.LogLine{Item: evidence.Item{Ref: ref("log", len(in.Logs))}, Origin: "app", Object: evidence.Object{Name: pod}, Message: message, At: when}
	in.Logs = append(in.Logs, l)
	return l
}

func listen(in *facts.Incident, address, port string) *evidence.Listener {
	l := &evidence.Listener{Item: evidence.Item{Ref: ref("listener", len(in.Listeners))}, Address: address, Port: port, Queued: -1, Backlog: -1}
	in.Listeners = append(in.Listeners, l)
	return l
}

// unknown is what a test wants of a fact that nothing tells.
type unknown struct{}

// wants are facts by name with their values.
type wants map[string]any

type factTest struct {
	name string
	make func(in *facts.Incident)
	want wants
}

func compute(t *testing.T, in *facts.Incident, name string) facts.Value {
	t.Helper()
	f, ok := facts.ByName(name)
	if !ok {
		t.Fatalf("there is no fact %s", name)
	}
	return f.Compute(in)
}

func checkFacts(t *testing.T, tests []factTest) {
	t.Helper()
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			in := made(tt.make)
			for _, name := range slices.Sorted(maps.Keys(tt.want)) {
				got := compute(t, in, name)
				switch want := tt.want[name].(type) {
				case unknown:
					if got.Known {
						t.Errorf("%s is %v, want unknown", name, got.V)
					}
				case float64:
					if v, ok := got.V.(float64); !ok || math.Abs(v-want) > 1e-4*max(1, math.Abs(want)) {
						t.Errorf("%s is %v (known: %v), want %v", name, got.V, got.Known, want)
					}
				case int:
					if got.V != int64(want) {
						t.Errorf("%s is %v (known: %v), want %v", name, got.V, got.Known, want)
					}
				default:
					if got.V != want {
						t.Errorf("%s is %v (known: %v), want %v", name, got.V, got.Known, want)
					}
				}
				if got.Known && got.V == nil || !got.Known && got.V != nil {
					t.Errorf("%s: known is %v and the value %v", name, got.Known, got.V)
				}
			}
		})
	}
}
