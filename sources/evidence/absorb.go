package evidence

import (
	"cmp"
	"slices"
	"time"
)

// maxTwins bounds how many rows of the same text one row is held against.
const maxTwins = 64

// absorb drops the event rows that say less about an occurrence than another row does: the same event is often pasted as
// a row of "get events", as one of describe and in a JSON list, and must not be counted twice.
//
// Rows are of one event when object, reason and message are the same and their times agree as far as printed ages can.
func absorb(events []Event, end time.Time) []Event {
	if !slices.ContainsFunc(events, func(e Event) bool { return e.Name == "" }) {
		return events // API objects only: supersede has decided
	}
	type key struct{ kind, name, reason, message string }
	groups := map[key][]int{}
	for i := range events {
		e := &events[i]
		if e.Object.Name != "" {
			k := key{e.Object.Kind, e.Object.Name, e.Reason, e.Message}
			groups[k] = append(groups[k], i)
		}
	}
	drop := make([]bool, len(events))
	for _, group := range groups {
		if len(group) < 2 {
			continue
		}
		// The row that says most comes first; the order is total, since references differ.
		slices.SortFunc(group, func(a, b int) int { return compareDetail(&events[a], &events[b]) })
		for n, i := range group {
			for _, j := range group[:min(n, maxTwins)] {
				if !drop[j] && sameRow(&events[j], &events[i], end) {
					drop[i] = true
					break
				}
			}
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

// compareDetail orders rows by how much they say: named ones, then those with a beginning, then the higher count.
func compareDetail(a, b *Event) int {
	has := func(b bool) int {
		if b {
			return 0
		}
		return 1
	}
	return cmp.Or(
		cmp.Compare(has(a.Name != ""), has(b.Name != "")),
		cmp.Compare(has(!a.First.IsZero()), has(!b.First.IsZero())),
		cmp.Compare(has(!a.AtLeast), has(!b.AtLeast)),
		-cmp.Compare(a.Count, b.Count),
		-a.Last.Compare(b.Last),
		cmp.Compare(a.Ref, b.Ref))
}

// sameRow tells whether less is the row of the event full, printed with less detail or earlier.
func sameRow(full, less *Event, end time.Time) bool {
	agree := func(a, b string) bool { return a == b || a == "" || b == "" }
	switch {
	case less.Name != "": // an API object
		return false
	case !agree(full.Object.Namespace, less.Object.Namespace), !agree(full.Object.UID, less.Object.UID),
		!agree(full.Object.Cluster, less.Object.Cluster), !agree(full.Container, less.Container),
		full.Combined != less.Combined, full.First.IsZero() && full.Last.IsZero():
		return false
	case !less.First.IsZero() && !full.First.IsZero():
		return near(full.First, less.First, end) && less.Count <= full.Count
	case less.Last.IsZero():
		return less.AtLeast // it says no more than that it happened
	case less.Count > full.Count && !less.AtLeast:
		return false
	}
	return near(full.Last, less.Last, end) ||
		!full.First.IsZero() && less.Last.After(full.First) && less.Last.Before(full.Last)
}

// near tells whether two times are the same as far as kubectl's ages can tell: it prints seconds up to 10 minutes, minutes
// up to 8 hours, hours up to 2 days, then days (k8s.io/apimachinery duration.HumanDuration).
func near(a, b, end time.Time) bool {
	age := end.Sub(a)
	step := 2 * time.Second
	switch {
	case age >= 48*time.Hour:
		step = 24 * time.Hour
	case age >= 8*time.Hour:
		step = time.Hour
	case age >= 10*time.Minute:
		step = time.Minute
	}
	return a.Sub(b).Abs() <= step
}
