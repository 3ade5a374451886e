package diagnose

import (
	"testing"
	"time"

	"github.com/probedoctor/probedoctor/rules/facts"
	"github.com/probedoctor/probedoctor/sources/evidence"
)

// nine is so many minutes after nine o'clock.
func nine(minutes float64) time.Time {
	return time.Date(2026, time.March, 14, 9, 0, 0, 0, time.UTC).Add(time.Duration(minutes * float64(time.Minute)))
}

// TestLife: what the pod was doing when its probe failed. The pod of each case was created at 8:00 and became Ready at
// 8:01, unless the case changes that.
func TestLife(t *testing.T) {
	pod := func(change func(p *evidence.Pod)) *evidence.Pod {
		p := &evidence.Pod{Object: object("Pod", "shop", "web-0"), Created: nine(-60), Started: nine(-60),
			Conditions: []evidence.Condition{{Type: "Ready", Status: "True", Transition: nine(-59)}},
			Containers: []evidence.Container{{Name: "app", StatusKnown: true, State: evidence.ContainerState{Status: "running", Started: nine(-60)}}},
		}
		if change != nil {
			change(p)
		}
		return p
	}
	from := func(first, last float64, o evidence.Outcome) evidence.Failure {
		return evidence.Failure{Verdict: evidence.Verdict{Result: evidence.Failed, Outcome: o}, Object: object("Pod", "shop", "web-0"), Container: "app",
			Count: 1, First: nine(first), Last: nine(last)}
	}
	killed := func(minute float64, message string) evidence.Event {
		return evidence.Event{Object: object("Pod", "shop", "web-0"), Reason: "Killing", Message: message, First: nine(minute), Last: nine(minute)}
	}
	const refused, timeout, gone, status = evidence.OutcomeRefused, evidence.OutcomeTimeout, evidence.OutcomeGone, evidence.OutcomeStatus
	unready := func(p *evidence.Pod) {
		p.Conditions = []evidence.Condition{{Type: "Ready", Status: "False", Transition: nine(-60)}}
	}
	tests := []struct {
		name    string
		failure evidence.Failure
		pod     *evidence.Pod
		events  []evidence.Event
		others  []evidence.Failure
		want    facts.Life
	}{
		{"an hour after the start", from(0, 5, timeout), pod(nil), nil, nil, facts.Live},
		{"the pod was not read", from(0, 5, timeout), nil, nil, nil, facts.LifeUnknown},
		{"the pod's times are not known", from(0, 5, timeout), pod(func(p *evidence.Pod) { *p = evidence.Pod{Object: p.Object} }), nil, nil, facts.LifeUnknown},
		{"the failure's times are not known", evidence.Failure{Object: object("Pod", "shop", "web-0")}, pod(nil), nil, nil, facts.LifeUnknown},
		{"refused before it first became Ready", from(-59.8, -59.2, refused), pod(nil), nil, nil, facts.Starting},
		{"refused for long before it first became Ready", from(-59.8, -50, refused), pod(func(p *evidence.Pod) { p.Conditions[0].Transition = nine(-49) }), nil, nil, facts.Starting},
		{"timeouts for long before it became Ready are no start", from(-59.8, -50, timeout), pod(func(p *evidence.Pod) { p.Conditions[0].Transition = nine(-49) }), nil, nil, facts.Live},
		{"soon after the start, and never Ready since", from(-59.8, -59.2, refused), pod(unready), nil, nil, facts.Live},
		{"soon after the start, whether it is Ready is not known", from(-59.8, -59.2, refused), pod(func(p *evidence.Pod) { p.Conditions = nil }), nil, nil, facts.Starting},
		{"soon after a restart", from(0.2, 0.5, refused), pod(func(p *evidence.Pod) {
			p.Containers[0].State.Started, p.Containers[0].Restarts = nine(0), 1
		}), nil, nil, facts.Starting},
		{"before a restart", from(-5, -4, timeout), pod(func(p *evidence.Pod) {
			p.Containers[0].State.Started, p.Containers[0].Restarts = nine(0), 1
		}), nil, nil, facts.Live},
		{"after it was told to stop", from(1, 2, refused), pod(nil), []evidence.Event{killed(0.9, "Stopping container app")}, nil, facts.Terminating},
		{"began before it was told to stop", from(-5, 2, timeout), pod(nil), []evidence.Event{killed(0.9, "Stopping container app")}, nil, facts.Live},
		{"the pod of that name that was stopped was another", from(30, 40, timeout), pod(func(p *evidence.Pod) {
			p.Created, p.Started, p.Containers[0].State.Started = nine(2), nine(2), nine(2)
		}), []evidence.Event{killed(0.9, "Stopping container app")}, nil, facts.Live},
		{"a kill by liveness is no end of the pod", from(1, 2, refused), pod(nil), []evidence.Event{killed(0.9, "Container app failed liveness probe, will be restarted")}, nil, facts.Live},
		{"told to stop at a time that is not known", from(1, 2, timeout), pod(nil), []evidence.Event{{Object: object("Pod", "shop", "web-0"), Reason: "Killing", Message: "Stopping container app"}}, nil, facts.Live},
		{"another pod was told to stop", from(1, 2, refused), pod(nil), []evidence.Event{{Object: object("Pod", "blog", "web-0"), Reason: "Killing", Message: "Stopping container app", First: nine(0), Last: nine(0)}}, nil, facts.Live},
		// The deletion timestamp lies at the end of the grace period.
		{"within the grace period", from(0.6, 0.9, refused), pod(func(p *evidence.Pod) { p.Deleted, p.GraceSeconds = nine(1), 30 }), nil, nil, facts.Terminating},
		{"before the grace period", from(0.1, 0.9, timeout), pod(func(p *evidence.Pod) { p.Deleted, p.GraceSeconds = nine(1), 30 }), nil, nil, facts.Live},
		{"refused by a pod that ends by the table", from(0, 1, refused), pod(func(p *evidence.Pod) { p.Phase = "Terminating" }), nil, nil, facts.Terminating},
		{"timeout of a pod that ends by the table", from(0, 1, timeout), pod(func(p *evidence.Pod) { p.Phase = "Terminating" }), nil, nil, facts.Live},
		{"the container is gone", from(0, 0, gone), pod(nil), nil, nil, facts.Terminating},
		{"beside a container that is gone", from(0.5, 0.8, timeout), pod(nil), nil, []evidence.Failure{from(1, 1, gone)}, facts.Terminating},
		{"a status beside a container that is gone", from(0.5, 0.8, status), pod(nil), nil, []evidence.Failure{from(1, 1, gone)}, facts.Live},
		{"hours before the container is gone", from(-30, -20, timeout), pod(nil), nil, []evidence.Failure{from(1, 1, gone)}, facts.Live},
		{"one row about two ends hours apart", from(0.8, 300.5, refused), pod(nil), nil, []evidence.Failure{from(1, 300, gone)}, facts.Terminating},
		{"between two ends hours apart", from(100, 200, timeout), pod(nil), nil, []evidence.Failure{from(1, 300, gone)}, facts.Live},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			set := &evidence.Set{Events: tt.events, Failures: append(tt.others, tt.failure)}
			if tt.pod != nil {
				set.Pods = []evidence.Pod{*tt.pod}
			}
			b := &builder{set: set, owners: newOwners(set)}
			b.index = newIndex(set, b.owners)
			if got := b.life(&tt.failure, b.owners.pod("shop", "web-0"), "app"); got != tt.want {
				t.Errorf("%s, want %s", got, tt.want)
			}
		})
	}
}
