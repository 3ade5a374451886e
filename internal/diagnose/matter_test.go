package diagnose_test

import (
	"testing"
	"time"

	"github.com/probedoctor/probedoctor/internal/diagnose"
	"github.com/probedoctor/probedoctor/rules"
)

// What pasted text says of failures and settings beside the cause: did it matter, did it stop, which counts are floors,
// where does the server listen.
func TestFactsOfPastedText(t *testing.T) {
	const pod = "geo-6f7d9c4b58-x2k9p"
	timeout := get("http://10.9.1.4:8080/live", awaiting)
	table := "LAST SEEN   TYPE      REASON      OBJECT                     MESSAGE\n" +
		"26s         Warning   Unhealthy   pod/" + pod + "   Readiness probe failed: " + timeout + "\n" +
		"31s         Warning   Unhealthy   pod/" + pod + "   Liveness probe failed: " + timeout + "\n"
	green := podTable(pod + "        1/1     Running   0             6d    10.9.1.4      wk1 ")
	red := podTable(pod + "        0/1     Running   0             6d    10.9.1.4      wk1 ")
	yaml := deployment("geo", pathsSpec)
	tests := []struct {
		name  string
		files map[string]string
		facts map[string]any
		// threshold is the outcome of the rule threshold-not-reached, failures-over that of the rule of that name.
		threshold, over rules.Outcome
	}{
		{"a table without counts", map[string]string{"events.txt": table, "pods.txt": red, "geo.yaml": yaml},
			map[string]any{"failures.floors": int64(2), "config.portListed": true, "failures.stopped": false}, rules.Unknown, rules.False},
		{"two failures of three", map[string]string{"events.txt": eventTable(failed("40m (x2 over 41m)", pod, "Readiness", timeout)), "pods.txt": green, "geo.yaml": yaml},
			map[string]any{"failures.floors": int64(0), "failures.stopped": true, "failures.quietFor": 40 * time.Minute}, rules.True, rules.True},
		{"in a row and over", map[string]string{"events.txt": eventTable(failed("40m (x19 over 43m)", pod, "Readiness", timeout)), "pods.txt": green, "geo.yaml": yaml},
			map[string]any{"failures.stopped": true}, rules.False, rules.True},
		{"a moment ago", map[string]string{"events.txt": eventTable(failed("2m (x19 over 5m)", pod, "Readiness", timeout)), "pods.txt": green, "geo.yaml": yaml},
			map[string]any{"failures.stopped": nil}, rules.False, rules.Unknown},
		{"the server says where it listens", map[string]string{"events.txt": table, "pods.txt": red, "geo.yaml": yaml, "geo.log": "time=2026-03-04T08:10:02Z level=INFO msg=\"server listening\" addr=0.0.0.0:3000\n"},
			map[string]any{"config.listensOn": "0.0.0.0:3000", "config.listensElsewhere": true, "config.portListed": true}, rules.Unknown, rules.False},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := set(t, texts(tt.files), nil)
			evs := diagnose.Evaluations(s, knowledge(t), diagnose.Options{})
			if len(evs) != 1 {
				t.Fatalf("%d incidents", len(evs))
			}
			for name, want := range tt.facts {
				if got := evs[0].Values[name]; got.V != want {
					t.Errorf("%s is %v, want %v", name, got.V, want)
				}
			}
			d := run(t, s)
			for rule, want := range map[string]rules.Outcome{"threshold-not-reached": tt.threshold, "failures-over": tt.over} {
				if e := outcome(d, rule); e.Outcome != want {
					t.Errorf("%s is %s, want %s: %s %v", rule, e.Outcome, want, e.Statement, e.Missing)
				}
			}
		})
	}
}
