package diagnose_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	json "github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"

	"github.com/probedoctor/probedoctor/internal/diagnose"
	"github.com/probedoctor/probedoctor/rules"
	"github.com/probedoctor/probedoctor/sources/evidence"
)

// The sets of these tests are made by hand. nine is so many minutes after nine o'clock.
func nine(minutes float64) time.Time {
	return time.Date(2026, time.March, 14, 9, 0, 0, 0, time.UTC).Add(time.Duration(minutes * float64(time.Minute)))
}

const timedOut = `Readiness probe failed: Get "http://10.0.0.7:8080/healthz": context deadline exceeded (Client.Timeout exceeded while awaiting headers)`

// unhealthy adds an Unhealthy event of the container app.
func unhealthy(s *evidence.Set, ns, pod string, first, last float64, count int) {
	s.Events = append(s.Events, evidence.Event{
		Item:   evidence.Item{Source: "kubernetes", Locator: ns + "/" + pod, Excerpt: timedOut},
		Object: evidence.Object{Namespace: ns, Kind: "Pod", Name: pod}, Container: "app", Type: "Warning", Reason: "Unhealthy", Message: timedOut,
		Count: count, First: nine(first), Last: nine(last),
	})
}

// podOf adds a pod of one container that was made an hour before nine.
func podOf(s *evidence.Set, ns, name string, ready bool, change func(p *evidence.Pod)) {
	status := "False"
	if ready {
		status = "True"
	}
	p := evidence.Pod{
		Item:   evidence.Item{Source: "kubernetes", Locator: ns + "/" + name, Excerpt: name},
		Object: evidence.Object{Namespace: ns, Kind: "Pod", Name: name}, Created: nine(-60), Started: nine(-60), Phase: "Running",
		Conditions: []evidence.Condition{{Type: "Ready", Status: status, Transition: nine(-59)}},
		Containers: []evidence.Container{{Name: "app", StatusKnown: true, Ready: ready, State: evidence.ContainerState{Status: "running", Started: nine(-60)}}},
	}
	if change != nil {
		change(&p)
	}
	s.Pods = append(s.Pods, p)
}

func targetOf(s *evidence.Set, ns, pod, state string) {
	s.Targets = append(s.Targets, evidence.Target{Item: evidence.Item{Source: "aws", Locator: "g", Excerpt: state}, Balancer: "aws", Group: "g",
		ID: "10.0.0." + pod, Pod: evidence.Object{Namespace: ns, Kind: "Pod", Name: pod}, State: state, Reason: "Target.Timeout"})
}

// summary is an incident in one line: subject, failures and symptoms.
func summary(d rules.Diagnosis) string {
	n := 0
	for _, g := range d.Failures {
		n += g.Count
	}
	line := fmt.Sprintf("%s/%s %s [%s] %d failures", d.Subject.Namespace, d.Subject.Name, d.Subject.Kind, d.Subject.Container, n)
	for _, s := range d.Symptoms {
		line += "; " + s.Kind + ": " + s.Text
	}
	return line
}

