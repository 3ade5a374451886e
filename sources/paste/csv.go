package paste

import (
	"encoding/csv"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/probedoctor/probedoctor/sources/evidence"
)

// csvReader reads a table of values over time, as dashboards export it: the first column is the time, each further column
// a series that its heading names (a pod, a metric, or a selector as Prometheus prints it).
type csvReader struct {
	file   string
	set    *evidence.Set
	comma  rune
	series []evidence.Series
	bad    int
	badAt  int
	first  int
}

// maxColumns bounds the series of one table.
const maxColumns = 1000

// line takes one line and says whether it belongs to the table.
func (c *csvReader) line(n int, s string) bool {
	s = strings.TrimSpace(s)
	if c.series == nil {
		return c.heading(n, s)
	}
	cells, ok := c.cells(s)
	if !ok || len(cells) < 2 {
		return false
	}
	at, ok := wholeTime(cells[0])
	if !ok {
		return false
	}
	if len(cells)-1 > len(c.series) {
		c.lose(n)
	}
	for i, cell := range cells[1:] {
		if i >= len(c.series) {
			break
		}
		v, ok, gap := c.number(cell)
		switch {
		case gap:
		case !ok:
			c.lose(n)
		case len(c.series[i].Samples) < maxSamples:
			c.series[i].Samples = append(c.series[i].Samples, evidence.Sample{At: at, Value: v})
		}
	}
	return true
}

func (c *csvReader) lose(n int) {
	if c.bad++; c.bad == 1 {
		c.badAt = n
	}
}

func (c *csvReader) close() {
	for _, r := range c.series {
		if len(r.Samples) == 0 {
			continue
		}
		finishSeries(&r)
		r.Source = "csv"
		r.File, r.Line = c.file, c.first
		c.set.Series = append(c.set.Series, r)
	}
	if c.bad > 0 {
		c.set.Coverage = append(c.set.Coverage, evidence.Coverage{
			Source: evidence.SourceMetrics, Status: evidence.CoveragePartial,
			Detail: fmt.Sprintf("%s:%d: %d cells of the table are no numbers", c.file, c.badAt, c.bad),
		})
	}
	*c = csvReader{file: c.file, set: c.set}
}

// heading reads the first line: a word for time and at least one further heading.
func (c *csvReader) heading(n int, s string) bool {
	word := strings.TrimLeft(s, `"`)
	i := 0
	for i < len(word) && word[i]|0x20 >= 'a' && word[i]|0x20 <= 'z' {
		i++
	}
	switch strings.ToLower(word[:i]) {
	case "time", "timestamp", "date", "datetime":
	default:
		return false
	}
	for _, comma := range []rune{',', ';', '\t'} {
		c.comma = comma
		cells, ok := c.cells(s)
		if !ok || len(cells) < 2 || len(cells) > maxColumns || len(strings.TrimSpace(cells[0])) != i || !headings(cells[1:], s) {
			continue
		}
		for _, h := range cells[1:] {
			h = strings.TrimSpace(h)
			var r evidence.Series
			if m, ok := parseSample(h + " 0"); ok && !m.bare {
				r.Name, r.Labels = m.name, m.labels
			} else if strings.HasPrefix(h, "{") {
				if m := (&sample{}); func() bool { _, ok := m.readLabels(h[1:]); return ok }() {
					r.Name, r.Labels = m.name, m.labels
				}
			} else if podLike(h) {
				r.Labels = map[string]string{"pod": h}
			} else {
				r.Name = h
			}
			c.series = append(c.series, r)
		}
		c.first = n
		return true
	}
	return false
}

// headings tells columns from the clauses of a sentence: outside of quotes a heading is one word or a selector.
func headings(cells []string, line string) bool {
	for _, h := range cells {
		if h = strings.TrimSpace(h); strings.IndexByte(h, ' ') >= 0 && strings.IndexByte(h, '{') < 0 && !strings.Contains(line, `"`) {
			return false
		}
	}
	return true
}

// podLike tells whether a heading is a pod's name: small letters and digits joined by hyphens, with a digit in it.
func podLike(s string) bool {
	hyphen, digit := false, false
	for i := range len(s) {
		switch c := s[i]; {
		case c == '-' && i > 0:
			hyphen = true
		case isDigit(c):
			digit = true
		case c >= 'a' && c <= 'z' || c == '.':
		default:
			return false
		}
	}
	return hyphen && digit
}

func (c *csvReader) cells(s string) ([]string, bool) {
	r := csv.NewReader(strings.NewReader(s))
	r.Comma, r.LazyQuotes, r.TrimLeadingSpace = c.comma, true, c.comma != '\t'
	cells, err := r.Read()
	return cells, err == nil
}

// number reads a cell; gap tells that it is empty or says that there is no value.
func (c *csvReader) number(s string) (v float64, ok, gap bool) {
	s = strings.TrimSpace(s)
	switch strings.ToLower(s) {
	case "", "null", "undefined", "nan", "-", "n/a":
		return 0, false, true
	}
	if c.comma == ';' {
		// Where a semicolon parts the cells the decimals have a comma.
		s = strings.Replace(s, ",", ".", 1)
	}
	v, err := strconv.ParseFloat(s, 64)
	return v, err == nil && !math.IsNaN(v), false
}
