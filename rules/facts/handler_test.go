package facts_test

import (
	"math"
	"testing"
	"time"

	"github.com/probedoctor/probedoctor/rules/facts"
	"github.com/probedoctor/probedoctor/sources/evidence"
)

const ms = time.Millisecond

func healthz(in *facts.Incident) {
	probe(in, evidence.Readiness, &evidence.ProbeSpec{Handler: "http", Endpoint: evidence.Endpoint{Path: "/healthz", Port: "8080"}})
}

// TestHandlerSurvivors: a line in the handler's log is of a request that arrived; those that waited are not in it.
func TestHandlerSurvivors(t *testing.T) {
	fast := func(n int) func(in *facts.Incident) {
		return func(in *facts.Incident) {
			fail(in, "a", func(f *facts.Failure) { f.Count, f.Last = 12, at(9) })
			healthz(in)
			for i := range n {
				request(in, "/healthz", took(time.Duration(i+1)*ms, "a"))
			}
		}
	}
	checkFacts(t, []factTest{
		{"no log read", func(in *facts.Incident) { fail(in, "a", nil); healthz(in) },
			wants{"handler.requestsSeen": unknown{}, "handler.p99": unknown{}, "handler.max": unknown{}, "handler.enoughSeen": unknown{}, "handler.errors": unknown{}}},
		{"as many lines as failures", fast(12), wants{"handler.requestsSeen": 12, "handler.max": 12 * ms, "handler.p99": 12 * ms, "handler.enoughSeen": true, "handler.errors": 0}},
		{"fewer lines than failures", fast(11), wants{"handler.requestsSeen": 11, "handler.enoughSeen": false}},
		{"no more than nine lines", func(in *facts.Incident) {
			fail(in, "a", nil)
			healthz(in)
			for range 9 {
				request(in, "/healthz", took(ms, "a"))
			}
		}, wants{"handler.enoughSeen": false}},
		{"99 of a hundred", func(in *facts.Incident) {
			fail(in, "a", nil)
			healthz(in)
			for i := range 100 {
				request(in, "/healthz", took(time.Duration(i+1)*ms, "a"))
			}
		}, wants{"handler.p99": 99 * ms, "handler.max": 100 * ms}},
		{"what healthy pods log says nothing of the failing one", func(in *facts.Incident) {
			fail(in, "a", nil)
			healthz(in)
			for range 20 {
				request(in, "/healthz", took(ms, "b"))
			}
			request(in, "/index", took(ms, "b"))
		}, wants{"handler.requestsSeen": unknown{}, "handler.p99": unknown{}, "handler.enoughSeen": unknown{}}},
		{"the failing pod logs other requests only", func(in *facts.Incident) {
			fail(in, "a", nil)
			healthz(in)
			request(in, "/index", took(ms, "b"))
			request(in, "/index", took(ms, "a"))
		}, wants{"handler.requestsSeen": 0, "handler.p99": unknown{}}},
		{"a balancer's log is no log of the pod", func(in *facts.Incident) {
			fail(in, "a", nil)
			healthz(in)
			request(in, "/index", func(r *evidence.Request) { r.By = "balancer" })
			request(in, "/healthz", func(r *evidence.Request) { took(900*ms, "")(r); r.By = "balancer" })
		}, wants{"handler.requestsSeen": unknown{}, "handler.max": unknown{}}},
		{"requests by hand and of another time do not count", func(in *facts.Incident) {
			fail(in, "a", nil)
			healthz(in)
			request(in, "/healthz", func(r *evidence.Request) { took(ms, "a")(r); r.By = "client" })
			request(in, "/healthz", func(r *evidence.Request) { took(ms, "a")(r); r.At = at(12) })
		}, wants{"handler.requestsSeen": unknown{}}},
		{"errors", func(in *facts.Incident) {
			fail(in, "a", nil)
			healthz(in)
			for _, status := range []int{200, 204, 399, 400, 503} {
				request(in, "/healthz/?verbose", func(r *evidence.Request) { took(ms, "a")(r); r.Status = status })
			}
		}, wants{"handler.requestsSeen": 5, "handler.errors": 2}},
		{"by its metric, where no line has a duration", func(in *facts.Incident) {
			fail(in, "a", nil)
			healthz(in)
			series(in, "handler.latency", "a", 0.010, 0.250)
			series(in, "handler.latency", "b", 9)
		}, wants{"handler.p99": 250 * ms, "handler.max": 250 * ms, "handler.requestsSeen": unknown{}}},
		{"a metric without a finite value measures nothing", func(in *facts.Incident) {
			fail(in, "a", nil)
			series(in, "handler.latency", "a", math.Inf(1), math.NaN())
			series(in, "pool.utilisation", "a", math.Inf(1))
		}, wants{"handler.p99": unknown{}, "handler.max": unknown{}, "pool.utilisation": unknown{}}},
		{"a metric of a million years does not turn negative", func(in *facts.Incident) {
			fail(in, "a", nil)
			series(in, "handler.latency", "a", 1e14)
		}, wants{"handler.max": time.Duration(math.MaxInt64)}},
	})
}

