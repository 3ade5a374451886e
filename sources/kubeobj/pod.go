package kubeobj

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/probedoctor/probedoctor/sources/evidence"
)

// Bounds of what is kept of a container's command line: enough to see a server's flags, not a whole script.
const (
	maxArgs    = 64
	maxArgText = 1024
)

func addPod(set *evidence.Set, t tree, at Origin) {
	m := metaOf(t, "Pod")
	spec, status := t.sub("spec"), t.sub("status")
	p := evidence.Pod{
		Item: at.item(m.locator()), Object: m.object, Owner: m.owner, Labels: m.labels, Annotations: m.annotations,
		TemplateHash: templateHash(m.labels),
		Node:         spec.str("nodeName"), HostNetwork: spec.isTrue("hostNetwork"),
		IP: status.str("podIP"), Phase: status.str("phase"), Reason: status.str("reason"),
		Created: m.created, Started: status.time("startTime"), Deleted: t.sub("metadata").time("deletionTimestamp"),
		GraceSeconds: t.sub("metadata").intOr("deletionGracePeriodSeconds", spec.intOr("terminationGracePeriodSeconds", 0)),
		Containers:   podContainers(spec, at), Conditions: conditions(status), Restarts: -1,
	}
	for _, g := range spec.list("readinessGates") {
		p.Gates = append(p.Gates, g.str("conditionType"))
	}
	addStatuses(&p, status)
	p.Excerpt = podExcerpt(&p)
	set.Pods = append(set.Pods, p)
}

func templateHash(labels map[string]string) string {
	if h := labels["pod-template-hash"]; h != "" {
		return h
	}
	return labels["controller-revision-hash"]
}

// addStatuses joins the container statuses to the containers and sums up the restarts.
func addStatuses(p *evidence.Pod, status tree) {
	known := false
	for _, key := range []string{"initContainerStatuses", "containerStatuses"} {
		for _, s := range status.list(key) {
			known = true
			c, ok := p.Container(s.str("name"))
			if !ok {
				p.Containers = append(p.Containers, evidence.Container{Name: s.str("name"), Init: key == "initContainerStatuses"})
				c = &p.Containers[len(p.Containers)-1]
			}
			setStatus(c, s)
		}
	}
	if !known {
		// A pod that the kubelet has not taken up yet has a phase but no container statuses.
		if p.Phase == "Pending" {
			p.Restarts = 0
		}
		return
	}
	p.Restarts = 0
	for i := range p.Containers {
		c := &p.Containers[i]
		if !c.StatusKnown {
			continue
		}
		if !c.Init || c.Sidecar {
			p.Restarts += c.Restarts
			p.TotalContainers++
			if c.Ready {
				p.ReadyContainers++
			}
		}
		if c.Restarts == 0 {
			continue
		}
		// The restart is when the running container started; one that does not run now ended its last run then.
		last := c.State.Started
		for _, t := range []time.Time{c.State.Finished, c.LastState.Finished} {
			if last.IsZero() {
				last = t
			}
		}
		if last.After(p.LastRestart) {
			p.LastRestart = last
		}
	}
}

func setStatus(c *evidence.Container, s tree) {
	c.StatusKnown = true
	c.Ready = s.isTrue("ready")
	if started, ok := s.boolean("started"); ok {
		c.Started = &started
	}
	c.Restarts = s.intOr("restartCount", 0)
	c.State = containerState(s.sub("state"))
	c.LastState = containerState(s.sub("lastState"))
	if c.Image == "" {
		c.Image = s.str("image")
	}
}

func containerState(t tree) evidence.ContainerState {
	for _, status := range []string{"running", "terminated", "waiting"} {
		s, ok := t[status].(map[string]any)
		if !ok {
			continue
		}
		v := tree(s)
		state := evidence.ContainerState{
			Status: status, Reason: v.str("reason"), Message: cut(v.str("message"), maxArgText),
			Signal: v.intOr("signal", 0), Started: v.time("startedAt"), Finished: v.time("finishedAt"),
		}
		if code, ok := v.integer("exitCode"); ok {
			state.ExitCode = &code
		}
		return state
	}
	return evidence.ContainerState{}
}

func conditions(status tree) []evidence.Condition {
	var out []evidence.Condition
	for _, c := range status.list("conditions") {
		if c.str("type") == "" {
			continue
		}
		out = append(out, evidence.Condition{
			Type: c.str("type"), Status: c.str("status"), Reason: c.str("reason"),
			Message: cut(c.str("message"), maxArgText), Transition: c.time("lastTransitionTime"),
		})
	}
	return out
}

