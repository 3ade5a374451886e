package facts

import (
	"strings"
	"time"

	"github.com/probedoctor/probedoctor/sources/evidence"
)

// The failures of the incident, counted by what their messages say. All of these counts are of what was read: an event
// row says how often something happened up to its last time, and later occurrences may be missing.

func countFact(name, doc, why string, match func(*Failure) bool) Fact {
	return count(name, doc, why, match, false)
}

// liveFact counts what pods do that neither start nor stop. Among other failures a few of pods in an unknown state do not
// count, and are not none either.
func liveFact(name, doc, why string, match func(*Failure) bool) Fact {
	return count(name, doc, why, match, true)
}

func count(name, doc, why string, match func(*Failure) bool, narrow bool) Fact {
	return Fact{
		Name: name, Doc: doc, Type: Int, Unit: "probes", Scope: ScopeIncident,
		Needs: []string{evidence.SourceEvents}, Why: why, Collect: collectEvents,
		Compute: func(in *Incident) Value {
			if len(in.Failures) == 0 && !in.Set.Covered(evidence.SourceEvents) {
				return Unknown
			}
			n, doubtful := int64(0), false
			var refs, all []evidence.Ref
			for _, c := range in.classes() {
				all = append(all, c.refs...)
				if match(c.failure) {
					if narrow && c.failure.doubtful() && in.doubtfulMinority() {
						doubtful = true
						continue
					}
					n += int64(c.count)
					refs = append(refs, c.refs...)
				}
			}
			if n == 0 && doubtful {
				return Unknown
			}
			if n == 0 {
				refs = all // that there is none of the kind is read from all the others
			}
			return known(n, refs...)
		},
	}
}

// class is a set of failures that differ only in pod, time and wording: no counting fact tells them apart.
type class struct {
	failure *Failure // one of them
	count   int
	refs    []evidence.Ref
}

// classes sums up the failures: thousands of rows fall into a handful of classes.
func (in *Incident) classes() []class {
	return once(in, "classes", func() []class {
		type key struct {
			phase      evidence.Phase
			outcome    evidence.Outcome
			life       Life
			result     evidence.Result
			probe      evidence.ProbeKind
			status     int
			redirected bool
			starting   bool
			fork, dep  bool
		}
		at := map[key]int{}
		var out []class
		for i := range in.Failures {
			f := &in.Failures[i]
			k := key{f.Phase, f.Outcome, f.Life, f.Result, f.Probe, f.Status, f.Redirected, saysStarting(f.Message), f.cannotFork(), f.namesDependency() != ""}
			j, ok := at[k]
			if !ok {
				j = len(out)
				at[k] = j
				out = append(out, class{failure: f})
			}
			out[j].count += f.Count
			out[j].refs = append(out[j].refs, f.Cites)
		}
		for i := range out {
			out[i].refs = clip(out[i].refs)
		}
		return out
	})
}

// cannotFork tells whether the probe's shell could not start a process.
func (f *Failure) cannotFork() bool {
	return f.Phase == evidence.PhaseExec && (strings.Contains(f.Message, "fork") && strings.Contains(f.Message, "esource temporarily unavailable") || strings.Contains(f.Message, "fork: retry"))
}

// namesDependency is the database, cache or broker that an exec probe's output names and that the pod or container is not
// itself by its name.
func (f *Failure) namesDependency() string {
	// A timeout's text holds the command, which names its own tools.
	if f.Phase != evidence.PhaseExec || f.Message == "" || f.Outcome == evidence.OutcomeTimeout {
		return ""
	}
	low := strings.ToLower(f.Message)
	for _, w := range []string{"redis", "postgres", "psql", "mysql", "mariadb", "mongo", "kafka", "rabbit", "amqp", "elasticsearch", "cassandra", "zookeeper", "etcd"} {
		if strings.Contains(low, w) && !strings.Contains(f.Object.Name, w[:min(len(w), 5)]) && !strings.Contains(f.Container, w[:min(len(w), 5)]) {
			return w
		}
	}
	return ""
}

