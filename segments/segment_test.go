package segments

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/hansard-search/hansard/postings"
)

func TestOpenFile(t *testing.T) {
	model := plantModel()
	b := build(t, Options{Schema: testSchema}, model)
	for name, fs := range map[string]vfs.FS{"disk": vfs.Default, "memory": vfs.NewMem()} {
		path := "seg"
		if name == "disk" {
			path = filepath.Join(t.TempDir(), path)
		}
		f, err := fs.Create(path, vfs.WriteCategoryUnspecified)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Write(bytes.Clone(b)); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		s, err := OpenFile(fs, path)
		if err != nil {
			t.Fatal(err)
		}
		compare(t, name, s, model)
		s.Ref()
		for i, want := range []error{nil, nil, ErrClosed} {
			if err := s.Unref(); !errors.Is(err, want) {
				t.Errorf("%s: Unref %d = %v, want %v", name, i, err, want)
			}
		}
		if _, err := OpenFile(fs, path+"-not-there"); err == nil || errors.Is(err, ErrCorrupt) {
			t.Errorf("%s: opening a missing file gives %v", name, err)
		}
	}
}

func TestTermDoesNotAllocate(t *testing.T) {
	s := open(t, build(t, Options{Schema: testSchema}, plantModel()))
	for _, term := range []string{"common", "b7", "absent", "", strings.Repeat("z", 300)} {
		key := []byte(term)
		n := testing.AllocsPerRun(100, func() {
			if _, err := s.Term(key, postings.Positions); err != nil {
				t.Fatal(err)
			}
		})
		if n > 0 {
			t.Errorf("Term(%q) allocates %v times", term, n)
		}
	}
}

func TestBlockDoesNotAllocatePerTerm(t *testing.T) {
	w, err := NewWriter(Options{Schema: testSchema})
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Repeat("some words that come again and again ", 100)
	if err := errors.Join(w.BeginSession(Ref{}, nil), w.Message(false, nil), w.Block(text, false, nil)); err != nil {
		t.Fatal(err)
	}
	// 700 terms a block: what is left is the growth of the stream.
	if n := testing.AllocsPerRun(200, func() { _ = w.Block(text, false, nil) }); n > 1 {
		t.Errorf("Block allocates %v times", n)
	}
}

func TestAbsentAndPrefix(t *testing.T) {
	r := newRand(t)
	s := open(t, build(t, Options{Schema: testSchema}, randomModel(r, 10, 10)))
	var terms []string
	for term, err := range s.Terms(nil) {
		if err != nil {
			t.Fatal(err)
		}
		terms = append(terms, string(term))
	}
	if !slices.IsSorted(terms) {
		t.Errorf("terms are not sorted: %q", terms)
	}
	for _, prefix := range []string{"", "g", "go", "go1", "par", "zo", "żó", "zzz", "\xff", terms[0], terms[len(terms)-1] + "x"} {
		want := 0
		for _, term := range terms {
			if strings.HasPrefix(term, prefix) {
				want++
			}
		}
		n := 0
		for l, err := range s.Prefix([]byte(prefix), postings.Rows) {
			if err != nil || l.Len() == 0 {
				t.Fatalf("Prefix(%q): %d rows, %v", prefix, l.Len(), err)
			}
			n++
		}
		if n != want {
			t.Errorf("Prefix(%q) yields %d lists, want %d", prefix, n, want)
		}
	}
	for _, term := range terms {
		for _, absent := range []string{term + "!", term[:len(term)-1] + "!", "!" + term} {
			if l, err := s.Term([]byte(absent), postings.Rows); err != nil || l.Len() != 0 {
				t.Errorf("Term(%q) = %d rows, %v, want none", absent, l.Len(), err)
			}
		}
	}
}

