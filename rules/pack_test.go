package rules_test

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/probedoctor/probedoctor/rules"
	"github.com/probedoctor/probedoctor/rules/facts"
	"github.com/probedoctor/probedoctor/rules/pack"
	"github.com/probedoctor/probedoctor/sources/evidence"
)

func builtin(t testing.TB) *rules.Pack {
	t.Helper()
	p, err := rules.Load(rules.Source{Name: "pack", FS: pack.FS})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestFactsAreFit(t *testing.T) {
	if err := facts.Validate(); err != nil {
		t.Fatal(err)
	}
}

// causes are the ids of the catalogue: the contract with whoever reads a diagnosis.
var causes = []string{
	"accept-queue-overflow", "app-crash", "app-error-status", "app-hang", "autoscaling-flap", "bad-rollout",
	"bound-to-localhost", "cpu-starvation", "dependency-in-probe", "dependency-slowdown", "drain-order", "exec-probe-fault",
	"grpc-health-config", "kubelet-or-runtime-fault", "liveness-restart-cascade", "load-balancer-only", "mesh-sidecar",
	"network-path-fault", "node-pressure", "out-of-memory", "probe-auth-or-redirect", "probe-result-discarded",
	"probe-self-load", "probe-timeout-too-short", "protocol-mismatch", "runtime-stall", "shallow-probe", "shutdown-noise",
	"slow-start", "socket-exhaustion", "stacked-probes", "startup-noise", "storage-stall", "threshold-flapping",
	"worker-pool-saturation", "wrong-port-or-path",
}

func TestBuiltinCauses(t *testing.T) {
	p := builtin(t)
	if len(causes) != 36 {
		t.Fatalf("the test lists %d causes, want 36", len(causes))
	}
	var defined []string
	for _, d := range p.Diagnoses {
		defined = append(defined, d.ID)
	}
	if diff := cmp.Diff(causes, defined); diff != "" {
		t.Errorf("the defined causes (-want +got):\n%s", diff)
	}
	for _, r := range p.Rules {
		for _, ws := range []rules.Weights{r.Then, r.Else} {
			for id := range ws {
				base, role, _ := strings.Cut(id, "/")
				if !slices.Contains(causes, base) || role != "" && role != "contributing" {
					t.Errorf("rule %s gives weight to %q, which is no cause", r.ID, id)
				}
			}
		}
	}
}

func TestBuiltinInlineTests(t *testing.T) {
	p := builtin(t)
	n, failures := p.Test()
	for _, err := range failures {
		t.Error(err)
	}
	// Three outcomes a rule and more, and the examples of the signatures.
	if least := 3*len(p.Rules) + 2*len(p.Signatures); n < least {
		t.Errorf("%d tests ran, want %d or more", n, least)
	}
	for _, r := range p.Rules {
		for _, it := range r.Tests {
			if it.Want == "unknown" && len(it.Missing) == 0 {
				t.Errorf("rule %s: test %q does not name what is missing", r.ID, it.Name)
			}
		}
	}
}

func TestBuiltinLint(t *testing.T) {
	for _, finding := range builtin(t).Lint() {
		t.Error(finding)
	}
}

// TestBuiltinStatements compiles every statement, and renders those of the inline tests without a value left open.
func TestBuiltinStatements(t *testing.T) {
	rendered := 0
	for _, r := range builtin(t).Rules {
		if err := r.TestTemplates(); err != nil {
			t.Errorf("rule %s: %v", r.ID, err)
			continue
		}
		for _, it := range r.Tests {
			res, err := r.TestResult(it)
			if err != nil {
				t.Errorf("rule %s: test %q: %v", r.ID, it.Name, err)
				continue
			}
			if res.Outcome != rules.True && res.Outcome != rules.False {
				continue
			}
			rendered++
			if res.Statement == "" || strings.ContainsAny(res.Statement, "?{}") {
				t.Errorf("rule %s: test %q says %q", r.ID, it.Name, res.Statement)
			}
		}
	}
	if rendered < 200 {
		t.Errorf("only %d statements were rendered", rendered)
	}
}

// TestMissingFactsDecideNothing takes each fact out of each inline test. A fact that is not known may make an outcome
// unknown; it must never turn a rule true, false or not applicable.
func TestMissingFactsDecideNothing(t *testing.T) {
	evaluations, turned := 0, 0
	for _, r := range builtin(t).Rules {
		for _, it := range r.Tests {
			full, err := r.TestResult(it)
			if err != nil {
				t.Fatalf("rule %s: test %q: %v", r.ID, it.Name, err)
			}
			less := func(what string, without rules.RuleTest) {
				res, err := r.TestResult(without)
				if err != nil {
					t.Fatalf("rule %s: test %q without %s: %v", r.ID, it.Name, what, err)
				}
				evaluations++
				switch res.Outcome {
				case full.Outcome:
				case rules.Unknown:
					turned++
					if len(res.Missing) == 0 || res.Statement != "" {
						t.Errorf("rule %s: test %q without %s is unknown, misses %v and says %q", r.ID, it.Name, what, res.Missing, res.Statement)
					}
				default:
					t.Errorf("rule %s: test %q becomes %s from %s without %s", r.ID, it.Name, res.Outcome, full.Outcome, what)
				}
			}
			for name := range it.Facts {
				without := it
				without.Facts = maps.Clone(it.Facts)
				delete(without.Facts, name)
				less(name, without)
			}
			for id := range it.Signatures {
				without := it
				without.Signatures = maps.Clone(it.Signatures)
				delete(without.Signatures, id)
				less("sig."+id, without)
			}
		}
	}
	if evaluations <= 500 || turned <= 250 {
		t.Errorf("%d evaluations, of which %d became unknown: too few to show anything", evaluations, turned)
	}
}

// TestRuleOutNeedsCompleteEvidence: fast health requests rule a dependency out only where there are as many as failures.
func TestRuleOutNeedsCompleteEvidence(t *testing.T) {
	r, ok := builtin(t).Rule("handler-fast-yet-timeout")
	if !ok {
		t.Fatal("the rule is gone")
	}
	for _, tc := range []struct {
		name  string
		facts map[string]any
		want  bool
	}{
		{"enough requests, none slow", map[string]any{"handler.enoughSeen": true, "handler.max": "2ms"}, true},
		{"survivors only", map[string]any{"handler.enoughSeen": false, "handler.max": "2ms"}, false},
		{"one at half of the timeout", map[string]any{"handler.enoughSeen": true, "handler.max": "500ms"}, false},
		{"not known how many", map[string]any{"handler.max": "2ms"}, false},
		{"the slowest not known", map[string]any{"handler.enoughSeen": true}, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			all := map[string]any{"failures.awaitingHeaders": 12, "handler.requestsSeen": 412, "handler.p99": "1ms", "probe.timeout": "1s", "probe.path": "/health"}
			maps.Copy(all, tc.facts)
			res, err := r.TestResult(rules.RuleTest{Facts: all})
			if err != nil {
				t.Fatal(err)
			}
			if res.Outcome != rules.True || res.Complete != tc.want {
				t.Errorf("outcome %s, complete %v; want true, %v", res.Outcome, res.Complete, tc.want)
			}
		})
	}
}

