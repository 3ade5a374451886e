package facts

import (
	"strings"

	"github.com/probedoctor/probedoctor/sources/evidence"
)

// What load balancers say of the same pods.

func targetFact(name, doc, why string, match func(*evidence.Target) bool) Fact {
	return Fact{
		Name: name, Doc: doc, Type: Int, Unit: "targets", Scope: ScopeIncident,
		Needs: []string{evidence.SourceBalancer}, Why: why, Collect: collectTargets,
		Compute: func(in *Incident) Value {
			n, measured := int64(0), false
			var refs, all []evidence.Ref
			for _, t := range in.Targets {
				if t.Balancer == "endpointslice" || t.State == "" || t.State == "unknown" {
					continue
				}
				measured = true
				all = append(all, t.Ref)
				if match(t) {
					n++
					refs = append(refs, t.Ref)
				}
			}
			if !measured {
				return Unknown
			}
			if n == 0 {
				refs = all
			}
			return known(n, refs...)
		},
	}
}

func reasonIn(t *evidence.Target, words ...string) bool {
	for _, w := range words {
		if strings.Contains(t.Reason, w) {
			return true
		}
	}
	return false
}

const whyBalancer = "whether a prober from outside agrees with the kubelet"

var balancerFacts = []Fact{
	targetFact("balancer.unhealthy", "Targets that the load balancer holds for unhealthy.", whyBalancer,
		func(t *evidence.Target) bool { return t.State == "unhealthy" }),
	targetFact("balancer.healthy", "Targets that the load balancer holds for healthy.", whyBalancer,
		func(t *evidence.Target) bool { return t.State == "healthy" }),
	targetFact("balancer.timeouts", "Unhealthy targets whose check got no answer in time after it connected, or by a code that does not tell connecting from answering (Target.Timeout, L7TOUT, L6TOUT).", whyBalancer,
		func(t *evidence.Target) bool {
			return t.State == "unhealthy" && reasonIn(t, "Target.Timeout", "L7TOUT", "L6TOUT")
		}),
	targetFact("balancer.connectTimeouts", "Unhealthy targets whose check timed out while connecting (HAProxy's L4TOUT).",
		"HAProxy tells a full accept queue from a full pool, which the kubelet's text does not",
		func(t *evidence.Target) bool { return t.State == "unhealthy" && reasonIn(t, "L4TOUT") }),
	targetFact("balancer.answerTimeouts", "Unhealthy targets whose check connected and then got no answer (HAProxy's L7TOUT).",
		"a connection that was made shows that the accept queue had room",
		func(t *evidence.Target) bool { return t.State == "unhealthy" && reasonIn(t, "L7TOUT") }),
	targetFact("balancer.wrongStatus", "Unhealthy targets that answered with a status the check does not accept.", whyBalancer,
		func(t *evidence.Target) bool {
			return t.State == "unhealthy" && (reasonIn(t, "ResponseCodeMismatch", "L7STS") || len(t.Codes) > 0)
		}),
	targetFact("balancer.draining", "Targets that are draining.", "draining targets fail checks without meaning anything",
		func(t *evidence.Target) bool { return t.State == "draining" }),
}