// podContainers gives the containers of a pod specification, init containers first.
func podContainers(spec tree, at Origin) []evidence.Container {
	var out []evidence.Container
	for _, c := range spec.list("initContainers") {
		ic := container(c, at)
		ic.Init = true
		ic.Sidecar = c.str("restartPolicy") == "Always"
		out = append(out, ic)
	}
	for _, c := range spec.list("containers") {
		out = append(out, container(c, at))
	}
	return out
}

func container(t tree, at Origin) evidence.Container {
	limits, requests := t.sub("resources", "limits"), t.sub("resources", "requests")
	c := evidence.Container{
		Name: t.str("name"), Image: t.str("image"),
		Command: args(append(t.strs("command"), t.strs("args")...)),
		Ports:   ports(t, "containerPort"), Env: env(t), ProbesKnown: !at.Incomplete,
		CPURequest: requests.quantity("cpu"), CPULimit: limits.quantity("cpu"),
		MemoryRequest: requests.quantity("memory"), MemoryLimit: limits.quantity("memory"),
		PreStop: hook(t.sub("lifecycle", "preStop")),
	}
	for _, kind := range probeKinds {
		if p, ok := t[string(kind)+"Probe"].(map[string]any); ok {
			c.Probes = append(c.Probes, probe(p, kind))
		}
	}
	return c
}

// args bounds a command line.
func args(in []string) []string {
	if len(in) > maxArgs {
		in = append(slices.Clip(in[:maxArgs]), "…")
	}
	for i, a := range in {
		in[i] = cut(a, maxArgText)
	}
	return in
}

func ports(t tree, numberKey string) []evidence.Port {
	var out []evidence.Port
	for _, p := range t.list("ports") {
		out = append(out, evidence.Port{
			Name: p.str("name"), Number: p.intOr(numberKey, 0), Protocol: p.str("protocol"), Target: p.str("targetPort"),
		})
	}
	return out
}

// hook describes a lifecycle handler: "exec sleep 10", "http :8080/drain", "sleep 10s".
func hook(t tree) string {
	switch {
	case t.has("exec"):
		return "exec " + cut(strings.Join(args(t.sub("exec").strs("command")), " "), maxArgText)
	case t.has("httpGet"):
		h := t.sub("httpGet")
		return "http " + h.str("host") + ":" + h.str("port") + h.str("path")
	case t.has("tcpSocket"):
		return "tcp :" + t.sub("tcpSocket").str("port")
	case t.has("sleep"):
		return "sleep " + t.sub("sleep").str("seconds") + "s"
	}
	return ""
}

// podExcerpt is "pod shop/cart-0 Running, 1/2 ready, 3 restarts, on n1; app: readiness GET :8080/health …".
func podExcerpt(p *evidence.Pod) string {
	var b strings.Builder
	b.WriteString("pod " + slashed(p.Object.Namespace, p.Object.Name))
	sep := " "
	add := func(format string, v ...any) {
		fmt.Fprintf(&b, sep+format, v...)
		sep = ", "
	}
	if p.Phase != "" {
		add("%s", p.Phase)
	}
	if !p.Deleted.IsZero() {
		add("terminating")
	}
	if p.Reason != "" {
		add("%s", p.Reason)
	}
	if p.TotalContainers > 0 {
		add("%d/%d ready", p.ReadyContainers, p.TotalContainers)
	}
	if p.Restarts > 0 {
		add("%d restarts", p.Restarts)
	}
	for _, c := range p.Containers {
		if c.State.Status == "waiting" && c.State.Reason != "" {
			add("%s waiting: %s", c.Name, c.State.Reason)
		}
		if last := c.LastState; last.Status == "terminated" && last.ExitCode != nil {
			add("%s last ended with %d %s", c.Name, *last.ExitCode, last.Reason)
		}
	}
	if p.Node != "" {
		add("on %s", p.Node)
	}
	return oneLine(b.String() + containersExcerpt(p.Containers))
}

func containersExcerpt(cs []evidence.Container) string {
	var b strings.Builder
	for _, c := range cs {
		for i, p := range c.Probes {
			switch {
			case i > 0:
				b.WriteString(", ")
			case c.Name != "":
				b.WriteString("; " + c.Name + ": ")
			default:
				b.WriteString("; ")
			}
			b.WriteString(probeExcerpt(p))
		}
	}
	return b.String()
}
