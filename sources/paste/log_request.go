package paste

import (
	"strconv"
	"strings"
	"time"

	"github.com/probedoctor/probedoctor/sources/evidence"
)

// maxPath bounds a request path; longer ones are not paths of a route.
const maxPath = 512

// maxKey bounds how far in front of a path its key is looked for.
const maxKey = 32

// findRoute gives the request path that a text names, with the method in front of it where there is one, and the index
// behind the path. It is conservative: the path must follow a method, the word "on", or a key that means a path.
func findRoute(s string) (path, method string, end int) {
	for from := 0; ; {
		i := strings.IndexByte(s[from:], '/')
		if i < 0 {
			return "", "", 0
		}
		i += from
		from = i + 1
		if i < 3 {
			continue
		}
		j := i
		if s[j-1] == '"' || s[j-1] == '\'' {
			j--
		}
		if j < 3 {
			continue
		}
		switch s[j-1] {
		case ' ':
			word := s[max(0, j-1-maxKey) : j-1]
			if k := strings.LastIndexAny(word, " \"'[(,;:\t="); k >= 0 {
				word = word[k+1:]
			}
			if isMethod(word) {
				method = word
			} else if word != "on" {
				continue
			}
		case '=', ':':
			key := s[max(0, j-1-maxKey) : j-1]
			if k := strings.LastIndexAny(key, " \"'[({,;\t&?"); k >= 0 {
				key = key[k+1:]
			}
			if !isRouteKey(key) {
				continue
			}
		default:
			continue
		}
		end = i
		for end < len(s) && !strings.ContainsRune(" \"'`,;)]}\t<>|\n", rune(s[end])) {
			end++
		}
		path = pathOnly(s[i:end])
		if path == "" || strings.HasPrefix(path, "//") {
			method = ""
			continue
		}
		return path, method, end
	}
}

func isRouteKey(key string) bool {
	switch key {
	case "path", "uri", "url", "route", "requestPath", "request_path", "requestUri", "requestURI", "request_uri", "Path", "endpoint",
		"http.route", "http.path", "http.target", "url.path", "request.path", "RequestPath", "http_path":
		return true
	}
	return false
}

func isMethod(s string) bool {
	switch s {
	case "GET", "POST", "PUT", "HEAD", "DELETE", "PATCH", "OPTIONS", "CONNECT", "TRACE", "PROPFIND":
		return true
	}
	return false
}

// isMethodAt tells whether s starts with a method and a path.
func isMethodAt(s string) bool {
	i := strings.IndexByte(s, ' ')
	if i < 3 || i > 8 || !isMethod(s[:i]) {
		return false
	}
	rest := strings.TrimLeft(s[i+1:], `"`)
	return rest != "" && (rest[0] == '/' || rest[0] == '*' || strings.HasPrefix(rest, "http"))
}

// pathOnly takes the query and an ellipsis off a path; what is no path becomes empty.
func pathOnly(s string) string {
	if i := strings.IndexAny(s, "?#"); i >= 0 {
		s = s[:i]
	}
	s = strings.TrimRight(s, ".:,")
	if s == "" || s[0] != '/' || len(s) > maxPath {
		return ""
	}
	return s
}

// requestIn reads a request that a message reports: a path with a status or a duration. end is the index behind the path.
func requestIn(msg, method, path string, end int) *evidence.Request {
	if end > len(msg) || path == "" {
		return nil
	}
	status := 0
	if method != "" {
		// "on /api/cart 404" may count anything; behind a method and a path it is the status.
		status = statusAfter(msg[end:])
	}
	if status == 0 {
		status = statusByKey(msg)
	}
	d := durationIn(msg[end:])
	if d == nil {
		d = durationIn(msg[:max(0, end-len(path))])
	}
	if status == 0 && (d == nil || method == "") {
		return nil
	}
	return &evidence.Request{Method: method, Path: path, Status: status, Duration: d}
}

// statusAfter reads the status that directly follows a path: ` 200`, ` HTTP/1.1" 200`, ` -> 200`, ` | 200`.
func statusAfter(s string) int {
	s = strings.TrimLeft(s, " \"'")
	if strings.HasPrefix(s, "HTTP/") {
		if i := strings.IndexAny(s, " \"'"); i > 0 {
			s = s[i:]
		} else {
			return 0
		}
	}
	s = strings.TrimLeft(s, " \"'-=>|:→")
	return statusAt(s)
}

