package paste

import (
	"strconv"
	"strings"
	"time"

	"github.com/probedoctor/probedoctor/sources/evidence"
)

// record gathers the fields of a structured log line, whatever its writer calls them.
type record struct {
	line            evidence.LogLine
	name            string // "name": a logger for some writers, an object for others
	nested          string // the message of a record inside the record
	err, stack      string
	inner           string // docker's "log": a whole line of its own
	numericLevel    bool
	method, path    string
	host, client    string
	userAgent       string
	status          int
	duration        *time.Duration
	bare            string // a duration without a unit
	milliseconds    bool   // a field proves that the writer counts in milliseconds
	instantSec      string
	instantNano     string
	known           int // fields that only a log has
	upstreamAddress string
}

// put takes one field. parent is the name of the object that holds it, empty at the top.
func (r *record) put(parent, key, value string) {
	if value == "" {
		return
	}
	var buf [48]byte
	n := 0
	for i := 0; i < len(key) && n < len(buf); i++ {
		c := key[i]
		switch {
		case c >= 'A' && c <= 'Z':
			c |= 0x20
		case c == '_' || c == '-' || c == '.' || c == '@' || c == ' ':
			continue
		}
		buf[n] = c
		n++
	}
	name := buf[:n]
	l := &r.line
	if parent != "" && r.putNested(parent, string(name), value) {
		return
	}
	switch string(name) {
	case "time", "ts", "timestamp", "t", "asctime", "datetime", "eventtime", "starttime", "timelocal", "timeiso8601",
		"timemillis", "msec", "date":
		if l.At.IsZero() {
			if t, ok := wholeTime(value); ok {
				l.At = t
				r.known++
			}
		}
	case "level", "lvl", "l", "severity", "loglevel", "levelname", "severitytext", "sev":
		if l.Level == "" {
			if l.Level = levelOf(value); l.Level == "" {
				if l.Level = pinoLevel(value); l.Level != "" {
					r.numericLevel = true
				} else if len(value) == 1 {
					l.Level = levelOfLetter(value[0] &^ 0x20)
				}
			}
			if l.Level != "" {
				r.known++
			}
		}
	case "logger", "loggername", "n", "loglogger", "category", "sourcecontext", "c":
		if l.Logger == "" && parent == "" {
			l.Logger = value
		}
	case "name":
		if r.name == "" && parent == "" {
			r.name = value
		}
	case "thread", "threadname", "processthreadname":
		if l.Thread == "" {
			l.Thread = value
		}
	case "msg", "message", "m", "shortmessage", "renderedmessage", "textpayload", "event", "mt", "messagetemplate":
		if parent != "" {
			break
		}
		if l.Message == "" {
			l.Message = value
			r.known++
		}
	case "body", "text":
		if l.Message == "" && parent == "" {
			l.Message = value
		}
	case "log":
		if parent == "" && r.inner == "" {
			r.inner = value
		}
	case "error", "err", "errormessage", "exceptionmessage", "exceptionclass":
		if r.err == "" {
			r.err = value
		}
	case "exception", "stacktrace", "stack", "errorstacktrace", "exceptionstacktrace", "errorstack", "x", "errorverbose":
		if r.stack == "" {
			r.stack = value
		}
	case "path", "uri", "url", "route", "requesturi", "requestpath", "urlpath", "httptarget", "httproute", "httppath", "requesturl",
		"httpurl", "originalurl", "httprequesturi", "requestedpath":
		r.putPath(value)
	case "request", "httprequest", "req", "requestline":
		// nginx's "request": "GET /api/cart HTTP/1.1".
		if isMethodAt(value) {
			method, rest := firstWord(value)
			if r.method == "" {
				r.method = method
			}
			target, _ := firstWord(rest)
			r.putPath(target)
		}
	case "method", "httpmethod", "requestmethod", "verb", "httprequestmethod":
		if m := strings.ToUpper(value); r.method == "" && isMethod(m) {
			r.method = m
		}
	case "status", "statuscode", "httpstatus", "httpstatuscode", "responsecode", "responsestatus", "httpresponsestatuscode",
		"responsestatuscode", "elbstatuscode":
		if n := statusAt(value); r.status == 0 && (len(value) == 3 || len(value) > 3 && value[3] == ' ') {
			r.status = n
		}
	case "useragent", "httpuseragent", "ua", "requestuseragent", "useragentoriginal", "headersuseragent":
		if r.userAgent == "" {
			r.userAgent = value
		}
	case "remoteaddr", "remoteip", "client", "clientip", "remote", "remoteaddress", "clientaddr", "downstreamremoteaddress", "remotehost",
		"clientaddress", "peer":
		if r.client == "" {
			r.client = value
		}
	case "authority", "httphost", "requesthost":
		if r.host == "" {
			r.host = value
		}
	case "upstreamhost":
		r.upstreamAddress = value
	case "responseflags", "upstreamcluster", "controller", "elapsedmilliseconds", "timetakenms":
		// Envoy's and Rails' durations, and .NET's, are in milliseconds.
		r.milliseconds = string(name) != "controller" || parent == ""
		if strings.HasPrefix(string(name), "elapsed") || strings.HasPrefix(string(name), "time") {
			r.putDuration(value, time.Millisecond)
		}
	case "responsetime":
		r.putDuration(value, time.Millisecond)
	case "requesttime":
		// nginx's $request_time: seconds with three decimals.
		if strings.IndexByte(value, '.') > 0 {
			r.putDuration(value, time.Second)
		} else if r.bare == "" {
			r.bare = value
		}
	case "duration", "latency", "elapsed", "took", "latencyhuman", "elapsedtime", "timetaken", "responseduration", "requestduration",
		"processingtime", "dur", "httpduration":
		r.putDuration(value, 0)
	default:
		if base, unit := durationKey(string(name)); base {
			r.putDuration(value, unit)
		}
	}
}

