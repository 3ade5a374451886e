package rules

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/probedoctor/probedoctor/rules/facts"
)

// RuleMarkdown is a rule as a page: what it asks, what it needs and what it says of each cause.
func RuleMarkdown(r *Rule) string {
	var b strings.Builder
	fmt.Fprintf(&b, "### %s\n\n%s (order %d, scope %s", r.ID, r.Title, r.Order, r.Scope)
	if r.Family != "" {
		fmt.Fprintf(&b, ", family %s", r.Family)
	}
	fmt.Fprintf(&b, ")\n\n%s\n\n", strings.Join(strings.Fields(r.Doc), " "))
	expr := func(name, src string) {
		if src = strings.TrimSpace(src); src != "" {
			fmt.Fprintf(&b, "- %s: `%s`\n", name, strings.Join(strings.Fields(src), " "))
		}
	}
	expr("given", r.Given)
	expr("when", r.When)
	expr("complete", r.Complete)
	weights := func(name string, ws Weights, statement string) {
		if len(ws) == 0 && statement == "" {
			return
		}
		fmt.Fprintf(&b, "- %s: ", name)
		for i, id := range sortedKeys(ws) {
			if i > 0 {
				b.WriteString(", ")
			}
			w := ws[id]
			if w.RuleOut {
				fmt.Fprintf(&b, "%s rule-out", id)
			} else {
				fmt.Fprintf(&b, "%s %s", id, signed(w.Value))
			}
		}
		if statement != "" {
			if len(ws) > 0 {
				b.WriteString(" — ")
			}
			fmt.Fprintf(&b, "“%s”", statement)
		}
		b.WriteString("\n")
	}
	weights("true", r.Then, r.Statement.Then)
	weights("false", r.Else, r.Statement.Else)
	return b.String()
}

func signed(w float64) string {
	s := strconv.FormatFloat(w, 'f', 1, 64)
	if w > 0 {
		return "+" + s
	}
	return strings.Replace(s, "-", "−", 1)
}

// RulesMarkdown is docs/rules.md.
func (p *Pack) RulesMarkdown() string {
	var b strings.Builder
	b.WriteString("# Rules\n\nMade by `probedoctor docs`; do not edit. Rules are evaluated in their order. Weights are log-likelihood ratios in nats:\n" +
		"+0.7 makes a cause twice as likely against the others, +2.3 ten times. Of the rules of one family only the strongest weight on a\n" +
		"cause counts, since their evidence is correlated.\n")
	for _, r := range p.Rules {
		b.WriteString("\n" + RuleMarkdown(r))
	}
	return b.String()
}

// DiagnosesMarkdown is docs/diagnoses.md: the list of causes, each with a page of its own.
func (p *Pack) DiagnosesMarkdown() string {
	var b strings.Builder
	b.WriteString("# Causes\n\nMade by `probedoctor docs`; do not edit. One page a cause: what it is, how to tell and confirm it, what to do and what\n" +
		"not to do, and the rules that speak for and against it.\n\n| cause | roles | title |\n| --- | --- | --- |\n")
	for _, d := range p.Diagnoses {
		fmt.Fprintf(&b, "| [%s](diagnoses/%s.md) | %s | %s |\n", d.ID, d.ID, d.rolesText(), d.Title)
	}
	return b.String()
}

func (d *DiagnosisDef) rolesText() string {
	roles := make([]string, len(d.Roles))
	for i, r := range d.Roles {
		roles[i] = string(r)
	}
	return strings.Join(roles, ", ")
}

// DiagnosisMarkdown is the page of one cause: its runbook, and what the rules say of it.
func (p *Pack) DiagnosisMarkdown(d *DiagnosisDef, runbook string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\n## What the rules say\n\nMade by `probedoctor docs`; do not edit. Roles: %s. Prior log-odds %s, against a cause that is not in the catalogue at 0.\n",
		strings.TrimSpace(runbook), d.rolesText(), signed(d.Prior))
	fmt.Fprintf(&b, "\n%s\n", strings.TrimSpace(d.Explanation))
	if len(d.Explains) > 0 {
		fmt.Fprintf(&b, "\nExplains failures: `%s`\n", strings.Join(d.Explains, "`, `"))
	}
	for _, sec := range []struct {
		title string
		sign  float64
	}{{"For it", 1}, {"Against it", -1}} {
		first := true
		for _, r := range p.Rules {
			for _, side := range []struct {
				ws   Weights
				text string
			}{{r.Then, r.Statement.Then}, {r.Else, r.Statement.Else}} {
				for _, key := range []string{d.ID, d.ID + "/" + string(Contributing)} {
					w, ok := side.ws[key]
					if !ok || w.Value*sec.sign <= 0 {
						continue
					}
					if first {
						fmt.Fprintf(&b, "\n%s:\n\n", sec.title)
						first = false
					}
					as := ""
					if key != d.ID {
						as = ", as contributing"
					}
					value := signed(w.Value)
					if w.RuleOut {
						value = "rule-out"
					}
					fmt.Fprintf(&b, "- %s%s: “%s” (%s)\n", value, as, side.text, r.ID)
				}
			}
		}
	}
	return b.String()
}

// FactsMarkdown is docs/facts.md.
func FactsMarkdown() string {
	var b strings.Builder
	b.WriteString("# Facts\n\nMade by `probedoctor docs`; do not edit. Each fact is a CEL variable of its name. A fact that was not gathered is unknown, never a zero.\n\n" +
		"| fact | type | unit | scope | meaning | needs |\n| --- | --- | --- | --- | --- | --- |\n")
	for i := range facts.All {
		f := &facts.All[i]
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s | %s |\n", f.Name, f.Type, f.Unit, f.Scope, strings.ReplaceAll(f.Doc, "|", `\|`), strings.Join(f.Needs, ", "))
	}
	return b.String()
}
