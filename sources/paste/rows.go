package paste

import (
	"cmp"
	"fmt"
	"regexp"
	"strings"

	"github.com/probedoctor/probedoctor/sources/evidence"
)

// How the reader of a text handles events: rows, the lines that belong to them, bare messages.

var (
	// looksLikeRow is what an event row begins with that could not be read.
	looksLikeRow = regexp.MustCompile(`^(?:Warning|Normal)(?:\s{2,}|\t)\S`)
)

// eventRow reads a row of an events table or the line "Events:" above one.
func (t *text) eventRow(s, trimmed string) bool {
	if trimmed == "Events:" || strings.HasPrefix(trimmed, "Events:") && strings.HasSuffix(trimmed, "<none>") {
		t.closeRow()
		t.buildDescription()
		t.inEvents, t.table = true, nil
		t.group++
		return true
	}
	if strings.Trim(trimmed, "- ") == "" && strings.Contains(trimmed, "--") && (t.inEvents || t.table != nil) {
		return true
	}
	if t.table != nil && t.table.kind == tableEvents && t.table.named {
		if e, ok := t.table.event(s); ok {
			t.openRow(e, s, true)
			return true
		}
	}
	c, ok := scanEventRow(s)
	if !ok {
		if looksLikeRow.MatchString(trimmed) {
			t.closeRow()
			t.complain("an event row whose cells are not known")
			return true
		}
		return false
	}
	if t.rowOpen && !c.spaced && c.Type == "" && c.Object.Name == "" && !c.readable && execOutput(t.row.Message) {
		return false // the output of a command may begin with a date or a name
	}
	t.openRow(c.Event, s, true)
	t.described = c.Type != "" && c.source && !c.column
	return true
}

// openRow makes e the event to which the lines that follow may belong.
func (t *text) openRow(e evidence.Event, s string, tableRow bool) {
	t.closeRow()
	t.logs, t.openLog = false, false
	t.described = false
	t.rowNamed = e.Object.Name != ""
	e.Object = t.eventObject(e)
	source := "kubectl"
	if !tableRow {
		source = "paste"
	}
	e.Item = t.item(source, "", t.n, t.raw)
	t.row, t.rowOpen, t.rowIndent, t.rowLines, t.rowTable = e, true, indent(s), 0, tableRow
}

// eventObject completes the object of an event from what the text is about.
func (t *text) eventObject(e evidence.Event) evidence.Object {
	o := e.Object
	kind := o.Kind
	if kind == "" {
		kind = eventKind(e)
	}
	if o.Name == "" {
		about := t.subject()
		switch {
		case kind == "" || about.Kind == kind:
			return evidence.Object{Namespace: cmp.Or(o.Namespace, about.Namespace), Kind: cmp.Or(about.Kind, kind), Name: about.Name}
		default:
			return evidence.Object{Namespace: cmp.Or(o.Namespace, t.about.namespace), Kind: kind}
		}
	}
	o.Kind = kind
	if kind == "Node" {
		return o // nodes have no namespace, whatever the command's flag
	}
	o.Namespace = cmp.Or(o.Namespace, t.about.namespace)
	return o
}

// subject is the one object that a description or a command names.
func (t *text) subject() evidence.Object {
	if t.doc != nil {
		if o := t.doc.object(); o.Name != "" {
			o.Namespace = cmp.Or(o.Namespace, t.about.namespace)
			return o
		}
	}
	if t.named.Name != "" {
		return t.named
	}
	if t.about.name != "" && t.about.verb == "describe" {
		return evidence.Object{Namespace: t.about.namespace, Kind: t.about.kind, Name: t.about.name}
	}
	return evidence.Object{Namespace: t.about.namespace}
}

// eventKind is the kind of object that only events of this reason or source have.
func eventKind(e evidence.Event) string {
	switch e.Reason {
	case "Unhealthy", "ProbeWarning", "ProbeError", "ProbeFailed", "Killing", "BackOff", "Pulled", "Pulling", "Created", "Started",
		"SandboxChanged", "FailedCreatePodSandBox", "FailedMount", "FailedPreStopHook", "FailedPostStartHook", "FailedKillPod",
		"Scheduled", "FailedScheduling", "Evicted", "ExceededGracePeriod", "":
		return "Pod"
	case "SuccessfulRescale", "FailedRescale", "FailedGetResourceMetric", "FailedGetContainerResourceMetric",
		"FailedGetPodsMetric", "FailedGetObjectMetric", "FailedGetExternalMetric", "FailedComputeMetricsReplicas", "FailedGetScale":
		return "HorizontalPodAutoscaler"
	case "ScalingReplicaSet":
		return "Deployment"
	case "SystemOOM", "NodeReady", "NodeHasInsufficientMemory", "NodeHasDiskPressure", "NodeHasInsufficientPID",
		"NodeHasSufficientMemory", "NodeHasNoDiskPressure", "NodeHasSufficientPID", "NodeNotSchedulable", "NodeSchedulable",
		"Rebooted", "EvictionThresholdMet", "ContainerGCFailed", "ImageGCFailed", "OOMKilling", "TaskHung", "KernelOops":
		return "Node"
	}
	return ""
}

// closeRow ends the open event and keeps it.
func (t *text) closeRow() {
	if !t.rowOpen {
		return
	}
	t.rowOpen = false
	e := t.row
	e.Message = strings.TrimRight(e.Message, " \t\n")
	e.Locator = eventLocator(e)
	t.set.Events = append(t.set.Events, e)
	if t.described && e.Object.Kind == "Pod" && (e.Object.Name == "" || t.rowNamed) {
		t.placed = append(t.placed, place{event: len(t.set.Events) - 1, group: t.group})
	}
}

