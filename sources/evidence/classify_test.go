package evidence

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// Short forms for the tables.
var (
	connectOrHeaders    = []Phase{PhaseConnect, PhaseAwaitingHeaders}
	connectTLSOrHeaders = []Phase{PhaseConnect, PhaseTLS, PhaseAwaitingHeaders}
	nameOrHeaders       = []Phase{PhaseDNS, PhaseConnect, PhaseAwaitingHeaders}
	tlsOrHeaders        = []Phase{PhaseTLS, PhaseAwaitingHeaders}
	connectOrTLS        = []Phase{PhaseConnect, PhaseTLS}
	anyGRPC             = []Phase{PhaseConnect, PhaseTLS, PhaseGRPC}
)

type classifyCase struct {
	name, message string
	want          Verdict
}

func runClassify(t *testing.T, cases []classifyCase) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got, ok := Classify(c.message)
			if !ok {
				t.Fatalf("not recognised: %q", c.message)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("%q (-want +got):\n%s", c.message, diff)
			}
		})
	}
}

// verdict makes the expectation for a probe of http://10.0.0.1:8080/x.
func verdict(p Phase, o Outcome, possible ...Phase) Verdict {
	return Verdict{Probe: Readiness, Result: Failed, Phase: p, Outcome: o, Possible: possible,
		Target: Endpoint{Scheme: "http", Host: "10.0.0.1", Port: "8080", Path: "/x"}}
}

func secure(v Verdict) Verdict {
	v.Target.Scheme, v.Target.Port = "https", "8443"
	return v
}

func named(v Verdict) Verdict {
	v.Target.Host = "web.test"
	return v
}

// bare is a verdict without a target.
func bare(k ProbeKind, r Result, p Phase, o Outcome, possible ...Phase) Verdict {
	return Verdict{Probe: k, Result: r, Phase: p, Outcome: o, Possible: possible}
}

func with(v Verdict, f func(*Verdict)) Verdict {
	f(&v)
	return v
}

const (
	onHTTP  = `Readiness probe failed: Get "http://10.0.0.1:8080/x": `
	onHTTPS = `Readiness probe failed: Get "https://10.0.0.1:8443/x": `
	onName  = `Readiness probe failed: Get "http://web.test:8080/x": `
)

