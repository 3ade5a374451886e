package cli

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/probedoctor/probedoctor/internal/bench"
	"github.com/probedoctor/probedoctor/internal/diagnose"
	"github.com/probedoctor/probedoctor/internal/report"
	"github.com/probedoctor/probedoctor/internal/shell"
	"github.com/probedoctor/probedoctor/rules"
)

// benchFormats are what `bench -o` takes.
var benchFormats = []string{"text", "json", "markdown"}

func (a *app) benchCommand() *cobra.Command {
	var format, heldOut string
	c := &cobra.Command{
		Use:   "bench DIR",
		Short: "Measure how often the diagnosis is right on recordings with a known cause",
		Long: `Diagnoses each folder below DIR that has an expected.json, and compares the answer with it: how often the expected
cause is first (AC@1) and among the first three (AC@3), by cause, where another one came first, and whether the stated
probabilities are right that often. expected.json is {id, also, thin, confidence, mustNotTop, why}; it is not evidence.`,
		Example: a.called(`  probedoctor bench testdata/cases
  probedoctor bench testdata/cases -o markdown > docs/accuracy.md`),
		Args: usageArgs(cobra.ExactArgs(1)),
		RunE: func(_ *cobra.Command, args []string) error {
			if !slices.Contains(benchFormats, format) {
				return usagef("-o %q: use one of %s", format, strings.Join(benchFormats, ", "))
			}
			k, err := a.knowledge()
			if err != nil {
				return err
			}
			doc := bench.Document{APIVersion: rules.APIVersion, Kind: bench.Kind, Command: a.benchAgain(args[0], heldOut)}
			if doc.Score, err = a.measure(args[0], k); err != nil {
				return err
			}
			if heldOut != "" {
				score, err := a.measure(heldOut, k)
				if err != nil {
					return err
				}
				doc.HeldOut = &score
			}
			switch format {
			case "json":
				return a.printJSON(doc)
			case "markdown":
				_, err = fmt.Fprint(a.out, doc.Markdown())
			default:
				_, err = fmt.Fprint(a.out, doc.Text())
			}
			return err
		},
	}
	c.Flags().StringVarP(&format, "output", "o", "text", strings.Join(benchFormats, ", "))
	c.Flags().StringVar(&heldOut, "held-out", "", "folder of recordings that nobody looked at while rules and weights were made; reported apart")
	_ = c.RegisterFlagCompletionFunc("output", cobra.FixedCompletions(benchFormats, cobra.ShellCompDirectiveNoFileComp))
	return c
}

// benchAgain is the command that makes docs/accuracy.md, in this repository's root.
func (a *app) benchAgain(dir, heldOut string) string {
	cmd := "go run ./cmd/probedoctor"
	for _, d := range a.rulesDirs {
		cmd += " --rules " + shell.Quote(d)
	}
	cmd += " bench " + shell.Quote(dir)
	if heldOut != "" {
		cmd += " --held-out " + shell.Quote(heldOut)
	}
	return report.Safe(cmd + " -o markdown > docs/accuracy.md")
}

// measure diagnoses the recordings below dir.
func (a *app) measure(dir string, k diagnose.Knowledge) (bench.Score, error) {
	folders, err := recordings(dir)
	if err != nil {
		return bench.Score{}, err
	}
	var recs []bench.Recording
	for _, folder := range folders {
		expected, err := answerKey(filepath.Join(folder, bench.KeyFile), k.Pack)
		if err != nil {
			return bench.Score{}, err
		}
		name, err := filepath.Rel(dir, folder)
		if err != nil {
			return bench.Score{}, err
		}
		set, err := a.read(scope{files: []string{folder}})
		if err != nil {
			return bench.Score{}, err
		}
		recs = append(recs, bench.Recording{
			Name: report.Safe(filepath.ToSlash(name)), Expected: expected, Diagnoses: diagnose.Run(set, k, diagnose.Options{}),
		})
	}
	return bench.Measure(report.Safe(filepath.ToSlash(filepath.Clean(dir))), recs), nil
}

// recordings gives the folders at and below dir that have a key, in order of their names. As where evidence is read, names
// that begin with a dot are passed over.
func recordings(dir string) ([]string, error) {
	root := filepath.Clean(dir)
	var found []string
	has := map[string]bool{}
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case p != root && strings.HasPrefix(d.Name(), "."):
			if d.IsDir() {
				return fs.SkipDir
			}
		case !d.IsDir() && d.Name() == bench.KeyFile:
			folder := filepath.Dir(p)
			found = append(found, folder)
			has[folder] = true
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("no folder below %s has an %s", dir, bench.KeyFile)
	}
	slices.Sort(found)
	// The evidence of a folder is all that is below it, so that of a recording inside another would count for both.
	for _, folder := range found {
		for up := folder; up != root; {
			if up = filepath.Dir(up); has[up] {
				return nil, fmt.Errorf("%s is a recording inside the recording %s", folder, up)
			}
		}
	}
	return found, nil
}

// answerKey reads a key, all of whose causes must be in the catalogue: one that is not could never be right.
func answerKey(path string, p *rules.Pack) (bench.Expected, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return bench.Expected{}, err
	}
	e, err := bench.ParseExpected(data)
	if err != nil {
		return bench.Expected{}, fmt.Errorf("%s: %w", path, err)
	}
	for _, id := range e.IDs() {
		if _, ok := p.Diagnosis(id); !ok {
			return bench.Expected{}, fmt.Errorf("%s: there is no cause %q", path, id)
		}
	}
	return e, nil
}
