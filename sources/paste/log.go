package paste

import (
	"strconv"
	"strings"

	"github.com/probedoctor/probedoctor/sources/evidence"
)

// maxRecord bounds what is looked at of one line, in bytes; the readers of records take a cut one.
const maxRecord = 64 << 10

// logLine reads one line of a log. It gives the record, the request that the record reports when it reports one, and
// whether the line is a log record at all. An access log's line is a request only: its record has no Message.
//
// It is called for every line of every log, so it looks at the first bytes and then tries the one format they belong to.
func logLine(s string) (evidence.LogLine, *evidence.Request, bool) {
	if len(s) > maxRecord {
		s = s[:maxRecord]
	}
	p := logParser{}
	s = cleanLog(s)
	if s == "" || !p.parse(s, 0) {
		return evidence.LogLine{}, nil, false
	}
	l, r := &p.line, p.req
	l.Message = capText(strings.TrimSpace(l.Message))
	if l.Message == "" && l.Logger == "" && r == nil {
		return evidence.LogLine{}, nil, false
	}
	if l.Message != "" {
		path, method, end := findRoute(l.Message)
		if l.Route == "" {
			l.Route = path
		}
		if r == nil && path != "" && !p.outgoing() {
			r = requestIn(l.Message, method, path, end)
		}
	}
	if l.Origin == "" {
		l.Origin = "app"
	}
	if r != nil {
		if r.At.IsZero() {
			r.At = l.At
		}
		if r.By == "" {
			r.By = "server"
		}
		if l.At.IsZero() {
			l.At = r.At
		}
		if l.Route == "" {
			l.Route = r.Path
		}
		r.Object, r.Container = l.Object, l.Container
	}
	return *l, r, true
}

// logParser collects what the layers of one line say: a syslog prefix around a JSON record around an access log line.
type logParser struct {
	line evidence.LogLine
	req  *evidence.Request
	// bareNumber marks a duration that was a lone integer, taken for milliseconds.
	bareNumber bool
}

// outgoing tells whether the record comes from a client library, whose requests are not this server's.
func (p *logParser) outgoing() bool {
	l := p.line.Logger
	return strings.Contains(l, "Client") || strings.Contains(l, "RestTemplate") || strings.Contains(l, "okhttp") ||
		strings.Contains(l, "feign") || strings.Contains(l, "httpx") || strings.Contains(l, "urllib3")
}

// maxLayers bounds how many prefixes (runtime, syslog, pod name) a line may carry around its own record.
const maxLayers = 5

// parse reads s as one of the formats. What an outer layer set is replaced by what an inner one knows better.
func (p *logParser) parse(s string, layer int) bool {
	if s == "" || layer > maxLayers {
		return false
	}
	switch c := s[0]; {
	case c == '{':
		return p.json(s, layer)
	case c == '[':
		return p.bracketed(s, layer)
	case c == '<':
		// The priority of a syslog message: "<133>Nov 29 …".
		i := strings.IndexByte(s, '>')
		if i < 2 || i > 4 || !allDigits(s[1:i]) || !p.parse(strings.TrimLeft(s[i+1:], " "), layer+1) {
			return false
		}
		if p.line.Level == "" && p.req == nil {
			priority, _ := strconv.Atoi(s[1:i])
			p.line.Level = severities[priority%8]
		}
		return true
	case isDigit(c) || c >= 'A' && c <= 'Z':
		if p.access(s) {
			return true
		}
		if t, n := scanTime(s); n > 0 {
			p.line.At = t
			return p.afterTime(s[n:], layer)
		}
		if isDigit(c) {
			return p.redis(s)
		}
		if p.klog(s) || p.ruby(s) || p.logfmt(s) {
			return true
		}
		return p.levelFirst(s, layer)
	case c == '"':
		// klog's text without its header: "msg" key="value".
		if i := endOfQuoted(s); i > 0 && i+1 < len(s) && s[i] == ' ' && keyEnd(s[i+1:]) > 0 {
			p.line.Message = joinMessage(unescape(s[1:i-1]), s[i:])
			return true
		}
		return p.access(s)
	case c >= 'a' && c <= 'z' || c == '-' || c == ':' || c == '_' || c == '@':
		if p.access(s) || p.logfmt(s) {
			return true
		}
		return p.levelFirst(s, layer) || p.prefixed(s, layer)
	}
	return false
}

