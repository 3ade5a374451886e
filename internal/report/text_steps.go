package report

import (
	"strings"

	"github.com/probedoctor/probedoctor/rules"
)

// horizons in the order of acting, with their labels.
var horizons = []struct {
	is    rules.Horizon
	label string
}{{rules.Now, " Now     "}, {rules.Next, " Next    "}, {rules.Later, " Later   "}}

// steps writes what to do: now, next, later, what not to do, and how to see that it worked.
func (t *text) steps(d *rules.Diagnosis, first *rules.Cause) {
	roots, byID, folded := 0, map[string]rules.Cause{}, map[string]bool{}
	for _, c := range d.Ranked {
		byID[c.ID] = c
		if c.Role == rules.RootCause {
			roots++
			folded[c.ID] = roots > 1 && c.Probability < foldBelow && !t.wide
		}
	}
	// about says for which cause a step is when it is not for the one that the incident is put down to.
	about := func(id string) string {
		c, known := byID[id]
		switch {
		case !known || first != nil && id == first.ID:
			return ""
		case c.Role == rules.RootCause:
			return "If it is " + t.text(title(c)) + ": "
		case t.wide:
			return t.text(title(c)) + ": "
		}
		return "" // a step for what contributes speaks for itself
	}
	wrote := false
	for _, h := range horizons {
		label, hidden, others := h.label, 0, 0
		for _, s := range d.Remediation {
			if s.Horizon != h.is || folded[s.For] {
				continue
			}
			if first == nil || s.For != first.ID {
				if others++; others > shownSteps && !t.wide {
					hidden++
					continue
				}
			}
			t.step(label, about(s.For), s)
			label, wrote = strings.Repeat(" ", labelIndent), true
		}
		if hidden > 0 {
			t.para(lead{text: label}, number(hidden)+" more: -o wide", t.dim, "")
		}
	}
	label := " Not     "
	for _, n := range d.NotAFix {
		if folded[n.For] {
			continue
		}
		said := t.text(n.Step)
		if n.Why != "" {
			said += ": " + t.text(n.Why)
		}
		t.para(lead{label, t.strong}, said, t.plain, "")
		label, wrote = strings.Repeat(" ", labelIndent), true
	}
	label = " Verify  "
	for _, v := range d.Verify {
		if folded[v.For] {
			continue
		}
		t.para(lead{label, t.strong}, about(v.For)+t.text(v.Step), t.plain, "")
		if v.Command != "" {
			t.command(detailIndent, v.Command)
		}
		label, wrote = strings.Repeat(" ", labelIndent), true
	}
	if wrote {
		t.blank()
	}
}

func (t *text) step(label, about string, s rules.Step) {
	t.para(lead{label, t.strong}, about+t.text(s.Step), t.plain, "")
	if s.Command != "" {
		t.command(detailIndent, s.Command)
	}
	indent := lead{text: strings.Repeat(" ", detailIndent)}
	var effects []string
	if s.Does != "" {
		effects = append(effects, t.text(s.Does))
	}
	if s.DoesNot != "" {
		effects = append(effects, t.text(doesNot(s.DoesNot)))
	}
	if len(effects) > 0 {
		t.para(indent, strings.Join(effects, " "+t.sep+" "), t.dim, "")
	}
	if s.Risk != "" {
		t.para(indent, "risk: "+t.text(s.Risk), t.dim, "")
	}
	if prose, command := undo(s.Undo); prose+command != "" {
		if prose != "" {
			t.para(indent, "undo: "+t.text(prose), t.dim, "")
		} else {
			t.para(indent, "undo:", t.dim, "")
		}
		if command != "" {
			t.command(detailIndent, command)
		}
	}
}

// doesNot makes sure that what a step leaves undone cannot be read as what it does.
func doesNot(s string) string {
	low := strings.ToLower(s)
	for _, begin := range []string{"does not", "do not", "will not", "cannot", "no ", "not ", "nothing"} {
		if strings.HasPrefix(low, begin) {
			return s
		}
	}
	return "does not: " + s
}

// undo splits how to take a step back into a sentence and a command: the command stands on lines of its own after the
// sentence, or alone.
func undo(s string) (prose, command string) {
	s = strings.TrimSpace(s)
	prose, command, _ = strings.Cut(s, "\n")
	if word, _, _ := strings.Cut(prose, " "); commandWords[word] {
		return "", s
	}
	return prose, command
}

// commandWords are the programs with which a command of a runbook begins.
var commandWords = map[string]bool{"kubectl": true, "aws": true, "helm": true, "curl": true, "istioctl": true, "gcloud": true, "az": true}
