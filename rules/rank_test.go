package rules_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/probedoctor/probedoctor/rules"
	"github.com/probedoctor/probedoctor/rules/facts"
	"github.com/probedoctor/probedoctor/sources/evidence"
)

// small loads a pack of the given diagnoses and rules. Of each, only what bears on the ranking is written; the texts that
// every one needs are added.
func small(t *testing.T, diagnoses, ruleFile string) *rules.Pack {
	t.Helper()
	fill := func(src, first, more string) string { return strings.ReplaceAll(src, first, more+first) }
	p, err := rules.Load(rules.Source{Name: "small", FS: fstest.MapFS{
		"diagnoses.yaml":   {Data: []byte(fill(diagnoses, "  roles:", "  title: t\n  explanation: e\n"))},
		"rules/rules.yaml": {Data: []byte(fill(ruleFile, "  when:", "  title: t\n  doc: d\n  statement: {then: yes it is, else: no it is not}\n"))},
	}})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// group adds so many failures of one group to a hand-made incident.
func group(in *facts.Incident, phase evidence.Phase, outcome evidence.Outcome, life facts.Life, count int) {
	f := facts.Failure{Life: life, Failure: &evidence.Failure{
		Verdict: evidence.Verdict{Probe: evidence.Readiness, Result: evidence.Failed, Phase: phase, Outcome: outcome},
		Cites:   evidence.Ref(fmt.Sprintf("event:%d", len(in.Failures))), Object: evidence.Object{Kind: "Pod", Name: "web-0"}, Count: count,
	}}
	in.Failures = append(in.Failures, f)
	in.Groups = append(in.Groups, facts.Group{Phase: phase, Outcome: outcome, Life: life, Result: evidence.Failed, Failures: []*facts.Failure{&f}, Count: count})
}

// timeouts is an incident of ten probes that timed out on live pods.
func timeouts() *facts.Incident {
	in := &facts.Incident{Set: &evidence.Set{}}
	group(in, evidence.PhaseAwaitingHeaders, evidence.OutcomeTimeout, facts.Live, 10)
	return in
}

func rank(p *rules.Pack, in *facts.Incident) rules.Ranking { return p.Evaluate(in).Rank() }

func ids(causes []rules.Cause) string {
	var out []string
	for _, c := range causes {
		out = append(out, c.ID+" "+string(c.Role))
	}
	return strings.Join(out, ", ")
}

func probability(t *testing.T, r rules.Ranking, id string, role rules.Role) float64 {
	t.Helper()
	i := slices.IndexFunc(r.Ranked, func(c rules.Cause) bool { return c.ID == id && c.Role == role })
	if i < 0 {
		t.Fatalf("%s is not ranked as %s: %s", id, role, ids(r.Ranked))
	}
	return r.Ranked[i].Probability
}

func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if math.Abs(got-want) > 1e-9 {
		t.Errorf("%s is %.9f, want %.9f", what, got, want)
	}
}

func TestSoftmaxWithOther(t *testing.T) {
	p := small(t, `
- id: a
  prior: -1
  roles: [root-cause]
- id: b
  prior: -2
  roles: [root-cause]
`, `
- id: some
  order: 1
  when: failures.live > 0
  then: {a: 2.5, b: -0.5}
- id: many
  order: 2
  when: failures.live > 100
  then: {b: 9}
  else: {b: 1}
- id: not-known
  order: 3
  when: pool.utilisation > 0.9
  then: {b: 9}
  else: {b: -9}
`)
	r := rank(p, timeouts())
	// Prior plus weights against other at 0: a has -1 + 2.5, b has -2 - 0.5 + 1.
	sum := math.Exp(1.5) + math.Exp(-1.5) + 1
	near(t, "a", probability(t, r, "a", rules.RootCause), math.Exp(1.5)/sum)
	near(t, "b", probability(t, r, "b", rules.RootCause), math.Exp(-1.5)/sum)
	near(t, "other", r.Other, 1/sum)
	if ids(r.Ranked) != "a root-cause, b root-cause" {
		t.Errorf("ranked: %s", ids(r.Ranked))
	}
	if c := r.Ranked[1]; len(c.For) != 1 || len(c.Against) != 1 || c.For[0].Rule != "many" || c.Against[0].Rule != "some" || c.For[0].Statement != "no it is not" {
		t.Errorf("b: for %+v, against %+v", c.For, c.Against)
	}
}

