package report

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/probedoctor/probedoctor/rules"
)

const (
	schemaFile  = "../../docs/diagnosis.schema.json"
	exampleFile = "../../docs/diagnosis.example.json"
)

type object = map[string]any

func readJSON(t *testing.T, file string) object {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var doc object
	if err := json.Unmarshal(data, &doc); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	return doc
}

// schema is as much of JSON Schema 2020-12 as docs/diagnosis.schema.json uses. A keyword that it does not know is a fault,
// and so is a property that the schema does not name: the published schema is open, this project's documents are not.
type schema struct{ root object }

func (s schema) resolve(node object) object {
	ref, ok := node["$ref"].(string)
	if !ok {
		return node
	}
	defs := s.root["$defs"].(object)
	def, ok := defs[strings.TrimPrefix(ref, "#/$defs/")].(object)
	if !ok {
		panic("no such definition: " + ref)
	}
	return def
}

// check lists what is wrong with v at path.
func (s schema) check(path string, node object, v any) []string {
	node = s.resolve(node)
	var faults []string
	fault := func(format string, args ...any) { faults = append(faults, path+": "+fmt.Sprintf(format, args...)) }
	for _, key := range slices.Sorted(maps.Keys(node)) {
		want := node[key]
		switch key {
		case "$schema", "$id", "$defs", "title", "description":
		case "type":
			if got := typeOf(v); got != want && (got != "integer" || want != "number") {
				fault("is %s, not %s", got, want)
			}
		case "const":
			if v != want {
				fault("is %v, not %v", v, want)
			}
		case "enum":
			if !slices.Contains(want.([]any), v) {
				fault("is %v, none of %v", v, want)
			}
		case "pattern":
			if text, ok := v.(string); !ok || !regexp.MustCompile(want.(string)).MatchString(text) {
				fault("%v does not match %s", v, want)
			}
		case "format":
			if text, _ := v.(string); want == "date-time" {
				if _, err := time.Parse(time.RFC3339Nano, text); err != nil {
					fault("%v", err)
				}
			} else {
				fault("unknown format %v", want)
			}
		case "minimum", "maximum":
			n, ok := v.(float64)
			if !ok || key == "minimum" && n < want.(float64) || key == "maximum" && n > want.(float64) {
				fault("%v is outside the %s %v", v, key, want)
			}
		case "required":
			m, _ := v.(object)
			for _, name := range want.([]any) {
				if _, ok := m[name.(string)]; !ok {
					fault("lacks %v", name)
				}
			}
		case "items":
			list, _ := v.([]any)
			for i, x := range list {
				faults = append(faults, s.check(fmt.Sprintf("%s[%d]", path, i), want.(object), x)...)
			}
		case "propertyNames":
			m, _ := v.(object)
			for _, name := range slices.Sorted(maps.Keys(m)) {
				faults = append(faults, s.check(path+" key", want.(object), name)...)
			}
		case "properties", "additionalProperties":
			m, _ := v.(object)
			for _, name := range slices.Sorted(maps.Keys(m)) {
				sub, named := want, true
				if key == "properties" {
					sub, named = want.(object)[name]
				}
				if !named {
					fault("has %q, which the schema does not name", name)
					continue
				}
				faults = append(faults, s.check(path+"."+name, sub.(object), m[name])...)
			}
		default:
			fault("the schema has the keyword %q, which this check does not know", key)
		}
	}
	return faults
}

func typeOf(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case string:
		return "string"
	case float64:
		if v == math.Trunc(v) {
			return "integer"
		}
		return "number"
	case []any:
		return "array"
	}
	return "object"
}

func TestDocumentsFitTheSchema(t *testing.T) {
	s := schema{readJSON(t, schemaFile)}
	for name, sample := range samples {
		var doc any
		if err := json.Unmarshal([]byte(render(t, sample(), Options{Format: JSON})), &doc); err != nil {
			t.Fatal(err)
		}
		for _, fault := range s.check(name, s.root, doc) {
			t.Error(fault)
		}
	}
}

