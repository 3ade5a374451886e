package rules

import (
	mathrand "math/rand"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/quick"
)

// vocabulary is random words and a random text over few letters, so that words overlap, end and hold each other.
type vocabulary struct {
	words []string
	texts []string
}

// alphabets: few letters of both cases; letters beyond ASCII, which have a case of their own and share bytes; all bytes.
var alphabets = []string{"aAbB", "abcABC ", "éÉeEßİı中", func() string {
	b := make([]byte, 256)
	for i := range b {
		b[i] = byte(i)
	}
	return string(b)
}()}

func (vocabulary) Generate(std *mathrand.Rand, size int) reflect.Value {
	r := rand.New(rand.NewPCG(uint64(std.Int63()), 1))
	alphabet := alphabets[r.IntN(len(alphabets))]
	letters := []rune(alphabet)
	raw := len(alphabet) == 256
	word := func(n int) string {
		var b strings.Builder
		for range n {
			if raw {
				b.WriteByte(alphabet[r.IntN(256)])
			} else {
				b.WriteRune(letters[r.IntN(len(letters))])
			}
		}
		return b.String()
	}
	var v vocabulary
	for range 1 + r.IntN(12) {
		v.words = append(v.words, lowerASCII(word(1+r.IntN(5))))
	}
	for range 1 + r.IntN(3) {
		v.texts = append(v.texts, word(r.IntN(40)))
	}
	// A text that surely holds some of the words, one right behind the other and in another case.
	v.texts = append(v.texts, strings.ToUpper(v.words[0])+v.words[len(v.words)/2]+v.words[len(v.words)-1])
	return reflect.ValueOf(v)
}

// TestLiteralsFindWhatContainsFinds compares the automaton with the plain search, word by word.
func TestLiteralsFindWhatContainsFinds(t *testing.T) {
	hits, misses := 0, 0
	same := func(v vocabulary) bool {
		got := make([]bool, len(v.words))
		newLiterals(v.words).find(func(n int32) { got[n] = true }, v.texts...)
		for i, w := range v.words {
			want := slices.ContainsFunc(v.texts, func(t string) bool { return strings.Contains(lowerASCII(t), w) })
			if got[i] != want {
				t.Logf("%q in %q: %v, want %v", w, v.texts, got[i], want)
				return false
			}
			if want {
				hits++
			} else {
				misses++
			}
		}
		return true
	}
	if err := quick.Check(same, &quick.Config{MaxCount: 3000}); err != nil {
		t.Fatal(err)
	}
	if hits < 1000 || misses < 1000 {
		t.Errorf("%d hits and %d misses show too little", hits, misses)
	}
}

func TestLiterals(t *testing.T) {
	for _, tt := range []struct {
		words, texts []string
		want         []int32
	}{
		{[]string{"he", "she", "his", "hers"}, []string{"uSHErs"}, []int32{0, 1, 3}},
		{[]string{"aa", "aaa", "aaaa"}, []string{"aaa"}, []int32{0, 1}},
		{[]string{"ab"}, []string{"a", "b"}, nil}, // texts are apart
		{[]string{"é"}, []string{"É"}, nil},       // only ASCII has its case folded
		{[]string{"über"}, []string{"ÜBER über"}, []int32{0}},
		{[]string{"x", "x"}, []string{"X"}, []int32{0, 1}},
		{nil, []string{"anything"}, nil},
		{[]string{"x"}, nil, nil},
	} {
		found := map[int32]bool{}
		newLiterals(tt.words).find(func(n int32) { found[n] = true }, tt.texts...)
		var got []int32
		for n := range int32(len(tt.words)) {
			if found[n] {
				got = append(got, n)
			}
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%q in %q: %v, want %v", tt.words, tt.texts, got, tt.want)
		}
	}
}
