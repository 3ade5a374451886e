package paste

import (
	"regexp"
	"strings"
)

// maxBlock bounds a block of JSON or YAML in the midst of a text, in bytes.
const maxBlock = 2 << 20

// block is a piece of JSON or YAML that stands in a text.
type block struct {
	first int // line
	json  bool
	lines []string
	size  int
	// JSON: nesting depth and whether the scan is inside a string.
	depth    int
	inString bool
	escaped  bool
	// YAML: blank lines that belong to the block only if more of it follows.
	blanks int
}

var (
	blockJSON = regexp.MustCompile(`^(?:\{\s*(?:$|"|\})|\[\s*(?:$|\{))`)
	blockYAML = regexp.MustCompile(`^[-+ \t]*(?:- )?(?:(?:apiVersion|kind): +\S+$|(?:metadata|spec|status|data|items|template|containers|` +
		`initContainers|livenessProbe|readinessProbe|startupProbe|probes|strategy|lifecycle|annotations|podAnnotations|` +
		`httpGet|tcpSocket|conditions|containerStatuses|ports|extraContainers|sidecars|behavior|metrics):(?:\s*$| [&{|]))`)
	conditionStart = regexp.MustCompile(`^\s*- (?:lastTransitionTime|lastProbeTime):`)
	blockLine      = regexp.MustCompile(`^[-+ \t]*(?:- )*(?:"[^"]*"|'[^']*'|[\w./$<>*{}-]+) ?:(?:\s|$)`)
	describeName   = regexp.MustCompile(`^(?:Name|Namespace|Events|Containers|Conditions|Last State|Restart Count|Liveness|Readiness|Startup):(?:\s{2,}|$)`)
)

// startBlock tells whether the line begins a block of JSON or YAML.
func startBlock(n int, s, trimmed string) *block {
	switch {
	case blockJSON.MatchString(trimmed):
		b := &block{first: n, json: true}
		b.add(s, trimmed)
		return b
	case trimmed == "---" || blockYAML.MatchString(s) || conditionStart.MatchString(s):
		b := &block{first: n}
		b.add(s, trimmed)
		return b
	}
	return nil
}

// add takes the line if it belongs to the block.
func (b *block) add(s, trimmed string) bool {
	if b.size+len(s) > maxBlock {
		return false
	}
	if b.json {
		if trimmed == "" && !b.inString {
			return false // pretty JSON has no blank lines: the block was cut
		}
		b.scan(s)
		b.push(s)
		return true
	}
	if trimmed == "" {
		b.blanks++
		return b.blanks < 4
	}
	if len(b.lines) > 0 && !b.yaml(s, trimmed) {
		return false
	}
	for ; b.blanks > 0; b.blanks-- {
		b.push("")
	}
	b.push(s)
	return true
}

func (b *block) push(s string) {
	b.lines = append(b.lines, s)
	b.size += len(s) + 1
}

// yaml tells whether a line can be part of the block of YAML.
func (b *block) yaml(s, trimmed string) bool {
	switch {
	case describeName.MatchString(s), probeText.MatchString(trimmed):
		return false
	case trimmed == "---", trimmed == "...", strings.HasPrefix(trimmed, "#"), strings.HasPrefix(trimmed, "- "), trimmed == "-",
		strings.HasPrefix(trimmed, "{{"), blockLine.MatchString(s), strings.Trim(trimmed, "{}[],") == "":
		return true
	}
	// Anything indented deeper than the first line: block scalars, folded strings, flow collections.
	return indent(s) > indent(b.lines[0])
}

// yamlComment tells whether the line, which looks like a prompt, is a comment of this block.
func (b *block) yamlComment(trimmed string) bool {
	if b.json || !strings.HasPrefix(trimmed, "#") {
		return false
	}
	tool, known := knownCommand(strings.TrimSpace(trimmed[1:]))
	return !known || tool != "kubectl" && tool != "oc"
}

// scan follows the braces of JSON.
func (b *block) scan(s string) {
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case b.escaped:
			b.escaped = false
		case b.inString && c == '\\':
			b.escaped = true
		case c == '"':
			b.inString = !b.inString
		case b.inString:
		case c == '{' || c == '[':
			b.depth++
		case c == '}' || c == ']':
			b.depth--
		}
	}
	b.escaped = false
}

func (b *block) balanced() bool { return b.depth <= 0 && !b.inString }

// done tells whether the block is whole. YAML never says so; it ends where other text begins.
func (b *block) done() bool { return b.json && b.balanced() }

func (b *block) text() string { return strings.Join(b.lines, "\n") }

// indent is the number of leading blanks; a tab counts as eight.
func indent(s string) int {
	n := 0
	for _, r := range s {
		switch r {
		case ' ':
			n++
		case '\t':
			n += 8
		default:
			return n
		}
	}
	return n
}
