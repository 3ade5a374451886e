package runbooks

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// named is a command of a runbook with where it stands.
type named struct {
	where string
	t     template
}

func allCommands(t *testing.T) []named {
	t.Helper()
	lib := mustLoad(t)
	var out []named
	for _, id := range lib.IDs() {
		rb := lib.Get(id)
		for _, s := range rb.steps {
			if s.hasCommand {
				out = append(out, named{id + " step " + s.id, s.command})
			}
			if s.hasUndoCommand {
				out = append(out, named{id + " undo of " + s.id, s.undoCommand})
			}
		}
		for i, v := range rb.verify {
			if v.command != nil {
				out = append(out, named{fmt.Sprintf("%s verify %d", id, i), v.command})
			}
		}
		for i, s := range rb.sections {
			if s.kind == commandSection {
				out = append(out, named{fmt.Sprintf("%s body block %d", id, i), s.text})
			}
		}
	}
	return out
}

// incident is a full set of values in which every text is made of s; the kind stays one whose template can be patched.
func incident(s string) map[string]any {
	values := map[string]any{
		"probes": []any{
			map[string]any{"kind": "readiness", "path": s, "port": 8080, "timeoutSeconds": 1, "index": 0},
			map[string]any{"kind": "liveness", "path": s, "port": 8080, "timeoutSeconds": 1, "index": 0},
		},
	}
	for _, v := range Values() {
		switch {
		case v.derived || v.Name == "probes":
		case v.Type == Number:
			values[v.Name] = 7
		case v.Type == List:
			values[v.Name] = []string{s, s + "2"}
		default:
			values[v.Name] = s
		}
	}
	values["kind"] = "Deployment"
	values["probe.port"] = 8080
	values["targetGroup"] = "arn:" + s
	return values
}

// hostile are names that try to break out of a shell word, of JSON or of PromQL.
var hostile = []string{
	"two words", "it's", `"`, `a"b\c`, `\`, "$(touch pwned)", "`touch pwned`", "x\ntouch pwned", "x;touch pwned", "x' ; touch pwned ; '", `'"'"'`,
	"x|touch pwned", "x&touch pwned", "x&&touch pwned", "x>pwned", "*", "~root", "#x", "${IFS}", "!x", "x\ttab", "ünïcode", "\u00a0",
	`"},{"op":"remove","path":"/spec`, `"} or vector(1) or up{a="`, "a.*", "x,y", "[a-z]", "{a,b}", "=x", "%s%n",
}

// worst are hostile names that carry most of it at once; every command is tried with them, and with a few of the list.
var worst = []string{
	"a 'b' \"c\" $(touch pwned) `touch pwned` ${IFS} \\ ; touch pwned && touch pwned | touch pwned > pwned # *", "'; touch pwned; '\ntouch pwned\n", "two words", "\n", "#x", "~", "*",
	`"},{"op":"remove","path":"/spec'"} or up{a="`,
}

// run executes commands in a shell in which nothing is a program: each word list is recorded instead. It returns the recorded
// word lists of each command.
func run(t *testing.T, commands []string) [][][]string {
	t.Helper()
	dir := t.TempDir()
	log := filepath.Join(dir, "log")
	var script strings.Builder
	// One write a record, since pipelines run at once: the shell writes early at a newline, which travels as \x01 therefore.
	script.WriteString(`command_not_found_handle() { printf '%s\0' "$#" "${@//$'\n'/$'\x01'}" >> "$LOG"; }` + "\n")
	script.WriteString("kill() { :; }; source() { :; }; exec() { :; }; eval() { command_not_found_handle eval \"$@\"; }\n")
	script.WriteString("cd \"$DIR\" && mkdir() { :; }\n")
	for i, c := range commands {
		fmt.Fprintf(&script, "LOG=\"$DIR/log.%d\"\n: > \"$LOG\"\n%s\nwait\n", i, c)
	}
	cmd := exec.Command("bash", "-c", script.String())
	cmd.Env = []string{"PATH=/nonexistent", "DIR=" + dir, "LOG=" + log}
	var stderr strings.Builder
	cmd.Stderr = &stderr
	if err := cmd.Run(); err != nil || stderr.Len() > 0 {
		t.Fatalf("the shell says: %s (%v)", stderr.String(), err)
	}
	recorded := make([][][]string, len(commands))
	for i := range commands {
		data, err := os.ReadFile(filepath.Join(dir, fmt.Sprintf("log.%d", i)))
		if err != nil {
			t.Fatalf("command %d did not run: %v\n%s", i, err, commands[i])
		}
		words := strings.Split(strings.ReplaceAll(string(data), "\x01", "\n"), "\x00")
		for at := 0; at < len(words)-1; {
			n, err := strconv.Atoi(words[at])
			if err != nil || at+1+n > len(words) {
				t.Fatalf("command %d: garbled record %q", i, words)
			}
			recorded[i] = append(recorded[i], words[at+1:at+1+n])
			at += 1 + n
		}
	}
	return recorded
}

