package paste

import (
	"cmp"
	"regexp"
	"strconv"
	"strings"

	"github.com/probedoctor/probedoctor/sources/evidence"
)

// An event row has no fixed layout: kubectl printed its columns in a different order in nearly every second release, and
// people delete columns, headers and blanks. What the cells look like has never changed, so a row is read cell by cell
// until none fits any more; what is left is the message.

var (
	subObject     = regexp.MustCompile(`^(spec\.(?:containers|initContainers|ephemeralContainers))\{([^{}\s]*)\}(:?)`)
	bracedSource  = regexp.MustCompile(`^\{([A-Za-z0-9._-]+)(?: ([^{}]*))?\}`)
	objectCell    = regexp.MustCompile(`^([A-Za-z][A-Za-z0-9]*(?:\.[a-z0-9.-]+)?)/(\S+)`)
	nameCell      = regexp.MustCompile(`^[A-Za-z0-9*…_][A-Za-z0-9.*…_\[\]<>-]*$`)
	namespaceCell = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$`)
	reasonCell    = regexp.MustCompile(`^[A-Z][A-Za-z0-9]{2,60}$`)
	componentCell = regexp.MustCompile(`^[a-z][a-z0-9.-]*[a-z0-9](?:/[a-z0-9.-]+)?$`)
	eventName     = regexp.MustCompile(`^(.+)\.[0-9a-f]{14,16}$`)
	// wideTail is what `kubectl get events -o wide` prints after the message: first seen, count, the event's name.
	wideTail = regexp.MustCompile(`\s{2,}(\S{1,24})\s+(\d{1,9})\s+(\S+\.[0-9a-f]{12,20})\s*$`)
)

// components are the sources of events whose name alone says what they are.
var components = map[string]bool{
	"kubelet": true, "default-scheduler": true, "horizontal-pod-autoscaler": true, "deployment-controller": true,
	"replicaset-controller": true, "statefulset-controller": true, "daemonset-controller": true, "daemon-controller": true,
	"job-controller": true, "node-controller": true, "cluster-autoscaler": true, "karpenter": true, "kube-proxy": true,
	"endpoint-controller": true, "endpoint-slice-controller": true, "taint-eviction-controller": true, "multus": true,
	"service-controller": true, "targetGroupBinding": true, "vpa-updater": true, "attachdetach-controller": true,
	"keda-operator": true, "keda": true, "scheduler": true, "kernel-monitor": true, "node-problem-detector": true,
	"replication-controller": true, "cronjob-controller": true, "loadbalancer-controller": true, "controllermanager": true,
}

// reasons are the event reasons that are recognised without a type beside them, in the spelling of the API.
var reasons = func() map[string]string {
	m := map[string]string{}
	for _, r := range []string{
		"Unhealthy", "ProbeWarning", "ProbeError", "ProbeFailed", "Killing", "BackOff", "Scheduled", "FailedScheduling", "Pulling",
		"Pulled", "Created", "Started", "Failed", "FailedMount", "FailedAttachVolume", "SandboxChanged", "FailedKillPod",
		"FailedCreatePodSandBox", "NetworkNotReady", "Evicted", "EvictionThresholdMet", "SystemOOM", "OOMKilling", "Preempting",
		"Preempted", "NodeReady", "NodeNotReady", "NodeHasInsufficientMemory", "NodeHasDiskPressure", "NodeHasInsufficientPID",
		"NodeHasSufficientMemory", "NodeHasNoDiskPressure", "NodeHasSufficientPID", "NodeNotSchedulable", "NodeSchedulable",
		"Rebooted", "Shutdown", "FailedPostStartHook", "FailedPreStopHook", "ExceededGracePeriod", "SuccessfulRescale",
		"FailedRescale", "FailedGetResourceMetric", "FailedGetContainerResourceMetric", "FailedGetPodsMetric",
		"FailedGetObjectMetric", "FailedGetExternalMetric", "FailedComputeMetricsReplicas", "FailedGetScale",
		"FailedUpdateStatus", "ScalingReplicaSet", "SuccessfulCreate", "SuccessfulDelete", "FailedCreate",
		"TaintManagerEviction", "TriggeredScaleUp", "NotTriggerScaleUp", "ScaleDown", "ContainerGCFailed", "ImageGCFailed",
		"FailedToUpdateEndpoint", "FailedToUpdateEndpointSlices", "DNSConfigForming", "InspectFailed", "ErrImageNeverPull",
		"CrashLoopBackOff", "NodeAllocatableEnforced", "Starting", "TaskHung", "KernelOops", "DockerHung", "ContainerDied",
	} {
		m[strings.ToLower(r)] = r
	}
	return m
}()

// canonicalReason gives the reason in the API's spelling: kubelets of 2015 wrote "unhealthy".
func canonicalReason(s string) string {
	if r, ok := reasons[strings.ToLower(s)]; ok {
		return r
	}
	return s
}

// eventCells is a row while it is read.
type eventCells struct {
	evidence.Event
	times    int // age or date cells seen
	counted  bool
	spaced   bool // two cells had more than one blank or a tab between them
	source   bool
	column   bool // a cell named the object
	readable bool // the message starts with a text that the kubelet prints
}

// scanEventRow reads one row of an events table of any layout. The object's namespace and kind are empty when the row does
// not print them.
func scanEventRow(s string) (eventCells, bool) {
	c := eventCells{}
	rest := strings.TrimSpace(s)
	for rest != "" {
		if startsProbeText(rest) {
			c.readable = true
			break
		}
		next, ok := c.cell(rest)
		if !ok {
			break
		}
		trimmed := strings.TrimLeft(next, " \t")
		gap := next[:len(next)-len(trimmed)]
		if len(gap) > 1 || strings.Contains(gap, "\t") {
			c.spaced = true
		}
		rest = trimmed
	}
	if !c.accept(rest) {
		return eventCells{}, false
	}
	c.finish(rest)
	return c, true
}

// cell takes one cell off the beginning of s.
func (c *eventCells) cell(s string) (rest string, ok bool) {
	word, after := cutWord(s)
	switch {
	case c.Type == "" && (word == "Warning" || word == "Normal"):
		c.Type = word
		return after, true
	case c.times < 2 && !c.counted:
		if at, after, ok := cutDate(s); ok {
			c.time(span{first: at, last: at, count: 1})
			return after, true
		}
		if sp, after, ok := cutSpan(s); ok && (c.times == 0 || !unknownAge(word)) {
			c.time(sp)
			return after, true
		}
	}
	if c.times > 0 && c.Count <= 1 && !c.counted {
		if n, err := strconv.Atoi(word); err == nil && n > 0 && n < 1e9 && after != "" {
			c.Count, c.counted = n, true
			return after, true
		}
	}
	switch s[0] {
	case 's':
		if m := subObject.FindStringSubmatch(s); m != nil && m[3] == "" && c.Container == "" {
			c.Container = m[2]
			return s[len(m[0]):], true
		}
	case '{':
		if m := bracedSource.FindStringSubmatch(s); m != nil && !c.source {
			c.Component, c.Host, c.source = m[1], strings.TrimSpace(m[2]), true
			return s[len(m[0]):], true
		}
	}
	if c.Object.Name == "" {
		if m := slashCell(word, s); m != nil && !strings.Contains(m[2], "/") && !strings.HasPrefix(m[2], "-") {
			if _, known := kinds[strings.ToLower(strings.SplitN(m[1], ".", 2)[0])]; known || c.Type != "" && c.Reason != "" && c.spaced {
				c.Object.Kind, c.Object.Name = apiKind(m[1]), m[2]
				return s[len(m[0]):], true
			}
		}
		if c.Reason == "" && nameCell.MatchString(word) {
			// NAME KIND of old kubectls, KIND NAME of custom columns: the kind is a whole word with a capital.
			second, after2 := cutWord(strings.TrimLeft(after, " \t"))
			if kind := capitalKind(second); kind != "" && strings.TrimSpace(after2) != "" && c.times > 0 {
				c.Object.Kind, c.Object.Name = kind, word
				if m := eventName.FindStringSubmatch(word); m != nil {
					c.Object.Name, c.Name = m[1], word // this column was the event's name for some releases
				}
				return after2, true
			}
			if kind := capitalKind(word); kind != "" && nameCell.MatchString(second) && strings.TrimSpace(after2) != "" {
				c.Object.Kind, c.Object.Name = kind, second
				return after2, true
			}
		}
	}
	if rest, ok := c.component(s, word, after); ok {
		return rest, true
	}
	if rest, ok := c.reason(word, after); ok {
		return rest, true
	}
	if c.Object.Namespace == "" && c.times == 0 && c.Type == "" && c.Object.Name == "" && namespaceCell.MatchString(word) {
		// -A: the namespace stands before the age.
		next := strings.TrimLeft(after, " \t")
		if w, tail := cutWord(next); !unknownAge(w) || strings.TrimSpace(tail) != "" {
			if _, ok := age(w); ok {
				c.Object.Namespace = word
				return after, true
			}
		}
	}
	return s, false
}

// slashCell reads "kind/name" at the beginning of s, whose first word is word.
func slashCell(word, s string) []string {
	if strings.IndexByte(word, '/') < 0 {
		return nil
	}
	return objectCell.FindStringSubmatch(s)
}

// component reads "kubelet", "kubelet, node" and the like.
func (c *eventCells) component(s, word, after string) (string, bool) {
	if c.source {
		return s, false
	}
	name, comma := strings.CutSuffix(word, ",")
	known := components[name] || strings.HasSuffix(name, "-controller") || strings.HasSuffix(name, "-autoscaler")
	if comma && known {
		host, tail := cutWord(strings.TrimLeft(after, " \t"))
		c.Component, c.Host, c.source = name, host, true
		return tail, true
	}
	if known && strings.TrimSpace(after) != "" {
		c.Component, c.source = name, true
		return after, true
	}
	// Any other source stands, in describe, between the age and the message with two blanks after it.
	if c.Type != "" && c.Reason != "" && c.times > 0 && c.Object.Name == "" && componentCell.MatchString(name) {
		if comma {
			host, tail := cutWord(strings.TrimLeft(after, " \t"))
			c.Component, c.Host, c.source = name, host, true
			return tail, true
		}
		if strings.HasPrefix(after, "  ") || strings.HasPrefix(after, "\t") {
			c.Component, c.source = name, true
			return after, true
		}
	}
	return s, false
}

func (c *eventCells) reason(word, after string) (string, bool) {
	if c.Reason != "" {
		return "", false
	}
	word, colon := strings.CutSuffix(word, ":")
	r, known := reasons[strings.ToLower(word)]
	switch {
	case known && (word == r || c.Type != "" || c.times > 0):
		c.Reason = r
	case !colon && c.Type != "" && reasonCell.MatchString(word) && strings.TrimSpace(after) != "":
		c.Reason = word
	default:
		return "", false
	}
	return after, true
}

func capitalKind(s string) string {
	if s == "" || s[0] < 'A' || s[0] > 'Z' {
		return ""
	}
	return kinds[strings.ToLower(s)]
}

// time records an age or a date cell: old layouts print first and last, in either order.
func (c *eventCells) time(sp span) {
	c.times++
	if c.times == 1 {
		c.First, c.Last, c.Count, c.counted = sp.first, sp.last, sp.count, sp.counted
		return
	}
	if sp.counted {
		c.Count, c.counted = sp.count, true
	}
	switch {
	case sp.last.IsZero():
	case c.Last.IsZero() || sp.last.After(c.Last):
		c.Last = sp.last
		if c.First.IsZero() {
			c.First = sp.last
		}
	case sp.last.Before(c.First):
		c.First = sp.last
	}
}

// accept decides whether the cells make an event. A row of prose may begin with "Killing" or "Failed".
func (c *eventCells) accept(message string) bool {
	placed := c.times > 0 || c.source || c.Object.Name != "" || c.Container != ""
	switch {
	case c.readable && (c.Type != "" || c.Reason != "" || placed):
		return true
	case message == "":
		return c.Type != "" && c.Reason != "" && placed
	case c.Type != "" && c.Reason != "":
		return placed || c.spaced
	case c.Reason != "":
		return c.source || c.Object.Name != "" || c.spaced || c.times > 0 && reasons[strings.ToLower(c.Reason)] != ""
	}
	return false
}

var (
	combinedPrefix = "(combined from similar events): "
	inPod          = regexp.MustCompile(`container (\S+) in pod ([a-z0-9.-]+)_([a-z0-9-]+)\(([0-9a-f-]+)\)?`)
	hookFailed     = regexp.MustCompile(`lifecycle hook \(.*\) for Container "([^"]+)" in Pod "([a-z0-9.-]+)_([a-z0-9-]+)\(`)
	assigned       = regexp.MustCompile(`^Successfully assigned (?:([a-z0-9-]+)/)?(\S+) to (\S+)`)
	killed         = regexp.MustCompile(`^(?:Init c|C)ontainer (\S+) failed (?:liveness|startup) probe`)
	killedOld      = regexp.MustCompile(`^Killing container with id [a-z]+://([^:\s]+):`)
	stopping       = regexp.MustCompile(`^(?:Stopping|Created|Started) container:? (\S+)$`)
)

