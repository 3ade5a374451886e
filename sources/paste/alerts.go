package paste

import (
	"cmp"
	"regexp"
	"strings"

	"github.com/probedoctor/probedoctor/sources/evidence"
)

// Alerts as chats show them, tables of findings, the summary of a load test, an entry of an audit trail.

// alert gathers the labels of one alert.
type alert struct {
	labels map[string]string
	n      int
	raw    []string
}

var (
	firing     = regexp.MustCompile(`^\[(?:FIRING|RESOLVED)(?::\d+)?\] (\w+)(?: \(?([a-z0-9-]+)/([a-z0-9.-]+)\)?)?`)
	alertPair  = regexp.MustCompile(`^(?:[-*•] ?)?(alertname|severity|namespace|pod|container|instance|job|deployment|description|summary|message|node|service)(?:\s*[:=]\s*|\t+)(\S.*)$`)
	throttling = regexp.MustCompile(`(\d+(?:[.,]\d+)?)\s?% throttling of CPU in namespace (\S+) for container (\S+) in pod ([a-z0-9.-]*[a-z0-9])`)
	// testMetric is "p(95)=1,87s" of a load test's summary; the unit is optional.
	testMetric = regexp.MustCompile(`(?:^|\s)(p\(\d{1,2}(?:\.\d+)?\)|avg|min|med|max|failed|rate)=(\d+(?:[.,]\d+)?)(ns|µs|us|ms|s|m|%)?(?:\s|$)`)
	auditCall  = regexp.MustCompile(`^(?:API|eventName|Event name|Event):\s*"?([A-Z][a-zA-Z]{6,60})"?$`)
	auditTime  = regexp.MustCompile(`^(?:Time|eventTime|Event time):\s*"?(\d{4}-\d\d-\d\dT\S+?Z)"?$`)
	ofAmount   = regexp.MustCompile(`(\d+(?:[.,]\d+)?)\s*(GiB|MiB|KiB|GB|MB|Gi|Mi|%|ms|s)?\s*(?:/|of(?: the)?|out of)\s*(\d+(?:[.,]\d+)?)\s*(GiB|MiB|KiB|GB|MB|Gi|Mi|%|ms|s)?`)
	// throttled is how people write down two numbers of a cgroup's cpu.stat.
	throttled = regexp.MustCompile(`\bnr_throttled\D{0,3}(\d{1,15})\s*(?:/|of)\s*(\d{1,15})\b`)
	oneAmount = regexp.MustCompile(`^(\d+(?:[.,]\d+)?)\s*(GiB|MiB|KiB|GB|MB|Gi|Mi|%|ms|s)?$`)
)

// alertLine reads a line of an alert, of a table of findings, of a test's summary or of an audit trail.
func (t *text) alertLine(s, trimmed string) bool {
	if m := firing.FindStringSubmatch(trimmed); m != nil {
		t.endAlert()
		a := t.openAlert(trimmed)
		a.labels["alertname"], a.labels["namespace"], a.labels["pod"] = m[1], m[2], m[3]
		return true
	}
	if m := alertPair.FindStringSubmatch(trimmed); m != nil && (t.alert != nil || m[1] == "alertname" || throttling.MatchString(trimmed)) {
		if t.alert != nil && m[1] == "alertname" && t.alert.labels["alertname"] != "" {
			t.endAlert()
		}
		t.openAlert(trimmed).labels[m[1]] = strings.TrimSpace(m[2])
		t.throttling(trimmed)
		return true
	}
	if t.throttling(trimmed) {
		return true
	}
	if m := auditCall.FindStringSubmatch(trimmed); m != nil && networkCall.MatchString(m[1]) {
		t.openRow(evidence.Event{Reason: m[1], Type: "Normal", Component: "cloudtrail", Count: 1, Message: trimmed,
			Object: evidence.Object{Kind: "SecurityGroup"}}, s, false)
		return true
	}
	if m := auditTime.FindStringSubmatch(trimmed); m != nil {
		at := jsonTime(m[1])
		if t.rowOpen && t.row.Component == "cloudtrail" {
			t.row.First, t.row.Last = at, at
			return true
		}
		return false
	}
	if strings.HasPrefix(trimmed, "|") && strings.Count(trimmed, "|") >= 3 {
		return t.finding(trimmed)
	}
	return t.testSummary(trimmed)
}

// networkCall are the calls of a cloud's API that change who may reach whom.
var networkCall = regexp.MustCompile(`(?:SecurityGroup|NetworkAcl|Route|Firewall|Subnet|NetworkInterface|TargetGroup|Listener|LoadBalancer)`)

func (t *text) openAlert(raw string) *alert {
	t.closeRow()
	if t.alert == nil {
		t.alert = &alert{labels: map[string]string{}, n: t.n}
	}
	if len(t.alert.raw) < maxContinuation {
		t.alert.raw = append(t.alert.raw, raw)
	}
	return t.alert
}

