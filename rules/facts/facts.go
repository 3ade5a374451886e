// Package facts computes typed, documented values from the evidence of one incident.
//
// A fact is Known with the refs of the evidence that carries it, or unknown with a note of what is missing. Facts hold no
// opinions: that a pool at 99 % makes a probe wait is a rule's business. The package reads no clock and no file; its only
// door to evidence is [Incident].
package facts

import (
	"fmt"
	"slices"
	"time"

	"github.com/probedoctor/probedoctor/sources/evidence"
)

// Type is the type of a fact's value; rules see it as the CEL type of the same name.
type Type string

// The types and the Go types of their values.
const (
	Bool     Type = "bool"     // bool
	Int      Type = "int"      // int64
	Double   Type = "double"   // float64
	Duration Type = "duration" // time.Duration
	String   Type = "string"   // string
)

// Scope is what a fact, or a rule, is about.
type Scope string

// The scopes. A rule of scope probe or pod is evaluated once for each failing probe or pod of the incident; it may use
// the facts of its own scope and those of the incident.
const (
	ScopeIncident Scope = "incident"
	ScopeProbe    Scope = "probe"
	ScopePod      Scope = "pod"
)

// Fact is one value that rules may use: the unit of the package, listed in All.
type Fact struct {
	// Name is dotted ("handler.p99") and is the name of the CEL variable.
	Name string
	Doc  string
	Type Type
	// Unit says what a number counts or is measured in: "probes", "ratio", "s".
	Unit  string
	Scope Scope
	// Needs are the sources (evidence.SourceLogs …) without which the fact is unknown.
	Needs []string
	// Why says what knowing the fact would decide; Collect gives the exact command or query that would tell it.
	Why     string
	Collect func(*Incident) string
	// Compute gives the value for an incident. For the scopes probe and pod it is called with the Incident's Probe or Pod set.
	Compute func(*Incident) Value
}

// Value is what a fact came out as.
type Value struct {
	Known bool
	// V has the Go type of the fact's Type; nil when not known.
	V any
	// Refs cite the evidence the value was read from.
	Refs []evidence.Ref
}

// Unknown is the value of a fact for which evidence is missing.
var Unknown = Value{}

// maxRefs bounds the citations of one fact: a person opens a handful, and the count is in the statement.
const maxRefs = 12

func known(v any, refs ...evidence.Ref) Value {
	return Value{Known: true, V: v, Refs: clip(refs)}
}

// clip keeps at most maxRefs different refs, spread evenly over the list so that first and last stay.
func clip(refs []evidence.Ref) []evidence.Ref {
	const look = 4 * maxRefs // enough to find maxRefs different ones in lists that repeat a few
	n := len(refs)
	out := make([]evidence.Ref, 0, min(n, maxRefs))
	for i := range min(n, look) {
		r := refs[i]
		if n > look {
			r = refs[i*(n-1)/(look-1)]
		}
		if r != "" && !slices.Contains(out, r) {
			out = append(out, r)
		}
	}
	if len(out) > maxRefs {
		all := out
		out = make([]evidence.Ref, maxRefs)
		for i := range out {
			out[i] = all[i*(len(all)-1)/(maxRefs-1)]
		}
	}
	return out
}

// All lists every fact in the order in which docs/facts.md shows them.
var All = slices.Concat(failureFacts, patternFacts, ageFacts, scalingFacts, lifecycleFacts, handlerFacts, poolFacts,
	dependencyFacts, resourceFacts, nodeFacts, balancerFacts, answerFacts, setupFacts, configFacts, matterFacts, proberFacts, probeFacts, podFacts)

// Validate reports facts that are not fit for use: doubles, missing documentation, values without a way to collect them.
// It is for tests.
func Validate() error {
	seen := map[string]bool{}
	for i := range All {
		f := &All[i]
		switch {
		case seen[f.Name]:
			return fmt.Errorf("fact %s is defined twice", f.Name)
		case f.Doc == "" || f.Type == "" || f.Scope == "" || f.Compute == nil:
			return fmt.Errorf("fact %s lacks its doc, type, scope or function", f.Name)
		case f.Why == "" || f.Collect == nil || len(f.Needs) == 0:
			return fmt.Errorf("fact %s does not say what it needs, why, or how to collect it", f.Name)
		case (f.Type == Int || f.Type == Double) && f.Unit == "":
			return fmt.Errorf("fact %s has no unit", f.Name)
		}
		seen[f.Name] = true
	}
	return nil
}

// Values are the facts of one scope of an incident, by name.
type Values map[string]Value

// Compute evaluates every fact of the scope.
func Compute(in *Incident, scope Scope) Values {
	out := make(Values, len(All))
	for i := range All {
		f := &All[i]
		if f.Scope == scope {
			out[f.Name] = f.Compute(in)
		}
	}
	return out
}

// ByName finds a fact.
func ByName(name string) (*Fact, bool) {
	for i := range All {
		if All[i].Name == name {
			return &All[i], true
		}
	}
	return nil, false
}

// quantile is the nearest-rank quantile of sorted values.
func quantile(sorted []time.Duration, q float64) time.Duration {
	i := int(q*float64(len(sorted)) + 0.9999999)
	return sorted[min(max(i-1, 0), len(sorted)-1)]
}
