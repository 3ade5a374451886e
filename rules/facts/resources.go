package facts

import "github.com/probedoctor/probedoctor/sources/evidence"

// What the container gets of CPU and memory, and what its runtime does with the time.

var resourceFacts = []Fact{
	signalFact("cpu.throttledRatio", "cpu.throttledRatio", "CFS periods in which the container was throttled, as a share of all its periods.", "ratio",
		"a throttled process runs late, health handler included"),
	signalFact("cpu.usage", "cpu.usage", "CPU used, in cores.", "cores", "whether the container is busy at all"),
	signalFact("cpu.pressure", "cpu.pressure", "Share of time in which a task of the container waited for CPU (PSI).", "ratio",
		"waiting for CPU without a limit is starvation by neighbours"),
	{
		Name: "cpu.ofLimit", Doc: "CPU used as a share of the container's limit, by the failing pods' highest value.",
		Type: Double, Unit: "ratio", Scope: ScopeIncident, Needs: []string{evidence.SourceMetrics, evidence.SourceSpecs},
		Why: "a container at its limit is throttled", Collect: collectSignal("cpu.usage"),
		Compute: func(in *Incident) Value {
			ps := in.failingPeaks("cpu.usage")
			c, ref := in.spec()
			if len(ps) == 0 || c == nil || c.CPULimit <= 0 {
				return Unknown
			}
			return known(medianPeak(ps)/c.CPULimit, append(peakRefs(ps), ref)...)
		},
	},
	{
		Name: "cpu.limit", Doc: "The container's CPU limit in cores; 0 when the specification sets none.",
		Type: Double, Unit: "cores", Scope: ScopeIncident, Needs: []string{evidence.SourceSpecs},
		Why: "without a limit nothing throttles, with a small one everything does", Collect: collectSpec,
		Compute: func(in *Incident) Value {
			c, ref := in.spec()
			if c == nil || !c.ProbesKnown {
				return Unknown
			}
			return known(c.CPULimit, ref)
		},
	},
	{
		Name: "memory.ofLimit", Doc: "Working set as a share of the container's memory limit, highest value of the failing pods.",
		Type: Double, Unit: "ratio", Scope: ScopeIncident, Needs: []string{evidence.SourceMetrics, evidence.SourceSpecs},
		Why: "near the limit a process thrashes or is killed; far from it exit code 137 means something else", Collect: collectSignal("memory.workingSet"),
		Compute: func(in *Incident) Value {
			ps := in.failingPeaks("memory.workingSet")
			c, ref := in.spec()
			if len(ps) == 0 || c == nil || c.MemoryLimit <= 0 {
				return Unknown
			}
			return known(medianPeak(ps)/c.MemoryLimit, append(peakRefs(ps), ref)...)
		},
	},
	durationFact("gc.pauseMax", "gc.pauseMax", "Longest pause by garbage collection.", "a pause as long as the probe's timeout fails the probe by itself"),
	signalFact("gc.share", "gc.share", "Share of the time spent in garbage collection pauses.", "ratio", "a process that collects all the time serves nobody"),
	durationFact("eventloop.lag", "loop.lag", "Lag of the event loop.", "a blocked event loop answers no probe"),
	signalFact("files.ratio", "files.ratio", "Open files as a share of the process's limit.", "ratio", "without file descriptors no connection is accepted"),
	signalFact("threads.deadlocked", "threads.deadlocked", "Threads in a deadlock.", "threads", "a deadlock never ends by itself"),
}

// spec is the container's specification, from a failing pod, any pod or the template.
func (in *Incident) spec() (*evidence.Container, evidence.Ref) {
	type found struct {
		c   *evidence.Container
		ref evidence.Ref
	}
	f := once(in, "spec", func() found {
		var first found
		for _, p := range in.Pods {
			c := in.containerOf(p)
			if c == nil || !c.ProbesKnown && c.CPULimit == 0 && c.MemoryLimit == 0 && len(c.Probes) == 0 {
				continue
			}
			if in.isFailing(p.Object.Name) {
				return found{c, p.Ref}
			}
			if first.c == nil {
				first = found{c, p.Ref}
			}
		}
		if in.Template != nil {
			if c := templateContainer(in.Template, in.Container); c != nil && (first.c == nil || c.ProbesKnown && !first.c.ProbesKnown) {
				return found{c, in.Template.Ref}
			}
		}
		return first
	})
	return f.c, f.ref
}

// templateContainer finds the container of that name in a template; without a name, the only one.
func templateContainer(w *evidence.Workload, name string) *evidence.Container {
	if name != "" {
		c, _ := evidence.FindContainer(w.Containers, name)
		return c
	}
	var only *evidence.Container
	n := 0
	for i := range w.Containers {
		if !w.Containers[i].Init {
			only = &w.Containers[i]
			n++
		}
	}
	if n == 1 {
		return only
	}
	return nil
}
