package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/probedoctor/probedoctor/"

// mayImport is the house: each package with the first-party packages that it may import. Data flows one way, sources →
// evidence → facts → rules → Diagnosis → report; a package that is not here fails the test, and so does a row without a
// package. What only tests import is free, as long as it makes no cycle.
var mayImport = map[string][]string{
	// The waist imports nothing.
	"sources/evidence": {},

	// Where evidence comes from. No source knows another, save that paste is made of the parsers.
	"sources/kubeobj":    {"sources/evidence"},
	"sources/catalog":    {"sources/evidence"},
	"sources/lb":         {},
	"sources/lb/awselb":  {"sources/evidence"},
	"sources/lb/envoy":   {"sources/evidence"},
	"sources/lb/haproxy": {"sources/evidence"},
	"sources/paste": {"sources/evidence", "sources/kubeobj", "sources/catalog", "sources/lb/awselb", "sources/lb/envoy",
		"sources/lb/haproxy"},

	// What is concluded from it. None of these knows where the evidence came from.
	"rules/facts": {"sources/evidence", "internal/shell"},
	"rules":       {"sources/evidence", "rules/facts"},
	"rules/pack":  {},
	"runbooks":    {"internal/shell"},

	"internal/shell":    {},
	"internal/diagnose": {"sources/evidence", "rules/facts", "rules", "rules/pack", "runbooks"},
	"internal/report":   {"sources/evidence", "rules"},
	"internal/bench":    {"rules"},

	// The only place that knows all.
	"cmd/probedoctor": {"cmd/probedoctor/internal/cli"},
	"cmd/probedoctor/internal/cli": {"sources/evidence", "sources/catalog", "sources/paste", "rules/facts", "rules", "rules/pack",
		"runbooks", "internal/shell", "internal/diagnose", "internal/report", "internal/bench", "testdata/incidents"},
}

// pure are the packages that must not depend, through whatever chain, on a client of a live system: so their tests build in
// seconds, and nothing in them can reach out.
var pure = []string{"rules", "internal", "tui", "runbooks", "sources/evidence"}

// clients are the module paths of such clients.
var clients = []string{"k8s.io/", "sigs.k8s.io/", "github.com/prometheus/", "github.com/aws/"}

func TestImportDirections(t *testing.T) {
	seen := map[string]bool{}
	for _, p := range listPackages(t) {
		name := strings.TrimPrefix(p.ImportPath, module)
		seen[name] = true
		allowed, ok := mayImport[name]
		if !ok {
			t.Errorf("%s is in no row of the table: say in architecture_test.go what it may import", name)
			continue
		}
		for _, imp := range p.Imports {
			if first, ok := strings.CutPrefix(imp, module); ok && !slices.Contains(allowed, first) {
				t.Errorf("%s imports %s; it may import %s", name, first, orNothing(allowed))
			}
		}
	}
	for name := range mayImport {
		if !seen[name] {
			t.Errorf("the table has a row for %s, and there is no such package", name)
		}
	}
}

func TestPureOfClients(t *testing.T) {
	checked := 0
	for _, p := range listPackages(t) {
		name := strings.TrimPrefix(p.ImportPath, module)
		if !slices.ContainsFunc(pure, func(top string) bool { return name == top || strings.HasPrefix(name, top+"/") }) {
			continue
		}
		checked++
		for _, dep := range p.Deps {
			if slices.ContainsFunc(clients, func(c string) bool { return strings.HasPrefix(dep, c) }) {
				t.Errorf("%s depends on %s", name, dep)
			}
		}
	}
	if checked < 5 {
		t.Errorf("only %d packages were checked: the list of pure ones has lost its places", checked)
	}
}

type listed struct {
	ImportPath    string
	Imports, Deps []string
}

// listPackages gives every package of the module, as the go command sees it.
func listPackages(t *testing.T) []listed {
	t.Helper()
	cmd := exec.Command("go", "list", "-json=ImportPath,Imports,Deps", "./...")
	cmd.Dir = "../.."
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, stderr.Bytes())
	}
	var all []listed
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatalf("go list: %v", err)
		}
		all = append(all, p)
	}
	return all
}

func orNothing(names []string) string {
	if len(names) == 0 {
		return "nothing of this module"
	}
	return strings.Join(names, ", ")
}