func TestIncidents(t *testing.T) {
	k := knowledge(t)
	for _, tt := range []struct {
		name string
		make func(s *evidence.Set)
		want []string // most severe first
	}{
		{"nothing", func(*evidence.Set) {}, nil},
		{"all is well", func(s *evidence.Set) {
			podOf(s, "shop", "web-0", true, nil)
			podOf(s, "shop", "job-x2v4k", false, func(p *evidence.Pod) { p.Phase = "Succeeded" })
			podOf(s, "shop", "old-x2v4k", false, func(p *evidence.Pod) { p.Deleted = nine(0) })
			podOf(s, "shop", "new-x2v4k", false, func(p *evidence.Pod) { p.Phase = "Pending" })
			targetOf(s, "shop", "web-0", "healthy")
			s.Events = append(s.Events, evidence.Event{Object: evidence.Object{Namespace: "shop", Kind: "Pod", Name: "web-0"}, Reason: "Pulled", Message: "Container image already present", First: nine(0), Last: nine(0)})
			s.Logs = append(s.Logs, evidence.LogLine{Origin: "app", Message: "listening on port 8080", At: nine(0)}, evidence.LogLine{Origin: "kernel", Message: "eth0: link up", At: nine(0)})
			s.Requests = append(s.Requests, evidence.Request{Path: "/healthz", Status: 200, By: "server", At: nine(0)},
				evidence.Request{Method: "GET", Path: "/favicon.ico", Status: 404, By: "server", At: nine(0)})
		}, nil},
		{"failures of one container are one incident", func(s *evidence.Set) {
			unhealthy(s, "shop", "web-7d9f8b6c5d-x2v4k", 0, 5, 9)
			unhealthy(s, "shop", "web-7d9f8b6c5d-q2v4k", 10, 12, 3)
		}, []string{"shop/web Deployment [app] 12 failures; probe-failure: 12 probe failures: readiness 12"}},
		{"two bursts are two incidents", func(s *evidence.Set) {
			unhealthy(s, "shop", "web-0", 0, 5, 9)
			unhealthy(s, "shop", "web-0", 66, 70, 7)
		}, []string{"shop/web StatefulSet [app] 9 failures; probe-failure: 9 probe failures: readiness 9", "shop/web StatefulSet [app] 7 failures; probe-failure: 7 probe failures: readiness 7"}},
		{"a gap of no more than an hour is none", func(s *evidence.Set) {
			unhealthy(s, "shop", "web-0", 0, 5, 9)
			unhealthy(s, "shop", "web-0", 65, 70, 7)
		}, []string{"shop/web StatefulSet [app] 16 failures; probe-failure: 16 probe failures: readiness 16"}},
		{"transients hours apart are one matter", func(s *evidence.Set) {
			unhealthy(s, "shop", "web-0", 0, 0, 1)
			unhealthy(s, "shop", "web-0", 120, 120, 1)
			unhealthy(s, "shop", "web-0", 300, 300, 1)
		}, []string{"shop/web StatefulSet [app] 3 failures; probe-failure: 3 probe failures: readiness 3"}},
		{"a transient beside two bursts does not join them", func(s *evidence.Set) {
			unhealthy(s, "shop", "web-0", 0, 5, 9)
			unhealthy(s, "shop", "web-0", 120, 120, 1)
			unhealthy(s, "shop", "web-0", 300, 305, 7)
		}, []string{"shop/web StatefulSet [app] 10 failures; probe-failure: 10 probe failures: readiness 10", "shop/web StatefulSet [app] 7 failures; probe-failure: 7 probe failures: readiness 7"}},
		{"workloads of one name in two namespaces stay apart", func(s *evidence.Set) {
			unhealthy(s, "shop", "web-0", 0, 5, 9)
			unhealthy(s, "blog", "web-0", 0, 5, 7)
			podOf(s, "shop", "web-0", true, nil)
			podOf(s, "blog", "web-0", true, nil)
			targetOf(s, "shop", "web-0", "unhealthy")
			targetOf(s, "blog", "web-0", "unhealthy")
		}, []string{"shop/web StatefulSet [app] 9 failures; probe-failure: 9 probe failures: readiness 9; unhealthy-target: 1 target unhealthy in aws g: Target.Timeout",
			"blog/web StatefulSet [app] 7 failures; probe-failure: 7 probe failures: readiness 7; unhealthy-target: 1 target unhealthy in aws g: Target.Timeout"}},
		{"and a text without a namespace joins one of them at most", func(s *evidence.Set) {
			unhealthy(s, "", "web-7d9f8b6c5d-x2v4k", -1, -1, 1)
			unhealthy(s, "shop", "web-7d9f8b6c5d-q2v4k", 0, 5, 9)
			unhealthy(s, "blog", "web-7d9f8b6c5d-z2v4k", 1, 5, 7)
		}, []string{"shop/web Deployment [app] 10 failures; probe-failure: 10 probe failures: readiness 10", "blog/web Deployment [app] 7 failures; probe-failure: 7 probe failures: readiness 7"}},
		{"a text without a namespace is about the only workload of the name", func(s *evidence.Set) {
			unhealthy(s, "shop", "web-7d9f8b6c5d-q2v4k", 0, 5, 9)
			unhealthy(s, "", "web-7d9f8b6c5d-x2v4k", 1, 1, 1)
		}, []string{"shop/web Deployment [app] 10 failures; probe-failure: 10 probe failures: readiness 10"}},
		{"two containers of a pod are two incidents", func(s *evidence.Set) {
			unhealthy(s, "shop", "web-0", 0, 5, 9)
			unhealthy(s, "shop", "web-0", 0, 5, 7)
			s.Events[1].Container = "side"
		}, []string{"shop/web StatefulSet [app] 9 failures; probe-failure: 9 probe failures: readiness 9", "shop/web StatefulSet [side] 7 failures; probe-failure: 7 probe failures: readiness 7"}},
		{"what names no object is about the only workload", func(s *evidence.Set) {
			unhealthy(s, "shop", "web-0", 0, 5, 9)
			s.Events = append(s.Events, evidence.Event{Message: timedOut, AtLeast: true})
		}, []string{"shop/web StatefulSet [app] 10 failures; probe-failure: 10 probe failures: readiness 10"}},
		{"what names no object stays for itself beside two", func(s *evidence.Set) {
			unhealthy(s, "shop", "web-0", 0, 5, 9)
			unhealthy(s, "shop", "db-0", 0, 5, 8)
			s.Events = append(s.Events, evidence.Event{Message: timedOut, AtLeast: true})
		}, []string{"shop/web StatefulSet [app] 9 failures; probe-failure: 9 probe failures: readiness 9", "shop/db StatefulSet [app] 8 failures; probe-failure: 8 probe failures: readiness 8",
			"/  [] 1 failures; probe-failure: 1 probe failure: readiness 1"}},
		{"a bare message, and the only workload that was read", func(s *evidence.Set) {
			s.Events = append(s.Events, evidence.Event{Message: timedOut})
			s.Workloads = append(s.Workloads, evidence.Workload{Object: evidence.Object{Namespace: "shop", Kind: "Deployment", Name: "web"}, Desired: -1, ReadyCount: -1})
		}, []string{"shop/web Deployment [] 1 failures; probe-failure: 1 probe failure: readiness 1"}},
		{"a bare message, and workloads of one name in two namespaces", func(s *evidence.Set) {
			s.Events = append(s.Events, evidence.Event{Message: timedOut})
			for _, ns := range []string{"blog", "shop"} {
				s.Workloads = append(s.Workloads, evidence.Workload{Object: evidence.Object{Namespace: ns, Kind: "Deployment", Name: "web"}, Desired: -1, ReadyCount: -1})
			}
		}, []string{"/  [] 1 failures; probe-failure: 1 probe failure: readiness 1"}},
		{"pods that are not Ready, without any failure", func(s *evidence.Set) {
			podOf(s, "shop", "web-0", false, nil)
			podOf(s, "shop", "web-1", true, nil)
			podOf(s, "blog", "api-0", false, func(p *evidence.Pod) { p.Phase = "CrashLoopBackOff" })
			podOf(s, "blog", "mem-0", true, func(p *evidence.Pod) { p.Containers[0].LastState.Reason = "OOMKilled" })
		}, []string{"blog/api StatefulSet [app] 0 failures; not-ready: api-0: in CrashLoopBackOff", "shop/web StatefulSet [app] 0 failures; not-ready: web-0: not Ready",
			"blog/mem StatefulSet [app] 0 failures; not-ready: mem-0: its container was killed for memory"}},
		{"a pod of a workload that fails makes no incident of its own", func(s *evidence.Set) {
			unhealthy(s, "shop", "web-0", 0, 5, 9)
			podOf(s, "shop", "web-0", true, nil)
			podOf(s, "shop", "web-1", false, nil)
		}, []string{"shop/web StatefulSet [app] 9 failures; probe-failure: 9 probe failures: readiness 9"}},
		{"only the balancer complains", func(s *evidence.Set) {
			podOf(s, "shop", "web-0", true, nil)
			targetOf(s, "shop", "web-0", "unhealthy")
		}, []string{"shop/web StatefulSet [] 0 failures; unhealthy-target: 1 target unhealthy in aws g: Target.Timeout"}},
		{"failing requests of users", func(s *evidence.Set) {
			s.Requests = append(s.Requests, evidence.Request{Method: "GET", Path: "/cart", Status: 502, By: "balancer", At: nine(0)})
		}, []string{"/  [] 0 failures; failing-request: GET /cart answered 502"}},
		{"a health path that is not found", func(s *evidence.Set) {
			s.Requests = append(s.Requests, evidence.Request{Method: "GET", Path: "/healthz", Status: 404, By: "server", At: nine(0)})
		}, []string{"/  [] 0 failures; failing-request: GET /healthz answered 404"}},
		{"by severity: unavailable, killed, failing, name", func(s *evidence.Set) {
			for _, w := range []string{"few", "many", "kills", "down", "also-few"} {
				unhealthy(s, "shop", w+"-0", 0, 5, map[string]int{"few": 6, "many": 60, "kills": 6, "down": 1, "also-few": 6}[w])
				podOf(s, "shop", w+"-0", w != "down", nil)
			}
			s.Events = append(s.Events, evidence.Event{Object: evidence.Object{Namespace: "shop", Kind: "Pod", Name: "kills-0"}, Reason: "Killing",
				Message: "Container app failed liveness probe, will be restarted", Count: 2, First: nine(1), Last: nine(2)})
		}, []string{"shop/down StatefulSet [app] 1 failures; probe-failure: 1 probe failure: readiness 1",
			"shop/kills StatefulSet [app] 6 failures; probe-failure: 6 probe failures: readiness 6; liveness-restart: 2 restarts by liveness",
			"shop/many StatefulSet [app] 60 failures; probe-failure: 60 probe failures: readiness 60",
			"shop/also-few StatefulSet [app] 6 failures; probe-failure: 6 probe failures: readiness 6",
			"shop/few StatefulSet [app] 6 failures; probe-failure: 6 probe failures: readiness 6"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := &evidence.Set{}
			tt.make(s)
			s.Finish(evidence.FinishOptions{})
			var got []string
			for _, d := range diagnose.Run(s, k, diagnose.Options{}).Items {
				got = append(got, summary(d))
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("incidents (-want +got):\n%s", diff)
			}
		})
	}
}

