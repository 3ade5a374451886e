// Package rules is the engine: rules in order over facts, and the ranking of causes that follows from them.
//
// The knowledge itself is data (package pack and the folders of a user); how evidence becomes facts is package facts. The
// package also holds the types of the answer, [Diagnosis], which is the tool's contract. It does no input or output
// besides reading packs, makes no model calls, reads no clock and uses no randomness: the same evidence gives the same
// answer.
package rules

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"sort"
	"strings"
	"sync"

	"github.com/goccy/go-yaml"

	"github.com/probedoctor/probedoctor/rules/facts"
)

// Rule is one piece of diagnostic knowledge: an expression over facts, and what its outcome says of each cause.
type Rule struct {
	ID    string `yaml:"id" json:"id"`
	Order int    `yaml:"order" json:"order"`
	Title string `yaml:"title" json:"title"`
	Doc   string `yaml:"doc" json:"doc"`
	// Scope is what the variables are about: incident (the default), probe or pod.
	Scope facts.Scope `yaml:"scope" json:"scope"`
	// Family groups rules whose evidence is correlated: of a family only the strongest weight on a cause counts.
	Family string `yaml:"family" json:"family,omitempty"`
	// Given and When are CEL expressions of type bool. If Given is false the rule is not applicable.
	Given string `yaml:"given" json:"given,omitempty"`
	When  string `yaml:"when" json:"when"`
	// Then and Else are the weights on causes when the rule is true or false.
	Then Weights `yaml:"then" json:"then,omitempty"`
	Else Weights `yaml:"else" json:"else,omitempty"`
	// Complete is a CEL expression: only where it is true does "rule-out" remove a cause; else it counts RuleOutWeight.
	Complete  string     `yaml:"complete" json:"complete,omitempty"`
	Statement Statements `yaml:"statement" json:"statement"`
	Tests     []RuleTest `yaml:"tests" json:"-"`

	file     string
	position func(key string) position
	compiled *compiled
}

// Statements are what a rule says when it is true and when it is false; {…} holds a CEL expression.
type Statements struct {
	Then string `yaml:"then" json:"then,omitempty"`
	Else string `yaml:"else" json:"else,omitempty"`
}

// RuleTest is an inline test of a rule: facts in, outcome out.
type RuleTest struct {
	Name  string         `yaml:"name"`
	Facts map[string]any `yaml:"facts"`
	// Rules and Signatures are earlier outcomes that the rule refers to.
	Rules      map[string]bool `yaml:"rules"`
	Signatures map[string]bool `yaml:"signatures"`
	Want       string          `yaml:"want"`
	Missing    []string        `yaml:"missing"`
}

// Weights are log-likelihood ratios in nats by cause. A key "id/contributing" means the cause in its contributing role.
type Weights map[string]Weight

// Weight is a number, or the removal of the cause.
type Weight struct {
	Value   float64
	RuleOut bool
}

// RuleOutWeight is what "rule-out" counts where the evidence for it is not complete: about one to fifty.
const RuleOutWeight = -4

// UnmarshalYAML reads a number or the word rule-out.
func (w *Weight) UnmarshalYAML(b []byte) error {
	s := strings.TrimSpace(string(b))
	if s == "rule-out" {
		*w = Weight{Value: RuleOutWeight, RuleOut: true}
		return nil
	}
	return yaml.Unmarshal(b, &w.Value)
}

// DiagnosisDef is one cause of the catalogue.
type DiagnosisDef struct {
	ID    string `yaml:"id" json:"id"`
	Title string `yaml:"title" json:"title"`
	// Explanation is one paragraph for a person.
	Explanation string `yaml:"explanation" json:"explanation"`
	// Prior is the log-odds before any evidence, against the cause "other" at 0.
	Prior float64 `yaml:"prior" json:"prior"`
	// ContributingPrior is the same for the contributing role; the default is DefaultContributingPrior.
	ContributingPrior *float64 `yaml:"contributingPrior" json:"contributingPrior,omitempty"`
	Roles             []Role   `yaml:"roles" json:"roles"`
	// Explains are patterns "phase/outcome/life" of failure groups, * for any; a life of live also means unknown.
	Explains []string `yaml:"explains" json:"explains,omitempty"`
	// Summary are sentences with {…} expressions; the first whose values are all known is used.
	Summary []string `yaml:"summary" json:"summary,omitempty"`
	Runbook string   `yaml:"runbook" json:"runbook,omitempty"`

	file    string
	summary []*template
}

