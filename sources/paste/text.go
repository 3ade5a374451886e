package paste

import (
	"cmp"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/probedoctor/probedoctor/sources/evidence"
)

const (
	maxExcerpt = 400
	// maxMessage bounds the text of one event or log record, in bytes; events of the API hold 1 kB.
	maxMessage = 4 << 10
	// maxContinuation bounds how many lines may follow a row.
	maxContinuation = 64
	// maxComplaints bounds how many unreadable rows of a file are named one by one.
	maxComplaints = 20
)

// text reads free text line by line. It holds what the lines before said about the lines to come: the command that was
// typed, the object that is described, the columns of the table.
type text struct {
	file       string
	set        *evidence.Set
	structured func(firstLine int, block string) bool
	undress    undresser

	n   int    // line being read
	raw string // the line under its decoration, for excerpts

	about command // the last command; its zero when none was seen
	named evidence.Object
	// row is the event that further lines may belong to.
	row       evidence.Event
	rowOpen   bool
	rowIndent int
	rowLines  int
	described bool // the row has the cells of a description, which has no column for the object
	rowNamed  bool // the row, or its message, names its object
	rowTable  bool // the row has cells: it stands in a table

	placed     []place
	group      int  // number of the events table in the text
	inEvents   bool // below an "Events:" line or an events header
	table      *table
	doc        *description
	block      *block
	fence      bool // inside a fence of Markdown
	replay     bool // the lines of a block are read again, one by one
	pieces     *fragment
	web        *exchange
	prom       *expositionReader
	machines   *tables
	alert      *alert
	logs       bool // the lines are those of a log
	recordAt   int  // number of the last line that was a record
	openLog    bool // whether a stack trace may be added to the last log line
	traced     int  // lines of it that were added
	complaints int
	commas     int // how many commas the header of the table had whose rows have them between their cells; 0 outside
	from       marks
	seen       struct{ pods, workloads int } // up to where adopt has looked
}

// marks are the lengths of the set's slices when the text began.
type marks struct{ events, pods, logs, requests int }

// newTextReader makes the reader of free text. structured is given blocks of JSON or YAML that stand in the text; it says
// whether it could read them.
func newTextReader(file string, set *evidence.Set, structured func(firstLine int, block string) bool) textSink {
	t := &text{file: file, set: set, structured: structured}
	t.undress.emit = t.read
	t.from = marks{len(set.Events), len(set.Pods), len(set.Logs), len(set.Requests)}
	t.seen.pods, t.seen.workloads = len(set.Pods), len(set.Workloads)
	return t
}

func (t *text) line(n int, s string) {
	t.adopt()
	t.undress.line(n, s)
}

// adopt gives a name to the pieces of pods and workloads that were read as JSON or YAML below a command which names them.
func (t *text) adopt() {
	pods, workloads := t.set.Pods, t.set.Workloads
	for ; t.seen.pods < len(pods); t.seen.pods++ {
		if p := &pods[t.seen.pods]; t.adopts(&p.Object) {
			p.Locator = objectLocator("pod", p.Object)
		}
	}
	for ; t.seen.workloads < len(workloads); t.seen.workloads++ {
		if w := &workloads[t.seen.workloads]; t.adopts(&w.Object) {
			w.Locator = objectLocator(strings.ToLower(w.Object.Kind), w.Object)
		}
	}
}

func (t *text) adopts(o *evidence.Object) bool {
	c := t.about
	if o.Name != "" || c.verb != "get" || c.name == "" || o.Kind != c.kind && (o.Kind != "" || c.kind == "Pod") {
		return false
	}
	o.Kind, o.Name, o.Namespace = c.kind, c.name, cmp.Or(o.Namespace, c.namespace)
	return true
}

func (t *text) close() {
	t.adopt()
	t.undress.flush()
	t.endBlock()
	t.endSection()
	t.endDescription()
	if t.prom != nil {
		t.prom.close()
		t.prom = nil
	}
	if t.machines != nil {
		t.machines.close()
		t.machines = nil
	}
	if t.from.requests < len(t.set.Requests) {
		settleDurations(t.set.Requests[t.from.requests:])
	}
	if t.complaints > maxComplaints {
		t.cover(evidence.CoveragePartial, "", t.complaints-maxComplaints)
	}
	t.shareNames()
	t.fillNamespaces()
}

