package facts_test

import (
	"testing"
	"time"

	"github.com/probedoctor/probedoctor/rules/facts"
	"github.com/probedoctor/probedoctor/sources/evidence"
)

func TestEverSucceeded(t *testing.T) {
	liveness := func(in *facts.Incident, minutesAfterStart float64) {
		fail(in, "a", func(f *facts.Failure) {
			f.Probe, f.First, f.Last = evidence.Liveness, at(-60+minutesAfterStart), at(10)
		})
		// Its budget is (3 + 2) × 10 s.
		probe(in, evidence.Liveness, &evidence.ProbeSpec{Handler: "http", PeriodSeconds: 10})
	}
	checkFacts(t, []factTest{
		{"nothing was read", nil, wants{"pattern.everSucceeded": unknown{}}},
		{"a pod is Ready", func(in *facts.Incident) { pod(in, "a", nil) }, wants{"pattern.everSucceeded": true}},
		{"the container is ready though the pod is not", func(in *facts.Incident) {
			pod(in, "a", func(p *evidence.Pod) { notReady(at(-60))(p); p.Containers[0].Ready = true })
		}, wants{"pattern.everSucceeded": true}},
		{"started by a startup probe", func(in *facts.Incident) {
			yes := true
			pod(in, "a", func(p *evidence.Pod) { notReady(at(-60))(p); p.Containers[0].Started = &yes })
			probe(in, evidence.Startup, &evidence.ProbeSpec{})
		}, wants{"pattern.everSucceeded": true}},
		{"started without a startup probe means nothing", func(in *facts.Incident) {
			yes := true
			pod(in, "a", func(p *evidence.Pod) { notReady(at(-60))(p); p.Containers[0].Started = &yes })
		}, wants{"pattern.everSucceeded": false}},
		{"ran for longer than liveness allows", func(in *facts.Incident) {
			pod(in, "a", notReady(at(-60)))
			liveness(in, 5)
		}, wants{"pattern.everSucceeded": true}},
		{"ran for no longer than liveness allows", func(in *facts.Incident) {
			pod(in, "a", notReady(at(-60)))
			liveness(in, 1)
		}, wants{"pattern.everSucceeded": false}},
		{"stopped to be Ready long after the start", func(in *facts.Incident) { pod(in, "a", notReady(at(-2))) },
			wants{"pattern.everSucceeded": true}},
		{"not Ready since the start", func(in *facts.Incident) { pod(in, "a", notReady(at(-60))) }, wants{"pattern.everSucceeded": false}},
		{"one pod of two is not known", func(in *facts.Incident) {
			pod(in, "a", notReady(at(-60)))
			pod(in, "b", func(p *evidence.Pod) { p.Conditions, p.Containers = nil, nil })
		}, wants{"pattern.everSucceeded": unknown{}}},
		{"the health path answered", func(in *facts.Incident) {
			probe(in, evidence.Readiness, &evidence.ProbeSpec{Endpoint: evidence.Endpoint{Path: "/healthz"}})
			request(in, "/healthz", nil)
		}, wants{"pattern.everSucceeded": true}},
		{"only another path answered", func(in *facts.Incident) {
			probe(in, evidence.Readiness, &evidence.ProbeSpec{Endpoint: evidence.Endpoint{Path: "/healthz"}})
			request(in, "/index", nil)
			request(in, "/healthz", func(r *evidence.Request) { r.Status = 503 })
		}, wants{"pattern.everSucceeded": unknown{}}},
	})
}

func TestSharesAndSiblings(t *testing.T) {
	checkFacts(t, []factTest{
		{"one of four fails, one ends", func(in *facts.Incident) {
			pod(in, "a", nil)
			pod(in, "b", nil)
			pod(in, "c", nil)
			pod(in, "d", nil)
			pod(in, "e", func(p *evidence.Pod) { p.Deleted = at(1) })
			fail(in, "a", nil)
			fail(in, "b", func(f *facts.Failure) { f.Life = facts.Starting })
		}, wants{"pattern.failingShare": 0.25, "pattern.healthySiblings": 3}},
		{"a pod that is not Ready is no healthy sibling", func(in *facts.Incident) {
			pod(in, "a", nil)
			pod(in, "b", notReady(at(-1)))
			pod(in, "c", nil)
			fail(in, "a", nil)
		}, wants{"pattern.healthySiblings": 1}},
		{"no pods read", func(in *facts.Incident) { fail(in, "a", nil) },
			wants{"pattern.failingShare": unknown{}, "pattern.healthySiblings": unknown{}, "pattern.nodes": unknown{}}},
		{"no failure names its pod", func(in *facts.Incident) { pod(in, "a", nil); fail(in, "", nil) },
			wants{"pattern.failingShare": unknown{}, "pattern.healthySiblings": unknown{}}},
		{"without failures, the pods that are not Ready fail", func(in *facts.Incident) {
			pod(in, "a", notReady(at(0)))
			pod(in, "b", nil)
		}, wants{"pattern.failingShare": 0.5, "pattern.healthySiblings": 1, "failures.pods": 1}},
	})
}

