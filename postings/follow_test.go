package postings

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// clock is a column of times; rows beyond it, and those that are missing, have none.
type clock struct {
	times   []int64
	missing *Bits
	fail    error
}

func (c clock) At(o Ord) (int64, bool, error) {
	return c.times[o], !c.missing.Has(o), c.fail
}
func (c clock) Bounds() (lo, hi int64, any bool)     { return 0, 0, false }
func (c clock) AddRange(lo, hi int64, b *Bits) error { return errors.New("not asked for") }
func sameWords(a, b *Bits) bool                      { return slices.Equal(a.Words(), b.Words()) }
func randomClock(r *rand.Rand, n int, ascending bool) clock {
	c := clock{times: make([]int64, n), missing: randomBits(r, n, 7)}
	for i := range c.times {
		c.times[i] = int64(r.IntN(50))
		if ascending && i > 0 {
			c.times[i] = c.times[i-1] + int64(r.IntN(4))
		}
		if r.IntN(60) == 0 {
			c.times[i] = []int64{math.MinInt64, math.MaxInt64}[r.IntN(2)]
		}
	}
	return c
}

// TestFollow compares the kernels with loops over all pairs.
func TestFollow(t *testing.T) {
	r := random(t)
	for range 600 {
		s := randomSpans(r, r.IntN(60), []int{1, 3, 20, 90, 300}[r.IntN(5)])
		n := s.Children()
		live := randomBits(r, n, 1+r.IntN(3))
		prev, next := randomBits(r, n, 1+r.IntN(20)), randomBits(r, n, 1+r.IntN(20))
		prev.And(live)
		next.And(live)
		times, span := randomClock(r, n, r.IntN(2) == 0), int64(r.IntN(30))
		after, right, within := NewBits(n), NewBits(n), NewBits(n)
		for p := range s.Parents() {
			lo, hi := s.Run(Ord(p))
			for a := lo; a < hi; a++ {
				nearest := true
				for b := a + 1; b < hi && prev.Has(a); b++ {
					if next.Has(b) {
						after.Add(b)
						if nearest {
							right.Add(b)
						}
						from, to := times.times[a], times.times[b]
						if !times.missing.Has(a) && !times.missing.Has(b) && to >= from && uint64(to)-uint64(from) <= uint64(span) {
							within.Add(b)
						}
					}
					nearest = nearest && !live.Has(b)
				}
			}
		}
		got := NewBits(n)
		if Follow(prev, next, got, s); !sameWords(got, after) {
			t.Fatalf("Follow over %v finds %d rows, want %d", s.Offsets(), got.Count(), after.Count())
		}
		got.Reset(n)
		if FollowNext(prev, next, live, got, s); !sameWords(got, right) {
			t.Fatalf("FollowNext over %v finds %d rows, want %d", s.Offsets(), got.Count(), right.Count())
		}
		got.Reset(n)
		if err := FollowWithin(prev, next, got, s, times, span); err != nil || !sameWords(got, within) {
			t.Fatalf("FollowWithin %d over %v finds %d rows, want %d; %v", span, s.Offsets(), got.Count(), within.Count(), err)
		}
	}
}

func TestFollowWithinFails(t *testing.T) {
	s, b, bad := NewSpans([]uint32{0, 3}), NewBits(3), errors.New("damaged")
	b.Fill()
	c := clock{times: make([]int64, 3), missing: NewBits(3), fail: bad}
	if err := FollowWithin(b, b, NewBits(3), s, c, 1); !errors.Is(err, bad) {
		t.Errorf("error = %v", err)
	}
}

func BenchmarkFollow(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 1))
	s := randomSpans(r, 10_000, 200)
	n := s.Children()
	live := NewBits(n)
	live.Fill()
	prev, next, out, times := randomBits(r, n, 10), randomBits(r, n, 10), NewBits(n), randomClock(r, n, true)
	for _, c := range []struct {
		name string
		f    func()
	}{
		{"any", func() { Follow(prev, next, out, s) }},
		{"next", func() { FollowNext(prev, next, live, out, s) }},
		{"within", func() { _ = FollowWithin(prev, next, out, s, times, 10) }},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				out.Reset(n)
				c.f()
			}
			b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
		})
	}
}
