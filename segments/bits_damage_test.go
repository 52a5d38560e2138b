package segments

import (
	"errors"
	"flag"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/hansard-search/hansard/postings"
)

var long = flag.Bool("long", false, "every bit of a file, a million hostile files")

// brief asks a segment a little of everything: a few terms with rows, frequencies and
// positions, spans, columns, statistics. It is a hundredth of what got asks.
func brief(s *Segment, terms [][]byte) (sum uint64, err error) {
	mix := func(v uint64) { sum = sum*0x9e3779b97f4a7c15 + v + 1 }
	for _, term := range terms {
		l, err := s.Term(term, postings.Positions)
		if err != nil {
			return 0, err
		}
		mix(l.Total())
		c := l.Cursor()
		for pos := []uint32(nil); c.Next(); {
			pos = c.AppendPositions(pos[:0])
			mix(uint64(c.Row()))
			for _, p := range pos {
				mix(uint64(p))
			}
		}
		if c.Err() != nil {
			return 0, c.Err()
		}
	}
	for _, k := range spanKinds {
		spans, err := s.Spans(k[0], k[1])
		if err != nil {
			return 0, err
		}
		if spans.Parents() > 0 {
			lo, hi := spans.Run(0)
			mix(uint64(lo)<<32 | uint64(hi))
		}
	}
	if s.Rows(postings.Session) == 0 {
		return sum, nil
	}
	ref, err := s.SessionRef(0)
	if err != nil {
		return 0, err
	}
	blocks, tokens, err := s.SessionTotals(0)
	if err != nil {
		return 0, err
	}
	mix(ref.No)
	mix(uint64(blocks + tokens))
	return sum, briefColumns(s, mix)
}

func briefColumns(s *Segment, mix func(uint64)) error {
	n, err := s.Numbers("block.size")
	if err != nil {
		return err
	}
	d, err := s.Keywords("message.role")
	if err != nil {
		return err
	}
	for o := range postings.Ord(4) {
		if int(o) >= s.Rows(postings.Block) || int(o) >= s.Rows(postings.Message) {
			break
		}
		v, ok, err := n.At(o)
		if err != nil {
			return err
		}
		ids, err := d.AppendOf(nil, o)
		if err != nil {
			return err
		}
		mix(uint64(v))
		if ok {
			mix(uint64(len(ids)))
		}
	}
	return nil
}

// sampleTerms are some terms of a segment: the first, and every hundredth.
func sampleTerms(t testing.TB, s *Segment) (terms [][]byte) {
	t.Helper()
	n := 0
	for term, err := range s.Terms(nil) {
		if err != nil {
			t.Fatal(err)
		}
		if n%100 == 0 {
			terms = append(terms, append([]byte{}, term...))
		}
		n++
	}
	return terms
}

// A flipper turns bits of a segment over, one at a time, and judges what comes of it.
type flipper struct {
	sound []byte
	terms [][]byte
	want  uint64
	whole answers

	atOpen, atQuery, same atomic.Int64
}

// try flips one bit of b, which is the sound file before and after. Either opening or
// querying names file and section, or the answers are those of the sound file; in any
// case Check names the damage.
func (f *flipper) try(b []byte, bit int, everything bool) error {
	b[bit/8] ^= 1 << (bit % 8)
	defer func() { b[bit/8] ^= 1 << (bit % 8) }()
	s, err := OpenBytes("flipped", b)
	if err != nil {
		f.atOpen.Add(1)
		return named(err)
	}
	got, err := brief(s, f.terms)
	switch {
	case err != nil:
		f.atQuery.Add(1)
		if err := named(err); err != nil {
			return err
		}
	case got != f.want:
		return errors.New("silent: other answers")
	default:
		f.same.Add(1)
	}
	if everything {
		if err := f.honest(s); err != nil {
			return err
		}
	}
	faults := Check(s)
	if len(faults) == 0 {
		return errors.New("Check finds nothing")
	}
	if !slices.ContainsFunc(faults, func(f Fault) bool { return f.Code == FaultChecksum && f.Section != "" }) {
		return fmt.Errorf("Check names it %+v", faults)
	}
	return nil
}

// honest asks everything.
func (f *flipper) honest(s *Segment) error {
	a, err := got(s)
	if err != nil {
		return named(err)
	}
	if fmt.Sprint(a) != fmt.Sprint(f.whole) {
		return errors.New("silent: other answers to everything")
	}
	return nil
}

