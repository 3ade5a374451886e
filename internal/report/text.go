package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/probedoctor/probedoctor/rules"
	"github.com/probedoctor/probedoctor/sources/evidence"
)

// What the short text folds away; wide has it all.
const (
	foldBelow       = 0.1 // roots below the first that are less likely than this are one line each
	foldedRoots     = 2   // so many of them
	shownFor        = 5   // statements for a cause, the strongest ones
	shownAgainst    = 3
	shownSteps      = 2 // steps of a horizon, those of the first cause before all others
	shownNot        = 2 // of what does not help
	shownVerify     = 2
	shownMissing    = 3
	shownRuledOut   = 4
	shownCoverage   = 6
	shownRefs       = 3  // pieces between the brackets
	labelIndent     = 9  // " Verify  "
	detailIndent    = 11 // what belongs to the line above
	causeIndent     = 4
	statementIndent = 6
)

// text writes the incidents one after the other.
type text struct {
	*page
	zone *time.Location
	wide bool
}

func writeText(list *rules.DiagnosisList, o Options) []byte {
	t := &text{page: newPage(o), zone: o.Zone, wide: o.Wide}
	if len(list.Items) == 0 {
		t.nothing(list)
		return t.buf.Bytes()
	}
	for i := range list.Items {
		if i > 0 {
			t.blank()
			t.line(t.dim(strings.Repeat(t.rule, t.width)))
			t.blank()
		}
		t.incident(&list.Items[i])
	}
	if len(list.Items) > 1 {
		t.blank() // what follows is about all of them
	}
	t.seen(list.Coverage)
	t.more(list, o.More)
	return t.buf.Bytes()
}

// nothing is the answer to input without a symptom. It must not be read as "healthy".
func (t *text) nothing(list *rules.DiagnosisList) {
	read := slices.ContainsFunc(list.Coverage, func(c evidence.Coverage) bool {
		return c.Status == evidence.CoverageOK || c.Status == evidence.CoveragePartial && c.Source != evidence.SourceInput
	})
	if !read {
		t.para(lead{}, "Nothing was read that says anything of probes, so nothing can be said.", t.strong, "")
		t.blank()
		for _, c := range list.Coverage {
			t.coverageLine(c, " ")
		}
		return
	}
	t.para(lead{}, "No symptom was found in what was read.", t.strong, "")
	t.para(lead{}, "No failing probe, no pod that is not Ready, no liveness restart, no unhealthy target. The answer covers only "+
		"what was read:", t.plain, "")
	t.blank()
	if len(list.Coverage) == 0 {
		t.para(lead{text: " " + t.absent + "  "}, "nothing was read at all", t.plain, "")
	}
	for _, c := range list.Coverage {
		t.coverageLine(c, " ")
	}
}

// incident writes one diagnosis in the order of reading.
func (t *text) incident(d *rules.Diagnosis) {
	l := newLabels(d)
	t.header(d, l)
	t.blank()
	first := verdict(d)
	if first == nil {
		t.undecided(d)
		t.blank()
	}
	t.causes(d, l, first)
	t.steps(d, first)
	if first != nil {
		t.missing(d, " Surer?  ")
	}
	if t.wide {
		t.appendix(d, l)
	}
}

// header says what the incident is about: who, since when, how many, what failed.
func (t *text) header(d *rules.Diagnosis, l *labels) {
	s := d.Subject
	sep := " " + t.sep + " "
	kind := cmp.Or(strings.ToLower(s.Kind), "kind unknown")
	atoms := []atom{{text: t.name(subjectName(s)), style: t.strong}}
	if s.Cluster != "" {
		atoms = append(atoms, atom{text: "cluster " + t.name(s.Cluster), style: t.plain})
	}
	atoms = append(atoms, atom{text: t.name(kind), style: t.plain})
	if s.Container != "" {
		atoms = append(atoms, atom{text: "container " + t.name(s.Container), style: t.plain})
	}
	if w := windowText(d.Window, t.zone, t.dash); w != "" {
		atoms = append(atoms, atom{text: t.own(w), style: t.plain})
	}
	count, notReady := replicas(s)
	if notReady != "" {
		count += ","
	}
	if notReady != "" {
		atoms = append(atoms, atom{text: strings.TrimPrefix(count+glue+notReady, ","+glue), style: t.fail})
	} else if count != "" {
		atoms = append(atoms, atom{text: count, style: t.plain})
	}
	t.flow(lead{}, sep, atoms)

	total, byProbe, byPhase := failuresText(d, t.most)
	if total != "" {
		atoms = []atom{{text: t.own(total), style: t.fail}}
		if byProbe != "" {
			atoms[0].text += ":"
			atoms[0].text += " " + t.own(byProbe)
		}
		for _, s := range byPhase {
			atoms = append(atoms, atom{text: t.own(s), style: t.plain})
		}
		t.flow(lead{}, sep, atoms)
	}
	for _, s := range d.Symptoms {
		if s.Kind == "probe-failure" && total != "" && !t.wide {
			continue // the line above has said it
		}
		t.para(lead{}, t.text(s.Text), t.plain, t.cite(l, s.Refs))
	}
	if s.Inferred != "" {
		t.para(lead{}, "The workload is inferred: "+t.text(s.Inferred), t.dim, "")
	}
	if t.wide && !d.Window.AsOf.IsZero() {
		t.para(lead{}, "As of "+moment(d.Window.AsOf, t.zone), t.dim, "")
	}
}

