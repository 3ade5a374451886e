package facts

import (
	"time"

	"github.com/probedoctor/probedoctor/sources/evidence"
)

// The facts of one probe and of one pod: for rules of the scopes probe and pod.

func probeSpecFact(name, doc string, typ Type, unit string, get func(p *Probe) (any, bool)) Fact {
	return Fact{
		Name: name, Doc: doc, Type: typ, Unit: unit, Scope: ScopeProbe, Needs: []string{evidence.SourceSpecs},
		Why: "the probe's own settings", Collect: collectSpec,
		Compute: func(in *Incident) Value {
			v, ok := get(in.Probe)
			if !ok {
				return Unknown
			}
			refs := []evidence.Ref{in.Probe.SpecRef}
			if in.Probe.Spec == nil {
				refs = nil
				for _, f := range in.Probe.Failures {
					refs = append(refs, f.Cites)
				}
			}
			return known(v, refs...)
		},
	}
}

// fromSpec reads the configuration.
func fromSpec(get func(s *evidence.ProbeSpec) any) func(*Probe) (any, bool) {
	return func(p *Probe) (any, bool) {
		if p.Spec == nil {
			return nil, false
		}
		return get(p.Spec), true
	}
}

// fromTarget reads the configuration, else what the failures say was probed.
func fromTarget(get func(e evidence.Endpoint) string) func(*Probe) (any, bool) {
	return func(p *Probe) (any, bool) {
		if p.Spec != nil {
			if v := get(p.Spec.Endpoint); v != "" {
				return v, true
			}
		}
		for _, f := range p.Failures {
			if v := get(f.Target); v != "" && !f.Redirected {
				return v, true
			}
		}
		return nil, false
	}
}

var probeFacts = []Fact{
	probeSpecFact("probe.kind", "readiness, liveness or startup.", String, "", func(p *Probe) (any, bool) { return string(p.Kind), p.Kind != "" }),
	probeSpecFact("probe.handler", "http, tcp, grpc or exec, by the configuration, else by the failures' texts.", String, "", func(p *Probe) (any, bool) {
		if p.Spec != nil && p.Spec.Handler != "" {
			return p.Spec.Handler, true
		}
		for _, f := range p.Failures {
			switch {
			case f.Phase == evidence.PhaseExec:
				return "exec", true
			case f.Phase == evidence.PhaseGRPC || f.Target.Scheme == "grpc":
				return "grpc", true
			case f.Target.Scheme == "http" || f.Target.Scheme == "https" || f.Outcome == evidence.OutcomeStatus:
				return "http", true
			case f.Target.Scheme == "tcp":
				return "tcp", true
			}
		}
		return nil, false
	}),
	probeSpecFact("probe.path", "The path that the probe asks for.", String, "", fromTarget(func(e evidence.Endpoint) string { return e.Path })),
	probeSpecFact("probe.port", "The port that the probe asks, by number or name.", String, "", fromTarget(func(e evidence.Endpoint) string { return e.Port })),
	probeSpecFact("probe.timeout", "timeoutSeconds, 1 s when not set.", Duration, "", fromSpec(func(s *evidence.ProbeSpec) any { return s.Timeout() })),
	probeSpecFact("probe.period", "periodSeconds, 10 s when not set.", Duration, "", fromSpec(func(s *evidence.ProbeSpec) any { return s.Period() })),
	probeSpecFact("probe.failureThreshold", "failureThreshold, 3 when not set.", Int, "probes", fromSpec(func(s *evidence.ProbeSpec) any { return int64(s.Failures()) })),
	probeSpecFact("probe.initialDelay", "initialDelaySeconds.", Duration, "", fromSpec(func(s *evidence.ProbeSpec) any {
		return time.Duration(s.InitialDelaySeconds) * time.Second
	})),
	probeSpecFact("probe.budget", "Time from the container's start until this probe has failed failureThreshold times in a row: initialDelay + (failureThreshold − 1) × max(period, timeout) + timeout.", Duration, "",
		fromSpec(func(s *evidence.ProbeSpec) any {
			return time.Duration(s.InitialDelaySeconds)*time.Second + time.Duration(s.Failures()-1)*max(s.Period(), s.Timeout()) + s.Timeout()
		})),
	{
		Name: "probe.failures", Doc: "Failures of this probe, noise left out.", Type: Int, Unit: "probes", Scope: ScopeProbe,
		Needs: []string{evidence.SourceEvents}, Why: "which probe fails", Collect: collectEvents,
		Compute: func(in *Incident) Value {
			n := int64(0)
			var refs []evidence.Ref
			for _, f := range in.Probe.Failures {
				if f.serious() {
					n += int64(f.Count)
					refs = append(refs, f.Cites)
				}
			}
			return known(n, refs...)
		},
	},
	{
		Name: "probe.timeouts", Doc: "Timeouts of this probe, noise left out.", Type: Int, Unit: "probes", Scope: ScopeProbe,
		Needs: []string{evidence.SourceEvents}, Why: "whether it fails by time", Collect: collectEvents,
		Compute: func(in *Incident) Value {
			n := int64(0)
			var refs []evidence.Ref
			for _, f := range in.Probe.Failures {
				if f.serious() && f.Outcome == evidence.OutcomeTimeout {
					n += int64(f.Count)
					refs = append(refs, f.Cites)
				}
			}
			return known(n, refs...)
		},
	},
	{
		Name: "probe.successP99", Doc: "99th percentile of the duration of successful probes, as the kubelet measures it (prober_probe_duration_seconds, which has no samples for failures).",
		Type: Duration, Scope: ScopeProbe, Needs: []string{evidence.SourceMetrics},
		Why: "successes close to the timeout show that ordinary slowness fails the probe", Collect: collectSignal("probe.latency"),
		Compute: func(in *Incident) Value {
			ps := in.failingPeaks("probe.latency")
			if len(ps) == 0 {
				return Unknown
			}
			return known(seconds(medianPeak(ps)), peakRefs(ps)...)
		},
	},
}

