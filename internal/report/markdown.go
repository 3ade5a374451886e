package report

import (
	"bytes"
	"cmp"
	"fmt"
	"strings"

	"github.com/probedoctor/probedoctor/rules"
	"github.com/probedoctor/probedoctor/sources/evidence"
)

// writeMarkdown renders for a ticket or an incident channel, in GitHub's flavour. It has all statements and all cited
// items; the trace of the rules is left to wide and json.
func writeMarkdown(list *rules.DiagnosisList, o Options) []byte {
	m := &markdown{o: o, g: unicodeGlyphs}
	if o.ASCII {
		m.g = asciiGlyphs
	}
	if len(list.Items) == 0 {
		m.put("## No symptom was found in what was read\n")
		m.put("No failing probe, no pod that is not Ready, no liveness restart, no unhealthy target. The answer covers only what was read.\n")
	}
	for i := range list.Items {
		m.incident(&list.Items[i])
	}
	m.put("### What was read\n")
	if len(list.Coverage) == 0 {
		m.put("Nothing.\n")
	}
	for _, c := range list.Coverage {
		said := "- " + m.g.coverage(c.Status) + " **" + m.text(c.Source) + "** " + m.text(string(c.Status))
		if c.Detail != "" {
			said += ": " + m.text(c.Detail)
		}
		m.put(said)
	}
	return bytes.TrimLeft(append(bytes.TrimRight(m.buf.Bytes(), "\n"), '\n'), "\n")
}

type markdown struct {
	buf bytes.Buffer
	o   Options
	g   glyphs
}

// put writes a line of Markdown. Own spaces that glue words are ordinary ones here: a browser wraps well enough.
func (m *markdown) put(s string) {
	if s == "" && bytes.HasSuffix(m.buf.Bytes(), []byte("\n\n")) {
		return
	}
	m.buf.WriteString(strings.ReplaceAll(s, glue, " "))
	m.buf.WriteByte('\n')
}

func (m *markdown) own(s string) string {
	if m.o.ASCII {
		return toASCII.Replace(s)
	}
	return s
}

func (m *markdown) text(s string) string { return mdText(m.own(Safe(s))) }

// cell is text for a cell of a table, where a bar ends the cell even inside a code span.
func (m *markdown) cell(s string) string {
	s = strings.ReplaceAll(m.text(s), `\|`, "|")
	return strings.ReplaceAll(s, "|", `\|`)
}

// command writes a fenced block. Its fence is longer than any run of backticks inside.
func (m *markdown) command(lang string, lines []string) {
	fence := "```"
	for _, l := range lines {
		for strings.Contains(l, fence) {
			fence += "`"
		}
	}
	m.put("")
	m.put("  " + fence + lang)
	for _, l := range lines {
		m.put("  " + l)
	}
	m.put("  " + fence + "\n")
}

func (m *markdown) cite(l *labels, refs []evidence.Ref) string {
	if s := m.own(l.cite(refs, 0)); s != "" {
		return " `" + s + "`"
	}
	return ""
}

func (m *markdown) incident(d *rules.Diagnosis) {
	l := newLabels(d)
	first := verdict(d)
	m.header(d, l, first)
	m.table(d)
	for i := range d.Ranked {
		m.cause(l, &d.Ranked[i], first)
	}
	if len(d.RuledOut) > 0 {
		m.put("### Ruled out\n")
		for _, r := range d.RuledOut {
			said := "- **" + m.text(cmp.Or(r.Title, r.ID)) + "**"
			if r.Reason != "" {
				said += ": " + m.text(r.Reason)
			}
			m.put(said + m.cite(l, r.Refs))
		}
		m.put("")
	}
	m.steps(d, first)
	if first != nil {
		m.missing(d, "What would make it surer")
	}
	m.evidence(d, l)
}

// header is the heading, the facts of the incident and, where nothing is singled out, what to check before all else.
func (m *markdown) header(d *rules.Diagnosis, l *labels, first *rules.Cause) {
	head := "## " + m.text(subjectName(d.Subject)) + ": "
	if first != nil {
		m.put(head + m.text(title(*first)) + " (" + percent(first.Probability) + ")\n")
	} else {
		m.put(head + "no single cause\n")
	}
	s := d.Subject
	sep := " " + m.g.sep + " "
	var parts []string
	parts = append(parts, "Workload: "+m.text(cmp.Or(s.Kind, "kind unknown")))
	if s.Cluster != "" {
		parts = append(parts, "cluster "+m.text(s.Cluster))
	}
	if s.Container != "" {
		parts = append(parts, "container "+m.text(s.Container))
	}
	if w := windowText(d.Window, m.o.Zone, m.g.dash); w != "" {
		parts = append(parts, m.text(w))
	}
	count, notReady := replicas(s)
	if notReady != "" {
		notReady = "**" + notReady + "**"
	}
	for _, p := range []string{count, notReady} {
		if p != "" {
			parts = append(parts, p)
		}
	}
	m.put(strings.Join(parts, sep) + "\n")
	total, byProbe, byPhase := failuresText(d, m.g.most)
	if total != "" {
		said := "**" + m.text(total) + "**"
		if byProbe != "" {
			said += ": " + m.text(byProbe)
		}
		for _, p := range byPhase {
			said += sep + m.text(p)
		}
		m.put(said + "\n")
	}
	for _, s := range d.Symptoms {
		if s.Kind != "probe-failure" || total == "" { // the line above has said it
			m.put("- " + m.text(s.Text) + m.cite(l, s.Refs))
		}
	}
	m.put("")
	if s.Inferred != "" {
		m.put("The workload is inferred: " + m.text(s.Inferred) + "\n")
	}
	if first == nil {
		said := "**The evidence does not single out a cause.**"
		if len(d.Ranked) > 0 {
			said += " The candidates below are not findings."
		}
		m.put(said + "\n")
		m.missing(d, "Check next")
	} else if first.Summary != "" {
		m.put("> **In short:** " + m.text(first.Summary) + "\n")
	}
}

