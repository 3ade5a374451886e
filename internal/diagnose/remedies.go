package diagnose

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/probedoctor/probedoctor/rules"
	"github.com/probedoctor/probedoctor/rules/facts"
	"github.com/probedoctor/probedoctor/runbooks"
	"github.com/probedoctor/probedoctor/sources/evidence"
)

// remedyFloor is the probability from which a cause's steps are printed. Those of the first cause are from firstFloor on:
// below, what is missing comes first, and a remedy for a guess would only cost time.
const (
	remedyFloor = rules.Named
	firstFloor  = 0.3
)

// remedies fills in what to do: the steps of the first cause and of every other one that is named, first cause first.
func remedies(d *rules.Diagnosis, in *incident, ev *rules.Evaluation, lib *runbooks.Library) {
	d.Remediation, d.NotAFix, d.Verify = []rules.Step{}, []rules.NotAFix{}, []rules.Verify{}
	values, stacks := values(in, ev)
	var steps []rules.Step
	seen := map[string]bool{}
	for i, c := range d.Ranked {
		if i > 0 && c.Probability < remedyFloor || c.Probability < firstFloor {
			continue
		}
		book := lib.Get(c.ID)
		if book == nil {
			continue
		}
		r := book.Render(values, stacks)
		for _, s := range r.Steps {
			// The same remedy of two causes is printed once, with the first.
			if seen[s.Step] {
				continue
			}
			seen[s.Step] = true
			undo := s.Undo
			if s.UndoCommand != "" && !strings.Contains(undo, s.UndoCommand) {
				undo = strings.TrimSpace(undo + " " + s.UndoCommand)
			}
			steps = append(steps, rules.Step{For: c.ID, Step: s.Step, Horizon: rules.Horizon(s.Horizon), Does: s.Does, DoesNot: s.DoesNot,
				Risk: s.Risk, Undo: undo, Command: s.Command})
		}
		for _, n := range r.NotAFix {
			d.NotAFix = append(d.NotAFix, rules.NotAFix{For: c.ID, Step: n.Step, Why: n.Why})
		}
		for _, v := range r.Verify {
			d.Verify = append(d.Verify, rules.Verify{For: c.ID, Step: v.Step, Command: v.Command})
		}
	}
	order := []rules.Horizon{rules.Now, rules.Next, rules.Later}
	slices.SortStableFunc(steps, func(a, b rules.Step) int { return slices.Index(order, a.Horizon) - slices.Index(order, b.Horizon) })
	d.Remediation = append(d.Remediation, steps...)
}

// values are the incident's own names and numbers for the runbooks' placeholders (see the table in package runbooks).
func values(in *incident, ev *rules.Evaluation) (map[string]any, []string) {
	v := map[string]any{}
	set := func(key string, value string) {
		if value != "" {
			v[key] = value
		}
	}
	set("namespace", in.Namespace)
	set("kind", in.Workload.Kind)
	set("workload", in.Workload.Name)
	set("container", in.Container)
	index := -1
	if in.Template != nil {
		index = containerIndex(in.Template.Containers, in.Container)
	}
	if index < 0 {
		for _, p := range in.Pods {
			if i := containerIndex(p.Containers, in.Container); i >= 0 {
				index = i
				break
			}
		}
	}
	if index >= 0 {
		v["containerIndex"] = index
	}
	var failing, all []string
	for _, p := range in.Pods {
		if p.Object.Name == "" {
			continue
		}
		all = append(all, p.Object.Name)
		if slices.ContainsFunc(in.Failures, func(f facts.Failure) bool {
			return f.Object.Name == p.Object.Name && (f.Life == facts.Live || f.Life == facts.LifeUnknown)
		}) {
			failing = append(failing, p.Object.Name)
			set("node", p.Node)
		}
	}
	if len(failing) == 0 {
		for i := range in.Failures {
			if n := in.Failures[i].Object.Name; n != "" && !slices.Contains(failing, n) {
				failing = append(failing, n)
			}
		}
	}
	if len(failing) > 0 {
		v["failingPods"], v["pod"] = failing, failing[0]
	}
	if len(all) > 0 {
		v["pods"] = all
	}
	probeValues(in, ev, v, index)
	poolValues(ev, v)
	if s, ok := known[string](ev, "dependencies.name"); ok {
		v["dependency"] = s
	}
	if s, ok := known[string](ev, "dependencies.routes"); ok {
		v["dependency.routes"] = strings.Split(s, ", ")
	}
	if a := in.Autoscaler; a != nil {
		set("hpa", a.Object.Name)
		if a.Min >= 0 {
			v["hpa.min"] = a.Min
		}
		if a.Max >= 0 {
			v["hpa.max"] = a.Max
		}
	}
	for _, t := range in.Targets {
		if t.Balancer != "endpointslice" {
			set("lb", t.Balancer)
			if t.Balancer == "aws" {
				set("targetGroup", t.Group) // the runbooks' commands for target groups are the AWS client's
			}
		}
	}
	for _, h := range in.HealthChecks {
		if h.Balancer == "aws" {
			set("targetGroup", h.Group)
		}
	}
	for _, l := range in.Listeners {
		set("port.listening", strings.TrimPrefix(l.Address+":"+l.Port, ":"))
	}
	stacks := stacksOf(in)
	if len(stacks) > 0 {
		set("stack", stacks[0])
	}
	return v, stacks
}

