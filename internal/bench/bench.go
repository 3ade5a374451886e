// Package bench measures how often the diagnosis is right: it compares what was diagnosed from recordings with the cause
// that was found.
//
// It is arithmetic and tables only. It reads no file and diagnoses nothing, so that what is measured is exactly what the
// caller got from the evidence, and it knows no cause: it cannot favour one.
package bench

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	json "github.com/go-json-experiment/json"

	"github.com/probedoctor/probedoctor/rules"
)

// Kind identifies the JSON document of a measurement; its apiVersion is [rules.APIVersion].
const Kind = "Accuracy"

// KeyFile is the name of the file with the expected answer, beside a recording's evidence.
const KeyFile = "expected.json"

// Expected is the answer key of a recording, the content of its [KeyFile].
type Expected struct {
	// ID is the cause that was found.
	ID string `json:"id"`
	// Also are causes that took part, or that the evidence does not tell from the one that was found.
	Also []string `json:"also"`
	// Thin says that the recording does not hold enough for an expert to be sure.
	Thin bool `json:"thin"`
	// Confidence is how sure the finding is: "confirmed" or "likely".
	Confidence string `json:"confidence"`
	// MustNotTop are the causes that would send a reader the wrong way in first place.
	MustNotTop []string `json:"mustNotTop"`
	// Why is the finding in words.
	Why string `json:"why"`
}

// ParseExpected reads a key. It is strict: a misspelt field would quietly make a recording easier, and only a key that
// names id and mustNotTop is known for a key, and kept apart, where the evidence beside it is read.
func ParseExpected(data []byte) (Expected, error) {
	var e Expected
	if err := json.Unmarshal(data, &e, json.RejectUnknownMembers(true)); err != nil {
		return Expected{}, err
	}
	switch {
	case e.ID == "":
		return Expected{}, errors.New("id is missing")
	case e.MustNotTop == nil:
		return Expected{}, errors.New("mustNotTop is missing; it may be an empty list")
	case slices.Contains(e.MustNotTop, e.ID):
		return Expected{}, fmt.Errorf("mustNotTop has the expected cause %q", e.ID)
	}
	return e, nil
}

// IDs gives every cause that the key names.
func (e Expected) IDs() []string { return slices.Concat([]string{e.ID}, e.Also, e.MustNotTop) }

// Recording is one incident: the key and what was diagnosed from the evidence beside it.
type Recording struct {
	// Name is printed as it is: one line, nothing that a terminal would obey.
	Name      string
	Expected  Expected
	Diagnoses *rules.DiagnosisList
}

// Document is a whole measurement.
type Document struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Score
	// HeldOut are recordings that nobody looked at while rules and weights were made, nil when there are none.
	HeldOut *Score `json:"heldOut,omitempty"`
	// Command is how to make the document again.
	Command string `json:"-"`
}

// Score is how the diagnosis did on the recordings of one folder.
type Score struct {
	Folder string `json:"folder"`
	// All counts every recording, NotThin those that hold enough to be sure.
	All     Accuracy `json:"all"`
	NotThin Accuracy `json:"notThin"`
	// Causes has a row for each expected cause, in order of the ids.
	Causes []CauseRow `json:"causes"`
	// Results are the recordings in their order.
	Results []Result `json:"recordings"`
	// Reliability has ten bins of the probability that was stated for the first cause; recordings for which nothing was
	// named are in none.
	Reliability []Bin `json:"reliability"`
	// Brier is the mean of (stated probability of the first cause − 1 if it was right, else 0)², over the recordings for
	// which a cause was named; nil when there are none. 0 is perfect.
	Brier *float64 `json:"brier"`
}

// Accuracy counts recordings.
type Accuracy struct {
	N              int `json:"n"`
	First          int `json:"first"`          // the expected cause is first (AC@1)
	FirstThree     int `json:"firstThree"`     // the expected cause is among the first three (AC@3)
	ForbiddenFirst int `json:"forbiddenFirst"` // a cause of mustNotTop is first
	Nothing        int `json:"nothingNamed"`   // no incident, or one without a cause
}

// CauseRow is the accuracy for one expected cause.
type CauseRow struct {
	ID         string `json:"id"`
	N          int    `json:"n"`
	First      int    `json:"first"`
	FirstThree int    `json:"firstThree"`
}

