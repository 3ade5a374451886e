package facts

import (
	"cmp"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/probedoctor/probedoctor/sources/evidence"
)

// Life is what the pod was doing when a probe failed.
type Life string

// The lives of a pod. Failures of starting and of terminating pods are what noise explains.
const (
	Starting    Life = "starting"
	Live        Life = "live"
	Terminating Life = "terminating"
	LifeUnknown Life = "unknown"
)

// Failure is a failure of the incident with the life that the pod led.
type Failure struct {
	*evidence.Failure
	Life Life
	// Pod is nil when the pod is not in the evidence.
	Pod *evidence.Pod
}

// serious tells whether the failure is one that a root cause has to explain: counted by the kubelet, and of a pod that is
// neither starting nor terminating as far as is known.
func (f *Failure) serious() bool {
	return f.Result == evidence.Failed && (f.Life == Live || f.Life == LifeUnknown)
}

// doubtful tells whether the failure may be nothing but the noise of a start or an end: a refusal, reset or close of a pod
// of which nobody knows what it was doing.
func (f *Failure) doubtful() bool {
	return f.Life == LifeUnknown && (f.Outcome == evidence.OutcomeRefused || f.Outcome == evidence.OutcomeReset || f.Outcome == evidence.OutcomeClosed)
}

// doubtfulMinority tells whether most of what a root cause has to explain is not doubtful. What is doubtful then names no
// failing pod and is not counted.
func (in *Incident) doubtfulMinority() bool {
	return once(in, "doubtfulMinority", func() bool {
		doubtful, sure := 0, 0
		for i := range in.Failures {
			f := &in.Failures[i]
			switch {
			case !f.serious():
			case f.doubtful():
				doubtful += f.Count
			default:
				sure += f.Count
			}
		}
		return doubtful < sure
	})
}

// Group is a class of failures: how far they got, what happened there, and the life of the pod.
type Group struct {
	Phase    evidence.Phase
	Outcome  evidence.Outcome
	Life     Life
	Result   evidence.Result
	Failures []*Failure
	Count    int
}

// ID names the group: "phase/outcome/life".
func (g *Group) ID() string { return string(g.Phase) + "/" + string(g.Outcome) + "/" + string(g.Life) }

// Hit is a log line that a signature of the pack matched.
type Hit struct {
	Line *evidence.LogLine
	// Dependency is the signature's dependency ("Redis"), empty when it has none.
	Dependency string
}

// Signature is what facts need to know of a log signature.
type Signature struct {
	Hits []Hit
	// Dependency and Kind ("dependency-error", "shutdown", …) are the signature's own.
	Dependency, Kind string
}

// Incident is one incident with all evidence that bears on it: the only input of a fact.
type Incident struct {
	Set *evidence.Set

	Cluster   string
	Namespace string
	// Workload is the controller; Container the container that the failures are about. Empty when not known.
	Workload  evidence.Object
	Container string

	// Start and End bound the symptoms; zero when they have no times.
	Start, End time.Time

	Failures []Failure
	Groups   []Group
	// Pods are the workload's pods, by name; Template its controller when that was read.
	Pods     []*evidence.Pod
	Template *evidence.Workload
	Replicas []*evidence.Workload // its ReplicaSets
	// Probes are the probes of the container, configured or failing.
	Probes     []Probe
	Autoscaler *evidence.Autoscaler

	// Events are those of the workload, its pods, its autoscaler and its nodes.
	Events   []*evidence.Event
	Logs     []*evidence.LogLine
	Requests []*evidence.Request
	// Series are the canonical series by signal, those of the workload's pods and those without a pod label.
	Series       map[string][]*evidence.Series
	Targets      []*evidence.Target
	HealthChecks []*evidence.HealthCheck
	Nodes        []*evidence.Node
	Listeners    []*evidence.Listener
	// OtherFailures counts the failing workloads besides this one by node name.
	OtherFailing map[string]int
	// OtherWorkloads is how many other workloads of the input have failing probes within a minute of this one's.
	OtherWorkloads int

	// Signatures holds the hits of every signature of the pack that was looked for, by its id.
	Signatures map[string]Signature

	// Probe and Pod are set while a fact of that scope is computed.
	Probe *Probe
	Pod   *evidence.Pod

	memo  map[string]any
	paths map[string]pathInfo
}

// Ends gives the refs of the first and the last item that the incident has of a source, in the order in which it is held.
func (in *Incident) Ends(source string) []evidence.Ref {
	switch source {
	case evidence.SourceEvents:
		return ends(in.Events, func(e *evidence.Event) evidence.Ref { return e.Ref })
	case evidence.SourcePods:
		return ends(in.Pods, func(p *evidence.Pod) evidence.Ref { return p.Ref })
	case evidence.SourceSpecs:
		if in.Template != nil {
			return []evidence.Ref{in.Template.Ref}
		}
	case evidence.SourceLogs:
		return ends(in.Logs, func(l *evidence.LogLine) evidence.Ref { return l.Ref })
	case evidence.SourceRequests:
		return ends(in.Requests, func(r *evidence.Request) evidence.Ref { return r.Ref })
	case evidence.SourceNodes:
		return ends(in.Nodes, func(n *evidence.Node) evidence.Ref { return n.Ref })
	}
	return nil
}