// What the kubelet prints for each behaviour of a server, in the order of the measured table.
func TestClassifyServerBehaviour(t *testing.T) {
	const deadline = `context deadline exceeded (Client.Timeout exceeded while awaiting headers)`
	reset := `read tcp 10.0.0.9:40000->10.0.0.1:8080: read: connection reset by peer`
	broken := `net/http: HTTP/1.x transport connection broken: `
	status := func(n int) Verdict {
		return Verdict{Probe: Readiness, Result: Failed, Phase: PhaseStatus, Outcome: OutcomeStatus, Status: n}
	}
	runClassify(t, []classifyCase{
		{"h1 port closed", onHTTP + `dial tcp 10.0.0.1:8080: connect: connection refused`, verdict(PhaseConnect, OutcomeRefused)},
		{"h2 accepted and silent", onHTTP + deadline, verdict(PhaseAwaitingHeaders, OutcomeTimeout, connectOrHeaders...)},
		{"h2 on https", onHTTPS + deadline, secure(verdict(PhaseAwaitingHeaders, OutcomeTimeout, connectTLSOrHeaders...))},
		{"h41 the same on a name", onName + deadline, named(verdict(PhaseAwaitingHeaders, OutcomeTimeout, nameOrHeaders...))},
		{"h6 no route", onHTTP + `dial tcp 10.0.0.1:8080: connect: no route to host`, verdict(PhaseConnect, OutcomeNoRoute)},
		{"h9 unreachable", onHTTP + `dial tcp 10.0.0.1:8080: connect: network is unreachable`, verdict(PhaseConnect, OutcomeUnreachable)},
		{"h10 blackhole", onHTTP + `dial tcp 10.0.0.1:8080: connect: invalid argument`, verdict(PhaseConnect, OutcomeDenied)},
		{"h10 prohibit", onHTTP + `dial tcp 10.0.0.1:8080: connect: permission denied`, verdict(PhaseConnect, OutcomeDenied)},
		{"h11 no ports left", onHTTP + `dial tcp 10.0.0.1:8080: connect: cannot assign requested address`, verdict(PhaseConnect, OutcomeNoResources)},
		{"h12 no descriptors left", onHTTP + `dial tcp 10.0.0.1:8080: socket: too many open files`, verdict(PhaseConnect, OutcomeNoResources)},
		{"h13 reset after accept", onHTTP + reset, verdict(PhaseAwaitingHeaders, OutcomeReset)},
		{"h13 reset at connect", onHTTP + `dial tcp 10.0.0.1:8080: connect: connection reset by peer`, verdict(PhaseConnect, OutcomeReset)},
		{"reset while writing", onHTTP + `write tcp 10.0.0.9:40000->10.0.0.1:8080: write: connection reset by peer`, verdict(PhaseWrite, OutcomeReset)},
		{"h15 closed", onHTTP + `EOF`, verdict(PhaseAwaitingHeaders, OutcomeClosed)},
		{"h18 partial header", onHTTP + broken + `malformed MIME header: missing colon: "X-A"`, verdict(PhaseProtocol, OutcomeMalformed)},
		{"h19 body stalls", `Readiness probe errored and resulted in failure state: context deadline exceeded (Client.Timeout or context cancellation while reading body)`,
			bare(Readiness, Errored, PhaseBody, OutcomeTimeout)},
		{"h20 body truncated", `Readiness probe errored: unexpected EOF`, bare(Readiness, Errored, PhaseBody, OutcomeTruncated)},
		{"h21 body reset", `Readiness probe errored and resulted in failure state: ` + reset,
			with(bare(Readiness, Errored, PhaseBody, OutcomeReset), func(v *Verdict) { v.Target = Endpoint{Host: "10.0.0.1", Port: "8080"} })},
		{"h22 bad chunk", `Readiness probe errored: invalid byte in chunk length`, bare(Readiness, Errored, PhaseBody, OutcomeMalformed)},
		{"h23 status", `Readiness probe failed: HTTP probe failed with statuscode: 503`, status(503)},
		{"h24 redirect loop", `Readiness probe failed: Get "/loop": stopped after 10 redirects`,
			with(bare(Readiness, Failed, PhaseRedirect, OutcomeRedirect), func(v *Verdict) { v.Redirected, v.Target.Path = true, "/loop" })},
		{"h25 redirect to another host", `Readiness probe warning: Probe terminated redirects, Response body: moved`,
			with(bare(Readiness, Warned, PhaseRedirect, OutcomeRedirect), func(v *Verdict) { v.Redirected = true })},
		{"h25 before 1.24", `Readiness probe warning: <a href="/login">Found</a>.`, bare(Readiness, Warned, PhaseRedirect, OutcomeRedirect)},
		{"h26 http to a TLS port", `Readiness probe failed: HTTP probe failed with statuscode: 400`, status(400)},
		{"h27 TLS alert", onHTTP + broken + `malformed HTTP response "\x15\x03\x01\x00\x02\x02\x16"`, verdict(PhaseTLS, OutcomeTLSMismatch)},
		{"h28 https to plain HTTP", onHTTPS + `http: server gave HTTP response to HTTPS client`, secure(verdict(PhaseTLS, OutcomeTLSMismatch))},
		{"h29 https to something else", onHTTPS + `tls: first record does not look like a TLS handshake`, secure(verdict(PhaseTLS, OutcomeTLSMismatch))},
		{"h30 client certificate", onHTTPS + `remote error: tls: certificate required`, secure(verdict(PhaseTLS, OutcomeTLSHandshake))},
		{"h30 TLS 1.2", onHTTPS + `remote error: tls: handshake failure`, secure(verdict(PhaseTLS, OutcomeTLSHandshake))},
		{"h31 version", onHTTPS + `remote error: tls: protocol version not supported`, secure(verdict(PhaseTLS, OutcomeTLSHandshake))},
		{"h32 name", onHTTPS + `remote error: tls: internal error`, secure(verdict(PhaseTLS, OutcomeTLSHandshake))},
		{"h33 handshake timeout", onHTTPS + `net/http: TLS handshake timeout`, secure(verdict(PhaseTLS, OutcomeTimeout))},
		{"h34 closed in handshake", onHTTPS + `EOF`, secure(verdict(PhaseAwaitingHeaders, OutcomeClosed, tlsOrHeaders...))},
		{"h34 reset in handshake", onHTTPS + `read tcp 10.0.0.9:4->10.0.0.1:8443: read: connection reset by peer`,
			secure(verdict(PhaseAwaitingHeaders, OutcomeReset, tlsOrHeaders...))},
		{"h35 stream error", onHTTPS + `stream error: stream ID 1; INTERNAL_ERROR; received from peer`, secure(verdict(PhaseProtocol, OutcomeReset))},
		{"h36 bad status line", onHTTP + broken + `malformed HTTP status code "smtp"`, verdict(PhaseProtocol, OutcomeMalformed)},
		{"ssh answers", onHTTP + broken + `malformed HTTP response "SSH-2.0-OpenSSH_9.2"`, verdict(PhaseProtocol, OutcomeMalformed)},
		{"h38 huge headers", onHTTP + broken + `net/http: server response headers exceeded 10485760 bytes; aborted`, verdict(PhaseProtocol, OutcomeMalformed)},
		{"h39 no such host", onName + `dial tcp: lookup web.test on 10.96.0.10:53: no such host`, named(verdict(PhaseDNS, OutcomeNoSuchHost))},
		{"h40 DNS server refuses", onName + `dial tcp: lookup web.test on 10.96.0.10:53: read udp 10.0.0.9:4->10.96.0.10:53: read: connection refused`,
			named(verdict(PhaseDNS, OutcomeRefused))},
		{"DNS server silent", onName + `dial tcp: lookup web.test on 10.96.0.10:53: read udp 10.0.0.9:4->10.96.0.10:53: i/o timeout`,
			named(verdict(PhaseDNS, OutcomeTimeout))},
		{"h43 bad host", `Readiness probe errored and resulted in unknown state: parse "http://bad%20host:1/": invalid URL escape "%20"`,
			bare(Readiness, Errored, PhaseConfig, OutcomeInvalid)},
		{"h43 port 0", `Readiness probe errored: invalid port number: 0`, bare(Readiness, Errored, PhaseConfig, OutcomeInvalid)},
		{"h43 unknown port name", `Readiness probe errored: strconv.Atoi: parsing "web": invalid syntax`,
			with(bare(Readiness, Errored, PhaseConfig, OutcomeInvalid), func(v *Verdict) { v.Target.Port = "web" })},
	})
}

