package paste

import (
	"encoding/json"
	"net"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/probedoctor/probedoctor/sources/evidence"
)

// What people look up on the network: curl, listening sockets, kube-proxy's health port, a balancer's annotation.

// exchange is one HTTP request that somebody made, while its answer comes in.
type exchange struct {
	evidence.Request
	n       int
	raw     []string
	body    []string
	failure string // what curl says where there was no answer
	headers bool   // the lines are the answer's headers
	typed   bool   // a command line was seen
}

var (
	statusLine = regexp.MustCompile(`^HTTP/(?:1\.[01]|2|3)(?:\.0)? (\d{3})(?: .*)?$`)
	headerLike = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9-]{1,60}: \S`)
	curlError  = regexp.MustCompile(`curl: \((\d{1,3})\) (.*)$`)
	curlTarget = regexp.MustCompile(`(?:connect to|host:) (\[?[\w:.-]+?\]?) port (\d+)`)
	// writeOut are the two ways in which people print curl's %{http_code} and %{time_total}.
	writeOut = regexp.MustCompile(`^(?:([\w-]+): )?(?:HTTP |code=|http_code=|status=)(\d{3})\b(.*)$`)
	seconds1 = regexp.MustCompile(`(?:^|[\s=])(\d+[.,]\d+|\d+)(?:s\b|$)|(?:time|total|time_total)=(\d+[.,]?\d*)`)
	anURL    = regexp.MustCompile(`(?:https?://|\.\.\./|…/)[^\s"'|;)]*|(?:localhost|\d{1,3}(?:\.\d{1,3}){3}|\[[0-9a-f:]+\]):\d+[^\s"'|;)]*`)
)

// startExchange begins a request from its command line.
func (t *text) startExchange(args string) {
	x := &exchange{n: t.n, raw: []string{args}, typed: true}
	x.By, x.Method = "client", "GET"
	for _, f := range [][2]string{{" -X", ""}, {" --request", ""}} {
		if _, rest, ok := strings.Cut(args, f[0]); ok {
			if m, _ := cutWord(strings.TrimLeft(rest, " =")); isMethod(strings.ToUpper(m)) {
				x.Method = strings.ToUpper(m)
			}
		}
	}
	if strings.Contains(args, " -I") || strings.Contains(args, " --head") {
		x.Method = "HEAD"
	}
	x.target(anURL.FindString(args))
	if t.about.verb == "exec" {
		x.Object = evidence.Object{Kind: "Pod", Name: t.about.name, Namespace: t.about.namespace}
	}
	t.web = x
}

