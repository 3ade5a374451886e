package cli

import (
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/probedoctor/probedoctor/internal/diagnose"
	"github.com/probedoctor/probedoctor/internal/report"
	"github.com/probedoctor/probedoctor/internal/shell"
	"github.com/probedoctor/probedoctor/rules"
	"github.com/probedoctor/probedoctor/sources/evidence"
	"github.com/probedoctor/probedoctor/sources/paste"
	"github.com/probedoctor/probedoctor/testdata/incidents"
)

// output holds the flags that say how a diagnosis is printed.
type output struct {
	format, tz string
	exitCode   bool
}

func (o *output) flags(c *cobra.Command) {
	c.Flags().StringVarP(&o.format, "output", "o", report.Text, strings.Join(report.Formats(), ", "))
	c.Flags().StringVar(&o.tz, "tz", "UTC", "zone of the times that are printed: UTC, local, Europe/Berlin")
	c.Flags().BoolVar(&o.exitCode, "exit-code", false, "exit with 10 when a cause was named, 11 when there are symptoms and none was")
	_ = c.RegisterFlagCompletionFunc("output", cobra.FixedCompletions(report.Formats(), cobra.ShellCompDirectiveNoFileComp))
}

func (s *scope) flags(c *cobra.Command) {
	c.Flags().StringArrayVarP(&s.files, "filename", "f", nil, "file or folder with evidence, - for standard input (repeatable)")
	c.Flags().StringVarP(&s.namespace, "namespace", "n", "", "only incidents of this namespace")
	c.Flags().StringVar(&s.at, "at", "", "when the text was taken from the cluster; ages count back from it")
	c.Flags().StringVar(&s.asOf, "as-of", "", "diagnose with what was known at that moment")
}

func (a *app) diagnoseCommand() *cobra.Command {
	var s scope
	var o output
	c := &cobra.Command{
		Use:   "diagnose [TYPE/NAME] -f PATH...",
		Short: "Diagnose evidence in files: objects, events, logs, metrics, pasted text",
		Long: `Reads what you have and prints a ranked diagnosis. Files are recognised by their content, whatever their names:
Kubernetes objects as JSON or YAML, kubectl's tables and describe output, logs and access logs, Prometheus
expositions and API answers, load-balancer target health, bare messages from a chat.`,
		Example: a.called(`  kubectl get events,pods,deploy,rs,hpa -n shop -o json | probedoctor diagnose -f -
  probedoctor diagnose -f incident/ -o wide
  probedoctor diagnose deploy/checkout -n shop -f events.txt -f app.log --at 2026-11-29T14:19:00Z`),
		Args: usageArgs(cobra.MaximumNArgs(1)),
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 1 {
				s.target = args[0]
			}
			knowledge := a.knowledgeSoon()
			set, err := a.read(s)
			if err != nil {
				return err
			}
			if err := a.conclude(set, knowledge, s, o, a.fileHints(s)); err != nil {
				return err
			}
			return someEvidence(set)
		},
	}
	s.flags(c)
	o.flags(c)
	return c
}

func (a *app) demoCommand() *cobra.Command {
	var o output
	c := &cobra.Command{
		Use:   "demo",
		Short: "Diagnose a built-in incident; no cluster is needed",
		Args:  usageArgs(cobra.NoArgs),
		RunE: func(*cobra.Command, []string) error {
			knowledge := a.knowledgeSoon()
			set, err := a.demoSet()
			if err != nil {
				return err
			}
			return a.conclude(set, knowledge, scope{}, o, []string{a.name + " demo -o wide", a.name + " why-not cpu-starvation --demo"})
		},
	}
	o.flags(c)
	return c
}

// demoSet is the evidence of the built-in incident.
func (a *app) demoSet() (*evidence.Set, error) {
	folder, err := fs.Sub(incidents.FS, "saturated-pool")
	if err != nil {
		return nil, err
	}
	set, err := paste.ReadFS(folder, paste.Options{})
	if err != nil {
		return nil, err
	}
	return set, a.prepare(set, time.Time{})
}

// conclude diagnoses and prints.
func (a *app) conclude(set *evidence.Set, knowledge func() (diagnose.Knowledge, error), s scope, o output, more []string) error {
	if !slices.Contains(report.Formats(), o.format) {
		return usagef("-o %q: use one of %s", o.format, strings.Join(report.Formats(), ", "))
	}
	zone, err := parseZone(o.tz)
	if err != nil {
		return err
	}
	color, err := a.colors()
	if err != nil {
		return err
	}
	opt, err := s.options()
	if err != nil {
		return err
	}
	k, err := knowledge()
	if err != nil {
		return err
	}
	list := diagnose.Run(set, k, opt)
	if err := matched(list, s); err != nil {
		return err
	}
	if o.exitCode {
		a.code = exitCode(list)
	}
	ro := report.Options{Format: o.format, Width: width(a.out), Color: color, ASCII: a.ascii, Zone: zone, More: more}
	return report.Write(a.out, list, ro)
}

// exitCode is 10 when a cause was named for the first incident or any other, 11 when there are symptoms only.
func exitCode(list *rules.DiagnosisList) int {
	if len(list.Items) == 0 {
		return exitOK
	}
	for _, d := range list.Items {
		for _, c := range d.Ranked {
			if c.Role != rules.Contributing && c.Probability >= rules.Named {
				return exitNamed
			}
		}
	}
	return exitUnnamed
}

// fileHints are the further commands for the same evidence.
func (a *app) fileHints(s scope) []string {
	if slices.Contains(s.files, "-") {
		return []string{"-o wide", a.name + " why-not CAUSE -f FILE"}
	}
	var args []string
	add := func(flag, value string) {
		if value != "" {
			args = append(args, flag+" "+shell.Quote(value))
		}
	}
	for _, f := range s.files {
		add("-f", f)
	}
	add("-n", s.namespace)
	add("--at", s.at)
	add("--as-of", s.asOf)
	for _, d := range a.rulesDirs {
		add("--rules", d)
	}
	rest := strings.Join(args, " ")
	diagnose := a.name + " diagnose "
	if s.target != "" {
		diagnose += shell.Quote(s.target) + " "
	}
	return []string{diagnose + rest + " -o wide", a.name + " why-not CAUSE " + rest}
}