func TestClassifyTCP(t *testing.T) {
	want := func(o Outcome) Verdict {
		return Verdict{Probe: Liveness, Result: Failed, Phase: PhaseConnect, Outcome: o, Target: Endpoint{Scheme: "tcp", Host: "10.0.0.1", Port: "9013"}}
	}
	runClassify(t, []classifyCase{
		{"refused", `Liveness probe failed: dial tcp 10.0.0.1:9013: connect: connection refused`, want(OutcomeRefused)},
		{"timeout", `Liveness probe failed: dial tcp 10.0.0.1:9013: i/o timeout`, want(OutcomeTimeout)},
		{"Go before 1.10", `Liveness probe failed: dial tcp 10.0.0.1:9013: getsockopt: connection refused`, want(OutcomeRefused)},
		{"2015", `Liveness probe failed: dial tcp 10.0.0.1:9013: connection refused`, want(OutcomeRefused)},
		{"kernel's timeout", `Liveness probe failed: dial tcp 10.0.0.1:9013: connect: connection timed out`, want(OutcomeTimeout)},
		{"Windows", `Liveness probe failed: dial tcp 10.0.0.1:9013: connectex: No connection could be made because the target machine actively refused it.`, want(OutcomeRefused)},
		{"cut where it may still become two", `Liveness probe failed: dial tcp 10.0.0.1:9013: connect: connection re`, want(OutcomeUnknown)},
		{"cut but clear", `Liveness probe failed: dial tcp 10.0.0.1:9013: connect: connection refu`, want(OutcomeRefused)},
		{"unknown errno", `Liveness probe failed: dial tcp 10.0.0.1:9013: connect: protocol not available`, want(OutcomeUnknown)},
		{"IPv6", `Liveness probe failed: dial tcp [fd00::1]:9013: connect: connection refused`,
			with(want(OutcomeRefused), func(v *Verdict) { v.Target.Host = "fd00::1" })},
	})
}

func TestClassifyGRPC(t *testing.T) {
	want := func(o Outcome) Verdict {
		return Verdict{Probe: Readiness, Result: Failed, Phase: PhaseGRPC, Outcome: o}
	}
	target := Endpoint{Scheme: "grpc", Host: "10.0.0.1", Port: "9018"}
	runClassify(t, []classifyCase{
		{"no ready connection", `Readiness probe failed: timeout: failed to connect service "10.0.0.1:9018" within 1s: context deadline exceeded`,
			with(want(OutcomeTimeout), func(v *Verdict) { v.Possible, v.Target, v.Limit = anyGRPC, target, time.Second })},
		{"its end lost", `Readiness probe failed: timeout: failed to connect service "10.0.0.1:9018" within 500ms`,
			with(want(OutcomeTimeout), func(v *Verdict) { v.Possible, v.Target, v.Limit = anyGRPC, target, 500*time.Millisecond })},
		{"other dial error", `Readiness probe failed: error: failed to connect service at "10.0.0.1:9018": connection error: desc = "transport: error while dialing: dial tcp 10.0.0.1:9018: connect: connection refused"`,
			with(want(OutcomeRefused), func(v *Verdict) { v.Possible, v.Target = anyGRPC, target })},
		{"no health service", `Readiness probe failed: error: this server does not implement the grpc health protocol (grpc.health.v1.Health): unknown service grpc.health.v1.Health`,
			want(OutcomeNoService)},
		{"the same with a bare colon", `Readiness probe failed: error: this server does not implement the grpc health protocol (grpc.health.v1.Health):`, want(OutcomeNoService)},
		{"slow check", `Readiness probe failed: timeout: health rpc did not complete within 1s`, with(want(OutcomeTimeout), func(v *Verdict) { v.Limit = time.Second })},
		{"not serving", `Readiness probe failed: service unhealthy (responded with "NOT_SERVING")`, want(OutcomeNotServing)},
		{"unknown", `Readiness probe failed: service unhealthy (responded with "UNKNOWN")`, want(OutcomeNotServing)},
		{"service name", `Readiness probe failed: error: health rpc probe failed: rpc error: code = NotFound desc = unknown service`, want(OutcomeNoService)},
		{"server error", `Readiness probe failed: error: health rpc probe failed: rpc error: code = Unavailable desc = warming up`, want(OutcomeUnknown)},
		{"server went away", `Readiness probe failed: error: health rpc probe failed: rpc error: code = Unavailable desc = transport is closing`, want(OutcomeClosed)},
	})
}