// place is an event of a description, whose rows name no object of their own, with the number of the table in the text.
type place struct{ event, group int }

// shareNames gives the rows of a description's Events block the pod that one of them names in its message ("Successfully
// assigned shop/cart-0 to n-1"): all of them are about the same one.
func (t *text) shareNames() {
	names := map[int]evidence.Object{}
	for _, p := range t.placed {
		o := t.set.Events[p.event].Object
		if o.Name == "" {
			continue
		}
		if old, ok := names[p.group]; ok && (old.Name != o.Name || old.Namespace != o.Namespace) {
			o.Name = "" // a table about several pods
		}
		names[p.group] = o
	}
	for _, p := range t.placed {
		e := &t.set.Events[p.event]
		if o := names[p.group]; e.Object.Name == "" && o.Name != "" && (e.Object.Namespace == "" || e.Object.Namespace == o.Namespace) {
			e.Object.Namespace, e.Object.Name = o.Namespace, o.Name
			e.Locator = eventLocator(*e)
		}
	}
}

func eventLocator(e evidence.Event) string {
	name := e.Object.Name
	if e.Object.Namespace != "" && name != "" {
		name = e.Object.Namespace + "/" + name
	}
	return strings.Join(strings.Fields("event "+name+" "+e.Reason), " ")
}

// continuation reads a line that belongs to the row above: the further lines of a command's output, or what a person
// wrapped by hand.
func (t *text) continuation(s, trimmed string) bool {
	if !t.rowOpen || t.rowLines >= maxContinuation || len(t.row.Message)+len(trimmed) > maxMessage {
		return false
	}
	switch strings.ToLower(trimmed) {
	case "or", "and", "then", "also", "plus":
		t.closeRow()
		return false
	}
	m := t.row.Message
	exec := execOutput(m)
	deeper := indent(s) > t.rowIndent
	if describeName.MatchString(trimmed) || headerLine(s) != nil || startBlock(t.n, s, trimmed) != nil && !deeper {
		return false
	}
	switch {
	case t.row.Reason == "ProbeError" && (strings.HasPrefix(trimmed, "body:") || t.rowLines > 0):
	case !openEnd(m):
		return false
	case exec:
		if !t.rowTable && !deeper && tellingTexts.MatchString(trimmed) {
			return false
		}
	case deeper, wrappedTail.MatchString(trimmed):
	default:
		return false
	}
	sep := "\n"
	if !exec {
		sep = " "
	}
	if m == "" {
		sep = ""
	}
	t.row.Message = m + sep + trimmed
	if exec {
		t.row.Message = m + sep + strings.TrimRight(s, " \t")
	}
	t.rowLines++
	return true
}

// wrappedTail is how the second half of a wrapped network message begins.
var wrappedTail = regexp.MustCompile(`^(?:"?https?://|dial tcp|read tcp|net/http:|context deadline|\(Client\.Timeout|EOF|connect:|while awaiting|awaiting headers)`)

// execOutput tells whether the message is the output of a command, which may have any number of lines. What the kubelet
// prints about a request has one.
func execOutput(m string) bool {
	loc := probeOpening.FindStringIndex(m)
	if loc == nil {
		return false
	}
	out := strings.TrimLeft(m[loc[1]:], ": ")
	for _, p := range []string{"Get", "dial tcp", "HTTP probe failed", "net/http:", "context deadline", "read tcp"} {
		if strings.HasPrefix(out, p) {
			return false
		}
	}
	return true
}

// strongMessage reads a line that is a kubelet message without a row around it.
func (t *text) strongMessage(s, trimmed string) bool { return t.bare(s, trimmed, false) }

// weakMessage reads a line that is only the output of a probe.
func (t *text) weakMessage(s, trimmed string) bool {
	if t.about.verb == "log" {
		return false
	}
	return t.bare(s, trimmed, true)
}

func (t *text) bare(s, trimmed string, weak bool) bool {
	e, isWeak, ok := bareMessage(trimmed)
	if !ok || isWeak != weak {
		return false
	}
	t.openRow(e, s, false)
	return true
}

// quoted is a whole message of the kubelet in the midst of a sentence: with the beginning of an output that probes print.
var quoted = regexp.MustCompile("([\"'`“]?)((?:Readiness|Liveness|Startup) probe (?:failed|errored): " +
	"(?:Get [\"h]|dial tcp |HTTP probe failed with|command |context deadline|rpc error|OCI runtime|service unhealthy|EOF).*)$")

// quotedMessage reads a message that somebody quotes in a sentence.
func (t *text) quotedMessage(s, trimmed string) bool {
	if !strings.Contains(trimmed, " probe ") {
		return false
	}
	m := quoted.FindStringSubmatch(trimmed)
	if m == nil {
		return false
	}
	message := m[2]
	switch {
	case m[1] == "`":
		message, _, _ = strings.Cut(message, "`")
	case m[1] == "“":
		message, _, _ = strings.Cut(message, "”")
	case m[1] != "":
		if i := strings.LastIndex(message, m[1]); i > 0 && oddQuotes(message[:i]) {
			message = message[:i]
		}
	}
	e := evidence.Event{Count: 1, AtLeast: true}
	setMessage(&e, message)
	e.Reason = impliedReason(e.Message)
	t.openRow(e, s, false)
	t.closeRow()
	return true
}

// cover records what could not be read. With more it counts the rows that are not named.
func (t *text) cover(status evidence.CoverageStatus, why string, more int) {
	detail := fmt.Sprintf("%s:%d: %s", t.file, t.n, why)
	if more > 0 {
		detail = fmt.Sprintf("%s: %d more rows could not be read", t.file, more)
	}
	t.set.Coverage = append(t.set.Coverage, evidence.Coverage{Source: evidence.SourceInput, Status: status, Detail: detail})
}
