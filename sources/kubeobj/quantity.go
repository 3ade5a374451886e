package kubeobj

import (
	"math/big"
	"strings"
)

// suffixes are those of k8s.io/apimachinery pkg/api/resource/suffix.go, as base and exponent.
var suffixes = []struct {
	text string
	base int64
	exp  int
}{
	{"Ki", 2, 10}, {"Mi", 2, 20}, {"Gi", 2, 30}, {"Ti", 2, 40}, {"Pi", 2, 50}, {"Ei", 2, 60},
	{"n", 10, -9}, {"u", 10, -6}, {"m", 10, -3}, {"k", 10, 3}, {"M", 10, 6}, {"G", 10, 9}, {"T", 10, 12}, {"P", 10, 15}, {"E", 10, 18},
}

// ParseQuantity reads a Kubernetes quantity ("250m", "1Gi", "1.5", "2e3", "128974848") into its plain value: cores or bytes.
// It computes exactly and rounds once, at the end. ok is false for anything that is no quantity.
func ParseQuantity(s string) (value float64, ok bool) {
	s = strings.TrimSpace(s)
	// A quantity has at most a few dozen digits; the bound keeps exact arithmetic cheap on hostile input.
	if s == "" || len(s) > 64 {
		return 0, false
	}
	number, base, exp := s, int64(10), 0
	for _, u := range suffixes {
		if rest, found := strings.CutSuffix(s, u.text); found {
			number, base, exp = rest, u.base, u.exp
			break
		}
	}
	if base == 10 && exp == 0 {
		// "2e3" and "2E3"; a lone E at the end was the suffix above.
		if i := strings.IndexAny(number, "eE"); i >= 0 {
			e, isInt := atoi(number[i+1:])
			if !isInt || e > 30 || e < -30 {
				return 0, false
			}
			number, exp = number[:i], e
		}
	}
	if !decimal(number) {
		return 0, false
	}
	r, isNumber := new(big.Rat).SetString(number)
	if !isNumber {
		return 0, false
	}
	n := exp
	if n < 0 {
		n = -n
	}
	scale := new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(base), big.NewInt(int64(n)), nil))
	if exp < 0 {
		scale.Inv(scale)
	}
	value, _ = r.Mul(r, scale).Float64()
	return value, true
}

// decimal tells whether s is a sign, digits and at most one point, with at least one digit.
func decimal(s string) bool {
	s = strings.TrimLeft(s, "+-")
	digits, points := 0, 0
	for i := range len(s) {
		switch {
		case s[i] >= '0' && s[i] <= '9':
			digits++
		case s[i] == '.':
			points++
		default:
			return false
		}
	}
	return digits > 0 && points <= 1
}

// quantity gives the plain value of the quantity under key, 0 when there is none.
func (t tree) quantity(key string) float64 {
	v, _ := ParseQuantity(t.str(key))
	return v
}
