package facts

import (
	"strings"
	"time"

	"github.com/probedoctor/probedoctor/sources/evidence"
)

// The nodes of the failing pods.

var nodeFacts = []Fact{
	{
		Name: "node.troubled", Doc: "Whether a node of the failing pods was not Ready, under memory, disk or PID pressure, or reported an eviction, a system OOM or a reboot around the incident.",
		Type: Bool, Scope: ScopeIncident, Needs: []string{evidence.SourceNodes},
		Why: "a node in trouble takes all its pods' probes with it", Collect: collectNodes,
		Compute: func(in *Incident) Value {
			failing, _, _ := in.nodesOfPods()
			var bad, seen []evidence.Ref
			for _, n := range in.Nodes {
				if len(failing) > 0 && !failing[n.Object.Name] {
					continue
				}
				if len(n.Conditions) > 0 {
					seen = append(seen, n.Ref)
				}
				for _, c := range n.Conditions {
					if c.Type == "Ready" && c.Status != "True" || strings.HasSuffix(c.Type, "Pressure") && c.Status == "True" {
						bad = append(bad, n.Ref)
					}
				}
			}
			for _, e := range in.Events {
				if e.Object.Kind != "Node" || len(failing) > 0 && !failing[e.Object.Name] || !in.inWindow(e.Last, 10*time.Minute) {
					continue
				}
				switch e.Reason {
				case "NodeNotReady", "NodeHasInsufficientMemory", "NodeHasDiskPressure", "NodeHasInsufficientPID", "SystemOOM", "EvictionThresholdMet", "Rebooted", "OOMKilling":
					bad = append(bad, e.Ref)
				}
			}
			if len(bad) > 0 {
				return known(true, bad...)
			}
			if len(seen) == 0 {
				return Unknown
			}
			return known(false, seen...)
		},
	},
	{
		Name: "node.kernelComplaints", Doc: "Kernel and kubelet log lines that tell of trouble on the node: a full connection table, martian packets, killed processes, a runtime that is down.",
		Type: Int, Unit: "lines", Scope: ScopeIncident, Needs: []string{evidence.SourceLogs},
		Why: "the node says itself what it lacks", Collect: func(*Incident) string { return "journalctl -k -u kubelet --since -1h (on the node)" },
		Compute: func(in *Incident) Value {
			n, measured := int64(0), false
			var refs []evidence.Ref
			for _, l := range in.Logs {
				if l.Origin == "kernel" || l.Origin == "kubelet" {
					measured = true
				}
			}
			for _, id := range sortedKeys(in.Signatures) {
				s := in.Signatures[id]
				if s.Kind != "node" {
					continue
				}
				for _, h := range s.Hits {
					n++
					refs = append(refs, h.Line.Ref)
				}
			}
			if !measured && n == 0 {
				return Unknown
			}
			return known(n, refs...)
		},
	},
	signalFact("node.conntrack", "conntrack.ratio", "Tracked connections as a share of the node's table.", "ratio", "a full table drops packets of every pod on the node"),
	signalFact("node.pressure", "node.pressure", "Share of time in which tasks of the node waited for CPU, IO or memory (PSI).", "ratio", "a starved node runs kubelet and pods late"),
}
