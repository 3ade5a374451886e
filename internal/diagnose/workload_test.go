package diagnose

import (
	"testing"

	"github.com/probedoctor/probedoctor/sources/evidence"
)

func TestControllerByName(t *testing.T) {
	for _, tt := range []struct{ pod, kind, name string }{
		{"web-7d9f8b6c5d-x2v4k", "Deployment", "web"},
		{"web-api-7d9f8b6c5d-x2v4k", "Deployment", "web-api"},
		{"checkout-7c6d-ab12", "Deployment", "checkout"}, // masked by hand
		{"web-0", "StatefulSet", "web"},
		{"my-db-12", "StatefulSet", "my-db"},
		{"node-agent-x2v4k", "DaemonSet", "node-agent"},
		{"toolbox", "", ""},
		{"kube-proxy", "", ""},
		{"my-shiny-tool", "", ""},
		{"etcd-controlplane", "", ""},
		{"web-12345", "DaemonSet", "web"}, // five digits are no ordinal of any set in practice
		{"-", "", ""},
		{"", "", ""},
	} {
		if kind, name := controllerByName(tt.pod); kind != tt.kind || name != tt.name {
			t.Errorf("%q is of %s %q, want %s %q", tt.pod, kind, name, tt.kind, tt.name)
		}
	}
}

func object(kind, ns, name string) evidence.Object {
	return evidence.Object{Kind: kind, Namespace: ns, Name: name}
}

func workloads(objects ...evidence.Object) []evidence.Workload {
	var out []evidence.Workload
	for _, o := range objects {
		out = append(out, evidence.Workload{Object: o})
	}
	return out
}

func TestWorkloadOfPod(t *testing.T) {
	for _, tt := range []struct {
		name     string
		set      evidence.Set
		ns, pod  string
		want     evidence.Object
		inferred bool
	}{
		{"by nothing but its name", evidence.Set{}, "shop", "web-7d9f8b6c5d-x2v4k", object("Deployment", "shop", "web"), true},
		{"a pod of its own", evidence.Set{}, "shop", "toolbox", object("Pod", "shop", "toolbox"), false},
		{"by its owner", evidence.Set{Pods: []evidence.Pod{{Object: object("Pod", "shop", "odd"), Owner: object("StatefulSet", "", "db")}}},
			"shop", "odd", object("StatefulSet", "shop", "db"), false},
		{"by its owner's owner", evidence.Set{
			Pods:      []evidence.Pod{{Object: object("Pod", "shop", "web-1-x"), Owner: object("ReplicaSet", "", "web-1")}},
			Workloads: []evidence.Workload{{Object: object("ReplicaSet", "shop", "web-1"), Owner: object("Deployment", "", "web")}},
		}, "shop", "web-1-x", object("Deployment", "shop", "web"), false},
		{"by the ReplicaSet's name and the hash", evidence.Set{
			Pods: []evidence.Pod{{Object: object("Pod", "shop", "web-aeiou-x"), Owner: object("ReplicaSet", "", "web-aeiou"), TemplateHash: "aeiou"}},
		}, "shop", "web-aeiou-x", object("Deployment", "shop", "web"), true},
		{"a ReplicaSet of its own", evidence.Set{
			Pods: []evidence.Pod{{Object: object("Pod", "shop", "set-x"), Owner: object("ReplicaSet", "", "front-set")}},
		}, "shop", "set-x", object("ReplicaSet", "shop", "front-set"), false},
		{"the pod's namespace, where nobody asked for one", evidence.Set{
			Pods: []evidence.Pod{{Object: object("Pod", "shop", "odd"), Owner: object("StatefulSet", "", "db")}},
		}, "", "odd", object("StatefulSet", "shop", "db"), false},

		{"a workload that was read", evidence.Set{Workloads: workloads(object("StatefulSet", "shop", "db"))},
			"shop", "db-masked", object("StatefulSet", "shop", "db"), true},
		{"the longest of the names", evidence.Set{Workloads: workloads(object("Deployment", "shop", "web"), object("Deployment", "shop", "web-api"))},
			"shop", "web-api-7d9f8b6c5d-x2v4k", object("Deployment", "shop", "web-api"), true},
		{"a shorter name that only looks like it", evidence.Set{Workloads: workloads(object("Deployment", "shop", "web"))},
			"shop", "web-api-7d9f8b6c5d-x2v4k", object("Deployment", "shop", "web-api"), true},
		{"another namespace's workload", evidence.Set{Workloads: workloads(object("Deployment", "blog", "toolbox"))},
			"shop", "toolbox-x", object("Pod", "shop", "toolbox-x"), false},
		{"of one name the kind that makes such names", evidence.Set{Workloads: workloads(object("Deployment", "shop", "db"), object("StatefulSet", "shop", "db"))},
			"shop", "db-0", object("StatefulSet", "shop", "db"), true},
		{"a workload without a namespace takes the pod's", evidence.Set{Workloads: workloads(object("Deployment", "", "web"))},
			"shop", "web-7d9f8b6c5d-x2v4k", object("Deployment", "shop", "web"), true},
		{"a pod without a namespace takes the only one", evidence.Set{Workloads: workloads(object("Deployment", "shop", "web"))},
			"", "web-7d9f8b6c5d-x2v4k", object("Deployment", "shop", "web"), true},
		{"a pod without a namespace takes none of two", evidence.Set{Workloads: workloads(object("Deployment", "blog", "web"), object("Deployment", "shop", "web"))},
			"", "web-7d9f8b6c5d-x2v4k", object("Deployment", "", "web"), true},
		{"pods of one name in two namespaces", evidence.Set{Pods: []evidence.Pod{
			{Object: object("Pod", "blog", "odd"), Owner: object("StatefulSet", "", "a")}, {Object: object("Pod", "shop", "odd"), Owner: object("StatefulSet", "", "b")},
		}}, "", "odd", object("Pod", "", "odd"), false},
		{"each of them in its own", evidence.Set{Pods: []evidence.Pod{
			{Object: object("Pod", "blog", "odd"), Owner: object("StatefulSet", "", "a")}, {Object: object("Pod", "shop", "odd"), Owner: object("StatefulSet", "", "b")},
		}}, "shop", "odd", object("StatefulSet", "shop", "b"), false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			o := newOwners(&tt.set)
			for range 2 { // the second time from memory
				got, inferred := o.workload(tt.ns, tt.pod)
				if got != tt.want || (inferred != "") != tt.inferred {
					t.Errorf("%+v (%q), want %+v, inferred: %v", got, inferred, tt.want, tt.inferred)
				}
			}
		})
	}
}

