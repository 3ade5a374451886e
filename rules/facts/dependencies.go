package facts

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/probedoctor/probedoctor/sources/evidence"
)

// Errors of what the application depends on, and whether they lie on the probe's path or beside it.

// depErrors are the log lines that a dependency signature matched during the incident.
type depErrors struct {
	lines    []Hit
	onPath   []evidence.Ref
	offPath  []evidence.Ref
	routes   map[string]int
	names    map[string]int
	nameRefs map[string][]evidence.Ref
	first    time.Time
}

func (in *Incident) depErrors() depErrors {
	return once(in, "depErrors", func() depErrors {
		d := depErrors{routes: map[string]int{}, names: map[string]int{}, nameRefs: map[string][]evidence.Ref{}}
		seen := map[evidence.Ref]bool{}
		for _, id := range sortedKeys(in.Signatures) {
			sig := in.Signatures[id]
			if sig.Dependency == "" {
				continue
			}
			for _, h := range sig.Hits {
				if !in.inWindow(h.Line.At, 10*time.Minute) || seen[h.Line.Ref] {
					continue
				}
				seen[h.Line.Ref] = true
				d.lines = append(d.lines, h)
				d.names[sig.Dependency]++
				d.nameRefs[sig.Dependency] = append(d.nameRefs[sig.Dependency], h.Line.Ref)
				switch {
				case in.speaksOfHealth(h.Line):
					d.onPath = append(d.onPath, h.Line.Ref)
				case h.Line.Route != "":
					d.offPath = append(d.offPath, h.Line.Ref)
					d.routes[h.Line.Route]++
				}
				if t := h.Line.At; !t.IsZero() && (d.first.IsZero() || t.Before(d.first)) {
					d.first = t
				}
			}
		}
		return d
	})
}

// speaksOfHealth tells whether a log line belongs to the health path or to a health check of the framework.
func (in *Incident) speaksOfHealth(l *evidence.LogLine) bool {
	if l.Route != "" {
		return in.onHealthPath(l.Route)
	}
	for _, p := range in.healthPaths() {
		if len(p) > 2 && strings.Contains(l.Message, p) {
			return true
		}
	}
	for _, word := range []string{"HealthIndicator", "Health.call", "healthz", "readyz", "livez", "healthcheck", "health check", "HealthCheck", "readiness", "liveness", "kube-probe"} {
		if strings.Contains(l.Logger, word) || strings.Contains(l.Message, word) {
			return true
		}
	}
	return false
}

func (d *depErrors) refs() []evidence.Ref {
	refs := make([]evidence.Ref, len(d.lines))
	for i, h := range d.lines {
		refs[i] = h.Line.Ref
	}
	return refs
}

// top gives the keys with the highest counts, most first.
func top(counts map[string]int, n int) []string {
	keys := sortedKeys(counts)
	slices.SortStableFunc(keys, func(a, b string) int { return cmp.Compare(counts[b], counts[a]) })
	return keys[:min(n, len(keys))]
}

func depFact(name, doc string, typ Type, unit, why string, compute func(in *Incident, d depErrors) Value) Fact {
	return Fact{
		Name: name, Doc: doc, Type: typ, Unit: unit, Scope: ScopeIncident, Needs: []string{evidence.SourceLogs}, Why: why, Collect: collectLogs,
		Compute: func(in *Incident) Value {
			d := in.depErrors()
			if len(d.lines) == 0 && !in.appLogs() {
				return Unknown
			}
			return compute(in, d)
		},
	}
}

// appLogs tells whether logs of the application were read.
func (in *Incident) appLogs() bool {
	return slices.ContainsFunc(in.Logs, func(l *evidence.LogLine) bool { return l.Origin == "app" || l.Origin == "" })
}

