package paste

import (
	"strings"
	"testing"

	"github.com/probedoctor/probedoctor/sources/evidence"
)

// FuzzStructured gives any bytes to Read: no panic, and reading is a function of the input.
func FuzzStructured(f *testing.F) {
	for _, s := range []string{
		eventJSON, `{"kind":"EventList","items":[` + typedEvent + `]}`, manifest("a") + "---\n" + manifest("b"),
		"apiVersion: v1\nitems:\n- apiVersion: v1\n  kind: Pod\n- b\nkind: List\n", "a: &a [*a]\nkind: Pod\n<<: *a\n",
		`{"status":"success","data":{"result":[{"metric":{},"values":[[1,"2"]]}],"resultType":"matrix"}}`,
		`{"TargetHealthDescriptions":[{"Target":{"Id":"i"},"TargetHealth":{"State":"healthy"}}]}`,
		"kind: Pod\nx: {{ .y }}\n+ a: b\n- a: c\n", "apiVersion: v1\nkind: !!x &y *z\n? a\n: b\n", "[{\"kind\":\"Pod\"},", "{\"items\":[{\"kind\":1,\"message\":\"\\ud800",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		read := func() *evidence.Set {
			set, err := Read([]string{"-"}, strings.NewReader(string(data)), Options{})
			if err != nil {
				t.Fatal(err)
			}
			set.Finish(evidence.FinishOptions{})
			return set
		}
		a, b := read(), read()
		if items(a) != items(b) || strings.Join(covered(a), "\n") != strings.Join(covered(b), "\n") {
			t.Error("two readings of the same input differ")
		}
		if items(a) == 0 && len(a.Coverage) == 0 && !answerKeyText(data) {
			// Objects that were understood but carry nothing leave no item; everything else must be named.
			if !strings.Contains(string(data), "kind") && !strings.Contains(string(data), "items") && !strings.Contains(string(data), "status") {
				t.Error("an input that gave nothing is not named in the coverage")
			}
		}
	})
}

func answerKeyText(data []byte) bool { return strings.Contains(string(data), "mustNotTop") }
