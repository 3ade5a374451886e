package facts

import (
	"slices"
	"strings"
	"time"

	"github.com/probedoctor/probedoctor/sources/evidence"
)

// Whether the failures mattered, whether they stopped, and how far their counts can be trusted.

// spamRefill is the time in which the kubelet lets at least one more warning of a pod through when its spam filter holds
// (client-go tools/record: 25 at once, then one in 300 s): a shorter silence after a burst is no recovery.
const spamRefill = 5 * time.Minute

// inARow tells whether a row's count and times leave room for no success: as many failures as periods went by. A not
// ready container is probed more often than its period says, so the count can be higher.
func inARow(f *Failure, every time.Duration) bool {
	return f.Count > 1 && !f.First.IsZero() && f.Last.Sub(f.First) <= time.Duration(f.Count-1)*every*5/4
}

func reachedThreshold(in *Incident) Value {
	p := in.Probe
	if p.Spec == nil || len(p.Failures) == 0 {
		return Unknown
	}
	if p.Kind == evidence.Liveness || p.Kind == evidence.Startup {
		if v := in.countKills(p.Kind); v.Known && v.V.(int64) > 0 {
			return known(true, v.Refs...)
		}
	}
	threshold, every := p.Spec.Failures(), max(p.Spec.Period(), p.Spec.Timeout())
	counts := map[string]int{}
	floor := false
	refs := []evidence.Ref{p.SpecRef}
	for _, f := range p.Failures {
		if f.Result != evidence.Failed {
			continue
		}
		refs = append(refs, f.Cites)
		counts[f.Object.Name] += f.Count
		floor = floor || f.AtLeast
		if f.Count >= threshold && inARow(f, every) || p.Kind == evidence.Readiness && f.serious() && f.Pod != nil && unready(f.Pod) {
			return known(true, p.SpecRef, f.Cites)
		}
	}
	for _, n := range counts {
		if n >= threshold {
			return Unknown // they may have come in a row or far apart
		}
	}
	if floor || len(counts) == 0 {
		return Unknown
	}
	return known(false, refs...)
}

// stopped tells whether the failures ended before the end of what was read.
func stopped(in *Incident) Value {
	_, last := in.seriousSpan()
	if last.IsZero() {
		return Unknown
	}
	every := 10 * time.Second
	for i := range in.Probes {
		if s := in.Probes[i].Spec; s != nil && len(in.Probes[i].Failures) > 0 {
			every = max(every, s.Period(), s.Timeout())
		}
	}
	refs := in.failureRefs((*Failure).serious)
	quiet := in.now().Sub(last)
	switch {
	case quiet > spamRefill+2*every:
		return known(true, refs...)
	case quiet <= spamRefill+2*every && in.failingNow():
		return known(false, refs...)
	}
	return Unknown
}

// failingNow tells whether a failing pod is not Ready at the end of what was read.
func (in *Incident) failingNow() bool {
	return slices.ContainsFunc(in.livePods(), func(p *evidence.Pod) bool { return in.isFailing(p.Object.Name) && unready(p) })
}

