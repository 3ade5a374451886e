package diagnose_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/probedoctor/probedoctor/rules"
)

// The pairs around starts, ends and ports: the probe is refused, and the text is the same.

const pathsSpec = `
image: registry.example/geo:4.1
ports: [{name: http, containerPort: 8080}]
livenessProbe:
  httpGet: {path: /live, port: 8080}
  periodSeconds: 10
  failureThreshold: 3
readinessProbe:
  httpGet: {path: /live, port: 8080}
`

func TestPairsOfRefusals(t *testing.T) {
	const url, addr = "http://10.9.1.4:8080/live", "10.9.1.4:8080"
	const pod = "geo-6f7d9c4b58-x2k9p"
	neverReady := podTable(pod + "        0/1     Running   6 (20s ago)   9m    10.9.1.4      wk1 ")
	killed := eventTable(
		failed("25s (x18 over 9m)", pod, "Liveness", refused(url, addr)),
		failed("25s (x40 over 9m)", pod, "Readiness", refused(url, addr)),
		normal("25s (x6 over 8m)", "Killing", "Pod/"+pod, "Container geo failed liveness probe, will be restarted"),
		normal("20s (x7 over 9m)", "Started", "Pod/"+pod, "Started container geo"))
	unready := eventTable(failed("5s (x80 over 9m)", pod, "Readiness", refused(url, addr)))
	steady := podTable(pod + "        0/1     Running   0             9m    10.9.1.4      wk1 ")
	yaml := deployment("geo", pathsSpec)

	slow := side{files: map[string]string{"events.txt": killed, "pods.txt": neverReady, "geo.yaml": yaml,
		"geo.log": "2026-03-04T08:10:02Z INFO loading tiles 3/40\n2026-03-04T08:10:21Z INFO loading tiles 9/40\n2026-03-04T08:10:30Z INFO SIGTERM received\n"},
		cause: "slow-start", named: true, rule: "no-startup-probe", outcome: rules.True}
	local := side{files: map[string]string{"events.txt": unready, "pods.txt": steady, "geo.yaml": yaml,
		"ss.txt": "$ kubectl exec " + pod + " -- ss -ltn\nState  Recv-Q Send-Q Local Address:Port Peer Address:Port\nLISTEN 0      511        127.0.0.1:8080      0.0.0.0:*\n"},
		cause: "bound-to-localhost", named: true, rule: "loopback-only", outcome: rules.True}
	port := side{files: map[string]string{"events.txt": unready, "pods.txt": steady, "geo.yaml": yaml,
		"geo.log": "2026-03-04T08:10:02Z INFO server listening on 0.0.0.0:9090\n"},
		cause: "wrong-port-or-path", named: true, rule: "listens-elsewhere", outcome: rules.True}
	as := func(s side, rule string, o rules.Outcome) side { s.rule, s.outcome = rule, o; return s }

	crashed := side{files: map[string]string{
		"events.txt": eventTable(
			failed("31s (x9 over 12m)", pod, "Readiness", refused(url, addr)),
			"22s (x31 over 12m)     Warning   BackOff     Pod/"+pod+"        Back-off restarting failed container geo in pod "+pod+"_default(1f0c)\n"),
		"describe.txt": describePod(pod, "Waiting\n      Reason:       CrashLoopBackOff", "Error", 2, 7)},
		cause: "app-crash", named: true, rule: "exits-by-itself", outcome: rules.True}
	reject := side{files: map[string]string{"events.txt": unready, "pods.txt": steady, "geo.yaml": yaml,
		"ss.txt":   "$ kubectl exec " + pod + " -- ss -ltn\nState  Recv-Q Send-Q Local Address:Port Peer Address:Port\nLISTEN 0      511          0.0.0.0:8080      0.0.0.0:*\n",
		"curl.txt": "$ kubectl exec " + pod + " -- curl -s -o /dev/null -w '%{http_code}\\n' http://localhost:8080/live\n200\n"},
		cause: "network-path-fault", named: true, rule: "open-yet-refused", outcome: rules.True}

	checkPairs(t, []pair{
		{"slow start or bound to localhost", slow, local},
		{"slow start or wrong port", slow, port},
		{"bound to localhost or wrong port", local, as(port, "loopback-only", rules.Unknown)},
		{"crash or slow start", crashed, as(slow, "killed-after-each-start", rules.True)},
		{"NetworkPolicy that rejects or a port that is not open", reject, port},
		{"NetworkPolicy that rejects or bound to localhost", as(reject, "loopback-only", rules.False), local},
	})
}