var dependencyFacts = []Fact{
	depFact("dependencies.errors", "Log lines during the incident in which a dependency is slow, failing or unreachable.", Int, "lines",
		"whether anything that the application depends on is in trouble",
		func(in *Incident, d depErrors) Value { return known(int64(len(d.lines)), d.refs()...) }),
	depFact("dependencies.onProbePath", "Such lines that belong to the health path or to the framework's health checks.", Int, "lines",
		"a dependency matters to the probe only when the probe asks it",
		func(in *Incident, d depErrors) Value {
			refs := d.onPath
			if len(refs) == 0 {
				refs = d.refs()
			}
			return known(int64(len(d.onPath)), refs...)
		}),
	depFact("dependencies.offProbePath", "Such lines that name a request path other than the health paths.", Int, "lines",
		"a dependency that fails elsewhere can hold workers but is not what the probe waits for",
		func(in *Incident, d depErrors) Value { return known(int64(len(d.offPath)), d.offPath...) }),
	depFact("dependencies.name", "The dependency with the most such lines.", String, "",
		"which dependency it is",
		func(in *Incident, d depErrors) Value {
			if len(d.names) == 0 {
				return Unknown
			}
			name := top(d.names, 1)[0]
			return known(name, d.nameRefs[name]...)
		}),
	depFact("dependencies.routes", "The routes with the most such lines, at most three.", String, "",
		"where the failing calls are",
		func(in *Incident, d depErrors) Value {
			if len(d.routes) == 0 {
				return Unknown
			}
			return known(strings.Join(top(d.routes, 3), ", "), d.offPath...)
		}),
	depFact("dependencies.beforeFailures", "How long before the first failure the dependency errors began; negative when they began later.", Duration, "",
		"a cause comes before its effect",
		func(in *Incident, d depErrors) Value {
			first, _ := in.seriousSpan()
			if d.first.IsZero() || first.IsZero() {
				return Unknown
			}
			return known(first.Sub(d.first).Round(time.Second), d.refs()...)
		}),
	{
		Name: "dependencies.latency", Doc: "Highest latency of calls to a dependency from the failing pods during the incident.", Type: Duration, Scope: ScopeIncident,
		Needs: []string{evidence.SourceMetrics}, Why: "whether calls to a dependency hold workers", Collect: collectSignal("dependency.latency"),
		Compute: func(in *Incident) Value {
			ps := in.failingPeaks("dependency.latency")
			if len(ps) == 0 {
				return Unknown
			}
			peak := 0.0
			for _, p := range ps {
				peak = max(peak, p.peak)
			}
			return known(seconds(peak), peakRefs(ps)...)
		},
	},
	signalFact("dependencies.poolPending", "dbpool.pending", "Requests waiting for a connection of a client pool (database, HTTP).", "requests",
		"an exhausted client pool holds the workers that wait for it"),
	{
		Name: "logs.silence", Doc: "Longest gap in the failing pods' logs that overlaps the failures, where the log has at least four lines and the gap is ten times the usual distance or more (thirty seconds to ten minutes where the log has fewer than ten lines: longer gaps of an excerpt are what was left out).",
		Type: Duration, Scope: ScopeIncident, Needs: []string{evidence.SourceLogs},
		Why: "a process that writes nothing while probes fail is stalled as a whole", Collect: collectLogs,
		Compute: silence,
	},
}

func silence(in *Incident) Value {
	byPod := map[string][]*evidence.LogLine{}
	for _, l := range in.Logs {
		if (l.Origin == "app" || l.Origin == "") && !l.At.IsZero() {
			byPod[l.Object.Name] = append(byPod[l.Object.Name], l)
		}
	}
	var longest time.Duration
	var refs []evidence.Ref
	measured := false
	for _, pod := range sortedKeys(byPod) {
		lines := byPod[pod] // sorted by time, as the set is
		if len(lines) < 4 || len(in.failingPods()) > 0 && pod != "" && !in.isFailing(pod) {
			continue
		}
		measured = true
		gaps := make([]time.Duration, 0, len(lines))
		for i := 1; i < len(lines); i++ {
			gaps = append(gaps, lines[i].At.Sub(lines[i-1].At))
		}
		sorted := slices.Clone(gaps)
		slices.Sort(sorted)
		usual := sorted[len(sorted)/2]
		for i, g := range gaps {
			if g < 10*usual || g < 5*time.Second || len(lines) < 10 && (g < 30*time.Second || g > 10*time.Minute) {
				continue
			}
			// Only the part of the gap in which probes failed says anything of the failures.
			from, to := lines[i].At, lines[i+1].At
			if during := in.overlap(from, to); during > longest && during >= 5*time.Second {
				longest, refs = during, []evidence.Ref{lines[i].Ref, lines[i+1].Ref}
			}
		}
	}
	if !measured {
		return Unknown
	}
	return known(longest, refs...)
}

// overlap is how much of the time from..to lies within the incident; all of it where it spans the incident or where the
// incident has no times.
func (in *Incident) overlap(from, to time.Time) time.Duration {
	if in.Start.IsZero() || !from.After(in.Start) && !to.Before(in.End) {
		return to.Sub(from)
	}
	if from.Before(in.Start) {
		from = in.Start
	}
	if to.After(in.End) {
		to = in.End
	}
	return to.Sub(from)
}
