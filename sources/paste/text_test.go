package paste

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/probedoctor/probedoctor/sources/evidence"
)

func readText(s string) *evidence.Set {
	set := &evidence.Set{}
	r := newTextReader("in", set, func(int, string) bool { return false })
	for i, l := range strings.Split(s, "\n") {
		r.line(i+1, l)
	}
	r.close()
	return set
}

func TestAges(t *testing.T) {
	for _, tt := range []struct {
		cell        string
		last, first time.Duration // -1: not known
		count       int
	}{
		{"95s", 95 * time.Second, 95 * time.Second, 1},
		{"6m2s", 362 * time.Second, 362 * time.Second, 1},
		{"3d7h", 79 * time.Hour, 79 * time.Hour, 1},
		{"2y14d", (2*365 + 14) * 24 * time.Hour, (2*365 + 14) * 24 * time.Hour, 1},
		{"88s (x310 over 14m)", 88 * time.Second, 14 * time.Minute, 310},
		{"31s (x5120 over 17h)", 31 * time.Second, 17 * time.Hour, 5120},
		{"2m9s (x88012 over 3d11h)", 129 * time.Second, 83 * time.Hour, 88012},
		{"<invalid>", -1, -1, 1},
		{"<unknown>", -1, -1, 1},
		{"...", -1, -1, 1},
		{"<invalid> (x3 over 5m)", -1, 5 * time.Minute, 3},
	} {
		sp, rest, ok := cutSpan(tt.cell)
		ago := func(at time.Time) time.Duration {
			if at.IsZero() {
				return -1
			}
			return evidence.Before(at)
		}
		if !ok || rest != "" || ago(sp.last) != tt.last || ago(sp.first) != tt.first || sp.count != tt.count {
			t.Errorf("%s: %v %v x%d rest %q ok %v", tt.cell, ago(sp.last), ago(sp.first), sp.count, rest, ok)
		}
	}
	for _, bad := range []string{"", "s", "12", "5x", "m5", "99999999999d", "1h-2m", "300000d"} {
		if d, ok := parseAge(bad); ok {
			t.Errorf("%q is no age, read as %v", bad, d)
		}
	}
}

func TestPrompts(t *testing.T) {
	for _, tt := range []struct{ line, command string }{
		{"$ kubectl get pods", "kubectl get pods"},
		{"# kubectl describe pod a", "kubectl describe pod a"},
		{"% kubectl get pods", "kubectl get pods"},
		{"> kubectl get hpa", "kubectl get hpa"},
		{"-> oc get ev", "oc get ev"},
		{"❯ kubectl get pods", "kubectl get pods"},
		{"➜ ls", "ls"},
		{"[root@ctl ~]# kubectl get ev", "kubectl get ev"},
		{"user@host:~> kubectl get pods", "kubectl get pods"},
		{`C:\> kubectl get pods`, "kubectl get pods"},
		{`PS C:\Users\x> kubectl get pods`, "kubectl get pods"},
		{"bash-5.2# curl http://[::1]:80/", "curl http://[::1]:80/"},
		{"/app # netstat -ltn", "netstat -ltn"},
		{"  > sudo kubectl get pods", "sudo kubectl get pods"},
		{"[root@ctl ~]# ", ""},
		{"$", ""},
	} {
		_, command, ok := cutPrompt(tt.line)
		if !ok || command != tt.command {
			t.Errorf("%q gives %q, %v", tt.line, command, ok)
		}
	}
	for _, line := range []string{
		"", "# a heading of Markdown", "> a quotation", "-> see below", "% of requests", "kubectl is broken.", "[12:00] text > more",
		"mail me at a@b.c", "10.30.1.1 - - [x] \"GET / HTTP/1.1\" 200",
	} {
		if _, command, ok := cutPrompt(line); ok {
			t.Errorf("%q is no prompt, read as %q", line, command)
		}
	}
}