func TestFamilyCountsItsStrongest(t *testing.T) {
	p := small(t, `
- id: a
  prior: 0
  roles: [root-cause]
`, `
- id: one
  order: 1
  family: f
  when: failures.live > 0
  then: {a: 1}
- id: two
  order: 2
  family: f
  when: failures.live > 1
  then: {a: 2}
- id: minus
  order: 3
  family: f
  when: failures.live > 2
  then: {a: -2}
- id: alone
  order: 4
  when: failures.live > 3
  then: {a: 0.25}
- id: alone-too
  order: 5
  when: failures.live > 3
  then: {a: 0.25}
`)
	r := rank(p, timeouts())
	// Of 1, 2 and -2 the first of the strongest stands: 2. The others are families of their own.
	near(t, "a", probability(t, r, "a", rules.RootCause), math.Exp(2.5)/(math.Exp(2.5)+1))
	if c := r.Ranked[0]; len(c.For) != 3 || c.For[0].Rule != "two" || len(c.Against) != 0 {
		t.Errorf("for %+v, against %+v", c.For, c.Against)
	}
}

func TestRuleOut(t *testing.T) {
	const diagnoses = `
- id: a
  prior: 2
  roles: [root-cause]
- id: b
  prior: 0
  roles: [root-cause]
`
	rule := func(complete string) string {
		return `
- id: excluded
  order: 1
  complete: ` + complete + `
  when: failures.live > 0
  then: {a: rule-out}
`
	}
	t.Run("complete", func(t *testing.T) {
		r := rank(small(t, diagnoses, rule("failures.live >= 10")), timeouts())
		if ids(r.Ranked) != "b root-cause" || len(r.RuledOut) != 1 || r.RuledOut[0].ID != "a" || r.RuledOut[0].Rule != "excluded" || r.RuledOut[0].Reason != "yes it is" || len(r.RuledOut[0].Refs) == 0 {
			t.Errorf("ranked %s, ruled out %+v", ids(r.Ranked), r.RuledOut)
		}
		near(t, "b", probability(t, r, "b", rules.RootCause), 0.5)
	})
	for name, complete := range map[string]string{"not complete": "failures.live >= 11", "not known whether complete": "pool.utilisation > 0.5", "a fault": "1 / (failures.live - 10) > 0"} {
		t.Run(name, func(t *testing.T) {
			r := rank(small(t, diagnoses, rule(complete)), timeouts())
			if len(r.RuledOut) != 0 {
				t.Errorf("ruled out %+v", r.RuledOut)
			}
			near(t, "a", probability(t, r, "a", rules.RootCause), math.Exp(2+rules.RuleOutWeight)/(math.Exp(2+rules.RuleOutWeight)+2))
		})
	}
}

func TestShareOfFailuresExplained(t *testing.T) {
	p := small(t, `
- id: all
  prior: 0
  explains: ["*/*/live"]
  roles: [root-cause]
- id: none
  prior: 0
  explains: ["exec/*/*"]
  roles: [root-cause]
- id: some
  prior: 0
  explains: ["awaiting-headers/timeout/live"]
  roles: [root-cause]
- id: whatever
  prior: 0
  roles: [root-cause]
`, "[]")
	in := timeouts()
	group(in, evidence.PhaseStatus, evidence.OutcomeStatus, facts.LifeUnknown, 20)
	group(in, evidence.PhaseConnect, evidence.OutcomeRefused, facts.LifeUnknown, 10)
	group(in, evidence.PhaseConnect, evidence.OutcomeRefused, facts.Starting, 1000) // noise is nobody's to explain
	r := rank(p, in)
	weight := func(share float64) float64 { return 0.02 + 0.98*share }
	// Of 40 failures: unknown life counts as live; of the 10 doubtful refusals three tenths count for whom does not explain them.
	share := map[string]float64{"all": 1, "none": 3.0 / 40, "some": 13.0 / 40}
	sum := 1 + 1.0
	for _, s := range share {
		sum += weight(s)
	}
	for id, s := range share {
		near(t, id, probability(t, r, id, rules.RootCause), weight(s)/sum)
	}
	near(t, "whatever", probability(t, r, "whatever", rules.RootCause), 1/sum)
	for _, c := range r.Ranked {
		against := slices.ContainsFunc(c.Against, func(s rules.Statement) bool { return s.Rule == "explains-failures" && len(s.Refs) > 0 && s.Weight < 0 })
		if against != (c.ID == "none" || c.ID == "some") {
			t.Errorf("%s: against %+v", c.ID, c.Against)
		}
	}
	if c := r.Ranked[slices.IndexFunc(r.Ranked, func(c rules.Cause) bool { return c.ID == "some" })]; !strings.Contains(c.Against[0].Statement, "30 of the failures: 20 × status status, 10 × connect refused") ||
		!slices.Equal(c.Explains, []string{"awaiting-headers/timeout/live"}) {
		t.Errorf("some: %q, explains %v", c.Against[0].Statement, c.Explains)
	}
}

