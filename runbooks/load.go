package runbooks

import (
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/goccy/go-yaml/ast"
)

//go:embed *.md
var builtin embed.FS

// maxFile bounds a runbook's file, in bytes; the longest built-in one is a tenth of it.
const maxFile = 256 << 10

// Library is the set of runbooks, one a diagnosis. It may be used by several goroutines.
type Library struct {
	byID map[string]*Runbook // those of the user's folders
	// builtin are parsed when they are first asked for, since parsing all of them takes longer than most diagnoses.
	builtin map[string]func() *Runbook
}

// Load reads the runbooks of each folder, in order, beside the built-in ones; a later one replaces an earlier one of the same
// diagnosis. Only the folders' own *.md files are read, README.md apart. All faults are reported together, each as
// file:line:column, and then there is no library: a runbook that was silently left out would be missed at the worst time.
func Load(userDirs ...string) (*Library, error) {
	lib := &Library{byID: map[string]*Runbook{}, builtin: map[string]func() *Runbook{}}
	names, err := fs.Glob(builtin, "*.md")
	for _, name := range names {
		lib.builtin[strings.TrimSuffix(name, ".md")] = sync.OnceValue(func() *Runbook {
			rb, err := readFile(builtin, name, name)
			if err != nil {
				panic(err) // a test parses every one of them
			}
			return rb
		})
	}
	for _, dir := range userDirs {
		err = errors.Join(err, lib.read(os.DirFS(dir), dir))
	}
	if err != nil {
		return nil, err
	}
	return lib, nil
}

func (l *Library) read(fsys fs.FS, dir string) error {
	entries, err := fs.ReadDir(fsys, ".")
	if err != nil {
		return fmt.Errorf("runbooks: %s: %w", dir, err)
	}
	var errs []error
	for _, e := range entries {
		if e.IsDir() || filepath.Ext(e.Name()) != ".md" || e.Name() == "README.md" {
			continue
		}
		rb, err := readFile(fsys, e.Name(), filepath.Join(dir, e.Name()))
		if err != nil {
			errs = append(errs, err)
			continue
		}
		l.byID[rb.Diagnosis] = rb
	}
	return errors.Join(errs...)
}

func readFile(fsys fs.FS, name, shown string) (*Runbook, error) {
	f, err := fsys.Open(name)
	if err != nil {
		return nil, fmt.Errorf("runbooks: %w", err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", shown, err)
	}
	if len(data) > maxFile {
		return nil, fmt.Errorf("%s:1:1: larger than %d bytes", shown, maxFile)
	}
	return parse(shown, strings.TrimSuffix(name, ".md"), string(data))
}

// IDs lists the diagnoses that have a runbook, sorted.
func (l *Library) IDs() []string {
	ids := slices.AppendSeq(slices.Collect(maps.Keys(l.builtin)), maps.Keys(l.byID))
	slices.Sort(ids)
	return slices.Compact(ids)
}

// Get returns the runbook of a diagnosis, nil if there is none.
func (l *Library) Get(id string) *Runbook {
	if rb := l.byID[id]; rb != nil {
		return rb
	}
	if parsed := l.builtin[id]; parsed != nil {
		return parsed()
	}
	return nil
}

// frontMatter is the YAML of a file.
type frontMatter struct {
	Diagnosis string     `yaml:"diagnosis"`
	Title     string     `yaml:"title"`
	Steps     []fmStep   `yaml:"steps"`
	Verify    []fmVerify `yaml:"verify"`
	NotAFix   []fmNot    `yaml:"notAFix"`
}

type fmStep struct {
	ID          string   `yaml:"id"`
	Horizon     string   `yaml:"horizon"`
	Step        string   `yaml:"step"`
	Does        string   `yaml:"does"`
	DoesNot     string   `yaml:"doesNot"`
	Risk        string   `yaml:"risk"`
	Undo        string   `yaml:"undo"`
	UndoCommand string   `yaml:"undoCommand"`
	Command     string   `yaml:"command"`
	When        fmWhen   `yaml:"when"`
	Stacks      []string `yaml:"stacks"`
}

type fmWhen struct {
	Needs []string `yaml:"needs"`
}

type fmVerify struct {
	Step    string `yaml:"step"`
	Command string `yaml:"command"`
}

type fmNot struct {
	Step string `yaml:"step"`
	Why  string `yaml:"why"`
}

var idPattern = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)

// parser turns one file into a Runbook and collects its faults.
type parser struct {
	file string
	src  string    // the whole file
	yaml string    // the front matter, on the same lines as in the file
	root *ast.File // the parsed front matter, once a position is asked for
	errs []error
}

