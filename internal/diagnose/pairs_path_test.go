package diagnose_test

import (
	"strings"
	"testing"

	"github.com/probedoctor/probedoctor/rules"
)

// The pairs around what is asked, who answers and who asks.

func TestPairsOfDependencies(t *testing.T) {
	const url, pod = "http://10.5.2.9:8080/ready", "order-api-5b7d9f6c8-p4zkm"
	events := eventTable(failed("8s (x60 over 10m)", pod, "Readiness", get(url, awaiting)))
	pods := podTable(pod + "   0/1     Running   0             3d    10.5.2.9      wk2 ")
	yaml := deployment("order-api", "ports: [{containerPort: 8080}]\nreadinessProbe:\n  httpGet: {path: /ready, port: 8080}\n  timeoutSeconds: 1\n")
	files := func(log string) map[string]string {
		return map[string]string{"events.txt": events, "pods.txt": pods, "order.yaml": yaml, "app.log": log}
	}
	onPath := strings.Repeat("2026-03-04T08:10:02Z ERROR [http-nio-8080-exec-4] c.e.order.Health : GET /ready: redis.clients.jedis.exceptions.JedisConnectionException: Read timed out after 2000 ms\n", 4)
	offPath := strings.Repeat("2026-03-04T08:10:02Z ERROR [http-nio-8080-exec-4] c.e.order.Basket : POST /basket: redis.clients.jedis.exceptions.JedisConnectionException: Read timed out after 2000 ms\n", 4) +
		"2026-03-04T08:10:03Z ERROR [http-nio-8080-Acceptor] o.a.t.u.net.NioEndpoint : Maximum number of threads (200) created for connector with address [null] and port [8080]\n"
	checkPairs(t, []pair{{"dependency in the probe or off its path",
		side{files: files(onPath), cause: "dependency-in-probe", named: true, rule: "handler-waits-for-dependency", outcome: rules.True},
		side{files: files(offPath), cause: "worker-pool-saturation", named: true, rule: "dependency-off-path-only", outcome: rules.True}}})
	d := run(t, set(t, texts(files(offPath)), nil))
	if c := mustCause(t, d, "dependency-slowdown", rules.Contributing); c.Probability < rules.Named {
		t.Errorf("the dependency off the path contributes with %.2f only", c.Probability)
	}

	spring := func(path, env, body string) map[string]string {
		return map[string]string{
			"events.txt": eventTable(failed("8s (x60 over 10m)", pod, "Readiness", "HTTP probe failed with statuscode: 503")),
			"pods.txt":   pods,
			"order.yaml": deployment("order-api", "ports: [{containerPort: 8080}]\n"+env+"readinessProbe:\n  httpGet: {path: "+path+", port: 8080}\n"),
			"app.log":    body}
	}
	down := "2026-03-04T08:10:02Z WARN [http-nio-8080-exec-4] o.s.b.actuate.mail.MailHealthIndicator : Mail health check failed: MailConnectException: Couldn't connect to host, port: smtp, 25\n"
	state := "2026-03-04T08:10:02Z WARN [http-nio-8080-exec-4] c.e.order.Warmup : readiness check failed: price list is not loaded\n"
	group := "env:\n- {name: MANAGEMENT_ENDPOINT_HEALTH_GROUP_READINESS_INCLUDE, value: 'readinessState,mail'}\n"
	own := side{files: spring("/actuator/health/readiness", "", state), cause: "app-error-status", named: true, rule: "health-aggregated", outcome: rules.False}
	checkPairs(t, []pair{
		{"the framework's aggregate or a state of the application", side{files: spring("/actuator/health", "", down), cause: "dependency-in-probe", named: true, rule: "health-aggregated", outcome: rules.True}, own},
		{"a probe group with more in it or a state of the application", side{files: spring("/actuator/health/readiness", group, down), cause: "dependency-in-probe", named: true, rule: "health-aggregated", outcome: rules.True}, own},
	})

	const front = "10.5.2.9 - - [04/Mar/2026:08:10:%s +0000] \"POST /basket HTTP/1.1\" 500 212 \"-\" \"Mozilla/5.0\"\n"
	users := strings.ReplaceAll(front, "%s", "01") + strings.ReplaceAll(front, "%s", "03") + strings.ReplaceAll(front, "%s", "09")
	green := podTable(
		pod+"   1/1     Running   0             3d    10.5.2.9      wk2 ",
		"order-api-5b7d9f6c8-x8c2j   1/1     Running   0             3d    10.5.2.10     wk3 ")
	checkPairs(t, []pair{{"errors on other paths or on the probe's path",
		side{files: map[string]string{"pods.txt": green, "order.yaml": yaml, "access.log": users}, cause: "shallow-probe", named: true, rule: "users-hurt-probes-green", outcome: rules.True},
		side{files: map[string]string{"pods.txt": pods, "order.yaml": yaml, "access.log": users + "10.5.2.1 - - [04/Mar/2026:08:10:10 +0000] \"GET /ready HTTP/1.1\" 500 212 \"-\" \"kube-probe/1.31\"\n10.5.2.1 - - [04/Mar/2026:08:10:20 +0000] \"GET /ready HTTP/1.1\" 500 212 \"-\" \"kube-probe/1.31\"\n",
			"events.txt": eventTable(failed("8s (x60 over 10m)", pod, "Readiness", "HTTP probe failed with statuscode: 500"))},
			cause: "app-error-status", named: true, rule: "users-hurt-probes-green", outcome: rules.False}}})
}

