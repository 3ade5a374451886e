package catalog

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/probedoctor/probedoctor/sources/evidence"
)

// apply computes the canonical series of a text and gives those of one signal.
func apply(t *testing.T, text, signal string) []evidence.Series {
	t.Helper()
	set := &evidence.Set{Series: series(t, text)}
	load(t).Apply(set, Hints{HealthPath: "/healthz"})
	return canonical(set, signal)
}

func values(s evidence.Series) []float64 {
	var out []float64
	for _, x := range s.Samples {
		out = append(out, math.Round(x.Value*1e9)/1e9)
	}
	return out
}

func TestCounterReset(t *testing.T) {
	got := apply(t, `node_netstat_TcpExt_ListenOverflows{instance="n1"} 100 160 30 30`, "backlog.overflows")
	if len(got) != 1 {
		t.Fatalf("%d series", len(got))
	}
	// After the reset the counter grew from zero to 30.
	if diff := cmp.Diff([]float64{1, 0.5, 0}, values(got[0])); diff != "" {
		t.Error(diff)
	}
	if !got[0].Samples[0].At.Equal(t0.Add(time.Minute)) {
		t.Errorf("first rate at %v", got[0].Samples[0].At)
	}
	if strings.Contains(got[0].Excerpt, "since start") {
		t.Errorf("a rate over an interval is marked: %s", got[0].Excerpt)
	}
}

func TestSinceStart(t *testing.T) {
	const scrape = `
container_cpu_cfs_periods_total{container="app",pod="a-1"} 41200
container_cpu_cfs_throttled_periods_total{container="app",pod="a-1"} 12360
container_cpu_usage_seconds_total{container="app",pod="a-1"} 900
node_netstat_TcpExt_ListenOverflows{instance="n1"} 0
node_netstat_TcpExt_ListenOverflows{instance="n2"} 7
http_server_requests_seconds_sum{uri="/healthz",pod="a-1"} 5
http_server_requests_seconds_count{uri="/healthz",pod="a-1"} 1000
prober_probe_duration_seconds_bucket{pod="a-1",le="0.5"} 50
prober_probe_duration_seconds_bucket{pod="a-1",le="1"} 100
prober_probe_duration_seconds_bucket{pod="a-1",le="+Inf"} 100
`
	for _, tc := range []struct {
		signal string
		want   float64
	}{{"cpu.throttledRatio", 0.3}, {"handler.mean", 0.005}, {"probe.latency", 0.99}, {"backlog.overflows", 0}} {
		got := apply(t, scrape, tc.signal)
		if len(got) != 1 {
			t.Errorf("%s: %d series", tc.signal, len(got))
			continue
		}
		if v := values(got[0])[0]; v != tc.want || !strings.Contains(got[0].Excerpt, "since start") {
			t.Errorf("%s: %v, %q", tc.signal, v, got[0].Excerpt)
		}
	}
	// What was counted when is not known from one scrape.
	if got := apply(t, scrape, "cpu.usage"); got != nil {
		t.Errorf("a rate from one scrape: %v", got)
	}
	if got := apply(t, scrape, "handler.rate"); got != nil {
		t.Errorf("a rate from one scrape: %v", got)
	}
}

