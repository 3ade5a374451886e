// Package cli is the command line: the cobra tree and the wiring of sources, knowledge and output. It is the only place
// that knows all of them, and it holds no diagnostic knowledge of its own.
package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/charmbracelet/colorprofile"
	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/probedoctor/probedoctor/internal/report"
)

// Exit codes.
const (
	exitOK      = 0
	exitFailed  = 1
	exitUsage   = 2
	exitNamed   = 10 // with --exit-code: a cause was named
	exitUnnamed = 11 // with --exit-code: there are symptoms and no cause could be named
)

// app is what every command shares: the streams and the global flags.
type app struct {
	in       io.Reader
	out, err io.Writer
	code     int
	// name is how the program is called: "probedoctor", or "kubectl probedoctor" as a plugin.
	name string

	rulesDirs []string
	color     string
	ascii     bool
}

// usageError is a mistake in how the command was called; it exits with 2.
type usageError struct{ err error }

func (e usageError) Error() string { return e.err.Error() }
func (e usageError) Unwrap() error { return e.err }

func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// Main runs the command line and gives the exit code. args[0] is the program's name: as kubectl-probedoctor in the PATH it
// is the plugin that `kubectl probedoctor` runs, and speaks of itself so.
func Main(args []string, in io.Reader, out, errw io.Writer) int {
	a := &app{in: in, out: out, err: errw, name: programName(args[0])}
	root := a.root()
	root.SetArgs(args[1:])
	root.SetIn(in)
	root.SetOut(out)
	root.SetErr(errw)
	if err := root.Execute(); err != nil {
		// The text of an error may hold names from input or from the command line.
		for line := range strings.SplitSeq(strings.TrimRight(err.Error(), "\n"), "\n") {
			fmt.Fprintln(errw, a.name+":", report.Safe(line))
		}
		var u usageError
		if errors.As(err, &u) {
			return exitUsage
		}
		return exitFailed
	}
	return a.code
}

// programName is how a person calls the program that was started as arg0.
func programName(arg0 string) string {
	if strings.HasPrefix(filepath.Base(arg0), "kubectl-") {
		return "kubectl probedoctor"
	}
	return "probedoctor"
}

// called replaces the program's name in help and hints by how it was called.
func (a *app) called(text string) string { return strings.ReplaceAll(text, "probedoctor", a.name) }

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:         "probedoctor",
		Annotations: map[string]string{cobra.CommandDisplayNameAnnotation: a.name},
		Short:       "Says why a Kubernetes health probe fails",
		Long: `probedoctor reads the evidence around failing liveness, readiness and startup probes and prints a ranked
diagnosis: each cause with what speaks for and against it, what is missing to be sure, and what to do.

` + a.called(`Start with a built-in incident:   probedoctor demo
Then with what you have at hand:  kubectl get events,pods -o json | probedoctor diagnose -f -`),
		SilenceErrors:     true,
		SilenceUsage:      true,
		Args:              usageArgs(cobra.NoArgs),
		CompletionOptions: cobra.CompletionOptions{HiddenDefaultCmd: false},
	}
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return usagef("%w (see %s --help)", err, c.CommandPath())
	})
	f := root.PersistentFlags()
	f.StringArrayVar(&a.rulesDirs, "rules", nil, "folder with further knowledge: rules/*.yaml, diagnoses.yaml, signatures.yaml, catalog/*.yaml, runbooks/*.md (repeatable)")
	f.StringVar(&a.color, "color", "auto", "auto, always or never; NO_COLOR is honoured")
	f.BoolVar(&a.ascii, "ascii", false, "draw with ASCII characters only")
	root.RunE = func(c *cobra.Command, _ []string) error { return c.Help() }
	root.AddCommand(a.diagnoseCommand(), a.demoCommand(), a.whyNotCommand(), a.rulesCommand(), a.runbooksCommand(), a.benchCommand(), a.versionCommand(), a.docsCommand())
	return root
}

// usageArgs makes a mistake in the arguments a usage error.
func usageArgs(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if err := check(c, args); err != nil {
			return usagef("%w (see %s --help)", err, c.CommandPath())
		}
		return nil
	}
}

// knowledgeDirs are the user's folders: $XDG_CONFIG_HOME/probedoctor (or ~/.config/probedoctor) where it exists, then those
// of --rules.
func (a *app) knowledgeDirs() []string {
	var dirs []string
	if base, err := os.UserConfigDir(); err == nil {
		d := filepath.Join(base, "probedoctor")
		if info, err := os.Stat(d); err == nil && info.IsDir() {
			dirs = append(dirs, d)
		}
	}
	return append(dirs, a.rulesDirs...)
}

// subfolders gives the folders of that name below the user's folders, where they exist.
func subfolders(dirs []string, name string) []string {
	var out []string
	for _, d := range dirs {
		sub := filepath.Join(d, name)
		if info, err := os.Stat(sub); err == nil && info.IsDir() {
			out = append(out, sub)
		}
	}
	return out
}

// colors decides how much colour the output gets.
func (a *app) colors() (report.ColorMode, error) {
	return colorMode(a.color, isTerminal(a.out), os.Environ())
}

// colorMode is the colour for the flag's value on a terminal, or not, with that environment. What is asked for by the flag
// counts more than NO_COLOR, and NO_COLOR more than what the terminal can do.
func colorMode(flag string, terminal bool, environ []string) (report.ColorMode, error) {
	switch flag {
	case "never":
		return report.ColorNone, nil
	case "always":
		return report.ColorTrue, nil
	case "auto":
	default:
		return report.ColorNone, usagef("--color %q: use auto, always or never", flag)
	}
	// https://no-color.org: any value that is not empty.
	noColor := func(e string) bool { return strings.HasPrefix(e, "NO_COLOR=") && e != "NO_COLOR=" }
	if !terminal || slices.ContainsFunc(environ, noColor) {
		return report.ColorNone, nil
	}
	switch colorprofile.Env(environ) {
	case colorprofile.TrueColor:
		return report.ColorTrue, nil
	case colorprofile.ANSI256, colorprofile.ANSI:
		// There is no palette of 256; the sixteen colours are the ones that the reader has chosen.
		return report.Color16, nil
	}
	return report.ColorNone, nil
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// width is the terminal's width, 0 when the output is no terminal.
func width(w io.Writer) int {
	f, ok := w.(*os.File)
	if !ok {
		return 0
	}
	n, _, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return 0
	}
	return n
}
