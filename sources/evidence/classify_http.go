package evidence

import "strings"

// httpStatus reads "HTTP probe failed with statuscode: 503".
func (v *Verdict) httpStatus(s string) bool {
	rest, ok := strings.CutPrefix(s, "HTTP probe failed")
	if !ok {
		return false
	}
	v.Phase, v.Outcome = PhaseStatus, OutcomeStatus
	if line, _, _ := strings.Cut(rest, "\n"); line != "" {
		if _, code, ok := strings.Cut(line, "code:"); ok {
			v.Status = number(strings.TrimLeft(code, " "))
		}
	}
	return true
}

// httpGet reads `Get "URL": error`. Kubelets built with Go before 1.14 print the URL without quotes.
func (v *Verdict) httpGet(s string) bool {
	rest, ok := strings.CutPrefix(s, "Get")
	if !ok || rest != "" && rest[0] != ' ' && rest[0] != '\n' {
		return false
	}
	rest = strings.TrimLeft(rest, " \t\r\n")
	url, failure, closed := "", "", false
	quoted := false
	for _, q := range [...][2]string{{`"`, `"`}, {"“", "”"}, {"'", "'"}} {
		if inner, ok := strings.CutPrefix(rest, q[0]); ok {
			url, failure, closed = strings.Cut(inner, q[1])
			failure = strings.TrimPrefix(failure, ":")
			quoted = true
			break
		}
	}
	if !quoted {
		if url, failure, closed = strings.Cut(rest, ": "); !closed {
			url, failure, closed = strings.Cut(rest, ":\n")
		}
	}
	if !closed {
		url = strings.TrimRight(url, ":")
		if i := strings.IndexAny(url, " \t\n"); i >= 0 {
			url = url[:i]
		}
	}
	v.Target, v.Redirected = parseURL(url)
	slashes := strings.Count(url, "/")
	switch {
	case !closed:
		// The text ends in the URL: its last part may be incomplete.
		if v.Target.Path = ""; slashes == 2 {
			v.Target.Host, v.Target.Port = "", ""
		}
	case v.Target.Scheme != "" && slashes == 2:
		v.Target.Path = "/"
	}
	failure = strings.TrimLeft(failure, " \t\r\n")
	if rest, ok := cutElision(failure); ok {
		failure = rest
	}
	if !v.transport(failure, true) && !v.config(failure) {
		v.Phase, v.Outcome = PhaseUnknown, OutcomeUnknown
	}
	if v.Phase == PhaseBody && v.Probe == "" {
		v.Result = Errored
	}
	if closed {
		v.Target.defaultPort()
	}
	return true
}

// transport reads the error of Go's dialer, TLS or HTTP client. get is true when it followed a Get, whose target is
// already in v.
func (v *Verdict) transport(s string, get bool) bool {
	s = strings.TrimPrefix(s, "net/http: HTTP/1.x transport connection broken: ")
	switch {
	case hasPrefixFold(s, "dial tcp"):
		return v.dial(s[len("dial tcp"):], get)
	case begins(s, "context deadline exceeded"):
		v.deadline(strings.TrimPrefix(s, "context deadline exceeded"))
	case begins(s, "net/http: request canceled"):
		v.canceled(strings.TrimPrefix(s, "net/http: request canceled"))
	case hasPrefixFold(s, "read tcp"):
		v.Target.supplement(addressOf(s[len("read tcp"):]))
		v.afterRequest(ioOutcome(s))
	case hasPrefixFold(s, "write tcp"):
		v.Target.supplement(addressOf(s[len("write tcp"):]))
		v.Phase, v.Outcome = PhaseWrite, ioOutcome(s)
	case strings.HasPrefix(s, "EOF") && (len(s) == 3 || !isLetter(s[3])), strings.HasPrefix(s, "http: server closed idle connection"):
		v.afterRequest(OutcomeClosed)
	case strings.HasPrefix(s, "unexpected EOF"):
		v.afterRequest(OutcomeTruncated)
	case strings.HasPrefix(s, "lookup "):
		v.lookup(s)
	case begins(s, "net/http: timeout awaiting response headers"), begins(s, "http2: timeout awaiting response headers"):
		v.Phase, v.Outcome = PhaseAwaitingHeaders, OutcomeTimeout
	case strings.HasPrefix(s, "stopped after ") && strings.Contains(s, "redirects"):
		v.Phase, v.Outcome, v.Redirected = PhaseRedirect, OutcomeRedirect, true
	case v.tls(s), v.protocol(s):
	case get, strings.HasPrefix(s, "connect: "), strings.HasPrefix(s, "getsockopt: "),
		strings.HasPrefix(s, "connection refused"), strings.HasPrefix(s, "i/o timeout"):
		return v.connect(s)
	default:
		return false
	}
	return true
}

