package evidence

import "time"

// Event is a Kubernetes event of core/v1 or events.k8s.io/v1.
//
// The API keeps an interval with a count, not single occurrences: the row says that the thing happened Count times
// between First and Last, as counted up to Last. The kubelet may have gone on counting without telling the API server
// (its spam filter lets 25 warnings of a pod pass, then one in 300 s), so the count is a floor for any later moment.
type Event struct {
	Item
	// Object is what the event is about (involvedObject, regarding).
	Object Object `json:"object"`
	// Container is the container named in involvedObject.fieldPath, empty when the event names none or when Combined.
	Container string `json:"container,omitempty"`
	Type      string `json:"type,omitempty"` // Normal, Warning
	Reason    string `json:"reason,omitempty"`
	// Message is the text without the prefixes "(combined from similar events): " and "spec.containers{c}: ".
	Message string `json:"message,omitempty"`
	// Combined marks a row that the kubelet's correlator made from different messages of the whole pod: its message and
	// container are those of the newest one, so the row is evidence for the pod and not for one container.
	Combined bool `json:"combined,omitempty"`
	// Count is the number of occurrences as of Last; 1 when the row has none.
	Count int `json:"count,omitempty"`
	// First and Last bound the occurrences; equal for a single one. Zero when not known.
	First time.Time `json:"first,omitzero"`
	Last  time.Time `json:"last,omitzero"`
	// AtLeast says that Count is a floor and the true number is not known: [Set.AsOf] cut the row, or the text that it was
	// read from has no count (the LAST SEEN table of kubectl get events, a message without its row).
	AtLeast bool `json:"atLeast,omitempty"`
	// Component and Host are source.component ("kubelet") and source.host (the node).
	Component string `json:"component,omitempty"`
	Host      string `json:"host,omitempty"`
	// Name is the event object's own name, where it is known.
	Name string `json:"name,omitempty"`
}

// ProbeKind is the kind of a kubelet probe.
type ProbeKind string

// The kubelet's probes, and the two kinds of checks that are not the kubelet's.
const (
	Readiness ProbeKind = "readiness"
	Liveness  ProbeKind = "liveness"
	Startup   ProbeKind = "startup"
)

// Result is how a probe ended, in the kubelet's sense.
type Result string

const (
	// Failed counts towards failureThreshold.
	Failed Result = "failed"
	// Errored means that the kubelet discarded the result: it changes no state and restarts nothing.
	Errored Result = "errored"
	// Warning counts as success (a redirect to another host).
	Warned Result = "warning"
)

// Phase is the step that a probe had reached when it ended.
type Phase string

// The phases, in the order in which a probe passes them.
const (
	PhaseConfig          Phase = "config" // the probe could not be built: unknown named port, bad URL
	PhaseDNS             Phase = "dns"
	PhaseConnect         Phase = "connect"
	PhaseTLS             Phase = "tls"
	PhaseWrite           Phase = "write"
	PhaseAwaitingHeaders Phase = "awaiting-headers"
	PhaseProtocol        Phase = "protocol" // an answer that is not of the expected protocol
	PhaseRedirect        Phase = "redirect"
	PhaseBody            Phase = "body"
	PhaseStatus          Phase = "status"
	PhaseExec            Phase = "exec"
	PhaseGRPC            Phase = "grpc"
	PhaseUnknown         Phase = "unknown"
)

// Outcome is what happened in the phase.
type Outcome string

