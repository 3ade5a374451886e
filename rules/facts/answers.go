package facts

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/probedoctor/probedoctor/sources/evidence"
)

// What servers answered: to probers, as their access logs show it, and to people and users.

// proberRequests are the logged requests that a prober made: by its user agent, by asking a known health path, or by
// asking one path again and again at a steady interval, as only a prober does.
func (in *Incident) proberRequests() []*evidence.Request {
	return once(in, "proberRequests", func() []*evidence.Request {
		steady := SteadyAskers(in.Requests)
		var out []*evidence.Request
		for _, r := range in.Requests {
			if r.By != "client" && (isProber(r.UserAgent) || len(in.healthPaths()) > 0 && in.onHealthPath(r.Path) || steady[Asker{r.Client, r.Path}]) {
				out = append(out, r)
			}
		}
		return out
	})
}

// Asker is a client and the path it asks for.
type Asker struct{ Client, Path string }

// SteadyAskers are clients that asked for one path at least four times with intervals that differ little, as only probers
// do. The requests are sorted by time.
func SteadyAskers(requests []*evidence.Request) map[Asker]bool {
	times := map[Asker][]time.Time{}
	for _, r := range requests {
		if r.By != "client" && !r.At.IsZero() && r.Path != "" && r.Client != "" {
			k := Asker{r.Client, r.Path}
			times[k] = append(times[k], r.At)
		}
	}
	out := map[Asker]bool{}
	for k, ts := range times {
		if len(ts) < 4 {
			continue
		}
		slices.SortFunc(ts, time.Time.Compare)
		gaps := make([]time.Duration, 0, len(ts)-1)
		for i := 1; i < len(ts); i++ {
			gaps = append(gaps, ts[i].Sub(ts[i-1]))
		}
		slices.Sort(gaps)
		usual := gaps[len(gaps)/2]
		near := 0
		for _, g := range gaps {
			if (g - usual).Abs() <= max(usual/10, 1500*time.Millisecond) {
				near++
			}
		}
		if usual >= 2*time.Second && usual <= 5*time.Minute && near*10 >= len(gaps)*7 {
			out[k] = true
		}
	}
	return out
}

// usualStatus is the commonest status of requests and how often it came.
func usualStatus(rs []*evidence.Request) (status, n int, refs []evidence.Ref) {
	counts := map[int]int{}
	for _, r := range rs {
		if r.Status > 0 {
			counts[r.Status]++
		}
	}
	for s, c := range counts {
		if c > n || c == n && s < status {
			status, n = s, c
		}
	}
	for _, r := range rs {
		if r.Status == status {
			refs = append(refs, r.Ref)
		}
	}
	return status, n, refs
}

// asked are the requests that a person or a tool made by hand.
func (in *Incident) asked(match func(*evidence.Request) bool) []*evidence.Request {
	var out []*evidence.Request
	for _, r := range in.Requests {
		if r.By == "client" && match(r) {
			out = append(out, r)
		}
	}
	return out
}

func requestRefs(rs []*evidence.Request) []evidence.Ref {
	refs := make([]evidence.Ref, len(rs))
	for i, r := range rs {
		refs[i] = r.Ref
	}
	return refs
}

// HealthWord tells whether a path looks like a health endpoint by its name.
func HealthWord(path string) bool {
	p := strings.ToLower(path)
	for _, w := range []string{"health", "ready", "live", "alive", "status", "ping", "probe", "/up", "startup"} {
		if strings.Contains(p, w) {
			return true
		}
	}
	return false
}