// dial reads what follows "dial tcp": an address and the reason.
func (v *Verdict) dial(s string, get bool) bool {
	// A dial error without Get is a TCP probe's, unless the HTTP client's own words follow it.
	if !get && !strings.Contains(s, "(Client.Timeout") {
		v.Target.Scheme = "tcp"
	}
	if rest, ok := strings.CutPrefix(s, ": "); ok {
		// No address: it was still being looked up.
		if strings.HasPrefix(rest, "lookup ") {
			v.lookup(rest)
			return true
		}
		if !v.connect(rest) {
			v.Phase, v.Outcome = PhaseConnect, OutcomeUnknown
		} else if v.Phase == PhaseConnect && v.Outcome == OutcomeTimeout {
			v.Possible = []Phase{PhaseDNS, PhaseConnect}
		}
		return true
	}
	if s != "" && s[0] != ' ' && s[0] != '\n' {
		return false
	}
	s = strings.TrimLeft(s, " \n")
	address := addressOf(s)
	v.Target.supplement(address)
	reason := strings.TrimLeft(strings.TrimPrefix(s[len(address):], ":"), " \t\r\n")
	if !v.connect(reason) {
		v.Phase, v.Outcome = PhaseConnect, OutcomeUnknown
	}
	return true
}

// addressOf gives the "host:port" or "local->peer" at the beginning of s, which ends at a colon and a blank.
func addressOf(s string) string {
	i := strings.Index(s, ": ")
	if i < 0 {
		i = strings.Index(s, ":\n")
	}
	if i < 0 {
		return strings.TrimRight(s, ":")
	}
	return s[:i]
}

// connectReasons are the errors of a connect, by their beginning.
var connectReasons = [...]struct {
	text    string
	outcome Outcome
}{
	{"connection refused", OutcomeRefused},
	{"i/o timeout", OutcomeTimeout},
	{"connection timed out", OutcomeTimeout},
	{"operation timed out", OutcomeTimeout},
	{"operation was canceled", OutcomeTimeout},
	{"connection reset by peer", OutcomeReset},
	{"no route to host", OutcomeNoRoute},
	{"host is down", OutcomeNoRoute},
	{"network is unreachable", OutcomeUnreachable},
	{"network is down", OutcomeUnreachable},
	{"permission denied", OutcomeDenied},
	{"operation not permitted", OutcomeDenied},
	{"invalid argument", OutcomeDenied},
	{"cannot assign requested address", OutcomeNoResources},
	{"address already in use", OutcomeNoResources},
	{"too many open files", OutcomeNoResources},
	{"no buffer space available", OutcomeNoResources},
	{"cannot allocate memory", OutcomeNoResources},
	// Windows
	{"No connection could be made because the target machine actively refused it", OutcomeRefused},
	{"A connection attempt failed because the connected party did not properly respond", OutcomeTimeout},
	{"A socket operation was attempted to an unreachable", OutcomeUnreachable},
}

// connect reads the reason for which a connection was not made.
func (v *Verdict) connect(s string) bool {
	named := false // the text names the system call
	for _, call := range [...]string{"connect: ", "getsockopt: ", "socket: ", "bind: ", "connectex: "} {
		if rest, ok := strings.CutPrefix(s, call); ok {
			s, named = rest, true
			break
		}
	}
	found := OutcomeUnknown
	for i := range connectReasons {
		r := &connectReasons[i]
		if strings.HasPrefix(s, r.text) {
			v.Phase, v.Outcome = PhaseConnect, r.outcome
			return true
		}
		if begins(s, r.text) {
			if found != OutcomeUnknown && found != r.outcome {
				named, found = true, OutcomeUnknown // "connection re…" may become either
				break
			}
			found = r.outcome
		}
	}
	if !named && found == OutcomeUnknown {
		return false
	}
	v.Phase, v.Outcome = PhaseConnect, found
	return true
}

