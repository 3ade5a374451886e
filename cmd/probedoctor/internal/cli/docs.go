package cli

import (
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/probedoctor/probedoctor/rules"
)

// docsCommand writes the reference pages that are made from the knowledge itself.
func (a *app) docsCommand() *cobra.Command {
	return &cobra.Command{
		Use: "docs DIR", Short: "Write docs/rules.md, facts.md and diagnoses.md from the knowledge", Hidden: true, Args: usageArgs(cobra.ExactArgs(1)),
		RunE: func(_ *cobra.Command, args []string) error {
			p, err := a.pack()
			if err != nil {
				return err
			}
			for name, text := range map[string]string{"rules.md": p.RulesMarkdown(), "facts.md": rules.FactsMarkdown(), "diagnoses.md": p.DiagnosesMarkdown()} {
				if err := os.WriteFile(filepath.Join(args[0], name), []byte(text), 0o644); err != nil {
					return err
				}
			}
			return nil
		},
	}
}