func ends[T any](items []*T, ref func(*T) evidence.Ref) []evidence.Ref {
	switch n := len(items); n {
	case 0:
		return nil
	case 1:
		return []evidence.Ref{ref(items[0])}
	default:
		return []evidence.Ref{ref(items[0]), ref(items[n-1])}
	}
}

// Probe is one probe of the container.
type Probe struct {
	Kind evidence.ProbeKind
	// Spec is nil when the configuration was not read.
	Spec *evidence.ProbeSpec
	// SpecRef cites where it was read.
	SpecRef  evidence.Ref
	Failures []*Failure
}

// Count is the number of failures of the probe that count.
func (p *Probe) Count() int {
	n := 0
	for _, f := range p.Failures {
		if f.Result == evidence.Failed {
			n += f.Count
		}
	}
	return n
}

// once computes a value one time for an incident: several facts share the same pass over the evidence.
func once[T any](in *Incident, key string, f func() T) T {
	if v, ok := in.memo[key]; ok {
		return v.(T)
	}
	v := f()
	if in.memo == nil {
		in.memo = map[string]any{}
	}
	in.memo[key] = v
	return v
}

// failingPods are the names of the pods with serious failures, sorted; where no failure names its pod, those of the pods
// that are not Ready, or without any of those, that restarted.
func (in *Incident) failingPods() []string {
	return once(in, "failingPods", func() []string {
		seen := map[string]bool{}
		for i := range in.Failures {
			if f := &in.Failures[i]; f.serious() && f.Object.Name != "" && !(f.doubtful() && in.doubtfulMinority()) {
				seen[f.Object.Name] = true
			}
		}
		if len(seen) == 0 {
			for _, p := range in.livePods() {
				if ready, ok := p.Ready(); p.Object.Name != "" && ok && !ready {
					seen[p.Object.Name] = true
				}
			}
			if len(seen) == 0 {
				for _, p := range in.livePods() {
					if p.Object.Name != "" && p.Restarts > 0 {
						seen[p.Object.Name] = true
					}
				}
			}
		}
		return sortedKeys(seen)
	})
}

func (in *Incident) isFailing(pod string) bool {
	_, ok := slices.BinarySearch(in.failingPods(), pod)
	return ok
}

// livePods are the pods that are neither terminating nor finished.
func (in *Incident) livePods() []*evidence.Pod {
	return once(in, "livePods", func() []*evidence.Pod {
		var out []*evidence.Pod
		for _, p := range in.Pods {
			if p.Deleted.IsZero() && p.Phase != "Succeeded" && p.Phase != "Failed" && p.Phase != "Completed" && p.Phase != "Terminating" {
				out = append(out, p)
			}
		}
		return out
	})
}

// probe gives the probe of that kind, nil when the container has none.
func (in *Incident) probe(kind evidence.ProbeKind) *Probe {
	for i := range in.Probes {
		if in.Probes[i].Kind == kind {
			return &in.Probes[i]
		}
	}
	return nil
}

// healthPaths are the paths that probes and balancer checks ask for, sorted.
func (in *Incident) healthPaths() []string {
	return once(in, "healthPaths", func() []string {
		seen := map[string]bool{}
		for i := range in.Probes {
			p := &in.Probes[i]
			if p.Spec != nil && p.Spec.Endpoint.Path != "" {
				seen[p.Spec.Endpoint.Path] = true
			}
			for _, f := range p.Failures {
				if f.Target.Path != "" && !f.Redirected {
					seen[f.Target.Path] = true
				}
			}
		}
		for _, h := range in.HealthChecks {
			if h.Endpoint.Path != "" {
				seen[h.Endpoint.Path] = true
			}
		}
		return sortedKeys(seen)
	})
}

// pathInfo is what a request's path says. There are thousands of requests and a handful of paths.
type pathInfo struct {
	probed bool // a probe or a check asks for it
	word   bool // its name is that of a health endpoint
}

func (in *Incident) pathInfo(path string) pathInfo {
	if info, ok := in.paths[path]; ok {
		return info
	}
	if in.paths == nil {
		in.paths = map[string]pathInfo{}
	}
	info := pathInfo{word: HealthWord(path)}
	for _, h := range in.healthPaths() {
		info.probed = info.probed || plainPath(h) == plainPath(path)
	}
	in.paths[path] = info
	return info
}

// onHealthPath tells whether the path is one that a probe or a check asks for.
func (in *Incident) onHealthPath(path string) bool { return in.pathInfo(path).probed }

// plainPath is a path without query and final slash.
func plainPath(path string) string {
	path, _, _ = strings.Cut(path, "?")
	return strings.TrimSuffix(path, "/")
}

// now is the moment of reading: the end of the evidence, or the moment of the paste where only ages are known.
func (in *Incident) now() time.Time {
	if in.Set.Relative || in.Set.End.IsZero() {
		return evidence.Ago(0)
	}
	return in.Set.End
}

