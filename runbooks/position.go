package runbooks

import (
	"errors"
	"fmt"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	yamlparser "github.com/goccy/go-yaml/parser"
)

// decode reads the front matter strictly. The YAML library panics on some malformed input, such as a tag without a value, which
// is a fault of the file like any other.
func (p *parser) decode(into *frontMatter) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = errors.New("malformed YAML")
		}
	}()
	return yaml.UnmarshalWithOptions([]byte(p.yaml), into, yaml.Strict())
}

// yamlError gives a fault of the YAML itself its place in the file.
func (p *parser) yamlError(err error) error {
	var ye yaml.Error
	if errors.As(err, &ye) && ye.GetToken() != nil && ye.GetToken().Position != nil {
		pos := ye.GetToken().Position
		return fmt.Errorf("%s:%d:%d: %s", p.file, pos.Line, pos.Column, ye.GetMessage())
	}
	return fmt.Errorf("%s:1:1: %w", p.file, err)
}

// position finds a path of the front matter, or the nearest parent that is there.
func (p *parser) position(at string) (line, column int) {
	if p.root == nil {
		// It was decoded before, so it parses; should it not, the fault is placed at the file's start.
		p.root, _ = yamlparser.ParseBytes([]byte(p.yaml), 0)
	}
	for at != "$" && p.root != nil {
		if path, err := yaml.PathString(at); err == nil {
			if node, err := path.FilterFile(p.root); err == nil && node != nil && node.GetToken() != nil {
				pos := start(node)
				return pos.Line, pos.Column
			}
		}
		at = at[:strings.LastIndexAny(at, ".[")]
	}
	return 1, 1
}

// start is where a node begins: a mapping's own token is the colon after its first key.
func start(node ast.Node) (pos struct{ Line, Column int }) {
	switch n := node.(type) {
	case *ast.MappingNode:
		if len(n.Values) > 0 {
			return start(n.Values[0].Key)
		}
	case *ast.MappingValueNode:
		return start(n.Key)
	}
	pos.Line, pos.Column = node.GetToken().Position.Line, node.GetToken().Position.Column
	return pos
}

func (p *parser) fault(at, format string, args ...any) {
	line, column := p.position(at)
	p.errs = append(p.errs, fmt.Errorf("%s:%d:%d: %s", p.file, line, column, fmt.Sprintf(format, args...)))
}

func (p *parser) need(at, text string) {
	if strings.TrimSpace(text) == "" {
		p.fault(at, "%s is missing", at[strings.LastIndexByte(at, '.')+1:])
	}
}

// templateFault places a fault of a template. The text was unfolded by YAML, so its offsets are not those of the file: the rest
// of the line at the fault is searched from the node on, and the node itself is the answer when it was folded away.
func (p *parser) templateFault(at, text string, te *templateError) {
	line, column := p.position(at)
	found, _, _ := strings.Cut(text[min(te.offset, len(text)):], "\n")
	if words := strings.Fields(found); len(words) > 0 {
		found = found[:strings.Index(found, words[0])+len(words[0])]
	}
	from := offsetOf(p.src, line)
	if i := strings.Index(p.src[from:], found); found != "" && i >= 0 {
		line, column = lineColumn(p.src, from+i)
	}
	p.errs = append(p.errs, fmt.Errorf("%s:%d:%d: %s", p.file, line, column, te.msg))
}

func offsetOf(src string, line int) int {
	at := 0
	for ; line > 1; line-- {
		i := strings.IndexByte(src[at:], '\n')
		if i < 0 {
			break
		}
		at += i + 1
	}
	return at
}

// lineColumn counts from one; the column counts characters.
func lineColumn(src string, offset int) (line, column int) {
	before := src[:offset]
	line = strings.Count(before, "\n") + 1
	column = len([]rune(before[strings.LastIndexByte(before, '\n')+1:])) + 1
	return line, column
}
