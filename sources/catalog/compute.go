package catalog

import (
	"cmp"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"

	"github.com/probedoctor/probedoctor/sources/evidence"
)

// evaluator computes the expressions of one stack from raw series.
type evaluator struct {
	x     *index
	stack *Stack
	p     params
}

// comparisons of a count.
var comparisons = map[string]func(a, b float64) bool{
	"==": func(a, b float64) bool { return a == b },
	"!=": func(a, b float64) bool { return a != b },
	">":  func(a, b float64) bool { return a > b },
	"<":  func(a, b float64) bool { return a < b },
	">=": func(a, b float64) bool { return a >= b },
	"<=": func(a, b float64) bool { return a <= b },
}

// eval gives the lines of an expression in the signal's unit, without values that the signal cannot have.
func (v evaluator) eval(sig Signal, e expr) []line {
	var out []line
	for _, l := range v.lines(e) {
		kept := make([]evidence.Sample, 0, len(l.samples))
		for _, s := range l.samples {
			s.Value *= e.scale
			if math.IsNaN(s.Value) || math.IsInf(s.Value, 0) || s.Value < 0 || sig.Capacity && s.Value == 0 {
				continue
			}
			// One scrape of a counter tells a rate only if nothing was ever counted.
			if e.kind == kindRate && l.sinceStart && s.Value != 0 {
				continue
			}
			kept = append(kept, s)
		}
		if l.samples = kept; len(kept) > 0 {
			out = append(out, l)
		}
	}
	return out
}

func (v evaluator) lines(e expr) []line {
	switch e.kind {
	case kindGauge:
		return v.term(e, e.of[0], nil)
	case kindMax:
		return v.collapse(v.term(e, e.of[0], nil), math.Max)
	case kindCount:
		lines := v.term(e, e.of[0], nil)
		holds := comparisons[e.compare]
		for i := range lines {
			for j, s := range lines[i].samples {
				lines[i].samples[j].Value = 0
				if holds(s.Value, e.value) {
					lines[i].samples[j].Value = 1
				}
			}
		}
		return v.collapse(lines, add)
	case kindQuantile:
		return v.quantiles(e)
	case kindRatio:
		return combine(v.side(e, e.of, e.minus, nil), v.side(e, e.to, nil, narrowed(e)), func(a, b float64) float64 {
			if b <= 0 {
				return math.NaN()
			}
			return a / b
		})
	default:
		return v.side(e, e.of, e.minus, nil)
	}
}

func add(a, b float64) float64 { return a + b }

// less subtracts and stops at zero: the terms are not read at the same instant.
func less(a, b float64) float64 { return max(a-b, 0) }

// side is the sum of the terms less the others, as far as every term is there.
func (v evaluator) side(e expr, plus, minus []selector, whole []*regexp.Regexp) []line {
	var out []line
	for i, t := range plus {
		lines := v.term(e, t, whole)
		if i == 0 {
			out = lines
			continue
		}
		out = combine(out, lines, add)
	}
	for _, t := range minus {
		out = combine(out, v.term(e, t, whole), less)
	}
	return out
}

// narrowed finds in a query the labels that select the numerator of a ratio but not its denominator.
func narrowed(e expr) []*regexp.Regexp {
	free := map[string]bool{}
	for _, s := range e.of {
		for _, m := range s.matchers {
			free[m.label] = true
		}
	}
	for _, s := range e.to {
		for _, m := range s.matchers {
			delete(free, m.label)
		}
	}
	var out []*regexp.Regexp
	for _, label := range slices.Sorted(maps.Keys(free)) {
		out = append(out, regexp.MustCompile(`[{,]\s*`+label+`\s*(=|!=|!~)`))
	}
	return out
}

// term gives the lines of a selector: samples of gauges, rates of counters. Series that answered a query narrowed by what
// whole finds are left out: their sum is not the whole.
func (v evaluator) term(e expr, s selector, whole []*regexp.Regexp) []line {
	var out []line
	for _, r := range v.preferred(v.x.find(s.bind(v.p), "", v.stack.fallback)) {
		if !slices.ContainsFunc(whole, func(re *regexp.Regexp) bool { return re.MatchString(r.src.Query) }) {
			out = append(out, r.line(e.counter))
		}
	}
	if e.collapse && e.kind != kindCount {
		return v.collapse(out, add)
	}
	return out
}

