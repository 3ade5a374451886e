package haproxy

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/probedoctor/probedoctor/sources/evidence"
)

// header is the first part of HAProxy's; the columns behind the last one used are left out.
const header = "# pxname,svname,qcur,qmax,scur,smax,slim,stot,bin,bout,dreq,dresp,ereq,econ,eresp,wretr,wredis,status,weight,act,bck,chkfail,chkdown,lastchg,downtime," +
	"qlimit,pid,iid,sid,throttle,lbtot,tracked,type,rate,rate_lim,rate_max,check_status,check_code,check_duration,hrsp_1xx,hrsp_2xx,hrsp_3xx,hrsp_4xx,hrsp_5xx," +
	"hrsp_other,hanafail,req_rate,req_rate_max,req_tot,cli_abrt,srv_abrt,comp_in,comp_out,comp_byp,comp_rsp,lastsess,last_chk,last_agt,qtime,ctime,rtime,ttime," +
	"agent_status,agent_code,agent_duration,check_desc,agent_desc,check_rise,check_fall,check_health,agent_rise,agent_fall,agent_health,addr,\n"

func row(name, status, check, code, took, last, desc, addr, typ string) string {
	cells := make([]string, 74)
	for i, v := range map[int]string{0: "shop", 1: name, 17: status, 23: "75", 32: typ, 36: check, 37: code, 38: took, 56: last, 65: desc, 67: "2", 68: "3", 73: addr} {
		cells[i] = v
	}
	return strings.Join(cells, ",") + ",\n"
}

func read(text string, base evidence.Item) (evidence.Set, int) {
	var set evidence.Set
	r := NewReader(base, &set)
	n, errs := 0, 0
	for s := range strings.Lines(text) {
		n++
		if _, err := r.Line(n, s); err != nil {
			errs++
		}
	}
	return set, errs
}

type want struct {
	id, state, reason, description string
	codes                          []int
	port                           string
}

func got(set evidence.Set) []want {
	var out []want
	for _, t := range set.Targets {
		out = append(out, want{t.Group + "/" + t.ID, t.State, t.Reason, t.Description, t.Codes, t.Port})
	}
	return out
}

func TestStat(t *testing.T) {
	text := header +
		row("FRONTEND", "OPEN", "", "", "", "", "", "", "0") +
		row("a", "UP", "L7OK", "200", "0", "", "Layer7 check passed", "10.0.0.1:80", "2") + "\n" +
		row("b", "DOWN", "* L7TOUT", "", "1000", "", "Layer7 timeout", "10.0.0.2:80", "2") +
		row("c", "DOWN 1/2", "L7STS", "503", "0", "Service Unavailable", "Layer7 wrong status", "", "2") +
		row("d", "UP 1/3", "L4CON", "", "0", "Connection refused", "Layer4 connection problem", "", "2") +
		row("e", "MAINT (via x/y)", "", "", "", "", "", "", "2") +
		row("f", "no check", "", "", "", "", "", "[fd00::1]:81", "2") +
		row("BACKEND", "UP", "", "", "", "", "", "", "1")
	set, errs := read(text, evidence.Item{File: "s.csv"})
	if errs > 0 {
		t.Errorf("%d errors", errs)
	}
	exp := []want{
		{"shop/a", "healthy", "L7OK", "Layer7 check passed", []int{200}, "80"},
		{"shop/b", "unhealthy", "L7TOUT", "Layer7 timeout", nil, "80"},
		{"shop/c", "unhealthy", "L7STS", "Layer7 wrong status: Service Unavailable", []int{503}, ""},
		{"shop/d", "healthy", "L4CON", "Layer4 connection problem: Connection refused", nil, ""},
		{"shop/e", "unused", "", "", nil, ""},
		{"shop/f", "unknown", "", "", nil, "81"},
	}
	if diff := cmp.Diff(exp, got(set), cmp.AllowUnexported(want{})); diff != "" {
		t.Error(diff)
	}
	if b := set.Targets[1]; b.Excerpt != "shop/b DOWN L7TOUT check took 1000 ms Layer7 timeout" || b.Line != 5 || b.Source != "haproxy" ||
		!b.Since.Equal(evidence.Ago(75*time.Second)) {
		t.Errorf("got %+v", b)
	}
	if h := set.HealthChecks; len(h) != 1 || h[0].HealthyThreshold != 2 || h[0].UnhealthyThreshold != 3 || h[0].Excerpt != "backend shop: rise 2, fall 3" {
		t.Errorf("got %+v", h)
	}
	at := time.Date(2026, 11, 29, 14, 3, 11, 0, time.UTC)
	set, _ = read(text, evidence.Item{Observed: at})
	if !set.Targets[0].Since.Equal(at.Add(-75 * time.Second)) {
		t.Errorf("since %v", set.Targets[0].Since)
	}
}

func TestBrokenRow(t *testing.T) {
	set, errs := read(header+strings.Replace(row("a", "", "", "", "", "", "", "", "2"), ",shop", "", 1)+row("b", "UP", "L4OK", "", "", "", "", "", "2"), evidence.Item{})
	if errs != 1 || len(set.Targets) != 1 {
		t.Errorf("%d errors, %+v", errs, set.Targets)
	}
}

