package facts_test

import (
	"testing"
	"time"

	"github.com/probedoctor/probedoctor/rules/facts"
	"github.com/probedoctor/probedoctor/sources/evidence"
)

func by(who string, status int) func(r *evidence.Request) {
	return func(r *evidence.Request) { r.By, r.Status = who, status }
}

func TestAnswersToProbers(t *testing.T) {
	from := func(in *facts.Incident, client, path string, status int, seconds ...float64) {
		for _, s := range seconds {
			request(in, path, func(r *evidence.Request) { r.Client, r.Status, r.At = client, status, at(s/60) })
		}
	}
	checkFacts(t, []factTest{
		{"none", nil, wants{"answers.toProbers": unknown{}}},
		{"by the agent", func(in *facts.Incident) {
			for range 2 {
				request(in, "/x", func(r *evidence.Request) { r.UserAgent, r.Status = "kube-probe/1.31", 404 })
			}
			request(in, "/x", func(r *evidence.Request) { r.UserAgent = "curl/8.1" })
		}, wants{"answers.toProbers": 404}},
		{"by the health path", func(in *facts.Incident) {
			healthz(in)
			request(in, "/healthz", by("server", 503))
			request(in, "/healthz/", by("server", 503))
			request(in, "/healthz", by("client", 200))
		}, wants{"answers.toProbers": 503}},
		{"one is enough", func(in *facts.Incident) { healthz(in); request(in, "/healthz", by("server", 503)) },
			wants{"answers.toProbers": int64(503)}},
		{"as many of each: the lower", func(in *facts.Incident) {
			healthz(in)
			for _, status := range []int{503, 200, 503, 200} {
				request(in, "/healthz", by("server", status))
			}
		}, wants{"answers.toProbers": 200}},
		{"a steady asker is a prober", func(in *facts.Incident) {
			from(in, "10.0.0.1", "/x", 401, 0, 10, 20, 30.5, 40)
			from(in, "10.0.0.9", "/x", 200, 1, 2, 9, 17, 40, 41, 55, 80)
		}, wants{"answers.toProbers": 401}},
		{"steady whatever the order of the lines", func(in *facts.Incident) { from(in, "10.0.0.1", "/x", 401, 30, 0, 40, 10, 20) },
			wants{"answers.toProbers": 401}},
		{"three times is no habit", func(in *facts.Incident) { from(in, "10.0.0.1", "/x", 401, 0, 10, 20) }, wants{"answers.toProbers": unknown{}}},
		{"each second is a user, not a prober", func(in *facts.Incident) { from(in, "10.0.0.1", "/x", 401, 0, 1, 2, 3, 4, 5) },
			wants{"answers.toProbers": unknown{}}},
		{"random clients", func(in *facts.Incident) {
			for i, s := range []float64{0, 10, 20, 30, 40} {
				from(in, string(rune('a'+i)), "/x", 401, s)
			}
			from(in, "", "/x", 401, 0, 10, 20, 30, 40)
		}, wants{"answers.toProbers": unknown{}}},
	})
}

func TestAnswersByHandAndToUsers(t *testing.T) {
	checkFacts(t, []factTest{
		{"none", nil, wants{"answers.toHand": unknown{}, "answers.unreachableByHand": unknown{}, "answers.errorsToUsers": unknown{},
			"answers.otherHealthPathFails": unknown{}, "answers.usersOnly": unknown{}, "answers.drainErrors": unknown{}}},
		{"the last one by hand counts", func(in *facts.Incident) {
			request(in, "/health", by("client", 200))
			request(in, "/health", by("client", 503))
			request(in, "/cart", by("client", 404))
		}, wants{"answers.toHand": 503, "answers.unreachableByHand": 0}},
		{"no answer by hand", func(in *facts.Incident) {
			request(in, "/health", by("client", 0))
			request(in, "/health", by("client", 0))
			request(in, "/health", by("server", 0))
		}, wants{"answers.toHand": unknown{}, "answers.unreachableByHand": 2}},
		{"errors to users", func(in *facts.Incident) {
			request(in, "/cart", by("server", 500))
			request(in, "/cart", by("balancer", 502))
			request(in, "/cart", by("client", 0))
			request(in, "/cart", by("server", 0)) // the status was not logged
			request(in, "/cart", by("server", 404))
			request(in, "/readyz", by("server", 503))
		}, wants{"answers.errorsToUsers": 3}},
		{"another health path fails", func(in *facts.Incident) {
			healthz(in)
			request(in, "/healthz", by("client", 200))
			request(in, "/health/deep", by("client", 503))
		}, wants{"answers.otherHealthPathFails": true}},
		{"another health path says so in its body", func(in *facts.Incident) {
			healthz(in)
			request(in, "/healthz", by("client", 200))
			request(in, "/actuator/health", func(r *evidence.Request) { r.By, r.Excerpt = "client", `{"status":"DOWN"}` })
		}, wants{"answers.otherHealthPathFails": true}},
		{"the probed one fails as well", func(in *facts.Incident) {
			healthz(in)
			request(in, "/healthz", by("client", 503))
			request(in, "/health/deep", by("client", 503))
		}, wants{"answers.otherHealthPathFails": false}},
		{"users only", func(in *facts.Incident) { pod(in, "a", nil); request(in, "/cart", by("balancer", 502)) },
			wants{"answers.usersOnly": true}},
		{"users, and a probe", func(in *facts.Incident) {
			pod(in, "a", nil)
			fail(in, "a", nil)
			request(in, "/cart", by("balancer", 502))
		}, wants{"answers.usersOnly": false}},
		{"a restart a quarter of an hour ago", func(in *facts.Incident) {
			pod(in, "a", func(p *evidence.Pod) { p.Restarts, p.LastRestart = 1, at(-5) })
			request(in, "/cart", by("balancer", 502))
		}, wants{"answers.usersOnly": false}},
		{"a restart of yesterday", func(in *facts.Incident) {
			pod(in, "a", func(p *evidence.Pod) { p.Restarts, p.LastRestart = 1, at(-24*60) })
			request(in, "/cart", by("balancer", 502))
		}, wants{"answers.usersOnly": true}},
		{"pods not read", func(in *facts.Incident) { request(in, "/cart", by("balancer", 502)) }, wants{"answers.usersOnly": unknown{}}},
	})
}