// target takes the parts of a URL, also of one with its host left out.
func (x *exchange) target(raw string) {
	rest, elided := strings.CutPrefix(raw, "...")
	if !elided {
		rest, elided = strings.CutPrefix(raw, "…")
	}
	if elided {
		x.Path, _, _ = strings.Cut(rest, "?")
		return
	}
	if raw == "" {
		return
	}
	if !strings.Contains(raw, "://") {
		raw = "http://" + raw
	}
	u, err := url.Parse(raw)
	if err != nil {
		return
	}
	x.Host, x.Port, x.Path = u.Hostname(), u.Port(), u.Path
	if x.Port == "" {
		x.Port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	if x.Path == "" {
		x.Path = "/"
	}
}

// webLine reads a line of an HTTP answer or of what curl says about one.
func (t *text) webLine(s, trimmed string) bool {
	if x := t.web; x != nil {
		if x.typed && len(x.raw) > 1 && codeOnly.MatchString(trimmed) {
			// A loop prints one line a request.
			t.endExchange()
			t.web = &exchange{n: t.n, raw: x.raw[:1:1], typed: true}
			t.web.Request = evidence.Request{Object: x.Object, By: x.By, Method: x.Method, Host: x.Host, Port: x.Port, Path: x.Path}
		}
		if t.web.talk(trimmed) {
			return true
		}
	}
	trimmed = strings.TrimPrefix(trimmed, "< ") // curl -v marks what came in
	if m := statusLine.FindStringSubmatch(trimmed); m != nil {
		if t.web == nil || t.web.Status != 0 {
			t.endExchange()
			t.web = &exchange{n: t.n}
			t.web.By = "client"
		}
		t.closeRow()
		t.web.Status = number(m[1])
		t.web.headers = true
		t.web.raw = append(t.web.raw, trimmed)
		return true
	}
	if m := curlError.FindStringSubmatch(trimmed); m != nil {
		if t.web == nil || t.web.Status != 0 {
			t.endExchange()
			t.web = &exchange{n: t.n}
			t.web.By = "client"
		}
		if c := curlTarget.FindStringSubmatch(m[2]); c != nil && t.web.Port == "" {
			t.web.Host, t.web.Port = strings.Trim(c[1], "[]"), c[2]
		}
		t.closeRow()
		t.web.raw = append(t.web.raw, trimmed)
		t.web.failure = m[0]
		t.endExchange()
		return true
	}
	if m := writeOut.FindStringSubmatch(trimmed); m != nil {
		x := t.web
		if x == nil {
			x = &exchange{n: t.n}
			x.By = "client"
		}
		again := evidence.Request{Object: x.Object, By: x.By, Method: x.Method, Host: x.Host, Port: x.Port, Path: x.Path}
		x.Status = number(m[2])
		if x.Status == 0 && m[2] != "000" {
			return false
		}
		if d := seconds1.FindStringSubmatch(m[3]); d != nil {
			v := d[1]
			if i := strings.LastIndex(m[3], "time="); i >= 0 {
				v = strings.Fields(m[3][i+len("time="):] + " 0")[0]
			}
			if dur, ok := seconds(strings.TrimSuffix(v, "s")); ok {
				x.Duration = &dur
			}
		}
		t.closeRow()
		x.raw, x.n = append(slices.Clip(x.raw), trimmed), t.n
		t.web = x
		t.endExchange()
		if x.typed {
			// A loop prints one line a request.
			t.web = &exchange{Request: again, n: t.n, typed: true, raw: x.raw[:1:1]}
		}
		return true
	}
	if t.web == nil {
		return false
	}
	if t.web.headers && headerLike.MatchString(trimmed) {
		return true
	}
	if !t.web.typed && !strings.HasPrefix(trimmed, "{") {
		return false
	}
	if len(t.web.body) >= maxContinuation {
		return false
	}
	t.web.headers = false
	t.web.body = append(t.web.body, trimmed)
	return true
}

var (
	curlWord    = regexp.MustCompile(`(?:^|[\s/;(])(?:curl|wget) `)
	requestSent = regexp.MustCompile(`^([A-Z]{3,7}) (/\S*) HTTP/[\d.]+$`)
	codeOnly    = regexp.MustCompile(`^(\d{3})(?:[ ,;|]+(\d+\.\d+)s?)?$`)
	realTime    = regexp.MustCompile(`^real\s+(\d+)m([\d.]+)s$`)
	wgetAnswer  = regexp.MustCompile(`(?:awaiting response\.\.\. |server returned error: HTTP/[\d.]+ |ERROR )(\d{3})\b`)
	wgetFailure = regexp.MustCompile(`^wget: (?:can't connect|download timed out|bad address|error getting response|unable to resolve).*`)
)

// talk reads what curl -v, curl -w, wget and the shell's time print around an answer.
func (x *exchange) talk(s string) bool {
	if m := requestSent.FindStringSubmatch(s); m != nil && isMethod(m[1]) {
		x.Method, x.Path = m[1], pathOnly(m[2])
		x.headers = true
		return true
	}
	if rest, ok := strings.CutPrefix(s, "* "); ok {
		if containsAny(rest, "refused", "timed out", "reset by peer", "Empty reply") && x.failure == "" {
			x.failure = rest
			x.raw = append(x.raw, rest)
		}
		return true
	}
	if !x.typed {
		return false
	}
	if s == "<" {
		return true
	}
	if m := codeOnly.FindStringSubmatch(s); m != nil && len(x.raw) == 1 && strings.Contains(x.raw[0], "http_code") {
		x.Status = number(m[1])
		if d, ok := seconds(m[2]); ok && m[2] != "" {
			x.Duration = &d
		}
		x.raw = append(x.raw, s)
		return true
	}
	if m := realTime.FindStringSubmatch(s); m != nil {
		if d, ok := seconds(m[2]); ok {
			d += time.Duration(number(m[1])) * time.Minute
			x.Duration = &d
			x.raw = append(x.raw, s)
		}
		return true
	}
	if strings.HasPrefix(s, "user\t") || strings.HasPrefix(s, "sys\t") {
		return true
	}
	if m := wgetAnswer.FindStringSubmatch(s); m != nil {
		x.Status = number(m[1])
		x.raw = append(x.raw, s)
		return true
	}
	if m := wgetFailure.FindString(s); m != "" {
		x.failure = m
		x.raw = append(x.raw, s)
		return true
	}
	return false
}

// blank ends the headers of an answer; after a body it ends the answer.
func (x *exchange) blank(t *text) {
	if len(x.body) > 0 || !x.typed && !x.headers {
		t.endExchange()
		return
	}
	x.headers = false
}

// webBody takes a block of JSON that is the body of an answer.
func (t *text) webBody(first int, body string) bool {
	if t.healthPort(first, body) {
		return true
	}
	if t.web == nil {
		return false
	}
	if len(body) > maxMessage {
		return false
	}
	t.web.body = append(t.web.body, strings.Join(strings.Fields(body), " "))
	return true
}

// endExchange keeps the request. What the answer's body says is a line of the application.
func (t *text) endExchange() {
	x := t.web
	if x == nil {
		return
	}
	t.web = nil
	if x.Status == 0 && len(x.body) == 0 && len(x.raw) < 2 && x.typed {
		return // only a command line
	}
	raw := strings.Join(append(slices.Clip(x.raw), x.body...), "\n")
	x.Item = t.item("paste", strings.TrimSpace("curl "+x.Host+x.Path), x.n, raw)
	t.set.Requests = append(t.set.Requests, x.Request)
	if x.failure != "" {
		l := evidence.LogLine{Origin: "shell", Logger: "curl", Route: x.Path, Message: capText(x.failure), Object: x.Object}
		l.Item = t.item("paste", strings.TrimSpace("curl "+x.Host+x.Path), x.n, x.failure)
		t.set.Logs = append(t.set.Logs, l)
	}
	for _, b := range x.body {
		if strings.HasPrefix(b, "<") && strings.HasSuffix(b, ">") {
			continue
		}
		l := evidence.LogLine{Origin: "app", Route: x.Path, Message: capText(b)}
		l.Object = x.Object
		l.Item = t.item("paste", strings.TrimSpace("curl "+x.Host+x.Path), x.n, b)
		t.set.Logs = append(t.set.Logs, l)
	}
	t.openLog = false
}

// healthPort reads the answer of kube-proxy on a service's healthCheckNodePort: how many ready endpoints the node has.
func (t *text) healthPort(first int, body string) bool {
	if !strings.Contains(body, `"localEndpoints"`) {
		return false
	}
	var answer struct {
		Service        struct{ Namespace, Name string }
		LocalEndpoints *int `json:"localEndpoints"`
	}
	if err := json.Unmarshal([]byte(body), &answer); err != nil || answer.LocalEndpoints == nil {
		return false
	}
	g := evidence.Target{Balancer: "kube-proxy", Group: answer.Service.Namespace + "/" + answer.Service.Name, State: "healthy"}
	if *answer.LocalEndpoints == 0 {
		g.State, g.Reason = "unhealthy", "NoLocalEndpoints"
	}
	g.Description = "localEndpoints " + strconv.Itoa(*answer.LocalEndpoints)
	raw := strings.Join(strings.Fields(body), " ")
	n := first
	if x := t.web; x != nil {
		g.ID, g.CheckPort = x.Host, x.Port
		if x.Status != 0 {
			g.Codes = []int{x.Status}
			raw = "HTTP " + strconv.Itoa(x.Status) + " " + raw
		}
		x.body = nil
		x.raw = append(x.raw, raw)
		n = x.n
	}
	g.Item = t.item("paste", "kube-proxy health "+strings.TrimSpace(g.Group+" "+g.ID), n, raw)
	t.set.Targets = append(t.set.Targets, g)
	t.endExchange()
	return true
}

var (
	gkeAnnotation = regexp.MustCompile(`backends:?\s*["']?:?\s*['"]?(\{.*?\})`)
	gkePair       = regexp.MustCompile(`"([^"]+)"\s*:\s*"(HEALTHY|UNHEALTHY|Unknown|UNKNOWN|DRAINING|TIMEOUT)"`)
)

// gkeBackends reads the annotation ingress.kubernetes.io/backends, in which Google's controller keeps the state of each
// backend as JSON: state by backend.
func gkeBackends(s string) map[string]string {
	if !strings.Contains(s, "backends") {
		return nil
	}
	m := gkeAnnotation.FindStringSubmatch(strings.ReplaceAll(s, `\"`, `"`))
	if m == nil {
		return nil
	}
	out := map[string]string{}
	for _, p := range gkePair.FindAllStringSubmatch(m[1], -1) {
		state := strings.ToLower(p[2])
		if state == "timeout" {
			state = "unhealthy"
		}
		out[p[1]] = state
	}
	return out
}

func (t *text) addGKE(states map[string]string) {
	names := make([]string, 0, len(states))
	for name := range states {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		t.set.Targets = append(t.set.Targets, evidence.Target{
			Item: t.item("kubectl", "ingress backend "+name, t.n, t.raw), Balancer: "gke", Group: name, ID: name, State: states[name],
		})
	}
}

var (
	netstatRow = regexp.MustCompile(`^(tcp6?)\s+(\d+)\s+(\d+)\s+(\S+):(\d+)\s+(\S+):(?:\*|\d+)\s+LISTEN\b\s*(.*)$`)
	ssRow      = regexp.MustCompile(`^(?:tcp\s+)?LISTEN\s+(\d+)\s+(\d+)\s+(\S+):(\d+)\s+\S+:\*\s*(.*)$`)
	ssProcess  = regexp.MustCompile(`users:\(\("([^"]+)"`)
)

// parseListener reads a listening socket as netstat or ss prints it. For a listening socket Recv-Q is the number of
// connections that wait to be accepted; ss prints the backlog as Send-Q, netstat does not (Linux, net/ipv4/tcp_diag.c).
func parseListener(s string) (evidence.Listener, bool) {
	l := evidence.Listener{Queued: -1, Backlog: -1}
	if m := netstatRow.FindStringSubmatch(s); m != nil {
		l.Queued = number(m[2])
		l.Address, l.Port = strings.Trim(m[4], "[]"), m[5]
		if p := strings.TrimSpace(m[7]); p != "-" {
			if _, name, ok := strings.Cut(p, "/"); ok {
				p = name
			}
			l.Process = strings.TrimRight(p, ": ")
		}
		return l, true
	}
	if m := ssRow.FindStringSubmatch(s); m != nil {
		l.Queued, l.Backlog = number(m[1]), number(m[2])
		l.Address, l.Port = strings.Trim(m[3], "[]"), m[4]
		l.Address, _, _ = strings.Cut(l.Address, "%")
		if p := ssProcess.FindStringSubmatch(m[5]); p != nil {
			l.Process = p[1]
		}
		return l, true
	}
	return l, false
}

// socketLine keeps a listening socket.
func (t *text) socketLine(s, trimmed string) bool {
	l, ok := parseListener(trimmed)
	if !ok {
		return strings.HasPrefix(trimmed, "Active Internet connections") || strings.HasPrefix(trimmed, "Proto Recv-Q") ||
			strings.HasPrefix(trimmed, "State ") && strings.Contains(trimmed, "Recv-Q")
	}
	t.closeRow()
	l.Object, l.Container = t.logPod()
	l.Item = t.item("paste", "socket "+net.JoinHostPort(l.Address, l.Port), t.n, t.raw)
	t.set.Listeners = append(t.set.Listeners, l)
	return true
}

var (
	addrField = regexp.MustCompile(`(?i)\b(?:addr|address|listen|bind|endpoint)"?[=:]\s?"?(\[[0-9a-f:]*\]|[\d.]*|\*|localhost):(\d{2,5})\b`)
	// boundField is Elasticsearch's and OpenSearch's announcement.
	boundField = regexp.MustCompile(`(?i)\b(?:bound_addresses|publish_address) \{(\[[0-9a-f:]*\]|[\d.]+):(\d{2,5})\}`)
	listening  = regexp.MustCompile(`(?i)\b(?:listening|listens|serving|bound|running|started server|server started)(?: \w+){0,3}? (?:on|at)[: ]+(?:\w+://)?"?(\[[0-9a-f:]*\]|[\d.]*|\*|localhost):(\d{2,5})\b`)
	onPort     = regexp.MustCompile(`(?i)\b(?:listening|started|serving)(?: \w+){0,3}? on port(?:\(s\)|s)?:? ?(\d{2,5})\b`)
	outgoing   = regexp.MustCompile(`(?i)\b(?:connect|dial|upstream|client|request|forward|refused|failed|remote|target|scrape)`)
)

// announced reads a log line in which a server says where it listens. Lines about connections to others are not such.
func announced(s string) (evidence.Listener, bool) {
	if !containsAny(s, "isten", "erving", "tarted", "tarting", "erver", "ound", "unning") {
		return evidence.Listener{}, false
	}
	line, rest, _ := strings.Cut(s, "\n")
	for _, c := range []string{line, rest} {
		if len(c) > maxMessage || outgoing.MatchString(c) {
			continue
		}
		if m := addrField.FindStringSubmatch(c); m != nil && serverWords.MatchString(c) {
			return listener(wildcard(m[1]), m[2]), true
		}
		if m := boundField.FindStringSubmatch(c); m != nil {
			return listener(wildcard(m[1]), m[2]), true
		}
		if m := listening.FindStringSubmatch(c); m != nil {
			return listener(wildcard(m[1]), m[2]), true
		}
		if m := onPort.FindStringSubmatch(c); m != nil {
			// The address is not said; most servers then take the wildcard, but that is not known.
			return listener("", m[1]), true
		}
	}
	return evidence.Listener{}, false
}

var serverWords = regexp.MustCompile(`(?i)\b(?:server|serving|listen|listening|starting|started|serve|bind)`)

func announcesListener(s string) bool {
	_, ok := announced(s)
	return ok
}

func listener(host, port string) evidence.Listener {
	return evidence.Listener{Address: listenAddress(host), Port: port, Queued: -1, Backlog: -1}
}

// wildcard is what ":8080" means to every server that prints it.
func wildcard(host string) string {
	if host == "" {
		return "*"
	}
	return host
}

// listenAddress gives the address as ss prints it.
func listenAddress(host string) string {
	host = strings.Trim(host, "[]")
	if host == "localhost" {
		return "127.0.0.1"
	}
	return host
}