var answerFacts = []Fact{
	{
		Name: "answers.toProbers", Doc: "The status with which the server answered most requests of probers, by its own log. Probers are known by their user agent, by a known health path, or by a steady interval.",
		Type: Int, Unit: "HTTP status", Scope: ScopeIncident, Needs: []string{evidence.SourceLogs},
		Why: "what the application itself says to the probe", Collect: collectLogs,
		Compute: func(in *Incident) Value {
			status, n, refs := usualStatus(in.proberRequests())
			if n < 1 {
				return Unknown
			}
			return known(int64(status), refs...)
		},
	},
	{
		Name: "answers.proberClients", Doc: "Different addresses from which balancers' health checkers ask the health path, by the server's log.",
		Type: Int, Unit: "addresses", Scope: ScopeIncident, Needs: []string{evidence.SourceLogs},
		Why: "each node of a balancer checks every target: they multiply", Collect: collectLogs,
		Compute: func(in *Incident) Value {
			clients := map[string]bool{}
			var refs []evidence.Ref
			for _, r := range in.proberRequests() {
				if r.Client != "" && isProber(r.UserAgent) && !strings.HasPrefix(r.UserAgent, "kube-probe/") && !clients[r.Client] {
					clients[r.Client] = true
					refs = append(refs, r.Ref)
				}
			}
			if len(clients) == 0 {
				return Unknown
			}
			return known(int64(len(clients)), refs...)
		},
	},
	{
		Name: "answers.toHand", Doc: "The status that a request by hand to a health path got.",
		Type: Int, Unit: "HTTP status", Scope: ScopeIncident, Needs: []string{evidence.SourceRequests},
		Why: "what the endpoint says to somebody else than the prober", Collect: collectCurl,
		Compute: func(in *Incident) Value {
			rs := in.asked(func(r *evidence.Request) bool {
				return r.Status > 0 && (in.onHealthPath(r.Path) || in.pathInfo(r.Path).word)
			})
			if len(rs) == 0 {
				return Unknown
			}
			return known(int64(rs[len(rs)-1].Status), requestRefs(rs)...)
		},
	},
	{
		Name: "answers.unreachableByHand", Doc: "Requests by hand that got no answer: refused, timed out or reset.",
		Type: Int, Unit: "requests", Scope: ScopeIncident, Needs: []string{evidence.SourceRequests},
		Why: "whether others than the prober are refused as well", Collect: collectCurl,
		Compute: func(in *Incident) Value {
			all := in.asked(func(*evidence.Request) bool { return true })
			if len(all) == 0 {
				return Unknown
			}
			none := in.asked(func(r *evidence.Request) bool { return r.Status == 0 })
			if len(none) == 0 {
				return known(int64(0), requestRefs(all)...)
			}
			return known(int64(len(none)), requestRefs(none)...)
		},
	},
	{
		Name: "answers.errorsToUsers", Doc: "Requests outside the health paths that were answered with a status of 500 or more, or not at all, by the logs of servers and balancers and by hand.",
		Type: Int, Unit: "requests", Scope: ScopeIncident, Needs: []string{evidence.SourceRequests, evidence.SourceLogs},
		Why: "whether users are hurt", Collect: collectLogs,
		Compute: func(in *Incident) Value {
			n := int64(0)
			var refs, all []evidence.Ref
			for _, r := range in.Requests {
				if in.onHealthPath(r.Path) || in.pathInfo(r.Path).word {
					continue
				}
				all = append(all, r.Ref)
				if r.Status >= 500 || r.Status == 0 && r.By == "client" {
					n++
					refs = append(refs, r.Ref)
				}
			}
			if len(all) == 0 {
				return Unknown
			}
			if n == 0 {
				refs = all
			}
			return known(n, refs...)
		},
	},
	{
		Name: "answers.usersOnly", Doc: "Whether requests fail while every pod that was read is Ready, has not restarted in the last hour, and no probe fails.",
		Type: Bool, Scope: ScopeIncident, Needs: []string{evidence.SourcePods, evidence.SourceRequests},
		Why: "an outage that no probe sees means that the probes look at the wrong thing", Collect: collectPods,
		Compute: func(in *Incident) Value {
			var failing, refs []evidence.Ref
			for _, r := range in.Requests {
				if r.Status >= 500 || r.Status == 0 && r.By == "client" {
					failing = append(failing, r.Ref)
				}
			}
			for i := range in.Failures {
				if in.Failures[i].serious() {
					return known(false, in.Failures[i].Cites)
				}
			}
			if len(failing) == 0 || len(in.livePods()) == 0 {
				return Unknown
			}
			for _, p := range in.livePods() {
				ready, ok := p.Ready()
				if !ok {
					return Unknown
				}
				long := !p.LastRestart.IsZero() && in.Set.End.Sub(p.LastRestart) > time.Hour
				if !ready || p.Restarts > 0 && !long {
					return known(false, p.Ref)
				}
				refs = append(refs, p.Ref)
			}
			return known(true, append(failing, refs...)...)
		},
	},
	{
		Name: "answers.otherHealthPathFails", Doc: "Whether a health path that no probe asks fails while a probed one answers.",
		Type: Bool, Scope: ScopeIncident, Needs: []string{evidence.SourceRequests, evidence.SourceSpecs},
		Why: "then the application knows of its trouble and the probe does not ask", Collect: collectCurl,
		Compute: func(in *Incident) Value {
			var refs []evidence.Ref
			good, bad := false, false
			for _, r := range in.asked(func(r *evidence.Request) bool { return in.pathInfo(r.Path).word }) {
				refs = append(refs, r.Ref)
				failed := r.Status >= 400 || strings.Contains(r.Excerpt, `"fail"`) || strings.Contains(strings.ToUpper(r.Excerpt), `"DOWN"`)
				switch {
				case in.onHealthPath(r.Path) && !failed:
					good = true
				case !in.onHealthPath(r.Path) && failed:
					bad = true
				}
			}
			if len(refs) < 2 || len(in.healthPaths()) == 0 {
				return Unknown
			}
			return known(good && bad, refs...)
		},
	},
	{
		Name: "answers.drainErrors", Doc: "Requests that failed with 502, 503 or 504, or were not answered, within 30 s after a pod of the workload was told to stop.",
		Type: Int, Unit: "requests", Scope: ScopeIncident, Needs: []string{evidence.SourceRequests, evidence.SourceEvents},
		Why: "traffic that is lost just when pods end is an order of draining", Collect: collectLogs,
		Compute: func(in *Incident) Value {
			near, all, refs := in.drainErrors()
			if len(in.stops()) == 0 || all == 0 && len(in.Requests) == 0 {
				return Unknown
			}
			return known(int64(near), refs...)
		},
	},
	{
		Name: "answers.drainShare", Doc: "Share of all failing requests (502, 503, 504 or no answer) that failed within 30 s after a pod was told to stop.",
		Type: Double, Unit: "ratio", Scope: ScopeIncident, Needs: []string{evidence.SourceRequests, evidence.SourceEvents},
		Why: "errors at all times are no matter of draining", Collect: collectLogs,
		Compute: func(in *Incident) Value {
			near, all, refs := in.drainErrors()
			if all == 0 {
				return Unknown
			}
			return known(float64(near)/float64(all), refs...)
		},
	},
	{
		Name: "balancer.alone", Doc: "Whether a balancer holds targets for unhealthy while nothing that was read shows a failing probe or a pod that is not Ready.",
		Type: Bool, Scope: ScopeIncident, Needs: []string{evidence.SourceBalancer},
		Why: "whether only the balancer complains", Collect: collectPods,
		Compute: func(in *Incident) Value {
			var refs []evidence.Ref
			for _, t := range in.Targets {
				if t.State == "unhealthy" && t.Balancer != "endpointslice" {
					refs = append(refs, t.Ref)
				}
			}
			if len(refs) == 0 {
				return Unknown
			}
			for i := range in.Failures {
				if in.Failures[i].serious() {
					return known(false, in.Failures[i].Cites)
				}
			}
			for _, p := range in.livePods() {
				if ready, ok := p.Ready(); ok && !ready && !gateOnly(p) {
					return known(false, p.Ref)
				}
			}
			return known(true, refs...)
		},
	},
	{
		Name: "balancer.noLocalEndpoints", Doc: "Nodes whose health port says that they have no endpoint of the service, as externalTrafficPolicy Local makes of nodes without a pod.",
		Type: Int, Unit: "nodes", Scope: ScopeIncident, Needs: []string{evidence.SourceBalancer},
		Why: "such nodes are unhealthy by design", Collect: func(*Incident) string { return "curl -s http://NODE:HEALTH_CHECK_NODE_PORT/healthz" },
		Compute: func(in *Incident) Value {
			n := int64(0)
			var refs []evidence.Ref
			for _, t := range in.Targets {
				if t.Reason == "NoLocalEndpoints" {
					n++
					refs = append(refs, t.Ref)
				}
			}
			if n == 0 {
				return Unknown
			}
			return known(n, refs...)
		},
	},
	{
		Name: "balancer.refusesStatus", Doc: "Whether the endpoint answers with a success other than 200, or with a redirect, while the balancer finds it unhealthy: the kubelet takes 200 to 399, most balancers only 200.",
		Type: Bool, Scope: ScopeIncident, Needs: []string{evidence.SourceBalancer, evidence.SourceRequests},
		Why: "a matcher that is stricter than the kubelet fails a healthy pod", Collect: collectCurl,
		Compute: func(in *Incident) Value {
			var bad []evidence.Ref
			coded := true
			for _, t := range in.Targets {
				if t.State == "unhealthy" && t.Balancer != "endpointslice" {
					bad = append(bad, t.Ref)
					if slices.ContainsFunc(t.Codes, func(c int) bool { return c > 200 && c < 400 }) {
						return known(true, t.Ref)
					}
					coded = coded && len(t.Codes) > 0
				}
			}
			if len(bad) == 0 {
				return Unknown
			}
			if coded {
				return known(false, bad...) // the balancer says itself which statuses it refused
			}
			rs := in.asked(func(r *evidence.Request) bool { return r.Status > 0 })
			status, n, refs := usualStatus(append(rs, in.proberRequests()...))
			if n == 0 {
				return Unknown
			}
			return known(status > 200 && status < 400, append(bad, refs...)...)
		},
	},
}

