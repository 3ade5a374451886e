package facts

import (
	"cmp"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/probedoctor/probedoctor/internal/shell"
	"github.com/probedoctor/probedoctor/sources/evidence"
)

// How the workload is set up, beside its probes: sidecars, commands, pool sizes; and events that name a cause.

func quote(s string) string { return shell.Quote(s) }

// sidecarNames are the containers that service meshes inject.
var sidecarNames = []string{"istio-proxy", "linkerd-proxy", "envoy-sidecar", "consul-dataplane", "kuma-sidecar", "envoy"}

// sidecarPorts are where the agents of Istio and Linkerd answer: 15020 for rewritten probes, 15021 for the proxy's own
// readiness, 4191 for Linkerd's.
var sidecarPorts = []string{"15020", "15021", "4191"}

func (in *Incident) onSidecar(f *Failure) bool {
	return slices.Contains(sidecarNames, cmp.Or(f.Container, in.Container)) || slices.Contains(sidecarPorts, f.Target.Port) || strings.HasPrefix(f.Target.Path, "/app-health/")
}

// asksForSidecar tells whether annotations are those of pods in a mesh. One that keeps the sidecar out is not.
func asksForSidecar(annotations map[string]string) bool {
	if annotations["sidecar.istio.io/inject"] == "false" || annotations["linkerd.io/inject"] == "disabled" {
		return false
	}
	for k := range annotations {
		if strings.HasPrefix(k, "sidecar.istio.io/") || strings.HasPrefix(k, "linkerd.io/") {
			return true
		}
	}
	return false
}

// annotations of the pods and of the template, the pods' first.
func (in *Incident) annotation(key string) (string, evidence.Ref) {
	for _, p := range in.Pods {
		if v, ok := p.Annotations[key]; ok {
			return v, p.Ref
		}
	}
	if in.Template != nil {
		if v, ok := in.Template.Annotations[key]; ok {
			return v, in.Template.Ref
		}
	}
	return "", ""
}

// eventsFact counts events of given reasons whose message holds one of the words; no words ask for none.
func eventsFact(name, doc, why string, reasons []string, words ...string) Fact {
	return Fact{
		Name: name, Doc: doc, Type: Int, Unit: "events", Scope: ScopeIncident,
		Needs: []string{evidence.SourceEvents}, Why: why, Collect: collectEvents,
		Compute: func(in *Incident) Value {
			n := int64(0)
			var refs []evidence.Ref
			for _, e := range in.Events {
				if !slices.Contains(reasons, e.Reason) {
					continue
				}
				low := strings.ToLower(e.Message)
				if len(words) > 0 && !slices.ContainsFunc(words, func(w string) bool { return strings.Contains(low, w) }) {
					continue
				}
				n += int64(max(e.Count, 1))
				refs = append(refs, e.Ref)
			}
			if n == 0 {
				if !in.Set.Covered(evidence.SourceEvents) {
					return Unknown
				}
				refs = in.failureRefs(func(*Failure) bool { return true })
			}
			return known(n, refs...)
		},
	}
}

// workersOption finds a bounded number of workers in a command line or environment: --threads=20, -w 4, THREADS=8.
var workersOption = regexp.MustCompile(`(?i)^(?:--?(?:threads|workers|max-threads|worker-connections|limit-concurrency|max-requests-concurrency|concurrency|pool-size|thread-pool-size)=)(\d+)$`)

var workersFlags = []string{"--threads", "--workers", "--max-threads", "--limit-concurrency", "--concurrency", "--pool-size", "-w"}

// maxWorkers is more than any server has; a larger number means something else.
const maxWorkers = 1 << 20

var workersEnv = regexp.MustCompile(`(?i)^(SERVER_TOMCAT_(THREADS_)?MAX(_THREADS)?|SERVER_TOMCAT_THREADS_MAX|SERVER_JETTY_THREADS_MAX|GUNICORN_WORKERS|WEB_CONCURRENCY|RAILS_MAX_THREADS|MAX_THREADS|WORKERS|THREADS|UVICORN_LIMIT_CONCURRENCY|PM_MAX_CHILDREN)$`)