// shape is what must not depend on the values: which programs run, and with how many words.
func shape(lists [][]string) []string {
	var out []string
	for _, l := range lists {
		out = append(out, fmt.Sprintf("%s/%d", l[0], len(l)))
	}
	slices.Sort(out)
	return out
}

func TestCommandsAreShellSyntax(t *testing.T) {
	full, none := newEnv(incident("plain")), env{}
	var inner []string
	for _, c := range allCommands(t) {
		for _, e := range []env{full, none} {
			text, _ := c.t.command(e, true)
			if out, err := bashN(text); err != nil {
				t.Errorf("%s: %v: %s\n%s", c.where, err, out, text)
			}
		}
		text, missing := c.t.command(full, false)
		if len(missing) > 0 {
			t.Errorf("%s: with every value known %v is missing", c.where, missing)
		}
		inner = append(inner, text)
	}
	scripts := map[string]bool{}
	for _, lists := range run(t, inner) {
		for _, l := range lists {
			for i := 1; i+1 < len(l); i++ {
				if l[i] == "-c" && filepath.Base(l[i-1]) == "sh" {
					scripts[l[i+1]] = true
				}
			}
		}
	}
	if len(scripts) < 10 {
		t.Errorf("only %d scripts of nested shells were found", len(scripts))
	}
	for s := range scripts {
		if out, err := bashN(s); err != nil {
			t.Errorf("nested script: %v: %s\n%s", err, out, s)
		}
	}
}

func bashN(script string) ([]byte, error) {
	cmd := exec.Command("bash", "-n")
	cmd.Stdin = strings.NewReader(script)
	return cmd.CombinedOutput()
}

// A hostile name must change neither which programs run nor how many words they get, and must arrive whole; patches stay JSON.
func TestHostileNamesStayOneWord(t *testing.T) {
	commands := allCommands(t)
	render := func(values map[string]any) []string {
		var out []string
		for _, c := range commands {
			text, missing := c.t.command(newEnv(values), false)
			if len(missing) > 0 {
				t.Fatalf("%s: missing %v", c.where, missing)
			}
			out = append(out, text)
		}
		return out
	}
	plain := run(t, render(incident("plain")))
	patches := 0
	for _, h := range worst {
		texts := render(incident(h))
		for i, lists := range run(t, texts) {
			where := commands[i].where
			patches += checkPatches(t, where, lists)
			if got, want := shape(lists), shape(plain[i]); !slices.Equal(got, want) {
				t.Errorf("%s with %q: runs %q, want %q\n%s", where, h, got, want, texts[i])
				continue
			}
			var words []string
			for _, l := range lists {
				words = append(words, l...)
			}
			for _, p := range commands[i].t {
				if p.value.Type == Text && !p.value.derived && p.value.Name != "kind" && p.value.Name != "probe.port" && !arrives(words, p, newEnv(incident(h)).first(p.value.Name)) {
					t.Errorf("%s: {%s} = %q does not arrive in %q", where, p.value.Name, h, words)
				}
			}
		}
	}
	if patches < 40*len(worst) {
		t.Errorf("only %d patches were seen", patches)
	}
}

// arrives reports whether a value stands whole in one of the words, in the way that its place reads it.
func arrives(words []string, p part, value string) bool {
	return slices.ContainsFunc(words, func(w string) bool {
		switch p.place {
		case jsonText:
			return slices.ContainsFunc(quoted(w), func(s string) bool { return strings.Contains(s, value) })
		case regex:
			return slices.ContainsFunc(quoted(w), func(s string) bool { return strings.Contains(s, quoteMeta(value)) })
		}
		return strings.Contains(w, value)
	})
}

