package paste

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/probedoctor/probedoctor/sources/evidence"
	"github.com/probedoctor/probedoctor/sources/kubeobj"
)

// eventJSON is one event in the order of fields in which kubectl prints it.
const eventJSON = `{
    "apiVersion": "v1",
    "count": 9,
    "eventTime": null,
    "firstTimestamp": "2024-05-06T07:00:00Z",
    "involvedObject": {"fieldPath": "spec.containers{app}", "kind": "Pod", "name": "cart-0", "namespace": "shop", "uid": "u"},
    "kind": "Event",
    "lastTimestamp": "2024-05-06T07:10:00Z",
    "message": "Readiness probe failed: Get \"http://10.0.0.1:8080/\": EOF",
    "metadata": {"creationTimestamp": "2024-05-06T07:00:00Z", "managedFields": [{"a": {"b": [1, 2]}}], "name": "cart-0.17", "namespace": "shop"},
    "reason": "Unhealthy",
    "reportingComponent": "kubelet",
    "reportingInstance": "n1",
    "source": {"component": "kubelet", "host": "n1"},
    "type": "Warning"
}`

// The typed API prints kind first or, within a list, not at all, and metadata before everything else.
const typedEvent = `{"metadata":{"name":"cart-0.17","namespace":"shop","creationTimestamp":"2024-05-06T07:00:00Z"},
"involvedObject":{"kind":"Pod","namespace":"shop","name":"cart-0","uid":"u","fieldPath":"spec.containers{app}"},"reason":"Unhealthy",
"message":"Readiness probe failed: Get \"http://10.0.0.1:8080/\": EOF","source":{"component":"kubelet","host":"n1"},
"firstTimestamp":"2024-05-06T07:00:00Z","lastTimestamp":"2024-05-06T07:10:00Z","count":9,"type":"Warning","eventTime":null,"reportingComponent":"","reportingInstance":""}`

// Whatever the order of fields and whether or not kinds are named, the fast path and the tree give the same event.
func TestEventShapes(t *testing.T) {
	want := readInput(t, eventJSON).Events
	if len(want) != 1 || want[0].Count != 9 || want[0].Container != "app" || want[0].Host != "n1" || want[0].Name != "cart-0.17" {
		t.Fatalf("a single event: %+v", want)
	}
	yamlList := "apiVersion: v1\nitems:\n" + indentJSON(eventJSON) + "kind: List\n"
	for name, text := range map[string]string{
		"list of kubectl":       `{"apiVersion": "v1", "items": [` + eventJSON + `], "kind": "List"}`,
		"typed list":            `{"kind":"EventList","apiVersion":"v1","metadata":{},"items":[` + typedEvent + `]}`,
		"typed, kind behind":    `{"items":[` + typedEvent + `],"kind":"EventList"}`,
		"kind last":             `{"items":[` + strings.TrimSuffix(typedEvent, "}") + `,"kind":"Event"}]}`,
		"bare array":            `[` + eventJSON + `]`,
		"list of lists":         `{"kind":"List","apiVersion":"v1","items":[{"kind":"EventList","items":[` + typedEvent + `]}]}`,
		"one object a line":     strings.Join(strings.Fields(eventJSON), " ") + "\n",
		"list in YAML":          yamlList,
		"within a shell script": "$ kubectl get events -o json\n{\n\"items\": [" + eventJSON + "]}\n$ exit\n",
	} {
		t.Run(name, func(t *testing.T) {
			got := readInput(t, text)
			for i := range got.Events {
				got.Events[i].Line = want[0].Line
			}
			if diff := cmp.Diff(want, got.Events); diff != "" {
				t.Errorf("%s\ncoverage %v", diff, covered(got))
			}
		})
	}
}

// indentJSON makes a list element of YAML from JSON, which is YAML in flow style.
func indentJSON(s string) string {
	return "- " + strings.ReplaceAll(s, "\n", "\n  ") + "\n"
}

func TestLines(t *testing.T) {
	set := readInput(t, "\n\n"+`{"kind":"List","items":[
{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a"}},
  {"kind":"Pod","apiVersion":"v1",
   "metadata":{"name":"b"}}
]}
{"kind":"Pod","apiVersion":"v1","metadata":{"name":"c"}}
---
# a comment
apiVersion: v1
items:
- apiVersion: v1
  kind: Pod
  metadata: {name: d}
- apiVersion: v1
  kind: Pod
  metadata: {name: e}
`)
	got := map[string]int{}
	for _, p := range set.Pods {
		got[p.Object.Name] = p.Line
	}
	if diff := cmp.Diff(map[string]int{"a": 4, "b": 5, "c": 8, "d": 13, "e": 16}, got); diff != "" {
		t.Errorf("%s\ncoverage %v", diff, covered(set))
	}
}

