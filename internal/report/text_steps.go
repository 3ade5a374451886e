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
	// The short text keeps to the first cause: its remedies are what a person does next. Those of the others fill a horizon
	// in which it has none.
	own := map[string]bool{}
	if first != nil {
		for _, s := range d.Remediation {
			own[string(s.Horizon)] = own[string(s.Horizon)] || s.For == first.ID
		}
		for _, n := range d.NotAFix {
			own["not"] = own["not"] || n.For == first.ID
		}
		for _, v := range d.Verify {
			own["verify"] = own["verify"] || v.For == first.ID
		}
	}
	keep := func(part, id string, shown, limit int) bool {
		return t.wide || shown < limit && (!own[part] || id == first.ID)
	}
	wrote := false
	for _, h := range horizons {
		label, shown, hidden := h.label, 0, 0
		for _, s := range d.Remediation {
			if s.Horizon != h.is || folded[s.For] {
				continue
			}
			if !keep(string(h.is), s.For, shown, shownSteps) {
				hidden++
				continue
			}
			t.step(label, about(s.For), s)
			label, wrote = strings.Repeat(" ", labelIndent), true
			shown++
		}
		if hidden > 0 {
			t.para(lead{text: label}, number(hidden)+" more: -o wide", t.dim, "")
		}
	}
	label, shown := " Not     ", 0
	for _, n := range d.NotAFix {
		if folded[n.For] || !keep("not", n.For, shown, shownNot) {
			continue
		}
		said := t.text(n.Step)
		if n.Why != "" {
			said += ": " + t.text(n.Why)
		}
		t.para(lead{label, t.strong}, said, t.plain, "")
		label, wrote = strings.Repeat(" ", labelIndent), true
		shown++
	}
	label, shown = " Verify  ", 0
	for _, v := range d.Verify {
		if folded[v.For] || !keep("verify", v.For, shown, shownVerify) {
			continue
		}
		t.para(lead{label, t.strong}, about(v.For)+t.text(v.Step), t.plain, "")
		if v.Command != "" {
			t.command(detailIndent, v.Command)
		}
		label, wrote = strings.Repeat(" ", labelIndent), true
		shown++
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
	if !t.wide {
		return // what may go wrong and how to take it back is in the wide text
	}
	if s.Risk != "" {
		t.para(indent, "risk: "+t.text(s.Risk), t.dim, "")
	}
	if prose, command := undo(s.Undo); prose+command != "" {
		said := strings.TrimSpace("undo: " + t.text(prose))
		if command != "" {
			if prose != "" {
				said += ":"
			}
			t.para(indent, said, t.dim, "")
			t.command(detailIndent, command)
			return
		}
		t.para(indent, said, t.dim, "")
	}
}

// doesNot makes sure that what a step leaves undone cannot be read as what it does. Runbooks write it as a verb that
// follows "does not"; a text that denies by itself stays as it is.
func doesNot(s string) string {
	low := strings.ToLower(s)
	for _, begin := range []string{"does not", "do not", "will not", "cannot", "no ", "not ", "nothing"} {
		if strings.HasPrefix(low, begin) {
			return s
		}
	}
	return "does not " + s
}

// undo splits how to take a step back into a sentence and a command, which has to stand whole on lines of its own. The
// command follows the sentence after a colon or a line break, or is all there is.
func undo(s string) (prose, command string) {
	s = strings.TrimSpace(s)
	if startsCommand(s) {
		return "", s
	}
	for i := range len(s) {
		if s[i] != ':' && s[i] != '\n' {
			continue
		}
		if rest := strings.TrimLeft(s[i+1:], " \n"); startsCommand(rest) {
			return s[:i], rest
		}
	}
	return s, ""
}

// startsCommand tells whether s begins with one of the programs with which runbooks take a step back.
func startsCommand(s string) bool {
	word, _, more := strings.Cut(s, " ")
	switch word {
	case "kubectl", "aws", "helm", "curl", "istioctl", "gcloud", "az", "oc":
		return more
	}
	return false
}
