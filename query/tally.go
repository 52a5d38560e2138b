package query

import (
	"math/big"
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"github.com/hansard-search/hansard/postings"
)

// A tally is a group that is being made.
type tally struct {
	keys   []GroupKey
	count  int64
	series []series // by metric field
}

// A series is what a metric field comes to over the rows that have a number.
type series struct {
	n        int64
	high     int64 // of the sum, in 128 bits
	low      uint64
	min, max int64
	values   []int64 // kept for percentiles alone
}

func (s *series) add(v int64) {
	if s.n == 0 || v < s.min {
		s.min = v
	}
	if s.n == 0 || v > s.max {
		s.max = v
	}
	s.n++
	s.plus(v>>63, uint64(v))
}

func (s *series) plus(high int64, low uint64) {
	var carry uint64
	s.low, carry = bits.Add64(s.low, low, 0)
	s.high += high + int64(carry)
}

func (s *series) join(o *series) {
	if o.n == 0 {
		return
	}
	if s.n == 0 || o.min < s.min {
		s.min = o.min
	}
	if s.n == 0 || o.max > s.max {
		s.max = o.max
	}
	s.n += o.n
	s.plus(o.high, o.low)
	s.values = append(s.values, o.values...)
}

// sum is exact until it is rounded here.
func (s *series) sum() float64 {
	n := new(big.Int).Lsh(big.NewInt(s.high), 64)
	n.Add(n, new(big.Int).SetUint64(s.low))
	f, _ := new(big.Float).SetInt(n).Float64()
	return f
}

func (t *tally) join(o *tally) {
	t.count += o.count
	for i := range t.series {
		t.series[i].join(&o.series[i])
	}
}

// numbers reduces what was gathered.
func (t *tally) numbers(agg []Metric) []Number {
	out := make([]Number, len(agg))
	fields := metricFields(agg)
	for i := range t.series {
		slices.Sort(t.series[i].values)
	}
	for i, m := range agg {
		if m.Fn == "count" {
			out[i] = Number{float64(t.count), true}
			continue
		}
		if s := &t.series[slices.Index(fields, m.Field)]; s.n > 0 {
			out[i] = Number{s.reduce(m.Fn), true}
		}
	}
	return out
}

// reduce makes the number of a function of a series that is not empty, whose values are
// sorted. A percentile is the nearest rank: the value at ceil(N/100·n), counted from 1.
func (s *series) reduce(fn string) float64 {
	switch fn {
	case "min":
		return float64(s.min)
	case "max":
		return float64(s.max)
	case "sum":
		return s.sum()
	case "avg":
		return s.sum() / float64(s.n)
	}
	n, ok := percentile(fn)
	if !ok {
		panic("query: unknown function " + fn)
	}
	return float64(s.values[max((n*len(s.values)+99)/100-1, 0)])
}

// percentile is the N of pN.
func percentile(fn string) (int, bool) {
	digits, ok := strings.CutPrefix(fn, "p")
	n, err := strconv.Atoi(digits)
	return n, ok && err == nil && n >= 1 && n <= 99
}

// metricFields are the fields that metrics read, each once.
func metricFields(agg []Metric) []string {
	var out []string
	for _, m := range agg {
		if m.Field != "" && !slices.Contains(out, m.Field) {
			out = append(out, m.Field)
		}
	}
	return out
}

// keeps reports whether a metric needs all values of a field.
func keeps(agg []Metric, field string) bool {
	return slices.ContainsFunc(agg, func(m Metric) bool {
		_, percentile := percentile(m.Fn)
		return percentile && m.Field == field
	})
}

// columnOf is the column behind a group or metric field of a unit.
func columnOf(u *UnitSpec, field string) string {
	switch field {
	case "tool":
		field = "tool_name" // as the source spells it
	case "action", "type":
		if u.Rows == postings.Action || field == "action" {
			field = "semantic"
		}
	case "word_count":
		field = "words"
	}
	if strings.HasPrefix(field, ownerPrefix) {
		return field
	}
	return u.Rows.String() + "." + field
}
