package diagnose_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/probedoctor/probedoctor/internal/diagnose"
	"github.com/probedoctor/probedoctor/rules"
)

// Namespaces in which all is well, in the formats in which a cluster gives them. Probes fail in each of them, or pods come
// and go; none of it has a root cause.

// podItem is a pod of "kubectl get pods -o json": made at created, started five seconds later, Ready since ready (never
// where that is empty); more are further members of its metadata.
func podItem(name, owner, node, created, ready, more string) string {
	hash := owner[strings.LastIndexByte(owner, '-')+1:]
	status, isReady := "True", "true"
	if ready == "" {
		status, isReady, ready = "False", "false", created
	}
	return fmt.Sprintf(`{"apiVersion":"v1","kind":"Pod","metadata":{"name":%q,"namespace":"store","creationTimestamp":%q,"labels":{"pod-template-hash":%q},
 "ownerReferences":[{"apiVersion":"apps/v1","kind":"ReplicaSet","name":%q,"controller":true}]%s},
 "spec":{"nodeName":%q,"containers":[{"name":"app","image":"registry.example/store:1","ports":[{"containerPort":8080}],
  "readinessProbe":{"httpGet":{"path":"/ready","port":8080,"scheme":"HTTP"},"timeoutSeconds":1,"periodSeconds":5,"successThreshold":1,"failureThreshold":3}}]},
 "status":{"phase":"Running","podIP":"10.8.0.7","startTime":%q,
  "conditions":[{"type":"Ready","status":%q,"lastTransitionTime":%q},{"type":"ContainersReady","status":%q,"lastTransitionTime":%q}],
  "containerStatuses":[{"name":"app","ready":%s,"restartCount":0,"started":true,"state":{"running":{"startedAt":%q}},"lastState":{}}]}}`,
		name, created, hash, owner, more, node, created, status, ready, status, ready, isReady, created)
}

// eventItem is an event of "kubectl get events -o json".
func eventItem(kind, name, reason, message string, count int, first, last string) string {
	class := "Normal"
	if reason == "Unhealthy" || strings.HasPrefix(reason, "Failed") || reason == "NodeNotReady" {
		class = "Warning"
	}
	component := map[string]string{"Pod": "kubelet", "Deployment": "deployment-controller", "ReplicaSet": "replicaset-controller",
		"DaemonSet": "daemonset-controller", "HorizontalPodAutoscaler": "horizontal-pod-autoscaler", "Job": "job-controller", "CronJob": "cronjob-controller", "Node": "node-controller"}[kind]
	return fmt.Sprintf(`{"apiVersion":"v1","kind":"Event","metadata":{"name":"%s.%x","namespace":"store"},"involvedObject":{"kind":%q,"namespace":"store","name":%q,"fieldPath":"spec.containers{app}"},
 "type":%q,"reason":%q,"message":%q,"source":{"component":%q,"host":"wk1"},"count":%d,"firstTimestamp":%q,"lastTimestamp":%q}`,
		name, len(message)*count, kind, name, class, reason, message, component, count, first, last)
}

func list(items ...string) string {
	return `{"apiVersion":"v1","kind":"List","items":[` + strings.Join(items, ",\n") + "]}\n"
}

// at is a moment of one morning.
func at(clock string) string { return "2026-03-04T" + clock + "Z" }

const refusedReady = `Readiness probe failed: Get "http://10.8.0.7:8080/ready": dial tcp 10.8.0.7:8080: connect: connection refused`

