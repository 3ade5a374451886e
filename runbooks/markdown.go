package runbooks

import (
	"fmt"
	"strings"
)

// section is a stretch of the body: prose, a code block with a command, or another code block.
type section struct {
	kind sectionKind
	open string // the fence's first line
	text template
}

type sectionKind int

const (
	proseSection   sectionKind = iota
	commandSection             // a ```sh block: placeholders are quoted for the shell
	codeSection                // any other block: copied as it is
)

// body compiles the Markdown that begins at an offset of the file.
func (p *parser) body(at int) []section {
	var out []section
	add := func(kind sectionKind, open string, from, to int) {
		text := p.src[from:to]
		compile := compileProse
		switch kind {
		case commandSection:
			compile = compileCommand
		case codeSection:
			out = append(out, section{kind: kind, open: open, text: template{{text: text}}})
			return
		}
		t, err := compile(text)
		if te, ok := err.(*templateError); ok {
			line, column := lineColumn(p.src, from+te.offset)
			p.errs = append(p.errs, fmt.Errorf("%s:%d:%d: %s", p.file, line, column, te.msg))
		}
		out = append(out, section{kind: kind, open: open, text: t})
	}
	from, fence, kind := at, "", proseSection
	for i := at; i < len(p.src); {
		next := len(p.src)
		if n := strings.IndexByte(p.src[i:], '\n'); n >= 0 {
			next = i + n + 1
		}
		line := strings.TrimSpace(p.src[i:next])
		if strings.HasPrefix(line, "```") {
			if i > from || fence != "" {
				add(kind, fence, from, i)
			}
			from = next
			switch {
			case fence != "":
				fence, kind = "", proseSection
			case line == "```sh":
				fence, kind = line, commandSection
			default:
				fence, kind = line, codeSection
			}
		}
		i = next
	}
	if fence != "" {
		line, column := lineColumn(p.src, from)
		p.errs = append(p.errs, fmt.Errorf("%s:%d:%d: the code block is not closed", p.file, line, column))
	} else if from < len(p.src) {
		add(proseSection, "", from, len(p.src))
	}
	return out
}

// Markdown is the whole runbook for a person: the body, then every step of every stack, what to verify and what is not a fix.
// Unknown values stand as generic words, in commands as words in capitals, so that it reads without an incident too.
func (r *Runbook) Markdown(values map[string]any) string {
	e := newEnv(values)
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n`%s`\n\n", r.Title, r.Diagnosis)
	for _, s := range r.sections {
		switch s.kind {
		case commandSection:
			text, _ := s.text.command(e, true)
			fence(&b, s.open, text)
		case codeSection:
			fence(&b, s.open, s.text[0].text)
		default:
			b.WriteString(s.text.prose(e, markdownSafe))
		}
	}
	for _, h := range horizons {
		r.writeSteps(&b, e, h)
	}
	if len(r.verify) > 0 {
		b.WriteString("\n## Verify\n\n")
	}
	for _, v := range r.verify {
		v := v.render(e, true, markdownSafe)
		fmt.Fprintf(&b, "- %s\n", v.Step)
		writeCommand(&b, "", v.Command)
	}
	if len(r.notAFix) > 0 {
		b.WriteString("\n## Not a fix\n\n")
	}
	for _, n := range r.notAFix {
		fmt.Fprintf(&b, "- **%s.** %s\n", n.step.prose(e, markdownSafe), n.why.prose(e, markdownSafe))
	}
	return strings.TrimRight(b.String(), "\n") + "\n"
}

func (r *Runbook) writeSteps(b *strings.Builder, e env, h Horizon) {
	n := 0
	for i := range r.steps {
		if r.steps[i].horizon != h {
			continue
		}
		if n == 0 {
			fmt.Fprintf(b, "\n## %s%s\n\n", strings.ToUpper(string(h[:1])), h[1:])
		}
		n++
		s := r.steps[i].render(e, true, markdownSafe)
		only := ""
		if len(s.Stacks) > 0 {
			only = " (" + strings.Join(s.Stacks, ", ") + ")"
		}
		fmt.Fprintf(b, "%d. **%s**%s\n", n, s.Step, only)
		for _, f := range []struct{ label, text string }{{"does", s.Does}, {"but", s.DoesNot}, {"risk", s.Risk}, {"undo", s.Undo}} {
			if f.text != "" {
				fmt.Fprintf(b, "   - *%s*: %s\n", f.label, f.text)
			}
		}
		writeCommand(b, "", s.Command)
		writeCommand(b, "to undo", s.UndoCommand)
	}
}

func writeCommand(b *strings.Builder, label, command string) {
	if command == "" {
		return
	}
	if label != "" {
		fmt.Fprintf(b, "\n   %s:\n", label)
	}
	b.WriteByte('\n')
	var block strings.Builder
	fence(&block, "```sh", command)
	for line := range strings.Lines(block.String()) {
		b.WriteString("   " + line)
	}
}

// fence writes a code block whose fence is longer than any run of backquotes in it.
func fence(b *strings.Builder, open, text string) {
	ticks := "```"
	for strings.Contains(text, ticks) {
		ticks += "`"
	}
	fmt.Fprintf(b, "%s%s\n%s\n%s\n", ticks, strings.TrimPrefix(open, "```"), strings.TrimRight(text, "\n"), ticks)
}

// markdownSafe inserts a value as a code span, so that nothing in it is read as markup. A backquote, which no name in Kubernetes
// can hold, would end the span and is shown as an apostrophe.
func markdownSafe(s string) string {
	return "`" + strings.ReplaceAll(oneLine(s), "`", "'") + "`"
}