// endAlert keeps the alert as an event: its name is the reason, its description the message.
func (t *text) endAlert() {
	a := t.alert
	if a == nil {
		return
	}
	t.alert = nil
	if a.labels["alertname"] == "" {
		return
	}
	for _, raw := range a.raw {
		if m := throttling.FindStringSubmatch(raw); m != nil {
			for i, k := range []string{"namespace", "container", "pod"} {
				a.labels[k] = cmp.Or(a.labels[k], m[i+2])
			}
		}
	}
	o := evidence.Object{Kind: "Pod", Namespace: a.labels["namespace"], Name: a.labels["pod"]}
	if o.Name == "" && a.labels["deployment"] != "" {
		o.Kind, o.Name = "Deployment", a.labels["deployment"]
	}
	e := evidence.Event{Object: o, Container: a.labels["container"], Type: "Warning", Reason: a.labels["alertname"], Component: "alertmanager", Count: 1, AtLeast: true}
	for _, k := range []string{"description", "message", "summary"} {
		if e.Message == "" {
			e.Message = a.labels[k]
		}
	}
	if e.Message == "" {
		e.Message = strings.Join(a.raw, "; ")
	}
	e.Item = t.item("paste", eventLocator(e), a.n, strings.Join(a.raw, "\n"))
	t.set.Events = append(t.set.Events, e)
}

// throttling reads the text of the CPUThrottlingHigh alert of the kubernetes mixin. The series is derived: the share of
// the CFS periods in which the container was throttled, 0 to 1.
func (t *text) throttling(s string) bool {
	if !strings.Contains(s, "throttling of CPU") {
		return false
	}
	m := throttling.FindStringSubmatch(s)
	if m == nil {
		return false
	}
	t.addSeries("container_cpu_cfs_throttled_ratio", map[string]string{"namespace": m[2], "container": m[3], "pod": m[4]}, decimal(m[1])/100)
	t.set.Series[len(t.set.Series)-1].Signal = "cpu.throttledRatio" // the alert is the ratio itself; no scraped metric is
	return true
}

// finding reads a row of a Markdown table of what somebody measured: a name (or several) and a number with its unit, or
// two numbers "a of b".
func (t *text) finding(s string) bool {
	cells := strings.Split(strings.Trim(s, "|"), "|")
	for i := range cells {
		cells[i] = strings.TrimSpace(strings.NewReplacer("**", "", "`", "", "__", "").Replace(cells[i]))
	}
	if len(cells) < 2 || cells[0] == "" || strings.Trim(cells[0], ":- ") == "" {
		return strings.Trim(s, "|:- ") == ""
	}
	value := strings.Join(cells[1:], " ")
	if m := throttled.FindStringSubmatch(value); m != nil {
		t.addSeries("container_cpu_cfs_throttled_periods_total", nil, decimal(m[1]))
		t.addSeries("container_cpu_cfs_periods_total", nil, decimal(m[2]))
		return true
	}
	read := false
	for name := range strings.SplitSeq(cells[0], ",") {
		name = strings.TrimSpace(name)
		if name == "" {
			continue
		}
		metric := "finding_" + strings.Trim(notWord.ReplaceAllString(strings.ToLower(name), "_"), "_")
		if m := ofAmount.FindStringSubmatch(value); m != nil {
			if m[2] == "" {
				m[2] = m[4]
			}
			t.addSeries(metric, findingLabels(name, m[2], "value"), amount(m[1], m[2]))
			t.addSeries(metric, findingLabels(name, m[4], "of"), amount(m[3], m[4]))
			read = true
		} else if m := oneAmount.FindStringSubmatch(value); m != nil {
			t.addSeries(metric, findingLabels(name, m[2], "value"), amount(m[1], m[2]))
			read = true
		}
	}
	return read
}

var notWord = regexp.MustCompile(`[^a-z0-9]+`)

func findingLabels(name, unit, role string) map[string]string {
	m := map[string]string{"name": name, "role": role}
	if u := map[string]string{"GiB": "bytes", "MiB": "bytes", "KiB": "bytes", "GB": "bytes", "MB": "bytes", "Gi": "bytes", "Mi": "bytes", "%": "ratio", "ms": "seconds", "s": "seconds"}[unit]; u != "" {
		m["unit"] = u
	}
	return m
}

// amount gives the number in base units: bytes, seconds, a share of 1.
func amount(s, unit string) float64 {
	scale := map[string]float64{"GiB": 1 << 30, "Gi": 1 << 30, "MiB": 1 << 20, "Mi": 1 << 20, "KiB": 1 << 10, "GB": 1e9, "MB": 1e6,
		"%": 0.01, "ms": 1e-3, "µs": 1e-6, "us": 1e-6, "ns": 1e-9, "m": 60}[unit]
	if scale == 0 {
		scale = 1
	}
	return decimal(s) * scale
}

// testSummary reads the numbers of a load test's summary line, with a decimal point or comma, in seconds and shares of 1.
func (t *text) testSummary(s string) bool {
	if !containsAny(s, "avg=", "min=", "max=", "med=", "p(9", "p(5", "failed=") {
		return false
	}
	ms := testMetric.FindAllStringSubmatch(strings.ReplaceAll(s, " ", "  "), 16)
	if len(ms) < 2 {
		return false
	}
	for _, m := range ms {
		name := "http_req_duration_seconds"
		labels := map[string]string{"stat": m[1]}
		if m[3] == "%" {
			name = "http_req_" + m[1] + "_ratio"
			labels = nil
		}
		t.addSeries(name, labels, amount(m[2], m[3]))
	}
	return true
}
