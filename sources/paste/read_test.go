package paste

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"

	"github.com/probedoctor/probedoctor/sources/evidence"
)

// readInput reads one text as standard input.
func readInput(t *testing.T, text string) *evidence.Set {
	t.Helper()
	set, err := Read([]string{"-"}, strings.NewReader(text), Options{})
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// covered gives the coverage as "source status: detail".
func covered(set *evidence.Set) []string {
	var out []string
	for _, c := range set.Coverage {
		out = append(out, fmt.Sprintf("%s %s: %s", c.Source, c.Status, c.Detail))
	}
	return out
}

func write(t *testing.T, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

const podYAML = "apiVersion: v1\nkind: Pod\nmetadata:\n  name: %s\nspec:\n  containers:\n  - name: app\n    image: x:1\n"

func manifest(name string) string { return fmt.Sprintf(podYAML, name) }

func podNames(set *evidence.Set) []string {
	var out []string
	for _, p := range set.Pods {
		out = append(out, p.Object.Name)
	}
	return out
}

func TestFolder(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "b/events.log", manifest("second")) // the name tells nothing
	write(t, dir, "a.txt", `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"first"},"spec":{"containers":[]}}`)
	write(t, dir, "expected.json", `{"id":"x","mustNotTop":["y"]}`)
	write(t, dir, "README.md", "# A recorded case\n\napiVersion: v1\nkind: Pod\nmetadata:\n  name: prose\n")
	write(t, dir, ".git/config", manifest("hidden"))
	write(t, dir, "c.bin", "\x00\x01\x02")
	write(t, dir, "d.gz", "\x1f\x8b\x08\x00")
	write(t, dir, "e.txt", " \n\n")
	set, err := Read([]string{dir}, nil, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"first", "second"}, podNames(set)); diff != "" {
		t.Error(diff)
	}
	want := []string{
		"input partial: " + dir + "/c.bin: binary, not text",
		"input partial: " + dir + "/d.gz: a compressed archive, not text; unpack it first",
		"input partial: " + dir + "/e.txt: empty",
		"pods ok: 2 pods",
		"specs ok: 1 specification",
	}
	if diff := cmp.Diff(want, covered(set)); diff != "" {
		t.Error(diff)
	}
}

func TestNothingOpened(t *testing.T) {
	if _, err := Read([]string{"/does/not/exist"}, nil, Options{}); err == nil {
		t.Error("no error for a file that is not there")
	}
	if _, err := Read(nil, nil, Options{}); err == nil {
		t.Error("no error without any path")
	}
	good := write(t, t.TempDir(), "pod.yaml", manifest("good"))
	set, err := Read([]string{"/does/not/exist", good}, nil, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(set.Pods) != 1 || !strings.HasPrefix(covered(set)[0], "input error: stat /does/not/exist") {
		t.Errorf("pods %v, coverage %v", podNames(set), covered(set))
	}
}

func TestCoverageCounts(t *testing.T) {
	var list strings.Builder
	writeEvents(&list, 1204)
	set := readInput(t, list.String())
	if diff := cmp.Diff([]string{"events ok: 1,204 events, 903 kept"}, covered(set)); diff != "" {
		t.Error(diff)
	}
}

func TestUTF16(t *testing.T) {
	for _, high := range []bool{false, true} {
		var b []byte
		for _, u := range utf16.Encode([]rune("\ufeff" + strings.ReplaceAll(manifest("p\U0001F600"), "\n", "\r\n"))) {
			if high {
				b = append(b, byte(u>>8), byte(u))
			} else {
				b = append(b, byte(u), byte(u>>8))
			}
		}
		set := readInput(t, string(b))
		if diff := cmp.Diff([]string{"p\U0001F600"}, podNames(set)); diff != "" {
			t.Errorf("big-endian %v: %s", high, diff)
		}
	}
}

func TestInvalidUTF8IsReplaced(t *testing.T) {
	set := readInput(t, strings.Replace(manifest("good"), "x:1", "x:\xff1", 1)+"---\n"+
		"{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"b\"},\"status\":{\"reason\":\"bad\xffbyte\"}}")
	if len(set.Pods) != 2 || set.Pods[0].Containers[0].Image != "x:\uFFFD1" || set.Pods[1].Reason != "bad\uFFFDbyte" {
		t.Errorf("pods %+v, coverage %v", set.Pods, covered(set))
	}
}

// A link to a folder is the folder.
func TestLinkToFolder(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "real/a.log", "2026-11-29T14:03:11Z ERROR broken\n")
	link := filepath.Join(dir, "link")
	if err := os.Symlink(filepath.Join(dir, "real"), link); err != nil {
		t.Fatal(err)
	}
	set, err := Read([]string{link}, nil, Options{})
	if err != nil || len(set.Logs) != 1 || set.Logs[0].File != filepath.Join(link, "a.log") {
		t.Errorf("%+v, %v", set.Logs, err)
	}
}
