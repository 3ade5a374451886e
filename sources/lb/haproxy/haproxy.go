// Package haproxy reads what HAProxy says about its servers: the CSV of `show stat` and of the statistics page, `show
// servers state`, and the lines of its log about health checks and changes of state.
//
// The idea: HAProxy names the layer at which a check failed (L4CON refused or unreachable, L4TOUT no answer to the
// connection, L7TOUT connected but no answer, L7STS a wrong status), which a kubelet's message often cannot. The package
// keeps that name as the reason and draws no conclusion from it.
package haproxy

import (
	"encoding/csv"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/probedoctor/probedoctor/sources/evidence"
)

const balancer = "haproxy"

// Reader reads the output of `show stat` and `show servers state` line by line.
type Reader struct {
	set  *evidence.Set
	base evidence.Item
	// columns are those of the last header; names in CSV, in blanks-separated lines when words is true.
	columns map[string]int
	words   bool
	// checks are the limits that were told already: servers of a backend mostly share them.
	checks map[evidence.HealthCheck]bool
}

// NewReader makes a reader that appends to the set; base says where the text was read.
func NewReader(base evidence.Item, set *evidence.Set) *Reader {
	base.Source = balancer
	return &Reader{set: set, base: base, checks: map[evidence.HealthCheck]bool{}}
}

// ErrRow says that a row below a header has not the header's columns.
var ErrRow = errors.New("a row of HAProxy's table that lacks the columns of its heading")

// Line takes the line n and says whether it belongs to a table; err names what was wrong with a row that does.
func (r *Reader) Line(n int, s string) (taken bool, err error) {
	s = strings.TrimSpace(s)
	if names, ok := strings.CutPrefix(s, "# "); ok {
		switch {
		case strings.HasPrefix(names, "pxname,svname,"):
			r.heading(strings.Split(names, ","), false)
		case strings.HasPrefix(names, "be_id be_name srv_id "):
			r.heading(strings.Fields(names), true)
		default:
			return false, nil
		}
		return true, nil
	}
	if r.columns == nil || s == "" {
		return false, nil
	}
	var cells []string
	if r.words {
		cells = strings.Fields(s)
		if len(cells) < 10 || !number(cells[0]) {
			return false, nil
		}
		return true, r.state(n, cells)
	}
	c := csv.NewReader(strings.NewReader(s))
	c.LazyQuotes, c.FieldsPerRecord = true, -1
	cells, err = c.Read()
	if err != nil || len(cells) < 18 {
		if err != nil && strings.Count(s, ",") >= 18 {
			return true, ErrRow
		}
		return false, nil
	}
	return true, r.stat(n, cells)
}

func (r *Reader) heading(names []string, words bool) {
	r.columns, r.words = make(map[string]int, len(names)), words
	for i, name := range names {
		if _, ok := r.columns[name]; !ok && i < 400 {
			r.columns[name] = i
		}
	}
}

// stat reads a row of `show stat`. Rows of frontends and the sums of backends are no targets.
func (r *Reader) stat(n int, cells []string) error {
	cell := r.cell(cells)
	server := cell("svname")
	if server == "FRONTEND" || server == "BACKEND" || cell("type") != "" && cell("type") != "2" {
		return nil
	}
	status := cell("status")
	if server == "" || status == "" {
		return ErrRow
	}
	t := evidence.Target{Item: r.base, Balancer: balancer, Group: cell("pxname"), ID: server}
	t.Line = n
	t.State = State(status)
	// The asterisk says that a check is running; the code is that of the check before.
	t.Reason = strings.TrimPrefix(cell("check_status"), "* ")
	if code, err := strconv.Atoi(cell("check_code")); err == nil && code >= 100 && code <= 599 {
		t.Codes = []int{code}
	}
	t.Description = cell("check_desc")
	if last := cell("last_chk"); last != "" {
		if t.Description != "" {
			t.Description += ": "
		}
		t.Description += last
	}
	if _, port, ok := splitAddress(cell("addr")); ok {
		t.Port = port
	}
	if t.State == "healthy" && t.Reason == "" {
		// "no check": nobody knows.
		t.State = "unknown"
	}
	if ago, err := strconv.ParseInt(cell("lastchg"), 10, 64); err == nil && ago >= 0 && ago < maxAgo {
		t.Since = since(r.base.Observed, ago)
	}
	words := []string{status, t.Reason}
	if ms := cell("check_duration"); number(ms) {
		words = append(words, "check took "+ms+" ms")
	}
	words = append(words, t.Description)
	r.add(t, words)
	r.limits(n, t.Group, cell("check_rise"), cell("check_fall"))
	return nil
}

