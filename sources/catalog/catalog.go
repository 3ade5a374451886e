package catalog

import (
	"cmp"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/probedoctor/probedoctor/sources/evidence"
)

// Stack is one piece of software that shows metrics: a server with its exporter, a client pool, a proxy, the kubelet.
type Stack struct {
	ID    string
	Title string
	// Family groups stacks that occur together: "jvm", "dotnet", "go", "node", "python", "ruby", "php", "proxy",
	// "kubernetes", "node-exporter", "balancer", "http".
	Family string
	// Note is what a reader must know before trusting the numbers; may be empty.
	Note string
	// Common stacks are asked for when nothing is known about the software.
	Common bool

	scope     string // which of Hints' matchers apply: pod, namespace, none
	by        []string
	about     []string  // by, with those of all expressions: the labels that say what a series is about
	fallback  bool      // recognised only from series that no other stack knows
	recognise []pattern // any is enough
	prefer    []matcher
	hints     stackHints
	signals   map[string][]expr // alternatives: for each target the first that gives a value counts
}

// pattern is a way to recognise a stack: a series with that name and those labels.
type pattern = selector

// stackHints are how a stack shows without metrics. All are regular expressions.
type stackHints struct {
	images   []*regexp.Regexp // found anywhere in an image name
	threads  []*regexp.Regexp // at the start of a log thread's name
	loggers  []*regexp.Regexp // at the start of a logger's name
	env      []*regexp.Regexp // the whole name of an environment variable
	commands []*regexp.Regexp // found anywhere in the command line
}

// expr is the structure of one signal in one stack.
type expr struct {
	kind      kind
	of, minus []selector
	to        []selector // denominators of a ratio
	scope     string     // as of a stack, whose is used when it is empty
	by        []string   // as of a stack, whose are used when it is nil
	counter   bool       // the terms of a ratio are counters
	collapse  bool       // labels other than the target's are summed away before anything else
	quantile  float64
	scale     float64 // factor to the signal's unit
	compare   string  // count: "==", "!=", ">", "<", ">=", "<="
	value     float64 // count: what is compared with
}

// kind says how the terms become a value.
type kind string

const (
	kindGauge    kind = "gauge"    // each series as it is
	kindMax      kind = "max"      // the largest over the labels within a target
	kindSum      kind = "sum"      // of + of - minus, series by series, or collapsed first
	kindRate     kind = "rate"     // per second, of counters
	kindRatio    kind = "ratio"    // (of + of - minus) / (to + to)
	kindQuantile kind = "quantile" // of a classic histogram
	kindCount    kind = "count"    // how many series have a value
)

var kinds = []kind{kindGauge, kindMax, kindSum, kindRate, kindRatio, kindQuantile, kindCount}

// terms are all the selectors of an expression.
func (e expr) terms() []selector { return slices.Concat(e.of, e.minus, e.to) }

// Catalog holds the stacks. It is immutable after Load.
type Catalog struct {
	stacks []Stack
	byID   map[string]int
}

//go:embed stacks/*.yaml
var embedded embed.FS

// Load reads the embedded stacks and then the *.yaml and *.yml files of each user folder. A user's stack replaces an
// embedded one of the same id. The error joins everything that is wrong, each with file:line:column; the catalog is nil then.
func Load(userDirs ...string) (*Catalog, error) {
	l := &loader{catalog: &Catalog{byID: map[string]int{}}, seen: map[string]string{}}
	l.dir(embedded, "stacks", func(name string) string { return "catalog/stacks/" + name })
	for _, dir := range userDirs {
		l.seen = map[string]string{}
		l.dir(os.DirFS(dir), ".", func(name string) string { return filepath.Join(dir, name) })
	}
	if len(l.errs) > 0 {
		return nil, errors.Join(l.errs...)
	}
	return l.catalog, nil
}

// dir loads one folder in the order of its file names.
func (l *loader) dir(fsys fs.FS, root string, show func(string) string) {
	entries, err := fs.ReadDir(fsys, root)
	if err != nil {
		l.errs = append(l.errs, fmt.Errorf("%s: %w", show("."), err))
		return
	}
	for _, e := range entries {
		name := e.Name()
		if e.IsDir() || !strings.HasSuffix(name, ".yaml") && !strings.HasSuffix(name, ".yml") {
			continue
		}
		p := name
		if root != "." {
			p = root + "/" + name
		}
		if info, err := e.Info(); err == nil && info.Size() > maxFile {
			l.errs = append(l.errs, fmt.Errorf("%s: larger than %d bytes", show(name), maxFile))
			continue
		}
		b, err := fs.ReadFile(fsys, p)
		if err != nil {
			l.errs = append(l.errs, fmt.Errorf("%s: %w", show(name), err))
			continue
		}
		l.file(show(name), b)
	}
}

// maxFile bounds what is parsed; the largest embedded file is far below it.
const maxFile = 1 << 20

// Signals are all canonical signals in the order in which they are shown.
func (c *Catalog) Signals() []Signal { return slices.Clone(signals) }

// Stacks are all stacks in the catalog's order.
func (c *Catalog) Stacks() []Stack { return slices.Clone(c.stacks) }

// Provides are the names of the signals that the stack gives, in the order of [Catalog.Signals].
func (s Stack) Provides() []string {
	var names []string
	for name := range s.signals {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Compare(signalIndex[a], signalIndex[b]) })
	return names
}

// Recognise gives the stacks whose metrics are among the series, in the catalog's order. Canonical series are ignored.
func (c *Catalog) Recognise(series []evidence.Series) []Stack {
	raws := newIndex(series)
	var out []Stack
	for _, i := range c.recognise(raws) {
		out = append(out, c.stacks[i])
	}
	return out
}

// recognise gives the indices of the stacks found. A fallback stack counts only where a series is left that no other
// recognised stack uses; those others' series are marked as claimed.
func (c *Catalog) recognise(x *index) []int {
	var found []int
	for _, fallback := range []bool{false, true} {
		for i := range c.stacks {
			s := &c.stacks[i]
			if s.fallback != fallback {
				continue
			}
			if !slices.ContainsFunc(s.recognise, func(p pattern) bool { return x.any(p, fallback) }) {
				continue
			}
			found = append(found, i)
			if !fallback {
				s.claim(x)
			}
		}
	}
	slices.Sort(found)
	return found
}

// claim marks the series that the stack's own signals use, of whatever route.
func (s *Stack) claim(x *index) {
	for _, exprs := range s.signals {
		for _, e := range exprs {
			for _, t := range e.terms() {
				if t.health() {
					t.matchers = slices.DeleteFunc(slices.Clone(t.matchers), func(m matcher) bool { return m.health() })
				}
				for _, suffix := range e.suffixes() {
					for _, r := range x.find(t, suffix, false) {
						r.claimed = true
					}
				}
			}
		}
	}
}

// suffixes are what the names of an expression's series end in beyond the selector's name.
func (e expr) suffixes() []string {
	if e.kind == kindQuantile {
		return []string{"_bucket", "_count", "_sum"}
	}
	return []string{""}
}
