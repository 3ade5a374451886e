package diagnose

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/probedoctor/probedoctor/rules"
	"github.com/probedoctor/probedoctor/rules/facts"
	"github.com/probedoctor/probedoctor/sources/evidence"
)

// burstGap separates two incidents of one workload. Events live an hour in the API server (--event-ttl), so a longer
// silence between rows means that nothing held them together.
const burstGap = time.Hour

// smallBurst is the number of failures below which a burst is no incident of its own.
const smallBurst = 5

// incident is one incident while it is put together.
type incident struct {
	facts.Incident
	inferred string
	symptoms []rules.Symptom
	// alike is how many incidents have the same commonest kind of failure.
	alike int
}

type incidentKey struct {
	namespace, kind, name, container string
}

// builder groups symptoms into incidents.
type builder struct {
	set    *evidence.Set
	owners *owners
	index  *index
	byKey  map[incidentKey]*incident
	order  []incidentKey
	byName map[string][]incidentKey
}

// incidents forms the incidents of a finished set, most severe first.
func incidents(set *evidence.Set, pack *rules.Pack) []*incident {
	b := &builder{set: set, owners: newOwners(set), byKey: map[incidentKey]*incident{}, byName: map[string][]incidentKey{}}
	b.index = newIndex(set, b.owners)
	b.fromFailures()
	b.fromPods()
	b.fromKills()
	b.fromTargets()
	b.joinUnnamed()
	b.fromNodeLogs(pack)
	b.fromRequests()
	b.fromAppLogs(pack)
	var out []*incident
	for _, k := range b.order {
		if in, ok := b.byKey[k]; ok {
			out = append(out, b.splitBursts(in)...)
		}
	}
	for _, in := range out {
		b.gather(in)
	}
	b.countNeighbours(out)
	countAlike(out)
	slices.SortStableFunc(out, func(x, y *incident) int {
		sx, sy := severity(x), severity(y)
		for i := range sx {
			if c := cmp.Compare(sy[i], sx[i]); c != 0 {
				return c
			}
		}
		return cmp.Or(cmp.Compare(x.Namespace, y.Namespace), cmp.Compare(x.Workload.Name, y.Workload.Name),
			cmp.Compare(x.Container, y.Container), x.Start.Compare(y.Start))
	})
	return out
}

// severity orders incidents: share of pods unavailable, kills by liveness, failures that count, and how many incidents
// share the commonest kind of failure. Where nothing tells of pods, failing probes count as half of them.
func severity(in *incident) [4]float64 {
	var s [4]float64
	measured, bad := 0, 0
	for _, p := range in.Pods {
		if ready, known := p.Ready(); known && p.Deleted.IsZero() {
			measured++
			if !ready {
				bad++
			}
		}
	}
	switch {
	case measured > 0:
		s[0] = float64(bad) / float64(measured)
	case len(in.Failures) > 0:
		s[0] = 0.5
	}
	s[3] = float64(in.alike)
	for _, e := range in.Events {
		if facts.KilledBy(e) == evidence.Liveness {
			s[1] += float64(max(e.Count, 1))
		}
	}
	for i := range in.Failures {
		if f := &in.Failures[i]; f.Result == evidence.Failed {
			s[2] += float64(f.Count)
		}
	}
	return s
}

func countAlike(all []*incident) {
	kind := func(in *incident) string {
		if len(in.Groups) == 0 {
			return ""
		}
		return string(in.Groups[0].Phase) + "/" + string(in.Groups[0].Outcome)
	}
	n := map[string]int{}
	for _, in := range all {
		n[kind(in)]++
	}
	for _, in := range all {
		if k := kind(in); k != "" {
			in.alike = n[k]
		}
	}
}

