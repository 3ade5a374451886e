package kubeobj

import (
	"strconv"
	"strings"
)

func itoa(n int) string { return strconv.Itoa(n) }

// maxEnv is the longest value of an environment variable that is kept, in bytes.
const maxEnv = 160

// envHints are parts of names whose values tell how a server is set up: where it listens, how many workers it has, how
// much memory it may take, where its management endpoints are.
var envHints = []string{
	"PORT", "ADDR", "BIND", "LISTEN", "HOST", "THREAD", "WORKER", "POOL", "CONCURRENCY", "PROCS", "BACKLOG", "QUEUE",
	"ACCEPT", "HEAP", "MEMORY", "MEMLIMIT", "JAVA_OPTS", "JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "JVM", "CATALINA_OPTS",
	"NODE_OPTIONS", "GOGC", "MANAGEMENT", "ACTUATOR", "HEALTH", "PROBE", "TIMEOUT", "GUNICORN", "UVICORN", "PUMA",
	"MAX_CONN", "KEEPALIVE", "KEEP_ALIVE", "GRACE", "SHUTDOWN",
}

var secretHints = []string{
	"PASS", "PWD", "SECRET", "TOKEN", "CRED", "AUTH", "PRIVATE", "APIKEY", "API_KEY", "API-KEY", "ACCESS_KEY", "ACCESSKEY",
	"COOKIE", "SIGNATURE", "LICENSE", "SESSION", "DSN", "CONNECTION_STRING",
}

func hints(s string, words []string) bool {
	s = strings.ToUpper(s)
	for _, w := range words {
		if strings.Contains(s, w) {
			return true
		}
	}
	return false
}

// secretName tells whether a variable's or header's name speaks of a secret.
func secretName(name string) bool {
	return hints(name, secretHints) || strings.HasSuffix(strings.ToUpper(name), "KEY")
}

// env keeps the variables that tell how the server is set up. A value that is long, comes from a reference, carries
// credentials in a URL or speaks of a secret is not kept; its name is, with an empty value.
func env(t tree) map[string]string {
	var out map[string]string
	for _, e := range t.list("env") {
		name, value := e.str("name"), e.str("value")
		if !hints(name, envHints) || secretName(name) {
			continue
		}
		if len(value) > maxEnv || strings.Contains(value, "@") || hints(value, secretHints) {
			value = ""
		}
		if out == nil {
			out = map[string]string{}
		}
		out[name] = value
	}
	return out
}

// annotationPrefixes are those of meshes, load balancers, scrape settings and rollouts: what bears on who checks health,
// on which port, and through which proxy.
var annotationPrefixes = []string{
	"sidecar.istio.io/", "proxy.istio.io/", "istio.io/", "traffic.sidecar.istio.io/", "status.sidecar.istio.io/",
	"linkerd.io/", "config.linkerd.io/", "viz.linkerd.io/", "kuma.io/", "consul.hashicorp.com/", "appmesh.k8s.aws/",
	"alb.ingress.kubernetes.io/", "service.beta.kubernetes.io/", "elbv2.k8s.aws/", "target-health.",
	"ingress.kubernetes.io/backends", "ingress.gcp.kubernetes.io/", "cloud.google.com/", "beta.cloud.google.com/",
	"nginx.ingress.kubernetes.io/", "haproxy.org/", "haproxy-ingress.github.io/", "traefik.ingress.kubernetes.io/",
	"traefik.io/", "projectcontour.io/", "prometheus.io/", "kubectl.kubernetes.io/restartedAt",
	"kubectl.kubernetes.io/default-container", "deployment.kubernetes.io/revision", "cluster-autoscaler.kubernetes.io/",
	"karpenter.sh/", "autoscaling.alpha.kubernetes.io/conditions",
}

// annotations keeps those that bear on probes, without values that are long or speak of a secret.
func annotations(meta tree) map[string]string {
	var out map[string]string
	for k, v := range meta.strMap("annotations") {
		if secretName(k) || !keptAnnotation(k) {
			continue
		}
		if out == nil {
			out = map[string]string{}
		}
		out[k] = cut(v, 4*maxArgText)
	}
	return out
}

func keptAnnotation(key string) bool {
	for _, p := range annotationPrefixes {
		if strings.HasPrefix(key, p) {
			return true
		}
	}
	return false
}