// The wordings of a timeout by version of the kubelet and of Go.
func TestClassifyTimeoutWording(t *testing.T) {
	const suffix = ` (Client.Timeout exceeded while awaiting headers)`
	texts := []struct {
		name, text         string
		http, https, name2 Verdict
	}{
		{"A", `context deadline exceeded` + suffix,
			verdict(PhaseAwaitingHeaders, OutcomeTimeout, connectOrHeaders...),
			verdict(PhaseAwaitingHeaders, OutcomeTimeout, connectTLSOrHeaders...),
			verdict(PhaseAwaitingHeaders, OutcomeTimeout, nameOrHeaders...)},
		{"B", `dial tcp 10.0.0.1:8080: i/o timeout` + suffix,
			verdict(PhaseConnect, OutcomeTimeout), verdict(PhaseConnect, OutcomeTimeout), verdict(PhaseConnect, OutcomeTimeout)},
		{"C", `net/http: request canceled while waiting for connection` + suffix,
			verdict(PhaseConnect, OutcomeTimeout),
			verdict(PhaseConnect, OutcomeTimeout, connectOrTLS...),
			verdict(PhaseConnect, OutcomeTimeout, PhaseDNS, PhaseConnect)},
		{"D", `net/http: request canceled` + suffix,
			verdict(PhaseAwaitingHeaders, OutcomeTimeout), verdict(PhaseAwaitingHeaders, OutcomeTimeout), verdict(PhaseAwaitingHeaders, OutcomeTimeout)},
		{"E", `context deadline exceeded`,
			verdict(PhaseAwaitingHeaders, OutcomeTimeout, connectOrHeaders...),
			verdict(PhaseConnect, OutcomeTimeout, connectTLSOrHeaders...),
			verdict(PhaseAwaitingHeaders, OutcomeTimeout, nameOrHeaders...)},
		{"F", `dial tcp 10.0.0.1:8080: i/o timeout`,
			verdict(PhaseConnect, OutcomeTimeout), verdict(PhaseConnect, OutcomeTimeout), verdict(PhaseConnect, OutcomeTimeout)},
		{"slow body", `context deadline exceeded (Client.Timeout or context cancellation while reading body)`,
			verdict(PhaseBody, OutcomeTimeout), verdict(PhaseBody, OutcomeTimeout), verdict(PhaseBody, OutcomeTimeout)},
		{"slow body, Go 1.13", `net/http: request canceled (Client.Timeout exceeded while reading body)`,
			verdict(PhaseBody, OutcomeTimeout), verdict(PhaseBody, OutcomeTimeout), verdict(PhaseBody, OutcomeTimeout)},
	}
	for _, x := range texts {
		runClassify(t, []classifyCase{
			{x.name + " http", onHTTP + x.text, x.http},
			{x.name + " https", onHTTPS + x.text, secure(x.https)},
			{x.name + " name", onName + x.text, named(x.name2)},
			{x.name + " http with prose behind it", onHTTP + x.text + " and then nothing helps, connection refused (while reading body)", x.http},
			{x.name + " https with prose behind it", onHTTPS + x.text + "\nor\nEOF", secure(x.https)},
			{x.name + " without quotes", `Readiness probe failed: Get http://10.0.0.1:8080/x: ` + x.text, x.http},
		})
	}
	runClassify(t, []classifyCase{
		{"slow body as 1.18 says it", `Liveness probe errored: net/http: request canceled (Client.Timeout exceeded while reading body)`,
			bare(Liveness, Errored, PhaseBody, OutcomeTimeout)},
		{"slow body on h2", `Liveness probe errored: context deadline exceeded`, bare(Liveness, Errored, PhaseBody, OutcomeTimeout)},
		{"canceled, and cut there", onHTTP + `net/http: request canceled`, verdict(PhaseAwaitingHeaders, OutcomeTimeout, connectOrHeaders...)},
		{"after a redirect", `Readiness probe failed: Get "/login": ` + `context deadline exceeded` + suffix,
			with(bare(Readiness, Failed, PhaseAwaitingHeaders, OutcomeTimeout, connectTLSOrHeaders...), func(v *Verdict) { v.Redirected, v.Target.Path = true, "/login" })},
		{"lookup timed out, old Go", onName + `dial tcp: i/o timeout`, named(verdict(PhaseConnect, OutcomeTimeout, PhaseDNS, PhaseConnect))},
	})
}

