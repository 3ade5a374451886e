package rules

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// Where things stand in files of knowledge, for errors that an editor can jump to.

// position is where a value stands: line and column of its token, both from 1.
type position struct {
	line, column int
	// textLine and textColumn are where the first character of a scalar's text stands: below the | of a block, behind a
	// quote. folded tells that the lines of the value are not those of the file.
	textLine, textColumn int
	folded               bool
}

// inText is the place of a line (from 1) and column (from 0) of the scalar's text.
func (p position) inText(line, column int) (int, int) {
	switch {
	case p.textLine == 0:
		return max(p.line, 1), max(p.column, 1)
	case p.folded:
		return p.textLine, p.textColumn
	case p.textLine > p.line || line == 1:
		return p.textLine + line - 1, p.textColumn + column
	}
	return p.textLine + line - 1, column + 1
}

func positionOf(n ast.Node, lines []string) (position, bool) {
	tok := n.GetToken()
	if tok == nil {
		return position{}, false
	}
	p := position{line: tok.Position.Line, column: tok.Position.Column}
	switch n.(type) {
	case *ast.LiteralNode:
		// The block is indented as its first line with text is.
		for _, l := range lines[min(p.line, len(lines)):] {
			if text := strings.TrimLeft(l, " "); strings.TrimSpace(text) != "" {
				p.textLine, p.textColumn = p.line+1, len(l)-len(text)+1
				break
			}
		}
		p.folded = tok.Type == token.FoldedType
	case *ast.StringNode:
		p.textLine, p.textColumn = p.line, p.column
		if tok.Type == token.SingleQuoteType || tok.Type == token.DoubleQuoteType {
			p.textColumn++
		}
	}
	return p, true
}

// keyPositions gives, for each item of a list of mappings, where the value of each key stands.
func keyPositions(b []byte) (out []map[string]position) {
	defer func() { _ = recover() }() // positions only improve messages; the decoder has judged the file
	f, err := parser.ParseBytes(b, 0)
	if err != nil || len(f.Docs) == 0 {
		return nil
	}
	seq, ok := f.Docs[0].Body.(*ast.SequenceNode)
	if !ok {
		return nil
	}
	lines := strings.Split(string(b), "\n")
	for _, item := range seq.Values {
		at := map[string]position{}
		mappingPositions(item, "", lines, at)
		out = append(out, at)
	}
	return out
}

func mappingPositions(n ast.Node, prefix string, lines []string, at map[string]position) {
	m, ok := n.(*ast.MappingNode)
	if !ok {
		return
	}
	for _, kv := range m.Values {
		key := prefix + kv.Key.String()
		if p, ok := positionOf(kv.Value, lines); ok {
			at[key] = p
		}
		if prefix == "" {
			mappingPositions(kv.Value, key+".", lines, at)
		}
	}
}

// strayKeyHint is what a key looks like that YAML does not read as text. Few files hold one, so few are parsed for it.
var strayKeyHint = regexp.MustCompile(`(?im)(?:^\s*|[{,?]\s*|-\s+)(?:true|false|null|~|[-+]?\.?[0-9][\w.+-]*|[-+]?\.(?:inf|nan))\s*:(?:\s|$)`)

// strayKey refuses keys that are no text, such as an unquoted true. The decoder would drop the whole mapping that holds
// one without an error.
func strayKey(file string, b []byte) error {
	if !strayKeyHint.Match(b) {
		return nil
	}
	f, err := parser.ParseBytes(b, 0)
	if err != nil {
		return nil // the decoder reports it
	}
	v := &strayKeys{}
	for _, d := range f.Docs {
		if d.Body != nil {
			ast.Walk(v, d.Body)
		}
	}
	if v.found == nil {
		return nil
	}
	return fmt.Errorf("%s:%d:%d: the key %s is read as a %s, not as text, and no key is named so",
		file, v.found.Position.Line, v.found.Position.Column, v.found.Value, v.kind)
}

type strayKeys struct {
	found *token.Token
	kind  string
}

// Visit implements ast.Visitor.
func (v *strayKeys) Visit(n ast.Node) ast.Visitor {
	if v.found != nil {
		return nil
	}
	kv, ok := n.(*ast.MappingValueNode)
	if !ok {
		return v
	}
	switch kv.Key.(type) {
	case *ast.BoolNode:
		v.kind = "bool"
	case *ast.IntegerNode, *ast.FloatNode, *ast.InfinityNode, *ast.NanNode:
		v.kind = "number"
	case *ast.NullNode:
		v.kind = "null"
	default:
		return v
	}
	v.found = kv.Key.GetToken()
	return nil
}
