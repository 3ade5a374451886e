package catalog

// Signal is one canonical signal: what facts ask for, whatever stack provides it.
type Signal struct {
	Name string
	Doc  string
	// Unit is "1" (a ratio from 0 to 1), "s", "1/s", "bytes", "cores", or what is counted.
	Unit string
	// Aggregate is how several series of one pod become one value: "max", "min" or "sum".
	Aggregate string
	// Capacity marks signals that only mean something above zero: Tomcat reports -1 where no limit of its own applies,
	// and cAdvisor reports 0 for "no limit".
	Capacity bool
}

// signals is the one list of canonical signals, in the order in which they are shown. No signal can be negative.
var signals = []Signal{
	{Name: "pool.busy", Doc: "Workers that are handling a request.", Unit: "workers", Aggregate: "max"},
	{Name: "pool.max", Doc: "The most workers there can be.", Unit: "workers", Aggregate: "max", Capacity: true},
	{Name: "pool.utilisation", Doc: "Busy workers over the most workers there can be.", Unit: "1", Aggregate: "max"},
	{Name: "pool.queue", Doc: "Work that waits for a worker.", Unit: "requests", Aggregate: "max"},
	{Name: "pool.wait", Doc: "How long work waited for a worker: the longest, or the 99th percentile.", Unit: "s", Aggregate: "max"},
	{Name: "connections.current", Doc: "Open connections to the server.", Unit: "connections", Aggregate: "max"},
	{Name: "connections.max", Doc: "The most connections that the server keeps open.", Unit: "connections", Aggregate: "max", Capacity: true},

	{Name: "request.rate", Doc: "Requests over all routes.", Unit: "1/s", Aggregate: "sum"},
	{Name: "request.latency", Doc: "Time of requests over all routes: the longest, or the 99th percentile.", Unit: "s", Aggregate: "max"},
	{Name: "request.mean", Doc: "Mean time of requests over all routes; hides the slow ones.", Unit: "s", Aggregate: "max"},
	{Name: "handler.rate", Doc: "Requests to the health route.", Unit: "1/s", Aggregate: "sum"},
	{Name: "handler.latency", Doc: "Time inside the handler of the health route: the longest, or the 99th percentile. Waiting for a worker is not in it.", Unit: "s", Aggregate: "max"},
	{Name: "handler.mean", Doc: "Mean time inside the handler of the health route; hides the slow ones.", Unit: "s", Aggregate: "max"},

	{Name: "cpu.throttledRatio", Doc: "Share of the CPU periods in which the container was throttled.", Unit: "1", Aggregate: "max"},
	{Name: "cpu.usage", Doc: "CPU time used.", Unit: "cores", Aggregate: "sum"},
	{Name: "cpu.pressure", Doc: "Share of time in which a task of the container waited for a CPU (PSI some).", Unit: "1", Aggregate: "max"},
	{Name: "gc.pauseMax", Doc: "The longest pause by garbage collection.", Unit: "s", Aggregate: "max"},
	{Name: "gc.share", Doc: "Share of time spent in garbage collection.", Unit: "1", Aggregate: "max"},
	{Name: "loop.lag", Doc: "How late the event loop or the scheduler runs what is ready.", Unit: "s", Aggregate: "max"},
	{Name: "loop.utilisation", Doc: "Share of time in which the event loop was busy.", Unit: "1", Aggregate: "max"},
	{Name: "memory.workingSet", Doc: "Memory that counts against the container's limit.", Unit: "bytes", Aggregate: "max"},
	{Name: "memory.limit", Doc: "The container's memory limit.", Unit: "bytes", Aggregate: "max", Capacity: true},
	{Name: "files.ratio", Doc: "Open file descriptors over the process's limit.", Unit: "1", Aggregate: "max"},
	{Name: "threads.deadlocked", Doc: "Threads in a deadlock.", Unit: "threads", Aggregate: "max"},

	{Name: "backlog.overflows", Doc: "Connections that found an accept queue full (ListenOverflows or the server's own counter). Counters of a node see only the node's own network namespace.", Unit: "1/s", Aggregate: "sum"},
	{Name: "backlog.queue", Doc: "Connections that wait in the accept queue.", Unit: "connections", Aggregate: "max"},
	{Name: "backlog.max", Doc: "The length of the accept queue that was asked for.", Unit: "connections", Aggregate: "max", Capacity: true},

	{Name: "dependency.latency", Doc: "Time of calls to a dependency: the longest, or the 99th percentile.", Unit: "s", Aggregate: "max"},
	{Name: "dependency.errors", Doc: "Failed calls or connections to a dependency.", Unit: "1/s", Aggregate: "sum"},
	{Name: "dbpool.busy", Doc: "Connections of a client pool in use.", Unit: "connections", Aggregate: "max"},
	{Name: "dbpool.max", Doc: "The most connections of a client pool.", Unit: "connections", Aggregate: "max", Capacity: true},
	{Name: "dbpool.utilisation", Doc: "Connections of a client pool in use over the most there can be.", Unit: "1", Aggregate: "max"},
	{Name: "dbpool.pending", Doc: "Callers that wait for a connection of a client pool.", Unit: "callers", Aggregate: "max"},
	{Name: "dbpool.wait", Doc: "How long callers waited for a connection of a client pool: the longest, or the 99th percentile.", Unit: "s", Aggregate: "max"},
	{Name: "dbpool.timeouts", Doc: "Callers that gave up waiting for a connection of a client pool.", Unit: "1/s", Aggregate: "sum"},

	{Name: "probe.failedRate", Doc: "Failed probes as the kubelet counted them. Errored probes are not counted.", Unit: "1/s", Aggregate: "sum"},
	{Name: "probe.failedRatio", Doc: "Failed probes over all that the kubelet counted. Errored probes are not counted.", Unit: "1", Aggregate: "max"},
	{Name: "probe.latency", Doc: "99th percentile of the time of successful probes; failures are not in it.", Unit: "s", Aggregate: "max"},
	{Name: "probe.execLatency", Doc: "99th percentile of the kubelet's exec calls into containers.", Unit: "s", Aggregate: "max"},
	{Name: "lb.unhealthyHosts", Doc: "Targets that a load balancer holds unhealthy.", Unit: "hosts", Aggregate: "max"},
	{Name: "lb.healthyHosts", Doc: "Targets that a load balancer holds healthy.", Unit: "hosts", Aggregate: "min"},
	{Name: "lb.utilisation", Doc: "Sessions of a balancer's backend over its limit.", Unit: "1", Aggregate: "max"},
	{Name: "lb.queue", Doc: "Requests that wait in a balancer for a backend.", Unit: "requests", Aggregate: "max"},
	{Name: "lb.wait", Doc: "Mean time that requests waited in a balancer for a backend.", Unit: "s", Aggregate: "max"},
	{Name: "replicas.ready", Doc: "Ready replicas of a workload.", Unit: "pods", Aggregate: "max"},
	{Name: "replicas.desired", Doc: "Replicas that a workload asks for.", Unit: "pods", Aggregate: "max"},
	{Name: "hpa.current", Doc: "Replicas that an autoscaler sees.", Unit: "pods", Aggregate: "max"},
	{Name: "hpa.desired", Doc: "Replicas that an autoscaler wants.", Unit: "pods", Aggregate: "max"},

	{Name: "node.pressure", Doc: "Share of time in which a task of the node waited for a CPU (PSI some).", Unit: "1", Aggregate: "max"},
	{Name: "node.memoryPressure", Doc: "Share of time in which a task of the node waited for memory (PSI some).", Unit: "1", Aggregate: "max"},
	{Name: "node.ioPressure", Doc: "Share of time in which a task of the node waited for a disk (PSI some).", Unit: "1", Aggregate: "max"},
	{Name: "node.plegLatency", Doc: "99th percentile of the kubelet's relisting of containers.", Unit: "s", Aggregate: "max"},
	{Name: "conntrack.ratio", Doc: "Tracked connections of the node over the most there can be.", Unit: "1", Aggregate: "max"},
	{Name: "up", Doc: "1 when Prometheus could scrape the target, 0 when not: a blocked process does not answer scrapes either.", Unit: "1", Aggregate: "min"},
}

// signalIndex gives the place of each signal in signals.
var signalIndex = func() map[string]int {
	m := make(map[string]int, len(signals))
	for i, s := range signals {
		m[s.Name] = i
	}
	return m
}()