// prefixed reads a record behind the name of its writer: stern's "pod container <time> text" and docker compose's
// "name  | text". The record itself must be one, with a time of its own.
func (p *logParser) prefixed(s string, layer int) bool {
	name, rest := firstWord(s)
	if text, ok := strings.CutPrefix(rest, "| "); ok {
		saved := *p
		if p.parse(strings.TrimLeft(text, " "), layer+1) && !p.line.At.IsZero() {
			p.line.Container = name
			return true
		}
		*p = saved
		return false
	}
	container, text := firstWord(rest)
	if !podLike(name) || container == "" {
		return false
	}
	if _, n := scanTime(text); n < len("2006-01-02T15:04:05") {
		return false
	}
	if !p.parse(text, layer+1) {
		return false
	}
	p.line.Object, p.line.Container = evidence.Object{Kind: "Pod", Name: name}, container
	return true
}

// severities are syslog's, from 0 (emergency) to 7 (debug): RFC 5424, 6.2.1.
var severities = [8]string{"FATAL", "FATAL", "FATAL", "ERROR", "WARN", "INFO", "INFO", "DEBUG"}

// jvm reads what follows the uptime in a JVM's own log: "[info][gc,heap] text".
func (p *logParser) jvm(s string) bool {
	for strings.HasPrefix(s, "[") {
		end := strings.IndexByte(s, ']')
		if end < 0 {
			break
		}
		tag := strings.TrimSpace(s[1:end])
		if level := levelOf(tag); level != "" && p.line.Level == "" {
			p.line.Level = level
		} else {
			p.line.Logger = tag
		}
		s = strings.TrimLeft(s[end+1:], " ")
	}
	p.line.Message = s
	return s != ""
}

// jvmUptime tells whether s is the time since its start with which a JVM decorates its log (JEP 158): "12.345s", "8120ms".
func jvmUptime(s string) bool {
	number, ok := strings.CutSuffix(s, "s")
	number = strings.TrimSuffix(number, "m")
	_, err := strconv.ParseFloat(number, 64)
	return ok && number != "" && isDigit(number[0]) && err == nil
}

// bracketed reads a line that starts with a bracket: a time, a pod, a level, the name of Envoy or Ruby's tags.
func (p *logParser) bracketed(s string, layer int) bool {
	end := strings.IndexByte(s, ']')
	if end < 0 {
		return false
	}
	inner := s[1:end]
	rest := strings.TrimLeft(s[end+1:], " ")
	if jvmUptime(inner) && strings.HasPrefix(rest, "[") {
		return p.jvm(rest)
	}
	if t, n := scanTime(inner); n > 0 {
		if p.access(s) {
			return true
		}
		p.line.At = t
		tail := strings.TrimLeft(inner[n:], " :")
		switch {
		case tail == "":
		case strings.HasPrefix(rest, `"`):
			return false
		default:
			// Celery: "[2026-11-29 14:03:11,123: INFO/MainProcess] text"; Serilog: "[14:03:11 INF] text";
			// env_logger: "[2026-11-29T14:03:11Z INFO  crate::net] text".
			word, more := firstWord(tail)
			word, thread, _ := strings.Cut(word, "/")
			level := levelOf(word)
			if level == "" {
				return false
			}
			p.line.Level, p.line.Thread, p.line.Logger = level, thread, strings.TrimSpace(more)
			p.line.Message = rest
			return true
		}
		if p.envoy(rest) {
			return true
		}
		return p.afterTime(s[end+1:], layer)
	}
	switch {
	case strings.HasPrefix(inner, "pod/"):
		// kubectl logs --prefix: "[pod/NAME/CONTAINER] text".
		name, container, _ := strings.Cut(inner[len("pod/"):], "/")
		p.line.Object = evidence.Object{Kind: "Pod", Name: name}
		p.line.Container = container
		if !p.parse(rest, layer+1) {
			p.line.Message = rest
		}
		return true
	case strings.HasPrefix(inner, "Envoy ("), strings.Trim(inner, "-") == "":
		return p.parse(rest, layer+1)
	case inner == "Nest":
		return p.nest(rest)
	case inner == "GIN":
		return p.gin(rest)
	case podLike(inner) && p.parse(rest, layer+1):
		// kubetail: "[cart-0] text".
		p.line.Object = evidence.Object{Kind: "Pod", Name: inner}
		return true
	}
	if level := levelOf(strings.TrimSpace(inner)); level != "" {
		p.line.Level = level
		return p.header(rest)
	}
	return false
}

