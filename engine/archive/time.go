package archive

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// Bounds of a plausible epoch: a number below the first is no time; from the
// second on it counts milliseconds, from the third microseconds, from the fourth
// nanoseconds.
const (
	minEpoch   = 86400
	epochMilli = 1e11
	epochMicro = 1e14
	epochNano  = 1e17
)

// maxTime is the last millisecond of the year 9999.
const maxTime = 253402300799999

// EpochTime is the time of a number of seconds since 1970, or of a unit below a
// second when the number is too big for seconds. It is NoTime for numbers below
// one day and for times after the year 9999.
func EpochTime(n float64) int64 {
	switch {
	case math.IsNaN(n) || n < minEpoch:
		return NoTime
	case n >= epochNano:
		n /= 1e6
	case n >= epochMicro:
		n /= 1e3
	case n < epochMilli:
		n *= 1e3
	}
	if n > maxTime {
		return NoTime
	}
	return int64(math.Round(n))
}

// layouts that sources write, without the zone.
var layouts = []string{
	"2006-01-02T15:04:05", "2006-01-02 15:04:05", "2006-01-02T15:04", "2006-01-02 15:04", "2006-01-02",
}

// ParseTime reads a time as sources write it: ISO 8601 with "T" or a space, with
// any number of fraction digits after "." or ",", with "Z", an offset or none
// (which means UTC), or a number as in [EpochTime]. The result is in Unix
// milliseconds, cut below; what cannot be read is NoTime.
func ParseTime(s string) int64 {
	s = strings.TrimSpace(s)
	if len(s) == 0 || len(s) > 64 {
		return NoTime
	}
	if strings.Trim(s, "0123456789.") == "" {
		if n, err := strconv.ParseFloat(s, 64); err == nil {
			return EpochTime(n)
		}
		return NoTime
	}
	s = strings.ToUpper(s)
	body, offset, ok := cutZone(s)
	if !ok {
		return NoTime
	}
	body = strings.Replace(body, ",", ".", 1)
	for _, layout := range layouts {
		t, err := time.Parse(layout, body) // accepts a fraction after the seconds
		if err != nil {
			continue
		}
		ms := t.UnixMilli() - offset
		if ms > maxTime || t.Year() < 1 {
			return NoTime
		}
		return ms
	}
	return NoTime
}

// cutZone splits the zone off a time and returns its offset in milliseconds.
func cutZone(s string) (body string, offset int64, ok bool) {
	for _, utc := range []string{"Z", " UTC", " GMT"} {
		if body, ok := strings.CutSuffix(s, utc); ok {
			return body, 0, true
		}
	}
	i := strings.LastIndexAny(s, "+-")
	if i < len("2006-01-02T15:04") {
		return s, 0, true
	}
	digits := strings.Replace(s[i+1:], ":", "", 1)
	if len(digits) == 2 {
		digits += "00"
	}
	n, err := strconv.ParseUint(digits, 10, 16)
	if err != nil || len(digits) != 4 || n/100 > 23 || n%100 > 59 {
		return "", 0, false
	}
	offset = (int64(n/100)*60 + int64(n%100)) * 60_000
	if s[i] == '-' {
		offset = -offset
	}
	return strings.TrimSpace(s[:i]), offset, true
}
