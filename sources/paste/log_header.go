package paste

import (
	"strings"

	"github.com/probedoctor/probedoctor/sources/evidence"
)

// header reads the part of a line between its time and its message: level, thread, logger, pid and what a pattern layout
// puts between them. It knows no layout by name; it takes tokens as long as they look like header tokens:
//
//	WARN 1 --- [nio-8080-exec-17] c.e.cart.CartCache : text      Spring Boot
//	[http-nio-8080-exec-17] ERROR c.e.X - text                   logback, log4j
//	INFO  [org.acme.X] (executor-thread-1) text                  JBoss, Quarkus
//	- name - INFO - text                                         Python
//	| INFO     | module:func:12 - text                           loguru
//	<tab>warn<tab>logger<tab>file.go:12<tab>text<tab>{"k":"v"}   zap
func (p *logParser) header(s string) bool {
	l := &p.line
	if strings.IndexByte(s, '\t') >= 0 && p.tabbed(s) {
		return true
	}
	dashes, separated := false, false
	for range 12 {
		s = strings.TrimLeft(s, " \t")
		if s == "" {
			break
		}
		switch c := s[0]; c {
		case '-', '|', ':', '*', '>':
			if strings.HasPrefix(s, "---") {
				dashes = true
				s = s[3:]
				continue
			}
			if len(s) > 1 && s[1] == '-' {
				s = s[1:]
			}
			if len(s) > 1 && s[1] != ' ' {
				return p.finish(s)
			}
			s = s[1:]
			separated = true
			if l.Level != "" && l.Logger != "" {
				return p.finish(s)
			}
			continue
		case '[':
			end := strings.IndexByte(s, ']')
			if end < 0 || !p.bracketToken(s[1:end], s[end+1:], dashes) {
				return p.finish(s)
			}
			s = s[end+1:]
			continue
		case '(':
			end := strings.IndexByte(s, ')')
			if end < 0 || l.Level == "" || l.Thread != "" && !allDigits(s[1:end]) {
				return p.finish(s)
			}
			if !allDigits(s[1:end]) {
				l.Thread = s[1:end]
			}
			s = strings.TrimPrefix(s[end+1:], ":")
			continue
		case '{':
			end := strings.IndexByte(s, '}')
			if end < 0 || l.Level == "" || strings.IndexByte(s[:end], '=') < 0 && end != 1 || strings.IndexByte(s[:end], '"') >= 0 {
				return p.finish(s)
			}
			p.context(s[1:end])
			s = s[end+1:]
			continue
		}
		word, rest := firstWord(s)
		if l.Level == "" {
			bare := strings.TrimRight(word, ":|")
			if i := strings.IndexByte(bare, '/'); i > 0 {
				bare = bare[:i]
			}
			if level := levelOf(bare); level != "" && (word == bare || strings.ToUpper(bare) == bare || len(word) == len(bare)+1) {
				l.Level = level
				s = rest
				continue
			}
			if len(word) == 1 && strings.HasPrefix(rest, "| ") {
				// etcd's capnslog: "2020-11-04 00:22:09.450 W | wal: text".
				if level := levelOfLetter(word[0]); level != "" {
					l.Level = level
					return p.finish(rest[2:])
				}
			}
		}
		if allDigits(word) && (strings.HasPrefix(rest, "--") || strings.HasPrefix(rest, "[")) {
			s = rest
			continue
		}
		name, more, ok := loggerToken(word, rest, separated || dashes || l.Thread != "")
		if !ok {
			break
		}
		l.Logger = name
		if l.Level != "" {
			if strings.HasPrefix(more, "[") {
				// logback's MDC stands between the logger and the separator.
				s = more
				continue
			}
			return p.finish(more)
		}
		next, _ := firstWord(strings.TrimLeft(more, " [|"))
		if levelOf(strings.TrimRight(next, "]:|")) == "" {
			return p.finish(more)
		}
		s = more
	}
	return p.finish(s)
}

// finish takes the rest of a line as its message.
func (p *logParser) finish(s string) bool {
	s = strings.TrimSpace(s)
	for _, sep := range []string{": ", "- ", "| "} {
		if rest, ok := strings.CutPrefix(s, sep); ok {
			s = strings.TrimLeft(rest, " ")
			break
		}
	}
	p.line.Message = s
	return s != "" || p.line.Level != ""
}

