package cli

import (
	"bytes"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/probedoctor/probedoctor/testdata/incidents"
)

// diagnosed runs the command line on files and gives what it prints.
func diagnosed(t *testing.T, files ...string) []byte {
	t.Helper()
	args := []string{"probedoctor", "diagnose", "-o", "json"}
	for _, f := range files {
		args = append(args, "-f", f)
	}
	var out, errw bytes.Buffer
	if code := Main(args, nil, &out, &errw); code != 0 {
		t.Fatalf("exit %d: %s", code, errw.String())
	}
	return out.Bytes()
}

// The same evidence gives the same bytes: again and again, and under other file names in another order.
func TestSameEvidenceSameBytes(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	folder, err := fs.Sub(incidents.FS, "saturated-pool")
	if err != nil {
		t.Fatal(err)
	}
	var contents [][]byte
	err = fs.WalkDir(folder, ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || p == "README.md" {
			return err
		}
		b, err := fs.ReadFile(folder, p)
		contents = append(contents, b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	write := func(order []int, name func(i int) string) string {
		dir := t.TempDir()
		for i, j := range order {
			if err := os.WriteFile(filepath.Join(dir, name(i)), contents[j], 0o644); err != nil {
				t.Fatal(err)
			}
		}
		return dir
	}
	rnd := rand.New(rand.NewPCG(1, 2))
	first := write(rnd.Perm(len(contents)), func(i int) string { return fmt.Sprintf("f%03d", i) })
	want := diagnosed(t, first)
	if len(want) < 10_000 {
		t.Fatalf("only %d bytes", len(want))
	}
	// A run takes a fifth of a second, so a quarter of the hundred is on the same files and the rest is spread.
	for range 25 {
		if got := diagnosed(t, first); !bytes.Equal(got, want) {
			t.Fatal("the same files gave other bytes")
		}
	}
	for n := range 10 {
		dir := write(rnd.Perm(len(contents)), func(i int) string { return fmt.Sprintf("%c%d.txt", 'z'-rune(n), 1000-i) })
		if got := diagnosed(t, dir); !bytes.Equal(got, want) {
			t.Fatalf("renamed and reordered files gave other bytes (round %d)", n)
		}
	}
}
