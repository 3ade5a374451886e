package catalog

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/probedoctor/probedoctor/sources/evidence"
)

// answers gives the canonical series among those that have no metric name: the results of a query. A query is known when
// it has the same skeleton as one of the catalog's: the same metrics in the same arithmetic, whatever the aggregation,
// the window of its rates and the workload it was narrowed to.
func (c *Catalog) answers(series []evidence.Series, p params) []evidence.Series {
	var known map[string]meaning
	var out []evidence.Series
	for i := range series {
		s := &series[i]
		if s.Signal != "" || s.Name != "" || s.Labels["__name__"] != "" || s.Query == "" || len(s.Query) > maxQuery {
			continue
		}
		if known == nil {
			known = map[string]meaning{}
			for i := range c.stacks {
				for _, sig := range signals {
					for _, e := range c.stacks[i].signals[sig.Name] {
						key, _ := skeleton(c.stacks[i].exprQL(sig, e, p))
						if _, taken := known[key]; !taken {
							known[key] = meaning{&c.stacks[i], sig, e}
						}
					}
				}
			}
		}
		key, factor := skeleton(s.Query)
		m, ok := known[key]
		if !ok || m.lost(s) {
			continue
		}
		l := line{labels: normal(s.Labels), src: &raw{src: s}}
		for _, x := range clean(s.Samples) {
			x.Value *= factor
			if x.Value >= 0 && (!m.sig.Capacity || x.Value > 0) {
				l.samples = append(l.samples, x)
			}
		}
		if len(l.samples) == 0 {
			continue
		}
		item := m.stack.canonical(m.sig, m.expr, l, p)
		item.Locator, item.Query = s.Query, s.Query
		out = append(out, item)
	}
	return out
}

// maxQuery is far above any query that the catalog writes.
const maxQuery = 16 << 10

// meaning is what a query of the catalog asks for.
type meaning struct {
	stack *Stack
	sig   Signal
	expr  expr
}

// lost tells whether a sum mixed what must stay apart: the busy workers of all pods are not those of one.
func (m meaning) lost(s *evidence.Series) bool {
	if m.sig.Aggregate == "sum" || m.expr.kind == kindRatio || m.expr.kind == kindQuantile || !sumWord.MatchString(s.Query) {
		return false
	}
	for _, k := range slices.Concat([]string{"pod", "instance"}, m.stack.about) {
		if s.Labels[k] != "" {
			return false
		}
	}
	return true
}

var (
	sumWord    = regexp.MustCompile(`\bsum\b`)
	grouping   = regexp.MustCompile(`\b(by|without|on|ignoring|group_left|group_right)\s*\([^)]*\)`)
	aggregator = regexp.MustCompile(`\b(sum|max|min|avg|clamp_min)\s*\(`)
	duration   = regexp.MustCompile(`\[[^\]]*\]`)
	percent    = regexp.MustCompile(`^100\*|\*100$`)
	blank      = strings.NewReplacer(" ", "", "\t", "", "\n", "", "\r", "", "(", "", ")", "")
	guards     = strings.NewReplacer(">0", "", ",0", "", "irate", "rate")
)

// narrowing are the labels that say for what a query was asked, not what it asks.
var narrowing = slices.Concat(targetLabels, []string{"service", "endpoint", "app", "deployment", "statefulset", "workload", "application"})

// skeleton reduces a query to its metrics and arithmetic, and gives the factor that its result must be multiplied by.
func skeleton(q string) (string, float64) {
	var b strings.Builder
	for q != "" {
		open := strings.IndexByte(q, '{')
		if open < 0 {
			b.WriteString(outside(q))
			break
		}
		b.WriteString(outside(q[:open]))
		sels, rest := braces(q[open+1:])
		b.WriteString(sels)
		q = rest
	}
	key := b.String()
	if percent.MatchString(key) {
		return percent.ReplaceAllString(key, ""), 0.01
	}
	return key, 1
}

func outside(q string) string {
	q = grouping.ReplaceAllString(q, "")
	q = aggregator.ReplaceAllString(q, "(")
	q = duration.ReplaceAllString(q, "[]")
	return guards.Replace(blank.Replace(q))
}

// braces gives the matchers that matter up to the closing brace, sorted, and what follows.
func braces(q string) (matchers, rest string) {
	end, quoted := len(q), byte(0)
scan:
	for i := 0; i < len(q); i++ {
		switch c := q[i]; {
		case quoted != 0 && c == '\\' && quoted != '`':
			i++
		case quoted != 0:
			if c == quoted {
				quoted = 0
			}
		case c == '"' || c == '\'' || c == '`':
			quoted = c
		case c == '}':
			end = i
			break scan
		}
	}
	if end < len(q) {
		rest = q[end+1:]
	}
	sels, err := parseSelector("x{" + strings.TrimSuffix(strings.TrimSpace(q[:end]), ",") + "}")
	if err != nil || len(sels) != 1 {
		return "{" + q[:end] + "}", rest
	}
	kept := map[string]bool{}
	for _, m := range sels[0].matchers {
		if !slices.Contains(narrowing, m.label) {
			kept[m.String()] = true
		}
	}
	if len(kept) == 0 {
		return "", rest
	}
	return "{" + strings.Join(slices.Sorted(maps.Keys(kept)), ",") + "}", rest
}