// lookup reads "lookup NAME on SERVER: reason".
func (v *Verdict) lookup(s string) {
	v.Phase, v.Outcome = PhaseDNS, OutcomeUnknown
	name, reason, _ := strings.Cut(strings.TrimPrefix(s, "lookup "), ": ")
	name, _, _ = strings.Cut(name, " ")
	if v.Target.Host == "" && !isMasked(name) {
		v.Target.Host = strings.TrimSuffix(name, ".")
	}
	reason, _, _ = strings.Cut(reason, "\n")
	switch {
	case strings.Contains(reason, "no such host"):
		v.Outcome = OutcomeNoSuchHost
	case strings.Contains(reason, "connection refused"):
		v.Outcome = OutcomeRefused
	case containsAny(reason, "i/o timeout", "operation was canceled", "deadline exceeded", "timed out"):
		v.Outcome = OutcomeTimeout
	}
}

// beforeConnection are the phases that pass before a connection is usable.
func (v *Verdict) beforeConnection() []Phase {
	possible := make([]Phase, 0, 4)
	if isName(v.Target.Host) {
		possible = append(possible, PhaseDNS)
	}
	possible = append(possible, PhaseConnect)
	if v.Target.Scheme != "http" {
		possible = append(possible, PhaseTLS)
	}
	return possible
}

// parenthesis gives what stands in the parentheses with which s begins; their end may be cut off.
func parenthesis(s string) (string, bool) {
	inner, ok := strings.CutPrefix(s, " (")
	inner, _, _ = strings.Cut(inner, ")")
	return inner, ok && strings.HasPrefix(inner, "Client.")
}

// inBody tells whether the words of the HTTP client's timeout name the body.
func inBody(words string) bool {
	return strings.Contains(words, "reading body") || strings.HasPrefix(words, "Client.Timeout or context cancellation")
}

// deadline reads what follows "context deadline exceeded".
//
// With "while awaiting headers" behind it the text names a phase, yet prints the same for a lookup, a connection or a
// handshake that took too long. Without, an https probe most likely had no connection yet (kubelets since 1.29), though
// older ones also print it for a handler that stalls; no kubelet prints it for http, so there it is a text cut short.
func (v *Verdict) deadline(tail string) {
	v.Outcome = OutcomeTimeout
	words, named := parenthesis(tail)
	if named && inBody(words) {
		v.Phase = PhaseBody
		if v.Probe == "" {
			v.Result = Errored
		}
		return
	}
	v.Phase = PhaseAwaitingHeaders
	if !named && v.Target.Scheme == "https" {
		v.Phase = PhaseConnect
	}
	v.Possible = append(v.beforeConnection(), PhaseAwaitingHeaders)
}

// canceled reads what follows "net/http: request canceled".
func (v *Verdict) canceled(tail string) {
	v.Outcome = OutcomeTimeout
	if strings.HasPrefix(tail, " while waiting") {
		v.Phase = PhaseConnect
		if p := v.beforeConnection(); len(p) > 1 {
			v.Possible = p
		}
		return
	}
	words, named := parenthesis(tail)
	switch {
	case named && inBody(words):
		v.Phase = PhaseBody
		if v.Probe == "" {
			v.Result = Errored
		}
	case named:
		// The client's cancel channel fired after the request was sent: certain.
		v.Phase = PhaseAwaitingHeaders
	default:
		v.Phase = PhaseAwaitingHeaders
		v.Possible = append(v.beforeConnection(), PhaseAwaitingHeaders)
	}
}

// afterRequest is for a connection that ended before the headers came. On https that can be in the handshake.
func (v *Verdict) afterRequest(o Outcome) {
	v.Phase, v.Outcome = PhaseAwaitingHeaders, o
	if v.Target.Scheme != "http" {
		v.Possible = []Phase{PhaseTLS, PhaseAwaitingHeaders}
	}
}

