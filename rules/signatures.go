package rules

import "github.com/probedoctor/probedoctor/rules/facts"

// matcher finds the signatures of a pack in log lines.
type matcher struct {
	signatures []*Signature
	literals   *literals
	// uses says for each literal which signatures want it, and as what.
	uses [][]use
}

type use struct {
	signature int
	as        role
}

// role is what a literal is to a signature.
type role uint8

const (
	contained role = 1 << iota // one of Contains
	also                       // one of Also
	excluded                   // one of Not
)

func newMatcher(signatures []*Signature) *matcher {
	m := &matcher{signatures: signatures}
	number := map[string]int{}
	var words []string
	for i, s := range signatures {
		for _, part := range []struct {
			words []string
			as    role
		}{{s.Contains, contained}, {s.Also, also}, {s.Not, excluded}} {
			for _, w := range part.words {
				w = lowerASCII(w)
				n, ok := number[w]
				if !ok {
					n = len(words)
					number[w] = n
					words = append(words, w)
					m.uses = append(m.uses, nil)
				}
				m.uses[n] = append(m.uses[n], use{i, part.as})
			}
		}
	}
	m.literals = newLiterals(words)
	return m
}

func lowerASCII(s string) string {
	b := []byte(s)
	for i := range b {
		b[i] = foldByte(b[i])
	}
	return string(b)
}

// match calls found with the index of each signature that a line matches, in their order. seen is scratch space of the
// length of the signatures.
func (m *matcher) match(logger, message string, seen []role, found func(i int)) {
	clear(seen)
	any := false
	m.literals.find(func(n int32) {
		for _, u := range m.uses[n] {
			seen[u.signature] |= u.as
		}
		any = true
	}, logger, message)
	if !any {
		return
	}
	for i, s := range m.signatures {
		if seen[i]&contained == 0 || seen[i]&excluded != 0 || len(s.Also) > 0 && seen[i]&also == 0 {
			continue
		}
		if s.match == nil || s.match.MatchString(logger+" "+message) {
			found(i)
		}
	}
}

// Matches tells whether a line of the logger matches the signature with that id.
func (p *Pack) Matches(id, logger, message string) bool {
	hit := false
	p.matcher.match(logger, message, make([]role, len(p.Signatures)), func(i int) { hit = hit || p.Signatures[i].ID == id })
	return hit
}

// MatchSignatures finds the pack's signatures in the incident's logs and notes them there; facts about dependencies read
// them. It must run before Evaluate.
func (p *Pack) MatchSignatures(in *facts.Incident) {
	hits := make([][]facts.Hit, len(p.Signatures))
	seen := make([]role, len(p.Signatures))
	for _, l := range in.Logs {
		p.matcher.match(l.Logger, l.Message, seen, func(i int) {
			if s := p.Signatures[i]; s.readsOrigin(l.Origin) {
				hits[i] = append(hits[i], facts.Hit{Line: l, Dependency: s.Dependency})
			}
		})
	}
	in.Signatures = make(map[string]facts.Signature, len(p.Signatures))
	for i, s := range p.Signatures {
		in.Signatures[s.ID] = facts.Signature{Hits: hits[i], Dependency: s.Dependency, Kind: s.Kind}
	}
}

// NodeComplaints gives the titles of the signatures of the kind node that a kernel's or kubelet's line matches.
func (p *Pack) NodeComplaints(origin, logger, message string) []string {
	var titles []string
	p.matcher.match(logger, message, make([]role, len(p.Signatures)), func(i int) {
		if s := p.Signatures[i]; s.Kind == "node" && s.readsOrigin(origin) {
			titles = append(titles, s.Title)
		}
	})
	return titles
}

// readsOrigin tells whether the signature is looked for in logs of that origin. Lines of the node's journal that no one
// can ascribe count for the kernel and for the kubelet.
func (s *Signature) readsOrigin(origin string) bool {
	switch s.Origin {
	case "":
		return origin == "app" || origin == "proxy" || origin == "shell" || origin == ""
	case "kernel", "kubelet":
		return origin == s.Origin || origin == "node"
	}
	return s.Origin == origin
}