func TestContributingDoesNotCompete(t *testing.T) {
	const diagnoses = `
- id: root
  prior: 0
  roles: [root-cause]
- id: helper
  contributingPrior: -1
  roles: [contributing]
- id: quiet
  roles: [contributing]
`
	with := rank(small(t, diagnoses, `
- id: some
  order: 1
  when: failures.live > 0
  then: {helper: 3, root: 1}
`), timeouts())
	near(t, "root", probability(t, with, "root", rules.RootCause), math.E/(math.E+1))
	near(t, "helper", probability(t, with, "helper", rules.Contributing), 1/(1+math.Exp(-2)))
	if ids(with.Ranked) != "root root-cause, helper contributing" {
		t.Errorf("ranked: %s; a contributing cause at its prior is not shown", ids(with.Ranked))
	}
}

func TestCauseWithBothRolesIsListedOnce(t *testing.T) {
	pack := func(asRoot, asHelper int) *rules.Pack {
		return small(t, `
- id: both
  prior: -1
  roles: [root-cause, contributing]
- id: lead
  prior: 0
  roles: [root-cause]
`, fmt.Sprintf(`
- id: some
  order: 1
  when: failures.live > 0
  then: {both: %d, both/contributing: %d, lead: 3}
`, asRoot, asHelper))
	}
	for _, tt := range []struct {
		root, helper int
		want         string
	}{
		{9, 9, "both root-cause, lead root-cause"}, // it leads
		{0, 6, "lead root-cause, both contributing"},
		{0, 0, "lead root-cause, both root-cause"},
	} {
		if got := ids(rank(pack(tt.root, tt.helper), timeouts()).Ranked); got != tt.want {
			t.Errorf("with %d as root and %d as contributing: %s, want %s", tt.root, tt.helper, got, tt.want)
		}
	}
}

func TestNoise(t *testing.T) {
	p := small(t, `
- id: root
  prior: -1
  explains: ["*/*/live"]
  roles: [root-cause]
- id: stop-noise
  prior: -2
  explains: ["*/refused/terminating"]
  roles: [noise]
- id: start-noise
  prior: -2
  explains: ["*/refused/starting"]
  roles: [noise]
`, `
- id: stops
  order: 1
  when: failures.terminating > 0
  then: {stop-noise: 5}
- id: starts
  order: 2
  when: failures.starting > 0
  then: {start-noise: 4}
`)
	t.Run("beside live failures noise comes last", func(t *testing.T) {
		in := timeouts()
		group(in, evidence.PhaseConnect, evidence.OutcomeRefused, facts.Terminating, 99)
		r := rank(p, in)
		if ids(r.Ranked) != "root root-cause, stop-noise noise" {
			t.Errorf("ranked: %s", ids(r.Ranked))
		}
		near(t, "root", r.Ranked[0].Probability, math.Exp(-1)/(math.Exp(-1)+1))
		near(t, "noise", r.Ranked[1].Probability, 1/(1+math.Exp(-3)))
	})
	t.Run("alone it comes first and competes", func(t *testing.T) {
		in := &facts.Incident{Set: &evidence.Set{}}
		group(in, evidence.PhaseConnect, evidence.OutcomeRefused, facts.Terminating, 3)
		r := rank(p, in)
		if ids(r.Ranked) != "stop-noise noise, root root-cause" {
			t.Fatalf("ranked: %s", ids(r.Ranked))
		}
		// The best noise has log-odds 3; one more, as nothing is left to explain.
		sum := math.Exp(-1) + 1 + math.Exp(4)
		near(t, "root", r.Ranked[1].Probability, math.Exp(-1)/sum)
		near(t, "other", r.Other, 1/sum)
		if !slices.Equal(r.Ranked[0].Explains, []string{"connect/refused/terminating"}) {
			t.Errorf("explains %v", r.Ranked[0].Explains)
		}
	})
	t.Run("two sorts of noise that explain all together", func(t *testing.T) {
		in := &facts.Incident{Set: &evidence.Set{}}
		group(in, evidence.PhaseConnect, evidence.OutcomeRefused, facts.Terminating, 3)
		group(in, evidence.PhaseConnect, evidence.OutcomeRefused, facts.Starting, 3)
		if got := ids(rank(p, in).Ranked); got != "stop-noise noise, root root-cause, start-noise noise" {
			t.Errorf("ranked: %s", got)
		}
	})
	t.Run("a group of no noise keeps it from the first place", func(t *testing.T) {
		in := &facts.Incident{Set: &evidence.Set{}}
		group(in, evidence.PhaseConnect, evidence.OutcomeRefused, facts.Terminating, 3)
		group(in, evidence.PhaseConnect, evidence.OutcomeTimeout, facts.Starting, 1)
		if r := rank(p, in); r.Ranked[0].Role != rules.RootCause {
			t.Errorf("ranked: %s", ids(r.Ranked))
		}
	})
	t.Run("no failures at all are no noise", func(t *testing.T) {
		if got := ids(rank(p, &facts.Incident{Set: &evidence.Set{}}).Ranked); strings.Contains(got, "noise") {
			t.Errorf("ranked: %s", got)
		}
	})
}

