package diagnose

import (
	"slices"
	"strings"
	"time"

	"github.com/probedoctor/probedoctor/sources/evidence"
)

// index holds the evidence by the name of the workload it is about, so that a hundred incidents among a hundred thousand
// events cost one pass. The empty name holds what names no object.
type index struct {
	pods     map[string][]*evidence.Pod
	events   map[string][]*evidence.Event
	logs     map[string][]*evidence.LogLine
	requests map[string][]*evidence.Request
	series   map[string][]*evidence.Series
	// nodeEvents is by node, scaler by autoscaler.
	nodeEvents map[string][]*evidence.Event
	scaler     map[string][]*evidence.Event
	nodeLogs   []*evidence.LogLine
	// stopped is when a pod was told to stop by something other than a probe; gone are the moments at which a probe met its
	// ended container.
	stopped map[podKey]time.Time
	gone    map[podKey][]time.Time
	// started is when a container of the pod was last reported as started.
	started map[podKey]time.Time
	// troubled is when an event last told of a failed probe, a kill or a back-off of the pod; latest the last time of all events.
	troubled map[podKey]time.Time
	latest   time.Time
}

func newIndex(set *evidence.Set, o *owners) *index {
	x := &index{
		pods: map[string][]*evidence.Pod{}, events: map[string][]*evidence.Event{}, logs: map[string][]*evidence.LogLine{},
		requests: map[string][]*evidence.Request{}, series: map[string][]*evidence.Series{},
		nodeEvents: map[string][]*evidence.Event{}, scaler: map[string][]*evidence.Event{}, stopped: map[podKey]time.Time{},
		gone: map[podKey][]time.Time{}, started: map[podKey]time.Time{}, troubled: map[podKey]time.Time{},
	}
	for _, p := range o.pods {
		name := o.name(p.Object)
		x.pods[name] = append(x.pods[name], p)
	}
	for _, ps := range x.pods {
		slices.SortFunc(ps, comparePods)
	}
	for i := range set.Events {
		e := &set.Events[i]
		switch e.Object.Kind {
		case "Node":
			x.nodeEvents[e.Object.Name] = append(x.nodeEvents[e.Object.Name], e)
		case "HorizontalPodAutoscaler":
			x.scaler[e.Object.Name] = append(x.scaler[e.Object.Name], e)
		default:
			name := o.name(e.Object)
			x.events[name] = append(x.events[name], e)
		}
		if k := (podKey{e.Object.Namespace, e.Object.Name}); e.Reason == "Started" && e.Last.After(x.started[k]) {
			x.started[k] = e.Last
		}
		if e.Last.After(x.latest) {
			x.latest = e.Last
		}
		switch k := (podKey{e.Object.Namespace, e.Object.Name}); e.Reason {
		case "Unhealthy", "Killing", "BackOff":
			if e.Last.After(x.troubled[k]) {
				x.troubled[k] = e.Last
			}
		case "SuccessfulDelete":
			// Of several in one row the time is known of none.
			if pod, ok := strings.CutPrefix(e.Message, "Deleted pod: "); ok && !e.First.IsZero() && e.Count <= 1 {
				k.name = strings.TrimSpace(pod)
				if at, ok := x.stopped[k]; !ok || e.First.Before(at) {
					x.stopped[k] = e.First
				}
			}
		}
		if e.Reason == "Killing" && stopsPod(e.Message) && !e.First.IsZero() {
			k := podKey{e.Object.Namespace, e.Object.Name}
			if at, ok := x.stopped[k]; !ok || e.First.Before(at) {
				x.stopped[k] = e.First
			}
		}
	}
	for i := range set.Failures {
		f := &set.Failures[i]
		if f.Outcome != evidence.OutcomeGone {
			continue
		}
		k := podKey{f.Object.Namespace, f.Object.Name}
		x.gone[k] = append(x.gone[k], f.First, f.Last)
	}
	for i := range set.Logs {
		l := &set.Logs[i]
		if l.Origin == "kernel" || l.Origin == "kubelet" || l.Origin == "node" {
			x.nodeLogs = append(x.nodeLogs, l)
			continue
		}
		name := o.name(l.Object)
		x.logs[name] = append(x.logs[name], l)
	}
	for i := range set.Requests {
		r := &set.Requests[i]
		name := o.name(r.Object)
		x.requests[name] = append(x.requests[name], r)
	}
	for i := range set.Series {
		s := &set.Series[i]
		if s.Signal == "" {
			continue
		}
		name := ""
		if pod := s.Labels["pod"]; pod != "" {
			name = o.name(evidence.Object{Kind: "Pod", Namespace: s.Labels["namespace"], Name: pod})
		}
		x.series[name] = append(x.series[name], s)
	}
	return x
}

// name is the name of the workload that an object belongs to, the empty string for an object without a name.
func (o *owners) name(obj evidence.Object) string {
	switch obj.Kind {
	case "Pod", "":
		if obj.Name == "" {
			return ""
		}
		w, _ := o.workload(obj.Namespace, obj.Name)
		return w.Name
	case "ReplicaSet", "Job":
		w, _ := o.root(obj.Namespace, obj, "")
		return w.Name
	}
	return obj.Name
}

// of gives what is about the workload and what names nothing, in the set's order.
//
// An incident that nothing names takes all there is: what was pasted together is about one thing, though a part of it may
// say of what and another not.
func of[T any](m map[string][]T, workload string, keep func(T) bool) []T {
	keys := []string{workload, ""}
	if workload == "" {
		keys = sortedKeys(m)
	}
	var out []T
	for _, k := range keys {
		for _, v := range m[k] {
			if keep(v) {
				out = append(out, v)
			}
		}
	}
	return out
}

// sameNamespace tells whether two namespaces can be the same; one that is not known can be any.
func sameNamespace(a, b string) bool { return a == b || a == "" || b == "" }

// stopsPod tells whether a Killing event is about a pod that is to end, and not about a failed probe. Old kubelets wrote
// "Killing container with id docker://NAME:Need to kill Pod".
func stopsPod(message string) bool {
	return strings.HasPrefix(message, "Stopping container") || strings.Contains(message, "Need to kill Pod") || strings.Contains(message, "Need to kill pod")
}
