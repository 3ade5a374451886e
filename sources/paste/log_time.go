package paste

import (
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/probedoctor/probedoctor/sources/evidence"
)

// The timestamps of logs are read by hand: time.Parse with a list of layouts costs a microsecond a layout, and a log has
// hundreds of thousands of lines.

// scanTime reads a timestamp at the start of s and says how many bytes it took, 0 when there is none. A time without a
// zone is UTC, one without a year is evidence.Yearless, one without a date is evidence.Dayless.
func scanTime(s string) (time.Time, int) {
	if len(s) < 8 {
		return time.Time{}, 0
	}
	c := s[0]
	switch {
	case isDigit(c):
		switch {
		case isDigit(s[1]) && s[2] == ':':
			return scanDayless(s)
		case len(s) >= 16 && isDigit(s[3]) && (s[4] == '-' || s[4] == '/' || s[4] == '.'):
			return scanISO(s)
		case len(s) >= 19:
			if t, n := scanDayMonth(s); n > 0 {
				return t, n
			}
			return scanUS(s)
		}
	case c >= 'A' && c <= 'Z':
		if len(s) >= 15 {
			return scanNamed(s)
		}
	}
	return time.Time{}, 0
}

// wholeTime reads s when all of it is a timestamp or a number of seconds, milliseconds, microseconds or nanoseconds
// since 1970.
func wholeTime(s string) (time.Time, bool) {
	s = strings.TrimSpace(s)
	if t, n := scanTime(s); n > 0 && strings.TrimSpace(s[n:]) == "" {
		return t, true
	}
	return epoch(s)
}

// epoch reads a Unix time; its size tells the unit, which is right for every time between 1973 and 2286.
func epoch(s string) (time.Time, bool) {
	whole, frac, _ := strings.Cut(s, ".")
	n, err := strconv.ParseInt(whole, 10, 64)
	if err != nil {
		f, err := strconv.ParseFloat(s, 64)
		if err != nil || !(f >= 1e8 && f < 1e10) {
			return time.Time{}, false
		}
		sec, part := math.Modf(f)
		return time.Unix(int64(sec), int64(math.Round(part*1e6))*1000).UTC(), true
	}
	// fraction gives the digits behind the point as a number of units of which there are 10^digits.
	fraction := func(digits int) int64 {
		var v int64
		for i := range digits {
			v *= 10
			if i < len(frac) && isDigit(frac[i]) {
				v += int64(frac[i] - '0')
			}
		}
		return v
	}
	switch {
	case n < 1e8:
		return time.Time{}, false
	case n < 1e10:
		return time.Unix(n, fraction(9)).UTC(), true
	case n < 1e13:
		return time.UnixMilli(n).Add(time.Duration(fraction(6))).UTC(), true
	case n < 1e16:
		return time.UnixMicro(n).Add(time.Duration(fraction(3))).UTC(), true
	}
	return time.Unix(n/1e9, n%1e9).UTC(), true
}

// scanISO reads "2026-11-29 14:03:11.123" and its relatives with / or . in the date and T, blank or : before the time.
func scanISO(s string) (time.Time, int) {
	year, ok0 := digits(s, 0, 4)
	month, ok1 := digits(s, 5, 2)
	day, ok2 := digits(s, 8, 2)
	if !ok0 || !ok1 || !ok2 || s[7] != s[4] || month < 1 || month > 12 || day < 1 || day > 31 {
		return time.Time{}, 0
	}
	if c := s[10]; c != 'T' && c != ' ' && c != '_' && c != ':' && c != 't' {
		return time.Time{}, 0
	}
	hms, n := scanClock(s[11:])
	if n == 0 {
		return time.Time{}, 0
	}
	offset, z := scanZone(s[11+n:])
	return hms.on(year, time.Month(month), day, offset), 11 + n + z
}

// scanDayMonth reads "29/Nov/2026:20:11:21 +0000", "29-Nov-2026 14:03:11.123" and "01 Dec 2022 10:00:00.000".
func scanDayMonth(s string) (time.Time, int) {
	day, ok := digits(s, 0, 2)
	i := 2
	if !ok {
		if day, ok = digits(s, 0, 1); !ok {
			return time.Time{}, 0
		}
		i = 1
	}
	sep := s[i]
	if sep != '/' && sep != '-' && sep != ' ' {
		return time.Time{}, 0
	}
	month := monthOf(s[i+1:])
	year, ok := digits(s, i+5, 4)
	if month == 0 || !ok || s[i+4] != sep || day < 1 || day > 31 || len(s) < i+10 {
		return time.Time{}, 0
	}
	if c := s[i+9]; c != ':' && c != ' ' {
		return time.Time{}, 0
	}
	hms, n := scanClock(s[i+10:])
	if n == 0 {
		return time.Time{}, 0
	}
	offset, z := scanZone(s[i+10+n:])
	return hms.on(year, month, day, offset), i + 10 + n + z
}