// configuredWorkers is the number of workers that the container's command or environment sets: processes times threads
// where both are given.
func configuredWorkers(c *evidence.Container) int {
	threads, processes := 0, 0
	note := func(name, number string) {
		n, err := strconv.Atoi(number)
		name = strings.ToLower(name)
		switch {
		case err != nil || n > maxWorkers:
		case strings.Contains(name, "worker") && !strings.Contains(name, "connection"), name == "-w", name == "web_concurrency":
			processes = max(processes, n)
		default:
			threads = max(threads, n)
		}
	}
	puma := slices.ContainsFunc(c.Command, func(w string) bool { return path.Base(w) == "puma" })
	for i, w := range c.Command {
		if m := workersOption.FindStringSubmatch(w); m != nil {
			note(w, m[1])
		}
		switch {
		case i+1 == len(c.Command):
		case slices.Contains(workersFlags, w):
			note(w, c.Command[i+1])
		case w == "-t" && puma: // MIN:MAX threads; to gunicorn it is a timeout
			_, most, _ := strings.Cut(c.Command[i+1], ":")
			note(w, most)
		}
	}
	for k, v := range c.Env {
		if workersEnv.MatchString(k) {
			note(k, v)
		}
	}
	return max(threads, 1) * max(processes, 1) * min(threads+processes, 1)
}

// inFlight finds gauges of an application that count what is under way, by their names.
var inFlight = regexp.MustCompile(`(?i)(in_?flight|in_?progress|active|concurrent|running|open)_?(requests|sessions|sandboxes|jobs|tasks|workers|threads|connections|streams|calls|clients)?$`)

// maxPastedSeries is up to how many series an application's own gauge is looked for by its name: a paste by hand is small,
// and a whole Prometheus has a known stack's signals instead.
const maxPastedSeries = 500

// maxAsked bounds the different addresses that are compared with listening sockets.
const maxAsked = 100

// heavyPrograms start slowly: interpreters, virtual machines and login shells.
var heavyPrograms = []string{"bundle", "ruby", "rails", "rake", "python", "python3", "node", "npm", "npx", "java", "php", "perl", "mongo", "mongosh", "rabbitmqctl", "rabbitmq-diagnostics", "cqlsh", "nodetool", "kubectl", "celery", "manage.py", "artisan", "dotnet", "elixir", "mix", "sqlplus", "kafka-topics.sh", "kafka-broker-api-versions.sh"}

// loginShell finds a shell that reads its profiles first: "bash -lc", "sh -l -c", "bash --login".
var loginShell = regexp.MustCompile(`(^|[\s/"'])(ba|z|k|da|a)?sh\s+(-[a-z]*l[a-z]*|--login)(\s|$)`)

// execCommand is the command of the exec probe that fails, by its specification, else by the failure's text.
func (in *Incident) execCommand() (string, evidence.Ref) {
	for i := range in.Probes {
		p := &in.Probes[i]
		if p.Spec != nil && len(p.Spec.Command) > 0 && (len(p.Failures) > 0 || len(in.Failures) == 0) {
			return strings.Join(p.Spec.Command, " "), p.SpecRef
		}
	}
	for i := range in.Failures {
		if c := in.Failures[i].Command; c != "" {
			return c, in.Failures[i].Cites
		}
	}
	return "", ""
}

