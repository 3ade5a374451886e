package paste

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"github.com/probedoctor/probedoctor/sources/evidence"
)

// yamlPart is a YAML document, or one element of a YAML List, as lines of the input.
type yamlPart struct {
	lines []string
	first int // number of the first line
	size  int
	count int  // lines, commas counted as well
	long  bool // lines beyond MaxYAML or MaxYAMLLines were left out
}

func (p *yamlPart) add(n int, line string) {
	if len(p.lines) == 0 {
		p.first = n
	}
	p.size += len(line) + 1
	p.count += 1 + strings.Count(line, ",")
	if p.size > MaxYAML || p.count > MaxYAMLLines {
		p.long = true
		return
	}
	p.lines = append(p.lines, line)
}

// readYAML reads the YAML document at the position, up to a line that cannot belong to it. The elements of a List, which
// kubectl prints under "items:", are read one by one: a bad one spoils no other and memory stays small.
func (f *fileReader) readYAML() {
	first, _, _ := f.in.peekLine()
	indent := leading(string(first))
	var head, item yamlPart
	inItems, dash := false, -1
	before, started := f.understood, false
	for {
		raw, whole, ok := f.in.peekLine()
		line := strings.ToValidUTF8(string(raw), "\uFFFD")
		// The first line is taken whatever it is: it was chosen by the caller, and every call must move on.
		if !ok || started && (!whole || yamlSeparator(line) || !yamlGoesOn(line, indent)) {
			break
		}
		started = true
		n := f.in.lineNo
		f.in.skipLine()
		trimmed := strings.TrimLeft(line, " ")
		at := len(line) - len(trimmed)
		element := trimmed == "-" || strings.HasPrefix(trimmed, "- ")
		switch {
		case inItems && element && (dash < 0 || at == dash):
			dash = at
			f.parseYAML(&item)
			item = yamlPart{}
			item.add(n, line)
		case inItems && trimmed != "" && at <= indent && !element && trimmed[0] != '#':
			f.parseYAML(&item)
			item, inItems = yamlPart{}, false
			head.add(n, line)
		case inItems:
			item.add(n, line)
		case at == indent && strings.TrimRight(trimmed, " ") == "items:":
			inItems, dash = true, -1
		default:
			head.add(n, line)
		}
	}
	f.parseYAML(&item)
	if dash < 0 || namesObject(&head) {
		f.parseYAML(&head)
	}
	if f.understood > before {
		f.breakText()
		return
	}
	if f.block {
		return
	}
	if dash >= 0 || head.long {
		f.notes.add(evidence.CoveragePartial, f.name, head.first, "YAML that is no known kind of evidence")
		return
	}
	// It only looked like a manifest.
	for i, l := range head.lines {
		f.textLine(head.first+i, l)
	}
}

// namesObject tells whether the lines around the items of a document are more than the head of a List.
func namesObject(p *yamlPart) bool {
	for _, l := range p.lines {
		if kind, ok := strings.CutPrefix(strings.TrimSpace(l), "kind:"); ok {
			return !strings.HasSuffix(strings.Trim(strings.TrimSpace(kind), `"'`), "List")
		}
	}
	return false
}

func leading(s string) int { return len(s) - len(strings.TrimLeft(s, " ")) }

// parseYAML decodes a part and hands what is in it on. A part that does not parse is tried again without what templates,
// diffs and cuts leave behind; what it then lacks is named.
func (f *fileReader) parseYAML(p *yamlPart) {
	if strings.TrimSpace(strings.Join(p.lines, "")) == "" {
		return
	}
	if p.long {
		f.notes.add(evidence.CoveragePartial, f.name, p.first,
			fmt.Sprintf("a YAML document of more than %d KiB or %d lines; what is beyond is not read", MaxYAML>>10, MaxYAMLLines))
	}
	lines := dedent(p.lines)
	indent := 0
	if len(p.lines) > 0 {
		indent = leading(p.lines[0]) - leading(lines[0])
	}
	values, err := decodeYAML(lines)
	incomplete := p.long
	if bad := templateIn(lines); bad != nil {
		err = bad
	}
	if err != nil {
		var bad *yamlError
		errors.As(err, &bad)
		place := p.first
		col := 0
		if bad != nil && bad.line > 0 {
			place, col = p.first+bad.line-1, bad.column+indent
		}
		repaired, repairErr := repairYAML(lines, bad)
		if repairErr != nil {
			f.yamlNote(evidence.CoverageError, place, col, err.Error())
			f.spoil()
			return
		}
		f.yamlNote(evidence.CoveragePartial, place, col, err.Error()+"; read without what could not be read")
		values, incomplete = repaired, true
	}
	for _, v := range values {
		f.takeYAML(v, p.first, incomplete)
	}
}