// scanUS reads "3/27/2022, 08:14:06.000" and "11/29/2026, 2:03:11 PM".
func scanUS(s string) (time.Time, int) {
	i := 0
	number := func(width int) (int, bool) {
		v, start := 0, i
		for i < len(s) && i-start < width && isDigit(s[i]) {
			v = v*10 + int(s[i]-'0')
			i++
		}
		return v, i > start
	}
	month, ok0 := number(2)
	if !ok0 || i >= len(s) || s[i] != '/' {
		return time.Time{}, 0
	}
	i++
	day, ok1 := number(2)
	if !ok1 || i >= len(s) || s[i] != '/' {
		return time.Time{}, 0
	}
	i++
	year, _ := number(4)
	if year < 1970 || month < 1 || month > 12 || day < 1 || day > 31 {
		return time.Time{}, 0
	}
	if i < len(s) && s[i] == ',' {
		i++
	}
	if i >= len(s) || s[i] != ' ' {
		return time.Time{}, 0
	}
	i++
	hms, n := scanClock(s[i:])
	if n == 0 {
		return time.Time{}, 0
	}
	i += n
	i += hms.halfDay(s[i:])
	return hms.on(year, time.Month(month), day, 0), i
}

// scanNamed reads "Nov  3 18:22:10" of syslog, "Nov 29, 2026 2:03:11 PM" of java.util.logging, "Sat Aug 08 05:47:31.1
// 2020" of ctime and "Sat, 05 Mar 2022 04:00:10 +0900" of RFC 1123.
func scanNamed(s string) (time.Time, int) {
	i := 0
	if isWeekday(s) {
		if i = 3; s[i] == ',' {
			i++
		}
		for i < len(s) && s[i] == ' ' {
			i++
		}
		if i < len(s) && isDigit(s[i]) && len(s) >= i+19 {
			t, n := scanDayMonth(s[i:])
			if n == 0 {
				return t, 0
			}
			return t, i + n
		}
	}
	if len(s) < i+15 {
		return time.Time{}, 0
	}
	month := monthOf(s[i:])
	if month == 0 || s[i+3] != ' ' {
		return time.Time{}, 0
	}
	i += 4
	if s[i] == ' ' {
		i++
	}
	day, ok := digits(s, i, 2)
	if ok {
		i += 2
	} else if day, ok = digits(s, i, 1); ok {
		i++
	} else {
		return time.Time{}, 0
	}
	year := 0
	if strings.HasPrefix(s[i:], ", ") {
		if year, ok = digits(s, i+2, 4); !ok {
			return time.Time{}, 0
		}
		i += 6
	}
	if i >= len(s) || s[i] != ' ' || day < 1 || day > 31 {
		return time.Time{}, 0
	}
	i++
	hms, n := scanClock(s[i:])
	if n == 0 {
		return time.Time{}, 0
	}
	i += n
	i += hms.halfDay(s[i:])
	if year == 0 && i < len(s) && s[i] == ' ' {
		if y, ok := digits(s, i+1, 4); ok && y >= 1970 && (i+5 == len(s) || !isWordByte(s[i+5])) {
			year = y
			i += 5
		}
	}
	if year == 0 {
		return evidence.Yearless(month, day, hms.hour, hms.min, hms.sec, hms.nsec, time.UTC), i
	}
	offset, z := scanZone(s[i:])
	return hms.on(year, month, day, offset), i + z
}

func scanDayless(s string) (time.Time, int) {
	hms, n := scanClock(s)
	if n < 8 {
		return time.Time{}, 0
	}
	offset, z := scanZone(s[n:])
	n += z
	if n < len(s) {
		// "10:00:00" must end like a word, or it is the start of something else (a MAC address, an IPv6 address).
		switch s[n] {
		case ' ', '\t', ']', '|', ')', ',', '"', '\'':
		case ':':
			if n+1 < len(s) && s[n+1] != ' ' {
				return time.Time{}, 0
			}
		default:
			return time.Time{}, 0
		}
	}
	loc := time.UTC
	if offset != 0 {
		loc = time.FixedZone("", offset)
	}
	return evidence.Dayless(hms.hour, hms.min, hms.sec, hms.nsec, loc), n
}

// clockTime is a time of day.
type clockTime struct{ hour, min, sec, nsec int }

// on puts the time onto a date; offset is the zone's, in seconds east of UTC.
func (c clockTime) on(year int, month time.Month, day, offset int) time.Time {
	return time.Date(year, month, day, c.hour, c.min, c.sec-offset, c.nsec, time.UTC)
}