func TestTruncatedJSON(t *testing.T) {
	whole := `{"apiVersion":"v1","items":[` + eventJSON + ",\n" + eventJSON + `],"kind":"List"}`
	for cut := range len(whole) {
		set := readInput(t, whole[:cut])
		if cut > len(whole)-len(`],"kind":"List"}`)-1 {
			if len(set.Events) != 2 {
				t.Fatalf("cut at %d: %d events", cut, len(set.Events))
			}
		}
		if set.Covered(evidence.SourceEvents) {
			t.Fatalf("cut at %d: a cut list counts as whole: %v", cut, covered(set))
		}
	}
	set := readInput(t, whole[:len(whole)-100])
	want := []string{
		"input partial: stdin:29: the JSON ends early; of the document that begins in line 1, 1 object was read",
		"events partial: 1 event",
	}
	if diff := cmp.Diff(want, covered(set)); diff != "" {
		t.Error(diff)
	}
}

// A document that is broken in the middle loses itself, not what follows.
func TestBrokenJSONThenMore(t *testing.T) {
	set := readInput(t, `{"kind":"List","items":[{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a"}}, oops ]}
{"kind":"Pod","apiVersion":"v1","metadata":{"name":"b"}}
`+manifest("c"))
	if diff := cmp.Diff([]string{"a", "b", "c"}, podNames(set)); diff != "" {
		t.Error(diff)
	}
	if got := covered(set)[0]; !strings.HasPrefix(got, "input partial: stdin:1: broken JSON: ") {
		t.Error(got)
	}
}

func TestYAMLDocuments(t *testing.T) {
	for _, c := range []struct {
		name, text string
		pods       []string
		coverage   []string
	}{
		{
			"several documents, one broken", manifest("a") + "---\n" + "apiVersion: v1\nkind: Pod\nmetadata:\n  name: b\n  labels: [x\n---\n" + manifest("c"),
			[]string{"a", "b", "c"}, []string{"input partial: stdin:14: column 11: broken YAML: ", "pods ok: 3 pods", "specs ok: 2 specifications"},
		},
		{
			"indented as a whole", strings.ReplaceAll("\n"+manifest("a"), "\n", "\n        "), []string{"a"}, []string{"pods ok: 1 pod", "specs ok: 1 specification"},
		},
		{
			"carriage returns", strings.ReplaceAll(manifest("a"), "\n", "\r\n"), []string{"a"}, []string{"pods ok: 1 pod", "specs ok: 1 specification"},
		},
		{
			"in a text", "$ kubectl get pod a -o yaml\n" + manifest("a") + "$ exit\n", []string{"a"}, []string{"pods ok: 1 pod", "specs ok: 1 specification"},
		},
		{
			"a list with a broken element", "apiVersion: v1\nitems:\n- apiVersion: v1\n  kind: Pod\n  metadata:\n    name: a\n- apiVersion: v1\n  kind: \"Po\n- apiVersion: v1\n  kind: Pod\n  metadata:\n    name: c\nkind: List\n",
			[]string{"a", "c"}, []string{"input partial: stdin:8: column 9: broken YAML: ", "pods ok: 2 pods"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			set := readInput(t, c.text)
			if diff := cmp.Diff(c.pods, podNames(set)); diff != "" {
				t.Errorf("%s\ncoverage %v", diff, covered(set))
			}
			got := covered(set)
			if len(got) != len(c.coverage) {
				t.Fatalf("coverage %q, want %q", got, c.coverage)
			}
			for i := range got {
				if !strings.HasPrefix(got[i], c.coverage[i]) {
					t.Errorf("coverage %q, want %q", got[i], c.coverage[i])
				}
			}
		})
	}
}

func probesOf(set *evidence.Set) []evidence.ProbeSpec {
	var out []evidence.ProbeSpec
	for _, w := range set.Workloads {
		for _, c := range w.Containers {
			out = append(out, c.Probes...)
		}
	}
	return out
}