// putNested takes fields whose meaning depends on the object that they are in. It says whether the field is done with.
func (r *record) putNested(parent, name, value string) bool {
	switch parent {
	case "err", "error", "exception", "cause":
		switch name {
		case "message", "msg", "type", "class", "exceptionclass", "exceptionmessage":
			if r.err == "" || name != "type" && name != "class" {
				r.err = value
			}
		case "stack", "stacktrace", "extendedstacktrace":
			if r.stack == "" {
				r.stack = value
			}
		}
		return true
	case "record", "jsonPayload", "fields", "log", "event", "data":
		switch name {
		case "message", "msg":
			if r.nested == "" {
				r.nested = value
			}
			return true
		case "name", "time", "logtime", "status":
			return true
		}
	case "instant":
		// log4j2's JsonLayout: {"instant":{"epochSecond":…,"nanoOfSecond":…}}.
		switch name {
		case "epochsecond":
			r.instantSec = value
		case "nanoofsecond":
			r.instantNano = value
		}
		return true
	case "kubernetes", "labels", "k8s":
		o := &r.line.Object
		switch name {
		case "podname", "pod":
			o.Kind, o.Name = "Pod", value
		case "namespacename", "namespace":
			o.Namespace = value
		case "podid", "poduid":
			o.UID = value
		case "containername", "container":
			r.line.Container = value
		case "host":
			r.line.Node = value
		}
		return true
	case "request", "httpRequest", "http_request", "req", "http", "headers":
		if name == "host" && r.host == "" {
			r.host = value
			return true
		}
	}
	return false
}

func (r *record) putPath(value string) {
	if r.path != "" {
		return
	}
	if i := strings.Index(value, "://"); i > 0 && i < 6 {
		value = value[i+3:]
		j := strings.IndexByte(value, '/')
		if j < 0 {
			return
		}
		if r.host == "" {
			r.host = value[:j]
		}
		value = value[j:]
	}
	r.path = pathOnly(value)
}

// putDuration takes a duration; without a unit of its own or in the key's name it is only remembered.
func (r *record) putDuration(value string, unit time.Duration) {
	if r.duration != nil {
		return
	}
	if d, ok := durationText(value); ok {
		r.duration = &d
		return
	}
	if unit == 0 {
		if r.bare == "" {
			r.bare = value
		}
		return
	}
	if d, ok := scaled(value, unit); ok {
		r.duration = &d
	}
}

// durationKey tells whether a field's name is that of a duration with its unit: "duration_ms", "latencyMicros".
func durationKey(name string) (bool, time.Duration) {
	var base string
	for _, b := range []string{"duration", "latency", "elapsed", "took", "responsetime", "requesttime", "timetaken", "processingtime"} {
		if strings.HasPrefix(name, b) {
			base = b
			break
		}
	}
	if base == "" {
		return false, 0
	}
	switch name[len(base):] {
	case "ms", "millis", "milliseconds", "msec", "inms", "inmillis":
		return true, time.Millisecond
	case "us", "micros", "microseconds":
		return true, time.Microsecond
	case "ns", "nanos", "nanoseconds":
		return true, time.Nanosecond
	case "s", "sec", "secs", "seconds":
		return true, time.Second
	}
	return false, 0
}