// finish puts the message into the event and takes from it what it says about the object.
func (c *eventCells) finish(message string) {
	c.column = c.Object.Name != ""
	if m := wideTail.FindStringSubmatch(message); m != nil {
		if first, ok := age(m[1]); ok {
			message = message[:len(message)-len(m[0])]
			c.First, c.counted = first, true
			c.Count, _ = strconv.Atoi(m[2])
			c.Name = m[3]
		}
	}
	if c.Count < 1 {
		c.Count = 1
	}
	if !c.First.IsZero() && !c.Last.IsZero() && c.Last.Before(c.First) {
		c.First, c.Last = c.Last, c.First
	}
	// Without a count column nothing says how often it happened; describe prints "(xN over T)" whenever N > 1.
	c.AtLeast = !c.counted && !(c.Type != "" && c.source && c.times > 0 && c.Object.Name == "")
	setMessage(&c.Event, message)
	if c.Reason == "" {
		c.Reason = impliedReason(c.Message)
	}
}

// setMessage takes the prefixes off the message and learns the container, pod and node that it names.
func setMessage(e *evidence.Event, message string) {
	message = strings.TrimRight(message, " \t\n")
	for range 3 {
		if rest, ok := strings.CutPrefix(message, combinedPrefix); ok {
			message, e.Combined = rest, true
			continue
		}
		if m := subObject.FindStringSubmatch(message); m != nil && m[3] == ":" {
			e.Container = m[2]
			message = strings.TrimLeft(message[len(m[0]):], " ")
			continue
		}
		break
	}
	e.Message = message
	if e.Combined {
		e.Container = ""
		return
	}
	pod := func(ns, name string) {
		if e.Object.Name == "" {
			e.Object.Kind, e.Object.Name = "Pod", name
		}
		if e.Object.Name == name && e.Object.Namespace == "" {
			e.Object.Namespace = ns
		}
	}
	if m := inPod.FindStringSubmatch(message); m != nil {
		pod(m[3], m[2])
		if e.Object.Name == m[2] && e.Object.UID == "" && len(m[4]) == 36 {
			e.Object.UID = m[4]
		}
		if e.Container == "" {
			e.Container = m[1]
		}
	}
	if m := hookFailed.FindStringSubmatch(message); m != nil {
		pod(m[3], m[2])
		e.Container = cmp.Or(e.Container, m[1])
	}
	if m := assigned.FindStringSubmatch(message); m != nil {
		pod(m[1], m[2])
	}
	if e.Container == "" {
		for _, re := range []*regexp.Regexp{killed, killedOld, stopping} {
			if m := re.FindStringSubmatch(message); m != nil {
				e.Container = m[1]
				break
			}
		}
	}
}

// impliedReason is the reason that belongs to a text which only one reason has.
func impliedReason(message string) string {
	switch {
	case hookFailed.MatchString(message):
		return "FailedLifecycleHook" // FailedPostStartHook or FailedPreStopHook; the text has no word on which
	case strings.HasPrefix(message, "Back-off restarting failed container"):
		return "BackOff"
	case killed.MatchString(message), killedOld.MatchString(message):
		return "Killing"
	case probeWarning.MatchString(message):
		return "ProbeWarning"
	case probeOpening.MatchString(message):
		return "Unhealthy"
	}
	return ""
}