// read takes one line that is free of decoration.
func (t *text) read(n int, s string) {
	t.n, t.raw = n, s
	s = strings.TrimRight(s, " \t")
	trimmed := strings.TrimSpace(s)
	if t.block != nil && t.inBlock(n, s, trimmed) {
		return
	}
	switch {
	case trimmed == "":
		t.blank()
		return
	case strings.HasPrefix(trimmed, "```"):
		t.closeRow()
		if t.fence = !t.fence; !t.fence {
			// What a fence showed ends with it; the command for the next one may stand before that.
			t.endSection()
			t.endDescription()
			t.about = command{}
		}
		return
	case elision(trimmed):
		t.closeRow()
		if t.doc != nil {
			t.doc.elide()
		}
		return
	}
	if t.prompt(trimmed) {
		t.commas = 0
		return
	}
	if cells, ok := t.commaRow(trimmed); ok {
		s, trimmed = cells, cells
	}
	t.recognise(s, trimmed)
}

// commaHead is the header of one of kubectl's tables whose spaces somebody's script replaced by commas.
var commaHead = regexp.MustCompile(`^(?:NAMESPACE,)?(?:NAME|LAST SEEN),(?:[A-Z][-A-Z0-9 %_/:]*(?:\(cores\)|\(bytes\)|\([A-Z]+\))?,)+[A-Z0-9 ()a-z%_,/-]*$`)

// commaRow gives the header or a row of such a table with spaces between the cells. The table ends with a blank line, a
// command, or a line that has no commas or more of them than the header.
func (t *text) commaRow(s string) (string, bool) {
	n := strings.Count(s, ",")
	switch {
	case (s[0] == 'N' || s[0] == 'L') && commaHead.MatchString(s):
		t.commas = n
	case n < 2 || n > t.commas:
		t.commas = 0
	}
	if t.commas == 0 {
		return s, false
	}
	return strings.TrimSpace(strings.ReplaceAll(s, ",", "   ")), true
}

// recognise asks one format after the other; the first that knows the line takes it. What is unmistakable comes first, and
// what may be part of something longer comes after the check whether it continues the row above.
func (t *text) recognise(s, trimmed string) {
	if t.recordAt > 0 && t.n == t.recordAt+1 && plainRecord(trimmed) && t.logRecord(s, trimmed) {
		return
	}
	_ = t.prefixedLog(s, trimmed) ||
		t.balancerLine(s, trimmed) ||
		t.eventRow(s, trimmed) ||
		t.tableLine(s, trimmed) ||
		t.nodeLine(s, trimmed) ||
		t.strongMessage(s, trimmed) ||
		t.continuation(s, trimmed) ||
		t.structuredStart(s, trimmed) ||
		t.counter(s, trimmed) ||
		t.describeLine(s, trimmed) ||
		t.expositionLine(s, trimmed) ||
		t.webLine(s, trimmed) ||
		t.socketLine(s, trimmed) ||
		t.stateLine(s, trimmed) ||
		!t.logs && t.weakMessage(s, trimmed) ||
		t.logRecord(s, trimmed) ||
		t.podRow(s, trimmed) ||
		t.topRow(s, trimmed) ||
		t.scalerRow(s, trimmed) ||
		t.alertLine(s, trimmed) ||
		t.weakMessage(s, trimmed) ||
		t.quotedMessage(s, trimmed) ||
		t.loose(s, trimmed)
}

// plainRecord tells whether the line, which stands below a record of a log, can be nothing but another one. A log may have
// a million lines, so they do not go through all the questions.
func plainRecord(s string) bool {
	if c := s[0]; c != '{' && c != '[' && (c < '0' || c > '9') {
		return false
	}
	if containsAny(s, "robe ", "Warning", "Normal", "Killing", "kernel", "kubelet", "containerd", "[pod/") {
		return false
	}
	return s[0] != '{' || !signed([]byte(s))
}

// blank ends what a blank line ends: the row, a table without a header to come back to, an HTTP answer.
func (t *text) blank() {
	t.closeRow()
	t.endPieces()
	t.openLog, t.commas = false, 0
	if t.web != nil {
		t.web.blank(t)
	}
}

// endSection closes what a new command or the end of the text closes.
func (t *text) endSection() {
	t.closeRow()
	t.endPieces()
	t.endExchange()
	t.endAlert()
	t.table, t.inEvents, t.logs, t.openLog = nil, false, false, false
	t.group++
}

// prompt reads a line with a shell prompt.
func (t *text) prompt(trimmed string) bool {
	host, line, ok := cutPrompt(trimmed)
	if !ok {
		return false
	}
	t.endSection()
	t.endDescription()
	if line == "" {
		t.about = command{}
		return true
	}
	t.about = parseCommand(line)
	t.about.host = host
	if t.about.inner != "" {
		pod := t.about
		t.about.tool, _ = knownCommand(t.about.inner)
		t.about.args = pod.inner
	}
	switch {
	case t.about.verb == "log":
		t.logs = true
	case curlWord.MatchString(t.about.args):
		t.startExchange(t.about.args)
	}
	return true
}