// Result is how one recording came out.
type Result struct {
	Name     string `json:"name"`
	Expected string `json:"expected"`
	Thin     bool   `json:"thin,omitempty"`
	// Place is where the expected cause stands, 1 for the first; 0 when it is not in the list.
	Place int `json:"place"`
	// First is the first cause and Probability what was stated for it; empty and 0 when nothing was named.
	First       string  `json:"first,omitempty"`
	Probability float64 `json:"probability"`
	// Forbidden says that mustNotTop has the first cause, Also that also has it.
	Forbidden bool `json:"forbidden,omitempty"`
	Also      bool `json:"also,omitempty"`
}

// Bin is what became of the first causes whose stated probability is in [From, To); the last bin has 1 as well.
type Bin struct {
	From  float64 `json:"from"`
	To    float64 `json:"to"`
	N     int     `json:"n"`
	Right int     `json:"right"`
	// Mean is the mean of the stated probabilities, nil in an empty bin.
	Mean *float64 `json:"mean"`
}

// bins is the number of rows of the reliability table.
const bins = 10

// Measure compares each recording with its key.
func Measure(folder string, recordings []Recording) Score {
	s := Score{Folder: folder, Causes: []CauseRow{}, Results: []Result{}, Reliability: make([]Bin, bins)}
	for i := range s.Reliability {
		s.Reliability[i].From, s.Reliability[i].To = float64(i)/bins, float64(i+1)/bins
	}
	var stated [bins]float64 // sums
	squares, named := 0.0, 0
	for _, rec := range recordings {
		r := compare(rec)
		s.Results = append(s.Results, r)
		s.All.count(r)
		if !r.Thin {
			s.NotThin.count(r)
		}
		s.cause(r)
		if r.First == "" {
			continue
		}
		i := min(max(int(r.Probability*bins), 0), bins-1)
		s.Reliability[i].N++
		stated[i] += r.Probability
		miss := r.Probability
		if r.Place == 1 {
			s.Reliability[i].Right++
			miss--
		}
		squares += miss * miss
		named++
	}
	for i := range s.Reliability {
		s.Reliability[i].Mean = mean(stated[i], s.Reliability[i].N)
	}
	s.Brier = mean(squares, named)
	slices.SortFunc(s.Causes, func(a, b CauseRow) int { return cmp.Compare(a.ID, b.ID) })
	return s
}

// compare looks up the expected cause in the answer: the ranked list of the first incident, in its order, whatever the
// roles, since that is the order in which a person reads it. Of causes with equal probability the one that is printed first
// counts as first.
func compare(rec Recording) Result {
	r := Result{Name: rec.Name, Expected: rec.Expected.ID, Thin: rec.Expected.Thin}
	if rec.Diagnoses == nil || len(rec.Diagnoses.Items) == 0 {
		return r
	}
	ranked := rec.Diagnoses.Items[0].Ranked
	r.Place = 1 + slices.IndexFunc(ranked, func(c rules.Cause) bool { return c.ID == r.Expected })
	if len(ranked) > 0 {
		r.First, r.Probability = ranked[0].ID, ranked[0].Probability
		r.Forbidden = slices.Contains(rec.Expected.MustNotTop, r.First)
		r.Also = slices.Contains(rec.Expected.Also, r.First)
	}
	return r
}

func (a *Accuracy) count(r Result) {
	a.N++
	if r.Place == 1 {
		a.First++
	}
	if r.firstThree() {
		a.FirstThree++
	}
	if r.Forbidden {
		a.ForbiddenFirst++
	}
	if r.First == "" {
		a.Nothing++
	}
}

func (r Result) firstThree() bool { return r.Place >= 1 && r.Place <= 3 }

func (s *Score) cause(r Result) {
	i := slices.IndexFunc(s.Causes, func(c CauseRow) bool { return c.ID == r.Expected })
	if i < 0 {
		i = len(s.Causes)
		s.Causes = append(s.Causes, CauseRow{ID: r.Expected})
	}
	c := &s.Causes[i]
	c.N++
	if r.Place == 1 {
		c.First++
	}
	if r.firstThree() {
		c.FirstThree++
	}
}

// mean gives four places, as the stated probabilities have.
func mean(sum float64, n int) *float64 {
	if n == 0 {
		return nil
	}
	m := math.Round(sum/float64(n)*1e4) / 1e4
	return &m
}

// interval is the 95 % score interval of a share of k in n (E. B. Wilson, 1927), which holds for few recordings and for
// shares of 0 and 1 as well.
func interval(k, n int) (low, high float64) {
	const z = 1.959964 // the normal distribution's quantile at 97.5 %
	p, m := float64(k)/float64(n), float64(n)
	centre := p + z*z/(2*m)
	spread := z * math.Sqrt(p*(1-p)/m+z*z/(4*m*m))
	scale := 1 + z*z/m
	return max(0, (centre-spread)/scale), min(1, (centre+spread)/scale)
}