func TestHandlerShareAndOtherRoutes(t *testing.T) {
	many := func(in *facts.Incident, path string, n int) {
		for i := range n {
			request(in, path, took(time.Duration(i+1)*ms, "a"))
		}
	}
	checkFacts(t, []factTest{
		{"five of twenty", func(in *facts.Incident) { healthz(in); many(in, "/healthz", 5); many(in, "/index", 15) },
			wants{"handler.share": 0.25, "requests.latency": 15 * ms}},
		{"nineteen are too few", func(in *facts.Incident) { healthz(in); many(in, "/healthz", 5); many(in, "/index", 14) },
			wants{"handler.share": unknown{}}},
		{"a log of health requests only was filtered", func(in *facts.Incident) { healthz(in); many(in, "/healthz", 30) },
			wants{"handler.share": unknown{}, "requests.latency": unknown{}}},
		{"four other requests are too few", func(in *facts.Incident) { healthz(in); many(in, "/index", 4) }, wants{"requests.latency": unknown{}}},
		{"the metric comes first", func(in *facts.Incident) {
			many(in, "/index", 15)
			series(in, "request.latency", "a", 2.5)
		}, wants{"requests.latency": 2500 * ms}},
	})
}

func TestPools(t *testing.T) {
	checkFacts(t, []factTest{
		{"not measured", func(in *facts.Incident) { fail(in, "a", nil) },
			wants{"pool.utilisation": unknown{}, "pool.fullPods": unknown{}, "pool.measuredPods": unknown{}, "pool.healthyUtilisation": unknown{}}},
		{"full where it fails, room where it does not", func(in *facts.Incident) {
			fail(in, "a", nil)
			fail(in, "b", nil)
			fail(in, "c", nil)
			series(in, "pool.utilisation", "a", 0.2, 1.0, 0.4)
			series(in, "pool.utilisation", "b", 0.95, 0.1)
			series(in, "pool.utilisation", "c", 0.5)
			series(in, "pool.utilisation", "d", 0.3, 0.6)
		}, wants{"pool.utilisation": 0.95, "pool.fullPods": 2, "pool.measuredPods": 3, "pool.healthyUtilisation": 0.6}},
		{"of several pools of a pod the fullest stands for it", func(in *facts.Incident) {
			fail(in, "a", nil)
			series(in, "pool.utilisation", "a", 0.2)
			series(in, "pool.utilisation", "a", 0.97)
		}, wants{"pool.utilisation": 0.97, "pool.fullPods": 1, "pool.measuredPods": 1}},
		{"outside of the incident, widened by two minutes", func(in *facts.Incident) {
			fail(in, "a", nil)
			series(in, "pool.utilisation", "a", 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.8, 0.9, 1)
		}, wants{"pool.utilisation": 0.8}},
		{"only a pod that does not fail was measured", func(in *facts.Incident) {
			fail(in, "a", nil)
			series(in, "pool.utilisation", "b", 0.3)
		}, wants{"pool.utilisation": unknown{}, "pool.healthyUtilisation": 0.3}},
		{"a series without a pod counts for the failing ones", func(in *facts.Incident) {
			fail(in, "a", nil)
			series(in, "pool.utilisation", "", 0.7)
		}, wants{"pool.utilisation": 0.7, "pool.healthyUtilisation": unknown{}}},
		{"signals in seconds", func(in *facts.Incident) {
			fail(in, "a", nil)
			series(in, "gc.pauseMax", "a", 0.4, 1.5)
		}, wants{"gc.pauseMax": 1500 * ms}},
	})
}

