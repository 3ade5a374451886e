package evidence

import (
	"net/netip"
	"strings"
)

// parseURL reads the URL of a probe as the kubelet prints it. Whatever of it was masked stays empty. relative is true
// for a URL without scheme and host: only a redirect has one.
func parseURL(s string) (t Endpoint, relative bool) {
	rest := s
	switch {
	case hasPrefixFold(s, "http://"):
		t.Scheme, rest = "http", s[len("http://"):]
	case hasPrefixFold(s, "https://"):
		t.Scheme, rest = "https", s[len("https://"):]
	case strings.HasPrefix(s, "/"):
		t.Path = cleanPath(s)
		return t, true
	}
	authority, path := rest, ""
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		authority, path = rest[:i], rest[i:]
	}
	if i := strings.LastIndexByte(authority, '@'); i >= 0 {
		authority = authority[i+1:]
	}
	t.Host, t.Port = splitAddress(authority)
	t.Path = cleanPath(path)
	return t, false
}

func cleanPath(p string) string {
	p, _, _ = strings.Cut(p, "#")
	if strings.HasPrefix(p, "/...") || strings.HasPrefix(p, "/…") || strings.HasSuffix(p, "...") || strings.HasSuffix(p, "…") {
		return ""
	}
	return p
}

// splitAddress splits "host:port". A masked host or port is empty; IPv6 comes without its brackets.
func splitAddress(s string) (host, port string) {
	host = s
	if i := strings.LastIndexByte(s, ':'); i >= 0 && strings.IndexByte(s[i:], ']') < 0 {
		if n := number(s[i+1:]); allDigits(s[i+1:]) && n > 0 && n <= 65535 {
			port = s[i+1:]
		}
		host = s[:i]
	}
	if strings.HasPrefix(host, "[") && strings.HasSuffix(host, "]") {
		host = host[1 : len(host)-1]
	}
	if isMasked(host) {
		host = ""
	}
	return host, port
}

func allDigits(s string) bool {
	for i := range len(s) {
		if !isDigit(s[i]) {
			return false
		}
	}
	return s != ""
}

// isMasked tells whether somebody replaced the host: "<pod-ip>", "10.xx.x.7", "a.b.c.d", "...", "IP".
func isMasked(host string) bool {
	if host == "" || strings.Contains(host, "..") || strings.HasSuffix(host, ".") && len(host) < 4 {
		return true
	}
	if strings.IndexByte(host, ':') >= 0 {
		a, err := netip.ParseAddr(host)
		return err != nil || strings.ContainsFunc(a.Zone(), func(r rune) bool {
			return r > 127 || !isDigit(byte(r)) && !isLetter(byte(r)) && !strings.ContainsRune("._-", r)
		})
	}
	numeric := true
	for i := range len(host) {
		switch c := host[i]; {
		case isDigit(c), c == '.':
		case isLetter(c), c == '-', c == '_':
			numeric = false
		default:
			return true // <, *, …, blanks and all else that no host name has
		}
	}
	if numeric {
		return false
	}
	switch strings.ToLower(strings.Trim(host, "_-")) {
	case "ip", "pod", "podip", "pod-ip", "pod_ip", "node", "nodeip", "node-ip", "node_ip", "host", "hostip", "host-ip", "host_ip",
		"redacted", "masked", "hidden", "removed", "address", "ipaddress", "ip-address", "my-ip":
		return true
	}
	// Every label is a number, a run of x or one letter: an address whose parts were replaced.
	replaced := false
	for label := range strings.SplitSeq(host, ".") {
		switch {
		case allDigits(label):
		case len(label) == 1, strings.Trim(label, "xX") == "", strings.Trim(label, "nN") == "":
			replaced = true
		default:
			return false
		}
	}
	return replaced
}

// isName tells whether the host has to be looked up in the DNS.
func isName(host string) bool {
	if host == "" || host == "localhost" || strings.IndexByte(host, ':') >= 0 {
		return false
	}
	for i := range len(host) {
		if !isDigit(host[i]) && host[i] != '.' {
			return true
		}
	}
	return false
}

// supplement fills what the URL does not say from the address that was dialled.
func (t *Endpoint) supplement(address string) {
	if _, peer, ok := strings.Cut(address, "->"); ok {
		address = peer
	}
	host, port := splitAddress(strings.TrimSpace(address))
	if t.Host == "" {
		t.Host = host
	}
	if t.Port == "" {
		t.Port = port
	}
}

// defaultPort fills the scheme's own port into a URL that names a host and no port.
func (t *Endpoint) defaultPort() {
	if t.Host == "" || t.Port != "" {
		return
	}
	switch t.Scheme {
	case "http":
		t.Port = "80"
	case "https":
		t.Port = "443"
	}
}
