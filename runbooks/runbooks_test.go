package runbooks

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// diagnoses are the ids that have a runbook.
var diagnoses = []string{
	"accept-queue-overflow", "app-crash", "app-error-status", "app-hang", "autoscaling-flap", "bad-rollout", "bound-to-localhost", "cpu-starvation", "dependency-in-probe",
	"dependency-slowdown", "drain-order", "exec-probe-fault", "grpc-health-config", "kubelet-or-runtime-fault", "liveness-restart-cascade", "load-balancer-only", "mesh-sidecar",
	"network-path-fault", "node-pressure", "out-of-memory", "probe-auth-or-redirect", "probe-result-discarded", "probe-self-load", "probe-timeout-too-short", "protocol-mismatch",
	"runtime-stall", "shallow-probe", "shutdown-noise", "slow-start", "socket-exhaustion", "stacked-probes", "startup-noise", "storage-stall", "threshold-flapping",
	"worker-pool-saturation", "wrong-port-or-path",
}

func mustLoad(t *testing.T, dirs ...string) *Library {
	t.Helper()
	lib, err := Load(dirs...)
	if err != nil {
		t.Fatal(err)
	}
	return lib
}

func TestEveryDiagnosisHasARunbook(t *testing.T) {
	if diff := cmp.Diff(diagnoses, mustLoad(t).IDs()); diff != "" {
		t.Error(diff)
	}
}

func TestRunbooksAreWhole(t *testing.T) {
	lib := mustLoad(t)
	for _, id := range lib.IDs() {
		rb := lib.Get(id)
		for name, r := range map[string]Rendered{"unknown": rb.Render(nil, nil), "known": rb.Render(incident("name"), []string{"spring", "tomcat"})} {
			for _, h := range horizons {
				if !slices.ContainsFunc(r.Steps, func(s Step) bool { return s.Horizon == h }) {
					t.Errorf("%s (%s): no step for %s", id, name, h)
				}
			}
			for _, s := range r.Steps {
				if s.Step == "" || s.Does == "" && s.DoesNot == "" && s.Risk == "" {
					t.Errorf("%s (%s): step %s is empty: %+v", id, name, s.ID, s)
				}
				if s.Horizon == Now && s.Does == "" {
					t.Errorf("%s (%s): step %s does not say what it does", id, name, s.ID)
				}
			}
			if len(r.Verify) == 0 || len(r.NotAFix) < 2 {
				t.Errorf("%s (%s): %d to verify, %d that are not a fix", id, name, len(r.Verify), len(r.NotAFix))
			}
		}
		text := rb.Markdown(nil)
		for _, heading := range []string{"## What it is", "## How to tell", "## How to confirm", "## What to do", "## What not to do", "## Now", "## Next", "## Later", "## Verify", "## Not a fix"} {
			if !strings.Contains(text, "\n"+heading+"\n") {
				t.Errorf("%s: no %q", id, heading)
			}
		}
	}
}

// Where a dependency plays a part, the runbook says what that means for liveness and for readiness.
func TestDependenciesAreSaidForBothProbes(t *testing.T) {
	lib := mustLoad(t)
	n := 0
	for _, id := range lib.IDs() {
		text := strings.ToLower(lib.Get(id).Markdown(nil))
		if !strings.Contains(text, "dependenc") {
			continue
		}
		n++
		if !strings.Contains(text, "liveness") || !strings.Contains(text, "readiness") {
			t.Errorf("%s speaks of dependencies, not of both liveness and readiness", id)
		}
	}
	if n < 14 {
		t.Errorf("only %d runbooks speak of dependencies", n)
	}
}