// The published example is the program's own output; while there is none it is made of the sample of this package.
func TestExampleFitsTheSchema(t *testing.T) {
	_, err := os.Stat(exampleFile)
	if errors.Is(err, fs.ErrNotExist) && *update {
		err = os.WriteFile(exampleFile, []byte(render(t, saturated(), Options{Format: JSON})), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	s := schema{readJSON(t, schemaFile)}
	doc := readJSON(t, exampleFile)
	for _, fault := range s.check("example", s.root, any(doc)) {
		t.Error(fault)
	}
	items, _ := doc["items"].([]any)
	if len(items) == 0 {
		t.Fatal("the example has no incident")
	}
	// Every ref in it resolves.
	for _, item := range items {
		known, _ := item.(object)["evidence"].(object)
		for _, ref := range refsIn(item) {
			if _, ok := known[ref]; !ok {
				t.Errorf("%s is cited and not in evidence", ref)
			}
		}
	}
}

// refsIn is every string in a list called refs.
func refsIn(v any) []string {
	var out []string
	switch v := v.(type) {
	case []any:
		for _, x := range v {
			out = append(out, refsIn(x)...)
		}
	case object:
		for key, x := range v {
			if list, ok := x.([]any); ok && key == "refs" {
				for _, ref := range list {
					out = append(out, fmt.Sprint(ref))
				}
				continue
			}
			out = append(out, refsIn(x)...)
		}
	}
	return out
}

// The check itself finds faults.
func TestSchemaCheckFindsFaults(t *testing.T) {
	s := schema{readJSON(t, schemaFile)}
	item := func(doc object) object { return doc["items"].([]any)[0].(object) }
	for name, spoil := range map[string]func(object){
		"null for a list":        func(d object) { item(d)["ranked"] = nil },
		"a missing field":        func(d object) { delete(item(d), "verify") },
		"an unknown field":       func(d object) { item(d)["extra"] = 1.0 },
		"another version":        func(d object) { d["apiVersion"] = "probedoctor/v2" },
		"a role that is none":    func(d object) { item(d)["ranked"].([]any)[0].(object)["role"] = "culprit" },
		"a probability of 1.5":   func(d object) { item(d)["ranked"].([]any)[0].(object)["probability"] = 1.5 },
		"a count as text":        func(d object) { item(d)["failures"].([]any)[0].(object)["count"] = "12" },
		"a count of a half":      func(d object) { item(d)["failures"].([]any)[0].(object)["count"] = 0.5 },
		"a ref that is none":     func(d object) { item(d)["evidence"].(object)["e3"] = object{} },
		"a time that is none":    func(d object) { item(d)["window"].(object)["start"] = "yesterday" },
		"a status of a coverage": func(d object) { d["coverage"].([]any)[0].(object)["status"] = "fine" },
	} {
		var doc object
		if err := json.Unmarshal([]byte(render(t, saturated(), Options{Format: JSON})), &doc); err != nil {
			t.Fatal(err)
		}
		spoil(doc)
		if len(s.check("doc", s.root, any(doc))) == 0 {
			t.Errorf("%s is not found", name)
		}
	}
}

// Every field of the Go types is in the schema with the right type, required as the tags say, and nothing else is there.
func TestSchemaIsTheGoTypes(t *testing.T) {
	s := schema{readJSON(t, schemaFile)}
	used := map[string]bool{}
	var compare func(path string, typ reflect.Type, node object)
	compare = func(path string, typ reflect.Type, node object) {
		if ref, ok := node["$ref"].(string); ok {
			used[strings.TrimPrefix(ref, "#/$defs/")] = true
		}
		node = s.resolve(node)
		want := map[reflect.Kind]string{reflect.String: "string", reflect.Int: "integer", reflect.Float64: "number", reflect.Bool: "boolean",
			reflect.Slice: "array", reflect.Map: "object", reflect.Struct: "object"}[typ.Kind()]
		if typ == reflect.TypeFor[time.Time]() {
			want = "string"
			if node["format"] != "date-time" {
				t.Errorf("%s: a time without the format date-time", path)
			}
		}
		if _, isConst := node["const"].(string); node["type"] != want && !(isConst && want == "string") {
			t.Errorf("%s: the schema says %v, Go %s", path, node["type"], typ)
			return
		}
		switch {
		case typ.Kind() == reflect.Slice:
			compare(path+"[]", typ.Elem(), node["items"].(object))
		case typ.Kind() == reflect.Map:
			compare(path+"{}", typ.Elem(), node["additionalProperties"].(object))
			if names, ok := node["propertyNames"].(object)["$ref"].(string); ok {
				used[strings.TrimPrefix(names, "#/$defs/")] = true
			}
		case want == "object":
			props := node["properties"].(object)
			fields, required := map[string]bool{}, []string{}
			for i := range typ.NumField() {
				name, options, _ := strings.Cut(typ.Field(i).Tag.Get("json"), ",")
				if name == "-" {
					continue
				}
				fields[name] = true
				if !strings.Contains(options, "omit") {
					required = append(required, name)
				}
				if prop, ok := props[name].(object); ok {
					compare(path+"."+name, typ.Field(i).Type, prop)
				} else {
					t.Errorf("%s.%s is not in the schema", path, name)
				}
			}
			for name := range props {
				if !fields[name] {
					t.Errorf("%s.%s is in the schema and in no Go type", path, name)
				}
			}
			got := []string{}
			for _, name := range node["required"].([]any) {
				got = append(got, name.(string))
			}
			slices.Sort(got)
			slices.Sort(required)
			if diff := cmp.Diff(required, got); diff != "" {
				t.Errorf("%s: required (-Go +schema):\n%s", path, diff)
			}
		}
	}
	compare("list", reflect.TypeFor[rules.DiagnosisList](), s.root)
	for name := range s.root["$defs"].(object) {
		if !used[name] {
			t.Errorf("the definition %s is used nowhere", name)
		}
	}
}

// The enumerations of the schema are the constants of the Go types.
func TestSchemaEnumsAreTheConstants(t *testing.T) {
	s := schema{readJSON(t, schemaFile)}
	defs := s.root["$defs"].(object)
	prop := func(def, name string) object { return defs[def].(object)["properties"].(object)[name].(object) }
	for _, c := range []struct {
		dir, typ string
		node     object
	}{
		{"../../rules", "Role", defs["role"].(object)},
		{"../../rules", "Outcome", prop("traceEntry", "outcome")},
		{"../../rules", "Horizon", prop("step", "horizon")},
		{"../../sources/evidence", "Phase", prop("failureGroup", "phase")},
		{"../../sources/evidence", "Outcome", prop("failureGroup", "outcome")},
		{"../../sources/evidence", "Result", prop("failureGroup", "result")},
		{"../../sources/evidence", "ProbeKind", prop("failureGroup", "byProbe")["propertyNames"].(object)},
		{"../../sources/evidence", "Kind", prop("exhibit", "kind")},
		{"../../sources/evidence", "CoverageStatus", prop("coverage", "status")},
	} {
		var got []string
		for _, v := range c.node["enum"].([]any) {
			got = append(got, v.(string))
		}
		want := constants(t, c.dir, c.typ)
		slices.Sort(got)
		slices.Sort(want)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s.%s (-constants +schema):\n%s", c.dir, c.typ, diff)
		}
	}
}

// constants reads the values of the string constants that are declared with that type in a folder's files.
func constants(t *testing.T, dir, typ string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, decl := range f.Decls {
			gen, ok := decl.(*ast.GenDecl)
			if !ok || gen.Tok != token.CONST {
				continue
			}
			for _, spec := range gen.Specs {
				value := spec.(*ast.ValueSpec)
				if id, ok := value.Type.(*ast.Ident); !ok || id.Name != typ {
					continue
				}
				for _, v := range value.Values {
					text, err := strconv.Unquote(v.(*ast.BasicLit).Value)
					if err != nil {
						t.Fatal(err)
					}
					out = append(out, text)
				}
			}
		}
	}
	if len(out) == 0 {
		t.Fatalf("no constants of type %s in %s", typ, dir)
	}
	return out
}
