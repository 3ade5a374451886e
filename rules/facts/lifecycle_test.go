package facts_test

import (
	"testing"
	"time"

	"github.com/probedoctor/probedoctor/rules/facts"
	"github.com/probedoctor/probedoctor/sources/evidence"
)

func ended(code int, reason string) evidence.ContainerState {
	return evidence.ContainerState{Status: "terminated", ExitCode: &code, Reason: reason, Started: at(-20), Finished: at(-10)}
}

func TestEndsOfContainers(t *testing.T) {
	last := func(s evidence.ContainerState) func(p *evidence.Pod) {
		return func(p *evidence.Pod) { p.Containers[0].LastState, p.Containers[0].Restarts = s, 1 }
	}
	checkFacts(t, []factTest{
		{"no pod read", nil, wants{"lifecycle.restarts": unknown{}, "lifecycle.crashes": unknown{}, "lifecycle.outOfMemory": unknown{}, "lifecycle.killed": unknown{}}},
		{"only a specification read", func(in *facts.Incident) {
			pod(in, "a", func(p *evidence.Pod) { p.Restarts = -1; p.Containers[0] = evidence.Container{Name: "app"} })
		}, wants{"lifecycle.restarts": unknown{}, "lifecycle.crashes": unknown{}}},
		{"none ended", func(in *facts.Incident) { pod(in, "a", nil) },
			wants{"lifecycle.restarts": 0, "lifecycle.crashes": 0, "lifecycle.outOfMemory": 0, "lifecycle.killed": 0}},
		{"each ended in its way", func(in *facts.Incident) {
			pod(in, "a", last(ended(1, "Error")))
			pod(in, "b", last(ended(137, "OOMKilled")))
			pod(in, "c", last(ended(137, "Error")))
			pod(in, "d", last(ended(143, "Error")))
			pod(in, "e", last(ended(0, "Completed")))
		}, wants{"lifecycle.restarts": 5, "lifecycle.crashes": 1, "lifecycle.outOfMemory": 1, "lifecycle.killed": 2}},
		{"the end of now counts, not the one before", func(in *facts.Incident) {
			pod(in, "a", func(p *evidence.Pod) {
				last(ended(137, "OOMKilled"))(p)
				p.Containers[0].State = ended(2, "Error")
			})
		}, wants{"lifecycle.crashes": 1, "lifecycle.outOfMemory": 0}},
		{"another container of the pod does not count", func(in *facts.Incident) {
			pod(in, "a", func(p *evidence.Pod) {
				p.Containers = append(p.Containers, evidence.Container{Name: "side", StatusKnown: true, Restarts: 9, LastState: ended(1, "Error")})
				p.Restarts = 9
			})
		}, wants{"lifecycle.restarts": 0, "lifecycle.crashes": 0}},
	})
}

func TestBackOffAndTermination(t *testing.T) {
	checkFacts(t, []factTest{
		{"nothing read", nil, wants{"lifecycle.backOff": unknown{}, "lifecycle.terminating": unknown{}, "lifecycle.rollouts": unknown{}, "lifecycle.startsKilled": unknown{}}},
		{"all read, nothing happened", func(in *facts.Incident) { covered(in, evidence.SourceEvents) },
			wants{"lifecycle.backOff": false, "lifecycle.terminating": 0, "lifecycle.rollouts": 0, "lifecycle.startsKilled": unknown{}}},
		{"by the kubelet's event", func(in *facts.Incident) {
			event(in, "BackOff", "Back-off restarting failed container app in pod a", at(1))
		}, wants{"lifecycle.backOff": true}},
		{"a back-off of an image is another matter", func(in *facts.Incident) {
			covered(in, evidence.SourceEvents)
			event(in, "BackOff", `Back-off pulling image "registry/web:2"`, at(1))
		}, wants{"lifecycle.backOff": false}},
		{"by the table's STATUS", func(in *facts.Incident) {
			pod(in, "a", func(p *evidence.Pod) { p.Phase, p.Containers = "CrashLoopBackOff", nil })
		}, wants{"lifecycle.backOff": true}},
		{"by the container's state", func(in *facts.Incident) {
			pod(in, "a", func(p *evidence.Pod) {
				p.Containers[0].State = evidence.ContainerState{Status: "waiting", Reason: "CrashLoopBackOff"}
			})
		}, wants{"lifecycle.backOff": true}},
		{"one deleted, one told to stop, one long before", func(in *facts.Incident) {
			pod(in, "a", func(p *evidence.Pod) { p.Deleted = at(2) })
			event(in, "Killing", "Stopping container app", at(3)).Object.Name = "b"
			event(in, "Killing", "Stopping container side", at(3)).Object.Name = "b"
			event(in, "Killing", "Stopping container app", at(-30)).Object.Name = "c"
			event(in, "Killing", "Container app failed liveness probe, will be restarted", at(3)).Object.Name = "d"
		}, wants{"lifecycle.terminating": 2}},
		{"a new ReplicaSet", func(in *facts.Incident) {
			event(in, "ScalingReplicaSet", "Scaled up replica set web-2 to 1 from 0", at(-14))
			event(in, "ScalingReplicaSet", "Scaled up replica set web-2 to 2 from 1", at(-13))
			event(in, "ScalingReplicaSet", "Scaled up replica set web-1 to 1 from 0", at(-16))
		}, wants{"lifecycle.rollouts": 1}},
		{"two of four starts ended in a kill", func(in *facts.Incident) {
			event(in, "Started", "Started container app", at(1)).Count = 4
			event(in, "Killing", "Container app failed liveness probe, will be restarted", at(2)).Count = 2
			event(in, "Killing", "Stopping container app", at(9))
		}, wants{"lifecycle.startsKilled": 0.5}},
	})
}

