package rules

import (
	"context"
	"slices"
	"time"

	"cel.dev/cel-go/common/types"

	"github.com/probedoctor/probedoctor/rules/facts"
	"github.com/probedoctor/probedoctor/sources/evidence"
)

// Result is how one rule came out for an incident.
type Result struct {
	Rule    *Rule
	Outcome Outcome
	// Missing are the facts that were not known, when the outcome is unknown.
	Missing []string
	// Statement is what the rule says, with values; empty when it says nothing for its outcome.
	Statement string
	Refs      []evidence.Ref
	// Complete is true when the rule's complete expression holds: its rule-outs remove a cause.
	Complete bool
	// Fault is an error of the expression on these values, for the trace; the outcome is then unknown.
	Fault string
}

// weights are what the result says of causes.
func (r *Result) weights() Weights {
	switch r.Outcome {
	case True:
		return r.Rule.Then
	case False:
		return r.Rule.Else
	}
	return nil
}

// Evaluation is every rule of a pack, in order, over one incident.
type Evaluation struct {
	Incident *facts.Incident
	Pack     *Pack
	Results  []Result
	// Values are the facts of the incident itself.
	Values facts.Values
}

// evaluationLimit ends the rules of one incident. The built-in ones take some milliseconds; a user's expression that gets
// past the cost limit and still runs on comes out unknown, with the fault in the trace.
const evaluationLimit = 5 * time.Second

// Evaluate computes the facts of the incident and every rule's outcome.
func (p *Pack) Evaluate(in *facts.Incident) *Evaluation {
	ev := &Evaluation{Incident: in, Pack: p, Values: facts.Compute(in, facts.ScopeIncident)}
	var probes, pods []facts.Values
	for i := range in.Probes {
		pr := &in.Probes[i]
		if len(pr.Failures) == 0 && len(in.Failures) > 0 {
			continue
		}
		in.Probe = pr
		probes = append(probes, facts.Compute(in, facts.ScopeProbe))
	}
	in.Probe = nil
	for _, pod := range in.Pods {
		if len(in.Failures) > 0 && !slices.ContainsFunc(in.Failures, func(f facts.Failure) bool { return f.Pod == pod }) {
			continue
		}
		in.Pod = pod
		pods = append(pods, facts.Compute(in, facts.ScopePod))
	}
	in.Pod = nil

	ctx, cancel := context.WithTimeout(context.Background(), evaluationLimit)
	defer cancel()
	v := &scopeValues{ctx: ctx, incident: ev.Values, rules: map[string]bool{}, signatures: p.signatureOutcomes(in), signals: signalOutcomes(in)}
	v.cited = func(kind, id string) []evidence.Ref { return p.cited(in, kind, id) }
	missingOf := map[string][]string{}
	v.leaves = func(kind, id string) []string {
		switch kind {
		case "rule":
			return missingOf[id]
		case "sig":
			return []string{p.readBy(id)}
		}
		return []string{"metrics"}
	}
	for _, r := range p.Rules {
		scopes := []facts.Values{nil}
		switch r.Scope {
		case facts.ScopeProbe:
			scopes = probes
		case facts.ScopePod:
			scopes = pods
		}
		res := r.evaluate(v, scopes)
		if len(scopes) == 0 {
			// There is no probe or pod to speak of. That is not a false: what the rule asks about was not seen.
			res = Result{Rule: r, Outcome: Unknown, Missing: []string{string(r.Scope) + "s"}}
		}
		switch res.Outcome {
		case True:
			v.rules[r.ID] = true
		case False, NotApplicable:
			v.rules[r.ID] = false
		default:
			missingOf[r.ID] = res.Missing
		}
		v.own = nil
		ev.Results = append(ev.Results, res)
	}
	return ev
}

// signatureOutcomes: true where a line matched, false where logs of the right origin were read, else unknown.
func (p *Pack) signatureOutcomes(in *facts.Incident) map[string]bool {
	origins := map[string]bool{}
	for _, l := range in.Logs {
		origins[l.Origin] = true
	}
	out := map[string]bool{}
	for _, s := range p.Signatures {
		if len(in.Signatures[s.ID].Hits) > 0 {
			out[s.ID] = true
			continue
		}
		for o := range origins {
			if s.readsOrigin(o) {
				out[s.ID] = false
			}
		}
	}
	return out
}

// readBy names the fact that asks for the logs in which the signature is looked for.
func (p *Pack) readBy(signature string) string {
	for _, s := range p.Signatures {
		if s.ID == signature && (s.Origin == "kernel" || s.Origin == "kubelet") {
			return "node.kernelComplaints"
		}
	}
	return "logs"
}

