package report

import (
	"time"

	"github.com/probedoctor/probedoctor/rules"
	"github.com/probedoctor/probedoctor/sources/evidence"
)

// The lists in this file are made by hand, numbers and names invented: they hold every field once, for the layout. What the
// pipeline really concludes from evidence is tested where the pipeline is.

func at(hm string) time.Time {
	t, err := time.Parse(time.RFC3339, "2026-03-01T"+hm+"Z")
	if err != nil {
		panic(err)
	}
	return t
}

func refs(list ...evidence.Ref) []evidence.Ref { return list }

func say(rule string, weight float64, text string, list ...evidence.Ref) rules.Statement {
	return rules.Statement{Rule: rule, Weight: weight, Statement: text, Refs: list}
}

func exhibit(kind evidence.Kind, source, locator, clock, file string, line int, excerpt string) rules.Exhibit {
	x := rules.Exhibit{Kind: kind, Source: source, Locator: locator, File: file, Line: line, Excerpt: excerpt}
	if clock != "" {
		x.At = at(clock)
	}
	return x
}

// saturated is an incident with a named cause.
func saturated() *rules.DiagnosisList {
	return &rules.DiagnosisList{
		Items: []rules.Diagnosis{{
			Subject: rules.Subject{Cluster: "prod-eu", Namespace: "shop", Kind: "Deployment", Name: "checkout", Container: "app",
				Inferred: "from the pods' names, checkout-7d9c8f6b5-*", Pods: 12, Ready: 7, Desired: 12},
			Window: rules.Window{Start: at("14:02:11"), End: at("14:19:40"), AsOf: at("14:20:05")},
			Symptoms: []rules.Symptom{
				{Kind: "probe-failure", Text: "217 probe failures on 8 pods", Refs: refs("event:0a1b2c3d4e5f", "event:1a1b2c3d4e5f")},
				{Kind: "liveness-restart", Text: "the kubelet restarted 3 containers after liveness failures", Refs: refs("event:2a1b2c3d4e5f")},
				{Kind: "unhealthy-target", Text: "5 of 12 targets unhealthy in tg/checkout: Target.Timeout", Refs: refs("target:0a1b2c3d4e5f")},
			},
			Failures: []rules.FailureGroup{
				{ID: "awaiting-headers/timeout/live", Phase: evidence.PhaseAwaitingHeaders, Outcome: evidence.OutcomeTimeout, Life: "live",
					Result: evidence.Failed, Count: 198, AtLeast: true,
					ByProbe: map[evidence.ProbeKind]int{evidence.Liveness: 69, evidence.Readiness: 129},
					Pods:    []string{"checkout-7d9c8f6b5-2xk4q", "checkout-7d9c8f6b5-9qzlm"},
					Refs:    refs("event:0a1b2c3d4e5f", "event:1a1b2c3d4e5f")},
				{ID: "connect/refused/terminating", Phase: evidence.PhaseConnect, Outcome: evidence.OutcomeRefused, Life: "terminating",
					Result: evidence.Failed, Count: 12, ByProbe: map[evidence.ProbeKind]int{evidence.Readiness: 12},
					Pods: []string{"checkout-7d9c8f6b5-xq7vd"}, Refs: refs("event:3a1b2c3d4e5f")},
				{ID: "connect/refused/starting", Phase: evidence.PhaseConnect, Outcome: evidence.OutcomeRefused, Life: "starting",
					Result: evidence.Failed, Count: 7, ByProbe: map[evidence.ProbeKind]int{evidence.Readiness: 7},
					Pods: []string{"checkout-7d9c8f6b5-new01"}, Refs: refs("event:4a1b2c3d4e5f")},
			},
			Ranked: []rules.Cause{
				{ID: "worker-pool-saturation", Title: "Worker pool saturation", Role: rules.RootCause, Probability: 0.943,
					Explains: []string{"awaiting-headers/timeout/live"}, Runbook: "worker-pool-saturation",
					Summary: "The probe waited for a worker: 198/200 busy on the failing pods, and the handler answers in 0 ms when it runs.",
					For: []rules.Statement{
						say("pool-near-max", 3.1, "tomcat_threads_busy / max ≥ 0.99 on 5 of 5 failing pods, ≤ 0.41 on 7 of 7 healthy ones", "series:0a1b2c3d4e5f"),
						say("handler-fast-yet-timeout", 2.2, "/healthCheck took 0–1 ms when it ran (412 times); 198 probes gave up after 1 s",
							"log:0a1b2c3d4e5f", "log:1a1b2c3d4e5f", "log:2a1b2c3d4e5f", "request:0a1b2c3d4e5f"),
						say("scale-burst", 0.9, "failures 9.4× likelier within 3 min of a scale event (p = 2e-6)", "event:5a1b2c3d4e5f", "autoscaler:0a1b2c3d4e5f"),
						say("older-fail-new-pass", 1.1, "older replicas fail (age 6 h and more), the 4 new ones never did", "pod:0a1b2c3d4e5f", "pod:1a1b2c3d4e5f", "pod:2a1b2c3d4e5f"),
						say("recovers-alone", 0.6, "5 of 5 failing pods passed again without a restart", "pod:0a1b2c3d4e5f"),
						say("same-pool", 0.4, "probes and application share port 8080", "workload:0a1b2c3d4e5f"),
					},
					Against: []rules.Statement{
						say("accept-queue-unknown", -0.3, "no accept-queue counters: a full backlog would read the same"),
					}},
				{ID: "accept-queue-overflow", Title: "Accept queue overflow", Role: rules.RootCause, Probability: 0.031,
					Explains: []string{"awaiting-headers/timeout/live"},
					For:      []rules.Statement{say("timeout-no-answer", 0.7, "no answer within 1 s, 198 times", "event:0a1b2c3d4e5f")},
					Against:  []rules.Statement{say("no-connect-timeouts", -1.4, "no connect timeout among 217 failures", "event:0a1b2c3d4e5f", "event:3a1b2c3d4e5f")}},
				{ID: "cpu-starvation", Title: "CPU starvation", Role: rules.RootCause, Probability: 0.012},
				{ID: "runtime-stall", Title: "Stall inside the runtime", Role: rules.RootCause, Probability: 0.003},
				{ID: "dependency-slowdown", Title: "Dependency slow off the probe path (Redis)", Role: rules.Contributing, Probability: 0.88,
					Summary: "1,204 Redis errors, all on /api/cart and /api/price; none on /healthCheck.",
					For: []rules.Statement{
						say("errors-off-path", 1.8, "1,204 Redis errors on /api/cart and /api/price", "log:3a1b2c3d4e5f", "log:4a1b2c3d4e5f", "log:5a1b2c3d4e5f", "series:1a1b2c3d4e5f"),
					}},
				{ID: "stacked-probes", Title: "Three probers on one path and pool", Role: rules.Contributing, Probability: 0.83,
					Summary: "Liveness, readiness and target group on :8080/healthCheck, 0.3 probes/s a pod.",
					For:     []rules.Statement{say("one-path", 1.5, "three probers on one path", "healthcheck:0a1b2c3d4e5f", "workload:0a1b2c3d4e5f")},
					Against: []rules.Statement{say("light", -0.2, "0.3 of 61 requests/s a pod are probes", "series:2a1b2c3d4e5f")}},
				{ID: "shutdown-noise", Title: "Shutdown noise", Role: rules.Noise, Probability: 0.97, Explains: []string{"connect/refused/terminating"},
					Summary: "12 refused came from a pod that was terminating.",
					For:     []rules.Statement{say("refused-terminating", 2.5, "12 of 12 within its grace period", "event:3a1b2c3d4e5f")}},
				{ID: "startup-noise", Title: "Start-up noise", Role: rules.Noise, Probability: 0.95, Explains: []string{"connect/refused/starting"},
					For: []rules.Statement{say("refused-starting", 2.2, "7 refused in the first 9 s of a container that was healthy after", "event:4a1b2c3d4e5f")}},
			},
			Other: 0.011,
			RuledOut: []rules.RuledOut{{ID: "dependency-in-probe", Title: "Dependency in the probe", Rule: "handler-fast-yet-timeout",
				Reason: "the handler answered 412 times in 0–1 ms, 96 % of what the explanation needs", Refs: refs("log:0a1b2c3d4e5f", "log:1a1b2c3d4e5f")}},
			Trace: []rules.TraceEntry{
				{Rule: "phase-awaiting-headers", Order: 110, Title: "Probes time out awaiting headers", Outcome: rules.True,
					Statement: "198 failures reached the phase awaiting headers", Refs: refs("event:0a1b2c3d4e5f")},
				{Rule: "handler-fast-yet-timeout", Order: 220, Title: "The health handler is fast, yet the probe times out", Outcome: rules.True,
					Statement: "/healthCheck took 0–1 ms when it ran", Refs: refs("log:0a1b2c3d4e5f")},
				{Rule: "throttled", Order: 310, Title: "The container is throttled", Outcome: rules.False},
				{Rule: "accept-queue-full", Order: 320, Title: "The accept queue is full", Outcome: rules.Unknown, Missing: []string{"socket.acceptQueue", "socket.backlog"}},
				{Rule: "exec-slow", Order: 410, Title: "The exec probe's command is slow", Outcome: rules.NotApplicable},
			},
			Missing: []rules.Missing{
				{Fact: "socket.acceptQueue", Why: "no listening sockets were read", Gain: 0.06,
					Collect: "kubectl -n shop exec checkout-7d9c8f6b5-2xk4q -c app -- ss -ltn 'sport = :8080'"},
				{Fact: "cpu.throttled", Why: "the series was not in the metrics that were read", Gain: 0.02,
					Collect: `sum by (pod) (rate(container_cpu_cfs_throttled_periods_total{namespace="shop",pod=~"checkout-.*",container="app"}[5m]))`},
			},
			Remediation: []rules.Step{
				{For: "worker-pool-saturation", Step: "Raise timeoutSeconds from 1 to 3 on both probes", Horizon: rules.Now,
					Does: "buys headroom, stops the liveness kills", DoesNot: "free a single worker", Risk: "a dead pod is noticed 6 s later",
					Undo:    "kubectl -n shop rollout undo deploy/checkout",
					Command: `kubectl -n shop patch deploy/checkout --type=json -p '[{"op":"replace","path":"/spec/template/spec/containers/0/livenessProbe/timeoutSeconds","value":3}]'`},
				{For: "dependency-slowdown", Step: "Fix the Redis codec errors on /api/cart and /api/price", Horizon: rules.Next,
					Does: "the calls that hold workers end sooner"},
				{For: "worker-pool-saturation", Step: "Size maxThreads (200) and acceptCount (100) against peak plus probes", Horizon: rules.Next,
					Does: "room for the peak", DoesNot: "shorten the calls", Undo: "Set the old values: kubectl -n shop set env deploy/checkout SERVER_TOMCAT_THREADS_MAX=200"},
				{For: "stacked-probes", Step: "Give probes their own port and pool (management.server.port), one prober a path", Horizon: rules.Later,
					Does: "a busy pool no longer reads as a dead pod", Command: "cat <<'PATCH'\nmanagement:\n  server:\n    port: 8081\nPATCH"},
			},
			NotAFix: []rules.NotAFix{{For: "worker-pool-saturation", Step: "Make /healthCheck ping Redis", Why: "it would fail for the wrong reason, on every pod at once"}},
			Verify: []rules.Verify{{For: "worker-pool-saturation", Step: "Watch the older replicas through the next scale event; new ones that are green prove nothing",
				Command: "kubectl -n shop get events --field-selector reason=Unhealthy --watch"}},
			Evidence: map[evidence.Ref]rules.Exhibit{
				"event:0a1b2c3d4e5f": exhibit(evidence.KindEvent, "kubernetes", "shop/checkout-7d9c8f6b5-2xk4q", "14:19:40", "events.json", 118,
					`Readiness probe failed: Get "http://10.4.2.17:8080/healthCheck": context deadline exceeded (Client.Timeout exceeded while awaiting headers)`),
				"event:1a1b2c3d4e5f": exhibit(evidence.KindEvent, "kubernetes", "shop/checkout-7d9c8f6b5-9qzlm", "14:19:22", "events.json", 164,
					`Liveness probe failed: Get "http://10.4.3.9:8080/healthCheck": context deadline exceeded (Client.Timeout exceeded while awaiting headers)`),
				"event:2a1b2c3d4e5f":       exhibit(evidence.KindEvent, "kubernetes", "shop/checkout-7d9c8f6b5-9qzlm", "14:12:03", "events.json", 201, "Container app failed liveness probe, will be restarted"),
				"event:3a1b2c3d4e5f":       exhibit(evidence.KindEvent, "kubernetes", "shop/checkout-7d9c8f6b5-xq7vd", "14:08:10", "events.json", 240, "Readiness probe failed: dial tcp 10.4.1.8:8080: connect: connection refused"),
				"event:4a1b2c3d4e5f":       exhibit(evidence.KindEvent, "kubernetes", "shop/checkout-7d9c8f6b5-new01", "14:05:31", "events.json", 262, "Readiness probe failed: dial tcp 10.4.7.3:8080: connect: connection refused"),
				"event:5a1b2c3d4e5f":       exhibit(evidence.KindEvent, "kubernetes", "shop/checkout", "14:04:50", "events.json", 12, "New size: 8; reason: cpu resource utilization (percentage of request) above target"),
				"autoscaler:0a1b2c3d4e5f":  exhibit(evidence.KindAutoscaler, "kubernetes", "shop/checkout", "14:04:50", "hpa.yaml", 1, "HorizontalPodAutoscaler checkout 4 to 12, now 12"),
				"series:0a1b2c3d4e5f":      exhibit(evidence.KindSeries, "prometheus", `tomcat_threads_busy_threads{namespace="shop"}`, "14:11:20", "busy.json", 1, "198 of 200 at 14:11:20, 18 samples over 190"),
				"series:1a1b2c3d4e5f":      exhibit(evidence.KindSeries, "prometheus", `redis_errors_total{namespace="shop"}`, "14:11:20", "redis.json", 1, "1,204 in 17 min"),
				"series:2a1b2c3d4e5f":      exhibit(evidence.KindSeries, "prometheus", `http_server_requests_seconds_count{uri="/healthCheck"}`, "14:11:20", "http.json", 1, "0.3 /s"),
				"log:0a1b2c3d4e5f":         exhibit(evidence.KindLog, "logs", "shop/checkout-7d9c8f6b5-2xk4q/app", "14:11:02", "app.log", 91, "INFO o.e.HealthController GET /healthCheck 200 in 0 ms"),
				"log:1a1b2c3d4e5f":         exhibit(evidence.KindLog, "logs", "shop/checkout-7d9c8f6b5-2xk4q/app", "14:11:12", "app.log", 99, "INFO o.e.HealthController GET /healthCheck 200 in 0 ms"),
				"log:2a1b2c3d4e5f":         exhibit(evidence.KindLog, "logs", "shop/checkout-7d9c8f6b5-9qzlm/app", "14:11:15", "app.log", 102, "INFO o.e.HealthController GET /healthCheck 200 in 1 ms"),
				"log:3a1b2c3d4e5f":         exhibit(evidence.KindLog, "logs", "shop/checkout-7d9c8f6b5-2xk4q/app", "14:11:03", "app.log", 93, "ERROR c.s.cart.CartService /api/cart RedisCodecException: cannot decode value"),
				"log:4a1b2c3d4e5f":         exhibit(evidence.KindLog, "logs", "shop/checkout-7d9c8f6b5-2xk4q/app", "14:11:04", "app.log", 94, "ERROR c.s.price.PriceService /api/price command timed out after 2 second(s)"),
				"log:5a1b2c3d4e5f":         exhibit(evidence.KindLog, "logs", "shop/checkout-7d9c8f6b5-9qzlm/app", "14:11:04", "app.log", 97, "ERROR c.s.cart.CartService /api/cart RedisCodecException: 値を復号できません 🧨"),
				"request:0a1b2c3d4e5f":     exhibit(evidence.KindRequest, "logs", "shop/checkout-7d9c8f6b5-2xk4q/app", "14:11:12", "access.log", 5, `"GET /healthCheck HTTP/1.1" 200 2 0`),
				"pod:0a1b2c3d4e5f":         exhibit(evidence.KindPod, "kubernetes", "shop/checkout-7d9c8f6b5-2xk4q", "", "pods.json", 4, "checkout-7d9c8f6b5-2xk4q 0/1 Running, 6 h old"),
				"pod:1a1b2c3d4e5f":         exhibit(evidence.KindPod, "kubernetes", "shop/checkout-7d9c8f6b5-9qzlm", "", "pods.json", 310, "checkout-7d9c8f6b5-9qzlm 0/1 Running, 1 restart, 6 h old"),
				"pod:2a1b2c3d4e5f":         exhibit(evidence.KindPod, "kubernetes", "shop/checkout-7d9c8f6b5-new01", "", "pods.json", 690, "checkout-7d9c8f6b5-new01 1/1 Running, 14 min old"),
				"workload:0a1b2c3d4e5f":    exhibit(evidence.KindWorkload, "kubernetes", "shop/checkout", "", "deploy.yaml", 1, "readiness and liveness: http-get :8080/healthCheck timeout=1s period=10s"),
				"healthcheck:0a1b2c3d4e5f": exhibit(evidence.KindHealthCheck, "aws", "tg/checkout", "", "tg.json", 1, "HTTP traffic-port /healthCheck every 10 s, timeout 2 s"),
				"target:0a1b2c3d4e5f":      exhibit(evidence.KindTarget, "aws", "tg/checkout 10.4.2.17:8080", "", "health.json", 7, "unhealthy Target.Timeout: Request timed out"),
			},
		}},
		Coverage: []evidence.Coverage{
			{Source: evidence.SourceEvents, Status: evidence.CoverageOK, Detail: "264 rows"},
			{Source: evidence.SourcePods, Status: evidence.CoverageOK, Detail: "12 pods"},
			{Source: evidence.SourceSpecs, Status: evidence.CoverageOK},
			{Source: evidence.SourceLogs, Status: evidence.CoveragePartial, Detail: "3 of 12 pods; app.log:2041: the last record is cut"},
			{Source: evidence.SourceMetrics, Status: evidence.CoverageOK, Detail: "3 series"},
			{Source: evidence.SourceBalancer, Status: evidence.CoverageOK, Detail: "aws tg/checkout"},
			{Source: evidence.SourceNodes, Status: evidence.CoverageDenied, Detail: `nodes is forbidden: User "ops" cannot list resource "nodes"`},
			{Source: evidence.SourceSockets, Status: evidence.CoverageAbsent},
		},
	}
}