// bracketToken takes the inside of a bracket in a header; rest is what follows the bracket.
func (p *logParser) bracketToken(in, rest string, dashes bool) bool {
	l := &p.line
	in = strings.TrimSpace(in)
	switch {
	case in == "":
		return true
	case l.Level == "":
		if level := levelOf(in); level != "" {
			l.Level = level
			return true
		}
		if module, word, ok := strings.Cut(in, ":"); ok {
			// Apache: "[mpm_prefork:notice]".
			if level := levelOf(word); level != "" {
				l.Level, l.Logger = level, module
				return true
			}
		}
	}
	switch {
	case strings.HasPrefix(in, "pid "), allDigits(in):
		return true
	case strings.HasPrefix(in, "client "):
		return l.Level != ""
	case in[0] == '/':
		if l.Route == "" {
			l.Route = pathOnly(in)
		}
		return true
	case strings.IndexByte(in, '=') > 0:
		p.context(in)
		return true
	case isTraceID(in):
		return true
	case dashes:
		// Spring Boot 3 puts the application's name into a bracket before the thread's.
		l.Thread = in
		return true
	case l.Level == "":
		if l.Thread == "" {
			l.Thread = in
		}
		return true
	case l.Logger == "" && (strings.Contains(in, "::") || strings.IndexByte(in, '.') > 0 && !strings.ContainsAny(in, " /")):
		l.Logger = in
		return true
	case l.Thread == "" && (strings.Contains(in, "thread") || strings.Contains(in, "exec-") || strings.Contains(in, "pool") ||
		in == "main" || headerGoesOn(rest)):
		l.Thread = in
		return true
	}
	return false
}

// headerGoesOn tells whether a logger and a separator, or a separator alone, follow.
func headerGoesOn(s string) bool {
	s = strings.TrimLeft(s, " ")
	if strings.HasPrefix(s, "- ") || strings.HasPrefix(s, ": ") || strings.HasPrefix(s, "[") {
		return true
	}
	word, rest := firstWord(s)
	_, _, ok := loggerToken(word, rest, true)
	return ok
}

// context reads the request path out of "path=/api/cart, id=7", as logback's MDC is printed.
func (p *logParser) context(s string) {
	if p.line.Route != "" {
		return
	}
	for len(s) > 0 {
		var pair string
		pair, s, _ = strings.Cut(s, ",")
		key, value, ok := strings.Cut(pair, "=")
		value = strings.Trim(strings.TrimSpace(value), `"'`)
		if ok && isRouteKey(strings.TrimSpace(key)) && strings.HasPrefix(value, "/") {
			p.line.Route = pathOnly(value)
			return
		}
	}
}

// loggerToken tells whether word is a logger's name in front of a separator, and gives what follows the separator. With
// plain true a word without dots will do, since the layout is known to have a logger there.
func loggerToken(word, rest string, plain bool) (name, more string, ok bool) {
	if word == "" || word[0] == '/' || !isWordByte(word[0]) && word[0] != '@' {
		return "", "", false
	}
	name = word
	colon := false
	if n := strings.TrimSuffix(name, ":"); n != name {
		name, colon = n, true
	}
	if i := strings.LastIndexByte(name, ':'); i > 0 && allDigits(name[i+1:]) {
		// A line number behind the class; Go's "main.go:12:" keeps it, it is all there is.
		if !strings.HasSuffix(name[:i], ".go") {
			name = name[:i]
		}
	}
	for i := range len(name) {
		if c := name[i]; !isWordByte(c) && !strings.ContainsRune(".$-_:/@", rune(c)) || c >= 0x80 {
			return "", "", false
		}
	}
	if strings.Contains(name, "//") {
		return "", "", false
	}
	dotted := strings.Contains(name, "::") || strings.IndexByte(name, '$') > 0 || dottedName(name)
	if colon {
		return name, rest, dotted && strings.IndexByte(name, '/') < 0
	}
	if !plain && !dotted && !camelCase(name) {
		return "", "", false
	}
	switch {
	case strings.HasPrefix(rest, "- "), strings.HasPrefix(rest, ": "), strings.HasPrefix(rest, "| "):
		return name, rest[2:], true
	case rest == "-" || rest == ":":
		return name, "", true
	case strings.HasPrefix(rest, "[") && (dotted || plain):
		// "c.e.X [path=/api/cart] - text"
		end := strings.IndexByte(rest, ']')
		if end > 0 {
			after := strings.TrimLeft(rest[end+1:], " ")
			if strings.HasPrefix(after, "- ") || strings.HasPrefix(after, ": ") {
				return name, rest, true
			}
		}
	}
	return "", "", false
}

// dottedName tells whether s is at least two words joined by dots, none empty, the first one starting with a letter.
func dottedName(s string) bool {
	if len(s) == 0 || isDigit(s[0]) {
		return false
	}
	dots, last := 0, byte('.')
	for i := range len(s) {
		if s[i] == '.' {
			if last == '.' {
				return false
			}
			dots++
		}
		last = s[i]
	}
	return dots > 0 && last != '.'
}

func camelCase(s string) bool {
	if len(s) < 4 || s[0] < 'A' || s[0] > 'Z' {
		return false
	}
	lower, humps := false, 0
	for i := 1; i < len(s); i++ {
		switch {
		case s[i] >= 'a' && s[i] <= 'z':
			lower = true
		case s[i] >= 'A' && s[i] <= 'Z':
			humps++
		}
	}
	return lower && humps > 0
}

