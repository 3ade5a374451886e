package report

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/probedoctor/probedoctor/rules"
	"github.com/probedoctor/probedoctor/sources/evidence"
)

// named is the probability from which a cause is said to be the cause.
const named = 0.5

// verdict is the cause that the incident is put down to, nil when the evidence singles out none: a root cause, or noise that
// stands first because it explains everything. A contributing cause alone explains nothing.
func verdict(d *rules.Diagnosis) *rules.Cause {
	for i := range d.Ranked {
		c := &d.Ranked[i]
		if c.Role == rules.RootCause || i == 0 && c.Role == rules.Noise {
			if c.Probability >= named {
				return c
			}
			return nil
		}
	}
	return nil
}

// withRole gives the causes of one role, in ranked order.
func withRole(d *rules.Diagnosis, role rules.Role) []rules.Cause {
	var out []rules.Cause
	for _, c := range d.Ranked {
		if c.Role == role {
			out = append(out, c)
		}
	}
	return out
}

// strongest gives the statements by the size of their weight, largest first.
func strongest(list []rules.Statement) []rules.Statement {
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b rules.Statement) int {
		return cmp.Compare(math.Abs(b.Weight), math.Abs(a.Weight))
	})
	return list
}

// refsOf is every reference of the statements.
func refsOf(list []rules.Statement) []evidence.Ref {
	var refs []evidence.Ref
	for _, s := range list {
		refs = append(refs, s.Refs...)
	}
	return refs
}

func title(c rules.Cause) string { return cmp.Or(c.Title, c.ID) }

func roleName(r rules.Role) string {
	if r == rules.RootCause {
		return "root cause"
	}
	return string(r)
}

// percent never says 0 or 100 of what is not certain.
func percent(p float64) string {
	switch {
	case math.IsNaN(p):
		return "?" + glue + "%"
	case p >= 0 && p < 0.005: // the document rounds: nothing that is ranked has a probability of nought
		return "<1" + glue + "%"
	case p < 1 && p >= 0.995:
		return ">99" + glue + "%"
	}
	return fmt.Sprintf("%.0f%s%%", p*100, glue)
}

// Percent writes a probability as the texts of this package do: "94 %", "<1 %", ">99 %".
func Percent(p float64) string { return strings.ReplaceAll(percent(p), glue, " ") }

// number writes n with commas between thousands.
func number(n int) string {
	s := strconv.Itoa(n)
	digits := strings.TrimPrefix(s, "-")
	sign := s[:len(s)-len(digits)]
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return sign + digits
}

func plural(n int, one, many string) string {
	if n == 1 {
		return number(n) + glue + one
	}
	return number(n) + glue + many
}

// subjectName is "namespace/name" as far as it is known.
func subjectName(s rules.Subject) string {
	name := cmp.Or(s.Name, "unknown workload")
	if s.Namespace != "" {
		name = s.Namespace + "/" + name
	}
	return name
}

// replicas is "12 replicas" and "5 not ready", each empty when not known.
func replicas(s rules.Subject) (count, notReady string) {
	total := s.Desired
	switch {
	case s.Desired >= 0:
		count = plural(s.Desired, "replica", "replicas")
	case s.Pods >= 0:
		total = s.Pods
		count = plural(s.Pods, "pod seen", "pods seen")
	}
	if s.Ready >= 0 && total > s.Ready {
		notReady = number(total-s.Ready) + glue + "not ready"
	} else if s.Ready >= 0 && total > 0 {
		count += ", all ready"
	}
	return count, notReady
}

// windowText is the window for a person: "2026-03-01 14:02–14:19 UTC", or "12 min to 2 min before the paste".
func windowText(w rules.Window, zone *time.Location, dash string) string {
	if w.Relative {
		start, end := ageText(w.StartAge), ageText(w.EndAge)
		switch {
		case start == "" && end == "":
			return ""
		case start == "" || end == "" || start == end:
			return cmp.Or(start, end) + " before the paste"
		}
		return start + " to " + end + " before the paste"
	}
	if w.Start.IsZero() || w.End.IsZero() || w.Start.Equal(w.End) {
		at := w.Start
		if at.IsZero() {
			at = w.End
		}
		return moment(at, zone)
	}
	start, end := in(w.Start, zone), in(w.End, zone)
	clock := "15:04"
	if w.End.Sub(w.Start) < 10*time.Minute {
		clock = "15:04:05"
	}
	last := clock
	if start.Format(time.DateOnly) != end.Format(time.DateOnly) {
		dash, last = " "+dash+" ", dateLayout(end)+" "+clock
	}
	return start.Format(dateLayout(start)+" "+clock) + dash + end.Format(last+" MST")
}

func in(t time.Time, zone *time.Location) time.Time {
	if zone == nil {
		zone = time.UTC
	}
	return t.In(zone)
}

// dateLayout leaves out the year that stands in where the input has none.
func dateLayout(t time.Time) string {
	if t.Year() == evidence.PlaceholderYear {
		return "01-02"
	}
	return time.DateOnly
}

// moment is a time for a person; the zero time is the empty string.
func moment(t time.Time, zone *time.Location) string {
	if t.IsZero() {
		return ""
	}
	t = in(t, zone)
	return t.Format(dateLayout(t) + " 15:04:05 MST")
}