func TestDrainErrors(t *testing.T) {
	stop := func(in *facts.Incident) { event(in, "Killing", "Stopping container app", at(5)) }
	errorAt := func(in *facts.Incident, seconds float64, who string, status int) {
		request(in, "/cart", func(r *evidence.Request) { r.By, r.Status, r.At = who, status, at(5+seconds/60) })
	}
	checkFacts(t, []factTest{
		{"within half a minute after", func(in *facts.Incident) {
			stop(in)
			errorAt(in, 1, "balancer", 502)
			errorAt(in, 30, "balancer", 504)
			errorAt(in, 31, "balancer", 503)
			errorAt(in, -2, "balancer", 503)
			errorAt(in, 2, "server", 500)
		}, wants{"answers.drainErrors": 2, "answers.drainShare": 0.5}},
		{"a status that was not logged is no error", func(in *facts.Incident) {
			stop(in)
			errorAt(in, 1, "server", 0)
			errorAt(in, 1, "client", 0)
		}, wants{"answers.drainErrors": 1, "answers.drainShare": 1.0}},
		{"a stop without a time", func(in *facts.Incident) {
			event(in, "Killing", "Stopping container app", time.Time{})
			errorAt(in, 1, "balancer", 502)
		}, wants{"answers.drainErrors": 0, "answers.drainShare": 0.0}},
	})
}

func TestBalancers(t *testing.T) {
	target := func(in *facts.Incident, balancer, state, reason string, codes ...int) {
		in.Targets = append(in.Targets, &evidence.Target{Item: evidence.Item{Ref: ref("target", len(in.Targets))}, Balancer: balancer, State: state, Reason: reason, Codes: codes})
	}
	checkFacts(t, []factTest{
		{"none", nil, wants{"balancer.unhealthy": unknown{}, "balancer.alone": unknown{}, "balancer.refusesStatus": unknown{}, "balancer.noLocalEndpoints": unknown{}}},
		{"states and reasons", func(in *facts.Incident) {
			target(in, "haproxy", "healthy", "L7OK")
			target(in, "haproxy", "unhealthy", "L7TOUT")
			target(in, "haproxy", "unhealthy", "L4TOUT")
			target(in, "aws", "unhealthy", "Target.Timeout")
			target(in, "aws", "unhealthy", "Target.ResponseCodeMismatch", 503)
			target(in, "aws", "draining", "Target.DeregistrationInProgress")
			target(in, "aws", "unknown", "")
		}, wants{"balancer.unhealthy": 4, "balancer.healthy": 1, "balancer.timeouts": 2, "balancer.connectTimeouts": 1, "balancer.answerTimeouts": 1,
			"balancer.wrongStatus": 1, "balancer.draining": 1, "balancer.refusesStatus": unknown{}}},
		{"the endpoints of a Service are no balancer", func(in *facts.Incident) { target(in, "endpointslice", "unhealthy", "") },
			wants{"balancer.unhealthy": unknown{}, "balancer.alone": unknown{}, "balancer.refusesStatus": unknown{}}},
		{"only the balancer complains", func(in *facts.Incident) { pod(in, "a", nil); target(in, "aws", "unhealthy", "Target.Timeout") },
			wants{"balancer.alone": true}},
		{"a pod that waits for its readiness gate does not contradict", func(in *facts.Incident) {
			pod(in, "a", func(p *evidence.Pod) {
				p.Conditions = []evidence.Condition{{Type: "Ready", Status: "False", Reason: "ReadinessGatesNotReady"}}
			})
			target(in, "aws", "unhealthy", "Target.Timeout")
		}, wants{"balancer.alone": true}},
		{"a probe fails as well", func(in *facts.Incident) { fail(in, "a", nil); target(in, "aws", "unhealthy", "Target.Timeout") },
			wants{"balancer.alone": false}},
		{"a redirect that the balancer does not take", func(in *facts.Incident) { target(in, "aws", "unhealthy", "", 301) },
			wants{"balancer.refusesStatus": true}},
		{"204 to a person, unhealthy to the balancer", func(in *facts.Incident) {
			target(in, "aws", "unhealthy", "")
			request(in, "/health", by("client", 204))
		}, wants{"balancer.refusesStatus": true}},
		{"503 to all", func(in *facts.Incident) {
			target(in, "aws", "unhealthy", "", 503)
			request(in, "/health", by("client", 503))
		}, wants{"balancer.refusesStatus": false}},
	})
}
