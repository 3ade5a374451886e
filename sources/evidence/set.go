package evidence

import (
	"cmp"
	"slices"
	"time"
)

// Set is all the evidence of one diagnosis. Sources append to it; after [Set.Finish] it is not changed any more.
type Set struct {
	Events       []Event
	Pods         []Pod
	Workloads    []Workload
	Autoscalers  []Autoscaler
	Nodes        []Node
	Services     []Service
	Series       []Series
	Logs         []LogLine
	Requests     []Request
	Targets      []Target
	HealthChecks []HealthCheck
	Listeners    []Listener

	// Queries are the canonical signals with the PromQL that would give them, for what was not gathered.
	Queries  []Query
	Coverage []Coverage

	// Failures is derived by Finish from the events and from kubelet log lines.
	Failures []Failure

	// End is the newest moment in the evidence (or the one given with FinishOptions.At); zero when nothing has a time.
	End time.Time
	// Cut is the moment to which AsOf cut the set; zero when it was not cut.
	Cut time.Time
	// Relative is true when no absolute time was in the input: all times are then on the paste's clock, and [Before]
	// gives the distance to the moment of the paste.
	Relative bool

	index map[Ref]any
}

// FinishOptions tell Set.Finish about what is not in the evidence itself.
type FinishOptions struct {
	// At is the moment of the paste or of the gathering; zero when not known.
	At time.Time
}

// Merge appends what is in other. Neither may be finished.
func (s *Set) Merge(other *Set) {
	s.Events = append(s.Events, other.Events...)
	s.Pods = append(s.Pods, other.Pods...)
	s.Workloads = append(s.Workloads, other.Workloads...)
	s.Autoscalers = append(s.Autoscalers, other.Autoscalers...)
	s.Nodes = append(s.Nodes, other.Nodes...)
	s.Services = append(s.Services, other.Services...)
	s.Series = append(s.Series, other.Series...)
	s.Logs = append(s.Logs, other.Logs...)
	s.Requests = append(s.Requests, other.Requests...)
	s.Targets = append(s.Targets, other.Targets...)
	s.HealthChecks = append(s.HealthChecks, other.HealthChecks...)
	s.Listeners = append(s.Listeners, other.Listeners...)
	s.Queries = append(s.Queries, other.Queries...)
	s.Coverage = append(s.Coverage, other.Coverage...)
}

// Finish resolves relative times, gives every item its Ref, removes duplicates, sorts everything into an order that does
// not depend on the order of the input, and derives the failures. It never reads the clock.
func (s *Set) Finish(o FinishOptions) {
	s.resolveTimes(o.At)

	for i := range s.Series {
		slices.SortStableFunc(s.Series[i].Samples, func(a, b Sample) int {
			return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.Value, b.Value))
		})
	}

	finish(&s.Events, KindEvent, eventContent)
	finish(&s.Pods, KindPod, nil)
	finish(&s.Workloads, KindWorkload, nil)
	finish(&s.Autoscalers, KindAutoscaler, nil)
	finish(&s.Nodes, KindNode, nil)
	finish(&s.Services, KindService, nil)
	finish(&s.Series, KindSeries, seriesContent)
	finish(&s.Logs, KindLog, logContent)
	finish(&s.Requests, KindRequest, requestContent)
	finish(&s.Targets, KindTarget, nil)
	finish(&s.HealthChecks, KindHealthCheck, nil)
	finish(&s.Listeners, KindListener, nil)

	s.End = s.newest(o.At)
	s.Events = absorb(supersede(s.Events), s.End)
	sortItems(s.Events, func(a, b *Event) int { return a.First.Compare(b.First) })
	sortItems(s.Pods, comparePods)
	sortItems(s.Workloads, func(a, b *Workload) int { return compareObject(a.Object, b.Object) })
	sortItems(s.Autoscalers, nil)
	sortItems(s.Nodes, nil)
	sortItems(s.Services, nil)
	sortItems(s.Series, nil)
	sortItems(s.Logs, func(a, b *LogLine) int { return a.At.Compare(b.At) })
	sortItems(s.Requests, func(a, b *Request) int { return a.At.Compare(b.At) })
	sortItems(s.Targets, func(a, b *Target) int { return cmp.Or(cmp.Compare(a.Group, b.Group), cmp.Compare(a.ID, b.ID)) })
	sortItems(s.HealthChecks, nil)
	sortItems(s.Listeners, nil)
	slices.SortFunc(s.Queries, func(a, b Query) int {
		return cmp.Or(cmp.Compare(a.Signal, b.Signal), cmp.Compare(a.Stack, b.Stack), cmp.Compare(a.PromQL, b.PromQL))
	})
	s.Queries = slices.Compact(s.Queries)
	slices.SortFunc(s.Coverage, func(a, b Coverage) int {
		return cmp.Or(cmp.Compare(a.Source, b.Source), cmp.Compare(a.Status, b.Status), cmp.Compare(a.Detail, b.Detail))
	})
	s.Coverage = slices.Compact(s.Coverage)

	s.Failures = deriveFailures(s)
}

