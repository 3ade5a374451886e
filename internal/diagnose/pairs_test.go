package diagnose_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/probedoctor/probedoctor/rules"
)

// The pairs of causes that people confuse. Each pair has two inputs that look alike, in the formats in which people have
// them, and one rule that tells them apart.

// pair is two causes with an input for each.
type pair struct {
	name string
	a, b side
}

// side is an input whose cause must stand above the other side's.
type side struct {
	files map[string]string
	cause string
	// named: the evidence is full, so the cause leads with a probability of one half and more.
	named bool
	// rule tells the two apart; outcome is what it comes out as on this side.
	rule    string
	outcome rules.Outcome
}

func checkPairs(t *testing.T, pairs []pair) {
	t.Helper()
	for _, p := range pairs {
		t.Run(p.name, func(t *testing.T) {
			checkSide(t, p.a, p.b.cause)
			checkSide(t, p.b, p.a.cause)
		})
	}
}

func checkSide(t *testing.T, s side, other string) {
	t.Helper()
	t.Run(s.cause, func(t *testing.T) {
		d := run(t, set(t, texts(s.files), nil))
		at := func(id string) int {
			return slices.IndexFunc(d.Ranked, func(c rules.Cause) bool { return c.ID == id })
		}
		mine, theirs := at(s.cause), at(other)
		switch {
		case mine < 0:
			t.Errorf("%s is not ranked", s.cause)
		case s.cause != other && theirs >= 0 && theirs < mine:
			t.Errorf("%s (%.2f) stands above %s (%.2f)", other, d.Ranked[theirs].Probability, s.cause, d.Ranked[mine].Probability)
		case s.named && (mine != 0 || d.Ranked[0].Probability < rules.Named):
			t.Errorf("%s is at place %d with %.2f; first is %s with %.2f", s.cause, mine+1, d.Ranked[mine].Probability, d.Ranked[0].ID, d.Ranked[0].Probability)
		}
		if e := outcome(d, s.rule); e.Outcome != s.outcome {
			t.Errorf("rule %s is %s, want %s: %s %v", s.rule, e.Outcome, s.outcome, e.Statement, e.Missing)
		}
		if t.Failed() {
			explain(t, d)
		}
	})
}

// explain logs what speaks for and against the first causes.
func explain(t *testing.T, d rules.Diagnosis) {
	t.Helper()
	t.Logf("subject %+v", d.Subject)
	for _, g := range d.Failures {
		t.Logf("group %s: %d", g.ID, g.Count)
	}
	for _, c := range d.Ranked[:min(4, len(d.Ranked))] {
		t.Logf("%s (%s) %.3f", c.ID, c.Role, c.Probability)
		for _, s := range slices.Concat(c.For, c.Against) {
			t.Logf("   %+.1f %s: %s", s.Weight, s.Rule, s.Statement)
		}
	}
}

