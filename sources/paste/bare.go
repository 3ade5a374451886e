package paste

import (
	"regexp"
	"strings"

	"github.com/probedoctor/probedoctor/sources/evidence"
)

// Texts that stand alone: the message of an event without its row, as people quote it in chats, tickets and alerts.

var (
	probeOpening = regexp.MustCompile(`(?i)^(?:readiness|liveness|startup) probe (?:failed|errored|error)\b`)
	probeWarning = regexp.MustCompile(`(?i)^(?:readiness|liveness|startup) probe warning\b`)
	// probeText is how every message of the kubelet about a probe begins, with or without the prefixes of an event.
	probeText = regexp.MustCompile(`^(?:\(combined from similar events\): )?(?:spec\.\w+\{[^{}\s]*\}: )?` +
		`(?:(?i:readiness|liveness|startup) probe (?:failed|errored|error|warning)\b|` +
		`(?:Init c|C)ontainer \S+ failed (?:liveness|startup) probe|Killing container with id |` +
		`Back-off restarting failed container)`)
	// probeOutput is how a probe's output begins where even "Readiness probe failed: " was cut off.
	probeOutput = regexp.MustCompile(`^(?:Get "?https?://[^\s"]+"?: |Get "?https?://\S*$|dial tcp \S+: (?:connect: |getsockopt: |i/o timeout)|` +
		`HTTP probe failed with status ?code: \d+|service unhealthy \(responded with |timeout: failed to connect service |` +
		`error: this server does not implement the grpc health protocol|rpc error: code = \S+ desc = |` +
		`command ".*" timed out|command timed out: "|failed to run in container - |Exec lifecycle hook \()`)
	// leadIn is a word or two that people put before a message: the node's name, "Error:", a reason.
	leadIn = regexp.MustCompile(`^[A-Za-z0-9._/-]{1,80}:? +`)
)

// bareMessage reads a line that is nothing but a kubelet message. weak tells that only the output of a probe was there.
func bareMessage(s string) (e evidence.Event, weak, ok bool) {
	if !containsAny(s, "robe", "Get ", "dial tcp", "rpc error", "ailed", "service ", "Back-off", "Killing", "command", "timed out") {
		return evidence.Event{}, false, false
	}
	s = stripQuotes(strings.TrimSpace(s))
	if at, rest, dated := cutDate(s); dated {
		e.First, e.Last = at, at
		s = strings.TrimSpace(rest)
	}
	switch {
	case startsProbeText(s):
	case probeOutput.MatchString(s):
		weak = true
	default:
		lead := leadIn.FindString(s)
		if lead == "" || !startsProbeText(s[len(lead):]) {
			return evidence.Event{}, false, false
		}
		name := strings.TrimSpace(lead)
		s = s[len(lead):]
		if r, ok := reasons[strings.ToLower(strings.TrimSuffix(name, ":"))]; ok {
			e.Reason = r
		} else if !strings.HasSuffix(name, ":") && nameCell.MatchString(name) {
			e.Host = name
		} else if m := objectCell.FindStringSubmatch(strings.TrimSuffix(name, ":")); m != nil && capitalKind(apiKind(m[1])) != "" {
			e.Object.Kind, e.Object.Name = apiKind(m[1]), m[2]
		}
	}
	e.Count, e.AtLeast = 1, true
	setMessage(&e, s)
	if e.Reason == "" {
		e.Reason = impliedReason(e.Message)
	}
	return e, weak, true
}

// startsProbeText is probeText with a look at the first byte before it.
func startsProbeText(s string) bool {
	if s == "" || strings.IndexByte("(sSrRlLCIKB", s[0]) < 0 {
		return false
	}
	return probeText.MatchString(s)
}

// containsAny tells whether s has one of the words; it is asked before slower questions.
func containsAny(s string, words ...string) bool {
	for _, w := range words {
		if strings.Contains(s, w) {
			return true
		}
	}
	return false
}

// stripQuotes takes the outer quotes of a text off: double, single, back-ticks or typographic. A quote that is opened and
// not closed on the line is dropped too; quotes inside stay. In double and single quotes `\"` becomes `"`.
func stripQuotes(s string) string {
	for _, q := range [][2]string{{"\"", "\""}, {"'", "'"}, {"`", "`"}, {"“", "”"}, {"‘", "’"}} {
		rest, ok := strings.CutPrefix(s, q[0])
		if !ok {
			continue
		}
		rest = strings.TrimLeft(rest, q[0])
		if !probeText.MatchString(rest) && !probeOutput.MatchString(rest) {
			return s
		}
		trimmed := strings.TrimRight(strings.TrimRight(rest, " "), ",")
		if cut, ok := strings.CutSuffix(trimmed, q[1]); ok && (q[0] != `"` || oddQuotes(cut)) {
			rest = cut
		}
		if q[0] != "`" {
			rest = strings.ReplaceAll(rest, `\"`, `"`)
			rest = strings.ReplaceAll(rest, `\'`, `'`)
		}
		return rest
	}
	return s
}

// oddQuotes tells whether the closing quote that was cut off was the outer one: what is left must hold pairs, or, when the
// paste has bare quotes inside, at least not lack one.
func oddQuotes(s string) bool { return strings.Count(strings.ReplaceAll(s, `\"`, ""), `"`)%2 == 0 }

// openEnd tells whether more of the message may follow on the next lines: the output of commands has many lines, and
// people wrap long messages by hand. The fixed texts of the kubelet are whole in one line.
func openEnd(message string) bool {
	m := strings.TrimRight(message, " )\"'")
	for _, end := range []string{
		"connection refused", "EOF", "while awaiting headers", "while reading body", "i/o timeout", "no route to host",
		"connection reset by peer", "handshake timeout", "invalid syntax", "context deadline exceeded", "timed out",
		"network is unreachable", "no such host", "NOT_SERVING", "will be restarted", "be killed and recreated.",
	} {
		if strings.HasSuffix(m, end) {
			return false
		}
	}
	if statusEnd.MatchString(m) || timedOutEnd.MatchString(m) {
		return false
	}
	return probeText.MatchString(message) || probeOutput.MatchString(message)
}

var (
	statusEnd   = regexp.MustCompile(`status ?code: \d{3}$`)
	timedOutEnd = regexp.MustCompile(`timed out after [0-9a-zµ.]+$`)
)

// tellingTexts are answers of servers that say something by themselves wherever they stand; other prose is not evidence.
var tellingTexts = regexp.MustCompile(`(?i)^(?:"?Client sent an HTTP request to an HTTPS server|The plain HTTP request was sent to HTTPS port|` +
	`goroutine \d+ \[[a-z. ]+, \d+ minutes\]:|Found one Java-level deadlock|Found \d+ deadlocks?\.|` +
	`no healthy upstream|upstream connect error or disconnect|upstream request timeout|RBAC: access denied|stream timeout|` +
	`default backend - 404|` + `[A-Za-z0-9_.]+(?:Error|Exception): |Caused by: |panic: |fatal error: |` + `Killed$|OOMKilled$)`)
