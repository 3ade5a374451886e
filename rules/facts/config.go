package facts

import (
	"strconv"
	"strings"
	"time"

	"github.com/probedoctor/probedoctor/sources/evidence"
)

// How the probes and checks are set up.

// portNumber resolves a named port by the container's ports; a number stays as it is.
func (in *Incident) portNumber(port string) string {
	if _, err := strconv.Atoi(port); err == nil {
		return port
	}
	if c, _ := in.spec(); c != nil {
		for _, p := range c.Ports {
			if p.Name == port && p.Number > 0 {
				return strconv.Itoa(p.Number)
			}
		}
	}
	return port
}

// prober is one party that asks for a health path.
type prober struct {
	name, port, path string
	perSecond        float64 // at one pod
	ref              evidence.Ref
	balancer         bool
}

// probers lists the kubelet's HTTP probes and the balancers' checks with what they ask for.
func (in *Incident) probers() []prober {
	return once(in, "probers", func() []prober {
		var out []prober
		for i := range in.Probes {
			p := &in.Probes[i]
			if p.Spec == nil || p.Spec.Handler != "http" {
				continue
			}
			out = append(out, prober{
				name: string(p.Kind), port: in.portNumber(p.Spec.Endpoint.Port), path: p.Spec.Endpoint.Path,
				perSecond: 1 / p.Spec.Period().Seconds(), ref: p.SpecRef,
			})
		}
		for _, h := range in.HealthChecks {
			if h.Endpoint.Path == "" || h.Endpoint.Scheme != "" && !strings.HasPrefix(h.Endpoint.Scheme, "http") {
				continue
			}
			port := h.Endpoint.Port
			if port == "" || port == "traffic-port" {
				port = h.TargetPort
			}
			name := "balancer"
			if h.Group != "" {
				name = "balancer " + h.Group
			}
			q := prober{name: name, port: in.portNumber(port), path: h.Endpoint.Path, ref: h.Ref, balancer: true}
			if h.Interval > 0 {
				q.perSecond = float64(max(h.Checkers, 1)) / h.Interval.Seconds()
			}
			out = append(out, q)
		}
		return out
	})
}

// stacked is the largest set of probers on one port and path.
func (in *Incident) stacked() []prober {
	groups := map[string][]prober{}
	for _, p := range in.probers() {
		// A startup probe is over before the others begin.
		if p.name == string(evidence.Startup) {
			continue
		}
		k := p.port + " " + p.path
		groups[k] = append(groups[k], p)
	}
	var most []prober
	for _, k := range sortedKeys(groups) {
		if len(groups[k]) > len(most) {
			most = groups[k]
		}
	}
	return most
}

func (in *Incident) specFact(compute func(c *evidence.Container, ref evidence.Ref) Value) Value {
	c, ref := in.spec()
	if c == nil || !c.ProbesKnown {
		return Unknown
	}
	return compute(c, ref)
}

