package evidence

import (
	"slices"
	"strings"
	"testing"
)

// order is the order in which a probe passes the phases.
var order = []Phase{PhaseConfig, PhaseDNS, PhaseConnect, PhaseTLS, PhaseWrite, PhaseAwaitingHeaders, PhaseProtocol, PhaseRedirect,
	PhaseBody, PhaseStatus, PhaseExec, PhaseGRPC, PhaseUnknown}

func FuzzClassify(f *testing.F) {
	for _, s := range []string{
		onHTTP + "context deadline exceeded (Client.Timeout exceeded while awaiting headers)",
		onHTTPS + "net/http: request canceled while waiting for connection (Client.Timeout exceeded while awaiting headers)",
		onName + "dial tcp: lookup web.test on 10.96.0.10:53: no such host",
		`Startup probe failed: Get "http://[fd12:xxxx::7]:8200/": EOF`,
		`Liveness probe errored and resulted in unknown state: rpc error: code = Unknown desc = failed to exec in container: exec: "a": stat a: no such file or directory`,
		`Liveness probe failed: command timed out: "x" timed out after 2s`,
		"Liveness probe failed: curl: (7) Failed to connect to localhost port 8089: Connection refused",
		`(combined from similar events): spec.containers{a}: Readiness probe warning: Probe terminated redirects, Response body: x`,
		`"Probe failed" probeType="Liveness" pod="a/b" containerName="c" probeResult="failure" output="Get \"http://10.0.0.1/\": EOF"`,
		`Readiness probe for "a_b(c):d" failed (failure): HTTP probe failed with statuscode: 503`,
		`Readiness probe failed: timeout: failed to connect service "10.0.0.1:9018" within 1s: context deadline exceeded`,
		"> **_Readiness probe error: HTTP probe failed with statuscode: 500\nbody: x_**",
		"`", `"`, "“", " probe failed:", "Readiness probe ", "Get ", "dial tcp ", "\xff\xfe", "",
		"Liveness probe failed:\xc5Curl: (", "Liveness probe failed: Kcurl: (7) connect to \u0130 port 1",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		v, ok := Classify(s)
		if !ok {
			if v.Result != "" || v.Phase != "" || v.Outcome != "" {
				t.Errorf("rejected with a verdict: %+v", v)
			}
			return
		}
		if v.Result == "" || v.Phase == "" || v.Outcome == "" {
			t.Errorf("incomplete: %+v", v)
		}
		if len(v.Possible) > 0 {
			if !slices.Contains(v.Possible, v.Phase) {
				t.Errorf("%s is not among the possible phases %v", v.Phase, v.Possible)
			}
			if len(v.Possible) < 2 || !slices.IsSortedFunc(v.Possible, func(a, b Phase) int { return slices.Index(order, a) - slices.Index(order, b) }) {
				t.Errorf("possible phases %v", v.Possible)
			}
		}
		if v.Status < 0 || v.Status > 99999 || v.Limit < 0 {
			t.Errorf("out of range: %+v", v)
		}
		if p := v.Target.Port; p != "" && v.Phase != PhaseConfig && (number(p) < 1 || number(p) > 65535) {
			t.Errorf("port %q", p)
		}
		if strings.ContainsAny(v.Target.Host, "<>*…/ \n") {
			t.Errorf("host %q", v.Target.Host)
		}
		again, ok := Classify("(combined from similar events): spec.containers{c}: " + s)
		if ok && v.Probe != "" && again.Probe == v.Probe && again.Phase != v.Phase {
			t.Errorf("the kubelet's prefixes change %s to %s", v.Phase, again.Phase)
		}
	})
}

// Prose behind a timeout does not change it, whatever it says.
func FuzzClassifyProse(f *testing.F) {
	f.Add(" and then nothing helps")
	f.Add("\nReadiness probe failed: EOF")
	f.Add(". connection refused")
	f.Fuzz(func(t *testing.T, prose string) {
		if prose != "" && !strings.ContainsAny(prose[:1], " \n.,;") || len(prose) > 1000 {
			return
		}
		for _, text := range []string{
			"context deadline exceeded (Client.Timeout exceeded while awaiting headers)",
			"net/http: request canceled while waiting for connection (Client.Timeout exceeded while awaiting headers)",
			"net/http: request canceled (Client.Timeout exceeded while awaiting headers)",
			"net/http: TLS handshake timeout",
			"dial tcp 10.0.0.1:8443: i/o timeout",
		} {
			want, _ := Classify(onHTTPS + text)
			got, ok := Classify(onHTTPS + text + prose)
			if !ok || got.Phase != want.Phase || got.Outcome != want.Outcome || !slices.Equal(got.Possible, want.Possible) {
				t.Errorf("%q behind %q: %+v, want %+v", prose, text, got, want)
			}
		}
	})
}
