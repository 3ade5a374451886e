package shell

import (
	"os/exec"
	"testing"
)

// A real shell must give the word back as it was.
func TestQuoteIsOneWord(t *testing.T) {
	for _, word := range []string{"checkout", "a b", "it's", "$(touch x)", "`id`", "a\nb", "", "*", "~root", "-n", "{a,b}", "ünï"} {
		out, err := exec.Command("sh", "-c", "printf %s "+Quote(word)).Output()
		if err != nil {
			t.Fatalf("sh with %q: %v", word, err)
		}
		if string(out) != word {
			t.Errorf("Quote(%q) = %s, which sh reads as %q", word, Quote(word), out)
		}
	}
}

func TestQuoteLeavesHarmlessWords(t *testing.T) {
	if got := Quote("deploy/checkout"); got != "deploy/checkout" {
		t.Errorf("got %s", got)
	}
}