// TestImpossible: what a stack reports where it has no limit gives no value, never a wrong one.
func TestImpossible(t *testing.T) {
	for name, text := range map[string]string{
		"virtual threads": "tomcat_threads_busy_threads{pod=\"a\"} 12\ntomcat_threads_config_max_threads{pod=\"a\"} -1",
		"both negative":   "tomcat_threads_busy_threads{pod=\"a\"} -1\ntomcat_threads_config_max_threads{pod=\"a\"} -1",
		"zero":            "tomcat_threads_busy_threads{pod=\"a\"} 0\ntomcat_threads_config_max_threads{pod=\"a\"} 0",
		"NaN":             "tomcat_threads_busy_threads{pod=\"a\"} NaN\ntomcat_threads_config_max_threads{pod=\"a\"} 200",
		"infinite":        "tomcat_threads_busy_threads{pod=\"a\"} 3\ntomcat_threads_config_max_threads{pod=\"a\"} +Inf",
		"no maximum":      "tomcat_threads_busy_threads{pod=\"a\"} 3",
		"other pod":       "tomcat_threads_busy_threads{pod=\"a\"} 3\ntomcat_threads_config_max_threads{pod=\"b\"} 200",
		"other connector": "tomcat_threads_busy_threads{name=\"x\"} 3\ntomcat_threads_config_max_threads{name=\"y\"} 200",
		"never together":  "tomcat_threads_busy_threads{pod=\"a\"} 3 3 - -\ntomcat_threads_config_max_threads{pod=\"a\"} - - - 200",
		"one timed":       "tomcat_threads_busy_threads{pod=\"a\"} 3 3\ntomcat_threads_config_max_threads{pod=\"a\"} 200",
	} {
		if got := apply(t, text, "pool.utilisation"); got != nil {
			t.Errorf("%s: %v", name, values(got[0]))
		}
	}
	if got := apply(t, "tomcat_threads_config_max_threads{pod=\"a\"} -1", "pool.max"); got != nil {
		t.Errorf("pool.max %v", values(got[0]))
	}
	if got := apply(t, "container_spec_memory_limit_bytes{pod=\"a\",container=\"c\"} 0", "memory.limit"); got != nil {
		t.Errorf("memory.limit %v", values(got[0]))
	}
	if got := apply(t, "prober_probe_duration_seconds_bucket{pod=\"a\",le=\"1\"} 5", "probe.latency"); got != nil {
		t.Errorf("a quantile without the whole: %v", values(got[0]))
	}
	if got := apply(t, "prober_probe_duration_seconds_bucket{pod=\"a\",le=\"1\"} 0 0\nprober_probe_duration_seconds_bucket{pod=\"a\",le=\"+Inf\"} 0 0", "probe.latency"); got != nil {
		t.Errorf("a quantile of nothing: %v", values(got[0]))
	}
}

// TestNearest: samples are matched within half a step, and never made up where the partner has a gap.
func TestNearest(t *testing.T) {
	for _, shift := range []time.Duration{0, 20 * time.Second, -29 * time.Second} {
		raw := series(t, `
tomcat_threads_busy_threads{pod="a"} 100 150 200 200 200 300
tomcat_threads_config_max_threads{pod="a"} 200 200 200 - - 400
`)
		for i := range raw[1].Samples {
			raw[1].Samples[i].At = raw[1].Samples[i].At.Add(shift)
		}
		set := &evidence.Set{Series: raw}
		load(t).Apply(set, Hints{})
		got := canonical(set, "pool.utilisation")
		if len(got) != 1 {
			t.Fatalf("shift %v: %d series", shift, len(got))
		}
		want := []evidence.Sample{
			{At: t0, Value: 0.5}, {At: t0.Add(time.Minute), Value: 0.75}, {At: t0.Add(2 * time.Minute), Value: 1},
			{At: t0.Add(5 * time.Minute), Value: 0.75},
		}
		if diff := cmp.Diff(want, got[0].Samples); diff != "" {
			t.Errorf("shift %v: %s", shift, diff)
		}
	}
}

func TestLabels(t *testing.T) {
	got := apply(t, `
tomcat_threads_busy_threads{name="http-nio-8080",exported_namespace="shop",exported_pod="a-1",pod="exporter-0",namespace="monitoring"} 1
tomcat_threads_busy_threads{name="http-nio-8081",kubernetes_namespace="shop",kubernetes_pod_name="a-1"} 2
`, "pool.busy")
	var labels []map[string]string
	for _, s := range got {
		labels = append(labels, s.Labels)
	}
	want := []map[string]string{
		{"name": "http-nio-8080", "namespace": "shop", "pod": "a-1"},
		{"name": "http-nio-8081", "namespace": "shop", "pod": "a-1"},
	}
	if diff := cmp.Diff(want, labels); diff != "" {
		t.Error(diff)
	}
	if got[0].Query != `max by (pod) (tomcat_threads_busy_threads{namespace="shop",pod="a-1"})` {
		t.Errorf("query %s", got[0].Query)
	}
}

// TestPrefer: the sum over the pod is left out beside its containers, and used where no container is named.
func TestPrefer(t *testing.T) {
	got := apply(t, `
container_memory_working_set_bytes{container="app",pod="a"} 10
container_memory_working_set_bytes{container="",pod="a"} 12
container_memory_working_set_bytes{container="POD",pod="a"} 1
container_memory_working_set_bytes{pod="b"} 30
`, "memory.workingSet")
	var all []float64
	for _, s := range got {
		all = append(all, values(s)...)
	}
	slices.Sort(all)
	if diff := cmp.Diff([]float64{10, 30}, all); diff != "" {
		t.Error(diff)
	}
}

// TestNarrowedAnswer: the answer to a query for failures only is not taken for all probes.
func TestNarrowedAnswer(t *testing.T) {
	raw := series(t, `prober_probe_total{result="failed",pod="a"} 5`)
	raw[0].Query = `prober_probe_total{namespace="shop", result="failed"}`
	set := &evidence.Set{Series: raw}
	load(t).Apply(set, Hints{})
	if got := canonical(set, "probe.failedRatio"); got != nil {
		t.Errorf("ratio %v from failures alone", values(got[0]))
	}
}

