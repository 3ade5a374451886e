package bench

import (
	"bytes"
	"fmt"
	"math"
	"strconv"
	"strings"
	"text/tabwriter"
)

// table is one table of a score, for whatever page it is printed on. A cell has no line break.
type table struct {
	title, note string
	header      []string
	rows        [][]string
	names       int // so many of the first columns hold names: of causes, of folders
}

func (s *Score) tables() []table {
	return []table{s.accuracy(), s.causes(), s.wrong(), s.reliability()}
}

func (s *Score) accuracy() table {
	t := table{title: "How often it was right", header: []string{"", "all", "not thin"}}
	row := func(name string, count func(Accuracy) int) {
		t.rows = append(t.rows, []string{name, share(count(s.All), s.All.N), share(count(s.NotThin), s.NotThin.N)})
	}
	row("expected cause first (AC@1)", func(a Accuracy) int { return a.First })
	row("expected cause in the first three (AC@3)", func(a Accuracy) int { return a.FirstThree })
	row("a cause first that must not be", func(a Accuracy) int { return a.ForbiddenFirst })
	row("nothing named", func(a Accuracy) int { return a.Nothing })
	return t
}

func (s *Score) causes() table {
	t := table{title: "By cause", header: []string{"expected cause", "recordings", "first", "in the first three"}, names: 1}
	for _, c := range s.Causes {
		t.rows = append(t.rows, []string{c.ID, strconv.Itoa(c.N), strconv.Itoa(c.First), strconv.Itoa(c.FirstThree)})
	}
	return t
}

func (s *Score) wrong() table {
	t := table{title: "Where the expected cause was not first", header: []string{"recording", "expected", "first", "said", "place of the expected", "note"}, names: 3}
	for _, r := range s.Results {
		if r.Place == 1 {
			continue
		}
		first, said, place := "", "", "not listed"
		if r.First != "" {
			first, said = r.First, percent(r.Probability)
		}
		if r.Place > 0 {
			place = strconv.Itoa(r.Place)
		}
		t.rows = append(t.rows, []string{r.Name, r.Expected, first, said, place, strings.Join(r.notes(), ", ")})
	}
	if len(t.rows) == 0 {
		t.note = "Nowhere."
	}
	return t
}

func (r Result) notes() []string {
	var notes []string
	if r.First == "" {
		notes = append(notes, "nothing named")
	}
	if r.Forbidden {
		notes = append(notes, "must not be first")
	}
	if r.Also {
		notes = append(notes, "takes part as well")
	}
	if r.Thin {
		notes = append(notes, "thin")
	}
	return notes
}

func (s *Score) reliability() table {
	t := table{title: "What was said of the first cause, and what was right", header: []string{"said", "recordings", "said on average", "right"}}
	for _, b := range s.Reliability {
		said, right := "", ""
		if b.Mean != nil {
			said, right = percent(*b.Mean), fmt.Sprintf("%d (%s)", b.Right, percent(float64(b.Right)/float64(b.N)))
		}
		t.rows = append(t.rows, []string{fmt.Sprintf("%.0f to %s", 100*b.From, percent(b.To)), strconv.Itoa(b.N), said, right})
	}
	t.note = "No cause was named, so there is no Brier score."
	if s.Brier != nil {
		t.note = fmt.Sprintf("Brier score of the first cause: %.3f over %d (0 is perfect; to say 50 %% of everything gives 0.250). A row has its lower bound, not its upper one.",
			*s.Brier, s.All.N-s.All.Nothing)
	}
	return t
}

// share is "22 of 24, 92 % (74 to 98 %)".
func share(k, n int) string {
	if n == 0 {
		return "none"
	}
	low, high := interval(k, n)
	return fmt.Sprintf("%d of %d, %s (%.0f to %s)", k, n, percent(float64(k)/float64(n)), math.Round(100*low), percent(high))
}

func percent(p float64) string { return fmt.Sprintf("%.0f %%", math.Round(100*p)) }

