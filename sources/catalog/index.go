package catalog

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/probedoctor/probedoctor/sources/evidence"
)

// raw is one time series as a stack shows it, put together from all the items that carry parts of it.
type raw struct {
	src     *evidence.Series // the first item
	name    string
	labels  map[string]string // without the name
	key     string            // of the labels
	samples []evidence.Sample // sorted; either all with a time, or one without
	claimed bool              // a stack that is not a fallback uses it
}

// index finds raw series by name.
type index struct {
	byName map[string][]*raw
	names  []string // sorted
}

// renamed are labels that say the same as another: what Prometheus makes of a target's own labels when it does not
// honour them (exported_*), cAdvisor's names before Kubernetes 1.16, and the names of a widely copied scrape
// configuration. The first that is there wins over the label of the scrape itself.
var renamed = []struct{ to, from string }{
	{"namespace", "exported_namespace"}, {"namespace", "kubernetes_namespace"},
	{"pod", "exported_pod"}, {"pod", "pod_name"}, {"pod", "kubernetes_pod_name"},
	{"container", "exported_container"}, {"container", "container_name"},
}

// newIndex takes up the series that have a metric name and are not canonical.
func newIndex(series []evidence.Series) *index {
	x := &index{byName: map[string][]*raw{}}
	known := map[string]*raw{}
	for i := range series {
		s := &series[i]
		name := cmp.Or(s.Name, s.Labels["__name__"])
		if s.Signal != "" || name == "" {
			continue
		}
		labels := normal(s.Labels)
		key := labelKey(labels)
		r := known[name+"\x00"+key]
		if r == nil {
			r = &raw{src: s, name: name, labels: labels, key: key}
			known[name+"\x00"+key] = r
			x.byName[name] = append(x.byName[name], r)
		}
		r.samples = append(r.samples, s.Samples...)
	}
	x.names = slices.Sorted(maps.Keys(x.byName))
	for _, name := range x.names {
		slices.SortFunc(x.byName[name], func(a, b *raw) int { return strings.Compare(a.key, b.key) })
		for _, r := range x.byName[name] {
			r.samples = clean(r.samples)
		}
	}
	return x
}

func normal(labels map[string]string) map[string]string {
	out := maps.Clone(labels)
	if out == nil {
		out = map[string]string{}
	}
	delete(out, "__name__")
	for _, r := range renamed {
		v, ok := labels[r.from]
		if !ok {
			continue
		}
		exported := strings.HasPrefix(r.from, "exported_")
		if _, taken := out[r.to]; exported || !taken {
			out[r.to] = v
			delete(out, r.from)
		}
	}
	return out
}

// clean sorts the samples, drops what is no number and what is doubled. Samples without a time say nothing beside timed
// ones; among several of them the largest stands, since no order is known.
func clean(samples []evidence.Sample) []evidence.Sample {
	var timed []evidence.Sample
	var untimed []evidence.Sample
	for _, s := range samples {
		switch {
		case math.IsNaN(s.Value) || math.IsInf(s.Value, 0):
		case s.At.IsZero():
			if len(untimed) == 0 || s.Value > untimed[0].Value {
				untimed = []evidence.Sample{s}
			}
		default:
			timed = append(timed, s)
		}
	}
	if len(timed) == 0 {
		return untimed
	}
	slices.SortStableFunc(timed, func(a, b evidence.Sample) int {
		return cmp.Or(a.At.Compare(b.At), cmp.Compare(b.Value, a.Value))
	})
	return slices.CompactFunc(timed, func(a, b evidence.Sample) bool { return a.At.Equal(b.At) })
}

// find gives the series of a bound selector with a suffix to its name, sorted by name and labels.
func (x *index) find(s selector, suffix string, unclaimed bool) []*raw {
	names := []string{s.name + suffix}
	if s.nameRE != nil {
		names = nil
		for _, n := range x.names {
			if base, ok := strings.CutSuffix(n, suffix); ok && s.nameRE.MatchString(base) {
				names = append(names, n)
			}
		}
	}
	var out []*raw
	for _, n := range names {
		for _, r := range x.byName[n] {
			if (!unclaimed || !r.claimed) && s.matchesLabels(r.labels) {
				out = append(out, r)
			}
		}
	}
	return out
}

func (x *index) any(s selector, unclaimed bool) bool { return len(x.find(s, "", unclaimed)) > 0 }

// labelKey is the labels as one string.
func labelKey(labels map[string]string) string {
	var b strings.Builder
	for _, k := range slices.Sorted(maps.Keys(labels)) {
		b.WriteString(k)
		b.WriteByte(0xff)
		b.WriteString(labels[k])
		b.WriteByte(0xff)
	}
	return b.String()
}

// targetLabels say what a series is about; all others (route, status, collector) are of its inside.
var targetLabels = []string{"cluster", "namespace", "pod", "container", "node", "instance", "job"}

// target keeps the labels that say what a series is about.
func (s *Stack) target(labels map[string]string) map[string]string {
	out := map[string]string{}
	for _, names := range [][]string{targetLabels, s.about} {
		for _, k := range names {
			if v, ok := labels[k]; ok {
				out[k] = v
			}
		}
	}
	return out
}

// line is a computed series.
type line struct {
	labels  map[string]string
	key     string
	src     *raw // the first that it was computed from
	samples []evidence.Sample
	// sinceStart marks counters of one scrape, and what is made of them: they cover all the time since the process began.
	sinceStart bool
	// atLeast marks a quantile that lies beyond the last bucket.
	atLeast bool
}

// rates turns a counter's samples into its increase per second over each interval. A value below the one before means
// that the counter began again at zero.
func rates(samples []evidence.Sample) []evidence.Sample {
	var out []evidence.Sample
	for i := 1; i < len(samples); i++ {
		seconds := samples[i].At.Sub(samples[i-1].At).Seconds()
		if seconds <= 0 {
			continue
		}
		increase := samples[i].Value - samples[i-1].Value
		if increase < 0 {
			increase = samples[i].Value
		}
		out = append(out, evidence.Sample{At: samples[i].At, Value: increase / seconds})
	}
	return out
}

// defaultStep is assumed where single samples show no step: Prometheus's default scrape interval.
const defaultStep = time.Minute

// step is the usual distance of samples: the coarsest of the lines' median gaps.
func step(lines ...line) time.Duration {
	var coarsest time.Duration
	for _, l := range lines {
		var gaps []time.Duration
		for i := 1; i < len(l.samples); i++ {
			gaps = append(gaps, l.samples[i].At.Sub(l.samples[i-1].At))
		}
		if len(gaps) > 0 {
			slices.Sort(gaps)
			coarsest = max(coarsest, gaps[len(gaps)/2])
		}
	}
	if coarsest == 0 {
		return defaultStep
	}
	return coarsest
}

// at gives the sample nearest to t, if one lies within reach. A sample without a time is only near another without one.
func (l line) at(t time.Time, reach time.Duration) (float64, bool) {
	if len(l.samples) == 0 {
		return 0, false
	}
	if t.IsZero() || l.samples[0].At.IsZero() {
		return l.samples[0].Value, t.IsZero() && l.samples[0].At.IsZero()
	}
	i, _ := slices.BinarySearchFunc(l.samples, t, func(s evidence.Sample, t time.Time) int { return s.At.Compare(t) })
	best, found := 0.0, false
	for _, j := range []int{i - 1, i} {
		if j < 0 || j >= len(l.samples) {
			continue
		}
		if d := l.samples[j].At.Sub(t).Abs(); d <= reach && (!found || d < reach) {
			best, found, reach = l.samples[j].Value, true, d
		}
	}
	return best, found
}
