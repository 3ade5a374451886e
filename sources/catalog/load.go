package catalog

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// loader reads stack files into a catalog and collects every error with its place.
type loader struct {
	catalog *Catalog
	seen    map[string]string // id to place, within one folder
	name    string            // of the file being read
	errs    []error
}

// fail records an error at a node.
func (l *loader) fail(n ast.Node, format string, args ...any) {
	line, column := 0, 0
	if n != nil {
		if t := n.GetToken(); t != nil && t.Position != nil {
			line, column = t.Position.Line, t.Position.Column
		}
	}
	l.errs = append(l.errs, fmt.Errorf("%s:%d:%d: %s", l.name, line, column, fmt.Sprintf(format, args...)))
}

// file reads one file: a mapping with the single key "stacks".
func (l *loader) file(name string, b []byte) {
	l.name = name
	f, err := parser.ParseBytes(b, 0)
	if err != nil {
		line, column, message := 0, 0, err.Error()
		var e yaml.Error
		if errors.As(err, &e) {
			message = e.GetMessage()
			if t := e.GetToken(); t != nil && t.Position != nil {
				line, column = t.Position.Line, t.Position.Column
			}
		}
		l.errs = append(l.errs, fmt.Errorf("%s:%d:%d: %s", name, line, column, message))
		return
	}
	for _, doc := range f.Docs {
		if doc.Body == nil {
			continue
		}
		top := l.mapping(doc.Body, "stacks")
		if v, ok := top["stacks"]; ok {
			for _, n := range l.sequence(v) {
				l.stack(n)
			}
		} else if top != nil {
			l.fail(doc.Body, "the key \"stacks\" is missing")
		}
	}
}

var stackID = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)

// scopes are which matchers of a hint apply, and the labels that a query groups by unless the stack says otherwise.
var scopes = map[string][]string{"pod": {"pod"}, "namespace": {"namespace"}, "node": {"instance"}, "none": nil}

func (l *loader) stack(n ast.Node) {
	before := len(l.errs)
	m := l.mapping(n, "id", "title", "family", "note", "common", "scope", "by", "fallback", "prefer", "recognise", "hints", "signals")
	if m == nil {
		return
	}
	s := Stack{
		ID: l.required(n, m, "id"), Title: l.required(n, m, "title"), Family: l.required(n, m, "family"),
		Note: l.text(m["note"]), Common: l.boolean(m["common"]), fallback: l.boolean(m["fallback"]),
		scope: "pod", signals: map[string][]expr{},
	}
	if s.ID != "" && !stackID.MatchString(s.ID) {
		l.fail(m["id"], "id %q: lower-case words joined by hyphens are wanted", s.ID)
	}
	if v, ok := m["scope"]; ok {
		s.scope = l.scope(v)
	}
	s.by = scopes[s.scope]
	if v, ok := m["by"]; ok {
		s.by = l.labels(v)
	}
	for _, item := range l.list(m["prefer"]) {
		sel, err := parseSelector("x{" + l.text(item) + "}")
		if err != nil || len(sel) != 1 {
			l.fail(item, "%q is no list of label matchers", l.text(item))
			continue
		}
		if sel[0].health() {
			l.fail(item, "a health parameter has no meaning here")
		}
		s.prefer = append(s.prefer, sel[0].matchers...)
	}
	if v, ok := m["hints"]; ok {
		s.hints = l.hints(v)
	}
	l.signals(n, m["signals"], &s)
	s.about = slices.Clone(s.by)
	for _, name := range s.Provides() {
		for _, e := range s.signals[name] {
			s.about = append(s.about, e.by...)
		}
	}
	for _, item := range l.list(m["recognise"]) {
		for _, sel := range l.selectors(item) {
			if sel.health() {
				l.fail(item, "a health parameter has no meaning here")
			}
			s.recognise = append(s.recognise, sel)
		}
	}
	if m["recognise"] == nil {
		s.recognise = s.ownSelectors()
	}
	if len(l.errs) > before {
		return
	}
	l.add(m["id"], s)
}

func (l *loader) scope(n ast.Node) string {
	scope := l.text(n)
	if _, known := scopes[scope]; !known {
		l.fail(n, "scope %q: one of namespace, node, none, pod is wanted", scope)
	}
	return scope
}

