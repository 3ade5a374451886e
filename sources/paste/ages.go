package paste

import (
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/probedoctor/probedoctor/sources/evidence"
)

// parseAge reads a duration as kubectl prints it (apimachinery's duration.HumanDuration): "95s", "6m2s", "3d7h", "2y14d".
func parseAge(s string) (time.Duration, bool) {
	if s == "" || len(s) > 24 {
		return 0, false
	}
	var total time.Duration
	for s != "" {
		i := 0
		for i < len(s) && s[i] >= '0' && s[i] <= '9' {
			i++
		}
		if i == 0 || i == len(s) || i > 7 {
			return 0, false
		}
		n, err := strconv.Atoi(s[:i])
		if err != nil {
			return 0, false
		}
		unit := time.Duration(0)
		switch s[i] {
		case 's':
			unit = time.Second
		case 'm':
			unit = time.Minute
		case 'h':
			unit = time.Hour
		case 'd':
			unit = 24 * time.Hour
		case 'y':
			unit = 365 * 24 * time.Hour
		default:
			return 0, false
		}
		if n > 36500 && unit >= 24*time.Hour {
			return 0, false
		}
		total += time.Duration(n) * unit
		if total < 0 || total > 200*365*24*time.Hour {
			return 0, false
		}
		s = s[i+1:]
	}
	return total, true
}

// unknownAge tells whether the cell stands for "no age": clock skew, a missing value, or what a person left out.
func unknownAge(s string) bool {
	switch s {
	case "<invalid>", "<unknown>", "<nil>", "<none>", "...", "....", "…":
		return true
	}
	return false
}

// age gives the time of an age cell; unknown ages give the zero time and ok.
func age(s string) (at time.Time, ok bool) {
	if unknownAge(s) {
		return time.Time{}, true
	}
	if d, ok := parseAge(s); ok {
		return evidence.Ago(d), true
	}
	// People put the time of day where kubectl has the age.
	if t, err := time.Parse("15:04:05", s); err == nil {
		return evidence.Dayless(t.Hour(), t.Minute(), t.Second(), 0, time.UTC), true
	}
	return time.Time{}, false
}

var overRow = regexp.MustCompile(`^\(x(\d{1,9})(?: over ([^()\s]{1,24}))?\)`)

// span is what an age cell of an events table says.
type span struct {
	first, last time.Time
	count       int
	// counted is true when the cell itself gave the count "(x9 over 7m)".
	counted bool
}

// cutSpan reads "2m37s (x9 over 7m)", "2m37s", "<invalid>" at the beginning of s.
func cutSpan(s string) (sp span, rest string, ok bool) {
	word, rest := cutWord(s)
	if sp.last, ok = age(word); !ok {
		return span{}, s, false
	}
	sp.first, sp.count = sp.last, 1
	tail := strings.TrimLeft(rest, " \t")
	if m := overRow.FindStringSubmatch(tail); m != nil {
		sp.count, _ = strconv.Atoi(m[1])
		sp.counted = true
		sp.first = time.Time{}
		if f, ok := age(m[2]); ok {
			sp.first = f
		}
		rest = tail[len(m[0]):]
	}
	return sp, rest, true
}

// cutWord splits s at its first blank.
func cutWord(s string) (word, rest string) {
	if i := strings.IndexAny(s, " \t"); i >= 0 {
		return s[:i], s[i:]
	}
	return s, ""
}

// describeTime is how kubectl describe prints a time (time.RFC1123Z).
const describeTime = "Mon, 02 Jan 2006 15:04:05 -0700"

// cutDate reads a full date at the beginning of s: "Fri, 22 May 2015 09:41:03 +0000" or an ISO time.
func cutDate(s string) (at time.Time, rest string, ok bool) {
	if len(s) >= len(describeTime) && s[3] == ',' {
		if at, err := time.Parse(describeTime, s[:len(describeTime)]); err == nil && plausible(at) {
			return at, s[len(describeTime):], true
		}
	}
	word, rest := cutWord(s)
	if len(word) >= len("2006-01-02T15:04:05Z") && word[4] == '-' {
		if at, err := time.Parse(time.RFC3339Nano, strings.TrimRight(word, ",")); err == nil && plausible(at) {
			return at, rest, true
		}
	}
	if m := usDate.FindStringSubmatch(s); m != nil {
		if at, err := time.Parse("1/2/2006 15:04:05.999", m[1]+" "+m[2]); err == nil && plausible(at) {
			return at, s[len(m[0]):], true
		}
	}
	return time.Time{}, s, false
}

// plausible keeps dates out that no cluster has: Go's zero time, and years that stand for times without a date.
func plausible(at time.Time) bool { return at.Year() >= 1970 && at.Year() < 2200 }

// jsonTime reads a time of the API; what is none, or was cut, is the zero time.
func jsonTime(s string) time.Time {
	at, err := time.Parse(time.RFC3339Nano, s)
	if err != nil || !plausible(at) {
		return time.Time{}
	}
	return at
}

// usDate is the date of a log UI's export: "3/27/2022, 08:14:06.000".
var usDate = regexp.MustCompile(`^(\d{1,2}/\d{1,2}/\d{4}),? (\d{1,2}:\d{2}:\d{2}(?:\.\d{1,9})?)`)

// statusTime reads the time of a status line of describe, with anything after it ignored.
func statusTime(s string) time.Time {
	at, _, ok := cutDate(strings.TrimSpace(s))
	if !ok {
		return time.Time{}
	}
	return at
}
