package paste

import (
	"encoding/json"
	"regexp"
	"strconv"
	"strings"

	"github.com/probedoctor/probedoctor/sources/evidence"
)

// State of pods that was cut out of JSON, YAML, docker inspect or a query: single fields without their object.

// fragment gathers single fields until something else comes; they are taken to be of one container.
type fragment struct {
	container evidence.Container
	restarts  int
	n         int
	raw       []string
	json      strings.Builder // pieces of one long line of JSON
}

var (
	pathField  = regexp.MustCompile(`^[-"']?([\w.\[\]"'/-]*?)(exitCode|restartCount|reason|signal|startedAt|finishedAt|message|oomKilled)["']?\s*[:=]\s*(.+?),?$`)
	dockerOOM  = regexp.MustCompile(`^"OOMKilled":\s*(true|false),?$`)
	dockerExit = regexp.MustCompile(`^"ExitCode":\s*(-?\d+),?$`)
	resources  = regexp.MustCompile(`^\{"(?:limits|requests)":\{`)
	jsonKey    = regexp.MustCompile(`"[A-Za-z][\w./-]*"\s*:`)
)

// stateLine reads a line that holds one field of a status, or a piece of JSON.
func (t *text) stateLine(s, trimmed string) bool {
	if strings.IndexByte(trimmed, ':') < 0 && t.pieces == nil {
		return false
	}
	if gke := gkeBackends(trimmed); len(gke) > 0 {
		t.closeRow()
		t.addGKE(gke)
		return true
	}
	if t.jsonEvent(trimmed) {
		return true
	}
	if m := dockerOOM.FindStringSubmatch(trimmed); m != nil {
		c := t.piece(trimmed)
		c.LastState.Status, c.StatusKnown = "terminated", true
		if m[1] == "true" {
			c.LastState.Reason = "OOMKilled"
		}
		return true
	}
	if m := dockerExit.FindStringSubmatch(trimmed); m != nil {
		c := t.piece(trimmed)
		n, _ := strconv.Atoi(m[1])
		c.LastState.Status, c.StatusKnown, c.LastState.ExitCode = "terminated", true, &n
		return true
	}
	if resources.MatchString(trimmed) && t.resourceJSON(trimmed) {
		return true
	}
	if !containsAny(trimmed, "xitCode", "estartCount", "reason", "signal", "edAt", "message", "oomKilled") {
		return t.jsonPiece(s, trimmed)
	}
	if m := pathField.FindStringSubmatch(trimmed); m != nil && t.pathField(m[1], m[2], m[3], trimmed) {
		return true
	}
	return t.jsonPiece(s, trimmed)
}

// piece gives the container to which a field belongs.
func (t *text) piece(raw string) *evidence.Container {
	t.closeRow()
	if t.pieces == nil {
		t.pieces = &fragment{n: t.n, restarts: -1}
		t.pieces.container.Restarts = -1
	}
	if len(t.pieces.raw) < maxContinuation {
		t.pieces.raw = append(t.pieces.raw, excerpt(raw))
	}
	return &t.pieces.container
}

// pathField reads "lastState.terminated.exitCode: 139" and shorter forms of it.
func (t *text) pathField(path, key, value, raw string) bool {
	path = strings.Trim(path, `."'`)
	value = strings.Trim(value, `"'`)
	lower := strings.ToLower(path)
	state := strings.Contains(lower, "state") || strings.Contains(lower, "terminated") || strings.Contains(lower, "waiting") || strings.Contains(lower, "running")
	switch key {
	case "exitCode", "restartCount", "oomKilled":
	default:
		if !state {
			return false // "reason: x" alone may be of anything
		}
	}
	if strings.ContainsAny(path, "\"") {
		return false // a piece of JSON with several keys
	}
	if (key == "exitCode" || key == "restartCount" || key == "signal") && number(value) < 0 {
		return false
	}
	c := t.piece(raw)
	c.StatusKnown = true
	st := &c.LastState
	if strings.Contains(path, "state.") && !strings.Contains(path, "lastState") {
		st = &c.State
	}
	if st.Status == "" {
		st.Status = "terminated"
		if strings.Contains(lower, "waiting") {
			st.Status = "waiting"
		} else if strings.Contains(lower, "running") {
			st.Status = "running"
		}
	}
	switch key {
	case "exitCode":
		n := number(value)
		st.ExitCode = &n
	case "restartCount":
		c.Restarts, t.pieces.restarts = number(value), number(value)
		if len(t.pieces.raw) == 1 && st.ExitCode == nil && st.Reason == "" {
			st.Status = ""
		}
	case "reason":
		st.Reason = value
	case "message":
		st.Message = value
	case "signal":
		st.Signal = number(value)
	case "startedAt":
		st.Started = jsonTime(value)
	case "finishedAt":
		st.Finished = jsonTime(value)
	case "oomKilled":
		if value == "true" {
			st.Reason = "OOMKilled"
		}
	}
	return true
}

