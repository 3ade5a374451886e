// Package report renders a [rules.DiagnosisList] for people (text, wide, markdown) and for programs (json, yaml).
//
// The one idea: the reading order is the same everywhere (what is it, how sure, why, what now, what would make me
// surer), and nothing that came from a cluster or from pasted text reaches a terminal or a ticket unescaped: every
// such string passes [Safe] or, in JSON and YAML, is escaped as \u.
//
// The package draws no conclusions, reads no clock, looks at no terminal and drops no statement for lack of room: what
// the short text folds, the wide text prints. The same list and the same options give the same bytes.
package report
