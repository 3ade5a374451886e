// Package diagnose is the one call from evidence to diagnoses: it forms incidents, computes facts, evaluates rules, ranks
// causes and fills in the runbooks' steps.
//
// Live, replayed and pasted evidence all go through it, so that they give the same answer. It gathers nothing, prints
// nothing and reads no clock.
package diagnose

import (
	"cmp"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/probedoctor/probedoctor/rules"
	"github.com/probedoctor/probedoctor/rules/facts"
	"github.com/probedoctor/probedoctor/runbooks"
	"github.com/probedoctor/probedoctor/sources/evidence"
)

// Knowledge is what a diagnosis needs besides evidence.
type Knowledge struct {
	Pack     *rules.Pack
	Runbooks *runbooks.Library
}

// Options narrow a diagnosis.
type Options struct {
	// AsOf cuts the evidence to a moment; zero means all of it.
	AsOf time.Time
	// Namespace is that of what names none.
	Namespace string
	// Match keeps the incidents whose subject it accepts; nil keeps all.
	Match func(rules.Subject) bool
}

// MaxIncidents is how many incidents one run diagnoses, the most severe ones: an answer about more of them is one that
// nobody reads, and each holds its own copy of what it cites. The others are counted in the coverage.
const MaxIncidents = 100

// Run diagnoses a finished set.
func Run(set *evidence.Set, k Knowledge, o Options) *rules.DiagnosisList {
	set = set.AsOf(o.AsOf)
	list := &rules.DiagnosisList{APIVersion: rules.APIVersion, Kind: rules.ListKind, Items: []rules.Diagnosis{}}
	ins := incidents(set, k.Pack)
	for _, in := range ins {
		if in.Namespace == "" {
			in.Namespace = o.Namespace
		}
	}
	if o.Match != nil {
		ins = slices.DeleteFunc(ins, func(in *incident) bool { return !o.Match(subject(in)) })
	}
	found := len(ins)
	ins = ins[:min(found, MaxIncidents)]
	// Incidents share only what nobody changes any more, so they are diagnosed side by side; the order stays.
	set.Lookup("")
	list.Items = make([]rules.Diagnosis, len(ins))
	next := make(chan int)
	var workers sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(ins)) {
		workers.Go(func() {
			for i := range next {
				list.Items[i] = one(ins[i], k)
			}
		})
	}
	for i := range ins {
		next <- i
	}
	close(next)
	workers.Wait()
	list.Coverage = coverage(set)
	if found > len(ins) {
		list.Coverage = append(list.Coverage, evidence.Coverage{Source: evidence.SourceInput, Status: evidence.CoveragePartial,
			Detail: fmt.Sprintf("%d incidents were found; the %d most severe are diagnosed. A namespace or a workload named on the command line selects others", found, len(ins))})
	}
	return list
}

// Evaluations gives the evaluation of each incident, for those who want the facts' values beside the answer.
func Evaluations(set *evidence.Set, k Knowledge, o Options) []*rules.Evaluation {
	set = set.AsOf(o.AsOf)
	var out []*rules.Evaluation
	for _, in := range incidents(set, k.Pack) {
		if o.Match != nil && !o.Match(subject(in)) {
			continue
		}
		k.Pack.MatchSignatures(&in.Incident)
		out = append(out, k.Pack.Evaluate(&in.Incident))
	}
	return out
}

func one(in *incident, k Knowledge) rules.Diagnosis {
	k.Pack.MatchSignatures(&in.Incident)
	ev := k.Pack.Evaluate(&in.Incident)
	rank := ev.Rank()
	d := rules.Diagnosis{
		Subject:  subject(in),
		Window:   window(in),
		Symptoms: symptoms(in),
		Failures: groups(in),
		Ranked:   rank.Ranked,
		Other:    rank.Other,
		RuledOut: rank.RuledOut,
		Missing:  rank.Missing,
	}
	for i := range ev.Results {
		r := &ev.Results[i]
		d.Trace = append(d.Trace, rules.TraceEntry{
			Rule: r.Rule.ID, Order: r.Rule.Order, Title: r.Rule.Title, Outcome: r.Outcome, Missing: r.Missing,
			Statement: cmp.Or(r.Statement, r.Fault), Refs: r.Refs,
		})
	}
	remedies(&d, in, ev, k.Runbooks)
	round(&d)
	exhibits(&d, in)
	return d
}

