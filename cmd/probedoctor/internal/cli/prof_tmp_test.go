package cli

import (
	"bytes"
	"testing"
)

func TestProfTmp(t *testing.T) {
	var out, e bytes.Buffer
	if c := Main([]string{"probedoctor", "diagnose", "-f", "/tmp/ev100k.json", "-o", "json"}, nil, &out, &e); c != 0 {
		t.Fatal(e.String())
	}
}