func TestPairsOfAnswers(t *testing.T) {
	const pod = "wiki-7d8f6b9c54-m2x7q"
	pods := podTable(pod + "       0/1     Running   0             15m   10.5.3.7      wk2 ")
	spec := func(probe string) string {
		return deployment("wiki", "ports: [{containerPort: 8080}]\nreadinessProbe:\n"+indent(2, probe))
	}
	failing := func(output string) string { return eventTable(failed("8s (x90 over 15m)", pod, "Readiness", output)) }
	plain := "httpGet: {path: /health, port: 8080}"
	curl := func(code string) string {
		return "$ kubectl exec " + pod + " -- curl -s -o /dev/null -w '%{http_code}\\n' http://localhost:8080/health\n" + code + "\n"
	}
	sidecar := func(port, path, container string) map[string]string {
		return map[string]string{
			"events.txt": eventTable(failed("8s (x90 over 15m)", pod, "Readiness", "HTTP probe failed with statuscode: 503")),
			"describe.txt": strings.NewReplacer("PORT", port, "PATH", path, "MESH", "istio-proxy", "BAD", container).Replace(`Name:         ` + pod + `
Namespace:    kb
Node:         wk2/10.0.0.12
Start Time:   Wed, 04 Mar 2026 08:00:00 +0000
Status:       Running
IP:           10.5.3.7
Containers:
  wiki:
    Port:           8080/TCP
    State:          Running
      Started:      Wed, 04 Mar 2026 08:00:05 +0000
    Ready:          ` + readyUnless(container, "wiki") + `
    Restart Count:  0
    Readiness:      http-get http://:8080/health delay=0s timeout=1s period=10s #success=1 #failure=3
  MESH:
    Port:           15090/TCP
    State:          Running
      Started:      Wed, 04 Mar 2026 08:00:05 +0000
    Ready:          ` + readyUnless(container, "istio-proxy") + `
    Restart Count:  0
    Readiness:      http-get http://:15021/healthz/ready delay=1s timeout=3s period=2s #success=1 #failure=30
Conditions:
  Type              Status
  Ready             False
Events:
  Type     Reason     Age                 From     Message
  ----     ------     ----                ----     -------
  Warning  Unhealthy  8s (x90 over 15m)   kubelet  spec.containers{BAD}: Readiness probe failed: HTTP probe failed with statuscode: 503
`)}
	}
	mesh, app := sidecar("15021", "/healthz/ready", "istio-proxy"), sidecar("8080", "/health", "wiki")
	delete(mesh, "events.txt")
	delete(app, "events.txt")
	app["wiki.log"] = "2026-03-04T08:10:02Z ERROR health check failed: search index is corrupt\n"

	checkPairs(t, []pair{
		{"a sidecar's port or the application's",
			side{files: mesh, cause: "mesh-sidecar", named: true, rule: "mesh-takes-probe", outcome: rules.True},
			side{files: app, cause: "app-error-status", named: true, rule: "mesh-takes-probe", outcome: rules.False}},
		{"a redirect that the kubelet followed or a wrong scheme in the specification",
			side{files: map[string]string{"events.txt": failing(get("https://10.5.3.7:8443/health", "remote error: tls: handshake failure")), "pods.txt": pods, "wiki.yaml": spec(plain)},
				cause: "probe-auth-or-redirect", named: true, rule: "redirect-followed", outcome: rules.True},
			side{files: map[string]string{"events.txt": failing(get("https://10.5.3.7:8080/health", "http: server gave HTTP response to HTTPS client")), "pods.txt": pods, "wiki.yaml": spec("httpGet: {path: /health, port: 8080, scheme: HTTPS}")},
				cause: "protocol-mismatch", named: true, rule: "redirect-followed", outcome: rules.False}},
		{"404 from an allow-list or from a missing route",
			side{files: map[string]string{"events.txt": failing("HTTP probe failed with statuscode: 404"), "pods.txt": pods, "wiki.yaml": spec(plain), "curl.txt": curl("200")},
				cause: "probe-auth-or-redirect", named: true, rule: "not-found-for-prober-only", outcome: rules.True},
			side{files: map[string]string{"events.txt": failing("HTTP probe failed with statuscode: 404"), "pods.txt": pods, "wiki.yaml": spec(plain), "curl.txt": curl("404")},
				cause: "wrong-port-or-path", named: true, rule: "not-found-for-prober-only", outcome: rules.False}},
	})

	target := func(code string) string {
		return `{"TargetHealthDescriptions": [{"Target": {"Id": "10.5.3.7", "Port": 8080}, "HealthCheckPort": "8080", "TargetHealth": {"State": "unhealthy", "Reason": "Target.ResponseCodeMismatch", "Description": "Health checks failed with these codes: [` + code + `]"}}]}`
	}
	ready := podTable(pod + "       1/1     Running   0             15m   10.5.3.7      wk2 ")
	checkPairs(t, []pair{{"the balancer's matcher or an error of the application",
		side{files: map[string]string{"targets.json": target("302"), "pods.txt": ready, "wiki.yaml": spec(plain)}, cause: "load-balancer-only", named: true, rule: "balancer-stricter", outcome: rules.True},
		side{files: map[string]string{"targets.json": target("500"), "pods.txt": pods, "wiki.yaml": spec(plain), "events.txt": failing("HTTP probe failed with statuscode: 500"),
			"wiki.log": "2026-03-04T08:10:02Z ERROR Traceback (most recent call last): KeyError: 'WIKI_SECRET'\n"},
			cause: "app-error-status", named: true, rule: "balancer-stricter", outcome: rules.False}}})
}

