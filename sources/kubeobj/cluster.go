package kubeobj

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/probedoctor/probedoctor/sources/evidence"
)

func addNode(set *evidence.Set, t tree, at Origin) {
	m := metaOf(t, "Node")
	spec, status := t.sub("spec"), t.sub("status")
	allocatable := status.sub("allocatable")
	if allocatable == nil {
		allocatable = status.sub("capacity")
	}
	n := evidence.Node{
		Item: at.item(m.locator()), Object: m.object, KubeletVersion: status.sub("nodeInfo").str("kubeletVersion"),
		Conditions: conditions(status), Unschedulable: spec.isTrue("unschedulable"),
		CPU: allocatable.quantity("cpu"), Memory: allocatable.quantity("memory"), Created: m.created,
	}
	for _, taint := range spec.list("taints") {
		text := taint.str("key")
		if v := taint.str("value"); v != "" {
			text += "=" + v
		}
		n.Taints = append(n.Taints, text+":"+taint.str("effect"))
	}
	// A healthy node has Ready True and everything else False.
	var words []string
	for _, c := range n.Conditions {
		if (c.Type == "Ready") != (c.Status == "True") {
			words = append(words, c.Type+"="+c.Status)
		}
	}
	if len(words) == 0 && len(n.Conditions) > 0 {
		words = append(words, "Ready")
	}
	if n.Unschedulable {
		words = append(words, "unschedulable")
	}
	n.Excerpt = oneLine(strings.Join(append([]string{n.Locator}, words...), " "))
	set.Nodes = append(set.Nodes, n)
}

func addService(set *evidence.Set, t tree, at Origin) {
	m := metaOf(t, "Service")
	spec := t.sub("spec")
	s := evidence.Service{
		Item: at.item(m.locator()), Object: m.object, Selector: spec.strMap("selector"), Ports: ports(spec, "port"),
		Annotations: m.annotations, Policy: spec.str("externalTrafficPolicy"), NodePort: spec.intOr("healthCheckNodePort", 0),
	}
	var words []string
	for _, p := range s.Ports {
		word := itoa(p.Number)
		if p.Target != "" && p.Target != word {
			word += " to " + p.Target
		}
		words = append(words, word)
	}
	s.Excerpt = oneLine(strings.TrimSpace(s.Locator + " " + spec.str("type") + " " + strings.Join(words, ", ")))
	set.Services = append(set.Services, s)
	addAnnotatedCheck(set, m, at, serviceCheck)
}

func addIngress(set *evidence.Set, t tree, at Origin) {
	m := metaOf(t, "Ingress")
	spec := t.sub("spec")
	s := evidence.Service{Item: at.item(m.locator()), Object: m.object, Annotations: m.annotations}
	backend := func(b tree) {
		// networking.k8s.io/v1 nests the name, extensions/v1beta1 has it flat.
		name := b.sub("service").str("name")
		if name == "" {
			name = b.str("serviceName")
		}
		if name != "" && !slices.Contains(s.Backends, name) {
			s.Backends = append(s.Backends, name)
		}
	}
	backend(spec.sub("defaultBackend"))
	backend(spec.sub("backend"))
	for _, r := range spec.list("rules") {
		for _, p := range r.sub("http").list("paths") {
			backend(p.sub("backend"))
		}
	}
	s.Excerpt = oneLine(s.Locator + " to " + strings.Join(s.Backends, ", "))
	set.Services = append(set.Services, s)
	addAnnotatedCheck(set, m, at, albCheck)
	addGKEBackends(set, m, at)
}

// addEndpoints adds the addresses of a core/v1 Endpoints object as targets: a ready address gets traffic.
func addEndpoints(set *evidence.Set, t tree, at Origin) {
	m := metaOf(t, "Endpoints")
	for _, subset := range t.list("subsets") {
		port := ""
		if ps := subset.list("ports"); len(ps) > 0 {
			port = ps[0].str("port")
		}
		for _, list := range []struct{ key, state string }{{"addresses", "healthy"}, {"notReadyAddresses", "unhealthy"}} {
			for _, a := range subset.list(list.key) {
				addEndpoint(set, m, slashed(m.object.Namespace, m.object.Name), a.str("ip"), port, list.state, a.sub("targetRef"), at)
			}
		}
	}
}

// addEndpointSlice adds the endpoints of a slice. By the API, a condition that is not set counts as true for ready and
// serving, as false for terminating.
func addEndpointSlice(set *evidence.Set, t tree, at Origin) {
	m := metaOf(t, "EndpointSlice")
	service := m.labels["kubernetes.io/service-name"]
	if service == "" {
		service = m.owner.Name
	}
	if service == "" {
		service = m.object.Name
	}
	port := ""
	if ps := t.list("ports"); len(ps) > 0 {
		port = ps[0].str("port")
	}
	for _, e := range t.list("endpoints") {
		c := e.sub("conditions")
		ready, known := c.boolean("ready")
		state := "healthy"
		switch {
		case c.isTrue("terminating"):
			state = "draining"
		case known && !ready:
			state = "unhealthy"
		}
		for _, ip := range e.strs("addresses") {
			addEndpoint(set, m, slashed(m.object.Namespace, service), ip, port, state, e.sub("targetRef"), at)
		}
	}
}

func addEndpoint(set *evidence.Set, m meta, group, ip, port, state string, ref tree, at Origin) {
	g := evidence.Target{
		Item: at.item(m.locator()), Balancer: "endpointslice", Group: group, ID: ip, Port: port, State: state,
	}
	if name := ref.str("name"); name != "" {
		g.Pod = evidence.Object{Namespace: ref.str("namespace"), Kind: ref.str("kind"), Name: name, UID: ref.str("uid")}
		if g.Pod.Namespace == "" {
			g.Pod.Namespace = m.object.Namespace
		}
	}
	g.Excerpt = oneLine(fmt.Sprintf("endpoint %s:%s of service %s is %s %s", ip, port, group, state, g.Pod.Name))
	g.Excerpt = strings.TrimSpace(g.Excerpt)
	set.Targets = append(set.Targets, g)
}

// addPodMetrics adds the usage that the metrics API (metrics.k8s.io) reports as series "pod_cpu_usage_cores" and
// "pod_memory_usage_bytes".
func addPodMetrics(set *evidence.Set, t tree, at Origin) {
	m := metaOf(t, "PodMetrics")
	for _, c := range t.list("containers") {
		usage := c.sub("usage")
		for _, r := range []struct{ key, name string }{{"cpu", "pod_cpu_usage_cores"}, {"memory", "pod_memory_usage_bytes"}} {
			v, ok := ParseQuantity(usage.str(r.key))
			if !ok {
				continue
			}
			s := evidence.Series{
				Item: at.item("podmetrics " + slashed(m.object.Namespace, m.object.Name)), Name: r.name, Type: "gauge",
				Labels:  map[string]string{"namespace": m.object.Namespace, "pod": m.object.Name, "container": c.str("name")},
				Samples: []evidence.Sample{{At: t.time("timestamp"), Value: v}},
			}
			s.Excerpt = oneLine(fmt.Sprintf("pod %s container %s uses %s %s", slashed(m.object.Namespace, m.object.Name),
				c.str("name"), r.key, usage.str(r.key)))
			set.Series = append(set.Series, s)
		}
	}
}

// jsonText decodes JSON that an annotation carries; nil when it is none.
func jsonText(s string) any {
	if s == "" {
		return nil
	}
	var v any
	if json.Unmarshal([]byte(s), &v) != nil {
		return nil
	}
	return v
}
