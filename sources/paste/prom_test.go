package paste

import (
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/probedoctor/probedoctor/sources/evidence"
	"github.com/probedoctor/probedoctor/sources/kubeobj"
)

func readExposition(text string) (set evidence.Set, taken []bool) {
	e := newExposition("m.prom", &set)
	n := 0
	for s := range strings.Lines(text) {
		n++
		taken = append(taken, e.line(n, strings.TrimRight(s, "\r\n")))
	}
	e.close()
	return set, taken
}

// flat renders the samples as text, for comparison.
func flat(set evidence.Set) []string {
	var out []string
	for _, r := range set.Series {
		for _, s := range r.Samples {
			line := seriesName(r.Name, r.Labels) + " " + valueSpan([]evidence.Sample{s})
			if r.Type != "" {
				line = r.Type + " " + line
			}
			if !s.At.IsZero() {
				line += " @" + s.At.Format(time.RFC3339Nano)
			}
			out = append(out, line)
		}
	}
	return out
}

func TestExposition(t *testing.T) {
	tests := []struct {
		name, text string
		want       []string
		coverage   int
	}{
		{"whole", `# HELP tomcat_threads_busy_threads busy
# TYPE tomcat_threads_busy_threads gauge
tomcat_threads_busy_threads{name="http-nio-8080"} 198.0
# TYPE http_seconds histogram
http_seconds_bucket{le="0.1",uri="/a"} 3
http_seconds_bucket{le="+Inf",uri="/a"} 4
http_seconds_sum{uri="/a"} 1.5
http_seconds_count{uri="/a"} 4
# EOF
`, []string{
			`gauge tomcat_threads_busy_threads{name="http-nio-8080"} 198`, `histogram http_seconds_bucket{le="0.1",uri="/a"} 3`,
			`histogram http_seconds_bucket{le="+Inf",uri="/a"} 4`, `histogram http_seconds_sum{uri="/a"} 1.5`, `histogram http_seconds_count{uri="/a"} 4`,
		}, 0},
		{"fragment", `modreg_http_request_duration_seconds_bucket{le="0.005",path_template="/livez"} 104.0`,
			[]string{`modreg_http_request_duration_seconds_bucket{le="0.005",path_template="/livez"} 104`}, 0},
		{"bare names", "jvm_threads_live_threads 31\nprocess_cpu_seconds_total 1e3", []string{"jvm_threads_live_threads 31", "process_cpu_seconds_total 1000"}, 0},
		{"times", "a_b{} 1 1700000001250\na_b{} 2 1700000002250\nc{x=\"y\"} 3 1700000001.25 # {trace_id=\"1\"} 0.2",
			[]string{"a_b 1 @2023-11-14T22:13:21.25Z", "a_b 2 @2023-11-14T22:13:22.25Z", `c{x="y"} 3 @2023-11-14T22:13:21.25Z`}, 0},
		{"escapes", `x{p="C:\\a\n\"b\"",empty=""} +Inf`, []string{`x{p="C:\\a\n\"b\""} +Inf`}, 0},
		{"quoted names", `{"my.metric","a.b"="c"} 1`, []string{`my.metric{a.b="c"} 1`}, 0},
		{"promtool", `up{job="x"} => 1 @[1700000001.250]`, []string{`up{job="x"} 1 @2023-11-14T22:13:21.25Z`}, 0},
		{"one bad line", "a{b=\"c\"} 1\na{b=\"c} 2\na{b=\"d\"} 3", []string{`a{b="c"} 1`, `a{b="d"} 3`}, 1},
		{"not a number is no value", `a{b="c"} NaN`, nil, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			set, _ := readExposition(tt.text)
			if diff := cmp.Diff(tt.want, flat(set)); diff != "" {
				t.Error(diff)
			}
			if len(set.Coverage) != tt.coverage {
				t.Errorf("coverage: %+v", set.Coverage)
			}
		})
	}
}

func TestNoExposition(t *testing.T) {
	for _, s := range []string{
		"", "# a comment", "replicas 3", "max_threads 200", "cart-0 1/1 Running 0 2m", `{"a":1}`, "a{b} 1", "x{} y", "12 13",
		"Events:", "# TYPE of thing", "# HELP", "{ 1", "web_1 2m",
	} {
		if set, taken := readExposition(s); len(set.Series) > 0 || slices.Contains(taken, true) {
			t.Errorf("%q was taken: %v", s, flat(set))
		}
	}
}