func TestTiesAreStable(t *testing.T) {
	p := small(t, `
- id: c
  prior: 0
  roles: [root-cause]
- id: a
  prior: 0
  roles: [root-cause]
- id: b
  prior: 0
  roles: [root-cause]
`, `
- id: y
  order: 1
  when: failures.live > 0
  then: {a: 1, b: 1, c: 1}
- id: x
  order: 2
  when: failures.live > 0
  then: {a: 1, b: 1, c: 1}
`)
	for range 20 {
		r := rank(p, timeouts())
		if ids(r.Ranked) != "a root-cause, b root-cause, c root-cause" || r.Ranked[0].For[0].Rule != "x" {
			t.Fatalf("ranked %s, first for it %s", ids(r.Ranked), r.Ranked[0].For[0].Rule)
		}
	}
}

func TestMissing(t *testing.T) {
	p := small(t, `
- id: a
  prior: 1
  roles: [root-cause]
- id: b
  prior: 0
  roles: [root-cause]
`, `
- id: pool
  order: 1
  when: pool.utilisation > 0.9
  then: {a: 2}
  else: {a: -3}
- id: events
  order: 2
  when: scaling.events > 0
  then: {a: 1}
- id: events-too
  order: 3
  when: scaling.events > 0 && scaling.metricFailures > 0
  then: {b: 2}
- id: for-nobody
  order: 4
  when: cpu.throttledRatio > 0.5
- id: too-little
  order: 5
  when: gc.share > 0.5
  then: {b: 0.001}
- id: known
  order: 6
  when: failures.live > 0 || files.ratio > 0.9
  then: {b: 0.1}
- id: builds-on
  order: 7
  when: rule["pool"]
  then: {b: 0.2}
`)
	in := timeouts()
	in.Set.Queries = []evidence.Query{{Signal: "pool.utilisation", PromQL: "busy / max"}}
	r := rank(p, in)
	var got []string
	for _, m := range r.Missing {
		got = append(got, m.Fact)
		if m.Collect == "" || m.Why == "" {
			t.Errorf("%+v", m)
		}
	}
	// scaling.events and scaling.metricFailures are told by one command, which stands once.
	if !slices.Equal(got, []string{"pool.utilisation", "scaling.events"}) {
		t.Fatalf("missing: %v", got)
	}
	if r.Missing[0].Collect != "busy / max" {
		t.Errorf("collect: %s", r.Missing[0].Collect)
	}
	// The first cause is a, with log-odds 1 against b's 0.1 and other's 0.
	of := func(a, b float64) float64 { return math.Exp(a) / (math.Exp(a) + math.Exp(b) + 1) }
	want := math.Round(1000*(of(1, 0.1)-of(-2, 0.1))) / 1000
	near(t, "gain of the pool", r.Missing[0].Gain, want)
	events := max(of(2, 0.1)-of(1, 0.1), of(1, 0.1)-of(1, 2.1))
	near(t, "gain of the events", r.Missing[1].Gain, math.Round(1000*events)/1000)
}
