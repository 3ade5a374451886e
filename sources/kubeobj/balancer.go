package kubeobj

import (
	"strings"
	"time"

	"github.com/probedoctor/probedoctor/sources/evidence"
)

// checkKeys names the annotations that configure a load balancer's health check.
type checkKeys struct {
	path, port, protocol, interval, timeout, healthy, unhealthy, codes, targetType string
}

// albCheck are the annotations of an Ingress that the AWS Load Balancer Controller reads, serviceCheck those of a Service.
var (
	albCheck = checkKeys{
		path: "alb.ingress.kubernetes.io/healthcheck-path", port: "alb.ingress.kubernetes.io/healthcheck-port",
		protocol: "alb.ingress.kubernetes.io/healthcheck-protocol", interval: "alb.ingress.kubernetes.io/healthcheck-interval-seconds",
		timeout: "alb.ingress.kubernetes.io/healthcheck-timeout-seconds", healthy: "alb.ingress.kubernetes.io/healthy-threshold-count",
		unhealthy: "alb.ingress.kubernetes.io/unhealthy-threshold-count", codes: "alb.ingress.kubernetes.io/success-codes",
		targetType: "alb.ingress.kubernetes.io/target-type",
	}
	serviceCheck = checkKeys{
		path:       "service.beta.kubernetes.io/aws-load-balancer-healthcheck-path",
		port:       "service.beta.kubernetes.io/aws-load-balancer-healthcheck-port",
		protocol:   "service.beta.kubernetes.io/aws-load-balancer-healthcheck-protocol",
		interval:   "service.beta.kubernetes.io/aws-load-balancer-healthcheck-interval",
		timeout:    "service.beta.kubernetes.io/aws-load-balancer-healthcheck-timeout",
		healthy:    "service.beta.kubernetes.io/aws-load-balancer-healthcheck-healthy-threshold",
		unhealthy:  "service.beta.kubernetes.io/aws-load-balancer-healthcheck-unhealthy-threshold",
		codes:      "service.beta.kubernetes.io/aws-load-balancer-healthcheck-success-codes",
		targetType: "service.beta.kubernetes.io/aws-load-balancer-nlb-target-type",
	}
)

// addAnnotatedCheck adds the health check that the annotations configure, if they configure one at all.
func addAnnotatedCheck(set *evidence.Set, m meta, at Origin, k checkKeys) {
	a := tree{}
	for key, v := range m.annotations {
		a[key] = v
	}
	configured := false
	for _, key := range []string{k.path, k.port, k.protocol, k.interval, k.timeout, k.healthy, k.unhealthy, k.codes} {
		configured = configured || a.has(key)
	}
	if !configured {
		return
	}
	h := evidence.HealthCheck{
		Item: at.item(m.locator()), Balancer: "aws", Group: m.locator(),
		Endpoint: evidence.Endpoint{
			Scheme: strings.ToLower(a.str(k.protocol)), Port: a.str(k.port), Path: a.str(k.path),
		},
		TargetType: a.str(k.targetType), Interval: seconds(a, k.interval), Timeout: seconds(a, k.timeout),
		HealthyThreshold: a.intOr(k.healthy, 0), UnhealthyThreshold: a.intOr(k.unhealthy, 0), Matcher: a.str(k.codes),
	}
	addCheck(set, h)
}

func addCheck(set *evidence.Set, h evidence.HealthCheck) {
	words := []string{h.Locator, "health check", h.Endpoint.Scheme, ":" + h.Endpoint.Port + h.Endpoint.Path}
	if h.Interval > 0 {
		words = append(words, "every "+h.Interval.String())
	}
	if h.Timeout > 0 {
		words = append(words, "timeout "+h.Timeout.String())
	}
	if h.Matcher != "" {
		words = append(words, "expects "+h.Matcher)
	}
	h.Excerpt = oneLine(strings.Join(words, " "))
	set.HealthChecks = append(set.HealthChecks, h)
}

// seconds reads a number of seconds within a day; anything else is not set.
func seconds(t tree, key string) time.Duration {
	n, ok := t.integer(key)
	if !ok || n < 0 || n > 86400 {
		return 0
	}
	return time.Duration(n) * time.Second
}

// addTargetGroupBinding adds what a TargetGroupBinding (elbv2.k8s.aws) tells of its group: which service's port it holds.
func addTargetGroupBinding(set *evidence.Set, t tree, at Origin) {
	m := metaOf(t, "TargetGroupBinding")
	spec := t.sub("spec")
	group := spec.str("targetGroupARN")
	if group == "" {
		group = spec.str("targetGroupName")
	}
	ref := spec.sub("serviceRef")
	h := evidence.HealthCheck{
		Item: at.item(m.locator()), Balancer: "aws", Group: group, TargetPort: ref.str("port"), TargetType: spec.str("targetType"),
	}
	h.Excerpt = oneLine(h.Locator + " binds service " + ref.str("name") + ":" + ref.str("port") + " to " + group)
	set.HealthChecks = append(set.HealthChecks, h)
}

// addBackendConfig adds the health check of a GKE BackendConfig (cloud.google.com).
func addBackendConfig(set *evidence.Set, t tree, at Origin) {
	m := metaOf(t, "BackendConfig")
	c := t.sub("spec", "healthCheck")
	if c == nil {
		return
	}
	addCheck(set, evidence.HealthCheck{
		Item: at.item(m.locator()), Balancer: "gke", Group: m.locator(),
		Endpoint: evidence.Endpoint{Scheme: strings.ToLower(c.str("type")), Port: c.str("port"), Path: c.str("requestPath")},
		Interval: seconds(c, "checkIntervalSec"), Timeout: seconds(c, "timeoutSec"),
		HealthyThreshold: c.intOr("healthyThreshold", 0), UnhealthyThreshold: c.intOr("unhealthyThreshold", 0),
	})
}

// addGKEBackends adds the state of each backend of a GKE Ingress, which its controller keeps as JSON in an annotation:
// {"k8s-be-30111--0f0f":"HEALTHY"}. The number in the name is the node port.
func addGKEBackends(set *evidence.Set, m meta, at Origin) {
	for _, key := range []string{"ingress.kubernetes.io/backends", "ingress.gcp.kubernetes.io/backends"} {
		backends, _ := jsonText(m.annotations[key]).(map[string]any)
		for _, name := range tree(backends).keys() {
			raw := tree(backends).str(name)
			g := evidence.Target{
				Item: at.item(m.locator()), Balancer: "gke", Group: slashed(m.object.Namespace, m.object.Name), ID: name,
				State: GKEState(raw), Reason: raw,
			}
			if rest, ok := strings.CutPrefix(name, "k8s-be-"); ok {
				port, _, _ := strings.Cut(rest, "-")
				if n, isNumber := atoi(port); isNumber && n > 0 {
					g.Port = port
				}
			}
			g.Excerpt = oneLine(g.Locator + " backend " + name + " is " + raw)
			set.Targets = append(set.Targets, g)
		}
	}
}

// GKEState brings the health states of Google's load balancers (HEALTHY, UNHEALTHY, DRAINING, UNKNOWN) into the words of
// [evidence.Target].
func GKEState(s string) string {
	switch strings.ToUpper(s) {
	case "HEALTHY":
		return "healthy"
	case "UNHEALTHY", "TIMEOUT":
		return "unhealthy"
	case "DRAINING":
		return "draining"
	}
	return "unknown"
}