// oracle reads text with Prometheus' own parser and gives its plain samples, without histograms and summaries, whose parts
// it does not keep apart.
func oracle(text string) ([]string, bool) {
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(strings.NewReader(text))
	if err != nil {
		return nil, false
	}
	var set evidence.Set
	for _, name := range slices.Sorted(maps.Keys(families)) {
		f := families[name]
		for _, m := range f.Metric {
			r := evidence.Series{Name: name}
			for _, l := range m.Label {
				if l.GetValue() == "" {
					continue
				}
				if r.Labels == nil {
					r.Labels = map[string]string{}
				}
				r.Labels[l.GetName()] = l.GetValue()
			}
			var v float64
			switch f.GetType().String() {
			case "COUNTER":
				v, r.Type = m.GetCounter().GetValue(), "counter"
			case "GAUGE":
				v, r.Type = m.GetGauge().GetValue(), "gauge"
			case "UNTYPED":
				v = m.GetUntyped().GetValue()
			default:
				return nil, false
			}
			if math.IsNaN(v) {
				continue
			}
			s := evidence.Sample{Value: v}
			if m.TimestampMs != nil {
				// The parser takes any integer; a time before 1973 or of the far future is a mistake here.
				if m.GetTimestampMs() < 1e11 || m.GetTimestampMs() >= 1e14 {
					return nil, false
				}
				s.At = time.UnixMilli(m.GetTimestampMs()).UTC()
			}
			r.Samples = []evidence.Sample{s}
			set.Series = append(set.Series, r)
		}
	}
	out := flat(set)
	slices.Sort(out)
	return out, true
}

func TestExpositionAgainstExpfmt(t *testing.T) {
	text := `# HELP a help
# TYPE a counter
a{x="1",y="é\\\"\n"} 1 1700000001250
a{x="2",} 2e-3
# TYPE b gauge
b -0.5
b { z = "q" } 12
c{k="v"} 0x10
d{k="v"} +Inf
`
	text = strings.Replace(text, "c{k=\"v\"} 0x10\n", "c{k=\"v\"} 16\n", 1)
	want, ok := oracle(text)
	if !ok || len(want) != 6 {
		t.Fatalf("the oracle reads %v", want)
	}
	set, _ := readExposition(text)
	got := flat(set)
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func FuzzExposition(f *testing.F) {
	f.Add("# TYPE a counter\na{x=\"1\"} 1 1700000001250\nb_c 2\n")
	f.Add("{\"my.metric\",\"a.b\"=\"c\"} 1\nup{job=\"x\"} => 1 @[1700000001.250]\n# EOF\n")
	f.Add("x{p=\"C:\\\\a\\n\"} +Inf # {t=\"1\"} 2 3\n")
	f.Fuzz(func(t *testing.T, text string) {
		set, _ := readExposition(text)
		for _, r := range set.Series {
			if r.Name == "" || len(r.Samples) == 0 {
				t.Errorf("a series without name or samples: %+v", r)
			}
			// What was read must read the same again.
			m, ok := parseSample(seriesText(r))
			if !ok || m.name != r.Name || !maps.Equal(m.labels, r.Labels) {
				t.Errorf("%s gives %+v", seriesText(r), m)
			}
		}
	})
}

// seriesText writes a series as an exposition with a quoted name, which holds any name.
func seriesText(r evidence.Series) string {
	esc := strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)
	parts := []string{`"` + esc.Replace(r.Name) + `"`}
	for k, v := range r.Labels {
		parts = append(parts, `"`+esc.Replace(k)+`"="`+esc.Replace(v)+`"`)
	}
	return "{" + strings.Join(parts, ",") + "} 1"
}

func promTree(t *testing.T, s string) map[string]any {
	t.Helper()
	var m map[string]any
	if err := json.Unmarshal([]byte(s), &m); err != nil {
		t.Fatal(err)
	}
	return m
}