// The outcomes.
const (
	OutcomeTimeout      Outcome = "timeout"
	OutcomeRefused      Outcome = "refused"
	OutcomeReset        Outcome = "reset"
	OutcomeClosed       Outcome = "closed" // EOF: closed without an answer
	OutcomeNoRoute      Outcome = "no-route"
	OutcomeUnreachable  Outcome = "unreachable"
	OutcomeDenied       Outcome = "denied"       // permission denied or invalid argument at connect: routing or eBPF policy
	OutcomeNoResources  Outcome = "no-resources" // cannot assign requested address, too many open files
	OutcomeNoSuchHost   Outcome = "no-such-host"
	OutcomeStatus       Outcome = "status" // the server answered with the status in Failure.Status
	OutcomeRedirect     Outcome = "redirect"
	OutcomeTruncated    Outcome = "truncated"
	OutcomeMalformed    Outcome = "malformed"     // not HTTP, not TLS, bad header or chunk
	OutcomeTLSMismatch  Outcome = "tls-mismatch"  // plain text met TLS, or the other way round
	OutcomeTLSHandshake Outcome = "tls-handshake" // the TLS handshake was refused: client certificate, version
	OutcomeNotServing   Outcome = "not-serving"
	OutcomeNoService    Outcome = "no-service" // the gRPC health service or the service name is not registered
	OutcomeExit         Outcome = "exit"       // the command ended with a failure
	OutcomeNotFound     Outcome = "not-found"  // the command, shell or directory does not exist
	OutcomeGone         Outcome = "gone"       // the container that was probed is no longer running
	OutcomeRuntime      Outcome = "runtime"    // the container runtime could not run the command
	OutcomeInvalid      Outcome = "invalid"    // the probe's own configuration is invalid
	OutcomeUnknown      Outcome = "unknown"
)

// Endpoint is what a probe or a check aims at. Empty fields are not known; a masked host is empty.
type Endpoint struct {
	Scheme string `json:"scheme,omitempty"` // http, https, tcp, grpc
	Host   string `json:"host,omitempty"`
	// Port is the number as text, or the name of a container port.
	Port string `json:"port,omitempty"`
	Path string `json:"path,omitempty"`
}

// Failure is one way in which probes of one container failed: a classified event (or alert or kubelet log line), with
// the count and interval of its row.
type Failure struct {
	// Verdict is the classification of the message.
	Verdict
	// Cites is the event or log line that the failure was read from.
	Cites Ref `json:"cites"`
	// Object is the pod; Container is empty when not known.
	Object    Object `json:"object"`
	Container string `json:"container,omitempty"`
	Combined  bool   `json:"combined,omitempty"`
	Count     int    `json:"count"`
	AtLeast   bool   `json:"atLeast,omitempty"`
	// First and Last bound the occurrences; zero when not known.
	First time.Time `json:"first,omitzero"`
	Last  time.Time `json:"last,omitzero"`
	// Message is the probe's output, untrusted.
	Message string `json:"message,omitempty"`
}

// ProbeSpec is the configuration of one kubelet probe. Zero numbers mean "not set": the API's defaults are period 10 s,
// timeout 1 s, success threshold 1, failure threshold 3, initial delay 0 (k8s.io/kubernetes pkg/apis/core/v1/defaults.go);
// use the methods, which apply them.
type ProbeSpec struct {
	Probe ProbeKind `json:"probe"`
	// Handler is "http", "tcp", "grpc", "exec"; empty when not known.
	Handler  string   `json:"handler,omitempty"`
	Endpoint Endpoint `json:"endpoint,omitzero"`
	// Headers are the HTTP headers of the probe, name to value.
	Headers map[string]string `json:"headers,omitempty"`
	// Command is the exec probe's argv.
	Command []string `json:"command,omitempty"`
	// Service is the gRPC health service's name.
	Service              string `json:"service,omitempty"`
	InitialDelaySeconds  int    `json:"initialDelaySeconds,omitempty"`
	TimeoutSeconds       int    `json:"timeoutSeconds,omitempty"`
	PeriodSeconds        int    `json:"periodSeconds,omitempty"`
	SuccessThreshold     int    `json:"successThreshold,omitempty"`
	FailureThreshold     int    `json:"failureThreshold,omitempty"`
	TerminationGraceSecs int    `json:"terminationGracePeriodSeconds,omitempty"`
}

func secondsOr(n, def int) time.Duration {
	if n <= 0 {
		n = def
	}
	return time.Duration(n) * time.Second
}

// Timeout is timeoutSeconds, with the API's default of 1 s.
func (p ProbeSpec) Timeout() time.Duration { return secondsOr(p.TimeoutSeconds, 1) }

// Period is periodSeconds, with the API's default of 10 s.
func (p ProbeSpec) Period() time.Duration { return secondsOr(p.PeriodSeconds, 10) }