// TestWorkloadsOfOneNameShareNothing: each of two namespaces has its own pods, events, logs and series.
func TestWorkloadsOfOneNameShareNothing(t *testing.T) {
	s := &evidence.Set{}
	for i, ns := range []string{"blog", "shop"} {
		pod := fmt.Sprintf("web-7d9f8b6c5d-x2v4%d", 2+i)
		unhealthy(s, ns, pod, 0, 5, 9)
		podOf(s, ns, pod, true, nil)
		s.Series = append(s.Series, evidence.Series{Item: evidence.Item{Source: "prometheus", Locator: ns, Excerpt: ns}, Signal: "pool.utilisation", Name: ns,
			Labels: map[string]string{"pod": pod, "namespace": ns}, Samples: []evidence.Sample{{At: nine(1), Value: []float64{0.2, 0.99}[i]}}})
		s.Events = append(s.Events, evidence.Event{Object: evidence.Object{Namespace: ns, Kind: "Pod", Name: pod}, Reason: "Killing",
			Message: "Container app failed liveness probe, will be restarted", Count: i + 1, First: nine(1), Last: nine(2)})
	}
	s.Finish(evidence.FinishOptions{})
	for _, ev := range diagnose.Evaluations(s, knowledge(t), diagnose.Options{}) {
		in := ev.Incident
		kills, used := int64(1), 0.2
		if in.Namespace == "shop" {
			kills, used = 2, 0.99
		}
		if len(in.Pods) != 1 || in.Pods[0].Object.Namespace != in.Namespace {
			t.Errorf("%s has the pods %v", in.Namespace, in.Pods)
		}
		if got := ev.Values["failures.kills"].V; got != kills {
			t.Errorf("%s: %v kills, want %d", in.Namespace, got, kills)
		}
		if got := ev.Values["pool.utilisation"].V; got != used {
			t.Errorf("%s: utilisation %v, want %v", in.Namespace, got, used)
		}
	}
}