func (t *text) cite(l *labels, refs []evidence.Ref) string {
	limit := shownRefs
	if t.wide {
		limit = 0
	}
	return t.own(l.cite(refs, limit))
}

// undecided says plainly that there is no answer, and what would give one, before any candidate is read as one.
func (t *text) undecided(d *rules.Diagnosis) {
	said := "The evidence does not single out a cause."
	if roots := withRole(d, rules.RootCause); len(roots) > 0 {
		said += fmt.Sprintf(" The likeliest, %s, stands at %s.", t.text(title(roots[0])), percent(roots[0].Probability))
	}
	t.para(lead{" " + t.unsure + "  ", t.strong}, said, t.strong, "")
	if len(d.Missing) == 0 {
		t.para(lead{text: "    "}, "No single check is known that would tell.", t.plain, "")
		return
	}
	t.blank()
	t.missing(d, " Check   ")
}

// missing lists what is not known and how to know it, the largest gain first.
func (t *text) missing(d *rules.Diagnosis, label string) {
	for i, m := range d.Missing {
		if i == shownMissing && !t.wide {
			t.para(lead{text: strings.Repeat(" ", labelIndent)}, number(len(d.Missing)-i)+" more: -o wide", t.dim, "")
			break
		}
		said := t.text(m.Fact)
		if m.Why != "" {
			said += ": " + t.text(m.Why)
		}
		if g := gainText(firstProbability(d), m.Gain); g != "" {
			said += " (" + strings.ReplaceAll(t.own(g), " ", glue) + ")"
		}
		t.para(lead{label, t.strong}, said, t.plain, "")
		if m.Collect != "" {
			t.line(strings.Repeat(" ", detailIndent) + t.accent(safeQuery(m.Collect)))
		}
		label = strings.Repeat(" ", labelIndent)
	}
}

// seen is the coverage: what the answer rests on.
func (t *text) seen(list []evidence.Coverage) {
	if t.wide {
		for i, c := range list {
			indent := strings.Repeat(" ", labelIndent)
			if i == 0 {
				indent = " Seen    "
			}
			t.coverageLine(c, indent)
		}
		return
	}
	var good []atom
	var rest []evidence.Coverage
	said := map[string]bool{}
	for _, c := range list {
		short := ansi.StringWidth(c.Detail) <= 30
		switch word := t.name(c.Source) + glue + t.glyphs.coverage(c.Status); {
		case (c.Status == evidence.CoverageOK || c.Status == evidence.CoverageAbsent) && !said[word]:
			said[word] = true
			if c.Detail != "" && short {
				word += " (" + t.text(c.Detail) + ")"
			}
			good = append(good, atom{text: word, style: t.dim})
		case c.Status != evidence.CoverageOK && c.Status != evidence.CoverageAbsent:
			rest = append(rest, c)
		}
	}
	label := " Seen    "
	if len(good) > 0 {
		t.flow(lead{label, t.strong}, "  ", good)
		label = strings.Repeat(" ", labelIndent)
	}
	for i, c := range rest {
		if i == shownCoverage {
			t.para(lead{text: label}, number(len(rest)-i)+" more: -o wide", t.dim, "")
			break
		}
		t.coverageLine(c, label)
		label = strings.Repeat(" ", labelIndent)
	}
}

func (t *text) coverageLine(c evidence.Coverage, indent string) {
	said := t.name(c.Source)
	switch c.Status {
	case evidence.CoverageOK, evidence.CoveragePartial:
	case evidence.CoverageAbsent:
		said += " not given"
	default:
		said += " " + t.name(string(c.Status))
	}
	if c.Detail != "" {
		said += ": " + t.text(c.Detail)
	}
	mark := t.glyphs.coverage(c.Status)
	mark += strings.Repeat(" ", max(1, 3-ansi.StringWidth(mark)))
	t.para(lead{indent + mark, t.strong}, said, t.plain, "")
}

// more ends the text with where to go from here.
func (t *text) more(list *rules.DiagnosisList, hints []string) {
	if hints == nil {
		if !t.wide {
			hints = append(hints, "-o wide")
		}
		for _, c := range withRole(&list.Items[0], rules.RootCause) {
			if v := verdict(&list.Items[0]); v == nil || v.ID != c.ID {
				hints = append(hints, "probedoctor why-not "+c.ID)
				break
			}
		}
	}
	var atoms []atom
	for _, h := range hints {
		atoms = append(atoms, atom{text: safeQuery(h), style: t.dim, whole: true})
	}
	if len(atoms) > 0 {
		t.flow(lead{strings.Repeat(" ", labelIndent) + "more: ", t.dim}, " "+t.sep+" ", atoms)
	}
}
