package report

import (
	"maps"
	"slices"
	"time"

	"github.com/probedoctor/probedoctor/rules"
	"github.com/probedoctor/probedoctor/sources/evidence"
)

// Normalize gives a copy of list in the form in which the document is published: no list or map is nil (a program never
// meets null where it expects a list), times are UTC, apiVersion and kind are set. The copy shares no slice that is changed
// with list.
func Normalize(list *rules.DiagnosisList) *rules.DiagnosisList {
	out := &rules.DiagnosisList{
		APIVersion: rules.APIVersion,
		Kind:       rules.ListKind,
		Items:      full(list.Items),
		Coverage:   full(list.Coverage),
	}
	for i := range out.Items {
		normalizeItem(&out.Items[i])
	}
	return out
}

func normalizeItem(d *rules.Diagnosis) {
	d.Window.Start, d.Window.End, d.Window.AsOf = utc(d.Window.Start), utc(d.Window.End), utc(d.Window.AsOf)
	d.Symptoms = full(d.Symptoms)
	for i := range d.Symptoms {
		d.Symptoms[i].Refs = full(d.Symptoms[i].Refs)
	}
	d.Failures = full(d.Failures)
	for i := range d.Failures {
		d.Failures[i].Pods = full(d.Failures[i].Pods)
		d.Failures[i].Refs = full(d.Failures[i].Refs)
	}
	d.Ranked = full(d.Ranked)
	for i := range d.Ranked {
		c := &d.Ranked[i]
		c.Explains = full(c.Explains)
		c.For, c.Against = statements(c.For), statements(c.Against)
	}
	d.RuledOut = full(d.RuledOut)
	for i := range d.RuledOut {
		d.RuledOut[i].Refs = full(d.RuledOut[i].Refs)
	}
	d.Trace = full(d.Trace)
	d.Missing = full(d.Missing)
	d.Remediation = full(d.Remediation)
	d.NotAFix = full(d.NotAFix)
	d.Verify = full(d.Verify)
	exhibits := make(map[evidence.Ref]rules.Exhibit, len(d.Evidence))
	maps.Copy(exhibits, d.Evidence)
	for ref, x := range exhibits {
		x.At = utc(x.At)
		exhibits[ref] = x
	}
	d.Evidence = exhibits
}

func statements(list []rules.Statement) []rules.Statement {
	list = full(list)
	for i := range list {
		list[i].Refs = full(list[i].Refs)
	}
	return list
}

// full is a copy of s that is not nil.
func full[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return slices.Clone(s)
}

func utc(t time.Time) time.Time {
	if t.IsZero() {
		return t
	}
	return t.UTC()
}