// The incident that the project began with needs exactly these steps.
func TestWorkerPoolSaturation(t *testing.T) {
	values := map[string]any{
		"namespace": "shop", "kind": "Deployment", "workload": "checkout", "container": "app", "containerIndex": 0, "failingPods": []string{"checkout-1", "checkout-2"},
		"probe.kind": "liveness", "probe.path": "/healthz", "probe.timeout": 1, "newTimeout": 3, "pool.max": 200, "pool.busy": 198, "dependency": "Redis",
		"dependency.routes": []string{"/api/cart", "/api/price"}, "targetGroup": "arn:aws:tg/checkout", "hpa": "checkout", "hpa.min": 4,
		"probes": []map[string]any{
			{"kind": "readiness", "path": "/healthz", "port": 8080, "timeoutSeconds": 1, "index": 0},
			{"kind": "liveness", "path": "/healthz", "port": 8080, "timeoutSeconds": 1, "index": 0},
			{"kind": "startup", "path": "/healthz", "port": 8080, "timeoutSeconds": 5, "index": 0},
		},
	}
	r := mustLoad(t).Get("worker-pool-saturation").Render(values, []string{"Tomcat"})
	byID := map[string]Step{}
	for _, s := range r.Steps {
		byID[s.ID] = s
	}
	raise := byID["raise-timeout"]
	patch := func(value string) string {
		return `kubectl -n shop patch deployment/checkout --type=json -p '[` +
			`{"op":"replace","path":"/spec/template/spec/containers/0/readinessProbe/timeoutSeconds","value":` + value + `},` +
			`{"op":"replace","path":"/spec/template/spec/containers/0/livenessProbe/timeoutSeconds","value":` + value + `}]'`
	}
	if raise.Command != patch("3") || raise.UndoCommand != patch("1") || !strings.Contains(raise.Undo, patch("1")) {
		t.Errorf("patch:\n%s\nundo:\n%s", raise.Command, raise.Undo)
	}
	for _, want := range []struct {
		id      string
		horizon Horizon
		field   func(Step) string
		text    string
	}{
		{"raise-timeout", Now, func(s Step) string { return s.Step }, "from 1 to 3"},
		{"raise-timeout", Now, func(s Step) string { return s.Does }, "more time to wait for a worker"},
		{"raise-timeout", Now, func(s Step) string { return s.DoesNot }, "does not free a single worker"},
		{"fix-dependency-calls", Next, func(s Step) string { return s.Step }, "Redis calls on /api/cart, /api/price, which hold the workers"},
		{"size-pool", Next, func(s Step) string { return s.Step }, "maxThreads (200) and acceptCount against peak traffic plus probes"},
		{"own-port", Later, func(s Step) string { return s.Step }, "management.server.port"},
		{"unstack-probes", Later, func(s Step) string { return s.Step }, "liveness dumb; readiness may be richer"},
	} {
		if s := byID[want.id]; s.Horizon != want.horizon || !strings.Contains(want.field(s), want.text) {
			t.Errorf("step %s: want %q in %+v", want.id, want.text, s)
		}
	}
	if n := r.NotAFix[0]; !strings.Contains(n.Step, "health check ping Redis") || !strings.Contains(n.Why, "wrong reason") {
		t.Errorf("not a fix: %+v", n)
	}
	if v := r.Verify[0]; !strings.Contains(v.Step, "OLDER replicas through the next scale event") || !strings.Contains(v.Step, "prove nothing") {
		t.Errorf("verify: %+v", v)
	}
}

func TestStepsWithoutTheirValues(t *testing.T) {
	rb := mustLoad(t).Get("worker-pool-saturation")
	for _, s := range rb.Render(nil, nil).Steps {
		if s.ID != "raise-timeout" {
			continue
		}
		if s.Command != "" || s.UndoCommand != "" || !slices.Equal(s.Missing, []string{"kind", "workload", "patch.timeouts"}) {
			t.Errorf("%+v", s)
		}
		if s.Step != "Raise timeoutSeconds from its present value to 3 or more on the probes that share the server with traffic" {
			t.Errorf("prose: %s", s.Step)
		}
		return
	}
	t.Error("the step is gone")
}

func TestVariantsByStack(t *testing.T) {
	rb := mustLoad(t).Get("worker-pool-saturation")
	find := func(stacks ...string) (out []Step) {
		for _, s := range rb.Render(nil, stacks).Steps {
			if s.ID == "size-pool" {
				out = append(out, s)
			}
		}
		return out
	}
	for stack, word := range map[string]string{"spring": "maxThreads", "PHP-FPM": "pm.max_children", "jetty": "QueuedThreadPool", "tomcat-jmx": "maxThreads", "node-exporter": "workers times threads", "puma": "Puma", "unheard-of": "workers times threads"} {
		if got := find(stack); len(got) != 1 || !strings.Contains(got[0].Step, word) {
			t.Errorf("%s: %+v", stack, got)
		}
	}
	if got := find(); len(got) != 1 || len(got[0].Stacks) != 0 {
		t.Errorf("no stack: %+v", got)
	}
}

