package paste

import (
	"strings"
	"time"

	"github.com/probedoctor/probedoctor/sources/evidence"
)

// isKlog tells whether s starts like "I1103 18:22:04".
func isKlog(s string) bool {
	if len(s) < 20 || s[5] != ' ' || s[8] != ':' {
		return false
	}
	switch s[0] {
	case 'I', 'W', 'E', 'F':
		return isDigit(s[1]) && isDigit(s[2]) && isDigit(s[3]) && isDigit(s[4])
	}
	return false
}

// klog reads "I1103 18:22:04.110028    1717 prober.go:111] text": level, month and day, time, thread id, file and line.
func (p *logParser) klog(s string) bool {
	if !isKlog(s) {
		return false
	}
	month, _ := digits(s, 1, 2)
	day, _ := digits(s, 3, 2)
	hms, n := scanClock(s[6:])
	i := strings.Index(s, "] ")
	if n == 0 || i < 0 || month < 1 || month > 12 || day < 1 || day > 31 {
		return false
	}
	l := &p.line
	l.Level = levelOfLetter(s[0])
	l.At = evidence.Yearless(time.Month(month), day, hms.hour, hms.min, hms.sec, hms.nsec, time.UTC)
	caller := s[6+n : i]
	if k := strings.LastIndexByte(caller, ' '); k >= 0 {
		caller = caller[k+1:]
	}
	file, _, _ := strings.Cut(caller, ":")
	l.Logger = strings.TrimSuffix(file, ".go")
	l.Message = s[i+2:]
	switch file {
	case "prober.go", "kubelet.go", "kuberuntime_manager.go", "kuberuntime_container.go", "remote_runtime.go", "pod_workers.go":
		l.Origin = "kubelet"
	}
	if l.Message == "" || l.Message[0] != '"' {
		return true
	}
	if end := endOfQuoted(l.Message); end > 0 {
		l.Message = unescape(l.Message[1:end-1]) + l.Message[end:]
	}
	return true
}

// ruby reads Logger's "I, [2022-12-01T10:00:00.000000 #7:1f0]  INFO -- progname: text".
func (p *logParser) ruby(s string) bool {
	if len(s) < 24 || s[1] != ',' || s[2] != ' ' || s[3] != '[' {
		return false
	}
	t, n := scanTime(s[4:])
	end := strings.IndexByte(s, ']')
	if n == 0 || end < 0 {
		return false
	}
	l := &p.line
	l.At, l.Level = t, levelOfLetter(s[0])
	_, rest := firstWord(strings.TrimLeft(s[end+1:], " "))
	rest = strings.TrimPrefix(rest, "-- ")
	if name, msg, ok := strings.Cut(rest, ": "); ok && strings.IndexByte(name, ' ') < 0 {
		l.Logger, rest = name, msg
	}
	l.Message = strings.TrimPrefix(rest, ": ")
	return true
}

// redis reads "1:M 01 Dec 2022 10:00:00.000 # text"; the sign is the level.
func (p *logParser) redis(s string) bool {
	i := strings.IndexByte(s, ':')
	if i < 1 || i+3 >= len(s) || s[i+2] != ' ' || !allDigits(s[:i]) || s[i+1] < 'A' || s[i+1] > 'Z' {
		return false
	}
	t, n := scanTime(s[i+3:])
	if n == 0 {
		return false
	}
	rest := strings.TrimLeft(s[i+3+n:], " ")
	l := &p.line
	l.At = t
	if len(rest) > 2 && rest[1] == ' ' {
		switch rest[0] {
		case '.', '-':
			l.Level = "DEBUG"
		case '*':
			l.Level = "INFO"
		case '#':
			l.Level = "WARN"
		}
		if l.Level != "" {
			rest = rest[2:]
		}
	}
	l.Logger, l.Message = "redis", rest
	return rest != ""
}

// nginx reads an error log's "[error] 31#31: *77 text, client: …, request: "GET /x HTTP/1.1", …".
func (p *logParser) nginx(s string) bool {
	end := strings.IndexByte(s, ']')
	if end < 2 || s[0] != '[' {
		return false
	}
	level := levelOf(s[1:end])
	rest := strings.TrimLeft(s[end+1:], " ")
	pid, msg := firstWord(rest)
	if level == "" || strings.IndexByte(pid, '#') < 1 {
		return false
	}
	l := &p.line
	l.Level, l.Logger, l.Origin = level, "nginx", "proxy"
	if strings.HasPrefix(msg, "*") {
		_, msg = firstWord(msg)
	}
	l.Message = msg
	if i := strings.Index(msg, `request: "`); i >= 0 {
		l.Route, _, _ = findRoute(msg[i:])
	}
	return msg != ""
}

// envoy reads what follows the time in "[time][23][warning][config] [source.cc:91] text".
func (p *logParser) envoy(s string) bool {
	if !strings.HasPrefix(s, "[") || strings.IndexByte(s, ']') < 0 {
		return false
	}
	thread, rest, _ := strings.Cut(s[1:], "]")
	if !allDigits(thread) || !strings.HasPrefix(rest, "[") {
		return false
	}
	word, rest, _ := strings.Cut(rest[1:], "]")
	level := levelOf(word)
	if level == "" {
		return false
	}
	l := &p.line
	l.Thread, l.Level, l.Origin = thread, level, "proxy"
	if strings.HasPrefix(rest, "[") {
		l.Logger, rest, _ = strings.Cut(rest[1:], "]")
	}
	rest = strings.TrimLeft(rest, " ")
	if strings.HasPrefix(rest, "[") {
		if source, text, ok := strings.Cut(rest[1:], "]"); ok && strings.IndexByte(source, ':') > 0 {
			rest = text
		}
	}
	l.Message = strings.TrimSpace(rest)
	return true
}

// nest reads what follows NestJS's "[Nest]": "7  - 11/29/2026, 2:03:11 PM     LOG [Bootstrap] text +3ms".
func (p *logParser) nest(s string) bool {
	_, s = firstWord(s)
	s = strings.TrimLeft(strings.TrimPrefix(s, "-"), " ")
	t, n := scanTime(s)
	if n == 0 {
		return false
	}
	l := &p.line
	l.At = t
	word, rest := firstWord(strings.TrimLeft(s[n:], " "))
	l.Level = levelOf(word)
	if l.Level == "" {
		return false
	}
	if strings.HasPrefix(rest, "[") {
		if name, text, ok := strings.Cut(rest[1:], "]"); ok {
			l.Logger, rest = name, text
		}
	}
	l.Message = strings.TrimSpace(rest)
	return true
}

// gin reads what follows "[GIN]": "2026/11/29 - 14:03:11 | 200 |     1.2ms |  10.0.0.1 | GET      "/livez"".
func (p *logParser) gin(s string) bool {
	cols := strings.Split(s, "|")
	if len(cols) < 5 {
		return false
	}
	t, n := scanTime(strings.Replace(strings.TrimSpace(cols[0]), " - ", " ", 1))
	status := statusAt(strings.TrimSpace(cols[1]))
	method, target := firstWord(strings.TrimSpace(cols[4]))
	path := pathOnly(strings.Trim(target, `"`))
	if n == 0 || status == 0 || path == "" || !isMethod(method) {
		return false
	}
	r := evidence.Request{At: t, Method: method, Path: path, Status: status, Client: strings.TrimSpace(cols[3])}
	if d, ok := durationText(cols[2]); ok {
		r.Duration = &d
	}
	p.req = &r
	return true
}