func (l *loader) labels(n ast.Node) []string {
	out := []string{}
	for _, item := range l.list(n) {
		label := l.text(item)
		if !labelName.MatchString(label) {
			l.fail(item, "%q is no label name", label)
		}
		out = append(out, label)
	}
	return out
}

// ownSelectors are what a stack is recognised by when it does not say: any series that its signals use.
func (s *Stack) ownSelectors() []pattern {
	var out []pattern
	for _, name := range s.Provides() {
		for _, e := range s.signals[name] {
			for _, t := range e.terms() {
				if t.health() {
					continue
				}
				for _, suffix := range e.suffixes() {
					t, err := t.suffixed(suffix)
					if err == nil {
						out = append(out, t)
					}
				}
			}
		}
	}
	return out
}

// suffixed is the selector for the name with a suffix.
func (s selector) suffixed(suffix string) (selector, error) {
	if suffix == "" {
		return s, nil
	}
	if s.nameRE == nil {
		s.name += suffix
		return s, nil
	}
	s.name = "(?:" + s.name + ")" + suffix
	re, err := compileAnchored(s.name)
	s.nameRE = re
	return s, err
}

// add puts the stack into the catalog; a user's replaces an embedded one.
func (l *loader) add(n ast.Node, s Stack) {
	place := l.name
	if t := n.GetToken(); t != nil && t.Position != nil {
		place = fmt.Sprintf("%s:%d", l.name, t.Position.Line)
	}
	if first, dup := l.seen[s.ID]; dup {
		l.fail(n, "stack %q is already defined at %s", s.ID, first)
		return
	}
	l.seen[s.ID] = place
	if i, ok := l.catalog.byID[s.ID]; ok {
		l.catalog.stacks[i] = s
		return
	}
	l.catalog.byID[s.ID] = len(l.catalog.stacks)
	l.catalog.stacks = append(l.catalog.stacks, s)
}

func (l *loader) hints(n ast.Node) stackHints {
	m := l.mapping(n, "images", "threads", "loggers", "env", "commands")
	compile := func(key, before, after string) []*regexp.Regexp {
		var out []*regexp.Regexp
		for _, item := range l.list(m[key]) {
			re, err := regexp.Compile(before + l.text(item) + after)
			if err != nil {
				l.fail(item, "%v", err)
				continue
			}
			out = append(out, re)
		}
		return out
	}
	return stackHints{
		images: compile("images", "(?i:", ")"), commands: compile("commands", "(?:", ")"),
		threads: compile("threads", "^(?:", ")"), loggers: compile("loggers", "^(?:", ")"), env: compile("env", "^(?:", ")$"),
	}
}

// signals reads the mapping from a signal's name to an expression, or to a list of alternatives.
func (l *loader) signals(stack, n ast.Node, s *Stack) {
	if n == nil {
		l.fail(stack, "the key \"signals\" is missing")
		return
	}
	for _, kv := range l.pairs(n) {
		name := kv.Key.GetToken().Value
		i, ok := signalIndex[name]
		if !ok {
			l.fail(kv.Key, "unknown signal %q", name)
			continue
		}
		alternatives := []ast.Node{kv.Value}
		if seq, ok := kv.Value.(*ast.SequenceNode); ok {
			alternatives = seq.Values
		}
		for _, a := range alternatives {
			s.signals[name] = append(s.signals[name], l.expr(a, signals[i])...)
		}
		if len(s.signals[name]) == 0 {
			delete(s.signals, name)
		}
	}
	if len(s.signals) == 0 {
		l.fail(n, "a stack without signals is of no use")
	}
}

