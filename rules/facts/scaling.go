package facts

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/probedoctor/probedoctor/sources/evidence"
)

// Scale events, and whether failures follow them more often than chance.

// scaleEvent is one change of the number of replicas.
type scaleEvent struct {
	at   time.Time
	size int // the new size, -1 when the text does not say
	up   bool
	ref  evidence.Ref
}

// afterScale is how long after a scale event a failure counts as following it: new replicas take some probe periods to
// become Ready, and traffic moves only then.
const afterScale = 3 * time.Minute

// eventLifetime is how long the API server keeps events (its --event-ttl is an hour unless it is set).
const eventLifetime = time.Hour

// scaleEvents are the autoscaler's and, without any of those, the controllers' scale events, by time.
func (in *Incident) scaleEvents() []scaleEvent {
	return once(in, "scaleEvents", func() []scaleEvent {
		var hpa, ctl []scaleEvent
		for _, e := range in.Events {
			switch e.Reason {
			case "SuccessfulRescale":
				if n, ok := numberAfter(e.Message, "New size: "); ok {
					hpa = append(hpa, scaleEvent{at: e.First, size: n, ref: e.Ref})
				}
			case "ScalingReplicaSet":
				n, ok := numberAfter(e.Message, " to ")
				if !ok {
					n = -1
				}
				// A rollout scales one ReplicaSet up while it scales another down; only the size of an autoscaler is unmistakable.
				ctl = append(ctl, scaleEvent{at: e.First, size: n, up: strings.HasPrefix(e.Message, "Scaled up"), ref: e.Ref})
			}
		}
		byTime := func(a, b scaleEvent) int { return a.at.Compare(b.at) }
		slices.SortStableFunc(hpa, byTime)
		slices.SortStableFunc(ctl, byTime)
		for i := range hpa {
			hpa[i].up = i == 0 || hpa[i].size > hpa[i-1].size
		}
		if len(hpa) > 0 {
			return hpa
		}
		return ctl
	})
}

func numberAfter(s, prefix string) (int, bool) {
	i := strings.LastIndex(s, prefix)
	if i < 0 {
		return 0, false
	}
	s = s[i+len(prefix):]
	end := 0
	for end < len(s) && s[end] >= '0' && s[end] <= '9' {
		end++
	}
	n, err := strconv.Atoi(s[:end])
	return n, err == nil
}

func (in *Incident) scalingKnown() bool {
	return len(in.scaleEvents()) > 0 || in.Set.Covered(evidence.SourceEvents)
}

// autoscaled tells whether the scale events are an autoscaler's.
func (in *Incident) autoscaled() bool {
	return slices.ContainsFunc(in.Events, func(e *evidence.Event) bool { return e.Reason == "SuccessfulRescale" })
}

// near are the scale events from ten minutes before the incident to its end.
func (in *Incident) near() []scaleEvent {
	var out []scaleEvent
	for _, s := range in.scaleEvents() {
		if in.Start.IsZero() || !s.at.IsZero() && !s.at.Before(in.Start.Add(-10*time.Minute)) && !s.at.After(in.End) {
			out = append(out, s)
		}
	}
	return out
}

func scaleRefs(es []scaleEvent) []evidence.Ref {
	var refs []evidence.Ref
	for _, e := range es {
		refs = append(refs, e.ref)
	}
	return refs
}

// correlation compares how often failures begin soon after a scale event with how often they begin otherwise.
type correlation struct {
	ratio, p float64
	in, out  int
	refs     []evidence.Ref
	ok       bool
}

// newest is the last moment of which the incident's evidence tells, its end at least.
func (in *Incident) newest() time.Time {
	t := in.End
	see := func(at time.Time) {
		if at.After(t) && !at.After(in.Set.End) {
			t = at
		}
	}
	for _, e := range in.Events {
		see(e.Last)
	}
	for _, l := range in.Logs {
		see(l.At)
	}
	for _, r := range in.Requests {
		see(r.At)
	}
	for _, series := range in.Series {
		for _, s := range series {
			if n := len(s.Samples); n > 0 {
				see(s.Samples[n-1].At)
			}
		}
	}
	return t
}