func parse(file, id, src string) (*Runbook, error) {
	src = strings.ReplaceAll(src, "\r\n", "\n")
	p := &parser{file: file, src: src}
	rest, ok := strings.CutPrefix(src, "---\n")
	end := strings.Index("\n"+rest, "\n---\n")
	if !ok || end < 0 {
		return nil, fmt.Errorf("%s:1:1: no front matter between two lines of ---", file)
	}
	p.yaml = "\n" + rest[:end] // the first line stands for the --- so that positions are those of the file
	bodyAt := len("---\n") + end + len("---\n")

	var fm frontMatter
	if err := p.decode(&fm); err != nil {
		return nil, p.yamlError(err)
	}
	rb := &Runbook{Diagnosis: fm.Diagnosis, Title: fm.Title, File: file}
	p.need("$.diagnosis", fm.Diagnosis)
	p.need("$.title", fm.Title)
	if fm.Diagnosis != "" && fm.Diagnosis != id {
		p.fault("$.diagnosis", "diagnosis %q in a file named after %q", fm.Diagnosis, id)
	}
	for i, s := range fm.Steps {
		rb.steps = append(rb.steps, p.step(fmt.Sprintf("$.steps[%d]", i), s))
	}
	p.variants(fm.Steps)
	for i, v := range fm.Verify {
		at := fmt.Sprintf("$.verify[%d]", i)
		p.need(at+".step", v.Step)
		rb.verify = append(rb.verify, checkTemplate{step: p.prose(at+".step", v.Step), command: p.command(at+".command", v.Command)})
	}
	for i, n := range fm.NotAFix {
		at := fmt.Sprintf("$.notAFix[%d]", i)
		p.need(at+".step", n.Step)
		p.need(at+".why", n.Why)
		rb.notAFix = append(rb.notAFix, notAFixTemplate{step: p.prose(at+".step", n.Step), why: p.prose(at+".why", n.Why)})
	}
	rb.sections = p.body(bodyAt)
	if len(p.errs) > 0 {
		return nil, errors.Join(p.errs...)
	}
	return rb, nil
}

func (p *parser) step(at string, s fmStep) stepTemplate {
	p.need(at+".step", s.Step)
	if !idPattern.MatchString(s.ID) {
		p.fault(at+".id", "the id %q must be lower-case words joined by dashes", s.ID)
	}
	if !slices.Contains(horizons, Horizon(s.Horizon)) {
		p.fault(at+".horizon", "horizon %q is none of now, next, later", s.Horizon)
	}
	if s.Does == "" && s.DoesNot == "" && s.Risk == "" {
		p.fault(at, "a step needs one of does, doesNot and risk")
	}
	for i, name := range s.When.Needs {
		if _, ok := lookup(name); !ok {
			p.fault(fmt.Sprintf("%s.when.needs[%d]", at, i), "unknown value %q", name)
		}
	}
	return stepTemplate{
		id: s.ID, horizon: Horizon(s.Horizon), needs: s.When.Needs, stacks: s.Stacks,
		step: p.prose(at+".step", s.Step), does: p.prose(at+".does", s.Does), doesNot: p.prose(at+".doesNot", s.DoesNot),
		risk: p.prose(at+".risk", s.Risk), undo: p.prose(at+".undo", s.Undo),
		command: p.command(at+".command", s.Command), hasCommand: s.Command != "",
		undoCommand: p.command(at+".undoCommand", s.UndoCommand), hasUndoCommand: s.UndoCommand != "",
	}
}

// variants checks the steps that share an id: one horizon, and at most one of them for all stacks.
func (p *parser) variants(steps []fmStep) {
	for i, s := range steps {
		for _, earlier := range steps[:i] {
			at := fmt.Sprintf("$.steps[%d].id", i)
			switch {
			case s.ID == "" || earlier.ID != s.ID:
			case earlier.Horizon != s.Horizon:
				p.fault(at, "the variants of %q have different horizons", s.ID)
			case len(s.Stacks) == 0 && len(earlier.Stacks) == 0:
				p.fault(at, "two steps %q without stacks", s.ID)
			}
		}
	}
}

func (p *parser) prose(at, text string) template {
	return p.compiled(at, strings.TrimRight(text, "\n"), compileProse)
}

func (p *parser) command(at, text string) template { return p.compiled(at, text, compileCommand) }

func (p *parser) compiled(at, text string, compile func(string) (template, error)) template {
	t, err := compile(text)
	var te *templateError
	if errors.As(err, &te) {
		p.templateFault(at, text, te)
	}
	return t
}
