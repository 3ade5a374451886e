package paste

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/probedoctor/probedoctor/sources/evidence"
)

// tableKind is what the rows of a table are.
type tableKind string

const (
	tableEvents     tableKind = "events"
	tablePods       tableKind = "pods"
	tablePodColumns tableKind = "pod columns" // custom columns about pods
	tableWorkloads  tableKind = "workloads"
	tableScalers    tableKind = "autoscalers"
	tableNodes      tableKind = "nodes"
	tableEndpoints  tableKind = "endpoints"
	tableServices   tableKind = "services"
	tableTop        tableKind = "top"
	tableSockets    tableKind = "sockets"
	tableOther      tableKind = "other"
)

// table is the header of a table whose rows follow.
type table struct {
	kind   tableKind
	object string // the API kind of the rows, where the columns or the command tell
	cols   []column
	named  bool // the columns are in an order of their own, so rows must be read by the header
}

type column struct {
	name  string // upper case
	start int    // byte offset in the header, -1 when the blanks were collapsed
}

// leadingColumns are names that no column of two words begins with: where such a name and another stand one blank apart,
// the blanks of the header were collapsed.
var leadingColumns = map[string]bool{
	"NAME": true, "READY": true, "STATUS": true, "RESTARTS": true, "AGE": true, "TYPE": true, "REASON": true, "OBJECT": true,
	"MESSAGE": true, "NAMESPACE": true, "IP": true, "DESIRED": true, "CURRENT": true, "AVAILABLE": true, "UP-TO-DATE": true,
	"REFERENCE": true, "TARGETS": true, "MINPODS": true, "MAXPODS": true, "REPLICAS": true, "COUNT": true, "KIND": true,
	"SEEN": true, "ROLES": true, "ENDPOINTS": true, "CLUSTER-IP": true, "EXIT": true, "SUBOBJECT": true, "SOURCE": true, "TIME": true,
}

// twoWords are column names with a blank inside, which a header with collapsed blanks does not show.
var twoWords = map[string]bool{
	"LAST SEEN": true, "FIRST SEEN": true, "NOMINATED NODE": true, "READINESS GATES": true, "NODE SELECTOR": true,
	"LAST RESTART": true, "CONTAINER RUNTIME": true,
}

var (
	columnName = regexp.MustCompile(`^[A-Z][A-Z0-9_()%./:-]*(?: [A-Z][A-Z0-9_()%./:-]*)*$`)
	cellGap    = regexp.MustCompile(`\t+ *| {2,}\t*`)
)

// headerLine reads the header of a table; nil when s is none.
func headerLine(s string) *table {
	trimmed := strings.TrimSpace(s)
	if len(trimmed) > 1000 || trimmed == "" || trimmed[0] < 'A' || trimmed[0] > 'Z' || strings.ToUpper(trimmed) != trimmed && !strings.Contains(trimmed, "CPU(cores)") && !strings.HasPrefix(trimmed, "Type") {
		return nil
	}
	if f := strings.Fields(trimmed); len(f) >= 4 && f[0] == "Type" && f[1] == "Reason" {
		return &table{kind: tableEvents}
	}
	upper := strings.ToUpper(s)
	var cols []column
	offset := len(upper) - len(strings.TrimLeft(upper, " \t"))
	cells := cellGap.Split(strings.TrimSpace(upper), -1)
	if len(cells) > 1 {
		at := offset
		for _, c := range cells {
			i := strings.Index(upper[at:], c)
			if !columnName.MatchString(c) || i < 0 {
				return nil
			}
			cols = append(cols, column{c, at + i})
			at += i + len(c)
		}
	}
	// A header whose blanks were collapsed, wholly or in part (LAST SEEN is one column, NAME READY are two).
	if words := strings.Fields(upper); len(cols) < 2 || slices.ContainsFunc(cols, collapsed) {
		cols = nil
		for i := 0; i < len(words); i++ {
			w := words[i]
			if i+1 < len(words) && twoWords[w+" "+words[i+1]] {
				w += " " + words[i+1]
				i++
			}
			if !columnName.MatchString(w) {
				return nil
			}
			cols = append(cols, column{w, -1})
		}
	}
	if len(cols) < 2 {
		return nil
	}
	t := &table{cols: cols}
	t.classify()
	if t.kind == "" {
		return nil
	}
	return t
}

