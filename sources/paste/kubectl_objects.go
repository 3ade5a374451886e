package paste

import (
	"net"
	"regexp"
	"strconv"
	"strings"

	"github.com/probedoctor/probedoctor/sources/evidence"
)

// Rows of tables of workloads, autoscalers, nodes, services and endpoints.

// workloadRow reads a row of deployments, replica sets, stateful sets or daemon sets, in the columns of any release.
func (t *text) workloadRow(s string) bool {
	cells, ok := t.table.cells(s)
	if !ok {
		return false
	}
	w := evidence.Workload{Desired: -1, ReadyCount: -1, Updated: -1, Available: -1}
	numbers := 0
	for _, col := range t.table.cols {
		v := cells[col.name]
		n := number(v)
		if n >= 0 {
			numbers++
		}
		switch col.name {
		case "NAME":
			w.Object.Kind, w.Object.Name = rowName(v, t.table.object)
		case "NAMESPACE":
			w.Object.Namespace = v
		case "READY":
			if a, b, ok := fraction(v); ok {
				w.ReadyCount, w.Desired = a, b
				numbers++
			} else {
				w.ReadyCount = n
			}
		case "DESIRED":
			w.Desired = n
		case "UP-TO-DATE":
			w.Updated = n
		case "AVAILABLE":
			w.Available = n
		case "AGE":
			w.Created, _ = age(v)
		case "REVISION":
			w.Revision = v
		}
	}
	if w.Object.Name == "" || !anyName.MatchString(w.Object.Name) || numbers == 0 {
		return false
	}
	if w.Object.Namespace == "" {
		w.Object.Namespace = t.about.namespace
	}
	w.Item = t.item("kubectl", objectLocator(strings.ToLower(w.Object.Kind), w.Object), t.n, t.raw)
	t.set.Workloads = append(t.set.Workloads, w)
	return true
}

// parseScalerRow reads a row of `kubectl get hpa`: NAME REFERENCE TARGETS MINPODS MAXPODS REPLICAS AGE, where TARGETS may
// hold blanks, several metrics and <unknown>, and old clients had a column CURRENT.
func parseScalerRow(s string) (evidence.Autoscaler, bool) {
	a := evidence.Autoscaler{Min: -1, Max: -1, Current: -1, Desired: -1}
	words := strings.Fields(s)
	ref := -1
	for i := 1; i <= 2 && i < len(words); i++ {
		if m := objectCell.FindStringSubmatch(words[i]); m != nil && capitalKind(m[1]) != "" {
			ref = i
			break
		}
	}
	if ref < 0 || len(words) < ref+5 {
		return a, false
	}
	a.Object.Kind, a.Object.Name = rowName(words[ref-1], "HorizontalPodAutoscaler")
	if ref == 2 {
		a.Object.Namespace = words[0]
	}
	kind, name, _ := strings.Cut(words[ref], "/")
	a.Target = evidence.Object{Kind: kind, Name: name}
	rest := words[ref+1:]
	end := len(rest)
	if _, ok := age(rest[end-1]); !ok {
		return a, false
	}
	if end < 4 {
		return a, false
	}
	a.Min, a.Max, a.Current = number(rest[end-4]), number(rest[end-3]), number(rest[end-2])
	if a.Max < 0 {
		return a, false
	}
	targets := strings.Join(rest[:end-4], " ")
	if targets != "" {
		for _, m := range strings.Split(targets, ", ") {
			a.Metrics = append(a.Metrics, strings.ReplaceAll(m, " / ", "/"))
		}
	}
	return a, true
}

// scalerRow keeps a row of a table of autoscalers.
func (t *text) scalerRow(s, trimmed string) bool {
	a, ok := parseScalerRow(trimmed)
	if !ok {
		return false
	}
	if a.Object.Namespace == "" {
		a.Object.Namespace = t.about.namespace
	}
	a.Target.Namespace = a.Object.Namespace
	a.Item = t.item("kubectl", objectLocator("hpa", a.Object), t.n, t.raw)
	t.set.Autoscalers = append(t.set.Autoscalers, a)
	return true
}

