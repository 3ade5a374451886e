package rules

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/probedoctor/probedoctor/rules/facts"
	"github.com/probedoctor/probedoctor/sources/evidence"
)

// Named is the probability from which a cause counts as named.
const Named = 0.5

// explainsRule is the id under which the ranking itself speaks for or against a cause: by the share of the failures that
// the cause can explain at all.
const explainsRule = "explains-failures"

// score is the standing of one cause in one role.
type score struct {
	def      *DiagnosisDef
	role     Role
	logOdds  float64
	best     map[string]contribution // the strongest of each family
	ruledOut *Result
	explains []string
	share    float64 // of the failures to explain, -1 when there are none
}

type contribution struct {
	weight float64
	result *Result
}

// ranking holds the scores while alternatives are tried.
type ranking struct {
	ev         *Evaluation
	roots      []*score
	others     []*score // contributing and noise
	noiseFloor float64  // log-odds of "nothing but noise"; -Inf when noise does not explain everything
}

// Ranking is the outcome of [Evaluation.Rank].
type Ranking struct {
	Ranked   []Cause
	Other    float64
	RuledOut []RuledOut
	Missing  []Missing
}

// Rank orders the causes.
//
// Root causes compete: the log-odds of each is its prior plus the weights of the rules (of correlated rules only the
// strongest) plus the log of the share of failures that it can explain; the probabilities are the softmax over all roots
// and "other", whose log-odds is 0. Contributing causes do not compete: each has a logistic probability of its own. Noise
// explains its groups of failures; where it explains all of them it competes with the roots as well.
func (ev *Evaluation) Rank() Ranking {
	r := &ranking{ev: ev, noiseFloor: math.Inf(-1)}
	for _, d := range ev.Pack.Diagnoses {
		for _, role := range d.Roles {
			s := r.score(d, role)
			if role == RootCause {
				r.roots = append(r.roots, s)
			} else {
				r.others = append(r.others, s)
			}
		}
	}
	noiseFirst := r.applyNoise()

	probs, other := r.softmax()
	var out Ranking
	out.Other = other
	contributing := map[string]float64{}
	var rest []Cause
	for _, s := range r.others {
		p := logistic(s.logOdds)
		if s.role == Contributing {
			contributing[s.def.ID] = p
		}
		if s.role == Noise && len(s.explains) == 0 || p < 0.2 || s.ruledOut != nil {
			continue
		}
		rest = append(rest, r.cause(s, p))
	}
	var roots []Cause
	for i, s := range r.roots {
		if s.ruledOut != nil {
			out.RuledOut = append(out.RuledOut, RuledOut{ID: s.def.ID, Title: s.def.Title, Rule: s.ruledOut.Rule.ID,
				Reason: s.ruledOut.Statement, Refs: s.ruledOut.Refs})
			continue
		}
		if probs[i] < 0.001 && len(s.best) == 0 {
			continue
		}
		roots = append(roots, r.cause(s, probs[i]))
	}
	byProbability := func(a, b Cause) int {
		return cmp.Or(cmp.Compare(b.Probability, a.Probability), cmp.Compare(a.ID, b.ID))
	}
	slices.SortStableFunc(roots, byProbability)
	slices.SortStableFunc(rest, func(a, b Cause) int {
		return cmp.Or(cmp.Compare(roleOrder(a.Role), roleOrder(b.Role)), byProbability(a, b))
	})
	// A cause that stands in both roles is listed once: as root when it leads, else in the role that is likelier.
	lead := ""
	if len(roots) > 0 {
		lead = roots[0].ID
	}
	roots = slices.DeleteFunc(roots, func(c Cause) bool {
		p, dual := contributing[c.ID]
		return c.ID != lead && dual && p >= Named && p > c.Probability && c.Probability < Named
	})
	listed := map[string]bool{}
	for _, c := range roots {
		listed[c.ID] = true
	}
	rest = slices.DeleteFunc(rest, func(c Cause) bool { return c.Role == Contributing && listed[c.ID] })

	if noiseFirst {
		i := slices.IndexFunc(rest, func(c Cause) bool { return c.Role == Noise })
		if i >= 0 {
			out.Ranked = append(out.Ranked, rest[i])
			rest = slices.Delete(rest, i, i+1)
		}
	}
	out.Ranked = append(append(out.Ranked, roots...), rest...)
	slices.SortFunc(out.RuledOut, func(a, b RuledOut) int { return cmp.Compare(a.ID, b.ID) })
	out.Missing = r.missing(probs)
	return out
}

func roleOrder(r Role) int { return slices.Index([]Role{RootCause, Contributing, Noise}, r) }

func logistic(x float64) float64 { return 1 / (1 + math.Exp(-x)) }

