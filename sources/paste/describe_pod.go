package paste

import (
	"net"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/probedoctor/probedoctor/sources/evidence"
)

// containerKeys are the keys of a container in a description; any other key at the containers' own depth is a name.
var containerKeys = map[string]bool{
	"Container ID": true, "Image": true, "Image ID": true, "Port": true, "Ports": true, "Host Port": true, "Host Ports": true,
	"Command": true, "Args": true, "State": true, "Last State": true, "Reason": true, "Message": true, "Exit Code": true,
	"Started": true, "Finished": true, "Signal": true, "Ready": true, "Restart Count": true, "Limits": true, "Requests": true,
	"Liveness": true, "Readiness": true, "Startup": true, "Environment": true, "Environment Variables from": true, "Mounts": true,
	"Restart Policy": true, "SeccompProfile": true, "Devices": true,
}

// containerReader builds containers from the lines of a description.
type containerReader struct {
	list  []evidence.Container
	init  bool
	whole bool // the description was not cut: a probe that is not there does not exist
	depth int  // indent of the containers' names, -1 before the first
	sub   string
	at    int // indent of the key that opened sub
}

func (r *containerReader) section(init bool) { r.init, r.depth, r.sub = init, -1, "" }

// current is the container that the lines speak of; a piece may begin in the midst of one.
func (r *containerReader) current() *evidence.Container {
	if len(r.list) == 0 {
		r.list = append(r.list, evidence.Container{Restarts: -1})
	}
	return &r.list[len(r.list)-1]
}

func (r *containerReader) line(l descLine) {
	name := l.key != "" && l.value == "" && !containerKeys[l.key] && (r.depth < 0 || l.indent <= r.depth)
	if name && (r.depth >= 0 || l.indent > 0) && (r.sub == "" || l.indent < r.at) {
		r.list = append(r.list, evidence.Container{Name: l.key, Init: r.init, Restarts: -1, ProbesKnown: r.whole})
		r.depth, r.sub = l.indent, ""
		return
	}
	if r.sub != "" && l.indent > r.at && r.inside(l) {
		return
	}
	r.sub = ""
	c := r.current()
	switch l.key {
	case "Image":
		c.Image = l.value
	case "Port", "Ports":
		for p := range strings.SplitSeq(l.value, ",") {
			number, proto, _ := strings.Cut(strings.TrimSpace(p), "/")
			if n, err := strconv.Atoi(number); err == nil && n > 0 {
				c.Ports = append(c.Ports, evidence.Port{Number: n, Protocol: proto})
			}
		}
	case "State", "Last State":
		state := evidence.ContainerState{Status: strings.ToLower(l.value)}
		c.StatusKnown = true
		if l.key == "State" {
			c.State = state
		} else {
			c.LastState = state
		}
		r.open(l)
	case "Reason", "Message", "Exit Code", "Started", "Finished", "Signal":
		// Only in a piece whose "State:" line was cut off: an end is the last state's.
		setState(&c.LastState, l)
		c.LastState.Status = "terminated"
		c.StatusKnown = true
	case "Ready":
		c.Ready, c.StatusKnown = l.value == "True", true
	case "Restart Count":
		c.Restarts, c.StatusKnown = number(l.value), true
	case "Liveness", "Readiness", "Startup":
		if p, ok := parseProbeLine(l.text); ok {
			c.Probes = append(c.Probes, p)
		}
	case "Restart Policy":
		c.Sidecar = r.init && l.value == "Always"
	case "Limits", "Requests", "Environment", "Command", "Args":
		r.open(l)
	case "Mounts", "Environment Variables from":
		r.open(l)
	}
}

func (r *containerReader) open(l descLine) { r.sub, r.at = l.key, l.indent }

// inside reads a line below the key that was opened.
func (r *containerReader) inside(l descLine) bool {
	c := r.current()
	switch r.sub {
	case "State":
		return setState(&c.State, l)
	case "Last State":
		return setState(&c.LastState, l)
	case "Limits", "Requests":
		v := quantity(l.value)
		if v < 0 {
			return true
		}
		switch r.sub + l.key {
		case "Limitscpu":
			c.CPULimit = v
		case "Limitsmemory":
			c.MemoryLimit = v
		case "Requestscpu":
			c.CPURequest = v
		case "Requestsmemory":
			c.MemoryRequest = v
		}
	case "Environment":
		// Values that come from elsewhere are printed as <set to …>; they are not known, and secrets are never kept.
		if l.key == "" || strings.HasPrefix(l.value, "<set to") || strings.Contains(l.key, " ") || len(c.Env) > 500 {
			return true
		}
		if c.Env == nil {
			c.Env = map[string]string{}
		}
		c.Env[l.key] = l.value
	case "Command", "Args":
		c.Command = append(c.Command, l.text)
	}
	return true
}

