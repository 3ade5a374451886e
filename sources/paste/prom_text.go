package paste

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/probedoctor/probedoctor/sources/evidence"
)

// expositionReader reads Prometheus text exposition and OpenMetrics line by line: a line that cannot be read loses only
// itself, and a pasted fragment without its TYPE lines is as good as a whole scrape. The tests hold it against
// prometheus/common/expfmt, which takes only what is whole.
type expositionReader struct {
	file  string
	set   *evidence.Set
	types map[string]string // of the TYPE lines: family to type
	// open is true once a line could be nothing else; then a bare "name 1" is a sample too.
	open bool
	// stamped has the index in set.Series of series that came with a time, so that several samples make one series.
	stamped map[string]int
	samples int
	bad     int
}

const (
	// maxSamples bounds what one exposition may hold; a large kube-state-metrics has a few hundred thousand.
	maxSamples = 1 << 20
	maxLabels  = 64
)

func newExposition(file string, set *evidence.Set) *expositionReader {
	return &expositionReader{file: file, set: set, types: map[string]string{}, stamped: map[string]int{}}
}

// line takes one line and says whether it belongs to an exposition.
func (e *expositionReader) line(n int, s string) bool {
	s = strings.TrimSpace(s)
	if s == "" {
		return false
	}
	if s[0] == '#' {
		return e.comment(s)
	}
	m, ok := parseSample(s)
	if !ok {
		if !e.open || !startsSample(s) {
			return false
		}
		e.complain(n, s)
		return true
	}
	if m.bare && !e.open && !metricLike(m.name) {
		return false
	}
	e.open = true
	e.add(n, s, m)
	return true
}

func (e *expositionReader) close() {
	if e.bad > maxComplained {
		e.cover(fmt.Sprintf("%s: %d further lines could not be read as samples", e.file, e.bad-maxComplained))
	}
	if e.samples > maxSamples {
		e.cover(fmt.Sprintf("%s: only the first %d of %d samples were kept", e.file, maxSamples, e.samples))
	}
	e.bad, e.samples = 0, 0
	e.types, e.stamped = map[string]string{}, map[string]int{}
	e.open = false
}

func (e *expositionReader) cover(detail string) {
	e.set.Coverage = append(e.set.Coverage, evidence.Coverage{
		Source: evidence.SourceMetrics, Status: evidence.CoveragePartial, Detail: detail,
	})
}

// maxComplained bounds how many lines are named one by one.
const maxComplained = 5

func (e *expositionReader) complain(n int, s string) {
	if e.bad++; e.bad <= maxComplained {
		e.cover(fmt.Sprintf("%s:%d: not a sample: %s", e.file, n, excerpt(s)))
	}
}

// comment takes "# TYPE name type", "# HELP name text", "# UNIT name unit" and "# EOF".
func (e *expositionReader) comment(s string) bool {
	if s == "# EOF" {
		return e.open
	}
	word, rest := firstWord(strings.TrimLeft(s[1:], " "))
	switch word {
	case "TYPE":
		name, typ := firstWord(rest)
		name = strings.Trim(name, `"`)
		switch typ {
		case "counter", "gauge", "histogram", "summary":
			if len(e.types) < maxSamples {
				e.types[name] = typ
			}
		case "untyped", "unknown", "info", "stateset", "gaugehistogram":
		default:
			return false
		}
	case "HELP", "UNIT":
		if name, _ := firstWord(rest); name == "" || strings.Trim(name, `"`) == "" || !isNameByte(strings.Trim(name, `"`)[0]) {
			return false
		}
	default:
		// Any other comment; it belongs here only between samples.
		return e.open
	}
	e.open = true
	return true
}

func (e *expositionReader) add(n int, s string, m sample) {
	if e.samples++; e.samples > maxSamples || math.IsNaN(m.value) {
		// NaN says that there is no value.
		return
	}
	if !m.at.IsZero() {
		key := seriesName(m.name, m.labels)
		if i, ok := e.stamped[key]; ok {
			r := &e.set.Series[i]
			r.Samples = append(r.Samples, evidence.Sample{At: m.at, Value: m.value})
			finishSeries(r)
			return
		}
		e.stamped[key] = len(e.set.Series)
	}
	r := evidence.Series{Name: m.name, Labels: m.labels, Type: e.typeOf(m.name), Samples: []evidence.Sample{{At: m.at, Value: m.value}}}
	r.File, r.Line = e.file, n
	finishSeries(&r)
	r.Excerpt = excerpt(s)
	e.set.Series = append(e.set.Series, r)
}

