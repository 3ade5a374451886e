package runbooks

import (
	"slices"
	"strings"
)

// Horizon is when a step is to be taken.
type Horizon string

// The horizons, in their order.
const (
	Now   Horizon = "now"   // stops the bleeding
	Next  Horizon = "next"  // takes the cause away
	Later Horizon = "later" // keeps it from coming back
)

var horizons = []Horizon{Now, Next, Later}

// Runbook is one file: what to do about one diagnosis.
type Runbook struct {
	Diagnosis string
	Title     string
	// File is where it was read; a built-in one has its plain file name.
	File string

	steps    []stepTemplate
	verify   []checkTemplate
	notAFix  []notAFixTemplate
	sections []section
}

type stepTemplate struct {
	id                         string
	horizon                    Horizon
	step, does, doesNot        template
	risk, undo                 template
	command, undoCommand       template
	needs                      []string
	stacks                     []string
	hasCommand, hasUndoCommand bool
}

type checkTemplate struct{ step, command template }

type notAFixTemplate struct{ step, why template }

// Rendered is a runbook filled with the values of one incident. Its texts are plain; commands are ready for a POSIX shell.
type Rendered struct {
	Diagnosis string
	Title     string
	Steps     []Step // now before next before later, else as in the file
	Verify    []Verify
	NotAFix   []NotAFix
}

// Step is one remedy.
type Step struct {
	ID      string
	Horizon Horizon
	Step    string
	Does    string
	DoesNot string
	Risk    string
	// Undo ends with UndoCommand when there is one.
	Undo        string
	UndoCommand string
	// Command is empty when the step has none, or when Missing names the values it lacks.
	Command string
	Missing []string
	// Stacks are those that the step is for; empty means all.
	Stacks []string
}

// Verify is how to see that the fix worked.
type Verify struct {
	Step    string
	Command string
	Missing []string
}

// NotAFix is what people try and what does not help.
type NotAFix struct {
	Step string
	Why  string
}

// Render fills the runbook with what is known of an incident. Of the steps for particular stacks those for one of stacks are
// taken. A step whose command lacks a value keeps everything but the command.
func (r *Runbook) Render(values map[string]any, stacks []string) Rendered {
	e := newEnv(values)
	out := Rendered{Diagnosis: r.Diagnosis, Title: r.Title}
	for _, h := range horizons {
		for _, s := range r.pick(stacks) {
			if s.horizon == h {
				out.Steps = append(out.Steps, s.render(e, false, oneLine))
			}
		}
	}
	for _, v := range r.verify {
		out.Verify = append(out.Verify, v.render(e, false, oneLine))
	}
	for _, n := range r.notAFix {
		out.NotAFix = append(out.NotAFix, NotAFix{Step: n.step.prose(e, oneLine), Why: n.why.prose(e, oneLine)})
	}
	return out
}

// pick takes one variant of each step id, where the first of them stands.
func (r *Runbook) pick(stacks []string) []*stepTemplate {
	var order []string
	chosen := map[string]*stepTemplate{}
	for i := range r.steps {
		s := &r.steps[i]
		have, seen := chosen[s.id]
		if !seen {
			order = append(order, s.id)
			chosen[s.id] = nil
		}
		forOurs := slices.ContainsFunc(s.stacks, func(want string) bool {
			return slices.ContainsFunc(stacks, func(is string) bool { return belongs(is, want) })
		})
		if forOurs && (have == nil || len(have.stacks) == 0) || len(s.stacks) == 0 && have == nil {
			chosen[s.id] = s
		}
	}
	var out []*stepTemplate
	for _, id := range order {
		if s := chosen[id]; s != nil {
			out = append(out, s)
		}
	}
	return out
}

// belongs reports whether a recognised stack is the wanted one or a variety of it, as tomcat-jmx is of tomcat.
func belongs(is, want string) bool {
	is, want = strings.ToLower(is), strings.ToLower(want)
	return is == want || strings.HasPrefix(is, want+"-")
}

func (s *stepTemplate) render(e env, document bool, insert func(string) string) Step {
	out := Step{
		ID:      s.id,
		Horizon: s.horizon,
		Step:    s.step.prose(e, insert),
		Does:    s.does.prose(e, insert),
		DoesNot: s.doesNot.prose(e, insert),
		Risk:    s.risk.prose(e, insert),
		Undo:    s.undo.prose(e, insert),
		Stacks:  slices.Clone(s.stacks),
	}
	if s.hasCommand {
		for _, name := range s.needs {
			if len(e[name]) == 0 && !document {
				out.Missing = append(out.Missing, name)
			}
		}
		command, missing := s.command.command(e, document)
		for _, name := range missing {
			if !slices.Contains(out.Missing, name) {
				out.Missing = append(out.Missing, name)
			}
		}
		if len(out.Missing) == 0 {
			out.Command = command
		}
	}
	if s.hasUndoCommand {
		out.UndoCommand, _ = s.undoCommand.command(e, document)
		if out.UndoCommand != "" && !document {
			out.Undo = strings.TrimSuffix(strings.TrimSpace(out.Undo), ".") + ": " + out.UndoCommand
			out.Undo = strings.TrimPrefix(out.Undo, ": ")
		}
	}
	return out
}

func (c *checkTemplate) render(e env, document bool, insert func(string) string) Verify {
	out := Verify{Step: c.step.prose(e, insert)}
	out.Command, out.Missing = c.command.command(e, document)
	return out
}
