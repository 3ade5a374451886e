package paste

import (
	"html"
	"regexp"
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// maxJoined bounds a line that is put together from several printed lines.
const maxJoined = 64 << 10

// undresser takes off what a terminal, a session recorder, a chat or a browser put around the lines, and joins the pieces
// of a line that a frame has broken.
type undresser struct {
	emit func(n int, s string)
	held string
	at   int
	full bool // a framed line is held that reached the frame's right edge
}

// line takes the next raw line and emits what is under its decoration.
func (u *undresser) line(n int, s string) {
	s = plain(s)
	if strings.IndexByte(s, '\n') >= 0 {
		// A line of HTML holds several rows.
		u.flush()
		for row := range strings.SplitSeq(s, "\n") {
			u.emit(n, unquote(row))
		}
		return
	}
	inner, framed, full := unframe(s)
	if !framed {
		u.flush()
		u.emit(n, unquote(s))
		return
	}
	if u.full && len(inner) > 1 && inner[0] == ' ' && inner[1] != ' ' && len(u.held) < maxJoined && !describeName.MatchString(inner[1:]) {
		// The pad of the frame, then text: the rest of the line above, cut in mid word.
		u.held += inner[1:]
	} else {
		u.flush()
		u.held, u.at = strings.TrimPrefix(inner, " "), n
	}
	u.full = full
	if !full {
		u.flush()
	}
}

func (u *undresser) flush() {
	if u.held != "" {
		s := u.held
		u.held, u.full = "", false
		u.emit(u.at, unquote(strings.TrimRight(s, " ")))
	}
	u.full = false
}

var (
	recorderPrefix = regexp.MustCompile(`^\[\d\d:\d\d:\d\d\] - `)
	emojiCode      = regexp.MustCompile(`(^|\s):[a-z][a-z0-9_+-]{1,40}:(\s|$)`)
	htmlTag        = regexp.MustCompile(`</?(?:table|thead|tbody|tr|td|th|p|br|b|i|li|ul|ol|div|span|code|pre|strong|em|a)(?:\s[^<>]*)?/?>`)
	htmlRow        = regexp.MustCompile(`</(?:tr|p|li|div)>|<br\s*/?>`)
	starRun        = regexp.MustCompile(`_?\*+_?`)
)

// plain drops escape sequences, the recorder's prefix, HTML tags and emoji codes.
func plain(s string) string {
	s = strings.TrimRight(s, "\r\n")
	if strings.IndexByte(s, 0x1b) >= 0 {
		s = ansi.Strip(s)
	}
	s = strings.ToValidUTF8(s, "\uFFFD")
	s = strings.ReplaceAll(s, "\u00a0", " ")
	s = strings.TrimPrefix(s, "\ufeff")
	if s != "" && s[0] == '[' {
		s = s[len(recorderPrefix.FindString(s)):]
	}
	if strings.IndexByte(s, '<') >= 0 && htmlTag.MatchString(s) {
		s = html.UnescapeString(htmlTag.ReplaceAllString(htmlRow.ReplaceAllString(s, "\n"), "\t"))
	}
	if i := strings.Index(" "+s, " :"); i >= 0 && i+1 < len(s) && s[i+1] >= 'a' && s[i+1] <= 'z' {
		s = emojiCode.ReplaceAllString(s, "$1$2")
	}
	return s
}

// unframe takes the vertical bars of a terminal UI off. full tells that the text reached the right bar.
func unframe(s string) (inner string, framed, full bool) {
	t := strings.TrimSpace(s)
	left := false
	for _, bar := range []string{"│", "┃", "║"} {
		if rest, ok := strings.CutPrefix(t, bar); ok {
			t, left = rest, true
			break
		}
	}
	if !left {
		if t != "" && strings.Trim(t, "─━═┌┐└┘╭╮╰╯├┤┬┴┼ ") == "" {
			return "", true, false
		}
		return s, false, false
	}
	for _, bar := range []string{"│", "┃", "║"} {
		if rest, ok := strings.CutSuffix(t, bar); ok {
			return rest, true, rest != "" && !strings.HasSuffix(rest, " ")
		}
	}
	return t, true, false
}

// unquote drops the marks of Markdown and of chats around a line: "> ", "**", bullets.
func unquote(s string) string {
	t := strings.TrimLeft(s, " \t")
	for strings.HasPrefix(t, "> ") || t == ">" {
		if _, known := knownCommand(strings.TrimSpace(t[1:])); known {
			return s
		}
		t = strings.TrimPrefix(t[1:], " ")
		s = t
	}
	if rest, ok := strings.CutPrefix(t, "• "); ok {
		t, s = rest, rest
	}
	if strings.HasPrefix(t, "**") && !strings.HasPrefix(t, "*****") || strings.HasPrefix(t, "|") && strings.Contains(t, "**") {
		s = starRun.ReplaceAllStringFunc(s, func(run string) string {
			// Two to four stars are marks; longer runs are a name that somebody masked, one star is text.
			if n := strings.Count(run, "*"); n < 2 || n > 4 {
				return run
			}
			return ""
		})
	}
	return s
}

// elision tells whether a line only says that something was left out.
func elision(s string) bool {
	if len(s) > 16 {
		return false
	}
	switch strings.ToLower(s) {
	case "<snip>", "[snip]", "(snip)", "snip", "[...]", "(...)", "<...>", "…", "[…]", "<omitted>", "<truncated>", "--":
		return true
	}
	return s != "" && strings.Trim(s, ".") == ""
}

// command is one command line that somebody typed.
type command struct {
	tool, verb string
	kind, name string
	namespace  string
	container  string
	args       string // the command line as typed
	inner      string // what kubectl exec runs
	host       string // of the prompt
}

var (
	promptBracket  = regexp.MustCompile(`^\[([^\]]{1,120})\]\s?[$#%>](?:\s+(.*))?$`)
	promptUserHost = regexp.MustCompile(`^[\w.-]+@([\w.-]+)[: ][^$#%>]{0,120}[$#%>](?:\s+(.*))?$`)
	promptShell    = regexp.MustCompile(`^(?:bash|sh|ash|zsh|dash)(?:-[\d.]+)?[$#%](?:\s+(.*))?$`)
	promptWindows  = regexp.MustCompile(`^(?:PS )?[A-Za-z]:\\[^>]{0,120}>\s*(.*)$`)
	promptPath     = regexp.MustCompile(`^[~/][\w./~-]{0,120}\s?[$#%❯➜](?:\s+(.*))?$`)
	promptSign     = regexp.MustCompile(`^(\$|#|%|>|->|❯|➜|»|λ)(?:\s+(.*))?$`)
)

// cutPrompt reads a shell prompt. ok is true also for a prompt without a command.
func cutPrompt(s string) (host, line string, ok bool) {
	t := strings.TrimSpace(s)
	if t == "" || !strings.ContainsAny(t, "$#%>❯➜»λ") && !strings.HasPrefix(t, "`") && !startsKubectl(t) {
		return "", "", false
	}
	if m := promptSign.FindStringSubmatch(t); m != nil {
		_, known := knownCommand(m[2])
		switch {
		case known, m[2] == "":
			return "", m[2], true
		case m[1] == "$" || m[1] == "❯" || m[1] == "➜":
			return "", m[2], true
		}
		return "", "", false
	}
	if m := promptBracket.FindStringSubmatch(t); m != nil {
		return "", m[2], true
	}
	if i := strings.IndexByte(t, '@'); i > 0 && i < 64 {
		if m := promptUserHost.FindStringSubmatch(t); m != nil {
			return m[1], m[2], true
		}
	}
	for _, re := range []*regexp.Regexp{promptShell, promptWindows, promptPath} {
		if m := re.FindStringSubmatch(t); m != nil {
			return "", m[1], true
		}
	}
	t = strings.Trim(t, "`")
	if tool, known := knownCommand(t); known && (tool == "kubectl" || tool == "oc") {
		if c := parseCommand(t); c.verb != "" && !strings.HasSuffix(t, ".") {
			return "", t, true
		}
	}
	return "", "", false
}

// startsKubectl tells whether a line begins with a command that needs no prompt to be known.
func startsKubectl(s string) bool {
	word, rest := cutWord(s)
	return rest != "" && (strings.HasSuffix(word, "kubectl") || word == "oc" || commandPrefixes[word])
}

// commandTools are the commands whose output may be in a paste about probes.
var commandTools = map[string]bool{
	"kubectl": true, "k": true, "oc": true, "kubecolor": true, "microk8s.kubectl": true, "curl": true, "wget": true,
	"netstat": true, "ss": true, "dmesg": true, "journalctl": true, "journal": true, "docker": true, "crictl": true,
	"nerdctl": true, "ip": true, "nc": true, "telnet": true, "psql": true, "pg_isready": true, "redis-cli": true,
	"helm": true, "aws": true, "gcloud": true, "cat": true, "tail": true, "lsof": true, "ps": true, "free": true,
	"df": true, "grpc_health_probe": true, "k3s": true, "minikube": true, "microk8s": true, "grep": true, "ping": true,
	"nslookup": true, "dig": true, "getent": true, "nstat": true, "sysctl": true, "systemctl": true, "etcdctl": true,
	"grpcurl": true, "traceroute": true, "iptables": true, "conntrack": true, "uptime": true,
}

// commandPrefixes are words before the command proper.
var commandPrefixes = map[string]bool{"sudo": true, "time": true, "watch": true, "env": true, "exec": true, "command": true}

// knownCommand tells whether the line begins with one of the tools.
func knownCommand(line string) (tool string, ok bool) {
	for {
		word, rest := cutWord(strings.TrimSpace(line))
		if commandPrefixes[word] && rest != "" {
			line = rest
			continue
		}
		if i := strings.LastIndexByte(word, '/'); i >= 0 {
			word = word[i+1:]
		}
		switch word {
		case "k", "kubecolor", "microk8s.kubectl":
			return "kubectl", commandTools[word] && strings.TrimSpace(rest) != ""
		case "k3s", "minikube", "microk8s":
			if w, _ := cutWord(strings.TrimSpace(rest)); w == "kubectl" {
				return "kubectl", true
			}
		}
		return word, commandTools[word]
	}
}

// valueFlags are flags of kubectl that take their value in the next word.
var valueFlags = map[string]bool{
	"-n": true, "--namespace": true, "-c": true, "--container": true, "-o": true, "--output": true, "-l": true,
	"--selector": true, "--context": true, "--kubeconfig": true, "--cluster": true, "--tail": true, "--since": true,
	"-f": true, "--field-selector": true, "--sort-by": true, "-s": true, "--server": true, "--user": true, "--as": true,
}

// parseCommand reads a command line, as far as it tells what its output is about.
func parseCommand(line string) command {
	c := command{args: strings.TrimSpace(line)}
	c.tool, _ = knownCommand(line)
	if c.tool != "kubectl" && c.tool != "oc" {
		return c
	}
	if i := strings.Index(line, " -- "); i >= 0 {
		c.inner = strings.TrimSpace(line[i+4:])
		line = line[:i]
	}
	for _, sep := range []string{"|", ";", "&&"} {
		line, _, _ = strings.Cut(line, sep)
	}
	words := strings.Fields(line)
	start := 0
	for start < len(words) && !strings.HasSuffix(words[start], "kubectl") && words[start] != "oc" && words[start] != "k" && words[start] != "kubecolor" {
		start++
	}
	var pos []string
	for i := start + 1; i < len(words); i++ {
		w := words[i]
		if !strings.HasPrefix(w, "-") {
			pos = append(pos, strings.Trim(w, `"'`))
			continue
		}
		flag, value, has := strings.Cut(w, "=")
		takes := valueFlags[flag] && !(flag == "-f" && len(pos) > 0 && (pos[0] == "logs" || pos[0] == "log"))
		if !has && takes && i+1 < len(words) {
			i++
			value = words[i]
		}
		value = strings.Trim(value, `"'`)
		switch flag {
		case "-n", "--namespace":
			c.namespace = value
		case "-c", "--container":
			c.container = value
		}
	}
	if len(pos) == 0 {
		return c
	}
	c.verb = pos[0]
	switch c.verb {
	case "logs", "log", "exec":
		c.verb = strings.TrimSuffix(c.verb, "s")
		c.kind = "Pod"
		if len(pos) > 1 {
			c.setObject(pos[1], "Pod")
		}
		if c.verb == "log" && len(pos) > 2 && c.container == "" {
			c.container = pos[2] // kubectl logs POD CONTAINER
		}
	case "get", "describe", "top", "rollout", "edit", "delete":
		rest := pos[1:]
		if c.verb == "rollout" && len(rest) > 0 {
			rest = rest[1:]
		}
		if len(rest) == 0 {
			return c
		}
		if strings.Contains(rest[0], "/") {
			c.setObject(rest[0], "")
			return c
		}
		c.kind = apiKind(rest[0])
		if len(rest) == 2 {
			c.name = rest[1]
		}
	}
	return c
}

// setObject takes "pod/x" or a plain name.
func (c *command) setObject(s, kind string) {
	if k, name, ok := strings.Cut(s, "/"); ok {
		c.kind, c.name = apiKind(k), name
		return
	}
	c.kind, c.name = kind, s
}

// kinds gives the API's spelling of a kind from every way in which kubectl takes or prints it.
var kinds = map[string]string{
	"po": "Pod", "pod": "Pod", "deploy": "Deployment", "deployment": "Deployment", "rs": "ReplicaSet",
	"replicaset": "ReplicaSet", "sts": "StatefulSet", "statefulset": "StatefulSet", "ds": "DaemonSet",
	"daemonset": "DaemonSet", "rc": "ReplicationController", "replicationcontroller": "ReplicationController",
	"hpa": "HorizontalPodAutoscaler", "horizontalpodautoscaler": "HorizontalPodAutoscaler", "no": "Node", "node": "Node",
	"svc": "Service", "service": "Service", "ing": "Ingress", "ingress": "Ingress", "ingresse": "Ingress", "ep": "Endpoints",
	"endpoint": "Endpoints", "endpointslice": "EndpointSlice", "ev": "Event", "event": "Event", "job": "Job",
	"cronjob": "CronJob", "cj": "CronJob", "cm": "ConfigMap", "configmap": "ConfigMap", "pvc": "PersistentVolumeClaim",
	"persistentvolumeclaim": "PersistentVolumeClaim", "persistentvolume": "PersistentVolume",
	"targetgroupbinding": "TargetGroupBinding", "scaledobject": "ScaledObject", "nodeclaim": "NodeClaim",
	"deploymentconfig": "DeploymentConfig", "dc": "DeploymentConfig", "rollout": "Rollout", "namespace": "Namespace", "ns": "Namespace",
	"certificate": "Certificate", "poddisruptionbudget": "PodDisruptionBudget", "pdb": "PodDisruptionBudget",
}

// apiKind gives the kind in the API's spelling; unknown kinds are given back as they are.
func apiKind(s string) string {
	l := strings.ToLower(s)
	l, _, _ = strings.Cut(l, ".")
	if k, ok := kinds[l]; ok {
		return k
	}
	if k, ok := kinds[strings.TrimSuffix(l, "s")]; ok {
		return k
	}
	return s
}