// samplesWithin are the samples of a series from shortly before the incident to its end.
func (in *Incident) samplesWithin(s *evidence.Series) []evidence.Sample {
	var out []evidence.Sample
	for _, x := range s.Samples {
		if in.inWindow(x.At, time.Minute) {
			out = append(out, x)
		}
	}
	return out
}

var proberFacts = []Fact{
	{
		Name: "prober.failedShare", Doc: "Share of probes that failed during the incident, by the kubelet's own counters (prober_probe_total); from a single scrape, since the container started.",
		Type: Double, Unit: "ratio", Scope: ScopeIncident, Needs: []string{evidence.SourceMetrics},
		Why: "rare failures are transients, many are an outage", Collect: collectSignal("probe.failedRatio"),
		Compute: func(in *Incident) Value {
			failed, all := 0.0, 0.0
			var refs []evidence.Ref
			for i := range in.Set.Series {
				s := &in.Set.Series[i]
				if s.Name != "prober_probe_total" || s.Signal != "" || len(s.Samples) == 0 || len(in.failingPods()) > 0 && !in.isFailing(podLabel(s)) {
					continue
				}
				// Of a range what was added during the incident counts; of one scrape all since the container started.
				v := s.Samples[len(s.Samples)-1].Value
				if within := in.samplesWithin(s); len(within) > 1 {
					v = max(within[len(within)-1].Value-within[0].Value, 0)
				} else if len(s.Samples) > 1 {
					continue
				}
				all += v
				if s.Labels["result"] == "failed" {
					failed += v
				}
				refs = append(refs, s.Ref)
			}
			if all == 0 {
				return Unknown
			}
			return known(failed/all, refs...)
		},
	},
}

var podFacts = []Fact{
	{
		Name: "pod.name", Doc: "Name of the pod.", Type: String, Scope: ScopePod, Needs: []string{evidence.SourcePods}, Why: "which pod", Collect: collectPods,
		Compute: func(in *Incident) Value {
			if in.Pod.Object.Name == "" {
				return Unknown
			}
			return known(in.Pod.Object.Name, in.Pod.Ref)
		},
	},
	{
		Name: "pod.lastExit", Doc: "Exit code with which the container last ended.", Type: Int, Unit: "exit code", Scope: ScopePod,
		Needs: []string{evidence.SourcePods}, Why: "how the container ended", Collect: collectPods,
		Compute: func(in *Incident) Value {
			c := in.containerOf(in.Pod)
			if c == nil {
				return Unknown
			}
			if s := lastEnd(c); s.ExitCode != nil {
				return known(int64(*s.ExitCode), in.Pod.Ref)
			}
			return Unknown
		},
	},
	{
		Name: "pod.ranFor", Doc: "How long the container ran before it last ended.", Type: Duration, Scope: ScopePod,
		Needs: []string{evidence.SourcePods}, Why: "a container that always runs for the same time is killed by a budget", Collect: collectPods,
		Compute: func(in *Incident) Value {
			c := in.containerOf(in.Pod)
			if c == nil {
				return Unknown
			}
			s := lastEnd(c)
			if s.Started.IsZero() || s.Finished.IsZero() {
				return Unknown
			}
			return known(s.Finished.Sub(s.Started), in.Pod.Ref)
		},
	},
	{
		Name: "pod.restarts", Doc: "Restarts of the pod's container.", Type: Int, Unit: "restarts", Scope: ScopePod,
		Needs: []string{evidence.SourcePods}, Why: "whether it restarts", Collect: collectPods,
		Compute: func(in *Incident) Value {
			if c := in.containerOf(in.Pod); c != nil && c.StatusKnown && c.Restarts >= 0 {
				return known(int64(c.Restarts), in.Pod.Ref)
			}
			if in.Pod.Restarts >= 0 {
				return known(int64(in.Pod.Restarts), in.Pod.Ref)
			}
			return Unknown
		},
	},
}
