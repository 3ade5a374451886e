package evidence

import (
	"slices"
	"time"
)

// AsOf gives the evidence as it was known at the moment t. For t at or after the end it is the set itself.
//
// What a status says is kept only where its own timestamps prove it; an aggregated event row that goes on after t counts
// as "at least one, number not known"; specifications are taken as unchanged. Items without a time are left out: when
// they were true is not known.
func (s *Set) AsOf(t time.Time) *Set {
	if t.IsZero() || s.End.IsZero() || !t.Before(s.End) {
		return s
	}
	c := &Set{
		Services: s.Services, HealthChecks: s.HealthChecks, Queries: s.Queries, Coverage: s.Coverage,
		End: t, Cut: t, Relative: s.Relative,
	}
	for _, e := range s.Events {
		switch {
		case e.First.IsZero() || e.First.After(t):
			continue
		case e.Last.After(t):
			e.Last, e.Count, e.AtLeast = e.First, 1, true
		}
		c.Events = append(c.Events, e)
	}
	for _, p := range s.Pods {
		if q, ok := podAsOf(p, t); ok {
			c.Pods = append(c.Pods, q)
		}
	}
	for _, w := range s.Workloads {
		if w.Created.After(t) {
			continue
		}
		w.Desired, w.ReadyCount, w.Updated, w.Available = -1, -1, -1, -1
		w.Conditions = conditionsAsOf(w.Conditions, t)
		c.Workloads = append(c.Workloads, w)
	}
	for _, a := range s.Autoscalers {
		if a.LastScale.IsZero() || a.LastScale.After(t) {
			a.Current, a.Desired, a.LastScale = -1, -1, time.Time{}
		}
		a.Metrics = nil
		a.Conditions = conditionsAsOf(a.Conditions, t)
		c.Autoscalers = append(c.Autoscalers, a)
	}
	for _, n := range s.Nodes {
		if n.Created.After(t) {
			continue
		}
		n.Conditions = conditionsAsOf(n.Conditions, t)
		c.Nodes = append(c.Nodes, n)
	}
	for _, r := range s.Series {
		n, _ := slices.BinarySearchFunc(r.Samples, t, func(x Sample, t time.Time) int {
			if x.At.After(t) {
				return 1
			}
			return -1
		})
		r.Samples = r.Samples[:n]
		if len(r.Samples) > 0 && !r.Samples[0].At.IsZero() {
			c.Series = append(c.Series, r)
		}
	}
	for _, l := range s.Logs {
		if !l.At.IsZero() && !l.At.After(t) {
			c.Logs = append(c.Logs, l)
		}
	}
	for _, r := range s.Requests {
		if !r.At.IsZero() && !r.At.After(t) {
			c.Requests = append(c.Requests, r)
		}
	}
	for _, g := range s.Targets {
		if (g.Since.IsZero() || g.Since.After(t)) && (g.Observed.IsZero() || g.Observed.After(t)) {
			g.State, g.Reason, g.Description, g.Codes = "unknown", "", "", nil
		}
		c.Targets = append(c.Targets, g)
	}
	for _, l := range s.Listeners {
		if !l.Observed.IsZero() && !l.Observed.After(t) {
			c.Listeners = append(c.Listeners, l)
		}
	}
	c.Failures = deriveFailures(c)
	return c
}

func podAsOf(p Pod, t time.Time) (Pod, bool) {
	if p.Created.After(t) {
		return p, false
	}
	if p.Deleted.After(t) {
		p.Deleted = time.Time{}
	}
	p.Phase, p.Reason = "", ""
	if p.LastRestart.After(t) || p.LastRestart.IsZero() {
		if p.Restarts > 0 {
			p.Restarts = -1
		}
		p.LastRestart = time.Time{}
	}
	p.ReadyContainers, p.TotalContainers = 0, 0
	p.Conditions = conditionsAsOf(p.Conditions, t)
	p.Containers = slices.Clone(p.Containers)
	for i := range p.Containers {
		c := &p.Containers[i]
		if c.State.Started.IsZero() || c.State.Started.After(t) {
			// The container of now did not run then; what ran is in LastState only if that had begun.
			if !c.LastState.Started.IsZero() && !c.LastState.Started.After(t) && c.LastState.Finished.After(t) {
				c.State = ContainerState{Status: "running", Started: c.LastState.Started}
				c.LastState = ContainerState{}
				c.StatusKnown = true
			} else {
				c.State, c.StatusKnown = ContainerState{}, false
			}
			c.Started = nil
			if c.Restarts > 0 {
				c.Restarts = -1
			}
		}
		if c.LastState.Finished.After(t) || c.LastState.Finished.IsZero() {
			c.LastState = ContainerState{}
		}
		c.Ready = false
		if r, ok := p.Condition("Ready"); ok {
			c.Ready = r.Status == "True"
		}
	}
	return p, true
}

// conditionsAsOf keeps the conditions that already held at t.
func conditionsAsOf(cs []Condition, t time.Time) []Condition {
	var kept []Condition
	for _, c := range cs {
		if !c.Transition.IsZero() && !c.Transition.After(t) {
			kept = append(kept, c)
		}
	}
	return kept
}
