package paste

import (
	"cmp"
	"regexp"
	"strings"
	"time"

	"github.com/probedoctor/probedoctor/sources/evidence"
)

// Log lines in a text: those of kubectl logs, those that stand by themselves, and what belongs to the record above.

// logPrefix is what `kubectl logs --prefix` puts before a line.
var logPrefix = regexp.MustCompile(`^\[pod/([^/\]\s]+)/([^\]\s]+)\] ?(.*)$`)

// prefixedLog reads a line of `kubectl logs --prefix`, with or without --timestamps.
func (t *text) prefixedLog(s, trimmed string) bool {
	m := logPrefix.FindStringSubmatch(trimmed)
	if m == nil {
		return false
	}
	t.closeRow()
	t.logs = true
	pod := evidence.Object{Kind: "Pod", Name: m[1], Namespace: t.about.namespace}
	l, r := wholeRecord(m[3])
	l.Object, l.Container = pod, m[2]
	if r != nil {
		r.Object, r.Container = pod, m[2]
		t.addRequest(*r)
	}
	if l.Message != "" {
		t.addLog(l)
	}
	return true
}

// wholeRecord reads a line that is known to be of a log, so that it is a record in any case.
func wholeRecord(s string) (evidence.LogLine, *evidence.Request) {
	l, r, ok := logLine(s)
	if ok {
		return l, r
	}
	l = evidence.LogLine{Origin: "app", Message: strings.TrimSpace(s)}
	if at, n := scanTime(s); n > 0 {
		l.At, l.Message = at, strings.TrimSpace(s[n:])
		if inner, r, ok := logLine(l.Message); ok {
			if inner.At.IsZero() || inner.At.Year() < 1000 {
				inner.At = at
			}
			return inner, r
		}
	}
	l.Message = capText(l.Message)
	return l, nil
}

// logRecord reads a line that is a log record by its own look.
func (t *text) logRecord(s, trimmed string) bool {
	if t.openLog && continuesRecord(s) && !announcesListener(trimmed) && t.continueLog(s) {
		return true
	}
	l, r, ok := logLine(trimmed)
	if !ok || !t.logs && l.At.IsZero() && spoken.MatchString(trimmed) {
		return false
	}
	t.closeRow()
	t.logs, t.recordAt = true, t.n
	pod, container := t.logPod()
	if r != nil {
		if r.Object.Name == "" {
			r.Object, r.Container = pod, cmp.Or(r.Container, container)
		}
		t.addRequest(*r)
	}
	if l.Message == "" {
		return true
	}
	if l.Object.Name == "" && l.Origin != "kubelet" && l.Origin != "kernel" {
		l.Object, l.Container = pod, cmp.Or(l.Container, container)
	}
	if l.Origin == "app" && strings.HasPrefix(l.Message, "Envoy proxy is ") {
		l.Origin = "proxy" // the sidecar's agent says this of its Envoy
	}
	if l.Origin == "app" && runtimeText.MatchString(l.Message) {
		l.Origin = "node" // containerd and CRI-O write logfmt without their name
	}
	nameProbe(&l)
	t.addLog(l)
	return true
}

// spoken is how people begin a sentence and logs seldom begin a record: a level in small letters without a time.
var spoken = regexp.MustCompile(`^(?:[Ww]arning|[Ee]rror|[Ii]nfo|[Nn]ote|[Dd]ebug|[Ff]atal): `)

var runtimeText = regexp.MustCompile(`^(?:ExecSync |(?:Stop|Start|Run|Remove)(?:Container|PodSandbox) |failed to exec in container)`)

// logPod is the pod whose log the text shows, as the command says.
func (t *text) logPod() (evidence.Object, string) {
	if t.about.verb == "log" || t.about.verb == "exec" {
		o := evidence.Object{Kind: t.about.kind, Name: t.about.name, Namespace: t.about.namespace}
		if o.Name == "" {
			return evidence.Object{Namespace: o.Namespace}, t.about.container
		}
		return o, t.about.container
	}
	return evidence.Object{Namespace: t.about.namespace}, ""
}