// limits adds a backend's rise and fall, the only settings of its checks that the statistics have.
func (r *Reader) limits(n int, group, rise, fall string) {
	up, err1 := strconv.Atoi(rise)
	down, err2 := strconv.Atoi(fall)
	if err1 != nil || err2 != nil || up < 1 || down < 1 {
		return
	}
	h := evidence.HealthCheck{Balancer: balancer, Group: group, HealthyThreshold: up, UnhealthyThreshold: down}
	if r.checks[h] {
		return
	}
	r.checks[h] = true
	h.Item = r.base
	h.Line, h.Locator = n, group
	h.Excerpt = "backend " + group + ": rise " + rise + ", fall " + fall
	r.set.HealthChecks = append(r.set.HealthChecks, h)
}

// maxAgo is the longest age that is believed, in seconds: ten years.
const maxAgo = 10 * 366 * 24 * 3600

// since is the moment ago seconds before the table was printed.
func since(observed time.Time, ago int64) time.Time {
	d := time.Duration(ago) * time.Second
	if observed.IsZero() {
		return evidence.Ago(d)
	}
	return observed.Add(-d)
}

// state reads a row of `show servers state`, version 1 (HAProxy management guide, 9.3).
func (r *Reader) state(n int, cells []string) error {
	cell := r.cell(cells)
	op, err1 := strconv.Atoi(cell("srv_op_state"))
	admin, err2 := strconv.ParseUint(cell("srv_admin_state"), 0, 16)
	if err1 != nil || err2 != nil || cell("srv_name") == "" || op < 0 || op > 3 {
		return ErrRow
	}
	const (
		maintenance = 0x01 | 0x02 | 0x04 | 0x20 | 0x40
		drain       = 0x08 | 0x10
	)
	t := evidence.Target{Item: r.base, Balancer: balancer, Group: cell("be_name"), ID: cell("srv_name")}
	t.Line = n
	t.Port = cell("srv_port")
	if p := cell("srv_check_port"); p != "" && p != "0" {
		t.CheckPort = p
	}
	ops := []string{"stopped", "starting", "running", "stopping"}[op]
	switch {
	case admin&maintenance != 0:
		t.State, t.Description = "unused", "maintenance"
	case admin&drain != 0 || op == 3:
		t.State, t.Description = "draining", "draining"
	case op == 0:
		t.State = "unhealthy"
	case op == 1:
		t.State = "initial"
	default:
		t.State = "healthy"
	}
	if result, err := strconv.Atoi(cell("srv_check_result")); err == nil && result >= 0 && result <= 4 {
		words := []string{"check unknown", "check neutral", "check failed", "check passed", "check conditionally passed"}
		if t.Description == "" {
			t.Description = words[result]
		}
	}
	if s, err := strconv.Atoi(cell("srv_check_status")); err == nil {
		t.Reason = checkStatus(s)
	}
	if ago, err := strconv.ParseInt(cell("srv_time_since_last_change"), 10, 64); err == nil && ago >= 0 && ago < maxAgo {
		t.Since = since(r.base.Observed, ago)
	}
	r.add(t, []string{ops, t.Reason, t.Description})
	return nil
}

// checkStatus names the numbers of `show servers state`: enum healthcheck_status of HAProxy's include/haproxy/check-t.h,
// HCHK_STATUS_UNKNOWN being 0.
func checkStatus(n int) string {
	names := []string{
		"UNK", "INI", "", "", "HANA", "SOCKERR", "L4OK", "L4TOUT", "L4CON", "L6OK", "L6TOUT", "L6RSP", "L7TOUT", "L7RSP", "",
		"L7OK", "L7OKC", "L7STS", "PROCERR", "PROCTOUT", "PROCOK",
	}
	if n < 0 || n >= len(names) {
		return ""
	}
	return names[n]
}

func (r *Reader) cell(cells []string) func(string) string {
	return func(name string) string {
		i, ok := r.columns[name]
		if !ok || i >= len(cells) || cells[i] == "-" {
			return ""
		}
		return strings.TrimSpace(cells[i])
	}
}

func (r *Reader) add(t evidence.Target, words []string) {
	t.Locator = t.Group + "/" + t.ID
	words = slices.DeleteFunc(append([]string{t.Locator}, words...), func(s string) bool { return s == "" })
	t.Excerpt = strings.Join(words, " ")
	r.set.Targets = append(r.set.Targets, t)
}