// round keeps four places of probabilities: what follows is an artefact of floating point.
func round(d *rules.Diagnosis) {
	r := func(x float64) float64 { return float64(int64(x*1e4+0.5)) / 1e4 }
	for i := range d.Ranked {
		d.Ranked[i].Probability = r(d.Ranked[i].Probability)
	}
	d.Other = r(d.Other)
	for _, c := range d.Ranked {
		for _, list := range [][]rules.Statement{c.For, c.Against} {
			for i := range list {
				if list[i].Weight < 0 {
					list[i].Weight = -r(-list[i].Weight)
				} else {
					list[i].Weight = r(list[i].Weight)
				}
			}
		}
	}
}

func subject(in *incident) rules.Subject {
	s := rules.Subject{
		Cluster: in.Cluster, Namespace: in.Namespace, Kind: in.Workload.Kind, Name: in.Workload.Name, Container: in.Container,
		Inferred: in.inferred, Pods: -1, Ready: -1, Desired: -1,
	}
	if len(in.Pods) > 0 {
		s.Pods = 0
		known := true
		ready := 0
		for _, p := range in.Pods {
			if !p.Deleted.IsZero() {
				continue
			}
			s.Pods++
			r, ok := p.Ready()
			known = known && ok
			if r {
				ready++
			}
		}
		if known {
			s.Ready = ready
		}
	}
	if in.Template != nil {
		if in.Template.Desired >= 0 {
			s.Desired = in.Template.Desired
		}
		// Of pods that are missing in the input nobody knows whether they are ready, unless the controller says so.
		if s.Ready < 0 || s.Pods < s.Desired {
			s.Ready = in.Template.ReadyCount
		}
	}
	return s
}

func window(in *incident) rules.Window {
	w := rules.Window{Relative: in.Set.Relative}
	if in.Set.Relative {
		if !in.Start.IsZero() {
			w.StartAge, w.EndAge = evidence.Before(in.Start).String(), evidence.Before(in.End).String()
		}
		return w
	}
	w.Start, w.End, w.AsOf = in.Start, in.End, in.Set.End
	return w
}

func symptoms(in *incident) []rules.Symptom {
	out := []rules.Symptom{}
	if n := len(in.Failures); n > 0 {
		total := 0
		var refs []evidence.Ref
		byProbe := map[evidence.ProbeKind]int{}
		for i := range in.Failures {
			f := &in.Failures[i]
			total += f.Count
			byProbe[f.Probe] += f.Count
			refs = append(refs, f.Cites)
		}
		var parts []string
		for _, k := range []evidence.ProbeKind{evidence.Readiness, evidence.Liveness, evidence.Startup} {
			if byProbe[k] > 0 {
				parts = append(parts, fmt.Sprintf("%s %d", k, byProbe[k]))
			}
		}
		text := plural(total, "probe failure")
		if len(parts) > 0 {
			text += ": " + strings.Join(parts, ", ")
		}
		out = append(out, rules.Symptom{Kind: "probe-failure", Text: text, Refs: spread(refs, maxSymptomRefs)})
	}
	for _, kind := range []evidence.ProbeKind{evidence.Liveness, evidence.Startup} {
		kills := 0
		var refs []evidence.Ref
		for _, e := range in.Events {
			if facts.KilledBy(e) == kind {
				kills += max(e.Count, 1)
				refs = append(refs, e.Ref)
			}
		}
		if kills > 0 {
			out = append(out, rules.Symptom{Kind: string(kind) + "-restart", Text: plural(kills, "restart") + " by " + string(kind), Refs: spread(refs, maxSymptomRefs)})
		}
	}
	// The same thing again and again is said once.
	at := map[string]int{}
	for _, s := range in.symptoms {
		k := s.Kind + s.Text
		if i, ok := at[k]; ok {
			out[i].Refs = spread(append(slices.Clone(out[i].Refs), s.Refs...), maxSymptomRefs)
			continue
		}
		at[k] = len(out)
		out = append(out, s)
	}
	return out
}

func plural(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return fmt.Sprintf("%d %ss", n, word)
}

// spread keeps at most n different refs, evenly over the list; the groups of failures cite more than a symptom does.
func spread(refs []evidence.Ref, n int) []evidence.Ref {
	out := make([]evidence.Ref, 0, min(n, len(refs)))
	for i := range min(n, len(refs)) {
		r := refs[i]
		if len(refs) > n {
			r = refs[i*(len(refs)-1)/(n-1)]
		}
		if !slices.Contains(out, r) {
			out = append(out, r)
		}
	}
	return out
}

// maxSymptomRefs bounds the citations of a symptom.
const maxSymptomRefs = 12

// maxGroupRefs bounds the citations of a group of failures; its count tells of all of them.
const maxGroupRefs = 50