func texts(files map[string]string) fstest.MapFS {
	out := fstest.MapFS{}
	for name, text := range files {
		out[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return out
}

// eventTable is what "kubectl events" prints.
func eventTable(rows ...string) string {
	return "LAST SEEN             TYPE      REASON      OBJECT                          MESSAGE\n" + strings.Join(rows, "")
}

// failed is a row of eventTable about a failing probe of a pod: age is "20s" or "20s (x31 over 5m)".
func failed(age, pod, probe, output string) string {
	return fmt.Sprintf("%-21s Warning   Unhealthy   Pod/%-27s %s probe failed: %s\n", age, pod, probe, output)
}

func normal(age, reason, object, message string) string {
	return fmt.Sprintf("%-21s Normal    %-11s %-31s %s\n", age, reason, object, message)
}

// podTable is what "kubectl get pods -o wide" prints; a row is "name ready status restarts age ip node".
func podTable(rows ...string) string {
	var b strings.Builder
	b.WriteString("NAME                        READY   STATUS    RESTARTS      AGE   IP            NODE     NOMINATED NODE   READINESS GATES\n")
	for _, r := range rows {
		b.WriteString(r + "   <none>           <none>\n")
	}
	return b.String()
}

// deployment is a manifest with one container; container is its YAML without indentation.
func deployment(name, container string) string {
	return "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: " + name + "\nspec:\n  replicas: 3\n  selector: {matchLabels: {app: " + name + "}}\n" +
		"  template:\n    metadata:\n      labels: {app: " + name + "}\n    spec:\n      containers:\n      - name: " + name + "\n" + indent(8, container)
}

func indent(n int, text string) string {
	pad := strings.Repeat(" ", n)
	return pad + strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n"+pad) + "\n"
}

const awaiting = "context deadline exceeded (Client.Timeout exceeded while awaiting headers)"

// get is the beginning of an HTTP probe's output.
func get(url, err string) string { return `Get "` + url + `": ` + err }

func refused(url, address string) string {
	return get(url, "dial tcp "+address+": connect: connection refused")
}

// The loads: the probe waits, and the text is the same.
func TestPairsOfLateAnswers(t *testing.T) {
	const spec = `
ports: [{containerPort: 8080}]
readinessProbe:
  httpGet: {path: /ping, port: 8080}
  periodSeconds: 5
  timeoutSeconds: 1
`
	events := eventTable(
		failed("12s (x44 over 9m)", "quote-7c9d8b6f4d-2kq8x", "Readiness", get("http://10.3.0.21:8080/ping", awaiting)),
		failed("15s (x39 over 9m)", "quote-7c9d8b6f4d-9zv4m", "Readiness", get("http://10.3.0.22:8080/ping", awaiting)))
	pods := podTable(
		"quote-7c9d8b6f4d-2kq8x      0/1     Running   0             6d    10.3.0.21     wk1 ",
		"quote-7c9d8b6f4d-9zv4m      0/1     Running   0             6d    10.3.0.22     wk2 ",
		"quote-7c9d8b6f4d-hm7tl      1/1     Running   0             6d    10.3.0.23     wk3 ")
	with := func(name, text string, more ...string) map[string]string {
		m := map[string]string{"events.txt": events, "pods.txt": pods, "quote.yaml": deployment("quote", spec), name: text}
		for i := 0; i+1 < len(more); i += 2 {
			m[more[i]] = more[i+1]
		}
		return m
	}
	const fullPool = `# TYPE tomcat_threads_busy_threads gauge
tomcat_threads_busy_threads{pod="quote-7c9d8b6f4d-2kq8x",name="http-nio-8080"} 200
tomcat_threads_busy_threads{pod="quote-7c9d8b6f4d-9zv4m",name="http-nio-8080"} 200
# TYPE tomcat_threads_config_max_threads gauge
tomcat_threads_config_max_threads{pod="quote-7c9d8b6f4d-2kq8x",name="http-nio-8080"} 200
tomcat_threads_config_max_threads{pod="quote-7c9d8b6f4d-9zv4m",name="http-nio-8080"} 200
`
	pool := side{files: with("metrics.prom", fullPool), cause: "worker-pool-saturation", named: true, rule: "pool-full", outcome: rules.True}
	poolBy := func(rule, file, text string) side {
		s := pool
		s.files, s.rule, s.outcome = with("metrics.prom", fullPool, file, text), rule, rules.False
		return s
	}
	roomy := func(more string) string {
		return strings.NewReplacer("-8080\"} 200\ntomcat_threads_busy", "-8080\"} 31\ntomcat_threads_busy", "-8080\"} 200\n# TYPE", "-8080\"} 31\n# TYPE").Replace(fullPool) + more
	}
	queue := side{files: with("ss.txt", "State  Recv-Q Send-Q Local Address:Port  Peer Address:Port Process\nLISTEN 129    128          0.0.0.0:8080       0.0.0.0:*     users:((\"gunicorn\",pid=7,fd=5))\n"),
		cause: "accept-queue-overflow", named: true, rule: "backlog-full", outcome: rules.True}
	loop := side{files: with("metrics.prom", "# TYPE nodejs_eventloop_lag_p99_seconds gauge\nnodejs_eventloop_lag_p99_seconds{pod=\"quote-7c9d8b6f4d-2kq8x\"} 2.7\nnodejs_eventloop_lag_p99_seconds{pod=\"quote-7c9d8b6f4d-9zv4m\"} 3.1\n"),
		cause: "runtime-stall", named: true, rule: "loop-blocked", outcome: rules.True}
	const periods = `# TYPE container_cpu_cfs_periods_total counter
container_cpu_cfs_periods_total{pod="quote-7c9d8b6f4d-2kq8x",container="quote"} 50000
# TYPE container_cpu_cfs_throttled_periods_total counter
container_cpu_cfs_throttled_periods_total{pod="quote-7c9d8b6f4d-2kq8x",container="quote"} `
	cpu := side{files: with("metrics.prom", periods+"34000\n"), cause: "cpu-starvation", named: true, rule: "cpu-throttled-hard", outcome: rules.True}
	const pauses = "[901.220s][info][gc] GC(77) Pause Full (G1 Compaction Pause) 3071M->3066M(3072M) 4410.402ms\n[906.118s][info][gc] GC(78) Pause Full (G1 Compaction Pause) 3071M->3069M(3072M) 4602.118ms\n"
	gc := side{files: with("metrics.prom", "# TYPE jvm_gc_pause_seconds_max gauge\njvm_gc_pause_seconds_max{pod=\"quote-7c9d8b6f4d-2kq8x\",action=\"end of major GC\"} 4.6\n", "gc.log", pauses),
		cause: "runtime-stall", named: true, rule: "gc-pause", outcome: rules.True}
	is := func(s side, rule string, o rules.Outcome) side { s.rule, s.outcome = rule, o; return s }
	free := side{files: with("metrics.prom", roomy(periods+"34000\n")), cause: "cpu-starvation", named: true, rule: "pool-has-room", outcome: rules.True}

	checkPairs(t, []pair{
		{"full pool or full accept queue", poolBy("backlog-full", "ss.txt", "State  Recv-Q Send-Q Local Address:Port  Peer Address:Port Process\nLISTEN 0      100          *:8080             *:*\n"), queue},
		{"full pool or blocked event loop", pool, loop},
		{"full pool or throttled CPU", poolBy("cpu-throttled", "cadvisor.prom", periods+"900\n"), cpu},
		{"full pool or throttled CPU, both pools measured", pool, free},
		{"full pool or garbage collection", poolBy("gc-pause", "gc.prom", "# TYPE jvm_gc_pause_seconds_max gauge\njvm_gc_pause_seconds_max{pod=\"quote-7c9d8b6f4d-2kq8x\",action=\"end of minor GC\"} 0.019\n"), gc},
		{"blocked event loop or throttled CPU", is(loop, "cpu-throttled-hard", rules.Unknown), is(cpu, "loop-blocked", rules.Unknown)},
		{"garbage collection or throttled CPU", is(gc, "gc-logged", rules.True), cpu},
		{"blocked event loop or garbage collection", loop, gc},
	})
}