// Failures is failureThreshold, with the API's default of 3.
func (p ProbeSpec) Failures() int {
	if p.FailureThreshold <= 0 {
		return 3
	}
	return p.FailureThreshold
}

// Container is one container of a pod or of a pod template: its configuration and, for a pod, its status.
type Container struct {
	Name string `json:"name"`
	// Init marks an init container; Sidecar one with restartPolicy Always.
	Init    bool     `json:"init,omitempty"`
	Sidecar bool     `json:"sidecar,omitempty"`
	Image   string   `json:"image,omitempty"`
	Command []string `json:"command,omitempty"` // command followed by args
	Ports   []Port   `json:"ports,omitempty"`
	// Env holds the names of environment variables with their literal values; values from secrets are never held.
	Env    map[string]string `json:"env,omitempty"`
	Probes []ProbeSpec       `json:"probes,omitempty"`
	// ProbesKnown is true when the specification was read, so that a probe that is not listed does not exist.
	ProbesKnown bool `json:"probesKnown,omitempty"`
	// CPURequest and CPULimit are in cores, memory in bytes; 0 when not set.
	CPURequest    float64 `json:"cpuRequest,omitempty"`
	CPULimit      float64 `json:"cpuLimit,omitempty"`
	MemoryRequest float64 `json:"memoryRequest,omitempty"`
	MemoryLimit   float64 `json:"memoryLimit,omitempty"`
	// PreStop describes the preStop hook ("exec sleep 10", "http :8080/drain"), empty when there is none.
	PreStop string `json:"preStop,omitempty"`

	// The status. StatusKnown is true when one was read.
	StatusKnown bool `json:"statusKnown,omitempty"`
	Ready       bool `json:"ready,omitempty"`
	// ReadyUnknown is set by [Set.AsOf] when the rest of the status holds at that moment and Ready is not proven.
	ReadyUnknown bool           `json:"readyUnknown,omitempty"`
	Started      *bool          `json:"started,omitempty"`
	Restarts     int            `json:"restarts,omitempty"`
	State        ContainerState `json:"state,omitzero"`
	LastState    ContainerState `json:"lastState,omitzero"`
}

// Port is a container port or a service port.
type Port struct {
	Name     string `json:"name,omitempty"`
	Number   int    `json:"number,omitempty"`
	Protocol string `json:"protocol,omitempty"`
	// Target is the targetPort of a service port, number or name.
	Target string `json:"target,omitempty"`
}

// ContainerState is the state or last state of a container.
type ContainerState struct {
	// Status is "waiting", "running", "terminated"; empty when not known.
	Status   string    `json:"status,omitempty"`
	Reason   string    `json:"reason,omitempty"` // CrashLoopBackOff, OOMKilled, Error, Completed …
	Message  string    `json:"message,omitempty"`
	ExitCode *int      `json:"exitCode,omitempty"`
	Signal   int       `json:"signal,omitempty"`
	Started  time.Time `json:"started,omitzero"`
	Finished time.Time `json:"finished,omitzero"`
}

// Condition is a condition of a pod, node, workload or autoscaler.
type Condition struct {
	Type       string    `json:"type"`
	Status     string    `json:"status"` // True, False, Unknown
	Reason     string    `json:"reason,omitempty"`
	Message    string    `json:"message,omitempty"`
	Transition time.Time `json:"transition,omitzero"`
}