func (in *Incident) correlation() correlation {
	return once(in, "correlation", func() correlation {
		var c correlation
		scales := in.near()
		moments := in.failureMoments()
		if len(scales) == 0 || len(moments) < 2 || in.Start.IsZero() {
			return c
		}
		// The time looked at is from ten minutes before the first scale event, or the first failure, to the newest evidence
		// of the incident, at most one event lifetime after the last failure: quiet time after the burst counts as quiet,
		// time of which nothing was read does not. What scaled in all of that time counts, not only what scaled during the
		// incident.
		from, to := in.Start, in.newest()
		if latest := in.End.Add(eventLifetime); to.After(latest) {
			to = latest
		}
		if scales[0].at.Before(from) {
			from = scales[0].at
		}
		from = from.Add(-10 * time.Minute)
		total := to.Sub(from)
		if total <= 0 {
			return c
		}
		exposed := coveredAfter(in.scaleEvents(), from, to)
		// Failures of one burst are not independent of each other, so only the onsets are counted: the first failure of a
		// pod, or the first after two quiet minutes.
		last := map[string]time.Time{}
		for _, m := range moments {
			hit := slices.ContainsFunc(scales, func(s scaleEvent) bool {
				d := m.at.Sub(s.at)
				return d >= 0 && d <= afterScale
			})
			if prev, ok := last[m.pod]; !ok || m.at.Sub(prev) > 2*time.Minute {
				if hit {
					c.in++
				} else {
					c.out++
				}
			}
			last[m.pod] = m.at
		}
		share := float64(exposed) / float64(total)
		if share <= 0 || share >= 0.95 {
			return c
		}
		// Half a failure is added to both sides, so that a side without any gives a finite ratio (Haldane-Anscombe).
		c.ratio = (float64(c.in) + 0.5) / share / ((float64(c.out) + 0.5) / (1 - share))
		c.p = binomialTail(c.in, c.in+c.out, share)
		c.refs = append(scaleRefs(scales), in.failureRefs((*Failure).serious)...)
		c.ok = true
		return c
	})
}

// failureMoments are the moments at which failures are known to have happened: where the prober's counters were scraped,
// one for each pod and scrape interval with new failures, since event rows keep only the first and the last.
func (in *Incident) failureMoments() []moment {
	var ms []moment
	for _, s := range in.Series["probe.failedRate"] {
		pod := podLabel(s)
		if pod != "" && !in.isFailing(pod) {
			continue
		}
		for _, x := range s.Samples {
			if x.Value > 0 && in.inWindow(x.At, 0) && !x.At.IsZero() {
				ms = append(ms, moment{pod, x.At})
			}
		}
	}
	if len(ms) == 0 {
		for i := range in.Failures {
			f := &in.Failures[i]
			if !f.serious() || f.First.IsZero() {
				continue
			}
			ms = append(ms, moment{f.Object.Name, f.First})
			if f.Last.After(f.First) {
				ms = append(ms, moment{f.Object.Name, f.Last})
			}
		}
	}
	slices.SortStableFunc(ms, func(a, b moment) int { return cmp.Or(a.at.Compare(b.at), cmp.Compare(a.pod, b.pod)) })
	return ms
}

// moment is a time at which probes of a pod are known to have failed.
type moment struct {
	pod string
	at  time.Time
}

// coveredAfter is how much of the time from..to lies within afterScale of a scale event.
func coveredAfter(scales []scaleEvent, from, to time.Time) time.Duration {
	var covered time.Duration
	end := from
	for _, s := range scales {
		a, b := s.at, s.at.Add(afterScale)
		if a.Before(end) {
			a = end
		}
		if b.After(to) {
			b = to
		}
		if b.After(a) {
			covered += b.Sub(a)
			end = b
		}
	}
	return covered
}

// binomialTail is P(X >= k) for X ~ Binomial(n, p).
func binomialTail(k, n int, p float64) float64 {
	if k <= 0 {
		return 1
	}
	lp, lq := math.Log(p), math.Log1p(-p)
	sum := 0.0
	for i := k; i <= n; i++ {
		ln, _ := math.Lgamma(float64(n + 1))
		li, _ := math.Lgamma(float64(i + 1))
		lj, _ := math.Lgamma(float64(n - i + 1))
		sum += math.Exp(ln - li - lj + float64(i)*lp + float64(n-i)*lq)
	}
	return min(sum, 1)
}