// State maps the status column ("UP", "DOWN 1/2", "MAINT (via be/x)", "no check") to the states of evidence.Target. "UP 1/3"
// is up and going down, "DOWN 1/2" down and going up: what counts is whether the server gets traffic.
func State(status string) string {
	word, _, _ := strings.Cut(status, " ")
	switch word {
	case "UP":
		return "healthy"
	case "DOWN":
		return "unhealthy"
	case "NOLB", "DRAIN":
		return "draining"
	case "MAINT":
		return "unused"
	}
	return "unknown"
}

// LogLine reads the text of a log message about a server, without the time and program before it:
//
//	Health check for server be/x failed, reason: Layer7 timeout, check duration: 1001ms, status: 0/2 DOWN.
//	Server be/x is DOWN, reason: Layer4 connection problem, info: "Connection refused", check duration: 0ms. 1 active …
//
// at is the time of the message, zero when not known.
func LogLine(s string, at time.Time, base evidence.Item) (evidence.Target, bool) {
	s = strings.TrimSpace(s)
	t := evidence.Target{Item: base, Balancer: balancer, Since: at}
	rest, isCheck := strings.CutPrefix(s, "Health check for ")
	if isCheck {
		rest = strings.TrimPrefix(rest, "backup ")
		rest = strings.TrimPrefix(rest, "server ")
	} else {
		rest = s
		for _, p := range []string{"[WARNING] ", "[ALERT] ", "Backup "} {
			rest = strings.TrimPrefix(rest, p)
		}
		var ok bool
		if rest, ok = strings.CutPrefix(rest, "Server "); !ok {
			if rest, ok = strings.CutPrefix(rest, "server "); !ok {
				return t, false
			}
		}
	}
	name, rest, _ := strings.Cut(rest, " ")
	group, id, ok := strings.Cut(name, "/")
	if !ok || group == "" || id == "" {
		return t, false
	}
	t.Group, t.ID = group, id
	_, detail, _ := strings.Cut(rest, "reason: ")
	reason, detail, _ := strings.Cut(detail, ", ")
	t.Reason = checkName(strings.TrimSuffix(reason, "."))
	t.Description = strings.TrimSuffix(reason, ".")
	if _, c, ok := strings.Cut(detail, "code: "); ok {
		c, _, _ = strings.Cut(c, ",")
		if n, err := strconv.Atoi(strings.TrimRight(c, ". ")); err == nil && n >= 100 && n <= 599 {
			t.Codes = []int{n}
		}
	}
	if _, info, ok := strings.Cut(detail, `info: "`); ok {
		if info, _, ok = strings.Cut(info, `"`); ok {
			t.Description += ": " + info
		}
	}
	if isCheck {
		_, status, ok := strings.Cut(detail, "status: ")
		words := strings.Fields(strings.TrimSuffix(status, "."))
		if !ok || len(words) == 0 {
			return t, false
		}
		t.State = State(words[len(words)-1])
	} else {
		verb, state, _ := strings.Cut(rest, " ")
		if verb != "is" && verb != "was" {
			return t, false
		}
		state = strings.TrimPrefix(state, "going ")
		word := state
		if i := strings.IndexAny(word, " .,"); i >= 0 {
			word = word[:i]
		}
		t.State = State(word)
	}
	if t.State == "unknown" {
		return t, false
	}
	t.Source, t.Locator, t.Excerpt = balancer, name, s
	return t, true
}

// checkName gives the code that `show stat` prints for the words of the log (HAProxy src/check.c, get_check_status_info).
func checkName(s string) string {
	switch s {
	case "Layer4 check passed":
		return "L4OK"
	case "Layer4 timeout":
		return "L4TOUT"
	case "Layer4 connection problem":
		return "L4CON"
	case "Layer6 check passed":
		return "L6OK"
	case "Layer6 timeout":
		return "L6TOUT"
	case "Layer6 invalid response":
		return "L6RSP"
	case "Layer7 check passed":
		return "L7OK"
	case "Layer7 check conditionally passed":
		return "L7OKC"
	case "Layer7 timeout":
		return "L7TOUT"
	case "Layer7 invalid response":
		return "L7RSP"
	case "Layer7 wrong status":
		return "L7STS"
	case "Socket error":
		return "SOCKERR"
	case "External check error":
		return "PROCERR"
	case "External check timeout":
		return "PROCTOUT"
	case "External check passed":
		return "PROCOK"
	case "Health analyze":
		return "HANA"
	}
	return ""
}

func splitAddress(s string) (host, port string, ok bool) {
	i := strings.LastIndexByte(s, ':')
	if i < 0 || !number(s[i+1:]) {
		return "", "", false
	}
	return s[:i], s[i+1:], true
}

func number(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }
