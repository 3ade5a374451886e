package cli

import (
	"testing"

	"github.com/probedoctor/probedoctor/internal/report"
)

func TestColorMode(t *testing.T) {
	xterm := []string{"TERM=xterm-256color", "COLORTERM=truecolor"}
	for _, c := range []struct {
		name, flag string
		terminal   bool
		environ    []string
		want       report.ColorMode
	}{
		{"a terminal with all colours", "auto", true, xterm, report.ColorTrue},
		{"a terminal with 256 colours", "auto", true, []string{"TERM=xterm-256color"}, report.Color16},
		{"a terminal with 16 colours", "auto", true, []string{"TERM=xterm-color"}, report.Color16},
		{"a dumb terminal", "auto", true, []string{"TERM=dumb"}, report.ColorNone},
		{"a terminal of unknown kind", "auto", true, nil, report.ColorNone},
		{"a file", "auto", false, xterm, report.ColorNone},
		{"a file, colour asked for", "always", false, nil, report.ColorTrue},
		{"NO_COLOR=1", "auto", true, append([]string{"NO_COLOR=1"}, xterm...), report.ColorNone},
		{"NO_COLOR with any value", "auto", true, append([]string{"NO_COLOR=no thanks"}, xterm...), report.ColorNone},
		{"NO_COLOR empty", "auto", true, append([]string{"NO_COLOR="}, xterm...), report.ColorTrue},
		{"NO_COLOR, colour asked for", "always", true, append([]string{"NO_COLOR=1"}, xterm...), report.ColorTrue},
		{"a terminal, colour refused", "never", true, xterm, report.ColorNone},
	} {
		got, err := colorMode(c.flag, c.terminal, c.environ)
		if err != nil || got != c.want {
			t.Errorf("%s: colorMode = %v, %v; want %v", c.name, got, err, c.want)
		}
	}
	if _, err := colorMode("sometimes", true, xterm); err == nil {
		t.Error("colorMode takes a flag value that does not exist")
	}
}

func TestProgramName(t *testing.T) {
	for arg0, want := range map[string]string{
		"probedoctor":                            "probedoctor",
		"/usr/local/bin/probedoctor":             "probedoctor",
		"/home/me/.krew/bin/kubectl-probedoctor": "kubectl probedoctor",
		"kubectl-probedoctor.exe":                "kubectl probedoctor",
		"":                                       "probedoctor",
	} {
		if got := programName(arg0); got != want {
			t.Errorf("programName(%q) = %q, want %q", arg0, got, want)
		}
	}
}