// Pod is a pod's specification and status, as much as was read of each.
type Pod struct {
	Item
	Object Object `json:"object"`
	// Owner is the controller: a ReplicaSet, StatefulSet, DaemonSet, Job. Empty when not known.
	Owner  Object            `json:"owner,omitzero"`
	Labels map[string]string `json:"labels,omitempty"`
	// Annotations are those that bear on probes (mesh, balancer); never last-applied.
	Annotations map[string]string `json:"annotations,omitempty"`
	// TemplateHash is the pod-template-hash or controller-revision-hash label.
	TemplateHash string      `json:"templateHash,omitempty"`
	Node         string      `json:"node,omitempty"`
	IP           string      `json:"ip,omitempty"`
	HostNetwork  bool        `json:"hostNetwork,omitempty"`
	Phase        string      `json:"phase,omitempty"` // Pending, Running, Succeeded, Failed, Unknown; or the STATUS column
	Reason       string      `json:"reason,omitempty"`
	Created      time.Time   `json:"created,omitzero"`
	Started      time.Time   `json:"started,omitzero"`
	Deleted      time.Time   `json:"deleted,omitzero"` // deletionTimestamp
	GraceSeconds int         `json:"graceSeconds,omitempty"`
	Containers   []Container `json:"containers,omitempty"`
	Conditions   []Condition `json:"conditions,omitempty"`
	Gates        []string    `json:"gates,omitempty"` // readiness gates' condition types
	// ReadyContainers and TotalContainers are the READY column, where only that is known; Total 0 means not known.
	ReadyContainers int `json:"readyContainers,omitempty"`
	TotalContainers int `json:"totalContainers,omitempty"`
	// Restarts is the RESTARTS column or the sum over containers; -1 when not known.
	Restarts int `json:"restarts,omitempty"`
	// LastRestart is when the last restart happened, zero when not known.
	LastRestart time.Time `json:"lastRestart,omitzero"`
}

// Condition gives the pod's condition of that type.
func (p *Pod) Condition(typ string) (Condition, bool) {
	for _, c := range p.Conditions {
		if c.Type == typ {
			return c, true
		}
	}
	return Condition{}, false
}

// Ready tells whether the pod was ready when observed, and whether that is known.
func (p *Pod) Ready() (ready, known bool) {
	if c, ok := p.Condition("Ready"); ok {
		return c.Status == "True", true
	}
	if p.TotalContainers > 0 {
		return p.ReadyContainers == p.TotalContainers, true
	}
	return false, false
}

// Container gives the container of that name; where none has it, the only one without a name, as a fragment of a
// description has.
func (p *Pod) Container(name string) (*Container, bool) { return FindContainer(p.Containers, name) }

// FindContainer does the same in a list of containers.
func FindContainer(cs []Container, name string) (*Container, bool) {
	var nameless *Container
	n := 0
	for i := range cs {
		switch cs[i].Name {
		case name:
			return &cs[i], true
		case "":
			nameless = &cs[i]
			n++
		}
	}
	return nameless, n == 1
}

// Workload is a controller of pods: Deployment, ReplicaSet, StatefulSet, DaemonSet, Job, ReplicationController.
type Workload struct {
	Item
	Object   Object            `json:"object"`
	Owner    Object            `json:"owner,omitzero"`
	Labels   map[string]string `json:"labels,omitempty"`
	Selector map[string]string `json:"selector,omitempty"`
	// Desired and the counts below are -1 when not known.
	Desired     int `json:"desired"`
	ReadyCount  int `json:"ready"`
	Updated     int `json:"updated"`
	Available   int `json:"available"`
	Revision    string
	Created     time.Time         `json:"created,omitzero"`
	Containers  []Container       `json:"containers,omitempty"` // of the template
	Annotations map[string]string `json:"annotations,omitempty"`
	// GraceSeconds is the template's terminationGracePeriodSeconds, 0 when not set.
	GraceSeconds    int         `json:"graceSeconds,omitempty"`
	MinReadySeconds int         `json:"minReadySeconds,omitempty"`
	Conditions      []Condition `json:"conditions,omitempty"`
}

// Autoscaler is a HorizontalPodAutoscaler. Numbers are -1 when not known.
type Autoscaler struct {
	Item
	Object     Object      `json:"object"`
	Target     Object      `json:"target,omitzero"`
	Min        int         `json:"min"`
	Max        int         `json:"max"`
	Current    int         `json:"current"`
	Desired    int         `json:"desired"`
	LastScale  time.Time   `json:"lastScale,omitzero"`
	Metrics    []string    `json:"metrics,omitempty"` // as text: "cpu: 81%/60%"
	Conditions []Condition `json:"conditions,omitempty"`
}

