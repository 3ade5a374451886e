package kubeobj

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/probedoctor/probedoctor/sources/evidence"
)

func TestEvents(t *testing.T) {
	set := addJSON(t, `{"kind":"EventList","apiVersion":"v1","items":[
	{"metadata":{"name":"cart-0.1","namespace":"shop"},"involvedObject":{"kind":"Pod","name":"cart-0","namespace":"shop","uid":"u","fieldPath":"spec.containers{app}"},
	 "type":"Warning","reason":"Unhealthy","message":"Readiness probe failed: HTTP probe failed with statuscode: 500","count":9,"eventTime":null,
	 "firstTimestamp":"2024-05-06T07:00:00Z","lastTimestamp":"2024-05-06T07:10:00Z","source":{"component":"kubelet","host":"n1"},"reportingComponent":"","reportingInstance":""},
	{"metadata":{"name":"cart-0.2","namespace":"shop"},"involvedObject":{"kind":"Pod","name":"cart-0","fieldPath":"spec.containers{app}"},
	 "type":"Warning","reason":"Unhealthy","message":"(combined from similar events): Liveness probe failed: EOF","count":3,
	 "firstTimestamp":"2024-05-06T07:00:00Z","lastTimestamp":"2024-05-06T07:10:00Z","source":{"component":"kubelet","host":"n1"}},
	{"apiVersion":"events.k8s.io/v1","metadata":{"name":"cart-0.3","namespace":"shop"},"regarding":{"kind":"Pod","name":"cart-0","namespace":"shop"},
	 "type":"Warning","reason":"FailedScheduling","note":"0/3 nodes are available","eventTime":"2024-05-06T07:01:00.123456Z",
	 "series":{"count":5,"lastObservedTime":"2024-05-06T07:05:00.000000Z"},"deprecatedCount":0,"deprecatedFirstTimestamp":null,
	 "reportingController":"default-scheduler","reportingInstance":"default-scheduler-m1","deprecatedSource":{}},
	{"metadata":{"name":"n1.4","namespace":"default"},"involvedObject":{"kind":"Node","name":"n1","uid":"n1"},"type":"Normal","reason":"NodeNotReady",
	 "message":"Node n1 status is now: NodeNotReady","firstTimestamp":"2024-05-06T07:00:00Z","reportingComponent":"kubelet","reportingInstance":"n1"},
	{"metadata":{"name":"x"},"involvedObject":{"kind":"Pod","name":"x"},"type":"Normal","reason":"Pulled","message":"Container image already present"}
	]}`, Origin{Source: "kubernetes"})
	ts := func(s string) time.Time { return at("2024-05-06T" + s + "Z") }
	cart := evidence.Object{Namespace: "shop", Kind: "Pod", Name: "cart-0"}
	withUID := cart
	withUID.UID = "u"
	want := []evidence.Event{
		{
			Object: withUID, Container: "app", Type: "Warning", Reason: "Unhealthy", Message: "Readiness probe failed: HTTP probe failed with statuscode: 500",
			Count: 9, First: ts("07:00:00"), Last: ts("07:10:00"), Component: "kubelet", Host: "n1", Name: "cart-0.1",
		},
		{
			Object: cart, Type: "Warning", Reason: "Unhealthy", Message: "Liveness probe failed: EOF", Combined: true,
			Count: 3, First: ts("07:00:00"), Last: ts("07:10:00"), Component: "kubelet", Host: "n1", Name: "cart-0.2",
		},
		{
			Object: cart, Type: "Warning", Reason: "FailedScheduling", Message: "0/3 nodes are available",
			Count: 5, First: ts("07:01:00.123456"), Last: ts("07:05:00"), Component: "default-scheduler", Name: "cart-0.3",
		},
		{
			Object: evidence.Object{Kind: "Node", Name: "n1", UID: "n1"}, Type: "Normal", Reason: "NodeNotReady", Message: "Node n1 status is now: NodeNotReady",
			Count: 1, First: ts("07:00:00"), Last: ts("07:00:00"), Component: "kubelet", Host: "n1", Name: "n1.4",
		},
	}
	for i := range want {
		want[i].Source = "kubernetes"
	}
	if diff := cmp.Diff(want, set.Events, noExcerpt); diff != "" {
		t.Error(diff)
	}
	if got, want := set.Events[0].Locator, "event shop/cart-0.1"; got != want {
		t.Errorf("locator %q, want %q", got, want)
	}
	if got, want := set.Events[0].Excerpt, "Warning Unhealthy pod/cart-0 x9 Readiness probe failed: HTTP probe failed with statuscode: 500"; got != want {
		t.Errorf("excerpt %q, want %q", got, want)
	}
}

func TestKept(t *testing.T) {
	for _, c := range []struct {
		typ, reason string
		want        bool
	}{
		{"Warning", "AnythingAtAll", true}, {"Normal", "Killing", true}, {"Normal", "SuccessfulRescale", true}, {"Normal", "NodeHasDiskPressure", true},
		{"", "Pulled", true}, {"Normal", "Pulled", false}, {"Normal", "LeaderElection", false}, {"Normal", "", false},
	} {
		if got := Kept(c.typ, c.reason); got != c.want {
			t.Errorf("%s %s: kept %v, want %v", c.typ, c.reason, got, c.want)
		}
	}
	var stats Stats
	set := &evidence.Set{}
	for _, raw := range []RawEvent{{Type: "Normal", Reason: "Pulled"}, {Type: "Warning", Reason: "BackOff"}} {
		AddEvent(set, &raw, Origin{Stats: &stats})
	}
	if stats.Events != 2 || stats.LeftOut != 1 || len(set.Events) != 1 {
		t.Errorf("stats %+v, %d kept", stats, len(set.Events))
	}
}

func TestStripMessage(t *testing.T) {
	for _, c := range []struct {
		in   string
		want evidence.Event
	}{
		{"spec.containers{app}: Liveness probe failed: EOF", evidence.Event{Message: "Liveness probe failed: EOF", Container: "app"}},
		{"spec.initContainers{a-b}: x", evidence.Event{Message: "x", Container: "a-b"}},
		{"(combined from similar events): spec.containers{app}: x", evidence.Event{Message: "x", Combined: true}},
		{"(combined from similar events): ", evidence.Event{Combined: true}},
		{"spec.containers{a}:", evidence.Event{Container: "a"}},
		{"Get {a}: x", evidence.Event{Message: "Get {a}: x"}},
		{"", evidence.Event{}},
	} {
		e := evidence.Event{Message: c.in}
		StripMessage(&e)
		if diff := cmp.Diff(c.want, e); diff != "" {
			t.Errorf("%q: %s", c.in, diff)
		}
	}
}

func TestClocksThatDisagree(t *testing.T) {
	set := &evidence.Set{}
	raw := RawEvent{Type: "Warning", First: at("2024-05-06T07:10:00Z"), Last: at("2024-05-06T07:00:00Z")}
	AddEvent(set, &raw, Origin{})
	if e := set.Events[0]; e.Last.Before(e.First) {
		t.Errorf("the row ends (%v) before it begins (%v)", e.Last, e.First)
	}
}
