package runbooks

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/probedoctor/probedoctor/internal/shell"
)

// place is where a placeholder stands; it decides how a value is written there.
type place int

const (
	prose    place = iota
	word           // a shell word or a part of one
	wordHead       // the head of a shell word, where a value with a dash would be read as an option
	jsonText       // in double quotes of single-quoted JSON or PromQL
	regex          // the same, of a PromQL regular expression
	bare           // in single-quoted JSON, outside double quotes: numbers only
)

// part is a piece of a template: text, or a placeholder when value.Name is set.
type part struct {
	text     string
	value    Value
	fallback string
	place    place
}

type template []part

var (
	placeholder = regexp.MustCompile(`^\{([A-Za-z][A-Za-z0-9]*(?:\.[A-Za-z][A-Za-z0-9]*)*)(?:\|([^{}\n]*))?\}`)
	// A fallback in a command is inserted as it is, so it must not need quotes.
	commandFallback = regexp.MustCompile(`^([A-Z][A-Z0-9_]*|[0-9]+)$`)
	scriptOption    = regexp.MustCompile(`^(?:\S*/)?(?:ba|da|a|k|z)?sh -[a-z]*c$`)
)

// templateError is a fault at a byte offset of the template's source.
type templateError struct {
	offset int
	msg    string
}

func (e *templateError) Error() string { return e.msg }

// placeholderAt reads the placeholder that begins at src[i]; n is its length, 0 if none begins there.
func placeholderAt(src string, i int) (p part, n int, err error) {
	m := placeholder.FindStringSubmatch(src[i:])
	if m == nil {
		return part{}, 0, nil
	}
	v, ok := lookup(m[1])
	if !ok {
		return part{}, 0, &templateError{i, fmt.Sprintf("unknown value {%s}; write \\{ for a literal brace", m[1])}
	}
	return part{value: v, fallback: m[2]}, len(m[0]), nil
}

// builder collects parts, joining neighbouring text.
type builder struct {
	parts template
	text  strings.Builder
}

func (b *builder) add(p part) {
	if b.text.Len() > 0 {
		b.parts = append(b.parts, part{text: b.text.String()})
		b.text.Reset()
	}
	if p.value.Name != "" {
		b.parts = append(b.parts, p)
	}
}

func (b *builder) done() template {
	b.add(part{})
	return b.parts
}

// compileProse compiles a text in which values are inserted plainly.
func compileProse(src string) (template, error) {
	var b builder
	for i := 0; i < len(src); {
		if strings.HasPrefix(src[i:], `\{`) {
			b.text.WriteByte('{')
			i += 2
			continue
		}
		p, n, err := placeholderAt(src, i)
		switch {
		case err != nil:
			return nil, err
		case n > 0:
			p.place = prose
			b.add(p)
			i += n
		default:
			b.text.WriteByte(src[i])
			i++
		}
	}
	return b.done(), nil
}

// compileCommand compiles a shell command. It follows the quoting of the shell far enough to know where each placeholder
// stands, and refuses the places where no quoting is safe.
func compileCommand(src string) (template, error) {
	src = strings.TrimRight(src, "\n")
	c := commandCompiler{src: src}
	for c.i < len(src) {
		if err := c.step(); err != nil {
			return nil, err
		}
	}
	if c.quote != 0 {
		return nil, &templateError{len(src), fmt.Sprintf("the quote %c is not closed", c.quote)}
	}
	return c.b.done(), nil
}

type commandCompiler struct {
	src   string
	i     int
	b     builder
	quote byte // 0, ' or "
	data  bool // the single-quoted word is JSON or PromQL
	inDQ  bool // within double quotes of such data
	// word is the current word's source; last and prev are the two before it.
	word, last, prev string
}

// dataAfter are the options whose single-quoted argument is data, never a script, with what that argument begins with.
var dataAfter = map[string]string{"-p": "[{", "--patch": "[{", "--data-urlencode": "q"}

func (c *commandCompiler) emit(n int) {
	s := c.src[c.i : c.i+n]
	c.b.text.WriteString(s)
	c.word += s
	c.i += n
}