func TestCommands(t *testing.T) {
	for line, want := range map[string]command{
		"kubectl describe pod cart-0 -n shop":                     {tool: "kubectl", verb: "describe", kind: "Pod", name: "cart-0", namespace: "shop"},
		"kubectl -n shop logs cart-0 -c app --tail 5":             {tool: "kubectl", verb: "log", kind: "Pod", name: "cart-0", namespace: "shop", container: "app"},
		"kubectl logs deploy/cart --namespace=shop -f":            {tool: "kubectl", verb: "log", kind: "Deployment", name: "cart", namespace: "shop"},
		"oc logs -f cart-0 app":                                   {tool: "oc", verb: "log", kind: "Pod", name: "cart-0", container: "app"},
		"kubectl get hpa; kubectl get pods":                       {tool: "kubectl", verb: "get", kind: "HorizontalPodAutoscaler"},
		"sudo k3s kubectl get po -A | grep x":                     {tool: "kubectl", verb: "get", kind: "Pod"},
		"kubectl exec -it cart-0 -n shop -c app -- curl :8080/ok": {tool: "kubectl", verb: "exec", kind: "Pod", name: "cart-0", namespace: "shop", container: "app", inner: "curl :8080/ok"},
	} {
		want.args = line
		if diff := gocmp.Diff(want, parseCommand(line), gocmp.AllowUnexported(command{})); diff != "" {
			t.Errorf("%s: -want +got\n%s", line, diff)
		}
	}
}

// TestProse holds that text about a cluster is not taken for its output.
func TestProse(t *testing.T) {
	for _, s := range []string{
		"Killing the pod does not help.", "Failed requests went up.", "Warning: this cluster is old", "Normal pods are fine",
		"Created a new node pool", "the events say Unhealthy", "Environment: prod", "Kubernetes version: v1.29.3", "Reason: unknown to me",
		"I ran 2/3 of the tests", "error: it does not work", "We use readiness probes on 8080.", "Note: this is prose",
		"- [ ] check the probe", "1. kubectl was upgraded", "see http://example.test/x: it works", "max=3",
	} {
		if set := readText(s); items(set) > 0 || len(set.Coverage) > 0 {
			t.Errorf("%q was read as %v", s, brief(set))
		}
	}
}

// TestUnreadRows holds that a row which cannot be read is named, and that its neighbours are kept.
func TestUnreadRows(t *testing.T) {
	set := readText(`NAME    READY   STATUS    RESTARTS   AGE
foo-1   weird   Running   none       now
bar-0   1/1     Running   0          3d`)
	want := []string{
		"pod | Pod//bar-0 | Running | 1/1 | restarts 0 | created 72h0m0s ago",
		"coverage | partial | in:2: a row of a table of pods that does not fit its columns",
	}
	if diff := gocmp.Diff(want, brief(set)); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	many := readText("NAME READY STATUS RESTARTS AGE\n" + strings.Repeat("a  b  c  d  e\n", 100))
	if len(many.Coverage) != maxComplaints+1 || !strings.Contains(many.Coverage[maxComplaints].Detail, "80 more") {
		t.Errorf("%d complaints, the last %v", len(many.Coverage), many.Coverage[len(many.Coverage)-1])
	}
}