// undecidedList is an incident for which the evidence is too thin: one pasted line without a date.
func undecidedList() *rules.DiagnosisList {
	return &rules.DiagnosisList{
		Items: []rules.Diagnosis{{
			Subject:  rules.Subject{Namespace: "shop", Kind: "Pod", Name: "search-0", Pods: 1, Ready: -1, Desired: -1},
			Window:   rules.Window{Relative: true, StartAge: "12m0s", EndAge: "37s"},
			Symptoms: []rules.Symptom{{Kind: "probe-failure", Text: "9 probe failures on 1 pod", Refs: refs("event:aaaaaaaaaaaa")}},
			Failures: []rules.FailureGroup{{ID: "awaiting-headers/timeout/unknown", Phase: evidence.PhaseAwaitingHeaders, Outcome: evidence.OutcomeTimeout,
				Life: "unknown", Result: evidence.Failed, Count: 9, ByProbe: map[evidence.ProbeKind]int{evidence.Readiness: 9}, Pods: []string{"search-0"}, Refs: refs("event:aaaaaaaaaaaa")}},
			Ranked: []rules.Cause{
				{ID: "worker-pool-saturation", Title: "Worker pool saturation", Role: rules.RootCause, Probability: 0.31, Explains: []string{"awaiting-headers/timeout/unknown"},
					For: []rules.Statement{say("phase-awaiting-headers", 0.8, "9 probes connected and got no headers in time", "event:aaaaaaaaaaaa")}},
				{ID: "runtime-stall", Title: "Stall inside the runtime", Role: rules.RootCause, Probability: 0.17, Explains: []string{"awaiting-headers/timeout/unknown"},
					For: []rules.Statement{say("phase-awaiting-headers", 0.4, "9 probes connected and got no headers in time", "event:aaaaaaaaaaaa")}},
				{ID: "cpu-starvation", Title: "CPU starvation", Role: rules.RootCause, Probability: 0.09},
			},
			Other: 0.2,
			Missing: []rules.Missing{
				{Fact: "pool.busy", Why: "no metrics were given", Gain: 0.42, Collect: `max by (pod) (tomcat_threads_busy_threads{namespace="shop",pod="search-0"})`},
				{Fact: "handler.p99", Why: "no logs were given", Gain: 0.3, Collect: "kubectl -n shop logs search-0 --since=15m"},
			},
			Remediation: []rules.Step{{For: "worker-pool-saturation", Step: "Raise timeoutSeconds", Horizon: rules.Now, Does: "buys headroom", DoesNot: "does not free a worker"}},
			Evidence: map[evidence.Ref]rules.Exhibit{"event:aaaaaaaaaaaa": exhibit(evidence.KindEvent, "paste", "shop/search-0", "", "stdin", 1,
				"Readiness probe failed: Get \"http://10.4.2.17:8080/up\": context deadline exceeded (Client.Timeout exceeded while awaiting headers)")},
		}},
		Coverage: []evidence.Coverage{
			{Source: evidence.SourceEvents, Status: evidence.CoverageOK, Detail: "1 row"},
			{Source: evidence.SourceLogs, Status: evidence.CoverageAbsent},
			{Source: evidence.SourceMetrics, Status: evidence.CoverageAbsent},
			{Source: evidence.SourceInput, Status: evidence.CoveragePartial, Detail: "stdin:2: neither an event nor a log line: \"pls help\""},
		},
	}
}

