package evidence

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// at gives the moment of the minute after eleven.
func at(minute int) time.Time { return noon.Add(time.Duration(minute-60) * time.Minute) }

func finished(s *Set) *Set {
	s.Requests = append(s.Requests, Request{At: noon, Path: "/end"})
	s.Finish(FinishOptions{})
	return s
}

func TestAsOfTheEndIsTheSetItself(t *testing.T) {
	s := finished(&Set{Events: []Event{unhealthy("a", at(0), at(50), 9)}})
	for _, moment := range []time.Time{s.End, s.End.Add(time.Hour), {}} {
		if s.AsOf(moment) != s {
			t.Errorf("AsOf(%s) is another set", moment)
		}
	}
}

func TestAsOfEvents(t *testing.T) {
	combined := unhealthy("combined", at(0), at(50), 40)
	combined.Combined = true
	s := finished(&Set{Events: []Event{
		unhealthy("goes-on", at(0), at(50), 9),
		unhealthy("over", at(0), at(20), 4),
		unhealthy("later", at(40), at(50), 2),
		unhealthy("last-only", time.Time{}, at(20), 3),
		unhealthy("last-only-later", time.Time{}, at(50), 3),
		unhealthy("timeless", time.Time{}, time.Time{}, 3),
		combined,
	}})
	c := s.AsOf(at(30))
	got := map[string]Event{}
	for _, e := range c.Events {
		got[e.Object.Name] = e
	}
	if len(got) != 4 {
		t.Errorf("%d rows are left: %v", len(got), got)
	}
	if e := got["goes-on"]; e.Count != 1 || !e.AtLeast || !e.Last.Equal(at(0)) {
		t.Errorf("a row that goes on: %+v", e)
	}
	if e := got["over"]; e.Count != 4 || e.AtLeast {
		t.Errorf("a row that was over: %+v", e)
	}
	if e := got["last-only"]; e.Count != 3 || e.AtLeast {
		t.Errorf("a row with its last time only: %+v", e)
	}
	if e := got["combined"]; e.Message != "" || !e.AtLeast {
		t.Errorf("a combined row keeps the text of its newest occurrence: %+v", e)
	}
	counts := map[string]int{}
	for _, f := range c.Failures {
		counts[f.Object.Name] = f.Count
		if f.AtLeast != (f.Object.Name == "goes-on") {
			t.Errorf("AtLeast of the failure of %s is %t", f.Object.Name, f.AtLeast)
		}
		if _, ok := s.Lookup(f.Cites); !ok {
			t.Errorf("%s is not in the whole set", f.Cites)
		}
	}
	if diff := cmp.Diff(map[string]int{"goes-on": 1, "over": 4, "last-only": 3}, counts); diff != "" {
		t.Errorf("failures (-want +got):\n%s", diff)
	}
	if s.Events[0].AtLeast || len(s.Failures) != 7 {
		t.Error("the whole set was changed")
	}
	if !c.End.Equal(at(30)) || !c.Cut.Equal(at(30)) {
		t.Errorf("end %s, cut %s", c.End, c.Cut)
	}
}