// Text is the document for a terminal; it has ASCII only, save for names.
func (d *Document) Text() string {
	var b bytes.Buffer
	print := func(s *Score, what string) {
		fmt.Fprintf(&b, "%s in %s, %d of them thin\n", count(s.All.N, what), s.Folder, s.All.N-s.NotThin.N)
		for _, t := range s.tables() {
			fmt.Fprintf(&b, "\n%s\n", t.title)
			if len(t.rows) > 0 {
				var grid bytes.Buffer
				w := tabwriter.NewWriter(&grid, 0, 0, 2, ' ', 0)
				for _, row := range append([][]string{t.header}, t.rows...) {
					fmt.Fprintf(w, "  %s\n", strings.Join(row, "\t"))
				}
				w.Flush() // a bytes.Buffer takes everything
				for line := range strings.Lines(grid.String()) {
					b.WriteString(strings.TrimRight(line, " \n") + "\n")
				}
			}
			if t.note != "" {
				fmt.Fprintf(&b, "  %s\n", t.note)
			}
		}
	}
	print(&d.Score, "recording")
	if d.HeldOut != nil {
		b.WriteString("\n")
		print(d.HeldOut, "held-out recording")
	}
	return b.String()
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// Markdown is the document as docs/accuracy.md. It takes the recordings of the main folder for those with which the
// knowledge was calibrated, and says so.
func (d *Document) Markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "# Accuracy\n\nMade by `probedoctor bench`; do not edit. To make it again:\n\n```sh\n%s\n```\n\n", d.Command)
	fmt.Fprintf(&b, `## How it was measured

Each folder below %s has the evidence of one incident and, in %s, the cause that was found. Everything in
the folder but that key is diagnosed, as %s would do it. The answer is the ranked list of
the first incident, read from the top; where there is no incident, nothing is named, and that counts as wrong. A recording is
thin when it does not hold enough for an expert to be sure. In brackets is the 95 %% interval of a share (Wilson): with so
few recordings it is known only roughly.

`, code(d.Folder), code(KeyFile), code("probedoctor diagnose -f FOLDER"))
	b.WriteString(`**These numbers flatter.** The recordings are re-rendered reports of incidents: mostly the few lines that somebody pasted,
rendered anew with other names, addresses and times, not evidence taken whole from a cluster. And rules and weights were
calibrated by looking at them, so the tables say how well the knowledge fits what it was made with, not how often it is right
about an incident that it has never seen. `)
	if d.HeldOut == nil {
		b.WriteString("There are no held-out recordings here, so that has not been measured.\n")
	} else {
		fmt.Fprintf(&b, "The recordings of %s were held out: they were not looked at\nmeanwhile, and are reported apart, at the end.\n", code(d.HeldOut.Folder))
	}
	section := func(s *Score, title string) {
		fmt.Fprintf(&b, "\n## %s\n\n%s in %s, %d of them thin.\n", title, count(s.All.N, "recording"), code(s.Folder), s.All.N-s.NotThin.N)
		for _, t := range s.tables() {
			fmt.Fprintf(&b, "\n### %s\n", t.title)
			t.markdown(&b)
		}
	}
	section(&d.Score, "Recordings that the knowledge was calibrated with")
	if d.HeldOut != nil {
		section(d.HeldOut, "Held-out recordings")
	}
	return b.String()
}

func (t *table) markdown(b *strings.Builder) {
	if len(t.rows) > 0 {
		fmt.Fprintf(b, "\n| %s |\n|%s\n", strings.Join(t.header, " | "), strings.Repeat(" --- |", len(t.header)))
		for _, row := range t.rows {
			b.WriteString("|")
			for i, cell := range row {
				if i < t.names && cell != "" {
					// A pipe ends a cell even inside a code span, unless it is escaped.
					cell = strings.ReplaceAll(code(cell), "|", `\|`)
				}
				b.WriteString(strings.TrimRight(" "+cell, " ") + " |")
			}
			b.WriteString("\n")
		}
	}
	if t.note != "" {
		fmt.Fprintf(b, "\n%s\n", t.note)
	}
}

// code makes a code span, in which nothing is markup.
func code(s string) string {
	fence := "`"
	for strings.Contains(s, fence) {
		fence += "`"
	}
	if strings.HasPrefix(s, "`") || strings.HasSuffix(s, "`") {
		s = " " + s + " "
	}
	return fence + s + fence
}