func TestYAMLRepairs(t *testing.T) {
	head := "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: {{ .Release.Name }}-api\nspec:\n  template:\n    spec:\n      containers:\n      - name: app\n"
	live := evidence.ProbeSpec{
		Probe: evidence.Liveness, Handler: "tcp", Endpoint: evidence.Endpoint{Scheme: "tcp"}, InitialDelaySeconds: 25,
	}
	diffed := evidence.ProbeSpec{Probe: evidence.Readiness, TimeoutSeconds: 4, PeriodSeconds: 7}
	for _, c := range []struct {
		name, text string
		want       evidence.ProbeSpec
		column     string
	}{
		{
			"template expression", head + "        livenessProbe:\n          tcpSocket:\n            port: {{ .Values.api.port }}\n          initialDelaySeconds: 25\n        {{- with .Values.x }}\n        {{- end }}\n",
			live, "template",
		},
		{
			"unified diff", " apiVersion: apps/v1\n kind: Deployment\n spec:\n   template:\n     spec:\n       containers:\n       - name: app\n         readinessProbe:\n-          timeoutSeconds: 1\n+          timeoutSeconds: 4\n           periodSeconds: 7\n",
			diffed, "",
		},
		{
			"cut behind a probe", strings.ReplaceAll(head, "{{ .Release.Name }}", "x") + "        readinessProbe:\n          timeoutSeconds: 4\n          periodSeconds: 7\n        ports: [{containerP\n",
			diffed, "broken YAML",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			set := readInput(t, c.text)
			if diff := cmp.Diff([]evidence.ProbeSpec{c.want}, probesOf(set)); diff != "" {
				t.Errorf("%s\ncoverage %q", diff, covered(set))
			}
			if got := covered(set)[0]; !strings.HasPrefix(got, "input partial: stdin:") || !strings.Contains(got, c.column) {
				t.Errorf("coverage %q", got)
			}
			if set.Workloads[0].Containers[0].ProbesKnown {
				t.Error("a repaired document claims to know all probes")
			}
		})
	}
}

func TestAnchors(t *testing.T) {
	set := readInput(t, "apiVersion: v1\nkind: Pod\nmetadata: &m\n  name: a\nspec:\n  containers:\n  - name: app\n    readinessProbe: &p\n      httpGet: {path: /, port: 80}\n      periodSeconds: 6\n    livenessProbe:\n      <<: *p\n      periodSeconds: 9\n")
	probes := set.Pods[0].Containers[0].Probes
	if len(probes) != 2 || probes[1].Endpoint.Port != "80" || probes[1].PeriodSeconds != 9 || probes[0].PeriodSeconds != 6 {
		t.Errorf("probes %+v, coverage %q", probes, covered(set))
	}
}

func TestAliasBomb(t *testing.T) {
	var b strings.Builder
	b.WriteString("apiVersion: v1\nkind: Pod\na: &a [x,x,x,x,x,x,x,x,x]\n")
	for c := 'b'; c < 'n'; c++ {
		prev := string(c - 1)
		b.WriteString(string(c) + ": &" + string(c) + " [" + strings.TrimSuffix(strings.Repeat("*"+prev+",", 9), ",") + "]\n")
	}
	set := readInput(t, b.String()+"---\n"+manifest("good"))
	if diff := cmp.Diff([]string{"", "good"}, podNames(set)); diff != "" {
		t.Error(diff)
	}
	if got := covered(set)[0]; !strings.Contains(got, "200000 nodes once its aliases are expanded") {
		t.Errorf("coverage %q", got)
	}
}

// What only looks like a document is text, and a document that is no known thing is text as well.
func TestLookAlikes(t *testing.T) {
	for _, text := range []string{
		"[2022-12-01T10:00:00.000000 #7:1f0]  INFO -- : Completed 200 OK\n",
		`{"level":"error","ts":1700000001.25,"msg":"record"}` + "\n",
		"{{ .Values.x }}\n",
		"{\n  \"localEndpoints\": 0\n}\n",
		"kind: regards\n",
		"---\nnote: to self\n",
		"---\n\v\vnote: to self\n",
	} {
		var lines []string
		kept := newText
		newText = func(string, *evidence.Set, func(int, string) bool) textSink { return &recorder{lines: &lines} }
		set := readInput(t, text)
		newText = kept
		if got := strings.Join(lines, "\n") + "\n"; got != text {
			t.Errorf("%q reached the text reader as %q; coverage %q", text, got, covered(set))
		}
	}
}

type recorder struct{ lines *[]string }

func (r *recorder) line(_ int, s string) { *r.lines = append(*r.lines, s) }
func (r *recorder) dropped(marks)        {}
func (r *recorder) close()               {}

func TestStructuredBlock(t *testing.T) {
	set := &evidence.Set{}
	f := newFileReader("f", newLineInput(strings.NewReader("")), set, Options{}, &kubeobj.Stats{}, map[string]bool{})
	if !f.structured(40, "        livenessProbe:\n          exec:\n            command:\n            # - \"sh -c /probe\"\n            - /probe\n          periodSeconds: 7\n") {
		t.Error("a fragment at depth was not understood")
	}
	if !f.structured(60, `{"limits":{"cpu":"250m"},"requests":{"cpu":"50m"}}`) {
		t.Error("a JSON fragment was not understood")
	}
	if f.structured(70, "a: b\n") || f.structured(80, "{\"x\":1}") || f.structured(90, "plain words") {
		t.Error("a block that is nothing was understood")
	}
	if len(set.Workloads) != 2 || set.Workloads[0].Line != 40 || set.Workloads[0].Containers[0].Probes[0].PeriodSeconds != 7 {
		t.Errorf("workloads %+v", set.Workloads)
	}
}