// addLog keeps a log line and the listener that it announces.
func (t *text) addLog(l evidence.LogLine) {
	source := "logs"
	l.Item = t.item(source, logLocator(l), t.n, t.raw)
	if a, ok := announced(l.Message + "\n" + t.raw); ok {
		a.Object, a.Container = l.Object, l.Container
		a.Item = t.item(source, strings.TrimSpace("listener "+l.Object.Name+" "+l.Container), t.n, t.raw)
		t.set.Listeners = append(t.set.Listeners, a)
	}
	t.set.Logs = append(t.set.Logs, l)
	t.openLog, t.traced = true, 0
}

func logLocator(l evidence.LogLine) string {
	return strings.Join(strings.Fields(cmp.Or(l.Origin, "log")+" log "+l.Node+" "+l.Object.Namespace+" "+l.Object.Name+" "+l.Container), " ")
}

func (t *text) addRequest(r evidence.Request) {
	r.Item = t.item("logs", strings.Join(strings.Fields("access log "+r.Object.Name+" "+r.Container), " "), t.n, t.raw)
	t.set.Requests = append(t.set.Requests, r)
	t.openLog = false
}

// continueLog adds a further line to the record above it.
func (t *text) continueLog(s string) bool {
	if !t.openLog || len(t.set.Logs) == 0 {
		return false
	}
	t.traced = continueRecord(&t.set.Logs[len(t.set.Logs)-1], s, t.traced)
	return true
}

// loose decides about a line that nothing else knew: text of a log that is being shown, output of a command, an answer
// that says something by itself, or prose, which is no evidence.
func (t *text) loose(s, trimmed string) bool {
	switch {
	case t.about.verb == "log":
		if t.openLog && continuesRecord(s) && !announcesListener(trimmed) && t.continueLog(s) {
			return true
		}
		l, _ := wholeRecord(trimmed)
		l.Object, l.Container = t.logPod()
		t.addLog(l)
	case tellingTexts.MatchString(trimmed):
		l := evidence.LogLine{Origin: "app", Message: capText(trimmed)}
		if exceptionName(trimmed) != "" {
			l.Level = "ERROR"
		}
		l.Object, l.Container = t.logPod()
		t.addLog(l)
	case announcesListener(trimmed):
		l := evidence.LogLine{Origin: "app", Message: capText(trimmed)}
		t.addLog(l)
	case answers[t.about.tool]:
		// What a command printed, word for word. The prompt's host is the pod where somebody ran a shell in one.
		l := evidence.LogLine{Origin: "shell", Message: capText(trimmed), Logger: t.about.tool}
		l.Object, l.Container = t.logPod()
		if l.Object.Name == "" && looksLikePod.MatchString(t.about.host) {
			l.Object = evidence.Object{Kind: "Pod", Namespace: t.about.namespace, Name: t.about.host}
		}
		t.addLog(l)
	default:
		return false
	}
	return true
}

// answers are the commands that ask one thing and print the answer in a few lines of their own.
var answers = map[string]bool{
	"pg_isready": true, "psql": true, "mysql": true, "mysqladmin": true, "redis-cli": true, "mongosh": true, "mongo": true,
	"ip": true, "nc": true, "ncat": true, "telnet": true, "ping": true, "traceroute": true, "mtr": true, "nslookup": true,
	"dig": true, "getent": true, "host": true, "grpc_health_probe": true, "grpcurl": true, "openssl": true, "sysctl": true,
	"conntrack": true, "iptables": true, "systemctl": true, "timedatectl": true, "chronyc": true, "free": true, "df": true,
	"uptime": true, "lsof": true, "ps": true, "top": true, "crictl": true, "docker": true, "ulimit": true, "rabbitmqctl": true,
	"rabbitmq-diagnostics": true, "etcdctl": true, "calicoctl": true, "cilium": true,
}

// looksLikePod is a host name as pods have it: the name of a controller with an ordinal or with generated parts.
var looksLikePod = regexp.MustCompile(`^[a-z][a-z0-9.-]*-(?:\d{1,4}|[bcdf-hj-np-tv-z2456789]{5})$`)

// expositionLine gives lines of the Prometheus text format to their reader.
func (t *text) expositionLine(s, trimmed string) bool {
	if t.prom == nil {
		t.prom = newExposition(t.file, t.set)
	}
	return t.prom.line(t.n, trimmed)
}

// seconds reads a number of seconds as curl and people print it.
func seconds(s string) (time.Duration, bool) {
	f := decimal(s)
	if f < 0 || f > 1e6 {
		return 0, false
	}
	return time.Duration(f * float64(time.Second)).Round(time.Microsecond), true
}