// inWindow tells whether t lies within the incident, widened by slack on both sides. A time that is not known counts as
// within: a pasted line is most likely about the incident it was pasted with.
func (in *Incident) inWindow(t time.Time, slack time.Duration) bool {
	if t.IsZero() || in.Start.IsZero() {
		return true
	}
	return !t.Before(in.Start.Add(-slack)) && !t.After(in.End.Add(slack))
}

// failureRefs cites the failures that match; match may look only at what makes a class.
func (in *Incident) failureRefs(match func(*Failure) bool) []evidence.Ref {
	var refs []evidence.Ref
	for _, c := range in.classes() {
		if match(c.failure) {
			refs = append(refs, c.refs...)
		}
	}
	return refs
}

// QueryNamespace and QueryPods stand in the queries of evidence.Set for the namespace and for the regular expression of
// the pods' names, which differ from incident to incident.
const (
	QueryNamespace = "NAMESPACE"
	QueryPods      = "PODS.+" // a regular expression, so that queries match with =~
)

// FillQuery puts the incident's own namespace and pods into a query.
func (in *Incident) FillQuery(q string) string {
	if !strings.Contains(q, QueryNamespace) && !strings.Contains(q, QueryPods) {
		return q
	}
	if in.Namespace == "" {
		q = strings.NewReplacer(`namespace="`+QueryNamespace+`",`, "", `,namespace="`+QueryNamespace+`"`, "", `namespace="`+QueryNamespace+`"`, "").Replace(q)
	}
	pods := ".+"
	switch {
	case in.Workload.Name == "":
	case in.Workload.Kind == "Pod":
		pods = regexp.QuoteMeta(in.Workload.Name)
	default:
		pods = regexp.QuoteMeta(in.Workload.Name) + "-.+"
	}
	quoted := strconv.Quote(pods)
	return strings.NewReplacer(`"`+QueryNamespace+`"`, strconv.Quote(in.Namespace), `"`+QueryPods+`"`, quoted).Replace(q)
}

// queryFor is the PromQL that would give a canonical signal, or a plain sentence when the catalogue has none.
func (in *Incident) queryFor(signal string) string {
	for _, q := range in.Set.Queries {
		if q.Signal == signal {
			return in.FillQuery(q.PromQL)
		}
	}
	return "no metric that probedoctor knows of this workload gives " + signal + "; a stack file in catalog/ of a --rules folder can name one"
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

func podLabel(s *evidence.Series) string {
	for _, l := range []string{"pod", "pod_name", "kubernetes_pod_name", "k8s_pod_name"} {
		if v := s.Labels[l]; v != "" {
			return v
		}
	}
	return ""
}

// podPeak is the highest value of a signal in one pod within the window.
type podPeak struct {
	pod    string
	series *evidence.Series
	peak   float64
	at     time.Time
}

// peaks gives, for each pod with the signal, the highest value within the incident's window (widened by two minutes, for
// scrapes are rarer than probes), sorted by pod. Series without a pod label have an empty pod name.
func (in *Incident) peaks(signal string) []podPeak {
	return once(in, "peaks:"+signal, func() []podPeak {
		var out []podPeak
		for _, s := range in.Series[signal] {
			p := podPeak{pod: podLabel(s), series: s}
			found := false
			for _, x := range s.Samples {
				// A ratio to nothing and a quantile of nothing are no measurements.
				measured := !math.IsNaN(x.Value) && !math.IsInf(x.Value, 0)
				if in.inWindow(x.At, 2*time.Minute) && measured && (!found || x.Value > p.peak) {
					p.peak, p.at, found = x.Value, x.At, true
				}
			}
			if found {
				out = append(out, p)
			}
		}
		slices.SortStableFunc(out, func(a, b podPeak) int {
			return cmp.Or(cmp.Compare(a.pod, b.pod), cmp.Compare(b.peak, a.peak), cmp.Compare(a.series.Ref, b.series.Ref))
		})
		// Several series of a pod (connectors, pools): the highest stands for the pod.
		return slices.CompactFunc(out, func(a, b podPeak) bool { return a.pod == b.pod && a.pod != "" })
	})
}

// failingPeaks gives the peaks of the failing pods; without any named failing pod, or when no series has a pod, all peaks.
func (in *Incident) failingPeaks(signal string) []podPeak {
	all := in.peaks(signal)
	failing := in.failingPods()
	if len(failing) == 0 {
		return all
	}
	var out []podPeak
	labelled := false
	for _, p := range all {
		labelled = labelled || p.pod != ""
		if p.pod == "" || in.isFailing(p.pod) {
			out = append(out, p)
		}
	}
	if len(out) == 0 && !labelled {
		return all
	}
	return out
}

func peakRefs(ps []podPeak) []evidence.Ref {
	var refs []evidence.Ref
	for _, p := range ps {
		refs = append(refs, p.series.Ref)
	}
	return refs
}

// medianPeak is the median of the peaks.
func medianPeak(ps []podPeak) float64 {
	vs := make([]float64, len(ps))
	for i, p := range ps {
		vs[i] = p.peak
	}
	slices.Sort(vs)
	return vs[len(vs)/2]
}
