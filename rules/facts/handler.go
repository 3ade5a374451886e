package facts

import (
	"math"
	"slices"
	"strings"
	"time"

	"github.com/probedoctor/probedoctor/sources/evidence"
)

// What the health handler itself logged and measured.
//
// A handler's log has a line only for a request that reached it: "the handler is fast" is true of those only. So the
// number of requests seen stands beside every duration.

// handled are the requests to a health path that a server logged during the incident.
type handled struct {
	all, probes []*evidence.Request // probes: those that a kubelet or a balancer sent, as far as the agent was logged
	durations   []time.Duration     // sorted, of those with a duration
	refs        []evidence.Ref
}

func (in *Incident) handled() handled {
	return once(in, "handled", func() handled {
		var h handled
		for _, r := range in.Requests {
			if !in.ofFailingServer(r) || !in.onHealthPath(r.Path) || !in.inWindow(r.At, time.Minute) {
				continue
			}
			h.all = append(h.all, r)
			if r.UserAgent == "" || isProber(r.UserAgent) {
				h.probes = append(h.probes, r)
			}
			if r.Duration != nil {
				h.durations = append(h.durations, *r.Duration)
				h.refs = append(h.refs, r.Ref)
			}
		}
		slices.Sort(h.durations)
		return h
	})
}

// ofFailingServer tells whether the request is in a log of a failing pod, as far as its pod is known. What healthy pods log
// says nothing of the failing ones, and a balancer in front of the pods logs what it sent, not what arrived.
func (in *Incident) ofFailingServer(r *evidence.Request) bool {
	switch {
	case r.By == "client":
		return false
	case r.Object.Name == "":
		return r.By != "balancer"
	}
	return len(in.failingPods()) == 0 || in.isFailing(r.Object.Name)
}

// isProber recognises the user agents of the kubelet and of the balancers (domain knowledge: kube-probe is the kubelet's,
// the others are the load balancers' own).
func isProber(agent string) bool {
	for _, p := range []string{"kube-probe/", "ELB-HealthChecker/", "GoogleHC/", "Envoy/HC", "HAProxy", "Go-http-client/"} {
		if strings.HasPrefix(agent, p) {
			return true
		}
	}
	return false
}

// handlerPeak is the worst duration of the health route by its own metric, for the failing pods.
func (in *Incident) handlerPeak() ([]podPeak, bool) {
	ps := in.failingPeaks("handler.latency")
	return ps, len(ps) > 0
}