func TestClassifyExec(t *testing.T) {
	const missing = `failed to exec in container: failed to start exec "4677": OCI runtime exec failed: exec failed: unable to start container process: exec: "/bin/nosuch": stat /bin/nosuch: no such file or directory: unknown`
	exec := func(r Result, o Outcome) Verdict {
		return Verdict{Probe: Readiness, Result: r, Phase: PhaseExec, Outcome: o}
	}
	command := func(v Verdict, c string, limit time.Duration) Verdict {
		v.Command, v.Limit = c, limit
		return v
	}
	failed, errored := "Readiness probe failed: ", "Readiness probe errored: "
	meter := "  % Total    % Received % Xferd  Average Speed   Time    Time     Time  Current\n" +
		"                                 Dload  Upload   Total   Spent    Left  Speed\n" +
		"  0     0    0     0    0     0      0      0 --:--:-- --:--:-- --:--:--     0"
	runClassify(t, []classifyCase{
		{"output", failed + "db down", exec(Failed, OutcomeExit)},
		{"containerd timeout", failed + `command timed out: "/bin/sh -c redis-cli -p 26379 ping | grep -q PONG" timed out after 5s`,
			command(exec(Failed, OutcomeTimeout), "/bin/sh -c redis-cli -p 26379 ping | grep -q PONG", 5*time.Second)},
		{"with quotes in the command", failed + `command timed out: "sh -c test \"$(cat /run/s)\" = ok" timed out after 1.5s`,
			command(exec(Failed, OutcomeTimeout), `sh -c test "$(cat /run/s)" = ok`, 1500*time.Millisecond)},
		{"1.24", failed + `command "sh -c /probe" timed out`, command(exec(Failed, OutcomeTimeout), "sh -c /probe", 0)},
		{"1.20 to 1.22", failed, exec(Failed, OutcomeUnknown)},
		{"without the blank", "Readiness probe failed:", exec(Failed, OutcomeUnknown)},
		{"CRI-O", failed + "command timed out", exec(Failed, OutcomeTimeout)},
		{"gate off", errored + "rpc error: code = DeadlineExceeded desc = context deadline exceeded", exec(Errored, OutcomeTimeout)},
		{"containerd's own text", errored + "rpc error: code = DeadlineExceeded desc = failed to exec in container: timeout 3s exceeded: context deadline exceeded",
			command(exec(Errored, OutcomeTimeout), "", 3*time.Second)},
		{"dockershim", errored + "operation timeout: context deadline exceeded", exec(Errored, OutcomeTimeout)},
		{"old errored", errored + "command timed out", exec(Errored, OutcomeTimeout)},
		{"binary missing", "Readiness probe errored and resulted in unknown state: rpc error: code = Unknown desc = " + missing,
			command(exec(Errored, OutcomeNotFound), "/bin/nosuch", 0)},
		{"binary missing, docker", failed + `OCI runtime exec failed: exec failed: container_linux.go:345: starting container process caused "exec: \"bash -c /probe\": stat bash -c /probe: no such file or directory": unknown`,
			command(exec(Failed, OutcomeNotFound), "bash -c /probe", 0)},
		{"not in PATH, 2017", errored + `rpc error: code = 2 desc = oci runtime error: exec failed: container_linux.go:247: starting container process caused "exec: \"ash\": executable file not found in $PATH"`,
			command(exec(Errored, OutcomeNotFound), "ash", 0)},
		{"working directory", failed + "OCI runtime exec failed: exec failed: unable to start container process: current working directory is outside of container mount namespace root",
			exec(Failed, OutcomeRuntime)},
		{"exited", errored + "rpc error: code = Unknown desc = failed to exec in container: container is in CONTAINER_EXITED state", exec(Errored, OutcomeGone)},
		{"no task", "Readiness probe errored and resulted in unknown state: rpc error: code = NotFound desc = failed to exec in container: failed to load task: no running task found",
			exec(Errored, OutcomeGone)},
		{"CRI-O gone", errored + "rpc error: code = NotFound desc = container is not created or running: checking if PID of 0f is running failed", exec(Errored, OutcomeGone)},
		{"dockershim gone", errored + "failed to run in container - Exec setup failed - API error (500): Container 00ff is not running", exec(Errored, OutcomeGone)},
		{"an application that says the like", failed + "worker 3 is not running", exec(Failed, OutcomeExit)},
		{"stdio held", errored + `rpc error: code = Unknown desc = failed to exec in container: failed to drain exec process "0f" io in 2s because io is still held by other processes`,
			exec(Errored, OutcomeRuntime)},
		{"runtime down", errored + "rpc error: code = 14 desc = grpc: the connection is unavailable", exec(Errored, OutcomeRuntime)},
		{"errored by something else", errored + "something new", bare(Readiness, Errored, PhaseUnknown, OutcomeUnknown)},
		{"shell says not found", failed + "/bin/sh: 1: curl: not found", exec(Failed, OutcomeNotFound)},
		{"a file that the probe waits for", failed + "cat: /tmp/ready: No such file or directory", exec(Failed, OutcomeExit)},
		{"curl refused", failed + meter + "curl: (7) Failed to connect to localhost port 8089: Connection refused",
			with(exec(Failed, OutcomeRefused), func(v *Verdict) { v.Target = Endpoint{Host: "localhost", Port: "8089"} })},
		{"curl without a route", failed + "curl: (7) Failed to connect to 10.0.0.1 port 80: No route to host",
			with(exec(Failed, OutcomeNoRoute), func(v *Verdict) { v.Target = Endpoint{Host: "10.0.0.1", Port: "80"} })},
		{"curl timeout", failed + meter + "curl: (28) Operation timed out after 1001 milliseconds with 0 bytes received", exec(Failed, OutcomeTimeout)},
		{"curl status", failed + "curl: (22) The requested URL returned error: 503 Service Unavailable", with(exec(Failed, OutcomeStatus), func(v *Verdict) { v.Status = 503 })},
		{"curl on plain HTTP", failed + "curl: (35) error:0A00010B:SSL routines::wrong version number", exec(Failed, OutcomeTLSMismatch)},
		{"curl empty reply", failed + "curl: (52) Empty reply from server", exec(Failed, OutcomeClosed)},
		{"wget status", failed + "wget: server returned error: HTTP/1.1 500 Internal Server Error", with(exec(Failed, OutcomeStatus), func(v *Verdict) { v.Status = 500 })},
		{"wget refused", failed + "wget: can't connect to remote host (127.0.0.1): Connection refused", exec(Failed, OutcomeRefused)},
		{"grpc_health_probe", "Liveness probe failed: config:\n> addr=:6565 conn_timeout=250ms rpc_timeout=2s\n> tls=true\nestablishing connection\ntimeout: failed to connect service \":6565\" within 250ms",
			Verdict{Probe: Liveness, Result: Failed, Phase: PhaseExec, Outcome: OutcomeTimeout, Limit: 250 * time.Millisecond, Target: Endpoint{Scheme: "grpc", Port: "6565"}}},
		{"grpc_health_probe alone", failed + `timeout: failed to connect service "localhost:6565" within 1s`,
			with(exec(Failed, OutcomeTimeout), func(v *Verdict) {
				v.Limit, v.Target = time.Second, Endpoint{Scheme: "grpc", Host: "localhost", Port: "6565"}
			})},
		{"psql", failed + "Mon Mar 2 07:30:11 UTC 2020 INFO: env loaded\npsql: FATAL: the database system is starting up", exec(Failed, OutcomeExit)},
		{"pg_isready", failed + "localhost:5432 - no response", exec(Failed, OutcomeExit)},
		{"redis", failed + "Could not connect to Redis at 127.0.0.1:6379: Connection refused", exec(Failed, OutcomeRefused)},
	})
}