// afterTime reads what follows a timestamp: a whole record of another format, or a header and a message.
func (p *logParser) afterTime(s string, layer int) bool {
	s = strings.TrimLeft(s, " \t:")
	outer := p.line.At
	if s == "" {
		return false
	}
	// CRI's own lines: "<time> stdout F text".
	if rest, ok := strings.CutPrefix(s, "stdout "); ok && len(rest) > 2 && rest[1] == ' ' {
		return p.wrapped(rest[2:], layer)
	}
	if rest, ok := strings.CutPrefix(s, "stderr "); ok && len(rest) > 2 && rest[1] == ' ' {
		return p.wrapped(rest[2:], layer)
	}
	c := s[0]
	switch {
	case c == '{':
		if p.json(s, layer) {
			if p.line.At.IsZero() {
				p.line.At = outer
			}
			return true
		}
	case c == '|' || c == '-':
	case isDigit(c):
		if _, n := scanTime(s); n > 0 {
			return p.wrapped(s, layer)
		}
		if p.access(s) || p.redis(s) {
			return true
		}
	case c == '[':
		if strings.HasPrefix(s, "[error]") || strings.HasPrefix(s, "[warn]") || strings.HasPrefix(s, "[notice]") ||
			strings.HasPrefix(s, "[crit]") || strings.HasPrefix(s, "[alert]") || strings.HasPrefix(s, "[emerg]") ||
			strings.HasPrefix(s, "[info]") {
			if p.nginx(s) {
				return true
			}
		}
		if _, n := scanTime(s[1:]); n > 0 {
			return p.wrapped(s, layer)
		}
	case isKlog(s):
		if p.klog(s) {
			return true
		}
	case p.logfmt(s):
		if p.line.At.IsZero() {
			p.line.At = outer
		}
		return true
	}
	if outer.Year() < 1000 {
		// Only syslog and time-of-day logs have such times; syslog has a host and a program.
		if p.syslog(s, layer) {
			return true
		}
	}
	return p.header(s)
}

// wrapped reads a record inside another one's line; without a record of its own the text is the message.
func (p *logParser) wrapped(s string, layer int) bool {
	outer := p.line.At
	s = strings.TrimSpace(s)
	if s == "" {
		return false
	}
	if !p.parse(s, layer+1) {
		p.line.Message = s
	}
	if p.line.At.IsZero() || p.line.At.Year() < 1000 && outer.Year() > 1000 {
		// The runtime's clock has a date; the record's own time of day lacks one.
		p.line.At = outer
	}
	return true
}

// syslog reads "host program[pid]: text" behind a syslog time.
func (p *logParser) syslog(s string, layer int) bool {
	host, rest := firstWord(s)
	program, text := host, rest
	if !strings.HasSuffix(program, ":") {
		program, text = firstWord(rest)
	} else {
		host = ""
	}
	if !strings.HasSuffix(program, ":") || levelOf(host) != "" {
		return false
	}
	program = strings.TrimSuffix(program, ":")
	if i := strings.IndexByte(program, '['); i > 0 {
		program = program[:i]
	}
	if program == "" || strings.ContainsAny(program, "()\"'") || levelOf(program) != "" {
		return false
	}
	l := &p.line
	l.Node, l.Logger = host, program
	at := l.At
	switch {
	case program == "kernel":
		l.Origin, l.Message = "kernel", text
		return true
	case strings.Contains(program, "kubelet") || strings.Contains(program, "kubelite"):
		l.Origin = "kubelet"
	case program == "haproxy" || program == "nginx" || program == "envoy":
		l.Origin = "proxy"
	}
	if !p.parse(text, layer+1) {
		l.Message = text
	}
	if l.At.IsZero() {
		l.At = at
	}
	if l.Node == "" {
		l.Node = host
	}
	return true
}

