package rules

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"cel.dev/cel-go/cel"
	celast "cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"

	"github.com/probedoctor/probedoctor/rules/facts"
	"github.com/probedoctor/probedoctor/sources/evidence"
)

const (
	// costLimit and interruptEvery bound an expression: no rule of ours comes near, a user's runaway one ends.
	costLimit      = 1_000_000
	interruptEvery = 100
)

// environments are the CEL environments of the three scopes: each fact is a variable of its own with a dotted name, so that
// a fact that was not gathered is unknown and never a zero.
type environments struct {
	byScope map[facts.Scope]*cel.Env
}

func newEnvironments() (*environments, error) {
	e := &environments{byScope: map[facts.Scope]*cel.Env{}}
	for _, scope := range []facts.Scope{facts.ScopeIncident, facts.ScopeProbe, facts.ScopePod} {
		outcomes := cel.MapType(cel.StringType, cel.BoolType)
		opts := []cel.EnvOption{
			cel.CrossTypeNumericComparisons(true),
			cel.DefaultUTCTimeZone(true),
			cel.Variable("rule", outcomes),
			cel.Variable("sig", outcomes),
			cel.Variable("signal", outcomes),
			cel.Function("ratio",
				cel.Overload("ratio_duration_duration", []*cel.Type{cel.DurationType, cel.DurationType}, cel.DoubleType,
					cel.BinaryBinding(ratioDurations)),
				cel.Overload("ratio_int_int", []*cel.Type{cel.IntType, cel.IntType}, cel.DoubleType,
					cel.BinaryBinding(ratioInts))),
			cel.Function("percent", cel.Overload("percent_double", []*cel.Type{cel.DoubleType}, cel.StringType,
				cel.UnaryBinding(percent))),
		}
		for i := range facts.All {
			f := &facts.All[i]
			if f.Scope == facts.ScopeIncident || f.Scope == scope {
				opts = append(opts, cel.Variable(f.Name, celType(f.Type)))
			}
		}
		env, err := cel.NewEnv(opts...)
		if err != nil {
			return nil, fmt.Errorf("rules: CEL environment for scope %s: %w", scope, err)
		}
		e.byScope[scope] = env
	}
	return e, nil
}

func celType(t facts.Type) *cel.Type {
	switch t {
	case facts.Bool:
		return cel.BoolType
	case facts.Int:
		return cel.IntType
	case facts.Double:
		return cel.DoubleType
	case facts.Duration:
		return cel.DurationType
	}
	return cel.StringType
}

func ratioDurations(a, b ref.Val) ref.Val {
	x, y := a.(types.Duration).Duration, b.(types.Duration).Duration
	if y == 0 {
		return types.NewErr("ratio: division by a duration of zero")
	}
	return types.Double(float64(x) / float64(y))
}

func ratioInts(a, b ref.Val) ref.Val {
	x, y := a.(types.Int), b.(types.Int)
	if y == 0 {
		return types.NewErr("ratio: division by zero")
	}
	return types.Double(float64(x) / float64(y))
}

func percent(v ref.Val) ref.Val {
	return types.String(strconv.FormatFloat(100*float64(v.(types.Double)), 'f', 0, 64) + " %")
}

// expression is a compiled CEL expression and the names it refers to.
type expression struct {
	program cel.Program
	// facts, rules, signatures and signals are what it refers to, in order of first use.
	facts, rules, signatures, signals []string
	typ                               *cel.Type
}

func (e *environments) compile(scope facts.Scope, src string) (*expression, error) {
	env := e.byScope[scope]
	ast, iss := env.Compile(src)
	if iss.Err() != nil {
		return nil, &celError{iss}
	}
	prg, err := env.Program(ast, cel.EvalOptions(cel.OptPartialEval), cel.CostLimit(costLimit), cel.InterruptCheckFrequency(interruptEvery))
	if err != nil {
		return nil, err
	}
	x := &expression{program: prg, typ: ast.OutputType()}
	x.collect(ast.NativeRep())
	return x, nil
}