// Messages as they are found in pastes: prefixes, quotes, masks, lost ends, other products.
func TestClassifyPasted(t *testing.T) {
	up := Endpoint{Scheme: "http", Host: "10.21.4.9", Port: "8084", Path: "/up"}
	refused := Verdict{Probe: Readiness, Result: Failed, Phase: PhaseConnect, Outcome: OutcomeRefused, Target: up}
	const message = `Readiness probe failed: Get "http://10.21.4.9:8084/up": dial tcp 10.21.4.9:8084: connect: connection refused`
	status := func(k ProbeKind, n int) Verdict {
		return Verdict{Probe: k, Result: Failed, Phase: PhaseStatus, Outcome: OutcomeStatus, Status: n}
	}
	masked := func(port, path string) Verdict {
		return Verdict{Probe: Readiness, Result: Failed, Phase: PhaseAwaitingHeaders, Outcome: OutcomeClosed, Target: Endpoint{Scheme: "http", Port: port, Path: path}}
	}
	runClassify(t, []classifyCase{
		{"plain", message, refused},
		{"combined", "(combined from similar events): " + message, refused},
		{"field path", "spec.containers{mailer}: " + message, refused},
		{"combined with field path", "(combined from similar events): spec.initContainers{mailer}: " + message, refused},
		{"double quotes", `"` + message + `"`, refused},
		{"backticks over lines", "`" + message + "\n`", refused},
		{"Markdown", "> **_" + message + "_****", refused},
		{"list item", "- " + message, refused},
		{"escaped quotes", strings.ReplaceAll(message, `"`, `\"`), refused},
		{"node name before", "**_n4 Readiness probe failed: Get http://10.21.4.9:8084/up: read TCP 10.21.3.1:40100->10.21.4.9:8084: read: connection reset by peer_****",
			Verdict{Probe: Readiness, Result: Failed, Phase: PhaseAwaitingHeaders, Outcome: OutcomeReset, Target: up}},
		{"lower case", "readiness probe failed: HTTP probe failed with statuscode: 502", status(Readiness, 502)},
		{"Azure", "ProbeFailed   Liveness probe failed: HTTP probe failed with status code: 500", status(Liveness, 500)},
		{"OpenShift", "Readiness probe error: HTTP probe failed with statuscode: 500...", status(Readiness, 500)},
		{"OpenShift with body", "Readiness probe error: HTTP probe failed with statuscode: 400\nbody: Client sent an HTTP request to an HTTPS server.\n", status(Readiness, 400)},
		{"no port in the URL", "Readiness probe failed: Get http://10.244.5.91/: dial tcp 10.244.5.91:80: connect: connection refused",
			Verdict{Probe: Readiness, Result: Failed, Phase: PhaseConnect, Outcome: OutcomeRefused, Target: Endpoint{Scheme: "http", Host: "10.244.5.91", Port: "80", Path: "/"}}},
		{"2015", "Liveness probe failed: Get http://10.244.1.6:80/: dial tcp 10.244.1.6:80: connection refused",
			Verdict{Probe: Liveness, Result: Failed, Phase: PhaseConnect, Outcome: OutcomeRefused, Target: Endpoint{Scheme: "http", Host: "10.244.1.6", Port: "80", Path: "/"}}},
		{"wrapped", "Startup probe failed: Get\n    \"http://[fd12:3456:xxxx::7]:8200/sys/ping\":\n    dial tcp [fd12:3456:xxxx::7]:8200: connect: connection refused",
			Verdict{Probe: Startup, Result: Failed, Phase: PhaseConnect, Outcome: OutcomeRefused, Target: Endpoint{Scheme: "http", Port: "8200", Path: "/sys/ping"}}},
		{"cut in the URL", `Liveness probe failed: Get "http://[fd12:3456:xxxx::7]:`,
			Verdict{Probe: Liveness, Result: Failed, Phase: PhaseUnknown, Outcome: OutcomeUnknown, Target: Endpoint{Scheme: "http"}}},
		{"cut before the output", "Liveness probe failed", bare(Liveness, Failed, PhaseUnknown, OutcomeUnknown)},
		{"without dial", `Liveness probe failed: Get "http://…:9402/healthz": connect: connection refused`,
			Verdict{Probe: Liveness, Result: Failed, Phase: PhaseConnect, Outcome: OutcomeRefused, Target: Endpoint{Scheme: "http", Port: "9402", Path: "/healthz"}}},
		{"lost parenthesis", `Readiness probe failed: Get "http://10.21.4.9:8084/up": context deadline exceeded (Client.Timeout exceeded while awaiting headers`,
			Verdict{Probe: Readiness, Result: Failed, Phase: PhaseAwaitingHeaders, Outcome: OutcomeTimeout, Possible: connectOrHeaders, Target: up}},
		{"cut text", "Liveness probe failed: context deadline exc", bare(Liveness, Failed, PhaseAwaitingHeaders, OutcomeTimeout, connectTLSOrHeaders...)},
		{"elided beginning", "Liveness probe failed: ... context deadline exceeded", bare(Liveness, Failed, PhaseAwaitingHeaders, OutcomeTimeout, connectTLSOrHeaders...)},
		{"masked 1", `Readiness probe failed: Get "http://_<pod IP>_:9191/x": EOF`, masked("9191", "/x")},
		{"masked 2", `Readiness probe failed: Get http://<pod-ip>:9191/x: EOF`, masked("9191", "/x")},
		{"masked 3", `Readiness probe failed: Get "http://a.b.c.d:9191/x": EOF`, masked("9191", "/x")},
		{"masked 4", `Readiness probe failed: Get "http://.../x": EOF`, masked("", "/x")},
		{"masked 5", `Readiness probe failed: Get "http://[...]:9191/x": EOF`, masked("9191", "/x")},
		{"masked 6", `Readiness probe failed: Get "http://10.xx.x.7:9191/x": EOF`, masked("9191", "/x")},
		{"masked 7", `Readiness probe failed: Get "http://IP:9191/x": EOF`, masked("9191", "/x")},
		{"masked 8", `Readiness probe failed: Get ".../x": EOF`,
			with(masked("", "/x"), func(v *Verdict) { v.Target.Scheme, v.Possible = "", tlsOrHeaders })},
		{"the dialled address tells", `Readiness probe failed: Get "http://IP/x": dial tcp 10.0.0.1:9191: connect: connection refused`,
			Verdict{Probe: Readiness, Result: Failed, Phase: PhaseConnect, Outcome: OutcomeRefused, Target: Endpoint{Scheme: "http", Host: "10.0.0.1", Port: "9191", Path: "/x"}}},
		{"query kept", `Readiness probe failed: Get "http://10.0.0.1:80/h?full=1": EOF`,
			with(masked("80", "/h?full=1"), func(v *Verdict) { v.Target.Host = "10.0.0.1" })},
		{"the outer quotes only", `"Readiness probe errored: failed to start exec "0f3c": exec: "cat /var/ready | grep 1": stat cat /var/ready | grep 1: no such file or directory"`,
			Verdict{Probe: Readiness, Result: Errored, Phase: PhaseExec, Outcome: OutcomeNotFound, Command: "cat /var/ready | grep 1"}},
	})
}

