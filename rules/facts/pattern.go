package facts

import (
	"strings"
	"time"

	"github.com/probedoctor/probedoctor/sources/evidence"
)

// Who fails and who does not, and what became of those that failed.

func containsFold(s, sub string) bool { return strings.Contains(strings.ToLower(s), sub) }

var patternFacts = []Fact{
	{
		Name: "pattern.everSucceeded", Doc: "Whether the probed container was ever healthy: a pod of the workload is or was Ready, its container was started, or a request to the health path was answered. Unknown when nothing tells.",
		Type: Bool, Scope: ScopeIncident, Needs: []string{evidence.SourcePods},
		Why: "never healthy points to configuration or start-up, sometimes healthy to load or resources", Collect: collectPods,
		Compute: everSucceeded,
	},
	{
		Name: "pattern.failingShare", Doc: "Share of the workload's live pods that have failures, noise left out.",
		Type: Double, Unit: "ratio", Scope: ScopeIncident, Needs: []string{evidence.SourcePods, evidence.SourceEvents},
		Why: "all pods at once points to what they share", Collect: collectPods,
		Compute: func(in *Incident) Value {
			live := in.livePods()
			failing := in.failingPods()
			if len(live) == 0 || len(failing) == 0 {
				return Unknown
			}
			n := 0
			refs := in.failureRefs((*Failure).serious)
			for _, p := range live {
				if in.isFailing(p.Object.Name) {
					n++
				} else {
					refs = append(refs, p.Ref)
				}
			}
			return known(float64(n)/float64(len(live)), refs...)
		},
	},
	{
		Name: "pattern.healthySiblings", Doc: "Live pods of the failing pods' template without a failure that is not noise.",
		Type: Int, Unit: "pods", Scope: ScopeIncident, Needs: []string{evidence.SourcePods, evidence.SourceEvents},
		Why: "a healthy sibling of the same template rules out what all of them share", Collect: collectPods,
		Compute: func(in *Incident) Value {
			if len(in.livePods()) == 0 || len(in.failingPods()) == 0 {
				return Unknown
			}
			n := int64(0)
			var refs []evidence.Ref
			for _, p := range in.livePods() {
				if !in.isFailing(p.Object.Name) && !unready(p) && in.sameTemplate(p) {
					n++
					refs = append(refs, p.Ref)
				}
			}
			return known(n, refs...)
		},
	},
	{
		Name: "pattern.recovered", Doc: "Failing pods that are Ready again although their container did not restart since they failed.",
		Type: Int, Unit: "pods", Scope: ScopeIncident, Needs: []string{evidence.SourcePods, evidence.SourceEvents},
		Why: "recovery without a restart excludes a process that is wedged for good", Collect: collectPods,
		Compute: func(in *Incident) Value {
			n, measured := int64(0), false
			var refs []evidence.Ref
			for _, p := range in.livePods() {
				if !in.isFailing(p.Object.Name) {
					continue
				}
				ready, ok := p.Ready()
				if !ok {
					continue
				}
				restarted, told := in.restartedSince(p)
				if ready && !told {
					continue
				}
				measured = true
				if ready && !restarted {
					n++
					refs = append(refs, p.Ref)
				}
			}
			if !measured {
				return Unknown
			}
			return known(n, refs...)
		},
	},
	{
		Name: "pattern.stuck", Doc: "Failing pods that are still not Ready and whose failures go on to the end of what was read.",
		Type: Int, Unit: "pods", Scope: ScopeIncident, Needs: []string{evidence.SourcePods, evidence.SourceEvents},
		Why: "a pod that never comes back by itself is wedged", Collect: collectPods,
		Compute: func(in *Incident) Value {
			n, measured := int64(0), false
			var refs []evidence.Ref
			for _, p := range in.livePods() {
				if !in.isFailing(p.Object.Name) {
					continue
				}
				if ready, ok := p.Ready(); ok {
					measured = true
					if !ready {
						n++
						refs = append(refs, p.Ref)
					}
				}
			}
			if !measured {
				return Unknown
			}
			return known(n, refs...)
		},
	},
	{
		Name: "pattern.simultaneous", Doc: "Whether the failures of at least three pods began within one probe period of each other and no pod was spared.",
		Type: Bool, Scope: ScopeIncident, Needs: []string{evidence.SourceEvents, evidence.SourcePods},
		Why: "all replicas at the same instant points to something they share, such as a dependency", Collect: collectEvents,
		Compute: simultaneous,
	},
	{
		Name: "pattern.nodes", Doc: "Nodes that carry failing pods.",
		Type: Int, Unit: "nodes", Scope: ScopeIncident, Needs: []string{evidence.SourcePods, evidence.SourceEvents},
		Why: "one node or many is a first split", Collect: collectPods,
		Compute: func(in *Incident) Value {
			failing, _, refs := in.nodesOfPods()
			if len(failing) == 0 {
				return Unknown
			}
			return known(int64(len(failing)), refs...)
		},
	},
	{
		Name: "pattern.failingOnNode", Doc: "Failing pods on the node that carries most of them.",
		Type: Int, Unit: "pods", Scope: ScopeIncident, Needs: []string{evidence.SourcePods, evidence.SourceEvents},
		Why: "two pods that fail on one node are less of a chance than one", Collect: collectPods,
		Compute: func(in *Incident) Value {
			n := map[string]int64{}
			var refs []evidence.Ref
			most := int64(0)
			for _, p := range in.Pods {
				if p.Node != "" && in.isFailing(p.Object.Name) {
					n[p.Node]++
					most = max(most, n[p.Node])
					refs = append(refs, p.Ref)
				}
			}
			if most == 0 {
				return Unknown
			}
			return known(most, refs...)
		},
	},
	{
		Name: "pattern.oneNodeOnly", Doc: "Whether all failing pods are on one node while pods of the same workload on other nodes are healthy.",
		Type: Bool, Scope: ScopeIncident, Needs: []string{evidence.SourcePods, evidence.SourceEvents},
		Why: "then the node, and not the application, is what differs", Collect: collectPods,
		Compute: func(in *Incident) Value {
			failing, healthy, refs := in.nodesOfPods()
			if len(failing) == 0 {
				return Unknown
			}
			for n := range failing {
				delete(healthy, n)
			}
			if len(failing) > 1 {
				return known(false, refs...)
			}
			if len(healthy) == 0 {
				return Unknown
			}
			return known(true, refs...)
		},
	},
	{
		Name: "pattern.manyWorkloads", Doc: "Other workloads whose probes fail within a minute of this one's, on whatever node.",
		Type: Int, Unit: "workloads", Scope: ScopeIncident, Needs: []string{evidence.SourceEvents},
		Why: "unrelated workloads failing at once share a node, a network or a kubelet", Collect: func(*Incident) string { return "kubectl get events -A --field-selector reason=Unhealthy -o json" },
		Compute: func(in *Incident) Value {
			if len(in.Failures) == 0 {
				return Unknown
			}
			return known(int64(in.OtherWorkloads), in.failureRefs(func(*Failure) bool { return true })...)
		},
	},
	{
		Name: "pattern.otherWorkloads", Doc: "Other workloads with failing probes on the nodes of the failing pods.",
		Type: Int, Unit: "workloads", Scope: ScopeIncident, Needs: []string{evidence.SourceEvents, evidence.SourcePods},
		Why: "unrelated pods failing together on a node point to the node", Collect: func(*Incident) string { return "kubectl get events -A --field-selector reason=Unhealthy -o json" },
		Compute: func(in *Incident) Value {
			failing, _, refs := in.nodesOfPods()
			if len(failing) == 0 {
				return Unknown
			}
			n := 0
			for node := range failing {
				n = max(n, in.OtherFailing[node])
			}
			return known(int64(n), refs...)
		},
	},
}

