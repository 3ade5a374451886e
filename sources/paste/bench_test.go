package paste

import (
	"bytes"
	"fmt"
	"io"
	"testing"
	"time"
)

// writeEvents writes a List of n events as kubectl prints it: sorted keys, indented by four.
func writeEvents(w io.Writer, n int) {
	fmt.Fprint(w, "{\n    \"apiVersion\": \"v1\",\n    \"items\": [\n")
	start := time.Date(2024, 5, 6, 7, 0, 0, 0, time.UTC)
	messages := []struct{ typ, reason, text string }{
		{"Warning", "Unhealthy", `Readiness probe failed: Get \"http://10.0.%d.%d:8080/health\": context deadline exceeded (Client.Timeout exceeded while awaiting headers)`},
		{"Warning", "Unhealthy", `Liveness probe failed: Get \"http://10.0.%d.%d:8080/health\": dial tcp 10.0.1.2:8080: connect: connection refused`},
		{"Normal", "Pulled", `Container image \"registry.example/shop/app:%d.%d\" already present on machine`},
		{"Warning", "BackOff", `Back-off restarting failed container app in pod app-%d-%d_shop(5b1f0a5e-0c7b-4b57-9a13-6f2f4a6a1c90)`},
	}
	for i := range n {
		if i > 0 {
			fmt.Fprint(w, ",\n")
		}
		m := messages[i%len(messages)]
		pod := fmt.Sprintf("app-%d-%d", i%400/20, i%20)
		first := start.Add(time.Duration(i) * time.Second / 10).Format(time.RFC3339)
		last := start.Add(time.Duration(i)*time.Second/10 + time.Minute).Format(time.RFC3339)
		fmt.Fprintf(w, `        {
            "apiVersion": "v1",
            "count": %d,
            "eventTime": null,
            "firstTimestamp": %q,
            "involvedObject": {
                "apiVersion": "v1",
                "fieldPath": "spec.containers{app}",
                "kind": "Pod",
                "name": %q,
                "namespace": "shop",
                "resourceVersion": "%d",
                "uid": "5b1f0a5e-0c7b-4b57-9a13-%012d"
            },
            "kind": "Event",
            "lastTimestamp": %q,
            "message": "`, 1+i%30, first, pod, 1000+i, i%400, last)
		fmt.Fprintf(w, m.text, i%400/20, i%20)
		fmt.Fprintf(w, `",
            "metadata": {
                "creationTimestamp": %q,
                "name": "%s.%016x",
                "namespace": "shop",
                "resourceVersion": "%d",
                "uid": "7c2f0a5e-0c7b-4b57-9a13-%012d"
            },
            "reason": %q,
            "reportingComponent": "kubelet",
            "reportingInstance": "node-%d",
            "source": {
                "component": "kubelet",
                "host": "node-%d"
            },
            "type": %q
        }`, first, pod, i, 2000+i, i, m.reason, i%9, i%9, m.typ)
	}
	fmt.Fprint(w, "\n    ],\n    \"kind\": \"List\",\n    \"metadata\": {\n        \"resourceVersion\": \"\"\n    }\n}\n")
}

func BenchmarkEventList(b *testing.B) {
	var list bytes.Buffer
	writeEvents(&list, 10_000)
	b.SetBytes(int64(list.Len()))
	b.ReportAllocs()
	for b.Loop() {
		set, err := Read([]string{"-"}, bytes.NewReader(list.Bytes()), Options{})
		if err != nil || len(set.Events) != 7_500 {
			b.Fatalf("%d events kept, error %v", len(set.Events), err)
		}
	}
}