// typeOf gives the type of the family that a sample's name belongs to.
func (e *expositionReader) typeOf(name string) string {
	if t, ok := e.types[name]; ok {
		return t
	}
	for _, suffix := range []string{"_bucket", "_count", "_sum", "_total", "_created"} {
		if base, ok := strings.CutSuffix(name, suffix); ok {
			switch t := e.types[base]; {
			case t == "histogram", t == "summary" && suffix != "_bucket", t == "counter" && suffix == "_total":
				return t
			}
		}
	}
	return ""
}

// sample is one parsed line.
type sample struct {
	name   string
	labels map[string]string
	value  float64
	at     time.Time
	bare   bool // no braces: the line is a name and a number
}

// parseSample reads `name{label="value"} 1 [timestamp] [# exemplar]`, the quoted-name form `{"name",label="value"} 1` and
// promtool's `name{…} => 1 @[timestamp]`.
func parseSample(s string) (sample, bool) {
	var m sample
	n := 0
	for n < len(s) && isNameByte(s[n]) {
		n++
	}
	if n > 0 && isDigit(s[0]) {
		return m, false
	}
	m.name = s[:n]
	s = strings.TrimLeft(s[n:], " \t")
	if s == "" || n == 0 && s[0] != '{' {
		return m, false
	}
	if s[0] == '{' {
		var ok bool
		if s, ok = m.readLabels(s[1:]); !ok {
			return m, false
		}
	} else {
		m.bare = true
	}
	s = strings.TrimLeft(s, " \t")
	s = strings.TrimLeft(strings.TrimPrefix(s, "=>"), " \t")
	word, rest := firstWord(s)
	v, err := strconv.ParseFloat(word, 64)
	if err != nil || strings.ContainsAny(word, "xXpP_") {
		return m, false
	}
	m.value = v
	if rest == "" || rest[0] == '#' {
		return m, m.name != ""
	}
	word, rest = firstWord(rest)
	if at, ok := strings.CutPrefix(word, "@["); ok {
		word = strings.TrimSuffix(at, "]")
	}
	t, ok := sampleTime(word)
	if !ok || rest != "" && rest[0] != '#' {
		return m, false
	}
	m.at = t
	return m, m.name != ""
}

// sampleTime reads a timestamp: milliseconds in the text format, seconds with or without decimals in OpenMetrics.
func sampleTime(s string) (time.Time, bool) {
	if n, err := strconv.ParseInt(s, 10, 64); err == nil {
		if n >= 1e11 && n < 1e14 {
			return time.UnixMilli(n).UTC(), true
		}
		return time.Unix(n, 0).UTC(), n > 0 && n < 1e11
	}
	return floatTime(s)
}

// floatTime is a Unix time in seconds with decimals, to the millisecond, which is Prometheus' own resolution.
func floatTime(s string) (time.Time, bool) {
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || !(f > 0 && f < 1e11) {
		return time.Time{}, false
	}
	return time.UnixMilli(int64(math.Round(f * 1000))).UTC(), true
}

// readLabels reads labels up to the closing brace and gives what follows it.
func (m *sample) readLabels(s string) (rest string, ok bool) {
	m.labels = map[string]string{}
	for range maxLabels {
		s = strings.TrimLeft(s, " \t,")
		if s == "" {
			return "", false
		}
		if s[0] == '}' {
			if len(m.labels) == 0 {
				m.labels = nil
			}
			return s[1:], true
		}
		var name string
		quoted := s[0] == '"'
		if quoted {
			end := endOfQuoted(s)
			if end == 0 {
				return "", false
			}
			name, s = labelText(s[1:end-1]), s[end:]
		} else {
			n := 0
			for n < len(s) && isNameByte(s[n]) && s[n] != ':' {
				n++
			}
			if n == 0 {
				return "", false
			}
			name, s = s[:n], s[n:]
		}
		s = strings.TrimLeft(s, " \t")
		if quoted && s != "" && (s[0] == ',' || s[0] == '}') {
			// {"metric.name", …}: the metric's name in quotes.
			if m.name != "" {
				return "", false
			}
			m.name = name
			continue
		}
		if s == "" || s[0] != '=' {
			return "", false
		}
		s = strings.TrimLeft(s[1:], " \t")
		if s == "" || s[0] != '"' {
			return "", false
		}
		end := endOfQuoted(s)
		if end == 0 {
			return "", false
		}
		if value := labelText(s[1 : end-1]); name == "__name__" {
			m.name = value
		} else if value != "" {
			// An empty label is the same as none.
			m.labels[name] = value
		}
		s = s[end:]
	}
	return "", false
}