func TestClassifyKubeletLog(t *testing.T) {
	want := Verdict{Probe: Readiness, Result: Failed, Phase: PhaseConnect, Outcome: OutcomeTimeout, Target: Endpoint{Scheme: "http", Host: "10.30.6.6", Port: "8500", Path: "/v1/ok"}}
	runClassify(t, []classifyCase{
		{"klog", `Readiness probe for "kvs-0_data(0c1d2e3f-1111-11ea-8000-42010a800002):kvs" failed (failure): Get http://10.30.6.6:8500/v1/ok: net/http: request canceled while waiting for connection (Client.Timeout exceeded while awaiting headers)`, want},
		{"klog with its header", `I1103 18:22:04.110028    1717 prober.go:111] Readiness probe for "kvs-0_data(0c1d):kvs" failed (failure): Get http://10.30.6.6:8500/v1/ok: dial tcp 10.30.6.6:8500: i/o timeout`, want},
		{"klog with empty output", `prober.go:117] Readiness probe for "node-t5jv9_kube-system(8f21):node" failed (failure):`, bare(Readiness, Failed, PhaseExec, OutcomeUnknown)},
		{"klog errored", `Liveness probe for "kvs-0_data(0c1d):kvs" errored: rpc error: code = Unknown desc = container not running (00ff)`, bare(Liveness, Errored, PhaseExec, OutcomeGone)},
		{"structured", `"Probe failed" probeType="Liveness" pod="data/kvs-0" podUID="1f0e" containerName="kvs" probeResult="failure" output="command timed out"`,
			bare(Liveness, Failed, PhaseExec, OutcomeTimeout)},
		{"structured with quotes", `I1129 20:38:36.321259    9162 prober.go:122] "Probe failed" probeType="Readiness" pod="data/kvs-0" podUID="6ff8" containerName="kvs" probeResult="failure" output="Get \"http://10.30.6.6:8500/v1/ok\": dial tcp 10.30.6.6:8500: i/o timeout"`, want},
		{"structured errored", `"Probe errored" probeType="Readiness" pod="default/zoo" podUID="49aa" containerName="c" probeResult="failure" err="context deadline exceeded (Client.Timeout or context cancellation while reading body)"`,
			bare(Readiness, Errored, PhaseBody, OutcomeTimeout)},
		{"structured, error first", `"Probe errored" err="rpc error: code = NotFound desc = failed to exec in container: failed to load task: no running task found" probeType="Startup" pod="a/b"`,
			bare(Startup, Errored, PhaseExec, OutcomeGone)},
		{"structured over lines", "\"Probe failed\" probeType=\"Readiness\" pod=\"a/b\" probeResult=\"failure\" output=<\n\tstarting\n\tcurl: (28) Operation timed out\n >", bare(Readiness, Failed, PhaseExec, OutcomeTimeout)},
		{"structured, cut", `"Probe failed" probeType="Readiness" pod="a/b" podUID="49`, bare(Readiness, Failed, PhaseUnknown, OutcomeUnknown)},
		{"structured warning", `"Probe succeeded with a warning" probeType="Readiness" pod="a/b" output="Probe terminated redirects, Response body: x"`,
			with(bare(Readiness, Warned, PhaseRedirect, OutcomeRedirect), func(v *Verdict) { v.Redirected = true })},
	})
}