// saysStarting tells whether a probe's output says that the server is on its way up.
func saysStarting(message string) bool {
	// Texts of the kubelet's own HTTP client never do; most messages are such.
	if strings.Contains(message, "awaiting headers") || strings.Contains(message, "connection refused") {
		return false
	}
	// What a client library reports is the state of what it asked.
	if strings.Contains(message, "nable to connect") || strings.Contains(message, "xception") {
		return false
	}
	for _, w := range []string{"starting up", "is starting", "LOADING", "not yet", "nitializ", "recovery mode", "in recovery", "warming up", "still starting", "not started", "bootstrap", "is loading"} {
		if strings.Contains(message, w) {
			return true
		}
	}
	return false
}

func seriousWith(phase evidence.Phase, outcome evidence.Outcome) func(*Failure) bool {
	return func(f *Failure) bool {
		return f.serious() && (phase == "" || f.Phase == phase) && (outcome == "" || f.Outcome == outcome)
	}
}

const whyText = "the text of a failure says how far the probe came"

var failureFacts = []Fact{
	countFact("failures.total", "All probe failures of the incident, noise included; errored probes and warnings are not counted.",
		whyText, func(f *Failure) bool { return f.Result == evidence.Failed }),
	countFact("failures.live", "Failures of pods that are neither starting nor terminating, as far as is known.",
		whyText, (*Failure).serious),
	countFact("failures.awaitingHeaders", "Timeouts while awaiting headers: the connection may have been made, no answer began in time. On current kubelets a full accept queue prints the same.",
		whyText, seriousWith(evidence.PhaseAwaitingHeaders, evidence.OutcomeTimeout)),
	countFact("failures.connectTimeout", "Timeouts that certainly happened while connecting.",
		whyText, func(f *Failure) bool {
			return f.serious() && f.Outcome == evidence.OutcomeTimeout && (f.Phase == evidence.PhaseConnect || f.Phase == evidence.PhaseDNS)
		}),
	countFact("failures.timeouts", "Timeouts in any phase, the exec and gRPC probes' included.",
		whyText, seriousWith("", evidence.OutcomeTimeout)),
	liveFact("failures.refused", "Connections refused by pods that are neither starting nor terminating.",
		whyText, seriousWith("", evidence.OutcomeRefused)),
	liveFact("failures.dropped", "Resets and closes without an answer.",
		whyText, func(f *Failure) bool {
			return f.serious() && (f.Outcome == evidence.OutcomeReset || f.Outcome == evidence.OutcomeClosed)
		}),
	countFact("failures.unroutable", "No route, network unreachable, or the packet denied on the node.",
		whyText, func(f *Failure) bool {
			return f.serious() && (f.Outcome == evidence.OutcomeNoRoute || f.Outcome == evidence.OutcomeUnreachable || f.Outcome == evidence.OutcomeDenied)
		}),
	countFact("failures.noResources", "The node ran out of ports or file descriptors for the probe itself.",
		whyText, func(f *Failure) bool {
			return f.serious() && f.Outcome == evidence.OutcomeNoResources && f.Phase != evidence.PhaseExec
		}),
	countFact("failures.cannotFork", "Exec probes that could not start their command for lack of processes or memory.",
		whyText, func(f *Failure) bool {
			return f.serious() && f.Phase == evidence.PhaseExec && f.Outcome == evidence.OutcomeNoResources || f.cannotFork()
		}),
	countFact("failures.nameLookup", "The probe's host name could not be resolved.",
		whyText, func(f *Failure) bool { return f.serious() && f.Phase == evidence.PhaseDNS }),
	countFact("failures.status", "Answers with a status that the probe counts as failure.",
		whyText, seriousWith("", evidence.OutcomeStatus)),
	countFact("failures.serverError", "Answers with a status of 500 or more.",
		whyText, func(f *Failure) bool { return f.serious() && f.Status >= 500 }),
	countFact("failures.authStatus", "Answers 400, 401, 403, 407 or 421: the request itself is not accepted.",
		whyText, func(f *Failure) bool {
			return f.serious() && (f.Status == 400 || f.Status == 401 || f.Status == 403 || f.Status == 407 || f.Status == 421)
		}),
	countFact("failures.notFound", "Answers 404, 405 or 410: nothing serves the path.",
		whyText, func(f *Failure) bool {
			return f.serious() && (f.Status == 404 || f.Status == 405 || f.Status == 410)
		}),
	countFact("failures.protocol", "Answers in another protocol: TLS on a plain port, plain text on a TLS port, not HTTP at all.",
		whyText, func(f *Failure) bool {
			return f.serious() && (f.Outcome == evidence.OutcomeTLSMismatch || f.Outcome == evidence.OutcomeTLSHandshake || f.Outcome == evidence.OutcomeMalformed)
		}),
	countFact("failures.execTimeout", "Exec probes that ran out of time, or printed nothing as old kubelets do then.",
		whyText, func(f *Failure) bool {
			return f.serious() && f.Phase == evidence.PhaseExec && (f.Outcome == evidence.OutcomeTimeout || f.Outcome == evidence.OutcomeUnknown)
		}),
	countFact("failures.exec", "Failures of exec probes whose command was run.",
		whyText, func(f *Failure) bool {
			return f.serious() && f.Phase == evidence.PhaseExec && f.Outcome != evidence.OutcomeNotFound && f.Outcome != evidence.OutcomeRuntime
		}),
	countFact("failures.execBroken", "Exec probes whose command, shell or directory does not exist or could not be run.",
		whyText, func(f *Failure) bool {
			return f.Phase == evidence.PhaseExec && (f.Outcome == evidence.OutcomeNotFound || f.Outcome == evidence.OutcomeRuntime)
		}),
	countFact("failures.gone", "Probes against a container that the runtime no longer runs.",
		whyText, func(f *Failure) bool { return f.Outcome == evidence.OutcomeGone }),
	countFact("failures.notServing", "gRPC health checks answered NOT_SERVING or UNKNOWN.",
		whyText, seriousWith("", evidence.OutcomeNotServing)),
	countFact("failures.noService", "gRPC servers without the health service or without the asked service name.",
		whyText, seriousWith("", evidence.OutcomeNoService)),
	countFact("failures.namesDependency", "Exec probes whose output names a database, cache or broker that the container itself is not.",
		whyText, func(f *Failure) bool { return f.serious() && f.namesDependency() != "" }),
	countFact("failures.saysStarting", "Failures whose text says that the server is starting, loading or recovering.",
		whyText, func(f *Failure) bool { return f.Result == evidence.Failed && saysStarting(f.Message) }),
	countFact("failures.errored", "Probes that errored: the kubelet throws their result away, so they change no state.",
		whyText, func(f *Failure) bool { return f.Result == evidence.Errored }),
	countFact("failures.redirected", "Probes whose message shows that the kubelet followed or ended at a redirect.",
		whyText, func(f *Failure) bool { return f.Redirected }),
	countFact("failures.starting", "Failures while a container was starting that came healthy later, or within its starting time.",
		whyText, func(f *Failure) bool { return f.Result == evidence.Failed && f.Life == Starting }),
	countFact("failures.terminating", "Failures of pods that were terminating or already gone.",
		whyText, func(f *Failure) bool { return f.Result == evidence.Failed && f.Life == Terminating }),
	countFact("failures.readiness", "Failures of readiness probes, noise left out.",
		whyText, func(f *Failure) bool { return f.serious() && f.Probe == evidence.Readiness }),
	countFact("failures.liveness", "Failures of liveness probes, noise left out.",
		whyText, func(f *Failure) bool { return f.serious() && f.Probe == evidence.Liveness }),
	countFact("failures.startup", "Failures of startup probes.",
		whyText, func(f *Failure) bool { return f.Result == evidence.Failed && f.Probe == evidence.Startup }),
	{
		Name: "failures.pods", Doc: "Pods with failures, noise left out. Unknown when no failure names its pod.",
		Type: Int, Unit: "pods", Scope: ScopeIncident, Needs: []string{evidence.SourceEvents},
		Why: "one pod or all of them is a first split", Collect: collectEvents,
		Compute: func(in *Incident) Value {
			n := len(in.failingPods())
			if n == 0 {
				return Unknown
			}
			return known(int64(n), in.failureRefs((*Failure).serious)...)
		},
	},
	{
		Name: "failures.kills", Doc: "Containers that were killed because their liveness probe failed, by Killing events.",
		Type: Int, Unit: "kills", Scope: ScopeIncident, Needs: []string{evidence.SourceEvents},
		Why: "restarts by liveness are an outage of their own", Collect: collectEvents,
		Compute: func(in *Incident) Value {
			return in.countKills(evidence.Liveness)
		},
	},
	{
		Name: "failures.killedPods", Doc: "Pods with a container that was killed because its liveness probe failed, by Killing events.",
		Type: Int, Unit: "pods", Scope: ScopeIncident, Needs: []string{evidence.SourceEvents},
		Why: "kills of one pod after another feed on each other", Collect: collectEvents,
		Compute: func(in *Incident) Value {
			pods := map[string]bool{}
			var refs []evidence.Ref
			for _, e := range in.Events {
				if KilledBy(e) == evidence.Liveness {
					pods[e.Object.Name] = true
					refs = append(refs, e.Ref)
				}
			}
			if len(pods) == 0 {
				return in.countKills(evidence.Liveness)
			}
			return known(int64(len(pods)), refs...)
		},
	},
	{
		Name: "failures.perKill", Doc: "Liveness failures for each kill by liveness. When it is about the failure threshold, no probe succeeded between a start and its kill.",
		Type: Double, Unit: "probes", Scope: ScopeIncident, Needs: []string{evidence.SourceEvents},
		Why: "a container that never once answers between start and kill has not started, or never will", Collect: collectEvents,
		Compute: func(in *Incident) Value {
			kills := in.countKills(evidence.Liveness)
			if !kills.Known || kills.V.(int64) < 2 {
				return Unknown
			}
			n := 0
			for _, c := range in.classes() {
				if c.failure.Result == evidence.Failed && c.failure.Probe == evidence.Liveness {
					n += c.count
				}
			}
			if n == 0 {
				return Unknown
			}
			return known(float64(n)/float64(kills.V.(int64)), kills.Refs...)
		},
	},
	{
		Name: "failures.startupKills", Doc: "Containers that were killed because their startup probe failed, by Killing events.",
		Type: Int, Unit: "kills", Scope: ScopeIncident, Needs: []string{evidence.SourceEvents},
		Why: "a kill at the end of the startup budget is slow start or never started", Collect: collectEvents,
		Compute: func(in *Incident) Value { return in.countKills(evidence.Startup) },
	},
	{
		Name: "failures.span", Doc: "Time from the first to the last failure that is not noise. Unknown when they have no times.",
		Type: Duration, Scope: ScopeIncident, Needs: []string{evidence.SourceEvents},
		Why: "minutes or days is a first split", Collect: collectEvents,
		Compute: func(in *Incident) Value {
			first, last := in.seriousSpan()
			if first.IsZero() {
				return Unknown
			}
			return known(last.Sub(first), in.failureRefs((*Failure).serious)...)
		},
	},
	{
		Name: "failures.apart", Doc: "Mean time between failures of one pod and probe, from the rows with a count and two times.",
		Type: Duration, Scope: ScopeIncident, Needs: []string{evidence.SourceEvents},
		Why: "failures in a row are an outage, single ones far apart are transients", Collect: collectEvents,
		Compute: func(in *Incident) Value {
			var span time.Duration
			n := 0
			var refs []evidence.Ref
			for i := range in.Failures {
				f := &in.Failures[i]
				if f.serious() && f.Count > 1 && !f.First.IsZero() && f.Last.After(f.First) {
					span += f.Last.Sub(f.First)
					n += f.Count - 1
					refs = append(refs, f.Cites)
				}
			}
			if n == 0 {
				return Unknown
			}
			return known((span / time.Duration(n)).Round(time.Second), refs...)
		},
	},
}

// countKills counts Killing events with one of the texts; old kubelets did not say which probe.
func (in *Incident) countKills(kind evidence.ProbeKind) Value {
	n := int64(0)
	var refs []evidence.Ref
	for _, e := range in.Events {
		if KilledBy(e) == kind && (in.Container == "" || e.Container == "" || e.Container == in.Container) {
			n += int64(max(e.Count, 1))
			refs = append(refs, e.Ref)
		}
	}
	if n == 0 {
		if !in.Set.Covered(evidence.SourceEvents) {
			return Unknown
		}
		refs = in.failureRefs(func(f *Failure) bool { return f.Probe != evidence.Readiness })
	}
	return known(n, refs...)
}

// seriousSpan is the first and the last time of failures that are not noise.
func (in *Incident) seriousSpan() (first, last time.Time) {
	for i := range in.Failures {
		f := &in.Failures[i]
		if !f.serious() || f.First.IsZero() {
			continue
		}
		if first.IsZero() || f.First.Before(first) {
			first = f.First
		}
		if f.Last.After(last) {
			last = f.Last
		}
	}
	return first, last
}