// TestScrapesMerge: two scrapes of one counter, as two items, give a rate.
func TestScrapesMerge(t *testing.T) {
	set := &evidence.Set{}
	for i, v := range []float64{90, 30} { // the later one first
		set.Series = append(set.Series, evidence.Series{
			Name: "node_netstat_TcpExt_ListenOverflows", Labels: map[string]string{"instance": "n"},
			Samples: []evidence.Sample{{At: t0.Add(time.Duration(1-i) * time.Minute), Value: v}},
		})
	}
	load(t).Apply(set, Hints{})
	got := canonical(set, "backlog.overflows")
	if len(got) != 1 || values(got[0])[0] != 1 {
		t.Errorf("got %v", got)
	}
}

// TestAnswers: results of queries, also of those that a person wrote, are known by what they compute.
func TestAnswers(t *testing.T) {
	c := load(t)
	pod := map[string]string{"pod": "a-1"}
	for _, tc := range []struct {
		query  string
		labels map[string]string
		signal string // empty: not known
		value  float64
	}{
		{`max by (pod) (tomcat_threads_busy_threads{namespace="shop",pod=~"checkout-.+"} / (tomcat_threads_config_max_threads{namespace="shop",pod=~"checkout-.+"} > 0))`, pod, "pool.utilisation", 0.5},
		{`tomcat_threads_busy_threads{pod="a-1"} / tomcat_threads_config_max_threads{pod="a-1"}`, pod, "pool.utilisation", 0.5},
		{`100 * sum(tomcat_threads_busy_threads) by (pod) / sum(tomcat_threads_config_max_threads) by (pod)`, pod, "pool.utilisation", 0.005},
		{`max(tomcat_threads_busy_threads{app="x"}) by (pod)`, pod, "pool.busy", 0.5},
		{`sum(tomcat_threads_busy_threads)`, nil, "", 0},
		{`avg_over_time(tomcat_threads_busy_threads[5m])`, pod, "", 0},
		{`histogram_quantile(0.99, sum(rate(prober_probe_duration_seconds_bucket[1m])) by (le, pod))`, pod, "probe.latency", 0.5},
		{`histogram_quantile(0.5, sum(rate(prober_probe_duration_seconds_bucket[1m])) by (le, pod))`, pod, "", 0},
		{`sum(rate(http_requests_total{handler="/healthz",status!=""}[1m]))`, nil, "handler.rate", 0.5},
		{`sum(rate(http_requests_total{handler="/orders",status!=""}[1m]))`, nil, "", 0},
		{`vector(1) {`, pod, "", 0},
	} {
		set := &evidence.Set{Series: []evidence.Series{{Query: tc.query, Labels: tc.labels, Samples: []evidence.Sample{{At: t0, Value: 0.5}}}}}
		c.Apply(set, Hints{HealthPath: "/healthz"})
		got := set.Series[1:]
		if tc.signal == "" {
			if len(got) != 0 {
				t.Errorf("%s is taken for %s", tc.query, got[0].Signal)
			}
			continue
		}
		if len(got) != 1 || got[0].Signal != tc.signal || values(got[0])[0] != tc.value || got[0].Query != tc.query {
			t.Errorf("%s: got %+v", tc.query, got)
		}
	}
	// Every query of the catalog is known again, whatever it was narrowed to.
	for _, s := range c.stacks {
		for _, name := range s.Provides() {
			for _, e := range s.signals[name] {
				q := s.exprQL(signals[signalIndex[name]], e, params{namespace: "shop", podRegex: "x-.+", paths: []string{"/healthz"}})
				set := &evidence.Set{Series: []evidence.Series{{Query: q, Labels: pod, Samples: []evidence.Sample{{At: t0, Value: 0.5}}}}}
				c.Apply(set, Hints{HealthPath: "/healthz"})
				if len(set.Series) != 2 {
					t.Errorf("%s of %s is not known again: %s", name, s.ID, q)
				}
			}
		}
	}
}

