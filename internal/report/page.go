package report

import (
	"bytes"
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// page collects lines that fit a width. Text is wrapped while it is plain and styled afterwards, so colour never changes
// the layout.
type page struct {
	styles
	glyphs
	buf   bytes.Buffer
	width int
	ascii bool
}

func newPage(o Options) *page {
	width := o.Width
	if width <= 0 {
		width = defaultWidth
	}
	p := &page{styles: newStyles(o.Color), glyphs: unicodeGlyphs, width: min(max(width, minWidth), measure), ascii: o.ASCII}
	if o.ASCII {
		p.glyphs = asciiGlyphs
	}
	return p
}

// glue is a space at which a line is not broken ("94 %"). Untrusted text has none: [Safe] makes it an ordinary space.
const glue = "\u00a0"

// text is untrusted text for one line.
func (p *page) text(s string) string { return p.own(gluer.Replace(Safe(s))) }

// gluer keeps a sign with the number that it belongs to.
var gluer = strings.NewReplacer("≥ ", "≥"+glue, "≤ ", "≤"+glue, " = ", glue+"="+glue, " %", glue+"%")

// name is untrusted text that names something.
func (p *page) name(s string) string { return p.own(safeN(s, nameLimit)) }

// own is a text of this package in the characters that were asked for.
func (p *page) own(s string) string {
	if p.ascii {
		return toASCII.Replace(s)
	}
	return s
}

// line writes one line of styled text.
func (p *page) line(s string) {
	p.buf.WriteString(strings.TrimRight(strings.ReplaceAll(s, glue, " "), " "))
	p.buf.WriteByte('\n')
}

// blank writes an empty line, unless there is one already.
func (p *page) blank() {
	if b := p.buf.Bytes(); len(b) > 0 && !bytes.HasSuffix(b, []byte("\n\n")) {
		p.buf.WriteByte('\n')
	}
}

// lead is the beginning of a paragraph: a mark with its indent. Further lines are indented by its width.
type lead struct {
	text  string
	style style
}

// tailRoom is the room that is kept on the right for references, on pages of at least tailPage columns.
const (
	tailRoom = 14
	tailPage = 76
)

// para writes text behind a lead, wrapped on words with a hanging indent. tail (references) stands at the right margin of
// the last line, or follows the text on narrow pages.
func (p *page) para(l lead, text string, st style, tail string) {
	indent := ansi.StringWidth(l.text)
	room := p.width - indent
	inline := p.width < tailPage
	if tail != "" && inline {
		text, tail = text+" "+strings.ReplaceAll(tail, " ", glue), ""
	} else if tail != "" {
		room -= tailRoom
	}
	if l.style == nil {
		l.style = p.plain
	}
	begin := l.style(l.text)
	lines := wrap(text, room)
	for i, t := range lines {
		out := begin + st(t)
		if i == len(lines)-1 && tail != "" {
			gap := p.width - indent - ansi.StringWidth(t) - ansi.StringWidth(tail)
			if gap >= 2 {
				out += strings.Repeat(" ", gap) + p.dim(tail)
				tail = ""
			}
		}
		p.line(out)
		begin = strings.Repeat(" ", indent)
	}
	for _, t := range wrap(tail, p.width-indent) {
		p.line(strings.Repeat(" ", max(indent, p.width-ansi.StringWidth(t))) + p.dim(t))
	}
}

// atom is a piece of a flow that is kept together where it fits.
type atom struct {
	text  string
	style style
	whole bool // a command: never broken, also where it is longer than a line
}

// flow writes atoms one after the other with sep between those that share a line. Lines are broken between atoms; an atom
// longer than a line is wrapped.
func (p *page) flow(l lead, sep string, atoms []atom) {
	indent := ansi.StringWidth(l.text)
	room := p.width - indent
	if l.style == nil {
		l.style = p.plain
	}
	begin := l.style(l.text)
	line, used := "", 0
	flush := func() {
		if line != "" {
			p.line(begin + line)
			begin = strings.Repeat(" ", indent)
		}
		line, used = "", 0
	}
	for _, a := range atoms {
		a.text = strings.TrimRight(a.text, " ") // a styled space at the end of a line would not be trimmed there
		st := a.style
		if st == nil {
			st = p.plain
		}
		if w := ansi.StringWidth(sep) + ansi.StringWidth(a.text); used > 0 && used+w <= room {
			line, used = line+p.dim(sep)+st(a.text), used+w
			continue
		}
		parts := []string{a.text}
		if !a.whole {
			parts = wrap(a.text, room)
		}
		for _, t := range parts {
			flush()
			line, used = st(t), ansi.StringWidth(t)
		}
	}
	flush()
}

// command writes a command on lines of its own, whole: it is there to be copied.
func (p *page) command(indent int, s string) {
	for _, l := range safeCommand(s) {
		p.buf.WriteString(strings.Repeat(" ", indent) + p.accent(l) + "\n")
	}
}

// wrap breaks text into lines of at most room cells, at spaces; a word that is longer than a line is broken inside.
// An empty text has no lines.
func wrap(text string, room int) []string {
	room = max(room, 2) // the widest character has two cells
	var lines []string
	line, used := "", 0
	for word := range strings.SplitSeq(text, " ") {
		if word == "" {
			continue
		}
		w := ansi.StringWidth(word)
		if line != "" && used+1+w <= room {
			line, used = line+" "+word, used+1+w
			continue
		}
		if line != "" {
			lines = append(lines, line)
		}
		if w > room {
			parts := strings.Split(ansi.Hardwrap(word, room, true), "\n")
			lines = append(lines, parts[:len(parts)-1]...)
			word = parts[len(parts)-1]
			w = ansi.StringWidth(word)
		}
		line, used = word, w
	}
	if line != "" {
		lines = append(lines, line)
	}
	return lines
}
