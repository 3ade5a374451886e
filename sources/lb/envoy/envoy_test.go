package envoy

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/probedoctor/probedoctor/sources/evidence"
)

func excerpts(set evidence.Set) []string {
	var out []string
	for _, t := range set.Targets {
		out = append(out, t.Excerpt)
	}
	return out
}

func readText(s string) (evidence.Set, []bool) {
	var set evidence.Set
	r := NewText(evidence.Item{}, &set)
	var taken []bool
	n := 0
	for line := range strings.Lines(s) {
		n++
		taken = append(taken, r.Line(n, line))
	}
	r.Close()
	return set, taken
}

const text = `outbound|80||cart.shop.svc.cluster.local::observability_name::outbound|80||cart.shop.svc.cluster.local
outbound|80||cart.shop.svc.cluster.local::default_priority::max_connections::4294967295
outbound|80||cart.shop.svc.cluster.local::added_via_api::true
outbound|80||cart.shop.svc.cluster.local::10.30.2.7:8080::cx_connect_fail::3
outbound|80||cart.shop.svc.cluster.local::10.30.2.7:8080::rq_total::90
outbound|80||cart.shop.svc.cluster.local::10.30.2.7:8080::health_flags::/failed_active_hc/failed_outlier_check
outbound|80||cart.shop.svc.cluster.local::10.30.2.8:8080::health_flags::healthy
own::[fd00::7]:8080::health_flags::/pending_active_hc
own::[fd00::8]:8080::rq_total::2
own::10.30.2.9:8080::health_flags::/eds_draining
`

func TestText(t *testing.T) {
	set, taken := readText(text)
	want := []string{
		"outbound|80||cart.shop.svc.cluster.local/10.30.2.7:8080 unhealthy failed_active_hc failed_outlier_check cx_connect_fail 3",
		"outbound|80||cart.shop.svc.cluster.local/10.30.2.8:8080 healthy",
		"own/fd00::7:8080 initial pending_active_hc",
		"own/fd00::8:8080 unknown",
		"own/10.30.2.9:8080 draining eds_draining",
	}
	if diff := cmp.Diff(want, excerpts(set)); diff != "" {
		t.Error(diff)
	}
	for i, ok := range taken {
		if !ok {
			t.Errorf("line %d was not taken", i+1)
		}
	}
	if g := set.Targets[2]; g.ID != "fd00::7" || g.Port != "8080" || g.Group != "own" || g.Line != 8 {
		t.Errorf("got %+v", g)
	}
	for _, s := range []string{"", "std::vector::size", "a::b", "INFO crate::net::peer closed", "fe80::1::x", "my_exporter::net"} {
		if set, taken := readText(s + "\n"); taken[0] || len(set.Targets) > 0 {
			t.Errorf("%q was taken", s)
		}
	}
}

func TestJSON(t *testing.T) {
	var tree map[string]any
	err := json.Unmarshal([]byte(`{"cluster_statuses": [{"name": "cart", "added_via_api": true, "host_statuses": [
		{"address": {"socket_address": {"address": "10.30.2.7", "port_value": 8080}}, "stats": [{"name": "cx_connect_fail", "value": "3"}, {"name": "rq_error"}],
		 "health_status": {"failed_active_health_check": true, "active_hc_timeout": true, "eds_health_status": "HEALTHY"}},
		{"address": {"socket_address": {"address": "10.30.2.8", "port_value": 8080}}, "health_status": {"eds_health_status": "HEALTHY"}},
		{"address": {"socket_address": {"address": "10.30.2.9", "port_value": 8080}}, "health_status": {"eds_health_status": "DRAINING"}},
		{"address": {"pipe": {"path": "/run/app.sock"}}, "health_status": {"failed_active_degraded_check": true}},
		{"address": {}}]}, {"name": "empty"}]}`), &tree)
	if err != nil {
		t.Fatal(err)
	}
	var set evidence.Set
	if err := Read(tree, evidence.Item{}, &set); err == nil || err.Error() != "1 hosts could not be read" {
		t.Errorf("got %v", err)
	}
	want := []string{
		"cart/10.30.2.7:8080 unhealthy failed_active_hc active_hc_timeout cx_connect_fail 3",
		"cart/10.30.2.8:8080 healthy",
		"cart/10.30.2.9:8080 draining eds_draining",
		"cart//run/app.sock healthy degraded_active_hc",
	}
	if diff := cmp.Diff(want, excerpts(set)); diff != "" {
		t.Error(diff)
	}
	if err := Read(map[string]any{}, evidence.Item{}, &set); err != ErrUnknown {
		t.Errorf("got %v", err)
	}
}

func FuzzEnvoy(f *testing.F) {
	f.Add(text)
	f.Add(`{"cluster_statuses": [{"name": "c", "host_statuses": [{"address": {"socket_address": {"address": "10.30.2.8", "port_value": 8080}}}]}]}`)
	f.Fuzz(func(t *testing.T, s string) {
		set, _ := readText(s)
		var tree map[string]any
		if json.Unmarshal([]byte(s), &tree) == nil {
			_ = Read(tree, evidence.Item{}, &set)
		}
		for _, g := range set.Targets {
			if g.State == "" || g.Balancer != balancer {
				t.Errorf("a target without a state: %+v", g)
			}
		}
	})
}