// object is the object that the lines are about, as far as the command or the description names it.
func (t *text) object(kind string) evidence.Object {
	o := evidence.Object{Kind: kind, Namespace: t.about.namespace}
	if t.about.kind == kind {
		o.Name = t.about.name
	}
	if t.doc != nil && t.doc.object().Kind == kind {
		d := t.doc.object()
		o.Name, o.Namespace = d.Name, cmp.Or(d.Namespace, o.Namespace)
	}
	return o
}

// item makes the common part of an item that was read from the line n.
func (t *text) item(source, locator string, n int, raw string) evidence.Item {
	return evidence.Item{Source: source, Locator: locator, File: t.file, Line: n, Excerpt: excerpt(raw)}
}

// excerpt is the text that is shown for an item, bounded.
func excerpt(raw string) string {
	raw = strings.TrimSpace(raw)
	if len(raw) <= maxExcerpt {
		return raw
	}
	cut := maxExcerpt
	for cut > 0 && !utf8.RuneStart(raw[cut]) {
		cut--
	}
	return raw[:cut]
}

// structuredStart begins a block of JSON or YAML.
func (t *text) structuredStart(s, trimmed string) bool {
	if t.replay {
		return false
	}
	if resources.MatchString(trimmed) && t.about.name != "" && t.resourceJSON(trimmed) {
		return true
	}
	b := startBlock(t.n, s, trimmed)
	if b == nil {
		return false
	}
	if b.done() && t.web == nil && !signed([]byte(trimmed)) && t.logRecord(s, trimmed) {
		return true
	}
	t.closeRow()
	t.block = b
	if b.done() {
		t.endBlock()
	}
	return true
}

// inBlock gives the line to the open block; false says that the block has ended before it.
func (t *text) inBlock(n int, s, trimmed string) bool {
	_, _, prompt := cutPrompt(trimmed)
	if (prompt && !t.block.yamlComment(trimmed)) || strings.HasPrefix(trimmed, "```") || !t.block.add(s, trimmed) {
		t.endBlock()
		t.n, t.raw = n, s
		return false
	}
	if t.block.done() {
		t.endBlock()
	}
	return true
}

// endBlock gives the block away. What the reader of structured text does not know is read line by line after all.
func (t *text) endBlock() {
	b := t.block
	if b == nil {
		return
	}
	t.block = nil
	text := b.text()
	if !strings.ContainsFunc(text, unicode.IsLetter) {
		return // brackets and numbers tell of nothing, however many there are
	}
	if t.webBody(b.first, text) || t.conditionsBlock(b.first, text) || b.json && b.size < maxJoined && t.jsonEvent(strings.Join(b.lines, " ")) {
		return
	}
	if t.structured != nil && t.structured(b.first, text) {
		return
	}
	t.replay = true
	for i, s := range strings.Split(text, "\n") {
		t.n, t.raw = b.first+i, s
		s = strings.TrimRight(s, " \t")
		trimmed := strings.TrimSpace(s)
		if trimmed == "" || elision(trimmed) {
			continue
		}
		t.recognise(s, trimmed)
	}
	t.replay = false
}

// complain records a row that looks like evidence and could not be read.
func (t *text) complain(why string) {
	t.complaints++
	if t.complaints <= maxComplaints {
		t.cover(evidence.CoveragePartial, why, 0)
	}
}

func (t *text) dropped(n marks) {
	t.from.events = max(t.from.events-n.events, 0)
	t.from.logs = max(t.from.logs-n.logs, 0)
	t.from.requests = max(t.from.requests-n.requests, 0)
}

// fillNamespaces gives the events and logs of this text the namespace of their pod where another line of it names both.
func (t *text) fillNamespaces() {
	known := map[string]string{}
	learn := func(o evidence.Object) {
		if o.Kind != "Pod" || o.Name == "" || o.Namespace == "" {
			return
		}
		if ns, ok := known[o.Name]; ok && ns != o.Namespace {
			known[o.Name] = "" // the same name in two namespaces
			return
		}
		known[o.Name] = o.Namespace
	}
	fill := func(o *evidence.Object) {
		if o.Kind == "Pod" && o.Namespace == "" {
			o.Namespace = known[o.Name]
		}
	}
	events, pods, logs := t.set.Events[t.from.events:], t.set.Pods[t.from.pods:], t.set.Logs[t.from.logs:]
	for i := range events {
		learn(events[i].Object)
	}
	for i := range pods {
		learn(pods[i].Object)
	}
	for i := range events {
		fill(&events[i].Object)
		if events[i].Name == "" { // those of a JSON or YAML block have their object's own name
			events[i].Locator = eventLocator(events[i])
		}
	}
	for i := range pods {
		if p := &pods[i]; p.Source != "kubernetes" {
			fill(&p.Object)
		}
	}
	for i := range logs {
		fill(&logs[i].Object)
	}
}