// preferred leaves out series that fail the stack's preferences where others of the same pod meet them: cAdvisor's sums
// over the pod beside its containers. Where the labels were lost there is nothing to prefer.
func (v evaluator) preferred(raws []*raw) []*raw {
	if len(v.stack.prefer) == 0 {
		return raws
	}
	meets := func(r *raw) bool { return selector{matchers: v.stack.prefer}.matchesLabels(r.labels) }
	pod := func(r *raw) string { return r.labels["namespace"] + "\x00" + r.labels["pod"] }
	met := map[string]bool{}
	for _, r := range raws {
		if meets(r) {
			met[pod(r)] = true
		}
	}
	var out []*raw
	for _, r := range raws {
		if meets(r) || !met[pod(r)] {
			out = append(out, r)
		}
	}
	return out
}

// line is the series as a gauge or, for a counter, as rates; a counter with one sample stays as it is, since the start.
func (r *raw) line(counter bool) line {
	l := line{labels: r.labels, key: r.key, src: r}
	for _, s := range r.samples {
		if s.Value >= 0 {
			l.samples = append(l.samples, s)
		}
	}
	if counter {
		if len(l.samples) < 2 {
			l.sinceStart = true
		} else {
			l.samples = rates(l.samples)
		}
	}
	return l
}

// collapse joins the lines of each target. Lines since the start are left out where others have rates: the two cannot be
// added.
func (v evaluator) collapse(lines []line, f func(a, b float64) float64) []line {
	groups := map[string][]line{}
	var order []string
	for _, l := range lines {
		if len(l.samples) == 0 {
			continue
		}
		l.labels = v.stack.target(l.labels)
		l.key = labelKey(l.labels)
		if groups[l.key] == nil {
			order = append(order, l.key)
		}
		groups[l.key] = append(groups[l.key], l)
	}
	var out []line
	for _, key := range order {
		out = append(out, join(sameWindow(groups[key]), f))
	}
	return out
}

func sameWindow(group []line) []line {
	var live []line
	for _, l := range group {
		if !l.sinceStart {
			live = append(live, l)
		}
	}
	if len(live) == 0 {
		return group
	}
	return live
}

// join folds the lines at the times of the longest of them; one that has no sample near a time is absent there.
func join(group []line, f func(a, b float64) float64) line {
	if len(group) == 1 {
		return group[0]
	}
	grid := slices.MaxFunc(group, func(a, b line) int { return cmp.Compare(len(a.samples), len(b.samples)) })
	reach := step(group...) / 2
	out := group[0]
	out.samples = nil
	for _, s := range grid.samples {
		value, found := 0.0, false
		for _, l := range group {
			x, ok := l.at(s.At, reach)
			switch {
			case !ok:
			case !found:
				value, found = x, true
			default:
				value = f(value, x)
			}
		}
		out.samples = append(out.samples, evidence.Sample{At: s.At, Value: value})
	}
	return out
}

// combine joins lines of the same labels sample by sample; a sample without a partner within half a step gives nothing.
func combine(as, bs []line, f func(a, b float64) float64) []line {
	partner := make(map[string]line, len(bs))
	for _, b := range bs {
		if _, taken := partner[b.key]; !taken {
			partner[b.key] = b
		}
	}
	var out []line
	for _, a := range as {
		b, ok := partner[a.key]
		if !ok || a.sinceStart != b.sinceStart {
			continue
		}
		reach := step(a, b) / 2
		c := a
		c.samples = nil
		for _, s := range a.samples {
			x, ok := b.at(s.At, reach)
			if !ok {
				continue
			}
			if y := f(s.Value, x); !math.IsNaN(y) {
				c.samples = append(c.samples, evidence.Sample{At: s.At, Value: y})
			}
		}
		if len(c.samples) > 0 {
			out = append(out, c)
		}
	}
	return out
}

