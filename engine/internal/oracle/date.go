package oracle

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// date reads the dates that tests use: 7d, today, 2026, 2026-01, 2026-01-02 and
// 2026-01-02T15:04:05Z. It returns the first and the last millisecond.
func (a *Archive) date(text string) (lo, hi int64, err error) {
	if days, ok := strings.CutSuffix(text, "d"); ok {
		n, err := strconv.Atoi(days)
		t := a.now.UTC().AddDate(0, 0, -n).UnixMilli()
		return t, t, err
	}
	if text == "today" {
		text = a.now.UTC().Format(time.DateOnly)
	}
	for _, form := range []struct {
		layout              string
		years, months, days int
	}{{"2006", 1, 0, 0}, {"2006-01", 0, 1, 0}, {time.DateOnly, 0, 0, 1}} {
		if t, err := time.Parse(form.layout, text); err == nil {
			return t.UnixMilli(), t.AddDate(form.years, form.months, form.days).UnixMilli() - 1, nil
		}
	}
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return 0, 0, fmt.Errorf("oracle: date %q: %w", text, err)
	}
	return t.UnixMilli(), t.UnixMilli(), nil
}
