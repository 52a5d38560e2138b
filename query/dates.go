package query

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// An interval is what a date means: from its first to its last millisecond since
// the epoch, both inclusive. An instant has lo == hi.
type interval struct{ lo, hi int64 }

// forever bounds what has no bound; no recorded time is beyond it.
var forever = interval{math.MinInt64, math.MaxInt64}

// parseDate reads a date: 12h 7d 2w 3m, today, yesterday, last week, 2026,
// 2026-01, 2026-01-02, 2026-01-02T15:04:05.000+01:00 and their like. Dates without
// a zone are in that of now.
func parseDate(text string, now time.Time) (interval, bool) {
	s := strings.ToLower(strings.Join(strings.Fields(text), " "))
	if iv, ok := relativeDate(s, now); ok {
		return iv, true
	}
	if iv, ok := wordDate(s, now); ok {
		return iv, true
	}
	return isoDate(s, now.Location())
}

// relativeDate reads 7d and 7 days ago.
func relativeDate(s string, now time.Time) (interval, bool) {
	n := len(s) - len(strings.TrimLeft(s, "0123456789"))
	if n == 0 || n > 6 {
		return interval{}, false
	}
	count, err := strconv.Atoi(s[:n])
	if err != nil {
		return interval{}, false
	}
	unit := s[n:]
	if words, ok := strings.CutSuffix(unit, " ago"); ok {
		words = strings.TrimSuffix(strings.TrimPrefix(words, " "), "s")
		unit = map[string]string{"hour": "h", "day": "d", "week": "w", "month": "m", "year": "y"}[words]
	}
	var t time.Time
	switch unit {
	case "h":
		t = now.Add(-time.Duration(count) * time.Hour)
	case "d":
		t = now.AddDate(0, 0, -count)
	case "w":
		t = now.AddDate(0, 0, -7*count)
	case "m":
		t = monthsBefore(now, count)
	case "y":
		t = monthsBefore(now, 12*count)
	default:
		return interval{}, false
	}
	if t.Year() < 1 {
		return interval{}, false
	}
	return interval{t.UnixMilli(), t.UnixMilli()}, true
}

// monthsBefore keeps the day of the month where that month has it, and takes its
// last day where it does not: a month before 31 March is the end of February.
func monthsBefore(t time.Time, n int) time.Time {
	y, m, d := t.Date()
	last := time.Date(y, m-time.Month(n)+1, 0, 0, 0, 0, 0, t.Location()).Day()
	h, mi, s := t.Clock()
	return time.Date(y, m-time.Month(n), min(d, last), h, mi, s, t.Nanosecond(), t.Location())
}

// wordDate reads the named days, and weeks (from Monday), months and years of the
// calendar.
func wordDate(s string, now time.Time) (interval, bool) {
	y, m, d := now.Date()
	day := func(y int, m time.Month, d int) time.Time { return time.Date(y, m, d, 0, 0, 0, 0, now.Location()) }
	monday := d - (int(now.Weekday())+6)%7
	switch s {
	case "now":
		return interval{now.UnixMilli(), now.UnixMilli()}, true
	case "today":
		return between(day(y, m, d), day(y, m, d+1)), true
	case "yesterday":
		return between(day(y, m, d-1), day(y, m, d)), true
	case "this week":
		return between(day(y, m, monday), day(y, m, monday+7)), true
	case "last week":
		return between(day(y, m, monday-7), day(y, m, monday)), true
	case "this month":
		return between(day(y, m, 1), day(y, m+1, 1)), true
	case "last month":
		return between(day(y, m-1, 1), day(y, m, 1)), true
	case "this year":
		return between(day(y, 1, 1), day(y+1, 1, 1)), true
	case "last year":
		return between(day(y-1, 1, 1), day(y, 1, 1)), true
	}
	return interval{}, false
}

// between is the interval from start to the last millisecond before end.
func between(start, end time.Time) interval {
	return interval{start.UnixMilli(), end.UnixMilli() - 1}
}

// isoDate reads the forms of ISO 8601 with four digits of year.
func isoDate(s string, loc *time.Location) (interval, bool) {
	s = strings.ToUpper(s)
	if t, err := time.ParseInLocation("2006", s, loc); err == nil {
		return between(t, t.AddDate(1, 0, 0)), true
	}
	if t, err := time.ParseInLocation("2006-01", s, loc); err == nil {
		return between(t, t.AddDate(0, 1, 0)), true
	}
	if t, err := time.ParseInLocation("2006-01-02", s, loc); err == nil {
		return between(t, t.AddDate(0, 0, 1)), true
	}
	if len(s) < 11 || s[10] != 'T' && s[10] != ' ' {
		return interval{}, false
	}
	s = s[:10] + "T" + s[11:]
	for _, zone := range [...]string{"", "Z07:00", "Z0700"} {
		for _, clock := range [...]string{"15:04:05", "15:04", "15"} { // seconds take a fraction too
			if t, err := time.ParseInLocation("2006-01-02T"+clock+zone, s, loc); err == nil {
				return interval{t.UnixMilli(), t.UnixMilli()}, true
			}
		}
	}
	return interval{}, false
}

// compareDate is the interval of the times t for which "t op date" holds.
func compareDate(op string, d interval) interval {
	switch op {
	case ">=":
		return interval{d.lo, forever.hi}
	case ">":
		return interval{d.hi + 1, forever.hi}
	case "<=":
		return interval{forever.lo, d.hi}
	default: // "<"
		return interval{forever.lo, d.lo - 1}
	}
}