func containerIndex(cs []evidence.Container, name string) int {
	n := 0
	for i := range cs {
		if cs[i].Init {
			continue
		}
		if cs[i].Name == name || name == "" {
			return n
		}
		n++
	}
	return -1
}

func known[T any](ev *rules.Evaluation, fact string) (T, bool) {
	x := ev.Values[fact]
	if !x.Known {
		var zero T
		return zero, false
	}
	t, ok := x.V.(T)
	return t, ok
}

// probeValues describes the probe that fails most, and all of the container's probes.
func probeValues(in *incident, ev *rules.Evaluation, v map[string]any, index int) {
	var worst *facts.Probe
	var probes []map[string]any
	for i := range in.Probes {
		p := &in.Probes[i]
		if worst == nil || p.Count() > worst.Count() {
			worst = p
		}
		if p.Spec != nil && p.Kind != "" {
			m := map[string]any{"kind": string(p.Kind), "path": p.Spec.Endpoint.Path, "port": p.Spec.Endpoint.Port,
				"timeoutSeconds": int(p.Spec.Timeout() / time.Second)}
			if index >= 0 {
				m["index"] = index
			}
			probes = append(probes, m)
		}
	}
	if len(probes) > 0 {
		v["probes"] = probes
	}
	if worst == nil {
		return
	}
	if worst.Kind != "" {
		v["probe.kind"] = string(worst.Kind)
	}
	var target evidence.Endpoint
	for _, f := range worst.Failures {
		if f.Target != (evidence.Endpoint{}) {
			target = f.Target
			break
		}
	}
	timeout := 0
	if s := worst.Spec; s != nil {
		v["probe.timeout"] = int(s.Timeout() / time.Second)
		v["probe.period"] = int(s.Period() / time.Second)
		v["probe.failureThreshold"] = s.Failures()
		v["probe.initialDelay"] = s.InitialDelaySeconds
		timeout = int(s.Timeout() / time.Second)
		if s.Endpoint.Port != "" {
			target.Port = s.Endpoint.Port
		}
		if s.Endpoint.Path != "" {
			target.Path = s.Endpoint.Path
		}
		if s.Endpoint.Scheme != "" {
			target.Scheme = s.Endpoint.Scheme
		}
	}
	if target.Path != "" {
		v["probe.path"] = target.Path
	}
	if target.Port != "" {
		v["probe.port"] = target.Port
	}
	if target.Scheme != "" {
		v["probe.scheme"] = strings.ToUpper(target.Scheme)
	}
	v["newTimeout"] = suggestTimeout(timeout, ev)
}

// suggestTimeout is three times the present timeout, or three times the handler's own 99th percentile where that is more:
// room for a wait, and still below the usual period of ten seconds.
func suggestTimeout(now int, ev *rules.Evaluation) int {
	s := max(3*max(now, 1), 3)
	if d, ok := known[time.Duration](ev, "handler.p99"); ok {
		s = max(s, int(math.Ceil(3*d.Seconds())))
	}
	return min(s, max(now, 10))
}

func poolValues(ev *rules.Evaluation, v map[string]any) {
	for key, fact := range map[string]string{"pool.max": "pool.max", "pool.busy": "pool.busy", "pool.queue": "pool.queue"} {
		if x, ok := known[float64](ev, fact); ok {
			v[key] = int(x)
		}
	}
	if x, ok := known[float64](ev, "cpu.limit"); ok && x > 0 {
		v["cpu.limit"] = strconv.FormatFloat(x*1000, 'f', -1, 64) + "m"
	}
}

// stacksOf are the server stacks of the incident, as the metric catalogue recognised or guessed them, as the short words
// that runbooks use.
func stacksOf(in *incident) []string {
	found := map[string]bool{}
	note := func(id string) {
		for word, marks := range stackWords {
			for _, m := range marks {
				if strings.Contains(id, m) {
					found[word] = true
				}
			}
		}
	}
	for _, s := range in.Series {
		for _, x := range s {
			note(x.Stack)
		}
	}
	for _, q := range in.Set.Queries {
		note(q.Stack)
	}
	for _, p := range in.Pods {
		for i := range p.Containers {
			if p.Containers[i].Name == "istio-proxy" {
				found["istio"] = true
			}
		}
	}
	return sortedKeys(found)
}

// stackWords maps the runbooks' words to marks in the catalogue's stack ids.
var stackWords = map[string][]string{
	"tomcat": {"tomcat"}, "spring": {"spring", "tomcat-micrometer"}, "jetty": {"jetty", "dropwizard"}, "node": {"node-", "nodejs"},
	"gunicorn": {"gunicorn"}, "uvicorn": {"uvicorn", "fastapi"}, "puma": {"puma"}, "php-fpm": {"php"}, "go": {"go-"}, "dotnet": {"dotnet", "kestrel"},
	"nginx": {"nginx"}, "istio": {"istio"}, "uwsgi": {"uwsgi"},
}
