package kubeobj

import (
	"github.com/probedoctor/probedoctor/sources/evidence"
)

// addFragment reads a part of an object that somebody cut out: a pod specification, a container, a probe, a status, at any
// depth of an otherwise unknown tree (the values of a chart, for example). What it finds belongs to an object that is not
// named; since the rest is not there, the absence of a probe in it means nothing.
//
// It reports whether it found anything.
func addFragment(set *evidence.Set, t tree, at Origin, depth int) bool {
	at.Incomplete = true
	switch {
	case len(t.list("containers")) > 0 && len(podContainers(t, at)) > 0:
		addTemplate(set, podContainers(t, at), t, at)
		return true
	case len(t.list("containerStatuses")) > 0, isConditions(t.list("conditions")):
		addPod(set, tree{"status": map[string]any(t)}, at)
		return true
	case isCondition(t):
		addPod(set, tree{"status": map[string]any{"conditions": []any{map[string]any(t)}}}, at)
		return true
	}
	if c, ok := containerFragment(t, at); ok {
		addTemplate(set, []evidence.Container{c}, nil, at)
		return true
	}
	if depth >= maxDepth {
		return false
	}
	found := false
	for _, key := range t.keys() {
		switch v := t[key].(type) {
		case map[string]any:
			found = addFragment(set, v, at, depth+1) || found
		case []any:
			for _, it := range v {
				if m, ok := it.(map[string]any); ok {
					found = addFragment(set, m, at, depth+1) || found
				}
			}
		}
	}
	return found
}

// containerFragment reads t as a container, as the values of a chart ("probes: {liveness: …}"), as a lone probe, or as a
// container's resources.
func containerFragment(t tree, at Origin) (evidence.Container, bool) {
	c := container(t, at)
	if len(c.Probes) > 0 || c.Image != "" && c.Name != "" {
		return c, true
	}
	for _, holder := range []tree{t.sub("probes"), t} {
		for _, kind := range probeKinds {
			if p := holder.sub(string(kind)); p != nil && looksLikeProbe(p) {
				c.Probes = append(c.Probes, probe(p, kind))
			}
		}
		if len(c.Probes) > 0 {
			return c, true
		}
	}
	if h := t.sub("httpGet"); h != nil || t.sub("tcpSocket") != nil || t.sub("grpc").has("port") {
		c.Probes = append(c.Probes, probe(t, ""))
		return c, true
	}
	for _, holder := range []string{"limits", "requests"} {
		if r := t.sub(holder); r.has("cpu") || r.has("memory") {
			c = container(tree{"resources": map[string]any(t)}, at)
			return c, true
		}
	}
	return c, false
}

// addTemplate adds containers of an object that is not named. spec is the pod specification, if there is one.
func addTemplate(set *evidence.Set, cs []evidence.Container, spec tree, at Origin) {
	w := evidence.Workload{
		Item: at.item("fragment of a manifest"), Containers: cs, GraceSeconds: spec.intOr("terminationGracePeriodSeconds", 0),
		Desired: -1, ReadyCount: -1, Updated: -1, Available: -1,
	}
	w.Excerpt = oneLine(w.Locator + containersExcerpt(cs))
	set.Workloads = append(set.Workloads, w)
}

func isCondition(t tree) bool {
	return t.str("type") != "" && t.str("status") != "" && t.has("lastTransitionTime")
}

func isConditions(list []tree) bool {
	for _, c := range list {
		if isCondition(c) {
			return true
		}
	}
	return false
}