func (m *markdown) table(d *rules.Diagnosis) {
	if len(d.Ranked) == 0 {
		return
	}
	m.put("| Cause | Role | Probability |")
	m.put("| --- | --- | ---: |")
	for _, c := range d.Ranked {
		m.put("| " + m.cell(title(c)) + " | " + m.cell(roleName(c.Role)) + " | " + mdText(percent(c.Probability)) + " |")
	}
	if d.Other > 0 {
		m.put("| *a cause that is not in the catalogue* | root cause | " + mdText(percent(d.Other)) + " |")
	}
	m.put("")
}

func (m *markdown) cause(l *labels, c, first *rules.Cause) {
	if c.Summary == "" && len(c.For)+len(c.Against) == 0 {
		return
	}
	m.put("### " + m.text(title(*c)) + " (" + roleName(c.Role) + ", " + mdText(percent(c.Probability)) + ")\n")
	if c.Summary != "" && c != first { // the first one's stands at the top
		m.put("In short: " + m.text(c.Summary) + "\n")
	}
	for _, s := range strongest(c.For) {
		m.put("- **for** " + m.text(s.Statement) + m.cite(l, s.Refs))
	}
	for _, s := range strongest(c.Against) {
		m.put("- **against** " + m.text(s.Statement) + m.cite(l, s.Refs))
	}
	if len(c.For)+len(c.Against) > 0 {
		m.put("")
	}
}

func (m *markdown) steps(d *rules.Diagnosis, first *rules.Cause) {
	if len(d.Remediation)+len(d.NotAFix)+len(d.Verify) == 0 {
		return
	}
	m.put("### What to do\n")
	names := map[string]string{}
	for _, c := range d.Ranked {
		names[c.ID] = title(c)
	}
	about := func(id string) string {
		if name := names[id]; name != "" && (first == nil || id != first.ID) {
			return " (for: " + m.text(name) + ")"
		}
		return ""
	}
	for _, h := range horizons {
		for _, s := range d.Remediation {
			if s.Horizon == h.is {
				m.step(strings.TrimSpace(h.label), about(s.For), s)
			}
		}
	}
	for _, n := range d.NotAFix {
		said := "- **Not:** " + m.text(n.Step)
		if n.Why != "" {
			said += ": " + m.text(n.Why)
		}
		m.put(said)
	}
	for _, v := range d.Verify {
		m.put("- **Verify:** " + m.text(v.Step) + about(v.For))
		if v.Command != "" {
			m.command("sh", safeCommand(v.Command))
		}
	}
	m.put("")
}

func (m *markdown) step(label, about string, s rules.Step) {
	m.put("- **" + label + ":** " + m.text(s.Step) + about)
	undoing, undoCommand := undo(s.Undo)
	for _, e := range []struct{ label, text string }{{"does", s.Does}, {"", doesNotOrNothing(s.DoesNot)}, {"risk", s.Risk}, {"undo", undoing}} {
		switch {
		case e.text == "":
		case e.label == "":
			m.put("  - *but* " + m.text(e.text))
		default:
			m.put("  - *" + e.label + ":* " + m.text(e.text))
		}
	}
	if s.Command != "" {
		m.command("sh", safeCommand(s.Command))
	}
	if undoCommand != "" {
		if undoing == "" {
			m.put("  To undo:")
		}
		m.command("sh", safeCommand(undoCommand))
	}
}

func doesNotOrNothing(s string) string {
	if s == "" {
		return ""
	}
	return doesNot(s)
}

func (m *markdown) missing(d *rules.Diagnosis, head string) {
	if len(d.Missing) == 0 {
		return
	}
	m.put("### " + head + "\n")
	for _, x := range d.Missing {
		said := "- **" + m.text(x.Fact) + "**"
		if x.Why != "" {
			said += ": " + m.text(x.Why)
		}
		if g := gainText(firstProbability(d), x.Gain); g != "" {
			said += " (" + mdText(g) + ")"
		}
		m.put(said)
		if x.Collect != "" {
			m.command("", []string{safeQuery(x.Collect)})
		}
	}
	m.put("")
}

func (m *markdown) evidence(d *rules.Diagnosis, l *labels) {
	if len(l.order) == 0 {
		return
	}
	m.put("### Evidence\n")
	for _, ref := range l.sorted() {
		x, ok := d.Evidence[ref]
		if !ok {
			m.put("- `[" + l.of[ref].String() + "]` cited, but not part of this document")
			continue
		}
		from := provenance(x, func(s string) string { return m.own(Safe(s)) })
		if at := moment(x.At, m.o.Zone); at != "" {
			from = append(from, at)
		}
		m.put(fmt.Sprintf("- `[%s]` %s %s", l.of[ref], code(m.own(safeN(x.Excerpt, excerptLimit))), mdText("("+strings.Join(from, ", ")+")")))
	}
	m.put("")
}
