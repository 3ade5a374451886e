package facts_test

import (
	"testing"
	"time"

	"github.com/probedoctor/probedoctor/rules/facts"
	"github.com/probedoctor/probedoctor/sources/evidence"
)

// onProbe makes a failing probe of the kind with a threshold of three and a period of ten seconds, and gives the incident
// that probe to compute facts of.
func onProbe(kind evidence.ProbeKind, build func(in *facts.Incident)) func(in *facts.Incident) {
	return func(in *facts.Incident) {
		build(in)
		for i := range in.Failures {
			in.Failures[i].Probe = kind
		}
		probe(in, kind, &evidence.ProbeSpec{Handler: "http", Endpoint: evidence.Endpoint{Path: "/ok", Port: "8080"}, PeriodSeconds: 10, FailureThreshold: 3})
		in.Probe = &in.Probes[len(in.Probes)-1]
	}
}

func TestReachedThreshold(t *testing.T) {
	const fact = "probe.reachedThreshold"
	checkFacts(t, []factTest{
		{"a count that leaves no room for a success", onProbe(evidence.Readiness, func(in *facts.Incident) {
			fail(in, "web-1", span(at(0), at(1), 7))
		}), wants{fact: true}},
		{"as many, and far apart", onProbe(evidence.Readiness, func(in *facts.Incident) {
			fail(in, "web-1", span(at(0), at(9), 3))
		}), wants{fact: unknown{}}},
		{"two of three on each of two pods", onProbe(evidence.Readiness, func(in *facts.Incident) {
			fail(in, "web-1", span(at(0), at(0.1), 2))
			fail(in, "web-2", span(at(0), at(0.1), 2))
		}), wants{fact: false}},
		{"a count that is a floor", onProbe(evidence.Readiness, func(in *facts.Incident) {
			fail(in, "web-1", func(f *facts.Failure) { f.AtLeast = true })
		}), wants{fact: unknown{}}},
		{"a pod that is not ready", onProbe(evidence.Readiness, func(in *facts.Incident) {
			p := pod(in, "web-1", notReady(at(0)))
			fail(in, "web-1", func(f *facts.Failure) { f.AtLeast, f.Pod = true, p })
		}), wants{fact: true}},
		{"a kill by liveness", onProbe(evidence.Liveness, func(in *facts.Incident) {
			event(in, "Killing", "Container app failed liveness probe, will be restarted", at(1))
			fail(in, "web-1", func(f *facts.Failure) { f.AtLeast = true })
		}), wants{fact: true}},
		{"errored probes count for nothing", onProbe(evidence.Readiness, func(in *facts.Incident) {
			fail(in, "web-1", func(f *facts.Failure) { f.Result, f.Count = evidence.Errored, 9 })
		}), wants{fact: unknown{}}},
	})
}

func TestStopped(t *testing.T) {
	going := func(last float64, change func(p *evidence.Pod)) func(in *facts.Incident) {
		return func(in *facts.Incident) {
			in.Set.End = at(10)
			pod(in, "web-1", change)
			fail(in, "web-1", span(at(0), at(last), 12))
		}
	}
	checkFacts(t, []factTest{
		{"quiet for six minutes", going(4, nil), wants{"failures.stopped": true, "failures.quietFor": 6 * time.Minute}},
		{"quiet for four minutes, which the kubelet's filter may be", going(6, nil), wants{"failures.stopped": unknown{}, "failures.quietFor": 4 * time.Minute}},
		{"until now, and not ready", going(10, notReady(at(1))), wants{"failures.stopped": false, "failures.quietFor": time.Duration(0)}},
		{"until now, and ready", going(10, nil), wants{"failures.stopped": unknown{}}},
		{"no times", func(in *facts.Incident) { fail(in, "web-1", span(time.Time{}, time.Time{}, 1)) }, wants{"failures.stopped": unknown{}, "failures.quietFor": unknown{}}},
	})
}

func TestFloors(t *testing.T) {
	checkFacts(t, []factTest{
		{"one row of two", func(in *facts.Incident) {
			fail(in, "web-1", span(at(0), at(1), 7))
			fail(in, "web-1", func(f *facts.Failure) { f.AtLeast = true })
		}, wants{"failures.floors": 1}},
		{"counts as they are", func(in *facts.Incident) { fail(in, "web-1", span(at(0), at(1), 7)) }, wants{"failures.floors": 0}},
		{"no failure", nil, wants{"failures.floors": unknown{}}},
	})
}