// containerOf is the incident's container in a pod; without a name, the only one.
func (in *Incident) containerOf(p *evidence.Pod) *evidence.Container {
	if in.Container != "" {
		if c, ok := p.Container(in.Container); ok {
			return c
		}
		return nil
	}
	var only *evidence.Container
	for i := range p.Containers {
		if p.Containers[i].Init {
			continue
		}
		if only != nil {
			return nil
		}
		only = &p.Containers[i]
	}
	return only
}

// restartedSince tells whether the pod's container restarted after its first failure in the incident, and whether that is
// known: a number of restarts without a time tells only that there were some.
func (in *Incident) restartedSince(p *evidence.Pod) (restarted, known bool) {
	restarts := p.Restarts
	var started time.Time
	if c := in.containerOf(p); c != nil && c.StatusKnown {
		restarts, started = c.Restarts, c.State.Started
	}
	if restarts == 0 {
		return false, true
	}
	if started.IsZero() {
		started = p.LastRestart
	}
	if started.IsZero() {
		return false, false
	}
	named := false
	for i := range in.Failures {
		f := &in.Failures[i]
		named = named || f.serious() && f.Object.Name == p.Object.Name
		if f.serious() && f.Object.Name == p.Object.Name && (f.First.IsZero() || started.After(f.First)) {
			return true, true
		}
	}
	// Where no failure names the pod, a restart may have come after any of them.
	return !named, true
}

