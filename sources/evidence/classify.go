package evidence

import (
	"strconv"
	"strings"
)

// maxProbeMessage bounds how much of one message is read. Events hold 1 kB, an exec probe's output 10 KiB; readers of
// events should allow 64 kB (k8s.io/api core/v1).
const maxProbeMessage = 64 << 10

// Classify reads the message of a probe that did not succeed: of a kubelet event of any version since 1.4, of a line of
// the kubelet's log, or as a person pasted it (in quotes, in Markdown, with masked addresses, with its end cut off).
// It is false for every other text, the kubelet's "Killing" messages among them: those say what was done about a probe.
//
// The text of the output decides, by its beginning: what follows a recognised beginning may be prose that somebody
// glued on. Output that is none of the kubelet's own texts is what an exec probe's command printed.
//
// A message without its "Liveness probe failed:" is accepted where it cannot be anything else; its Probe is then empty.
func Classify(message string) (Verdict, bool) {
	if len(message) > maxProbeMessage {
		message = message[:maxProbeMessage]
	}
	m, ok := structuredLog(message)
	if !ok {
		if m, ok = probeEvent(message); !ok {
			return naked(undecorate(message))
		}
	}
	v := Verdict{Probe: m.probe, Result: m.result}
	if m.cut {
		v.Phase, v.Outcome = PhaseUnknown, OutcomeUnknown
	} else {
		v.read(unescapeQuotes(m.output))
	}
	if m.foreign && (v.Outcome == OutcomeExit || v.Outcome == OutcomeUnknown) {
		return Verdict{}, false
	}
	return v, true
}

// envelope is what surrounds the output of a probe.
type envelope struct {
	probe  ProbeKind
	result Result
	output string
	// cut is true when the text ends before the output.
	cut bool
	// foreign is true when other text than decoration stands before the message: a node's name, or prose. Only an output
	// that is known is then taken for one: "the Liveness probe failed: no idea why" reads like what a command printed.
	foreign bool
}

// read classifies the output of the probe, whose kind and result are already in v.
func (v *Verdict) read(output string) {
	// OpenShift's kubelet appends the response body, which may hold anything.
	if head, _, ok := strings.Cut(output, "\nbody:"); ok {
		output = head
	}
	output = strings.TrimSpace(output)
	if rest, ok := cutElision(output); ok {
		output = rest
	}
	switch {
	case v.Result == Warned:
		v.warning(output)
	case output == "":
		// Only an exec probe can print nothing; before 1.24 a kubelet did so when the command timed out.
		v.Phase, v.Outcome = PhaseExec, OutcomeUnknown
	case v.httpStatus(output), v.httpGet(output), v.grpc(output), v.config(output):
	case v.Result == Errored && v.body(output):
	case v.transport(output, false):
	default:
		v.exec(output)
	}
}

// naked classifies an output that stands alone. Lifecycle hooks, "kubectl exec" and every Go program print texts like
// the kubelet's, so only those that are unmistakable are accepted.
func naked(s string) (Verdict, bool) {
	v := Verdict{Result: Failed}
	if s == "" || !v.nakedOutput(s) {
		return Verdict{}, false
	}
	return v, true
}

func (v *Verdict) nakedOutput(s string) bool {
	switch s[0] {
	case 'H':
		return strings.HasPrefix(s, "HTTP probe failed with status") && v.httpStatus(s)
	case 'P':
		if !strings.HasPrefix(s, "Probe terminated redirects") {
			return false
		}
		v.Result = Warned
		v.warning(s)
		return true
	case 'G':
		return strings.HasPrefix(s, "Get ") && v.httpGet(unescapeQuotes(s)) && v.Outcome != OutcomeUnknown && probeLike(v.Target)
	case 'd':
		return hasPrefixFold(s, "dial tcp ") && v.transport(s, false) && v.Outcome != OutcomeUnknown
	case 'c':
		if strings.HasPrefix(s, "command ") {
			return v.commandTimeout(unescapeQuotes(s)) && v.Command != ""
		}
		return strings.HasPrefix(s, "context deadline exceeded (Client.Timeout") && v.transport(s, false)
	case 'n':
		rest, ok := strings.CutPrefix(s, "net/http: request canceled")
		return ok && strings.HasPrefix(strings.TrimPrefix(rest, " while waiting for connection"), " (Client.Timeout") && v.transport(s, false)
	case 's', 't', 'e':
		return v.grpc(unescapeQuotes(s))
	}
	return false
}

// probeLike tells whether a URL that stands alone can be a probe's: the kubelet probes an address, and a call of the
// Kubernetes API is no probe.
func probeLike(t Endpoint) bool {
	if isName(t.Host) {
		return false
	}
	return t.Scheme != "https" || !strings.HasPrefix(t.Path, "/api/") && !strings.HasPrefix(t.Path, "/apis/")
}

