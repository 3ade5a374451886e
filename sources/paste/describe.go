package paste

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"github.com/probedoctor/probedoctor/sources/evidence"
)

// maxDescription and maxDescriptionBytes bound one description; a pod with fifty containers has about two thousand lines.
const (
	maxDescription      = 20000
	maxDescriptionBytes = 2 << 20
)

// description is the output of kubectl describe, or the pieces of it that somebody pasted, while its lines come in. What
// kind of object it describes is often clear only at its end, so the lines are kept and read together.
type description struct {
	lines  []descLine
	carry  evidence.Object // what a description above this piece named
	asked  string          // kind in the command
	elided bool
	built  bool
	last   int // number of the last line taken
	size   int // bytes taken
}

type descLine struct {
	n, indent  int
	key, value string // key is empty for lines that have none
	text       string
	raw        string
	gap        bool // lines were left out here
}

var (
	descKey = regexp.MustCompile(`^([A-Z][A-Za-z0-9 ()/_.-]{0,50}?):(?:\s+(.*))?$`)
	// descAnyKey is for the lines inside a section, where names of containers and variables are keys.
	descAnyKey = regexp.MustCompile(`^([A-Za-z0-9_][\w .()/*…-]{0,120}?):(?:\s+(.*))?$`)
	wideKey    = regexp.MustCompile(`^[A-Z][A-Za-z0-9 ()/_.-]{0,50}:(?:\s{2,}|\t|$)`)
	// pieceStart is a line that can only be a piece of a description.
	pieceStart = regexp.MustCompile(`^(?:Last State:|State:\s+(?:Running|Waiting|Terminated)\b|Restart Count:\s+\d|Exit Code:\s+-?\d|` +
		`(?:Liveness|Readiness|Startup):\s+(?:http-get|exec|tcp-socket|grpc)\b|(?:Init )?Containers:$|Limits:$|Requests:$|Controlled By:\s|` +
		`Endpoints:\s+(?:<none>|[\d\[])|Deployment pods:\s+\d|Replicas:\s+\d+ (?:desired|current)|Namespace:\s{2,}\S|Node:\s{2,}\S|` +
		`Conditions:$|Allocatable:$|Kubelet Version:\s|QoS Class:\s|Readiness Gates:$|Port:\s+(?:\S+\s+)?\d+/TCP)`)
	comment = regexp.MustCompile(`\s+# .*$`)
)

// pieceKeys are the keys of pods and containers that may stand in a piece, whatever the blanks around them.
var pieceKeys = map[string]bool{
	"Last State": true, "State": true, "Reason": true, "Message": true, "Exit Code": true, "Started": true, "Finished": true,
	"Signal": true, "Ready": true, "Restart Count": true, "Limits": true, "Requests": true, "Liveness": true, "Readiness": true,
	"Startup": true, "Image": true, "Port": true, "Ports": true, "Host Port": true, "Host Ports": true, "Environment": true,
	"Mounts": true, "Containers": true, "Init Containers": true, "Conditions": true, "Name": true, "Namespace": true, "Node": true,
	"IP": true, "IPs": true, "Status": true, "Controlled By": true, "Labels": true, "Annotations": true, "Start Time": true,
	"Container ID": true, "Image ID": true, "Command": true, "Args": true, "QoS Class": true, "Volumes": true, "Tolerations": true,
	"Node-Selectors": true, "Type": true, "Selector": true, "Endpoints": true, "TargetPort": true, "Session Affinity": true,
	"Service Account": true, "Priority": true, "NodePort": true, "Replicas": true, "Min replicas": true, "Max replicas": true,
	"Reference": true, "Metrics": true, "Deployment pods": true, "Readiness Gates": true, "Termination Grace Period": true,
}

// describeLine takes a line of a description.
func (t *text) describeLine(s, trimmed string) bool {
	if strings.HasPrefix(s, "Name:") && wideKey.MatchString(s) || t.about.verb == "describe" && strings.HasPrefix(s, "Name: ") {
		t.closeRow()
		t.endDescription()
		t.doc = &description{}
		if t.about.verb == "describe" {
			t.doc.asked = t.about.kind
		}
		t.inEvents, t.logs = false, false
		return t.doc.take(t.n, s, trimmed, t.raw)
	}
	if t.doc == nil || t.doc.built {
		if !pieceStart.MatchString(trimmed) {
			return false
		}
		d := &description{}
		if t.doc != nil {
			d.carry = t.doc.object()
		} else if t.about.verb == "describe" {
			d.carry = evidence.Object{Kind: t.about.kind, Name: t.about.name, Namespace: t.about.namespace}
		}
		t.closeRow()
		t.doc = d
		return d.take(t.n, s, trimmed, t.raw)
	}
	if !t.doc.accepts(t.n, s, trimmed) {
		return false
	}
	t.closeRow()
	return t.doc.take(t.n, s, trimmed, t.raw)
}