func (b *builder) get(ns string, w evidence.Object, container, inferred string) *incident {
	if w.Namespace != "" {
		ns = w.Namespace
	}
	k := incidentKey{ns, w.Kind, w.Name, container}
	in, ok := b.byKey[k]
	if !ok && w.Name != "" {
		// One text names the namespace and another does not: of the same name they are about the same workload.
		// The incident's own namespace counts: its key has none where a text without one came first.
		var alike []*incident
		for _, other := range b.byName[w.Name] {
			if x := b.byKey[other]; x != nil && other.kind == w.Kind && other.container == container && sameNamespace(x.Namespace, ns) {
				alike = append(alike, x)
			}
		}
		if len(alike) == 1 {
			in, ok = alike[0], true
			if in.Namespace == "" {
				in.Namespace, in.Workload.Namespace = ns, ns
			}
		}
	}
	if !ok {
		in = &incident{inferred: inferred}
		in.Set, in.Cluster, in.Namespace, in.Workload, in.Container = b.set, w.Cluster, ns, w, container
		b.byKey[k] = in
		b.order = append(b.order, k)
		b.byName[k.name] = append(b.byName[k.name], k)
	}
	if inferred == "" {
		in.inferred = "" // one pod whose owner is known settles it for all of them
	}
	return in
}

func (b *builder) fromFailures() {
	for i := range b.set.Failures {
		f := &b.set.Failures[i]
		ns := f.Object.Namespace
		p := b.owners.pod(ns, f.Object.Name)
		if f.Object.Name == "" && len(b.owners.pods) == 1 {
			p = b.owners.pods[sortedPodKeys(b.owners.pods)[0]] // a row without a name beside one pod is about that pod
		}
		if ns == "" && p != nil {
			ns = p.Object.Namespace
		}
		w, inferred := b.owners.workload(ns, f.Object.Name)
		if w.Cluster == "" {
			w.Cluster = f.Object.Cluster
		}
		container := f.Container
		if container == "" {
			container = b.containerFor(p, w, f)
		}
		in := b.get(ns, w, container, inferred)
		in.Failures = append(in.Failures, facts.Failure{Failure: f, Life: b.life(f, p, container), Pod: p})
	}
}

// containerFor finds the container that a failure without one is about: the only one, or the only one with such a probe
// on that port. Empty when several could be meant.
func (b *builder) containerFor(p *evidence.Pod, w evidence.Object, f *evidence.Failure) string {
	var cs []evidence.Container
	if p != nil {
		cs = p.Containers
	}
	if len(cs) == 0 {
		if t, ok := b.owners.workloads[podKey{w.Namespace, w.Kind + "/" + w.Name}]; ok {
			cs = t.Containers
		}
	}
	name, n := "", 0
	unready, u := "", 0
	for i := range cs {
		if cs[i].Init && !cs[i].Sidecar {
			continue
		}
		if cs[i].StatusKnown && !cs[i].Ready && !cs[i].ReadyUnknown {
			unready = cs[i].Name
			u++
		}
		fits := len(cs[i].Probes) == 0
		for _, pr := range cs[i].Probes {
			if (f.Probe == "" || pr.Probe == f.Probe) && (f.Target.Port == "" || pr.Endpoint.Port == "" || pr.Endpoint.Port == f.Target.Port || namedPort(&cs[i], pr.Endpoint.Port, f.Target.Port)) {
				fits = true
			}
		}
		if fits {
			name = cs[i].Name
			n++
		}
	}
	switch {
	case n == 1:
		return name
	case u == 1 && f.Probe == evidence.Readiness:
		return unready // a readiness failure is of the container that is not ready
	}
	return ""
}

func namedPort(c *evidence.Container, name, number string) bool {
	for _, p := range c.Ports {
		if p.Name == name {
			return itoa(p.Number) == number
		}
	}
	return false
}

