package report

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/probedoctor/probedoctor/rules"
)

var update = flag.Bool("update", false, "rewrite testdata/golden, and make the example document where there is none")

var samples = map[string]func() *rules.DiagnosisList{"saturated": saturated, "undecided": undecidedList, "empty": emptyList, "two": twoIncidents}

func render(t testing.TB, list *rules.DiagnosisList, o Options) string {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, list, o); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", "golden", name+".txt")
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got; go test -update rewrites it):\n%s", file, diff)
	}
}

func TestGolden(t *testing.T) {
	for name, list := range samples {
		for _, width := range []int{40, 80, 100, 120, 220} {
			golden(t, fmt.Sprintf("%s-%d", name, width), render(t, list(), Options{Width: width}))
		}
		golden(t, name+"-wide-120", render(t, list(), Options{Format: Wide, Width: 120}))
		golden(t, name+"-ascii-80", render(t, list(), Options{Width: 80, ASCII: true}))
		golden(t, name+"-color16-100", render(t, list(), Options{Width: 100, Color: Color16}))
		golden(t, name+"-truecolor-100", render(t, list(), Options{Width: 100, Color: ColorTrue}))
		golden(t, name+"-markdown", render(t, list(), Options{Format: Markdown}))
		golden(t, name+"-json", render(t, list(), Options{Format: JSON}))
		golden(t, name+"-yaml", render(t, list(), Options{Format: YAML}))
	}
}
