package rules_test

import (
	"math"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/probedoctor/probedoctor/rules"
	"github.com/probedoctor/probedoctor/rules/facts"
	"github.com/probedoctor/probedoctor/sources/evidence"
)

func TestScopes(t *testing.T) {
	p := small(t, `
- id: a
  prior: 0
  roles: [root-cause]
`, `
- id: short
  order: 1
  scope: probe
  when: probe.timeout < duration("2s")
  then: {a: 1}
- id: of-liveness
  order: 2
  scope: probe
  given: probe.kind == "liveness"
  when: probe.timeout < duration("2s")
- id: of-startup
  order: 3
  scope: probe
  given: probe.kind == "startup"
  when: probe.timeout < duration("2s")
- id: restarts
  order: 4
  scope: pod
  when: pod.restarts > 2
- id: after
  order: 5
  when: rule["of-startup"] || rule["short"]
`)
	spec := func(seconds int) *evidence.ProbeSpec { return &evidence.ProbeSpec{TimeoutSeconds: seconds} }
	probes := func(specs ...*evidence.ProbeSpec) func(in *facts.Incident) {
		return func(in *facts.Incident) {
			for i, s := range specs {
				kind := []evidence.ProbeKind{evidence.Readiness, evidence.Liveness}[i]
				in.Probes = append(in.Probes, facts.Probe{Kind: kind, Spec: s, Failures: []*facts.Failure{&in.Failures[0]}})
			}
		}
	}
	pods := func(restarts ...int) func(in *facts.Incident) {
		return func(in *facts.Incident) {
			for _, n := range restarts {
				pod := &evidence.Pod{Object: evidence.Object{Name: "web-0"}, Restarts: n}
				in.Pods = append(in.Pods, pod)
				in.Failures = append(in.Failures, facts.Failure{Failure: &evidence.Failure{}, Pod: pod})
			}
		}
	}
	for _, tt := range []struct {
		name string
		make func(in *facts.Incident)
		rule string
		want rules.Outcome
	}{
		{"true of one", probes(spec(5), spec(1)), "short", rules.True},
		{"true of one and unknown of another", probes(nil, spec(1)), "short", rules.True},
		{"false of one and unknown of another", probes(spec(5), nil), "short", rules.Unknown},
		{"false of all", probes(spec(5), spec(5)), "short", rules.False},
		{"no probe is known", func(*facts.Incident) {}, "short", rules.Unknown},
		{"a probe that does not fail does not count", func(in *facts.Incident) {
			probes(spec(5))(in)
			in.Probes = append(in.Probes, facts.Probe{Kind: evidence.Liveness, Spec: spec(1)})
		}, "short", rules.False},
		{"applies to one, false of it", probes(spec(1), spec(5)), "of-liveness", rules.False},
		{"applies to one, unknown of it", probes(spec(1), nil), "of-liveness", rules.Unknown},
		{"applies to none", probes(spec(1), spec(1)), "of-startup", rules.NotApplicable},
		{"what does not apply is false to later rules", probes(spec(5), spec(5)), "after", rules.False},
		{"and what is true is true", probes(spec(5), spec(1)), "after", rules.True},
		{"what is unknown is unknown to later rules", probes(spec(5), nil), "after", rules.Unknown},
		{"pods: true of one", pods(0, 3), "restarts", rules.True},
		{"pods: unknown of one", pods(0, -1), "restarts", rules.Unknown},
		{"pods: false of all", pods(0, 1), "restarts", rules.False},
		{"pods: none", func(*facts.Incident) {}, "restarts", rules.Unknown},
	} {
		t.Run(tt.name, func(t *testing.T) {
			in := timeouts()
			tt.make(in)
			ev := p.Evaluate(in)
			i := slices.IndexFunc(ev.Results, func(r rules.Result) bool { return r.Rule.ID == tt.rule })
			res := ev.Results[i]
			if res.Outcome != tt.want || (res.Outcome == rules.Unknown) != (len(res.Missing) > 0) {
				t.Errorf("%s, missing %v; want %s", res.Outcome, res.Missing, tt.want)
			}
			if in.Probe != nil || in.Pod != nil {
				t.Error("the incident keeps the probe or pod that was looked at last")
			}
		})
	}
}