// nodeRow reads a row of `kubectl get nodes`.
func (t *text) nodeRow(s string) bool {
	words := strings.Fields(s)
	if len(words) < 2 || !anyName.MatchString(words[0]) {
		return false
	}
	n := evidence.Node{}
	_, n.Object.Name = rowName(words[0], "Node")
	n.Object.Kind = "Node"
	for i, state := range strings.Split(words[1], ",") {
		switch {
		case state == "Ready" || state == "NotReady" || state == "Unknown":
			status := map[string]string{"Ready": "True", "NotReady": "False", "Unknown": "Unknown"}[state]
			n.Conditions = append(n.Conditions, evidence.Condition{Type: "Ready", Status: status})
		case state == "SchedulingDisabled":
			n.Unschedulable = true
		case i == 0:
			return false
		}
	}
	for _, w := range words[2:] {
		if versionCell.MatchString(w) && n.KubeletVersion == "" {
			n.KubeletVersion = w
		} else if at, ok := age(w); ok && !at.IsZero() && n.Created.IsZero() {
			n.Created = at
		}
	}
	n.Item = t.item("kubectl", "node "+n.Object.Name, t.n, t.raw)
	t.set.Nodes = append(t.set.Nodes, n)
	return true
}

var versionCell = regexp.MustCompile(`^v\d+\.\d+\.\d+\S*$`)

// endpointsRow reads a row of `kubectl get endpoints` or `get endpointslices`. The addresses of Endpoints are those of
// ready pods; a slice lists the others too, so their state is not known from the row.
func (t *text) endpointsRow(s string) bool {
	cells, ok := t.table.cells(s)
	if !ok {
		return false
	}
	name, namespace := cells["NAME"], cells["NAMESPACE"]
	if !anyName.MatchString(name) {
		return false
	}
	if namespace == "" {
		namespace = t.about.namespace
	}
	state := "healthy"
	if t.table.object == "EndpointSlice" {
		state = "unknown"
	}
	t.addEndpoints(namespace, name, cells["ENDPOINTS"], cells["PORTS"], state)
	return true
}

// addEndpoints keeps the addresses behind a service. No address at all is a target without an ID: the service has nobody
// to send requests to.
func (t *text) addEndpoints(namespace, name, addresses, port, state string) {
	group := name
	if namespace != "" {
		group = namespace + "/" + name
	}
	add := func(g evidence.Target) {
		g.Item = t.item("kubectl", "endpoints "+group, t.n, t.raw)
		g.Balancer, g.Group = "endpointslice", group
		t.set.Targets = append(t.set.Targets, g)
	}
	addresses = strings.TrimSpace(addresses)
	if addresses == "" || unknownAge(addresses) || addresses == "<unset>" {
		if addresses == "<none>" || addresses == "<unset>" {
			add(evidence.Target{State: "unhealthy", Reason: "NoEndpoints", Description: "the service has no ready endpoint"})
		}
		return
	}
	addresses, _, _ = strings.Cut(addresses, " + ")
	for a := range strings.SplitSeq(addresses, ",") {
		a = strings.TrimSpace(a)
		if a == "" || unknownAge(a) {
			continue
		}
		g := evidence.Target{ID: a, Port: port, State: state}
		if host, p, err := net.SplitHostPort(a); err == nil {
			g.ID, g.Port = host, p
		}
		add(g)
	}
}

// serviceRow reads a row of `kubectl get services`.
func (t *text) serviceRow(s string) bool {
	cells, ok := t.table.cells(s)
	if !ok || !anyName.MatchString(cells["NAME"]) {
		return false
	}
	v := evidence.Service{}
	v.Object.Kind, v.Object.Name = rowName(cells["NAME"], "Service")
	v.Object.Namespace = cells["NAMESPACE"]
	if v.Object.Namespace == "" {
		v.Object.Namespace = t.about.namespace
	}
	for p := range strings.SplitSeq(cells["PORT(S)"], ",") {
		numbers, proto, _ := strings.Cut(p, "/")
		port, _, _ := strings.Cut(numbers, ":")
		if n, err := strconv.Atoi(port); err == nil {
			v.Ports = append(v.Ports, evidence.Port{Number: n, Protocol: proto})
		}
	}
	v.Selector = pairs(cells["SELECTOR"])
	v.Item = t.item("kubectl", objectLocator("service", v.Object), t.n, t.raw)
	t.set.Services = append(t.set.Services, v)
	return true
}

// pairs reads "a=b,c=d".
func pairs(s string) map[string]string {
	var m map[string]string
	for kv := range strings.SplitSeq(s, ",") {
		k, v, ok := strings.Cut(strings.TrimSpace(kv), "=")
		if !ok || k == "" {
			continue
		}
		if m == nil {
			m = map[string]string{}
		}
		m[k] = v
	}
	return m
}