// TestHealthPaths: without a hint the paths of the probes select the health route.
func TestHealthPaths(t *testing.T) {
	text := `
http_server_requests_seconds_max{uri="/orders",pod="a"} 9
http_server_requests_seconds_max{uri="/am/i/up",pod="a"} 0.01
http_server_requests_seconds_max{uri="/actuator/health/**",pod="a"} 0.02
`
	probe := func(path string) evidence.Container {
		return evidence.Container{Name: "app", Probes: []evidence.ProbeSpec{{Handler: "http", Endpoint: evidence.Endpoint{Path: path}}}}
	}
	for _, tc := range []struct {
		path string
		want float64
	}{{"/am/i/up?full=1", 0.01}, {"/actuator/health/readiness", 0.02}, {"", 0.02}, {"/", 0.02}} {
		set := &evidence.Set{Series: series(t, text), Pods: []evidence.Pod{{Containers: []evidence.Container{probe(tc.path)}}}}
		load(t).Apply(set, Hints{})
		got := canonical(set, "handler.latency")
		if len(got) != 1 || values(got[0])[0] != tc.want {
			t.Errorf("%q: %v", tc.path, got)
		}
	}
}

func TestGuess(t *testing.T) {
	c := load(t)
	for _, tc := range []struct {
		name      string
		container evidence.Container
		log       evidence.LogLine
		want      string
	}{
		{"thread", evidence.Container{}, evidence.LogLine{Thread: "http-nio-8080-exec-7"}, "tomcat-micrometer"},
		{"logger", evidence.Container{}, evidence.LogLine{Logger: "com.zaxxer.hikari.pool.HikariPool"}, "hikaricp-micrometer"},
		{"image", evidence.Container{Image: "docker.io/library/node:22"}, evidence.LogLine{}, "node-prom-client"},
		{"env", evidence.Container{Env: map[string]string{"ASPNETCORE_URLS": "http://+:8080"}}, evidence.LogLine{}, "dotnet-otel"},
		{"command", evidence.Container{Command: []string{"gunicorn", "shop.wsgi"}}, evidence.LogLine{}, "gunicorn"},
		{"jetty", evidence.Container{}, evidence.LogLine{Thread: "qtp1234-55"}, "jetty-micrometer"},
	} {
		set := &evidence.Set{Pods: []evidence.Pod{{Containers: []evidence.Container{tc.container}}}, Logs: []evidence.LogLine{tc.log}}
		if got := ids(c.Guess(set)); !slices.Contains(got, tc.want) {
			t.Errorf("%s: %v lacks %s", tc.name, got, tc.want)
		}
	}
	if got := c.Guess(&evidence.Set{Pods: []evidence.Pod{{Containers: []evidence.Container{{Image: "registry.local/checkout:1"}}}}}); got != nil {
		t.Errorf("guessed %v from nothing", ids(got))
	}
}

func TestQueries(t *testing.T) {
	c := load(t)
	of := func(set *evidence.Set, h Hints, signal string) []evidence.Query {
		c.Apply(set, h)
		return slices.DeleteFunc(set.Queries, func(q evidence.Query) bool { return q.Signal != signal })
	}
	// A guessed stack.
	set := &evidence.Set{Logs: []evidence.LogLine{{Thread: "qtp1-1"}}}
	if got := of(set, Hints{}, "pool.busy"); len(got) != 1 || got[0].Stack != "jetty-micrometer" {
		t.Errorf("guessed: %v", got)
	}
	// A given one.
	if got := of(&evidence.Set{}, Hints{Stacks: []string{"php-fpm", "no-such"}}, "pool.busy"); len(got) != 1 || got[0].Stack != "php-fpm" {
		t.Errorf("given: %v", got)
	}
	// Only the family is known: its common stacks.
	set = &evidence.Set{Pods: []evidence.Pod{{Containers: []evidence.Container{{Image: "eclipse-temurin:21"}}}}}
	got := of(set, Hints{}, "pool.busy")
	if len(got) != 1 || got[0].Stack != "" || !strings.Contains(got[0].PromQL, "tomcat_threads_busy_threads") ||
		!strings.Contains(got[0].PromQL, " or max by (pod) (jetty_threads_busy") || strings.Contains(got[0].PromQL, "phpfpm") {
		t.Errorf("family: %v", got)
	}
	// Nothing is known: the common stacks of all families.
	got = of(&evidence.Set{}, Hints{}, "pool.busy")
	if len(got) != 1 || !strings.Contains(got[0].PromQL, "tomcat") || !strings.Contains(got[0].PromQL, "phpfpm") {
		t.Errorf("nothing known: %v", got)
	}
	// One common stack of the family is no proof that it is in use.
	set = &evidence.Set{Pods: []evidence.Pod{{Containers: []evidence.Container{{Command: []string{"waitress-serve"}}}}}}
	if got = of(set, Hints{}, "pool.busy"); len(got) != 1 || got[0].Stack != "" || !strings.Contains(got[0].PromQL, "uwsgi") {
		t.Errorf("one of the family: %v", got)
	}
	// Only one stack could give it.
	if got = of(&evidence.Set{}, Hints{}, "cpu.throttledRatio"); len(got) != 1 || got[0].Stack != "cadvisor" {
		t.Errorf("one stack: %v", got)
	}
}