// expr reads one expression; a bare string is a gauge. A label list in its selectors makes several.
func (l *loader) expr(n ast.Node, sig Signal) []expr {
	e := expr{kind: kindGauge, scale: 1, quantile: 0.99}
	if _, ok := n.(*ast.StringNode); ok {
		return l.alternatives(n, e, []ast.Node{n}, nil, nil)
	}
	m := l.mapping(n, "kind", "of", "minus", "to", "counter", "collapse", "quantile", "scale", "count", "scope", "by")
	if m == nil {
		return nil
	}
	if v, ok := m["kind"]; ok {
		e.kind = kind(l.text(v))
		if !slices.Contains(kinds, e.kind) {
			l.fail(v, "kind %q: one of %v is wanted", e.kind, kinds)
			return nil
		}
	}
	e.counter = l.boolean(m["counter"]) || e.kind == kindRate || e.kind == kindQuantile
	e.collapse = e.kind == kindRate || e.kind == kindQuantile || e.kind == kindCount
	if v, ok := m["collapse"]; ok {
		e.collapse = l.boolean(v)
	}
	if v, ok := m["scope"]; ok {
		e.scope = l.scope(v)
	}
	if v, ok := m["by"]; ok {
		e.by = l.labels(v)
	}
	if v, ok := m["scale"]; ok {
		if e.scale = l.number(v); e.scale <= 0 {
			l.fail(v, "scale must be above 0")
		}
	}
	if v, ok := m["quantile"]; ok {
		if e.quantile = l.number(v); e.quantile <= 0 || e.quantile > 1 {
			l.fail(v, "quantile must be above 0 and at most 1")
		}
	}
	e.compare, e.value = l.comparison(n, m["count"], e.kind)
	switch {
	case m["of"] == nil:
		l.fail(n, "the key \"of\" is missing")
	case (e.kind == kindRatio) != (m["to"] != nil):
		l.fail(n, "a ratio needs \"to\", and only a ratio has it")
	case m["minus"] != nil && e.kind != kindSum && e.kind != kindRatio && e.kind != kindRate:
		l.fail(m["minus"], "\"minus\" goes with sum, rate and ratio")
	case m["counter"] != nil && e.kind != kindRatio:
		l.fail(m["counter"], "\"counter\" goes with ratio")
	case m["quantile"] != nil && e.kind != kindQuantile:
		l.fail(m["quantile"], "\"quantile\" goes with kind quantile")
	case m["collapse"] != nil && e.kind != kindSum && e.kind != kindRatio && e.kind != kindRate:
		l.fail(m["collapse"], "\"collapse\" goes with sum, rate and ratio")
	case e.kind == kindRatio && sig.Unit == "bytes":
		l.fail(n, "a ratio cannot give %s in %s", sig.Name, sig.Unit)
	default:
		return l.alternatives(n, e, l.list(m["of"]), l.list(m["minus"]), l.list(m["to"]))
	}
	return nil
}

// comparison reads what a count counts: "== 0".
func (l *loader) comparison(at, n ast.Node, k kind) (string, float64) {
	if (k == kindCount) != (n != nil) {
		l.fail(at, "kind count needs \"count\", and only it has it")
		return "", 0
	}
	if n == nil {
		return "", 0
	}
	op, num, _ := strings.Cut(l.text(n), " ")
	v, err := strconv.ParseFloat(num, 64)
	if _, known := comparisons[op]; !known || err != nil {
		l.fail(n, "%q is no comparison such as \"== 0\"", l.text(n))
	}
	return op, v
}

// alternatives resolves the selectors. Only the terms of one expression that share a label list may vary together.
func (l *loader) alternatives(n ast.Node, e expr, of, minus, to []ast.Node) []expr {
	groups := [][]ast.Node{of, minus, to}
	parsed := make([][][]selector, len(groups))
	width := 1
	for g, nodes := range groups {
		for _, item := range nodes {
			sels := l.selectors(item)
			if sels == nil {
				return nil
			}
			if e.kind == kindQuantile && sels[0].nameRE != nil && strings.Contains(sels[0].name, "_bucket") {
				l.fail(item, "name the histogram without _bucket")
			}
			if len(sels) > 1 {
				if width > 1 && len(sels) != width {
					l.fail(n, "label lists of different length in one expression")
					return nil
				}
				width = len(sels)
			}
			parsed[g] = append(parsed[g], sels)
		}
	}
	out := make([]expr, width)
	for i := range out {
		v := e
		pick := func(terms [][]selector) []selector {
			var s []selector
			for _, t := range terms {
				s = append(s, t[min(i, len(t)-1)])
			}
			return s
		}
		v.of, v.minus, v.to = pick(parsed[0]), pick(parsed[1]), pick(parsed[2])
		out[i] = v
	}
	return out
}

func (l *loader) selectors(n ast.Node) []selector {
	text := l.text(n)
	if text == "" {
		return nil
	}
	sels, err := parseSelector(text)
	if err != nil {
		l.fail(n, "%v", err)
		return nil
	}
	return sels
}
