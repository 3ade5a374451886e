package facts_test

import (
	"testing"
	"time"

	"github.com/probedoctor/probedoctor/rules/facts"
	"github.com/probedoctor/probedoctor/sources/evidence"
)

func TestFailuresByLifeAndResult(t *testing.T) {
	checkFacts(t, []factTest{
		{"only failures of live pods and of pods of unknown life are serious", func(in *facts.Incident) {
			fail(in, "a", span(at(0), at(4), 5))
			fail(in, "b", func(f *facts.Failure) { f.Life, f.Count = facts.LifeUnknown, 3 })
			fail(in, "c", func(f *facts.Failure) { f.Life, f.Count = facts.Starting, 2 })
			fail(in, "d", func(f *facts.Failure) { f.Life, f.Count = facts.Terminating, 7 })
			fail(in, "e", func(f *facts.Failure) { f.Result, f.Count = evidence.Errored, 11 })
			fail(in, "f", func(f *facts.Failure) { f.Result, f.Count, f.Redirected = evidence.Warned, 13, true })
		}, wants{
			"failures.total": 17, "failures.live": 8, "failures.awaitingHeaders": 8, "failures.timeouts": 8, "failures.readiness": 8,
			"failures.starting": 2, "failures.terminating": 7, "failures.errored": 11, "failures.redirected": 13, "failures.pods": 2,
			"failures.span": 4 * time.Minute, "failures.apart": time.Minute, "failures.liveness": 0, "failures.refused": 0,
		}},
		{"a failure without a pod's name counts, and tells nothing of how many pods", func(in *facts.Incident) {
			fail(in, "", nil)
		}, wants{"failures.live": 1, "failures.pods": unknown{}, "failures.span": time.Duration(0), "failures.apart": unknown{}}},
		{"failures without times have no span", func(in *facts.Incident) {
			fail(in, "a", span(time.Time{}, time.Time{}, 4))
		}, wants{"failures.live": 4, "failures.span": unknown{}, "failures.apart": unknown{}}},
		{"no failures, and the events were not read", nil, wants{"failures.total": unknown{}, "failures.live": unknown{}, "failures.kills": unknown{}}},
		{"no failures, and the events were read whole", func(in *facts.Incident) { covered(in, evidence.SourceEvents) },
			wants{"failures.total": 0, "failures.live": 0, "failures.kills": 0, "failures.startupKills": 0, "failures.pods": unknown{}}},
	})
}

func TestFailuresByText(t *testing.T) {
	status := func(code int) func(f *facts.Failure) {
		return func(f *facts.Failure) {
			f.Phase, f.Outcome, f.Status = evidence.PhaseStatus, evidence.OutcomeStatus, code
		}
	}
	for _, tt := range []struct {
		name   string
		change func(f *facts.Failure)
		in     []string // the facts that count it, besides total, live and readiness
	}{
		{"connect timeout", outcome(evidence.PhaseConnect, evidence.OutcomeTimeout), []string{"failures.connectTimeout", "failures.timeouts"}},
		{"timeout of the name lookup", outcome(evidence.PhaseDNS, evidence.OutcomeTimeout), []string{"failures.connectTimeout", "failures.timeouts", "failures.nameLookup"}},
		{"timeout in the body", outcome(evidence.PhaseBody, evidence.OutcomeTimeout), []string{"failures.timeouts"}},
		{"refused", outcome(evidence.PhaseConnect, evidence.OutcomeRefused), []string{"failures.refused"}},
		{"reset", outcome(evidence.PhaseAwaitingHeaders, evidence.OutcomeReset), []string{"failures.dropped"}},
		{"closed", outcome(evidence.PhaseAwaitingHeaders, evidence.OutcomeClosed), []string{"failures.dropped"}},
		{"no route", outcome(evidence.PhaseConnect, evidence.OutcomeNoRoute), []string{"failures.unroutable"}},
		{"denied", outcome(evidence.PhaseConnect, evidence.OutcomeDenied), []string{"failures.unroutable"}},
		{"no ports left", outcome(evidence.PhaseConnect, evidence.OutcomeNoResources), []string{"failures.noResources"}},
		{"no such host", outcome(evidence.PhaseDNS, evidence.OutcomeNoSuchHost), []string{"failures.nameLookup"}},
		{"503", status(503), []string{"failures.status", "failures.serverError"}},
		{"501", status(501), []string{"failures.status", "failures.serverError"}},
		{"401", status(401), []string{"failures.status", "failures.authStatus"}},
		{"404", status(404), []string{"failures.status", "failures.notFound"}},
		{"429", status(429), []string{"failures.status"}},
		{"TLS on a plain port", outcome(evidence.PhaseProtocol, evidence.OutcomeTLSMismatch), []string{"failures.protocol"}},
		{"exec out of time", outcome(evidence.PhaseExec, evidence.OutcomeTimeout), []string{"failures.exec", "failures.execTimeout", "failures.timeouts"}},
		{"exec that printed nothing", outcome(evidence.PhaseExec, evidence.OutcomeUnknown), []string{"failures.exec", "failures.execTimeout"}},
		{"exec that ended with 1", outcome(evidence.PhaseExec, evidence.OutcomeExit), []string{"failures.exec"}},
		{"exec without its command", outcome(evidence.PhaseExec, evidence.OutcomeNotFound), []string{"failures.execBroken"}},
		{"not serving", outcome(evidence.PhaseGRPC, evidence.OutcomeNotServing), []string{"failures.notServing"}},
		{"no such service", outcome(evidence.PhaseGRPC, evidence.OutcomeNoService), []string{"failures.noService"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			in := made(func(in *facts.Incident) {
				fail(in, "a", func(f *facts.Failure) { tt.change(f); f.Count = 3 })
			})
			counting := map[string]bool{"failures.total": true, "failures.live": true, "failures.readiness": true}
			for _, name := range tt.in {
				counting[name] = true
			}
			for i := range facts.All {
				f := &facts.All[i]
				if f.Type != facts.Int || f.Unit != "probes" || f.Scope != facts.ScopeIncident || len(f.Name) < 9 || f.Name[:9] != "failures." {
					continue
				}
				want := int64(0)
				if counting[f.Name] {
					want = 3
				}
				v := f.Compute(in)
				if v.V != want {
					t.Errorf("%s is %v, want %d", f.Name, v.V, want)
				}
				if len(v.Refs) != 1 {
					t.Errorf("%s cites %v: a count cites what it counts, and none is read from all the others", f.Name, v.Refs)
				}
			}
		})
	}
}

func TestKills(t *testing.T) {
	checkFacts(t, []factTest{
		{"of this container, by count", func(in *facts.Incident) {
			event(in, "Killing", "Container app failed liveness probe, will be restarted", at(1)).Count = 4
			event(in, "Killing", "Container app failed startup probe, will be restarted", at(2)).Container = "app"
			event(in, "Killing", "Container side failed liveness probe, will be restarted", at(2)).Container = "side"
			event(in, "Killing", "Stopping container app", at(3))
		}, wants{"failures.kills": 4, "failures.startupKills": 1}},
		{"only a stop, events read in part", func(in *facts.Incident) {
			event(in, "Killing", "Stopping container app", at(3))
			in.Set.Coverage = []evidence.Coverage{{Source: evidence.SourceEvents, Status: evidence.CoveragePartial}}
		}, wants{"failures.kills": unknown{}}},
	})
}