// score adds up what the rules say of one cause in one role.
func (r *ranking) score(d *DiagnosisDef, role Role) *score {
	s := &score{def: d, role: role, best: map[string]contribution{}, share: -1}
	key := d.ID
	switch role {
	case RootCause:
		s.logOdds = d.Prior
	case Contributing:
		s.logOdds = DefaultContributingPrior
		if d.ContributingPrior != nil {
			s.logOdds = *d.ContributingPrior
		}
		if d.HasRole(RootCause) {
			key += "/" + string(Contributing)
		}
	case Noise:
		s.logOdds = d.Prior
	}
	for i := range r.ev.Results {
		res := &r.ev.Results[i]
		w, ok := res.weights()[key]
		if !ok {
			continue
		}
		if w.RuleOut && res.Complete && role == RootCause && s.ruledOut == nil {
			s.ruledOut = res
		}
		fam := res.Rule.family()
		if b, has := s.best[fam]; !has || math.Abs(w.Value) > math.Abs(b.weight) {
			s.best[fam] = contribution{w.Value, res}
		}
	}
	// In a fixed order: floating-point sums depend on it.
	for _, fam := range sortedKeys(s.best) {
		s.logOdds += s.best[fam].weight
	}
	s.explain(r.ev.Incident)
	return s
}

func (r *Rule) family() string {
	if r.Family != "" {
		return r.Family
	}
	return "rule:" + r.ID
}

// explain finds the failure groups that the cause can explain, and for a root its share of those that are not noise.
func (s *score) explain(in *facts.Incident) {
	total, mine, doubtful := 0, 0, 0
	for i := range in.Groups {
		g := &in.Groups[i]
		hit := s.def.explainsGroup(g)
		if hit {
			s.explains = append(s.explains, g.ID())
		}
		if g.Result == evidence.Failed && (g.Life == facts.Live || g.Life == facts.LifeUnknown) {
			total += g.Count
			switch {
			case hit:
				mine += g.Count
			case g.Life == facts.LifeUnknown && (g.Outcome == evidence.OutcomeRefused || g.Outcome == evidence.OutcomeReset || g.Outcome == evidence.OutcomeClosed):
				doubtful += g.Count // may be nothing but the noise of a start or an end
			}
		}
	}
	if s.role == RootCause && total > 0 && len(s.def.Explains) > 0 {
		s.share = (float64(mine) + doubtfulShare*float64(doubtful)) / float64(total)
		s.logOdds += explainWeight(s.share)
	}
}

// doubtfulShare is how much a refusal, reset or close of a pod of unknown life counts as explained by a cause that does not
// explain it: it is as likely as not the noise of a start or an end.
const doubtfulShare = 0.3

// explainWeight is the log of the share of failures that a cause explains, floored so that an incident with a few odd
// failures does not exclude what explains the rest: 0 for all of them, -3.9 for none.
func explainWeight(share float64) float64 { return math.Log(0.02 + 0.98*share) }

func (d *DiagnosisDef) explainsGroup(g *facts.Group) bool {
	for _, e := range d.Explains {
		f := strings.SplitN(e, "/", 3)
		if len(f) == 3 && (f[0] == "*" || f[0] == string(g.Phase)) && (f[1] == "*" || f[1] == string(g.Outcome)) &&
			(f[2] == "*" || f[2] == string(g.Life) || f[2] == string(facts.Live) && g.Life == facts.LifeUnknown) {
			return true
		}
	}
	return false
}

// applyNoise gives noise that explains its failures its weight, and tells whether noise explains every group.
func (r *ranking) applyNoise() bool {
	explained := map[string]bool{}
	best := math.Inf(-1)
	for _, s := range r.others {
		if s.role != Noise || len(s.explains) == 0 {
			continue
		}
		if logistic(s.logOdds) >= Named {
			for _, g := range s.explains {
				explained[g] = true
			}
			best = max(best, s.logOdds)
		}
	}
	groups := r.ev.Incident.Groups
	if len(groups) == 0 {
		return false
	}
	for i := range groups {
		if !explained[groups[i].ID()] {
			return false
		}
	}
	// Nothing is left for a root cause to explain.
	r.noiseFloor = best + 1
	return true
}

// softmax gives the probabilities of the roots, in their order, and of "other".
func (r *ranking) softmax() (probs []float64, other float64) {
	top := max(0, r.noiseFloor)
	for _, s := range r.roots {
		if s.ruledOut == nil {
			top = max(top, s.logOdds)
		}
	}
	sum := math.Exp(0-top) + math.Exp(r.noiseFloor-top)
	probs = make([]float64, len(r.roots))
	for i, s := range r.roots {
		if s.ruledOut == nil {
			probs[i] = math.Exp(s.logOdds - top)
			sum += probs[i]
		}
	}
	for i := range probs {
		probs[i] /= sum
	}
	return probs, math.Exp(0-top) / sum
}

// cause turns a score into what is shown.
func (r *ranking) cause(s *score, p float64) Cause {
	c := Cause{ID: s.def.ID, Title: s.def.Title, Role: s.role, Probability: p, Explains: s.explains, Runbook: s.def.Runbook,
		For: []Statement{}, Against: []Statement{}}
	if c.Explains == nil {
		c.Explains = []string{}
	}
	for _, fam := range sortedKeys(s.best) {
		b := s.best[fam]
		st := Statement{Rule: b.result.Rule.ID, Weight: b.weight, Statement: b.result.Statement, Refs: b.result.Refs}
		switch {
		case b.weight > 0:
			c.For = append(c.For, st)
		case b.weight < 0:
			c.Against = append(c.Against, st)
		}
	}
	if s.share >= 0 && s.share < 0.5 {
		c.Against = append(c.Against, r.unexplained(s))
	}
	byWeight := func(a, b Statement) int {
		return cmp.Or(cmp.Compare(math.Abs(b.Weight), math.Abs(a.Weight)), cmp.Compare(a.Rule, b.Rule))
	}
	slices.SortStableFunc(c.For, byWeight)
	slices.SortStableFunc(c.Against, byWeight)
	if p >= summaryFloor {
		c.Summary = r.summary(s)
	}
	return c
}