// DefaultContributingPrior is the log-odds of a contributing cause before any evidence: about one in twenty.
const DefaultContributingPrior = -3

// HasRole tells whether the cause can have the role.
func (d *DiagnosisDef) HasRole(r Role) bool { return slices.Contains(d.Roles, r) }

// Signature is a pattern in log lines.
type Signature struct {
	ID    string `yaml:"id" json:"id"`
	Title string `yaml:"title" json:"title"`
	// Kind is "dependency", "node", "application", "shutdown", "runtime", "server", "proxy".
	Kind string `yaml:"kind" json:"kind"`
	// Dependency is the name of what fails ("Redis"), for the kind dependency.
	Dependency string `yaml:"dependency" json:"dependency,omitempty"`
	// Origin limits the signature to logs of that origin: app, proxy, kubelet, kernel. Empty means app and proxy.
	Origin string `yaml:"origin" json:"origin,omitempty"`
	// Contains are literals of which a line must hold one, in its message or logger; case does not count.
	Contains []string `yaml:"contains" json:"contains"`
	// Also are literals of which the line must hold one as well; empty asks for none.
	Also []string `yaml:"also" json:"also,omitempty"`
	// Match is a regular expression (RE2) that the line must match as well; it is slower than Also.
	Match string `yaml:"match" json:"match,omitempty"`
	// Not are literals that a line must not hold.
	Not []string `yaml:"not" json:"not,omitempty"`
	// Examples are lines that must match, Counterexamples lines that must not.
	Examples        []string `yaml:"examples" json:"-"`
	Counterexamples []string `yaml:"counterexamples" json:"-"`

	file  string
	match *regexp.Regexp
}

// Pack is a set of knowledge, checked and compiled.
type Pack struct {
	Rules      []*Rule // by order
	Diagnoses  []*DiagnosisDef
	Signatures []*Signature

	diagnoses  map[string]*DiagnosisDef
	rules      map[string]*Rule
	signatures map[string]*Signature
	env        *environments
	matcher    *matcher
}

// Diagnosis finds a cause by id.
func (p *Pack) Diagnosis(id string) (*DiagnosisDef, bool) { d, ok := p.diagnoses[id]; return d, ok }

// Rule finds a rule by id.
func (p *Pack) Rule(id string) (*Rule, bool) { r, ok := p.rules[id]; return r, ok }

// Source is a folder with knowledge: rules/*.yaml, diagnoses.yaml, signatures.yaml.
type Source struct {
	// Name stands before file names in errors: the folder as the user gave it.
	Name string
	FS   fs.FS
}

// Load reads, checks and compiles packs. A later source may add rules, causes and signatures and may replace those with
// the same id. Errors name file:line:column; all of them are reported, joined.
func Load(sources ...Source) (*Pack, error) {
	p := &Pack{diagnoses: map[string]*DiagnosisDef{}, rules: map[string]*Rule{}, signatures: map[string]*Signature{}}
	var errs []error
	for _, s := range sources {
		files, err := fs.Glob(s.FS, "rules/*.yaml")
		if err != nil {
			return nil, err
		}
		sort.Strings(files)
		for _, f := range append(files, "diagnoses.yaml", "signatures.yaml") {
			b, err := fs.ReadFile(s.FS, f)
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			if err != nil {
				errs = append(errs, fmt.Errorf("%s: %w", path.Join(s.Name, f), err))
				continue
			}
			if err := p.add(path.Join(s.Name, f), path.Base(f), b); err != nil {
				errs = append(errs, err)
			}
		}
	}
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	for _, r := range p.rules {
		p.Rules = append(p.Rules, r)
	}
	slices.SortFunc(p.Rules, func(a, b *Rule) int {
		if a.Order != b.Order {
			return a.Order - b.Order
		}
		return strings.Compare(a.ID, b.ID)
	})
	for _, d := range p.diagnoses {
		p.Diagnoses = append(p.Diagnoses, d)
	}
	slices.SortFunc(p.Diagnoses, func(a, b *DiagnosisDef) int { return strings.Compare(a.ID, b.ID) })
	for _, s := range p.signatures {
		p.Signatures = append(p.Signatures, s)
	}
	slices.SortFunc(p.Signatures, func(a, b *Signature) int { return strings.Compare(a.ID, b.ID) })
	if err := p.check(); err != nil {
		return nil, err
	}
	return p, nil
}