func quoteMeta(s string) string {
	var b strings.Builder
	for _, r := range s {
		if strings.ContainsRune(`\.+*?()|[]{}^$`, r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// quoted reads the double-quoted strings of JSON or PromQL.
func quoted(s string) []string {
	var out []string
	for {
		i := strings.IndexByte(s, '"')
		if i < 0 {
			return out
		}
		var text string
		dec := json.NewDecoder(strings.NewReader(s[i:]))
		if dec.Decode(&text) != nil {
			return nil // not a well-formed string: it broke out
		}
		out = append(out, text)
		s = s[i+int(dec.InputOffset()):]
	}
}

// checkPatches checks every JSON that kubectl patch is given, and counts them.
func checkPatches(t *testing.T, where string, lists [][]string) (seen int) {
	t.Helper()
	for _, l := range lists {
		at := slices.Index(l, "-p")
		if l[0] != "kubectl" || at < 0 || !slices.Contains(l, "patch") {
			continue
		}
		seen++
		checkPatch(t, where, slices.Contains(l, "--type=json"), l[at+1])
	}
	return seen
}

func checkPatch(t *testing.T, where string, jsonPatch bool, text string) {
	t.Helper()
	if !jsonPatch {
		var merge map[string]any
		if err := json.Unmarshal([]byte(text), &merge); err != nil {
			t.Errorf("%s: %v in %s", where, err, text)
		}
		return
	}
	var ops []struct {
		Op, Path string
		Value    any
	}
	if err := json.Unmarshal([]byte(text), &ops); err != nil || len(ops) == 0 {
		t.Errorf("%s: %v in %s", where, err, text)
	}
	for _, op := range ops {
		if !slices.Contains([]string{"add", "replace", "remove"}, op.Op) || (op.Op == "remove") != (op.Value == nil) {
			t.Errorf("%s: odd operation %+v", where, op)
		}
		if !strings.HasPrefix(op.Path, "/spec/template/spec/") && op.Path != "/spec/behavior" {
			t.Errorf("%s: path %q", where, op.Path)
		}
	}
}

// Each of the hostile names in each kind of place.
func TestQuotingByPlace(t *testing.T) {
	src := `show {pod} x{pod} --pod={pod} -p '[{"value":"{pod}"}]' --data-urlencode 'query=up{pod="{pod}",pod=~"{pod}.*"}' {pods} end`
	tmpl, err := compileCommand(src)
	if err != nil {
		t.Fatal(err)
	}
	all := append(slices.Clone(hostile), worst...)
	var texts []string
	for _, h := range all {
		text, missing := tmpl.command(newEnv(map[string]any{"pod": h, "pods": []string{h, "b"}}), false)
		if len(missing) > 0 {
			t.Fatalf("%q: missing %v", h, missing)
		}
		texts = append(texts, text)
	}
	for i, lists := range run(t, texts) {
		h := all[i]
		inJSON, err := json.Marshal([]map[string]string{{"value": h}})
		if err != nil {
			t.Fatal(err)
		}
		if len(lists) != 1 || len(lists[0]) != 11 {
			t.Errorf("%q: %q", h, lists)
			continue
		}
		l := lists[0]
		if got, want := []string{l[1], l[2], l[3], l[8], l[9], l[10]}, []string{h, "x" + h, "--pod=" + h, h, "b", "end"}; !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
		var a, b any
		if json.Unmarshal([]byte(l[5]), &a) != nil || json.Unmarshal(inJSON, &b) != nil || !cmp.Equal(a, b) {
			t.Errorf("%q: JSON %s", h, l[5])
		}
		if got, want := quoted(l[7]), []string{h, quoteMeta(h) + ".*"}; !slices.Equal(got, want) {
			t.Errorf("PromQL: got %q, want %q", got, want)
		}
	}
}

func TestUnfitValuesLeaveTheCommandOut(t *testing.T) {
	tmpl, err := compileCommand("kubectl delete pod {pod|POD}")
	if err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{"--all", "-A", "a\x1b[2J", "a\x00", "a\r", "\xff", "a\u202eb", "a\u0085"} {
		got, _ := tmpl.command(newEnv(map[string]any{"pod": bad}), false)
		if got != "kubectl delete pod POD" {
			t.Errorf("%q became %q", bad, got)
		}
	}
	strict, err := compileCommand("kubectl delete pod {pod}")
	if err != nil {
		t.Fatal(err)
	}
	if got, missing := strict.command(newEnv(map[string]any{"pod": "--all"}), false); got != "" || !slices.Equal(missing, []string{"pod"}) {
		t.Errorf("got %q, missing %v", got, missing)
	}
}

func TestPlacesWhereNoValueMayStand(t *testing.T) {
	for _, src := range []string{
		`echo "{pod}"`, `sh -c 'echo {pod}'`, `sh -c 'echo "{pod}"'`, `bash -lc {pod}`, `sh -c {pod}`, `/bin/sh -c x{pod}`, `eval {pod}`, `echo x # {pod}`, "# {pod}\necho x",
		`kubectl patch x -p '[{"value":{pod}}]'`, `kubectl patch x -p 'echo "{pod}"'`, "echo `date`", "cat <<E\nE", "echo $'x'", `echo "$(date)"`, `echo x{pods}`, `echo {pods}x`,
		`echo {pod|the pod}`, `echo {pod|$X}`, `echo {nothing}`, `echo 'x`, `echo "x`,
	} {
		if tmpl, err := compileCommand(src); err == nil {
			t.Errorf("%s was accepted as %v", src, tmpl)
		}
	}
	for _, src := range []string{
		`kubectl get pod -c {container} # note`, `kubectl patch x -p '[{"path":"{podTemplate}","value":{newTimeout}}]'`, `curl --data-urlencode 'query=up{pod=~"{workload}-.*"}'`,
		`echo \{pod}`, `echo ${HOME} {pod}`, "kubectl \\\n  get {pod}", `for p in {pods}; do echo "$p"; done`, `sh -c 'echo "$1"' sh {pod}`, `awk '{print $1}'`,
	} {
		if _, err := compileCommand(src); err != nil {
			t.Errorf("%s: %v", src, err)
		}
	}
}