func TestAsOfPod(t *testing.T) {
	ready := func(status string, since time.Time) []Condition {
		return []Condition{{Type: "Ready", Status: status, Transition: since}, {Type: "ContainersReady", Status: status, Transition: since}}
	}
	running := func(since time.Time) ContainerState { return ContainerState{Status: "running", Started: since} }
	ended := func(from, to time.Time) ContainerState {
		return ContainerState{Status: "terminated", Reason: "Error", ExitCode: ptr(137), Started: from, Finished: to}
	}
	one := func(c Container) []Container {
		c.Name, c.StatusKnown, c.ProbesKnown = "web", true, true
		return []Container{c}
	}
	cases := []struct {
		name string
		pod  Pod
		want Pod
	}{
		{"proven ready", Pod{Created: at(0), Phase: "Running", Conditions: ready("True", at(10)), Containers: one(Container{Ready: true, Started: ptr(true), State: running(at(5))})},
			Pod{Created: at(0), Conditions: ready("True", at(10)), Containers: one(Container{Ready: true, Started: ptr(true), State: running(at(5))})}},
		{"ready only since", Pod{Conditions: ready("True", at(40)), Containers: one(Container{Ready: true, Started: ptr(true), State: running(at(5))})},
			Pod{Containers: one(Container{ReadyUnknown: true, State: running(at(5))})}},
		{"not ready", Pod{Conditions: ready("False", at(10)), Containers: one(Container{State: running(at(5))})},
			Pod{Conditions: ready("False", at(10)), Containers: one(Container{State: running(at(5))})}},
		{"not started until the end", Pod{Containers: one(Container{Started: ptr(false), State: running(at(5))})},
			Pod{Containers: one(Container{ReadyUnknown: true, Started: ptr(false), State: running(at(5))})}},
		{"restarted since", Pod{Restarts: 4, Containers: one(Container{Restarts: 4, State: running(at(40)), LastState: ended(at(10), at(39))})},
			Pod{Restarts: -1, Containers: one(Container{ReadyUnknown: true, Restarts: -1, State: running(at(10))})}},
		{"waiting to restart", Pod{Restarts: 4, LastRestart: at(40), Containers: one(Container{Restarts: 4, State: running(at(40)), LastState: ended(at(10), at(20))})},
			func() Pod {
				p := Pod{Restarts: -1, Containers: one(Container{Restarts: -1, LastState: ended(at(10), at(20))})}
				p.Containers[0].StatusKnown = false
				return p
			}()},
		{"restarted before", Pod{Restarts: 4, LastRestart: at(20), Containers: one(Container{Restarts: 4, State: running(at(20)), LastState: ended(at(10), at(19))})},
			Pod{Restarts: 4, LastRestart: at(20), Containers: one(Container{ReadyUnknown: true, Restarts: 4, State: running(at(20)), LastState: ended(at(10), at(19))})}},
		{"ended since", Pod{Containers: one(Container{State: ended(at(10), at(40))})},
			Pod{Containers: one(Container{ReadyUnknown: true, State: running(at(10))})}},
		{"never restarted", Pod{Containers: one(Container{State: running(at(10))})},
			Pod{Containers: one(Container{ReadyUnknown: true, State: running(at(10))})}},
		{"deleted since", Pod{Deleted: at(40), GraceSeconds: 30}, Pod{GraceSeconds: 30}},
		{"terminating, its grace not over", Pod{Deleted: at(31), GraceSeconds: 120}, Pod{Deleted: at(31), GraceSeconds: 120}},
		{"columns of a table", Pod{ReadyContainers: 1, TotalContainers: 2, Reason: "CrashLoopBackOff", Restarts: 0}, Pod{}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			c.pod.Object, c.want.Object = pod("a"), pod("a")
			c.pod.Observed = noon
			s := finished(&Set{Pods: []Pod{c.pod}})
			before := finished(&Set{Pods: []Pod{c.pod}})
			got := s.AsOf(at(30)).Pods[0]
			got.Ref = ""
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(before.Pods, s.Pods); diff != "" {
				t.Errorf("the whole set was changed:\n%s", diff)
			}
		})
	}

	s := finished(&Set{Pods: []Pod{
		{Object: pod("new"), Created: at(40)},
		{Object: pod("seen"), Phase: "Running", TotalContainers: 2, Item: Item{Observed: at(20)}},
		{Object: pod("seen"), Phase: "Failed", TotalContainers: 2, Item: Item{Observed: at(50)}},
	}})
	pods := s.AsOf(at(30)).Pods
	if len(pods) != 2 || pods[1].Phase != "Running" || !pods[1].Observed.Equal(at(20)) || pods[0].Phase != "" {
		t.Errorf("the newest reading before the cut is not the last: %+v", pods)
	}
}