// celError keeps the position within the expression.
type celError struct{ issues *cel.Issues }

func (e *celError) Error() string {
	var b strings.Builder
	for i, err := range e.issues.Errors() {
		if i > 0 {
			b.WriteString("; ")
		}
		fmt.Fprintf(&b, "%s (at %d:%d of the expression)", err.Message, err.Location.Line(), err.Location.Column()+1)
	}
	return b.String()
}

// at is where the first fault is, relative to the expression's first line (1-based line, 0-based column).
func (e *celError) at() (line, column int) {
	errs := e.issues.Errors()
	if len(errs) == 0 {
		return 1, 0
	}
	return errs[0].Location.Line(), errs[0].Location.Column()
}

func (x *expression) collect(a *celast.AST) {
	add := func(list *[]string, name string) {
		for _, have := range *list {
			if have == name {
				return
			}
		}
		*list = append(*list, name)
	}
	refs := a.ReferenceMap()
	celast.PreOrderVisit(a.Expr(), celast.NewExprVisitor(func(n celast.Expr) {
		if r, ok := refs[n.ID()]; ok && len(r.OverloadIDs) == 0 && r.Value == nil {
			switch r.Name {
			case "rule", "sig", "signal":
			default:
				add(&x.facts, r.Name)
			}
		}
		if n.Kind() == celast.CallKind && n.AsCall().FunctionName() == "_[_]" {
			args := n.AsCall().Args()
			if len(args) == 2 && args[0].Kind() == celast.IdentKind && args[1].Kind() == celast.LiteralKind {
				if id, ok := args[1].AsLiteral().(types.String); ok {
					switch args[0].AsIdent() {
					case "rule":
						add(&x.rules, string(id))
					case "sig":
						add(&x.signatures, string(id))
					case "signal":
						add(&x.signals, string(id))
					}
				}
			}
		}
	}))
}

// scopeValues is what an expression is evaluated over.
type scopeValues struct {
	// ctx ends an evaluation that takes too long; nil is no limit.
	ctx           context.Context
	incident, own facts.Values // own: the values of the scope probe or pod; nil for the incident
	// rules, signatures and signals: true, false, or absent for unknown.
	rules, signatures, signals map[string]bool
	// leaves expands the id of an unknown rule or signature to the facts that are missing.
	leaves func(kind, id string) []string
	// cited is the evidence for the outcome of a signature or signal; nil where nothing is cited.
	cited func(kind, id string) []evidence.Ref
}

func (v *scopeValues) fact(name string) facts.Value {
	if x, ok := v.own[name]; ok {
		return x
	}
	return v.incident[name]
}

// eval gives the value, or the names of the missing facts. An error is a fault of the rule on these values.
func (x *expression) eval(v *scopeValues) (value ref.Val, missing []string, err error) {
	vars := make(map[string]any, len(x.facts)+3)
	var unknown []*cel.AttributePatternType
	for _, name := range x.facts {
		if f := v.fact(name); f.Known {
			vars[name] = f.V
		} else {
			unknown = append(unknown, cel.AttributePattern(name))
		}
	}
	maps := func(name string, ids []string, known map[string]bool) {
		if len(ids) == 0 {
			return
		}
		m := make(map[string]bool, len(ids))
		for _, id := range ids {
			if b, ok := known[id]; ok {
				m[id] = b
			} else {
				unknown = append(unknown, cel.AttributePattern(name).QualString(id))
			}
		}
		vars[name] = m
	}
	maps("rule", x.rules, v.rules)
	maps("sig", x.signatures, v.signatures)
	maps("signal", x.signals, v.signals)
	act, err := cel.PartialVars(vars, unknown...)
	if err != nil {
		return nil, nil, err
	}
	ctx := v.ctx
	if ctx == nil {
		ctx = context.Background()
	}
	out, _, err := x.program.ContextEval(ctx, act)
	if err != nil {
		return nil, nil, err
	}
	u, ok := out.(*types.Unknown)
	if !ok {
		return out, nil, nil
	}
	for _, id := range u.IDs() {
		trails, _ := u.GetAttributeTrails(id)
		for _, t := range trails {
			name := t.Variable()
			switch name {
			case "rule", "sig", "signal":
				for _, q := range t.QualifierPath() {
					missing = append(missing, v.leaves(name, fmt.Sprint(q))...)
				}
			default:
				missing = append(missing, name)
			}
		}
	}
	return nil, uniq(missing), nil
}

