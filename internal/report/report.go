package report

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/probedoctor/probedoctor/rules"
)

// The formats of [Write].
const (
	Text     = "text"
	Wide     = "wide"
	JSON     = "json"
	YAML     = "yaml"
	Markdown = "markdown"
)

// Formats lists the valid values of [Options].Format, the default first.
func Formats() []string { return []string{Text, Wide, JSON, YAML, Markdown} }

// ColorMode is how much colour a terminal can show.
type ColorMode int

// The colour modes. Nothing is said by colour alone.
const (
	ColorNone ColorMode = iota
	Color16             // the 16 colours of the user's own palette
	ColorTrue           // 24 bits
)

// Options say how to render. The zero value is text of 100 columns without colour, times in UTC.
type Options struct {
	// Format is one of [Formats]; empty is text.
	Format string
	// Width is the number of columns for text and wide; 0 is 100, and less than 40 is taken as 40. Commands are never
	// wrapped, whatever the width: they are there to be copied.
	Width int
	Color ColorMode
	// ASCII draws bars, marks and punctuation with ASCII characters.
	ASCII bool
	// Zone is the zone of times that a person reads; nil is UTC. JSON and YAML are always in UTC.
	Zone *time.Location
	// Wide makes of text what the format wide is: everything, with weights, trace and the cited items.
	Wide bool
	// More are hints for the last line of text ("probedoctor why-not ID -f FILE"); nil gives the general ones.
	More []string
}

const (
	defaultWidth = 100
	minWidth     = 40
	// measure is the longest line that is set: longer ones lose the reader's eye between a statement and its references.
	measure = 120
)

// Write renders list to w. It never changes list. It fails for an unknown format, for a number that JSON cannot hold (NaN,
// infinity) and when w fails; nothing is written before the whole text is made.
func Write(w io.Writer, list *rules.DiagnosisList, o Options) error {
	if list == nil {
		list = &rules.DiagnosisList{}
	}
	var out []byte
	var err error
	switch o.Format {
	case "", Text, Wide:
		o.Wide = o.Wide || o.Format == Wide
		out = writeText(Normalize(list), o)
	case JSON:
		out, err = marshalJSON(Normalize(list))
	case YAML:
		out, err = marshalYAML(Normalize(list))
	case Markdown:
		out = writeMarkdown(Normalize(list), o)
	default:
		return fmt.Errorf("unknown format %q: the formats are %s", o.Format, strings.Join(Formats(), ", "))
	}
	if err != nil {
		return fmt.Errorf("writing the diagnosis as %s: %w", o.Format, err)
	}
	_, err = io.Copy(w, bytes.NewReader(out))
	return err
}