// TestSubject holds that a pod which one line names with its namespace is the same in the lines that leave that out, and
// that what a fence or a prompt ends does not reach beyond it.
func TestSubject(t *testing.T) {
	set := readText("```\n$ kubectl describe pod cart-0 -n shop\nName:  cart-0\nEvents:\n  Warning  Unhealthy  3m  kubelet  Liveness probe failed: EOF\n```\n" +
		"Readiness probe failed: HTTP probe failed with statuscode: 500\n" +
		"3s  Warning  Unhealthy  pod/kv-1  Liveness probe failed: EOF\n" +
		"4s  Warning  BackOff  pod/kv-1  Back-off restarting failed container kv in pod kv-1_data(5b1f0a5e-0c7b-4b57-9a13-6f2f4a6a1c90)")
	var got []string
	for _, e := range set.Events {
		got = append(got, briefObject(e.Object)+" "+e.Locator)
	}
	want := []string{
		"Pod/shop/cart-0 event shop/cart-0 Unhealthy", "Pod event Unhealthy",
		"Pod/data/kv-1 event data/kv-1 Unhealthy", "Pod/data/kv-1 event data/kv-1 BackOff",
	}
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

func seeds(f *testing.F) {
	f.Helper()
	files, err := filepath.Glob("testdata/formats/*.txt")
	if err != nil || len(files) == 0 {
		f.Fatal(len(files), err)
	}
	for _, name := range files {
		b, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(b))
	}
}

// FuzzText holds that no text makes the reader panic, that its items have a place and bounded texts, and that reading is
// the same every time.
func FuzzText(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, s string) {
		set := readText(s)
		for _, e := range set.Events {
			if e.Line < 1 || len(e.Excerpt) > maxExcerpt || e.Count < 1 || len(e.Message) > 2*maxJoined {
				t.Fatalf("%+v", e)
			}
			if !e.First.IsZero() && !e.Last.IsZero() && e.Last.Before(e.First) {
				t.Fatalf("last before first: %+v", e)
			}
			if !utf8.ValidString(e.Message) || !utf8.ValidString(e.Excerpt) {
				t.Fatalf("not UTF-8: %+v", e)
			}
		}
		for _, p := range set.Pods {
			if p.ReadyContainers > p.TotalContainers || p.Restarts < -1 {
				t.Fatalf("%+v", p)
			}
		}
		if diff := gocmp.Diff(brief(set), brief(readText(s))); diff != "" {
			t.Fatal(diff)
		}
	})
}

// FuzzEventRow holds that a row is read or refused, and that nothing of its message is lost or invented.
func FuzzEventRow(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, s string) {
		c, ok := scanEventRow(s)
		if !ok {
			return
		}
		if c.Reason == "" && !startsProbeText(c.Message) && c.Type == "" {
			t.Fatalf("an event without a reason: %q gives %+v", s, c.Event)
		}
		if !strings.Contains(s, c.Message) {
			t.Fatalf("%q is not in %q", c.Message, s)
		}
	})
}

// TestTablesWithCommas: kubectl's tables after a script has put commas between the cells.
func TestTablesWithCommas(t *testing.T) {
	set := readInput(t, `NAME,READY,STATUS,RESTARTS,AGE,IP,NODE,NOMINATED,NODE,READINESS,GATES
web-6d9c579567-66t6j,0/1,CrashLoopBackOff,7,12m,10.244.3.7,worker3,<none>,<none>
web-6d9c579567-q2w4x,1/1,Running,0,12m,10.244.2.9,worker2,<none>,<none>

NAME,REFERENCE,TARGETS,MINPODS,MAXPODS,REPLICAS,AGE
web,Deployment/web,93%/50%,1,6,4,15m

NAME,CPU(cores),MEMORY(bytes),
web-6d9c579567-66t6j,101m,15Mi,

2026-11-29T14:03:11Z ERROR cache: read of a,b,c failed, gave up, went on
`)
	if got := strings.Join(podNames(set), " "); got != "web-6d9c579567-66t6j web-6d9c579567-q2w4x" || set.Pods[0].Restarts != 7 {
		t.Errorf("pods %s, %+v", got, set.Pods)
	}
	if len(set.Autoscalers) != 1 || set.Autoscalers[0].Current != 4 || len(set.Series) != 2 {
		t.Errorf("autoscalers %+v, %d series", set.Autoscalers, len(set.Series))
	}
	if len(set.Logs) != 1 || !strings.Contains(set.Logs[0].Message, "read of a,b,c failed, gave up") {
		t.Errorf("what follows the tables: %+v", set.Logs)
	}
}
