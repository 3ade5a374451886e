package paste

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/probedoctor/probedoctor/sources/evidence"
)

// TestFormats reads a sample of every layout in which people paste what kubectl, the node and the network print.
func TestFormats(t *testing.T) {
	files, err := filepath.Glob("testdata/formats/*.txt")
	if err != nil || len(files) != len(formatsWant) {
		t.Fatalf("%d samples for %d expectations, %v", len(files), len(formatsWant), err)
	}
	for _, f := range files {
		name := filepath.Base(f)
		t.Run(name, func(t *testing.T) {
			set, err := Read([]string{f}, nil, Options{})
			if err != nil {
				t.Fatal(err)
			}
			got := brief(set)
			if strings.HasPrefix(name, "10.") {
				// What a broken manifest's coverage says is the business of its own tests.
				got = slices.DeleteFunc(got, func(s string) bool { return strings.HasPrefix(s, "coverage") })
			}
			if diff := gocmp.Diff(formatsWant[name], got); diff != "" {
				t.Errorf("-want +got\n%s\n%s", diff, readFile(t, f))
			}
			for _, e := range set.Events {
				if e.Line == 0 || e.Source == "" || e.Locator == "" || len(e.Excerpt) == 0 || len(e.Excerpt) > maxExcerpt {
					t.Errorf("an event without its place: %+v", e.Item)
				}
			}
		})
	}
}

