package facts

import (
	"strings"
	"time"

	"github.com/probedoctor/probedoctor/sources/evidence"
)

// Restarts, ends and beginnings of containers and pods.

// eachContainer calls f with the incident's container in every pod whose status was read.
func (in *Incident) eachContainer(f func(p *evidence.Pod, c *evidence.Container)) {
	for _, p := range in.Pods {
		if c := in.containerOf(p); c != nil && c.StatusKnown {
			f(p, c)
		}
	}
}

// lastEnd is the state in which the container last ended: that of now where it has ended, else the one before.
func lastEnd(c *evidence.Container) *evidence.ContainerState {
	if c.State.Status == "terminated" || c.State.ExitCode != nil {
		return &c.State
	}
	return &c.LastState
}

// lastEnds are the containers' last terminations.
func (in *Incident) lastEnds(match func(p *evidence.Pod, s *evidence.ContainerState) bool) Value {
	n := int64(0)
	var refs, measured []evidence.Ref
	in.eachContainer(func(p *evidence.Pod, c *evidence.Container) {
		measured = append(measured, p.Ref)
		if s := lastEnd(c); (s.Status == "terminated" || s.ExitCode != nil) && match(p, s) {
			n++
			refs = append(refs, p.Ref)
		}
	})
	switch {
	case len(measured) == 0:
		return Unknown
	case n == 0:
		return known(n, measured...) // that none did is read from all of them
	}
	return known(n, refs...)
}

// KilledBy is the probe for whose failures the event tells that the kubelet ended a container, empty when it tells of no
// such end. A pasted message may stand without its reason.
func KilledBy(e *evidence.Event) evidence.ProbeKind {
	switch {
	case e.Reason != "Killing" && e.Reason != "":
	case containsFold(e.Message, "failed startup probe"):
		return evidence.Startup
	case containsFold(e.Message, "failed liveness probe"), containsFold(e.Message, "is unhealthy, it will be killed"):
		return evidence.Liveness
	}
	return ""
}

// killedByProbe are the pods of which an event says that a liveness or startup probe killed a container.
func (in *Incident) killedByProbe() map[string]bool {
	return once(in, "killedByProbe", func() map[string]bool {
		out := map[string]bool{}
		for _, e := range in.Events {
			if KilledBy(e) != "" {
				out[e.Object.Name] = true
			}
		}
		return out
	})
}

// fromZero tells whether a deployment controller's message is of a ReplicaSet that had no replicas. Its versions write
// "to 1 from 0" and "from 0 to 1"; the oldest write "to 1" alone, which does not say.
func fromZero(message string) bool {
	return strings.Contains(message, " from 0 to ") || strings.HasSuffix(message, " from 0")
}

