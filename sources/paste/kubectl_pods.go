package paste

import (
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/probedoctor/probedoctor/sources/evidence"
)

var (
	readyCell  = regexp.MustCompile(`^\d{1,3}/\d{1,3}$`)
	statusCell = regexp.MustCompile(`^[A-Z][A-Za-z]*(?::[A-Za-z0-9/]+)?$|^Init:\d+/\d+$|^ExitCode:\d+$|^Signal:\d+$`)
	restartAgo = regexp.MustCompile(`^(\d{1,9})(?:\s+\((\S{1,24}) ago\))?$`)
	anyName    = regexp.MustCompile(`^[A-Za-z0-9*…._<\[-][A-Za-z0-9.*…_\[\]<>/-]*$`)
)

// parsePodRow reads a row of `kubectl get pods`, with or without -A, -o wide, a header, blanks between the columns. Names
// stay as they are printed, also when somebody cut or masked them.
func parsePodRow(s string) (evidence.Pod, bool) {
	p := evidence.Pod{Restarts: -1}
	words := strings.Fields(s)
	at := -1
	for i := 1; i <= 2 && i < len(words); i++ {
		if readyCell.MatchString(words[i]) {
			at = i
			break
		}
	}
	if at < 0 || len(words) < at+2 || !statusCell.MatchString(words[at+1]) || !anyName.MatchString(words[at-1]) {
		return p, false
	}
	p.Object.Kind, p.Object.Name = rowName(words[at-1], "Pod")
	if p.Object.Kind != "Pod" {
		return p, false
	}
	if at == 2 {
		if !anyName.MatchString(words[0]) {
			return p, false
		}
		p.Object.Namespace = words[0]
	}
	var ok bool
	if p.ReadyContainers, p.TotalContainers, ok = fraction(words[at]); !ok || p.ReadyContainers > p.TotalContainers {
		return p, false
	}
	p.Phase = words[at+1]
	rest := words[at+2:]
	if len(rest) > 0 {
		if n := number(rest[0]); n >= 0 {
			p.Restarts = n
			rest = rest[1:]
		} else if !unknownAge(rest[0]) {
			return p, false
		} else {
			rest = rest[1:]
		}
	}
	if len(rest) > 1 && strings.HasPrefix(rest[0], "(") && rest[1] == "ago)" {
		if d, ok := parseAge(rest[0][1:]); ok {
			p.LastRestart = evidence.Ago(d)
		}
		rest = rest[2:]
	}
	if len(rest) > 0 {
		created, ok := age(rest[0])
		if !ok {
			return p, false
		}
		p.Created = created
		rest = rest[1:]
	}
	known := func(s string) string {
		if unknownAge(s) {
			return ""
		}
		return s
	}
	if len(rest) > 0 {
		p.IP = known(rest[0])
	}
	if len(rest) > 1 {
		p.Node = known(rest[1])
	}
	if len(rest) > 3 && readyCell.MatchString(rest[3]) {
		p.Gates = []string{rest[3]}
	}
	return p, true
}

// podRow keeps a row of a table of pods. Without a header the row must be complete.
func (t *text) podRow(s, trimmed string) bool {
	p, ok := parsePodRow(trimmed)
	if !ok || t.table == nil && p.Restarts < 0 {
		return false
	}
	t.addPod(p)
	return true
}

// addPod completes the object of a pod from what the text is about and keeps it.
func (t *text) addPod(p evidence.Pod) {
	t.logs, t.openLog = false, false
	if p.Object.Namespace == "" {
		p.Object.Namespace = t.about.namespace
	}
	p.Item = t.item("kubectl", objectLocator("pod", p.Object), t.n, t.raw)
	t.set.Pods = append(t.set.Pods, p)
}

// objectLocator is "pod shop/cart-0".
func objectLocator(kind string, o evidence.Object) string {
	name := o.Name
	if o.Namespace != "" {
		name = o.Namespace + "/" + name
	}
	return strings.TrimSpace(kind + " " + name)
}

// podColumns reads a row of custom columns about pods.
func (t *text) podColumns(s string) bool {
	cells, ok := t.table.cells(s)
	if !ok {
		return false
	}
	p := evidence.Pod{Restarts: -1}
	p.Object.Kind = "Pod"
	c := evidence.Container{Restarts: -1}
	for _, col := range t.table.cols {
		v := cells[col.name]
		if unknownAge(v) {
			continue
		}
		switch col.name {
		case "NAME", "POD":
			if !anyName.MatchString(v) {
				return false
			}
			_, p.Object.Name = rowName(v, "Pod")
		case "NAMESPACE":
			p.Object.Namespace = v
		case "CONTAINER":
			c.Name = v
		case "STATUS", "PHASE":
			p.Phase = v
		case "NODE":
			p.Node = v
		case "IP":
			p.IP = v
		case "AGE":
			p.Created, _ = age(v)
		case "READY":
			if a, b, ok := fraction(v); ok {
				p.ReadyContainers, p.TotalContainers = a, b
			}
		case "RESTARTS", "RESTARTCOUNT":
			m := restartAgo.FindStringSubmatch(v)
			if m == nil {
				return false
			}
			p.Restarts = number(m[1])
			if d, ok := parseAge(m[2]); ok {
				p.LastRestart = evidence.Ago(d)
			}
		case "EXIT", "EXITCODE", "EXIT_CODE", "EXIT-CODE":
			if n, err := strconv.Atoi(v); err == nil {
				c.LastState.Status, c.LastState.ExitCode = "terminated", &n
			}
		case "REASON":
			c.LastState.Status, c.LastState.Reason = "terminated", v
		}
	}
	if p.Object.Name == "" {
		return false
	}
	if c.LastState.Status != "" {
		c.StatusKnown = true
		if p.Restarts > 0 {
			c.Restarts = p.Restarts
		}
		p.Containers = []evidence.Container{c}
	}
	t.addPod(p)
	return true
}

