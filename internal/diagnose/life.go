package diagnose

import (
	"slices"
	"time"

	"github.com/probedoctor/probedoctor/rules/facts"
	"github.com/probedoctor/probedoctor/sources/evidence"
)

// What a pod was doing when a probe of it failed.

// startGrace is how long after its start a container may refuse probes and still count as starting when nothing says
// when it became ready.
const startGrace = 90 * time.Second

// goneAround is how long before and after a probe met an ended container other failures of the pod belong to that end.
const goneAround = time.Minute

// life tells what the pod was doing when the failure happened.
func (b *builder) life(f *evidence.Failure, p *evidence.Pod, container string) facts.Life {
	if f.Outcome == evidence.OutcomeGone {
		return facts.Terminating
	}
	if at, ok := b.index.stopped[podKey{f.Object.Namespace, f.Object.Name}]; ok && !f.Last.IsZero() && !f.Last.Before(at.Add(-2*time.Second)) && !f.First.Before(at.Add(-2*time.Second)) &&
		(p == nil || !p.Created.After(at)) { // a StatefulSet makes a new pod of the same name
		return facts.Terminating
	}
	// What fails beside probes that met an ended container fails for the same end.
	besideEnd := func(t time.Time) bool {
		return slices.ContainsFunc(b.index.gone[podKey{f.Object.Namespace, f.Object.Name}], func(end time.Time) bool { return t.Sub(end).Abs() <= goneAround })
	}
	if f.Outcome != evidence.OutcomeStatus && besideEnd(f.First) && besideEnd(f.Last) {
		return facts.Terminating
	}
	if p == nil {
		// Failures that end with the first minute after a start, while nothing shows a pod that is not ready.
		if at, ok := b.index.started[podKey{f.Object.Namespace, f.Object.Name}]; ok && !f.First.Before(at.Add(-time.Minute)) && f.Last.Sub(at) <= startGrace &&
			f.Result == evidence.Failed && len(b.owners.pods) > 0 && b.allReady() {
			return facts.Starting
		}
		if b.cameUp(f) {
			return facts.Starting
		}
		return facts.LifeUnknown
	}
	if !p.Deleted.IsZero() {
		// The deletion timestamp lies in the future by the grace period.
		began := p.Deleted.Add(-time.Duration(p.GraceSeconds) * time.Second)
		if f.First.IsZero() || !f.First.Before(began.Add(-2*time.Second)) {
			return facts.Terminating
		}
	}
	if p.Phase == "Terminating" && f.Outcome == evidence.OutcomeRefused {
		return facts.Terminating
	}
	return b.startingOrLive(f, p, container)
}

// cameUp tells whether the events alone show that the probe was refused while its container started: it was within the
// grace after the start, and for as long as a start may take after it the events tell of others but of nothing wrong with
// this pod.
func (b *builder) cameUp(f *evidence.Failure) bool {
	k := podKey{f.Object.Namespace, f.Object.Name}
	at, ok := b.index.started[k]
	return ok && f.Result == evidence.Failed && f.Outcome == evidence.OutcomeRefused && !f.First.Before(at) && f.Last.Sub(at) <= startGrace &&
		b.index.latest.Sub(f.Last) >= startGrace && !b.index.troubled[k].After(f.Last)
}

// allReady tells whether every pod that was read is Ready.
func (b *builder) allReady() bool {
	for _, p := range b.owners.pods {
		if ready, known := p.Ready(); !known || !ready {
			return false
		}
	}
	return true
}

func (b *builder) startingOrLive(f *evidence.Failure, p *evidence.Pod, container string) facts.Life {
	c, _ := p.Container(container)
	if c == nil && len(p.Containers) == 1 {
		c = &p.Containers[0]
	}
	started := p.Started
	restarts := p.Restarts
	if c != nil && !c.State.Started.IsZero() {
		started, restarts = c.State.Started, c.Restarts
	}
	if started.IsZero() {
		started = p.Created
	}
	if started.IsZero() || f.First.IsZero() {
		return facts.LifeUnknown
	}
	if f.First.Before(started.Add(-time.Second)) {
		// The failure began with an earlier container of the pod, or before the pod's own times.
		if c != nil && !c.LastState.Started.IsZero() && !f.First.Before(c.LastState.Started) && f.Last.Sub(c.LastState.Started) <= startGrace && restarts == 1 &&
			c.LastState.Finished.Sub(c.LastState.Started) > 2*startGrace {
			return facts.Starting
		}
		return facts.Live
	}
	if ready, ok := p.Condition("Ready"); ok && ready.Status == "True" && !ready.Transition.IsZero() && restarts == 0 &&
		!f.Last.After(ready.Transition.Add(time.Second)) && b.onlyStart(p, f, started) {
		return facts.Starting // it became Ready after this failure and had not been before
	}
	ready, known := p.Ready()
	if f.Last.Sub(started) <= startGrace && (!known || ready) {
		return facts.Starting
	}
	return facts.Live
}

// onlyStart tells whether the pod's Ready transition can be its first: the time from start to Ready holds no other end of
// readiness, which a long time would suggest.
func (b *builder) onlyStart(p *evidence.Pod, f *evidence.Failure, started time.Time) bool {
	ready, _ := p.Condition("Ready")
	return ready.Transition.Sub(started) <= 15*time.Minute && f.Outcome != evidence.OutcomeTimeout || ready.Transition.Sub(started) <= 2*startGrace
}
