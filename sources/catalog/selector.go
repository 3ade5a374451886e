package catalog

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// selector picks series by name and labels. It is written like PromQL's, with two liberties: the name may be a regular
// expression, and a label may be a list "a|b" of which any may match (the loader makes one selector of each).
type selector struct {
	name     string         // as written
	nameRE   *regexp.Regexp // nil when name is one plain name
	matchers []matcher
}

// matcher is one condition on a label. A label that is not there counts as empty, as in PromQL.
type matcher struct {
	label, op, value string
	re               *regexp.Regexp // for =~ and !~ without a parameter
}

// The parameters in a matcher's value. healthPath stands for the paths of the probes, healthGroup adds Spring's pattern
// for groups ("/actuator/health/**", AbstractWebMvcEndpointHandlerMapping), healthName is always the generic expression,
// for labels that hold no path.
const (
	paramPath  = "{healthPath}"
	paramGroup = "{healthGroup}"
	paramName  = "{healthName}"
)

// genericHealth matches what health routes are mostly called; used when the probe's path is not known.
const genericHealth = `(.*[/_.:-])?(health[a-z]*|live|livez|liveness|ready|readyz|readiness|ping|alive)([/_.:?-].*)?`

// params are the values that queries are made for.
type params struct {
	namespace, podRegex string
	paths               []string // of the health route
}