var lifecycleFacts = []Fact{
	{
		Name: "lifecycle.restarts", Doc: "Restarts of the container over the live pods of the workload.",
		Type: Int, Unit: "restarts", Scope: ScopeIncident, Needs: []string{evidence.SourcePods},
		Why: "restarts tell a crash from a probe that only fails", Collect: collectPods,
		Compute: func(in *Incident) Value {
			n := int64(0)
			var refs, measured []evidence.Ref
			for _, p := range in.Pods {
				r := p.Restarts
				if c := in.containerOf(p); c != nil && c.StatusKnown {
					r = c.Restarts
				}
				if r >= 0 {
					measured = append(measured, p.Ref)
					n += int64(r)
					if r > 0 {
						refs = append(refs, p.Ref)
					}
				}
			}
			switch {
			case len(measured) == 0:
				return Unknown
			case n == 0:
				return known(n, measured...)
			}
			return known(n, refs...)
		},
	},
	{
		Name: "lifecycle.restartedShare", Doc: "Share of the workload's live pods, of at least four, that have restarted.",
		Type: Double, Unit: "ratio", Scope: ScopeIncident, Needs: []string{evidence.SourcePods},
		Why: "most replicas restarting at once is not a fault of one of them", Collect: collectPods,
		Compute: func(in *Incident) Value {
			n, all := 0, 0
			var refs []evidence.Ref
			for _, p := range in.livePods() {
				if p.Restarts < 0 {
					continue
				}
				all++
				if p.Restarts > 0 {
					n++
					refs = append(refs, p.Ref)
				}
			}
			if all < 4 {
				return Unknown
			}
			if n == 0 {
				refs = podRefs(in.livePods())
			}
			return known(float64(n)/float64(all), refs...)
		},
	},
	{
		Name: "lifecycle.youngestRestarting", Doc: "Age of the youngest pod that has restarted.",
		Type: Duration, Scope: ScopeIncident, Needs: []string{evidence.SourcePods},
		Why: "a pod that ran for days before is no slow starter", Collect: collectPods,
		Compute: func(in *Incident) Value {
			var youngest time.Time
			var ref evidence.Ref
			for _, p := range in.livePods() {
				if p.Restarts > 0 && !p.Created.IsZero() && p.Created.After(youngest) {
					youngest, ref = p.Created, p.Ref
				}
			}
			if youngest.IsZero() {
				return Unknown
			}
			return known(max(in.now().Sub(youngest), 0), ref)
		},
	},
	{
		Name: "lifecycle.rolloutStuck", Doc: "Whether the workload's rollout passed its progress deadline.",
		Type: Bool, Scope: ScopeIncident, Needs: []string{evidence.SourceSpecs},
		Why: "a rollout that does not end points to the new version", Collect: collectSpec,
		Compute: func(in *Incident) Value {
			if in.Template == nil || len(in.Template.Conditions) == 0 {
				return Unknown
			}
			for _, c := range in.Template.Conditions {
				if c.Type == "Progressing" {
					return known(c.Status == "False" || c.Reason == "ProgressDeadlineExceeded", in.Template.Ref)
				}
			}
			return Unknown
		},
	},
	{
		Name: "lifecycle.outOfMemory", Doc: "Pods whose container was last ended with the reason OOMKilled.",
		Type: Int, Unit: "pods", Scope: ScopeIncident, Needs: []string{evidence.SourcePods},
		Why: "a container killed for memory leaves no event of its own", Collect: collectPods,
		Compute: func(in *Incident) Value {
			v := in.lastEnds(func(_ *evidence.Pod, s *evidence.ContainerState) bool { return s.Reason == "OOMKilled" })
			// A table of pods has it as the pod's state.
			var rows []evidence.Ref
			for _, p := range in.Pods {
				if p.Phase == "OOMKilled" {
					rows = append(rows, p.Ref)
				}
			}
			if n, ok := v.V.(int64); len(rows) > 0 && (!ok || n == 0) {
				return known(int64(len(rows)), rows...)
			}
			return v
		},
	},
	{
		Name: "lifecycle.crashes", Doc: "Pods whose container last ended by itself with an error: an exit code other than 0, 137 and 143, and not OOMKilled.",
		Type: Int, Unit: "pods", Scope: ScopeIncident, Needs: []string{evidence.SourcePods},
		Why: "a process that exits by itself is not killed by a probe", Collect: collectPods,
		Compute: func(in *Incident) Value {
			return in.lastEnds(func(_ *evidence.Pod, s *evidence.ContainerState) bool {
				return s.Reason != "OOMKilled" && s.ExitCode != nil && *s.ExitCode != 0 && *s.ExitCode != 137 && *s.ExitCode != 143
			})
		},
	},
	{
		Name: "lifecycle.killed", Doc: "Pods whose container last ended with exit code 137 or 143 without OOMKilled, or with 0 after the kubelet reported that a probe killed it: it was told to stop.",
		Type: Int, Unit: "pods", Scope: ScopeIncident, Needs: []string{evidence.SourcePods},
		Why: "a container that was stopped from outside did not crash", Collect: collectPods,
		Compute: func(in *Incident) Value {
			byProbe := in.killedByProbe()
			return in.lastEnds(func(p *evidence.Pod, s *evidence.ContainerState) bool {
				if s.Reason == "OOMKilled" || s.ExitCode == nil {
					return false
				}
				// A process that ends in good order when told to stop leaves 0 and "Completed".
				return *s.ExitCode == 137 || *s.ExitCode == 143 || *s.ExitCode == 0 && byProbe[p.Object.Name]
			})
		},
	},
	{
		Name: "lifecycle.completed", Doc: "Pods whose container last ended with exit code 0 and was started again, although no event tells of a probe that killed it: a server that ends by itself, without an error.",
		Type: Int, Unit: "pods", Scope: ScopeIncident, Needs: []string{evidence.SourcePods, evidence.SourceEvents},
		Why: "a server that ends by itself is not killed by a probe", Collect: collectEvents,
		Compute: func(in *Incident) Value {
			if !in.Set.Covered(evidence.SourceEvents) {
				return Unknown
			}
			byProbe := in.killedByProbe()
			return in.lastEnds(func(p *evidence.Pod, s *evidence.ContainerState) bool {
				return s.ExitCode != nil && *s.ExitCode == 0 && p.Restarts > 0 && !byProbe[p.Object.Name]
			})
		},
	},
	{
		Name: "lifecycle.backOff", Doc: "Whether a container of the workload waits in CrashLoopBackOff or the kubelet reported a restart back-off.",
		Type: Bool, Scope: ScopeIncident, Needs: []string{evidence.SourcePods, evidence.SourceEvents},
		Why: "a crash loop makes every probe fail", Collect: collectPods,
		Compute: func(in *Incident) Value {
			var refs []evidence.Ref
			for _, e := range in.Events {
				if e.Reason == "BackOff" && strings.Contains(e.Message, "restarting failed container") {
					refs = append(refs, e.Ref)
				}
			}
			measured := in.Set.Covered(evidence.SourceEvents)
			in.eachContainer(func(p *evidence.Pod, c *evidence.Container) {
				measured = true
				if c.State.Reason == "CrashLoopBackOff" {
					refs = append(refs, p.Ref)
				}
			})
			for _, p := range in.Pods {
				if p.Phase == "CrashLoopBackOff" {
					refs = append(refs, p.Ref)
				}
			}
			if len(refs) > 0 {
				return known(true, refs...)
			}
			if !measured {
				return Unknown
			}
			return known(false)
		},
	},
	{
		Name: "lifecycle.terminating", Doc: "Pods of the workload that were terminating or gone during the incident.",
		Type: Int, Unit: "pods", Scope: ScopeIncident, Needs: []string{evidence.SourcePods, evidence.SourceEvents},
		Why: "probes of pods that end fail without meaning anything", Collect: collectEvents,
		Compute: func(in *Incident) Value {
			gone := map[string][]evidence.Ref{}
			for _, p := range in.Pods {
				if !p.Deleted.IsZero() {
					gone[p.Object.Name] = append(gone[p.Object.Name], p.Ref)
				}
			}
			for _, e := range in.Events {
				if e.Reason == "Killing" && strings.HasPrefix(e.Message, "Stopping container") && in.inWindow(e.Last, time.Minute) {
					gone[e.Object.Name] = append(gone[e.Object.Name], e.Ref)
				}
			}
			if len(gone) == 0 && !in.Set.Covered(evidence.SourceEvents) {
				return Unknown
			}
			var refs []evidence.Ref
			for _, name := range sortedKeys(gone) {
				refs = append(refs, gone[name]...)
			}
			return known(int64(len(gone)), refs...)
		},
	},
	{
		Name: "lifecycle.startsKilled", Doc: "Share of starts that ended in a kill by liveness or startup probe soon after: kills by a probe for each container start that was reported.",
		Type: Double, Unit: "ratio", Scope: ScopeIncident, Needs: []string{evidence.SourceEvents},
		Why: "a container that is killed after every start is killed before it has started", Collect: collectEvents,
		Compute: func(in *Incident) Value {
			starts, kills := 0, 0
			var refs []evidence.Ref
			for _, e := range in.Events {
				switch {
				case e.Reason == "Started":
					starts += max(e.Count, 1)
					refs = append(refs, e.Ref)
				case e.Reason == "Killing" && containsFold(e.Message, "probe, will be restarted"):
					kills += max(e.Count, 1)
					refs = append(refs, e.Ref)
				}
			}
			if starts == 0 {
				return Unknown
			}
			return known(float64(kills)/float64(starts), refs...)
		},
	},
	{
		Name: "lifecycle.rollouts", Doc: "Changes of the pod template around the incident: scale-ups of a ReplicaSet from zero, or a new template among pods created in its time.",
		Type: Int, Unit: "rollouts", Scope: ScopeIncident, Needs: []string{evidence.SourceEvents},
		Why: "what changed just before is the first suspect", Collect: collectEvents,
		Compute: func(in *Incident) Value {
			n := int64(0)
			var refs []evidence.Ref
			for _, e := range in.Events {
				if e.Reason == "ScalingReplicaSet" && fromZero(e.Message) && in.inWindow(e.Last, 15*time.Minute) {
					n++
					refs = append(refs, e.Ref)
				}
			}
			if n == 0 && !in.Set.Covered(evidence.SourceEvents) {
				return Unknown
			}
			return known(n, refs...)
		},
	},
}