// statusAt reads a status at the start of s: three digits that are no part of a longer word and no duration.
func statusAt(s string) int {
	n, ok := digits(s, 0, 3)
	if !ok || n < 100 || n > 599 {
		return 0
	}
	if len(s) > 3 {
		if isWordByte(s[3]) || s[3] == '.' || s[3] == ':' || s[3] == '/' || s[3] == '%' {
			return 0
		}
		if t := strings.TrimLeft(s[3:], " "); len(s)-len(t) <= 4 {
			if _, unit := unitAt(t); unit > 0 {
				return 0
			}
		}
	}
	return n
}

// statusWords come before a status in a message.
var statusWords = []string{"status", "responded ", "returned ", "HTTP ", "code="}

func statusByKey(s string) int {
	for _, w := range statusWords {
		for from := 0; ; {
			i := strings.Index(s[from:], w)
			if i < 0 {
				break
			}
			from += i + len(w)
			t := s[from:]
			t = strings.TrimPrefix(strings.TrimPrefix(strings.TrimPrefix(t, "_code"), "Code"), " code")
			t = strings.TrimLeft(t, "=: \"")
			if n := statusAt(t); n > 0 {
				return n
			}
		}
	}
	return 0
}

// unitAt reads a unit of time at the start of s: the unit and the bytes it took, 0 when there is none.
func unitAt(s string) (time.Duration, int) {
	unit, n := time.Duration(0), 0
	switch {
	case strings.HasPrefix(s, "milliseconds"):
		unit, n = time.Millisecond, 12
	case strings.HasPrefix(s, "millis"):
		unit, n = time.Millisecond, 6
	case strings.HasPrefix(s, "msec"):
		unit, n = time.Millisecond, 4
	case strings.HasPrefix(s, "ms"):
		unit, n = time.Millisecond, 2
	case strings.HasPrefix(s, "µs"), strings.HasPrefix(s, "μs"):
		unit, n = time.Microsecond, 3
	case strings.HasPrefix(s, "us"):
		unit, n = time.Microsecond, 2
	case strings.HasPrefix(s, "ns"):
		unit, n = time.Nanosecond, 2
	case strings.HasPrefix(s, "seconds"):
		unit, n = time.Second, 7
	case strings.HasPrefix(s, "secs"):
		unit, n = time.Second, 4
	case strings.HasPrefix(s, "sec"):
		unit, n = time.Second, 3
	case strings.HasPrefix(s, "s"):
		unit, n = time.Second, 1
	default:
		return 0, 0
	}
	if n < len(s) && isWordByte(s[n]) {
		return 0, 0
	}
	return unit, n
}

// durationIn gives the first number with a unit of time in s ("in 0 ms", "took:1.204s", "(12ms)"), nil when there is none.
func durationIn(s string) *time.Duration {
	for i := 0; i < len(s); i++ {
		if !isDigit(s[i]) {
			continue
		}
		start := i
		for i < len(s) && (isDigit(s[i]) || s[i] == '.') {
			i++
		}
		if start > 0 && (isWordByte(s[start-1]) || s[start-1] == '-' || s[start-1] == '/' || s[start-1] == '.') {
			continue
		}
		num := strings.TrimRight(s[start:i], ".")
		rest := s[i:]
		if len(rest) > 1 && rest[0] == ' ' && rest[1] != 's' {
			// "0 ms", but not "404 s…": a lone s behind a blank is a plural or a name.
			rest = rest[1:]
		}
		unit, n := unitAt(rest)
		if n == 0 {
			continue
		}
		if d, ok := scaled(num, unit); ok {
			return &d
		}
	}
	return nil
}

// maxDuration is the longest time of a request that is believed.
const maxDuration = 30 * 24 * time.Hour

// scaled is the decimal number num times unit.
func scaled(num string, unit time.Duration) (time.Duration, bool) {
	f, err := strconv.ParseFloat(num, 64)
	if err != nil || !(f >= 0) || f*float64(unit) > float64(maxDuration) {
		return 0, false
	}
	// Rounded to a nanosecond: 1.204 s is no 1.203999999 s.
	return time.Duration(f*float64(unit) + 0.5), true
}

// durationText reads a duration with its unit: "1.204s", "12 ms", "1m2.5s".
func durationText(s string) (time.Duration, bool) {
	s = strings.TrimSpace(s)
	if d, err := time.ParseDuration(s); err == nil {
		return d, d >= 0 && d <= maxDuration && s != "0"
	}
	i := 0
	for i < len(s) && (isDigit(s[i]) || s[i] == '.') {
		i++
	}
	unit, n := unitAt(strings.TrimLeft(s[i:], " "))
	if i == 0 || n == 0 {
		return 0, false
	}
	return scaled(s[:i], unit)
}