func groups(in *incident) []rules.FailureGroup {
	out := []rules.FailureGroup{}
	for i := range in.Groups {
		g := &in.Groups[i]
		fg := rules.FailureGroup{
			ID: g.ID(), Phase: g.Phase, Outcome: g.Outcome, Life: string(g.Life), Result: g.Result, Count: g.Count,
			ByProbe: map[evidence.ProbeKind]int{}, Pods: []string{}, Refs: []evidence.Ref{},
		}
		pods := map[string]bool{}
		for _, f := range g.Failures {
			fg.AtLeast = fg.AtLeast || f.AtLeast
			if f.Probe != "" {
				fg.ByProbe[f.Probe] += f.Count
			}
			if f.Status > 0 {
				if fg.Status == nil {
					fg.Status = map[int]int{}
				}
				fg.Status[f.Status] += f.Count
			}
			if f.Object.Name != "" {
				pods[f.Object.Name] = true
			}
			fg.Refs = append(fg.Refs, f.Cites)
		}
		fg.Pods = append(fg.Pods, sortedKeys(pods)...)
		fg.Refs = spread(fg.Refs, maxGroupRefs)
		out = append(out, fg)
	}
	return out
}

// exhibits collects every cited item, so that each reference in the document can be opened.
func exhibits(d *rules.Diagnosis, in *incident) {
	set := in.Set
	d.Evidence = map[evidence.Ref]rules.Exhibit{}
	add := func(refs []evidence.Ref) {
		for _, r := range refs {
			if _, ok := d.Evidence[r]; ok {
				continue
			}
			v, ok := set.Lookup(r)
			if !ok {
				continue
			}
			it, _ := evidence.ItemOf(v)
			at, excerpt := timeOf(v, set.Relative), it.Excerpt
			if !set.Cut.IsZero() && at.After(set.Cut) {
				// The item opens as it was recorded; at the moment of the cut only its beginning was known.
				at, excerpt = time.Time{}, "as recorded later: "+excerpt
				if e, ok := v.(*evidence.Event); ok {
					at = e.First
				}
			}
			d.Evidence[r] = rules.Exhibit{
				Kind: evidence.Kind(strings.SplitN(string(r), ":", 2)[0]), Source: it.Source, Locator: in.FillQuery(it.Locator),
				At: at, Excerpt: excerpt, File: it.File, Line: it.Line,
			}
		}
	}
	for _, s := range d.Symptoms {
		add(s.Refs)
	}
	for _, g := range d.Failures {
		add(g.Refs)
	}
	for _, c := range d.Ranked {
		for _, s := range c.For {
			add(s.Refs)
		}
		for _, s := range c.Against {
			add(s.Refs)
		}
	}
	for _, r := range d.RuledOut {
		add(r.Refs)
	}
	for _, t := range d.Trace {
		add(t.Refs)
	}
}

// timeOf is the moment an item speaks of; zero when it has none or when the set's times are relative to the paste.
func timeOf(v any, relative bool) time.Time {
	if relative {
		return time.Time{}
	}
	switch v := v.(type) {
	case *evidence.Event:
		return v.Last
	case *evidence.LogLine:
		return v.At
	case *evidence.Request:
		return v.At
	case *evidence.Series:
		if n := len(v.Samples); n > 0 {
			return v.Samples[n-1].At
		}
	case *evidence.Target:
		return v.Since
	}
	return time.Time{}
}

// coverage is what the sources said, completed by the sources of which nothing was read.
func coverage(set *evidence.Set) []evidence.Coverage {
	out := slices.Clone(set.Coverage)
	if out == nil {
		out = []evidence.Coverage{}
	}
	have := map[string]bool{}
	for _, c := range out {
		have[c.Source] = true
	}
	for _, s := range []string{evidence.SourceEvents, evidence.SourcePods, evidence.SourceSpecs, evidence.SourceScaling, evidence.SourceNodes,
		evidence.SourceLogs, evidence.SourceRequests, evidence.SourceMetrics, evidence.SourceBalancer, evidence.SourceSockets} {
		if !have[s] {
			out = append(out, evidence.Coverage{Source: s, Status: evidence.CoverageAbsent})
		}
	}
	slices.SortStableFunc(out, func(a, b evidence.Coverage) int { return cmp.Compare(sourceOrder(a.Source), sourceOrder(b.Source)) })
	return out
}

func sourceOrder(s string) int {
	i := slices.Index([]string{evidence.SourceEvents, evidence.SourcePods, evidence.SourceSpecs, evidence.SourceScaling, evidence.SourceNodes,
		evidence.SourceLogs, evidence.SourceRequests, evidence.SourceMetrics, evidence.SourceBalancer, evidence.SourceSockets, evidence.SourceInput}, s)
	if i < 0 {
		return 99
	}
	return i
}