// describePod is what "kubectl describe pod" prints of a container that ended before.
func describePod(pod, state, reason string, exit, restarts int) string {
	return strings.NewReplacer("POD", pod, "STATE", state, "REASON", reason, "EXIT", strconv.Itoa(exit), "RESTARTS", strconv.Itoa(restarts)).Replace(`Name:             POD
Namespace:        maps
Node:             wk1/10.0.0.11
Start Time:       Wed, 04 Mar 2026 08:00:00 +0000
Status:           Running
IP:               10.9.1.4
Controlled By:    ReplicaSet/geo-6f7d9c4b58
Containers:
  geo:
    Image:          registry.example/geo:4.1
    Port:           8080/TCP
    State:          STATE
    Last State:     Terminated
      Reason:       REASON
      Exit Code:    EXIT
      Started:      Wed, 04 Mar 2026 08:00:30 +0000
      Finished:     Wed, 04 Mar 2026 08:09:40 +0000
    Ready:          False
    Restart Count:  RESTARTS
    Limits:
      memory:  512Mi
    Liveness:       http-get http://:8080/live delay=0s timeout=1s period=10s #success=1 #failure=3
    Readiness:      http-get http://:8080/live delay=0s timeout=1s period=10s #success=1 #failure=3
Conditions:
  Type              Status
  Ready             False
  ContainersReady   False
`)
}

func TestPairsOfEnds(t *testing.T) {
	const url, addr = "http://10.9.1.4:8080/live", "10.9.1.4:8080"
	const pod = "geo-6f7d9c4b58-x2k9p"
	timeouts := eventTable(
		failed("20s (x21 over 40m)", pod, "Liveness", get(url, awaiting)),
		failed("25s (x60 over 40m)", pod, "Readiness", get(url, awaiting)))
	kills := timeouts + normal("10s (x7 over 38m)", "Killing", "Pod/"+pod, "Container geo failed liveness probe, will be restarted")
	const running = "Running\n      Started:      Wed, 04 Mar 2026 08:10:00 +0000"
	side137 := func(reason string, exit int, events string) map[string]string {
		return map[string]string{"events.txt": events, "describe.txt": describePod(pod, running, reason, exit, 7)}
	}
	oom := side{files: side137("OOMKilled", 137, timeouts), cause: "out-of-memory", named: true, rule: "killed-for-memory", outcome: rules.True}
	live := func(reason string, exit int) side {
		files := side137(reason, exit, kills)
		files["metrics.prom"] = "# TYPE tomcat_threads_busy_threads gauge\ntomcat_threads_busy_threads 200\n# TYPE tomcat_threads_config_max_threads gauge\ntomcat_threads_config_max_threads 200\n"
		return side{files: files, cause: "worker-pool-saturation", named: true, rule: "stopped-from-outside", outcome: rules.True}
	}
	completed := live("Completed", 0)
	byItself := side{files: map[string]string{
		"events.txt":   eventTable(failed("31s (x9 over 40m)", pod, "Readiness", refused(url, addr)), normal("31s (x7 over 40m)", "Started", "Pod/"+pod, "Started container geo")),
		"describe.txt": describePod(pod, running, "Completed", 0, 7)},
		cause: "app-crash", named: true, rule: "ends-without-error", outcome: rules.True}
	notByItself, late := completed, completed
	notByItself.rule, notByItself.outcome = "ends-without-error", rules.False
	late.rule, late.outcome = "killed-late", rules.True

	stopping := side{files: map[string]string{
		"events.txt": eventTable(
			normal("40s", "ScalingReplicaSet", "Deployment/geo", "Scaled down replica set geo-6f7d9c4b58 from 4 to 3"),
			normal("39s", "SuccessfulDelete", "ReplicaSet/geo-6f7d9c4b58", "Deleted pod: "+pod),
			normal("39s", "Killing", "Pod/"+pod, "Stopping container geo"),
			failed("30s (x2 over 35s)", pod, "Readiness", refused(url, addr))),
		"pods.txt": podTable(
			"geo-6f7d9c4b58-b7m2t        1/1     Running   0             6d    10.9.1.5      wk1 ",
			"geo-6f7d9c4b58-qq8zl        1/1     Running   0             6d    10.9.1.6      wk2 ")},
		cause: "shutdown-noise", rule: "terminating-pods", outcome: rules.True}
	crashed := side{files: map[string]string{
		"events.txt": eventTable(
			failed("30s (x9 over 12m)", pod, "Readiness", refused(url, addr)),
			"22s (x31 over 12m)     Warning   BackOff     Pod/"+pod+"        Back-off restarting failed container geo in pod "+pod+"_maps(1f0c)\n"),
		"describe.txt": describePod(pod, "Waiting\n      Reason:       CrashLoopBackOff", "Error", 1, 7)},
		cause: "app-crash", named: true, rule: "exits-by-itself", outcome: rules.True}
	stoppingFirst := stopping
	stoppingFirst.named = true

	checkPairs(t, []pair{
		{"killed for memory or by liveness, exit code 137", oom, live("Error", 137)},
		{"killed for memory or by liveness, exit code 143", oom, live("Error", 143)},
		{"killed for memory or by liveness, exit code 0", oom, completed},
		{"exit code 0 after a kill or by itself", notByItself, byItself},
		{"killed late or while it starts", late, side{files: map[string]string{
			"events.txt":   kills,
			"describe.txt": strings.Replace(describePod(pod, running, "Error", 143, 7), "08:00:30", "08:09:10", 1),
			"geo.log":      "2026-03-04T08:09:12Z INFO loading weights shard 3/40\n2026-03-04T08:09:40Z INFO received SIGTERM\n"},
			cause: "slow-start", named: true, rule: "killed-late", outcome: rules.False}},
		{"refused while it stops or after it crashed", stoppingFirst, crashed},
	})
}
