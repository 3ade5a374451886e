package paste

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/probedoctor/probedoctor/sources/evidence"
)

var replicaCount = regexp.MustCompile(`(\d{1,9}) (desired|updated|total|available|unavailable|current)`)

// workload reads the description of a controller with its pod template.
func (d *description) workload() evidence.Workload {
	w := evidence.Workload{Desired: -1, ReadyCount: -1, Updated: -1, Available: -1}
	r := containerReader{depth: -1, whole: !d.elided}
	section, inTemplate := "", false
	for _, l := range d.lines {
		if l.indent == 0 && l.key != "" {
			section, inTemplate = l.key, l.key == "Pod Template"
			switch l.key {
			case "Selector":
				w.Selector = pairs(l.value)
			case "Labels":
				w.Labels = addPairs(w.Labels, l.value)
			case "Annotations":
				w.Annotations = addAnnotation(w.Annotations, descLineOf(l.value))
				if rest, ok := strings.CutPrefix(l.value, "deployment.kubernetes.io/revision: "); ok {
					w.Revision = rest
				}
			case "CreationTimestamp":
				w.Created = statusTime(l.value)
			case "Replicas":
				for _, m := range replicaCount.FindAllStringSubmatch(l.value, -1) {
					n := number(m[1])
					switch m[2] {
					case "desired":
						w.Desired = n
					case "updated":
						w.Updated = n
					case "available":
						w.Available = n
					}
				}
			case "Desired Number of Nodes Scheduled":
				w.Desired = number(l.value)
			case "Number of Nodes Scheduled with Up-to-date Pods":
				w.Updated = number(l.value)
			case "Number of Nodes Scheduled with Available Pods":
				w.Available = number(l.value)
			case "MinReadySeconds":
				w.MinReadySeconds = max(number(l.value), 0)
			case "Controlled By":
				if kind, name, ok := strings.Cut(l.value, "/"); ok {
					w.Owner = evidence.Object{Kind: kind, Name: name, Namespace: d.object().Namespace}
				}
			}
			continue
		}
		switch {
		case inTemplate:
			if l.key == "Containers" || l.key == "Init Containers" {
				r.section(l.key == "Init Containers")
				section = "Containers"
			} else if l.key == "Volumes" || l.key == "Node-Selectors" || l.key == "Tolerations" {
				section = l.key
			} else if section == "Containers" {
				r.line(l)
			}
		case section == "Labels":
			w.Labels = addPairs(w.Labels, l.text)
		case section == "Annotations":
			w.Annotations = addAnnotation(w.Annotations, l)
		case section == "Conditions":
			if c, ok := conditionRow(l.text); ok {
				w.Conditions = append(w.Conditions, c)
			}
		}
	}
	for i := range r.list {
		if r.list[i].Restarts < 0 {
			r.list[i].Restarts = 0 // a template has no restarts
		}
	}
	w.Containers = r.list
	return w
}

// conditionRow reads "Available  False  MinimumReplicasUnavailable  text".
func conditionRow(s string) (evidence.Condition, bool) {
	cells := cellGap.Split(strings.TrimSpace(s), -1)
	if len(cells) < 2 || cells[1] != "True" && cells[1] != "False" && cells[1] != "Unknown" {
		return evidence.Condition{}, false
	}
	c := evidence.Condition{Type: cells[0], Status: cells[1]}
	rest := cells[2:]
	var dates int
	for len(rest) > 0 {
		at := statusTime(rest[0])
		if at.IsZero() {
			break
		}
		// Nodes print the heartbeat and then the transition.
		dates++
		c.Transition = at
		rest = rest[1:]
	}
	if dates == 1 {
		c.Transition = statusTime("")
	}
	if len(rest) > 0 {
		c.Reason = rest[0]
	}
	if len(rest) > 1 {
		c.Message = strings.Join(rest[1:], " ")
	}
	return c, true
}

var currentDesired = regexp.MustCompile(`(\d{1,9}) current / (\d{1,9}) desired`)