// emptyList is what is said when nothing is wrong in what was read.
func emptyList() *rules.DiagnosisList {
	return &rules.DiagnosisList{Coverage: []evidence.Coverage{
		{Source: evidence.SourceEvents, Status: evidence.CoverageOK, Detail: "40 rows"},
		{Source: evidence.SourceMetrics, Status: evidence.CoverageTimeout, Detail: "no answer from monitoring/prometheus-operated within 5 s"},
		{Source: evidence.SourceLogs, Status: evidence.CoverageAbsent},
	}}
}

// twoIncidents has one that is explained by noise alone, and one without any candidate.
func twoIncidents() *rules.DiagnosisList {
	return &rules.DiagnosisList{
		Items: []rules.Diagnosis{
			{
				Subject: rules.Subject{Namespace: "shop", Kind: "StatefulSet", Name: "cart", Container: "cart", Pods: 3, Ready: 3, Desired: 3},
				Window:  rules.Window{Start: at("14:02:11"), End: at("14:02:19")},
				Failures: []rules.FailureGroup{{ID: "connect/refused/terminating", Phase: evidence.PhaseConnect, Outcome: evidence.OutcomeRefused,
					Life: "terminating", Result: evidence.Failed, Count: 1, ByProbe: map[evidence.ProbeKind]int{evidence.Readiness: 1}, Pods: []string{"cart-2"}, Refs: refs("event:bbbbbbbbbbbb")}},
				Ranked: []rules.Cause{
					{ID: "shutdown-noise", Title: "Shutdown noise", Role: rules.Noise, Probability: 0.93, Explains: []string{"connect/refused/terminating"},
						For: []rules.Statement{say("refused-terminating", 2.5, "1 of 1 within the grace period of a pod that was terminating", "event:bbbbbbbbbbbb")}},
					{ID: "app-crash", Title: "Application crash", Role: rules.RootCause, Probability: 0.12},
				},
				NotAFix:  []rules.NotAFix{{For: "shutdown-noise", Step: "Raise failureThreshold", Why: "the pod is on its way out"}},
				Evidence: map[evidence.Ref]rules.Exhibit{"event:bbbbbbbbbbbb": exhibit(evidence.KindEvent, "kubernetes", "shop/cart-2", "14:02:19", "e.json", 3, "Readiness probe failed: connection refused")},
			},
			{
				Subject:  rules.Subject{Pods: -1, Ready: -1, Desired: -1},
				Symptoms: []rules.Symptom{{Kind: "failing-request", Text: "GET /up answered 503, 4 times", Refs: refs("request:cccccccccccc")}},
				Evidence: map[evidence.Ref]rules.Exhibit{"request:cccccccccccc": exhibit(evidence.KindRequest, "logs", "", "", "stdin", 4, "GET /up 503")},
			},
		},
		Coverage: []evidence.Coverage{{Source: evidence.SourceEvents, Status: evidence.CoverageOK}},
	}
}