func TestNumbersAddRange(t *testing.T) {
	r := newRand(t)
	for range 60 {
		rows := r.IntN(200)
		spread := []int64{1, 200, 60_000, 1 << 31, math.MaxInt64}[r.IntN(5)]
		vals := make([]mSession, rows)
		nums := []int64{}
		for i := range vals {
			if r.IntN(5) == 0 && spread != 200 {
				continue
			}
			n := r.Int64N(spread)
			if spread == math.MaxInt64 && r.IntN(2) == 0 {
				n = -n - 1
			}
			nums = append(nums, n)
			vals[i].vals = []Value{{Column: 1, Number: n}}
		}
		s := open(t, build(t, Options{Schema: testSchema}, vals))
		c, err := s.Numbers("session.words")
		if err != nil {
			t.Fatal(err)
		}
		nums = append(nums, math.MinInt64, math.MaxInt64, 0)
		for range 20 {
			lo, hi := nums[r.IntN(len(nums))], nums[r.IntN(len(nums))]
			got, want := postings.NewBits(rows), postings.NewBits(rows)
			for i, v := range vals {
				if len(v.vals) > 0 && lo <= v.vals[0].Number && v.vals[0].Number <= hi {
					want.Add(postings.Ord(i))
				}
			}
			if err := c.AddRange(lo, hi, got); err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(got.Words(), want.Words()) {
				t.Fatalf("AddRange(%d, %d) over %d rows = %v, want %v", lo, hi, rows, slices.Collect(got.All()), slices.Collect(want.All()))
			}
		}
		if lo, hi, ok := c.Bounds(); ok != (len(nums) > 3) || ok && (lo != slices.Min(nums[:len(nums)-3]) || hi != slices.Max(nums[:len(nums)-3])) {
			t.Fatalf("Bounds = %d, %d, %v of %v", lo, hi, ok, nums)
		}
	}
}

func TestKeywordsSeekAndCount(t *testing.T) {
	s := open(t, build(t, Options{Schema: testSchema}, plantModel()))
	d, err := s.Keywords("message.role")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		v    string
		want int
	}{{"", 0}, {"r0", 0}, {"r00", 1}, {"r9", 9}, {"s", 10}, {"user", 10}, {"user0", 11}} {
		if i, err := d.Seek(c.v); err != nil || i != c.want {
			t.Errorf("Seek(%q) = %d, %v, want %d", c.v, i, err, c.want)
		}
	}
	if n, err := d.Count(10); err != nil || n != 40 {
		t.Errorf("Count(user) = %d, %v, want 40", n, err)
	}
	if _, err := d.Value(11); err == nil {
		t.Error("Value beyond the last gives no error")
	}
	if d, err := s.Keywords("no.column"); err != nil || d.Len() != 0 {
		t.Errorf("an unknown column has %d values, %v", d.Len(), err)
	}
	if n, err := s.Numbers("no.column"); err != nil {
		t.Error(err)
	} else if _, _, any := n.Bounds(); any {
		t.Error("an unknown column has bounds")
	}
}

func TestBoundsAreThose(t *testing.T) {
	s := open(t, build(t, Options{Schema: testSchema}, plantModel()))
	for term, some := range map[string]bool{"common": true, "b7": false, "absent": false} {
		l, err := s.Term([]byte(term), postings.Freqs)
		if err != nil {
			t.Fatal(err)
		}
		b, err := s.Bounds([]byte(term), l)
		if err != nil || (fmt.Sprint(b) != fmt.Sprint(postings.Bounds{})) != some {
			t.Errorf("Bounds(%q) = %v, %v, want some: %v", term, b, err, some)
		}
	}
}

func TestConcurrentReaders(t *testing.T) {
	model := plantModel()
	s := open(t, build(t, Options{Schema: testSchema}, model))
	sound := want(model)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if a, err := got(s); err != nil || a.Tokens != sound.Tokens || !slices.Equal(a.Terms, sound.Terms) {
				t.Errorf("a concurrent reader gets other answers, %v", err)
			}
		})
	}
	wg.Wait()
}

func TestWordsWithoutView(t *testing.T) {
	b := []byte{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}
	for _, c := range [][]byte{nil, b[:8], b[1:9], b[:16], b[1:17]} {
		if !slices.Equal(u32s(c), decodeU32s(c)) {
			t.Errorf("u32s(%v) = %v, want %v", c, u32s(c), decodeU32s(c))
		}
		if !slices.Equal(u64s(c), decodeU64s(c)) {
			t.Errorf("u64s(%v) = %v, want %v", c, u64s(c), decodeU64s(c))
		}
	}
}

func TestLengthsSliceDoesNotAllocate(t *testing.T) {
	s := open(t, build(t, Options{Schema: testSchema}, plantModel()))
	l, err := s.Lengths()
	if err != nil {
		t.Fatal(err)
	}
	if n := testing.AllocsPerRun(100, func() {
		if v, err := l.Slice(100, 300); err != nil || len(v) != 200 {
			t.Fatal(len(v), err)
		}
	}); n > 0 {
		t.Errorf("Slice allocates %v times", n)
	}
	if _, err := l.Slice(0, postings.Ord(s.Rows(postings.Block))+1); err == nil {
		t.Error("a slice beyond the last block gives no error")
	}
}
