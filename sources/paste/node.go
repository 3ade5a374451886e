package paste

import (
	"cmp"
	"regexp"
	"strings"
	"time"

	"github.com/probedoctor/probedoctor/sources/evidence"
)

// Lines of the node: the kubelet's log, other daemons in syslog, the kernel's ring buffer.

var (
	klogProbe = regexp.MustCompile(`^(Readiness|Liveness|Startup) probe for "([^"_]+)_([^"(]+)\(([^")]*)\):([^"]+)" (failed|errored)(?: \((\w+)\))?:\s*(.*)$`)
	// klogPair is one key="value" of structured klog.
	klogPair = regexp.MustCompile(`(\w+)="((?:[^"\\]|\\.)*)"`)
	// bareCaller is a kubelet line whose header was cut down to file and line.
	bareCaller  = regexp.MustCompile(`^([a-z][a-z0-9_]*\.go):\d+\] (.*)$`)
	klogHook    = regexp.MustCompile(`hook for container "([^"]+)" failed`)
	klogFull    = regexp.MustCompile(`\b([a-z0-9][a-z0-9.-]*)_([a-z0-9-]+)\(([0-9a-f-]{32,36})\)`)
	klogFor     = regexp.MustCompile(`\bfor "([^"\s]+)" with |\bcontainer=([a-z0-9-]+)`)
	klogPod     = regexp.MustCompile(`\bpod="([^"/]+)/([^"]+)"`)
	kernelStamp = regexp.MustCompile(`^\[\s*(?:\+?\s*(\d{1,9}\.\d{1,9})|([A-Z][a-z]{2} [A-Z][a-z]{2}\s+\d{1,2} \d\d:\d\d:\d\d \d{4}))\] (.*)$`)
	kernelBare  = regexp.MustCompile(`^(?:nf_conntrack: |TCP: out of memory|oom-kill:|Memory cgroup out of memory|Out of memory: |IPv4: martian source |possible SYN flooding |TCP: request_sock_TCP|neighbour: arp_cache|blk_update_request|EXT4-fs error|\S+ invoked oom-killer)`)
	kubeletFile = regexp.MustCompile(`^(?:prober|prober_manager|worker|kubelet|kubelet_pods|kubelet_node_status|kuberuntime_\w+|remote_runtime|remote_image|pod_workers|eviction_manager|generic|handlers|status_manager|setters|log|container|pod_container_deletor|cri_stats_provider|helpers|reconciler\w*|nestedpendingoperations|server|event|desired_state_of_world_populator|controller|fs|manager|cni|event|docker_\w+)$`)
)

// nodeLine reads a line of the kubelet, of another daemon in syslog or of the kernel.
func (t *text) nodeLine(s, trimmed string) bool {
	if t.kernelLine(trimmed) {
		return true
	}
	if m := callerOnly(trimmed); m != nil {
		l := evidence.LogLine{Logger: strings.TrimSuffix(m[1], ".go"), Message: m[2]}
		l.Origin = "kubelet"
		t.addNodeLog(l)
		return true
	}
	klog := isKlog(trimmed)
	if !klog && (trimmed[0] < '0' || trimmed[0] > '9' && trimmed[0] < 'A' || trimmed[0] > 'Z') {
		return false
	}
	if !klog && !syslogStart.MatchString(trimmed) {
		return false
	}
	l, r, ok := logLine(trimmed)
	if !ok || l.Message == "" {
		return false
	}
	switch {
	case l.Origin == "kubelet":
	case klog && strings.Contains(trimmed, "nf_conntrack"):
		l.Origin = "node"
	case klog && (kubeletFile.MatchString(l.Logger) || klogPod.MatchString(l.Message)):
		l.Origin = "kubelet"
	case !klog && l.Origin == "app" && nodeProgram.MatchString(trimmed):
		l.Origin = "node"
	case l.Origin == "app":
		return false // a log that an application wrote
	}
	if r != nil {
		t.addRequest(*r)
	}
	t.addNodeLog(l)
	return true
}

var (
	syslogStart = regexp.MustCompile(`^(?:[A-Z][a-z]{2}\s+\d{1,2} \d\d:\d\d:\d\d|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\S*) \S+ [\w./@-]+(?:\[\d+\])?: `)
	nodeProgram = regexp.MustCompile(` (?:etcd|dockerd|docker|containerd|crio|systemd|chronyd|ntpd|kube-proxy|systemd-\w+|k3s|rke2|flanneld|calico\S*|cilium\S*|kube-\w+|audit|cloud-init|haproxy|keepalived)(?:\[\d+\])?: `)
)

// callerOnly reads "kubelet.go:2001] text".
func callerOnly(s string) []string {
	if i := strings.Index(s, ".go:"); i < 0 || i > 60 {
		return nil
	}
	return bareCaller.FindStringSubmatch(s)
}

var (
	klogEvent    = regexp.MustCompile(`^Event\(v1\.ObjectReference\{Kind:"(\w+)", Namespace:"([^"]*)", Name:"([^"]*)", UID:"([^"]*)".*?FieldPath:"([^"]*)"\}\): type: '(\w+)' reason: '(\w+)' (.*)$`)
	klogOccurred = regexp.MustCompile(`^Event occurred\b`)
)