// fromPods makes incidents of pods that are not Ready or keep restarting, where no failure speaks of them.
func (b *builder) fromPods() {
	for _, k := range sortedPodKeys(b.owners.pods) {
		p := b.owners.pods[k]
		if p.Object.Name == "" && len(b.byKey) > 0 || b.hasIncident(p) {
			continue
		}
		text := ""
		ready, known := p.Ready()
		switch {
		case !p.Deleted.IsZero() || p.Phase == "Succeeded" || p.Phase == "Completed":
			continue
		case p.Phase == "CrashLoopBackOff" || waiting(p) == "CrashLoopBackOff":
			text = "in CrashLoopBackOff"
		case lastReason(p) == "OOMKilled" && !b.longQuiet(p):
			text = "its container was killed for memory"
		case known && !ready && p.Phase != "Pending" && p.Phase != "ContainerCreating":
			text = "not Ready"
			if p.Phase != "" && p.Phase != "Running" {
				text += ": " + p.Phase
			}
		case p.Restarts >= 3 && !b.longQuiet(p):
			text = "restarted " + itoa(p.Restarts) + " times"
		default:
			continue
		}
		w, inferred := b.owners.workload(p.Object.Namespace, p.Object.Name)
		container := ""
		if len(p.Containers) == 1 {
			container = p.Containers[0].Name
		}
		in := b.get(p.Object.Namespace, w, container, inferred)
		in.symptoms = append(in.symptoms, rules.Symptom{Kind: "not-ready", Text: name(p.Object) + ": " + text, Refs: []evidence.Ref{p.Ref}})
	}
}

// fromKills makes incidents of containers that a probe killed, where neither failures nor pods speak of them: the events of
// the failures are gone after an hour, or were not pasted.
func (b *builder) fromKills() {
	for i := range b.set.Events {
		e := &b.set.Events[i]
		if facts.KilledBy(e) == "" || e.Object.Kind != "Pod" && e.Object.Kind != "" {
			continue
		}
		w, inferred := b.owners.workload(e.Object.Namespace, e.Object.Name)
		if len(b.byName[w.Name]) > 0 {
			continue
		}
		b.get(e.Object.Namespace, w, e.Container, inferred)
	}
}

// quiet is how long a Ready pod must have run since its last restart for its restarts to be history and no symptom.
const quiet = 24 * time.Hour

// longQuiet tells whether a pod that is Ready has not restarted for a day.
func (b *builder) longQuiet(p *evidence.Pod) bool {
	last := p.LastRestart
	for i := range p.Containers {
		if end := p.Containers[i].LastState.Finished; end.After(last) {
			last = end
		}
	}
	now := b.set.End
	if evidence.IsRelative(last) {
		now = evidence.Ago(0)
	}
	ready, known := p.Ready()
	return known && ready && !last.IsZero() && now.Sub(last) > quiet
}

func waiting(p *evidence.Pod) string {
	for i := range p.Containers {
		if s := p.Containers[i].State; s.Status == "waiting" {
			return s.Reason
		}
	}
	return ""
}

func lastReason(p *evidence.Pod) string {
	for i := range p.Containers {
		if r := p.Containers[i].LastState.Reason; r != "" {
			return r
		}
	}
	return ""
}

func name(o evidence.Object) string {
	if o.Name == "" {
		return "a pod"
	}
	return o.Name
}

// hasIncident tells whether failures already made an incident of the pod's workload.
func (b *builder) hasIncident(p *evidence.Pod) bool {
	w, _ := b.owners.workload(p.Object.Namespace, p.Object.Name)
	return slices.ContainsFunc(b.byName[w.Name], func(k incidentKey) bool {
		return k.kind == w.Kind && sameNamespace(k.namespace, p.Object.Namespace) && len(b.byKey[k].Failures) > 0
	})
}