func (c *commandCompiler) fail(msg string) error { return &templateError{c.i, msg} }

func (c *commandCompiler) step() error {
	ch := c.src[c.i]
	if strings.HasPrefix(c.src[c.i:], "${") {
		c.emit(2) // a parameter of the shell, not a value
		return nil
	}
	if ch == '{' {
		p, n, err := placeholderAt(c.src, c.i)
		if err != nil {
			return err
		}
		if n > 0 {
			return c.placeholder(p, n)
		}
	}
	if ch == '\\' && strings.HasPrefix(c.src[c.i:], `\{`) && c.quote != '"' {
		c.b.text.WriteByte('{')
		c.word += "{"
		c.i += 2
		return nil
	}
	switch c.quote {
	case '\'':
		c.single(ch)
		return nil
	case '"':
		return c.double(ch)
	}
	return c.open(ch)
}

func (c *commandCompiler) single(ch byte) {
	switch {
	case ch == '\'':
		c.quote, c.data, c.inDQ = 0, false, false
	case ch == '\\' && c.inDQ && c.i+1 < len(c.src):
		c.emit(1)
	case ch == '"':
		c.inDQ = !c.inDQ
	}
	c.emit(1)
}

func (c *commandCompiler) double(ch byte) error {
	switch {
	case ch == '`' || strings.HasPrefix(c.src[c.i:], "$("):
		return c.fail("no command substitution in double quotes")
	case ch == '"':
		c.quote = 0
	case ch == '\\' && c.i+1 < len(c.src):
		c.emit(1)
	}
	c.emit(1)
	return nil
}

func (c *commandCompiler) open(ch byte) error {
	rest := c.src[c.i:]
	switch {
	case ch == '`':
		return c.fail("no backquotes: write $( )")
	case strings.HasPrefix(rest, "<<"):
		return c.fail("no here-documents")
	case strings.HasPrefix(rest, "$'"):
		return c.fail("no $'…' quoting: it is not POSIX")
	case ch == '#' && c.word == "":
		return c.comment()
	case ch == '\\' && len(rest) > 1:
		c.emit(2)
		if rest[1] == '\n' {
			c.endWord()
		}
	case ch == '\'':
		want := dataAfter[c.last]
		c.data = c.word == "" && want != "" && len(rest) > 1 && strings.IndexByte(want, rest[1]) >= 0
		c.quote = ch
		c.emit(1)
	case ch == '"':
		c.quote = ch
		c.emit(1)
	case strings.IndexByte(" \t\n;|&()<>", ch) >= 0:
		c.emit(1)
		c.word = strings.TrimSuffix(c.word, string(ch))
		c.endWord()
		if ch != ' ' && ch != '\t' {
			c.prev, c.last = "", ""
		}
	default:
		c.emit(1)
	}
	return nil
}

func (c *commandCompiler) endWord() {
	if w := strings.TrimSuffix(c.word, "\\\n"); w != "" {
		c.prev, c.last = c.last, w
	}
	c.word = ""
}

// comment copies to the end of the line. A value could end the comment with a newline, so none may stand there.
func (c *commandCompiler) comment() error {
	n := strings.IndexByte(c.src[c.i:], '\n')
	if n < 0 {
		n = len(c.src) - c.i
	}
	for j := c.i; j < c.i+n; j++ {
		if _, m, err := placeholderAt(c.src, j); m > 0 || err != nil {
			c.i = j
			return c.fail("no value in a comment")
		}
	}
	c.emit(n)
	c.word = ""
	return nil
}