// probeEvent finds "Readiness probe failed: output" and its variants.
func probeEvent(s string) (m envelope, ok bool) {
	for from := 0; ; {
		i := strings.Index(s[from:], " probe ")
		if i < 0 {
			return m, false
		}
		at := from + i
		from = at + len(" probe ")
		kind, start := kindBefore(s, at)
		if kind == "" {
			continue
		}
		m, ok = resultOf(s[from:])
		if !ok {
			continue
		}
		m.probe = kind
		head := s[:start]
		lead := strings.TrimLeft(head, leadDecoration)
		m.output = trimDecoration(m.output, head[:len(head)-len(lead)])
		// The prefixes that the kubelet and kubectl write themselves are no foreign text, and no prose has the log's form.
		m.foreign = !strings.HasPrefix(s[from:], `for "`) && strings.Trim(cutKnownPrefixes(lead), leadDecoration) != ""
		return m, true
	}
}

// kindBefore reads the word that ends at s[:end] as a kind of probe and says where it starts.
func kindBefore(s string, end int) (ProbeKind, int) {
	for _, k := range [...]ProbeKind{Readiness, Liveness, Startup} {
		start := end - len(k)
		if start < 0 || !strings.EqualFold(s[start:end], string(k)) {
			continue
		}
		if start > 0 && isLetter(s[start-1]) {
			return "", 0
		}
		return k, start
	}
	return "", 0
}

// resultOf reads what follows "Readiness probe ": the result, then the output behind a colon.
func resultOf(s string) (m envelope, ok bool) {
	if rest, found := strings.CutPrefix(s, `for "`); found {
		// The kubelet's log before structured logging: for "pod_namespace(uid):container" failed (failure): output
		if _, s, found = strings.Cut(rest, `" `); !found {
			return m, false
		}
		s = strings.TrimPrefix(s, "succeeded with a ")
	}
	rest := ""
	switch {
	case cutTo(s, "failed", &rest):
		m.result = Failed
		// " (failure)", " (unknown)" in the log.
		if inner, found := strings.CutPrefix(rest, " ("); found {
			if _, tail, closed := strings.Cut(inner, ")"); closed {
				rest = tail
			}
		}
	case cutTo(s, "errored", &rest):
		m.result = Errored
		if inner, found := strings.CutPrefix(rest, " and resulted in "); found {
			if _, tail, closed := strings.Cut(inner, " state"); closed {
				rest = tail
			}
		}
	case cutTo(s, "error", &rest):
		m.result = Failed // OpenShift's second event for a failure
	case cutTo(s, "warning", &rest):
		m.result = Warned
	default:
		return m, false
	}
	if m.output, ok = strings.CutPrefix(rest, ":"); ok {
		return m, true
	}
	m.output, m.cut = "", true
	return m, strings.Trim(rest, decoration+".…") == ""
}

// structuredLog reads the kubelet's structured log: "Probe failed" probeType="Liveness" … output="…".
func structuredLog(s string) (m envelope, ok bool) {
	_, rest, ok := strings.Cut(s, `"Probe `)
	if !ok {
		return m, false
	}
	key := " output="
	switch {
	case cutTo(rest, `failed"`, &rest):
		m.result = Failed
	case cutTo(rest, `errored"`, &rest):
		m.result, key = Errored, " err="
	case cutTo(rest, `succeeded with a warning"`, &rest):
		m.result = Warned
	default:
		return m, false
	}
	if _, kind, found := strings.Cut(rest, " probeType="); found {
		kind = strings.TrimPrefix(kind, `"`)
		for _, k := range [...]ProbeKind{Readiness, Liveness, Startup} {
			if hasPrefixFold(kind, string(k)) {
				m.probe = k
			}
		}
	}
	_, value, found := strings.Cut(rest, key)
	m.output = logValue(value)
	m.cut = !found || value == "" || value == "<"
	return m, m.probe != "" || found
}

// logValue reads the value of key=value as klog writes it: quoted, or over several lines between "<" and " >".
func logValue(s string) string {
	switch {
	case strings.HasPrefix(s, `"`):
		if q, err := strconv.QuotedPrefix(s); err == nil {
			if u, err := strconv.Unquote(q); err == nil {
				return u
			}
		}
		return s[1:] // its end was cut off
	case strings.HasPrefix(s, "<"):
		s, _, _ = strings.Cut(s[1:], "\n >")
		return strings.ReplaceAll(s, "\n\t", "\n")
	}
	word, _, _ := strings.Cut(s, " ")
	return word
}

// warning reads the output of a probe that was redirected to another host, which counts as success.
func (v *Verdict) warning(s string) {
	v.Phase, v.Outcome = PhaseRedirect, OutcomeRedirect
	// Before 1.24 the output is the response's body alone, and a 304 warns too.
	v.Redirected = strings.HasPrefix(s, "Probe terminated redirects")
}

// config reads why a probe could not even be sent.
func (v *Verdict) config(s string) bool {
	switch {
	case strings.HasPrefix(s, "strconv."):
		// A named port that the container does not have: strconv.Atoi: parsing "web": invalid syntax
		if _, rest, ok := strings.Cut(s, `parsing "`); ok {
			if name, _, ok := strings.Cut(rest, `"`); ok {
				v.Target.Port = name
			}
		}
	case strings.HasPrefix(s, `parse "`), strings.HasPrefix(s, "parse http"),
		strings.HasPrefix(s, "invalid port number"), strings.HasPrefix(s, "missing probe handler"),
		strings.HasPrefix(s, "unsupported protocol scheme"):
	default:
		return false
	}
	v.Phase, v.Outcome = PhaseConfig, OutcomeInvalid
	return true
}