// fromTargets makes an incident of unhealthy targets that belong to no workload with one.
func (b *builder) fromTargets() {
	for i := range b.set.Targets {
		t := &b.set.Targets[i]
		if t.State != "unhealthy" {
			continue
		}
		pod := b.podOfTarget(t)
		var in *incident
		switch {
		case pod != nil:
			w, inferred := b.owners.workload(pod.Object.Namespace, pod.Object.Name)
			for _, k := range b.byName[w.Name] {
				if x := b.byKey[k]; k.kind == w.Kind && sameNamespace(x.Namespace, pod.Object.Namespace) && (in == nil || len(x.Failures) > len(in.Failures)) {
					in = x
				}
			}
			if in == nil {
				in = b.get(pod.Object.Namespace, w, "", inferred)
			}
		case len(b.byKey) == 1:
			in = b.byKey[b.order[0]]
		default:
			in = b.get("", evidence.Object{}, "", "")
		}
		in.addTarget(t)
	}
}

// addTarget counts an unhealthy target to the symptom of its balancer and reason.
func (in *incident) addTarget(t *evidence.Target) {
	what := strings.TrimSpace("unhealthy in " + strings.TrimSpace(t.Balancer+" "+t.Group))
	if t.Reason != "" {
		what += ": " + t.Reason
	}
	for i := range in.symptoms {
		s := &in.symptoms[i]
		if s.Kind == "unhealthy-target" && strings.HasSuffix(s.Text, what) {
			s.Refs = append(s.Refs, t.Ref)
			s.Text = fmt.Sprintf("%d targets %s", len(s.Refs), what)
			return
		}
	}
	in.symptoms = append(in.symptoms, rules.Symptom{Kind: "unhealthy-target", Text: "1 target " + what, Refs: []evidence.Ref{t.Ref}})
}

func (b *builder) podOfTarget(t *evidence.Target) *evidence.Pod {
	if t.Pod.Name != "" {
		return b.owners.pod(t.Pod.Namespace, t.Pod.Name)
	}
	if t.ID == "" {
		return nil
	}
	for i := range b.set.Pods {
		if b.set.Pods[i].IP == t.ID {
			return b.owners.pod(b.set.Pods[i].Object.Namespace, b.set.Pods[i].Object.Name)
		}
	}
	return nil
}

// joinUnnamed puts symptoms that name no object to the only other incident: what is pasted together is about one thing.
func (b *builder) joinUnnamed() {
	var unnamed, named []incidentKey
	for _, k := range b.order {
		if k.name == "" {
			unnamed = append(unnamed, k)
		} else {
			named = append(named, k)
		}
	}
	if len(unnamed) == 0 {
		return
	}
	if len(named) == 0 && len(unnamed) == 1 {
		b.adoptWorkload(b.byKey[unnamed[0]])
		return
	}
	// Several incidents without a container name, or one named workload: all of it is one incident.
	var into *incident
	var keep incidentKey
	switch {
	case len(named) == 1:
		keep = named[0]
	case len(named) == 0:
		keep = unnamed[0]
	default:
		return
	}
	into = b.byKey[keep]
	for _, k := range unnamed {
		if k == keep {
			continue
		}
		in := b.byKey[k]
		into.Failures = append(into.Failures, in.Failures...)
		into.symptoms = append(into.symptoms, in.symptoms...)
		if into.Container == "" {
			into.Container = in.Container
		}
		delete(b.byKey, k)
	}
	b.order = slices.DeleteFunc(b.order, func(k incidentKey) bool { _, ok := b.byKey[k]; return !ok })
	b.adoptWorkload(into)
}

// adoptWorkload names an incident without an object after the only workload that was read.
func (b *builder) adoptWorkload(in *incident) {
	if in.Workload.Name != "" {
		return
	}
	var only *evidence.Workload
	for i := range b.set.Workloads {
		w := &b.set.Workloads[i]
		if w.Object.Kind == "ReplicaSet" || w.Object.Name == "" {
			continue
		}
		if only != nil && (only.Object.Name != w.Object.Name || !sameNamespace(only.Object.Namespace, w.Object.Namespace)) {
			return
		}
		only = w
	}
	if only != nil {
		in.Workload = only.Object
		in.Workload.UID = ""
		in.Namespace = only.Object.Namespace
		in.inferred = "the only workload in the input"
		return
	}
	if w, inferred, ok := b.onlyNamed(); ok {
		in.Workload, in.inferred, in.Namespace = w, inferred, w.Namespace
	}
}

