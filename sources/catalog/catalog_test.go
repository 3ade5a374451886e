package catalog

import (
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/probedoctor/probedoctor/sources/evidence"
)

var t0 = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func load(t testing.TB) *Catalog {
	t.Helper()
	c, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// series reads "name{labels} value…": one value is a scrape without a time, several are a minute apart.
func series(t testing.TB, text string) []evidence.Series {
	t.Helper()
	var out []evidence.Series
	for l := range strings.Lines(text) {
		l = strings.TrimSpace(l)
		if l == "" || strings.HasPrefix(l, "#") {
			continue
		}
		head, rest, ok := strings.Cut(l, "} ")
		if ok {
			head += "}"
		} else {
			head, rest, _ = strings.Cut(l, " ")
		}
		sels, err := parseSelector(head)
		if err != nil || len(sels) != 1 {
			t.Fatalf("%q: %v", l, err)
		}
		s := evidence.Series{Item: evidence.Item{Source: "paste"}, Name: sels[0].name, Labels: map[string]string{}}
		for _, m := range sels[0].matchers {
			s.Labels[m.label] = m.value
		}
		values := strings.Fields(rest)
		for i, f := range values {
			if f == "-" { // no sample at this minute
				continue
			}
			v, err := strconv.ParseFloat(f, 64)
			if err != nil {
				t.Fatalf("%q: %v", l, err)
			}
			x := evidence.Sample{Value: v}
			if len(values) > 1 {
				x.At = t0.Add(time.Duration(i) * time.Minute)
			}
			s.Samples = append(s.Samples, x)
		}
		out = append(out, s)
	}
	return out
}

type section struct {
	stack, text string
	want        map[string]float64
}

func sections(t testing.TB) []section {
	t.Helper()
	b, err := os.ReadFile("testdata/samples.txt")
	if err != nil {
		t.Fatal(err)
	}
	var out []section
	for l := range strings.Lines(string(b)) {
		switch f := strings.Fields(l); {
		case strings.HasPrefix(l, "["):
			out = append(out, section{stack: strings.Trim(strings.TrimSpace(l), "[]"), want: map[string]float64{}})
		case len(out) == 0:
		case strings.HasPrefix(l, "want "):
			v, err := strconv.ParseFloat(f[2], 64)
			if err != nil {
				t.Fatal(err)
			}
			out[len(out)-1].want[f[1]] = v
		default:
			out[len(out)-1].text += l
		}
	}
	return out
}

func ids(stacks []Stack) []string {
	var out []string
	for _, s := range stacks {
		out = append(out, s.ID)
	}
	return out
}

// canonical gives the series that Apply added for a signal.
func canonical(set *evidence.Set, signal string) []evidence.Series {
	var out []evidence.Series
	for _, s := range set.Series {
		if s.Signal == signal {
			out = append(out, s)
		}
	}
	return out
}

func last(s evidence.Series) float64 { return s.Samples[len(s.Samples)-1].Value }

// TestStacks: each stack is recognised by its own sample and by no other's, and each of its signals has the value wanted.
func TestStacks(t *testing.T) {
	c := load(t)
	all := sections(t)
	seen := map[string]bool{}
	for _, sec := range all {
		t.Run(sec.stack, func(t *testing.T) {
			seen[sec.stack] = true
			raw := series(t, sec.text)
			if diff := cmp.Diff([]string{sec.stack}, ids(c.Recognise(raw))); diff != "" {
				t.Errorf("recognised (-want +got):\n%s", diff)
			}
			set := &evidence.Set{Series: raw}
			c.Apply(set, Hints{HealthPath: "/healthz"})
			got := map[string]float64{}
			for _, s := range set.Series[len(raw):] {
				if s.Stack != sec.stack || s.Query == "" || s.Locator != s.Query || s.Excerpt == "" || s.Source != "paste" {
					t.Errorf("incomplete item: %+v", s)
				}
				if _, twice := got[s.Signal]; twice {
					t.Errorf("%s: more than one series", s.Signal)
				}
				got[s.Signal] = math.Round(last(s)*1e9) / 1e9
			}
			for name, v := range sec.want {
				sec.want[name] = math.Round(v*1e9) / 1e9
			}
			if diff := cmp.Diff(sec.want, got); diff != "" {
				t.Errorf("values (-want +got):\n%s", diff)
			}
			i, ok := c.byID[sec.stack]
			if !ok {
				t.Fatal("no such stack")
			}
			if diff := cmp.Diff(slices.Sorted(maps.Keys(sec.want)), slices.Sorted(slices.Values(c.stacks[i].Provides()))); diff != "" {
				t.Errorf("signals of the stack against those in the sample (-sample +stack):\n%s", diff)
			}
			if c.stacks[i].Title == "" {
				t.Error("no title")
			}
			for _, q := range set.Queries {
				if _, have := got[q.Signal]; have {
					t.Errorf("query for %s, which is there", q.Signal)
				}
			}
		})
	}
	for _, s := range c.stacks {
		if !seen[s.ID] {
			t.Errorf("%s has no sample", s.ID)
		}
	}
}

// TestTogether: the samples of all stacks at once give what each gives alone, but for what a fallback would claim.
func TestTogether(t *testing.T) {
	c := load(t)
	set := &evidence.Set{}
	for _, sec := range sections(t) {
		raw := series(t, sec.text)
		for i := range raw {
			// Each stack in a pod of its own, as in a cluster.
			raw[i].Labels["pod"] = sec.stack
		}
		set.Series = append(set.Series, raw...)
	}
	c.Apply(set, Hints{HealthPath: "/healthz"})
	for _, sec := range sections(t) {
		for name := range sec.want {
			n := 0
			for _, s := range canonical(set, name) {
				if s.Labels["pod"] == sec.stack {
					n++
				}
			}
			if n != 1 {
				t.Errorf("%s of %s: %d series", name, sec.stack, n)
			}
		}
	}
	if len(set.Queries) != 0 {
		t.Errorf("all signals are there, yet: %v", set.Queries)
	}
	before := len(set.Series)
	set.Finish(evidence.FinishOptions{})
	if len(set.Series) != before {
		t.Errorf("%d series before Finish, %d after: references collide", before, len(set.Series))
	}
}

func TestSignalsAreProvided(t *testing.T) {
	c := load(t)
	for _, sig := range c.Signals() {
		if sig.Doc == "" || sig.Unit == "" || !slices.Contains([]string{"max", "min", "sum"}, sig.Aggregate) {
			t.Errorf("incomplete: %+v", sig)
		}
		if !slices.ContainsFunc(c.stacks, func(s Stack) bool { return len(s.signals[sig.Name]) > 0 }) {
			t.Errorf("no stack gives %s", sig.Name)
		}
	}
}

func TestPromQL(t *testing.T) {
	c := load(t)
	shop := Hints{Namespace: "shop", PodRegex: "checkout-.+", HealthPath: "/actuator/health/readiness?full=1"}
	for _, tc := range []struct {
		signal, stack string
		hints         Hints
		want          string
	}{
		{"pool.utilisation", "tomcat-micrometer", shop,
			`max by (pod) (tomcat_threads_busy_threads{namespace="shop",pod=~"checkout-.+"} / (tomcat_threads_config_max_threads{namespace="shop",pod=~"checkout-.+"} > 0))`},
		{"pool.utilisation", "tomcat-micrometer", Hints{},
			`max by (pod) (tomcat_threads_busy_threads / (tomcat_threads_config_max_threads > 0))`},
		{"handler.latency", "spring-http", shop,
			`max by (pod) (http_server_requests_seconds_max{namespace="shop",pod=~"checkout-.+",uri=~"/actuator/health/readiness|/actuator/health/\\*\\*"}) or ` +
				`histogram_quantile(0.99, sum by (pod, le) (rate(http_server_requests_seconds_bucket{namespace="shop",pod=~"checkout-.+",uri=~"/actuator/health/readiness|/actuator/health/\\*\\*"}[5m])))`},
		{"handler.rate", "fastapi", Hints{HealthPath: "/healthz"},
			`sum by (pod) (rate(http_requests_total{handler="/healthz",status!=""}[5m]))`},
		{"handler.rate", "fastapi", Hints{HealthPath: `/a"b\c.d`},
			`sum by (pod) (rate(http_requests_total{handler=~"/a\"b\\\\c\\.d",status!=""}[5m]))`},
		{"cpu.throttledRatio", "cadvisor", Hints{Namespace: `a"b`},
			`max by (pod, container) (rate(container_cpu_cfs_throttled_periods_total{namespace="a\"b",container!="",container!="POD"}[5m]) / (rate(container_cpu_cfs_periods_total{namespace="a\"b",container!="",container!="POD"}[5m]) > 0))`},
		{"lb.unhealthyHosts", "traefik", shop, `sum by (service) (traefik_service_server_up == bool 0)`},
		{"memory.limit", "kube-state-metrics", shop,
			`max by (pod, container) (kube_pod_container_resource_limits{namespace="shop",pod=~"checkout-.+",resource="memory"} > 0)`},
		{"pool.busy", "tomcat-jmx", Hints{}, `max by (pod) ({__name__=~"(?i:(tomcat|catalina)_threadpool_currentthreadsbusy)"})`},
		{"request.latency", "php-fpm", Hints{}, `max by (pod) (phpfpm_process_request_duration) * 1e-06`},
	} {
		got, ok := c.PromQL(tc.signal, tc.stack, tc.hints)
		if !ok || got != tc.want {
			t.Errorf("%s of %s:\n got %s\nwant %s", tc.signal, tc.stack, got, tc.want)
		}
	}
	for _, tc := range [][2]string{{"pool.busy", "lettuce"}, {"pool.busy", "no-such-stack"}, {"no.such.signal", "lettuce"}} {
		if q, ok := c.PromQL(tc[0], tc[1], shop); ok {
			t.Errorf("%v gave %q", tc, q)
		}
	}
}

// TestPromQLWellFormed checks every query under plain and hostile hints.
func TestPromQLWellFormed(t *testing.T) {
	c := load(t)
	n := 0
	check := func(q string) {
		n++
		if err := wellFormed(q); err != nil {
			t.Errorf("%v in %s", err, q)
		}
	}
	for _, h := range []Hints{{}, {Namespace: "shop", PodRegex: "checkout-.+", HealthPath: "/healthz"},
		{Namespace: "a\"}b\\", PodRegex: "x\ny", HealthPath: "/{}[]()\"'\\\xff"}} {
		for _, s := range c.stacks {
			for _, name := range s.Provides() {
				q, ok := c.PromQL(name, s.ID, h)
				if !ok {
					t.Errorf("%s of %s: no query", name, s.ID)
				}
				check(q)
			}
		}
		set := &evidence.Set{}
		c.Apply(set, h)
		if len(set.Queries) < len(signals) {
			t.Errorf("%d queries for %d signals", len(set.Queries), len(signals))
		}
		for _, q := range set.Queries {
			check(q.PromQL)
		}
	}
	if n == 0 {
		t.Error("nothing was checked")
	}
	for _, bad := range []string{`a{`, `a{b="c}`, `a{b=c}`, `sum (a))`, `(a`, `a[5m`, `a{b="c",}x{`, `a{9="x"}`, ``} {
		if wellFormed(bad) == nil {
			t.Errorf("%q passed", bad)
		}
	}
}

var (
	selectorInside = regexp.MustCompile(`^([a-zA-Z_][a-zA-Z0-9_]*(=|!=|=~|!~)S)(,[a-zA-Z_][a-zA-Z0-9_]*(=|!=|=~|!~)S)*$`)
	rangeInside    = regexp.MustCompile(`^[0-9]+[smhd]$`)
)

// wellFormed checks quotes, brackets, the inside of selectors and ranges, and that regular expressions compile.
func wellFormed(q string) error {
	var plain strings.Builder // with every string replaced by S
	for i := 0; i < len(q); {
		if q[i] != '"' {
			plain.WriteByte(q[i])
			i++
			continue
		}
		s, err := strconv.QuotedPrefix(q[i:])
		if err != nil {
			return fmt.Errorf("string at %d: %w", i, err)
		}
		if v, _ := strconv.Unquote(s); strings.HasSuffix(q[:i], "~") {
			if _, err := regexp.Compile(v); err != nil {
				return err
			}
		}
		plain.WriteByte('S')
		i += len(s)
	}
	var stack []int
	text := plain.String()
	if strings.TrimSpace(text) == "" {
		return fmt.Errorf("empty")
	}
	partner := map[byte]byte{')': '(', ']': '[', '}': '{'}
	for i := range len(text) {
		switch ch := text[i]; ch {
		case '(', '[', '{':
			stack = append(stack, i)
		case ')', ']', '}':
			if len(stack) == 0 || text[stack[len(stack)-1]] != partner[ch] {
				return fmt.Errorf("unbalanced %q", ch)
			}
			inside := text[stack[len(stack)-1]+1 : i]
			stack = stack[:len(stack)-1]
			if ch == '}' && !selectorInside.MatchString(inside) || ch == ']' && !rangeInside.MatchString(inside) {
				return fmt.Errorf("bad %q", inside)
			}
		}
	}
	if len(stack) > 0 {
		return fmt.Errorf("not closed")
	}
	return nil
}

// TestLoadErrors: everything wrong in a user's file is told with its place.
func TestLoadErrors(t *testing.T) {
	for _, tc := range []struct{ name, text, want string }{
		{"syntax", "stacks:\n  - id: [", ":2:"},
		{"top", "stack: []\n", `:1:1: unknown key "stack"`},
		{"no list", "stacks: 3\n", ":1:9: a list is wanted"},
		{"missing", "stacks:\n  - id: x\n    family: jvm\n    signals: {pool.busy: x}\n", `the key "title" is missing`},
		{"unknown signal", "stacks:\n  - id: x\n    title: X\n    family: jvm\n    signals:\n      pool.bussy: x\n", `:6:7: unknown signal "pool.bussy"`},
		{"unknown kind", "stacks:\n  - id: x\n    title: X\n    family: jvm\n    signals:\n      pool.busy: {kind: gouge, of: x}\n", `:6:25: kind "gouge"`},
		{"ratio", "stacks:\n  - id: x\n    title: X\n    family: jvm\n    signals:\n      pool.utilisation: {kind: ratio, of: x}\n", `a ratio needs "to"`},
		{"regexp", "stacks:\n  - id: x\n    title: X\n    family: jvm\n    signals:\n      pool.busy: 'x('\n", `:6:18: selector "x("`},
		{"selector", "stacks:\n  - id: x\n    title: X\n    family: jvm\n    signals:\n      pool.busy: 'x{a=b}'\n", "must be quoted"},
		{"parameter", "stacks:\n  - id: x\n    title: X\n    family: jvm\n    signals:\n      pool.busy: 'x{a=\"{healthpath}\"}'\n", "unknown parameter"},
		{"yes", "stacks:\n  - id: x\n    title: X\n    family: jvm\n    common: yes please\n    signals: {pool.busy: x}\n", ":5:13: true or false is wanted"},
		{"hint", "stacks:\n  - id: x\n    title: X\n    family: jvm\n    hints: {images: ['(']}\n    signals: {pool.busy: x}\n", "missing closing )"},
		{"no signals", "stacks:\n  - id: x\n    title: X\n    family: jvm\n", `the key "signals" is missing`},
		{"twice", "stacks:\n  - {id: x, title: X, family: jvm, signals: {pool.busy: x}}\n  - {id: x, title: X, family: jvm, signals: {pool.busy: x}}\n", `:3:10: stack "x" is already defined at`},
		{"count", "stacks:\n  - {id: x, title: X, family: jvm, signals: {lb.healthyHosts: {kind: count, of: x, count: 'is 1'}}}\n", "is no comparison"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			dir := t.TempDir()
			file := filepath.Join(dir, "mine.yaml")
			if err := os.WriteFile(file, []byte(tc.text), 0o600); err != nil {
				t.Fatal(err)
			}
			c, err := Load(dir)
			if err == nil || c != nil {
				t.Fatal("accepted")
			}
			if !strings.Contains(err.Error(), file+":") || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error %q lacks %q", err, tc.want)
			}
		})
	}
	if _, err := Load(filepath.Join(t.TempDir(), "absent")); err == nil {
		t.Error("a folder that is not there was accepted")
	}
}

