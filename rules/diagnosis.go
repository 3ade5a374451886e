package rules

import (
	"time"

	"github.com/probedoctor/probedoctor/sources/evidence"
)

// APIVersion and ListKind identify the JSON document that probedoctor prints; docs/diagnosis.schema.json describes it.
const (
	APIVersion = "probedoctor/v1"
	ListKind   = "DiagnosisList"
)

// DiagnosisList is the whole answer: one Diagnosis an incident, most severe first.
type DiagnosisList struct {
	APIVersion string              `json:"apiVersion"`
	Kind       string              `json:"kind"`
	Items      []Diagnosis         `json:"items"`
	Coverage   []evidence.Coverage `json:"coverage"`
}

// Role is how a cause takes part in an incident.
type Role string

// The roles, in the order in which they are ranked.
const (
	RootCause    Role = "root-cause"
	Contributing Role = "contributing"
	Noise        Role = "noise"
)

// Diagnosis is what is known of one incident.
type Diagnosis struct {
	Subject     Subject                  `json:"subject"`
	Window      Window                   `json:"window"`
	Symptoms    []Symptom                `json:"symptoms"`
	Failures    []FailureGroup           `json:"failures"`
	Ranked      []Cause                  `json:"ranked"`
	Other       float64                  `json:"otherProbability"` // probability of a root cause that is not in the catalogue
	RuledOut    []RuledOut               `json:"ruledOut"`
	Trace       []TraceEntry             `json:"trace"`
	Missing     []Missing                `json:"missing"`
	Remediation []Step                   `json:"remediation"`
	NotAFix     []NotAFix                `json:"notAFix"`
	Verify      []Verify                 `json:"verify"`
	Evidence    map[evidence.Ref]Exhibit `json:"evidence"`
}

// Subject is what the incident is about.
type Subject struct {
	Cluster   string `json:"cluster,omitempty"`
	Namespace string `json:"namespace,omitempty"`
	Kind      string `json:"kind,omitempty"`
	Name      string `json:"name,omitempty"`
	Container string `json:"container,omitempty"`
	// Inferred says how the workload was found when no owner reference named it, empty when one did.
	Inferred string `json:"inferred,omitempty"`
	// Pods, Ready and Desired are -1 when not known.
	Pods    int `json:"pods"`
	Ready   int `json:"ready"`
	Desired int `json:"desired"`
}

// Window is when the symptoms were seen. With Relative, Start and End are empty and the ages count back from the paste.
type Window struct {
	Start    time.Time `json:"start,omitzero"`
	End      time.Time `json:"end,omitzero"`
	AsOf     time.Time `json:"asOf,omitzero"`
	Relative bool      `json:"relative,omitempty"`
	// StartAge and EndAge are "12m0s" before the paste; only with Relative.
	StartAge string `json:"startAge,omitempty"`
	EndAge   string `json:"endAge,omitempty"`
}

// Symptom is something that went wrong and made an incident of it.
type Symptom struct {
	// Kind is "probe-failure", "not-ready", "liveness-restart", "startup-restart", "unhealthy-target", "node-complaint", "failing-request".
	Kind string         `json:"kind"`
	Text string         `json:"text"`
	Refs []evidence.Ref `json:"refs"`
}

// FailureGroup is a class of failures that one cause has to explain: what phase they reached and what life the pod led.
type FailureGroup struct {
	// ID is "phase/outcome/life", for example "awaiting-headers/timeout/live".
	ID      string           `json:"id"`
	Phase   evidence.Phase   `json:"phase"`
	Outcome evidence.Outcome `json:"outcome"`
	// Life is "starting", "live", "terminating" or "unknown".
	Life   string          `json:"life"`
	Result evidence.Result `json:"result"`
	Count  int             `json:"count"`
	// AtLeast is true when the count is a floor.
	AtLeast bool                       `json:"atLeast,omitempty"`
	ByProbe map[evidence.ProbeKind]int `json:"byProbe,omitempty"`
	Status  map[int]int                `json:"byStatus,omitempty"`
	Pods    []string                   `json:"pods"`
	Refs    []evidence.Ref             `json:"refs"`
}

