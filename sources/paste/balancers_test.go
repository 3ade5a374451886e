package paste

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/probedoctor/probedoctor/sources/evidence"
)

// readText reads text as Read does when it comes from stdin.
func readStdin(t *testing.T, text string) *evidence.Set {
	t.Helper()
	set, err := Read([]string{"-"}, strings.NewReader(text), Options{})
	if err != nil {
		t.Fatal(err)
	}
	return set
}

func TestBalancersInText(t *testing.T) {
	tests := []struct {
		name, text string
		targets    []string
		checks     int
	}{
		{"target health", `$ aws elbv2 describe-target-health --target-group-arn x
{"TargetHealthDescriptions": [{"Target": {"Id": "10.30.2.7", "Port": 8080}, "TargetHealth": {"State": "unhealthy", "Reason": "Target.Timeout", "Description": "Request timed out"}}]}
`, []string{"aws 10.30.2.7 unhealthy Target.Timeout"}, 0},
		{"target group", `{
    "TargetGroups": [
        {"TargetGroupName": "cart", "HealthCheckPath": "/healthCheck", "HealthCheckIntervalSeconds": 10}
    ]
}
`, nil, 1},
		{"reason codes", "Target.Timeout\n`Target.ResponseCodeMismatch [401]`\nTarget.FailedHealthChecks: Health checks failed with these codes: [500,502]\n",
			[]string{"aws  unhealthy Target.FailedHealthChecks", "aws  unhealthy Target.ResponseCodeMismatch", "aws  unhealthy Target.Timeout"}, 0},
		{"haproxy csv", "# pxname,svname,qcur,qmax,scur,smax,slim,stot,bin,bout,dreq,dresp,ereq,econ,eresp,wretr,wredis,status,weight\n" +
			"shop,a,0,0,0,0,,0,0,0,,0,,0,0,0,0,UP,1,\n", []string{"haproxy a unknown "}, 0},
		{"haproxy log", "<133>Nov 29 20:11:16 haproxy[17680]: Health check for server shop/b failed, reason: Layer7 timeout, check duration: 1001ms, status: 0/2 DOWN.\n",
			[]string{"haproxy b unhealthy L7TOUT"}, 0},
		{"envoy text", "cart::10.30.2.7:8080::health_flags::/failed_active_hc\n", []string{"envoy 10.30.2.7 unhealthy failed_active_hc"}, 0},
		{"envoy json", `{"cluster_statuses":[{"name":"cart","host_statuses":[{"address":{"socket_address":{"address":"10.30.2.7","port_value":8080}},"health_status":{"failed_active_health_check":true}}]}]}` + "\n",
			[]string{"envoy 10.30.2.7 unhealthy failed_active_hc"}, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			set := readStdin(t, tt.text)
			var got []string
			for _, g := range set.Targets {
				got = append(got, strings.Join([]string{g.Balancer, g.ID, g.State, g.Reason}, " "))
			}
			slices.Sort(got)
			if diff := cmp.Diff(tt.targets, got); diff != "" {
				t.Error(diff, set.Coverage)
			}
			if len(set.HealthChecks) != tt.checks {
				t.Errorf("health checks %+v, coverage %+v", set.HealthChecks, set.Coverage)
			}
		})
	}
}

func TestMetricsInText(t *testing.T) {
	set := readStdin(t, `$ curl -s localhost:8080/metrics
# TYPE tomcat_threads_busy_threads gauge
tomcat_threads_busy_threads{name="http-nio-8080"} 198.0

$ promtool query instant http://x up
up{job="cart"} => 1 @[1700000001.250]

{"status":"success","data":{"resultType":"matrix","result":[{"metric":{"__name__":"busy","pod":"x"},"values":[[1700000001,"3"],[1700000002,"198"]]}]}}
`)
	var got []string
	for _, r := range set.Series {
		got = append(got, r.Excerpt)
	}
	want := []string{`busy{pod="x"} 3…198 (2 samples)`, `tomcat_threads_busy_threads{name="http-nio-8080"} 198.0`, `up{job="cart"} => 1 @[1700000001.250]`}
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff, set.Coverage)
	}
}

func TestTableInText(t *testing.T) {
	set := readStdin(t, "time,cart-0,cart-1\n2026-11-29T14:03:00Z,3,198\n2026-11-29T14:04:00Z,4,200\n")
	if len(set.Series) != 2 || set.Series[1].Excerpt != `{pod="cart-1"} 198…200 (2 samples)` {
		t.Errorf("got %+v, coverage %+v", set.Series, set.Coverage)
	}
}

func TestPromAnswersInText(t *testing.T) {
	const vector = `"data":{"resultType":"vector","result":[{"metric":{"__name__":"up"},"value":[1700000001,"1"]}]}`
	for _, tt := range []struct {
		name, text, status string
		series             int
	}{
		{"warnings before", `{"status":"success","warnings":["store down"],` + vector + "}\n", "partial", 1},
		{"warnings behind", `{"status":"success",` + vector + `,"warnings":["store down"]}` + "\n", "partial", 1},
		{"partial", `{"status":"success","isPartial":true,` + vector + "}\n", "partial", 1},
		{"error", `{"status":"error","errorType":"bad_data","error":"no"}` + "\n", "error", 0},
		{"alerts", `{"status":"success","data":{"alerts":[{"labels":{"alertname":"A"},"state":"firing","activeAt":"2023-11-14T22:13:21Z"}]}}` + "\n", "ok", 1},
	} {
		set := readStdin(t, tt.text)
		status := ""
		for _, c := range set.Coverage {
			if c.Source == evidence.SourceMetrics && (status == "" || c.Status != evidence.CoverageOK) {
				status = string(c.Status)
			}
		}
		if status != tt.status || len(set.Series) != tt.series {
			t.Errorf("%s: %d series, coverage %+v", tt.name, len(set.Series), set.Coverage)
		}
	}
}
