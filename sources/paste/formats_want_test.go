package paste

// formatsWant is what each text of testdata/formats gives, one line an item as brief writes it.
var formatsWant = map[string][]string{
	"1.1.txt": {
		`event | Pod | Warning | Unhealthy | x9 | 7m0s ago to 2m37s ago | kubelet | "Readiness probe failed: Get \"http://10.21.4.9:8084/up\": dial tcp 10.21.4.9:8084: connect: connection refused"`,
	},
	"1.2.txt": {
		`event | Pod | Warning | Unhealthy | x41 | 9m0s ago to 1m14s ago | kubelet@pool-b7.lan | "Liveness probe failed: HTTP probe failed with statuscode: 502"`,
	},
	"1.3.txt": {
		`event | Pod | indexer | Warning | Unhealthy | x6 | 8m0s ago to 19s ago | kubelet@batch-pool-0c9d51aa-tz4k | "Readiness probe failed: dial tcp 10.60.2.3:7700: getsockopt: connection refused"`,
	},
	"1.4.txt": {
		`event | Pod | resolver | Warning | Unhealthy | x1 | 22s ago | kubelet@***** | "Liveness probe failed: Get http://10.60.7.8:10054/healthcheck: net/http: request canceled (Client.Timeout exceeded while awaiting headers)"`,
	},
	"1.5.txt": {
		`event | Pod | web | Unhealthy | x5 | 2015-05-22T09:41:03Z to 2015-05-22T09:43:37Z | kubelet@10.240.0.7 | "Liveness probe failed: Get http://10.244.1.6:80/: dial tcp 10.244.1.6:80: connection refused"`,
	},
	"1.6.txt": {
		`event | Pod | mailer | Warning | Unhealthy | x4 | 39s ago to 9s ago | kubelet | "Readiness probe failed: HTTP probe failed with statuscode: 500"`,
	},
	"1.8.txt": {
		`event | Pod | Warning | Unhealthy | x77 | 5h0m0s ago to 3m0s ago | kubelet | combined | "Readiness probe failed: OCI runtime exec failed: exec failed: unable to start container process: current working directory is outside of container mount namespace root"`,
	},
	"1.9.txt": {
		`event | Pod | Warning | Unhealthy | x18 | 3h9m0s ago to 22m0s ago | kubelet | "Startup probe failed: HTTP probe failed with statuscode: 503"`,
		`event | Pod/lab/core-0 | core | Warning | BackOff | x240 | 3h9m0s ago to 2m20s ago | kubelet | "Back-off restarting failed container core in pod core-0_lab(5b1f0a5e-0c7b-4b57-9a13-6f2f4a6a1c90)"`,
	},
	"1.10.txt": {
		`event | Pod | Warning | Unhealthy | x7 | 1m36s ago to 26s ago | kubelet | "Startup probe failed: dial tcp 10.21.9.2:9092: connect: connection refused"`,
	},
	"1.11.txt": {
		`event | Pod | Warning | Unhealthy | x6 | 3m0s ago to 44s ago | "Readiness probe failed: Get \"http://.../alive\": context deadline exceeded (Client.Timeout exceeded while awaiting headers)"`,
		`event | Pod | worker | Normal | Killing | x≥1 | "Container worker failed liveness probe, will be restarted"`,
	},
	"1.12.txt": {
		`event | Pod | Warning | Unhealthy | x≥1 | "Startup probe failed: Get \"http://[fd12:3456:xxxx::7]:8200/sys/ping\": dial tcp [fd12:3456:xxxx::7]:8200: connect: connection refused"`,
		`event | Pod | Warning | Unhealthy | x≥1 | 8s ago | "Liveness probe failed: Get \"http://[fd12:3456:xxxx::7]:"`,
	},
	"1.13.txt": {
		`event | Pod | Warning | Unhealthy | x1 | 5m0s ago | kubelet@n4 | "Liveness probe failed: Get http://10.21.3.3:8009/up: EOF"`,
		`event | Pod | Unhealthy | x≥1 | n4 | "Readiness probe failed: Get http://10.21.3.3:8009/up: read TCP 10.21.3.1:40100->10.21.3.3:8009: read: connection reset by peer"`,
	},
	"1.14.txt": {
		`event | Pod | Warning | Unhealthy | x12 | 52m0s ago to 51m0s ago | kubelet | "Liveness probe failed: HTTP probe failed with statuscode: 410"`,
	},
	"1.15.txt": {
		`pod | Pod`,
		`  container`,
		`    probe | liveness | http | https | sec-web | /live | delay 12 timeout 2 period 15 success 1 failure 4`,
		`    probe | readiness | exec | /bin/sh·-ec·test -f /run/ok && exit 0 | delay 3 timeout 1 period 4 success 1 failure 2`,
		`    probe | startup | tcp | tcp | 8300 | delay 0 timeout 1 period 10 success 1 failure 30`,
		`    probe | liveness | grpc | grpc | 7443 | main | delay 0 timeout 1 period 10 success 1 failure 3`,
	},
	"1.16.txt": {
		`event | Pod | search | Warning | Unhealthy | x7 | 12m0s ago to 9s ago | kubelet@wp-3 | "Liveness probe failed:   % Total    % Received % Xferd  Average Speed   Time    Time     Time  Current\n                                 Dload  Upload   Total   Spent    Left  Speed\n  0     0    0     0    0     0      0      0 --:--:-- --:--:-- --:--:--     0curl: (28) Operation timed out after 1001 milliseconds with 0 bytes received"`,
	},
	"1.17.txt": {
		`event | Pod | Warning | Unhealthy | x212 | 2h0m0s ago to 1m28s ago | kubelet@gke-x-1a2b | "Liveness probe failed: config:\naddr=:6565 conn_timeout=250ms rpc_timeout=2s\ntls=true\nestablishing connection\ntimeout: failed to connect service \":6565\" within 250ms"`,
	},
	"1.18.txt": {
		`event | Pod | Warning | Unhealthy | x1 | 3m0s ago | kubelet@n7 | "Readiness probe failed: Mon Mar 2 07:30:11 UTC 2020 INFO: env loaded\npsql: FATAL: the database system is starting up"`,
	},
	"1.19.txt": {
		`event | Pod | Warning | Unhealthy | x6 | 21m0s ago to 18m0s ago | kubelet | "Readiness probe failed:"`,
	},
	"2.1.txt": {
		`event | Pod//ledger-2 | Warning | Unhealthy | x≥1 | 38s ago | "Readiness probe failed: Get \"http://10.30.0.2:9100/r\": EOF"`,
	},
	"2.2.txt": {
		`event | Pod//ledger-2 | Warning | Unhealthy | x≥1 | "Liveness probe failed: dial tcp 10.30.0.2:9100: i/o timeout"`,
	},
	"2.3.txt": {
		`event | Pod/billing/ledger-2 | Warning | Unhealthy | x≥1 | 6s ago | "Readiness probe failed: HTTP probe failed with statuscode: 429"`,
	},
	"2.4.txt": {
		`event | Pod//ledger-2 | ledger | Warning | Unhealthy | x4 | 1m11s ago to 12s ago | kubelet@kind-worker | "Readiness probe failed: Get \"http://10.30.0.2:9100/r\": dial tcp 10.30.0.2:9100: connect: connection refused"`,
	},
	"2.5.txt": {
		`event | Pod//ledger-2 | Warning | Unhealthy | x45 | 51h0m0s ago to 9m0s ago | "Liveness probe failed: HTTP probe failed with statuscode: 500"`,
	},
	"2.6.txt": {
		`event | Pod/team-a/crawl-2-9plzw | crawl | Warning | Unhealthy | x31 | 1h0m0s ago to 5m0s ago | kubelet@ip-XXXX | "Liveness probe errored: command timed out"`,
	},
	"2.7.txt": {
		`event | Pod/ops/tracer-x | Scheduled | x≥1 | "Successfully assigned ops/tracer-x to n-5"`,
		`event | Pod | Unhealthy | x≥1 | 2022-02-04T06:10:31Z | "Liveness probe failed:"`,
		`event | Pod | tracer | Killing | x≥1 | 2022-02-04T06:10:41Z | "Container tracer failed liveness probe, will be restarted"`,
	},
	"2.8.txt": {
		`event | Pod/net/cni-agent-w2 | Warning | Unhealthy | x≥1 | 7m0s ago | "Readiness probe failed: command \"/bin/agent -ready\" timed out"`,
		`event | Pod/net/store-pg-1 | Warning | Unhealthy | x≥1 | 3m0s ago | "Readiness probe failed: localhost:5432 - no response"`,
	},
	"2.10.txt": {
		`event | Pod//mailer-6c9f-xw2k | Unhealthy | x≥1 | kubelet | "Liveness probe failed: HTTP probe failed with statuscode: 404"`,
	},
	"2.11.txt": {
		`event | Pod | Unhealthy | x≥1 | 2022-03-27T08:14:06Z | "Readiness probe failed:"`,
		`event | Pod | vswitch | Killing | x≥1 | 2022-03-27T08:14:21Z | "Container vswitch failed liveness probe, will be restarted"`,
	},
	"2.12.txt": {
		`event | Pod | Warning | Unhealthy | x17 | 2019-08-01T10:00:11Z to 2019-08-01T10:05:51Z | kubelet@n-2 | "Liveness probe failed: Get \"http://10.30.0.2:9100/r\": EOF"`,
	},
	"2.13.txt": {
		`event | Pod//router-7 | Warning | ProbeError | x≥1 | 4m12s ago | "Readiness probe error: HTTP probe failed with statuscode: 500..."`,
		`event | Pod//router-7 | Warning | Unhealthy | x≥1 | 4m12s ago | "Readiness probe failed: HTTP probe failed with statuscode: 500"`,
	},
	"3.1.txt": {
		`event | Pod | Unhealthy | x≥1 | "Startup probe failed: Get \"https://10.30.8.1:6443/livez\": net/http: TLS handshake timeout"`,
	},
	"3.2.txt": {
		`event | Pod | Unhealthy | x≥1 | "Readiness probe errored: failed to start exec \"0f3c\": exec: \"cat /var/ready | grep 1\": stat cat /var/ready | grep 1: no such file or directory"`,
		`event | Pod | Unhealthy | x≥1 | "Readiness probe failed: exec failed: starting container process caused \"exec: \"bash -c /probe\": stat bash -c /probe: no such file or directory\""`,
		`event | Pod | Unhealthy | x≥1 | "Liveness probe errored: rpc error: code = DeadlineExceeded desc = context deadline exceeded"`,
	},
	"3.3.txt": {
		`event | Pod | Unhealthy | x≥1 | "Liveness probe failed: Get http://_<pod IP>_:9191/x: EOF"`,
		`event | Pod | Unhealthy | x≥1 | "Liveness probe failed: Get http://<pod-ip>:9191/x: EOF"`,
		`event | Pod | Unhealthy | x≥1 | "Liveness probe failed: Get http://a.b.c.d:9191/x: EOF"`,
		`event | Pod | Unhealthy | x≥1 | "Liveness probe failed: Get http://…:9191/x: EOF"`,
		`event | Pod | Unhealthy | x≥1 | "Liveness probe failed: Get \"http://.../x\": EOF"`,
		`event | Pod | Unhealthy | x≥1 | "Liveness probe failed: Get \".../x\": EOF"`,
		`event | Pod | Unhealthy | x≥1 | "Liveness probe failed: Get \"http://[...]:9191/x\": EOF"`,
		`event | Pod | Unhealthy | x≥1 | "Liveness probe failed: Get \"http://10.xx.x.7:9191/x\": EOF"`,
		`event | Pod | Unhealthy | x≥1 | "Liveness probe failed: Get http://IP:9191/x: EOF"`,
	},
	"3.4.txt": {
		`event | Pod | Unhealthy | x≥1 | "Readiness probe failed: Get \"http://10.30.8.9:9990/p\": context deadline exceeded (Client.Timeout exceeded while awaiting headers"`,
		`event | Pod | Unhealthy | x≥1 | "Liveness probe failed: context deadline exc"`,
		`event | Pod | app | Killing | x≥1 | "Container app failed liveness probe, will be restartedand then nothing helps"`,
	},
	"3.5.txt": {
		`event | Pod/payments/mailer | Warning | KubePodCrashLooping | x≥1 | alertmanager | "[FIRING:1] KubePodCrashLooping (payments/mailer)"`,
		`event | Pod/payments/mailer-0 | mailer | Warning | CPUThrottlingHigh | x≥1 | alertmanager | "61.2% throttling of CPU in namespace payments for container mailer in pod mailer-0."`,
		`event | Pod | Warning | CPUThrottlingHigh | x≥1 | alertmanager | "alertname\t\tCPUThrottlingHigh"`,
		`series | container_cpu_cfs_throttled_ratio | container=mailer,namespace=payments,pod=mailer-0 | 0.612`,
	},
	"3.6.txt": {
		`series | container_cpu_cfs_throttled_periods_total | 211`,
		`series | container_cpu_cfs_periods_total | 1900`,
		`series | finding_heap | name=heap,role=value,unit=bytes | 2.04011e+09`,
		`series | finding_heap | name=heap,role=of,unit=bytes | 2.14748e+09`,
		`series | finding_sessions | name=sessions,role=value | 0`,
		`series | finding_queue | name=queue,role=value | 0`,
		`series | finding_auth | name=auth,role=value | 0`,
	},
	"3.7.txt": {
		`series | http_req_duration_seconds | stat=p(95) | 1.87`,
		`series | http_req_duration_seconds | stat=max | 14.2`,
		`series | http_req_failed_ratio | 0.004`,
	},
	"3.8.txt": {
		`event | Pod | Unhealthy | x≥1 | "Liveness probe failed: dial tcp 10.30.2.2:7001: i/o timeout"`,
		`event | Pod | Unhealthy | x≥1 | "Readiness probe failed: dial tcp 10.30.2.2:7002: i/o timeout"`,
	},
	"4.1.txt": {
		`event | Pod | app | Warning | Unhealthy | x19 | 2h8m0s ago to 3m2s ago | kubelet | "Liveness probe failed: Get \"http://10.30.5.5:4000/ok\": EOF"`,
	},
	"4.2.txt": {
		`event | Pod | Warning | Unhealthy | x1 | 30s ago | kubelet | "Readiness probe errored: strconv.Atoi: parsing \"mgmt\": invalid syntax"`,
	},
	"4.3.txt": {
		`event | Pod | ProbeFailed | x≥1 | "Liveness probe failed: HTTP probe failed with status code: 500"`,
	},
	"5.1.txt": {
		`log | kubelet | Pod/data/kvs-0 | kvs | w-9 | INFO | 0400-11-03T18:22:04.110028Z | prober | "Readiness probe failed: Get http://10.30.6.6:8500/v1/ok: net/http: request canceled while waiting for connection (Client.Timeout exceeded while awaiting headers)"`,
		`log | node | w-9 | WARN | 2020-11-04T00:22:09.45Z | etcd | "wal: sync duration of 1.93s, expected less than 1s"`,
	},
	"5.2.txt": {
		`log | kubelet | ERROR | 0400-11-03T18:25:31.000412Z | remote_runtime | "ListPodSandbox with filter nil from runtime service failed: rpc error: code = Unavailable desc = connection error"`,
	},
	"5.3.txt": {
		`log | kubelet | kubelet | "skipping pod synchronization - [container runtime status check may not have completed yet, PLEG is not healthy: pleg has yet to be succ"`,
	},
	"5.4.txt": {
		`log | kubelet | Pod/data/kvs-0 | INFO | 0400-06-11T06:40:02.774913Z | kubelet | "SyncLoop (probe) probe=\"liveness\" status=\"unhealthy\" pod=\"data/kvs-0\""`,
		`log | kubelet | Pod/data/kvs-0 | kvs | INFO | 0400-06-11T06:40:02.775008Z | prober | "Liveness probe failed: command timed out"`,
	},
	"5.5.txt": {
		`log | kubelet | mk-2 | ERROR | 0400-03-09T11:08:40.512204Z | log | "ExecSync cmd from runtime service failed err=\"rpc error: code = NotFound desc = failed to exec in container: failed to load task: no running task found\" containerID=\"b7c9\" cmd=[\"sh\",\"-c\",\"test \\\"$(cat /run/s)\\\" = ok\"]"`,
	},
	"5.6.txt": {
		`log | node | ERROR | 2023-10-10T10:10:10.123456789Z | "ExecSync for \"c0ffee\" failed: rpc error: code = DeadlineExceeded desc = failed to exec in container: timeout 3s exceeded: context deadline exceeded"`,
	},
	"5.7.txt": {
		`log | kernel | 2022-07-08T02:11:09Z | "nf_conntrack: nf_conntrack: table full, dropping packet"`,
		`log | kernel | "TCP: out of memory -- consider tuning tcp_mem"`,
		`log | kernel | "oom-kill:constraint=CONSTRAINT_MEMCG,task=java,pid=4411,uid=1000"`,
		`log | kernel | w-9 | 0400-07-08T02:11:10Z | kernel | "IPv4: martian source 10.30.0.1 from 10.30.7.7, on dev veth9a0b"`,
	},
	"6.9.txt": {
		`log | app | 0200-01-01T10:00:00.1Z | "job done"`,
		`log | app | 0200-01-01T10:02:31.9Z | "job created"`,
	},
	"6.10.txt": {
		`log | app | "starting server name=\"health probe\" addr=\"[::]:8383\""`,
		`listener | :: | 8383 | queued -1 of -1`,
		`listener | 127.0.0.1 | 6060 | api | queued 0 of -1`,
		`listener | :: | 6061 | api | queued 0 of -1`,
	},
	"7.1.txt": {
		`pod | Pod | restarts 8 | last restart 2022-03-05T04:13:58+09:00`,
		`  container | restarts 8 | last terminated Error exit 137 2022-03-05T04:00:10+09:00 to 2022-03-05T04:13:58+09:00`,
	},
	"7.2.txt": {
		`pod | Pod | restarts 3`,
		`  container | restarts 3 | last terminated exit 0`,
	},
	"7.3.txt": {
		`pod | Pod//p-0 | restarts 6`,
		`  container | restarts 6 | last terminated exit 137`,
		`pod | Pod//p-0`,
		`  container | cpu 0.05/0.25 memory 0/0`,
	},
	"7.4.txt": {
		`pod | Pod`,
		`  container | last terminated OOMKilled exit 137`,
	},
	"7.5.txt": {
		`pod | Pod | target-health.elbv2.k8s.aws/k8s-a-b-0a1b2c`,
		`  condition | Ready | False | ReadinessGatesNotReady | since 2024-02-02T02:02:02Z | corresponding condition of pod readiness gate "target-health.elbv2.k8s.aws/k8s-a-b-0a1b2c" does not exist.`,
	},
	"7.6.txt": {
		`pod | Pod`,
		`  container | es | last terminated Error exit 78 2018-04-04T04:00:01Z to ?`,
	},
	"7.7.txt": {
		`pod | Pod/shop/cart-5d8f-2xk | CrashLoopBackOff | 1/2 | restarts 12 | last restart 2m9s ago | created 3h0m0s ago | 10.30.9.9 | n-1 | 0/1`,
		`pod | Pod//cart-...-9p | Running | 1/1 | restarts 0 | created 216h0m0s ago`,
		`pod | Pod//art-5d8f-7hh | Running | 0/1 | restarts 3 | created 216h0m0s ago`,
		`pod | Pod//cart-0 | Running | 1/1 | restarts 0 | created 2m0s ago`,
		`pod | Pod//cart-0 | Running | 0/1 | restarts 1 | last restart 3s ago | created 2m4s ago`,
	},
	"7.8.txt": {
		`workload | Deployment//cart | desired 3 ready -1 updated 3 available 0 | created 192h0m0s ago`,
		`autoscaler | HorizontalPodAutoscaler//cart | Deployment//cart | 3..40 at 3 want -1 | 0%/50%`,
	},
	"7.9.txt": {
		`event | HorizontalPodAutoscaler | SuccessfulRescale | x≥1 | "New size: 9   (pico) — \"All metrics below target\""`,
		`event | HorizontalPodAutoscaler | Warning | FailedGetResourceMetric | x4 | 2m0s ago to 30s ago | horizontal-pod-autoscaler | "no metrics returned from resource metrics API"`,
	},
	"7.10.txt": {
		`series | container_cpu_usage_cores | pod=cart-0 | 0.487`,
		`series | container_memory_working_set_bytes | pod=cart-0 | 2.22298e+08`,
		`series | container_cpu_usage_cores | pod=cart-0 | 0.487`,
		`series | container_memory_working_set_bytes | pod=cart-0 | 2.22298e+08`,
		`series | container_cpu_usage_cores | container=app,pod=cart-5d8f-2xk | 1.988`,
	},
	"8.3.txt": {
		`target | gke | k8s-be-30111--0f0f0f0f | k8s-be-30111--0f0f0f0f | healthy`,
		`target | gke | k8s-be-30222--0f0f0f0f | k8s-be-30222--0f0f0f0f | unhealthy`,
		`target | gke | k8s-be-30333 | k8s-be-30333 | unknown`,
	},
	"8.4.txt": {
		`request | client | 503`,
		`target | kube-proxy | gw/gw | unhealthy | NoLocalEndpoints | localEndpoints 0 | [503]`,
	},
	"8.5.txt": {
		`service | Service//cart | [{ 9000 TCP }]`,
		`target | endpointslice | cart | 10.30.2.7 | 9000 | healthy`,
		`target | endpointslice | cart | 10.30.3.4 | 9000 | healthy`,
	},
	"8.6.txt": {
		`request | balancer | 2023-09-09T09:09:09.000001Z | GET | shop.test | 80 | / | 504`,
	},
	"8.7.txt": {
		`log | shell | curl | "curl: (7) Failed to connect to ::1 port 8080 after 0 ms: Couldn't connect to server"`,
		`request | client | 0 | 10.002s`,
		`request | client | 0 | 12.004s`,
		`request | client | 503`,
		`request | client | ::1 | 8080 | 0`,
	},
	"8.8.txt": {
		`event | SecurityGroup | Normal | RevokeSecurityGroupIngress | x1 | 2024-06-30T23:59:01Z | cloudtrail | "API: RevokeSecurityGroupIngress"`,
	},
	"9.1.txt": {
		`event | Pod | x≥1 | "Get http://10.30.1.9:7070/x: net/http: request canceled while waiting for connection (Client.Timeout exceeded while awaiting headers)"`,
		`event | Pod | x≥1 | "dial tcp 10.30.1.9:7070: getsockopt: connection refused"`,
	},
	"9.2.txt": {
		`event | Pod | x≥1 | "Get \"http://10.30.1.9:7070/x\": context deadline exceeded (Client.Timeout exceeded while awaiting headers)"`,
		`event | Pod | x≥1 | "Get \"http://10.30.1.9:7070/x\": net/http: request canceled (Client.Timeout or context cancellation while reading body)"`,
		`event | Pod | x≥1 | "Get \"http://10.30.1.9:7070/x\": read tcp 10.30.1.1:40000->10.30.1.9:7070: read: connection reset by peer"`,
	},
	"9.3.txt": {
		`event | Pod | Unhealthy | x≥1 | "Liveness probe errored: strconv.Atoi: parsing \"web-admin\": invalid syntax"`,
		`event | Pod | Unhealthy | x≥1 | "Readiness probe errored: rpc error: code = DeadlineExceeded desc = context deadline exceeded"`,
		`event | Pod | Unhealthy | x≥1 | "Readiness probe errored and resulted in unknown state: rpc error: code = NotFound desc = failed to exec in container: failed to load task: no running task found"`,
	},
	"9.4.txt": {
		`event | Pod | Unhealthy | x≥1 | "Liveness probe failed:"`,
		`event | Pod | Unhealthy | x≥1 | "Liveness probe failed: command \"sh -c /probe\" timed out"`,
		`event | Pod | Unhealthy | x≥1 | "Liveness probe failed: command timed out: \"sh -c /probe\" timed out after 2s"`,
	},
	"9.5.txt": {
		`event | Pod | es | Killing | x≥1 | "Killing container with id docker://es:Container failed liveness probe.. Container will be killed and recreated."`,
		`event | Pod | es | Killing | x≥1 | "Container es failed liveness probe, will be restarted"`,
		`event | Pod | es | Killing | x≥1 | "Container es failed startup probe, will be restarted"`,
	},
	"9.6.txt": {
		`event | Pod | x≥1 | "error: this server does not implement the grpc health protocol (grpc.health.v1.Health): unknown service grpc.health.v1.Health"`,
		`event | Pod | x≥1 | "timeout: failed to connect service \"10.30.1.9:7070\" within 1s: context deadline exceeded"`,
		`event | Pod | x≥1 | "service unhealthy (responded with \"NOT_SERVING\")"`,
	},
	"9.7.txt": {
		`event | Pod | x≥1 | "rpc error: code = 2 desc = oci runtime error: exec failed: container_linux.go:247: starting container process caused \"exec: \\\"ash\\\": executable file not found in $PATH\""`,
		`event | Pod | x≥1 | "failed to run in container - Exec setup failed - API error (500): Container 00ff is not running"`,
		`event | Pod | x≥1 | "rpc error: code = 14 desc = grpc: the connection is unavailable"`,
		`event | Pod/lab/kv-1 | kv | FailedLifecycleHook | x≥1 | "Exec lifecycle hook ([/bin/sh -c drain]) for Container \"kv\" in Pod \"kv-1_lab(0a0b)\" failed - error: command '/bin/sh -c drain' exited with 126: , message: \"rpc error: code = 14 desc = grpc: the connection is unavailable\\r\\n\""`,
	},
	"10.1.txt": {
		`workload | desired -1 ready -1 updated -1 available -1`,
		`  container | restarts 0`,
		`    probe | liveness | exec | /probe | delay 0 timeout 0 period 7 success 0 failure 0`,
	},
	"10.2.txt": {
		`workload | desired -1 ready -1 updated -1 available -1`,
		`  container | restarts 0`,
		`    probe | readiness | delay 0 timeout 4 period 0 success 0 failure 0`,
	},
	"10.3.txt": {
		`workload | desired -1 ready -1 updated -1 available -1`,
		`  container | restarts 0`,
		`    probe | liveness | tcp | tcp | delay 25 timeout 0 period 0 success 0 failure 0`,
	},
	"10.4.txt": {
		`workload | desired -1 ready -1 updated -1 available -1`,
		`  container | restarts 0`,
		`    probe | readiness | delay 0 timeout 2 period 6 success 0 failure 0`,
		`    probe | liveness | delay 0 timeout 2 period 6 success 0 failure 0`,
	},
	"describe.txt": {
		`event | Pod/shop/cart-5d8f9c7b6d-2xk8z | Normal | Scheduled | x1 | 44m0s ago | default-scheduler | "Successfully assigned shop/cart-5d8f9c7b6d-2xk8z to n-1"`,
		`event | Pod/shop/cart-5d8f9c7b6d-2xk8z | Warning | Unhealthy | x14 | 40m0s ago to 2m0s ago | kubelet | "Readiness probe failed: Get \"http://10.244.0.12:8080/healthCheck\": context deadline exceeded (Client.Timeout exceeded while awaiting headers)"`,
		`event | Pod/shop/cart-5d8f9c7b6d-2xk8z | Warning | DNSConfigForming | x14 | 40m0s ago to 2m0s ago | kubelet | "Search Line limits were exceeded"`,
		`event | HorizontalPodAutoscaler/shop/cart | Normal | SuccessfulRescale | x1 | 3m0s ago | horizontal-pod-autoscaler | "New size: 8; reason: cpu resource utilization (percentage of request) above target"`,
		`event | Node//n-1 | Warning | SystemOOM | x1 | 3m0s ago | kubelet | "System OOM encountered, victim process: java, pid: 4411"`,
		`pod | Pod/shop/cart-5d8f9c7b6d-2xk8z | Terminating | restarts 2 | last restart 2026-11-29T13:39:58Z | 10.244.0.12 | n-1 | target-health.elbv2.k8s.aws/k8s-shop-cart-0a1b2c | ReplicaSet/shop/cart-5d8f9c7b6d`,
		`  container | istio-init | init | istio/proxyv2:1.20 | restarts 0 | ready | now terminated Completed exit 0 2026-11-29T13:00:11Z to 2026-11-29T13:00:12Z | istio-iptables -p | probes known`,
		`  container | app | shop/cart:1.2 | restarts 2 | now running 2026-11-29T13:40:00Z to ? | last terminated Error exit 143 2026-11-29T13:00:13Z to 2026-11-29T13:39:58Z | cpu 0.25/1 memory 5.36870912e+08/1.073741824e+09 | [{ 8080 TCP } { 8081 TCP }] | map[JAVA_OPTS:-Xmx512m] | probes known`,
		`    probe | liveness | http | http | 8080 | /healthCheck | delay 30 timeout 1 period 10 success 1 failure 3`,
		`    probe | readiness | http | http | 8080 | /healthCheck | delay 5 timeout 1 period 10 success 1 failure 3`,
		`  container | istio-proxy | istio/proxyv2:1.20 | restarts 0 | ready | now running 2026-11-29T13:00:13Z to ? | [{ 15090 TCP }] | probes known`,
		`    probe | readiness | http | http | 15021 | /healthz/ready | delay 1 timeout 3 period 2 success 1 failure 30`,
		`  condition | Initialized | True`,
		`  condition | Ready | False`,
		`  condition | ContainersReady | False`,
		`  condition | PodScheduled | True`,
		`workload | Deployment/shop/cart | desired 3 ready -1 updated 3 available 1 | created 2026-11-01T10:00:00Z`,
		`  container | app | shop/cart:1.2 | restarts 0 | cpu 0/1 memory 0/0 | [{ 8080 TCP }] | probes known`,
		`    probe | liveness | http | http | 8080 | /healthCheck | delay 30 timeout 1 period 10 success 1 failure 3`,
		`  condition | Available | False | MinimumReplicasUnavailable`,
		`  condition | Progressing | True | NewReplicaSetAvailable`,
		`autoscaler | HorizontalPodAutoscaler/shop/cart | Deployment/shop/cart | 3..10 at 5 want 8 | resource cpu on pods (as a percentage of request): 81% (405m) / 60%`,
		`  condition | AbleToScale | True | SucceededRescale | the HPA controller was able to update the target scale to 8`,
		`  condition | ScalingActive | True | ValidMetricFound | the HPA was able to successfully calculate a replica count`,
		`node | Node//n-1 | v1.31.2 | node.kubernetes.io/memory-pressure:NoSchedule | 3.92 cores 1.610612736e+10 bytes`,
		`  condition | MemoryPressure | True | KubeletHasInsufficientMemory | since 2026-11-29T13:50:00Z | kubelet has insufficient memory available`,
		`  condition | Ready | True | KubeletReady | since 2026-11-01T10:00:10Z | kubelet is posting ready status`,
		`service | Ingress/shop/cart | [] | cart`,
		`target | gke | k8s-be-1 | k8s-be-1 | unhealthy`,
	},
	"mixed.txt": {
		`event | Pod | Warning | Unhealthy | x3 | "Liveness probe failed: HTTP probe failed with statuscode: 500"`,
		`event | Pod | Warning | FailedScheduling | x2 | 5m0s ago to 3m0s ago | default-scheduler | "0/3 nodes are available: 3 Insufficient cpu."`,
		`event | Pod | app | Normal | Created | x≥1 | "Created container: app"`,
		`event | Pod | Unhealthy | x≥1 | "Readiness probe failed: Get \"http://10.1.1.1:8080/\": EOF"`,
		`event | Pod//web-0 | Unhealthy | x≥1 | "Liveness probe failed: dial tcp 10.1.1.1:80: i/o timeout"`,
		`event | Pod | Unhealthy | x≥1 | kubelet | "Readiness probe failed: HTTP probe failed with statuscode: 503"`,
		`event | Pod//web-0 | Warning | Unhealthy | x≥1 | 2m0s ago | "Liveness probe failed: HTTP probe failed with statuscode: 500"`,
		`event | Pod//web-1 | Warning | Unhealthy | x≥1 | 2026-11-29T14:00:00Z | "Liveness probe failed: HTTP probe failed with statuscode: 501"`,
		`event | Pod//web-2 | web | Warning | Unhealthy | x1 | 0s ago | kubelet@n-9 | "Liveness probe failed: HTTP probe failed with statuscode: 502"`,
		`pod | Pod/shop/cart-0`,
		`  container | app | restarts 0 | probes known`,
		`    probe | liveness | http | http | 8080 | /h | delay 0 timeout 1 period 0 success 0 failure 0`,
		`pod | Pod//bar-0 | Running | 1/1 | restarts 0 | created 72h0m0s ago`,
		`workload | desired -1 ready -1 updated -1 available -1`,
		`  container | restarts 0`,
		`    probe | liveness | http | http | http | /healthz | delay 0 timeout 0 period 3 success 0 failure 0`,
		`log | kubelet | Pod/lab/core-0 | core | n-1 | ERROR | 0400-11-29T14:02:00.000001Z | pod_workers | "Error syncing pod 5b1f0a5e (\"core-0_lab(5b1f0a5e-0c7b-4b57-9a13-6f2f4a6a1c90)\"), skipping: failed to \"StartContainer\" for \"core\" with CrashLoopBackOff: \"back-off 5m0s restarting failed container=core pod=core-0_lab(5b1f0a5e-0c7b-4b57-9a13-6f2f4a6a1c90)\""`,
		`coverage | partial | testdata/formats/mixed.txt:55: a row of a table of pods that does not fit its columns`,
		`coverage | partial | testdata/formats/mixed.txt:58: an event row whose cells are not known`,
	},
	"session.txt": {
		`event | Pod | Unhealthy | x≥1 | "Readiness probe failed: Get http://_<pod IP>_:9191/x: EOF"`,
		`event | Pod | Unhealthy | x≥1 | "Readiness probe failed: Get http://<pod-ip>:9191/x: EOF"`,
		`event | Pod | Unhealthy | x≥1 | "Readiness probe failed: Get http://a.b.c.d:9191/x: EOF"`,
		`event | Pod | Unhealthy | x≥1 | "Readiness probe failed: Get http://…:9191/x: EOF"`,
		`event | Pod | Unhealthy | x≥1 | "Readiness probe failed: Get \"http://[...]:9191/x\": EOF"`,
		`event | Pod | Unhealthy | x≥1 | "Readiness probe failed: Get \"http://10.xx.x.7:9191/x\": EOF"`,
		`pod | Pod//web-1 | CrashLoopBackOff | 0/1 | restarts 3 | last restart 2m0s ago | created 5h0m0s ago`,
		`pod | Pod//web-2 | Running | 1/1 | restarts 0 | created 5h0m0s ago`,
		`workload | Deployment/shop/cart | desired 3 ready 1 updated 3 available 1 | created 192h0m0s ago`,
		`workload | ReplicaSet/shop/cart-5d8f9c7b6d | desired 3 ready 1 updated -1 available -1 | created 192h0m0s ago`,
		`workload | StatefulSet//kv | desired 3 ready 2 updated -1 available -1 | created 120h0m0s ago`,
		`autoscaler | HorizontalPodAutoscaler//cart | Deployment//cart | 3..10 at 4 want -1 | cpu: <unknown>/60%; memory: 33%/80%`,
		`node | Node//n-1 | v1.29.3`,
		`  condition | Ready | True`,
		`node | Node//n-2 | v1.29.3 | unschedulable`,
		`  condition | Ready | False`,
		`service | Service//cart | [{ 80 TCP }]`,
		`service | Service//np | [{ 80 TCP } { 443 TCP }]`,
		`series | container_cpu_usage_cores | container=app,namespace=shop,pod=cart-0 | 0.987`,
		`series | container_memory_working_set_bytes | container=app,namespace=shop,pod=cart-0 | 5.36871e+08`,
		`series | container_cpu_usage_cores | container=istio-proxy,namespace=shop,pod=cart-0 | 0.012`,
		`series | container_memory_working_set_bytes | container=istio-proxy,namespace=shop,pod=cart-0 | 5.4526e+07`,
		`log | app | Pod/shop/cart-0 | app | WARN | 2026-11-29T14:03:11.123Z | c.e.cart.CartCache | "decode failed on /api/cart\njava.lang.IllegalStateException: boom\nat c.e.cart.CartCache.get(CartCache.java:12)"`,
		`log | app | Pod/shop/cart-0 | app | "plain text without a time"`,
		`log | app | Pod/shop/cart-0 | app | "Listening on port 8080"`,
		`log | app | Pod//cart-5d8f9c7b6d-2xk8z | app | 2026-11-29T14:03:11.123456789Z | "GET /healthCheck 200 0ms"`,
		`log | app | Pod//cart-5d8f9c7b6d-2xk8z | app | 2026-11-29T14:03:12.123456789Z | "just text"`,
		`log | app | Pod//cart-5d8f9c7b6d-9zmrw | app | ERROR | 2026-11-29T14:03:13.123456789Z | "redis: connection reset"`,
		`request | Pod//cart-5d8f9c7b6d-2xk8z | server | 2026-11-29T14:03:11.123456789Z | GET | /healthCheck | 200 | 0s`,
		`target | endpointslice | shop/cart | 10.1.2.3 | 80 | healthy`,
		`target | endpointslice | shop/cart | 10.1.2.4 | 80 | healthy`,
		`target | endpointslice | shop/old | unhealthy | NoEndpoints | the service has no ready endpoint`,
		`target | endpointslice | cart-x7k2p | 10.1.2.3 | 8080 | unknown`,
		`target | endpointslice | cart-x7k2p | 10.1.2.4 | 8080 | unknown`,
		`listener | Pod/shop/cart-0 | 8080 | queued -1 of -1`,
		`listener | Pod/shop/cart-0 | 0.0.0.0 | 8080 | queued 129 of 128`,
		`listener | Pod/shop/cart-0 | * | 9090 | queued 0 of 4096`,
	},
}
