package paste

import (
	"slices"
	"strings"
	"time"

	"github.com/probedoctor/probedoctor/sources/evidence"
)

// The unit of an access log's duration is decided so:
//
//   - a unit in the log wins ("12ms", "took:1.204s", "rt=" of nginx, which is seconds);
//   - a decimal number is seconds (nginx $request_time, %T of newer servers);
//   - the first number behind the status is the size, never a duration;
//   - a lone integer behind the size is milliseconds, as Tomcat's %D before 10.1. Tomcat since 10.1 and Apache print
//     microseconds there; settleDurations corrects that for a whole log, where its smallest value tells.
//
// Anything else leaves the duration unknown.

// maxBare is the largest lone integer, in milliseconds, that is taken for a duration.
const maxBare = 10 * time.Minute

// access reads a line of an access log: those of Apache, nginx, Tomcat, uvicorn, gunicorn, ingress-nginx, Traefik, Envoy,
// HAProxy and the AWS application load balancer. All have the request line in quotes.
func (p *logParser) access(s string) bool {
	q := requestQuote(s)
	if q < 0 {
		return false
	}
	end := q + endOfQuoted(s[q:])
	if end == q {
		return false
	}
	prefix, request, rest := s[:q], s[q+1:end-1], s[end:]
	switch {
	case isALB(prefix):
		return p.alb(prefix, request, rest)
	case strings.Count(prefix, "/") >= 8:
		if p.haproxyHTTP(prefix, request) {
			return true
		}
	}
	status, after := cutStatus(rest)
	if status < 0 {
		return false
	}
	var r evidence.Request
	if !accessPrefix(&r, prefix) {
		return false
	}
	r.Status = status
	requestLine(&r, request)
	if r.Path == "" && !strings.HasPrefix(request, `\x`) && request != "-" && request != "" {
		return false
	}
	if prefix != "" && prefix[0] == '[' && isEnvoyTail(after) {
		envoyTail(&r, after)
	} else {
		p.accessTail(&r, after)
	}
	if strings.HasPrefix(request, `\x16\x03`) {
		// A TLS hello on a port that speaks plain HTTP: no request of the application, but a record worth keeping.
		p.line.Message = strings.TrimSpace(s[q:])
	}
	p.req = &r
	return true
}

// requestQuote gives the index of the quote that opens a request line, -1 when there is none.
func requestQuote(s string) int {
	from := 0
	for range 6 {
		i := strings.IndexByte(s[from:], '"')
		if i < 0 {
			return -1
		}
		i += from
		rest := s[i+1:]
		if isMethodAt(rest) || strings.HasPrefix(rest, `\x`) || strings.HasPrefix(rest, `-" `) || strings.HasPrefix(rest, `- http`) {
			return i
		}
		from = i + 1
	}
	return -1
}

// cutStatus reads the status behind the request line; -1 says that there is none.
func cutStatus(s string) (int, string) {
	s = strings.TrimLeft(s, " ")
	word, rest := firstWord(s)
	word = strings.TrimRight(word, ",")
	if word == "-" || word == "000" || word == "0" {
		return 0, rest
	}
	if n, ok := digits(word, 0, 3); ok && len(word) == 3 && n >= 100 && n <= 599 {
		return n, rest
	}
	return -1, ""
}

// accessPrefix reads what stands before the request line: the peer, the time in brackets or in front. It refuses
// prefixes that have other words, which are those of an application's record with a request in its text.
func accessPrefix(r *evidence.Request, s string) bool {
	s = strings.TrimSpace(s)
	if s == "" {
		return true
	}
	if t, n := scanTime(s); n > 0 {
		r.At = t
		s = strings.TrimLeft(s[n:], " -")
	}
	if i := strings.IndexByte(s, '['); i >= 0 && !strings.HasPrefix(s[i:], "[::") {
		t, n := scanTime(s[i+1:])
		if n == 0 {
			return false
		}
		r.At = t
		end := strings.IndexByte(s[i:], ']')
		if end < 0 {
			return false
		}
		tail := strings.Trim(s[i+end+1:], " -|")
		if strings.IndexByte(tail, ' ') >= 0 {
			return false
		}
		s = s[:i]
	}
	words := strings.Fields(s)
	if len(words) > 5 {
		return false
	}
	for i, w := range words {
		if w == "-" || w == "|" {
			continue
		}
		addr := isAddress(w)
		if i > 0 && r.At.IsZero() && !addr {
			return false
		}
		if addr && (r.Client == "" || !isAddress(r.Client)) {
			r.Client = peerAddress(strings.TrimRight(w, ","))
		} else if r.Client == "" {
			if r.At.IsZero() || levelOf(strings.Trim(w, "[]:")) != "" {
				return false
			}
			r.Client = w
		}
	}
	return true
}

