package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/probedoctor/probedoctor/rules"
	"github.com/probedoctor/probedoctor/sources/evidence"
)

// letters are the first characters of display references, by kind of item.
var letters = map[evidence.Kind]byte{
	evidence.KindEvent:       'e',
	evidence.KindFailure:     'f',
	evidence.KindPod:         'p',
	evidence.KindWorkload:    'w',
	evidence.KindAutoscaler:  'a',
	evidence.KindNode:        'n',
	evidence.KindService:     'v',
	evidence.KindSeries:      's',
	evidence.KindLog:         'l',
	evidence.KindRequest:     'r',
	evidence.KindTarget:      't',
	evidence.KindHealthCheck: 'c',
	evidence.KindListener:    'k',
}

// label is a display reference: a letter for the kind and a number.
type label struct {
	letter byte
	n      int
}

func (l label) String() string { return fmt.Sprintf("%c%d", l.letter, l.n) }

// labels numbers the references of one incident in the order in which the whole (wide) text cites them, so that [e3] is the
// same item in text, wide and markdown.
type labels struct {
	of    map[evidence.Ref]label
	order []evidence.Ref // every reference that was numbered, by first appearance
	next  map[byte]int
	// groups are the references of the groups of failures by their id: what a cause rests on for which no rule speaks.
	groups map[string][]evidence.Ref
}

// supporting is what a cause rests on: what its statements cite, else the failures that it explains.
func (l *labels) supporting(c *rules.Cause) []evidence.Ref {
	refs := refsOf(c.For)
	if len(refs) == 0 {
		for _, id := range c.Explains {
			refs = append(refs, l.groups[id]...)
		}
	}
	return refs
}

func newLabels(d *rules.Diagnosis) *labels {
	l := &labels{of: map[evidence.Ref]label{}, next: map[byte]int{}, groups: map[string][]evidence.Ref{}}
	for _, g := range d.Failures {
		l.groups[g.ID] = g.Refs
	}
	for _, c := range d.Ranked {
		if len(c.For) == 0 && c.Summary != "" {
			l.add(l.supporting(&c))
		}
		for _, s := range strongest(c.For) {
			l.add(s.Refs)
		}
		for _, s := range strongest(c.Against) {
			l.add(s.Refs)
		}
	}
	for _, r := range d.RuledOut {
		l.add(r.Refs)
	}
	for _, s := range d.Symptoms {
		l.add(s.Refs)
	}
	for _, f := range d.Failures {
		l.add(f.Refs)
	}
	for _, t := range d.Trace {
		l.add(t.Refs)
	}
	rest := make([]evidence.Ref, 0, len(d.Evidence))
	for ref := range d.Evidence {
		rest = append(rest, ref)
	}
	slices.Sort(rest)
	l.add(rest)
	return l
}

func (l *labels) add(refs []evidence.Ref) {
	for _, ref := range refs {
		if _, ok := l.of[ref]; ok {
			continue
		}
		kind, _, _ := strings.Cut(string(ref), ":")
		letter, ok := letters[evidence.Kind(kind)]
		if !ok {
			letter = 'x'
		}
		l.next[letter]++
		l.of[ref] = label{letter, l.next[letter]}
		l.order = append(l.order, ref)
	}
}

// sorted is every numbered reference, by letter and number: the order of an appendix.
func (l *labels) sorted() []evidence.Ref {
	refs := slices.Clone(l.order)
	slices.SortFunc(refs, func(a, b evidence.Ref) int { return l.of[a].compare(l.of[b]) })
	return refs
}

func (l label) compare(o label) int {
	return cmp.Or(cmp.Compare(l.letter, o.letter), cmp.Compare(l.n, o.n))
}

// cite is the references as a reader sees them: "[e3 l1–l4]". Runs of three and more become ranges; of more than limit
// pieces the first are shown, then an ellipsis. limit 0 shows all. No references give the empty string.
func (l *labels) cite(refs []evidence.Ref, limit int) string {
	all := make([]label, 0, len(refs))
	for _, ref := range refs {
		all = append(all, l.of[ref])
	}
	slices.SortFunc(all, label.compare)
	all = slices.Compact(all)
	var parts []string
	for i := 0; i < len(all); {
		j := i
		for j+1 < len(all) && all[j+1].letter == all[i].letter && all[j+1].n == all[j].n+1 {
			j++
		}
		switch {
		case j-i >= 2:
			parts = append(parts, all[i].String()+"–"+all[j].String())
		default:
			for ; i < j; i++ {
				parts = append(parts, all[i].String())
			}
			parts = append(parts, all[j].String())
		}
		i = j + 1
	}
	if len(parts) == 0 {
		return ""
	}
	if limit > 0 && len(parts) > limit {
		parts = append(parts[:limit-1], "…")
	}
	return "[" + strings.Join(parts, " ") + "]"
}
