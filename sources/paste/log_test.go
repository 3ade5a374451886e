package paste

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/probedoctor/probedoctor/sources/evidence"
)

// logWant is what one line should give; its times are text, and "yearless" or "dayless" parts stay so.
type logWant struct {
	at, level, logger, thread, route, message, origin, node string
}

func gotLog(l evidence.LogLine) logWant {
	w := logWant{"", l.Level, l.Logger, l.Thread, l.Route, l.Message, l.Origin, l.Node}
	if !l.At.IsZero() {
		w.at = l.At.Format("2006-01-02T15:04:05.999999999Z07:00")
	}
	if w.origin == "app" {
		w.origin = ""
	}
	return w
}

func TestLogFormats(t *testing.T) {
	tests := []struct {
		name, line string
		want       logWant
	}{
		{"spring boot 2", "2026-11-29 14:03:11.123  WARN 1 --- [nio-8080-exec-17] c.e.cart.CartCache : decode failed on /api/cart",
			logWant{at: "2026-11-29T14:03:11.123Z", level: "WARN", logger: "c.e.cart.CartCache", thread: "nio-8080-exec-17", route: "/api/cart", message: "decode failed on /api/cart"}},
		{"spring boot 3", "2026-11-29T14:03:11.123+01:00 ERROR 7 --- [cart] [nio-8080-exec-3] [65f0a1b2c3d4e5f60718293a4b5c6d7e-18293a4b5c6d7e8f] c.e.cart.CartApi                        : GET /api/cart?id=4 failed",
			logWant{at: "2026-11-29T13:03:11.123Z", level: "ERROR", logger: "c.e.cart.CartApi", thread: "nio-8080-exec-3", route: "/api/cart", message: "GET /api/cart?id=4 failed"}},
		{"logback", "14:03:11.123 [http-nio-8080-exec-17] ERROR c.e.X - codec: bad byte",
			logWant{at: "0200-01-01T14:03:11.123Z", level: "ERROR", logger: "c.e.X", thread: "http-nio-8080-exec-17", message: "codec: bad byte"}},
		{"logback with mdc", "2026-11-29 14:03:11,123 [http-8] WARN  c.e.X [path=/api/cart, id=9] - slow",
			logWant{at: "2026-11-29T14:03:11.123Z", level: "WARN", logger: "c.e.X", thread: "http-8", route: "/api/cart", message: "slow"}},
		{"log4j level first", "2026-11-29 14:03:11,123 INFO  [main] org.acme.Start:55 - up",
			logWant{at: "2026-11-29T14:03:11.123Z", level: "INFO", logger: "org.acme.Start", thread: "main", message: "up"}},
		{"jboss", "14:03:11,123 WARN  [org.acme.Pool] (default task-4) no connection on /api/cart",
			logWant{at: "0200-01-01T14:03:11.123Z", level: "WARN", logger: "org.acme.Pool", thread: "default task-4", route: "/api/cart", message: "no connection on /api/cart"}},
		{"tomcat", "29-Nov-2026 14:03:11.123 INFO [main] org.apache.catalina.startup.Catalina.start Server startup in [812] milliseconds",
			logWant{at: "2026-11-29T14:03:11.123Z", level: "INFO", thread: "main", message: "org.apache.catalina.startup.Catalina.start Server startup in [812] milliseconds"}},
		{"go std", "2023/01/11 15:05:44 http: TLS handshake error from 10.0.8.8:60122: remote error: tls: bad certificate",
			logWant{at: "2023-01-11T15:05:44Z", message: "http: TLS handshake error from 10.0.8.8:60122: remote error: tls: bad certificate"}},
		{"slog text", `time=2026-11-29T14:03:11.123Z level=WARN msg="pool is full" path=/api/cart waiting=17`,
			logWant{at: "2026-11-29T14:03:11.123Z", level: "WARN", route: "/api/cart", message: "pool is full"}},
		{"slog default", "2026/11/29 14:03:11 WARN pool is full waiting=17",
			logWant{at: "2026-11-29T14:03:11Z", level: "WARN", message: "pool is full waiting=17"}},
		{"zap console", "2026-11-29T14:03:11.123Z\twarn\tcart\tcart/cache.go:12\tdecode failed\t{\"path\": \"/api/cart\"}",
			logWant{at: "2026-11-29T14:03:11.123Z", level: "WARN", logger: "cart", route: "/api/cart", message: `decode failed {"path": "/api/cart"}`}},
		{"zap json", `{"level":"error","ts":1700000001.25,"logger":"pg","msg":"probe","error":"dial tcp: refused"}`,
			logWant{at: "2023-11-14T22:13:21.25Z", level: "ERROR", logger: "pg", message: "probe: dial tcp: refused"}},
		{"nested record", `> {"level":"info","ts":1700000001.25,"logger":"postgres","msg":"record","record":{"log_time":"2023-11-14 22:13:21.1 UTC","message":"canceling statement due to user request","application_name":"pg_isready"}}`,
			logWant{at: "2023-11-14T22:13:21.25Z", level: "INFO", logger: "postgres", message: "canceling statement due to user request"}},
		{"doubled key", `{"level":"error","ts":"2023-11-14T22:13:22.5Z","name":"c","msg":"probe","name":"c-2","error":"Get \"https://10.30.4.4:8443/st\": EOF"}`,
			logWant{at: "2023-11-14T22:13:22.5Z", level: "ERROR", message: `probe: Get "https://10.30.4.4:8443/st": EOF`}},
		{"short keys", `{"L":"WARN","T":"2022-04-04T04:04:04.004Z","N":"agent","M":"readiness check","error":"db [HTTP 503] starting"}`,
			logWant{at: "2022-04-04T04:04:04.004Z", level: "WARN", logger: "agent", message: "readiness check: db [HTTP 503] starting"}},
		{"logstash", `{"@timestamp":"2026-11-29T14:03:11.123Z","@version":"1","message":"codec","logger_name":"c.e.X","thread_name":"exec-1","level":"ERROR","path":"/api/cart","stack_trace":"c.e.CodecException: bad\n\tat c.e.X.run(X.java:1)\n\tat c.e.Y.run(Y.java:2)\n\tat c.e.Z.run(Z.java:3)\n"}`,
			logWant{at: "2026-11-29T14:03:11.123Z", level: "ERROR", logger: "c.e.X", thread: "exec-1", route: "/api/cart", message: "codec\nc.e.CodecException: bad\nat c.e.X.run(X.java:1)\nat c.e.Y.run(Y.java:2)"}},
		{"log4j2 instant", `{"instant":{"epochSecond":1700000001,"nanoOfSecond":250000000},"thread":"main","level":"INFO","loggerName":"c.e.X","message":"up"}`,
			logWant{at: "2023-11-14T22:13:21.25Z", level: "INFO", logger: "c.e.X", thread: "main", message: "up"}},
		{"pino", `{"level":50,"time":1700000001250,"pid":7,"hostname":"cart-1","name":"cart","msg":"redis down"}`,
			logWant{at: "2023-11-14T22:13:21.25Z", level: "ERROR", logger: "cart", message: "redis down"}},
		{"epoch nanoseconds", `{"severity":"warning","timestamp":1700000001250000000,"message":"m"}`,
			logWant{at: "2023-11-14T22:13:21.25Z", level: "WARN", message: "m"}},
		{"cut json", `{"level":"warn","ts":"2026-11-29T14:03:11Z","msg":"cut in the fields","path":"/api/ca`,
			logWant{at: "2026-11-29T14:03:11Z", level: "WARN", message: "cut in the fields"}},
		{"docker json", `{"log":"2026-11-29 14:03:11.123  WARN 1 --- [main] c.e.X : slow\n","stream":"stdout","time":"2026-11-29T14:03:11.2Z"}`,
			logWant{at: "2026-11-29T14:03:11.123Z", level: "WARN", logger: "c.e.X", thread: "main", message: "slow"}},
		{"cri", "2026-11-29T14:03:11.123456789Z stderr F just text",
			logWant{at: "2026-11-29T14:03:11.123456789Z", message: "just text"}},
		{"python", "2025-10-03 14:05:51,310 - [ERROR] healthz answers 503: process is gone",
			logWant{at: "2025-10-03T14:05:51.31Z", level: "ERROR", message: "healthz answers 503: process is gone"}},
		{"python named", "2026-11-29 14:03:11,123 - cart - WARNING - slow",
			logWant{at: "2026-11-29T14:03:11.123Z", level: "WARN", logger: "cart", message: "slow"}},
		{"python escaped in a json list", `"2024-10-01 08:00:00,111 - [a1][2] - ERROR - ranker - check not passed",`,
			logWant{at: "2024-10-01T08:00:00.111Z", level: "ERROR", logger: "ranker", thread: "a1", message: "check not passed"}},
		{"python basic", "WARNING:cart.cache:no entry",
			logWant{level: "WARN", logger: "cart.cache", message: "no entry"}},
		{"loguru", "2026-11-29 14:03:11.123 | ERROR    | app.main:run:12 - broken",
			logWant{at: "2026-11-29T14:03:11.123Z", level: "ERROR", logger: "app.main:run", message: "broken"}},
		{"gunicorn", "[2026-11-29 14:03:11 +0000] [7] [CRITICAL] WORKER TIMEOUT (pid:31)",
			logWant{at: "2026-11-29T14:03:11Z", level: "FATAL", message: "WORKER TIMEOUT (pid:31)"}},
		{"jvm uptime", "[901.220s][info][gc] GC(77) Pause Full (G1 Compaction Pause) 3071M->3066M(3072M) 4410.402ms",
			logWant{level: "INFO", logger: "gc", message: "GC(77) Pause Full (G1 Compaction Pause) 3071M->3066M(3072M) 4410.402ms"}},
		{"celery", "[2026-11-29 14:03:11,123: WARNING/MainProcess] consumer: cannot connect",
			logWant{at: "2026-11-29T14:03:11.123Z", level: "WARN", thread: "MainProcess", message: "consumer: cannot connect"}},
		{"ruby", "[----] I, [2022-12-01T10:00:00.000000 #7:1f0]  INFO -- : Completed 200 OK in 61022ms (Views: 0.1ms | ActiveRecord: 40211.0ms)",
			logWant{at: "2022-12-01T10:00:00Z", level: "INFO", message: "Completed 200 OK in 61022ms (Views: 0.1ms | ActiveRecord: 40211.0ms)"}},
		{"rails", `Started GET "/api/cart?x=1" for 10.0.0.1 at 2026-11-29 14:03:11 +0100`,
			logWant{at: "2026-11-29T13:03:11Z", route: "/api/cart", message: `Started GET "/api/cart?x=1" for 10.0.0.1 at 2026-11-29 14:03:11 +0100`}},
		{"seastar", "INFO  2022-12-01 10:00:00,000 [shard 0] init - serving",
			logWant{at: "2022-12-01T10:00:00Z", level: "INFO", logger: "init", thread: "shard 0", message: "serving"}},
		{"redis", "1:M 01 Dec 2022 10:00:00.000 # Warning: slow fork",
			logWant{at: "2022-12-01T10:00:00Z", level: "WARN", logger: "redis", message: "Warning: slow fork"}},
		{"nginx error", "2022/12/01 10:00:00 [error] 31#31: *77 [lua] init.lua:612: balancer failed to pick a no",
			logWant{at: "2022-12-01T10:00:00Z", level: "ERROR", logger: "nginx", origin: "proxy", message: "[lua] init.lua:612: balancer failed to pick a no"}},
		{"nginx upstream", `2022/12/01 10:00:00 [error] 31#31: *7 upstream timed out (110: Connection timed out), client: 10.0.0.9, server: _, request: "GET /api/cart HTTP/1.1", upstream: "http://10.30.2.7:8080/api/cart"`,
			logWant{at: "2022-12-01T10:00:00Z", level: "ERROR", logger: "nginx", origin: "proxy", route: "/api/cart", message: `upstream timed out (110: Connection timed out), client: 10.0.0.9, server: _, request: "GET /api/cart HTTP/1.1", upstream: "http://10.30.2.7:8080/api/cart"`}},
		{"nginx start", "nginx: [emerg] 1#0: bind() to 0.0.0.0:80 failed (13: Permission denied)",
			logWant{level: "FATAL", logger: "nginx", origin: "proxy", message: "bind() to 0.0.0.0:80 failed (13: Permission denied)"}},
		{"rust", "INFO [my_exporter::net] peer closed",
			logWant{level: "INFO", logger: "my_exporter::net", message: "peer closed"}},
		{"env_logger", "[2026-11-29T14:03:11Z WARN  my_exporter::net] peer closed",
			logWant{at: "2026-11-29T14:03:11Z", level: "WARN", logger: "my_exporter::net", message: "peer closed"}},
		{"apache error", "[Sat Aug 08 05:47:31.118204 2020] [mpm_prefork:notice] [pid 54] AH00163: Apache/2.4.41 configured",
			logWant{at: "2020-08-08T05:47:31.118204Z", level: "INFO", logger: "mpm_prefork", message: "AH00163: Apache/2.4.41 configured"}},
		{"istio", "2021-03-30T12:00:02.000001Z\tinfo\tEnvoy proxy is NOT ready: config not received from Pilot",
			logWant{at: "2021-03-30T12:00:02.000001Z", level: "INFO", message: "Envoy proxy is NOT ready: config not received from Pilot"}},
		{"istio envoy", "2021-03-30T12:00:01.000001Z\twarning\tenvoy config\tStreamAggregatedResources gRPC config stream closed: 14, no healthy upstream",
			logWant{at: "2021-03-30T12:00:01.000001Z", level: "WARN", logger: "envoy config", origin: "proxy", message: "StreamAggregatedResources gRPC config stream closed: 14, no healthy upstream"}},
		{"envoy", "[Envoy (Epoch 0)] [2020-06-11 08:12:07.118][23][warning][config] [bazel-out/x/grpc_stream.h:91] gRPC config stream closed: 14",
			logWant{at: "2020-06-11T08:12:07.118Z", level: "WARN", logger: "config", thread: "23", origin: "proxy", message: "gRPC config stream closed: 14"}},
		{"klog", "E1103 18:25:31.000412    1717 remote_runtime.go:277] ListPodSandbox failed",
			logWant{at: "0400-11-03T18:25:31.000412Z", level: "ERROR", logger: "remote_runtime", origin: "kubelet", message: "ListPodSandbox failed"}},
		{"klog in syslog", "Nov  3 18:22:10 w-9 kubelet[3]: I1103 18:22:04.110028    1717 prober.go:111] Readiness probe failed",
			logWant{at: "0400-11-03T18:22:04.110028Z", level: "INFO", logger: "prober", origin: "kubelet", node: "w-9", message: "Readiness probe failed"}},
		{"etcd in syslog", "Nov  3 18:22:09 w-9 etcd[640]: 2020-11-04 00:22:09.450 W | wal: sync duration of 1.93s, expected less than 1s",
			logWant{at: "2020-11-04T00:22:09.45Z", level: "WARN", logger: "etcd", node: "w-9", message: "wal: sync duration of 1.93s, expected less than 1s"}},
		{"kernel", "Jul 08 02:11:10 w-9 kernel: IPv4: martian source 10.30.0.1 from 10.30.7.7, on dev veth9a0b",
			logWant{at: "0400-07-08T02:11:10Z", logger: "kernel", origin: "kernel", node: "w-9", message: "IPv4: martian source 10.30.0.1 from 10.30.7.7, on dev veth9a0b"}},
		{"containerd", `time="2023-10-10T10:10:10.123456789Z" level=error msg="ExecSync for \"c0ffee\" failed" error="rpc error: code = DeadlineExceeded desc = failed to exec in container: timeout 3s exceeded: context deadline exceeded"`,
			logWant{at: "2023-10-10T10:10:10.123456789Z", level: "ERROR", message: `ExecSync for "c0ffee" failed: rpc error: code = DeadlineExceeded desc = failed to exec in container: timeout 3s exceeded: context deadline exceeded`}},
		{"syslog priority", "<129>Nov 29 20:11:15 haproxy[17680]: Server be/x is DOWN. 4 active and 0 backup servers left.",
			logWant{at: "0400-11-29T20:11:15Z", level: "FATAL", logger: "haproxy", origin: "proxy", message: "Server be/x is DOWN. 4 active and 0 backup servers left."}},
		{"dotnet", "fail: Microsoft.AspNetCore.Server.Kestrel[13]",
			logWant{level: "ERROR", logger: "Microsoft.AspNetCore.Server.Kestrel", message: "Microsoft.AspNetCore.Server.Kestrel[13]"}},
		{"stern", "cart-0 app 2026-11-29T14:03:11.123Z WARN c.e.X - slow",
			logWant{at: "2026-11-29T14:03:11.123Z", level: "WARN", logger: "c.e.X", message: "slow"}},
		{"docker compose", "cart_1  | 2026-11-29 14:03:11 WARN c.e.X: slow",
			logWant{at: "2026-11-29T14:03:11Z", level: "WARN", logger: "c.e.X", message: "slow"}},
		{"kubetail", "[cart-5d8f-2xk] 2026-11-29 14:03:11 WARN c.e.X: slow",
			logWant{at: "2026-11-29T14:03:11Z", level: "WARN", logger: "c.e.X", message: "slow"}},
		{"serilog", "[14:03:11 WRN] slow",
			logWant{at: "0200-01-01T14:03:11Z", level: "WARN", message: "slow"}},
		{"nest", "[Nest] 7  - 11/29/2026, 2:03:11 PM   ERROR [CartService] redis is gone +3ms",
			logWant{at: "2026-11-29T14:03:11Z", level: "ERROR", logger: "CartService", message: "redis is gone +3ms"}},
		{"winston", "2026-11-29T14:03:11.123Z [error]: redis is gone",
			logWant{at: "2026-11-29T14:03:11.123Z", level: "ERROR", message: "redis is gone"}},
		{"bare time", "09:42:14.310Z  Plan created   plan_id=01a7c4e2... workspace=net-prod-eu2",
			logWant{at: "0200-01-01T09:42:14.31Z", message: "Plan created   plan_id=01a7c4e2... workspace=net-prod-eu2"}},
		{"short time", "09:42:14.4     SIGTERM received",
			logWant{at: "0200-01-01T09:42:14.4Z", message: "SIGTERM received"}},
		{"quoted key values", `"starting server" name="health probe" addr="[::]:9412"`,
			logWant{message: `starting server name="health probe" addr="[::]:9412"`}},
		{"pod prefix", "[pod/cart-0/app] 2026-11-29 14:03:11,123 ERROR [main] c.e.X - broken",
			logWant{at: "2026-11-29T14:03:11.123Z", level: "ERROR", logger: "c.e.X", thread: "main", message: "broken"}},
		{"exception alone", "httpx.LocalProtocolError: Illegal header value b'Token '",
			logWant{level: "ERROR", message: "httpx.LocalProtocolError: Illegal header value b'Token '"}},
		{"numbers are no header", "2026-11-29 14:03:11 WARN 3 retries left for upstream",
			logWant{at: "2026-11-29T14:03:11Z", level: "WARN", message: "3 retries left for upstream"}},
		{"words are no logger", "2026-11-29 14:03:11 WARN retry - no route",
			logWant{at: "2026-11-29T14:03:11Z", level: "WARN", message: "retry - no route"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			l, _, ok := logLine(tt.line)
			if !ok {
				t.Fatal("not read as a log line")
			}
			if diff := cmp.Diff(tt.want, gotLog(l), cmp.AllowUnexported(logWant{})); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestNoLogLine(t *testing.T) {
	for _, s := range []string{
		"", "just some prose about a probe", "error reading the file", "apiVersion: v1", "  - name: x", "NAME READY STATUS", "{}",
		`{"a":1}`, "10.0.0.1", "12345", "cart-0   1/1     Running   0              2m", "# HELP x y", `x{a="b"} 1`, "key=value",
		"info", "GET /x", "Note: this is prose", "Warning: this cluster is old", "error: it does not work", "Type     Reason", "00:11:22:33:44:55", "I think so", "http://10.0.0.1/x",
	} {
		if l, r, ok := logLine(s); ok {
			t.Errorf("%q was read as %+v %+v", s, l, r)
		}
	}
}

// reqWant is what one line should give as a request; duration is text, empty when not known.
type reqWant struct {
	at, method, path string
	status           int
	duration, ua     string
	client, by       string
}

func gotReq(r *evidence.Request) reqWant {
	w := reqWant{"", r.Method, r.Path, r.Status, "", r.UserAgent, r.Client, r.By}
	if !r.At.IsZero() {
		w.at = r.At.Format(time.RFC3339Nano)
	}
	if r.Duration != nil {
		w.duration = r.Duration.String()
	}
	if w.by == "server" {
		w.by = ""
	}
	return w
}

func TestLogRequests(t *testing.T) {
	tests := []struct {
		name, line string
		want       reqWant
	}{
		{"go map", "time=2022-08-19T04:12:44Z level=info msg=completed handling request http_request=map[headers:map[user-agent:kube-probe/1.23] host:10.30.1.1:4444 method:GET path:/ready remote:10.0.8.8:51000] http_response=map[size:98 status:503 took:1.204s]",
			reqWant{"2022-08-19T04:12:44Z", "GET", "/ready", 503, "1.204s", "kube-probe/1.23", "10.0.8.8", ""}},
		{"common", `10.0.8.8 - - [02/Sep/2021:17:00:05 +0000] "GET /account/sign-in?x=1 HTTP/1.1" 302 0`,
			reqWant{"2021-09-02T17:00:05Z", "GET", "/account/sign-in", 302, "", "", "10.0.8.8", ""}},
		{"tls hello", `10.0.8.9 - - [02/Sep/2021:17:00:11 +0000] "\x16\x03\x01\x01\xfc" 400 226`,
			reqWant{at: "2021-09-02T17:00:11Z", status: 400, client: "10.0.8.9"}},
		{"combined", `10.0.8.8 - - [02/Sep/2021:17:00:05 +0200] "GET /up HTTP/1.1" 200 12 "-" "kube-probe/1.29"`,
			reqWant{"2021-09-02T15:00:05Z", "GET", "/up", 200, "", "kube-probe/1.29", "10.0.8.8", ""}},
		{"tomcat %D", `10.0.8.8 - - [02/Sep/2021:17:00:05 +0000] "GET /up HTTP/1.1" 200 12 0`,
			reqWant{"2021-09-02T17:00:05Z", "GET", "/up", 200, "0s", "", "10.0.8.8", ""}},
		{"%D behind the agent", `10.0.8.8 - - [02/Sep/2021:17:00:05 +0000] "GET /up HTTP/1.1" 200 12 "-" "ELB-HealthChecker/2.0" 17`,
			reqWant{"2021-09-02T17:00:05Z", "GET", "/up", 200, "17ms", "ELB-HealthChecker/2.0", "10.0.8.8", ""}},
		{"size only", `10.0.8.8 - - [02/Sep/2021:17:00:05 +0000] "GET /up HTTP/1.1" 200 1234`,
			reqWant{"2021-09-02T17:00:05Z", "GET", "/up", 200, "", "", "10.0.8.8", ""}},
		{"too long for milliseconds", `10.0.8.8 - - [02/Sep/2021:17:00:05 +0000] "GET /up HTTP/1.1" 200 12 4000000`,
			reqWant{"2021-09-02T17:00:05Z", "GET", "/up", 200, "", "", "10.0.8.8", ""}},
		{"%D and %T", `10.0.8.8 - - [02/Sep/2021:17:00:05 +0000] "GET /up HTTP/1.1" 200 12 523 0.523`,
			reqWant{"2021-09-02T17:00:05Z", "GET", "/up", 200, "523ms", "", "10.0.8.8", ""}},
		{"nginx request time", `10.0.8.8 - - [02/Sep/2021:17:00:05 +0000] "GET /up HTTP/1.1" 200 12 "-" "kube-probe/1.29" 0.004 0.003`,
			reqWant{"2021-09-02T17:00:05Z", "GET", "/up", 200, "4ms", "kube-probe/1.29", "10.0.8.8", ""}},
		{"nginx keys", `127.0.0.1 "GET /up HTTP/1.1" 504 rt=1.002 uaddr=10.30.2.7:8080 ust=504 urt=1.001`,
			reqWant{"", "GET", "/up", 504, "1.002s", "", "127.0.0.1", "balancer"}},
		{"ingress-nginx", `10.0.8.8 - - [02/Sep/2021:17:00:05 +0000] "GET /up HTTP/2.0" 200 612 "-" "curl/8.5" 115 0.001 [shop-cart-80] [] 10.244.0.4:80 612 0.000 200 5f1e`,
			reqWant{"2021-09-02T17:00:05Z", "GET", "/up", 200, "1ms", "curl/8.5", "10.0.8.8", "balancer"}},
		{"traefik", `10.0.8.8 - - [02/Sep/2021:17:00:05 +0000] "GET /up HTTP/1.1" 200 2 "-" "-" 17 "cart@kubernetes" "http://10.30.2.7:8080" 12ms`,
			reqWant{"2021-09-02T17:00:05Z", "GET", "/up", 200, "12ms", "", "10.0.8.8", ""}},
		{"uvicorn", `INFO:     10.0.0.1:1234 - "GET /healthz HTTP/1.1" 200 OK`,
			reqWant{"", "GET", "/healthz", 200, "", "", "10.0.0.1", ""}},
		{"werkzeug, escaped and cut", `10.30.0.7 - - [01/Oct/2024 08:00:01] \"GET /ok HTTP/1.1\" 500 -",`,
			reqWant{"2024-10-01T08:00:01Z", "GET", "/ok", 500, "", "", "10.30.0.7", ""}},
		{"logfmt, escaped and cut", `time=\"2019-05-05T05:05:05Z\" level=info duration=3.1ms method=GET path=\"/accounts/<id>`,
			reqWant{"2019-05-05T05:05:05Z", "GET", "/accounts/<id>", 0, "3.1ms", "", "", ""}},
		{"bare", "09:40:11       GET /livez 200 OK", reqWant{"0200-01-01T09:40:11Z", "GET", "/livez", 200, "", "", "", ""}},
		{"handler", "2026-11-29 14:03:11.123  INFO 1 --- [nio-8080-exec-1] c.e.HealthApi : handled GET /healthCheck in 0 ms status=200",
			reqWant{"2026-11-29T14:03:11.123Z", "GET", "/healthCheck", 200, "0s", "", "", ""}},
		{"morgan", "GET /livez 200 1.234 ms - 12", reqWant{"", "GET", "/livez", 200, "1.234ms", "", "", ""}},
		{"gin", `[GIN] 2026/11/29 - 14:03:11 | 200 |     1.2ms |  10.0.0.1 | GET      "/livez"`,
			reqWant{"2026-11-29T14:03:11Z", "GET", "/livez", 200, "1.2ms", "", "10.0.0.1", ""}},
		{"pino-http", `{"level":30,"time":1700000001250,"req":{"method":"GET","url":"/livez?full","headers":{"host":"10.0.0.1:8080","user-agent":"kube-probe/1.29"},"remoteAddress":"::ffff:10.0.8.8"},"res":{"statusCode":200},"responseTime":3,"msg":"request completed"}`,
			reqWant{"2023-11-14T22:13:21.25Z", "GET", "/livez", 200, "3ms", "kube-probe/1.29", "10.0.8.8", ""}},
		{"unit in the key", `{"level":"info","ts":"2026-11-29T14:03:11Z","msg":"served","method":"GET","path":"/livez","status":200,"duration_us":1500}`,
			reqWant{"2026-11-29T14:03:11Z", "GET", "/livez", 200, "1.5ms", "", "", ""}},
		{"no unit", `{"level":"info","ts":"2026-11-29T14:03:11Z","msg":"served","method":"GET","path":"/livez","status":200,"duration":1500}`,
			reqWant{"2026-11-29T14:03:11Z", "GET", "/livez", 200, "", "", "", ""}},
		{"lograge", "method=GET path=/livez format=json controller=HealthController action=show status=200 duration=12.31 view=0.10",
			reqWant{"", "GET", "/livez", 200, "12.31ms", "", "", ""}},
		{"gcp", `{"severity":"INFO","timestamp":"2026-11-29T14:03:11Z","httpRequest":{"requestMethod":"GET","requestUrl":"https://shop.test/livez","status":502,"latency":"1.002s","userAgent":"GoogleHC/1.0","remoteIp":"35.191.0.1"}}`,
			reqWant{"2026-11-29T14:03:11Z", "GET", "/livez", 502, "1.002s", "GoogleHC/1.0", "35.191.0.1", ""}},
		{"envoy", `[2026-11-29T14:03:11.123Z] "GET /api/cart HTTP/1.1" 503 UH - 0 19 1 - "-" "Envoy/HC" "id" "10.30.2.7:8080" "-"`,
			reqWant{"2026-11-29T14:03:11.123Z", "GET", "/api/cart", 503, "1ms", "Envoy/HC", "", "balancer"}},
		{"istio", `[2026-11-29T14:03:11.123Z] "GET /up HTTP/1.1" 200 - via_upstream - "-" 0 19 4 3 "10.0.8.8" "kube-probe/1.29" "id" "shop.test" "10.30.2.7:8080" inbound|8080||`,
			reqWant{"2026-11-29T14:03:11.123Z", "GET", "/up", 200, "4ms", "kube-probe/1.29", "10.0.8.8", "balancer"}},
		{"alb, no answer", `http 2023-09-09T09:09:09.000001Z app/k8s-shop/0a1b 198.51.100.9:41022 10.30.2.7:8080 -1 -1 -1 504 - 201 0 "GET http://shop.test:80/ HTTP/1.1"`,
			reqWant{"2023-09-09T09:09:09.000001Z", "GET", "/", 504, "", "", "198.51.100.9", "balancer"}},
		{"alb", `https 2023-09-09T09:09:09.000001Z app/k8s-shop/0a1b 198.51.100.9:41022 10.30.2.7:8080 0.001 0.020 0.000 200 200 201 10 "GET https://shop.test:443/cart?x HTTP/1.1" "curl/8.5" ECDHE TLSv1.2`,
			reqWant{"2023-09-09T09:09:09.000001Z", "GET", "/cart", 200, "21ms", "curl/8.5", "198.51.100.9", "balancer"}},
		{"haproxy", `<134>Nov 29 20:11:21 haproxy[17680]: 127.0.0.1:45468 [29/Nov/2026:20:11:21.895] fe be/good 0/0/0/3/3 200 3351 - - LR-- 1/1/0/0/0 0/0 "GET /up;csv HTTP/1.1"`,
			reqWant{"2026-11-29T20:11:21.895Z", "GET", "/up;csv", 200, "3ms", "", "127.0.0.1", "balancer"}},
		{"haproxy without an answer", `10.0.8.8:45468 [29/Nov/2026:20:11:21.895] fe be/slow 0/0/0/-1/2001 504 198 - - sH-- 1/1/0/0/0 0/0 "GET /up HTTP/1.1"`,
			reqWant{"2026-11-29T20:11:21.895Z", "GET", "/up", 504, "2.001s", "", "10.0.8.8", "balancer"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, r, ok := logLine(tt.line)
			if !ok || r == nil {
				t.Fatal("no request was read")
			}
			if diff := cmp.Diff(tt.want, gotReq(r), cmp.AllowUnexported(reqWant{})); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestNoRequest(t *testing.T) {
	for _, s := range []string{
		"2026-11-29 14:03:11 WARN 1 --- [main] c.e.CartClient : GET /api/cart 503 in 12 ms", // a client's own request
		"2026-11-29 14:03:11 WARN 1 --- [main] c.e.X : slow on /api/cart",
		"2026-11-29 14:03:11 WARN 1 --- [main] c.e.X : GET /api/cart failed",
		"2026-11-29 14:03:11 WARN 1 --- [main] c.e.X : decode failed on /api/cart 404",
	} {
		if _, r, ok := logLine(s); !ok || r != nil {
			t.Errorf("%q: ok %v, request %+v", s, ok, r)
		}
	}
}

func TestSettleDurations(t *testing.T) {
	read := func(micros ...int) []evidence.Request {
		var out []evidence.Request
		for i := range 24 {
			s := `10.0.8.8 - - [02/Sep/2021:17:00:05 +0000] "GET /up HTTP/1.1" 200 12 ` + itoa(micros[i%len(micros)])
			_, r, _ := logLine(s)
			r.Excerpt = s
			out = append(out, *r)
		}
		return out
	}
	for _, tt := range []struct {
		values []int
		want   time.Duration
	}{
		{[]int{0, 250, 1900}, 1900 * time.Millisecond},
		{[]int{523, 250, 1900}, 1900 * time.Microsecond},
	} {
		log := read(tt.values...)
		settleDurations(log)
		if got := *log[2].Duration; got != tt.want {
			t.Errorf("%v: got %v, want %v", tt.values, got, tt.want)
		}
	}
}

func itoa(n int) string {
	var b []byte
	for ; n > 0 || len(b) == 0; n /= 10 {
		b = append([]byte{byte('0' + n%10)}, b...)
	}
	return string(b)
}

func TestContinueRecord(t *testing.T) {
	l, _, _ := logLine("2026-11-29 14:03:11,123 ERROR [main] c.e.X - broken on /api/cart")
	traced := 0
	for _, s := range []string{
		"java.lang.IllegalStateException: no codec", "\tat c.e.X.run(X.java:1)", "\tat c.e.Y.run(Y.java:2)", "\tat c.e.Z.run(Z.java:2)",
		"Caused by: java.io.IOException: closed",
	} {
		if !continuesRecord(s) {
			t.Errorf("%q does not continue the record", s)
		}
		traced = continueRecord(&l, s, traced)
	}
	if want := "broken on /api/cart\njava.lang.IllegalStateException: no codec\nat c.e.X.run(X.java:1)\nat c.e.Y.run(Y.java:2)"; l.Message != want {
		t.Errorf("got %q", l.Message)
	}
	for _, s := range []string{"", "2026-11-29 14:03:11,123 ERROR x", "  2026-11-29 14:03:11 x", "Error: prose", "plain words"} {
		if continuesRecord(s) && s != "Error: prose" {
			t.Errorf("%q continues a record", s)
		}
	}
}

func FuzzLogLine(f *testing.F) {
	for _, s := range []string{
		"2026-11-29 14:03:11.123  WARN 1 --- [nio-8080-exec-17] c.e.cart.CartCache : text on /api/cart",
		`{"level":"error","ts":1700000001.25,"msg":"x","record":{"message":"y"}}`,
		`time=2022-08-19T04:12:44Z level=info http_request=map[headers:map[user-agent:k] path:/ready] http_response=map[took:1.2s]`,
		`10.0.8.8 - - [02/Sep/2021:17:00:05 +0000] "GET /up HTTP/1.1" 200 12 "-" "kube-probe/1.29" 0.004`,
		`http 2023-09-09T09:09:09.000001Z app/k 198.51.100.9:41022 10.30.2.7:8080 -1 -1 -1 504 - 201 0 "GET http://shop.test:80/ HTTP/1.1"`,
		`[2026-11-29T14:03:11.123Z] "GET /up HTTP/1.1" 200 - via_upstream - "-" 0 19 4 3 "-" "ua" "id" "h" "10.30.2.7:8080"`,
		"1:M 01 Dec 2022 10:00:00.000 # x", "I, [2022-12-01T10:00:00.000000 #7]  INFO -- : x", "[Nest] 7  - 11/29/2026, 2:03:11 PM LOG [B] t",
		"Nov  3 18:22:10 w-9 kubelet[3]: I1103 18:22:04.110028    1717 prober.go:111] \"x\" a=\"b\"",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		l, r, ok := logLine(s)
		if !ok && (r != nil || l.Message != "") {
			t.Error("a line that is no record gave something")
		}
		if len(l.Message) > maxMessage {
			t.Errorf("a message of %d bytes", len(l.Message))
		}
		if r != nil && (r.Status != 0 && (r.Status < 100 || r.Status > 599) || r.Duration != nil && *r.Duration < 0) {
			t.Errorf("impossible request %+v", r)
		}
		continueRecord(&l, s, 0)
	})
}

func BenchmarkLogLine(b *testing.B) {
	lines := map[string]string{
		"spring": "2026-11-29 14:03:11.123  WARN 1 --- [nio-8080-exec-17] c.e.cart.CartCache : decode failed on /api/cart",
		"json":   `{"@timestamp":"2026-11-29T14:03:11.123Z","message":"codec","logger_name":"c.e.X","thread_name":"exec-1","level":"ERROR","path":"/api/cart"}`,
		"access": `10.0.8.8 - - [02/Sep/2021:17:00:05 +0200] "GET /up HTTP/1.1" 200 12 "-" "kube-probe/1.29" 0.004`,
		"logfmt": `time=2026-11-29T14:03:11.123Z level=WARN msg="pool is full" path=/api/cart waiting=17`,
		"prose":  strings.Repeat("nothing that a log would print ", 4),
	}
	for name, s := range lines {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(s)))
			b.ReportAllocs()
			for b.Loop() {
				logLine(s)
			}
		})
	}
}