func TestBacklog(t *testing.T) {
	socket := func(port string, queued, backlog int) func(in *facts.Incident) {
		return func(in *facts.Incident) {
			healthz(in)
			l := listen(in, "0.0.0.0", port)
			l.Queued, l.Backlog = queued, backlog
		}
	}
	checkFacts(t, []factTest{
		{"no sockets", healthz, wants{"backlog.full": unknown{}}},
		{"empty", socket("8080", 0, 128), wants{"backlog.full": false}},
		{"more than it may hold", socket("8080", 129, 128), wants{"backlog.full": true}},
		{"another port", socket("9090", 129, 128), wants{"backlog.full": unknown{}}},
		{"numbers not known", socket("8080", -1, -1), wants{"backlog.full": unknown{}}},
	})
}

func TestDependencies(t *testing.T) {
	redis := func(in *facts.Incident, route string, when time.Time) {
		l := line(in, "a", "Redis command timed out", when)
		l.Route = route
		s := in.Signatures["redis-timeout"]
		in.Signatures["redis-timeout"] = facts.Signature{Dependency: "Redis", Kind: "dependency", Hits: append(s.Hits, facts.Hit{Line: l, Dependency: "Redis"})}
	}
	checkFacts(t, []factTest{
		{"no logs", nil, wants{"dependencies.errors": unknown{}, "dependencies.onProbePath": unknown{}, "dependencies.name": unknown{}, "logs.silence": unknown{}}},
		{"logs without any", func(in *facts.Incident) { line(in, "a", "hello", at(1)) },
			wants{"dependencies.errors": 0, "dependencies.onProbePath": 0, "dependencies.offProbePath": 0, "dependencies.name": unknown{}, "dependencies.routes": unknown{}}},
		{"on the path, beside it, and without a route", func(in *facts.Incident) {
			fail(in, "a", nil)
			healthz(in)
			redis(in, "/healthz", at(1))
			redis(in, "/api/cart", at(-2))
			redis(in, "/api/cart", at(2))
			redis(in, "/api/price", at(3))
			redis(in, "", at(4))
			redis(in, "/api/cart", at(-11)) // too long before
		}, wants{"dependencies.errors": 5, "dependencies.onProbePath": 1, "dependencies.offProbePath": 3, "dependencies.name": "Redis",
			"dependencies.routes": "/api/cart, /api/price", "dependencies.beforeFailures": 2 * time.Minute}},
		{"the health check of the framework is on the path", func(in *facts.Incident) {
			healthz(in)
			redis(in, "", at(1))
			in.Logs[0].Logger = "o.s.b.actuate.RedisReactiveHealthIndicator"
		}, wants{"dependencies.onProbePath": 1, "dependencies.offProbePath": 0}},
		{"a line that two signatures match counts once", func(in *facts.Incident) {
			redis(in, "/api", at(1))
			in.Signatures["timeout"] = facts.Signature{Dependency: "Redis", Hits: in.Signatures["redis-timeout"].Hits}
		}, wants{"dependencies.errors": 1}},
		{"began after the failures", func(in *facts.Incident) { fail(in, "a", nil); redis(in, "", at(3)) },
			wants{"dependencies.beforeFailures": -3 * time.Minute}},
	})
}

func TestSilence(t *testing.T) {
	every := func(in *facts.Incident, pod string, seconds ...float64) {
		for _, s := range seconds {
			line(in, pod, "tick", at(s/60))
		}
	}
	checkFacts(t, []factTest{
		{"a line each second, then none for forty", func(in *facts.Incident) { every(in, "a", 0, 1, 2, 3, 4, 5, 6, 7, 8, 48, 49) },
			wants{"logs.silence": 40 * time.Second}},
		{"an even log", func(in *facts.Incident) { every(in, "a", 0, 10, 20, 30, 40, 50) }, wants{"logs.silence": time.Duration(0)}},
		{"three lines tell nothing", func(in *facts.Incident) { every(in, "a", 0, 1, 100) }, wants{"logs.silence": unknown{}}},
		{"few lines need half a minute", func(in *facts.Incident) { every(in, "a", 0, 1, 2, 3, 28) }, wants{"logs.silence": time.Duration(0)}},
		{"before the incident", func(in *facts.Incident) { every(in, "a", -100, -99, -98, -97, -10, -9) }, wants{"logs.silence": time.Duration(0)}},
		{"a pod that does not fail", func(in *facts.Incident) {
			fail(in, "a", nil)
			every(in, "b", 0, 1, 2, 3, 100)
		}, wants{"logs.silence": unknown{}}},
	})
}
