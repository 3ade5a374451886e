package evidence

import (
	"cmp"
	"slices"
	"strings"
)

// deriveFailures classifies every event and kubelet log line that speaks of a probe.
//
// OpenShift's kubelet writes each failure twice (reasons Unhealthy and ProbeError); the second is dropped where the first
// is there. Kubelet log lines repeat what the events say; they are used only for pods without such an event.
func deriveFailures(s *Set) []Failure {
	var out []Failure
	type key struct {
		object    Object
		container string
		probe     ProbeKind
	}
	withEvent := map[key]bool{}
	podWithEvent := map[Object]bool{}
	var doubles []Failure
	for i := range s.Events {
		e := &s.Events[i]
		if !probeReason(e.Reason) {
			continue
		}
		v, ok := Classify(e.Message)
		if !ok {
			continue
		}
		f := Failure{
			Verdict: v, Cites: e.Ref, Object: e.Object, Container: e.Container, Combined: e.Combined,
			Count: max(e.Count, 1), AtLeast: e.AtLeast, First: e.First, Last: e.Last, Message: e.Message,
		}
		if f.Combined {
			f.Container = ""
		}
		if e.Reason == "ProbeError" || strings.Contains(e.Message, " probe error:") {
			doubles = append(doubles, f)
			continue
		}
		withEvent[key{f.Object, f.Container, f.Probe}] = true
		podWithEvent[Object{Namespace: f.Object.Namespace, Name: f.Object.Name}] = true
		out = append(out, f)
	}
	for _, f := range doubles {
		if !withEvent[key{f.Object, f.Container, f.Probe}] {
			out = append(out, f)
		}
	}
	for i := range s.Logs {
		l := &s.Logs[i]
		if l.Origin != "kubelet" {
			continue
		}
		v, ok := Classify(l.Message)
		if !ok || podWithEvent[Object{Namespace: l.Object.Namespace, Name: l.Object.Name}] {
			continue
		}
		out = append(out, Failure{
			Verdict: v, Cites: l.Ref, Object: l.Object, Container: l.Container, Count: 1, First: l.At, Last: l.At, Message: l.Message,
		})
	}
	slices.SortStableFunc(out, func(a, b Failure) int {
		return cmp.Or(a.First.Compare(b.First), compareObject(a.Object, b.Object), cmp.Compare(a.Cites, b.Cites))
	})
	return out
}

// probeReason tells whether events of the reason carry a probe's output. Rows without a reason are bare messages.
func probeReason(reason string) bool {
	switch reason {
	case "Unhealthy", "unhealthy", "ProbeWarning", "ProbeError", "ProbeFailed", "":
		return true
	}
	return false
}