func TestPodFacts(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(p *evidence.Pod)
		want   wants
	}{
		{"runs since its start", nil, wants{"pod.name": "a", "pod.lastExit": unknown{}, "pod.ranFor": unknown{}, "pod.restarts": 0}},
		{"ended before", func(p *evidence.Pod) { p.Containers[0].LastState, p.Containers[0].Restarts = ended(137, ""), 3 },
			wants{"pod.lastExit": 137, "pod.ranFor": 10 * time.Minute, "pod.restarts": 3}},
		{"ended now and before", func(p *evidence.Pod) {
			p.Containers[0].LastState, p.Containers[0].State = ended(137, ""), ended(1, "Error")
			p.Containers[0].State.Started, p.Containers[0].State.Finished = at(0), at(1)
		}, wants{"pod.lastExit": 1, "pod.ranFor": time.Minute}},
		{"another container", func(p *evidence.Pod) { p.Containers[0].Name = "side"; p.Restarts = 2 },
			wants{"pod.lastExit": unknown{}, "pod.ranFor": unknown{}, "pod.restarts": 2}},
		{"nothing known", func(p *evidence.Pod) { *p = evidence.Pod{Restarts: -1} },
			wants{"pod.name": unknown{}, "pod.lastExit": unknown{}, "pod.restarts": unknown{}}},
	} {
		checkFacts(t, []factTest{{tt.name, func(in *facts.Incident) { in.Pod = pod(in, "a", tt.change) }, tt.want}})
	}
}

func TestNodeFacts(t *testing.T) {
	node := func(in *facts.Incident, name string, cs ...evidence.Condition) {
		in.Nodes = append(in.Nodes, &evidence.Node{Item: evidence.Item{Ref: evidence.Ref("node:" + name)}, Object: evidence.Object{Kind: "Node", Name: name}, Conditions: cs})
	}
	ready := evidence.Condition{Type: "Ready", Status: "True"}
	onN1 := func(in *facts.Incident) {
		pod(in, "a", func(p *evidence.Pod) { p.Node = "n1" })
		fail(in, "a", nil)
	}
	checkFacts(t, []factTest{
		{"nothing read", nil, wants{"node.troubled": unknown{}, "node.kernelComplaints": unknown{}}},
		{"well", func(in *facts.Incident) {
			onN1(in)
			node(in, "n1", ready, evidence.Condition{Type: "MemoryPressure", Status: "False"})
		},
			wants{"node.troubled": false}},
		{"under pressure", func(in *facts.Incident) {
			onN1(in)
			node(in, "n1", ready, evidence.Condition{Type: "DiskPressure", Status: "True"})
		},
			wants{"node.troubled": true}},
		{"its kubelet is silent", func(in *facts.Incident) {
			onN1(in)
			node(in, "n1", evidence.Condition{Type: "Ready", Status: "Unknown"})
		},
			wants{"node.troubled": true}},
		{"another node's trouble", func(in *facts.Incident) {
			onN1(in)
			node(in, "n1", ready)
			node(in, "n2", evidence.Condition{Type: "Ready", Status: "False"})
			event(in, "SystemOOM", "", at(1)).Object = evidence.Object{Kind: "Node", Name: "n2"}
		}, wants{"node.troubled": false}},
		{"only another node was read", func(in *facts.Incident) { onN1(in); node(in, "n2", ready) }, wants{"node.troubled": unknown{}}},
		{"a node of which only the name was read", func(in *facts.Incident) { onN1(in); node(in, "n1") }, wants{"node.troubled": unknown{}}},
		{"by an event", func(in *facts.Incident) {
			onN1(in)
			event(in, "Rebooted", "", at(-5)).Object = evidence.Object{Kind: "Node", Name: "n1"}
		}, wants{"node.troubled": true}},
		{"the kernel's log has no complaint", func(in *facts.Incident) { line(in, "", "eth0: link up", at(1)).Origin = "kernel" },
			wants{"node.kernelComplaints": 0}},
		{"a daemon of the node complains", func(in *facts.Incident) {
			l := line(in, "", "runtime is down", at(1))
			l.Origin = "node"
			in.Signatures["runtime-down"] = facts.Signature{Kind: "node", Hits: []facts.Hit{{Line: l}}}
		}, wants{"node.kernelComplaints": 1}},
		{"only the application's log", func(in *facts.Incident) { line(in, "a", "hello", at(1)) }, wants{"node.kernelComplaints": unknown{}}},
	})
}