// resourceJSON reads the resources of a container as jsonpath prints them.
func (t *text) resourceJSON(s string) bool {
	var r struct{ Limits, Requests map[string]string }
	if json.Unmarshal([]byte(s), &r) != nil {
		return false
	}
	c := t.piece(s)
	for _, v := range []struct {
		m   map[string]string
		cpu *float64
		mem *float64
	}{{r.Limits, &c.CPULimit, &c.MemoryLimit}, {r.Requests, &c.CPURequest, &c.MemoryRequest}} {
		*v.cpu, *v.mem = max(quantity(v.m["cpu"]), 0), max(quantity(v.m["memory"]), 0)
	}
	return true
}

// jsonPiece gathers a line of JSON that was cut at its ends and broken into several lines.
func (t *text) jsonPiece(s, trimmed string) bool {
	open := t.pieces != nil && t.pieces.json.Len() > 0
	if !open && (len(jsonKey.FindAllString(trimmed, 3)) < 2 || strings.HasPrefix(trimmed, "|") || !strings.ContainsAny(trimmed[:1], `",{}[]`)) {
		return false
	}
	if open && !strings.ContainsAny(trimmed, `":{}`) {
		return false
	}
	t.piece(trimmed)
	if t.pieces.json.Len()+len(s) <= maxJoined {
		t.pieces.json.WriteString(strings.TrimRight(s, "\r"))
	}
	return true
}

var (
	endedPiece = regexp.MustCompile(`"lastState"\s*:\s*\{\s*"terminated"\s*:\s*\{([^{}]*)`)
	namePiece  = regexp.MustCompile(`"name"\s*:\s*"([^"]+)"`)
	exitPiece  = regexp.MustCompile(`"exitCode"\s*:\s*(\d+)`)
	countPiece = regexp.MustCompile(`"restartCount"\s*:\s*(\d+)`)
)

// field gives a string field of a piece of JSON, unescaped.
func field(s, key string) string {
	i := strings.Index(s, `"`+key+`":`)
	if i < 0 {
		return ""
	}
	v := strings.TrimLeft(s[i+len(key)+3:], " ")
	if !strings.HasPrefix(v, `"`) {
		end := strings.IndexAny(v, ",}] \n")
		if end < 0 {
			end = len(v)
		}
		return v[:end]
	}
	end := 1
	for end < len(v) && v[end] != '"' {
		if v[end] == '\\' {
			end++
		}
		end++
	}
	if end >= len(v) {
		return "" // cut
	}
	var out string
	if json.Unmarshal([]byte(v[:end+1]), &out) != nil {
		return v[1:end]
	}
	return out
}

// containersOf reads the statuses in a piece of pod JSON, key by key, without its closing braces.
func containersOf(s string) []evidence.Container {
	var out []evidence.Container
	spans := endedPiece.FindAllStringSubmatchIndex(s, 32)
	for i, m := range spans {
		body := s[m[2]:m[3]]
		c := evidence.Container{Restarts: -1, StatusKnown: true}
		c.LastState = evidence.ContainerState{Status: "terminated", Reason: field(body, "reason"), Message: field(body, "message"),
			Started: jsonTime(field(body, "startedAt")), Finished: jsonTime(field(body, "finishedAt"))}
		if e := exitPiece.FindStringSubmatch(body); e != nil {
			n := number(e[1])
			c.LastState.ExitCode = &n
		}
		end := len(s)
		if i+1 < len(spans) {
			end = spans[i+1][0]
		}
		// The API prints the name behind lastState; people who cut the JSON by hand often keep it before.
		before := s[:m[0]]
		if j := strings.LastIndexAny(before, "{}"); j >= 0 && namePiece.MatchString(before[j:]) {
			c.Name = namePiece.FindStringSubmatch(before[j:])[1]
		} else if n := namePiece.FindStringSubmatch(s[m[1]:end]); n != nil {
			c.Name = n[1]
		}
		if n := countPiece.FindStringSubmatch(s[m[0]:end]); n != nil {
			c.Restarts = number(n[1])
		}
		out = append(out, c)
	}
	return out
}