var handlerFacts = []Fact{
	{
		Name: "handler.requestsSeen", Doc: "Requests to the health path that the failing pods logged during the incident; 0 only where their logs were read and held none.",
		Type: Int, Unit: "requests", Scope: ScopeIncident, Needs: []string{evidence.SourceLogs},
		Why: "whether the probes reached the application at all", Collect: collectLogs,
		Compute: func(in *Incident) Value {
			h := in.handled()
			if len(h.all) == 0 {
				// An application that logs other requests but not this one shows that the probe did not arrive; one that logs
				// no requests shows nothing.
				var others []evidence.Ref
				for _, r := range in.Requests {
					if in.ofFailingServer(r) && in.inWindow(r.At, 0) {
						others = append(others, r.Ref)
					}
				}
				if len(others) == 0 || len(in.healthPaths()) == 0 {
					return Unknown
				}
				return known(int64(0), others...)
			}
			refs := h.refs
			if len(refs) == 0 {
				for _, r := range h.all {
					refs = append(refs, r.Ref)
				}
			}
			return known(int64(len(h.all)), refs...)
		},
	},
	{
		Name: "handler.p99", Doc: "99th percentile of the time the health handler took, from the failing pods' own log lines, else from the health route's latency metric (its worst value in the window).",
		Type: Duration, Scope: ScopeIncident, Needs: []string{evidence.SourceLogs, evidence.SourceMetrics},
		Why: "whether the time is spent inside the handler or before it runs", Collect: func(in *Incident) string {
			return in.queryFor("handler.latency")
		},
		Compute: func(in *Incident) Value {
			if h := in.handled(); len(h.durations) > 0 {
				return known(quantile(h.durations, 0.99), h.refs...)
			}
			if ps, ok := in.handlerPeak(); ok {
				return known(seconds(medianPeak(ps)), peakRefs(ps)...)
			}
			return Unknown
		},
	},
	{
		Name: "handler.median", Doc: "Median of the time the health handler took in the failing pods' log lines.",
		Type: Duration, Scope: ScopeIncident, Needs: []string{evidence.SourceLogs},
		Why: "a handler that always takes about as long as the probe allows is slow by nature", Collect: collectLogs,
		Compute: func(in *Incident) Value {
			h := in.handled()
			if len(h.durations) == 0 {
				return Unknown
			}
			return known(quantile(h.durations, 0.5), h.refs...)
		},
	},
	{
		Name: "handler.max", Doc: "Longest time the health handler took in the failing pods' log lines or by its metric.",
		Type: Duration, Scope: ScopeIncident, Needs: []string{evidence.SourceLogs, evidence.SourceMetrics},
		Why: "whether any health request was slow inside the handler", Collect: collectLogs,
		Compute: func(in *Incident) Value {
			if h := in.handled(); len(h.durations) > 0 {
				return known(h.durations[len(h.durations)-1], h.refs...)
			}
			if ps, ok := in.handlerPeak(); ok {
				top := 0.0
				for _, p := range ps {
					top = max(top, p.peak)
				}
				return known(seconds(top), peakRefs(ps)...)
			}
			return Unknown
		},
	},
	{
		Name: "handler.enoughSeen", Doc: "Whether the failing pods logged, with their duration, at least ten health requests and at least as many as their probes failed while awaiting headers. Then a slow handler would show among them: fewer lines may be only the survivors.",
		Type: Bool, Scope: ScopeIncident, Needs: []string{evidence.SourceLogs, evidence.SourceEvents},
		Why: "fast lines rule out a slow handler only when there are as many as failures to explain", Collect: collectLogs,
		Compute: func(in *Incident) Value {
			h := in.handled()
			if len(h.durations) == 0 {
				return Unknown
			}
			logged := map[string]bool{}
			for _, r := range h.all {
				logged[r.Object.Name] = true
			}
			failed := 0
			for i := range in.Failures {
				f := &in.Failures[i]
				if f.serious() && f.Outcome == evidence.OutcomeTimeout && (logged[f.Object.Name] || logged[""]) {
					failed += f.Count
				}
			}
			return known(len(h.durations) >= 10 && len(h.durations) >= failed, h.refs...)
		},
	},
	{
		Name: "handler.errors", Doc: "Health requests that the server answered with a status of 400 or more.",
		Type: Int, Unit: "requests", Scope: ScopeIncident, Needs: []string{evidence.SourceLogs},
		Why: "whether the handler ran and said no", Collect: collectLogs,
		Compute: func(in *Incident) Value {
			h := in.handled()
			if len(h.all) == 0 {
				return Unknown
			}
			n := int64(0)
			var refs []evidence.Ref
			for _, r := range h.all {
				if r.Status >= 400 {
					n++
					refs = append(refs, r.Ref)
				}
			}
			return known(n, refs...)
		},
	},
	{
		Name: "handler.share", Doc: "Share of all logged requests that go to the health paths.",
		Type: Double, Unit: "ratio", Scope: ScopeIncident, Needs: []string{evidence.SourceLogs},
		Why: "whether the probes themselves are the load", Collect: collectLogs,
		Compute: func(in *Incident) Value {
			n, all := 0, 0
			var refs []evidence.Ref
			for _, r := range in.Requests {
				if r.By == "client" || !in.inWindow(r.At, time.Minute) {
					continue
				}
				all++
				if in.onHealthPath(r.Path) {
					n++
					refs = append(refs, r.Ref)
				}
			}
			// A log that holds only health requests was filtered by whoever pasted it.
			if all < 20 || n == all {
				return Unknown
			}
			return known(float64(n)/float64(all), refs...)
		},
	},
	{
		Name: "requests.latency", Doc: "Worst latency of the other routes in the failing pods during the incident, by metric or by log lines (99th percentile).",
		Type: Duration, Scope: ScopeIncident, Needs: []string{evidence.SourceMetrics, evidence.SourceLogs},
		Why: "whether ordinary requests hold the workers for long", Collect: collectSignal("request.latency"),
		Compute: func(in *Incident) Value {
			if ps := in.failingPeaks("request.latency"); len(ps) > 0 {
				return known(seconds(medianPeak(ps)), peakRefs(ps)...)
			}
			var ds []time.Duration
			var refs []evidence.Ref
			for _, r := range in.Requests {
				if r.Duration != nil && r.By != "client" && !in.onHealthPath(r.Path) && in.inWindow(r.At, time.Minute) {
					ds = append(ds, *r.Duration)
					refs = append(refs, r.Ref)
				}
			}
			if len(ds) < 5 {
				return Unknown
			}
			slices.Sort(ds)
			return known(quantile(ds, 0.99), refs...)
		},
	},
}

// seconds is a duration in seconds, the longest one where it does not fit.
func seconds(s float64) time.Duration {
	if ns := s * float64(time.Second); ns < math.MaxInt64 {
		return time.Duration(ns)
	}
	return math.MaxInt64
}