func (f *fileReader) yamlNote(status evidence.CoverageStatus, line, column int, why string) {
	if column > 0 {
		why = fmt.Sprintf("column %d: %s", column, why)
	}
	f.notes.add(status, f.name, line, why)
}

// takeYAML hands a decoded document on: an object, or a list of objects or of parts of one.
func (f *fileReader) takeYAML(v any, line int, incomplete bool) {
	switch v := v.(type) {
	case map[string]any:
		if f.take(v, line, incomplete) {
			f.understood++
		}
	case []any:
		for _, it := range v {
			f.takeYAML(it, line, incomplete)
		}
	}
}

// dedent takes off the indent that all lines have.
func dedent(lines []string) []string {
	least := -1
	for _, l := range lines {
		if t := strings.TrimLeft(l, " "); t != "" && t[0] != '#' {
			if n := len(l) - len(t); least < 0 || n < least {
				least = n
			}
		}
	}
	if least <= 0 {
		return lines
	}
	out := make([]string, len(lines))
	for i, l := range lines {
		out[i] = l[min(least, leading(l)):]
	}
	return out
}

// yamlError is why a document could not be decoded, with the place inside it; line 0 when there is none.
type yamlError struct {
	line, column int
	why          string
}

func (e *yamlError) Error() string { return e.why }

// templateIn finds the first template expression. Some of them parse as YAML, as nested mappings, but mean none.
func templateIn(lines []string) error {
	for i, l := range lines {
		if strings.Contains(l, "{{") {
			if at := template.FindStringIndex(l); at != nil {
				return &yamlError{line: i + 1, column: at[0] + 1, why: "a template expression that was not rendered"}
			}
		}
	}
	return nil
}

// decodeYAML gives the documents in the lines. It never panics and refuses what would take too much memory: nesting
// deeper than MaxDepth and aliases that stand for more than MaxYAMLNodes nodes.
func decodeYAML(lines []string) (values []any, err error) {
	defer func() {
		if r := recover(); r != nil {
			values, err = nil, &yamlError{why: fmt.Sprintf("the YAML parser failed: %v", r)}
		}
	}()
	if bad := tooDeep(lines); bad != nil {
		return nil, bad
	}
	file, err := parser.ParseBytes([]byte(strings.Join(lines, "\n")+"\n"), 0, parser.AllowDuplicateMapKey())
	if err != nil {
		return nil, yamlWhy(err)
	}
	for _, d := range file.Docs {
		c := yamlConverter{anchors: map[string]anchored{}}
		v, err := c.value(d.Body, 1)
		if err != nil {
			return nil, err
		}
		if v != nil {
			values = append(values, v)
		}
	}
	return values, nil
}

func yamlWhy(err error) *yamlError {
	var e yaml.Error
	if errors.As(err, &e) {
		bad := &yamlError{why: "broken YAML: " + e.GetMessage()}
		if tk := e.GetToken(); tk != nil && tk.Position != nil {
			bad.line, bad.column = tk.Position.Line, tk.Position.Column
		}
		return bad
	}
	return &yamlError{why: "broken YAML: " + err.Error()}
}

// tooDeep finds nesting that the recursive parser must not see. It counts brackets and dashes without regard to quotes,
// so that it errs on the safe side; the bound is far above what real documents have.
func tooDeep(lines []string) *yamlError {
	depth := 0
	for i, l := range lines {
		rest, dashes := strings.TrimLeft(l, " "), 0
		for len(rest) > 1 && (rest[0] == '-' || rest[0] == '?' || rest[0] == ':') && rest[1] == ' ' {
			rest = strings.TrimLeft(rest[2:], " ")
			dashes++
		}
		for _, c := range []byte(rest) {
			switch c {
			case '[', '{':
				depth++
			case ']', '}':
				depth = max(0, depth-1)
			case '&', '!', '*':
				// Tags and anchors can be stacked without a bracket.
				dashes++
			}
		}
		if depth > 10*MaxDepth || leading(l)/2 > 10*MaxDepth || dashes > 10*MaxDepth {
			return &yamlError{line: i + 1, column: 1, why: fmt.Sprintf("YAML nested deeper than %d", MaxDepth)}
		}
	}
	return nil
}

// yamlConverter turns a syntax tree into plain values and counts what the aliases stand for.
type yamlConverter struct {
	anchors map[string]anchored
	nodes   int
}

type anchored struct {
	value any
	nodes int
}

func (c *yamlConverter) count(n int, node ast.Node) error {
	if c.nodes += n; c.nodes <= MaxYAMLNodes {
		return nil
	}
	return c.fail(node, fmt.Sprintf("YAML of more than %d nodes once its aliases are expanded", MaxYAMLNodes))
}