// loggedEvent reads an event that its recorder also wrote into its log (client-go's event.go, at verbosity 3).
func loggedEvent(l evidence.LogLine) (evidence.Event, bool) {
	e := evidence.Event{Count: 1, First: l.At, Last: l.At, Host: l.Node}
	path, message := "", ""
	if m := klogEvent.FindStringSubmatch(l.Message); m != nil {
		e.Object = evidence.Object{Kind: m[1], Namespace: m[2], Name: m[3], UID: m[4]}
		path, e.Type, e.Reason, message = m[5], m[6], m[7], m[8]
	} else if klogOccurred.MatchString(l.Message) {
		kv := map[string]string{}
		for _, m := range klogPair.FindAllStringSubmatch(l.Message, 64) {
			kv[m[1]] = unescape(m[2])
		}
		e.Object.Kind = kv["kind"]
		e.Object.Namespace, e.Object.Name, _ = strings.Cut(kv["object"], "/")
		path, e.Type, e.Reason, message = kv["fieldPath"], kv["type"], kv["reason"], kv["message"]
	}
	if e.Reason == "" || e.Object.Name == "" {
		return evidence.Event{}, false
	}
	if m := subObject.FindStringSubmatch(path); m != nil {
		e.Container = m[2]
	}
	if l.Origin == "kubelet" && e.Object.Kind == "Pod" {
		e.Component = "kubelet"
	}
	setMessage(&e, message)
	return e, true
}

// addNodeLog keeps a line of the node with the pod and container that it names.
func (t *text) addNodeLog(l evidence.LogLine) {
	t.closeRow()
	t.logs = true
	if e, ok := loggedEvent(l); ok {
		t.openRow(e, t.raw, true)
		t.closeRow()
		t.logs = true
		return
	}
	nameProbe(&l)
	t.addLog(l)
}

// nameProbe takes the pod, the container and the probe out of a kubelet line. The message of a line about a probe is put
// into the words of the event that the kubelet writes for it, so that one classifier reads both; the excerpt keeps the line.
func nameProbe(l *evidence.LogLine) {
	if l.Origin != "kubelet" {
		return
	}
	if m := klogProbe.FindStringSubmatch(l.Message); m != nil {
		l.Object = evidence.Object{Kind: "Pod", Name: m[2], Namespace: m[3], UID: m[4]}
		l.Container = m[5]
		result := "failed"
		if m[6] == "errored" || m[7] == "unknown" {
			result = "errored"
		}
		l.Message = strings.TrimRight(m[1]+" probe "+result+": "+m[8], " ")
		return
	}
	kv := map[string]string{}
	for _, m := range klogPair.FindAllStringSubmatch(l.Message, 64) {
		kv[m[1]] = unescape(m[2])
	}
	if ns, name, ok := strings.Cut(kv["pod"], "/"); ok {
		l.Object = evidence.Object{Kind: "Pod", Namespace: ns, Name: name, UID: kv["podUID"]}
		l.Container = kv["containerName"]
	}
	if strings.HasPrefix(l.Message, "Probe failed") || strings.HasPrefix(l.Message, "Probe errored") {
		result := "failed"
		if strings.HasPrefix(l.Message, "Probe errored") || kv["probeResult"] == "unknown" {
			result = "errored"
		}
		out := kv["output"]
		if out == "" {
			out = kv["err"]
		}
		if kind := kv["probeType"]; kind != "" {
			l.Message = strings.TrimRight(kind+" probe "+result+": "+out, " \n")
		}
		return
	}
	if m := klogHook.FindStringSubmatch(l.Message); m != nil && l.Container == "" {
		l.Container = m[1]
	}
	if m := klogFull.FindStringSubmatch(l.Message); m != nil && l.Object.Name == "" {
		l.Object = evidence.Object{Kind: "Pod", Name: m[1], Namespace: m[2], UID: m[3]}
	}
	if m := klogFor.FindStringSubmatch(l.Message); m != nil && l.Container == "" && l.Object.Name != "" {
		l.Container = cmp.Or(m[1], m[2])
	}
}

// kernelLine reads a line of dmesg: with the time since boot, with a date (-T), with a delta (-d), or without any.
func (t *text) kernelLine(s string) bool {
	l := evidence.LogLine{Origin: "kernel"}
	var m []string
	if s[0] == '[' {
		m = kernelStamp.FindStringSubmatch(s)
	}
	switch {
	case m != nil:
		if m[2] != "" {
			at, err := time.Parse("Mon Jan _2 15:04:05 2006", m[2])
			if err != nil {
				at, err = time.Parse("Mon Jan 2 15:04:05 2006", strings.Join(strings.Fields(m[2]), " "))
			}
			if err == nil {
				l.At = at // dmesg -T prints local time without a zone
			}
		}
		l.Message = m[3]
	case kernelBare.MatchString(s):
		l.Message = s
	default:
		return false
	}
	t.closeRow()
	t.addLog(l)
	return true
}
