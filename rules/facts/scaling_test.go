package facts_test

import (
	"math"
	"testing"
	"time"

	"github.com/probedoctor/probedoctor/rules/facts"
	"github.com/probedoctor/probedoctor/sources/evidence"
)

func rescale(in *facts.Incident, size string, when time.Time) {
	event(in, "SuccessfulRescale", "New size: "+size+"; reason: cpu resource utilization above target", when)
}

func TestScaleEvents(t *testing.T) {
	checkFacts(t, []factTest{
		{"nothing read", nil, wants{"scaling.events": unknown{}, "scaling.reversals": unknown{}, "scaling.metricFailures": unknown{}, "scaling.rateRatio": unknown{}}},
		{"read whole, and nothing scaled", func(in *facts.Incident) { covered(in, evidence.SourceEvents); fail(in, "a", nil) },
			wants{"scaling.events": 0, "scaling.metricFailures": 0, "scaling.rateRatio": unknown{}, "scaling.significance": unknown{}}},
		{"the autoscaler's events stand for the controllers'", func(in *facts.Incident) {
			rescale(in, "4", at(1))
			event(in, "ScalingReplicaSet", "Scaled up replica set web-1 to 4 from 2", at(1))
			rescale(in, "2", at(3))
			rescale(in, "5", at(5))
		}, wants{"scaling.events": 3, "scaling.reversals": 1}},
		{"up, down, up, down turns three times, of which the first is not seen", func(in *facts.Incident) {
			for i, size := range []string{"4", "2", "6", "3"} {
				rescale(in, size, at(float64(i)))
			}
		}, wants{"scaling.events": 4, "scaling.reversals": 2}},
		{"up and up", func(in *facts.Incident) {
			rescale(in, "4", at(1))
			rescale(in, "6", at(2))
			rescale(in, "8", at(3))
		}, wants{"scaling.reversals": 0}},
		{"a rollout has no direction", func(in *facts.Incident) {
			event(in, "ScalingReplicaSet", "Scaled up replica set web-2 to 1", at(1))
			event(in, "ScalingReplicaSet", "Scaled down replica set web-1 to 3 from 4", at(2))
			event(in, "ScalingReplicaSet", "Scaled up replica set web-2 to 2 from 1", at(3))
			event(in, "ScalingReplicaSet", "Scaled down replica set web-1 to 2 from 3", at(4))
		}, wants{"scaling.events": 4, "scaling.reversals": unknown{}}},
		{"only those from ten minutes before to the end", func(in *facts.Incident) {
			rescale(in, "3", at(-11))
			rescale(in, "4", at(-10))
			rescale(in, "5", at(10))
			rescale(in, "6", at(11))
		}, wants{"scaling.events": 2}},
		{"metrics that could not be had", func(in *facts.Incident) {
			event(in, "FailedGetResourceMetric", "", at(1)).Count = 5
			event(in, "FailedComputeMetricsReplicas", "", at(1)).Count = 2
			event(in, "FailedGetScale", "", at(1))
			rescale(in, "4", at(1))
		}, wants{"scaling.metricFailures": 7}},
	})
}

