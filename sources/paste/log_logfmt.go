package paste

import "strings"

// logfmt reads a record of key=value pairs. It is tolerant: a value without quotes goes on to the next key (Go prints
// "msg=completed handling request"), and a Go map prints as map[k:v k2:v2] with maps inside.
func (p *logParser) logfmt(s string) bool {
	if keyEnd(s) == 0 {
		return false
	}
	var r record
	pairs := 0
	for s != "" && pairs < maxFields {
		n := keyEnd(s)
		if n == 0 {
			_, s = firstWord(s)
			continue
		}
		key := s[:n]
		s = s[n+1:]
		var value string
		value, s = logfmtValue(s)
		pairs++
		if inner, ok := strings.CutPrefix(value, "map["); ok {
			goMap(&r, key, inner, 0)
			continue
		}
		r.put("", key, value)
	}
	if pairs < 2 || r.known == 0 && (r.path == "" || r.status == 0) {
		return false
	}
	return r.into(p, maxLayers)
}

// keyEnd gives the length of the key that s starts with, 0 when s does not start with key=.
func keyEnd(s string) int {
	for i := range len(s) {
		c := s[i]
		if c == '=' {
			return i
		}
		if !isWordByte(c) && c != '.' && c != '-' && c != '@' && c != '/' || i > 60 || i == 0 && isDigit(c) {
			return 0
		}
	}
	return 0
}

// logfmtValue reads the value at the start of s and gives what follows it.
func logfmtValue(s string) (value, rest string) {
	switch {
	case s == "":
		return "", ""
	case s[0] == '"':
		end := endOfQuoted(s)
		if end == 0 {
			// Cut in the value.
			return unescape(s[1:]), ""
		}
		return unescape(s[1 : end-1]), strings.TrimLeft(s[end:], " ,")
	case strings.HasPrefix(s, "map["):
		depth := 0
		for i := range len(s) {
			switch s[i] {
			case '[':
				depth++
			case ']':
				if depth--; depth == 0 {
					return s[:i], strings.TrimLeft(s[i+1:], " ")
				}
			}
		}
		return s, ""
	}
	end := 0
	for {
		i := strings.IndexByte(s[end:], ' ')
		if i < 0 {
			return s, ""
		}
		end += i
		next := strings.TrimLeft(s[end:], " ")
		if next == "" || keyEnd(next) > 0 {
			return s[:end], next
		}
		end = len(s) - len(next)
	}
}

// goMap reads the inside of Go's map[k:v …] into r.
func goMap(r *record, parent, s string, depth int) {
	for s != "" && depth < maxDepth {
		s = strings.TrimLeft(s, " ]")
		key, rest, ok := strings.Cut(s, ":")
		if !ok {
			return
		}
		if strings.HasPrefix(rest, "map[") {
			inner, after := logfmtValue(rest)
			goMap(r, key, inner[len("map["):], depth+1)
			s = after
			continue
		}
		// The value ends where the next "word:" begins.
		end := 0
		for {
			i := strings.IndexByte(rest[end:], ' ')
			if i < 0 {
				end = len(rest)
				break
			}
			end += i
			next, _ := firstWord(rest[end+1:])
			if strings.IndexByte(next, ':') > 0 {
				break
			}
			end++
		}
		r.put(parent, key, strings.TrimRight(rest[:end], "]"))
		s = rest[end:]
	}
}