// halfDay applies a following " AM" or " PM" and says how many bytes it took.
func (c *clockTime) halfDay(s string) int {
	if len(s) < 3 || (s[0] != ' ') || (s[2] != 'M' && s[2] != 'm') || c.hour > 12 {
		return 0
	}
	switch s[1] {
	case 'A', 'a':
		c.hour %= 12
	case 'P', 'p':
		c.hour = c.hour%12 + 12
	default:
		return 0
	}
	return 3
}

// scanClock reads "14:03:11" or "2:03:11" with an optional fraction behind . or , and says how many bytes it took.
func scanClock(s string) (clockTime, int) {
	var c clockTime
	i := 0
	var ok bool
	if c.hour, ok = digits(s, 0, 2); ok {
		i = 2
	} else if c.hour, ok = digits(s, 0, 1); ok {
		i = 1
	} else {
		return c, 0
	}
	min, ok1 := digits(s, i+1, 2)
	sec, ok2 := digits(s, i+4, 2)
	if !ok1 || !ok2 || s[i] != ':' || s[i+3] != ':' || c.hour > 23 || min > 59 || sec > 60 {
		return c, 0
	}
	c.min, c.sec = min, sec
	i += 6
	if i+1 < len(s) && (s[i] == '.' || s[i] == ',') && isDigit(s[i+1]) {
		i++
		unit := int(1e8)
		for i < len(s) && isDigit(s[i]) {
			c.nsec += int(s[i]-'0') * unit
			unit /= 10
			i++
		}
	}
	return c, i
}

// scanZone reads a zone behind a time of day: the offset in seconds east of UTC and the bytes it took, which may be 0.
func scanZone(s string) (offset, n int) {
	if s == "" {
		return 0, 0
	}
	if (s[0] == 'Z' || s[0] == 'z') && (len(s) == 1 || !isWordByte(s[1])) {
		return 0, 1
	}
	i := 0
	if s[0] == ' ' {
		i = 1
	}
	if i < len(s) && (s[i] == '+' || s[i] == '-') {
		h, ok := digits(s, i+1, 2)
		if !ok || h > 14 {
			return 0, 0
		}
		end, m := i+3, 0
		if end < len(s) && s[end] == ':' {
			m, ok = digits(s, end+1, 2)
			end += 3
		} else if m, ok = digits(s, end, 2); ok {
			end += 2
		} else {
			// "+02" alone; behind a blank it would be a number of something.
			m, ok = 0, i == 0
		}
		if !ok || m > 59 || (end < len(s) && isWordByte(s[end])) {
			return 0, 0
		}
		offset = h*3600 + m*60
		if s[i] == '-' {
			offset = -offset
		}
		if strings.HasPrefix(s[end:], " UTC") {
			// Go prints a time as "… +0000 UTC".
			end += 4
		}
		return offset, end
	}
	if i == 1 && len(s) > 3 && s[1] >= 'A' && s[1] <= 'Z' {
		for _, z := range zoneNames {
			if strings.HasPrefix(s[1:], z.name) && (len(s) == 1+len(z.name) || !isWordByte(s[1+len(z.name)])) {
				return z.offset * 3600, 1 + len(z.name)
			}
		}
	}
	return 0, 0
}

// zoneNames are the abbreviations that mean one thing only, with their hours east of UTC; CST, IST and BST do not.
var zoneNames = []struct {
	name   string
	offset int
}{
	{"UTC", 0}, {"GMT", 0}, {"CET", 1}, {"CEST", 2}, {"EET", 2}, {"EEST", 3}, {"MSK", 3}, {"JST", 9}, {"KST", 9},
	{"EST", -5}, {"EDT", -4}, {"MDT", -6}, {"PST", -8}, {"PDT", -7},
}

// digits reads exactly n digits of s from i on.
func digits(s string, i, n int) (int, bool) {
	if i < 0 || i+n > len(s) {
		return 0, false
	}
	v := 0
	for _, c := range []byte(s[i : i+n]) {
		if !isDigit(c) {
			return 0, false
		}
		v = v*10 + int(c-'0')
	}
	return v, true
}

// monthOf reads the English three-letter name of a month at the start of s, 0 when there is none.
func monthOf(s string) time.Month {
	if len(s) < 3 {
		return 0
	}
	const names = "janfebmaraprmayjunjulaugsepoctnovdec"
	a, b, c := s[0]|0x20, s[1]|0x20, s[2]|0x20
	for i := 0; i < len(names); i += 3 {
		if names[i] == a && names[i+1] == b && names[i+2] == c {
			return time.Month(i/3 + 1)
		}
	}
	return 0
}

func isWeekday(s string) bool {
	if len(s) < 4 || (s[3] != ' ' && s[3] != ',') {
		return false
	}
	switch s[:3] {
	case "Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun":
		return true
	}
	return false
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// isWordByte tells whether c may be inside a name: letters, digits, underscore and every byte of a non-ASCII rune.
func isWordByte(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || c >= 0x80
}
