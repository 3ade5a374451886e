package awselb

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/probedoctor/probedoctor/sources/evidence"
)

func read(t *testing.T, set *evidence.Set, text string) error {
	t.Helper()
	var tree map[string]any
	if err := json.Unmarshal([]byte(text), &tree); err != nil {
		t.Fatal(err)
	}
	return Read(tree, evidence.Item{File: "elb.json", Line: 1}, set)
}

func TestTargetHealth(t *testing.T) {
	var set evidence.Set
	err := read(t, &set, `{"TargetHealthDescriptions": [
		{"Target": {"Id": "10.30.2.7", "Port": 8080}, "TargetHealth": {"State": "draining", "Reason": "Target.DeregistrationInProgress", "Description": "Target deregistration is in progress"}},
		{"Target": {"Id": "i-0a", "Port": 31690}, "HealthCheckPort": "32211", "TargetHealth": {"State": "unhealthy", "Reason": "Target.ResponseCodeMismatch", "Description": "Health checks failed with these codes: [500, 502]"}},
		{"Target": {"Id": "i-0b", "Port": 31690}, "HealthCheckPort": "32211", "TargetHealth": {"State": "healthy"}},
		{"Target": {"Id": "10.30.2.8", "Port": 8080}, "TargetHealth": {"State": "unhealthy.draining", "Reason": "Target.Timeout", "Description": "Request timed out"}}]}`)
	if err != nil {
		t.Fatal(err)
	}
	item := func(locator, excerpt string) evidence.Item {
		return evidence.Item{Source: "aws", Locator: locator, File: "elb.json", Line: 1, Excerpt: excerpt}
	}
	want := []evidence.Target{
		{Item: item("10.30.2.7:8080", "10.30.2.7:8080 draining Target.DeregistrationInProgress Target deregistration is in progress"), Balancer: "aws",
			ID: "10.30.2.7", Port: "8080", State: "draining", Reason: "Target.DeregistrationInProgress", Description: "Target deregistration is in progress"},
		{Item: item("i-0a:31690", "i-0a:31690 unhealthy Target.ResponseCodeMismatch Health checks failed with these codes: [500, 502]"), Balancer: "aws",
			ID: "i-0a", Port: "31690", CheckPort: "32211", State: "unhealthy", Reason: "Target.ResponseCodeMismatch",
			Description: "Health checks failed with these codes: [500, 502]", Codes: []int{500, 502}},
		{Item: item("i-0b:31690", "i-0b:31690 healthy"), Balancer: "aws", ID: "i-0b", Port: "31690", CheckPort: "32211", State: "healthy"},
		{Item: item("10.30.2.8:8080", "10.30.2.8:8080 draining Target.Timeout Request timed out"), Balancer: "aws", ID: "10.30.2.8", Port: "8080",
			State: "draining", Reason: "Target.Timeout", Description: "Request timed out"},
	}
	if diff := cmp.Diff(want, set.Targets); diff != "" {
		t.Error(diff)
	}
}

const groups = `{"TargetGroups": [{"TargetGroupArn": "arn:aws:elasticloadbalancing:eu-north-1:1:targetgroup/k8s-shop-cart/0a1b", "TargetGroupName": "k8s-shop-cart",
	"Protocol": "HTTP", "Port": 8080, "HealthCheckProtocol": "HTTP", "HealthCheckPort": "traffic-port", "HealthCheckEnabled": true, "HealthCheckIntervalSeconds": 10,
	"HealthCheckTimeoutSeconds": 5, "HealthyThresholdCount": 5, "UnhealthyThresholdCount": 2, "HealthCheckPath": "/healthCheck", "Matcher": {"HttpCode": "200-399"}, "TargetType": "ip"}]}`

func TestTargetGroups(t *testing.T) {
	var set evidence.Set
	if err := read(t, &set, groups); err != nil {
		t.Fatal(err)
	}
	if err := read(t, &set, `{"Attributes": [{"Key": "stickiness.enabled", "Value": "false"}, {"Key": "deregistration_delay.timeout_seconds", "Value": "30"}]}`); err != nil {
		t.Fatal(err)
	}
	want := []evidence.HealthCheck{{
		Item: evidence.Item{Source: "aws", Locator: "k8s-shop-cart", File: "elb.json", Line: 1,
			Excerpt: "target group k8s-shop-cart: http://:traffic-port/healthCheck, every 10s, timeout 5s, healthy after 5, unhealthy after 2, expects 200-399, deregistration delay 30s"},
		Balancer: "aws", Group: "k8s-shop-cart", Endpoint: evidence.Endpoint{Scheme: "http", Port: "traffic-port", Path: "/healthCheck"},
		TargetPort: "8080", TargetType: "ip", Interval: 10 * time.Second, Timeout: 5 * time.Second, HealthyThreshold: 5, UnhealthyThreshold: 2,
		Matcher: "200-399", DeregistrationDelay: 30 * time.Second,
	}}
	if diff := cmp.Diff(want, set.HealthChecks); diff != "" {
		t.Error(diff)
	}
}

func TestAttributesOfAnUnknownGroup(t *testing.T) {
	var set evidence.Set
	if err := read(t, &set, groups); err != nil {
		t.Fatal(err)
	}
	if err := read(t, &set, strings.ReplaceAll(groups, "k8s-shop-cart", "other")); err != nil {
		t.Fatal(err)
	}
	if err := read(t, &set, `{"Attributes": [{"Key": "deregistration_delay.timeout_seconds", "Value": "30"}]}`); err != nil {
		t.Fatal(err)
	}
	// With two groups the delay could be either's.
	if len(set.HealthChecks) != 3 || set.HealthChecks[2].Group != "" || set.HealthChecks[0].DeregistrationDelay != 0 {
		t.Errorf("got %+v", set.HealthChecks)
	}
}

