package report

import (
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
	"github.com/google/go-cmp/cmp"

	"github.com/probedoctor/probedoctor/rules"
	"github.com/probedoctor/probedoctor/sources/evidence"
)

func TestSafe(t *testing.T) {
	for in, want := range map[string]string{
		"plain text, 100 %":          "plain text, 100 %",
		"値を復号 🧨 é":                   "値を復号 🧨 é",
		"\x1b[31mred\x1b]0;t\x07":    `\x1b[31mred\x1b]0;t\x07`,
		"a\x00b\x7f":                 `a\x00b\x7f`,
		"\u009b31m":                  `\u009b31m`,
		"a\u202eb\u2066c\u200f":      `a\u202eb\u2066c\u200f`,
		"a\u200bb\u200dc\ufeff":      `a\u200bb\u200dc\ufeff`,
		"a\u2028b\u2029":             `a\u2028b\u2029`,
		"\U000e0041":                 `\U000e0041`,
		"bad \xff\xc3(":              `bad \xff\xc3(`,
		"one\ntwo\r\nthree\rfour":    `one⏎two⏎three\x0dfour`,
		"a\tb\u00a0c\u3000d":         "a b c d",
		"z\u0301\u0301\u0301":        "z\u0301\u0301\u0301",
		"z" + strings.Repeat("̀", 6): "z" + strings.Repeat("̀", 4) + `\u0300\u0300`,
		"\u3164":                     `\u3164`,
	} {
		if got := Safe(in); got != want {
			t.Errorf("Safe(%q) = %q, want %q", in, got, want)
		}
	}
	long := strings.Repeat("é", 3*safeLimit)
	if got := Safe(long); utf8.RuneCountInString(got) != safeLimit || !strings.HasSuffix(got, "…") {
		t.Errorf("a long text has %d characters and ends in %q", utf8.RuneCountInString(got), got[len(got)-3:])
	}
}

func TestSafeCommand(t *testing.T) {
	if got := safeCommand("a \x1b[0m\r\n\tb\u202e  \n"); !reflect.DeepEqual(got, []string{`a \x1b[0m`, ` b\u202e`}) {
		t.Errorf("got %q", got)
	}
	if got := safeQuery("a\nrm -rf b"); got != "a⏎rm -rf b" {
		t.Errorf("a query of two lines became %q", got)
	}
	if got := safeCommand(strings.Repeat("x", commandLimit+1)); len(got) != 1 || strings.Contains(got[0], "xx") {
		t.Errorf("a command that is too long is cut, and could be copied: %.40q", got)
	}
}

// checkSafe holds for everything that a person may see.
func checkSafe(t *testing.T, what, s string) {
	t.Helper()
	if !utf8.ValidString(s) {
		t.Fatalf("%s is not UTF-8: %q", what, s)
	}
	for _, r := range s {
		if r != '\n' && unsafeRune(r) {
			t.Fatalf("%s holds %U", what, r)
		}
	}
}

func FuzzSafe(f *testing.F) {
	for _, s := range hostile {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := Safe(s)
		checkSafe(t, "Safe", got)
		if strings.Contains(got, "\n") {
			t.Fatalf("Safe(%q) has a line break", s)
		}
		if utf8.RuneCountInString(got) > safeLimit {
			t.Fatalf("Safe gave %d characters", utf8.RuneCountInString(got))
		}
		if again := Safe(got); again != got {
			t.Fatalf("Safe(Safe(%q)) = %q, not %q", s, again, got)
		}
		for _, room := range []int{2, 7, 31} {
			lines := wrap(got, room)
			for _, l := range lines {
				if ansi.StringWidth(l) > room {
					t.Fatalf("wrap(%q, %d) gave %q of %d cells", got, room, l, ansi.StringWidth(l))
				}
			}
			if a, b := strings.ReplaceAll(strings.Join(lines, ""), " ", ""), strings.ReplaceAll(got, " ", ""); a != b {
				t.Fatalf("wrap(%q, %d) lost text: %q", got, room, lines)
			}
		}
		md := mdText(got)
		checkSafe(t, "mdText", md)
		outside := stripCode(md)
		if strings.ContainsAny(outside, "<>") || strings.Contains(outside, "](") || strings.Contains(outside, "@") || strings.Contains(outside, "://") {
			t.Fatalf("mdText(%q) = %q lets something through", got, md)
		}
		checkSafe(t, "YAML", string(appendYAMLString(nil, strings.ToValidUTF8(s, "\ufffd"))))
	})
}

// stripCode removes the escaped characters and the code spans of a line as CommonMark finds them: a run of backticks that is not escaped opens, the
// next run of the same length closes.
func stripCode(s string) string {
	var out strings.Builder
	for i := 0; i < len(s); {
		switch {
		case s[i] == '\\' && i+1 < len(s):
			out.WriteByte('.') // an escaped character begins nothing
			i += 2
		case s[i] == '`':
			n := len(s[i:]) - len(strings.TrimLeft(s[i:], "`"))
			end := -1
			for j := i + n; j < len(s); {
				if s[j] != '`' {
					j++
					continue
				}
				m := len(s[j:]) - len(strings.TrimLeft(s[j:], "`"))
				if m == n {
					end = j + m
					break
				}
				j += m
			}
			if end < 0 {
				out.WriteString(s[i : i+n])
				i += n
				continue
			}
			i = end
		default:
			out.WriteByte(s[i])
			i++
		}
	}
	return out.String()
}