func TestRecoveredOrRestarted(t *testing.T) {
	restarted := func(when time.Time) func(p *evidence.Pod) {
		return func(p *evidence.Pod) {
			p.Restarts, p.Containers[0].Restarts, p.Containers[0].State.Started = 1, 1, when
		}
	}
	checkFacts(t, []factTest{
		{"Ready again, never restarted", func(in *facts.Incident) { pod(in, "a", nil); fail(in, "a", nil) },
			wants{"pattern.recovered": 1, "pattern.stuck": 0}},
		{"Ready again after a restart since", func(in *facts.Incident) { pod(in, "a", restarted(at(3))); fail(in, "a", nil) },
			wants{"pattern.recovered": 0, "pattern.stuck": 0}},
		{"Ready again, the restart was before", func(in *facts.Incident) { pod(in, "a", restarted(at(-30))); fail(in, "a", nil) },
			wants{"pattern.recovered": 1}},
		{"restarts by the table only, when is told", func(in *facts.Incident) {
			pod(in, "a", func(p *evidence.Pod) { p.Containers, p.Restarts, p.LastRestart = nil, 2, at(5) })
			fail(in, "a", nil)
		}, wants{"pattern.recovered": 0}},
		{"restarts by the table only, when is not told", func(in *facts.Incident) {
			pod(in, "a", func(p *evidence.Pod) { p.Containers, p.Restarts = nil, 2 })
			fail(in, "a", nil)
		}, wants{"pattern.recovered": unknown{}, "pattern.stuck": 0}},
		{"the number of restarts is not known", func(in *facts.Incident) {
			pod(in, "a", func(p *evidence.Pod) {
				p.Restarts = -1
				p.Containers[0] = evidence.Container{Name: "app"} // its specification only
			})
			fail(in, "a", nil)
		}, wants{"pattern.recovered": unknown{}}},
		{"still not Ready", func(in *facts.Incident) { pod(in, "a", notReady(at(0))); fail(in, "a", nil) },
			wants{"pattern.recovered": 0, "pattern.stuck": 1}},
		{"no pod of the failing ones was read", func(in *facts.Incident) { pod(in, "b", nil); fail(in, "a", nil) },
			wants{"pattern.recovered": unknown{}, "pattern.stuck": unknown{}}},
	})
}

func TestSimultaneous(t *testing.T) {
	three := func(in *facts.Incident, third time.Time) {
		for i, name := range []string{"a", "b", "c"} {
			pod(in, name, nil)
			first := at(float64(i) * 0.05)
			if i == 2 {
				first = third
			}
			fail(in, name, span(first, at(10), 3))
		}
		probe(in, evidence.Readiness, &evidence.ProbeSpec{PeriodSeconds: 10})
	}
	checkFacts(t, []factTest{
		{"three pods within a period", func(in *facts.Incident) { three(in, at(0.1)) }, wants{"pattern.simultaneous": true}},
		{"the third a minute later", func(in *facts.Incident) { three(in, at(1)) }, wants{"pattern.simultaneous": false}},
		{"a pod was spared", func(in *facts.Incident) { three(in, at(0.1)); pod(in, "d", nil) }, wants{"pattern.simultaneous": false}},
		{"a pod that came later is not spared", func(in *facts.Incident) {
			three(in, at(0.1))
			pod(in, "d", func(p *evidence.Pod) { p.Created = at(5) })
		}, wants{"pattern.simultaneous": true}},
		{"two pods only", func(in *facts.Incident) {
			pod(in, "a", nil)
			pod(in, "b", nil)
			fail(in, "a", nil)
			fail(in, "b", nil)
		}, wants{"pattern.simultaneous": false}},
		{"two pods fail, and pods were not read", func(in *facts.Incident) { fail(in, "a", nil); fail(in, "b", nil) },
			wants{"pattern.simultaneous": unknown{}}},
		{"no times", func(in *facts.Incident) {
			pod(in, "a", nil)
			fail(in, "a", span(time.Time{}, time.Time{}, 1))
		}, wants{"pattern.simultaneous": unknown{}}},
	})
}