// isAddress tells whether s is an IP address with or without a port; masked digits (x, *) count.
func isAddress(s string) bool {
	if len(s) < 3 {
		return false
	}
	dots, colons := 0, 0
	for i := range len(s) {
		switch c := s[i]; {
		case c == '.':
			dots++
		case c == ':':
			colons++
		case isDigit(c) || c == '[' || c == ']' || c == 'x' || c == 'X' || c == '*' || c == ',' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F':
		default:
			return false
		}
	}
	return dots == 3 || colons >= 2
}

// requestLine reads "GET /path?query HTTP/1.1".
func requestLine(r *evidence.Request, s string) {
	method, rest := firstWord(s)
	if !isMethod(method) {
		return
	}
	r.Method = method
	target, _ := firstWord(rest)
	if i := strings.Index(target, "://"); i > 0 && i < 6 {
		host := target[i+3:]
		j := strings.IndexByte(host, '/')
		if j < 0 {
			host, j = host+"/", len(host)
		}
		r.Host, r.Port = splitHost(host[:j])
		target = host[j:]
	}
	if r.Path = pathOnly(target); r.Path == "" && target == "*" {
		r.Path = target
	}
}

// accessTail reads what follows the status: size, referrer and user agent in quotes, and durations in many guises.
func (p *logParser) accessTail(r *evidence.Request, s string) {
	var quoted []string
	bare := ""
	first, sized := true, false
	var decimal, explicit *time.Duration
	for s = strings.TrimLeft(s, " "); s != ""; s = strings.TrimLeft(s, " ") {
		if s[0] == '"' {
			end := endOfQuoted(s)
			if end == 0 {
				quoted = append(quoted, s[1:])
				break
			}
			quoted = append(quoted, s[1:end-1])
			s = s[end:]
			first = false
			continue
		}
		if s[0] == '[' {
			// ingress-nginx: [namespace-service-port] [] address …
			if end := strings.IndexByte(s, ']'); end > 1 && strings.IndexByte(s[:end], '-') > 0 {
				r.By = "balancer"
			}
		}
		word, rest := firstWord(s)
		s = rest
		if first {
			first = false
			if word == "-" || allDigits(word) {
				if unit, n := unitAt(rest); n == 0 {
					sized = true
					continue
				} else if d, ok := scaled(word, unit); ok {
					explicit = &d
				}
				continue
			}
		}
		key, value := "", strings.Trim(word, `()[],"`)
		if i := strings.IndexAny(value, "=:"); i > 0 && i < len(value)-1 && !isDigit(value[0]) {
			key, value = value[:i], strings.Trim(value[i+1:], `"`)
		}
		switch key {
		case "":
		case "rt", "request_time", "duration", "took", "time", "elapsed", "latency", "D", "T":
		case "uaddr", "upstream", "upstream_addr":
			if value != "-" {
				r.By = "balancer"
			}
			continue
		case "ua", "agent", "user_agent":
			quoted = append(quoted, "", value)
			continue
		default:
			continue
		}
		if value == "" || !isDigit(value[0]) {
			continue
		}
		if d, ok := durationText(value); ok {
			if explicit == nil {
				explicit = &d
			}
			continue
		}
		switch {
		case strings.Count(value, ".") == 1 && allDigits(strings.Replace(value, ".", "", 1)):
			unit := time.Second
			if u, n := unitAt(rest); n > 0 {
				unit = u
			}
			if d, ok := scaled(value, unit); ok && decimal == nil {
				decimal = &d
			}
		case allDigits(value):
			if unit, n := unitAt(rest); n > 0 {
				if d, ok := scaled(value, unit); ok && explicit == nil {
					explicit = &d
				}
			} else if bare == "" && sized && r.By == "" {
				bare = value
			}
		}
	}
	if len(quoted) >= 2 {
		r.UserAgent = quoted[1]
	} else if len(quoted) == 1 && strings.IndexByte(quoted[0], '/') > 0 && !strings.HasPrefix(quoted[0], "http") {
		r.UserAgent = quoted[0]
	}
	if r.UserAgent == "-" {
		r.UserAgent = ""
	}
	switch {
	case explicit != nil:
		r.Duration = explicit
	case decimal != nil:
		r.Duration = decimal
	case bare != "":
		if d, ok := scaled(bare, time.Millisecond); ok && d <= maxBare {
			r.Duration, p.bareNumber = &d, true
		}
	}
}

// settleDurations corrects the durations of one access log whose unit was a guess. No server takes under 20 microseconds
// for a request and none needs over 20 milliseconds for each of many, so in a log of some length the smallest number
// tells: below 20 they are milliseconds; in a log where none is, they are microseconds.
func settleDurations(log []evidence.Request) {
	const (
		enough   = 20
		smallest = 20 * time.Millisecond
	)
	var bare []int
	least := maxBare
	for i := range log {
		r := &log[i]
		if r.Duration == nil || *r.Duration%time.Millisecond != 0 || r.By != "server" {
			continue
		}
		var p logParser
		if p.parse(cleanLog(r.Excerpt), 0) && p.bareNumber {
			bare = append(bare, i)
			least = min(least, *r.Duration)
		}
	}
	if len(bare) < enough || least < smallest {
		return
	}
	for _, i := range bare {
		d := *log[i].Duration / 1000
		log[i].Duration = &d
	}
}