func readFile(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// brief writes what was read of a text as one line an item, short enough to hold beside the text.
func brief(set *evidence.Set) []string {
	var out []string
	add := func(parts ...string) {
		kept := slices.DeleteFunc(parts, func(s string) bool { return s == "" })
		out = append(out, strings.Join(kept, " | "))
	}
	for _, e := range set.Events {
		add("event", briefObject(e.Object), e.Container, e.Type, e.Reason, briefCount(e), briefSpan(e.First, e.Last),
			strings.Trim(e.Component+"@"+e.Host, "@"), when(e.Combined, "combined"), fmt.Sprintf("%q", e.Message))
	}
	for _, p := range set.Pods {
		add("pod", briefObject(p.Object), p.Phase, when(p.TotalContainers > 0, fmt.Sprintf("%d/%d", p.ReadyContainers, p.TotalContainers)),
			when(p.Restarts >= 0, fmt.Sprintf("restarts %d", p.Restarts)), briefTime("last restart", p.LastRestart), briefTime("created", p.Created),
			p.IP, p.Node, strings.Join(p.Gates, " "), briefObject(p.Owner))
		for _, c := range p.Containers {
			briefContainer(add, c)
		}
		briefConditions(add, p.Conditions)
	}
	for _, w := range set.Workloads {
		add("workload", briefObject(w.Object), fmt.Sprintf("desired %d ready %d updated %d available %d", w.Desired, w.ReadyCount, w.Updated, w.Available), briefTime("created", w.Created))
		for _, c := range w.Containers {
			briefContainer(add, c)
		}
		briefConditions(add, w.Conditions)
	}
	for _, a := range set.Autoscalers {
		add("autoscaler", briefObject(a.Object), briefObject(a.Target), fmt.Sprintf("%d..%d at %d want %d", a.Min, a.Max, a.Current, a.Desired), strings.Join(a.Metrics, "; "))
		briefConditions(add, a.Conditions)
	}
	for _, n := range set.Nodes {
		add("node", briefObject(n.Object), n.KubeletVersion, when(n.Unschedulable, "unschedulable"), strings.Join(n.Taints, " "), when(n.CPU > 0, fmt.Sprint(n.CPU, " cores ", n.Memory, " bytes")))
		briefConditions(add, n.Conditions)
	}
	for _, s := range set.Services {
		add("service", briefObject(s.Object), fmt.Sprint(s.Ports), s.Policy, strings.Join(s.Backends, " "))
	}
	for _, s := range set.Series {
		var labels []string
		for _, k := range slices.Sorted(maps.Keys(s.Labels)) {
			labels = append(labels, k+"="+s.Labels[k])
		}
		add("series", s.Name, strings.Join(labels, ","), fmt.Sprintf("%.6g", s.Samples[0].Value))
	}
	for _, l := range set.Logs {
		add("log", l.Origin, briefObject(l.Object), l.Container, l.Node, l.Level, briefTime("", l.At), l.Logger, fmt.Sprintf("%q", l.Message))
	}
	for _, r := range set.Requests {
		d := ""
		if r.Duration != nil {
			d = r.Duration.String()
		}
		add("request", briefObject(r.Object), r.By, briefTime("", r.At), r.Method, r.Host, r.Port, r.Path, fmt.Sprint(r.Status), d)
	}
	for _, g := range set.Targets {
		add("target", g.Balancer, g.Group, g.ID, g.Port, g.State, g.Reason, g.Description, when(len(g.Codes) > 0, fmt.Sprint(g.Codes)))
	}
	for _, l := range set.Listeners {
		add("listener", briefObject(l.Object), l.Address, l.Port, l.Process, fmt.Sprintf("queued %d of %d", l.Queued, l.Backlog))
	}
	for _, c := range set.Coverage {
		if c.Source == evidence.SourceInput {
			add("coverage", string(c.Status), c.Detail)
		}
	}
	return out
}

func when(ok bool, s string) string {
	if !ok {
		return ""
	}
	return s
}

func briefObject(o evidence.Object) string {
	return strings.Trim(strings.Join([]string{o.Kind, o.Namespace, o.Name}, "/"), "/")
}

func briefCount(e evidence.Event) string {
	return "x" + when(e.AtLeast, "≥") + fmt.Sprint(e.Count)
}

func briefSpan(first, last time.Time) string {
	a, b := briefTime("", first), briefTime("", last)
	if a == b {
		return a
	}
	return cmp.Or(a, "?") + " to " + cmp.Or(b, "?")
}

func briefTime(what string, t time.Time) string {
	if t.IsZero() {
		return ""
	}
	s := t.Format(time.RFC3339Nano)
	if evidence.IsRelative(t) {
		s = evidence.Before(t).String() + " ago"
	}
	return strings.TrimSpace(what + " " + s)
}

func briefContainer(add func(...string), c evidence.Container) {
	state := func(what string, s evidence.ContainerState) string {
		if s.Status == "" && s.Reason == "" {
			return ""
		}
		exit := ""
		if s.ExitCode != nil {
			exit = fmt.Sprintf("exit %d", *s.ExitCode)
		}
		return strings.Join(strings.Fields(strings.Join([]string{what, s.Status, s.Reason, exit, when(!s.Started.IsZero() || !s.Finished.IsZero(), briefSpan(s.Started, s.Finished))}, " ")), " ")
	}
	add("  container", c.Name, when(c.Init, "init"), c.Image, when(c.Restarts >= 0, fmt.Sprintf("restarts %d", c.Restarts)), when(c.Ready, "ready"),
		state("now", c.State), state("last", c.LastState), when(c.CPULimit+c.MemoryLimit+c.CPURequest+c.MemoryRequest > 0,
			fmt.Sprintf("cpu %g/%g memory %g/%g", c.CPURequest, c.CPULimit, c.MemoryRequest, c.MemoryLimit)),
		when(len(c.Ports) > 0, fmt.Sprint(c.Ports)), when(len(c.Env) > 0, fmt.Sprint(c.Env)), strings.Join(c.Command, " "), when(c.ProbesKnown, "probes known"))
	for _, p := range c.Probes {
		add("    probe", string(p.Probe), p.Handler, p.Endpoint.Scheme, p.Endpoint.Host, p.Endpoint.Port, p.Endpoint.Path, strings.Join(p.Command, "·"), p.Service,
			fmt.Sprintf("delay %d timeout %d period %d success %d failure %d", p.InitialDelaySeconds, p.TimeoutSeconds, p.PeriodSeconds, p.SuccessThreshold, p.FailureThreshold))
	}
}

func briefConditions(add func(...string), cs []evidence.Condition) {
	for _, c := range cs {
		add("  condition", c.Type, c.Status, c.Reason, briefTime("since", c.Transition), c.Message)
	}
}