// ioOutcome reads how a read or write on a connection ended.
func ioOutcome(s string) Outcome {
	s, _, _ = strings.Cut(s, "\n")
	switch {
	case containsAny(s, "connection reset", "forcibly closed", "broken pipe"):
		return OutcomeReset
	case containsAny(s, "i/o timeout", "connection timed out"):
		return OutcomeTimeout
	case strings.Contains(s, "no route to host"):
		return OutcomeNoRoute
	case strings.Contains(s, "connection refused"):
		return OutcomeRefused
	case strings.Contains(s, "use of closed network connection"):
		return OutcomeClosed
	}
	return OutcomeUnknown
}

// tls reads the errors of a TLS handshake, and of HTTP meeting TLS.
func (v *Verdict) tls(s string) bool {
	switch {
	case begins(s, "net/http: TLS handshake timeout"):
		v.Outcome = OutcomeTimeout
	case begins(s, "http: server gave HTTP response to HTTPS client"),
		begins(s, "tls: first record does not look like a TLS handshake"),
		begins(s, "tls: oversized record received"):
		v.Outcome = OutcomeTLSMismatch
	case strings.HasPrefix(s, "remote error: tls"), strings.HasPrefix(s, "local error: tls"),
		strings.HasPrefix(s, "tls: "), strings.HasPrefix(s, "x509: "):
		v.Outcome = OutcomeTLSHandshake
	default:
		return false
	}
	v.Phase = PhaseTLS
	return true
}

// protocol reads the errors about an answer that is not of the expected protocol.
func (v *Verdict) protocol(s string) bool {
	if rest, ok := strings.CutPrefix(s, "malformed HTTP response"); ok {
		// A TLS alert record begins with the bytes 0x15 0x03.
		rest = strings.TrimLeft(rest, ` "\`)
		if strings.HasPrefix(rest, `x15\x03`) || strings.HasPrefix(rest, `x15\\x03`) || strings.HasPrefix(rest, "\x15\x03") {
			v.Phase, v.Outcome = PhaseTLS, OutcomeTLSMismatch
			return true
		}
		v.Phase, v.Outcome = PhaseProtocol, OutcomeMalformed
		return true
	}
	switch {
	case strings.HasPrefix(s, "malformed HTTP "), strings.HasPrefix(s, "malformed MIME header"), strings.HasPrefix(s, "invalid byte in chunk length"),
		strings.HasPrefix(s, "net/http: server response headers exceeded"), begins(s, "net/http: HTTP/1.x transport connection broken"):
		v.Outcome = OutcomeMalformed
	case strings.HasPrefix(s, "stream error: "):
		v.Outcome = OutcomeReset
	case strings.HasPrefix(s, "http2: "):
		v.Outcome = OutcomeClosed
	default:
		return false
	}
	v.Phase = PhaseProtocol
	return true
}

// body reads the errors of a response whose headers had come: the kubelet calls them errored and discards the result.
func (v *Verdict) body(s string) bool {
	switch {
	case begins(s, "context deadline exceeded"), begins(s, "net/http: request canceled"):
		v.Outcome = OutcomeTimeout
	case strings.HasPrefix(s, "unexpected EOF"), strings.HasPrefix(s, "http: unexpected EOF"):
		v.Outcome = OutcomeTruncated
	case s == "EOF":
		v.Outcome = OutcomeClosed
	case hasPrefixFold(s, "read tcp"):
		v.Outcome = ioOutcome(s)
		v.Target.supplement(addressOf(s[len("read tcp"):]))
	case strings.HasPrefix(s, "invalid byte in chunk length"), strings.HasPrefix(s, "malformed chunked encoding"),
		strings.HasPrefix(s, "http: chunk"):
		v.Outcome = OutcomeMalformed
	case strings.HasPrefix(s, "stream error: "), strings.HasPrefix(s, "http2: "):
		v.Outcome = OutcomeReset
	default:
		return false
	}
	v.Phase = PhaseBody
	return true
}