func TestPatchesOfTimeouts(t *testing.T) {
	base := map[string]any{"kind": "StatefulSet", "probe.kind": "liveness", "containerIndex": 1, "probe.timeout": 1, "newTimeout": 3}
	with := func(changes map[string]any) map[string]any {
		out := map[string]any{}
		for k, v := range base {
			out[k] = v
		}
		for k, v := range changes {
			out[k] = v
		}
		return out
	}
	one := `[{"op":"replace","path":"/spec/template/spec/containers/1/livenessProbe/timeoutSeconds","value":3}]`
	for name, c := range map[string]struct {
		values map[string]any
		want   string
	}{
		"the one probe":        {base, one},
		"a pod is immutable":   {with(map[string]any{"kind": "Pod"}), ""},
		"already long":         {with(map[string]any{"probe.timeout": 3}), ""},
		"unknown probe":        {with(map[string]any{"probe.kind": `x"`}), ""},
		"all are long enough":  {with(map[string]any{"probes": []any{map[string]any{"kind": "liveness", "index": 0, "timeoutSeconds": 9}}}), ""},
		"fractional goal":      {with(map[string]any{"newTimeout": 2.5}), ""},
		"hostile index":        {with(map[string]any{"containerIndex": "0/../../x"}), ""},
		"numbers of any type":  {with(map[string]any{"newTimeout": float64(3), "containerIndex": json.Number("1"), "probe.timeout": "1"}), one},
		"the new one unknown":  {with(map[string]any{"newTimeout": nil}), ""},
		"probes of other type": {with(map[string]any{"probes": "x"}), one},
	} {
		if got := newEnv(c.values).first("patch.timeouts"); got != c.want {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// The table in the package's documentation is the table in the code.
func TestTheTableOfValuesIsDocumented(t *testing.T) {
	src, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	var documented, have []string
	for _, m := range regexp.MustCompile(`(?m)^//\t([\w.]+) +(text|number|list) +\S`).FindAllStringSubmatch(string(src), -1) {
		documented = append(documented, m[1]+" "+m[2])
	}
	for _, v := range Values() {
		have = append(have, v.Name+" "+string(v.Type))
		if v.Generic == "" {
			t.Errorf("%s has no generic words", v.Name)
		}
	}
	if diff := cmp.Diff(have, documented); diff != "" {
		t.Error(diff)
	}
}

func TestUserFolderReplacesAndAdds(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "app-hang.md", "---\ndiagnosis: app-hang\ntitle: Ours\nsteps:\n  - {id: a, horizon: now, step: Call us, does: helps}\n---\nText of {workload}.\n")
	write(t, dir, "our-own.md", "---\ndiagnosis: our-own\ntitle: New\n---\n")
	write(t, dir, "README.md", "no runbook\n")
	write(t, dir, "notes.txt", "no runbook\n")
	lib := mustLoad(t, dir)
	if rb := lib.Get("app-hang"); rb.Title != "Ours" || rb.File != filepath.Join(dir, "app-hang.md") {
		t.Errorf("%+v", rb)
	}
	if lib.Get("our-own") == nil || len(lib.IDs()) != len(diagnoses)+1 {
		t.Error(lib.IDs())
	}
	if lib.Get("no-such") != nil {
		t.Error("a runbook for no diagnosis")
	}
	if _, err := Load(filepath.Join(dir, "absent")); err == nil {
		t.Error("a folder that does not exist was taken for an empty one")
	}
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestFaultsHaveAPlace(t *testing.T) {
	step := func(lines string) string {
		return "---\ndiagnosis: x\ntitle: T\nsteps:\n  - id: a\n    horizon: now\n    step: S\n    does: D\n" + lines + "---\nbody\n"
	}
	for name, c := range map[string]struct{ src, want string }{
		"no front matter":   {"text\n", "x.md:1:1: no front matter"},
		"not closed":        {"---\ndiagnosis: x\n", "x.md:1:1: no front matter"},
		"unknown key":       {"---\ndiagnosis: x\ntitle: T\nstepz: []\n---\n", `x.md:4:1: unknown field "stepz"`},
		"twice the key":     {"---\ndiagnosis: x\ntitle: T\ntitle: U\n---\n", "x.md:4:1: "},
		"bad YAML":          {"---\ndiagnosis: x\ntitle: a: b\n---\n", "x.md:3:"},
		"other name":        {"---\ndiagnosis: y\ntitle: T\n---\n", `x.md:2:12: diagnosis "y" in a file named after "x"`},
		"no title":          {"---\ndiagnosis: x\n---\n", "x.md:1:1: title is missing"},
		"bad horizon":       {strings.Replace(step(""), "now", "soon", 1), `x.md:6:14: horizon "soon"`},
		"empty step":        {strings.Replace(step(""), "    does: D\n", "", 1), "x.md:5:5: a step needs one of does"},
		"unknown value":     {step("    risk: all of {podd}\n"), "x.md:9:18: unknown value {podd}"},
		"in a block":        {step("    command: |\n      echo\n      echo {podd}\n"), "x.md:11:12: unknown value {podd}"},
		"in double quotes":  {step("    command: |\n      echo \"{pod}\"\n"), "x.md:10:13: no value in double quotes"},
		"unknown need":      {step("    when: {needs: [pod, podd]}\n"), "x.md:9:25: unknown value \"podd\""},
		"two of one id":     {step("  - {id: a, horizon: now, step: S, does: D}\n"), `x.md:9:10: two steps "a" without stacks`},
		"other horizon":     {step("  - {id: a, horizon: next, step: S, does: D, stacks: [go]}\n"), `x.md:9:10: the variants of "a"`},
		"bad id":            {step("  - {id: A b, horizon: now, step: S, does: D}\n"), `x.md:9:10: the id "A b"`},
		"no why":            {step("notAFix:\n  - step: S\n"), "x.md:10:5: why is missing"},
		"value in the body": {step("") + "see {podd}\n", "x.md:11:5: unknown value {podd}"},
		"block in the body": {step("") + "```sh\necho \"{pod}\"\n```\n", "x.md:12:7: no value in double quotes"},
		"open block":        {step("") + "```sh\necho\n", "x.md:12:1: the code block is not closed"},
	} {
		_, err := parse("x.md", "x", c.src)
		if err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
}

func TestAllFaultsAreReportedTogether(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "a.md", "---\ndiagnosis: b\ntitle: {pod}\nsteps: []\n---\n{x}{y}\n")
	write(t, dir, "b.md", "x")
	write(t, dir, "c.md", strings.Repeat("x", maxFile+1))
	_, err := Load(dir)
	for _, want := range []string{"a.md:", "b.md:1:1", "c.md:1:1: larger than"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("no %q in %v", want, err)
		}
	}
}

func TestProseShowsValuesAsText(t *testing.T) {
	tmpl, err := compileProse(`{workload} on {node|some node}, \{pod}, {pods}`)
	if err != nil {
		t.Fatal(err)
	}
	values := map[string]any{"workload": "a\nb\x1b[31m", "pods": []string{"p", "q"}}
	if got, want := tmpl.prose(newEnv(values), oneLine), `a\nb\x1b[31m on some node, {pod}, p, q`; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := tmpl.prose(env{}, oneLine), `the workload on some node, {pod}, the pods`; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// A name must not be able to end a code block, open a heading or add a row.
func TestMarkdownKeepsNamesInside(t *testing.T) {
	lib := mustLoad(t)
	headings := func(text string) (out []string) {
		fenced := ""
		for line := range strings.Lines(text) {
			line = strings.TrimSpace(line)
			ticks := line[:len(line)-len(strings.TrimLeft(line, "`"))]
			switch {
			case fenced == "" && len(ticks) >= 3:
				fenced = ticks
			case fenced != "" && line == fenced:
				fenced = ""
			case fenced == "" && strings.HasPrefix(line, "#"):
				out = append(out, line)
			}
		}
		if fenced != "" {
			t.Error("a code block is not closed")
		}
		return out
	}
	for _, id := range lib.IDs() {
		want := headings(lib.Get(id).Markdown(nil))
		for _, name := range []string{"plain", "x\n# heading", "x\n```\n# heading\n```sh", "``` # x", "a`b"} {
			if diff := cmp.Diff(want, headings(lib.Get(id).Markdown(incident(name)))); diff != "" {
				t.Errorf("%s with %q: %s", id, name, diff)
			}
		}
	}
}

func TestRenderingIsDeterministic(t *testing.T) {
	lib, other := mustLoad(t), mustLoad(t)
	for _, id := range lib.IDs() {
		again := other.Get(id)
		first, text := lib.Get(id).Render(incident("x"), []string{"node", "go"}), lib.Get(id).Markdown(incident("x"))
		for range 5 {
			if diff := cmp.Diff(first, again.Render(incident("x"), []string{"node", "go"})); diff != "" {
				t.Fatal(diff)
			}
			if again.Markdown(incident("x")) != text {
				t.Fatal("the Markdown differs")
			}
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("---\ndiagnosis: x\ntitle: T\nsteps:\n  - {id: a, horizon: now, step: S, does: D, command: 'echo {pod}'}\n---\n# b\n```sh\necho {pod}\n```\n")
	f.Add("---\ntitle: [\n---\n")
	f.Add("---\ndiagnosis: x\ntitle: T\nsteps:\n !0 #\n---\n")
	f.Fuzz(func(t *testing.T, src string) {
		rb, err := parse("x.md", "x", src)
		if err != nil {
			return
		}
		rb.Render(incident(src), []string{"go"})
		rb.Markdown(incident(src))
	})
}

func BenchmarkLoad(b *testing.B) {
	for b.Loop() {
		if _, err := Load(); err != nil {
			b.Fatal(err)
		}
	}
}