func setState(s *evidence.ContainerState, l descLine) bool {
	switch l.key {
	case "Reason":
		s.Reason = l.value
	case "Message":
		s.Message = l.value
	case "Exit Code":
		if n, err := strconv.Atoi(l.value); err == nil {
			s.ExitCode = &n
		}
	case "Signal":
		s.Signal = max(number(l.value), 0)
	case "Started":
		s.Started = statusTime(l.value)
	case "Finished":
		s.Finished = statusTime(l.value)
	default:
		return l.key == "" // further lines of a message
	}
	return true
}

// pod reads the description of a pod. ok is false when nothing but frames of sections was there.
func (d *description) pod() (evidence.Pod, bool) {
	p := evidence.Pod{Restarts: -1}
	r := containerReader{depth: -1, whole: d.value("Name") != "" && !d.elided && d.has("Containers")}
	section, told := "", false
	for i, l := range d.lines {
		if l.gap {
			section = ""
			r.sub = ""
			continue
		}
		if l.indent == 0 && l.key != "" {
			section = l.key
			told = d.podField(&p, l) || told
			switch l.key {
			case "Containers", "Init Containers":
				r.section(l.key == "Init Containers")
			case "State", "Last State", "Restart Count", "Exit Code", "Liveness", "Readiness", "Startup", "Limits", "Requests", "Ready",
				"Image", "Port", "Ports", "Started", "Finished", "Environment", "Command", "Args":
				r.line(l)
				section = "Containers"
			}
			continue
		}
		switch section {
		case "Labels":
			p.Labels = addPairs(p.Labels, l.text)
		case "Annotations":
			p.Annotations = addAnnotation(p.Annotations, l)
		case "Conditions":
			if f := strings.Fields(l.text); len(f) >= 2 && f[0] != "Type" {
				p.Conditions = append(p.Conditions, evidence.Condition{Type: f[0], Status: f[1]})
				told = true
			}
		case "Readiness Gates":
			if f := strings.Fields(l.text); len(f) >= 1 && f[0] != "Type" {
				p.Gates = append(p.Gates, f[0])
				told = true
			}
		case "":
			// Which section this is was left out. A name counts as a container's only when a container's fields follow.
			if containerKeys[l.key] || r.sub != "" || i+1 < len(d.lines) && containerKeys[d.lines[i+1].key] {
				r.line(l)
			}
		case "Containers", "Init Containers":
			r.line(l)
		}
	}
	p.Containers = r.list
	if h := p.Labels["pod-template-hash"]; h != "" {
		p.TemplateHash = h
	} else {
		p.TemplateHash = p.Labels["controller-revision-hash"]
	}
	sum := 0
	for _, c := range p.Containers {
		if c.Restarts < 0 {
			sum = -1
			break
		}
		sum += c.Restarts
	}
	if len(p.Containers) > 0 {
		p.Restarts = sum
	}
	for _, c := range p.Containers {
		if c.LastState.Finished.After(p.LastRestart) {
			p.LastRestart = c.LastState.Finished
		}
	}
	return p, told || len(r.list) > 0
}

// podField reads a line that stands flush left; told says whether it told something of the pod.
func (d *description) podField(p *evidence.Pod, l descLine) (told bool) {
	switch l.key {
	case "Name":
	case "Namespace":
		return d.value("Name") != ""
	case "Node":
		if !unknownAge(l.value) {
			p.Node, _, _ = strings.Cut(l.value, "/")
		}
	case "Start Time":
		p.Started = statusTime(l.value)
	case "Labels":
		p.Labels = addPairs(p.Labels, l.value)
	case "Annotations":
		p.Annotations = addAnnotation(p.Annotations, descLineOf(l.value))
	case "Status":
		phase, rest := cutWord(l.value)
		p.Phase = phase
		if m := terminating.FindStringSubmatch(rest); m != nil {
			if at, ok := age(m[1]); ok {
				p.Deleted = at
			}
		}
	case "Reason":
		p.Reason = l.value
	case "IP":
		if net.ParseIP(l.value) != nil {
			p.IP = l.value
		}
	case "Controlled By", "Controllers":
		kind, name, ok := strings.Cut(l.value, "/")
		if ok {
			p.Owner = evidence.Object{Kind: kind, Name: name, Namespace: d.object().Namespace}
		}
	case "Termination Grace Period":
		if g, ok := parseAge(l.value); ok {
			p.GraceSeconds = int(g / time.Second)
		}
	default:
		return false
	}
	return true
}

// terminating is the rest of "Status: Terminating (lasts 3m)".
var terminating = regexp.MustCompile(`\((?:lasts|expires [^)]*|since) ?([0-9a-z]*)\)`)

