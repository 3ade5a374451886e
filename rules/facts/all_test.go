package facts_test

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/probedoctor/probedoctor/rules/facts"
	"github.com/probedoctor/probedoctor/sources/evidence"
)

// knownOfNothing are the facts that are known although nothing was read, each with its value and why that is no claim.
var knownOfNothing = map[string]struct {
	value any
	why   string
}{
	"probe.failures": {int64(0), "it counts the failures of the probe at hand, which are part of the incident itself"},
	"probe.timeouts": {int64(0), "as probe.failures"},
}

// TestNothingReadNothingKnown: what was not gathered is unknown, never a zero and never a false.
func TestNothingReadNothingKnown(t *testing.T) {
	for _, in := range []*facts.Incident{{Set: &evidence.Set{}}, made(nil)} {
		for i := range facts.All {
			f := &facts.All[i]
			in.Probe, in.Pod = nil, nil
			switch f.Scope {
			case facts.ScopeProbe:
				in.Probe = &facts.Probe{}
			case facts.ScopePod:
				in.Pod = &evidence.Pod{Restarts: -1}
			}
			v := f.Compute(in)
			except, ok := knownOfNothing[f.Name]
			switch {
			case !ok && v.Known:
				t.Errorf("%s is %v though nothing was read", f.Name, v.V)
			case ok && v.V != except.value:
				t.Errorf("%s is %v, and is listed as %v: %s", f.Name, v.V, except.value, except.why)
			}
		}
	}
}

// oddIncident is an incident in which most of what could be known is not, each time something else.
func oddIncident(r *rand.Rand) *facts.Incident {
	maybe := func() bool { return r.IntN(2) == 0 }
	when := func() time.Time {
		if maybe() {
			return time.Time{}
		}
		return at(float64(r.IntN(40) - 20))
	}
	word := func(words ...string) string { return words[r.IntN(len(words))] }
	in := &facts.Incident{Set: &evidence.Set{}}
	if maybe() {
		in = made(nil)
	}
	if maybe() {
		in.Start, in.End = time.Time{}, time.Time{}
	}
	if maybe() {
		in.Container = ""
	}
	if maybe() {
		in.Template = &evidence.Workload{Desired: -1}
	}
	if maybe() {
		in.Template = &evidence.Workload{Desired: 3, Containers: []evidence.Container{{}, {Name: "app", ProbesKnown: true}}}
	}
	for range r.IntN(3) {
		p := &evidence.Pod{Object: evidence.Object{Name: word("", "a", "b")}, Created: when(), Deleted: when(), Restarts: r.IntN(4) - 1, Node: word("", "n")}
		for range r.IntN(3) {
			p.Containers = append(p.Containers, evidence.Container{Name: word("", "app"), StatusKnown: maybe(), Init: maybe(), Restarts: r.IntN(3) - 1,
				State: evidence.ContainerState{Started: when(), Finished: when()}})
		}
		if maybe() {
			p.Conditions = []evidence.Condition{{Type: "Ready", Status: word("True", "False", "Unknown"), Transition: when()}}
		}
		in.Pods = append(in.Pods, p)
	}
	for range r.IntN(4) {
		in.Failures = append(in.Failures, facts.Failure{Life: facts.Life(word("", "live", "starting", "unknown")), Failure: &evidence.Failure{
			Verdict: evidence.Verdict{Result: evidence.Result(word("", "failed", "errored")), Phase: evidence.Phase(word("", "exec", "connect", "awaiting-headers")),
				Outcome: evidence.Outcome(word("", "timeout", "refused", "status")), Target: evidence.Endpoint{Scheme: word("", "http"), Port: word("", "http", "80")}},
			Object: evidence.Object{Name: word("", "a")}, Count: r.IntN(3), First: when(), Last: when(),
		}})
	}
	for _, kind := range []evidence.ProbeKind{"", evidence.Readiness, evidence.Startup} {
		p := facts.Probe{Kind: kind}
		if maybe() {
			p.Spec = &evidence.ProbeSpec{Probe: kind, Handler: word("", "http", "exec"), Endpoint: evidence.Endpoint{Port: word("", "http", "80")}}
		}
		if maybe() && len(in.Failures) > 0 {
			p.Failures = []*facts.Failure{&in.Failures[0]}
		}
		in.Probes = append(in.Probes, p)
	}
	if maybe() {
		in.Autoscaler = &evidence.Autoscaler{Metrics: []string{"", "/", "1/0", "a: b/c"}}
	}
	reasons := []string{"", "Killing", "ScalingReplicaSet", "SuccessfulRescale", "Started", "BackOff", "Failed", "Unhealthy"}
	messages := []string{"", "New size: ", "New size: 3", "Scaled up replica set", "Stopping container", "Back-off restarting failed container"}
	for range r.IntN(5) {
		in.Events = append(in.Events, &evidence.Event{Reason: word(reasons...), Message: word(messages...), First: when(), Last: when(), Count: r.IntN(3)})
	}
	for range r.IntN(6) {
		in.Logs = append(in.Logs, &evidence.LogLine{Origin: word("", "app", "kernel", "proxy"), At: when()})
		d := time.Duration(r.Int64N(int64(time.Second)))
		in.Requests = append(in.Requests, &evidence.Request{At: when(), Path: word("", "/", "/healthz"), By: word("", "client", "server", "balancer"), Status: r.IntN(2) * 503, Duration: &d})
	}
	if maybe() {
		in.Series = map[string][]*evidence.Series{"pool.utilisation": {{}, {Samples: []evidence.Sample{{}, {At: when(), Value: 1}}}}, "probe.failedRate": {{Samples: []evidence.Sample{{At: when(), Value: 1}}}}}
	}
	if maybe() {
		in.Targets, in.HealthChecks = []*evidence.Target{{}, {State: "unhealthy"}}, []*evidence.HealthCheck{{}, {Endpoint: evidence.Endpoint{Path: "/"}}}
		in.Nodes, in.Listeners = []*evidence.Node{{}}, []*evidence.Listener{{}, {Port: "80", Queued: -1, Backlog: -1}}
	}
	return in
}