// TestUserStack: a user's stack is used, and replaces an embedded one of the same id.
func TestUserStack(t *testing.T) {
	dir := t.TempDir()
	text := `stacks:
  - id: tomcat-micrometer
    title: Our Tomcat
    family: jvm
    signals:
      pool.busy: our_busy
  - id: ours
    title: Our server
    family: ours
    signals:
      handler.latency: {kind: max, of: 'our_seconds_max{handler|route=~"{healthPath}"}'}
`
	if err := os.WriteFile(filepath.Join(dir, "ours.yml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	if got := c.stacks[c.byID["tomcat-micrometer"]].Title; got != "Our Tomcat" {
		t.Errorf("title %q", got)
	}
	want := `max by (pod) (our_seconds_max{handler="/up"}) or max by (pod) (our_seconds_max{route="/up"})`
	if got, _ := c.PromQL("handler.latency", "ours", Hints{HealthPath: "/up"}); got != want {
		t.Errorf("got %s", got)
	}
}

// TestDocExample: the stack in the package's documentation loads and gives what it says.
func TestDocExample(t *testing.T) {
	doc, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	for l := range strings.Lines(string(doc)) {
		if code, ok := strings.CutPrefix(l, "//\t"); ok {
			text.WriteString(code)
		}
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "doc.yaml"), []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	want := `sum by (pod) (our_workers{namespace="shop",container!="",state="busy"}) / (sum by (pod) (our_workers{namespace="shop",container!=""}) > 0)`
	if got, _ := c.PromQL("pool.utilisation", "our-server", Hints{Namespace: "shop"}); got != want {
		t.Errorf("got %s", got)
	}
	if got, _ := c.PromQL("handler.latency", "our-server", Hints{HealthPath: "/up"}); strings.Count(got, " or ") != 2 {
		t.Errorf("alternatives: %s", got)
	}
}

func FuzzLoad(f *testing.F) {
	b, err := embedded.ReadFile("stacks/jvm.yaml")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Add([]byte("stacks:\n  - &a {id: x, <<: *a}\n"))
	f.Add([]byte("? - \n: !!x |\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		l := &loader{catalog: &Catalog{byID: map[string]int{}}, seen: map[string]string{}}
		l.file("f", b)
	})
}