// unready tells whether the pod is known not to be Ready.
func unready(p *evidence.Pod) bool {
	ready, ok := p.Ready()
	return ok && !ready
}

func (in *Incident) nodesOfPods() (failing, healthy map[string]bool, refs []evidence.Ref) {
	failing, healthy = map[string]bool{}, map[string]bool{}
	for _, p := range in.Pods {
		if p.Node != "" && in.isFailing(p.Object.Name) {
			failing[p.Node] = true
			refs = append(refs, p.Ref)
		}
	}
	for _, p := range in.livePods() {
		if p.Node != "" && !in.isFailing(p.Object.Name) && !unready(p) {
			healthy[p.Node] = true
		}
	}
	return failing, healthy, refs
}

// template is what tells pods of one pod template from those of another: the label of its hash, else the part of the name
// that a Deployment makes of it. Empty when neither is known.
func template(p *evidence.Pod) string {
	if p.TemplateHash != "" {
		return p.TemplateHash
	}
	parts := strings.Split(p.Object.Name, "-")
	if n := len(parts); n >= 3 && len(parts[n-1]) == 5 && len(parts[n-2]) >= 6 && len(parts[n-2]) <= 10 && strings.ContainsAny(parts[n-2], "0123456789") {
		return parts[n-2]
	}
	return ""
}

// sameTemplate tells whether the pod has the template of a failing one; where templates are not known, all are alike.
func (in *Incident) sameTemplate(p *evidence.Pod) bool {
	failing := once(in, "failingTemplates", func() map[string]bool {
		set := map[string]bool{}
		for _, q := range in.Pods {
			if in.isFailing(q.Object.Name) {
				set[template(q)] = true
			}
		}
		return set
	})
	t := template(p)
	return t == "" || len(failing) == 0 || failing[t] || failing[""]
}

// readyMeansProbed tells whether a Ready pod shows that the failing probe can succeed. Where only liveness fails, Ready
// speaks of another probe, or of none.
func (in *Incident) readyMeansProbed() bool {
	onlyLiveness := false
	for i := range in.Failures {
		switch f := &in.Failures[i]; {
		case !f.serious():
		case f.Probe != evidence.Liveness:
			return true
		default:
			onlyLiveness = true
		}
	}
	if !onlyLiveness {
		return true
	}
	l, r := in.probe(evidence.Liveness), in.probe(evidence.Readiness)
	return l != nil && r != nil && l.Spec != nil && r.Spec != nil && l.Spec.Endpoint == r.Spec.Endpoint
}

// lateStart is how long after its start a pod's first failure must have come to say that its probes passed before.
const lateStart = 15 * time.Minute

// failedLate tells whether the pod's failures began long after it started: a failing probe's event is renewed for as long as
// it fails, so its first time is the beginning, and until then the probe passed. Rows without a count know no beginning.
func (in *Incident) failedLate(p *evidence.Pod, c *evidence.Container) bool {
	started, restarts := p.Started, p.Restarts
	if c != nil && !c.State.Started.IsZero() {
		started, restarts = c.State.Started, c.Restarts
	}
	if started.IsZero() {
		started = p.Created
	}
	if started.IsZero() || restarts != 0 {
		return false
	}
	var first time.Time
	for i := range in.Failures {
		f := &in.Failures[i]
		if f.Object.Name != p.Object.Name || !f.serious() {
			continue
		}
		if f.AtLeast || f.First.IsZero() || f.Count < 2 {
			return false
		}
		if first.IsZero() || f.First.Before(first) {
			first = f.First
		}
	}
	return !first.IsZero() && first.Sub(started) > lateStart
}

// livenessBudget is the time in which liveness kills a container that never answers, doubled and with two more periods to
// be sure; 0 when its settings are not known.
func (in *Incident) livenessBudget() time.Duration {
	l := in.probe(evidence.Liveness)
	if l == nil || l.Spec == nil {
		return 0
	}
	every := max(l.Spec.Period(), l.Spec.Timeout())
	return 2 * (time.Duration(l.Spec.InitialDelaySeconds)*time.Second + time.Duration(l.Spec.Failures()+2)*every)
}

