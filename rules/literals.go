package rules

// literals finds which of many literals occur in a text in one pass over it (Aho and Corasick, 1975), whatever the case of
// ASCII letters. Thousands of log lines are matched against hundreds of literals with every evaluation.
type literals struct {
	class [256]uint8 // byte to column; 0 for bytes that no literal holds
	width int
	next  []int32   // state*width + class
	out   [][]int32 // literals that end in the state
}

// newLiterals builds the automaton; the index of a literal is its number in found.
func newLiterals(words []string) *literals {
	l := &literals{width: 1}
	for _, w := range words {
		for i := range len(w) {
			if c := foldByte(w[i]); l.class[c] == 0 {
				l.class[c] = uint8(l.width)
				l.width++
			}
		}
	}
	for c := 'A'; c <= 'Z'; c++ {
		l.class[c] = l.class[c+'a'-'A']
	}
	l.addState()
	for n, w := range words {
		state := int32(0)
		for i := range len(w) {
			at := int(state)*l.width + int(l.class[w[i]])
			if l.next[at] == 0 {
				l.next[at] = l.addState()
			}
			state = l.next[at]
		}
		l.out[state] = append(l.out[state], int32(n))
	}
	// Breadth first: a state without a transition takes that of its longest proper suffix.
	fail := make([]int32, len(l.out))
	var queue []int32
	for c := range l.width {
		if s := l.next[c]; s != 0 {
			queue = append(queue, s)
		}
	}
	for len(queue) > 0 {
		s := queue[0]
		queue = queue[1:]
		l.out[s] = append(l.out[s], l.out[fail[s]]...)
		for c := range l.width {
			at := int(s)*l.width + c
			over := l.next[int(fail[s])*l.width+c]
			if t := l.next[at]; t != 0 {
				fail[t] = over
				queue = append(queue, t)
			} else {
				l.next[at] = over
			}
		}
	}
	return l
}

func (l *literals) addState() int32 {
	l.next = append(l.next, make([]int32, l.width)...)
	l.out = append(l.out, nil)
	return int32(len(l.out) - 1)
}

func foldByte(b byte) byte {
	if b >= 'A' && b <= 'Z' {
		return b + 'a' - 'A'
	}
	return b
}

// find calls found with each literal that occurs in the texts, which count as one after the other with a gap between them.
func (l *literals) find(found func(n int32), texts ...string) {
	for _, t := range texts {
		state := int32(0)
		for i := range len(t) {
			state = l.next[int(state)*l.width+int(l.class[t[i]])]
			for _, n := range l.out[state] {
				found(n)
			}
		}
	}
}