var configFacts = []Fact{
	{
		Name: "config.samePath", Doc: "Probers that ask the same path on the same port: liveness, readiness and balancer checks.",
		Type: Int, Unit: "probers", Scope: ScopeIncident, Needs: []string{evidence.SourceSpecs, evidence.SourceBalancer},
		Why: "several probers on one path compete for the same workers and fail together", Collect: collectSpec,
		Compute: func(in *Incident) Value {
			ps := in.stacked()
			if len(ps) == 0 {
				return Unknown
			}
			// Without a balancer's configuration a further prober may exist: one or two is then not known to be all.
			refs := make([]evidence.Ref, len(ps))
			for i, p := range ps {
				refs[i] = p.ref
			}
			return known(int64(len(ps)), refs...)
		},
	},
	{
		Name: "config.proberNames", Doc: "The probers of config.samePath by name.", Type: String, Scope: ScopeIncident,
		Needs: []string{evidence.SourceSpecs, evidence.SourceBalancer}, Why: "who asks", Collect: collectSpec,
		Compute: func(in *Incident) Value {
			ps := in.stacked()
			if len(ps) == 0 {
				return Unknown
			}
			var names []string
			var refs []evidence.Ref
			for _, p := range ps {
				names = append(names, p.name)
				refs = append(refs, p.ref)
			}
			return known(strings.Join(names, ", "), refs...)
		},
	},
	{
		Name: "config.probesPerSecond", Doc: "Health requests that one pod gets each second from all known probers; a balancer whose number of nodes is not known counts as one.",
		Type: Double, Unit: "per second", Scope: ScopeIncident, Needs: []string{evidence.SourceSpecs},
		Why: "how much load the probes themselves are", Collect: collectSpec,
		Compute: func(in *Incident) Value {
			sum := 0.0
			var refs []evidence.Ref
			for _, p := range in.probers() {
				if p.name != string(evidence.Startup) {
					sum += p.perSecond
					refs = append(refs, p.ref)
				}
			}
			if sum == 0 {
				return Unknown
			}
			return known(sum, refs...)
		},
	},
	{
		Name: "config.fleetProbesPerSecond", Doc: "Health requests each second over all live pods of the workload.",
		Type: Double, Unit: "per second", Scope: ScopeIncident, Needs: []string{evidence.SourceSpecs, evidence.SourcePods},
		Why: "what a deep check costs its dependencies", Collect: collectSpec,
		Compute: func(in *Incident) Value {
			n := len(in.livePods())
			if in.Template != nil && in.Template.Desired > n {
				n = in.Template.Desired
			}
			sum := 0.0
			var refs []evidence.Ref
			for _, p := range in.probers() {
				if p.name != string(evidence.Startup) {
					sum += p.perSecond
					refs = append(refs, p.ref)
				}
			}
			if sum == 0 || n == 0 {
				return Unknown
			}
			return known(sum*float64(n), refs...)
		},
	},
	{
		Name: "config.hasStartupProbe", Doc: "Whether the container has a startup probe.", Type: Bool, Scope: ScopeIncident,
		Needs: []string{evidence.SourceSpecs}, Why: "without one, liveness counts from the first moment", Collect: collectSpec,
		Compute: func(in *Incident) Value {
			return in.specFact(func(c *evidence.Container, ref evidence.Ref) Value {
				for _, p := range c.Probes {
					if p.Probe == evidence.Startup {
						return known(true, ref)
					}
				}
				return known(false, ref)
			})
		},
	},
	{
		Name: "config.tightest", Doc: "The smallest failureThreshold among the kubelet probes and unhealthy threshold among the balancers' checks.",
		Type: Int, Unit: "probes", Scope: ScopeIncident, Needs: []string{evidence.SourceSpecs},
		Why: "a threshold of one makes every transient an ejection", Collect: collectSpec,
		Compute: func(in *Incident) Value {
			least := 0
			var refs []evidence.Ref
			see := func(n int, ref evidence.Ref) {
				switch {
				case n <= 0:
				case least == 0 || n < least:
					least, refs = n, []evidence.Ref{ref}
				case n == least:
					refs = append(refs, ref)
				}
			}
			for i := range in.Probes {
				if s := in.Probes[i].Spec; s != nil && in.Probes[i].Kind != evidence.Startup {
					see(s.Failures(), in.Probes[i].SpecRef)
				}
			}
			for _, h := range in.HealthChecks {
				see(h.UnhealthyThreshold, h.Ref)
			}
			if least == 0 {
				return Unknown
			}
			return known(int64(least), refs...)
		},
	},
	{
		Name: "config.window", Doc: "Shortest time in which a hung pod is taken out by a kubelet probe: (failureThreshold − 1) × max(period, timeout) + timeout, the best case of the detection window.",
		Type: Duration, Scope: ScopeIncident, Needs: []string{evidence.SourceSpecs},
		Why: "a window shorter than an ordinary transient ejects healthy pods", Collect: collectSpec,
		Compute: func(in *Incident) Value {
			var least time.Duration
			var refs []evidence.Ref
			for i := range in.Probes {
				s := in.Probes[i].Spec
				if s == nil || in.Probes[i].Kind == evidence.Startup {
					continue
				}
				w := time.Duration(s.Failures()-1)*max(s.Period(), s.Timeout()) + s.Timeout()
				if least == 0 || w < least {
					least, refs = w, []evidence.Ref{in.Probes[i].SpecRef}
				}
			}
			if least == 0 {
				return Unknown
			}
			return known(least, refs...)
		},
	},
	{
		Name: "config.timeoutSet", Doc: "Whether every failing probe's timeoutSeconds is set to something other than the default of 1 s.",
		Type: Bool, Scope: ScopeIncident, Needs: []string{evidence.SourceSpecs},
		Why: "the default of one second is the commonest reason for a working handler to fail its probe", Collect: collectSpec,
		Compute: func(in *Incident) Value {
			set, measured := true, false
			var refs []evidence.Ref
			for i := range in.Probes {
				p := &in.Probes[i]
				if p.Spec == nil || len(p.Failures) == 0 && len(in.Failures) > 0 {
					continue
				}
				measured = true
				refs = append(refs, p.SpecRef)
				if p.Spec.TimeoutSeconds <= 1 {
					set = false
				}
			}
			if !measured {
				return Unknown
			}
			return known(set, refs...)
		},
	},
	{
		Name: "config.portListed", Doc: "Whether the probed port is among the container's ports. Listing is optional in Kubernetes, so false is a hint and no proof.",
		Type: Bool, Scope: ScopeIncident, Needs: []string{evidence.SourceSpecs},
		Why: "a port that no container declares is often a wrong one", Collect: collectSpec,
		Compute: func(in *Incident) Value {
			// A fragment that shows ports and probes is enough.
			c, ref := in.spec()
			if c == nil || len(c.Ports) == 0 || len(c.Probes) == 0 {
				return Unknown
			}
			asked := false
			for _, p := range c.Probes {
				if p.Endpoint.Port == "" {
					continue
				}
				asked = true
				listed := false
				for _, q := range c.Ports {
					if q.Name == p.Endpoint.Port || strconv.Itoa(q.Number) == p.Endpoint.Port {
						listed = true
					}
				}
				if !listed {
					return known(false, ref)
				}
			}
			if !asked {
				return Unknown // exec probes ask no port
			}
			return known(true, ref)
		},
	},
	{
		Name: "config.listensElsewhere", Doc: "Whether listening sockets or log lines show the server on other ports only, and none on the probed one.",
		Type: Bool, Scope: ScopeIncident, Needs: []string{evidence.SourceSockets, evidence.SourceLogs},
		Why: "then the probe aims at the wrong port", Collect: collectSockets,
		Compute: func(in *Incident) Value { return in.listening(false) },
	},
	{
		Name: "config.loopbackOnly", Doc: "Whether the server listens on the probed port only on a loopback address.",
		Type: Bool, Scope: ScopeIncident, Needs: []string{evidence.SourceSockets, evidence.SourceLogs},
		Why: "the kubelet probes the pod's address, which loopback does not answer", Collect: collectSockets,
		Compute: func(in *Incident) Value { return in.listening(true) },
	},
}

