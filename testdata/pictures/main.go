// Command pictures draws what a terminal shows as SVG: it reads text with colours, as `tmux capture-pane -e -p` prints it, and
// writes one picture. docs/pictures.sh makes those of the README with it. Of the escape sequences it knows colours and
// weights, which is all that such a capture holds.
package main

import (
	"bufio"
	"flag"
	"fmt"
	"html"
	"io"
	"os"
	"strconv"
	"strings"
	"unicode/utf8"
)

// A theme is the paper and the ink: colours that the text does not choose itself.
type theme struct {
	paper, edge, ink, dots string
	palette                [16]string
}

var themes = map[string]theme{
	"dark": {paper: "#15181e", edge: "#2b3038", ink: "#d9dde3", dots: "#3a404a", palette: [16]string{
		"#15181e", "#d1544f", "#6aa36a", "#c49a4a", "#5a86c4", "#a071b8", "#3f9fb5", "#c3c8d0",
		"#8b929c", "#e06c67", "#83bd83", "#d8b162", "#74a0dd", "#b98ad0", "#5bb8ce", "#ffffff"}},
	"light": {paper: "#fdfdfc", edge: "#dcdfe3", ink: "#23272e", dots: "#d5d8dd", palette: [16]string{
		"#23272e", "#b93a35", "#3f7f3f", "#8f6a1a", "#2f5fa3", "#7d4a98", "#21788c", "#6c737e",
		"#747b85", "#d1544f", "#4f964f", "#a8802c", "#4577c0", "#9560b0", "#3f9fb5", "#000000"}},
}

// The measures of a cell and of what is around the text, in pixels. Advance is that of a monospaced face of this size.
const (
	fontSize = 14.0
	advance  = 8.43
	line     = 19.0
	margin   = 22.0
	header   = 44.0
)

type pen struct {
	color       string // "" is the theme's ink
	bold, faint bool
}

func main() {
	name := flag.String("theme", "dark", "dark or light")
	columns := flag.Int("columns", 110, "width of the terminal")
	title := flag.String("title", "", "what stands in the title bar")
	flag.Parse()
	t, ok := themes[*name]
	if !ok {
		fmt.Fprintf(os.Stderr, "pictures: no theme %q\n", *name)
		os.Exit(2)
	}
	w := bufio.NewWriter(os.Stdout)
	err := draw(w, os.Stdin, t, *columns, *title)
	if err == nil {
		err = w.Flush()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "pictures:", err)
		os.Exit(1)
	}
}

func draw(w io.Writer, r io.Reader, t theme, columns int, title string) error {
	var body strings.Builder
	p := pen{}
	rows := 0
	for in := bufio.NewScanner(r); ; rows++ {
		if !in.Scan() {
			if err := in.Err(); err != nil {
				return err
			}
			break
		}
		p = row(&body, t, p, in.Text(), header+float64(rows+1)*line)
	}
	width, height := float64(columns)*advance+2*margin, header+float64(rows)*line+margin
	fmt.Fprintf(w, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.0f %.0f" width="%.0f" height="%.0f" `+
		`font-family="ui-monospace,'SF Mono',Menlo,Consolas,'DejaVu Sans Mono',monospace" font-size="%.0f" fill="%s">`+"\n",
		width, height, width, height, fontSize, t.ink)
	fmt.Fprintf(w, `<rect x=".5" y=".5" width="%.0f" height="%.0f" rx="9" fill="%s" stroke="%s"/>`+"\n", width-1, height-1, t.paper, t.edge)
	for i := range 3 {
		fmt.Fprintf(w, `<circle cx="%d" cy="21" r="5.5" fill="%s"/>`, 24+18*i, t.dots)
	}
	fmt.Fprintf(w, "\n"+`<text x="%.0f" y="26" text-anchor="middle" fill="%s">%s</text>`+"\n", width/2, t.palette[8], html.EscapeString(title))
	fmt.Fprintf(w, "<g xml:space=\"preserve\">\n%s</g>\n</svg>\n", body.String())
	return nil
}