// collapsed tells whether the column is really two, whose blanks were collapsed to one.
func collapsed(c column) bool {
	first, _, two := strings.Cut(c.name, " ")
	return two && !twoWords[c.name] && (leadingColumns[first] || strings.Count(c.name, " ") > 1)
}

func (t *table) has(names ...string) bool {
	return slices.ContainsFunc(t.cols, func(c column) bool { return slices.Contains(names, c.name) })
}

// classify tells from its columns what a table is.
func (t *table) classify() {
	switch {
	case t.has("MESSAGE", "MSG", "NOTE") && (t.has("REASON", "TYPE", "LAST SEEN", "LASTSEEN")):
		t.kind = tableEvents
		last := t.cols[len(t.cols)-1].name
		t.named = last != "MESSAGE" && last != "MSG" && !t.has("FIRST SEEN") && t.cols[0].start >= 0
	case !t.has("NAME", "POD", "NAMESPACE"):
	case t.has("CPU(CORES)", "MEMORY(BYTES)"):
		t.kind = tableTop
	case t.has("READY") && t.has("STATUS") && t.has("RESTARTS"):
		t.kind, t.object = tablePods, "Pod"
	case t.has("REFERENCE") && t.has("MINPODS", "MAXPODS", "REPLICAS"):
		t.kind, t.object = tableScalers, "HorizontalPodAutoscaler"
	case t.has("UP-TO-DATE") && t.has("NODE SELECTOR", "NODE-SELECTOR"):
		t.kind, t.object = tableWorkloads, "DaemonSet"
	case t.has("UP-TO-DATE"):
		t.kind, t.object = tableWorkloads, "Deployment"
	case t.has("DESIRED") && t.has("CURRENT"):
		t.kind, t.object = tableWorkloads, "ReplicaSet"
	case t.has("ROLES", "VERSION") && t.has("STATUS"):
		t.kind, t.object = tableNodes, "Node"
	case t.has("ENDPOINTS"):
		t.kind, t.object = tableEndpoints, "Endpoints"
		if t.has("ADDRESSTYPE") {
			t.object = "EndpointSlice"
		}
	case t.has("CLUSTER-IP"):
		t.kind, t.object = tableServices, "Service"
	case t.has("READY") && t.has("AGE") && len(t.cols) <= 6:
		t.kind, t.object = tableWorkloads, "StatefulSet"
	case t.has("RESTARTS", "EXIT", "EXITCODE", "EXIT_CODE", "EXIT-CODE", "RESTARTCOUNT", "STATUS", "PHASE", "REASON"):
		t.kind, t.object = tablePodColumns, "Pod"
	default:
		t.kind = tableOther
	}
}

// cells splits a row by the header's columns. ok is false when the row does not fit.
func (t *table) cells(s string) (map[string]string, bool) {
	if len(t.cols) == 0 {
		return nil, false
	}
	split := t.slice(s)
	if split == nil {
		split = cellGap.Split(strings.TrimSpace(s), -1)
	}
	if len(split) != len(t.cols) {
		// RESTARTS may hold "3 (58s ago)", TARGETS "12% / 50%": join what belongs together, then try the plain words.
		split = strings.Fields(joinAgo.ReplaceAllString(s, "${1}\u00a0($2\u00a0ago)"))
	}
	if len(split) != len(t.cols) {
		return nil, false
	}
	m := make(map[string]string, len(split))
	for i, c := range t.cols {
		m[c.name] = strings.TrimSpace(strings.ReplaceAll(split[i], "\u00a0", " "))
	}
	return m, true
}

var joinAgo = regexp.MustCompile(`(\d+) \((\S+) ago\)`)

// slice cuts the row where the header's columns begin; nil when a word crosses such a place.
func (t *table) slice(s string) []string {
	var out []string
	for i, c := range t.cols {
		end := len(s)
		if i+1 < len(t.cols) {
			end = t.cols[i+1].start
		}
		if c.start < 0 || c.start > len(s) || end > len(s) {
			return nil
		}
		if c.start > 0 && s[c.start-1] != ' ' {
			return nil
		}
		if i == 0 && strings.TrimSpace(s[:c.start]) != "" {
			return nil
		}
		cell := strings.TrimSpace(s[c.start:end])
		if cell == "" {
			return nil
		}
		out = append(out, cell)
	}
	return out
}