// labelText resolves the three escapes of label values: \\, \" and \n.
func labelText(s string) string {
	if strings.IndexByte(s, '\\') < 0 {
		return s
	}
	return labelEscapes.Replace(s)
}

var labelEscapes = strings.NewReplacer(`\\`, `\`, `\"`, `"`, `\n`, "\n")

func isNameByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || c == ':' || c >= '0' && c <= '9'
}

// startsSample tells whether s begins like a sample with labels: what is broken in it was meant as one.
func startsSample(s string) bool {
	i := strings.IndexByte(s, '{')
	if i <= 0 {
		return false
	}
	for j := range i {
		if !isNameByte(s[j]) {
			return false
		}
	}
	return true
}

// metricLike tells whether a name alone is surely a metric's: "max_threads 200" may be anything.
func metricLike(name string) bool {
	if strings.IndexByte(name, '_') <= 0 || strings.ToLower(name) != name {
		return false
	}
	for _, suffix := range []string{"_total", "_seconds", "_bytes", "_count", "_sum", "_bucket", "_ratio", "_info", "_threads", "_celsius"} {
		if strings.HasSuffix(name, suffix) {
			return strings.Count(name, "_") >= 2
		}
	}
	return strings.Count(name, "_") >= 3
}

// finishSeries sorts the samples and writes the locator and the excerpt of a series.
func finishSeries(r *evidence.Series) {
	slices.SortStableFunc(r.Samples, func(a, b evidence.Sample) int { return a.At.Compare(b.At) })
	r.Source = "prometheus"
	r.Locator = seriesName(r.Name, r.Labels)
	r.Excerpt = excerpt(seriesName(r.Name, telling(r.Labels)) + " " + valueSpan(r.Samples))
}

// seriesName is the selector of exactly one series, with its labels in order.
func seriesName(name string, labels map[string]string) string {
	if len(labels) == 0 {
		return cmp.Or(name, "{}")
	}
	var b strings.Builder
	b.WriteString(name)
	for i, k := range slices.Sorted(maps.Keys(labels)) {
		b.WriteByte("{,"[min(i, 1)])
		b.WriteString(k)
		b.WriteByte('=')
		b.WriteString(strconv.Quote(labels[k]))
	}
	b.WriteByte('}')
	return b.String()
}

// telling leaves out the labels that only say how the series was scraped, where a pod tells whose it is.
func telling(labels map[string]string) map[string]string {
	if labels["pod"] == "" {
		return labels
	}
	kept := make(map[string]string, len(labels))
	for k, v := range labels {
		switch k {
		case "job", "instance", "endpoint", "service", "prometheus", "metrics_path", "node", "uid", "id", "image", "prometheus_replica":
		default:
			kept[k] = v
		}
	}
	return kept
}

// valueSpan renders samples in one short phrase: "198", or "3…198 (121 samples)" from the least to the greatest.
func valueSpan(samples []evidence.Sample) string {
	format := func(v float64) string { return strconv.FormatFloat(v, 'g', 6, 64) }
	switch len(samples) {
	case 0:
		return "no value"
	case 1:
		return format(samples[0].Value)
	}
	lo, hi := samples[0].Value, samples[0].Value
	for _, s := range samples {
		lo, hi = min(lo, s.Value), max(hi, s.Value)
	}
	return fmt.Sprintf("%s…%s (%d samples)", format(lo), format(hi), len(samples))
}
