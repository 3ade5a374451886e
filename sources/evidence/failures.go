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
	n := 0
	for i := range s.Events {
		if probeReason(s.Events[i].Reason) {
			n++
		}
	}
	out := make([]Failure, 0, n)
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
		out = append(out, f)
	}
	out = append(out, onlyDoubles(doubles, out)...)
	out = append(out, logFailures(s.Logs, out)...)
	slices.SortStableFunc(out, func(a, b Failure) int {
		return cmp.Or(a.First.Compare(b.First), compareObject(a.Object, b.Object), cmp.Compare(a.Cites, b.Cites))
	})
	return out
}

// onlyDoubles gives those of OpenShift's ProbeError rows that have no Unhealthy row beside them.
func onlyDoubles(doubles, failures []Failure) []Failure {
	if len(doubles) == 0 {
		return nil
	}
	type key struct {
		object    Object
		container string
		probe     ProbeKind
	}
	seen := map[key]bool{}
	for i := range failures {
		f := &failures[i]
		seen[key{f.Object, f.Container, f.Probe}] = true
	}
	return slices.DeleteFunc(doubles, func(f Failure) bool { return seen[key{f.Object, f.Container, f.Probe}] })
}

// logFailures gives the failures in the kubelet's log of pods for which there is no event.
func logFailures(logs []LogLine, failures []Failure) []Failure {
	type key struct{ namespace, name string }
	var withEvent map[key]bool
	var out []Failure
	for i := range logs {
		l := &logs[i]
		if l.Origin != "kubelet" {
			continue
		}
		v, ok := Classify(l.Message)
		if !ok {
			continue
		}
		if withEvent == nil {
			withEvent = map[key]bool{}
			for j := range failures {
				withEvent[key{failures[j].Object.Namespace, failures[j].Object.Name}] = true
			}
		}
		if withEvent[key{l.Object.Namespace, l.Object.Name}] {
			continue
		}
		out = append(out, Failure{
			Verdict: v, Cites: l.Ref, Object: l.Object, Container: l.Container, Count: 1, First: l.At, Last: l.At, Message: l.Message,
		})
	}
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
