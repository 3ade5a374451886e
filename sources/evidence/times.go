package evidence

import (
	"fmt"
	"time"
)

// yearless and dayless mark times that a log printed without a year ("Nov  3 18:22:10") or without a date
// ("09:40:07.902Z"). Year 400 is a leap year, so that the 29th of February survives.
const (
	yearlessYear = 400
	daylessYear  = 200
	// PlaceholderYear stands in where nothing in the input has a year.
	PlaceholderYear = 2000
)

// Yearless is a time without a year; [Set.Finish] puts it into the year that brings it nearest before the anchor.
func Yearless(month time.Month, day, hour, min, sec, nsec int, loc *time.Location) time.Time {
	return time.Date(yearlessYear, month, day, hour, min, sec, nsec, loc)
}

// Dayless is a time of day without a date; [Set.Finish] puts it onto the day that brings it nearest before the anchor.
func Dayless(hour, min, sec, nsec int, loc *time.Location) time.Time {
	return time.Date(daylessYear, 1, 1, hour, min, sec, nsec, loc)
}

// A conversion to another zone may have moved a time into the neighbouring year.
func isYearless(t time.Time) bool {
	y := t.Year()
	return y >= yearlessYear-1 && y <= yearlessYear+1
}
func isDayless(t time.Time) bool {
	y := t.Year()
	return y == daylessYear || y == daylessYear-1
}

// eachTime calls f with every time in the set except Observed.
func (s *Set) eachTime(f func(*time.Time)) {
	conditions := func(cs []Condition) {
		for i := range cs {
			f(&cs[i].Transition)
		}
	}
	for i := range s.Events {
		f(&s.Events[i].First)
		f(&s.Events[i].Last)
	}
	for i := range s.Pods {
		p := &s.Pods[i]
		f(&p.Created)
		f(&p.Started)
		f(&p.Deleted)
		f(&p.LastRestart)
		conditions(p.Conditions)
		for j := range p.Containers {
			c := &p.Containers[j]
			f(&c.State.Started)
			f(&c.State.Finished)
			f(&c.LastState.Started)
			f(&c.LastState.Finished)
		}
	}
	for i := range s.Workloads {
		f(&s.Workloads[i].Created)
		conditions(s.Workloads[i].Conditions)
	}
	for i := range s.Autoscalers {
		f(&s.Autoscalers[i].LastScale)
		conditions(s.Autoscalers[i].Conditions)
	}
	for i := range s.Nodes {
		f(&s.Nodes[i].Created)
		conditions(s.Nodes[i].Conditions)
	}
	for i := range s.Series {
		for j := range s.Series[i].Samples {
			f(&s.Series[i].Samples[j].At)
		}
	}
	for i := range s.Logs {
		f(&s.Logs[i].At)
	}
	for i := range s.Requests {
		f(&s.Requests[i].At)
	}
	for i := range s.Targets {
		f(&s.Targets[i].Since)
	}
}

// eachObserved calls f with the Observed time of every item.
func (s *Set) eachObserved(f func(*time.Time)) {
	observed(s.Events, f)
	observed(s.Pods, f)
	observed(s.Workloads, f)
	observed(s.Autoscalers, f)
	observed(s.Nodes, f)
	observed(s.Services, f)
	observed(s.Series, f)
	observed(s.Logs, f)
	observed(s.Requests, f)
	observed(s.Targets, f)
	observed(s.HealthChecks, f)
	observed(s.Listeners, f)
}

func observed[T any, P interface {
	*T
	itemer
}](items []T, f func(*time.Time)) {
	for i := range items {
		f(&P(&items[i]).item().Observed)
	}
}

// newest is the newest absolute time in the set, or at when that is given.
func (s *Set) newest(at time.Time) time.Time {
	if !at.IsZero() {
		return at
	}
	var end time.Time
	see := func(t *time.Time) {
		if t.After(end) {
			end = *t
		}
	}
	s.eachTime(see)
	s.eachObserved(see)
	return end
}

// resolveTimes moves relative, yearless and dayless times onto the wall clock. The anchor is at, else the newest absolute
// time in the set. Without any, ages stay on the paste's clock and the set is Relative.
func (s *Set) resolveTimes(at time.Time) {
	anchor := at
	var yearless, dayless time.Time
	relative := false
	newer := func(old *time.Time, t time.Time) {
		if t.After(*old) {
			*old = t
		}
	}
	scan := func(t *time.Time) {
		switch {
		case t.IsZero():
		case isYearless(*t):
			newer(&yearless, *t)
		case isDayless(*t):
			newer(&dayless, *t)
		case IsRelative(*t):
			relative = true
		case at.IsZero():
			newer(&anchor, *t)
		}
	}
	s.eachTime(scan)
	s.eachObserved(scan)

	if anchor.IsZero() {
		// Nothing has a full date. A partial date still orders things, so it becomes the anchor.
		switch {
		case !yearless.IsZero():
			anchor = withYear(yearless, PlaceholderYear)
		case !dayless.IsZero():
			anchor = time.Date(PlaceholderYear, 1, 2, dayless.Hour(), dayless.Minute(), dayless.Second(), dayless.Nanosecond(), dayless.Location())
		case relative:
			s.Relative = true
			return
		default:
			return
		}
		s.Coverage = append(s.Coverage, Coverage{Source: SourceInput, Status: CoveragePartial,
			Detail: fmt.Sprintf("no time in the input has a year: the dates stand in the year %d, and only their distances count; --at tells the moment of the newest", PlaceholderYear)})
	}
	move := func(t *time.Time) {
		switch {
		case t.IsZero():
		case isYearless(*t):
			*t = nearestYear(*t, anchor)
		case isDayless(*t):
			*t = nearestDay(*t, anchor)
		case IsRelative(*t):
			*t = anchor.Add(-Before(*t))
		}
		if !t.IsZero() {
			*t = t.UTC()
		}
	}
	s.eachTime(move)
	s.eachObserved(move)
}

// slack lets a clock that runs a little ahead of the anchor stay in the anchor's year or day.
const slack = time.Hour

func withYear(t time.Time, year int) time.Time {
	return time.Date(year, t.Month(), t.Day(), t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), t.Location())
}

func nearestYear(t, anchor time.Time) time.Time {
	year := anchor.In(t.Location()).Year()
	got := withYear(t, year)
	// Eight years back there is a 29th of February, also around 1900 and 2100.
	for back := 0; back <= 8 && (got.After(anchor.Add(24*time.Hour)) || got.Day() != t.Day()); back++ {
		year--
		got = withYear(t, year)
	}
	return got
}

func nearestDay(t, anchor time.Time) time.Time {
	a := anchor.In(t.Location())
	got := time.Date(a.Year(), a.Month(), a.Day(), t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), t.Location())
	if got.After(anchor.Add(slack)) {
		got = got.AddDate(0, 0, -1)
	}
	return got
}