var (
	plainName = regexp.MustCompile(`^[a-zA-Z_:][a-zA-Z0-9_:]*$`)
	labelName = regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_]*$`)
)

// parseSelector reads a selector; more than one comes back when a label is a list.
func parseSelector(text string) ([]selector, error) {
	name, rest, braces := strings.Cut(strings.TrimSpace(text), "{")
	s := selector{name: strings.TrimSpace(name)}
	if s.name == "" {
		return nil, fmt.Errorf("selector %q has no metric name", text)
	}
	if !plainName.MatchString(s.name) {
		re, err := compileAnchored(s.name)
		if err != nil {
			return nil, fmt.Errorf("selector %q: neither a metric name nor a regular expression: %w", text, err)
		}
		s.nameRE = re
	}
	out := []selector{s}
	if !braces {
		return out, nil
	}
	for {
		rest = strings.TrimLeft(rest, " \t")
		if rest == "}" {
			return out, nil
		}
		end := strings.IndexAny(rest, "=!")
		if end < 0 {
			return nil, fmt.Errorf("selector %q: a label, an operator and a quoted value must follow each other", text)
		}
		labels := strings.TrimSpace(rest[:end])
		op := ""
		for _, o := range []string{"=~", "!~", "!=", "="} {
			if strings.HasPrefix(rest[end:], o) {
				op = o
				break
			}
		}
		if op == "" {
			return nil, fmt.Errorf("selector %q: %q is no operator", text, rest[end:end+1])
		}
		rest = strings.TrimLeft(rest[end+len(op):], " \t")
		quoted, err := strconv.QuotedPrefix(rest)
		if err != nil {
			return nil, fmt.Errorf("selector %q: the value of %s must be quoted", text, labels)
		}
		rest = strings.TrimLeft(rest[len(quoted):], " \t")
		value, err := strconv.Unquote(quoted)
		if err != nil {
			return nil, fmt.Errorf("selector %q: value of %s: %w", text, labels, err)
		}
		var wider []selector
		for label := range strings.SplitSeq(labels, "|") {
			m, err := newMatcher(label, op, value)
			if err != nil {
				return nil, fmt.Errorf("selector %q: %w", text, err)
			}
			for _, o := range out {
				o.matchers = append(o.matchers[:len(o.matchers):len(o.matchers)], m)
				wider = append(wider, o)
			}
		}
		out = wider
		switch {
		case strings.HasPrefix(rest, ","):
			rest = rest[1:]
		case rest != "}":
			return nil, fmt.Errorf("selector %q: \",\" or the closing brace is missing", text)
		}
	}
}

func newMatcher(label, op, value string) (matcher, error) {
	m := matcher{label: label, op: op, value: value}
	if !labelName.MatchString(label) {
		return m, fmt.Errorf("%q is no label name", label)
	}
	hasParam := strings.Contains(value, paramPath) || strings.Contains(value, paramGroup) || strings.Contains(value, paramName)
	if hasParam && op != "=~" && op != "!~" {
		return m, fmt.Errorf("a health parameter needs =~ or !~")
	}
	if !hasParam && strings.ContainsAny(value, "{}") && (op == "=" || op == "!=") {
		return m, fmt.Errorf("unknown parameter in %q", value)
	}
	if hasParam {
		if _, err := compileAnchored(expand(value, params{})); err != nil {
			return m, err
		}
		return m, nil
	}
	if op == "=~" || op == "!~" {
		re, err := compileAnchored(value)
		if err != nil {
			return m, err
		}
		m.re = re
	}
	return m, nil
}

// compileAnchored compiles as PromQL does: the whole value must match.
func compileAnchored(expr string) (*regexp.Regexp, error) {
	return regexp.Compile("^(?s:" + expr + ")$")
}

// health tells whether the selector has a health parameter.
func (s selector) health() bool {
	return slices.ContainsFunc(s.matchers, matcher.health)
}

func (m matcher) health() bool { return m.re == nil && (m.op == "=~" || m.op == "!~") }

// expand puts the paths into a value. The result is a regular expression.
func expand(value string, p params) string {
	var paths, groups []string
	for _, path := range p.paths {
		q := regexp.QuoteMeta(path)
		paths = append(paths, q)
		groups = append(groups, q)
		if i := strings.LastIndexByte(path, '/'); i > 0 && strings.HasSuffix(path[:i], "/health") {
			groups = append(groups, regexp.QuoteMeta(path[:i])+`/\*\*`)
		}
	}
	if len(paths) == 0 {
		paths, groups = []string{genericHealth}, []string{genericHealth}
	}
	return strings.NewReplacer(
		paramPath, strings.Join(paths, "|"), paramGroup, strings.Join(groups, "|"), paramName, genericHealth,
	).Replace(value)
}

// bind gives the selector with its parameters filled in.
func (s selector) bind(p params) selector {
	if !s.health() {
		return s
	}
	bound := make([]matcher, len(s.matchers))
	for i, m := range s.matchers {
		if m.health() {
			m.value = expand(m.value, p)
			re, err := compileAnchored(m.value)
			if err != nil {
				// The template compiled when it was loaded and paths are quoted; a path that is not UTF-8 ends here.
				re = regexp.MustCompile(`[^\s\S]`)
			}
			m.re = re
		}
		bound[i] = m
	}
	s.matchers = bound
	return s
}

func (s selector) matchesLabels(labels map[string]string) bool {
	for _, m := range s.matchers {
		if !m.matches(labels) {
			return false
		}
	}
	return true
}

func (m matcher) matches(labels map[string]string) bool {
	v := labels[m.label]
	switch m.op {
	case "=":
		return v == m.value
	case "!=":
		return v != m.value
	case "=~":
		return m.re.MatchString(v)
	default:
		return !m.re.MatchString(v)
	}
}

// String is the matcher as PromQL. A regular expression without anything special becomes an equality, which is what an
// engineer would write.
func (m matcher) String() string {
	op := m.op
	if regexp.QuoteMeta(m.value) == m.value {
		switch op {
		case "=~":
			op = "="
		case "!~":
			op = "!="
		}
	}
	return m.label + op + quote(m.value)
}

// quote makes a PromQL string, whose escapes are Go's. Prometheus refuses the replacement character unescaped.
func quote(s string) string {
	return strings.ReplaceAll(strconv.Quote(strings.ToValidUTF8(s, "\uFFFD")), "\uFFFD", `\ufffd`)
}