// hostile are strings that somebody could put into an event, a log line or the name of an object.
var hostile = []string{
	"\x1b[2J\x1b[31mred\x1b[0m", "\x1b]0;title\x07", "\x1b]8;;http://evil.example\x1b\\click\x1b]8;;\x1b\\", "\u009b31m\u009d0;x\u009c",
	"a\u202etxt.exe", "\u2066x\u2069", "zero\u200bwidth\u2060", "line\u2028sep\u2029", "nul\x00bel\x07bs\x08del\x7f", "bad\xff\xfe\xc3(",
	"one\ntwo\r\nthree\rfour\x0bfive\x0c", "\ttab\t", strings.Repeat("long ", 900), strings.Repeat("x", 5000), strings.Repeat("値", 900), "👩‍👩‍👧 🇩🇪 ☃️",
	"z" + strings.Repeat("\u0301", 400), "<script>alert(1)</script>", "[click](javascript:alert(1))", "![i](http://evil.example/i.png)", "<http://evil.example>",
	"http://evil.example www.evil.example a@evil.example @team #1", "| a | b |", "`code` ``` ````", "# head", "- item", "1. one", "> quote", "---", "***bold***", "$x$ ~~s~~",
	"a``b` `http://x`y``", "\\", "\\`", "&lt; &amp;", "[x]: http://evil.example", "yes", "null", "1e3", "\u3164\u115f", "",
}

// hostileList has a hostile string in every string of the document.
func hostileList(texts []string) *rules.DiagnosisList {
	list := saturated()
	undecided := undecidedList().Items[0]
	list.Items = append(list.Items, undecided)
	i := 0
	next := func() string { i++; return texts[i%len(texts)] }
	keep := map[string]bool{}
	for _, s := range []any{rules.RootCause, rules.Contributing, rules.Noise, rules.Now, rules.Next, rules.Later, rules.True, rules.False, rules.Unknown,
		rules.NotApplicable, evidence.CoverageOK, evidence.CoveragePartial, evidence.CoverageDenied, evidence.CoverageAbsent} {
		keep[reflect.ValueOf(s).String()] = true // what the program itself sets
	}
	var fill func(v reflect.Value)
	fill = func(v reflect.Value) {
		switch v.Kind() {
		case reflect.Pointer:
			fill(v.Elem())
		case reflect.Struct:
			for j := range v.NumField() {
				if v.Type().Field(j).IsExported() {
					fill(v.Field(j))
				}
			}
		case reflect.Slice:
			for j := range v.Len() {
				fill(v.Index(j))
			}
		case reflect.Map:
			if v.Type().Elem().Kind() != reflect.Struct {
				return
			}
			for _, k := range v.MapKeys() {
				x := reflect.New(v.Type().Elem()).Elem()
				x.Set(v.MapIndex(k))
				fill(x)
				v.SetMapIndex(k, x)
			}
		case reflect.String:
			if v.CanSet() && !keep[v.String()] {
				v.SetString(next())
			}
		}
	}
	fill(reflect.ValueOf(list))
	return list
}

// No control character of untrusted text reaches an output of any format, nor does a line grow wider than the page by it.
func TestHostileText(t *testing.T) {
	for shift := range hostile {
		list := hostileList(append(hostile[shift:len(hostile):len(hostile)], hostile[:shift]...))
		for _, format := range Formats() {
			for _, width := range []int{40, 80, 120} {
				got := render(t, list, Options{Format: format, Width: width})
				checkSafe(t, format, got)
				if format == Text || format == Wide {
					colored := render(t, list, Options{Format: format, Width: width, Color: ColorTrue})
					if diff := cmp.Diff(got, ansi.Strip(colored)); diff != "" {
						t.Fatalf("%s: colour changes the text:\n%s", format, diff)
					}
				}
			}
		}
		md := render(t, list, Options{Format: Markdown})
		fence := ""
		for l := range strings.SplitSeq(md, "\n") {
			l = strings.TrimSpace(l)
			switch {
			case fence == "" && strings.HasPrefix(l, "```"):
				fence = l[:len(l)-len(strings.TrimLeft(l, "`"))]
			case fence != "" && l == fence:
				fence = ""
			case fence == "":
				outside := stripCode(l)
				if strings.Contains(outside, "<") || strings.Contains(outside, "](") || strings.Contains(outside, "://") || strings.Contains(outside, "@") {
					t.Errorf("markdown lets something through: %s", l)
				}
			}
		}
		if fence != "" {
			t.Error("a fence is left open")
		}
	}
}

// The width holds for hostile text too; the commands are clean here, so that every line counts.
func TestHostileWidth(t *testing.T) {
	list := hostileList(hostile)
	for i := range list.Items {
		d := &list.Items[i]
		for j := range d.Remediation {
			d.Remediation[j].Command, d.Remediation[j].Undo = "", ""
		}
		for j := range d.Verify {
			d.Verify[j].Command = ""
		}
		for j := range d.Missing {
			d.Missing[j].Collect = ""
		}
	}
	for _, width := range []int{40, 59, 60, 76, 80, 100, 120, 220} {
		for _, format := range []string{Text, Wide} {
			for l := range strings.SplitSeq(render(t, list, Options{Format: format, Width: width, More: []string{"-o wide"}}), "\n") {
				if ansi.StringWidth(l) > width {
					t.Errorf("%s, %d columns: %d cells: %s", format, width, ansi.StringWidth(l), l)
				}
			}
		}
	}
}
