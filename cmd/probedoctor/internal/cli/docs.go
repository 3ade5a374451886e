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
		Use: "docs DIR", Short: "Write rules.md, facts.md, diagnoses.md and a page for each cause from the knowledge", Hidden: true, Args: usageArgs(cobra.ExactArgs(1)),
		RunE: func(_ *cobra.Command, args []string) error {
			k, err := a.knowledge()
			if err != nil {
				return err
			}
			p := k.Pack
			pages := map[string]string{"rules.md": p.RulesMarkdown(), "facts.md": rules.FactsMarkdown(), "diagnoses.md": p.DiagnosesMarkdown()}
			for _, d := range p.Diagnoses {
				if book := k.Runbooks.Get(d.ID); book != nil {
					pages[filepath.Join("diagnoses", d.ID+".md")] = p.DiagnosisMarkdown(d, book.Markdown(nil))
				}
			}
			if err := os.MkdirAll(filepath.Join(args[0], "diagnoses"), 0o755); err != nil {
				return err
			}
			for name, text := range pages {
				if err := os.WriteFile(filepath.Join(args[0], name), []byte(text), 0o644); err != nil {
					return err
				}
			}
			return nil
		},
	}
}