// TestRequestsAreInOrder: those that name their pod and those that do not are one log, and the last answer by hand counts.
func TestRequestsAreInOrder(t *testing.T) {
	s := &evidence.Set{}
	unhealthy(s, "shop", "web-0", 0, 5, 9)
	for i, pod := range []string{"web-0", "", "web-0"} {
		s.Requests = append(s.Requests, evidence.Request{Path: "/healthz", Status: 500 + i, By: "client", At: nine(float64(3 - i)), Object: evidence.Object{Name: pod}})
	}
	s.Finish(evidence.FinishOptions{})
	ev := diagnose.Evaluations(s, knowledge(t), diagnose.Options{})[0]
	if got := ev.Values["answers.toHand"].V; got != int64(500) {
		t.Errorf("the last answer by hand was %v, want 500", got)
	}
}

// TestAsOf: at a moment in between, what came later is not known.
func TestAsOf(t *testing.T) {
	s := &evidence.Set{}
	unhealthy(s, "shop", "web-0", 0, 20, 40)
	unhealthy(s, "shop", "db-0", 15, 20, 30)
	podOf(s, "shop", "web-0", false, func(p *evidence.Pod) { p.Conditions[0].Transition, p.Observed = nine(1), nine(20) })
	s.Finish(evidence.FinishOptions{})
	k := knowledge(t)

	full := diagnose.Run(s, k, diagnose.Options{})
	end := diagnose.Run(s, k, diagnose.Options{AsOf: nine(20)})
	if a, b := document(t, full), document(t, end); !bytes.Equal(a, b) {
		t.Error("as of the end is not the whole")
	}
	if len(full.Items) != 2 {
		t.Fatalf("%d incidents", len(full.Items))
	}
	cut := diagnose.Run(s, k, diagnose.Options{AsOf: nine(10)})
	if len(cut.Items) != 1 || cut.Items[0].Subject.Name != "web" {
		t.Fatalf("as of 9:10: %d incidents", len(cut.Items))
	}
	d := cut.Items[0]
	if g := d.Failures[0]; g.Count != 1 || !g.AtLeast {
		t.Errorf("the row that went on counts %d (at least: %v), want 1 or more", g.Count, g.AtLeast)
	}
	if d.Window.End.After(nine(10)) || !d.Window.AsOf.Equal(nine(10)) {
		t.Errorf("the window is %+v", d.Window)
	}
	for ref, e := range d.Evidence {
		if e.At.After(nine(10)) || strings.HasPrefix(string(ref), "event:") && !strings.HasPrefix(e.Excerpt, "as recorded later: ") {
			t.Errorf("%s opens as known at 9:10: %+v", ref, e)
		}
	}
	if before := diagnose.Run(s, k, diagnose.Options{AsOf: nine(-1)}); len(before.Items) != 0 {
		t.Errorf("before all of it: %s", summary(before.Items[0]))
	}
}