// pinoLevel is the numeric level of pino and bunyan.
func pinoLevel(s string) string {
	switch s {
	case "10":
		return "TRACE"
	case "20":
		return "DEBUG"
	case "30":
		return "INFO"
	case "40":
		return "WARN"
	case "50":
		return "ERROR"
	case "60":
		return "FATAL"
	}
	return ""
}

// into writes what was gathered into p and says whether the fields make a log record.
func (r *record) into(p *logParser, layer int) bool {
	l := &r.line
	if r.instantSec != "" && l.At.IsZero() {
		sec, err1 := strconv.ParseInt(r.instantSec, 10, 64)
		nano, err2 := strconv.ParseInt("0"+r.instantNano, 10, 64)
		if err1 == nil && err2 == nil && sec > 0 && sec < 1e11 {
			l.At = time.Unix(sec, nano).UTC()
		}
	}
	if r.inner != "" && l.Message == "" {
		outer := p.line
		p.line = evidence.LogLine{Object: l.Object, Container: l.Container, Node: l.Node}
		text := cleanLog(r.inner)
		if !p.parse(text, layer+1) {
			p.line = outer
			p.line.Object, p.line.Container, p.line.Node, p.line.Level, p.line.Message = l.Object, l.Container, l.Node, l.Level, text
		}
		if p.line.At.IsZero() || p.line.At.Year() < 1000 && l.At.Year() > 1000 {
			p.line.At = l.At
		}
		return true
	}
	if l.Logger == "" && r.numericLevel {
		// pino and bunyan call the logger "name".
		l.Logger = r.name
	}
	if r.nested != "" && (l.Message == "" || l.Message == "record") {
		l.Message = r.nested
	}
	if l.Message == "" && r.err == "" && r.path == "" && r.known < 2 {
		return false
	}
	if r.known == 0 && (r.status == 0 || r.path == "") {
		return false
	}
	l.Route = r.path
	p.req = r.request()
	if r.err != "" && !strings.Contains(l.Message, r.err) {
		if l.Message != "" {
			l.Message += ": "
		}
		l.Message += r.err
	}
	if r.stack != "" {
		traced := 0
		for line := range strings.Lines(r.stack) {
			if strings.Contains(l.Message, strings.TrimSpace(line)) {
				continue
			}
			if traced = continueRecord(l, line, traced); traced == maxTrace {
				break
			}
		}
	}
	// What the outer layers know stays where this record is silent.
	outer := p.line
	p.line = *l
	if p.line.At.IsZero() {
		p.line.At = outer.At
	}
	if p.line.Origin == "" {
		p.line.Origin = outer.Origin
	}
	if p.line.Node == "" {
		p.line.Node = outer.Node
	}
	if p.line.Object.Name == "" {
		p.line.Object = outer.Object
	}
	if p.line.Container == "" {
		p.line.Container = outer.Container
	}
	if p.line.Logger == "" {
		p.line.Logger = outer.Logger
	}
	return true
}

// request gives the request that the fields report, nil when they report none.
func (r *record) request() *evidence.Request {
	if r.duration == nil && r.bare != "" && r.milliseconds {
		if d, ok := scaled(r.bare, time.Millisecond); ok {
			r.duration = &d
		}
	}
	if r.path == "" || r.status == 0 && r.duration == nil {
		return nil
	}
	by := "server"
	if r.upstreamAddress != "" {
		by = "balancer"
	}
	host, port := splitHost(r.host)
	return &evidence.Request{
		At: r.line.At, Method: r.method, Host: host, Port: port, Path: r.path, Status: r.status, Duration: r.duration,
		UserAgent: r.userAgent, Client: peerAddress(r.client), By: by,
	}
}

// splitHost parts "host:port"; an IPv6 address keeps no brackets.
func splitHost(s string) (host, port string) {
	i := strings.LastIndexByte(s, ':')
	if i < 0 || !allDigits(s[i+1:]) || strings.IndexByte(s[:i], ':') >= 0 && !strings.HasSuffix(s[:i], "]") {
		return strings.Trim(s, "[]"), ""
	}
	return strings.Trim(s[:i], "[]"), s[i+1:]
}

// peerAddress takes the ephemeral port off a peer's address: it names a connection, not a client.
func peerAddress(s string) string {
	host, _ := splitHost(s)
	return strings.TrimPrefix(host, "::ffff:")
}