// bucket is one bucket of a histogram: the line of its cumulative count.
type bucket struct {
	upper float64
	line  line
}

// quantiles computes a quantile of each target's histogram.
func (v evaluator) quantiles(e expr) []line {
	s := e.of[0].bind(v.p)
	type histogram struct {
		labels map[string]string
		lines  map[float64][]line
	}
	found := map[string]*histogram{}
	var order []string
	take := func(r *raw, upper float64) {
		labels := v.stack.target(r.labels)
		key := labelKey(labels)
		h := found[key]
		if h == nil {
			h = &histogram{labels: labels, lines: map[float64][]line{}}
			found[key] = h
			order = append(order, key)
		}
		if l := r.line(true); len(l.samples) > 0 {
			h.lines[upper] = append(h.lines[upper], l)
		}
	}
	whole := map[string]bool{} // targets that have a +Inf bucket
	for _, r := range v.preferred(v.x.find(s, "_bucket", v.stack.fallback)) {
		if upper, err := strconv.ParseFloat(r.labels["le"], 64); err == nil && !math.IsNaN(upper) {
			take(r, upper)
			if math.IsInf(upper, 1) {
				whole[labelKey(v.stack.target(r.labels))] = true
			}
		}
	}
	for _, r := range v.preferred(v.x.find(s, "_count", v.stack.fallback)) {
		if key := labelKey(v.stack.target(r.labels)); !whole[key] && found[key] != nil {
			take(r, math.Inf(1))
		}
	}
	var out []line
	for _, key := range order {
		h := found[key]
		var buckets []bucket
		for upper, lines := range h.lines {
			buckets = append(buckets, bucket{upper, join(sameWindow(lines), add)})
		}
		slices.SortFunc(buckets, func(a, b bucket) int { return cmp.Compare(a.upper, b.upper) })
		if l, ok := quantileLine(e.quantile, buckets); ok {
			l.labels, l.key = h.labels, key
			out = append(out, l)
		}
	}
	return out
}

// quantileLine computes the quantile at each sample of the +Inf bucket.
func quantileLine(q float64, buckets []bucket) (line, bool) {
	if len(buckets) < 2 || !math.IsInf(buckets[len(buckets)-1].upper, 1) {
		return line{}, false
	}
	all := buckets[len(buckets)-1].line
	out := all
	out.samples = nil
	reach := step(all) / 2
	for _, s := range all.samples {
		var uppers, counts []float64
		for _, b := range buckets {
			if b.line.sinceStart != all.sinceStart {
				continue
			}
			if n, ok := b.line.at(s.At, reach); ok {
				uppers, counts = append(uppers, b.upper), append(counts, n)
			}
		}
		if x, beyond, ok := quantile(q, uppers, counts); ok {
			out.samples = append(out.samples, evidence.Sample{At: s.At, Value: x})
			out.atLeast = out.atLeast || beyond
		}
	}
	return out, len(out.samples) > 0
}

// quantile is PromQL's histogram_quantile over cumulative counts: linear inside a bucket, the lower bound of the first is
// zero, and what lies beyond the last finite bound is given as that bound, with beyond set.
func quantile(q float64, uppers, counts []float64) (x float64, beyond, ok bool) {
	n := len(uppers)
	if n < 2 || !math.IsInf(uppers[n-1], 1) {
		return 0, false, false
	}
	for i := 1; i < n; i++ {
		// Buckets of one scrape are cumulative; rounding and scrapes that are not atomic may break that.
		counts[i] = max(counts[i], counts[i-1])
	}
	total := counts[n-1]
	if total <= 0 {
		return 0, false, false
	}
	rank := q * total
	i := slices.IndexFunc(counts, func(c float64) bool { return c >= rank })
	if i < 0 || i == n-1 {
		return uppers[n-2], true, true
	}
	lower, before := 0.0, 0.0
	if i > 0 {
		lower, before = uppers[i-1], counts[i-1]
	} else if uppers[0] <= 0 {
		return uppers[0], false, true
	}
	inside := counts[i] - before
	if inside <= 0 {
		return uppers[i], false, true
	}
	return lower + (uppers[i]-lower)*(rank-before)/inside, false, true
}