func document(t *testing.T, list *rules.DiagnosisList) []byte {
	t.Helper()
	b, err := json.Marshal(list, json.Deterministic(true))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestOrderOfInputDoesNotMatter shuffles a set with something of everything fifty times.
func TestOrderOfInputDoesNotMatter(t *testing.T) {
	k := knowledge(t)
	make := func(r *rand.Rand) []byte {
		s := &evidence.Set{}
		for i, ns := range []string{"shop", "blog", ""} {
			for j := range 4 {
				pod := fmt.Sprintf("web-7d9f8b6c5d-x2v%d%d", i+2, j+2)
				unhealthy(s, ns, pod, float64(j), float64(5+j), 3+j)
				podOf(s, ns, pod, j%2 == 0, func(p *evidence.Pod) { p.Node = fmt.Sprintf("n%d", j%2); p.IP = fmt.Sprintf("10.0.%d.%d", i, j) })
				podOf(s, ns, pod, j%3 == 0, func(p *evidence.Pod) { p.Restarts, p.Containers, p.Phase = j, nil, "Running" }) // a second reading
				targetOf(s, ns, pod, []string{"healthy", "unhealthy"}[j%2])
				s.Series = append(s.Series, evidence.Series{Item: evidence.Item{Source: "prometheus", Locator: pod}, Signal: "pool.utilisation", Name: pod,
					Labels: map[string]string{"pod": pod}, Samples: []evidence.Sample{{At: nine(float64(j)), Value: 0.9}, {At: nine(1), Value: 0.5}}})
				s.Requests = append(s.Requests, evidence.Request{Item: evidence.Item{Locator: pod}, Path: "/healthz", Status: 200, By: "server", At: nine(1), Object: evidence.Object{Name: pod}})
			}
			s.Autoscalers = append(s.Autoscalers, evidence.Autoscaler{Object: evidence.Object{Namespace: ns, Kind: "HorizontalPodAutoscaler", Name: "web"},
				Target: evidence.Object{Kind: "Deployment", Name: "web"}, Min: 2, Max: 9, Current: 4, Desired: 4, Metrics: []string{"cpu: 10%/60%"}})
			s.Workloads = append(s.Workloads, evidence.Workload{Object: evidence.Object{Namespace: ns, Kind: "Deployment", Name: "web"}, Desired: 4, ReadyCount: 2})
			s.HealthChecks = append(s.HealthChecks, evidence.HealthCheck{Balancer: "aws", Group: "g", Endpoint: evidence.Endpoint{Path: "/healthz"}, UnhealthyThreshold: i + 2})
			s.Listeners = append(s.Listeners, evidence.Listener{Address: "0.0.0.0", Port: fmt.Sprint(8080 + i), Queued: -1, Backlog: -1})
			s.Nodes = append(s.Nodes, evidence.Node{Object: evidence.Object{Kind: "Node", Name: fmt.Sprintf("n%d", i)}, Conditions: []evidence.Condition{{Type: "Ready", Status: "True"}}})
			for j := range 6 {
				s.Logs = append(s.Logs, evidence.LogLine{Item: evidence.Item{Locator: "app log " + ns}, Origin: "app", Object: evidence.Object{Namespace: ns, Name: "web-7d9f8b6c5d-x2v22"},
					Message: fmt.Sprintf("RedisCommandTimeoutException %d", j), Route: "/cart", At: nine(float64(j % 3))})
				s.Events = append(s.Events, evidence.Event{Object: evidence.Object{Namespace: ns, Kind: "HorizontalPodAutoscaler", Name: "web"}, Reason: "SuccessfulRescale",
					Message: fmt.Sprintf("New size: %d; reason: cpu", 2+j%3), First: nine(float64(j)), Last: nine(float64(j)), Count: 1})
			}
		}
		s.Events = append(s.Events, evidence.Event{Message: timedOut})
		s.Coverage = []evidence.Coverage{{Source: "events", Status: evidence.CoverageOK}, {Source: "logs", Status: evidence.CoveragePartial, Detail: "a"}, {Source: "logs", Status: evidence.CoverageOK, Detail: "b"}}
		if r != nil {
			shuffle(r, s.Events)
			shuffle(r, s.Pods)
			shuffle(r, s.Workloads)
			shuffle(r, s.Autoscalers)
			shuffle(r, s.Nodes)
			shuffle(r, s.Series)
			for i := range s.Series {
				shuffle(r, s.Series[i].Samples)
			}
			shuffle(r, s.Logs)
			shuffle(r, s.Requests)
			shuffle(r, s.Targets)
			shuffle(r, s.HealthChecks)
			shuffle(r, s.Listeners)
			shuffle(r, s.Coverage)
		}
		s.Finish(evidence.FinishOptions{})
		return document(t, diagnose.Run(s, k, diagnose.Options{}))
	}
	want := make(nil)
	if !bytes.Contains(want, []byte(`"blog"`)) || !bytes.Contains(want, []byte("Redis")) {
		t.Fatal("the set does not show what it was made for")
	}
	r := rand.New(rand.NewPCG(3, 4))
	for i := range 50 {
		if got := make(r); !bytes.Equal(got, want) {
			at := 0
			for at < min(len(got), len(want)) && got[at] == want[at] {
				at++
			}
			t.Fatalf("shuffle %d differs at byte %d:\n%s\n%s", i, at, around(want, at), around(got, at))
		}
	}
}

func shuffle[T any](r *rand.Rand, items []T) {
	r.Shuffle(len(items), func(i, j int) { items[i], items[j] = items[j], items[i] })
}

func around(b []byte, at int) []byte { return b[max(0, at-200):min(len(b), at+100)] }

// TestMatch keeps only the subjects that were asked for.
func TestMatch(t *testing.T) {
	s := &evidence.Set{}
	unhealthy(s, "shop", "web-0", 0, 5, 9)
	unhealthy(s, "shop", "db-0", 0, 5, 9)
	s.Finish(evidence.FinishOptions{})
	o := diagnose.Options{Match: func(s rules.Subject) bool { return s.Name == "db" }}
	list := diagnose.Run(s, knowledge(t), o)
	if len(list.Items) != 1 || list.Items[0].Subject.Name != "db" {
		t.Errorf("%d incidents", len(list.Items))
	}
	if n := len(diagnose.Evaluations(s, knowledge(t), o)); n != 1 {
		t.Errorf("%d evaluations", n)
	}
	if !slices.ContainsFunc(list.Coverage, func(c evidence.Coverage) bool {
		return c.Source == evidence.SourceLogs && c.Status == evidence.CoverageAbsent
	}) {
		t.Errorf("the logs, of which nothing was read, are not named as absent: %v", list.Coverage)
	}
}

// TestManyIncidents: the most severe are diagnosed and the number of the others is said.
func TestManyIncidents(t *testing.T) {
	s := &evidence.Set{}
	for i := range diagnose.MaxIncidents + 3 {
		unhealthy(s, "shop", fmt.Sprintf("web%d-0", i), 0, 10, 10+i)
	}
	s.Finish(evidence.FinishOptions{})
	list := diagnose.Run(s, knowledge(t), diagnose.Options{})
	if len(list.Items) != diagnose.MaxIncidents || list.Items[0].Subject.Name != fmt.Sprintf("web%d", diagnose.MaxIncidents+2) {
		t.Errorf("%d incidents, %s first", len(list.Items), list.Items[0].Subject.Name)
	}
	if last := list.Coverage[len(list.Coverage)-1]; last.Status != evidence.CoveragePartial || !strings.Contains(last.Detail, "103 incidents were found") {
		t.Errorf("the coverage ends with %+v", last)
	}
}