// mine loads the built-in pack and a user's folder with one file of rules on top.
func mine(file string) (*rules.Pack, error) {
	return rules.Load(rules.Source{Name: "pack", FS: pack.FS},
		rules.Source{Name: "mine", FS: fstest.MapFS{"rules/own.yaml": {Data: []byte(file)}}})
}

func TestUserRules(t *testing.T) {
	before := builtin(t)
	p, err := mine(`
- id: handler-slow
  order: 302
  title: Our handler is slow
  doc: Ours is slow at a half.
  when: handler.p99 >= duration("500ms")
  then: {dependency-in-probe: 1.5}
  statement:
    then: "the handler took {handler.p99}"
- id: own-after-handler
  order: 900
  title: A rule of our own
  doc: It refers to the outcome of another.
  when: |
    rule["handler-slow"] && failures.live > 0
  then: {dependency-in-probe: 0.5}
  statement:
    then: "ours"
`)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := len(p.Rules), len(before.Rules)+1; got != want {
		t.Errorf("%d rules, want %d: one replaced and one added", got, want)
	}
	r, ok := p.Rule("handler-slow")
	if !ok || r.Title != "Our handler is slow" || r.Scope != facts.ScopeIncident || len(r.Then) != 1 {
		t.Errorf("the built-in rule was not replaced as a whole: %+v", r)
	}
	if last := p.Rules[len(p.Rules)-1]; last.ID != "own-after-handler" {
		t.Errorf("the last rule is %s", last.ID)
	}
	if builtinRule, _ := before.Rule("handler-slow"); builtinRule.Title == r.Title {
		t.Error("loading a user's folder changed the built-in pack")
	}
}