// event reads a row of an events table whose columns somebody chose.
func (t *table) event(s string) (evidence.Event, bool) {
	cells, ok := t.cells(s)
	if !ok {
		return evidence.Event{}, false
	}
	c := eventCells{}
	message := ""
	for _, col := range t.cols {
		v := cells[col.name]
		switch col.name {
		case "MESSAGE", "MSG", "NOTE":
			message = v
		case "REASON":
			c.Reason = canonicalReason(v)
		case "TYPE":
			c.Type = v
		case "COUNT":
			if n, err := strconv.Atoi(v); err == nil && n > 0 {
				c.Count, c.counted = n, true
			}
		case "NAMESPACE":
			c.Object.Namespace = v
		case "KIND":
			c.Object.Kind = apiKind(v)
		case "NAME", "OBJECT", "POD":
			if kind, name, ok := strings.Cut(v, "/"); ok {
				c.Object.Kind, c.Object.Name = apiKind(kind), name
			} else {
				c.Object.Name = v
			}
		case "SOURCE", "COMPONENT", "REPORTER", "FROM":
			c.Component, c.source = v, true
		case "TIME", "LAST", "LAST SEEN", "LASTSEEN", "FIRST", "FIRST SEEN", "FIRSTSEEN", "AGE":
			n, counted := c.Count, c.counted
			if at, _, ok := cutDate(v); ok {
				c.time(span{first: at, last: at, count: 1})
			} else if sp, _, ok := cutSpan(v); ok {
				c.time(sp)
			} else {
				return evidence.Event{}, false
			}
			if counted {
				c.Count, c.counted = n, true
			}
		}
	}
	if c.Reason == "" && message == "" {
		return evidence.Event{}, false
	}
	c.finish(message)
	return c.Event, true
}

// tableLine reads the header of a table or a row below one.
func (t *text) tableLine(s, trimmed string) bool {
	if h := headerLine(s); h != nil {
		t.closeRow()
		if h.object == "ReplicaSet" || h.object == "StatefulSet" {
			// The columns fit several kinds; the command says which.
			if k := t.about.kind; k == "DaemonSet" || k == "ReplicationController" || k == "StatefulSet" || k == "DeploymentConfig" {
				h.object = k
			}
		}
		t.table, t.inEvents = h, h.kind == tableEvents
		if h.cols != nil {
			t.group++
		}
		if h.kind != tableEvents {
			t.endDescription()
		}
		return true
	}
	if t.table == nil || t.rowOpen {
		return false
	}
	switch t.table.kind {
	case tablePods:
		return t.podRow(s, trimmed) || t.unreadRow(s, trimmed)
	case tablePodColumns:
		return t.podColumns(s)
	case tableWorkloads:
		return t.podRow(s, trimmed) || t.workloadRow(s) || t.unreadRow(s, trimmed)
	case tableScalers:
		return t.scalerRow(s, trimmed) || t.unreadRow(s, trimmed)
	case tableNodes:
		return t.nodeRow(s) || t.unreadRow(s, trimmed)
	case tableEndpoints:
		return t.endpointsRow(s)
	case tableServices:
		return t.serviceRow(s)
	case tableTop:
		return t.topRow(s, trimmed)
	}
	return false
}

// unreadRow names a row of a known table that could not be read. A line of prose ends the table.
func (t *text) unreadRow(s, trimmed string) bool {
	cells := cellGap.Split(trimmed, -1)
	if len(cells) < 3 || len(cells) < len(t.table.cols)-2 {
		return false
	}
	t.complain("a row of a table of " + string(t.table.kind) + " that does not fit its columns")
	return true
}

// ref splits "pod/x" as `kubectl get all` prints it.
func rowName(s, kind string) (string, string) {
	if k, name, ok := strings.Cut(s, "/"); ok && name != "" {
		return apiKind(k), name
	}
	return kind, s
}

// number reads a count; -1 when the cell has none.
func number(s string) int {
	n, err := strconv.Atoi(strings.TrimSpace(s))
	if err != nil || n < 0 {
		return -1
	}
	return n
}

// fraction reads "2/3".
func fraction(s string) (a, b int, ok bool) {
	x, y, found := strings.Cut(s, "/")
	if !found {
		return 0, 0, false
	}
	a, b = number(x), number(y)
	return a, b, a >= 0 && b >= 0
}