func uniq(names []string) []string {
	seen := map[string]bool{}
	out := names[:0]
	for _, n := range names {
		if !seen[n] {
			seen[n] = true
			out = append(out, n)
		}
	}
	return out
}

// compiled are the expressions of a rule. Statements are compiled at first use: most outcomes never print theirs.
type compiled struct {
	given, when, complete *expression
	then, els             func() (*template, error)
	rules, signatures     []string
	signals               []string
	facts                 []string
}

func (e *environments) compileRule(r *Rule) (*compiled, error) {
	c := &compiled{}
	for _, part := range []struct {
		key, src string
		to       **expression
	}{{"given", r.Given, &c.given}, {"when", r.When, &c.when}, {"complete", r.Complete, &c.complete}} {
		if strings.TrimSpace(part.src) == "" {
			continue
		}
		x, err := e.compile(r.Scope, part.src)
		if err != nil {
			return nil, r.exprError(part.key, err)
		}
		if x.typ != cel.BoolType {
			return nil, r.errorf(part.key, "%s is a %s and must be a bool", part.key, x.typ)
		}
		*part.to = x
		c.rules = uniq(append(c.rules, x.rules...))
		c.signatures = uniq(append(c.signatures, x.signatures...))
		c.signals = uniq(append(c.signals, x.signals...))
		if part.key != "complete" {
			c.facts = uniq(append(c.facts, x.facts...))
		}
	}
	c.then = sync.OnceValues(func() (*template, error) { return e.template(r.Scope, r.Statement.Then) })
	c.els = sync.OnceValues(func() (*template, error) { return e.template(r.Scope, r.Statement.Else) })
	return c, nil
}

// exprError places a fault inside an expression at its line and column of the file.
func (r *Rule) exprError(key string, err error) error {
	ce, ok := err.(*celError)
	if !ok {
		return r.errorf(key, "%s: %v", key, err)
	}
	line, column := r.position(key).inText(ce.at())
	return fmt.Errorf("%s:%d:%d: rule %s: %s: %v", r.file, line, column, r.ID, key, err)
}

// template is text with CEL expressions in braces.
type template struct {
	parts []part
	facts []string
}

type part struct {
	text string
	expr *expression
}

func (e *environments) template(scope facts.Scope, src string) (*template, error) {
	t := &template{}
	for src != "" {
		open := strings.IndexByte(src, '{')
		if open < 0 {
			t.parts = append(t.parts, part{text: src})
			break
		}
		if open > 0 {
			t.parts = append(t.parts, part{text: src[:open]})
		}
		end := closingBrace(src[open:])
		if end < 0 {
			return nil, fmt.Errorf("the brace at %q is not closed", src[open:])
		}
		x, err := e.compile(scope, src[open+1:open+end])
		if err != nil {
			return nil, fmt.Errorf("{%s}: %w", src[open+1:open+end], err)
		}
		t.parts = append(t.parts, part{expr: x})
		t.facts = uniq(append(t.facts, x.facts...))
		src = src[open+end+1:]
	}
	return t, nil
}

// closingBrace is the index of the brace that closes the one at 0, quotes and nesting respected, -1 when there is none.
func closingBrace(s string) int {
	depth := 0
	var quote byte
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'':
			quote = c
		case c == '{':
			depth++
		case c == '}':
			depth--
			if depth == 0 {
				return i
			}
		}
	}
	return -1
}

