package catalog

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/probedoctor/probedoctor/sources/evidence"
)

// Apply appends to the set the canonical series that can be computed from its raw ones, and the queries for the signals
// that could not. It is for sets that are not finished yet.
//
// A canonical series keeps the labels of the raw one (sums, rates and quantiles: those that say what it is about). Its
// query is the one that would give it; its excerpt says in short what was computed from what. Numbers from one scrape of
// counters are marked "since start" there: they are diluted by all the time since the process began.
func (c *Catalog) Apply(set *evidence.Set, h Hints) {
	x := newIndex(set.Series)
	p := paramsOf(h, healthPaths(set))
	active := map[int]bool{}
	for _, id := range h.Stacks {
		if i, ok := c.byID[id]; ok {
			active[i] = true
		}
	}
	recognised := c.recognise(x)
	for _, i := range recognised {
		active[i] = true
	}
	var out []evidence.Series
	taken := map[string]bool{} // signal and raw series: of two stacks that read the same series the first stands
	for _, sig := range signals {
		for _, i := range recognised {
			s := &c.stacks[i]
			given := map[string]bool{} // targets for which an earlier alternative gave a value
			for _, e := range s.signals[sig.Name] {
				var now []string
				for _, l := range (evaluator{x, s, p}).eval(sig, e) {
					target := labelKey(s.target(l.labels))
					source := sig.Name + "\x00" + l.src.name + "\x00" + l.src.key
					if given[target] || taken[source] {
						continue
					}
					now = append(now, target)
					taken[source] = true
					out = append(out, s.canonical(sig, e, l, p))
				}
				for _, target := range now {
					given[target] = true
				}
			}
		}
	}
	out = append(out, c.answers(set.Series, p)...)
	have := map[string]bool{}
	for _, s := range set.Series {
		have[s.Signal] = true
	}
	for _, s := range out {
		have[s.Signal] = true
	}
	for _, i := range c.guess(set) {
		active[i] = true
	}
	set.Queries = append(set.Queries, c.queries(have, active, p)...)
	set.Series = append(set.Series, out...)
}

// canonical makes the evidence item of a computed line.
func (s *Stack) canonical(sig Signal, e expr, l line, p params) evidence.Series {
	if p.namespace == "" {
		p.namespace = l.labels["namespace"]
	}
	if p.podRegex == "" {
		p.podRegex = regexp.QuoteMeta(l.labels["pod"])
	}
	q := s.exprQL(sig, e, p)
	src := l.src.src
	return evidence.Series{
		Item: evidence.Item{
			Source: src.Source, Locator: q, File: src.File, Line: src.Line, Observed: src.Observed,
			Excerpt: excerpt(sig, l, e.text()),
		},
		Signal: sig.Name, Stack: s.ID, Labels: maps.Clone(l.labels), Query: q, Type: "gauge", Samples: slices.Clone(l.samples),
	}
}

// excerpt says the value and what it was made of in one short line.
func excerpt(sig Signal, l line, from string) string {
	lo, hi := l.samples[0].Value, l.samples[0].Value
	for _, s := range l.samples {
		lo, hi = min(lo, s.Value), max(hi, s.Value)
	}
	unit := ""
	if sig.Unit != "1" {
		unit = " " + sig.Unit
	}
	var b strings.Builder
	b.WriteString(sig.Name)
	if n := len(l.samples); n == 1 {
		fmt.Fprintf(&b, " %s%s", short(hi), unit)
	} else {
		fmt.Fprintf(&b, " %s to %s%s over %d samples, last %s", short(lo), short(hi), unit, n, short(l.samples[n-1].Value))
	}
	if l.atLeast {
		b.WriteString(", at least")
	}
	if l.sinceStart {
		b.WriteString(", since start")
	}
	b.WriteString(" (" + from + ")")
	return b.String()
}

func short(v float64) string { return strconv.FormatFloat(v, 'g', 4, 64) }

// text is the expression in short, for an excerpt.
func (e expr) text() string {
	names := func(plus, minus []selector) string {
		var b strings.Builder
		for i, s := range plus {
			if i > 0 {
				b.WriteString(" + ")
			}
			b.WriteString(s.name)
		}
		for _, s := range minus {
			b.WriteString(" - " + s.name)
		}
		return b.String()
	}
	switch e.kind {
	case kindQuantile:
		return fmt.Sprintf("p%s of %s", short(e.quantile*100), e.of[0].name)
	case kindRate:
		return "rate of " + names(e.of, e.minus)
	case kindRatio:
		return names(e.of, e.minus) + " / " + names(e.to, nil)
	case kindCount:
		return e.of[0].name + " " + e.compare + " " + short(e.value)
	case kindMax:
		return "max of " + e.of[0].name
	}
	return names(e.of, e.minus)
}

// healthPaths are the paths of the HTTP probes and of the balancers' checks, sorted.
func healthPaths(set *evidence.Set) []string {
	found := map[string]bool{}
	see := func(containers []evidence.Container) {
		for _, c := range containers {
			for _, probe := range c.Probes {
				if path, _, _ := strings.Cut(probe.Endpoint.Path, "?"); path != "" && path != "/" {
					found[path] = true
				}
			}
		}
	}
	for _, p := range set.Pods {
		see(p.Containers)
	}
	for _, w := range set.Workloads {
		see(w.Containers)
	}
	for _, hc := range set.HealthChecks {
		if path, _, _ := strings.Cut(hc.Endpoint.Path, "?"); path != "" && path != "/" {
			found[path] = true
		}
	}
	if len(found) > maxPaths {
		return nil // many workloads at once: the generic expression is shorter and no less right
	}
	return slices.Sorted(maps.Keys(found))
}

// maxPaths is how many paths a query may name before it stops being readable.
const maxPaths = 8