var matterFacts = []Fact{
	{
		Name: "probe.reachedThreshold", Doc: "Whether failures of this probe reached failureThreshold in a row, so that they took a pod out or restarted a container: by a kill, by a pod that is not Ready, or by a count that leaves no room for a success. False where no pod has as many.",
		Type: Bool, Scope: ScopeProbe, Needs: []string{evidence.SourceSpecs, evidence.SourceEvents},
		Why: "failures below the threshold change nothing", Collect: collectSpec,
		Compute: reachedThreshold,
	},
	{
		Name: "failures.stopped", Doc: "Whether the failures ended before the end of what was read: true after more than five minutes without one, for the kubelet may hold an event back for so long; false where the last is younger and a failing pod is still not Ready.",
		Type: Bool, Scope: ScopeIncident, Needs: []string{evidence.SourceEvents},
		Why: "whether it is over decides what to do first", Collect: collectEvents,
		Compute: stopped,
	},
	{
		Name: "failures.quietFor", Doc: "Time from the last failure that is not noise to the end of what was read.",
		Type: Duration, Scope: ScopeIncident, Needs: []string{evidence.SourceEvents},
		Why: "when they stopped", Collect: collectEvents,
		Compute: func(in *Incident) Value {
			_, last := in.seriousSpan()
			if last.IsZero() {
				return Unknown
			}
			return known(max(in.now().Sub(last), 0).Round(time.Second), in.failureRefs((*Failure).serious)...)
		},
	},
	{
		Name: "failures.floors", Doc: "Rows of failures whose count is only a floor: the table has no counts, or the kubelet counted on without saying so.",
		Type: Int, Unit: "rows", Scope: ScopeIncident, Needs: []string{evidence.SourceEvents},
		Why: "a floor proves that something happened and not how often", Collect: collectEvents,
		Compute: func(in *Incident) Value {
			if len(in.Failures) == 0 {
				return Unknown
			}
			n := int64(0)
			var refs []evidence.Ref
			for i := range in.Failures {
				if f := &in.Failures[i]; f.AtLeast {
					n++
					refs = append(refs, f.Cites)
				}
			}
			if n == 0 {
				refs = in.failureRefs(func(*Failure) bool { return true })
			}
			return known(n, refs...)
		},
	},
	{
		Name: "config.listensOn", Doc: "The ports on which sockets or log lines show the server to listen, with their addresses where they are known.",
		Type: String, Scope: ScopeIncident, Needs: []string{evidence.SourceSockets, evidence.SourceLogs},
		Why: "where the server listens", Collect: collectSockets,
		Compute: func(in *Incident) Value {
			if len(in.Listeners) == 0 {
				return Unknown
			}
			at := map[string]bool{}
			var refs []evidence.Ref
			for _, l := range in.Listeners {
				at[strings.TrimPrefix(l.Address+":"+l.Port, ":")] = true
				refs = append(refs, l.Ref)
			}
			return known(strings.Join(sortedKeys(at), ", "), refs...)
		},
	},
	{
		Name: "config.openNow", Doc: "Whether a listing of sockets shows the probed port open on an address that the kubelet reaches, while a failing pod is still not Ready.",
		Type: Bool, Scope: ScopeIncident, Needs: []string{evidence.SourceSockets, evidence.SourcePods},
		Why: "an open port that is refused is refused by something on the way", Collect: collectSockets,
		Compute: func(in *Incident) Value {
			if !in.probedPortKnown() || !in.failingNow() {
				return Unknown
			}
			var refs []evidence.Ref
			open := false
			for _, l := range in.Listeners {
				if l.Queued < 0 {
					continue // announced in a log: that was at another time
				}
				refs = append(refs, l.Ref)
				open = open || in.probedPort(l.Port) && !loopback(l.Address)
			}
			if len(refs) == 0 {
				return Unknown
			}
			return known(open, refs...)
		},
	},
	{
		Name: "lifecycle.ranFor", Doc: "Shortest time for which a container had run before it was last stopped from outside.",
		Type: Duration, Scope: ScopeIncident, Needs: []string{evidence.SourcePods},
		Why: "a container that had run for long was not killed at its start", Collect: collectPods,
		Compute: func(in *Incident) Value {
			var least time.Duration
			var ref evidence.Ref
			in.eachContainer(func(p *evidence.Pod, c *evidence.Container) {
				s := lastEnd(c)
				if d := s.Finished.Sub(s.Started); !s.Started.IsZero() && d > 0 && (ref == "" || d < least) {
					least, ref = d, p.Ref
				}
			})
			if ref == "" {
				return Unknown
			}
			return known(least, ref)
		},
	},
	{
		Name: "config.startupShallower", Doc: "Whether the startup probe asks for something else than liveness does: another kind of probe, port or path. It can then pass before liveness can.",
		Type: Bool, Scope: ScopeIncident, Needs: []string{evidence.SourceSpecs},
		Why: "a startup probe that passes too early holds nothing back", Collect: collectSpec,
		Compute: func(in *Incident) Value {
			s, l := in.probe(evidence.Startup), in.probe(evidence.Liveness)
			if s == nil || l == nil || s.Spec == nil || l.Spec == nil {
				return Unknown
			}
			differs := s.Spec.Handler != l.Spec.Handler || plainPath(s.Spec.Endpoint.Path) != plainPath(l.Spec.Endpoint.Path) ||
				in.portNumber(s.Spec.Endpoint.Port) != in.portNumber(l.Spec.Endpoint.Port) || !slices.Equal(s.Spec.Command, l.Spec.Command)
			return known(differs, s.SpecRef, l.SpecRef)
		},
	},
	{
		Name: "config.aggregatesHealth", Doc: "Whether a probed path of Spring Boot or Quarkus answers for every registered health check (/actuator/health, /q/health), or a probe group's environment variable adds checks to it. Unknown for other paths.",
		Type: Bool, Scope: ScopeIncident, Needs: []string{evidence.SourceSpecs},
		Why: "an aggregate fails with any of its parts, mail or search included", Collect: collectSpec,
		Compute: aggregatesHealth,
	},
	{
		Name: "answers.toHandProbed", Doc: "The status that a request by hand to the very path of a failing probe got.",
		Type: Int, Unit: "HTTP status", Scope: ScopeIncident, Needs: []string{evidence.SourceRequests},
		Why: "whether the path exists for somebody else", Collect: collectCurl,
		Compute: func(in *Incident) Value {
			rs := in.asked(func(r *evidence.Request) bool { return r.Status > 0 && in.onHealthPath(r.Path) })
			if len(rs) == 0 {
				return Unknown
			}
			return known(int64(rs[len(rs)-1].Status), requestRefs(rs)...)
		},
	},
}

func aggregatesHealth(in *Incident) Value {
	framework, all := false, false
	var refs []evidence.Ref
	for i := range in.Probes {
		p := &in.Probes[i]
		if len(p.Failures) == 0 && len(in.Failures) > 0 {
			continue
		}
		var paths []string
		if p.Spec != nil {
			paths = append(paths, p.Spec.Endpoint.Path)
			refs = append(refs, p.SpecRef)
		} else {
			for _, f := range p.Failures {
				paths = append(paths, f.Target.Path)
				refs = append(refs, f.Cites)
			}
		}
		for _, path := range paths {
			path = plainPath(path)
			framework = framework || strings.Contains(path, "/actuator/health") || strings.Contains(path, "/q/health")
			all = all || strings.HasSuffix(path, "/actuator/health") || strings.HasSuffix(path, "/q/health")
		}
	}
	if !framework {
		return Unknown
	}
	if c, ref := in.spec(); c != nil && !all {
		for _, k := range []string{"MANAGEMENT_ENDPOINT_HEALTH_GROUP_READINESS_INCLUDE", "MANAGEMENT_ENDPOINT_HEALTH_GROUP_LIVENESS_INCLUDE"} {
			for part := range strings.SplitSeq(c.Env[k], ",") {
				switch strings.ToLower(strings.TrimSpace(part)) {
				case "", "readinessstate", "livenessstate", "ping":
				default:
					all = true
					refs = append(refs, ref)
				}
			}
		}
	}
	return known(all, refs...)
}
