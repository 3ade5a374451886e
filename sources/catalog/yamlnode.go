package catalog

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"
)

// The helpers below read YAML nodes by hand, because a decoder into structs loses the place of a value and reads
// misspelt or unquoted keys as nothing.

// pairs are the entries of a mapping.
func (l *loader) pairs(n ast.Node) []*ast.MappingValueNode {
	switch n := n.(type) {
	case *ast.MappingNode:
		return n.Values
	case *ast.MappingValueNode:
		return []*ast.MappingValueNode{n}
	}
	l.fail(n, "a mapping is wanted")
	return nil
}

// mapping gives the values by key and refuses keys that are not among the known ones.
func (l *loader) mapping(n ast.Node, known ...string) map[string]ast.Node {
	pairs := l.pairs(n)
	if pairs == nil {
		return nil
	}
	m := make(map[string]ast.Node, len(pairs))
	for _, kv := range pairs {
		key := kv.Key.GetToken().Value
		switch {
		case !slices.Contains(known, key):
			l.fail(kv.Key, "unknown key %q: one of %s is wanted", key, strings.Join(known, ", "))
		case m[key] != nil:
			l.fail(kv.Key, "key %q twice", key)
		default:
			m[key] = kv.Value
		}
	}
	return m
}

func (l *loader) sequence(n ast.Node) []ast.Node {
	if s, ok := n.(*ast.SequenceNode); ok {
		return s.Values
	}
	l.fail(n, "a list is wanted")
	return nil
}

// list gives the items of a list, or a scalar as a list of one; nothing when the key was not there.
func (l *loader) list(n ast.Node) []ast.Node {
	if n == nil {
		return nil
	}
	if s, ok := n.(*ast.SequenceNode); ok {
		return s.Values
	}
	return []ast.Node{n}
}

// text is a string scalar; empty when the key was not there.
func (l *loader) text(n ast.Node) string {
	switch n := n.(type) {
	case nil:
		return ""
	case *ast.StringNode:
		return n.Value
	case *ast.LiteralNode:
		return strings.TrimSpace(n.Value.Value)
	}
	l.fail(n, "a string is wanted")
	return ""
}

func (l *loader) required(at ast.Node, m map[string]ast.Node, key string) string {
	n, ok := m[key]
	if !ok {
		l.fail(at, "the key %q is missing", key)
		return ""
	}
	s := l.text(n)
	if s == "" {
		l.fail(n, "%q is empty", key)
	}
	return s
}

func (l *loader) boolean(n ast.Node) bool {
	switch n := n.(type) {
	case nil:
		return false
	case *ast.BoolNode:
		return n.Value
	}
	l.fail(n, "true or false is wanted")
	return false
}

// number reads a number; the parser takes "1e-9" for a string.
func (l *loader) number(n ast.Node) float64 {
	switch n.(type) {
	case *ast.FloatNode, *ast.IntegerNode, *ast.StringNode:
		if v, err := strconv.ParseFloat(n.GetToken().Value, 64); err == nil && !math.IsNaN(v) && !math.IsInf(v, 0) {
			return v
		}
	}
	l.fail(n, "a number is wanted")
	return 1
}
