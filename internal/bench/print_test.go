package bench

import (
	"strings"
	"testing"
)

func TestText(t *testing.T) {
	d := Document{Score: Measure("dir", sample())}
	text := d.Text()
	for _, want := range []string{
		"5 recordings in dir, 2 of them thin\n",
		"  expected cause first (AC@1)               2 of 5, 40 % (12 to 77 %)  2 of 3, 67 % (21 to 94 %)\n",
		"  nothing named                             1 of 5, 20 % (4 to 62 %)   0 of 3, 0 % (0 to 56 %)\n",
		"  x               3           1      2\n",
		"  b          x         w      50 %  3                      thin\n",
		"  c          u         z      10 %  4                      must not be first\n",
		"  d          x                      not listed             nothing named, thin\n",
		"  10 to 20 %   1           10 %             0 (0 %)\n",
		"  20 to 30 %   0\n",
		"  90 to 100 %  2           95 %             2 (100 %)\n",
		"Brier score of the first cause: 0.068 over 4 ",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no line %q", want)
		}
	}
	for i := range len(text) {
		if text[i] > 0x7e {
			t.Fatalf("not ASCII: %q", text[i:min(i+20, len(text))])
		}
	}
	if t.Failed() {
		t.Log(text)
	}
}

// What the page says of the numbers depends on whether any were held out.
func TestMarkdownHeldOut(t *testing.T) {
	all := sample()
	d := Document{Score: Measure("seen", all[:4]), Command: "make it"}
	page := d.Markdown()
	const none, apart = "There are no held-out recordings here", "The recordings of `unseen` were held out"
	if !strings.Contains(page, none) || strings.Contains(page, "## Held-out") {
		t.Error(page)
	}
	held := Measure("unseen", all[4:])
	d.HeldOut = &held
	page = d.Markdown()
	before, after, ok := strings.Cut(page, "\n## Held-out recordings\n")
	if !ok || strings.Contains(before, none) || !strings.Contains(before, apart) {
		t.Error(page)
	}
	if !strings.Contains(before, "4 recordings in `seen`") || !strings.Contains(after, "1 recording in `unseen`") || !strings.Contains(after, "Nowhere.") {
		t.Error(page)
	}
	if !strings.Contains(before, "```sh\nmake it\n```") {
		t.Error("the page does not say how it is made")
	}
}

// Names of folders come from whoever made them.
func TestMarkdownNames(t *testing.T) {
	e := Expected{ID: "x"}
	d := Document{Score: Measure("a`b", []Recording{
		recording("<b>|*c*", e, roots(0.5, "w")), recording("`tick`", e, roots(0.5, "w")), recording("2``3", e, roots(0.5, "w")),
	})}
	page := d.Markdown()
	for _, want := range []string{"| `<b>\\|*c*` | `x` | `w` |", "| `` `tick` `` |", "| ```2``3``` |", "in ``a`b``, "} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q in\n%s", want, page)
		}
	}
}