func decode[T any](file string, b []byte) (items []T, err error) {
	// The YAML library panics on some malformed input.
	defer func() {
		if r := recover(); r != nil {
			items, err = nil, fmt.Errorf("%s: malformed YAML: %v", file, r)
		}
	}()
	if err := strayKey(file, b); err != nil {
		return nil, err
	}
	dec := yaml.NewDecoder(bytes.NewReader(b), yaml.Strict(), yaml.DisallowUnknownField())
	if err := dec.Decode(&items); err != nil && !errors.Is(err, io.EOF) {
		var ye yaml.Error
		if errors.As(err, &ye) && ye.GetToken() != nil {
			pos := ye.GetToken().Position
			return nil, fmt.Errorf("%s:%d:%d: %s", file, pos.Line, pos.Column, ye.GetMessage())
		}
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return items, nil
}

func (p *Pack) add(file, base string, b []byte) error {
	switch base {
	case "diagnoses.yaml":
		items, err := decode[*DiagnosisDef](file, b)
		if err != nil {
			return err
		}
		for _, d := range items {
			d.file = file
			p.diagnoses[d.ID] = d
		}
	case "signatures.yaml":
		items, err := decode[*Signature](file, b)
		if err != nil {
			return err
		}
		for _, s := range items {
			s.file = file
			p.signatures[s.ID] = s
		}
	default:
		items, err := decode[*Rule](file, b)
		if err != nil {
			return err
		}
		// Positions are needed only for errors, and finding them means parsing once more.
		where := sync.OnceValue(func() []map[string]position { return keyPositions(b) })
		seen := map[string]bool{}
		for i, r := range items {
			r.file = file
			r.position = func(key string) position {
				all := where()
				if i >= len(all) {
					return position{line: 1, column: 1}
				}
				if pos, ok := all[i][key]; ok {
					return pos
				}
				return all[i]["id"]
			}
			if r.Scope == "" {
				r.Scope = facts.ScopeIncident
			}
			if seen[r.ID] {
				return r.errorf("id", "rule %q is defined twice in this file", r.ID)
			}
			seen[r.ID] = true
			p.rules[r.ID] = r
		}
	}
	return nil
}

// errorf is an error at the place of a key of the rule; keys inside then, else and statement are "then.ID".
func (r *Rule) errorf(key, format string, args ...any) error {
	pos := r.position(key)
	return fmt.Errorf("%s:%d:%d: rule %s: %s", r.file, max(pos.line, 1), max(pos.column, 1), r.ID, fmt.Sprintf(format, args...))
}

var idPattern = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)