func TestFaultsAreUnknown(t *testing.T) {
	p := small(t, `
- id: a
  prior: 0
  roles: [root-cause]
`, `
- id: faulty
  order: 1
  when: ratio(failures.live, failures.refused) > 1.0
  then: {a: 9}
  else: {a: -9}
- id: faulty-given
  order: 2
  given: failures.live / failures.refused > 1
  when: failures.live > 0
  then: {a: 9}
`)
	ev := p.Evaluate(timeouts())
	for _, res := range ev.Results {
		if res.Outcome != rules.Unknown || res.Fault == "" || res.Statement != "" {
			t.Errorf("%s: %s, fault %q, says %q", res.Rule.ID, res.Outcome, res.Fault, res.Statement)
		}
	}
	near(t, "a", probability(t, ev.Rank(), "a", rules.RootCause), 0.5)
}

func TestStatementsOfUnknownValues(t *testing.T) {
	p := small(t, `
- id: a
  prior: 0
  summary: ["the pool was {percent(pool.utilisation)} busy", "{failures.live} probes, {failures.live > 5 ? 'many' : 'few'} of them", "never reached"]
  roles: [root-cause]
`, strings.ReplaceAll(`
- id: some
  order: 1
  STATEMENT
  title: t
  doc: d
  when : failures.live > 0
  then: {a: 1}
`, "STATEMENT", `statement: {then: "{failures.live} failed, {pool.busy} of {pool.max} workers, {'{' + string(failures.total) + '}'}"}`))
	ev := p.Evaluate(timeouts())
	if got, want := ev.Results[0].Statement, "10 failed, ? of ? workers, {10}"; got != want {
		t.Errorf("the rule says %q, want %q", got, want)
	}
	if got, want := ev.Rank().Ranked[0].Summary, "10 probes, many of them"; got != want {
		t.Errorf("the summary is %q, want %q: the first with all its values", got, want)
	}
}

func TestFormat(t *testing.T) {
	for _, tt := range []struct {
		v    any
		want string
	}{
		{true, "true"}, {"text", "text"}, {int64(-412), "-412"},
		{0.0, "0"}, {1.0, "1"}, {0.97, "0.97"}, {0.999, "1.00"}, {12.34, "12.3"}, {412.6, "413"}, {-0.5, "-0.50"}, {0.00123, "0.001"}, {1e6, "1000000"}, {-150.4, "-150"},
		{math.NaN(), "NaN"}, {math.Inf(1), "+Inf"},
		{time.Duration(0), "0 ms"}, {1500 * time.Microsecond, "1.5 ms"}, {999 * time.Millisecond, "999 ms"}, {1840 * time.Millisecond, "1.8 s"}, {time.Second, "1 s"},
		{-300 * time.Millisecond, "-300 ms"}, {-1500 * time.Millisecond, "-1.5 s"}, {59*time.Second + 960*time.Millisecond, "60 s"},
		{time.Minute, "1 min"}, {90 * time.Second, "1 min 30 s"}, {-90 * time.Second, "-1 min 30 s"}, {12*time.Minute + 40*time.Second, "12 min"},
		{time.Hour, "1 h"}, {150 * time.Minute, "2 h 30 min"}, {47 * time.Hour, "47 h"}, {72 * time.Hour, "3 d"}, {-72 * time.Hour, "-3 d"},
		{time.Duration(math.MinInt64), "-106751 d"},
	} {
		if got := rules.Format(tt.v); got != tt.want {
			t.Errorf("%v is %q, want %q", tt.v, got, tt.want)
		}
	}
}

func TestEmptyLiteralsAreRefused(t *testing.T) {
	for _, key := range []string{"contains", "also", "not"} {
		file := "- id: s\n  title: t\n  kind: application\n  " + key + `: ["x", ""]` + "\n"
		if key != "contains" {
			file += "  contains: [y]\n"
		}
		_, err := rules.Load(rules.Source{Name: "mine", FS: fstest.MapFS{"signatures.yaml": {Data: []byte(file)}}})
		if err == nil || !strings.HasPrefix(err.Error(), "mine/signatures.yaml: signature s: an empty text") {
			t.Errorf("%s: %v", key, err)
		}
	}
}

func TestLintReadsStatements(t *testing.T) {
	p := small(t, "- id: a\n  prior: 0\n  roles: [root-cause]\n", `
- id: misspelt
  order: 1
  title: t
  doc: d
  when : failures.live > 0
  then: {a: 1}
  else: {a: -1}
  statement: {then: "{failures.lives} failed", else: "{failures.live failed"}
`)
	var got []string
	for _, finding := range p.Lint() {
		if strings.Contains(finding, "statement.") {
			got = append(got, finding)
		}
	}
	if len(got) != 2 || !strings.Contains(got[0], "small/rules/rules.yaml:9:") || !strings.Contains(got[0], "undeclared reference to 'failures.lives'") || !strings.Contains(got[1], "is not closed") {
		t.Errorf("findings %q", got)
	}
}
