package catalog

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/probedoctor/probedoctor/sources/evidence"
)

// Hints narrow queries to one workload. Empty fields narrow nothing.
type Hints struct {
	Namespace string
	// PodRegex is a regular expression for the pods' names, anchored as in PromQL: "checkout-.+".
	PodRegex string
	// HealthPath is the path of the probes: "/healthz".
	HealthPath string
	// Stacks are ids of stacks that are known to be in use.
	Stacks []string
}

// window is the range of rates in generated queries: four scrapes at the usual interval of a minute, with one to spare.
const window = "5m"

// PromQL is the query for a signal in a stack. It is false when the stack does not provide the signal.
func (c *Catalog) PromQL(signal, stack string, h Hints) (string, bool) {
	i, ok := c.byID[stack]
	if !ok || len(c.stacks[i].signals[signal]) == 0 {
		return "", false
	}
	return c.stacks[i].promQL(signals[signalIndex[signal]], paramsOf(h, nil)), true
}

// paramsOf makes the parameters of queries; paths are used when the hint names none.
func paramsOf(h Hints, paths []string) params {
	p := params{namespace: h.Namespace, podRegex: h.PodRegex, paths: paths}
	if h.HealthPath != "" {
		path, _, _ := strings.Cut(h.HealthPath, "?")
		p.paths = []string{path}
	}
	for i := range p.paths {
		p.paths[i] = strings.ToValidUTF8(p.paths[i], "\uFFFD")
	}
	return p
}

// promQL joins the alternatives of a signal with "or".
func (s *Stack) promQL(sig Signal, p params) string {
	var parts []string
	for _, e := range s.signals[sig.Name] {
		parts = append(parts, s.exprQL(sig, e, p))
	}
	return strings.Join(parts, " or ")
}

// queryWriter writes one expression.
type queryWriter struct {
	stack *Stack
	sig   Signal
	expr  expr
	p     params
}

func (s *Stack) exprQL(sig Signal, e expr, p params) string {
	w := queryWriter{s, sig, e, p}
	q := w.value()
	if e.scale == 1 {
		return q
	}
	if e.collapse && (e.kind == kindSum || e.kind == kindRate) && len(e.of)+len(e.minus) > 1 {
		q = "(" + q + ")"
	}
	return q + " * " + strconv.FormatFloat(e.scale, 'g', -1, 64)
}

func (w queryWriter) value() string {
	e := w.expr
	switch e.kind {
	case kindQuantile:
		s := e.of[0]
		return fmt.Sprintf("histogram_quantile(%s, sum by (%s) (rate(%s[%s])))",
			strconv.FormatFloat(e.quantile, 'g', -1, 64), strings.Join(append(slices.Clone(w.by()), "le"), ", "), w.selector(s, "_bucket"), window)
	case kindCount:
		return w.aggregate("sum", w.selector(e.of[0], "")+" "+e.compare+" bool "+strconv.FormatFloat(e.value, 'g', -1, 64))
	}
	top := w.side(e.of, e.minus)
	if len(e.minus) > 0 && (e.kind == kindSum || e.kind == kindRate) {
		top = "clamp_min(" + top + ", 0)"
	}
	if e.kind == kindRatio {
		if len(e.of)+len(e.minus) > 1 {
			top = "(" + top + ")"
		}
		bottom := w.side(e.to, nil)
		if len(e.to) > 1 {
			bottom = "(" + bottom + ")"
		}
		top = top + " / (" + bottom + " > 0)"
	} else if w.sig.Capacity && !e.collapse {
		top += " > 0"
	}
	if e.collapse {
		return top
	}
	return w.aggregate(w.sig.Aggregate, top)
}

// side is the sum of the terms less the others.
func (w queryWriter) side(plus, minus []selector) string {
	var b strings.Builder
	for i, s := range plus {
		if i > 0 {
			b.WriteString(" + ")
		}
		b.WriteString(w.term(s))
	}
	for _, s := range minus {
		b.WriteString(" - ")
		b.WriteString(w.term(s))
	}
	return b.String()
}

func (w queryWriter) term(s selector) string {
	q := w.selector(s, "")
	if w.expr.counter {
		q = "rate(" + q + "[" + window + "])"
	}
	if w.expr.collapse {
		q = w.aggregate("sum", q)
	}
	return q
}

func (w queryWriter) aggregate(fn, q string) string {
	by := w.by()
	if len(by) == 0 {
		return fn + "(" + q + ")"
	}
	return fn + " by (" + strings.Join(by, ", ") + ") (" + q + ")"
}

func (w queryWriter) by() []string {
	if w.expr.by != nil {
		return w.expr.by
	}
	return w.stack.by
}

// selector writes the selector with the matchers of the hints and of the stack.
func (w queryWriter) selector(s selector, suffix string) string {
	s, err := s.suffixed(suffix)
	if err != nil {
		return s.name
	}
	var parts []string
	name := s.name
	if s.nameRE != nil {
		parts = append(parts, "__name__=~"+quote(s.name))
		name = ""
	}
	scope := cmp.Or(w.expr.scope, w.stack.scope)
	if w.p.namespace != "" && (scope == "pod" || scope == "namespace") {
		parts = append(parts, "namespace="+quote(w.p.namespace))
	}
	if w.p.podRegex != "" && scope == "pod" {
		parts = append(parts, matcher{label: "pod", op: "=~", value: w.p.podRegex}.String())
	}
	for _, m := range w.stack.prefer {
		parts = append(parts, m.String())
	}
	for _, m := range s.bind(w.p).matchers {
		parts = append(parts, m.String())
	}
	if len(parts) == 0 {
		return name
	}
	return name + "{" + strings.Join(parts, ",") + "}"
}

// queries are the signals that are not in have, each with the query for the stacks in use. Where none of those gives the
// signal, the query asks for any of the common stacks that do, of the families in use if one is known.
func (c *Catalog) queries(have map[string]bool, active map[int]bool, p params) []evidence.Query {
	families := map[string]bool{}
	for i := range active {
		families[c.stacks[i].Family] = true
	}
	var out []evidence.Query
	for _, sig := range signals {
		if have[sig.Name] {
			continue
		}
		var inUse, related, common, all []int
		for i := range c.stacks {
			s := &c.stacks[i]
			if len(s.signals[sig.Name]) == 0 {
				continue
			}
			all = append(all, i)
			if active[i] {
				inUse = append(inUse, i)
			}
			if s.Common {
				common = append(common, i)
				if families[s.Family] {
					related = append(related, i)
				}
			}
		}
		if len(inUse) > 0 {
			for _, i := range inUse {
				out = append(out, evidence.Query{Signal: sig.Name, Stack: c.stacks[i].ID, PromQL: c.stacks[i].promQL(sig, p)})
			}
			continue
		}
		for _, choice := range [][]int{related, common, all} {
			if len(choice) == 0 {
				continue
			}
			var parts []string
			for _, i := range choice {
				parts = append(parts, c.stacks[i].promQL(sig, p))
			}
			q := evidence.Query{Signal: sig.Name, PromQL: strings.Join(parts, " or ")}
			if len(all) == 1 { // no other software could give it
				q.Stack = c.stacks[all[0]].ID
			}
			out = append(out, q)
			break
		}
	}
	return out
}