// tabbed reads zap's console format and istio's, whose columns are parted by tabs.
func (p *logParser) tabbed(s string) bool {
	cols := strings.Split(strings.TrimLeft(s, "\t"), "\t")
	level := levelOf(strings.TrimSpace(cols[0]))
	if level == "" || len(cols) < 2 {
		return false
	}
	l := &p.line
	l.Level = level
	cols = cols[1:]
	isCaller := func(c string) bool {
		i := strings.LastIndexByte(c, ':')
		return i > 0 && allDigits(c[i+1:]) && strings.IndexByte(c, '.') > 0
	}
	if len(cols) > 1 && !isCaller(cols[0]) && cols[0] != "" && len(cols[0]) < 60 && cols[1] != "" && cols[1][0] != '{' {
		l.Logger = cols[0]
		if i := strings.IndexByte(l.Logger, ' '); i > 0 && strings.Contains(l.Logger[i:], ".cc:") {
			// Envoy through istio: "envoy config external/envoy/…/grpc_stream.h:152".
			l.Logger = l.Logger[:strings.LastIndexByte(l.Logger, ' ')]
		}
		if strings.HasPrefix(l.Logger, "envoy") {
			l.Origin = "proxy"
		}
		cols = cols[1:]
	}
	if len(cols) > 1 && isCaller(cols[0]) {
		cols = cols[1:]
	}
	l.Message = strings.Join(cols, " ")
	if n := len(cols); n > 1 && strings.HasPrefix(cols[n-1], "{") {
		// zap's fields may hold the request and the error.
		r := jsonRecord(cols[n-1])
		if l.Route == "" {
			l.Route = r.path
		}
		p.req = r.request()
	}
	return true
}

// maxTrace is how many lines of a stack trace are kept with the record they follow.
const maxTrace = 3

// continuesRecord tells whether s is a further line of the record before it: a stack trace, or indented text.
func continuesRecord(s string) bool {
	if s == "" {
		return false
	}
	if s[0] == ' ' || s[0] == '\t' {
		t := strings.TrimLeft(s, " \t")
		if t == "" {
			return false
		}
		_, n := scanTime(t)
		return n == 0
	}
	switch {
	case strings.HasPrefix(s, "Caused by: "), strings.HasPrefix(s, "Traceback (most recent call last)"),
		strings.HasPrefix(s, "Suppressed: "), strings.HasPrefix(s, "goroutine "), strings.HasPrefix(s, "During handling of the above"),
		strings.HasPrefix(s, "The above exception was the direct"):
		return true
	}
	return exceptionName(s) != ""
}

// exceptionName gives the qualified name of an exception that s starts with, empty when there is none.
func exceptionName(s string) string {
	n := 0
	for n < len(s) && (isWordByte(s[n]) || s[n] == '.' || s[n] == '$') {
		n++
	}
	name := s[:n]
	if n < len(s) && s[n] != ':' || len(name) < 6 {
		return ""
	}
	if strings.HasSuffix(name, "Exception") || strings.HasSuffix(name, "Error") && (n < len(s) || strings.IndexByte(name, '.') > 0) ||
		strings.HasSuffix(name, "Throwable") {
		return name
	}
	return ""
}

// continueRecord adds s, a further line of the record, to l. traced is how many such lines l has already; the new number
// is returned. Lines beyond the first few are dropped: the message is to be read by a person.
func continueRecord(l *evidence.LogLine, s string, traced int) int {
	s = strings.TrimSpace(s)
	if s == "" || traced >= maxTrace || len(l.Message) >= maxMessage {
		return traced
	}
	if l.Message != "" {
		s = l.Message + "\n" + s
	}
	l.Message = capText(s)
	if l.Route == "" {
		l.Route, _, _ = findRoute(l.Message)
	}
	return traced + 1
}

func allDigits(s string) bool {
	for i := range len(s) {
		if !isDigit(s[i]) {
			return false
		}
	}
	return s != ""
}

// isTraceID tells whether s is made of hexadecimal ids, as tracing puts them into a header.
func isTraceID(s string) bool {
	hex := 0
	for i := range len(s) {
		c := s[i]
		switch {
		case isDigit(c) || c >= 'a' && c <= 'f':
			hex++
		case c == '-' || c == ',' || c == ' ':
		default:
			return false
		}
	}
	return hex >= 16
}

func levelOfLetter(c byte) string {
	switch c {
	case 'T':
		return "TRACE"
	case 'D':
		return "DEBUG"
	case 'I', 'N':
		return "INFO"
	case 'W':
		return "WARN"
	case 'E':
		return "ERROR"
	case 'F', 'C':
		return "FATAL"
	}
	return ""
}