// render fills the template. complete is false when a value was not known; it is printed as "?" then.
func (t *template) render(v *scopeValues) (text string, complete bool) {
	var b strings.Builder
	complete = true
	one := false
	for _, p := range t.parts {
		if p.expr == nil {
			if one {
				b.WriteString(singular(p.text))
			} else {
				b.WriteString(p.text)
			}
			one = false
			continue
		}
		val, missing, err := p.expr.eval(v)
		if err != nil || len(missing) > 0 || val == nil {
			b.WriteString("?")
			complete = false
			continue
		}
		one = val.Value() == int64(1)
		b.WriteString(Format(val.Value()))
	}
	return b.String(), complete
}

// singular makes the word that follows the number one singular: templates are written for many.
func singular(text string) string {
	for _, word := range []string{" probes", " pods", " events", " log lines", " errors", " requests", " targets", " workers", " threads", " replicas", " nodes", " times", " failures", " kills", " containers", " exec probes", " other workloads", " addresses"} {
		rest, ok := strings.CutPrefix(text, word)
		if ok && (rest == "" || rest[0] == ' ' || rest[0] == ',' || rest[0] == '.') {
			for many, one := range map[string]string{" were ": " was ", " do ": " does ", " are ": " is ", " say ": " says ", " stay ": " stays ", " tell ": " tells ", " have ": " has "} {
				if strings.HasPrefix(rest, many) {
					rest = one + rest[len(many):]
					break
				}
			}
			if word == " addresses" {
				return " address" + rest
			}
			return strings.TrimSuffix(word, "s") + rest
		}
	}
	return text
}

// Format prints a fact's value for a person: "0 ms", "1.8 s", "0.97", "412".
func Format(v any) string {
	switch v := v.(type) {
	case time.Duration:
		return formatDuration(v)
	case float64:
		return formatFloat(v)
	case int64:
		return strconv.FormatInt(v, 10)
	case bool:
		return strconv.FormatBool(v)
	case string:
		return v
	}
	return fmt.Sprint(v)
}

func formatFloat(f float64) string {
	switch {
	case f == float64(int64(f)) && f < 1e6 && f > -1e6:
		return strconv.FormatInt(int64(f), 10)
	case f >= 100 || f <= -100:
		return strconv.FormatFloat(f, 'f', 0, 64)
	case f >= 1 || f <= -1:
		return strconv.FormatFloat(f, 'f', 1, 64)
	case f >= 0.01 || f <= -0.01:
		return strconv.FormatFloat(f, 'f', 2, 64)
	}
	return strconv.FormatFloat(f, 'g', 1, 64)
}

func formatDuration(d time.Duration) string {
	abs := d.Abs()
	switch {
	case abs < time.Second:
		return strconv.FormatFloat(float64(d)/float64(time.Millisecond), 'f', -1, 64) + " ms"
	case abs < time.Minute:
		return strconv.FormatFloat(d.Round(100*time.Millisecond).Seconds(), 'f', -1, 64) + " s"
	case abs < time.Hour:
		m, s := int(abs.Minutes()), int(abs.Seconds())%60
		if s == 0 || m >= 10 {
			return sign(d) + strconv.Itoa(m) + " min"
		}
		return fmt.Sprintf("%s%d min %d s", sign(d), m, s)
	case abs < 48*time.Hour:
		h, m := int(abs.Hours()), int(abs.Minutes())%60
		if m == 0 || h >= 10 {
			return sign(d) + strconv.Itoa(h) + " h"
		}
		return fmt.Sprintf("%s%d h %d min", sign(d), h, m)
	}
	return sign(d) + strconv.Itoa(int(abs.Hours())/24) + " d"
}

func sign(d time.Duration) string {
	if d < 0 {
		return "-"
	}
	return ""
}