// Lookup gives the item that ref cites, as a pointer to one of this package's types.
func (s *Set) Lookup(ref Ref) (any, bool) {
	if s.index == nil {
		s.index = map[Ref]any{}
		indexAll(s.index, s.Events)
		indexAll(s.index, s.Pods)
		indexAll(s.index, s.Workloads)
		indexAll(s.index, s.Autoscalers)
		indexAll(s.index, s.Nodes)
		indexAll(s.index, s.Services)
		indexAll(s.index, s.Series)
		indexAll(s.index, s.Logs)
		indexAll(s.index, s.Requests)
		indexAll(s.index, s.Targets)
		indexAll(s.index, s.HealthChecks)
		indexAll(s.index, s.Listeners)
	}
	v, ok := s.index[ref]
	return v, ok
}

// Covered tells whether the source was read whole, so that the absence of an item means something.
//
// Event rows that somebody pasted one by one cover nothing: what else happened was not pasted.
func (s *Set) Covered(source string) bool {
	if source == SourceEvents && len(s.Events) > 0 && !slices.ContainsFunc(s.Events, func(e Event) bool { return e.Source != "paste" }) {
		return false
	}
	ok := false
	for _, c := range s.Coverage {
		if c.Source == source {
			if c.Status != CoverageOK {
				return false
			}
			ok = true
		}
	}
	return ok
}

// itemer is implemented by a pointer to every type that embeds Item.
type itemer interface{ item() *Item }

func (i *Item) item() *Item { return i }

// ItemOf gives the common part of an item that Lookup returned.
func ItemOf(v any) (*Item, bool) {
	if it, ok := v.(itemer); ok {
		return it.item(), true
	}
	return nil, false
}

func indexAll[T any, P interface {
	*T
	itemer
}](index map[Ref]any, items []T) {
	for i := range items {
		p := P(&items[i])
		index[p.item().Ref] = p
	}
}

// finish gives every item its Ref, and merges what has the same content.
func finish[T any, P interface {
	*T
	itemer
}](items *[]T, kind Kind, content func(*hasher, *T)) {
	h := newHasher()
	seen := make(map[Ref]int, len(*items))
	kept := (*items)[:0]
	for i := range *items {
		p := P(&(*items)[i])
		h.reset()
		if content != nil {
			content(h, (*T)(p))
		} else {
			h.item((*T)(p), p.item())
		}
		ref := Ref(string(kind) + ":" + h.sum())
		it := p.item()
		it.Ref = ref
		if j, dup := seen[ref]; dup {
			mergeItem(P(&kept[j]).item(), it)
			continue
		}
		seen[ref] = len(kept)
		kept = append(kept, *p)
	}
	*items = kept
}

// sortItems sorts by order, then by Ref, which no two items share. Items are large, so pointers are sorted.
func sortItems[T any, P interface {
	*T
	itemer
}](items []T, order func(a, b *T) int) {
	pointers := make([]P, len(items))
	for i := range items {
		pointers[i] = &items[i]
	}
	slices.SortFunc(pointers, func(a, b P) int {
		if order != nil {
			if c := order(a, b); c != 0 {
				return c
			}
		}
		return cmp.Compare(a.item().Ref, b.item().Ref)
	})
	sorted := make([]T, len(items))
	for i, p := range pointers {
		sorted[i] = *p
	}
	copy(items, sorted)
}

// mergeItem joins what the same content was read with twice, so that it does not matter which came first.
func mergeItem(a, b *Item) {
	if cmp.Or(cmp.Compare(b.File, a.File), cmp.Compare(b.Line, a.Line)) < 0 {
		a.File, a.Line = b.File, b.Line
	}
	a.Source, a.Locator, a.Excerpt = smaller(a.Source, b.Source), smaller(a.Locator, b.Locator), smaller(a.Excerpt, b.Excerpt)
	if b.Observed.After(a.Observed) {
		a.Observed = b.Observed
	}
}

// smaller gives the text that sorts first; an empty one only when both are.
func smaller(a, b string) string {
	if a == "" || b != "" && b < a {
		return b
	}
	return a
}

// supersede drops an event row that a later state of the same API object replaces: a watch prints the growing count again
// and again.
func supersede(events []Event) []Event {
	type key struct {
		object          Object
		container       string
		reason, message string
		component, name string
		first           int64
	}
	best := make(map[key]int, len(events))
	drop := make([]bool, len(events))
	for i := range events {
		e := &events[i]
		if e.Name == "" || e.First.IsZero() {
			continue
		}
		k := key{e.Object, e.Container, e.Reason, e.Message, e.Component, e.Name, e.First.Unix()}
		j, ok := best[k]
		if !ok {
			best[k] = i
			continue
		}
		if cmp.Or(cmp.Compare(events[j].Count, e.Count), events[j].Last.Compare(e.Last), cmp.Compare(e.Ref, events[j].Ref)) < 0 {
			drop[j] = true
			best[k] = i
		} else {
			drop[i] = true
		}
	}
	kept := events[:0]
	for i := range events {
		if !drop[i] {
			kept = append(kept, events[i])
		}
	}
	return kept
}

func comparePods(a, b *Pod) int {
	return cmp.Or(compareObject(a.Object, b.Object), a.Observed.Compare(b.Observed))
}

func compareObject(a, b Object) int {
	return cmp.Or(cmp.Compare(a.Cluster, b.Cluster), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Kind, b.Kind),
		cmp.Compare(a.Name, b.Name), cmp.Compare(a.UID, b.UID))
}