// scaler reads the description of an autoscaler.
func (d *description) scaler() evidence.Autoscaler {
	a := evidence.Autoscaler{Min: -1, Max: -1, Current: -1, Desired: -1}
	section := ""
	for _, l := range d.lines {
		if l.indent == 0 && l.key != "" {
			section = l.key
			switch {
			case l.key == "Reference":
				kind, name, _ := strings.Cut(l.value, "/")
				a.Target = evidence.Object{Kind: kind, Name: name}
			case l.key == "Min replicas":
				a.Min = number(l.value)
			case l.key == "Max replicas":
				a.Max = number(l.value)
			case strings.HasSuffix(l.key, " pods"), l.key == "Replicas":
				if m := currentDesired.FindStringSubmatch(l.value); m != nil {
					a.Current, a.Desired = number(m[1]), number(m[2])
				}
			}
			continue
		}
		switch section {
		case "Metrics":
			if i := strings.LastIndex(l.text, ":"); i > 0 {
				a.Metrics = append(a.Metrics, strings.Join(strings.Fields(l.text[:i]), " ")+": "+strings.TrimSpace(l.text[i+1:]))
			}
		case "Conditions":
			if c, ok := conditionRow(l.text); ok {
				a.Conditions = append(a.Conditions, c)
			}
		}
	}
	return a
}

// node reads the description of a node.
func (d *description) node() evidence.Node {
	n := evidence.Node{}
	section := ""
	for _, l := range d.lines {
		if l.key == "Kubelet Version" {
			n.KubeletVersion = l.value
		}
		if l.indent == 0 && l.key != "" {
			section = l.key
			switch l.key {
			case "Unschedulable":
				n.Unschedulable = l.value == "true"
			case "CreationTimestamp":
				n.Created = statusTime(l.value)
			case "Taints":
				if !unknownAge(l.value) && l.value != "" {
					n.Taints = append(n.Taints, l.value)
				}
			}
			continue
		}
		switch section {
		case "Taints":
			n.Taints = append(n.Taints, l.text)
		case "Conditions":
			if c, ok := conditionRow(l.text); ok {
				n.Conditions = append(n.Conditions, c)
			}
		case "Allocatable":
			v := max(quantity(l.value), 0)
			switch l.key {
			case "cpu":
				n.CPU = v
			case "memory":
				n.Memory = v
			}
		}
	}
	return n
}

var backendCell = regexp.MustCompile(`([a-z0-9][a-z0-9-]*):([\w-]+) \(`)

// addService reads the description of a service or an ingress: who is behind it, and what its balancer says of them.
func (t *text) addService(d *description, o evidence.Object, item evidence.Item) {
	s := evidence.Service{Item: item, Object: o}
	section := ""
	for _, l := range d.lines {
		t.n, t.raw = l.n, l.raw
		if gke := gkeBackends(l.text); len(gke) > 0 {
			t.addGKE(gke)
		}
		if l.indent == 0 && l.key != "" {
			section = l.key
			switch l.key {
			case "Selector":
				s.Selector = pairs(l.value)
			case "Annotations":
				s.Annotations = addAnnotation(s.Annotations, descLineOf(l.value))
			case "Port":
				f := strings.Fields(l.value)
				if len(f) == 0 {
					break
				}
				p := evidence.Port{}
				if len(f) > 1 && f[0] != "<unnamed>" && f[0] != "<unset>" {
					p.Name = f[0]
				}
				num, proto, _ := strings.Cut(f[len(f)-1], "/")
				p.Number, p.Protocol = max(number(num), 0), proto
				s.Ports = append(s.Ports, p)
			case "TargetPort":
				if len(s.Ports) > 0 {
					s.Ports[len(s.Ports)-1].Target, _, _ = strings.Cut(l.value, "/")
				}
			case "Endpoints":
				port := ""
				if len(s.Ports) > 0 {
					port = s.Ports[len(s.Ports)-1].Name
				}
				t.addEndpoints(o.Namespace, o.Name, l.value, port, "healthy")
			case "External Traffic Policy":
				s.Policy = l.value
			case "HealthCheck NodePort":
				s.NodePort, _ = strconv.Atoi(l.value)
			}
		} else if section == "Annotations" {
			s.Annotations = addAnnotation(s.Annotations, l)
		}
		if o.Kind == "Ingress" {
			for _, m := range backendCell.FindAllStringSubmatch(l.text, -1) {
				s.Backends = append(s.Backends, m[1])
			}
		}
	}
	t.set.Services = append(t.set.Services, s)
}