// row draws one line of text and gives the pen at its end.
func row(b *strings.Builder, t theme, p pen, s string, y float64) pen {
	col := 0
	for s != "" {
		if rest, ok := strings.CutPrefix(s, "\x1b["); ok {
			i := strings.IndexFunc(rest, func(r rune) bool { return r >= '@' })
			if i < 0 {
				return p
			}
			if rest[i] == 'm' {
				p = p.set(t, rest[:i])
			}
			s = rest[i+1:]
			continue
		}
		text := s
		if i := strings.IndexByte(s, '\x1b'); i >= 0 {
			text = s[:i]
		}
		s = s[len(text):]
		for text != "" {
			// Bars are drawn, since faces disagree about their height; runs of text keep their columns by textLength.
			n := strings.IndexAny(text, "█░")
			if n == 0 {
				n = len(text) - len(strings.TrimLeft(text, "█░"))
				bars(b, t, p, text[:n], col, y)
			} else {
				if n < 0 {
					n = len(text)
				}
				words(b, p, text[:n], col, y)
			}
			col += utf8.RuneCountInString(text[:n])
			text = text[n:]
		}
	}
	return p
}

func words(b *strings.Builder, p pen, text string, col int, y float64) {
	trimmed := strings.TrimLeft(text, " ")
	col += len(text) - len(trimmed)
	trimmed = strings.TrimRight(trimmed, " ")
	if trimmed == "" {
		return
	}
	fmt.Fprintf(b, `<text x="%.1f" y="%.1f" textLength="%.1f"`, margin+float64(col)*advance, y, float64(utf8.RuneCountInString(trimmed))*advance)
	if p.color != "" {
		fmt.Fprintf(b, ` fill="%s"`, p.color)
	}
	if p.bold {
		b.WriteString(` font-weight="700"`)
	}
	if p.faint {
		b.WriteString(` opacity=".65"`)
	}
	fmt.Fprintf(b, ">%s</text>\n", html.EscapeString(trimmed))
}

func bars(b *strings.Builder, t theme, p pen, text string, col int, y float64) {
	color := p.color
	if color == "" {
		color = t.ink
	}
	full := strings.Count(text, "█")
	rect := func(from, n int, opacity string) {
		if n > 0 {
			fmt.Fprintf(b, `<rect x="%.1f" y="%.1f" width="%.1f" height="11" fill="%s" opacity="%s"/>`+"\n",
				margin+float64(from)*advance, y-10, float64(n)*advance, color, opacity)
		}
	}
	rect(col, full, "1")
	rect(col+full, utf8.RuneCountInString(text)-full, ".22")
}

// set gives the pen after the parameters of one sequence "CSI … m".
func (p pen) set(t theme, params string) pen {
	nums := strings.FieldsFunc(params, func(r rune) bool { return r == ';' || r == ':' })
	if len(nums) == 0 {
		return pen{}
	}
	for i := 0; i < len(nums); i++ {
		n, _ := strconv.Atoi(nums[i])
		switch {
		case n == 0:
			p = pen{}
		case n == 1:
			p.bold = true
		case n == 2:
			p.faint = true
		case n == 22:
			p.bold, p.faint = false, false
		case n == 39:
			p.color = ""
		case n >= 30 && n <= 37:
			p.color = t.palette[n-30]
		case n >= 90 && n <= 97:
			p.color = t.palette[n-90+8]
		case n == 38 && i+4 < len(nums) && nums[i+1] == "2":
			var rgb [3]int
			for j := range rgb {
				rgb[j], _ = strconv.Atoi(nums[i+2+j])
			}
			p.color = fmt.Sprintf("#%02x%02x%02x", rgb[0]&255, rgb[1]&255, rgb[2]&255)
			i += 4
		}
	}
	return p
}