// named wants an error that says which file and section are damaged.
func named(err error) error {
	var ce *CorruptError
	if !errors.Is(err, ErrCorrupt) || !errors.As(err, &ce) || ce.File == "" || ce.Section == "" {
		return fmt.Errorf("error %w does not name file and section", err)
	}
	return nil
}

// TestBitFlips flips bits of a file of three pages of 64 KiB, the middle one of which is
// verified long after it was opened: a sample of all bits or, with -long, every bit of
// the first two pages and of what follows the pages.
func TestBitFlips(t *testing.T) {
	r := newRand(t)
	var b []byte
	var model []mSession
	for n := 60; len(b) < 150<<10; n += 10 {
		model = randomModel(r, n, 12)
		b = build(t, Options{Schema: testSchema}, model)
	}
	s := open(t, b)
	f := &flipper{sound: b, terms: sampleTerms(t, s), whole: want(model)}
	var err error
	if f.want, err = brief(s, f.terms); err != nil {
		t.Fatal(err)
	}
	bits := 8 * len(b)
	tries := r.Perm(bits)[:5000]
	if *long {
		tries = tries[:0]
		for i := range bits {
			if byte := int64(i / 8); byte < 2*pageBytes || byte >= s.pageEnd {
				tries = append(tries, i)
			}
		}
	}
	var next, failed atomic.Int64
	var done sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		mine := append([]byte(nil), b...)
		done.Go(func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= len(tries) || failed.Load() > 10 {
					return
				}
				if err := f.try(mine, tries[i], i%500 == 0); err != nil {
					failed.Add(1)
					t.Errorf("bit %d of %d: %v", tries[i], bits, err)
				}
			}
		})
	}
	done.Wait()
	t.Logf("%d of %d bits: %d found at open, %d by a query, %d by Check alone", len(tries), bits, f.atOpen.Load(), f.atQuery.Load(), f.same.Load())
	if f.atOpen.Load() == 0 || f.atQuery.Load() == 0 {
		t.Error("the file does not have both kinds of page")
	}
}

// TestSectionDamage cuts, zeroes, swaps and repeats at every boundary of every section:
// nothing of it is silent.
func TestSectionDamage(t *testing.T) {
	r := newRand(t)
	model := randomModel(r, 4, 5)
	b := build(t, Options{Schema: testSchema}, model)
	s := open(t, b)
	f := &flipper{terms: sampleTerms(t, s), whole: want(model)}
	var err error
	if f.want, err = brief(s, f.terms); err != nil {
		t.Fatal(err)
	}
	tried, silent := 0, 0
	judge := func(what string, damaged []byte) {
		if string(damaged) == string(b) {
			return
		}
		tried++
		s, err := OpenBytes("damaged", damaged)
		if err == nil {
			if err = f.honest(s); err == nil && len(Check(s)) > 0 {
				return
			}
		}
		if err == nil {
			err = errors.New("silent")
		} else if err = named(err); err == nil {
			return
		}
		if silent++; silent < 10 {
			t.Errorf("%s: %v", what, err)
		}
	}
	edges := []int64{0, headerBytes, int64(len(b)) - trailerBytes, int64(len(b))}
	for i := range s.sections {
		edges = append(edges, s.sections[i].off, s.sections[i].off+s.sections[i].size)
	}
	clone := func() []byte { return append([]byte(nil), b...) }
	for _, edge := range edges {
		for _, at := range []int64{edge - 1, edge, edge + 1} {
			if at < 0 || at > int64(len(b)) {
				continue
			}
			judge(fmt.Sprintf("cut at %d", at), clone()[:at])
			judge(fmt.Sprintf("a byte more at %d", at), append(append(clone()[:at:at], 0), b[at:]...))
			for _, to := range edges {
				if to > at {
					z := clone()
					clear(z[at:to])
					judge(fmt.Sprintf("zeros from %d to %d", at, to), z)
				}
			}
		}
	}
	for i := range s.sections {
		for j := range s.sections {
			x, y := s.sections[i], s.sections[j]
			z := clone()
			n := min(x.size, y.size)
			copy(z[x.off:x.off+n], b[y.off:y.off+n])
			judge(fmt.Sprintf("%s over %s", &y, &x), z)
			copy(z[y.off:y.off+n], b[x.off:x.off+n])
			judge(fmt.Sprintf("%s and %s swapped", &x, &y), z)
		}
	}
	t.Logf("%d damaged files, %d silent", tried, silent)
}