func readyUnless(bad, name string) string {
	if bad == name {
		return "False"
	}
	return "True"
}

func TestPairsOfScope(t *testing.T) {
	rowsOn := func(pods ...string) string {
		var rows []string
		for _, p := range pods {
			rows = append(rows, failed("20s (x30 over 6m)", p, "Readiness", get("http://10.7.0.8:8080/ok", awaiting)))
		}
		return eventTable(rows...)
	}
	one := map[string]string{
		"events.txt": rowsOn("mail-6d5f7b8c9d-2b8xk", "mail-6d5f7b8c9d-7pw4q"),
		"pods.txt": podTable(
			"mail-6d5f7b8c9d-2b8xk       0/1     Running   0             6d    10.7.0.8      wk1 ",
			"mail-6d5f7b8c9d-7pw4q       0/1     Running   0             6d    10.7.1.8      wk2 ",
			"mail-6d5f7b8c9d-zz9kl       1/1     Running   0             6d    10.7.2.8      wk3 "),
		"metrics.prom": "# TYPE tomcat_threads_busy_threads gauge\ntomcat_threads_busy_threads{pod=\"mail-6d5f7b8c9d-2b8xk\"} 50\n# TYPE tomcat_threads_config_max_threads gauge\ntomcat_threads_config_max_threads{pod=\"mail-6d5f7b8c9d-2b8xk\"} 50\n",
	}
	many := map[string]string{
		"events.txt": rowsOn("mail-6d5f7b8c9d-2b8xk", "search-9f7c6d5b4-k2m8v", "auth-5c8d7f9b6-x4zqp", "feed-7b9c8d6f5-hh2wn"),
		"pods.txt": podTable(
			"mail-6d5f7b8c9d-2b8xk       0/1     Running   0             6d    10.7.0.8      wk1 ",
			"mail-6d5f7b8c9d-7pw4q       1/1     Running   0             6d    10.7.1.8      wk2 ",
			"search-9f7c6d5b4-k2m8v      0/1     Running   0             9d    10.7.0.9      wk1 ",
			"search-9f7c6d5b4-t6d4j      1/1     Running   0             9d    10.7.2.9      wk3 ",
			"auth-5c8d7f9b6-x4zqp        0/1     Running   0             2d    10.7.0.10     wk1 ",
			"feed-7b9c8d6f5-hh2wn        0/1     Running   0             2d    10.7.0.11     wk1 "),
	}
	node := func(pressure string) string {
		return "Name:               wk1\nRoles:              <none>\nConditions:\n  Type             Status  LastHeartbeatTime                 LastTransitionTime                Reason                       Message\n  ----             ------  -----------------                 ------------------                ------                       -------\n" +
			"  MemoryPressure   False   Wed, 04 Mar 2026 08:10:00 +0000   Wed, 04 Mar 2026 06:00:00 +0000   KubeletHasSufficientMemory   kubelet has sufficient memory available\n" +
			"  DiskPressure     " + pressure + "   Wed, 04 Mar 2026 08:10:00 +0000   Wed, 04 Mar 2026 08:01:00 +0000   KubeletDisk                  kubelet reports\n" +
			"  Ready            True    Wed, 04 Mar 2026 08:10:00 +0000   Wed, 04 Mar 2026 06:00:00 +0000   KubeletReady                 kubelet is posting ready status\n"
	}
	const db = "ledger-db-0"
	execs := failed("15s (x20 over 6m)", db, "Liveness", `command "/bin/check" timed out`)
	disk := func(pressure, extra, log string) map[string]string {
		return map[string]string{"events.txt": eventTable(execs, extra), "node.txt": node(pressure), "db.log": log,
			"pods.txt": podTable(db + "                 0/1     Running   2 (3m ago)    6d    10.7.0.8      wk1 ")}
	}
	full := "2026-03-04 08:09:11.201 UTC [88] FATAL:  could not create lock file \"postmaster.pid\": No space left on device\n2026-03-04 08:09:21.340 UTC [91] ERROR:  could not open file \"base/16384/2619\": No space left on device\n"
	calm := "2026-03-04 08:09:11.201 UTC [88] LOG:  checkpoint starting: time\n2026-03-04 08:09:21.340 UTC [91] LOG:  checkpoint complete\n"
	evicted := "2m (x3 over 6m)        Warning   EvictionThresholdMet Node/wk1                      Attempting to reclaim ephemeral-storage\n"
	checkPairs(t, []pair{
		{"the node or one workload",
			side{files: many, cause: "node-pressure", named: true, rule: "neighbours-fail-too", outcome: rules.True},
			side{files: one, cause: "worker-pool-saturation", named: true, rule: "one-node-only", outcome: rules.False}},
		{"a volume without inodes and DiskPressure False, or the node's own disk",
			side{files: disk("False", "", full), cause: "storage-stall", named: true, rule: "node-troubled", outcome: rules.False},
			side{files: disk("True", evicted, calm), cause: "node-pressure", named: true, rule: "node-troubled", outcome: rules.True}},
	})
}

