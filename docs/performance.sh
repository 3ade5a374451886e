#!/usr/bin/env bash
# Measures what docs/performance.md states: one diagnosis of a list of 100,000 events against jq counting the same list, and
# the benchmarks of the packages. Needs Go, jq, awk and GNU time. Usage: docs/performance.sh
set -euo pipefail
cd "$(dirname "$0")/.."
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

# events N writes a list as `kubectl get events -A -o json` prints it: 500 workloads, 24 of them with failing probes (3 % of
# the events), managedFields and all.
events() {
  awk -v n="$1" 'BEGIN {
    srand(1); split("bcdfghjklmnpqrstvwxz2456789", a, "")
    printf "{\n    \"apiVersion\": \"v1\",\n    \"items\": [\n"
    for (i = 0; i < n; i++) {
      w = i % 500; ns = "team-" w % 40; pod = "app-" w "-7d9c5b6f84-"
      for (k = 0; k < 5; k++) pod = pod a[int(rand() * 27) + 1]
      t = sprintf("2026-11-18T%02d:%02d:%02dZ", 13 + int(i / 60000), int(i / 1000) % 60, int(i / 20) % 60)
      if (w < 24 && rand() < 0.65) {
        reason = "Unhealthy"; type = "Warning"; count = 1 + i % 20
        msg = sprintf("Readiness probe failed: Get \\\"http://10.%d.%d.%d:8080/healthz\\\": context deadline exceeded (Client.Timeout exceeded while awaiting headers)", i % 250, i % 251, i % 249)
      } else {
        r = int(rand() * 5); type = "Normal"; count = 1
        if (r == 0) { reason = "Pulled"; msg = "Container image \\\"registry.example/app:1." i % 100 "\\\" already present on machine" }
        if (r == 1) { reason = "Scheduled"; msg = "Successfully assigned " ns "/" pod " to node-" i % 100 }
        if (r == 2) { reason = "Created"; msg = "Created container: app" }
        if (r == 3) { reason = "Started"; msg = "Started container app" }
        if (r == 4) { reason = "FailedMount"; type = "Warning"; msg = "MountVolume.SetUp failed for volume \\\"config\\\" : configmap \\\"x\\\" not found" }
      }
      printf "%s{\"apiVersion\":\"v1\",\"count\":%d,\"eventTime\":null,\"firstTimestamp\":\"%s\",\"involvedObject\":{\"apiVersion\":\"v1\",\"fieldPath\":\"spec.containers{app}\",\"kind\":\"Pod\",\"name\":\"%s\",\"namespace\":\"%s\",\"resourceVersion\":\"%d\",\"uid\":\"%08x-0000-4000-8000-%012x\"},\"kind\":\"Event\",\"lastTimestamp\":\"%s\",\"message\":\"%s\",\"metadata\":{\"creationTimestamp\":\"%s\",\"managedFields\":[{\"apiVersion\":\"v1\",\"fieldsType\":\"FieldsV1\",\"fieldsV1\":{\"f:count\":{},\"f:firstTimestamp\":{},\"f:involvedObject\":{},\"f:lastTimestamp\":{},\"f:message\":{},\"f:reason\":{},\"f:source\":{\"f:component\":{},\"f:host\":{}},\"f:type\":{}},\"manager\":\"kubelet\",\"operation\":\"Update\",\"time\":\"%s\"}],\"name\":\"%s.%016x\",\"namespace\":\"%s\",\"resourceVersion\":\"%d\",\"uid\":\"%08x-1111-4000-8000-%012x\"},\"reason\":\"%s\",\"reportingComponent\":\"kubelet\",\"reportingInstance\":\"node-%d\",\"source\":{\"component\":\"kubelet\",\"host\":\"node-%d\"},\"type\":\"%s\"}", (i ? ",\n" : ""), count, t, pod, ns, 100000 + i, i, i, t, msg, t, t, pod, i, ns, 200000 + i, i, i, reason, i % 100, i % 100, type
    }
    printf "\n    ],\n    \"kind\": \"List\",\n    \"metadata\": {\"resourceVersion\": \"\"}\n}\n"
  }'
}

# timed COMMAND... prints seconds and KiB at the peak.
timed() { /usr/bin/time -f '%e %M' "$@" 2>&1 >/dev/null | tail -n 1; }
median() { sort -n | awk '{v[NR] = $1} END {print v[int((NR + 1) / 2)]}'; }

go build -o "$tmp/probedoctor" ./cmd/probedoctor
events 100000 >"$tmp/events.json"
export XDG_CONFIG_HOME=$tmp
for _ in 1 2 3 4 5; do
  timed "$tmp/probedoctor" diagnose -f "$tmp/events.json" -o json >>"$tmp/ours"
  timed jq '.items|length' "$tmp/events.json" >>"$tmp/jq"
done
ours=$(median <"$tmp/ours") theirs=$(median <"$tmp/jq")
printf 'events.json            %s MB, %s events\n' "$(($(stat -c %s "$tmp/events.json") / 1000000))" "$(jq '.items|length' "$tmp/events.json")"
printf 'probedoctor diagnose   %s s, %s MB\n' "$ours" "$(cut -d' ' -f2 "$tmp/ours" | median | awk '{print int($1 / 1000)}')"
printf "jq '.items|length'     %s s, %s MB\n" "$theirs" "$(cut -d' ' -f2 "$tmp/jq" | median | awk '{print int($1 / 1000)}')"
awk -v a="$ours" -v b="$theirs" 'BEGIN {printf "ratio                  %.1f times faster\n", b / a}'
printf 'demo                   %s s\n' "$(for _ in 1 2 3 4 5; do timed "$tmp/probedoctor" demo; done | median)"
printf 'version                %s s\n' "$(for _ in 1 2 3 4 5; do timed "$tmp/probedoctor" version; done | median)"
# What must not grow with the input: two gigabytes in one line.
for what in zeros letters brackets string; do
  case $what in
  zeros) make() { head -c 2147483648 /dev/zero; } ;;
  letters) make() { head -c 2147483648 /dev/zero | tr '\0' a; } ;;
  brackets) make() { head -c 2147483648 /dev/zero | tr '\0' '['; } ;;
  string) make() { printf '{"kind":"Pod","x":"'; head -c 2147483648 /dev/zero | tr '\0' a; printf '"}'; } ;;
  esac
  printf '2 GiB of %-13s %s\n' "$what" "$(make | /usr/bin/time -f '%e s, %M KiB' "$tmp/probedoctor" diagnose -f - 2>&1 >/dev/null | tail -n 1)"
done
go test -run '^$' -bench . -benchmem ./internal/diagnose ./sources/paste ./sources/evidence ./sources/catalog 2>&1 | grep '^Benchmark'