// levelFirst reads lines that begin with a level ("INFO:name:text", "warn: text", ".NET's info: Logger[3]").
func (p *logParser) levelFirst(s string, layer int) bool {
	if strings.HasPrefix(s, "nginx: [") {
		return p.nginx(s[len("nginx: "):])
	}
	if rest, ok := strings.CutPrefix(s, "Started "); ok && isMethodAt(rest) {
		// Rails: Started GET "/api/cart" for 10.0.0.1 at 2026-11-29 14:03:11 +0000
		if i := strings.LastIndex(s, " at "); i > 0 {
			p.line.At, _ = scanTime(s[i+4:])
		}
		p.line.Message = s
		return true
	}
	if isMethodAt(s) {
		// morgan's dev format and bare "GET /livez 200": only a record when it reports a request.
		path, method, end := findRoute(s)
		if r := requestIn(s, method, path, end); path != "" && r != nil {
			p.req = r
			p.line.Message = s
			return true
		}
		return false
	}
	n := 0
	for n < len(s) && n < 12 && (s[n]|0x20 >= 'a' && s[n]|0x20 <= 'z') {
		n++
	}
	level := levelOf(s[:n])
	if level == "" || n == len(s) {
		return exceptionName(s) != "" && p.exception(s)
	}
	rest := s[n:]
	switch rest[0] {
	case ':':
		p.line.Level = level
		text := rest[1:]
		if len(text) > 0 && text[0] != ' ' {
			// Python's basicConfig: "INFO:name:text".
			if name, msg, ok := strings.Cut(text, ":"); ok && !strings.ContainsAny(name, " /") {
				p.line.Logger, p.line.Message = name, msg
				return msg != ""
			}
		}
		text = strings.TrimLeft(text, " ")
		if i := strings.IndexByte(text, '['); i > 0 && strings.HasSuffix(text, "]") && strings.IndexByte(text, ' ') < 0 {
			// .NET's console logger puts the text onto the next, indented line, which is added when it comes.
			p.line.Logger, p.line.Message = text[:i], text
			return true
		}
		// uvicorn: INFO:     10.0.0.1:51000 - "GET /healthz HTTP/1.1" 200 OK
		if p.access(text) {
			return true
		}
		switch word := s[:n]; {
		case strings.ToUpper(word) == word, word == "info", word == "warn", word == "debug", word == "verbose":
		default:
			// "error: it does not work" is prose or a tool's complaint.
			return exceptionName(s) != "" && p.exception(s)
		}
		p.line.Message = text
		return text != ""
	case ' ', '\t':
		// A lower-case level word followed by a blank starts many sentences ("error reading file").
		if s[0] >= 'a' && s[0] <= 'z' && rest[0] == ' ' {
			return false
		}
		p.line.Level = level
		text := strings.TrimLeft(rest, " \t")
		if t, k := scanTime(text); k > 0 {
			p.line.At = t
			return p.afterTime(text[k:], layer)
		}
		if k := strings.IndexByte(text, ']'); k > 0 && text[0] == '[' {
			return p.header(text)
		}
		// "WARN some words" without a header is prose as often as a record: upper case only.
		if strings.ToUpper(s[:n]) != s[:n] {
			return false
		}
		return p.header(text)
	}
	return false
}

// exception reads the first line of an exception that stands alone.
func (p *logParser) exception(s string) bool {
	p.line.Level, p.line.Logger, p.line.Message = "ERROR", "", s
	return true
}
