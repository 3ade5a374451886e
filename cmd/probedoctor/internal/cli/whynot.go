package cli

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/probedoctor/probedoctor/internal/diagnose"
	"github.com/probedoctor/probedoctor/internal/report"
	"github.com/probedoctor/probedoctor/rules"
	"github.com/probedoctor/probedoctor/sources/evidence"
)

func (a *app) whyNotCommand() *cobra.Command {
	var s scope
	var demo bool
	c := &cobra.Command{
		Use:   "why-not CAUSE... -f PATH...",
		Short: "What spoke against a cause, and what would have to be true for it",
		Example: a.called(`  probedoctor why-not cpu-starvation --demo
  probedoctor why-not dependency-in-probe app-hang -f incident/`),
		Args: usageArgs(cobra.MinimumNArgs(1)),
		RunE: func(_ *cobra.Command, causes []string) error {
			k, err := a.knowledge()
			if err != nil {
				return err
			}
			for _, id := range causes {
				if _, ok := k.Pack.Diagnosis(id); !ok {
					return usagef("there is no cause %q%s", id, a.nearest(id, k.Pack))
				}
			}
			var set *evidence.Set
			if demo {
				set, err = a.demoSet()
			} else {
				set, err = a.read(s)
			}
			if err != nil {
				return err
			}
			opt, err := s.options()
			if err != nil {
				return err
			}
			list := diagnose.Run(set, k, opt)
			evs := diagnose.Evaluations(set, k, opt)
			if len(list.Items) == 0 {
				fmt.Fprintln(a.out, "No symptom in the evidence, so there is nothing to explain.")
				return someEvidence(set)
			}
			for i := range list.Items {
				for _, id := range causes {
					a.whyNot(&list.Items[i], evs[i], id)
				}
			}
			return nil
		},
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			p, err := a.pack()
			if err != nil {
				return nil, cobra.ShellCompDirectiveError
			}
			var ids []string
			for _, d := range p.Diagnoses {
				ids = append(ids, d.ID)
			}
			return ids, cobra.ShellCompDirectiveNoFileComp
		},
	}
	s.flags(c)
	c.Flags().BoolVar(&demo, "demo", false, "ask about the built-in incident")
	return c
}

// whyNot prints every rule that has a say in the cause, by what it said.
func (a *app) whyNot(d *rules.Diagnosis, ev *rules.Evaluation, id string) {
	def, _ := ev.Pack.Diagnosis(id)
	p := func(format string, args ...any) { fmt.Fprintf(a.out, format+"\n", args...) }
	name := strings.Trim(d.Subject.Namespace+"/"+d.Subject.Name, "/")
	p("%s: %s", report.Safe(cmp.Or(name, "the incident")), def.Title)
	standing := "<1 %"
	for _, c := range d.Ranked {
		if c.ID == id {
			standing = report.Percent(c.Probability) + ", as " + strings.ReplaceAll(string(c.Role), "-", " ")
		}
	}
	for _, r := range d.RuledOut {
		if r.ID == id {
			standing = "ruled out: " + report.Safe(r.Reason)
		}
	}
	p("  stands at   %s", standing)
	p("  what it is  %s", strings.Join(strings.Fields(def.Explanation), " "))
	sections := []struct {
		title string
		match func(w float64, r *rules.Result) bool
	}{
		{"Against it", func(w float64, r *rules.Result) bool { return w < 0 }},
		{"For it", func(w float64, r *rules.Result) bool { return w > 0 }},
	}
	for _, sec := range sections {
		var lines []string
		for i := range ev.Results {
			r := &ev.Results[i]
			for _, key := range []string{id, id + "/" + string(rules.Contributing)} {
				w, ok := said(r)[key]
				if ok && sec.match(w.Value, r) {
					lines = append(lines, fmt.Sprintf("    %+5.1f  %s  (rule %s)", w.Value, report.Safe(r.Statement), r.Rule.ID))
					break
				}
			}
		}
		if len(lines) > 0 {
			p("  %s", sec.title)
			// The weightiest first: the number stands at the beginning, in a fixed width, with its sign.
			slices.Sort(lines)
			slices.Reverse(lines)
			p("%s", strings.Join(lines, "\n"))
		}
	}
	var would []string
	for i := range ev.Results {
		r := &ev.Results[i]
		t, e := r.Rule.Then[id], r.Rule.Else[id]
		switch {
		case r.Outcome == rules.Unknown && (t.Value > 0 || e.Value > 0):
			would = append(would, fmt.Sprintf("    %+5.1f  if %s  (not known: %s)", max(t.Value, e.Value), strings.ToLower(r.Rule.Title[:1])+r.Rule.Title[1:], strings.Join(r.Missing, ", ")))
		case r.Outcome == rules.False && t.Value > 0:
			would = append(would, fmt.Sprintf("    %+5.1f  if %s; but %s", t.Value, oneLine(r.Rule.When), report.Safe(cmp.Or(r.Statement, "it is not so"))))
		}
	}
	if len(would) > 0 {
		p("  What would speak for it")
		p("%s", strings.Join(would, "\n"))
	}
	p("")
}

// said is what the result says of causes.
func said(r *rules.Result) rules.Weights {
	switch r.Outcome {
	case rules.True:
		return r.Rule.Then
	case rules.False:
		return r.Rule.Else
	}
	return nil
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// nearest suggests the ids that share a word with what was typed.
func (a *app) nearest(id string, p *rules.Pack) string {
	var close []string
	for _, d := range p.Diagnoses {
		for word := range strings.SplitSeq(id, "-") {
			if len(word) > 2 && strings.Contains(d.ID, word) {
				close = append(close, d.ID)
				break
			}
		}
	}
	if len(close) == 0 {
		return "; " + a.name + " rules list --causes names them all"
	}
	return "; did you mean " + strings.Join(close, ", ") + "?"
}
