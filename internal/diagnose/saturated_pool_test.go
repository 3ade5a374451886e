package diagnose_test

import (
	"io/fs"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/probedoctor/probedoctor/internal/diagnose"
	"github.com/probedoctor/probedoctor/rules"
	"github.com/probedoctor/probedoctor/rules/facts"
	"github.com/probedoctor/probedoctor/rules/pack"
	"github.com/probedoctor/probedoctor/runbooks"
	"github.com/probedoctor/probedoctor/sources/catalog"
	"github.com/probedoctor/probedoctor/sources/evidence"
	"github.com/probedoctor/probedoctor/sources/paste"
	"github.com/probedoctor/probedoctor/testdata/incidents"
)

func knowledge(t testing.TB) diagnose.Knowledge {
	t.Helper()
	k, err := builtIn()
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// builtIn loads once what all tests share; nothing changes it.
var builtIn = sync.OnceValues(func() (diagnose.Knowledge, error) {
	p, err := rules.Load(rules.Source{Name: "pack", FS: pack.FS})
	if err != nil {
		return diagnose.Knowledge{}, err
	}
	lib, err := runbooks.Load()
	return diagnose.Knowledge{Pack: p, Runbooks: lib}, err
})

// incidentFiles are the files of the saturated-pool folder that keep accepts, as a file system.
func incidentFiles(t testing.TB, keep func(name string) bool) fstest.MapFS {
	t.Helper()
	out := fstest.MapFS{}
	sub, err := fs.Sub(incidents.FS, "saturated-pool")
	if err != nil {
		t.Fatal(err)
	}
	err = fs.WalkDir(sub, ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !keep(p) {
			return err
		}
		b, err := fs.ReadFile(sub, p)
		out[p] = &fstest.MapFile{Data: b}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func everything(string) bool { return true }

// set reads files and changes what was read before it is finished.
func set(t testing.TB, files fs.FS, change func(*evidence.Set)) *evidence.Set {
	t.Helper()
	s, err := paste.ReadFS(files, paste.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if change != nil {
		change(s)
	}
	cat, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	cat.Apply(s, catalog.Hints{Namespace: facts.QueryNamespace, PodRegex: facts.QueryPods})
	s.Finish(evidence.FinishOptions{})
	return s
}

// run diagnoses and gives the first incident.
func run(t testing.TB, s *evidence.Set) rules.Diagnosis {
	t.Helper()
	list := diagnose.Run(s, knowledge(t), diagnose.Options{})
	if len(list.Items) == 0 {
		t.Fatal("no incident")
	}
	return list.Items[0]
}

func cause(d rules.Diagnosis, id string) (rules.Cause, bool) {
	i := slices.IndexFunc(d.Ranked, func(c rules.Cause) bool { return c.ID == id })
	if i < 0 {
		return rules.Cause{}, false
	}
	return d.Ranked[i], true
}

func mustCause(t *testing.T, d rules.Diagnosis, id string, role rules.Role) rules.Cause {
	t.Helper()
	c, ok := cause(d, id)
	if !ok {
		t.Fatalf("%s is not ranked", id)
	}
	if c.Role != role {
		t.Errorf("%s has role %s, want %s", id, c.Role, role)
	}
	return c
}

func outcome(d rules.Diagnosis, rule string) rules.TraceEntry {
	for _, e := range d.Trace {
		if e.Rule == rule {
			return e
		}
	}
	return rules.TraceEntry{}
}

// excerpts are the cited items of a statement.
func excerpts(d rules.Diagnosis, refs []evidence.Ref) string {
	var b strings.Builder
	for _, r := range refs {
		b.WriteString(d.Evidence[r].Excerpt + "\n")
	}
	return b.String()
}

func TestSaturatedPool(t *testing.T) {
	d := run(t, set(t, incidentFiles(t, everything), nil))

	t.Run("ranking", func(t *testing.T) {
		if d.Ranked[0].ID != "worker-pool-saturation" || d.Ranked[0].Role != rules.RootCause || d.Ranked[0].Probability < 0.8 {
			t.Fatalf("first is %s (%s) with %.2f", d.Ranked[0].ID, d.Ranked[0].Role, d.Ranked[0].Probability)
		}
		mustCause(t, d, "dependency-slowdown", rules.Contributing)
		mustCause(t, d, "stacked-probes", rules.Contributing)
	})
	t.Run("noise explains exactly the refused probes", func(t *testing.T) {
		for id, life := range map[string]string{"shutdown-noise": "terminating", "startup-noise": "starting"} {
			c := mustCause(t, d, id, rules.Noise)
			if want := []string{"connect/refused/" + life}; !slices.Equal(c.Explains, want) {
				t.Errorf("%s explains %v, want %v", id, c.Explains, want)
			}
		}
		for _, g := range d.Failures {
			refused := g.Outcome == evidence.OutcomeRefused
			if refused == (g.Life == "live" || g.Life == "unknown") {
				t.Errorf("group %s with %d failures: refused ones must be of starting or terminating pods, the others of live ones", g.ID, g.Count)
			}
		}
	})
	t.Run("dependency in the probe is ruled out", func(t *testing.T) {
		if len(d.RuledOut) != 1 || d.RuledOut[0].ID != "dependency-in-probe" {
			t.Fatalf("ruled out: %+v", d.RuledOut)
		}
		text := excerpts(d, d.RuledOut[0].Refs)
		if !strings.Contains(text, "GET /healthCheck") && !strings.Contains(text, "/healthCheck") {
			t.Errorf("the handler's lines are not cited:\n%s", text)
		}
		if !strings.Contains(d.RuledOut[0].Reason, "requests that the failing pods logged") {
			t.Errorf("the reason does not say how many requests were seen: %s", d.RuledOut[0].Reason)
		}
	})
	t.Run("scale events are cited with the rate ratio", func(t *testing.T) {
		e := outcome(d, "scale-correlated")
		if e.Outcome != rules.True || !strings.Contains(e.Statement, "times likelier within 3 min of a scale event") {
			t.Errorf("%s: %s", e.Outcome, e.Statement)
		}
		if !strings.Contains(excerpts(d, e.Refs), "SuccessfulRescale") {
			t.Errorf("no autoscaler event is cited:\n%s", excerpts(d, e.Refs))
		}
	})
	t.Run("older replicas fail and recover, new ones stay green", func(t *testing.T) {
		for _, rule := range []string{"older-replicas-fail", "recovered-without-restart", "new-replicas-green"} {
			e := outcome(d, rule)
			if e.Outcome != rules.True || len(e.Refs) == 0 {
				t.Errorf("%s is %s with %d refs: %s", rule, e.Outcome, len(e.Refs), e.Statement)
			}
		}
		hang, _ := cause(d, "app-hang")
		if !slices.ContainsFunc(hang.Against, func(s rules.Statement) bool { return s.Rule == "recovered-without-restart" && s.Weight < 0 }) {
			t.Errorf("the recovery is not counted against app-hang: %+v", hang.Against)
		}
	})
	t.Run("remediation", func(t *testing.T) {
		find := func(h rules.Horizon, words ...string) {
			t.Helper()
			for _, s := range d.Remediation {
				all := strings.ToLower(s.Step + " " + s.Does + " " + s.DoesNot)
				if s.For == "worker-pool-saturation" && s.Horizon == h && !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(all, w) }) {
					return
				}
			}
			t.Errorf("no step %s with %v", h, words)
		}
		find(rules.Now, "raise timeoutseconds", "not free a single worker")
		find(rules.Next, "redis", "/api/cart", "/api/price")
		find(rules.Next, "maxthreads", "acceptcount", "probes")
		find(rules.Later, "port and pool of their own")
		find(rules.Later, "un-stack", "liveness dumb", "readiness may be richer")
		if !slices.ContainsFunc(d.NotAFix, func(n rules.NotAFix) bool { return strings.Contains(n.Step, "health check ping Redis") }) {
			t.Errorf("pinging Redis is not among what does not help: %+v", d.NotAFix)
		}
		if !slices.ContainsFunc(d.Verify, func(v rules.Verify) bool {
			return strings.Contains(v.Step, "OLDER replicas") && strings.Contains(v.Step, "prove nothing")
		}) {
			t.Errorf("verify does not say to watch the older replicas: %+v", d.Verify)
		}
	})
	t.Run("every reference opens", func(t *testing.T) { refsResolve(t, d) })
}

// refsResolve checks that each reference in the document has its exhibit, and that each statement has references.
func refsResolve(t *testing.T, d rules.Diagnosis) {
	t.Helper()
	check := func(where string, refs []evidence.Ref) {
		for _, r := range refs {
			if e, ok := d.Evidence[r]; !ok || e.Excerpt == "" || e.Locator == "" {
				t.Errorf("%s: %s does not open: %+v", where, r, e)
			}
		}
	}
	for _, s := range d.Symptoms {
		check("symptom "+s.Kind, s.Refs)
	}
	for _, g := range d.Failures {
		check("group "+g.ID, g.Refs)
	}
	for _, c := range d.Ranked {
		for _, s := range slices.Concat(c.For, c.Against) {
			if len(s.Refs) == 0 {
				t.Errorf("%s: the statement of %s cites nothing: %s", c.ID, s.Rule, s.Statement)
			}
			check(c.ID+" by "+s.Rule, s.Refs)
		}
	}
	for _, r := range d.RuledOut {
		check("ruled out "+r.ID, r.Refs)
	}
	for _, e := range d.Trace {
		if e.Statement != "" && len(e.Refs) == 0 {
			t.Errorf("%s says %q and cites nothing", e.Rule, e.Statement)
		}
		check("trace "+e.Rule, e.Refs)
	}
}

// Without logs and metrics the answer is the same and less sure, and the first thing to ask for is the pool.
func TestSaturatedPoolWithoutLogsAndMetrics(t *testing.T) {
	full := run(t, set(t, incidentFiles(t, everything), nil))
	d := run(t, set(t, incidentFiles(t, func(name string) bool {
		return !strings.HasPrefix(name, "logs/") && !strings.HasPrefix(name, "prom/")
	}), nil))
	if d.Ranked[0].ID != "worker-pool-saturation" {
		t.Fatalf("first is %s", d.Ranked[0].ID)
	}
	if d.Ranked[0].Probability >= full.Ranked[0].Probability-0.05 {
		t.Errorf("%.3f without logs and metrics, %.3f with them", d.Ranked[0].Probability, full.Ranked[0].Probability)
	}
	if len(d.Missing) == 0 || d.Missing[0].Fact != "pool.utilisation" && !strings.HasPrefix(d.Missing[0].Fact, "pool.") {
		t.Fatalf("missing first: %+v", d.Missing)
	}
	want := `tomcat_threads_busy_threads{namespace="shop",pod=~"checkout-.+"`
	if !strings.Contains(d.Missing[0].Collect, want) {
		t.Errorf("the query is %s, want it to contain %s", d.Missing[0].Collect, want)
	}
	// Every rule that needs a log line or a series is unknown: an absent source is never a healthy one.
	needs := map[string]bool{evidence.SourceLogs: true, evidence.SourceMetrics: true}
	p := knowledge(t).Pack
	checked := 0
	for _, e := range d.Trace {
		r, _ := p.Rule(e.Rule)
		if !onlyFrom(r.When, needs) {
			continue
		}
		checked++
		if e.Outcome == rules.True || e.Outcome == rules.False {
			t.Errorf("rule %s is %s without logs and metrics: %s", e.Rule, e.Outcome, e.Statement)
		}
	}
	if checked < 15 {
		t.Errorf("only %d rules were checked", checked)
	}
}

// onlyFrom tells whether the expression needs at least one fact that only these sources give.
func onlyFrom(expr string, sources map[string]bool) bool {
	for i := range facts.All {
		f := &facts.All[i]
		if strings.Contains(expr, f.Name) && !slices.ContainsFunc(f.Needs, func(n string) bool { return !sources[n] }) {
			return true
		}
	}
	return strings.Contains(expr, `sig["`)
}

func TestCounterfactuals(t *testing.T) {
	base := run(t, set(t, incidentFiles(t, everything), nil))
	scaling := func(e evidence.Event) bool {
		return e.Object.Kind == "HorizontalPodAutoscaler" || e.Reason == "ScalingReplicaSet"
	}
	healthRequest := func(r *evidence.Request) bool { return r.Path == "/healthCheck" }
	tests := []struct {
		name   string
		change func(*evidence.Set)
		check  func(t *testing.T, d rules.Diagnosis)
	}{
		{
			"no scale events", func(s *evidence.Set) { s.Events = slices.DeleteFunc(s.Events, scaling) },
			func(t *testing.T, d rules.Diagnosis) {
				drop := base.Ranked[0].Probability - d.Ranked[0].Probability
				if d.Ranked[0].ID != base.Ranked[0].ID || drop <= 0 || drop > 0.1 {
					t.Errorf("first is %s, lower by %.4f; want the same, a little lower", d.Ranked[0].ID, drop)
				}
				if e := outcome(d, "scale-correlated"); e.Outcome == rules.True {
					t.Error("scale events are correlated though there are none")
				}
			},
		},
		{
			"the handler waits 1.8 s for Redis and the pool is at 40 %", func(s *evidence.Set) {
				for i := range s.Requests {
					if r := &s.Requests[i]; healthRequest(r) {
						d := 1800 * time.Millisecond
						r.Duration = &d
					}
				}
				for i := range s.Logs {
					if l := &s.Logs[i]; strings.Contains(l.Message, "Redis") || strings.Contains(l.Message, "redis") {
						l.Route = "/healthCheck"
					}
				}
				scale(s, "tomcat_threads_busy_threads", func(float64) float64 { return 80 })
				dropSeries(s, "http_server_requests_seconds_max")
			},
			func(t *testing.T, d rules.Diagnosis) { first(t, d, "dependency-in-probe") },
		},
		{
			"live pods refuse instead of timing out", func(s *evidence.Set) {
				for i := range s.Events {
					e := &s.Events[i]
					e.Message = strings.Replace(e.Message, "context deadline exceeded (Client.Timeout exceeded while awaiting headers)",
						"dial tcp 10.0.0.1:8080: connect: connection refused", 1)
				}
			},
			func(t *testing.T, d rules.Diagnosis) {
				if d.Ranked[0].ID == "worker-pool-saturation" {
					t.Error("worker-pool-saturation is first though live pods refuse")
				}
			},
		},
		{
			"the pool is at 30 % and the CPU throttled in 60 % of periods", func(s *evidence.Set) {
				scale(s, "tomcat_threads_busy_threads", func(float64) float64 { return 60 })
				var periods []evidence.Series
				for _, x := range s.Series {
					if x.Name == "container_cpu_cfs_periods_total" {
						periods = append(periods, x)
					}
				}
				dropSeries(s, "container_cpu_cfs_throttled_periods_total")
				for _, x := range periods {
					x.Name = "container_cpu_cfs_throttled_periods_total"
					x.Samples = slices.Clone(x.Samples)
					for i := range x.Samples {
						x.Samples[i].Value *= 0.6
					}
					s.Series = append(s.Series, x)
				}
			},
			func(t *testing.T, d rules.Diagnosis) { first(t, d, "cpu-starvation") },
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := run(t, set(t, incidentFiles(t, everything), tt.change))
			tt.check(t, d)
			refsResolve(t, d)
		})
	}
}

func first(t *testing.T, d rules.Diagnosis, id string) {
	t.Helper()
	if d.Ranked[0].ID != id {
		t.Errorf("first is %s (%.2f), want %s", d.Ranked[0].ID, d.Ranked[0].Probability, id)
		for _, c := range d.Ranked[:2] {
			for _, s := range slices.Concat(c.For, c.Against) {
				t.Logf("%s %+.1f %s: %s", c.ID, s.Weight, s.Rule, s.Statement)
			}
		}
	}
}

func scale(s *evidence.Set, metric string, f func(float64) float64) {
	for i := range s.Series {
		if s.Series[i].Name == metric {
			for j := range s.Series[i].Samples {
				s.Series[i].Samples[j].Value = f(s.Series[i].Samples[j].Value)
			}
		}
	}
}

func dropSeries(s *evidence.Set, metric string) {
	s.Series = slices.DeleteFunc(s.Series, func(x evidence.Series) bool { return x.Name == metric })
}

// One line is thin evidence: nothing is named, and the next check is.
func TestOneLineNamesNothing(t *testing.T) {
	files := fstest.MapFS{"chat": {Data: []byte(`Readiness probe failed: Get "http://10.0.0.7:8080/healthz": context deadline exceeded (Client.Timeout exceeded while awaiting headers)` + "\n")}}
	d := run(t, set(t, files, nil))
	for _, c := range d.Ranked {
		if c.Probability > 0.5 {
			t.Errorf("%s has %.2f on one line", c.ID, c.Probability)
		}
	}
	if len(d.Missing) == 0 || d.Missing[0].Collect == "" {
		t.Errorf("no next check is named: %+v", d.Missing)
	}
}

func TestProbabilitiesOfRootsSumToOne(t *testing.T) {
	d := run(t, set(t, incidentFiles(t, everything), nil))
	sum := d.Other
	for _, c := range d.Ranked {
		if c.Role == rules.RootCause {
			sum += c.Probability
		}
	}
	if math.Abs(sum-1) > 0.02 {
		t.Errorf("the roots and other sum to %.3f", sum)
	}
}