func (c *commandCompiler) placeholder(p part, n int) error {
	switch {
	case c.last == "eval" || scriptOption.MatchString(c.prev+" "+c.last):
		return c.fail("no value in the script of a nested shell: pass it as an argument")
	case c.quote == '"':
		return c.fail("no value in double quotes: the shell would expand it")
	case c.quote == '\'' && !c.data:
		return c.fail("no value in a quoted script: pass it as an argument")
	case c.quote == '\'' && c.inDQ:
		p.place = jsonText
		before := c.src[:strings.LastIndexByte(c.src[:c.i], '"')]
		if strings.HasSuffix(before, "=~") || strings.HasSuffix(before, "!~") {
			p.place = regex
		}
	case c.quote == '\'':
		p.place = bare
		if p.value.Type != Number {
			return c.fail(fmt.Sprintf("{%s} must stand in double quotes here: it is no number", p.value.Name))
		}
	case c.word == "":
		p.place = wordHead
	default:
		p.place = word
	}
	if p.value.Type == List {
		after := c.i + n
		if p.place != wordHead || after < len(c.src) && strings.IndexByte(" \t\n;|&)", c.src[after]) < 0 {
			return c.fail(fmt.Sprintf("{%s} is a list: it must be a word of its own", p.value.Name))
		}
	}
	if p.fallback != "" && !commandFallback.MatchString(p.fallback) {
		return c.fail(fmt.Sprintf("the fallback %q must be an upper-case word or a whole number", p.fallback))
	}
	c.b.add(p)
	c.word += c.src[c.i : c.i+n]
	c.i += n
	return nil
}

// prose renders a template for reading; insert turns a known value into text.
func (t template) prose(e env, insert func(string) string) string {
	var b strings.Builder
	for _, p := range t {
		switch known := e[p.value.Name]; {
		case p.value.Name == "":
			b.WriteString(p.text)
		case len(known) > 0:
			shown := make([]string, len(known))
			for i, s := range known {
				shown[i] = insert(shortARN(s))
			}
			b.WriteString(strings.Join(shown, ", "))
		case p.fallback != "":
			b.WriteString(p.fallback)
		default:
			b.WriteString(p.value.Generic)
		}
	}
	return b.String()
}

// shortARN is the name inside an Amazon resource name: the middle of "…:targetgroup/checkout/6d1f0c2a9b7e4835". A person
// reads the name; commands keep the whole.
func shortARN(s string) string {
	if !strings.HasPrefix(s, "arn:") {
		return s
	}
	if parts := strings.Split(s, "/"); len(parts) >= 2 && parts[len(parts)-1] != "" {
		return parts[max(len(parts)-2, 1)]
	}
	return s
}

// command renders a command. With missing values it returns "" and their names, or, as documentation, words in capitals.
func (t template) command(e env, document bool) (string, []string) {
	var b strings.Builder
	var missing []string
	for _, p := range t {
		if p.value.Name == "" {
			b.WriteString(p.text)
			continue
		}
		s, ok := p.write(e[p.value.Name])
		switch {
		case ok:
			b.WriteString(s)
		case p.fallback != "":
			b.WriteString(p.fallback)
		case document:
			b.WriteString(p.value.docWord())
		case !slices.Contains(missing, p.value.Name):
			missing = append(missing, p.value.Name)
		}
	}
	if len(missing) > 0 {
		return "", missing
	}
	return b.String(), nil
}

// write writes a value for its place in a command, false if it is unknown or cannot stand there.
func (p part) write(known []string) (string, bool) {
	if len(known) == 0 {
		return "", false
	}
	out := make([]string, len(known))
	for i, s := range known {
		if unfit(s) != "" {
			return "", false
		}
		switch p.place {
		case wordHead:
			if strings.HasPrefix(s, "-") {
				return "", false
			}
			out[i] = shell.Quote(s)
		case word:
			out[i] = shell.Quote(s)
		case jsonText:
			out[i] = singleQuoted(jsonEscape(s))
		case regex:
			out[i] = singleQuoted(jsonEscape(regexp.QuoteMeta(s)))
		default:
			out[i] = s // a number
		}
	}
	return strings.Join(out, " "), true
}

// singleQuoted escapes text that stands within single quotes.
func singleQuoted(s string) string { return strings.ReplaceAll(s, "'", `'\''`) }

// jsonEscape escapes text that stands within the double quotes of JSON; PromQL reads the same escapes.
func jsonEscape(s string) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(s); err != nil {
		return "" // a string always encodes
	}
	return strings.TrimSuffix(strings.TrimPrefix(strings.TrimSuffix(b.String(), "\n"), `"`), `"`)
}