func TestPairsOfSettings(t *testing.T) {
	const pod = "tagger-85b7c9d6f4-q7v2z"
	pods := podTable(pod + "     0/1     Running   0             40m   10.5.4.3      wk2 ")
	http := get("http://10.5.4.3:8080/ok", awaiting)
	yaml := deployment("tagger", "ports: [{containerPort: 8080}]\nreadinessProbe:\n  httpGet: {path: /ok, port: 8080}\n  timeoutSeconds: 1\n")
	late := func(metrics string) map[string]string {
		return map[string]string{"events.txt": eventTable(failed("8s (x12 over 38m)", pod, "Readiness", http)), "pods.txt": podTable(pod + "     1/1     Running   0             40m   10.5.4.3      wk2 "), "tagger.yaml": yaml, "metrics.prom": metrics}
	}
	const near = `# TYPE prober_probe_duration_seconds histogram
prober_probe_duration_seconds_bucket{container="tagger",pod="tagger-85b7c9d6f4-q7v2z",probe_type="Readiness",le="0.5"} 2
prober_probe_duration_seconds_bucket{container="tagger",pod="tagger-85b7c9d6f4-q7v2z",probe_type="Readiness",le="0.75"} 60
prober_probe_duration_seconds_bucket{container="tagger",pod="tagger-85b7c9d6f4-q7v2z",probe_type="Readiness",le="1"} 200
prober_probe_duration_seconds_bucket{container="tagger",pod="tagger-85b7c9d6f4-q7v2z",probe_type="Readiness",le="+Inf"} 200
prober_probe_duration_seconds_count{container="tagger",pod="tagger-85b7c9d6f4-q7v2z",probe_type="Readiness"} 200
prober_probe_duration_seconds_sum{container="tagger",pod="tagger-85b7c9d6f4-q7v2z",probe_type="Readiness"} 160
`
	periods := func(throttled string) string {
		return "# TYPE container_cpu_cfs_periods_total counter\ncontainer_cpu_cfs_periods_total{pod=\"" + pod + "\",container=\"tagger\"} 20000\n# TYPE container_cpu_cfs_throttled_periods_total counter\ncontainer_cpu_cfs_throttled_periods_total{pod=\"" + pod + "\",container=\"tagger\"} " + throttled + "\n"
	}

	grpc := `timeout: failed to connect service "10.5.4.3:PORT" within 1s: context deadline exceeded`
	grpcFiles := func(port, log string) map[string]string {
		return map[string]string{
			"events.txt": eventTable(
				failed("9s (x18 over 9m)", pod, "Liveness", strings.ReplaceAll(grpc, "PORT", port)),
				normal("9s (x6 over 8m)", "Killing", "Pod/"+pod, "Container tagger failed liveness probe, will be restarted")),
			"pods.txt":    podTable(pod + "     0/1     Running   6 (9s ago)    9m    10.5.4.3      wk2 "),
			"tagger.yaml": deployment("tagger", "ports: [{name: grpc, containerPort: 50051}]\nlivenessProbe:\n  grpc: {port: "+port+"}\n  periodSeconds: 10\n"),
			"app.log":     log}
	}
	loading := "2026-03-04T08:10:02Z INFO loading model shard 3/16\n2026-03-04T08:10:21Z INFO loading model shard 7/16\n2026-03-04T08:10:30Z INFO received SIGTERM\n"
	serving := "2026-03-04T08:10:02Z INFO gRPC server listening on 0.0.0.0:50051\n"

	start := func(startup string) map[string]string {
		return map[string]string{
			"events.txt": eventTable(
				failed("25s (x18 over 9m)", pod, "Liveness", refused("http://10.5.4.3:8080/ok", "10.5.4.3:8080")),
				normal("25s (x6 over 8m)", "Killing", "Pod/"+pod, "Container tagger failed liveness probe, will be restarted"),
				normal("20s (x7 over 9m)", "Started", "Pod/"+pod, "Started container tagger")),
			"pods.txt":    podTable(pod + "     0/1     Running   6 (20s ago)   9m    10.5.4.3      wk2 "),
			"app.log":     loading,
			"tagger.yaml": deployment("tagger", "ports: [{containerPort: 8080}]\n"+startup+"livenessProbe:\n  httpGet: {path: /ok, port: 8080}\n")}
	}
	checkPairs(t, []pair{
		{"timeout too short or starved",
			side{files: late(near + periods("90")), cause: "probe-timeout-too-short", named: true, rule: "success-near-timeout", outcome: rules.True},
			side{files: late(periods("13000")), cause: "cpu-starvation", named: true, rule: "cpu-throttled-hard", outcome: rules.True}},
		{"wrong gRPC port or a gRPC probe that comes too early",
			side{files: grpcFiles("9000", serving), cause: "grpc-health-config", named: true, rule: "grpc-port-elsewhere", outcome: rules.True},
			side{files: grpcFiles("50051", loading), cause: "slow-start", named: true, rule: "grpc-port-not-listed", outcome: rules.False}},
		{"startup probe that passes too early",
			side{files: start("startupProbe:\n  exec: {command: [test, -f, /tmp/booted]}\n"), cause: "slow-start", named: true, rule: "startup-passes-early", outcome: rules.True},
			side{files: start(""), cause: "slow-start", named: true, rule: "startup-passes-early", outcome: rules.Unknown}},
		{"no startup probe",
			side{files: start(""), cause: "slow-start", named: true, rule: "no-startup-probe", outcome: rules.True},
			side{files: start("startupProbe:\n  exec: {command: [test, -f, /tmp/booted]}\n"), cause: "slow-start", named: true, rule: "no-startup-probe", outcome: rules.False}},
		{"the noise of a first start or a real failure",
			side{files: map[string]string{
				"events.txt": eventTable(
					normal("58s", "Started", "Pod/"+pod, "Started container tagger"),
					failed("40s (x2 over 50s)", pod, "Readiness", refused("http://10.5.4.3:8080/ok", "10.5.4.3:8080"))),
				"pods.txt": podTable(pod + "     1/1     Running   0             60s   10.5.4.3      wk2 "), "tagger.yaml": yaml},
				cause: "startup-noise", named: true, rule: "starting-then-ready", outcome: rules.True},
			side{files: map[string]string{
				"events.txt": eventTable(failed("8s (x120 over 39m)", pod, "Readiness", refused("http://10.5.4.3:8080/ok", "10.5.4.3:8080"))),
				"pods.txt":   pods, "tagger.yaml": yaml, "app.log": "2026-03-04T08:10:02Z INFO server listening on 0.0.0.0:3000\n"},
				cause: "wrong-port-or-path", named: true, rule: "starting-then-ready", outcome: rules.NotApplicable}},
	})
}
