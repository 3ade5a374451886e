package rules_test

import (
	"testing"

	"github.com/probedoctor/probedoctor/rules"
	"github.com/probedoctor/probedoctor/rules/facts"
	"github.com/probedoctor/probedoctor/rules/pack"
)

func builtin(t testing.TB) *rules.Pack {
	t.Helper()
	p, err := rules.Load(rules.Source{Name: "pack", FS: pack.FS})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestFactsAreFit(t *testing.T) {
	if err := facts.Validate(); err != nil {
		t.Fatal(err)
	}
}

func TestBuiltinPackLoads(t *testing.T) {
	p := builtin(t)
	if len(p.Diagnoses) != 36 {
		t.Errorf("%d diagnoses, want 36", len(p.Diagnoses))
	}
}