// TestRateRatio computes by hand: the time looked at begins ten minutes before the first failure, or before the first
// scale event where that is earlier, and ends with what was read, at most an hour after the last failure.
func TestRateRatio(t *testing.T) {
	checkFacts(t, []factTest{
		{
			// One scale event at 9:00 covers 3 of the 20 minutes from 8:50 to 9:10. Two pods begin to fail within it, one
			// outside: (2.5 / 0.15) / (1.5 / 0.85). Two or more of three: 3 × 0.15² × 0.85 + 0.15³.
			"two of three beginnings follow", func(in *facts.Incident) {
				rescale(in, "4", at(0))
				fail(in, "a", span(at(1), at(1), 1))
				fail(in, "b", span(at(2), at(2), 1))
				fail(in, "c", span(at(8), at(8), 1))
			}, wants{"scaling.rateRatio": 2.5 / 0.15 / (1.5 / 0.85), "scaling.significance": 0.06075},
		},
		{
			// 9:00:00 and 9:03:00 lie within, a second more does not.
			"the bounds of the three minutes", func(in *facts.Incident) {
				rescale(in, "4", at(0))
				fail(in, "a", span(at(0), at(0), 1))
				fail(in, "b", span(at(3), at(3), 1))
				fail(in, "c", span(at(3).Add(time.Second), at(4), 2))
			}, wants{"scaling.rateRatio": 2.5 / 0.15 / (1.5 / 0.85)},
		},
		{
			// All follow: half a failure on the other side keeps the ratio finite.
			"all follow", func(in *facts.Incident) {
				rescale(in, "4", at(0))
				fail(in, "a", span(at(1), at(2), 9))
				fail(in, "b", span(at(2), at(2.5), 9))
			}, wants{"scaling.rateRatio": 2.5 / 0.15 / (0.5 / 0.85), "scaling.significance": 0.0225},
		},
		{
			// None follows: the chance to see none or more is 1.
			"none follows", func(in *facts.Incident) {
				rescale(in, "4", at(-10))
				fail(in, "a", span(at(1), at(1), 1))
				fail(in, "b", span(at(2), at(2), 1))
			}, wants{"scaling.rateRatio": 0.5 / 0.1 / (2.5 / 0.9), "scaling.significance": 1.0},
		},
		{
			// Two scale events a minute apart cover 4 minutes of 20, not 6.
			"scale events that overlap", func(in *facts.Incident) {
				rescale(in, "4", at(0))
				rescale(in, "6", at(1))
				fail(in, "a", span(at(1), at(1), 1))
				fail(in, "b", span(at(8), at(8), 1))
			}, wants{"scaling.rateRatio": 1.5 / 0.2 / (1.5 / 0.8), "scaling.significance": 0.36},
		},
		{
			// An autoscaler that scales every five minutes, before, during and after: from 8:40 to 10:00 they
			// cover 48 of 80 minutes. Whoever counts only those during the failures takes the rest for quiet.
			"a scale event every five minutes is nothing special", func(in *facts.Incident) {
				for i := range 25 {
					rescale(in, []string{"3", "4"}[i%2], at(float64(-30+5*i)))
				}
				fail(in, "a", span(at(1), at(1), 1))
				fail(in, "b", span(at(10), at(10), 1))
				in.Set.End = at(60)
			}, wants{"scaling.rateRatio": 2.5 / 0.6 / (0.5 / 0.4), "scaling.significance": 0.36},
		},
		{
			// Read three days later: of the time after the last failure nothing was read, so it is not known to be quiet. 3 of
			// 20 minutes.
			"read days later", func(in *facts.Incident) {
				rescale(in, "4", at(0))
				fail(in, "a", span(at(1), at(1), 1))
				fail(in, "b", span(at(10), at(10), 1))
				in.Set.End = at(3 * 24 * 60)
			}, wants{"scaling.rateRatio": 1.5 / 0.15 / (1.5 / 0.85), "scaling.significance": 1 - 0.85*0.85},
		},
		{"one moment is no correlation", func(in *facts.Incident) {
			rescale(in, "4", at(0))
			fail(in, "a", nil)
		}, wants{"scaling.rateRatio": unknown{}}},
		{"failures without times", func(in *facts.Incident) {
			rescale(in, "4", at(0))
			fail(in, "a", span(time.Time{}, time.Time{}, 3))
			fail(in, "b", span(time.Time{}, time.Time{}, 3))
			in.Start, in.End = time.Time{}, time.Time{}
		}, wants{"scaling.rateRatio": unknown{}, "scaling.significance": unknown{}}},
	})
}

func TestRateRatioFromCounters(t *testing.T) {
	in := made(func(in *facts.Incident) {
		rescale(in, "4", at(0))
		fail(in, "a", span(at(0), at(9), 9))
		// One sample a minute: pod a begins to fail at 9:01 and, after quiet minutes, at 9:07. Pod b does not fail.
		series(in, "probe.failedRate", "a", 0, 1, 1, 0, 0, 0, 0, 1)
		series(in, "probe.failedRate", "b", 1, 1, 1, 1)
	})
	v := compute(t, in, "scaling.rateRatio")
	if want := 1.5 / 0.15 / (1.5 / 0.85); !v.Known || math.Abs(v.V.(float64)-want) > 1e-9 {
		t.Errorf("%v, want %v", v.V, want)
	}
}

func TestRaisedBelowTarget(t *testing.T) {
	hpa := func(lowest, current int, metrics ...string) func(in *facts.Incident) {
		return func(in *facts.Incident) {
			in.Autoscaler = &evidence.Autoscaler{Item: evidence.Item{Ref: "autoscaler:0"}, Min: lowest, Max: 10, Current: current, Metrics: metrics}
		}
	}
	checkFacts(t, []factTest{
		{"below its target and above its minimum", hpa(2, 5, "cpu: 12%/60%"), wants{"scaling.raisedBelowTarget": true}},
		{"below its target at its minimum", hpa(2, 2, "cpu: 12%/60%"), wants{"scaling.raisedBelowTarget": false}},
		{"at its target", hpa(2, 5, "12m/100m", "58%/60%"), wants{"scaling.raisedBelowTarget": false}},
		{"the metric is not known", hpa(2, 5, "<unknown>/60%"), wants{"scaling.raisedBelowTarget": unknown{}}},
		{"the minimum is not known", hpa(-1, 5, "12%/60%"), wants{"scaling.raisedBelowTarget": unknown{}}},
		{"the number of replicas is not known", hpa(2, -1, "12%/60%"), wants{"scaling.raisedBelowTarget": unknown{}}},
		{"no autoscaler", nil, wants{"scaling.raisedBelowTarget": unknown{}}},
	})
}
