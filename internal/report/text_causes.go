package report

import (
	"fmt"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/probedoctor/probedoctor/rules"
)

// Widths from which a cause's line has its columns. Narrow pages lose the bar first, then the columns, which move below.
const (
	longBarPage  = 100
	shortBarPage = 76
	columnsPage  = 60
	roleColumn   = 14
	shareColumn  = 5
)

// causes writes the candidates: roots, then what contributes, then the folded roots, noise and what is ruled out.
func (t *text) causes(d *rules.Diagnosis, l *labels, first *rules.Cause) {
	if first != nil && first.Role == rules.Noise {
		t.cause(l, " "+t.noise, first, true)
	}
	roots := withRole(d, rules.RootCause)
	open := len(roots)
	if !t.wide {
		for open > 1 && roots[open-1].Probability < foldBelow {
			open--
		}
	}
	for i := range roots[:open] {
		t.cause(l, fmt.Sprintf("%2d", i+1), &roots[i], true)
	}
	other := func() {
		if d.Other >= foldBelow || t.wide && d.Other > 0 {
			t.causeHead(" "+t.unsure, &rules.Cause{Title: "A cause that is not in the catalogue", Role: rules.RootCause, Probability: d.Other}, t.dim)
		}
	}
	if open == len(roots) {
		other()
	}
	for _, c := range withRole(d, rules.Contributing) {
		t.cause(l, " "+t.plus, &c, t.wide)
	}
	for i, c := range roots[open:] {
		if i == foldedRoots {
			t.para(lead{text: "    "}, fmt.Sprintf("%s below %s: -o wide", plural(len(roots)-open-i, "more candidate", "more candidates"), percent(foldBelow)), t.dim, "")
			break
		}
		t.causeHead(fmt.Sprintf("%2d", open+i+1), &c, t.plain)
	}
	if open < len(roots) {
		other()
	}
	for _, c := range withRole(d, rules.Noise) {
		if first != nil && first.ID == c.ID && first.Role == rules.Noise {
			continue
		}
		t.cause(l, " "+t.noise, &c, t.wide)
	}
	for i, r := range d.RuledOut {
		if i == shownRuledOut && !t.wide {
			t.para(lead{text: "    "}, number(len(d.RuledOut)-i)+" more ruled out: -o wide", t.dim, "")
			break
		}
		said := t.text(title(rules.Cause{ID: r.ID, Title: r.Title})) + ", ruled out"
		if r.Reason != "" {
			said += ": " + t.text(r.Reason)
		}
		if t.wide && r.Rule != "" {
			said += " (" + t.name(r.Rule) + ")"
		}
		t.para(lead{" " + t.ruledOut + "  ", t.dim}, said, t.plain, t.cite(l, r.Refs))
	}
	t.blank()
}

// cause writes one candidate. In full it has all its statements; otherwise its sentence, with all that it rests on.
func (t *text) cause(l *labels, mark string, c *rules.Cause, full bool) {
	st := t.plain
	if full {
		st = t.strong
	}
	t.causeHead(mark, c, st)
	indent := lead{text: strings.Repeat(" ", causeIndent)}
	if c.Summary != "" {
		tail := ""
		if !full || len(c.For) == 0 {
			tail = t.cite(l, l.supporting(c))
		}
		t.para(indent, t.text(c.Summary), t.plain, tail)
	}
	if full || c.Summary == "" {
		t.statements(l, t.plus, c.For, shownFor)
	}
	if full {
		t.statements(l, t.minus, c.Against, shownAgainst)
	} else {
		t.statements(l, t.minus, c.Against, 1)
	}
	if t.wide {
		var atoms []atom
		for _, id := range c.Explains {
			atoms = append(atoms, atom{text: t.name(id), style: t.dim})
		}
		if len(atoms) > 0 {
			atoms[0].text = "explains " + atoms[0].text
		}
		atoms = append(atoms, atom{text: "id " + t.name(c.ID), style: t.dim})
		if c.Runbook != "" {
			atoms = append(atoms, atom{text: "runbook " + t.name(c.Runbook), style: t.dim})
		}
		t.flow(indent, " "+t.sep+" ", atoms)
	}
}

func (t *text) statements(l *labels, mark string, list []rules.Statement, limit int) {
	list = strongest(list)
	for i, s := range list {
		if i == limit && !t.wide {
			t.para(lead{text: strings.Repeat(" ", statementIndent+2)}, number(len(list)-i)+" more: -o wide", t.dim, "")
			return
		}
		said := t.text(s.Statement)
		begin := mark + " "
		if t.wide {
			begin = fmt.Sprintf("%+.2f  ", s.Weight)
			if !t.ascii {
				begin = strings.Replace(begin, "-", "−", 1)
			}
			said += " (" + t.name(s.Rule) + ")"
		}
		style := t.accent
		if mark == t.minus {
			style = t.strong
		}
		t.para(lead{strings.Repeat(" ", statementIndent) + begin, style}, said, t.plain, t.cite(l, s.Refs))
	}
}

// causeHead is the line with the title, the role, the percentage and, where there is room, a bar.
func (t *text) causeHead(mark string, c *rules.Cause, st style) {
	name := t.text(title(*c))
	begin := mark + strings.Repeat(" ", max(1, causeIndent-ansi.StringWidth(mark)))
	role, share := roleName(c.Role), percent(c.Probability)
	if t.width < columnsPage {
		t.para(lead{begin, t.strong}, name, st, "")
		t.para(lead{text: strings.Repeat(" ", causeIndent)}, role+" "+t.sep+glue+share, t.dim, "")
		return
	}
	cells := 0
	switch {
	case t.width >= longBarPage:
		cells = 20
	case t.width >= shortBarPage:
		cells = 10
	}
	columns := roleColumn + shareColumn + 1
	if cells > 0 {
		columns += 2 + cells
	}
	room := t.width - causeIndent - 2 - columns
	for i, part := range wrap(name, room) {
		line := t.strong(begin) + st(part)
		if i == 0 {
			line += strings.Repeat(" ", room+2-ansi.StringWidth(part))
			line += t.dim(role) + strings.Repeat(" ", roleColumn-ansi.StringWidth(role))
			line += strings.Repeat(" ", max(0, shareColumn+1-ansi.StringWidth(share))) + st(share)
			if cells > 0 {
				line += "  " + t.accent(t.bar(c.Probability, cells))
			}
		}
		t.line(line)
		begin = strings.Repeat(" ", causeIndent)
	}
}