func TestWhereTheServerListens(t *testing.T) {
	probed := func(port string, build func(in *facts.Incident)) func(in *facts.Incident) {
		return func(in *facts.Incident) {
			pod(in, "web-1", func(p *evidence.Pod) {
				notReady(at(0))(p)
				p.Containers[0].Ports = []evidence.Port{{Name: "http", Number: 8080}}
				p.Containers[0].Probes = []evidence.ProbeSpec{{Probe: evidence.Readiness, Handler: "http", Endpoint: evidence.Endpoint{Port: port}}}
				p.Containers[0].ProbesKnown = true
			})
			fail(in, "web-1", nil)
			probe(in, evidence.Readiness, &evidence.ProbeSpec{Handler: "http", Endpoint: evidence.Endpoint{Port: port}})
			if build != nil {
				build(in)
			}
		}
	}
	socket := func(address, port string) func(in *facts.Incident) {
		return func(in *facts.Incident) { listen(in, address, port).Queued = 0 }
	}
	checkFacts(t, []factTest{
		{"the probed port is a container port by number", probed("8080", nil), wants{"config.portListed": true, "config.listensOn": unknown{}, "config.openNow": unknown{}}},
		{"by name", probed("http", nil), wants{"config.portListed": true}},
		{"it is none", probed("9090", nil), wants{"config.portListed": false}},
		{"a log line announces another", probed("8080", func(in *facts.Incident) { listen(in, "0.0.0.0", "3000") }),
			wants{"config.listensElsewhere": true, "config.listensOn": "0.0.0.0:3000", "config.openNow": unknown{}}},
		{"a log line announces it", probed("http", func(in *facts.Incident) { listen(in, "", "8080") }),
			wants{"config.listensElsewhere": false, "config.listensOn": "8080"}},
		{"a socket is open to all", probed("8080", socket("0.0.0.0", "8080")), wants{"config.openNow": true, "config.loopbackOnly": false}},
		{"a socket on loopback", probed("8080", socket("127.0.0.1", "8080")), wants{"config.openNow": false, "config.loopbackOnly": true}},
		{"sockets on another port", probed("8080", socket("0.0.0.0", "3000")), wants{"config.openNow": false, "config.listensElsewhere": true}},
	})
}

func TestStartupShallower(t *testing.T) {
	with := func(startup, liveness *evidence.ProbeSpec) func(in *facts.Incident) {
		return func(in *facts.Incident) {
			if startup != nil {
				probe(in, evidence.Startup, startup)
			}
			probe(in, evidence.Liveness, liveness)
		}
	}
	get := func(path string) *evidence.ProbeSpec {
		return &evidence.ProbeSpec{Handler: "http", Endpoint: evidence.Endpoint{Path: path, Port: "8080"}}
	}
	const fact = "config.startupShallower"
	checkFacts(t, []factTest{
		{"the same", with(get("/ok"), get("/ok")), wants{fact: false}},
		{"the same but for a final slash", with(get("/ok/"), get("/ok")), wants{fact: false}},
		{"another path", with(get("/started"), get("/ok")), wants{fact: true}},
		{"another kind", with(&evidence.ProbeSpec{Handler: "tcp", Endpoint: evidence.Endpoint{Port: "8080"}}, get("/ok")), wants{fact: true}},
		{"none", with(nil, get("/ok")), wants{fact: unknown{}}},
	})
}

func TestAggregatesHealth(t *testing.T) {
	const fact = "config.aggregatesHealth"
	probed := func(path string, env map[string]string) func(in *facts.Incident) {
		return func(in *facts.Incident) {
			pod(in, "web-1", func(p *evidence.Pod) { p.Containers[0].Env, p.Containers[0].ProbesKnown = env, true })
			fail(in, "web-1", nil)
			probe(in, evidence.Readiness, &evidence.ProbeSpec{Handler: "http", Endpoint: evidence.Endpoint{Path: path}})
		}
	}
	const group = "MANAGEMENT_ENDPOINT_HEALTH_GROUP_READINESS_INCLUDE"
	checkFacts(t, []factTest{
		{"the aggregate", probed("/actuator/health", nil), wants{fact: true}},
		{"under a context path", probed("/shop/actuator/health/", nil), wants{fact: true}},
		{"Quarkus", probed("/q/health", nil), wants{fact: true}},
		{"a probe group", probed("/actuator/health/readiness", nil), wants{fact: false}},
		{"a group with its own state", probed("/actuator/health/readiness", map[string]string{group: "readinessState, ping"}), wants{fact: false}},
		{"a group with a database", probed("/actuator/health/readiness", map[string]string{group: "readinessState,db"}), wants{fact: true}},
		{"another framework", probed("/healthz", nil), wants{fact: unknown{}}},
	})
}

func TestEndsWithoutError(t *testing.T) {
	ended := func(code, restarts int) func(p *evidence.Pod) {
		return func(p *evidence.Pod) {
			p.Restarts, p.Containers[0].Restarts = restarts, restarts
			p.Containers[0].LastState = evidence.ContainerState{Status: "terminated", ExitCode: &code, Started: at(-9), Finished: at(-1)}
		}
	}
	kill := func(in *facts.Incident) {
		e := event(in, "Killing", "Container app failed liveness probe, will be restarted", at(-1))
		e.Object = evidence.Object{Kind: "Pod", Namespace: "shop", Name: "web-1"}
	}
	checkFacts(t, []factTest{
		{"0 by itself", func(in *facts.Incident) { covered(in, evidence.SourceEvents); pod(in, "web-1", ended(0, 2)) },
			wants{"lifecycle.completed": 1, "lifecycle.killed": 0, "lifecycle.ranFor": 8 * time.Minute}},
		{"0 after a kill", func(in *facts.Incident) { covered(in, evidence.SourceEvents); pod(in, "web-1", ended(0, 2)); kill(in) },
			wants{"lifecycle.completed": 0, "lifecycle.killed": 1}},
		{"143 after a kill", func(in *facts.Incident) {
			covered(in, evidence.SourceEvents)
			pod(in, "web-1", ended(143, 2))
			kill(in)
		},
			wants{"lifecycle.completed": 0, "lifecycle.killed": 1, "lifecycle.crashes": 0}},
		{"events not read", func(in *facts.Incident) { pod(in, "web-1", ended(0, 2)) }, wants{"lifecycle.completed": unknown{}, "lifecycle.killed": 0}},
		{"never ended", func(in *facts.Incident) { pod(in, "web-1", nil) }, wants{"lifecycle.ranFor": unknown{}}},
	})
}