func descLineOf(s string) descLine {
	l := descLine{text: s}
	if k, v, ok := strings.Cut(s, ": "); ok {
		l.key, l.value = k, strings.TrimSpace(v)
	}
	return l
}

func addPairs(m map[string]string, s string) map[string]string {
	if k, v, ok := strings.Cut(strings.TrimSpace(s), "="); ok && k != "" && !strings.ContainsAny(k, " <") {
		if m == nil {
			m = map[string]string{}
		}
		m[k] = v
	}
	return m
}

// addAnnotation keeps the annotations that bear on probes: those of meshes, balancers and sidecars.
func addAnnotation(m map[string]string, l descLine) map[string]string {
	k, v := l.key, l.value
	if k == "" {
		k, v, _ = strings.Cut(l.text, ": ")
	}
	for _, part := range []string{"istio", "linkerd", "load-balancer", "elb", "ingress", "neg", "consul", "healthcheck", "health-check", "prometheus.io"} {
		if strings.Contains(k, part) && strings.Contains(k, "/") {
			if m == nil {
				m = map[string]string{}
			}
			m[k] = strings.TrimSpace(v)
		}
	}
	return m
}

var (
	probeLine = regexp.MustCompile(`^(Liveness|Readiness|Startup):\s+(http-get|exec|tcp-socket|grpc)\s+(.*?)\s*((?:\s*#?(?:delay|timeout|period|success|failure)=\S+)*)\s*$`)
	probeNum  = regexp.MustCompile(`#?(delay|timeout|period|success|failure)=(\d{1,9})s?`)
	probeURL  = regexp.MustCompile(`^(https?|HTTPS?)://(\[[^\]]*\]|[^:/\s]*)(?::([^/\s]*))?(/\S*)?$`)
)

// parseProbeLine reads a probe as kubectl describe prints it: the handler, its address and the five numbers.
func parseProbeLine(s string) (evidence.ProbeSpec, bool) {
	m := probeLine.FindStringSubmatch(strings.TrimSpace(s))
	if m == nil {
		return evidence.ProbeSpec{}, false
	}
	p := evidence.ProbeSpec{Probe: evidence.ProbeKind(strings.ToLower(m[1]))}
	target := strings.TrimSpace(m[3])
	switch m[2] {
	case "http-get":
		p.Handler = "http"
		if u := probeURL.FindStringSubmatch(target); u != nil {
			p.Endpoint = evidence.Endpoint{Scheme: strings.ToLower(u[1]), Host: strings.Trim(u[2], "[]"), Port: u[3], Path: u[4]}
		}
	case "tcp-socket":
		p.Handler, p.Endpoint.Scheme = "tcp", "tcp"
		p.Endpoint.Host, p.Endpoint.Port = hostPort(target)
	case "grpc":
		p.Handler, p.Endpoint.Scheme = "grpc", "grpc"
		address, service := cutWord(target)
		p.Service = strings.TrimSpace(service)
		p.Endpoint.Host, p.Endpoint.Port = hostPort(address)
	case "exec":
		p.Handler = "exec"
		p.Command = execWords(strings.TrimSuffix(strings.TrimPrefix(target, "["), "]"))
	}
	for _, n := range probeNum.FindAllStringSubmatch(m[4], -1) {
		v, _ := strconv.Atoi(n[2])
		switch n[1] {
		case "delay":
			p.InitialDelaySeconds = v
		case "timeout":
			p.TimeoutSeconds = v
		case "period":
			p.PeriodSeconds = v
		case "success":
			p.SuccessThreshold = v
		case "failure":
			p.FailureThreshold = v
		}
	}
	return p, true
}

// hostPort splits "host:port"; "<pod>" stands for the pod's own address.
func hostPort(s string) (host, port string) {
	i := strings.LastIndexByte(s, ':')
	if i < 0 {
		return "", s
	}
	host, port = strings.Trim(s[:i], "[]"), s[i+1:]
	if strings.HasPrefix(host, "<") {
		host = ""
	}
	return host, port
}

// execWords splits an argv that Go printed with blanks between the words. The boundaries are lost, except that the script
// of a shell is one word.
func execWords(s string) []string {
	words := strings.Fields(s)
	if len(words) > 3 && (strings.HasSuffix(words[0], "sh")) {
		for i := 1; i < len(words)-1; i++ {
			if !strings.HasPrefix(words[i], "-") {
				break
			}
			if strings.HasSuffix(words[i], "c") {
				script := s
				for _, w := range words[:i+1] {
					_, script, _ = strings.Cut(script, w)
				}
				return append(words[:i+1:i+1], strings.TrimSpace(script))
			}
		}
	}
	return words
}
