package kubeobj

import (
	"strings"

	"github.com/probedoctor/probedoctor/sources/evidence"
)

var probeKinds = []evidence.ProbeKind{evidence.Startup, evidence.Readiness, evidence.Liveness}

// probe reads one probe. The handler may lie directly in it, under "handler" (the API's Go field, as old dumps print it)
// or, as charts have it, the whole probe under "spec".
func probe(t tree, kind evidence.ProbeKind) evidence.ProbeSpec {
	if inner := t.sub("spec"); inner != nil {
		t = inner
	}
	p := evidence.ProbeSpec{
		Probe:               kind,
		InitialDelaySeconds: t.intOr("initialDelaySeconds", 0), TimeoutSeconds: t.intOr("timeoutSeconds", 0),
		PeriodSeconds: t.intOr("periodSeconds", 0), SuccessThreshold: t.intOr("successThreshold", 0),
		FailureThreshold: t.intOr("failureThreshold", 0), TerminationGraceSecs: t.intOr("terminationGracePeriodSeconds", 0),
	}
	h := t
	if inner := t.sub("handler"); inner != nil {
		h = inner
	}
	switch {
	case h.has("httpGet"):
		g := h.sub("httpGet")
		p.Handler = "http"
		p.Endpoint = evidence.Endpoint{
			Scheme: strings.ToLower(g.str("scheme")), Host: g.str("host"), Port: g.str("port"), Path: g.str("path"),
		}
		if p.Endpoint.Scheme == "" {
			p.Endpoint.Scheme = "http"
		}
		for _, header := range g.list("httpHeaders") {
			if p.Headers == nil {
				p.Headers = map[string]string{}
			}
			name, value := header.str("name"), header.str("value")
			if secretName(name) {
				value = ""
			}
			p.Headers[name] = cut(value, maxEnv)
		}
	case h.has("tcpSocket"):
		g := h.sub("tcpSocket")
		p.Handler = "tcp"
		p.Endpoint = evidence.Endpoint{Scheme: "tcp", Host: g.str("host"), Port: g.str("port")}
	case h.has("grpc"):
		g := h.sub("grpc")
		p.Handler = "grpc"
		p.Endpoint = evidence.Endpoint{Scheme: "grpc", Port: g.str("port")}
		p.Service = g.str("service")
	case h.has("exec"):
		p.Handler = "exec"
		p.Command = args(h.sub("exec").strs("command"))
	}
	return p
}

// looksLikeProbe tells a probe fragment by a handler or by the numbers that only a probe has.
func looksLikeProbe(t tree) bool {
	if inner := t.sub("spec"); inner != nil {
		t = inner
	}
	for _, key := range []string{"httpGet", "tcpSocket", "grpc", "exec", "periodSeconds", "failureThreshold", "handler"} {
		if t.has(key) {
			return true
		}
	}
	return false
}

// probeExcerpt is "readiness GET http://:8080/health every 10s, timeout 1s, 3 failures", with the API's defaults applied.
func probeExcerpt(p evidence.ProbeSpec) string {
	var b strings.Builder
	b.WriteString(string(p.Probe))
	e := p.Endpoint
	switch p.Handler {
	case "http":
		b.WriteString(" GET " + e.Scheme + "://" + e.Host + ":" + e.Port + e.Path)
	case "tcp":
		b.WriteString(" tcp " + e.Host + ":" + e.Port)
	case "grpc":
		b.WriteString(" grpc :" + e.Port)
		if p.Service != "" {
			b.WriteString(" " + p.Service)
		}
	case "exec":
		b.WriteString(" exec " + cut(strings.Join(p.Command, " "), 80))
	}
	b.WriteString(" every " + p.Period().String() + " timeout " + p.Timeout().String() + " failures " + itoa(p.Failures()))
	return b.String()
}