// summaryFloor is the probability from which a cause is summed up in a sentence, which reads as an assertion.
const summaryFloor = 0.2

// unexplained is the statement that the cause does not account for most of the failures.
func (r *ranking) unexplained(s *score) Statement {
	st := Statement{Rule: explainsRule, Weight: explainWeight(s.share)}
	n := 0
	var kinds []string
	for i := range r.ev.Incident.Groups {
		g := &r.ev.Incident.Groups[i]
		if g.Result != evidence.Failed || g.Life != facts.Live && g.Life != facts.LifeUnknown || s.def.explainsGroup(g) {
			continue
		}
		n += g.Count
		kinds = append(kinds, fmt.Sprintf("%d × %s %s", g.Count, g.Phase, g.Outcome))
		for _, f := range g.Failures {
			if len(st.Refs) < maxRefs {
				st.Refs = append(st.Refs, f.Cites)
			}
		}
	}
	st.Statement = fmt.Sprintf("it does not explain %d of the failures: %s", n, strings.Join(kinds, ", "))
	return st
}

func (r *ranking) summary(s *score) string {
	v := &scopeValues{incident: r.ev.Values, leaves: func(string, string) []string { return nil }}
	for _, t := range s.def.summary {
		if text, complete := t.render(v); complete {
			return text
		}
	}
	return ""
}

// missing lists the facts that would change the first root's probability most, with how to get them.
func (r *ranking) missing(probs []float64) []Missing {
	top := -1
	for i := range probs {
		if r.roots[i].ruledOut == nil && (top < 0 || probs[i] > probs[top] || probs[i] == probs[top] && r.roots[i].def.ID < r.roots[top].def.ID) {
			top = i
		}
	}
	if top < 0 {
		return nil
	}
	gain := map[string]float64{}
	for i := range r.ev.Results {
		res := &r.ev.Results[i]
		if res.Outcome != Unknown || len(res.Missing) == 0 {
			continue
		}
		g := max(r.shift(res, res.Rule.Then, top, probs[top]), r.shift(res, res.Rule.Else, top, probs[top]))
		// Facts that are missing together share what knowing all of them would change; one command tells all of its own.
		commands := map[string]bool{}
		for _, m := range res.Missing {
			if f, ok := toldBy(m); ok {
				commands[f.Collect(r.ev.Incident)] = true
			} else {
				commands[m] = true
			}
		}
		for _, m := range res.Missing {
			gain[m] = max(gain[m], g/float64(len(commands)))
		}
	}
	var out []Missing
	for _, name := range sortedKeys(gain) {
		f, ok := toldBy(name)
		if !ok || gain[name] < 0.005 {
			continue
		}
		out = append(out, Missing{Fact: name, Why: f.Why, Collect: f.Collect(r.ev.Incident), Gain: round3(gain[name])})
	}
	slices.SortStableFunc(out, func(a, b Missing) int {
		return cmp.Or(cmp.Compare(b.Gain, a.Gain), cmp.Compare(a.Fact, b.Fact))
	})
	// One command that tells several facts is asked for once.
	seen := map[string]bool{}
	return slices.DeleteFunc(out, func(m Missing) bool {
		dup := seen[m.Collect]
		seen[m.Collect] = true
		return dup
	})
}

// toldBy is the fact that says how to get what is missing. Of probes and pods there is none: what names them is missing,
// and other entries say how to get it.
func toldBy(missing string) (*facts.Fact, bool) {
	if missing == "logs" {
		missing = "dependencies.errors"
	}
	return facts.ByName(missing)
}

// shift is by how much the first root's probability would change if the rule came out with these weights.
func (r *ranking) shift(res *Result, ws Weights, top int, before float64) float64 {
	if len(ws) == 0 {
		return 0
	}
	fam := res.Rule.family()
	delta := make([]float64, len(r.roots))
	for i, s := range r.roots {
		w, ok := ws[s.def.ID]
		if !ok || s.ruledOut != nil {
			continue
		}
		old := s.best[fam].weight
		if math.Abs(w.Value) > math.Abs(old) {
			delta[i] = w.Value - old
		}
	}
	sum := math.Exp(0) + math.Exp(r.noiseFloor)
	mine := 0.0
	for i, s := range r.roots {
		if s.ruledOut != nil {
			continue
		}
		e := math.Exp(s.logOdds + delta[i])
		sum += e
		if i == top {
			mine = e
		}
	}
	return math.Abs(mine/sum - before)
}

func round3(x float64) float64 { return math.Round(x*1000) / 1000 }
