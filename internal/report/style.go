package report

import (
	"math"
	"strings"

	"charm.land/lipgloss/v2"

	"github.com/probedoctor/probedoctor/sources/evidence"
)

// A style renders one piece of a line; without colour it is the identity.
type style func(string) string

// styles is the palette: one accent for what to act on, dim for what to look up, red only for what fails.
type styles struct {
	plain, strong, accent, dim, fail style
}

func newStyles(mode ColorMode) styles {
	none := func(s string) string { return s }
	if mode == ColorNone {
		return styles{none, none, none, none, none}
	}
	accent, dim, fail := "6", "8", "1"
	if mode == ColorTrue {
		accent, dim, fail = "#3f9fb5", "#858b94", "#d1544f" // of middle lightness: readable on black and on white
	}
	render := func(s lipgloss.Style) style {
		return func(t string) string {
			if t == "" {
				return t
			}
			return s.Render(t)
		}
	}
	color := func(c string) lipgloss.Style { return lipgloss.NewStyle().Foreground(lipgloss.Color(c)) }
	return styles{
		plain:  none,
		strong: render(lipgloss.NewStyle().Bold(true)),
		accent: render(color(accent)),
		dim:    render(color(dim)),
		fail:   render(color(fail)),
	}
}

// glyphs are the marks of the text; each differs from the others without colour.
type glyphs struct {
	barFull, barRest                                    string
	plus, minus, unsure, noise, ruledOut                string
	ok, partial, failed, absent, isTrue, isFalse, unset string
	sep, dash, rule, times, most                        string
}

var unicodeGlyphs = glyphs{
	barFull: "█", barRest: "░",
	plus: "+", minus: "−", unsure: "?", noise: "·", ruledOut: "✗",
	ok: "✓", partial: "!", failed: "✗", absent: "–", isTrue: "✓", isFalse: "✗", unset: "–",
	sep: "·", dash: "–", rule: "─", times: "×", most: "≥",
}

var asciiGlyphs = glyphs{
	barFull: "#", barRest: ".",
	plus: "+", minus: "-", unsure: "?", noise: ".", ruledOut: "x",
	ok: "ok", partial: "!", failed: "x", absent: "-", isTrue: "T", isFalse: "F", unset: "-",
	sep: "|", dash: "-", rule: "-", times: "x", most: ">=",
}

// toASCII spells the typographic characters of our own sentences; letters of other scripts stay as they are.
var toASCII = strings.NewReplacer("≥", ">=", "≤", "<=", "×", "x", "−", "-", "–", "-", "—", "-", "…", "...", "·", "|",
	"“", `"`, "”", `"`, "‘", "'", "’", "'", "→", "->", "←", "<-", "⏎", `\n`, "≈", "~", "±", "+/-", "÷", "/", "µ", "u",
	"✓", "ok", "✗", "x", "█", "#", "░", ".")

// bar is a bar of n cells for p in 0 to 1. It is full for 1 only.
func (g glyphs) bar(p float64, n int) string {
	full := 0
	if p > 0 {
		full = min(n, int(math.Round(p*float64(n))))
	}
	if full == n && p < 1 {
		full-- // a full bar says "certain"
	}
	return strings.Repeat(g.barFull, full) + strings.Repeat(g.barRest, n-full)
}

func (g glyphs) coverage(s evidence.CoverageStatus) string {
	switch s {
	case evidence.CoverageOK:
		return g.ok
	case evidence.CoveragePartial:
		return g.partial
	case evidence.CoverageAbsent:
		return g.absent
	}
	return g.failed
}