// TestOrderDoesNotMatter: the same evidence in another order gives the same canonical evidence.
func TestOrderDoesNotMatter(t *testing.T) {
	c := load(t)
	build := func(reverse bool) *evidence.Set {
		set := &evidence.Set{}
		for _, sec := range sections(t) {
			set.Series = append(set.Series, series(t, sec.text)...)
		}
		if reverse {
			slices.Reverse(set.Series)
		}
		c.Apply(set, Hints{HealthPath: "/healthz"})
		set.Finish(evidence.FinishOptions{})
		return set
	}
	a, b := build(false), build(true)
	if diff := cmp.Diff(a.Series, b.Series); diff != "" {
		t.Error(diff)
	}
}

func TestQuantile(t *testing.T) {
	inf := math.Inf(1)
	for _, tc := range []struct {
		q              float64
		uppers, counts []float64
		want           float64
		beyond, ok     bool
	}{
		{0.5, []float64{1, 2, inf}, []float64{0, 100, 100}, 1.5, false, true},
		{0.99, []float64{1, 2, inf}, []float64{10, 20, 100}, 2, true, true},
		{1, []float64{1, 2, 4, inf}, []float64{1, 5, 5, 5}, 2, false, true},
		{0.5, []float64{1, 2, inf}, []float64{9, 7, 10}, 1 * 5.0 / 9, false, true}, // not monotone
		{0.5, []float64{1, 2}, []float64{1, 2}, 0, false, false},
		{0.5, []float64{inf}, []float64{1}, 0, false, false},
		{0.5, []float64{1, inf}, []float64{0, 0}, 0, false, false},
	} {
		got, beyond, ok := quantile(tc.q, tc.uppers, slices.Clone(tc.counts))
		if math.Abs(got-tc.want) > 1e-12 || beyond != tc.beyond || ok != tc.ok {
			t.Errorf("quantile(%v, %v, %v) = %v, %v, %v", tc.q, tc.uppers, tc.counts, got, beyond, ok)
		}
	}
	got := apply(t, "prober_probe_duration_seconds_bucket{pod=\"a\",le=\"1\"} 1\nprober_probe_duration_seconds_bucket{pod=\"a\",le=\"+Inf\"} 100", "probe.latency")
	if len(got) != 1 || !strings.Contains(got[0].Excerpt, "at least") {
		t.Errorf("beyond the last bucket: %v", got)
	}
}

// BenchmarkApply is a range answer over 200 pods of all stacks.
func BenchmarkApply(b *testing.B) {
	c := load(b)
	var raw []evidence.Series
	for i := range 200 {
		for _, sec := range sections(b) {
			for _, s := range series(b, sec.text) {
				s.Labels["pod"] = fmt.Sprintf("%s-%d", sec.stack, i)
				raw = append(raw, s)
			}
		}
	}
	for b.Loop() {
		c.Apply(&evidence.Set{Series: raw}, Hints{HealthPath: "/healthz"})
	}
	b.ReportMetric(float64(len(raw)), "series")
}

func FuzzApply(f *testing.F) {
	c, err := Load()
	if err != nil {
		f.Fatal(err)
	}
	f.Add("tomcat_threads_busy_threads", "pod", "a", `sum(x{a="b"}[5m])`, "/healthz", 1.0, int64(60))
	f.Add("prober_probe_duration_seconds_bucket", "le", "+Inf", "", "\xff", math.NaN(), int64(-1))
	f.Fuzz(func(t *testing.T, name, label, value, query, path string, v float64, seconds int64) {
		set := &evidence.Set{}
		for _, n := range []string{name, ""} {
			set.Series = append(set.Series, evidence.Series{Name: n, Query: query, Labels: map[string]string{label: value},
				Samples: []evidence.Sample{{Value: v}, {At: t0, Value: v}, {At: t0.Add(time.Duration(seconds % 1e6)), Value: v / 2}}})
		}
		c.Apply(set, Hints{Namespace: value, PodRegex: value, HealthPath: path})
		for _, s := range set.Series[2:] {
			for _, x := range s.Samples {
				if x.Value < 0 || math.IsNaN(x.Value) || math.IsInf(x.Value, 0) {
					t.Errorf("%s is %v", s.Signal, x.Value)
				}
			}
		}
	})
}