// onlyNamed is the one workload whose pods anything in the input names: a pod, an event, a log, a request, a metric.
func (b *builder) onlyNamed() (evidence.Object, string, bool) {
	var found evidence.Object
	n := 0
	see := func(ns, pod string) {
		if pod == "" || n > 1 {
			return
		}
		w, _ := b.owners.workload(ns, pod)
		if n == 0 || w.Name != found.Name || w.Kind != found.Kind || !sameNamespace(w.Namespace, found.Namespace) {
			found = w
			n++
		}
	}
	for i := range b.set.Pods {
		see(b.set.Pods[i].Object.Namespace, b.set.Pods[i].Object.Name)
	}
	for i := range b.set.Events {
		if o := b.set.Events[i].Object; o.Kind == "Pod" || o.Kind == "" {
			see(o.Namespace, o.Name)
		}
	}
	for i := range b.set.Logs {
		see(b.set.Logs[i].Object.Namespace, b.set.Logs[i].Object.Name)
	}
	for i := range b.set.Requests {
		see(b.set.Requests[i].Object.Namespace, b.set.Requests[i].Object.Name)
	}
	for i := range b.set.Series {
		l := b.set.Series[i].Labels
		see(l["namespace"], l["pod"])
	}
	return found, "the only workload that the input names", n == 1
}

// fromNodeLogs makes an incident of kernel and kubelet complaints when nothing else is wrong.
func (b *builder) fromNodeLogs(pack *rules.Pack) {
	if len(b.byKey) > 0 {
		return
	}
	for i := range b.set.Logs {
		l := &b.set.Logs[i]
		if l.Origin != "kernel" && l.Origin != "kubelet" && l.Origin != "node" {
			continue
		}
		for _, title := range pack.NodeComplaints(l.Origin, l.Logger, l.Message) {
			in := b.get("", evidence.Object{Kind: "Node", Name: l.Node}, "", "")
			if len(in.symptoms) < 20 {
				in.symptoms = append(in.symptoms, rules.Symptom{Kind: "node-complaint", Text: title, Refs: []evidence.Ref{l.Ref}})
			}
		}
	}
}

// fromRequests makes an incident of failing requests when nothing else is wrong: of those that the server failed or did not
// answer, and of those that it did not take where the path looks like a health path or the client like a prober. A user's 404 is no incident.
func (b *builder) fromRequests() {
	if len(b.byKey) > 0 {
		return
	}
	all := make([]*evidence.Request, len(b.set.Requests))
	for i := range b.set.Requests {
		all[i] = &b.set.Requests[i]
	}
	probers := facts.SteadyAskers(all)
	for _, r := range all {
		failing := r.Status >= 500 || r.Status >= 400 && (facts.HealthWord(r.Path) || probers[facts.Asker{Client: r.Client, Path: r.Path}]) ||
			r.Status == 0 && r.By == "client"
		if !failing {
			continue
		}
		w, inferred := b.owners.workload(r.Object.Namespace, r.Object.Name)
		in := b.get(r.Object.Namespace, w, r.Container, inferred)
		if len(in.symptoms) < 20 {
			in.symptoms = append(in.symptoms, rules.Symptom{Kind: "failing-request", Refs: []evidence.Ref{r.Ref},
				Text: requestText(r)})
		}
		b.adoptWorkload(in)
	}
}

func requestText(r *evidence.Request) string {
	what := strings.TrimSpace(r.Method + " " + r.Path)
	if what == "" {
		what = "a request"
	}
	if r.Status == 0 {
		return what + " got no answer"
	}
	return what + " answered " + itoa(r.Status)
}