func TestTags(t *testing.T) {
	var set evidence.Set
	err := read(t, &set, `{"TagDescriptions": [{"ResourceArn": "arn:aws:elasticloadbalancing:x:1:targetgroup/k8s-a/0", "Tags": [{"Key": "service.k8s.aws/stack", "Value": "shop/cart"}, {"Key": "team", "Value": "x"}]}]}`)
	if err != nil || len(set.Services) != 1 || set.Services[0].Backends[0] != "shop/cart" || len(set.Services[0].Annotations) != 1 {
		t.Errorf("%v: %+v", err, set.Services)
	}
}

func TestBadAnswers(t *testing.T) {
	var set evidence.Set
	if err := read(t, &set, `{"items": []}`); err != ErrUnknown {
		t.Errorf("got %v", err)
	}
	err := read(t, &set, `{"TargetHealthDescriptions": [7, {"Target": {}}, {"Target": {"Id": "10.0.0.1"}, "TargetHealth": {"State": "healthy"}}]}`)
	if err == nil || err.Error() != "2 of 3 elements of TargetHealthDescriptions could not be read" || len(set.Targets) != 1 {
		t.Errorf("got %v and %d targets", err, len(set.Targets))
	}
}

func TestReasonLine(t *testing.T) {
	for _, tt := range []struct {
		line, reason string
		codes        []int
	}{
		{"Target.Timeout", "Target.Timeout", nil},
		{"`Target.ResponseCodeMismatch [401]`", "Target.ResponseCodeMismatch", []int{401}},
		{"Target.FailedHealthChecks: Health checks failed with these codes: [500,502]", "Target.FailedHealthChecks", []int{500, 502}},
		{"Reason: Elb.InitialHealthChecking", "Elb.InitialHealthChecking", nil},
		{"Target.Timeout means that it was slow", "", nil},
		{"Target.Nothing", "", nil},
		{"Target", "", nil},
	} {
		got, ok := ReasonLine(tt.line, evidence.Item{})
		if ok != (tt.reason != "") || got.Reason != tt.reason || cmp.Diff(tt.codes, got.Codes) != "" {
			t.Errorf("%q: %v %+v", tt.line, ok, got)
		}
	}
}

const table = `
-----------------------------------------------------------------
|                     DescribeTargetHealth                      |
+---------------------------------------------------------------+
||                  TargetHealthDescriptions                   ||
|+------------------------------------+------------------------+|
||  HealthCheckPort                   |  8080                  ||
|+------------------------------------+------------------------+|
|||                          Target                           |||
||+------------------------------+----------------------------+||
|||  Id                          |  10.30.2.7                 |||
|||  Port                        |  8080                      |||
||+------------------------------+----------------------------+||
|||                       TargetHealth                        |||
||+-------------------+--------------------+------------------+||
|||  Description      |  Request timed out                    |||
|||  Reason           |  Target.Timeout                       |||
|||  State            |  unhealthy                            |||
||+-------------------+--------------------+------------------+||
||                  TargetHealthDescriptions                   ||
|+------------------------------------+------------------------+|
|||                          Target                           |||
||+------------------------------+----------------------------+||
|||              Id              |           Port             |||
|||  10.30.2.8                   |  8080                      |||
||+------------------------------+----------------------------+||
|||                       TargetHealth                        |||
||+-------------------+---------------------------------------+||
|||  State            |  healthy                              |||
||+-------------------+---------------------------------------+||
`

func TestTable(t *testing.T) {
	text := "TARGETHEALTHDESCRIPTIONS\t8080\nTARGET\teu-north-1a\t10.30.2.7\t8080\nTARGETHEALTH\tRequest timed out\tTarget.Timeout\tunhealthy\n" +
		"TARGETHEALTHDESCRIPTIONS\nTARGET\t10.30.2.8\t8080\nTARGETHEALTH\thealthy\n"
	for name, s := range map[string]string{"table": table, "text": text} {
		var set evidence.Set
		r := NewTable(evidence.Item{File: "x"}, &set)
		n := 0
		for line := range strings.Lines(s) {
			n++
			r.Line(n, line)
		}
		r.Close()
		var got []string
		for _, g := range set.Targets {
			got = append(got, g.Excerpt+" "+g.CheckPort)
		}
		want := []string{"10.30.2.7:8080 unhealthy Target.Timeout Request timed out 8080", "10.30.2.8:8080 healthy "}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	var set evidence.Set
	r := NewTable(evidence.Item{}, &set)
	for _, s := range []string{"| a | b |", "|---|---|", "TARGET", "prose", ""} {
		if r.Line(1, s) {
			t.Errorf("%q was taken", s)
		}
	}
}

func FuzzELB(f *testing.F) {
	f.Add(groups)
	f.Add(`{"TargetHealthDescriptions": [{"Target": {"Id": "10.30.2.7", "Port": 8080}, "TargetHealth": {"State": "healthy"}}]}`)
	f.Add(table)
	f.Fuzz(func(t *testing.T, s string) {
		var set evidence.Set
		var tree map[string]any
		if json.Unmarshal([]byte(s), &tree) == nil {
			_ = Read(tree, evidence.Item{}, &set)
		}
		r := NewTable(evidence.Item{}, &set)
		for line := range strings.Lines(s) {
			r.Line(1, line)
			ReasonLine(line, evidence.Item{})
		}
		r.Close()
		for _, g := range set.Targets {
			if g.ID == "" || g.State == "" {
				t.Errorf("a target without id or state: %+v", g)
			}
		}
	})
}
