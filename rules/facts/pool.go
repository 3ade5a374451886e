package facts

import "github.com/probedoctor/probedoctor/sources/evidence"

// The pool of workers that serves requests, and the queue in front of it.

// signalFact is the median over the failing pods of the highest value of a signal during the incident.
func signalFact(name, signal, doc, unit, why string) Fact {
	return Fact{
		Name: name, Doc: doc + " Median over the failing pods of the highest value during the incident.", Type: Double, Unit: unit, Scope: ScopeIncident,
		Needs: []string{evidence.SourceMetrics}, Why: why, Collect: collectSignal(signal),
		Compute: func(in *Incident) Value {
			ps := in.failingPeaks(signal)
			if len(ps) == 0 {
				return Unknown
			}
			return known(medianPeak(ps), peakRefs(ps)...)
		},
	}
}

// durationFact is the same for a signal in seconds, with the highest value of any failing pod.
func durationFact(name, signal, doc, why string) Fact {
	return Fact{
		Name: name, Doc: doc + " Highest value in any failing pod during the incident.", Type: Duration, Scope: ScopeIncident,
		Needs: []string{evidence.SourceMetrics}, Why: why, Collect: collectSignal(signal),
		Compute: func(in *Incident) Value {
			ps := in.failingPeaks(signal)
			if len(ps) == 0 {
				return Unknown
			}
			top := 0.0
			for _, p := range ps {
				top = max(top, p.peak)
			}
			return known(seconds(top), peakRefs(ps)...)
		},
	}
}

// full is the utilisation from which a pool counts as full in the facts that count pods: with 95 % busy on average the
// wait behind a pool of some dozen workers nears a second (M/M/c, see docs on queueing).
const full = 0.95

var poolFacts = []Fact{
	signalFact("pool.utilisation", "pool.utilisation", "Busy workers as a share of the pool's size.", "ratio",
		"a full pool lets a probe wait behind requests; a pool with room does not"),
	signalFact("pool.busy", "pool.busy", "Busy workers.", "workers", "how many workers are held"),
	signalFact("pool.max", "pool.max", "Size of the worker pool.", "workers", "how many workers there are"),
	signalFact("pool.queue", "pool.queue", "Requests waiting for a worker.", "requests", "a queue in front of the pool is where a probe waits"),
	{
		Name: "pool.fullPods", Doc: "Failing pods whose pool was at least 95 % busy at some time during the incident.",
		Type: Int, Unit: "pods", Scope: ScopeIncident, Needs: []string{evidence.SourceMetrics, evidence.SourceEvents},
		Why: "whether the full pools are those of the failing pods", Collect: collectSignal("pool.utilisation"),
		Compute: func(in *Incident) Value {
			ps := in.failingPeaks("pool.utilisation")
			if len(ps) == 0 {
				return Unknown
			}
			n := int64(0)
			for _, p := range ps {
				if p.peak >= full {
					n++
				}
			}
			return known(n, peakRefs(ps)...)
		},
	},
	{
		Name: "pool.measuredPods", Doc: "Failing pods whose pool utilisation was measured during the incident.",
		Type: Int, Unit: "pods", Scope: ScopeIncident, Needs: []string{evidence.SourceMetrics, evidence.SourceEvents},
		Why: "how much of the failing pods the utilisation speaks of", Collect: collectSignal("pool.utilisation"),
		Compute: func(in *Incident) Value {
			ps := in.failingPeaks("pool.utilisation")
			if len(ps) == 0 {
				return Unknown
			}
			return known(int64(len(ps)), peakRefs(ps)...)
		},
	},
	{
		Name: "pool.healthyUtilisation", Doc: "Highest utilisation of the pools of pods that do not fail, during the incident.",
		Type: Double, Unit: "ratio", Scope: ScopeIncident, Needs: []string{evidence.SourceMetrics, evidence.SourceEvents},
		Why: "a pool that is full on failing pods and has room on healthy ones is the difference between them", Collect: collectSignal("pool.utilisation"),
		Compute: func(in *Incident) Value {
			if len(in.failingPods()) == 0 {
				return Unknown
			}
			top := 0.0
			var rs []evidence.Ref
			for _, p := range in.peaks("pool.utilisation") {
				if p.pod != "" && !in.isFailing(p.pod) {
					top = max(top, p.peak)
					rs = append(rs, p.series.Ref)
				}
			}
			if len(rs) == 0 {
				return Unknown
			}
			return known(top, rs...)
		},
	},
	signalFact("pool.connections", "connections.utilisation", "Open connections as a share of the server's limit.", "ratio",
		"at the limit of connections the server no longer accepts"),
	signalFact("backlog.overflows", "backlog.overflows", "Connections dropped for each second because the listen backlog was full, counted in the pod's network namespace.", "per second",
		"the only direct evidence that tells a full accept queue from a full pool"),
	{
		Name: "backlog.full", Doc: "Whether a listening socket on the probed port had more connections waiting than its backlog (Recv-Q above Send-Q in ss -ltn).",
		Type: Bool, Scope: ScopeIncident, Needs: []string{evidence.SourceSockets},
		Why: "tells a full accept queue from a full pool", Collect: collectSockets,
		Compute: func(in *Incident) Value {
			var refs []evidence.Ref
			measured, isFull := false, false
			for _, l := range in.Listeners {
				if l.Queued < 0 || l.Backlog <= 0 || !in.probedPort(l.Port) {
					continue
				}
				measured = true
				if l.Queued > l.Backlog {
					isFull = true
				}
				refs = append(refs, l.Ref)
			}
			if !measured {
				return Unknown
			}
			return known(isFull, refs...)
		},
	},
}

// probedPort tells whether a probe or a failure names the port; true when none names any.
func (in *Incident) probedPort(port string) bool {
	named := false
	for i := range in.Probes {
		p := &in.Probes[i]
		if p.Spec != nil && p.Spec.Endpoint.Port != "" {
			named = true
			if in.portNumber(p.Spec.Endpoint.Port) == port {
				return true
			}
		}
		for _, f := range p.Failures {
			if f.Target.Port != "" {
				named = true
				if f.Target.Port == port {
					return true
				}
			}
		}
	}
	return !named
}