// check validates ids, references and types, and compiles every expression.
func (p *Pack) check() error {
	var errs []error
	env, err := newEnvironments()
	if err != nil {
		return err
	}
	p.env = env
	for _, d := range p.Diagnoses {
		if !idPattern.MatchString(d.ID) || d.Title == "" || strings.TrimSpace(d.Explanation) == "" || len(d.Roles) == 0 {
			errs = append(errs, fmt.Errorf("%s: diagnosis %q needs a lower-case id, a title, an explanation and roles", d.file, d.ID))
		}
		for _, r := range d.Roles {
			if r != RootCause && r != Contributing && r != Noise {
				errs = append(errs, fmt.Errorf("%s: diagnosis %s: role %q is none of root-cause, contributing, noise", d.file, d.ID, r))
			}
		}
		for _, e := range d.Explains {
			if strings.Count(e, "/") != 2 {
				errs = append(errs, fmt.Errorf("%s: diagnosis %s: explains %q is not of the form phase/outcome/life", d.file, d.ID, e))
			}
		}
		for _, s := range d.Summary {
			t, err := env.template(facts.ScopeIncident, s)
			if err != nil {
				errs = append(errs, fmt.Errorf("%s: diagnosis %s: summary: %w", d.file, d.ID, err))
				continue
			}
			d.summary = append(d.summary, t)
		}
	}
	for _, s := range p.Signatures {
		if err := s.compile(); err != nil {
			errs = append(errs, err)
		}
	}
	p.matcher = newMatcher(p.Signatures)
	for _, r := range p.Rules {
		if err := p.checkRule(r); err != nil {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

func (p *Pack) checkRule(r *Rule) error {
	if !idPattern.MatchString(r.ID) {
		return r.errorf("id", "the id must be lower-case words joined by dashes")
	}
	if r.Title == "" || strings.TrimSpace(r.Doc) == "" || r.When == "" {
		return r.errorf("id", "a rule needs a title, a doc and a when")
	}
	if len(r.Then) == 0 && len(r.Else) == 0 && r.Statement.Then == "" {
		return r.errorf("id", "a rule without then, else and statement says nothing")
	}
	switch r.Scope {
	case facts.ScopeIncident, facts.ScopeProbe, facts.ScopePod:
	default:
		return r.errorf("scope", "scope %q is none of incident, probe, pod", r.Scope)
	}
	for _, part := range []struct {
		key string
		ws  Weights
		st  string
	}{{"then", r.Then, r.Statement.Then}, {"else", r.Else, r.Statement.Else}} {
		if len(part.ws) > 0 && part.st == "" {
			return r.errorf(part.key, "weights under %s need a statement under statement.%s", part.key, part.key)
		}
		for _, id := range sortedKeys(part.ws) {
			base, role, _ := strings.Cut(id, "/")
			d, ok := p.diagnoses[base]
			switch {
			case !ok:
				return r.errorf(part.key+"."+id, "%s names the unknown diagnosis %q", part.key, base)
			case role != "" && (role != string(Contributing) || !d.HasRole(Contributing)):
				return r.errorf(part.key+"."+id, "diagnosis %s has no role %q", base, role)
			}
		}
	}
	c, err := p.env.compileRule(r)
	if err != nil {
		return err
	}
	r.compiled = c
	for _, id := range c.rules {
		other, ok := p.rules[id]
		switch {
		case !ok:
			return r.errorf("when", "rule[%q]: there is no rule of that id", id)
		case other.Order >= r.Order:
			return r.errorf("when", "rule[%q] has order %d and is not evaluated before this one (%d)", id, other.Order, r.Order)
		}
	}
	for _, id := range c.signatures {
		if _, ok := p.signatures[id]; !ok {
			return r.errorf("when", "sig[%q]: there is no signature of that id", id)
		}
	}
	return nil
}

func (s *Signature) compile() error {
	if !idPattern.MatchString(s.ID) || s.Title == "" || len(s.Contains) == 0 || s.Kind == "" {
		return fmt.Errorf("%s: signature %q needs a lower-case id, a title, a kind and contains", s.file, s.ID)
	}
	if slices.Contains(slices.Concat(s.Contains, s.Also, s.Not), "") {
		return fmt.Errorf("%s: signature %s: an empty text is in every line", s.file, s.ID)
	}
	if s.Match != "" {
		re, err := regexp.Compile(s.Match)
		if err != nil {
			return fmt.Errorf("%s: signature %s: match: %w", s.file, s.ID, err)
		}
		s.match = re
	}
	return nil
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