// isEnvoyTail tells whether what follows the status is Envoy's: response flags and then numbers.
func isEnvoyTail(s string) bool {
	flags, rest := firstWord(s)
	if flags == "-" || flags != "" && strings.ToUpper(flags) == flags && !isDigit(flags[0]) {
		word, _ := firstWord(rest)
		return word == "-" || allDigits(word) || strings.IndexByte(word, '_') > 0 || strings.HasPrefix(word, `"`)
	}
	return false
}

// envoyTail reads Envoy's default access log and Istio's: FLAGS [details] [termination] ["transport failure"] received
// sent duration upstream-time "forwarded-for" "user agent" "request id" "authority" "upstream".
func envoyTail(r *evidence.Request, s string) {
	r.By = "balancer"
	var quoted []string
	var numbers []string
	for s != "" {
		if s[0] == '"' {
			end := endOfQuoted(s)
			if end == 0 {
				break
			}
			if len(numbers) > 0 {
				quoted = append(quoted, s[1:end-1])
			}
			s = strings.TrimLeft(s[end:], " ")
			continue
		}
		var word string
		word, s = firstWord(s)
		if len(quoted) == 0 && (allDigits(word) || len(numbers) > 0) {
			numbers = append(numbers, word)
		}
	}
	if len(numbers) >= 3 {
		if d, ok := scaled(numbers[2], time.Millisecond); ok {
			r.Duration = &d
		}
	}
	at := func(i int) string {
		if i < len(quoted) && quoted[i] != "-" {
			return quoted[i]
		}
		return ""
	}
	r.UserAgent = at(1)
	r.Host, r.Port = splitHost(at(3))
	if r.Client = peerAddress(at(0)); strings.IndexByte(r.Client, ',') > 0 {
		r.Client = r.Client[:strings.IndexByte(r.Client, ',')]
	}
}

// isALB tells whether s is the part before the request of an entry of the AWS application load balancer.
func isALB(s string) bool {
	kind, rest := firstWord(s)
	switch kind {
	case "http", "https", "h2", "grpcs", "ws", "wss":
		return len(rest) > 20 && rest[4] == '-' && rest[10] == 'T'
	}
	return false
}

// alb reads type time elb client target request_time target_time response_time elb_status target_status received sent
// "request" "user agent" … (Elastic Load Balancing user guide, access log entries). The three times are seconds, -1 where
// the step was not reached: then no answer came and the duration stays unknown.
func (p *logParser) alb(prefix, request, rest string) bool {
	f := strings.Fields(prefix)
	if len(f) < 12 {
		return false
	}
	t, n := scanTime(f[1])
	if n == 0 {
		return false
	}
	r := evidence.Request{At: t, Client: peerAddress(f[3]), By: "balancer"}
	if status, _ := cutStatus(f[8]); status > 0 {
		r.Status = status
	}
	var sum time.Duration
	for _, s := range f[5:8] {
		d, ok := scaled(s, time.Second)
		if !ok {
			sum = -1
			break
		}
		sum += d
	}
	if sum >= 0 {
		r.Duration = &sum
	}
	requestLine(&r, request)
	rest = strings.TrimLeft(rest, " ")
	if rest != "" && rest[0] == '"' {
		if end := endOfQuoted(rest); end > 0 {
			r.UserAgent = rest[1 : end-1]
		}
	}
	if r.UserAgent == "-" {
		r.UserAgent = ""
	}
	p.req = &r
	return true
}

// haproxyHTTP reads "client:port [time] frontend backend/server TR/Tw/Tc/Tr/Ta status bytes …" before the request (HAProxy
// configuration manual, 8.2.3). The last timer is the whole time in milliseconds.
func (p *logParser) haproxyHTTP(prefix, request string) bool {
	f := strings.Fields(prefix)
	i := slices.IndexFunc(f, func(w string) bool { return strings.Count(w, "/") == 4 && strings.Trim(w, "0123456789/+-") == "" })
	if i < 3 || i+1 >= len(f) {
		return false
	}
	r := evidence.Request{By: "balancer"}
	for _, w := range f[:i] {
		if w[0] == '[' {
			r.At, _ = scanTime(w[1:])
		} else if r.At.IsZero() && isAddress(w) {
			r.Client = peerAddress(w)
		}
	}
	if status, _ := cutStatus(f[i+1]); status > 0 {
		r.Status = status
	}
	total := strings.TrimPrefix(f[i][strings.LastIndexByte(f[i], '/')+1:], "+")
	if d, ok := scaled(total, time.Millisecond); ok {
		r.Duration = &d
	}
	requestLine(&r, request)
	p.line.Origin = "proxy"
	p.req = &r
	return true
}