// stops are the moments at which pods of the workload were told to stop.
func (in *Incident) stops() []time.Time {
	var stops []time.Time
	for _, e := range in.Events {
		if e.Reason == "Killing" && strings.HasPrefix(e.Message, "Stopping container") || e.Reason == "SuccessfulDelete" {
			stops = append(stops, e.First)
		}
	}
	for _, h := range in.Signatures["shutting-down"].Hits {
		stops = append(stops, h.Line.At)
	}
	return stops
}

// drainErrors counts the failing requests, and those within 30 s after a stop; it cites the latter, else all.
func (in *Incident) drainErrors() (near, all int, refs []evidence.Ref) {
	stops := in.stops()
	var others []evidence.Ref
	for _, r := range in.Requests {
		// A server's log without a status does not say that there was no answer.
		unanswered := r.Status == 0 && (r.By == "client" || r.By == "balancer")
		if r.At.IsZero() || !unanswered && (r.Status < 502 || r.Status > 504) {
			continue
		}
		all++
		if slices.ContainsFunc(stops, func(t time.Time) bool {
			d := r.At.Sub(t)
			return !t.IsZero() && d >= -time.Second && d <= 30*time.Second
		}) {
			near++
			refs = append(refs, r.Ref)
		} else {
			others = append(others, r.Ref)
		}
	}
	if near == 0 {
		refs = others
	}
	// A proxy's error log tells of the same: it could not connect to the pod.
	for _, h := range in.Signatures["upstream-connect-failed"].Hits {
		all++
		if t := h.Line.At; slices.ContainsFunc(stops, func(s time.Time) bool { d := t.Sub(s); return !s.IsZero() && d >= -time.Second && d <= 30*time.Second }) {
			near++
			refs = append(refs, h.Line.Ref)
		}
	}
	return near, all, refs
}

// gateOnly tells whether a pod is not Ready only because of a readiness gate, all its containers being ready.
func gateOnly(p *evidence.Pod) bool {
	c, ok := p.Condition("Ready")
	return ok && c.Reason == "ReadinessGatesNotReady"
}

func collectCurl(in *Incident) string {
	path := "/"
	if hp := in.healthPaths(); len(hp) > 0 {
		path = hp[0]
	}
	port := "PORT"
	for i := range in.Probes {
		if s := in.Probes[i].Spec; s != nil && s.Endpoint.Port != "" {
			port = in.portNumber(s.Endpoint.Port)
		}
	}
	if _, err := strconv.Atoi(port); err != nil {
		port = "PORT"
	}
	return "kubectl -n " + in.ns() + " exec " + in.somePod() + " -c " + in.containerName() + " -- curl -sS -m 5 -o /dev/null -w '%{http_code} %{time_total}\\n' " + quote("http://localhost:"+port+path)
}
