package diagnose

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	"github.com/probedoctor/probedoctor/rules/facts"
	"github.com/probedoctor/probedoctor/sources/evidence"
)

func comparePods(x, y *evidence.Pod) int {
	return cmp.Or(cmp.Compare(x.Object.Namespace, y.Object.Namespace), cmp.Compare(x.Object.Name, y.Object.Name), cmp.Compare(x.Ref, y.Ref))
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

func itoa(n int) string { return strconv.Itoa(n) }

// gather puts everything that bears on the incident beside its failures.
func (b *builder) gather(in *incident) {
	b.window(in)
	b.pods(in)
	b.probes(in)
	group(in)
	nodes := map[string]bool{}
	for _, p := range in.Pods {
		if p.Node != "" {
			nodes[p.Node] = true
		}
	}
	w := in.Workload.Name
	in.Events = of(b.index.events, w, func(e *evidence.Event) bool { return sameNamespace(e.Object.Namespace, in.Namespace) })
	// Where no pod names its node, all nodes of the input could be it.
	for _, node := range sortedKeys(b.index.nodeEvents) {
		if nodes[node] || len(nodes) == 0 {
			in.Events = append(in.Events, b.index.nodeEvents[node]...)
		}
	}
	b.autoscaler(in)
	in.Logs = of(b.index.logs, w, func(l *evidence.LogLine) bool {
		return sameNamespace(l.Object.Namespace, in.Namespace) &&
			(l.Container == "" || in.Container == "" || l.Container == in.Container || l.Origin == "proxy")
	})
	in.Logs = append(in.Logs, b.index.nodeLogs...)
	slices.SortStableFunc(in.Logs, func(x, y *evidence.LogLine) int { return cmp.Or(x.At.Compare(y.At), cmp.Compare(x.Ref, y.Ref)) })
	in.Requests = of(b.index.requests, w, func(r *evidence.Request) bool { return sameNamespace(r.Object.Namespace, in.Namespace) })
	slices.SortStableFunc(in.Requests, func(x, y *evidence.Request) int { return cmp.Or(x.At.Compare(y.At), cmp.Compare(x.Ref, y.Ref)) })
	in.Series = map[string][]*evidence.Series{}
	for _, s := range of(b.index.series, w, func(s *evidence.Series) bool {
		c := s.Labels["container"]
		return sameNamespace(s.Labels["namespace"], in.Namespace) && (c == "" || in.Container == "" || c == in.Container)
	}) {
		in.Series[s.Signal] = append(in.Series[s.Signal], s)
	}
	b.balancer(in, nodes)
	for i := range b.set.Nodes {
		if n := &b.set.Nodes[i]; nodes[n.Object.Name] || len(nodes) == 0 {
			in.Nodes = append(in.Nodes, n)
		}
	}
	for i := range b.set.Listeners {
		l := &b.set.Listeners[i]
		if sameNamespace(l.Object.Namespace, in.Namespace) && (l.Object.Name == "" || b.owners.name(l.Object) == w) {
			in.Listeners = append(in.Listeners, l)
		}
	}
}

// window is the time from the first to the last failure; those that count, else all, else that of the restarts.
func (b *builder) window(in *incident) {
	see := func(first, last time.Time) {
		if first.IsZero() {
			return
		}
		if in.Start.IsZero() || first.Before(in.Start) {
			in.Start = first
		}
		if last.After(in.End) {
			in.End = last
		}
	}
	for i := range in.Failures {
		f := &in.Failures[i]
		if f.Result == evidence.Failed && (f.Life == facts.Live || f.Life == facts.LifeUnknown) {
			see(f.First, f.Last)
		}
	}
	if in.Start.IsZero() {
		for i := range in.Failures {
			see(in.Failures[i].First, in.Failures[i].Last)
		}
	}
	if in.End.Before(in.Start) {
		in.End = in.Start
	}
}

func (b *builder) pods(in *incident) {
	seen := map[*evidence.Pod]bool{}
	add := func(p *evidence.Pod) {
		if p != nil && !seen[p] {
			seen[p] = true
			in.Pods = append(in.Pods, p)
		}
	}
	for _, p := range of(b.index.pods, in.Workload.Name, func(p *evidence.Pod) bool { return sameNamespace(p.Object.Namespace, in.Namespace) }) {
		add(p)
	}
	for i := range in.Failures {
		add(in.Failures[i].Pod)
	}
	slices.SortFunc(in.Pods, comparePods)
	for i := range b.set.Workloads {
		w := &b.set.Workloads[i]
		if w.Object.Namespace != in.Namespace && w.Object.Namespace != "" && in.Namespace != "" {
			continue
		}
		switch {
		case w.Object.Name == in.Workload.Name && w.Object.Kind == in.Workload.Kind:
			if in.Template == nil || len(w.Containers) > len(in.Template.Containers) {
				in.Template = w
			}
		case w.Object.Name == "" && in.Template == nil:
			in.Template = w // a fragment of a manifest, pasted with the rest
		case w.Object.Kind == "ReplicaSet" && w.Owner.Name == in.Workload.Name:
			in.Replicas = append(in.Replicas, w)
		}
	}
}

// probes lists the container's probes: those configured, and those that only failures tell of.
func (b *builder) probes(in *incident) {
	var c *evidence.Container
	var ref evidence.Ref
	use := func(cand *evidence.Container, r evidence.Ref) {
		if cand != nil && (c == nil || len(cand.Probes) > len(c.Probes)) {
			c, ref = cand, r
		}
	}
	for i := range in.Failures {
		if p := in.Failures[i].Pod; p != nil {
			if got, ok := p.Container(in.Container); ok {
				use(got, p.Ref)
			}
		}
	}
	for _, p := range in.Pods {
		if got, ok := p.Container(in.Container); ok {
			use(got, p.Ref)
		} else if in.Container == "" && len(p.Containers) == 1 {
			use(&p.Containers[0], p.Ref)
		}
	}
	if in.Template != nil {
		for i := range in.Template.Containers {
			t := &in.Template.Containers[i]
			if t.Name == in.Container || in.Container == "" || t.Name == "" {
				use(t, in.Template.Ref)
			}
		}
	}
	for _, kind := range []evidence.ProbeKind{evidence.Startup, evidence.Readiness, evidence.Liveness, ""} {
		p := facts.Probe{Kind: kind}
		if c != nil {
			for i := range c.Probes {
				if c.Probes[i].Probe == kind && kind != "" {
					p.Spec, p.SpecRef = &c.Probes[i], ref
				}
			}
		}
		for i := range in.Failures {
			if in.Failures[i].Probe == kind {
				p.Failures = append(p.Failures, &in.Failures[i])
			}
		}
		if p.Spec != nil || len(p.Failures) > 0 {
			in.Probes = append(in.Probes, p)
		}
	}
}

// group partitions the failures by phase, outcome, life and result.
func group(in *incident) {
	type key struct {
		phase   evidence.Phase
		outcome evidence.Outcome
		life    facts.Life
		result  evidence.Result
	}
	at := map[key]int{}
	for i := range in.Failures {
		f := &in.Failures[i]
		k := key{f.Phase, f.Outcome, f.Life, f.Result}
		j, ok := at[k]
		if !ok {
			j = len(in.Groups)
			at[k] = j
			in.Groups = append(in.Groups, facts.Group{Phase: f.Phase, Outcome: f.Outcome, Life: f.Life, Result: f.Result})
		}
		g := &in.Groups[j]
		g.Failures = append(g.Failures, f)
		g.Count += f.Count
	}
	slices.SortStableFunc(in.Groups, func(x, y facts.Group) int {
		return cmp.Or(cmp.Compare(y.Count, x.Count), cmp.Compare(x.ID(), y.ID()), cmp.Compare(x.Result, y.Result))
	})
}

func (b *builder) autoscaler(in *incident) {
	for i := range b.set.Autoscalers {
		a := &b.set.Autoscalers[i]
		if a.Target.Name == in.Workload.Name && in.Workload.Name != "" && (a.Object.Namespace == in.Namespace || a.Object.Namespace == "" || in.Namespace == "") ||
			in.Workload.Name == "" && len(b.set.Autoscalers) == 1 {
			// Of several readings the one with the most replicas tells best what the autoscaler did.
			if in.Autoscaler == nil || a.Current > in.Autoscaler.Current {
				in.Autoscaler = a
			}
		}
	}
	// Without the autoscaler itself, one of the workload's name is most likely its own.
	scaler := in.Workload.Name
	if in.Autoscaler != nil {
		scaler = in.Autoscaler.Object.Name
	}
	for _, e := range b.index.scaler[scaler] {
		if sameNamespace(e.Object.Namespace, in.Namespace) {
			in.Events = append(in.Events, e)
		}
	}
	if scaler == "" {
		for _, name := range sortedKeys(b.index.scaler) {
			in.Events = append(in.Events, b.index.scaler[name]...)
		}
	}
}

// balancer takes the targets that are pods of the workload, and the checks of their groups. Where no target can be told
// to belong to a pod, all targets of the input are taken: people paste those of the service they ask about.
func (b *builder) balancer(in *incident, nodes map[string]bool) {
	byIP := map[string]bool{}
	for _, p := range in.Pods {
		if p.IP != "" {
			byIP[p.IP] = true
		}
	}
	groups := map[string]bool{}
	matched := false
	for i := range b.set.Targets {
		t := &b.set.Targets[i]
		ofWorkload := false
		if t.Pod.Name != "" {
			w, _ := b.owners.workload(t.Pod.Namespace, t.Pod.Name)
			ofWorkload = w.Name == in.Workload.Name
		}
		if byIP[t.ID] || ofWorkload || nodes[t.ID] {
			matched = true
			in.Targets = append(in.Targets, t)
			if t.Balancer != "endpointslice" {
				groups[t.Balancer+"/"+t.Group] = true
			}
		}
	}
	if matched {
		// Targets of the same groups that are no pod any more are draining ones of the same workload.
		for i := range b.set.Targets {
			t := &b.set.Targets[i]
			if groups[t.Balancer+"/"+t.Group] && t.State == "draining" && !slices.Contains(in.Targets, t) {
				in.Targets = append(in.Targets, t)
			}
		}
	}
	if !matched && len(byIP) == 0 {
		for i := range b.set.Targets {
			in.Targets = append(in.Targets, &b.set.Targets[i])
		}
	}
	for i := range b.set.HealthChecks {
		h := &b.set.HealthChecks[i]
		if h.Group == "" || groups[h.Balancer+"/"+h.Group] || groups[h.Balancer+"/"] || len(groups) == 0 || len(b.set.HealthChecks) == 1 {
			in.HealthChecks = append(in.HealthChecks, h)
		}
	}
}

// maxCompared bounds the number of incidents that are compared with each other.
const maxCompared = 500

// countNeighbours notes for each incident how many other workloads fail on each node.
func (b *builder) countNeighbours(all []*incident) {
	byNode := map[string]map[string]bool{}
	for _, in := range all {
		for i := range in.Failures {
			if f := &in.Failures[i]; f.Pod != nil && f.Pod.Node != "" && f.Result == evidence.Failed && f.Life == facts.Live {
				if byNode[f.Pod.Node] == nil {
					byNode[f.Pod.Node] = map[string]bool{}
				}
				byNode[f.Pod.Node][in.Namespace+"/"+in.Workload.Name] = true
			}
		}
	}
	for i, in := range all {
		for j, other := range all {
			if i != j && len(other.Failures) > 0 && len(in.Failures) > 0 && (other.Namespace != in.Namespace || other.Workload.Name != in.Workload.Name) &&
				!other.Start.After(in.End.Add(time.Minute)) && !other.End.Before(in.Start.Add(-time.Minute)) && len(all) < maxCompared {
				in.OtherWorkloads++
			}
		}
		in.OtherFailing = map[string]int{}
		for node, ws := range byNode {
			n := len(ws)
			if ws[in.Namespace+"/"+in.Workload.Name] {
				n--
			}
			in.OtherFailing[node] = n
		}
	}
}