var setupFacts = []Fact{
	{
		Name: "mesh.sidecar", Doc: "Whether the pods carry a service mesh's sidecar, by their containers, annotations, the mesh's ports in failures, or logs of its proxy.",
		Type: Bool, Scope: ScopeIncident, Needs: []string{evidence.SourcePods},
		Why: "a sidecar stands between the probe and the application", Collect: collectPods,
		Compute: func(in *Incident) Value {
			for i := range in.Failures {
				if in.onSidecar(&in.Failures[i]) {
					return known(true, in.Failures[i].Cites)
				}
			}
			read := false
			for _, p := range in.Pods {
				for i := range p.Containers {
					read = true
					if slices.Contains(sidecarNames, p.Containers[i].Name) {
						return known(true, p.Ref)
					}
				}
				if asksForSidecar(p.Annotations) {
					return known(true, p.Ref)
				}
			}
			if in.Template != nil && asksForSidecar(in.Template.Annotations) {
				return known(true, in.Template.Ref)
			}
			for _, l := range in.Logs {
				if l.Origin == "proxy" {
					return known(true, l.Ref)
				}
			}
			for _, e := range in.Events {
				if e.Reason != "Created" && e.Reason != "Started" {
					continue
				}
				if i := strings.LastIndexByte(e.Message, ' '); slices.Contains(sidecarNames, e.Container) || slices.Contains(sidecarNames, e.Message[i+1:]) {
					return known(true, e.Ref)
				}
			}
			if !read {
				return Unknown
			}
			return known(false, podRefs(in.Pods)...)
		},
	},
	{
		Name: "mesh.rewriteOff", Doc: "Whether rewriting of probes is switched off (sidecar.istio.io/rewriteAppHTTPProbers: \"false\"), so that the kubelet's plain request meets the proxy.",
		Type: Bool, Scope: ScopeIncident, Needs: []string{evidence.SourceSpecs},
		Why: "a proxy that demands mutual TLS refuses the kubelet", Collect: collectSpec,
		Compute: func(in *Incident) Value {
			v, ref := in.annotation("sidecar.istio.io/rewriteAppHTTPProbers")
			if ref == "" {
				return Unknown
			}
			return known(v == "false", ref)
		},
	},
	{
		Name: "mesh.failures", Doc: "Failures of the sidecar's own container, or of a probe that the mesh rewrote to its agent.",
		Type: Int, Unit: "probes", Scope: ScopeIncident, Needs: []string{evidence.SourceEvents},
		Why: "whether the sidecar or the application fails", Collect: collectEvents,
		Compute: func(in *Incident) Value {
			if len(in.Failures) == 0 {
				return Unknown
			}
			n := int64(0)
			var refs []evidence.Ref
			for i := range in.Failures {
				if f := &in.Failures[i]; f.serious() && in.onSidecar(f) {
					n += int64(f.Count)
					refs = append(refs, f.Cites)
				}
			}
			if n == 0 {
				refs = in.failureRefs(func(*Failure) bool { return true })
			}
			return known(n, refs...)
		},
	},
	{
		Name: "pool.configured", Doc: "Workers that the container's command line or environment sets (--threads=20, WEB_CONCURRENCY), processes times threads.",
		Type: Int, Unit: "workers", Scope: ScopeIncident, Needs: []string{evidence.SourceSpecs},
		Why: "a small pool fills with few slow requests", Collect: collectSpec,
		Compute: func(in *Incident) Value {
			var cs []*evidence.Container
			var ref evidence.Ref
			if c, r := in.spec(); c != nil {
				cs, ref = append(cs, c), r
			}
			if in.Template != nil {
				for i := range in.Template.Containers {
					cs = append(cs, &in.Template.Containers[i])
				}
				if ref == "" {
					ref = in.Template.Ref
				}
			}
			for _, c := range cs {
				if n := configuredWorkers(c); n > 0 {
					return known(int64(n), ref)
				}
			}
			return Unknown
		},
	},
	{
		Name: "pool.demand", Doc: "Highest value of a gauge of the application that counts work under way, by its name (…_active_…, …_in_progress, …_inflight_requests), where no pool of its own is measured.",
		Type: Double, Unit: "requests", Scope: ScopeIncident, Needs: []string{evidence.SourceMetrics},
		Why: "more work under way than workers means that the rest waits", Collect: collectSignal("pool.busy"),
		Compute: func(in *Incident) Value {
			best := -1.0
			var ref evidence.Ref
			for i := range in.Set.Series {
				s := &in.Set.Series[i]
				if len(in.Set.Series) > maxPastedSeries || s.Signal != "" || s.Type == "counter" || s.Type == "histogram" || !inFlight.MatchString(s.Name) || strings.HasPrefix(s.Name, "process_") || strings.HasPrefix(s.Name, "go_") || strings.HasPrefix(s.Name, "container_") {
					continue
				}
				for _, x := range s.Samples {
					if in.inWindow(x.At, afterScale) && x.Value > best {
						best, ref = x.Value, s.Ref
					}
				}
			}
			if best < 0 {
				return Unknown
			}
			return known(best, ref)
		},
	},
	{
		Name: "exec.command", Doc: "The command of the failing exec probe.", Type: String, Scope: ScopeIncident,
		Needs: []string{evidence.SourceSpecs}, Why: "what the probe runs", Collect: collectSpec,
		Compute: func(in *Incident) Value {
			c, ref := in.execCommand()
			if c == "" {
				return Unknown
			}
			return known(c, ref)
		},
	},
	{
		Name: "exec.heavy", Doc: "Whether that command starts an interpreter, a virtual machine, a login shell or several processes, which costs CPU each time.",
		Type: Bool, Scope: ScopeIncident, Needs: []string{evidence.SourceSpecs},
		Why: "a command that takes a second to start cannot end within one", Collect: collectSpec,
		Compute: func(in *Incident) Value {
			c, ref := in.execCommand()
			if c == "" {
				return Unknown
			}
			words := strings.FieldsFunc(c, func(r rune) bool { return strings.ContainsRune(" \t;|&()\"'", r) })
			heavy := strings.Count(strings.ReplaceAll(c, "||", ""), "|") >= 2 || loginShell.MatchString(c)
			for _, w := range words {
				if slices.Contains(heavyPrograms, path.Base(w)) {
					heavy = true
				}
			}
			return known(heavy, ref)
		},
	},
	{
		Name: "config.redirectedTarget", Doc: "Whether failing requests went to another port or path than any probe of that kind is configured to ask: the kubelet follows redirects on the same host.",
		Type: Bool, Scope: ScopeIncident, Needs: []string{evidence.SourceSpecs, evidence.SourceEvents},
		Why: "then the application redirects the probe", Collect: collectSpec,
		Compute: func(in *Incident) Value {
			elsewhere := 0
			var refs, compared []evidence.Ref
			for i := range in.Probes {
				p := &in.Probes[i]
				if p.Spec == nil || p.Spec.Handler != "http" {
					continue
				}
				port := in.portNumber(p.Spec.Endpoint.Port)
				_, err := strconv.Atoi(port)
				for _, f := range p.Failures {
					if f.Target.Port == "" || f.Target.Scheme != "http" && f.Target.Scheme != "https" {
						continue
					}
					// A mesh's webhook rewrites the port, which is no redirect.
					if slices.Contains(sidecarPorts, f.Target.Port) {
						continue
					}
					compared = append(compared, f.Cites)
					if err == nil && f.Target.Port != port || p.Spec.Endpoint.Path != "" && f.Target.Path != "" && plainPath(f.Target.Path) != plainPath(p.Spec.Endpoint.Path) {
						elsewhere++
						refs = append(refs, f.Cites, p.SpecRef)
					}
				}
			}
			switch {
			case len(compared) == 0:
				return Unknown
			case elsewhere == 0:
				return known(false, compared...)
			}
			return known(true, refs...)
		},
	},
	{
		Name: "config.familyMismatch", Doc: "Whether the probed or asked port is bound on IPv4 only while it is asked on IPv6, or the other way round.",
		Type: Bool, Scope: ScopeIncident, Needs: []string{evidence.SourceSockets},
		Why: "a socket on 0.0.0.0 does not answer on an IPv6 address", Collect: collectSockets,
		Compute: func(in *Incident) Value {
			if len(in.Listeners) == 0 {
				return Unknown
			}
			type want struct{ host, port string }
			var asked []want
			ask := func(host, port string) {
				if w := (want{host, port}); host != "" && port != "" && !slices.Contains(asked, w) && len(asked) < maxAsked {
					asked = append(asked, w)
				}
			}
			for i := range in.Failures {
				ask(in.Failures[i].Target.Host, in.Failures[i].Target.Port)
			}
			for _, r := range in.asked(func(r *evidence.Request) bool { return r.Status == 0 }) {
				ask(r.Host, r.Port)
			}
			for _, p := range in.Pods {
				for i := range in.Probes {
					if s := in.Probes[i].Spec; s != nil {
						ask(p.IP, in.portNumber(s.Endpoint.Port))
					}
				}
			}
			var refs []evidence.Ref
			mismatch, compared := false, false
			for _, w := range asked {
				v6 := strings.Contains(w.host, ":")
				bound, fits := false, false
				for _, l := range in.Listeners {
					if l.Port != w.port || w.host == "" {
						continue
					}
					bound = true
					refs = append(refs, l.Ref)
					// A socket on :: takes IPv4 as well unless it is told not to.
					any6 := l.Address == "::" || l.Address == "*" || l.Address == "[::]" || l.Address == ""
					is6 := strings.Contains(l.Address, ":")
					if any6 || is6 == v6 {
						fits = true
					}
				}
				if bound {
					compared = true
					mismatch = mismatch || !fits
				}
			}
			if !compared {
				return Unknown
			}
			return known(mismatch, refs...)
		},
	},
	{
		Name: "config.pathNamesDependency", Doc: "Whether a probed path says by its name that it asks a dependency or everything: /ready/db, /pg/status, /health/full, /deep.",
		Type: Bool, Scope: ScopeIncident, Needs: []string{evidence.SourceSpecs},
		Why: "a path that checks dependencies fails with them", Collect: collectSpec,
		Compute: func(in *Incident) Value {
			hp := in.healthPaths()
			if len(hp) == 0 {
				return Unknown
			}
			refs := in.failureRefs(func(*Failure) bool { return true })
			for i := range in.Probes {
				refs = append(refs, in.Probes[i].SpecRef)
			}
			for _, h := range hp {
				for w := range strings.FieldsFuncSeq(strings.ToLower(h), func(r rune) bool { return strings.ContainsRune("/-_.?=&", r) }) {
					switch w {
					case "db", "database", "pg", "postgres", "mysql", "redis", "mongo", "kafka", "full", "deep", "dependencies", "deps", "all", "backend", "upstream":
						return known(true, refs...)
					}
				}
			}
			return known(false, refs...)
		},
	},
	eventsFact("events.volume", "Events that say a volume could not be attached or mounted.", "a container without its volume cannot start or stalls",
		[]string{"FailedMount", "FailedAttachVolume", "FailedMapVolume", "VolumeResizeFailed"}),
	eventsFact("events.evicted", "Pods that the kubelet evicted, and thresholds that it met.", "a node that evicts is short of something",
		[]string{"Evicted", "EvictionThresholdMet", "TaintManagerEviction", "NodeNotReady"}),
	eventsFact("events.sandbox", "Pod sandboxes that could not be made or had to be made again, and networks that are not ready.", "a pod without a network cannot be probed",
		[]string{"FailedCreatePodSandBox", "NetworkNotReady", "SandboxChanged"}),
	eventsFact("events.runtime", "Containers that the runtime could not create, start or kill.", "a runtime that fails makes probes fail",
		[]string{"FailedKillPod", "ExceededGracePeriod", "Failed", "InspectFailed"}, "error killing", "grace period", "context deadline exceeded", "runtime create failed", "oci runtime", "failed to create containerd", "failed to start container"),
	eventsFact("events.image", "Images that could not be pulled.", "a container without an image never starts",
		[]string{"Failed", "BackOff", "ErrImagePull", "ImagePullBackOff"}, "pull", "image"),
}