func TestUserRuleFaultsAreLocated(t *testing.T) {
	for _, tc := range []struct{ name, file, want string }{
		{"unknown diagnosis", `- id: own
  title: t
  doc: d
  when: failures.live > 0
  then: {worker-pool-saturated: 1.0}
  statement: {then: s}
`, `mine/rules/own.yaml:5:33: rule own: then names the unknown diagnosis "worker-pool-saturated"`},
		{"misspelt rule", `- id: own
  order: 900
  title: t
  doc: d
  when: rule["pool-ful"]
  then: {app-crash: 1.0}
  statement: {then: s}
`, `mine/rules/own.yaml:5:9: rule own: rule["pool-ful"]: there is no rule of that id`},
		{"misspelt signature", `- id: own
  title: t
  doc: d
  when: sig["kernel-oops"]
  then: {app-crash: 1.0}
  statement: {then: s}
`, `mine/rules/own.yaml:4:9: rule own: sig["kernel-oops"]: there is no signature of that id`},
		{"type error in a block", `- id: own
  title: t
  doc: d
  when: |
    failures.live > 0 &&
      handler.p99 > "1s"
  then: {app-crash: 1.0}
  statement: {then: s}
`, `mine/rules/own.yaml:6:19: rule own: when: found no matching overload`},
		{"type error in one line", `- id: own
  title: t
  doc: d
  when: handler.p99 > "1s"
  then: {app-crash: 1.0}
  statement: {then: s}
`, `mine/rules/own.yaml:4:21: rule own: when: found no matching overload`},
		{"unknown fact in a block", `- id: own
  title: t
  doc: d
  when: |
    failures.lives > 0
  then: {app-crash: 1.0}
  statement: {then: s}
`, `mine/rules/own.yaml:5:13: rule own: when: undeclared reference to 'failures.lives'`},
		{"unknown fact below a blank line", `- id: own
  title: t
  doc: d
  when: |

    failures.lives > 0
  then: {app-crash: 1.0}
  statement: {then: s}
`, `mine/rules/own.yaml:6:13: rule own: when: undeclared reference to 'failures.lives'`},
		{"unknown fact in quotes", `- id: own
  title: t
  doc: d
  when: "failures.lives > 0"
  then: {app-crash: 1.0}
  statement: {then: s}
`, `mine/rules/own.yaml:4:18: rule own: when: undeclared reference to 'failures.lives'`},
		{"unknown fact in a folded block", `- id: own
  title: t
  doc: d
  when: >-
    failures.live > 0 &&
    failures.lives > 0
  then: {app-crash: 1.0}
  statement: {then: s}
`, `mine/rules/own.yaml:5:5: rule own: when: undeclared reference to 'failures.lives'`},
		{"unknown key", `- id: own
  title: t
  doc: d
  whem: failures.live > 0
  then: {app-crash: 1.0}
`, `mine/rules/own.yaml:4:3: unknown field "whem"`},
		{"true as a key of a rule", `- id: own
  title: t
  doc: d
  when: failures.live > 0
  true: {app-crash: 1.0}
`, `mine/rules/own.yaml:5:3: the key true is read as a `},
		{"true as a key of a statement", `- id: own
  title: t
  doc: d
  when: failures.live > 0
  then: {app-crash: 1.0}
  statement: {true: s}
`, `mine/rules/own.yaml:6:15: the key true is read as a `},
		{"a number as a key of weights", `- id: own
  title: t
  doc: d
  when: failures.live > 0
  then: {app-crash: 1.0, 7: 1.0}
  statement: {then: s}
`, `mine/rules/own.yaml:5:26: the key 7 is read as a `},
		{"no YAML", "- id: own\n  title: \"t\n", `mine/rules/own.yaml:2:`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := mine(tc.file)
			if err == nil {
				t.Fatal("no error")
			}
			if !strings.HasPrefix(err.Error(), tc.want) {
				t.Errorf("error %q\nwant it to begin with %q", err, tc.want)
			}
		})
	}
}

// TestRunawayExpression: 10^8 steps end at the cost limit as a fault, and the other rules are evaluated all the same.
func TestRunawayExpression(t *testing.T) {
	digits := "[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]"
	loop := "true"
	for _, v := range []string{"a", "b", "c", "d", "e", "f", "g", "h"} {
		loop = digits + ".all(" + v + ", " + loop + ")"
	}
	p, err := mine("- id: own\n  title: t\n  doc: d\n  when: |\n    " + loop + "\n  then: {app-crash: 1.0}\n  statement: {then: s}\n")
	if err != nil {
		t.Fatal(err)
	}
	ev := p.Evaluate(&facts.Incident{Set: &evidence.Set{}})
	if len(ev.Results) != len(p.Rules) {
		t.Errorf("%d results of %d rules", len(ev.Results), len(p.Rules))
	}
	seen := false
	for _, res := range ev.Results {
		if res.Rule.ID != "own" {
			if res.Fault != "" {
				t.Errorf("rule %s has the fault %s", res.Rule.ID, res.Fault)
			}
			continue
		}
		seen = true
		if res.Outcome != rules.Unknown || !strings.Contains(res.Fault, "cost limit") {
			t.Errorf("outcome %s, fault %q; want unknown at the cost limit", res.Outcome, res.Fault)
		}
	}
	if !seen {
		t.Error("the rule was not evaluated")
	}
}
