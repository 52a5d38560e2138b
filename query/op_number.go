package query

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/hansard-search/hansard/postings"
)

// numbers selects the sessions whose number lies in one of its intervals. A
// session without a number is in none.
type numbers struct {
	column string
	in     []interval
	time   bool // the numbers are times
}

func (p *numbers) cost() Cost { return CostColumn }

func (p *numbers) String() string {
	var parts []string
	for _, iv := range p.in {
		lo, hi := p.value(iv.lo), p.value(iv.hi)
		switch {
		case iv.lo == forever.lo:
			parts = append(parts, "<= "+hi)
		case iv.hi == forever.hi:
			parts = append(parts, ">= "+lo)
		default:
			parts = append(parts, "in "+lo+".."+hi)
		}
	}
	return p.column + " " + strings.Join(parts, " or ")
}

// value prints a number, or a time as a date.
func (p *numbers) value(v int64) string {
	if p.time {
		return time.UnixMilli(v).UTC().Format("2006-01-02T15:04:05.000Z")
	}
	return strconv.FormatInt(v, 10)
}

func (p *numbers) add(x *segment, _, out *postings.Bits) error {
	col, err := x.src.Numbers(p.column)
	if err != nil {
		return fmt.Errorf("column %s: %w", p.column, err)
	}
	lo, hi, any := col.Bounds()
	if !any {
		return nil
	}
	for _, iv := range p.in {
		if iv.hi < lo || iv.lo > hi {
			continue
		}
		if err := col.AddRange(iv.lo, iv.hi, out); err != nil {
			return fmt.Errorf("column %s: %w", p.column, err)
		}
	}
	return nil
}

// compareNumber is the interval of the numbers n for which "n op v" holds.
func compareNumber(op string, v int64) interval {
	switch op {
	case ">=":
		return interval{v, forever.hi}
	case ">":
		if v == forever.hi {
			return interval{1, 0}
		}
		return interval{v + 1, forever.hi}
	case "<=":
		return interval{forever.lo, v}
	case "<":
		if v == forever.lo {
			return interval{1, 0}
		}
		return interval{forever.lo, v - 1}
	default: // "="
		return interval{v, v}
	}
}