func TestNodes(t *testing.T) {
	on := func(node string, also func(*evidence.Pod)) func(p *evidence.Pod) {
		return func(p *evidence.Pod) {
			p.Node = node
			if also != nil {
				also(p)
			}
		}
	}
	checkFacts(t, []factTest{
		{"one node fails, another is well", func(in *facts.Incident) {
			pod(in, "a", on("n1", nil))
			pod(in, "b", on("n2", nil))
			fail(in, "a", nil)
			in.OtherFailing = map[string]int{"n1": 3, "n2": 7}
		}, wants{"pattern.nodes": 1, "pattern.oneNodeOnly": true, "pattern.otherWorkloads": 3}},
		{"two nodes fail", func(in *facts.Incident) {
			pod(in, "a", on("n1", nil))
			pod(in, "b", on("n2", nil))
			pod(in, "c", on("n3", nil))
			fail(in, "a", nil)
			fail(in, "b", nil)
		}, wants{"pattern.nodes": 2, "pattern.oneNodeOnly": false, "pattern.otherWorkloads": 0}},
		{"no pod elsewhere", func(in *facts.Incident) {
			pod(in, "a", on("n1", nil))
			pod(in, "b", on("n1", nil))
			fail(in, "a", nil)
		}, wants{"pattern.oneNodeOnly": unknown{}}},
		{"elsewhere nothing but pods that ended or are not Ready", func(in *facts.Incident) {
			pod(in, "a", on("n1", nil))
			pod(in, "b", on("n2", func(p *evidence.Pod) { p.Phase = "Succeeded" }))
			pod(in, "c", on("n3", notReady(at(0))))
			fail(in, "a", nil)
		}, wants{"pattern.oneNodeOnly": unknown{}}},
		{"nodes not known", func(in *facts.Incident) { pod(in, "a", nil); fail(in, "a", nil) },
			wants{"pattern.nodes": unknown{}, "pattern.oneNodeOnly": unknown{}, "pattern.otherWorkloads": unknown{}}},
	})
}

func TestAges(t *testing.T) {
	born := func(minutes float64) func(p *evidence.Pod) {
		return func(p *evidence.Pod) { p.Created = at(minutes) }
	}
	checkFacts(t, []factTest{
		{"older ones fail, new ones stay green", func(in *facts.Incident) {
			pod(in, "a", born(-60))
			pod(in, "b", born(-30))
			pod(in, "c", born(2))
			pod(in, "d", born(3))
			fail(in, "a", nil)
			fail(in, "b", nil)
		}, wants{"ages.olderShare": 1.0, "ages.failing": 30 * time.Minute, "ages.newGreen": 2, "ages.newFailing": 0}},
		{"of four pairs the failing one is older in two and as old in one", func(in *facts.Incident) {
			pod(in, "a", born(-60))
			pod(in, "b", born(-20))
			pod(in, "c", born(-30))
			pod(in, "d", born(-20))
			fail(in, "a", nil)
			fail(in, "b", nil)
		}, wants{"ages.olderShare": 0.625}},
		{"new ones fail", func(in *facts.Incident) {
			pod(in, "a", born(-60))
			pod(in, "b", born(-5))
			fail(in, "b", nil)
		}, wants{"ages.olderShare": 0.0, "ages.failing": 5 * time.Minute, "ages.newGreen": 0, "ages.newFailing": 1}},
		{"a pod that failed as a whole is not a healthy one", func(in *facts.Incident) {
			pod(in, "a", born(-60))
			pod(in, "evicted", func(p *evidence.Pod) { p.Created, p.Phase = at(-90), "Failed" })
			fail(in, "a", nil)
		}, wants{"ages.olderShare": unknown{}, "ages.failing": time.Hour}},
		{"all fail", func(in *facts.Incident) { pod(in, "a", nil); fail(in, "a", nil) }, wants{"ages.olderShare": unknown{}}},
		{"no creation times", func(in *facts.Incident) {
			pod(in, "a", func(p *evidence.Pod) { p.Created = time.Time{} })
			fail(in, "a", nil)
		}, wants{"ages.olderShare": unknown{}, "ages.failing": unknown{}}},
		{"no times at all", func(in *facts.Incident) {
			pod(in, "a", nil)
			fail(in, "a", nil)
			in.Start, in.End = time.Time{}, time.Time{}
		}, wants{"ages.failing": unknown{}, "ages.newGreen": unknown{}, "ages.newFailing": unknown{}}},
	})
}

func TestOnlyNewTemplate(t *testing.T) {
	of := func(hash string, minutes float64, also func(*evidence.Pod)) func(p *evidence.Pod) {
		return func(p *evidence.Pod) {
			p.TemplateHash, p.Created = hash, at(minutes)
			if also != nil {
				also(p)
			}
		}
	}
	checkFacts(t, []factTest{
		{"only the new one fails", func(in *facts.Incident) {
			pod(in, "a", of("old", -60, nil))
			pod(in, "b", of("new", -5, notReady(at(-5))))
			fail(in, "b", nil)
		}, wants{"ages.onlyNewTemplate": true}},
		{"the old one fails too", func(in *facts.Incident) {
			pod(in, "a", of("old", -60, nil))
			pod(in, "b", of("old", -60, nil))
			pod(in, "c", of("new", -5, nil))
			fail(in, "b", nil)
			fail(in, "c", nil)
		}, wants{"ages.onlyNewTemplate": false}},
		{"one template", func(in *facts.Incident) {
			pod(in, "a", of("one", -60, nil))
			pod(in, "b", of("one", -5, nil))
			fail(in, "b", nil)
		}, wants{"ages.onlyNewTemplate": unknown{}}},
		{"nothing is known of the old ones", func(in *facts.Incident) {
			pod(in, "a", of("old", -60, func(p *evidence.Pod) { p.Conditions = nil }))
			pod(in, "b", of("new", -5, nil))
			fail(in, "b", nil)
		}, wants{"ages.onlyNewTemplate": unknown{}}},
	})
}
