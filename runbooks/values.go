package runbooks

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Type is what a value is, and so where it may stand in a command.
type Type string

// The types of values.
const (
	Text   Type = "text"
	Number Type = "number" // may stand bare in JSON
	List   Type = "list"   // in a command each element is a word of its own
)

// Value describes a value that a runbook may name.
type Value struct {
	Name string
	Type Type
	// Generic stands for the value in prose when it is not known.
	Generic string
	// word stands for it in the commands of a document that is read without an incident; empty means the name in capitals.
	word string
	// derived values are computed here and cannot be given.
	derived bool
}

// values is the table of the package's documentation; a test holds the two together.
var values = []Value{
	{Name: "namespace", Type: Text, Generic: "the namespace"},
	{Name: "kind", Type: Text, Generic: "workload", word: "deployment"},
	{Name: "workload", Type: Text, Generic: "the workload"},
	{Name: "container", Type: Text, Generic: "the application's container"},
	{Name: "containerIndex", Type: Number, Generic: "the container's index"},
	{Name: "pod", Type: Text, Generic: "a failing pod"},
	{Name: "failingPods", Type: List, Generic: "the failing pods"},
	{Name: "pods", Type: List, Generic: "the pods"},
	{Name: "probe.kind", Type: Text, Generic: "health", word: "liveness"},
	{Name: "probe.path", Type: Text, Generic: "the health path"},
	{Name: "probe.port", Type: Text, Generic: "the probe's port"},
	{Name: "probe.scheme", Type: Text, Generic: "HTTP"},
	{Name: "probe.timeout", Type: Number, Generic: "the probe's timeoutSeconds"},
	{Name: "probe.period", Type: Number, Generic: "periodSeconds"},
	{Name: "probe.failureThreshold", Type: Number, Generic: "failureThreshold"},
	{Name: "probe.initialDelay", Type: Number, Generic: "initialDelaySeconds"},
	{Name: "probes", Type: List, Generic: "the probes"},
	{Name: "newTimeout", Type: Number, Generic: "a few times the 99th percentile of the answer"},
	{Name: "pool.max", Type: Number, Generic: "all"},
	{Name: "pool.busy", Type: Number, Generic: "nearly all"},
	{Name: "pool.queue", Type: Number, Generic: "some"},
	{Name: "dependency", Type: Text, Generic: "the dependency"},
	{Name: "dependency.routes", Type: List, Generic: "the routes that use it"},
	{Name: "hpa", Type: Text, Generic: "the autoscaler"},
	{Name: "hpa.min", Type: Number, Generic: "minReplicas"},
	{Name: "hpa.max", Type: Number, Generic: "maxReplicas"},
	{Name: "node", Type: Text, Generic: "the node"},
	{Name: "targetGroup", Type: Text, Generic: "the target group"},
	{Name: "lb", Type: Text, Generic: "the load balancer"},
	{Name: "stack", Type: Text, Generic: "the server"},
	{Name: "service", Type: Text, Generic: "the service"},
	{Name: "image", Type: Text, Generic: "the image"},
	{Name: "port.listening", Type: Text, Generic: "the address that the server listens on"},
	{Name: "memory.limit", Type: Text, Generic: "the memory limit"},
	{Name: "cpu.limit", Type: Text, Generic: "the CPU limit"},
	{Name: "exitCode", Type: Number, Generic: "the exit code"},

	{Name: "podTemplate", Type: Text, Generic: "the pod template", word: "/spec/template/spec", derived: true},
	{Name: "targetGroup.arn", Type: Text, Generic: "the target group's ARN", derived: true},
	{Name: "probe.port.number", Type: Number, Generic: "the probe's port", word: "PORT", derived: true},
	{Name: "patch.timeouts", Type: Text, Generic: "the patch of the timeouts", word: genericTimeoutPatch, derived: true},
	{Name: "patch.timeouts.undo", Type: Text, Generic: "the opposite patch", word: genericTimeoutPatch, derived: true},
}

const genericTimeoutPatch = `'[{"op":"replace","path":"/spec/template/spec/containers/CONTAINERINDEX/livenessProbe/timeoutSeconds","value":SECONDS}]'`

// Values returns the table of values that runbooks may name, in its order.
func Values() []Value { return slices.Clone(values) }

func lookup(name string) (Value, bool) {
	i := slices.IndexFunc(values, func(v Value) bool { return v.Name == name })
	if i < 0 {
		return Value{}, false
	}
	return values[i], true
}

// docWord is what stands for the value in a command that is read as documentation.
func (v Value) docWord() string {
	if v.word != "" {
		return v.word
	}
	return strings.ToUpper(strings.ReplaceAll(v.Name, ".", "_"))
}

// env holds the known values of one incident as text; a list has one element a word, all others exactly one.
type env map[string][]string

// newEnv normalises what the caller gave. What has the wrong type is left out: unknown is better than wrong.
func newEnv(given map[string]any) env {
	e := env{}
	for _, v := range values {
		in, ok := given[v.Name]
		if !ok || v.derived || v.Name == "probes" {
			continue
		}
		switch v.Type {
		case List:
			if texts := texts(in); len(texts) > 0 {
				e[v.Name] = texts
			}
		case Number:
			if s, ok := text(in); ok && isNumber(s) {
				e[v.Name] = []string{s}
			}
		default:
			if s, ok := text(in); ok && s != "" {
				e[v.Name] = []string{s}
			}
		}
	}
	if e["pod"] == nil && e["failingPods"] != nil {
		e["pod"] = e["failingPods"][:1]
	}
	if kind := e["kind"]; kind != nil {
		e["kind"] = []string{strings.ToLower(kind[0])}
		// A Pod's probes are immutable, a Job's template too, and a CronJob's lies elsewhere.
		if slices.Contains([]string{"deployment", "statefulset", "daemonset", "replicaset", "rollout", "deploymentconfig"}, e["kind"][0]) {
			e["podTemplate"] = []string{"/spec/template/spec"}
		}
	}
	if tg := e["targetGroup"]; tg != nil && strings.HasPrefix(tg[0], "arn:") {
		e["targetGroup.arn"] = tg
	}
	if port := e["probe.port"]; port != nil && isNumber(port[0]) {
		e["probe.port.number"] = port // JSON takes a port's number bare and its name quoted
	}
	e.deriveTimeoutPatches(given["probes"])
	return e
}