func TestNamesAreCompleted(t *testing.T) {
	events := func(pods ...string) []evidence.Event {
		var out []evidence.Event
		for _, p := range pods {
			out = append(out, evidence.Event{Object: object("Pod", "shop", p), Reason: "Unhealthy"})
		}
		return out
	}
	pods := func(names ...string) []evidence.Pod {
		var out []evidence.Pod
		for _, n := range names {
			out = append(out, evidence.Pod{Object: object("Pod", "shop", n), Phase: n})
		}
		return out
	}
	for _, tt := range []struct {
		name string
		set  evidence.Set
		want []string // the names of the pods
	}{
		{"cut at the front", evidence.Set{Events: events("web-7d9f8b6c5d-x2v4k"), Pods: pods("f8b6c5d-x2v4k")}, []string{"web-7d9f8b6c5d-x2v4k"}},
		{"elided in the middle", evidence.Set{Events: events("web-7d9f8b6c5d-x2v4k", "api-7d9f8b6c5d-q2v4k"), Pods: pods("web-…2v4k")}, []string{"web-7d9f8b6c5d-x2v4k"}},
		{"two ends fit", evidence.Set{Events: events("web-7d9f8b6c5d-x2v4k", "api-7d9f8b6c5d-x2v4k"), Pods: pods("6c5d-x2v4k")}, []string{"6c5d-x2v4k"}},
		{"a pod whose name ends another's", evidence.Set{Events: events("redis-cache-0"), Pods: pods("cache-0", "redis-cache-0")}, []string{"cache-0", "redis-cache-0"}},
		{"a pod of the API is whole", evidence.Set{Events: events("redis-cache-0"),
			Pods: []evidence.Pod{{Object: evidence.Object{Kind: "Pod", Namespace: "shop", Name: "cache-0", UID: "1"}}}}, []string{"cache-0"}},
		{"another namespace", evidence.Set{Events: []evidence.Event{{Object: object("Pod", "blog", "web-7d9f8b6c5d-x2v4k")}}, Pods: pods("f8b6c5d-x2v4k")}, []string{"f8b6c5d-x2v4k"}},
		{"no events", evidence.Set{Pods: pods("f8b6c5d-x2v4k")}, []string{"f8b6c5d-x2v4k"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			o := newOwners(&tt.set)
			var got []string
			for _, k := range sortedPodKeys(o.pods) {
				got = append(got, k.name)
				if o.pods[k].Object.Name != k.name {
					t.Errorf("%s is kept as %s", o.pods[k].Object.Name, k.name)
				}
			}
			if len(got) != len(tt.want) {
				t.Fatalf("pods %q, want %q", got, tt.want)
			}
			for i := range got {
				if got[i] != tt.want[i] {
					t.Errorf("pods %q, want %q", got, tt.want)
				}
			}
		})
	}
}

func TestReadingsOfOnePodAreMerged(t *testing.T) {
	name := object("Pod", "shop", "web-0")
	table := evidence.Pod{Object: name, ReadyContainers: 0, TotalContainers: 1, Restarts: 3, Node: "n1", IP: "10.0.0.7", Deleted: nine(2), GraceSeconds: 30}
	rich := evidence.Pod{Object: name, Containers: []evidence.Container{{Name: "app"}}, Owner: object("StatefulSet", "", "web"), TemplateHash: "h",
		Conditions: []evidence.Condition{{Type: "Ready", Status: "True"}}, Created: nine(-60)}
	for _, pods := range [][]evidence.Pod{{table, rich}, {rich, table}} {
		o := newOwners(&evidence.Set{Pods: pods})
		p := o.pods[podKey{"shop", "web-0"}]
		if len(o.pods) != 1 || len(p.Containers) != 1 || p.Owner.Name != "web" || p.TemplateHash != "h" || p.Node != "n1" || p.IP != "10.0.0.7" ||
			p.Restarts != 3 || p.Created != nine(-60) || p.Deleted != nine(2) || p.GraceSeconds != 30 {
			t.Errorf("merged: %+v", p)
		}
	}
	// Of two like readings the later one is true now; the set is sorted by the time of reading.
	early, late := rich, rich
	early.Observed, late.Observed = nine(0), nine(5)
	late.Conditions = []evidence.Condition{{Type: "Ready", Status: "False"}}
	o := newOwners(&evidence.Set{Pods: []evidence.Pod{early, late}})
	if ready, known := o.pods[podKey{"shop", "web-0"}].Ready(); ready || !known {
		t.Errorf("ready: %v (known: %v), want what was read later", ready, known)
	}
}