// ageText turns "12m0s" into "12 min"; text that is no duration comes back as it is.
func ageText(age string) string {
	d, err := time.ParseDuration(age)
	if err != nil {
		return safeN(age, nameLimit)
	}
	const day = 24 * time.Hour
	units := []struct {
		size time.Duration
		name string
	}{{day, "d"}, {time.Hour, "h"}, {time.Minute, "min"}, {time.Second, "s"}}
	for i, u := range units {
		if d < u.size {
			continue
		}
		out := fmt.Sprintf("%d%s%s", d/u.size, glue, u.name)
		// A second, smaller unit only where the first is small: "3 h 20 min", "12 min".
		if i+1 < len(units) && d/u.size < 10 {
			if rest := d % u.size / units[i+1].size; rest > 0 {
				out += fmt.Sprintf("%s%d%s%s", glue, rest, glue, units[i+1].name)
			}
		}
		return out
	}
	return "0" + glue + "s"
}

// groupText names the kind of failures of a group: "awaiting headers", "refused", "status 503".
func groupText(f rules.FailureGroup) string {
	words := func(s string) string { return strings.ReplaceAll(s, "-", " ") }
	var text string
	switch {
	case f.Outcome == evidence.OutcomeStatus && len(f.Status) > 0:
		var codes []string
		for _, code := range slices.Sorted(maps.Keys(f.Status)) {
			codes = append(codes, strconv.Itoa(code))
		}
		text = "status " + strings.Join(codes, ", ")
	case f.Phase == evidence.PhaseAwaitingHeaders && f.Outcome == evidence.OutcomeTimeout:
		text = "awaiting headers"
	case f.Phase == evidence.PhaseConnect && (f.Outcome == evidence.OutcomeRefused || f.Outcome == evidence.OutcomeNoRoute ||
		f.Outcome == evidence.OutcomeUnreachable):
		text = words(string(f.Outcome))
	case f.Phase == "" || f.Phase == evidence.PhaseUnknown || string(f.Phase) == string(f.Outcome):
		text = words(string(cmp.Or(f.Outcome, evidence.OutcomeUnknown)))
		if text == "unknown" {
			text = "of a kind that could not be told"
		}
	default:
		text = words(string(f.Phase)) + " " + words(string(f.Outcome))
	}
	switch f.Result {
	case evidence.Errored:
		text += " (discarded by the kubelet)"
	case evidence.Warned:
		text += " (a warning only)"
	}
	return text
}

// tally is a sum of counts, some of which may be floors.
type tally struct {
	n       int
	atLeast bool
}

func (t *tally) add(n int, atLeast bool) {
	t.n += n
	t.atLeast = t.atLeast || atLeast
}

func (t tally) text(most string) string {
	if t.atLeast {
		return most + number(t.n)
	}
	return number(t.n)
}

// failuresText is the failures of an incident by probe and by phase: ("217 probe failures", "readiness 143, liveness 74",
// ["198 awaiting headers", "19 refused (12 terminating, 7 starting)"]). All are empty without failures.
func failuresText(d *rules.Diagnosis, most string) (total, byProbe string, byPhase []string) {
	var all tally
	probes := map[evidence.ProbeKind]*tally{}
	type class struct {
		text string
		tally
		lives map[string]*tally
	}
	var classes []*class
	for _, f := range d.Failures {
		all.add(f.Count, f.AtLeast)
		for k, n := range f.ByProbe {
			if probes[k] == nil {
				probes[k] = &tally{}
			}
			probes[k].add(n, f.AtLeast)
		}
		text := groupText(f)
		i := slices.IndexFunc(classes, func(c *class) bool { return c.text == text })
		if i < 0 {
			i = len(classes)
			classes = append(classes, &class{text: text, lives: map[string]*tally{}})
		}
		classes[i].add(f.Count, f.AtLeast)
		if classes[i].lives[f.Life] == nil {
			classes[i].lives[f.Life] = &tally{}
		}
		classes[i].lives[f.Life].add(f.Count, f.AtLeast)
	}
	if len(d.Failures) == 0 {
		return "", "", nil
	}
	total = all.text(most) + glue + "probe failures"
	if all.n == 1 {
		total = all.text(most) + glue + "probe failure"
	}
	var parts []string
	for _, k := range []evidence.ProbeKind{evidence.Readiness, evidence.Liveness, evidence.Startup} {
		if t := probes[k]; t != nil {
			parts = append(parts, string(k)+glue+t.text(most))
			delete(probes, k)
		}
	}
	for _, k := range slices.Sorted(maps.Keys(probes)) {
		parts = append(parts, cmp.Or(safeN(string(k), nameLimit), "unknown")+glue+probes[k].text(most))
	}
	slices.SortStableFunc(classes, func(a, b *class) int { return cmp.Compare(b.n, a.n) })
	for _, c := range classes {
		text := c.tally.text(most) + glue + safeN(c.text, nameLimit)
		var lives []string
		for _, life := range []string{"terminating", "starting", "live", "unknown"} {
			if t := c.lives[life]; t != nil {
				if life == "unknown" {
					life = "of pods in an unknown state"
				}
				lives = append(lives, t.text(most)+glue+life)
			}
		}
		if onlyLive := len(c.lives) == 1 && (c.lives["live"] != nil || c.lives["unknown"] != nil); !onlyLive && len(lives) > 0 {
			text += " (" + strings.Join(lives, ", ") + ")"
		}
		byPhase = append(byPhase, text)
	}
	return total, strings.Join(parts, ", "), byPhase
}

// gainText says what knowing a fact could do: "could change the 94 % by 6 points".
func gainText(first, gain float64) string {
	if math.IsNaN(gain) || gain < 0.005 {
		return ""
	}
	return fmt.Sprintf("could change the %s by %.0f points", percent(first), gain*100)
}

// firstProbability is what the gain of missing facts is about: the probability of the first root cause, else of the first.
func firstProbability(d *rules.Diagnosis) float64 {
	for _, c := range d.Ranked {
		if c.Role == rules.RootCause {
			return c.Probability
		}
	}
	if len(d.Ranked) > 0 {
		return d.Ranked[0].Probability
	}
	return 0
}