var scalingFacts = []Fact{
	{
		Name: "scaling.events", Doc: "Scale events of the workload from ten minutes before the incident to its end: the autoscaler's, or the controllers' where there are none.",
		Type: Int, Unit: "events", Scope: ScopeIncident, Needs: []string{evidence.SourceEvents},
		Why: "probes that fail when the workload scales point to how load moves", Collect: collectScaling,
		Compute: func(in *Incident) Value {
			if !in.scalingKnown() {
				return Unknown
			}
			es := in.near()
			return known(int64(len(es)), scaleRefs(es)...)
		},
	},
	{
		Name: "scaling.rateRatio", Doc: "How many times likelier it is that a pod begins to fail within 3 minutes of a scale event than at other times. A beginning is the first failure of a pod or the first after two quiet minutes, by the prober's counters where they were read, else by the first and last moment of each event row; half of one is added to both sides.",
		Type: Double, Unit: "ratio", Scope: ScopeIncident, Needs: []string{evidence.SourceEvents},
		Why: "it measures whether failures cluster around scale events", Collect: collectScaling,
		Compute: func(in *Incident) Value {
			if c := in.correlation(); c.ok {
				return known(c.ratio, c.refs...)
			}
			return Unknown
		},
	},
	{
		Name: "scaling.significance", Doc: "Chance to see as many failures that close to scale events if the two had nothing to do with each other: a one-sided binomial test over the same beginnings.",
		Type: Double, Unit: "probability", Scope: ScopeIncident, Needs: []string{evidence.SourceEvents},
		Why: "few failures cluster by chance", Collect: collectScaling,
		Compute: func(in *Incident) Value {
			if c := in.correlation(); c.ok {
				return known(c.p, c.refs...)
			}
			return Unknown
		},
	},
	{
		Name: "scaling.reversals", Doc: "How often the direction of scaling turned among the autoscaler's events; unknown without any of those.",
		Type: Int, Unit: "turns", Scope: ScopeIncident, Needs: []string{evidence.SourceEvents},
		Why: "an autoscaler that swings makes cold and drained replicas all the time", Collect: collectScaling,
		Compute: func(in *Incident) Value {
			es := in.scaleEvents()
			// The controllers' events of a rolling update go up and down by turns; only an autoscaler's show its direction.
			if len(es) == 0 || !in.autoscaled() {
				return Unknown
			}
			n := int64(0)
			for i := 2; i < len(es); i++ {
				if es[i].up != es[i-1].up && es[i].at.Sub(es[i-1].at) < time.Hour {
					n++
				}
			}
			return known(n, scaleRefs(es)...)
		},
	},
	{
		Name: "scaling.metricFailures", Doc: "Times the autoscaler could not get its metric.",
		Type: Int, Unit: "events", Scope: ScopeIncident, Needs: []string{evidence.SourceEvents},
		Why: "an autoscaler without metrics scales on a part of the pods", Collect: collectScaling,
		Compute: func(in *Incident) Value {
			if !in.scalingKnown() {
				return Unknown
			}
			n := int64(0)
			var refs []evidence.Ref
			for _, e := range in.Events {
				if strings.HasPrefix(e.Reason, "FailedGet") && strings.HasSuffix(e.Reason, "Metric") || e.Reason == "FailedComputeMetricsReplicas" {
					n += int64(max(e.Count, 1))
					refs = append(refs, e.Ref)
				}
			}
			return known(n, refs...)
		},
	},
	{
		Name: "scaling.raisedBelowTarget", Doc: "Whether the autoscaler added replicas although its metric was below its target.",
		Type: Bool, Scope: ScopeIncident, Needs: []string{evidence.SourceScaling},
		Why: "replicas without metrics make an autoscaler add more of them", Collect: collectScaling,
		Compute: func(in *Incident) Value {
			a := in.Autoscaler
			if a == nil || a.Current < 0 || a.Min < 0 {
				return Unknown
			}
			below := false
			for _, m := range a.Metrics {
				cur, target, ok := metricPair(m)
				if !ok {
					continue
				}
				if cur >= target*0.9 {
					return known(false, a.Ref)
				}
				below = true
			}
			if !below {
				return Unknown
			}
			return known(a.Min > 0 && a.Current > a.Min, a.Ref)
		},
	},
}

// metricPair reads "12/95", "0% / 50%", "cpu: 81%/60%".
func metricPair(s string) (current, target float64, ok bool) {
	if _, after, found := strings.Cut(s, ": "); found {
		s = after
	}
	a, b, found := strings.Cut(s, "/")
	if !found {
		return 0, 0, false
	}
	num := func(s string) (float64, error) {
		s = strings.Trim(strings.TrimSuffix(strings.TrimSpace(s), "(avg)"), "% ")
		if m, isMilli := strings.CutSuffix(s, "m"); isMilli {
			v, err := strconv.ParseFloat(m, 64)
			return v / 1000, err
		}
		return strconv.ParseFloat(s, 64)
	}
	c, err1 := num(a)
	t, err2 := num(b)
	return c, t, err1 == nil && err2 == nil && t > 0
}