func TestAsOfOthers(t *testing.T) {
	cond := func(min int) []Condition { return []Condition{{Type: "X", Transition: at(min)}} }
	s := finished(&Set{
		Workloads: []Workload{
			{Object: Object{Name: "later"}, Created: at(40)},
			{Object: Object{Name: "web"}, Created: at(0), Desired: 3, ReadyCount: 2, Conditions: cond(40)},
			{Object: Object{Name: "seen"}, Desired: 3, Item: Item{Observed: at(20)}},
		},
		Autoscalers: []Autoscaler{
			{Object: Object{Name: "before"}, Current: 2, Desired: 3, LastScale: at(20), Conditions: cond(10)},
			{Object: Object{Name: "after"}, Current: 2, Desired: 3, LastScale: at(40)},
		},
		Nodes: []Node{{Object: Object{Name: "n"}, Conditions: cond(40)}, {Object: Object{Name: "later"}, Created: at(40)}},
		Series: []Series{
			{Name: "range", Samples: []Sample{{at(10), 1}, {at(30), 2}, {at(40), 3}}},
			{Name: "later", Samples: []Sample{{at(40), 3}}},
			{Name: "scrape", Samples: []Sample{{Value: 3}}},
			{Name: "scrape before", Samples: []Sample{{Value: 3}}, Item: Item{Observed: at(20)}},
		},
		Logs: []LogLine{{At: at(10), Message: "a"}, {At: at(40), Message: "b"}, {Message: "timeless"}},
		Targets: []Target{
			{ID: "since", State: "unhealthy", Since: at(10)},
			{ID: "later", State: "unhealthy", Reason: "Target.Timeout", Codes: []int{1}, Since: at(40)},
			{ID: "seen", State: "healthy", Item: Item{Observed: at(20)}},
		},
		Listeners:    []Listener{{Port: "1", Item: Item{Observed: at(20)}}, {Port: "2"}},
		HealthChecks: []HealthCheck{{Group: "g"}},
		Services:     []Service{{Object: Object{Name: "s"}}},
	})
	c := s.AsOf(at(30))

	workloads := map[string]int{}
	for _, w := range c.Workloads {
		workloads[w.Object.Name] = w.Desired
	}
	if diff := cmp.Diff(map[string]int{"web": -1, "seen": 3}, workloads); diff != "" {
		t.Errorf("workloads:\n%s", diff)
	}
	scalers := map[string][2]int{}
	for _, a := range c.Autoscalers {
		scalers[a.Object.Name] = [2]int{a.Current, a.Desired}
	}
	if diff := cmp.Diff(map[string][2]int{"before": {-1, 3}, "after": {-1, -1}}, scalers); diff != "" {
		t.Errorf("autoscalers:\n%s", diff)
	}
	if len(c.Nodes) != 1 || len(c.Nodes[0].Conditions) != 0 {
		t.Errorf("nodes: %+v", c.Nodes)
	}
	series := map[string]int{}
	for _, r := range c.Series {
		series[r.Name] = len(r.Samples)
	}
	if diff := cmp.Diff(map[string]int{"range": 2, "scrape before": 1}, series); diff != "" {
		t.Errorf("series:\n%s", diff)
	}
	if len(c.Logs) != 1 || c.Logs[0].Message != "a" {
		t.Errorf("logs: %+v", c.Logs)
	}
	targets := map[string]string{}
	for _, g := range c.Targets {
		targets[g.ID] = g.State + g.Reason
	}
	if diff := cmp.Diff(map[string]string{"since": "unhealthy", "later": "unknown", "seen": "healthy"}, targets); diff != "" {
		t.Errorf("targets:\n%s", diff)
	}
	if len(c.Requests) != 0 || len(c.Listeners) != 1 || len(c.HealthChecks) != 1 || len(c.Services) != 1 {
		t.Errorf("requests %d, listeners %d, health checks %d, services %d", len(c.Requests), len(c.Listeners), len(c.HealthChecks), len(c.Services))
	}
}
