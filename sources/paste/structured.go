package paste

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/probedoctor/probedoctor/sources/evidence"
	"github.com/probedoctor/probedoctor/sources/kubeobj"
)

// fileReader reads one input into the set: documents by itself, everything else through the text reader.
type fileReader struct {
	name  string
	set   *evidence.Set
	opt   Options
	stats *kubeobj.Stats
	notes *inputNotes
	// partial names the evidence sources of which a part could not be read.
	partial map[string]bool

	in   *lineInput
	json jsonReader
	text textSink // nil until there is text, and for a block that the text reader itself gave
	// plainUntil is the offset up to which lines are text whatever they look like: they were tried as a document.
	plainUntil int64
	// block marks that the input is a block out of a text: then there is no text reader to fall back on.
	block      bool
	understood int
	afterRule  bool // the line before was a separator of YAML documents
	tries      int  // JSON-like lines in a row that were no known thing
}

// inputNotes are the unreadable pieces of one file.
type inputNotes struct {
	set  *evidence.Set
	n    int
	more int
}

func (n *inputNotes) add(status evidence.CoverageStatus, file string, line int, why string) {
	if n.n++; n.n > maxInputNotes {
		n.more++
		return
	}
	place := file
	if line > 0 {
		place = fmt.Sprintf("%s:%d", file, line)
	}
	n.set.Coverage = append(n.set.Coverage, evidence.Coverage{
		Source: evidence.SourceInput, Status: status, Detail: place + ": " + why,
	})
}

func newFileReader(name string, in *lineInput, set *evidence.Set, opt Options, stats *kubeobj.Stats, partial map[string]bool) *fileReader {
	f := &fileReader{
		name: name, in: in, set: set, opt: opt, stats: stats, partial: partial, notes: &inputNotes{set: set},
	}
	f.json.in = in
	f.json.take = f.take
	f.json.takeEvent = f.takeEvent
	return f
}

// origin is where the evidence at the line comes from.
func (f *fileReader) origin(line int, incomplete bool) kubeobj.Origin {
	return kubeobj.Origin{
		Source: "kubernetes", File: f.name, Line: line, Observed: f.opt.Observed, Incomplete: incomplete, Stats: f.stats,
	}
}

func (f *fileReader) takeEvent(raw *kubeobj.RawEvent, line int) {
	if len(f.set.Events) >= MaxKept {
		if !f.partial[evidence.SourceEvents] {
			f.notes.add(evidence.CoveragePartial, f.name, line, fmt.Sprintf("more than %d events; the rest is not kept", MaxKept))
		}
		f.partial[evidence.SourceEvents] = true
		return
	}
	kubeobj.AddEvent(f.set, raw, f.origin(line, false))
}

// take gives a decoded object to whoever knows it.
func (f *fileReader) take(obj map[string]any, line int, incomplete bool) bool {
	at := f.origin(line, incomplete)
	var read func(map[string]any, kubeobj.Origin, *evidence.Set) error
	switch {
	case answerKey(obj):
		return true
	case obj["cluster_statuses"] != nil:
		at.Source, read = "envoy", envoyAnswer
	case isELB(obj):
		at.Source, read = "aws", readELB
	case obj["resultType"] != nil && obj["result"] != nil, obj["status"] == "success" && obj["data"] != nil, obj["status"] == "error" && obj["errorType"] != nil:
		at.Source, read = "prometheus", readPromAPI
	default:
		_, err := kubeobj.Add(f.set, obj, at)
		return err == nil
	}
	if read == nil {
		return false
	}
	if err := read(obj, at, f.set); err != nil {
		f.notes.add(evidence.CoveragePartial, f.name, line, err.Error())
	}
	return true
}

// answerKey tells the expected answer that lies beside a recorded case: it is no evidence.
func answerKey(obj map[string]any) bool {
	_, id := obj["id"].(string)
	_, list := obj["mustNotTop"].([]any)
	return id && list
}

// run reads the input to its end.
func (f *fileReader) run() {
	defer f.close()
	first := true
	for {
		line, whole, ok := f.in.peekLine()
		if !ok {
			break
		}
		blank := len(strings.TrimSpace(string(line[:min(len(line), 64)]))) == 0
		candidate := f.in.off >= f.plainUntil && len(line) > 0
		atMargin := candidate && (line[0] != ' ' || first || f.block)
		switch {
		case atMargin && f.tries < maxTries && jsonStart(line) && (f.block || !oneLineLog(line, whole)):
			f.readJSON()
		case candidate && whole && (mayStartYAML(line) && yamlStart(string(line)) || (f.afterRule || f.block) && f.yamlBlock(string(line))):
			f.readYAML()
		default:
			f.afterRule = yamlSeparator(string(line)) || f.afterRule && (blank || line[0] == '#')
			f.readLine(line, whole)
		}
		if !blank {
			first = false
		}
	}
	if f.in.err != nil && f.in.err != io.EOF {
		f.notes.add(evidence.CoverageError, f.name, f.in.lineNo, "reading stopped: "+f.in.err.Error())
		f.spoil()
	}
}

// yamlBlock tells whether a line that names no kind can begin a YAML document where one is expected.
func (f *fileReader) yamlBlock(line string) bool {
	s := strings.TrimSpace(line)
	key := strings.TrimLeft(s, "- ")
	return s != "" && s[0] != '{' && s[0] != '[' && !yamlSeparator(line) && (yamlKey(key) || s[0] == '#' && f.block)
}

// oneLineLog tells a whole JSON object on one line that is no document which the package knows: the line of a log.
func oneLineLog(line []byte, whole bool) bool {
	s := strings.TrimRight(string(line), " \t\r")
	return whole && strings.HasPrefix(s, "{") && strings.HasSuffix(s, "}") && len(s) > 2 && !signed(line)
}