// ranPastLiveness tells whether the container's run before this one lasted longer than liveness lets one live that never
// answers. A startup probe holds liveness back, so with one nothing is told.
func (in *Incident) ranPastLiveness(c *evidence.Container) bool {
	s, budget := lastEnd(c), in.livenessBudget()
	return budget > 0 && in.probe(evidence.Startup) == nil && len(in.probe(evidence.Liveness).Failures) > 0 &&
		!s.Started.IsZero() && s.Finished.Sub(s.Started) > budget+time.Minute
}

func everSucceeded(in *Incident) Value {
	var no []evidence.Ref
	allNew := len(in.Pods) > 0
	for _, p := range in.Pods {
		if !in.sameTemplate(p) {
			continue // another version says nothing of this one's configuration
		}
		c := in.containerOf(p)
		ready, ok := p.Ready()
		if ok && ready && in.readyMeansProbed() {
			return known(true, p.Ref)
		}
		if c != nil && c.StatusKnown {
			if c.Ready || c.Started != nil && *c.Started && in.probe(evidence.Startup) != nil {
				return known(true, p.Ref)
			}
			// Liveness lets a container run for hours only while it succeeds.
			if l := in.probe(evidence.Liveness); l != nil && l.Spec != nil && !c.State.Started.IsZero() && len(l.Failures) > 0 {
				if first, _ := in.seriousSpan(); !first.IsZero() && first.Sub(c.State.Started) > in.livenessBudget() {
					return known(true, p.Ref)
				}
			}
		}
		if in.failedLate(p, c) {
			return known(true, p.Ref)
		}
		// So does the run before: only a success between its start and its end let it live past what liveness allows.
		if c != nil && c.StatusKnown && in.ranPastLiveness(c) {
			return known(true, p.Ref)
		}
		// Ready turned False later than the container started: it had been True.
		if r, has := p.Condition("Ready"); has && r.Status == "False" && c != nil && !c.State.Started.IsZero() &&
			r.Transition.Sub(c.State.Started) > time.Minute && c.Restarts == 0 {
			return known(true, p.Ref)
		}
		// A bare READY column tells of now. That a pod was never ready is told by conditions, or by a pod too young to have been.
		_, hasConditions := p.Condition("Ready")
		young := !p.Created.IsZero() && in.now().Sub(p.Created) < time.Hour
		if ok && !ready && (hasConditions || young || c != nil && c.StatusKnown) {
			no = append(no, p.Ref)
		} else {
			allNew = false
		}
	}
	for _, r := range in.Requests {
		// What is asked from inside the pod over loopback says nothing of the pod's address.
		if in.onHealthPath(r.Path) && r.Status >= 200 && r.Status < 400 && !(r.By == "client" && loopback(r.Host)) {
			return known(true, r.Ref)
		}
	}
	if allNew && len(no) > 0 {
		// No pod is ready now; none was as far as its conditions tell.
		return known(false, no...)
	}
	return Unknown
}

func simultaneous(in *Incident) Value {
	first := map[string]time.Time{}
	refs := map[string]evidence.Ref{}
	for i := range in.Failures {
		f := &in.Failures[i]
		if !f.serious() || f.First.IsZero() || f.Object.Name == "" {
			continue
		}
		if t, ok := first[f.Object.Name]; !ok || f.First.Before(t) {
			first[f.Object.Name], refs[f.Object.Name] = f.First, f.Cites
		}
	}
	if len(first) == 0 || len(in.livePods()) == 0 && len(first) < 3 {
		return Unknown
	}
	period := 10 * time.Second
	for i := range in.Probes {
		if s := in.Probes[i].Spec; s != nil {
			period = max(period, s.Period())
		}
	}
	var lo, hi time.Time
	var cited []evidence.Ref
	for _, name := range sortedKeys(first) {
		t := first[name]
		if lo.IsZero() || t.Before(lo) {
			lo = t
		}
		if t.After(hi) {
			hi = t
		}
		cited = append(cited, refs[name])
	}
	spared := 0
	for _, p := range in.livePods() {
		cited = append(cited, p.Ref)
		// A pod made after the failures began cannot have begun to fail with the others.
		if !in.isFailing(p.Object.Name) && p.Created.Before(lo) {
			spared++
		}
	}
	return known(len(first) >= 3 && spared == 0 && hi.Sub(lo) <= period+2*time.Second, cited...)
}