// probedPortKnown tells whether a probed port is known by its number.
func (in *Incident) probedPortKnown() bool {
	number := func(s string) bool { _, err := strconv.Atoi(s); return err == nil }
	for i := range in.Probes {
		p := &in.Probes[i]
		if p.Spec != nil && number(in.portNumber(p.Spec.Endpoint.Port)) {
			return true
		}
		for _, f := range p.Failures {
			if number(f.Target.Port) {
				return true
			}
		}
	}
	return false
}

// loopback tells whether an address is reached from inside the pod only.
func loopback(address string) bool {
	return strings.HasPrefix(address, "127.") || address == "::1" || address == "[::1]" || address == "localhost"
}

// listening compares the probed ports with the sockets: for only, whether the probed port is bound to loopback alone; else
// whether the probed port is bound at all.
func (in *Incident) listening(only bool) Value {
	if len(in.Listeners) == 0 || !in.probedPortKnown() {
		return Unknown
	}
	onPort, onLoopback := false, true
	var refs []evidence.Ref
	for _, l := range in.Listeners {
		if !in.probedPort(l.Port) {
			refs = append(refs, l.Ref)
			continue
		}
		onPort = true
		if !loopback(l.Address) {
			onLoopback = false
		}
		refs = append(refs, l.Ref)
	}
	if only {
		if !onPort {
			return Unknown
		}
		return known(onLoopback, refs...)
	}
	return known(!onPort, refs...)
}
