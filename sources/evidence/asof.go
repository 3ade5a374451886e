package evidence

import (
	"slices"
	"sort"
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
	s.Lookup("") // builds the index, which the cut shares: a reference opens the same item at every moment
	c := &Set{
		index:    s.index,
		Services: s.Services, HealthChecks: s.HealthChecks, Queries: s.Queries, Coverage: s.Coverage,
		End: t, Cut: t, Relative: s.Relative,
	}
	c.Events = make([]Event, 0, len(s.Events))
	c.Series = make([]Series, 0, len(s.Series))
	for _, e := range s.Events {
		switch {
		case e.First.After(t), e.First.IsZero() && (e.Last.IsZero() || e.Last.After(t)):
			continue
		case e.Last.After(t):
			e.Last, e.Count, e.AtLeast = e.First, 1, true
			if e.Combined {
				e.Message = "" // it is the newest occurrence's
			}
		}
		c.Events = append(c.Events, e)
	}
	for _, p := range s.Pods {
		if q, ok := podAsOf(p, t); ok {
			c.Pods = append(c.Pods, q)
		}
	}
	sortItems(c.Pods, comparePods)
	for _, w := range s.Workloads {
		if w.Created.After(t) {
			continue
		}
		if readBy(&w.Item, t) {
			c.Workloads = append(c.Workloads, w)
			continue
		}
		w.Desired, w.ReadyCount, w.Updated, w.Available = -1, -1, -1, -1
		w.Conditions = conditionsAsOf(w.Conditions, t)
		c.Workloads = append(c.Workloads, w)
	}
	for _, a := range s.Autoscalers {
		if readBy(&a.Item, t) {
			c.Autoscalers = append(c.Autoscalers, a)
			continue
		}
		// What it wants changes only when it scales; how many there are is read anew all the time.
		a.Current = -1
		if a.LastScale.IsZero() || a.LastScale.After(t) {
			a.Desired, a.LastScale = -1, time.Time{}
		}
		a.Metrics = nil
		a.Conditions = conditionsAsOf(a.Conditions, t)
		c.Autoscalers = append(c.Autoscalers, a)
	}
	for _, n := range s.Nodes {
		if n.Created.After(t) {
			continue
		}
		if !readBy(&n.Item, t) {
			n.Conditions = conditionsAsOf(n.Conditions, t)
		}
		c.Nodes = append(c.Nodes, n)
	}
	for _, r := range s.Series {
		n, _ := slices.BinarySearchFunc(r.Samples, t, func(x Sample, t time.Time) int {
			if x.At.After(t) {
				return 1
			}
			return -1
		})
		r.Samples = slices.Clip(r.Samples[:n])
		if len(r.Samples) > 0 && (!r.Samples[0].At.IsZero() || readBy(&r.Item, t)) {
			c.Series = append(c.Series, r)
		}
	}
	c.Logs = timed(s.Logs, t, func(l *LogLine) time.Time { return l.At })
	c.Requests = timed(s.Requests, t, func(r *Request) time.Time { return r.At })
	for _, g := range s.Targets {
		if (g.Since.IsZero() || g.Since.After(t)) && !readBy(&g.Item, t) {
			g.State, g.Reason, g.Description, g.Codes = "unknown", "", "", nil
		}
		c.Targets = append(c.Targets, g)
	}
	for _, l := range s.Listeners {
		if readBy(&l.Item, t) {
			c.Listeners = append(c.Listeners, l)
		}
	}
	c.Failures = deriveFailures(c)
	return c
}

// timed gives the items with a time up to t of a list that is sorted by it; those without one come first.
func timed[T any](items []T, t time.Time, at func(*T) time.Time) []T {
	begin := sort.Search(len(items), func(i int) bool { return !at(&items[i]).IsZero() })
	end := sort.Search(len(items), func(i int) bool { return at(&items[i]).After(t) })
	return slices.Clip(items[begin:max(begin, end)])
}

// readBy tells whether the item was read at t or before, so that its status is of then.
func readBy(it *Item, t time.Time) bool { return !it.Observed.IsZero() && !it.Observed.After(t) }

func podAsOf(p Pod, t time.Time) (Pod, bool) {
	if p.Created.After(t) {
		return p, false
	}
	if readBy(&p.Item, t) {
		return p, true
	}
	// The status is no longer the one that was observed.
	p.Observed = time.Time{}
	// deletionTimestamp is when the grace period ends.
	if p.Deleted.Add(-time.Duration(p.GraceSeconds) * time.Second).After(t) {
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
		containerAsOf(c, t)
		c.Ready, c.ReadyUnknown = readyAsOf(&p, c)
		if !c.Ready && c.Started != nil && *c.Started {
			c.Started = nil // when it became true is not known
		}
	}
	return p, true
}

// containerAsOf cuts the states of a container to t.
func containerAsOf(c *Container, t time.Time) {
	now, last := c.State, c.LastState
	ran := func(s ContainerState) bool { return !s.Started.IsZero() && !s.Started.After(t) }
	switch {
	case ran(now) && now.Finished.After(t):
		c.State = ContainerState{Status: "running", Started: now.Started}
	case ran(now):
	case ran(last) && last.Finished.After(t):
		// The container of now did not run yet; the one before did.
		c.State, c.LastState = ContainerState{Status: "running", Started: last.Started}, ContainerState{}
		c.StatusKnown = true
	default:
		c.State, c.StatusKnown = ContainerState{}, false
	}
	if !ran(now) {
		c.Started = nil
		if c.Restarts > 0 {
			c.Restarts = -1
		}
	}
	if c.LastState.Finished.After(t) || c.LastState.Finished.IsZero() {
		c.LastState = ContainerState{}
	}
}

// readyAsOf gives what the conditions that held say about one container.
func readyAsOf(p *Pod, c *Container) (ready, unknown bool) {
	for _, typ := range [...]string{"Ready", "ContainersReady"} {
		cond, ok := p.Condition(typ)
		switch {
		case !ok:
		case cond.Status == "True":
			return true, false
		case cond.Status == "False" && typ == "ContainersReady" && len(p.Containers) == 1:
			return false, false
		}
	}
	return false, c.StatusKnown
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