// fromAppLogs makes an incident of log lines in which somebody's request to a health endpoint failed, such as an
// operator's, when nothing else is wrong. Their texts are those of Go's HTTP client, as the kubelet's are.
func (b *builder) fromAppLogs(pack *rules.Pack) {
	if len(b.byKey) > 0 {
		return
	}
	for i := range b.set.Logs {
		l := &b.set.Logs[i]
		if pack.Matches("upstream-connect-failed", l.Logger, l.Message) {
			w, inferred := b.owners.workload(l.Object.Namespace, l.Object.Name)
			in := b.get(l.Object.Namespace, w, l.Container, inferred)
			if len(in.symptoms) < 20 {
				in.symptoms = append(in.symptoms, rules.Symptom{Kind: "failing-request", Text: "a proxy cannot connect to the application", Refs: []evidence.Ref{l.Ref}})
			}
			b.adoptWorkload(in)
			continue
		}
		at := strings.Index(l.Message, `Get "`)
		if at < 0 || !strings.HasPrefix(l.Origin, "app") && l.Origin != "" {
			continue
		}
		v, ok := evidence.Classify(l.Message[at:])
		if !ok || !facts.HealthWord(v.Target.Path) {
			continue
		}
		f := &evidence.Failure{Verdict: v, Cites: l.Ref, Object: l.Object, Container: l.Container, Count: 1, First: l.At, Last: l.At, Message: l.Message[at:]}
		w, inferred := b.owners.workload(l.Object.Namespace, l.Object.Name)
		in := b.get(l.Object.Namespace, w, l.Container, inferred)
		in.Failures = append(in.Failures, facts.Failure{Failure: f, Life: facts.LifeUnknown, Pod: b.owners.pod(l.Object.Namespace, l.Object.Name)})
		b.adoptWorkload(in)
	}
}

func byFirst(x, y facts.Failure) int { return x.First.Compare(y.First) }

// joinSmall puts bursts of a few failures to the one before them, the first ones to the one after: a few failures now and
// then are one matter, for transients come apart by hours.
func joinSmall(bursts [][]facts.Failure) [][]facts.Failure {
	var out [][]facts.Failure
	count := 0 // of the last of out
	for _, fs := range bursts {
		n := 0
		for _, f := range fs {
			n += f.Count
		}
		if len(out) > 0 && (n < smallBurst || count < smallBurst) {
			out[len(out)-1] = append(out[len(out)-1], fs...)
			count += n
		} else {
			out = append(out, fs)
			count = n
		}
	}
	return out
}

// splitBursts divides an incident where its failures are more than burstGap apart.
func (b *builder) splitBursts(in *incident) []*incident {
	timed := in.Failures // by their first time, as the set's are
	if !slices.IsSortedFunc(timed, byFirst) {
		timed = slices.Clone(timed)
		slices.SortStableFunc(timed, byFirst)
	}
	if n := len(timed); n == 0 || timed[n-1].First.Sub(timed[0].First) <= burstGap {
		return []*incident{in}
	}
	var bursts [][]facts.Failure
	var untimed []facts.Failure
	var end time.Time
	for _, f := range timed {
		if f.First.IsZero() {
			untimed = append(untimed, f)
			continue
		}
		if len(bursts) == 0 || f.First.Sub(end) > burstGap {
			bursts = append(bursts, nil)
		}
		bursts[len(bursts)-1] = append(bursts[len(bursts)-1], f)
		if f.Last.After(end) {
			end = f.Last
		}
	}
	bursts = joinSmall(bursts)
	if len(bursts) < 2 {
		return []*incident{in}
	}
	var out []*incident
	for i, fs := range bursts {
		part := &incident{inferred: in.inferred}
		part.Set, part.Cluster, part.Namespace, part.Workload, part.Container = in.Set, in.Cluster, in.Namespace, in.Workload, in.Container
		part.Failures = fs
		if i == len(bursts)-1 {
			part.Failures = append(part.Failures, untimed...)
			part.symptoms = in.symptoms
		}
		out = append(out, part)
	}
	return out
}