// cited is the evidence for the outcome of a signature or signal: the lines that match, else the first and the last of
// those among which none did; the series. Of a source it is the first and the last item.
func (p *Pack) cited(in *facts.Incident, kind, id string) []evidence.Ref {
	var out []evidence.Ref
	switch kind {
	case "signal":
		for _, s := range in.Series[id] {
			out = append(out, s.Ref)
		}
		return out
	case "source":
		return in.Ends(id)
	}
	for _, h := range in.Signatures[id].Hits[:min(len(in.Signatures[id].Hits), maxRefs)] {
		out = append(out, h.Line.Ref)
	}
	i := slices.IndexFunc(p.Signatures, func(s *Signature) bool { return s.ID == id })
	if len(out) > 0 || i < 0 {
		return out
	}
	read := func(l *evidence.LogLine) bool { return p.Signatures[i].readsOrigin(l.Origin) }
	first := slices.IndexFunc(in.Logs, read)
	if first < 0 {
		return nil
	}
	last := len(in.Logs) - 1
	for !read(in.Logs[last]) {
		last--
	}
	return []evidence.Ref{in.Logs[first].Ref, in.Logs[last].Ref}
}

func signalOutcomes(in *facts.Incident) map[string]bool {
	out := map[string]bool{}
	for id, series := range in.Series {
		if len(series) > 0 {
			out[id] = true
		}
	}
	return out
}

// evaluate takes the rule over every instance of its scope. It is true when it is true of one, unknown when it is unknown
// of one and true of none, not applicable when it applies to none.
func (r *Rule) evaluate(v *scopeValues, instances []facts.Values) Result {
	var best *Result
	better := func(o Outcome) int { return slices.Index([]Outcome{True, Unknown, False, NotApplicable}, o) }
	for _, own := range instances {
		v.own = own
		res := r.evaluateOne(v)
		if best == nil || better(res.Outcome) < better(best.Outcome) {
			best = &res
		} else if best.Outcome == Unknown && res.Outcome == Unknown {
			best.Missing = uniq(append(best.Missing, res.Missing...))
		}
	}
	if best == nil {
		return Result{Rule: r, Outcome: Unknown}
	}
	return *best
}

func (r *Rule) evaluateOne(v *scopeValues) Result {
	c := r.compiled
	res := Result{Rule: r, Outcome: Unknown}
	check := func(x *expression) (val bool, ok bool) {
		out, missing, err := x.eval(v)
		switch {
		case err != nil:
			res.Fault = err.Error()
			return false, false
		case len(missing) > 0:
			res.Missing = uniq(append(res.Missing, missing...))
			return false, false
		}
		b, isBool := out.(types.Bool)
		return bool(b), isBool
	}
	if c.given != nil {
		given, ok := check(c.given)
		if ok && !given {
			res.Outcome = NotApplicable
			res.Missing = nil
			return res
		}
		if !ok {
			// What the rule itself needs is named as well: both are missing.
			check(c.when)
			return res
		}
	}
	when, ok := check(c.when)
	if !ok {
		return res
	}
	res.Missing = nil
	tmpl := c.then
	res.Outcome = True
	if !when {
		res.Outcome = False
		tmpl = c.els
	}
	t, err := tmpl()
	if err != nil {
		res.Fault = err.Error()
		return res
	}
	res.Statement, _ = t.render(v)
	if c.complete != nil {
		saved := res.Missing
		complete, known := check(c.complete)
		res.Missing = saved
		res.Complete = complete && known
	}
	res.Refs = r.refs(v, t)
	return res
}

// maxRefs bounds the citations of a statement.
const maxRefs = 12

// refs cites what the rule's facts cite: those of the statement first, since it is they that a reader will open.
func (r *Rule) refs(v *scopeValues, t *template) []evidence.Ref {
	seen := map[evidence.Ref]bool{}
	var lists [][]evidence.Ref
	for _, names := range [][]string{t.facts, r.compiled.facts} {
		for _, n := range names {
			if f := v.fact(n); f.Known {
				lists = append(lists, f.Refs)
			}
		}
	}
	if v.cited != nil {
		for _, id := range r.compiled.signatures {
			lists = append(lists, v.cited("sig", id))
		}
		for _, id := range r.compiled.signals {
			lists = append(lists, v.cited("signal", id))
		}
	}
	if !slices.ContainsFunc(lists, func(l []evidence.Ref) bool { return len(l) > 0 }) && v.cited != nil {
		// "There is none" cites where one was looked for.
		for _, n := range r.compiled.facts {
			if f, ok := facts.ByName(n); ok {
				for _, source := range f.Needs {
					lists = append(lists, v.cited("source", source))
				}
			}
		}
	}
	// Round robin, so that no fact with many refs crowds out the others.
	var out []evidence.Ref
	for i := 0; len(out) < maxRefs; i++ {
		more := false
		for _, l := range lists {
			if i >= len(l) {
				continue
			}
			more = true
			if !seen[l[i]] && len(out) < maxRefs {
				seen[l[i]] = true
				out = append(out, l[i])
			}
		}
		if !more {
			break
		}
	}
	return out
}