// Node is a node's status.
type Node struct {
	Item
	Object         Object      `json:"object"`
	KubeletVersion string      `json:"kubeletVersion,omitempty"`
	Conditions     []Condition `json:"conditions,omitempty"`
	Unschedulable  bool        `json:"unschedulable,omitempty"`
	Taints         []string    `json:"taints,omitempty"`
	CPU            float64     `json:"cpu,omitempty"`    // allocatable cores
	Memory         float64     `json:"memory,omitempty"` // allocatable bytes
	Created        time.Time   `json:"created,omitzero"`
}

// Service is a Service, Ingress or EndpointSlice as far as it bears on who gets traffic and who checks health.
type Service struct {
	Item
	Object      Object            `json:"object"`
	Selector    map[string]string `json:"selector,omitempty"`
	Ports       []Port            `json:"ports,omitempty"`
	Annotations map[string]string `json:"annotations,omitempty"`
	// Policy is externalTrafficPolicy; NodePort the healthCheckNodePort.
	Policy   string `json:"policy,omitempty"`
	NodePort int    `json:"nodePort,omitempty"`
	// Backends names the services that an Ingress routes to.
	Backends []string `json:"backends,omitempty"`
}

// Sample is one value of a series.
type Sample struct {
	At    time.Time `json:"at,omitzero"`
	Value float64   `json:"value"`
}

// Series is one time series or one scraped value.
type Series struct {
	Item
	// Signal is the canonical signal of the metric catalog ("pool.busy"), empty for a raw series.
	Signal string `json:"signal,omitempty"`
	// Stack is the catalog entry that recognised it ("tomcat-micrometer").
	Stack  string            `json:"stack,omitempty"`
	Name   string            `json:"name,omitempty"` // the metric's name
	Labels map[string]string `json:"labels,omitempty"`
	Query  string            `json:"query,omitempty"` // the PromQL it answers, where there was one
	Type   string            `json:"type,omitempty"`  // counter, gauge, histogram, summary; empty when not known
	// Samples are sorted by time. A scrape without a time has one sample with the zero time.
	Samples []Sample `json:"samples,omitempty"`
}

// Query is a canonical signal together with the PromQL that would give it: what to ask where the signal is missing.
type Query struct {
	Signal string `json:"signal"`
	Stack  string `json:"stack,omitempty"`
	PromQL string `json:"promql"`
}

// LogLine is one record of a log (of an application, a proxy, the kubelet or the kernel).
type LogLine struct {
	Item
	// Origin is "app", "kubelet", "kernel", "proxy", "node" (another daemon of the node, which Logger names) or "shell" (what
	// a command printed that somebody ran; Logger names the command).
	Origin    string    `json:"origin,omitempty"`
	Object    Object    `json:"object"` // the pod, where known
	Container string    `json:"container,omitempty"`
	Node      string    `json:"node,omitempty"`
	At        time.Time `json:"at,omitzero"`
	Level     string    `json:"level,omitempty"` // TRACE DEBUG INFO WARN ERROR FATAL, upper case
	Logger    string    `json:"logger,omitempty"`
	Thread    string    `json:"thread,omitempty"`
	// Route is the request path that the record says it belongs to, empty when it names none.
	Route   string `json:"route,omitempty"`
	Message string `json:"message"`
}

// Request is one request that a server, a proxy or a person with curl logged.
type Request struct {
	Item
	Object    Object    `json:"object"` // the pod that served it, where known
	Container string    `json:"container,omitempty"`
	At        time.Time `json:"at,omitzero"`
	Method    string    `json:"method,omitempty"`
	Host      string    `json:"host,omitempty"`
	Port      string    `json:"port,omitempty"`
	Path      string    `json:"path,omitempty"` // without the query string
	// Status is the HTTP status; 0 when there was none (no answer, or not logged).
	Status int `json:"status,omitempty"`
	// Duration is nil when not logged. In a server's log it is the handler's time: waiting for a worker is not in it.
	Duration  *time.Duration `json:"duration,omitempty"`
	UserAgent string         `json:"userAgent,omitempty"`
	Client    string         `json:"client,omitempty"` // the peer's address
	// By is who wrote the record: "server", "balancer", "client".
	By string `json:"by,omitempty"`
}

