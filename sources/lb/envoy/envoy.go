// Package envoy reads what Envoy's administration interface says about the hosts of its clusters: /clusters as text and as
// JSON.
//
// The idea: Envoy keeps several verdicts about a host apart (its own checks, ejection as an outlier, what the control plane
// said). The package keeps the flags as the reason and calls a host unhealthy when any of them takes it out of the
// rotation. It does not guess why.
package envoy

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/probedoctor/probedoctor/sources/evidence"
)

const balancer = "envoy"

// ErrUnknown says that the JSON is not that of /clusters?format=json.
var ErrUnknown = errors.New("not the clusters of an Envoy")

// Read appends the hosts of the decoded answer of /clusters?format=json. Fields that are false or have their default are
// not in Envoy's JSON, so a host that has only eds_health_status is one without any flag. An element that cannot be read
// loses only itself; the error then counts them.
func Read(tree map[string]any, base evidence.Item, set *evidence.Set) error {
	clusters, ok := tree["cluster_statuses"].([]any)
	if !ok {
		return ErrUnknown
	}
	base.Source = balancer
	bad := 0
	for _, c := range clusters {
		cluster, _ := c.(map[string]any)
		name, _ := cluster["name"].(string)
		hosts, _ := cluster["host_statuses"].([]any)
		for _, h := range hosts {
			host, _ := h.(map[string]any)
			if !readHost(name, host, base, set) {
				bad++
			}
		}
	}
	if bad > 0 {
		return fmt.Errorf("%d hosts could not be read", bad)
	}
	return nil
}

// flags are the fields of health_status that take a host out of the rotation, with their names in the text form.
var flags = []struct{ field, text string }{
	{"failed_active_health_check", "failed_active_hc"},
	{"failed_outlier_check", "failed_outlier_check"},
	{"excluded_via_immediate_hc_fail", "excluded_via_immediate_hc_fail"},
	{"active_hc_timeout", "active_hc_timeout"},
	{"pending_dynamic_removal", "pending_dynamic_removal"},
	{"pending_active_hc", "pending_active_hc"},
	{"failed_active_degraded_check", "degraded_active_hc"},
	{"failed_degraded_outlier_detection", "degraded_outlier_detection"},
}

func readHost(cluster string, host map[string]any, base evidence.Item, set *evidence.Set) bool {
	address, _ := host["address"].(map[string]any)
	var id, port string
	if a, ok := address["socket_address"].(map[string]any); ok {
		id, _ = a["address"].(string)
		port = number(a["port_value"])
	} else if a, ok := address["pipe"].(map[string]any); ok {
		id, _ = a["path"].(string)
	}
	if id == "" {
		return false
	}
	status, _ := host["health_status"].(map[string]any)
	var found []string
	for _, f := range flags {
		if v, _ := status[f.field].(bool); v {
			found = append(found, f.text)
		}
	}
	eds, _ := status["eds_health_status"].(string)
	if eds != "" && eds != "HEALTHY" && eds != "UNKNOWN" {
		found = append(found, "eds_"+strings.ToLower(eds))
	}
	t := evidence.Target{Item: base, Balancer: balancer, Group: cluster, ID: id, Port: port}
	var counts []string
	stats, _ := host["stats"].([]any)
	for _, s := range stats {
		m, _ := s.(map[string]any)
		name, _ := m["name"].(string)
		if v := number(m["value"]); worthTelling(name, v) {
			counts = append(counts, name+" "+v)
		}
	}
	add(&t, found, counts, set)
	return true
}

// worthTelling picks the counters that go into a host's description.
func worthTelling(name, value string) bool {
	if value == "" || value == "0" {
		return false
	}
	switch name {
	case "cx_connect_fail", "rq_timeout", "rq_error":
		return true
	}
	return false
}

// stateOf says what the flags mean for the traffic to the host. A degraded host still gets some, when others lack.
func stateOf(found []string) string {
	state := "healthy"
	for _, f := range found {
		switch f {
		case "failed_active_hc", "failed_outlier_check", "failed_eds_health", "excluded_via_immediate_hc_fail", "active_hc_timeout",
			"eds_unhealthy", "eds_timeout":
			return "unhealthy"
		case "eds_draining", "pending_dynamic_removal":
			state = "draining"
		case "pending_active_hc":
			if state == "healthy" {
				state = "initial"
			}
		}
	}
	return state
}