// Outputs that stand alone.
func TestClassifyNaked(t *testing.T) {
	noKind := func(v Verdict) Verdict { v.Probe = ""; return v }
	runClassify(t, []classifyCase{
		{"deadline", `Get "http://10.0.0.1:8080/x": context deadline exceeded (Client.Timeout exceeded while awaiting headers)`,
			noKind(verdict(PhaseAwaitingHeaders, OutcomeTimeout, connectOrHeaders...))},
		{"old", "Get http://10.0.0.1:8080/x: net/http: request canceled while waiting for connection (Client.Timeout exceeded while awaiting headers)", noKind(verdict(PhaseConnect, OutcomeTimeout))},
		{"body", `Get "http://10.0.0.1:8080/x": net/http: request canceled (Client.Timeout or context cancellation while reading body)`,
			with(noKind(verdict(PhaseBody, OutcomeTimeout)), func(v *Verdict) { v.Result = Errored })},
		{"reset", `Get "http://10.0.0.1:8080/x": read tcp 10.30.1.1:40000->10.0.0.1:8080: read: connection reset by peer`, noKind(verdict(PhaseAwaitingHeaders, OutcomeReset))},
		{"no Get", `"context deadline exceeded (Client.Timeout exceeded while awaiting headers)"`, bare("", Failed, PhaseAwaitingHeaders, OutcomeTimeout, connectTLSOrHeaders...)},
		{"tcp", "dial tcp 10.30.1.9:7070: getsockopt: connection refused",
			with(bare("", Failed, PhaseConnect, OutcomeRefused), func(v *Verdict) { v.Target = Endpoint{Scheme: "tcp", Host: "10.30.1.9", Port: "7070"} })},
		{"status", "HTTP probe failed with statuscode: 503", with(bare("", Failed, PhaseStatus, OutcomeStatus), func(v *Verdict) { v.Status = 503 })},
		{"warning", "Probe terminated redirects, Response body: ", with(bare("", Warned, PhaseRedirect, OutcomeRedirect), func(v *Verdict) { v.Redirected = true })},
		{"grpc", `service unhealthy (responded with "NOT_SERVING")`, bare("", Failed, PhaseGRPC, OutcomeNotServing)},
		{"grpc connect", `timeout: failed to connect service "10.30.1.9:7070" within 1s: context deadline exceeded`,
			with(bare("", Failed, PhaseGRPC, OutcomeTimeout, anyGRPC...), func(v *Verdict) {
				v.Limit, v.Target = time.Second, Endpoint{Scheme: "grpc", Host: "10.30.1.9", Port: "7070"}
			})},
		{"command", `command timed out: "sh -c /probe" timed out after 2s`,
			with(bare("", Failed, PhaseExec, OutcomeTimeout), func(v *Verdict) { v.Command, v.Limit = "sh -c /probe", 2*time.Second })},
	})
}

// Texts that speak of probes, or like them, and are no probe's output.
func TestClassifyRejects(t *testing.T) {
	for _, s := range []string{
		"",
		"   \n",
		"`",
		"Container app failed liveness probe, will be restarted",
		"Container app failed liveness probe, will be restartedand then nothing helps",
		"Killing: Container es failed startup probe, will be restarted",
		"Killing container with id docker://es:Container failed liveness probe.. Container will be killed and recreated.",
		"Init container x failed startup probe",
		"Stopping container app",
		"Back-off restarting failed container core in pod core-0_lab(5b1f)",
		"we saw that the Readiness probe failed and gave up",
		"the Liveness probe failed: no idea why",
		"our readiness probe failed:",
		"Readiness probe succeeded",
		`Readiness probe for "a_b(c):d" succeeded`,
		`"Probe succeeded" probeType="Readiness" pod="a/b"`,
		`"SyncLoop (probe)" probe="liveness" status="unhealthy" pod="data/kvs-0"`,
		`"Probe failed"`,
		"context deadline exceeded",
		"EOF",
		"connection refused",
		"OCI runtime exec failed: exec failed: unable to start container process",
		`ExecSync 5d0c '/bin/probe' from runtime service failed: rpc error: code = DeadlineExceeded desc = context deadline exceeded`,
		`Get "https://10.96.0.1:443/api/v1/pods": dial tcp 10.96.0.1:443: i/o timeout`,
		`Get "https://registry.test/v2/": net/http: request canceled while waiting for connection (Client.Timeout exceeded while awaiting headers)`,
		"Get the probes fixed",
		`Exec lifecycle hook ([/bin/sh -c drain]) for Container "kv" in Pod "kv-1_lab(0a0b)" failed - error: command '/bin/sh -c drain' exited with 126: `,
		"health check rpc failed: rpc error: code = Unavailable desc = transport is closing",
		"HTTP probe failed for us too",
		"GET /healthz 200 12ms kube-probe/1.30",
	} {
		if v, ok := Classify(s); ok {
			t.Errorf("%q was taken for a probe's output: %+v", s, v)
		} else if diff := cmp.Diff(Verdict{}, v); diff != "" {
			t.Errorf("%q was rejected with a verdict:\n%s", s, diff)
		}
	}
}

func BenchmarkClassify(b *testing.B) {
	for name, message := range map[string]string{
		"http":   onHTTP + "context deadline exceeded (Client.Timeout exceeded while awaiting headers)",
		"refuse": onHTTP + "dial tcp 10.0.0.1:8080: connect: connection refused",
		"exec":   "Readiness probe failed: curl: (7) Failed to connect to localhost port 8089: Connection refused",
		"reject": "2024-10-01 08:00:00,111 INFO request completed method=GET path=/api/items status=200 duration=12ms user=17",
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				Classify(message)
			}
		})
	}
}
