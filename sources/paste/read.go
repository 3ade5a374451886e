package paste

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/probedoctor/probedoctor/sources/evidence"
	"github.com/probedoctor/probedoctor/sources/kubeobj"
)

// Options tell Read what is not in the text.
type Options struct {
	// Observed is when the text was taken from the cluster, zero when not known.
	Observed time.Time
}

// textSink takes free text line by line: n is the number of the line, s the line without its end.
type textSink interface {
	line(n int, s string)
	// dropped tells how many of the first items of the set are gone.
	dropped(n marks)
	close()
}

// newText makes the reader of free text for one file. structured is given a block that looks like JSON or YAML, with the
// number of its first line; it reports whether the block was understood.
var newText func(file string, set *evidence.Set, structured func(firstLine int, block string) bool) textSink = newTextReader

// Read reads the files and folders (recursively, in order of their names; names that begin with a dot and links to folders
// are passed over) and, for "-", stdin. The set is not finished.
//
// The error says that nothing at all could be opened. Everything else that could not be read is in the set's Coverage.
func Read(paths []string, stdin io.Reader, opt Options) (*evidence.Set, error) {
	set := &evidence.Set{}
	g := &gathering{set: set, opt: opt, partial: map[string]bool{}}
	for _, p := range paths {
		if p == "-" {
			g.opened++
			g.read("stdin", stdin)
			continue
		}
		g.path(p)
	}
	if g.opened == 0 {
		if len(g.errs) == 0 {
			return nil, errors.New("no input: no file was named")
		}
		return nil, errors.Join(g.errs...)
	}
	for _, err := range g.errs {
		g.note(evidence.CoverageError, err.Error())
	}
	g.coverage()
	return set, nil
}

// gathering is the state of one Read.
type gathering struct {
	set     *evidence.Set
	opt     Options
	stats   kubeobj.Stats
	partial map[string]bool
	opened  int
	errs    []error
}

func (g *gathering) note(status evidence.CoverageStatus, detail string) {
	g.set.Coverage = append(g.set.Coverage, evidence.Coverage{Source: evidence.SourceInput, Status: status, Detail: detail})
}

func (g *gathering) path(path string) {
	info, err := os.Stat(path)
	if err != nil {
		g.errs = append(g.errs, err)
		return
	}
	if !info.IsDir() {
		g.file(path, false)
		return
	}
	// WalkDir visits in lexical order, and follows a link that is the root itself only with the separator behind it.
	if !strings.HasSuffix(path, string(filepath.Separator)) {
		path += string(filepath.Separator)
	}
	err = filepath.WalkDir(path, func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			g.errs = append(g.errs, err)
			if d != nil && d.IsDir() {
				return fs.SkipDir
			}
			return nil
		case p != path && strings.HasPrefix(d.Name(), "."):
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		case d.IsDir():
			g.opened++
			return nil
		}
		// A link counts as what it points to; devices and pipes in a folder could block for ever.
		switch info, err := os.Stat(p); {
		case err != nil:
			g.errs = append(g.errs, err)
		case info.IsDir():
		case !info.Mode().IsRegular():
			g.note(evidence.CoveragePartial, p+": not a regular file")
		default:
			g.file(p, true)
		}
		return nil
	})
	if err != nil {
		g.errs = append(g.errs, err)
	}
}

func (g *gathering) file(path string, inFolder bool) {
	f, err := os.Open(path)
	if err != nil {
		g.errs = append(g.errs, err)
		return
	}
	defer f.Close()
	g.opened++
	if inFolder && filepath.Base(path) == "README.md" && isReadme(f) {
		return
	}
	g.read(path, f)
}

// isReadme tells a description of the folder, which begins with a heading, from pasted text that happens to bear its name.
func isReadme(f *os.File) bool {
	head := make([]byte, 256)
	n, _ := f.ReadAt(head, 0)
	return strings.HasPrefix(strings.TrimSpace(string(head[:n])), "# ")
}

func (g *gathering) read(name string, r io.Reader) {
	in, why, err := sniffed(r)
	switch {
	case err != nil:
		g.note(evidence.CoverageError, name+": "+err.Error())
		return
	case why != "":
		g.note(evidence.CoveragePartial, name+": "+why)
		return
	}
	before, seen, notes := items(g.set), g.stats.Events, len(g.set.Coverage)
	unused := len(g.stats.Unused)
	f := newFileReader(name, in, g.set, g.opt, &g.stats, g.partial)
	f.run()
	if items(g.set) == before && g.stats.Events == seen && len(g.stats.Unused) == unused && f.understood == 0 && len(g.set.Coverage) == notes {
		g.note(evidence.CoveragePartial, name+": nothing in it is known as evidence")
	}
}

func items(s *evidence.Set) int {
	return len(s.Events) + len(s.Pods) + len(s.Workloads) + len(s.Autoscalers) + len(s.Nodes) + len(s.Services) +
		len(s.Series) + len(s.Logs) + len(s.Requests) + len(s.Targets) + len(s.HealthChecks) + len(s.Listeners)
}

// coverage says for each source that gave something how much it gave.
func (g *gathering) coverage() {
	s := g.set
	add := func(source string, detail string) {
		status := evidence.CoverageOK
		if g.partial[source] {
			status = evidence.CoveragePartial
		}
		s.Coverage = append(s.Coverage, evidence.Coverage{Source: source, Status: status, Detail: detail})
	}
	if total := len(s.Events) + g.stats.LeftOut; total > 0 {
		detail := plural(total, "event")
		if g.stats.LeftOut > 0 {
			detail += ", " + thousands(len(s.Events)) + " kept"
		}
		add(evidence.SourceEvents, detail)
	}
	specs := len(s.Workloads)
	for _, p := range s.Pods {
		if slices.ContainsFunc(p.Containers, func(c evidence.Container) bool { return c.ProbesKnown }) {
			specs++
		}
	}
	backends := len(s.HealthChecks)
	for _, t := range s.Targets {
		if t.Balancer != "endpointslice" {
			backends++
		}
	}
	for _, c := range []struct {
		source, word string
		n            int
	}{
		{evidence.SourcePods, "pod", len(s.Pods)},
		{evidence.SourceSpecs, "specification", specs},
		{evidence.SourceScaling, "autoscaler", len(s.Autoscalers)},
		{evidence.SourceNodes, "node", len(s.Nodes)},
		{evidence.SourceLogs, "log line", len(s.Logs)},
		{evidence.SourceRequests, "request", len(s.Requests)},
		{evidence.SourceMetrics, "series", len(s.Series)},
		{evidence.SourceBalancer, "target or health check", backends},
		{evidence.SourceSockets, "listening socket", len(s.Listeners)},
	} {
		if c.n > 0 {
			add(c.source, plural(c.n, c.word))
		}
	}
}

// plural is "1 pod", "1,204 pods".
func plural(n int, word string) string {
	switch {
	case n == 1 || word == "series":
	case strings.HasPrefix(word, "target or"):
		word = "targets or health checks"
	default:
		word += "s"
	}
	return thousands(n) + " " + word
}

// were is "1 pod was", "3 pods were".
func were(n int, word string) string {
	if n == 1 {
		return "1 " + word + " was"
	}
	return plural(n, word) + " were"
}

// thousands groups digits by three: 1204 is "1,204".
func thousands(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