func (c *yamlConverter) fail(node ast.Node, why string) error {
	e := &yamlError{why: why}
	if tk := node.GetToken(); tk != nil && tk.Position != nil {
		e.line, e.column = tk.Position.Line, tk.Position.Column
	}
	return e
}

func (c *yamlConverter) value(node ast.Node, depth int) (any, error) {
	if node == nil {
		return nil, nil
	}
	if err := c.count(1, node); err != nil {
		return nil, err
	}
	if depth > MaxDepth {
		return nil, c.fail(node, fmt.Sprintf("YAML nested deeper than %d", MaxDepth))
	}
	switch n := node.(type) {
	case *ast.MappingNode:
		m := map[string]any{}
		for _, kv := range n.Values {
			if err := c.entry(m, kv, depth); err != nil {
				return nil, err
			}
		}
		return m, nil
	case *ast.MappingValueNode:
		m := map[string]any{}
		return m, c.entry(m, n, depth)
	case *ast.SequenceNode:
		list := make([]any, 0, len(n.Values))
		for _, v := range n.Values {
			x, err := c.value(v, depth+1)
			if err != nil {
				return nil, err
			}
			list = append(list, x)
		}
		return list, nil
	case *ast.AnchorNode:
		before := c.nodes
		v, err := c.value(n.Value, depth)
		if n.Name != nil {
			c.anchors[n.Name.String()] = anchored{value: v, nodes: c.nodes - before}
		}
		return v, err
	case *ast.AliasNode:
		a, ok := c.anchors[n.Value.String()]
		if !ok {
			return nil, nil
		}
		return a.value, c.count(a.nodes, n)
	case *ast.TagNode:
		return c.value(n.Value, depth)
	case *ast.LiteralNode:
		return n.Value.Value, nil
	case *ast.StringNode:
		return n.Value, nil
	case *ast.BoolNode:
		return n.Value, nil
	case *ast.IntegerNode:
		return n.Value, nil
	case *ast.FloatNode:
		return n.Value, nil
	}
	return nil, nil
}

func (c *yamlConverter) entry(m map[string]any, kv *ast.MappingValueNode, depth int) error {
	v, err := c.value(kv.Value, depth+1)
	if err != nil || v == nil {
		return err
	}
	if kv.Key.IsMergeKey() {
		for _, from := range merged(v) {
			for k, x := range from {
				if _, own := m[k]; !own {
					m[k] = x
				}
			}
		}
		return nil
	}
	key := ""
	switch k := kv.Key.(type) {
	case *ast.StringNode:
		key = k.Value
	default:
		key = strings.Trim(kv.Key.String(), `"'`)
	}
	switch key {
	case "managedFields", "kubectl.kubernetes.io/last-applied-configuration":
		return nil
	}
	m[key] = v
	return nil
}

// merged gives the mappings that a merge key names.
func merged(v any) []map[string]any {
	switch v := v.(type) {
	case map[string]any:
		return []map[string]any{v}
	case []any:
		var out []map[string]any
		for _, x := range v {
			if m, ok := x.(map[string]any); ok {
				out = append(out, m)
			}
		}
		return out
	}
	return nil
}

var (
	template  = regexp.MustCompile(`\{\{[^{}]*\}\}`)
	fieldLine = regexp.MustCompile(`^(\s*(?:- )*[\w./"'-]+:)(?:\s.*)?$`)
)

// repairYAML decodes the lines without what makes pasted YAML unreadable: template expressions (the field that has one
// becomes unknown), the marks and the old lines of a diff, elisions, tabs, and, when it still does not parse, everything
// from the broken line on.
func repairYAML(lines []string, bad *yamlError) ([]any, error) {
	fixed := make([]string, 0, len(lines))
	diff := false
	for _, l := range lines {
		diff = diff || strings.HasPrefix(l, "+ ")
	}
	for _, l := range lines {
		if diff && l != "" {
			if l[0] == '-' {
				l = ""
			} else {
				l = " " + l[1:]
			}
		}
		t := strings.TrimSpace(l)
		switch {
		case t == "..." || t == "…" || t == "<snip>" || t == "[snip]":
			l = ""
		case template.MatchString(l):
			if m := fieldLine.FindStringSubmatch(l); m != nil && !strings.HasPrefix(t, "{{") {
				l = m[1]
			} else {
				l = ""
			}
		}
		fixed = append(fixed, strings.ReplaceAll(l, "\t", "  "))
	}
	fixed = dedent(fixed)
	for range 4 {
		values, err := decodeYAML(fixed)
		if err == nil {
			return values, nil
		}
		if !errors.As(err, &bad) || bad.line <= 1 || bad.line > len(fixed) {
			return nil, err
		}
		fixed = fixed[:bad.line-1]
	}
	return nil, bad
}
