package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/probedoctor/probedoctor/cmd/probedoctor/internal/cli"
)

// The scripts in testdata/script specify the command line. Beside testscript's own commands they have those of scriptCommands.

func TestMain(m *testing.M) {
	program := func() { os.Exit(cli.Main(os.Args, os.Stdin, os.Stdout, os.Stderr)) }
	testscript.Main(m, map[string]func(){"probedoctor": program, "kubectl-probedoctor": program})
}

func TestScripts(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join(root, "testdata", "script"),
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Cmds:                scriptCommands,
		Setup: func(e *testscript.Env) error {
			e.Setenv("ROOT", root)
			return nil
		},
	})
}

var scriptCommands = map[string]func(ts *testscript.TestScript, neg bool, args []string){
	// exits CODE PROGRAM [ARG...] runs the program, which must end with the exit code.
	"exits": func(ts *testscript.TestScript, neg bool, args []string) {
		if neg || len(args) < 2 {
			ts.Fatalf("usage: exits CODE PROGRAM [ARG...]")
		}
		code := "0"
		if err := ts.Exec(args[1], args[2:]...); err != nil {
			var exit *exec.ExitError
			if !errors.As(err, &exit) {
				ts.Fatalf("%v", err)
			}
			code = strconv.Itoa(exit.ExitCode())
		}
		if code != args[0] {
			ts.Fatalf("%s ended with exit code %s, want %s", args[1], code, args[0])
		}
	},
	// json FILE PATH OP WANT compares the value at the path (items.0.ranked.0.id; len is the number of items, * every one of
	// them) with =, != or >=; ~ is a regular expression. FILE may be stdout. With *, one value that fits is enough, and
	// with ! none may.
	"json": func(ts *testscript.TestScript, neg bool, args []string) {
		if len(args) != 4 {
			ts.Fatalf("usage: [!] json FILE PATH OP WANT")
		}
		var doc any
		ts.Check(json.Unmarshal([]byte(ts.ReadFile(args[0])), &doc))
		values := lookUp(doc, strings.Split(args[1], "."))
		fits := false
		for _, v := range values {
			ok, err := compare(v, args[2], args[3])
			ts.Check(err)
			fits = fits || ok
		}
		if fits == neg {
			ts.Fatalf("%s is %q; want %s %s, negated: %v", args[1], values, args[2], args[3], neg)
		}
	},
	// printable FILE fails when the file holds what a terminal would obey or hide: control characters other than line
	// breaks, bidirectional and other format characters, bytes that are not UTF-8. FILE may be stdout or stderr.
	"printable": func(ts *testscript.TestScript, neg bool, args []string) {
		if len(args) != 1 {
			ts.Fatalf("usage: [!] printable FILE")
		}
		if err := printable(ts.ReadFile(args[0])); (err != nil) != neg {
			ts.Fatalf("%s: %v; negated: %v", args[0], err, neg)
		}
	},
	// unescape FILE... replaces \e, \xNN and \uNNNN in the files by the bytes that they stand for, so that scripts stay
	// readable.
	"unescape": func(ts *testscript.TestScript, neg bool, args []string) {
		if neg || len(args) == 0 {
			ts.Fatalf("usage: unescape FILE...")
		}
		for _, f := range args {
			text := escapes.ReplaceAllStringFunc(ts.ReadFile(f), func(e string) string {
				if e == `\e` {
					return "\x1b"
				}
				n, err := strconv.ParseUint(e[2:], 16, 32)
				ts.Check(err)
				if e[1] == 'x' {
					return string([]byte{byte(n)})
				}
				return string(rune(n))
			})
			ts.Check(os.WriteFile(ts.MkAbs(f), []byte(text), 0o644))
		}
	},
}

var escapes = regexp.MustCompile(`\\e|\\x[0-9a-f]{2}|\\u[0-9a-f]{4}`)

// lookUp follows the path through objects and arrays.
func lookUp(v any, path []string) []any {
	if len(path) == 0 {
		return []any{v}
	}
	switch x := v.(type) {
	case map[string]any:
		if child, ok := x[path[0]]; ok {
			return lookUp(child, path[1:])
		}
	case []any:
		switch path[0] {
		case "len":
			return lookUp(float64(len(x)), path[1:])
		case "*":
			var all []any
			for _, child := range x {
				all = append(all, lookUp(child, path[1:])...)
			}
			return all
		}
		if i, err := strconv.Atoi(path[0]); err == nil && i >= 0 && i < len(x) {
			return lookUp(x[i], path[1:])
		}
	}
	return nil
}

func compare(v any, op, want string) (bool, error) {
	got := fmt.Sprint(v)
	switch op {
	case "=":
		return got == want, nil
	case "!=":
		return got != want, nil
	case "~":
		return regexp.MatchString(want, got)
	case ">=":
		limit, err := strconv.ParseFloat(want, 64)
		n, ok := v.(float64)
		return ok && n >= limit, err
	}
	return false, fmt.Errorf("%q is no comparison", op)
}

func printable(text string) error {
	for line, s := range strings.Split(text, "\n") {
		for i, r := range s {
			if r == utf8.RuneError && !strings.HasPrefix(s[i:], "\uFFFD") || unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) {
				return fmt.Errorf("line %d has %q: %q", line+1, r, s)
			}
		}
	}
	return nil
}
