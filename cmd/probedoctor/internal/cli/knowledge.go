package cli

import (
	"encoding/json"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/probedoctor/probedoctor/internal/report"
	"github.com/probedoctor/probedoctor/rules"
	"github.com/probedoctor/probedoctor/runbooks"
)

func (a *app) rulesCommand() *cobra.Command {
	c := &cobra.Command{Use: "rules", Short: "The knowledge: list, show, test and check rules", Args: usageArgs(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() }}
	var causes, asJSON bool
	list := &cobra.Command{
		Use: "list", Short: "All rules in the order in which they are evaluated", Args: usageArgs(cobra.NoArgs),
		RunE: func(*cobra.Command, []string) error {
			p, err := a.pack()
			if err != nil {
				return err
			}
			if asJSON {
				return a.printJSON(map[string]any{"rules": p.Rules, "diagnoses": p.Diagnoses, "signatures": p.Signatures})
			}
			w := tabwriter.NewWriter(a.out, 0, 0, 2, ' ', 0)
			if causes {
				fmt.Fprintln(w, "CAUSE\tROLES\tTITLE")
				for _, d := range p.Diagnoses {
					var roles []string
					for _, r := range d.Roles {
						roles = append(roles, string(r))
					}
					fmt.Fprintf(w, "%s\t%s\t%s\n", d.ID, strings.Join(roles, ", "), report.Safe(d.Title))
				}
				return w.Flush()
			}
			fmt.Fprintln(w, "ORDER\tRULE\tSCOPE\tTITLE")
			for _, r := range p.Rules {
				fmt.Fprintf(w, "%d\t%s\t%s\t%s\n", r.Order, r.ID, r.Scope, report.Safe(r.Title))
			}
			return w.Flush()
		},
	}
	list.Flags().BoolVar(&causes, "causes", false, "list the causes instead")
	list.Flags().BoolVar(&asJSON, "json", false, "print rules, causes and signatures as JSON")
	show := &cobra.Command{
		Use: "show RULE", Short: "One rule: what it asks, what it says of each cause", Args: usageArgs(cobra.ExactArgs(1)),
		RunE: func(_ *cobra.Command, args []string) error {
			p, err := a.pack()
			if err != nil {
				return err
			}
			r, ok := p.Rule(args[0])
			if !ok {
				return usagef("there is no rule %q; %s rules list names them all", args[0], a.name)
			}
			fmt.Fprint(a.out, rules.RuleMarkdown(r))
			return nil
		},
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			p, err := a.pack()
			if err != nil {
				return nil, cobra.ShellCompDirectiveError
			}
			var ids []string
			for _, r := range p.Rules {
				ids = append(ids, r.ID)
			}
			return ids, cobra.ShellCompDirectiveNoFileComp
		},
	}
	test := &cobra.Command{
		Use: "test", Short: "Run the tests that stand beside the rules and signatures", Args: usageArgs(cobra.NoArgs),
		RunE: func(*cobra.Command, []string) error {
			p, err := a.pack()
			if err != nil {
				return err
			}
			n, failures := p.Test()
			for _, f := range failures {
				fmt.Fprintln(a.out, report.Safe(f.Error()))
			}
			fmt.Fprintf(a.out, "%d passed, %d failed\n", n-len(failures), len(failures))
			if len(failures) > 0 {
				a.code = exitFailed
			}
			return nil
		},
	}
	lint := &cobra.Command{
		Use: "lint", Short: "Check rules for what loading does not refuse: missing tests, causes without rules",
		Long: `Checks rules for what loading does not refuse: outcomes without a test, causes without a rule, signatures without examples.
Where there are rules of your own, it speaks of these only.`,
		Args: usageArgs(cobra.NoArgs),
		RunE: func(*cobra.Command, []string) error {
			p, err := a.pack()
			if err != nil {
				return err
			}
			findings := p.Lint()
			if len(a.knowledgeDirs()) > 0 {
				// What is to be said of our rules is nothing that the author of others can mend.
				findings = slices.DeleteFunc(findings, func(f string) bool { return strings.HasPrefix(f, builtIn+"/") })
			}
			for _, f := range findings {
				fmt.Fprintln(a.out, report.Safe(f))
			}
			fmt.Fprintf(a.out, "%d rules, %d causes, %d signatures: %d findings\n", len(p.Rules), len(p.Diagnoses), len(p.Signatures), len(findings))
			if len(findings) > 0 {
				a.code = exitFailed
			}
			return nil
		},
	}
	c.AddCommand(list, show, test, lint)
	return c
}

func (a *app) runbooksCommand() *cobra.Command {
	c := &cobra.Command{Use: "runbooks", Short: "What to do about each cause", Args: usageArgs(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() }}
	load := func() (*runbooks.Library, error) { return runbooks.Load(subfolders(a.knowledgeDirs(), "runbooks")...) }
	list := &cobra.Command{
		Use: "list", Short: "All runbooks", Args: usageArgs(cobra.NoArgs),
		RunE: func(*cobra.Command, []string) error {
			lib, err := load()
			if err != nil {
				return err
			}
			w := tabwriter.NewWriter(a.out, 0, 0, 2, ' ', 0)
			fmt.Fprintln(w, "CAUSE\tTITLE")
			for _, id := range lib.IDs() {
				fmt.Fprintf(w, "%s\t%s\n", id, report.Safe(lib.Get(id).Title))
			}
			return w.Flush()
		},
	}
	show := &cobra.Command{
		Use: "show CAUSE", Short: "One runbook as Markdown", Args: usageArgs(cobra.ExactArgs(1)),
		RunE: func(_ *cobra.Command, args []string) error {
			lib, err := load()
			if err != nil {
				return err
			}
			book := lib.Get(args[0])
			if book == nil {
				return usagef("there is no runbook %q; %s runbooks list names them all", args[0], a.name)
			}
			fmt.Fprint(a.out, book.Markdown(nil))
			return nil
		},
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			lib, err := load()
			if err != nil {
				return nil, cobra.ShellCompDirectiveError
			}
			return lib.IDs(), cobra.ShellCompDirectiveNoFileComp
		},
	}
	c.AddCommand(list, show)
	return c
}

func (a *app) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "The version of probedoctor", Args: usageArgs(cobra.NoArgs),
		RunE: func(*cobra.Command, []string) error {
			v, rev, goVersion := "development", "", ""
			if info, ok := debug.ReadBuildInfo(); ok {
				goVersion = info.GoVersion
				if info.Main.Version != "" && info.Main.Version != "(devel)" {
					v = info.Main.Version
				}
				for _, s := range info.Settings {
					if s.Key == "vcs.revision" {
						rev = s.Value
					}
				}
			}
			fmt.Fprintln(a.out, strings.Join(strings.Fields("probedoctor "+v+" "+rev+" "+goVersion), " "))
			return nil
		},
	}
}

func (a *app) printJSON(v any) error {
	enc := json.NewEncoder(a.out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}
