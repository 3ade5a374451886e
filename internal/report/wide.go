package report

import (
	"fmt"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/probedoctor/probedoctor/rules"
)

// appendix is what only the wide text has: the groups of failures, the trace of the rules, and the cited items.
func (t *text) appendix(d *rules.Diagnosis, l *labels) {
	if len(d.Failures) > 0 {
		t.heading("Failures")
		for _, f := range d.Failures {
			count := tally{f.Count, f.AtLeast}.text(t.most)
			said := count + glue + t.times + " " + t.name(groupText(f)) + ", life of the pod: " + t.name(f.Life)
			if len(f.Pods) > 0 {
				said += ", " + plural(len(f.Pods), "pod", "pods") + ": " + t.text(strings.Join(f.Pods, ", "))
			}
			t.para(lead{text: "   "}, said+" ("+t.name(f.ID)+")", t.plain, t.cite(l, f.Refs))
		}
	}
	if len(d.Trace) > 0 {
		t.heading("Rules, in order")
		for _, e := range d.Trace {
			t.trace(l, e)
		}
	}
	if len(l.order) > 0 {
		t.heading("Evidence")
		for _, ref := range l.sorted() {
			begin := fmt.Sprintf("   %-5s", "["+l.of[ref].String()+"]") + " "
			x, ok := d.Evidence[ref]
			if !ok {
				t.para(lead{begin, t.strong}, "cited as "+t.name(string(ref))+", but not part of this document", t.plain, "")
				continue
			}
			indent := lead{text: strings.Repeat(" ", ansi.StringWidth(begin))}
			t.para(lead{begin, t.strong}, t.text(safeN(x.Excerpt, excerptLimit)), t.plain, "")
			var atoms []atom
			for _, s := range t.provenance(x) {
				atoms = append(atoms, atom{text: s, style: t.dim})
			}
			t.flow(indent, " "+t.sep+" ", append(atoms, atom{text: t.name(string(ref)), style: t.dim}))
		}
	}
	t.blank()
}

// provenance is where an item came from, piece by piece.
func (t *text) provenance(x rules.Exhibit) []string {
	out := provenance(x, t.text)
	if at := moment(x.At, t.zone); at != "" {
		out = append(out, at)
	}
	return out
}

// provenance is kind, source, locator and file:line of an item, as far as known.
func provenance(x rules.Exhibit, safe func(string) string) []string {
	var out []string
	for _, s := range []string{string(x.Kind), x.Source, x.Locator} {
		if s != "" {
			out = append(out, safe(s))
		}
	}
	if x.File != "" {
		file := safe(x.File)
		if x.Line > 0 {
			file += fmt.Sprintf(":%d", x.Line)
		}
		out = append(out, file)
	}
	return out
}

// trace is one rule: its order, how it came out, what it is about and, where it could not tell, what it lacked.
func (t *text) trace(l *labels, e rules.TraceEntry) {
	mark := t.unset
	switch e.Outcome {
	case rules.True:
		mark = t.isTrue
	case rules.False:
		mark = t.isFalse
	case rules.Unknown:
		mark = t.unsure
	}
	said := t.name(e.Rule) + ": "
	switch {
	case e.Statement != "":
		said += t.text(e.Statement)
	case e.Title != "":
		said += t.text(e.Title)
	}
	st := t.plain
	switch e.Outcome {
	case rules.Unknown:
		said += " " + t.sep + " unknown"
		if len(e.Missing) > 0 {
			said += " without " + t.text(strings.Join(e.Missing, ", "))
		}
	case rules.NotApplicable:
		said += " " + t.sep + " not applicable"
		st = t.dim
	default:
		said += " " + t.sep + " " + t.name(string(e.Outcome))
	}
	t.para(lead{fmt.Sprintf("   %4d %s ", e.Order, mark), t.dim}, said, st, t.cite(l, e.Refs))
}

func (t *text) heading(s string) {
	t.blank()
	t.line(" " + t.strong(s))
}