// endPieces keeps what the single fields said.
func (t *text) endPieces() {
	f := t.pieces
	if f == nil {
		return
	}
	t.pieces = nil
	p := evidence.Pod{Restarts: f.restarts}
	if f.json.Len() > 0 {
		p.Containers = containersOf(f.json.String())
		if len(p.Containers) == 0 {
			return
		}
	} else {
		p.Containers = []evidence.Container{f.container}
	}
	p.Object = t.object("Pod")
	if p.Containers[0].Name == "" && len(p.Containers) == 1 {
		p.Containers[0].Name = t.about.container
	}
	p.Item = t.item("paste", objectLocator("state of pod", p.Object), f.n, strings.Join(f.raw, "\n"))
	t.set.Pods = append(t.set.Pods, p)
}

// jsonEvent reads an event as one line of JSON, which may be cut at both ends.
func (t *text) jsonEvent(s string) bool {
	if !strings.Contains(s, `"reason":`) || !strings.Contains(s, `"message":`) {
		return false
	}
	reason, message := field(s, "reason"), field(s, "message")
	if _, known := reasons[strings.ToLower(reason)]; !known && !probeText.MatchString(message) {
		return false
	}
	e := evidence.Event{Reason: canonicalReason(reason), Type: field(s, "type"), Component: field(s, "component"), Host: field(s, "host"),
		First: jsonTime(field(s, "firstTimestamp")), Last: jsonTime(field(s, "lastTimestamp")), Count: 1, AtLeast: true}
	if e.Type != "Warning" && e.Type != "Normal" {
		e.Type = ""
	}
	if n := number(field(s, "count")); n > 0 {
		e.Count, e.AtLeast = n, false
	}
	if i := strings.Index(s, `"involvedObject":`); i >= 0 {
		o, _, _ := strings.Cut(s[i:], "}")
		e.Object = evidence.Object{Kind: field(o, "kind"), Namespace: field(o, "namespace"), Name: field(o, "name"), UID: field(o, "uid")}
		if m := subObject.FindStringSubmatch(field(o, "fieldPath")); m != nil {
			e.Container = m[2]
		}
	}
	if e.First.IsZero() {
		e.First = e.Last
	}
	setMessage(&e, message)
	t.openRow(e, s, true)
	t.closeRow()
	return true
}

var gateName = regexp.MustCompile(`readiness gate "([^"]+)"`)

// conditionsBlock reads a list of conditions that was cut out of a pod's status.
func (t *text) conditionsBlock(first int, text string) bool {
	lines := strings.Split(text, "\n")
	if len(lines) > 400 || !conditionStart.MatchString(lines[0]) && strings.TrimSpace(lines[0]) != "conditions:" {
		return false
	}
	var list []evidence.Condition
	var c evidence.Condition
	end := func() {
		list = append(list, c)
		c = evidence.Condition{}
	}
	for _, l := range lines {
		l = strings.TrimSpace(l)
		if rest, ok := strings.CutPrefix(l, "- "); ok {
			end()
			l = rest
		}
		k, v, _ := strings.Cut(l, ": ")
		v = strings.Trim(strings.TrimSpace(v), `"'`)
		switch k {
		case "type":
			c.Type = v
		case "status":
			c.Status = v
		case "reason":
			c.Reason = v
		case "message":
			c.Message = strings.TrimSpace(strings.TrimPrefix(l, "message: "))
			c.Message = strings.Trim(c.Message, "'")
		case "lastTransitionTime":
			c.Transition = jsonTime(v)
		}
	}
	end()
	return t.addConditions(first, text, list)
}

// addConditions keeps those of the conditions that pods have; false when there are none.
func (t *text) addConditions(first int, text string, list []evidence.Condition) bool {
	p := evidence.Pod{Restarts: -1}
	for _, c := range list {
		if c.Type == "Ready" || c.Type == "ContainersReady" || c.Type == "Initialized" || c.Type == "PodScheduled" || strings.Contains(c.Type, "/") {
			p.Conditions = append(p.Conditions, c)
			if m := gateName.FindStringSubmatch(c.Message); m != nil {
				p.Gates = append(p.Gates, m[1])
			}
		}
	}
	if len(p.Conditions) == 0 {
		return false
	}
	p.Object = t.object("Pod")
	p.Item = t.item("paste", objectLocator("conditions of pod", p.Object), first, text)
	t.set.Pods = append(t.set.Pods, p)
	return true
}

// addSeries keeps a number that was printed, as a series with one sample.
func (t *text) addSeries(name string, labels map[string]string, v float64) {
	t.closeRow()
	t.set.Series = append(t.set.Series, evidence.Series{
		Item: t.item("paste", name, t.n, t.raw), Name: name, Labels: labels, Samples: []evidence.Sample{{Value: v}},
	})
}