func (e env) first(name string) string {
	if v := e[name]; len(v) > 0 {
		return v[0]
	}
	return ""
}

// text turns a scalar into its text. Numbers never take an exponent: the text goes into commands and JSON.
func text(in any) (string, bool) {
	v := reflect.ValueOf(in)
	for v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface {
		v = v.Elem() // of a nil pointer: the invalid value, which no case below takes
	}
	switch {
	case !v.IsValid():
		return "", false
	case v.Kind() == reflect.String:
		return v.String(), true
	case v.CanInt():
		return strconv.FormatInt(v.Int(), 10), true
	case v.CanUint():
		return strconv.FormatUint(v.Uint(), 10), true
	case v.CanFloat():
		f := v.Float()
		if math.IsNaN(f) || math.IsInf(f, 0) || math.Abs(f) > 1e15 {
			return "", false
		}
		return strconv.FormatFloat(f, 'f', -1, 64), true
	}
	return "", false
}

func texts(in any) []string {
	v := reflect.ValueOf(in)
	if s, ok := text(in); ok && s != "" {
		return []string{s}
	}
	if !v.IsValid() || v.Kind() != reflect.Slice && v.Kind() != reflect.Array {
		return nil
	}
	var out []string
	for i := range v.Len() {
		if s, ok := text(v.Index(i).Interface()); ok && s != "" {
			out = append(out, s)
		}
	}
	return out
}

// isNumber reports whether s is a JSON number without exponent, which is also what text writes.
func isNumber(s string) bool {
	digits := strings.TrimPrefix(s, "-")
	whole, frac, dotted := strings.Cut(digits, ".")
	all := func(s string) bool {
		return s != "" && strings.Trim(s, "0123456789") == ""
	}
	return all(whole) && (whole == "0" || whole[0] != '0') && (!dotted || all(frac))
}

// unfit says why a text cannot be put into a command, empty if it can. Control characters would act on the terminal of whoever
// reads the command, bidirectional ones would show another command than the one that is copied.
func unfit(s string) string {
	if !utf8.ValidString(s) {
		return "is not UTF-8"
	}
	for _, r := range s {
		if r != '\n' && r != '\t' && unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == '\u2028' || r == '\u2029' {
			return "holds a control character"
		}
	}
	return ""
}

// oneLine is how a value is inserted into prose: control characters are shown as escapes, so that it cannot forge a line.
func oneLine(s string) string {
	if unfit(s) == "" && !strings.ContainsAny(s, "\n\t") {
		return s
	}
	q := strconv.QuoteToGraphic(s)
	q = q[1 : len(q)-1]
	return strings.ReplaceAll(q, `\"`, `"`)
}

// deriveTimeoutPatches builds the JSON patch that raises the timeout of every probe that is below newTimeout, as one patch
// because each patch of the template is a rollout, and the patch that takes it back. With no list of probes the one probe of
// probe.kind is patched.
func (e env) deriveTimeoutPatches(probes any) {
	template, target := e.first("podTemplate"), e.first("newTimeout")
	goal, err := strconv.Atoi(target)
	if template == "" || err != nil || goal < 1 {
		return
	}
	var do, undo []string
	for _, p := range probeMaps(probes) {
		e.patchTimeout(p, template, goal, &do, &undo)
	}
	if len(do) == 0 && len(probeMaps(probes)) == 0 {
		one := map[string]any{"kind": e.first("probe.kind"), "index": e.first("containerIndex"), "timeoutSeconds": e.first("probe.timeout")}
		e.patchTimeout(one, template, goal, &do, &undo)
	}
	if len(do) > 0 {
		e["patch.timeouts"] = []string{"[" + strings.Join(do, ",") + "]"}
		e["patch.timeouts.undo"] = []string{"[" + strings.Join(undo, ",") + "]"}
	}
}

func (e env) patchTimeout(p map[string]any, template string, goal int, do, undo *[]string) {
	kind, _ := text(p["kind"])
	index, _ := text(p["index"])
	old, _ := text(p["timeoutSeconds"])
	kind = strings.ToLower(kind)
	was, err := strconv.Atoi(old)
	if _, e := strconv.ParseUint(index, 10, 16); e != nil || err != nil || was < 1 || was >= goal {
		return
	}
	if !slices.Contains([]string{"readiness", "liveness", "startup"}, kind) {
		return
	}
	// Every part is a fixed word or a number that was just parsed, so that the JSON needs no further escaping.
	op := `{"op":"replace","path":"%s/containers/%s/%sProbe/timeoutSeconds","value":%d}`
	line := fmt.Sprintf(op, template, index, kind, goal)
	if slices.Contains(*do, line) {
		return
	}
	*do = append(*do, line)
	*undo = append(*undo, fmt.Sprintf(op, template, index, kind, was))
}

func probeMaps(in any) []map[string]any {
	switch l := in.(type) {
	case []map[string]any:
		return l
	case []any:
		var out []map[string]any
		for _, p := range l {
			if m, ok := p.(map[string]any); ok {
				out = append(out, m)
			}
		}
		return out
	}
	return nil
}