// accepts tells whether the line can belong to the description.
func (d *description) accepts(n int, s, trimmed string) bool {
	if m := descKey.FindStringSubmatch(trimmed); m != nil && pieceKeys[m[1]] {
		return true
	}
	named := d.value("Name") != ""
	switch {
	case indent(s) == 0:
		return named && wideKey.MatchString(s)
	case named:
		return true
	}
	return n == d.last+1 && indent(s) >= 2
}

func (d *description) take(n int, s, trimmed, raw string) bool {
	if d.size += len(raw); len(d.lines) >= maxDescription || d.size > maxDescriptionBytes {
		d.elided = true
		return true
	}
	trimmed = comment.ReplaceAllString(trimmed, "")
	l := descLine{n: n, indent: indent(s), text: trimmed, raw: raw}
	if m := descAnyKey.FindStringSubmatch(trimmed); m != nil {
		l.key, l.value = m[1], strings.TrimSpace(m[2])
	}
	d.lines = append(d.lines, l)
	d.last = n
	return true
}

// elide notes that lines were left out here: what follows may be of another section.
func (d *description) elide() {
	d.elided = true
	if n := len(d.lines); n > 0 && n < maxDescription && !d.built {
		d.lines = append(d.lines, descLine{n: d.lines[n-1].n, gap: true})
		d.last++
	}
}

// value is the value of a key that stands flush left.
func (d *description) value(key string) string {
	for _, l := range d.lines {
		if l.indent == 0 && l.key == key {
			return l.value
		}
	}
	return ""
}

func (d *description) has(keys ...string) bool {
	return slices.ContainsFunc(d.lines, func(l descLine) bool { return slices.Contains(keys, l.key) })
}

// object is the object that is described; its kind follows from the keys that only descriptions of that kind have.
func (d *description) object() evidence.Object {
	o := evidence.Object{Name: cmp.Or(d.value("Name"), d.carry.Name), Namespace: cmp.Or(d.value("Namespace"), d.carry.Namespace)}
	o.Kind = d.kind()
	if unknownAge(o.Namespace) {
		o.Namespace = ""
	}
	return o
}

func (d *description) kind() string {
	switch {
	case d.has("Min replicas", "Max replicas", "Deployment pods"):
		return "HorizontalPodAutoscaler"
	case d.has("Kubelet Version", "Allocatable", "System Info", "Non-terminated Pods", "Roles"):
		return "Node"
	case d.has("StrategyType", "OldReplicaSets", "NewReplicaSet"):
		return "Deployment"
	case d.has("Desired Number of Nodes Scheduled"):
		return "DaemonSet"
	case d.has("Pod Template"):
		if strings.Contains(d.value("Replicas"), "current") {
			return "ReplicaSet"
		}
		return cmp.Or(d.asked, "StatefulSet")
	case d.has("Session Affinity", "TargetPort", "Endpoints") && !d.has("Containers"):
		return "Service"
	case d.has("Ingress Class", "Default backend", "Rules"):
		return "Ingress"
	}
	return cmp.Or(d.asked, d.carry.Kind, "Pod")
}

// endDescription builds the object and forgets the description.
func (t *text) endDescription() {
	t.buildDescription()
	t.doc = nil
	t.inEvents = false
}

// buildDescription turns the lines into an object; the description stays open for the events below it.
func (t *text) buildDescription() {
	d := t.doc
	if d == nil || d.built || len(d.lines) == 0 {
		return
	}
	d.built = true
	o := d.object()
	o.Namespace = cmp.Or(o.Namespace, t.about.namespace)
	first := d.lines[0]
	item := t.item("kubectl", objectLocator("describe "+strings.ToLower(o.Kind), o), first.n, d.excerpt())
	switch o.Kind {
	case "Pod":
		if p, ok := d.pod(); ok {
			p.Item, p.Object = item, o
			t.set.Pods = append(t.set.Pods, p)
		}
	case "Deployment", "ReplicaSet", "StatefulSet", "DaemonSet", "ReplicationController", "Job":
		w := d.workload()
		w.Item, w.Object = item, o
		t.set.Workloads = append(t.set.Workloads, w)
	case "HorizontalPodAutoscaler":
		a := d.scaler()
		a.Item, a.Object, a.Target.Namespace = item, o, o.Namespace
		t.set.Autoscalers = append(t.set.Autoscalers, a)
	case "Node":
		n := d.node()
		o.Namespace = ""
		n.Item, n.Object = item, o
		t.set.Nodes = append(t.set.Nodes, n)
	case "Service", "Ingress":
		t.addService(d, o, item)
	}
}

// excerpt is the part of a description that is shown.
func (d *description) excerpt() string {
	var b strings.Builder
	for _, l := range d.lines {
		if l.gap {
			continue
		}
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(strings.TrimRight(l.raw, " \t"))
		if b.Len() > maxExcerpt {
			break
		}
	}
	return b.String()
}