// readLine gives one line to the text reader.
func (f *fileReader) readLine(line []byte, whole bool) {
	n := f.in.lineNo
	if f.block {
		f.in.skipLine()
		return
	}
	s := strings.ToValidUTF8(string(line), "\uFFFD")
	beyond := f.in.skipLine()
	if !whole && beyond > 0 {
		f.notes.add(evidence.CoveragePartial, f.name, n,
			fmt.Sprintf("a line of %d bytes; what is beyond %d KiB is not read", beyond+MaxLine, MaxLine>>10))
	}
	f.textLine(n, s)
}

func (f *fileReader) textLine(n int, s string) {
	if f.text == nil {
		f.text = newText(f.name, f.set, f.structured)
	}
	f.text.line(n, s)
	f.trim(n)
}

// trim keeps what the text reader adds within bounds. What was read last stays: logs are printed oldest first, and the
// failures in question are the latest.
func (f *fileReader) trim(line int) {
	over := func(source string) {
		if !f.partial[source] {
			f.notes.add(evidence.CoveragePartial, f.name, line, fmt.Sprintf("more than %d items of source %s; those read first are not kept", MaxKept, source))
		}
		f.partial[source] = true
	}
	var dropped marks
	if len(f.set.Logs) > MaxKept {
		over(evidence.SourceLogs)
		f.set.Logs, dropped.logs = keepLast(f.set.Logs)
	}
	if len(f.set.Requests) > MaxKept {
		over(evidence.SourceRequests)
		f.set.Requests, dropped.requests = keepLast(f.set.Requests)
	}
	if len(f.set.Events) > MaxKept {
		over(evidence.SourceEvents)
		f.set.Events, dropped.events = keepLast(f.set.Events)
	}
	if dropped != (marks{}) {
		f.text.dropped(dropped)
	}
}

// keepLast drops the first quarter, so that the cost of moving the others is spread over many lines, and says how many.
func keepLast[T any](items []T) ([]T, int) {
	dropped := len(items) - MaxKept*3/4
	n := copy(items, items[dropped:])
	clear(items[n:])
	return items[:n], dropped
}

// breakText tells the text reader that something else follows: no line of before goes on after it.
func (f *fileReader) breakText() {
	if f.text != nil {
		f.text.line(f.in.lineNo, "")
	}
}

func (f *fileReader) close() {
	if f.text != nil {
		f.text.close()
		f.text = nil
	}
	if f.notes.more > 0 {
		f.set.Coverage = append(f.set.Coverage, evidence.Coverage{
			Source: evidence.SourceInput, Status: evidence.CoveragePartial,
			Detail: fmt.Sprintf("%s: %d more pieces that could not be read", f.name, f.notes.more),
		})
	}
}

// structured reads a block of JSON or YAML that the text reader found inside a text, under decoration that only it can
// take off; it reports whether the block was understood.
func (f *fileReader) structured(firstLine int, block string) bool {
	if len(block) > MaxToken {
		return false
	}
	in := newLineInput(strings.NewReader(block))
	in.lineNo = firstLine
	b := newFileReader(f.name, in, f.set, f.opt, f.stats, f.partial)
	b.block = true
	b.notes = f.notes
	b.run()
	return b.understood > 0
}

// readJSON reads the JSON document at the position. If it is no known thing, its lines are read as text.
func (f *fileReader) readJSON() {
	j := &f.json
	first, start := f.in.lineNo, f.in.off
	events, left := len(f.set.Events), f.stats.Events
	err := j.document()
	f.understood += j.understood
	consumed := f.in.off - start

	f.tries++
	if j.understood > 0 {
		f.tries = 0
	}
	if j.understood == 0 && consumed <= int64(len(j.replay)) {
		if err != nil && signed(j.replay) {
			f.notes.add(evidence.CoveragePartial, f.name, first, jsonWhy(err)+"; it is read as text")
			f.spoil()
		}
		f.in.unread(j.replay[:consumed])
		f.plainUntil = start + max(consumed, 1)
		if f.block {
			f.in.skipLine()
		}
		return
	}
	if j.understood == 0 && err == nil {
		f.notes.add(evidence.CoveragePartial, f.name, first, "JSON that is no known kind of evidence")
	}
	if j.cut > 0 {
		f.notes.add(evidence.CoveragePartial, f.name, first,
			fmt.Sprintf("%s too large (%d MiB) or nested deeper than %d and only read in part", were(j.cut, "JSON object"), MaxTree>>20, MaxDepth))
	}
	if j.understood > 0 && j.unknown > 0 {
		f.notes.add(evidence.CoveragePartial, f.name, first, were(j.unknown, "element")+" of the list no known kind of evidence")
	}
	f.breakText()
	if err == nil {
		return
	}
	f.notes.add(evidence.CoveragePartial, f.name, f.in.lineNo, fmt.Sprintf("%s; of the document that begins in line %d, %s read",
		jsonWhy(err), first, were(j.understood, "object")))
	if len(f.set.Events) > events || f.stats.Events > left {
		f.partial[evidence.SourceEvents] = true
	} else {
		f.spoil()
	}
	if !errors.Is(err, io.ErrUnexpectedEOF) {
		f.in.skipLine()
	}
}

// spoil marks every source of cluster objects as partly read: what is missing of a broken document is not known.
func (f *fileReader) spoil() {
	for _, s := range []string{evidence.SourceEvents, evidence.SourcePods, evidence.SourceSpecs, evidence.SourceScaling, evidence.SourceNodes} {
		f.partial[s] = true
	}
}