var (
	topCPU    = regexp.MustCompile(`^(\d+(?:\.\d+)?)(m|n|u)?$`)
	topMemory = regexp.MustCompile(`^(\d+(?:\.\d+)?)(Ki|Mi|Gi|Ti|K|M|G)i?B?$`)
)

// topRow reads a row of `kubectl top pod`: a name, perhaps a container, millicores, bytes, with or without the units'
// words. The values become series with the names that the kubelet's own metrics have; kubectl top shows a rate over the
// metrics server's window (15 s to 1 min), so container_cpu_usage_cores is derived and in cores.
func (t *text) topRow(s, trimmed string) bool {
	words := strings.Fields(trimmed)
	top := t.table != nil && t.table.kind == tableTop
	asked := t.about.verb == "top"
	if len(words) < 2 || len(words) > 6 || !anyName.MatchString(words[0]) || number(words[0]) >= 0 {
		return false
	}
	var names []string
	cpu, memory := -1.0, -1.0
	units := false
	for _, w := range words {
		switch m, b := topCPU.FindStringSubmatch(w), topMemory.FindStringSubmatch(w); {
		case m != nil && cpu < 0 && (m[2] != "" || top || asked):
			cpu = decimal(m[1]) * map[string]float64{"": 1, "m": 1e-3, "u": 1e-6, "n": 1e-9}[m[2]]
		case b != nil && memory < 0:
			memory = quantity(w)
		case w == "CPU" || w == "MEM" || w == "MEMORY" || w == "cores":
			units = true
		case strings.HasSuffix(w, "%") && (cpu >= 0 || memory >= 0):
		case cpu < 0 && memory < 0 && len(names) < 3 && anyName.MatchString(w):
			names = append(names, w)
		default:
			return false
		}
	}
	plain := cpu >= 0 && (memory >= 0 || strings.HasSuffix(words[len(words)-1], "m"))
	if len(names) == 0 || !(top || asked || units) && !(plain && strings.Contains(names[0], "-")) || cpu < 0 && memory < 0 {
		return false
	}
	labels := map[string]string{}
	if t.about.namespace != "" {
		labels["namespace"] = t.about.namespace
	}
	if top && t.table.cols[0].name == "NAMESPACE" && len(names) > 1 {
		labels["namespace"], names = names[0], names[1:]
	}
	kind, name := rowName(names[0], "Pod")
	if t.about.kind == "Node" || kind == "Node" || top && t.table.has("CPU%", "MEMORY%") {
		labels["node"] = name
	} else {
		labels["pod"] = name
		if top && t.table.cols[0].name == "POD" && len(names) > 1 || len(names) == 2 {
			labels["container"] = names[1]
		}
	}
	add := func(metric string, v float64) {
		if v < 0 {
			return
		}
		t.set.Series = append(t.set.Series, evidence.Series{
			Item: t.item("kubectl", strings.TrimSpace("top "+name+" "+metric), t.n, t.raw), Name: metric, Labels: labels, Type: "gauge",
			Samples: []evidence.Sample{{At: time.Time{}, Value: v}},
		})
	}
	if labels["node"] != "" {
		add("node_cpu_usage_cores", cpu)
		add("node_memory_working_set_bytes", memory)
		return true
	}
	add("container_cpu_usage_cores", cpu)
	add("container_memory_working_set_bytes", memory)
	return true
}

func decimal(s string) float64 {
	f, err := strconv.ParseFloat(strings.ReplaceAll(s, ",", "."), 64)
	if err != nil {
		return 0
	}
	return f
}

var quantityText = regexp.MustCompile(`^(\d+(?:\.\d+)?)(m|k|K|M|G|T|Ki|Mi|Gi|Ti)?B?$`)

// quantity reads a Kubernetes quantity ("250m", "2Gi", "1.5") into its base unit; -1 when it is none.
func quantity(s string) float64 {
	m := quantityText.FindStringSubmatch(strings.TrimSpace(s))
	if m == nil {
		return -1
	}
	scale := map[string]float64{
		"": 1, "m": 1e-3, "k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12,
		"Ki": 1 << 10, "Mi": 1 << 20, "Gi": 1 << 30, "Ti": 1 << 40,
	}
	return decimal(m[1]) * scale[m[2]]
}