func TestPromAnswer(t *testing.T) {
	tests := []struct {
		name, text string
		want       []string
		coverage   []evidence.CoverageStatus
	}{
		{"vector", `{"status":"success","data":{"resultType":"vector","result":[{"metric":{"__name__":"up","pod":"x"},"value":[1700000001.25,"1"]}]}}`,
			[]string{`up{pod="x"} 1 @2023-11-14T22:13:21.25Z`}, nil},
		{"matrix", `{"status":"success","data":{"resultType":"matrix","result":[{"metric":{"pod":"x"},"values":[[1700000002,"NaN"],[1700000001,"3"],[1700000003,"+Inf"]]}]}}`,
			[]string{`{pod="x"} 3 @2023-11-14T22:13:21Z`, `{pod="x"} +Inf @2023-11-14T22:13:23Z`}, nil},
		{"scalar", `{"status":"success","data":{"resultType":"scalar","result":[1700000001,"7"]}}`, []string{"{} 7 @2023-11-14T22:13:21Z"}, nil},
		{"empty", `{"status":"success","data":{"resultType":"vector","result":[]}}`, nil, nil},
		{"warning", `{"status":"success","warnings":["store down"],"data":{"resultType":"vector","result":[]}}`, nil, []evidence.CoverageStatus{"partial"}},
		{"error", `{"status":"error","errorType":"bad_data","error":"parse error"}`, nil, []evidence.CoverageStatus{"error"}},
		{"timeout", `{"status":"error","errorType":"timeout","error":"query timed out"}`, nil, []evidence.CoverageStatus{"timeout"}},
		{"one bad sample", `{"status":"success","data":{"resultType":"matrix","result":[{"metric":{"pod":"x"},"values":[[1700000001,"3"],[1700000002,"x"],7]}]}}`,
			[]string{`{pod="x"} 3 @2023-11-14T22:13:21Z`}, []evidence.CoverageStatus{"partial"}},
		{"native histogram", `{"status":"success","data":{"resultType":"vector","result":[{"metric":{},"histogram":[1,{"count":"1"}]}]}}`, nil, []evidence.CoverageStatus{"partial"}},
		{"alerts", `{"status":"success","data":{"alerts":[{"labels":{"alertname":"A"},"state":"firing","activeAt":"2023-11-14T22:13:21.25Z","value":"1e+00"}]}}`,
			[]string{`ALERTS{alertname="A",alertstate="firing"} 1 @2023-11-14T22:13:21.25Z`}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var set evidence.Set
			if err := promAnswer(promTree(t, tt.text), kubeobj.Origin{File: "q.json", Line: 1}, &set); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, flat(set)); diff != "" {
				t.Error(diff)
			}
			var got []evidence.CoverageStatus
			for _, c := range set.Coverage {
				got = append(got, c.Status)
			}
			if diff := cmp.Diff(tt.coverage, got); diff != "" {
				t.Error(diff)
			}
		})
	}
	var set evidence.Set
	if err := promAnswer(promTree(t, `{"status":"success","data":["a"]}`), kubeobj.Origin{}, &set); err == nil {
		t.Error("a list of names was taken for samples")
	}
}

func TestSeriesExcerpt(t *testing.T) {
	var set evidence.Set
	tree := promTree(t, `{"data":{"resultType":"matrix","result":[{"metric":{"__name__":"busy","pod":"x","job":"j","instance":"i"},"values":[[1700000001,"3"],[1700000002,"198"],[1700000003,"20"]]}]}}`)
	if err := promAnswer(tree, kubeobj.Origin{File: "q.json", Line: 4}, &set); err != nil {
		t.Fatal(err)
	}
	r := set.Series[0]
	if r.Excerpt != `busy{pod="x"} 3…198 (3 samples)` || r.Locator != `busy{instance="i",job="j",pod="x"}` || r.Source != "prometheus" || r.Line != 4 {
		t.Errorf("got %+v", r.Item)
	}
}

func TestCSV(t *testing.T) {
	tests := []struct {
		name, text string
		want       []string
		coverage   int
	}{
		{"pods", "time,cart-0,cart-1\n2026-11-29 14:03:00,3,\n2026-11-29 14:04:00,4,198\n",
			[]string{`{pod="cart-0"} 3 @2026-11-29T14:03:00Z`, `{pod="cart-0"} 4 @2026-11-29T14:04:00Z`, `{pod="cart-1"} 198 @2026-11-29T14:04:00Z`}, 0},
		{"selector and epoch", "\"Time\",\"busy{pod=\"\"x\"\"}\"\n1700000001250,\"7\"\n", []string{`busy{pod="x"} 7 @2023-11-14T22:13:21.25Z`}, 0},
		{"semicolons", "Time;busy\n2026-11-29T14:03:00Z;1,5\n", []string{`busy 1.5 @2026-11-29T14:03:00Z`}, 0},
		{"bad cell", "time,busy\n2026-11-29T14:03:00Z,many\n2026-11-29T14:04:00Z,2\n", []string{`busy 2 @2026-11-29T14:04:00Z`}, 1},
		{"prose", "time, they say, heals\n", nil, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var set evidence.Set
			c := &csvReader{file: "a.csv", set: &set}
			n := 0
			for s := range strings.Lines(tt.text) {
				n++
				c.line(n, strings.TrimRight(s, "\n"))
			}
			c.close()
			if diff := cmp.Diff(tt.want, flat(set)); diff != "" {
				t.Error(diff)
			}
			if len(set.Coverage) != tt.coverage {
				t.Errorf("coverage %+v", set.Coverage)
			}
		})
	}
}
