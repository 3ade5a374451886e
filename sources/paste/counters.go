package paste

import (
	"regexp"
	"strings"
)

// Counters of the kernel as people print them: cgroup files, netstat, nstat, sysctl. Each becomes a series under the name
// that cAdvisor or the node exporter gives the same counter, so that it is the same evidence as a scrape of it.

// counters gives the metric and the factor to its unit. The names on the left are those of the kernel's cpu.stat,
// memory.events (cgroup v2) and /proc/net/netstat.
var counters = map[string]struct {
	metric string
	scale  float64
}{
	"nr_periods":             {"container_cpu_cfs_periods_total", 1},
	"nr_throttled":           {"container_cpu_cfs_throttled_periods_total", 1},
	"throttled_usec":         {"container_cpu_cfs_throttled_seconds_total", 1e-6},
	"throttled_time":         {"container_cpu_cfs_throttled_seconds_total", 1e-9},
	"oom_kill":               {"container_oom_events_total", 1},
	"TcpExtListenOverflows":  {"node_netstat_TcpExt_ListenOverflows", 1},
	"TcpExtListenDrops":      {"node_netstat_TcpExt_ListenDrops", 1},
	"TcpExtTCPReqQFullDrop":  {"node_netstat_TcpExt_TCPReqQFullDrop", 1},
	"nf_conntrack_count":     {"node_nf_conntrack_entries", 1},
	"nf_conntrack_max":       {"node_nf_conntrack_entries_limit", 1},
	"heap_size_limit":        {"v8_heap_size_limit_bytes", 1},
	"listen queue overflows": {"node_netstat_TcpExt_ListenOverflows", 1},
	"listen drops":           {"node_netstat_TcpExt_ListenDrops", 1},
}

var (
	counterLine = regexp.MustCompile(`^["']?(?:net\.netfilter\.)?([A-Za-z_]+)["']?(?:\s*[:=]\s*|\s+)(\d{1,19})(?:\s+0\.0)?,?$`)
	netstatLine = regexp.MustCompile(`^(\d{1,19}) (times the listen queue of a socket overflowed|SYNs to LISTEN sockets (?:dropped|ignored))$`)
)

// counter reads a line with a kernel counter.
func (t *text) counter(s, trimmed string) bool {
	if len(trimmed) > 100 || !containsAny(trimmed, "nr_", "throttled", "oom_kill", "TcpExt", "nf_conntrack_", "heap_size_limit", "listen queue", "LISTEN sockets") {
		return false
	}
	name, value := "", ""
	if m := netstatLine.FindStringSubmatch(trimmed); m != nil {
		value, name = m[1], "listen drops"
		if strings.HasPrefix(m[2], "times") {
			name = "listen queue overflows"
		}
	} else if m := counterLine.FindStringSubmatch(trimmed); m != nil {
		name, value = m[1], m[2]
	}
	c, ok := counters[name]
	if !ok {
		return false
	}
	labels := map[string]string{}
	if pod, container := t.logPod(); pod.Name != "" {
		labels["pod"] = pod.Name
		if pod.Namespace != "" {
			labels["namespace"] = pod.Namespace
		}
		if container != "" {
			labels["container"] = container
		}
	}
	t.addSeries(c.metric, labels, decimal(value)*c.scale)
	return true
}