func TestHealthyNamespaces(t *testing.T) {
	const oldRS, newRS = "cart-5d8c7f9b64", "cart-7b9f6d5c88"
	bothEnds := func(starting, stopping string) []string {
		return []string{
			eventItem("Pod", starting, "Started", "Started container app", 1, at("09:00:05"), at("09:00:05")),
			eventItem("Pod", starting, "Unhealthy", refusedReady, 3, at("09:00:06"), at("09:00:16")),
			eventItem("Pod", stopping, "Killing", "Stopping container app", 1, at("09:00:25"), at("09:00:25")),
			eventItem("Pod", stopping, "Unhealthy", refusedReady, 2, at("09:00:30"), at("09:00:35")),
		}
	}
	running := func(rs string, names ...string) []string {
		var out []string
		for i, n := range names {
			out = append(out, podItem(rs+"-"+n, rs, fmt.Sprintf("wk%d", i+1), at("06:00:00"), at("06:00:20"), ""))
		}
		return out
	}
	young := podItem(newRS+"-x4k2p", newRS, "wk1", at("09:00:00"), at("09:00:21"), "")
	stopping := podItem(oldRS+"-b8m2t", oldRS, "wk2", at("06:00:00"), at("06:00:20"), `,"deletionTimestamp":"`+at("09:00:55")+`","deletionGracePeriodSeconds":30`)
	rollout := append(bothEnds(newRS+"-x4k2p", oldRS+"-b8m2t"),
		eventItem("Deployment", "cart", "ScalingReplicaSet", "Scaled up replica set "+newRS+" from 0 to 1", 1, at("09:00:00"), at("09:00:00")),
		eventItem("Deployment", "cart", "ScalingReplicaSet", "Scaled down replica set "+oldRS+" from 3 to 2", 1, at("09:00:24"), at("09:00:24")),
		eventItem("ReplicaSet", oldRS, "SuccessfulDelete", "Deleted pod: "+oldRS+"-b8m2t", 1, at("09:00:24"), at("09:00:24")))
	restarted := strings.ReplaceAll(list(append(append(running(oldRS, "q2w4x"), young, stopping), rollout...)...), `"labels":{`, `"annotations":{"kubectl.kubernetes.io/restartedAt":"`+at("08:59:59")+`"},"labels":{`)

	tests := []struct {
		name  string
		files map[string]string
		// noise: probes failed, and noise explains all of it.
		noise bool
	}{
		{"rolling update", map[string]string{"all.json": list(append(append(running(oldRS, "q2w4x", "z9k7v"), young, stopping), rollout...)...)}, true},
		{"kubectl rollout restart", map[string]string{"all.json": restarted}, true},
		{"autoscaler up and down", map[string]string{"all.json": list(append(append(running(oldRS, "q2w4x", "z9k7v"), podItem(oldRS+"-n5t8d", oldRS, "wk3", at("09:00:00"), at("09:00:21"), "")),
			append(bothEnds(oldRS+"-n5t8d", oldRS+"-b8m2t"),
				eventItem("HorizontalPodAutoscaler", "cart", "SuccessfulRescale", "New size: 4; reason: cpu resource utilization (percentage of request) above target", 1, at("08:59:59"), at("08:59:59")),
				eventItem("HorizontalPodAutoscaler", "cart", "SuccessfulRescale", "New size: 3; reason: All metrics below target", 1, at("09:00:24"), at("09:00:24")),
				eventItem("Deployment", "cart", "ScalingReplicaSet", "Scaled up replica set "+oldRS+" from 3 to 4", 1, at("09:00:00"), at("09:00:00")),
				eventItem("Deployment", "cart", "ScalingReplicaSet", "Scaled down replica set "+oldRS+" from 4 to 3", 1, at("09:00:24"), at("09:00:24")))...)...)}, true},
		{"sidecars' first refusals", map[string]string{
			"events.txt": eventTable(
				normal("70s", "Started", "Pod/cart-7b9f6d5c88-x4k2p", "Started container istio-proxy"),
				failed("66s (x2 over 68s)", "cart-7b9f6d5c88-x4k2p", "Startup", refused("http://10.8.0.7:15021/healthz/ready", "10.8.0.7:15021")),
				failed("64s", "cart-7b9f6d5c88-q2w4x", "Readiness", refused("http://10.8.0.8:15021/healthz/ready", "10.8.0.8:15021"))),
			"pods.txt": podTable(
				"cart-7b9f6d5c88-x4k2p       2/2     Running   0             72s   10.8.0.7      wk1 ",
				"cart-7b9f6d5c88-q2w4x       2/2     Running   0             72s   10.8.0.8      wk2 ")}, true},
		{"drained node", map[string]string{"all.json": list(append(append(running(oldRS, "q2w4x", "z9k7v"), podItem(oldRS+"-n5t8d", oldRS, "wk3", at("09:00:00"), at("09:00:21"), "")),
			append(bothEnds(oldRS+"-n5t8d", oldRS+"-b8m2t"),
				eventItem("Node", "wk4", "NodeNotSchedulable", "Node wk4 status is now: NodeNotSchedulable", 1, at("08:59:50"), at("08:59:50")),
				eventItem("ReplicaSet", oldRS, "SuccessfulCreate", "Created pod: "+oldRS+"-n5t8d", 1, at("09:00:00"), at("09:00:00")))...)...)}, true},
		{"daemon set update", map[string]string{
			"events.txt": eventTable(
				normal("4m", "SuccessfulDelete", "DaemonSet/log-agent", "Deleted pod: log-agent-7xk2p"),
				normal("4m", "Killing", "Pod/log-agent-7xk2p", "Stopping container agent"),
				failed("3m58s", "log-agent-7xk2p", "Readiness", refused("http://10.8.1.7:2020/", "10.8.1.7:2020")),
				normal("3m50s", "SuccessfulCreate", "DaemonSet/log-agent", "Created pod: log-agent-m4q8z"),
				normal("3m48s", "Started", "Pod/log-agent-m4q8z", "Started container agent"),
				failed("3m44s (x2 over 3m46s)", "log-agent-m4q8z", "Readiness", refused("http://10.8.1.9:2020/", "10.8.1.9:2020"))),
			"pods.txt": podTable(
				"log-agent-m4q8z             1/1     Running   0             3m50s 10.8.1.9      wk1 ",
				"log-agent-p7w2k             1/1     Running   0             19d   10.8.2.9      wk2 ")}, true},
		{"completed jobs", map[string]string{"jobs.txt": `NAMESPACE   NAME                          READY   STATUS      RESTARTS   AGE
store       report-28461300-5fk2p         0/1     Completed   0          2d3h
store       report-28462740-x8m4z         0/1     Completed   0          27h
store       report-28464180-q6t9w         0/1     Completed   0          3h
store       migrate-v41-7nd2s             0/1     Completed   0          9d
store       cart-5d8c7f9b64-q2w4x         1/1     Running     0          9d
`, "events.txt": eventTable(
			normal("3h", "SuccessfulCreate", "CronJob/report", "Created job report-28464180"),
			normal("3h", "Completed", "Job/report-28464180", "Job completed"),
			normal("3h", "SawCompletedJob", "CronJob/report", "Saw completed job: report-28464180, condition: Complete"))}, false},
		{"pending for a moment", map[string]string{"pods.txt": `NAME                    READY   STATUS              RESTARTS   AGE
cart-5d8c7f9b64-q2w4x   1/1     Running             0          9d
cart-5d8c7f9b64-z9k7v   0/1     ContainerCreating   0          4s
cart-5d8c7f9b64-n5t8d   0/1     Pending             0          2s
`, "events.txt": eventTable(
			"3s                    Warning   FailedScheduling Pod/cart-5d8c7f9b64-n5t8d      0/3 nodes are available: 3 Insufficient cpu.\n",
			normal("2s", "TriggeredScaleUp", "Pod/cart-5d8c7f9b64-n5t8d", "pod triggered scale-up: [{pool-a 3->4 (max: 6)}]"))}, false},
		{"old restarts", map[string]string{"pods.txt": `NAME                    READY   STATUS    RESTARTS      AGE
cart-5d8c7f9b64-q2w4x   1/1     Running   1 (20d ago)   41d
cart-5d8c7f9b64-z9k7v   1/1     Running   0             41d
ledger-db-0             1/1     Running   2 (20d ago)   90d
`}, false},
		{"nodes rebooted long ago", map[string]string{"pods.txt": `NAME                    READY   STATUS    RESTARTS       AGE    IP          NODE
cart-5d8c7f9b64-q2w4x   1/1     Running   6 (20d ago)    200d   10.8.0.7    wk1
search-9f7c6d5b4-k2m8v  1/1     Running   5 (20d ago)    200d   10.8.0.9    wk1
`}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			ds := diagnose.Run(set(t, texts(tt.files), nil), knowledge(t), diagnose.Options{}).Items
			if tt.noise && len(ds) == 0 {
				t.Error("the failing probes make no incident, so nobody is told that they mean nothing")
			}
			for _, d := range ds {
				if len(d.Ranked) == 0 {
					continue
				}
				for _, c := range d.Ranked {
					if c.Role == rules.RootCause && c.Probability >= rules.Named {
						t.Errorf("%s %s: %s is named with %.2f", d.Subject.Kind, d.Subject.Name, c.ID, c.Probability)
						explain(t, d)
					}
				}
				if tt.noise && d.Ranked[0].Role != rules.Noise {
					t.Errorf("%s %s: %s (%s) is first, want noise", d.Subject.Kind, d.Subject.Name, d.Ranked[0].ID, d.Ranked[0].Role)
					explain(t, d)
				}
				if !tt.noise {
					t.Errorf("an incident of %s %s: %+v", d.Subject.Kind, d.Subject.Name, d.Symptoms)
				}
			}
		})
	}
}
