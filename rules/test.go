package rules

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/probedoctor/probedoctor/rules/facts"
)

// Test runs the tests that stand beside rules and signatures. It gives their number and what failed.
func (p *Pack) Test() (n int, failures []error) {
	for _, r := range p.Rules {
		for _, t := range r.Tests {
			n++
			if err := p.testRule(r, t); err != nil {
				failures = append(failures, fmt.Errorf("%s: rule %s: test %q: %w", r.file, r.ID, t.Name, err))
			}
		}
	}
	for _, s := range p.Signatures {
		for _, e := range s.Examples {
			n++
			if !p.Matches(s.ID, "", e) {
				failures = append(failures, fmt.Errorf("%s: signature %s does not match its example %q", s.file, s.ID, e))
			}
		}
		for _, e := range s.Counterexamples {
			n++
			if p.Matches(s.ID, "", e) {
				failures = append(failures, fmt.Errorf("%s: signature %s matches its counterexample %q", s.file, s.ID, e))
			}
		}
	}
	return n, failures
}

func (p *Pack) testRule(r *Rule, t RuleTest) error {
	v, err := t.values(r)
	if err != nil {
		return err
	}
	res := r.evaluateOne(v)
	if res.Fault != "" {
		return fmt.Errorf("the expression fails: %s", res.Fault)
	}
	if string(res.Outcome) != t.Want {
		return fmt.Errorf("the outcome is %s, want %q (missing: %s)", res.Outcome, t.Want, strings.Join(res.Missing, ", "))
	}
	if t.Missing != nil {
		got, want := slices.Sorted(slices.Values(res.Missing)), slices.Sorted(slices.Values(t.Missing))
		if !slices.Equal(got, want) {
			return fmt.Errorf("missing is %v, want %v", got, want)
		}
	}
	return nil
}

// values turns the facts of a test into typed values.
func (t RuleTest) values(r *Rule) (*scopeValues, error) {
	v := &scopeValues{incident: facts.Values{}, rules: t.Rules, signatures: t.Signatures,
		leaves: func(kind, id string) []string { return []string{kind + "." + id} }}
	for _, name := range sortedKeys(t.Facts) {
		f, ok := facts.ByName(name)
		if !ok {
			return nil, fmt.Errorf("there is no fact %q", name)
		}
		if f.Scope != facts.ScopeIncident && f.Scope != r.Scope {
			return nil, fmt.Errorf("fact %s is of scope %s, the rule of scope %s", name, f.Scope, r.Scope)
		}
		x, err := typed(f.Type, t.Facts[name])
		if err != nil {
			return nil, fmt.Errorf("fact %s: %w", name, err)
		}
		v.incident[name] = facts.Value{Known: true, V: x}
	}
	return v, nil
}

func typed(t facts.Type, raw any) (any, error) {
	s := fmt.Sprint(raw)
	switch t {
	case facts.Bool:
		return strconv.ParseBool(s)
	case facts.Int:
		return strconv.ParseInt(s, 10, 64)
	case facts.Double:
		return strconv.ParseFloat(s, 64)
	case facts.Duration:
		return time.ParseDuration(s)
	}
	return s, nil
}

// Lint finds what loading does not refuse and what yet makes knowledge worse: statements that cannot be filled in, which
// loading leaves to their first use for the sake of its time, rules without the tests that show each of
// their outcomes, causes that no rule speaks for, signatures without examples or that nothing uses.
func (p *Pack) Lint() []string {
	var out []string
	spoken := map[string]bool{}
	used := map[string]bool{}
	for _, r := range p.Rules {
		for _, ws := range []Weights{r.Then, r.Else} {
			for id, w := range ws {
				if w.Value > 0 {
					spoken[strings.Split(id, "/")[0]] = true
				}
			}
		}
		for _, id := range r.compiled.signatures {
			used[id] = true
		}
		for _, s := range []struct {
			key     string
			compile func() (*template, error)
		}{{"statement.then", r.compiled.then}, {"statement.else", r.compiled.els}} {
			if _, err := s.compile(); err != nil {
				out = append(out, r.errorf(s.key, "%s: %v", s.key, err).Error())
			}
		}
		wants := map[string]bool{}
		for _, t := range r.Tests {
			wants[t.Want] = true
		}
		need := []string{string(True), string(False), string(Unknown)}
		if r.Given != "" {
			need = append(need, string(NotApplicable))
		}
		for _, n := range need {
			if !wants[n] {
				out = append(out, fmt.Sprintf("%s: rule %s has no test for the outcome %s", r.file, r.ID, n))
			}
		}
	}
	for _, d := range p.Diagnoses {
		if !spoken[d.ID] {
			out = append(out, fmt.Sprintf("%s: no rule speaks for the cause %s", d.file, d.ID))
		}
	}
	for _, s := range p.Signatures {
		if len(s.Examples) == 0 || len(s.Counterexamples) == 0 {
			out = append(out, fmt.Sprintf("%s: signature %s needs examples and counterexamples", s.file, s.ID))
		}
		// Facts read the signatures of these kinds.
		if s.Kind != "dependency" && s.Kind != "shutdown" && s.Kind != "proxy" && !used[s.ID] {
			out = append(out, fmt.Sprintf("%s: no rule uses the signature %s", s.file, s.ID))
		}
	}
	return out
}
