package bm25

import (
	"slices"
	"testing"
)

type hit struct {
	score float64
	id    int
}

// better orders hits as a search does: the lower score, then the greater id.
func better(a, b hit) bool {
	if a.score != b.score {
		return a.score < b.score
	}
	return a.id > b.id
}

// TestTopK compares with sorting everything, with many equal scores.
func TestTopK(t *testing.T) {
	r := random(t)
	for range 2000 {
		k, n := r.IntN(12), r.IntN(60)
		top := NewTopK(k, better)
		for range 2 { // the second round runs on used memory
			var all []hit
			for id := range n {
				all = append(all, hit{-float64(r.IntN(8)), id})
			}
			r.Shuffle(n, func(i, j int) { all[i], all[j] = all[j], all[i] })
			for i, h := range all {
				worst, full := top.Worst()
				if full != (k > 0 && i >= k) {
					t.Fatalf("Worst says full = %v after %d of %d", full, i, k)
				}
				want := k > 0 && (!full || better(h, worst))
				if got := top.Offer(h); got != want {
					t.Fatalf("Offer(%v) = %v with worst %v", h, got, worst)
				}
			}
			slices.SortFunc(all, func(a, b hit) int {
				if better(a, b) {
					return -1
				}
				return 1
			})
			want := all[:min(k, n)]
			if top.Len() != len(want) {
				t.Fatalf("Len = %d, want %d", top.Len(), len(want))
			}
			if got := top.AppendSorted(nil); !slices.Equal(got, want) {
				t.Fatalf("top %d of %v = %v, want %v", k, all, got, want)
			}
			if top.Len() != 0 {
				t.Fatal("AppendSorted leaves items")
			}
		}
	}
}

func TestTopKNegative(t *testing.T) {
	top := NewTopK(-1, better)
	if top.Offer(hit{}) || top.Len() != 0 {
		t.Error("a keeper of nothing keeps an item")
	}
}

func TestTopKDoesNotAllocate(t *testing.T) {
	top := NewTopK(10, better)
	dst := make([]hit, 0, 10)
	got := testing.AllocsPerRun(100, func() {
		for i := range 100 {
			top.Offer(hit{-float64(i * 37 % 101), i})
		}
		dst = top.AppendSorted(dst[:0])
		top.Offer(hit{1, 1})
		top.Reset()
	})
	if got != 0 {
		t.Errorf("TopK allocates %v times", got)
	}
}

func BenchmarkTopK(b *testing.B) {
	r := random(b)
	hits := make([]hit, 1024)
	for i := range hits {
		hits[i] = hit{-r.Float64(), i}
	}
	top := NewTopK(10, better)
	b.ReportAllocs()
	for b.Loop() {
		for _, h := range hits {
			top.Offer(h)
		}
		top.Reset()
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(hits)), "ns/item")
}