func TestServersState(t *testing.T) {
	set, errs := read(`1
# be_id be_name srv_id srv_name srv_addr srv_op_state srv_admin_state srv_uweight srv_iweight srv_time_since_last_change srv_check_status srv_check_result srv_check_health srv_check_state srv_agent_state bk_f_forced_id srv_f_forced_id srv_fqdn srv_port srvrecord srv_use_ssl srv_check_port srv_check_addr srv_agent_addr srv_agent_port
4 shop 1 a 10.0.0.1 2 0 1 1 7 15 3 3 6 0 0 0 - 8081 - 0 0 - - 0
4 shop 2 b 10.0.0.2 0 0 1 1 5 12 2 0 7 0 0 0 - 8082 - 0 9000 - - 0
4 shop 3 c 10.0.0.3 2 8 1 1 5 15 3 3 6 0 0 0 - 8083 - 0 0 - - 0
4 shop 4 d 10.0.0.4 0 32 1 1 5 1 0 0 14 0 0 0 - 8084 - 0 0 - - 0
4 shop 5 e 10.0.0.5 1 0 1 1 5 8 2 0 6 0 0 0 - 8085 - 0 0 - - 0
4 shop 6 f 10.0.0.6 x 0 1 1 5 8 2 0 6 0 0 0 - 8085 - 0 0 - - 0
`, evidence.Item{})
	exp := []want{
		{"shop/a", "healthy", "L7OK", "check passed", nil, "8081"},
		{"shop/b", "unhealthy", "L7TOUT", "check failed", nil, "8082"},
		{"shop/c", "draining", "L7OK", "draining", nil, "8083"},
		{"shop/d", "unused", "INI", "maintenance", nil, "8084"},
		{"shop/e", "initial", "L4CON", "check failed", nil, "8085"},
	}
	if diff := cmp.Diff(exp, got(set), cmp.AllowUnexported(want{})); diff != "" || errs != 1 {
		t.Error(errs, diff)
	}
	if set.Targets[1].CheckPort != "9000" || set.Targets[0].CheckPort != "" {
		t.Errorf("check ports %q %q", set.Targets[1].CheckPort, set.Targets[0].CheckPort)
	}
}

func TestLogLine(t *testing.T) {
	for _, tt := range []struct {
		line string
		want want
	}{
		{`Health check for server shop/a succeeded, reason: Layer7 check passed, code: 200, check duration: 3ms, status: 2/2 UP.`,
			want{"shop/a", "healthy", "L7OK", "Layer7 check passed", []int{200}, ""}},
		{`Health check for backup server shop/c failed, reason: Layer7 wrong status, code: 503, info: "Service Unavailable", check duration: 0ms, status: 0/2 DOWN.`,
			want{"shop/c", "unhealthy", "L7STS", "Layer7 wrong status: Service Unavailable", []int{503}, ""}},
		{`Health check for server shop/b failed, reason: Layer7 timeout, check duration: 1001ms, status: 1/2 UP.`,
			want{"shop/b", "healthy", "L7TOUT", "Layer7 timeout", nil, ""}},
		{`Server shop/d is DOWN, reason: Layer4 connection problem, info: "Connection refused", check duration: 0ms. 1 active and 0 backup servers left.`,
			want{"shop/d", "unhealthy", "L4CON", "Layer4 connection problem: Connection refused", nil, ""}},
		{`Server shop/d is DOWN. 1 active and 0 backup servers left. 0 sessions active, 0 requeued, 0 remaining in queue.`,
			want{"shop/d", "unhealthy", "", "", nil, ""}},
		{`[WARNING] Server shop/d is going DOWN for maintenance. 1 active`, want{"shop/d", "unhealthy", "", "", nil, ""}},
	} {
		var set evidence.Set
		g, ok := LogLine(tt.line, time.Time{}, evidence.Item{})
		set.Targets = append(set.Targets, g)
		if diff := cmp.Diff([]want{tt.want}, got(set), cmp.AllowUnexported(want{})); !ok || diff != "" {
			t.Errorf("%q: %v %s", tt.line, ok, diff)
		}
	}
	for _, s := range []string{"", "Server started", "Server a/b is slow today", "Health check for server", "Health check for server a/b failed", "Proxy shop started."} {
		if g, ok := LogLine(s, time.Time{}, evidence.Item{}); ok {
			t.Errorf("%q was read: %+v", s, g)
		}
	}
}

func FuzzHAProxy(f *testing.F) {
	f.Add(header + row("a", "UP", "L7OK", "200", "0", "", "x", "1.1.1.1:1", "2"))
	f.Add("# be_id be_name srv_id srv_name srv_addr srv_op_state srv_admin_state\n4 shop 1 a 10.0.0.1 2 0 1 1 7 15 3\n")
	f.Add("Health check for server shop/b failed, reason: Layer7 timeout, check duration: 1001ms, status: 0/2 DOWN.")
	f.Fuzz(func(t *testing.T, s string) {
		set, _ := read(s, evidence.Item{})
		for line := range strings.Lines(s) {
			if g, ok := LogLine(line, time.Time{}, evidence.Item{}); ok {
				set.Targets = append(set.Targets, g)
			}
		}
		for _, g := range set.Targets {
			if g.ID == "" || g.State == "" {
				t.Errorf("a target without name or state: %+v", g)
			}
		}
	})
}