var goTypes = map[facts.Type]reflect.Kind{facts.Bool: reflect.Bool, facts.Int: reflect.Int64, facts.Double: reflect.Float64, facts.Duration: reflect.Int64, facts.String: reflect.String}

// TestOddIncidents: whatever is missing, no fact panics, and what is known has the type that the fact declares.
func TestOddIncidents(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	known := map[string]bool{}
	for range 3000 {
		in := oddIncident(r)
		for i := range facts.All {
			f := &facts.All[i]
			instances := 1
			switch f.Scope {
			case facts.ScopeProbe:
				instances = len(in.Probes)
			case facts.ScopePod:
				instances = len(in.Pods)
			}
			for n := range instances {
				in.Probe, in.Pod = nil, nil
				switch f.Scope {
				case facts.ScopeProbe:
					in.Probe = &in.Probes[n]
				case facts.ScopePod:
					in.Pod = in.Pods[n]
				}
				v := f.Compute(in)
				if f.Collect(in) == "" {
					t.Fatalf("%s does not say how to collect it", f.Name)
				}
				if !v.Known {
					if v.V != nil || len(v.Refs) > 0 {
						t.Fatalf("%s is unknown and has the value %v with %v", f.Name, v.V, v.Refs)
					}
					continue
				}
				known[f.Name] = true
				if got := reflect.TypeOf(v.V); got == nil || got.Kind() != goTypes[f.Type] || (got == reflect.TypeFor[time.Duration]()) != (f.Type == facts.Duration) {
					t.Fatalf("%s is a %v, want a %s", f.Name, got, f.Type)
				}
				if slices.Contains(v.Refs, "") || len(v.Refs) > 12 {
					t.Fatalf("%s cites %q", f.Name, v.Refs)
				}
				if x, ok := v.V.(float64); ok && (x != x || f.Unit == "ratio" && x < 0) {
					t.Fatalf("%s is %v", f.Name, x)
				}
			}
		}
	}
	if len(known) < 60 {
		t.Errorf("only %d facts were ever known: the incidents are too odd to show anything", len(known))
	}
}