// Cause is one candidate with what speaks for and against it.
type Cause struct {
	ID          string      `json:"id"`
	Title       string      `json:"title"`
	Role        Role        `json:"role"`
	Probability float64     `json:"probability"`
	Explains    []string    `json:"explains"` // ids of failure groups
	For         []Statement `json:"for"`
	Against     []Statement `json:"against"`
	Runbook     string      `json:"runbook,omitempty"`
	// Summary is the cause in one sentence, with this incident's values.
	Summary string `json:"summary,omitempty"`
}

// Statement is what one rule says about one cause.
type Statement struct {
	Rule string `json:"rule"`
	// Weight is the log-likelihood ratio in nats that the rule adds to the cause's log-odds.
	Weight    float64        `json:"weight"`
	Statement string         `json:"statement"`
	Refs      []evidence.Ref `json:"refs"`
}

// RuledOut is a cause that complete evidence excludes.
type RuledOut struct {
	ID     string         `json:"id"`
	Title  string         `json:"title"`
	Rule   string         `json:"rule"`
	Reason string         `json:"reason"`
	Refs   []evidence.Ref `json:"refs"`
}

// Outcome is how a rule came out.
type Outcome string

// The outcomes of a rule.
const (
	True          Outcome = "true"
	False         Outcome = "false"
	Unknown       Outcome = "unknown"
	NotApplicable Outcome = "not-applicable"
)

// TraceEntry is one rule of the pack, in order, with its outcome.
type TraceEntry struct {
	Rule      string         `json:"rule"`
	Order     int            `json:"order"`
	Title     string         `json:"title"`
	Outcome   Outcome        `json:"outcome"`
	Missing   []string       `json:"missing,omitempty"` // the facts that were not known
	Statement string         `json:"statement,omitempty"`
	Refs      []evidence.Ref `json:"refs,omitempty"`
}

// Missing is a fact that was not known, with what it would take to know it.
type Missing struct {
	Fact    string `json:"fact"`
	Why     string `json:"why"`
	Collect string `json:"collect"` // the exact command or query
	// Gain is by how much the probability of the first cause could change, 0 to 1; facts that a rule lacks together share it.
	Gain float64 `json:"gain"`
}

// Horizon is when a step is to be taken.
type Horizon string

// The horizons.
const (
	Now   Horizon = "now"
	Next  Horizon = "next"
	Later Horizon = "later"
)

// Step is one remedy, filled with the incident's values.
type Step struct {
	For     string  `json:"for"` // the cause's id
	Step    string  `json:"step"`
	Horizon Horizon `json:"horizon"`
	Does    string  `json:"does,omitempty"`
	DoesNot string  `json:"doesNot,omitempty"`
	Risk    string  `json:"risk,omitempty"`
	Undo    string  `json:"undo,omitempty"`
	Command string  `json:"command,omitempty"`
}

// NotAFix is what people try and what does not help.
type NotAFix struct {
	For  string `json:"for"`
	Step string `json:"step"`
	Why  string `json:"why"`
}

// Verify is how to see that the fix worked.
type Verify struct {
	For     string `json:"for"`
	Step    string `json:"step"`
	Command string `json:"command,omitempty"`
}

// Exhibit is a cited item as it is shown to a person.
type Exhibit struct {
	Kind    evidence.Kind `json:"kind"`
	Source  string        `json:"source"`
	Locator string        `json:"locator"`
	At      time.Time     `json:"at,omitzero"`
	Excerpt string        `json:"excerpt"`
	// File and Line say where it was read; they are shown to a person and are no part of the document.
	File string `json:"-"`
	Line int    `json:"-"`
}