func add(t *evidence.Target, found, counts []string, set *evidence.Set) {
	t.State = stateOf(found)
	t.Reason = strings.Join(found, " ")
	t.Description = strings.Join(counts, ", ")
	t.Locator = t.Group + "/" + t.ID
	if t.Port != "" {
		t.Locator += ":" + t.Port
	}
	words := slices.DeleteFunc([]string{t.Locator, t.State, t.Reason, t.Description}, func(s string) bool { return s == "" })
	t.Excerpt = strings.Join(words, " ")
	set.Targets = append(set.Targets, *t)
}

func number(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	case int:
		return strconv.Itoa(v)
	case int64:
		return strconv.FormatInt(v, 10)
	case uint64:
		return strconv.FormatUint(v, 10)
	case json.Number:
		return v.String()
	}
	return ""
}

// Text reads /clusters in its text form, one fact a line: "cluster::10.0.0.1:8080::health_flags::/failed_active_hc".
type Text struct {
	set   *evidence.Set
	base  evidence.Item
	hosts map[string]*host
	order []*host
}

type host struct {
	target evidence.Target
	flags  []string
	counts []string
	known  bool // a health_flags line was there
}

// maxHosts bounds the hosts of one answer.
const maxHosts = 1 << 16

// NewText makes a reader that appends to the set when it is closed; base says where the text was read.
func NewText(base evidence.Item, set *evidence.Set) *Text {
	base.Source = balancer
	return &Text{set: set, base: base, hosts: map[string]*host{}}
}

// Line takes the line n and says whether it belongs to the answer.
func (t *Text) Line(n int, s string) bool {
	s = strings.TrimSpace(s)
	last := strings.LastIndex(s, "::")
	if last <= 0 || strings.IndexByte(s, ' ') >= 0 && !strings.Contains(s, "::added_via_api::") {
		return false
	}
	value := s[last+2:]
	rest := s[:last]
	i := strings.LastIndex(rest, "::")
	if i <= 0 {
		return false
	}
	key, rest := rest[i+2:], rest[:i]
	if !isKey(key) {
		return false
	}
	// What is left is "cluster::address" for a fact about a host; an IPv6 address has its own colons, in brackets.
	cluster, address, ok := cutAddress(rest)
	if !ok {
		// A fact about the cluster: "cluster::default_priority::max_connections::1024".
		return len(t.order) > 0 || key == "added_via_api" || key == "observability_name" || strings.HasSuffix(rest, "_priority")
	}
	h := t.hosts[rest]
	if h == nil {
		if len(t.order) >= maxHosts {
			return true
		}
		h = &host{target: evidence.Target{Item: t.base, Balancer: balancer, Group: cluster}}
		h.target.Line = n
		j := strings.LastIndexByte(address, ':')
		h.target.ID, h.target.Port = strings.Trim(address[:j], "[]"), address[j+1:]
		t.hosts[rest] = h
		t.order = append(t.order, h)
	}
	switch {
	case key == "health_flags":
		h.known = true
		if value != "healthy" {
			h.flags = strings.FieldsFunc(value, func(r rune) bool { return r == '/' })
		}
	case worthTelling(key, value):
		h.counts = append(h.counts, key+" "+value)
	}
	return true
}

// Close appends the hosts. A host whose flags were cut off has no known state.
func (t *Text) Close() {
	for _, h := range t.order {
		add(&h.target, h.flags, h.counts, t.set)
		if !h.known {
			g := &t.set.Targets[len(t.set.Targets)-1]
			g.Excerpt = strings.Replace(g.Excerpt, g.State, "unknown", 1)
			g.State = "unknown"
		}
	}
	t.order, t.hosts = nil, map[string]*host{}
}

// isKey tells whether s is the name of a fact: small letters and underscores.
func isKey(s string) bool {
	return s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz_0123456789") == ""
}

// cutAddress parts "cluster::address:port".
func cutAddress(s string) (cluster, address string, ok bool) {
	if strings.Count(s, "]") > 0 {
		i := strings.Index(s, "::[")
		if i <= 0 {
			return "", "", false
		}
		cluster, address = s[:i], s[i+2:]
	} else {
		i := strings.LastIndex(s, "::")
		if i <= 0 {
			return "", "", false
		}
		cluster, address = s[:i], s[i+2:]
	}
	j := strings.LastIndexByte(address, ':')
	if j <= 0 || j == len(address)-1 || strings.Trim(address[j+1:], "0123456789") != "" {
		return "", "", false
	}
	return cluster, address, true
}