// Target is one backend of a load balancer as that balancer sees it.
type Target struct {
	Item
	// Balancer is "aws", "haproxy", "envoy", "gke", "nginx", "endpointslice", "kube-proxy"; Group the target group, backend or cluster.
	Balancer string `json:"balancer,omitempty"`
	Group    string `json:"group,omitempty"`
	// ID is the target as the balancer names it (IP, instance id, server name); Pod the pod behind it where known.
	ID   string `json:"id,omitempty"`
	Port string `json:"port,omitempty"`
	Pod  Object `json:"pod,omitzero"`
	// State is "healthy", "unhealthy", "draining", "initial", "unused", "unknown".
	State string `json:"state,omitempty"`
	// Reason is the balancer's own code (Target.Timeout, L7TOUT); Codes the HTTP statuses it names.
	Reason      string    `json:"reason,omitempty"`
	Description string    `json:"description,omitempty"`
	Codes       []int     `json:"codes,omitempty"`
	Since       time.Time `json:"since,omitzero"`
	CheckPort   string    `json:"checkPort,omitempty"`
}

// HealthCheck is the configuration of a load balancer's check.
type HealthCheck struct {
	Item
	Balancer string   `json:"balancer,omitempty"`
	Group    string   `json:"group,omitempty"`
	Endpoint Endpoint `json:"endpoint,omitzero"` // Port "traffic-port" means the target's own port
	// TargetPort is the port of the group's targets, where known.
	TargetPort         string        `json:"targetPort,omitempty"`
	TargetType         string        `json:"targetType,omitempty"` // ip, instance
	Interval           time.Duration `json:"interval,omitempty"`
	Timeout            time.Duration `json:"timeout,omitempty"`
	HealthyThreshold   int           `json:"healthyThreshold,omitempty"`
	UnhealthyThreshold int           `json:"unhealthyThreshold,omitempty"`
	Matcher            string        `json:"matcher,omitempty"` // "200", "200-399"
	// Checkers is how many nodes of the balancer check each target; 0 when not known.
	Checkers int `json:"checkers,omitempty"`
	// DeregistrationDelay is how long a draining target keeps its connections; 0 when not known.
	DeregistrationDelay time.Duration `json:"deregistrationDelay,omitempty"`
}

// Listener is a listening socket, from ss, netstat or a log line that announces one.
type Listener struct {
	Item
	Object    Object `json:"object"`
	Container string `json:"container,omitempty"`
	Address   string `json:"address,omitempty"` // "127.0.0.1", "0.0.0.0", "::", "*"
	Port      string `json:"port,omitempty"`
	Process   string `json:"process,omitempty"`
	// Queued and Backlog are Recv-Q and Send-Q of a listening socket, -1 when not known.
	Queued  int `json:"queued"`
	Backlog int `json:"backlog"`
}

// CoverageStatus is how well a source could be read.
type CoverageStatus string

// The statuses. Only "ok" allows to conclude anything from the absence of an item.
const (
	CoverageOK      CoverageStatus = "ok"
	CoveragePartial CoverageStatus = "partial"
	CoverageDenied  CoverageStatus = "denied"
	CoverageTimeout CoverageStatus = "timeout"
	CoverageAbsent  CoverageStatus = "absent"
	CoverageError   CoverageStatus = "error"
)

// The names of sources in Coverage.
const (
	SourceEvents   = "events"
	SourcePods     = "pods"
	SourceSpecs    = "specs" // workloads and manifests
	SourceScaling  = "autoscalers"
	SourceNodes    = "nodes"
	SourceLogs     = "logs"
	SourceRequests = "requests"
	SourceMetrics  = "metrics"
	SourceBalancer = "balancer"
	SourceSockets  = "sockets"
	SourceInput    = "input" // text that could not be read as anything
)

// Coverage says for one source whether it was read, how much of it, and what went wrong.
type Coverage struct {
	Source string         `json:"source"`
	Status CoverageStatus `json:"status"`
	// Detail is for a person: counts, or file:line and why. Untrusted.
	Detail string `json:"detail,omitempty"`
}
