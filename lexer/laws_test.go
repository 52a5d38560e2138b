package lexer

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"
	"unicode/utf8"
)

// A place is a term, as bytes of the tester's memory, with where it stands.
type place struct{ from, to, start, end int }

// A lawTester tries the laws of the package on one text after the other. It reuses
// its memory, so that what a run allocates is the scanner's doing.
type lawTester struct {
	scanner, other Scanner
	terms          []byte
	places         []place
	copied, clean  []byte
}

func (l *lawTester) term(p place) []byte { return l.terms[p.from:p.to] }

// check returns what is wrong with the scan of text, or nil; cut, modulo its length,
// is where it is cut in two. It must not change text.
func (l *lawTester) check(text []byte, cut uint) error {
	l.copied = append(l.copied[:0], text...)
	l.terms, l.places = l.terms[:0], l.places[:0]
	s := &l.scanner
	s.Reset(text)
	for s.Next() {
		from := len(l.terms)
		l.terms = append(l.terms, s.Term()...)
		l.places = append(l.places, place{from, len(l.terms), s.Start(), s.End()})
		if s.Pos() != len(l.places)-1 {
			return fmt.Errorf("term %d has position %d", len(l.places)-1, s.Pos())
		}
	}
	if !bytes.Equal(text, l.copied) {
		return fmt.Errorf("the scanner wrote to the text")
	}
	if err := l.each(text); err != nil {
		return err
	}
	if err := l.cut(text, int(cut%uint(len(text)+1))); err != nil {
		return err
	}
	return l.replaced(text)
}

// each checks every term and what lies between two of them: offsets ascend, a term
// scans to itself, what is left out holds none.
func (l *lawTester) each(text []byte) error {
	end := 0
	for i, p := range l.places {
		term := l.term(p)
		if p.start < end || p.end <= p.start || p.end > len(text) || len(term) == 0 || !utf8.Valid(term) {
			return fmt.Errorf("term %d, %+q, at %d-%d behind %d", i, term, p.start, p.end, end)
		}
		if err := l.none(text[end:p.start]); err != nil {
			return err
		}
		end = p.end
		if err := l.one(text[p.start:p.end], term, p.end-p.start); err != nil {
			return fmt.Errorf("term %d alone: %w", i, err)
		}
		if err := l.one(term, term, len(term)); err != nil {
			return fmt.Errorf("term %d again: %w", i, err)
		}
	}
	return l.none(text[end:])
}

func (l *lawTester) none(gap []byte) error {
	if l.other.Reset(gap); l.other.Next() {
		return fmt.Errorf("between terms, %+q holds the term %+q", gap, l.other.Term())
	}
	return nil
}

// one checks that text is the one term want, from its first byte to end.
func (l *lawTester) one(text, want []byte, end int) error {
	s := &l.other
	s.Reset(text)
	if !s.Next() || !bytes.Equal(s.Term(), want) || s.Start() != 0 || s.End() != end {
		return fmt.Errorf("%+q scans to %+q at %d-%d, want %+q", text, s.Term(), s.Start(), s.End(), want)
	}
	if s.Next() {
		return fmt.Errorf("%+q scans to a second term, %+q", text, s.Term())
	}
	return nil
}

// cut checks what the two parts of the text scan to. Outside of terms a cut changes
// nothing. Within a term it changes that one: the left part ends with a beginning of
// it and the right part starts with an end of it, each possibly empty.
func (l *lawTester) cut(text []byte, cut int) error {
	i := 0
	s := &l.other
	for s.Reset(text[:cut]); s.Next(); i++ {
		if i == len(l.places) {
			return fmt.Errorf("cut at %d: a term more on the left", cut)
		}
		p, term := l.places[i], s.Term()
		if p.end > cut { // the one that is cut
			if s.Start() != p.start || !bytes.HasPrefix(l.term(p), term) || s.Next() {
				return fmt.Errorf("cut at %d: %+q begins with %+q", cut, l.term(p), term)
			}
			break
		}
		if !bytes.Equal(term, l.term(p)) || s.Start() != p.start || s.End() != p.end {
			return fmt.Errorf("cut at %d: %+q at %d-%d on the left, want %+q", cut, term, s.Start(), s.End(), l.term(p))
		}
	}
	for ; i < len(l.places) && l.places[i].start < cut; i++ {
		if l.places[i].end <= cut {
			return fmt.Errorf("cut at %d: %+q is lost on the left", cut, l.term(l.places[i]))
		}
	}
	torn := i > 0 && l.places[i-1].end > cut
	for s.Reset(text[cut:]); s.Next(); {
		term := s.Term()
		if torn {
			torn = false
			if p := l.places[i-1]; s.Start()+cut < p.end {
				if s.End()+cut != p.end || !bytes.HasSuffix(l.term(p), term) {
					return fmt.Errorf("cut at %d: %+q ends with %+q", cut, l.term(p), term)
				}
				continue
			}
		}
		if i == len(l.places) {
			return fmt.Errorf("cut at %d: a term more on the right, %+q", cut, term)
		}
		if p := l.places[i]; !bytes.Equal(term, l.term(p)) || s.Start()+cut != p.start || s.End()+cut != p.end {
			return fmt.Errorf("cut at %d: %+q at %d-%d on the right, want %+q", cut, term, s.Start(), s.End(), l.term(p))
		}
		i++
	}
	if i != len(l.places) {
		return fmt.Errorf("cut at %d: %+q is lost on the right", cut, l.term(l.places[i]))
	}
	return nil
}

// replaced checks that each byte of invalid UTF-8 is read as U+FFFD: it separates,
// and takes nothing beside it along.
func (l *lawTester) replaced(text []byte) error {
	l.clean = l.clean[:0]
	for rest := text; len(rest) > 0; {
		r, n := utf8.DecodeRune(rest)
		l.clean = utf8.AppendRune(l.clean, r)
		rest = rest[n:]
	}
	s := &l.other
	i := 0
	for s.Reset(l.clean); s.Next(); i++ {
		if i == len(l.places) || !bytes.Equal(s.Term(), l.term(l.places[i])) {
			return fmt.Errorf("with U+FFFD for invalid bytes, term %d is %+q", i, s.Term())
		}
	}
	if i != len(l.places) {
		return fmt.Errorf("with U+FFFD for invalid bytes there are %d terms, want %d", i, len(l.places))
	}
	return nil
}

// sameAsString checks that bytes and string scan alike.
func (l *lawTester) sameAsString(text []byte) error {
	s := &l.other
	i := 0
	for s.ResetString(string(text)); s.Next(); i++ {
		if i == len(l.places) {
			return fmt.Errorf("the string has more terms")
		}
		if p := l.places[i]; !bytes.Equal(s.Term(), l.term(p)) || s.Start() != p.start || s.End() != p.end {
			return fmt.Errorf("the string has %+q at %d-%d, the bytes %+q", s.Term(), s.Start(), s.End(), l.term(p))
		}
	}
	if i != len(l.places) {
		return fmt.Errorf("the string has %d terms, the bytes %d", i, len(l.places))
	}
	return nil
}

func FuzzLaws(f *testing.F) {
	for _, text := range committed {
		f.Add([]byte(text), uint(len(text)/2))
	}
	f.Fuzz(func(t *testing.T, text []byte, cut uint) {
		var l lawTester
		if err := l.check(text, cut); err != nil {
			t.Fatalf("%+q: %v", text, err)
		}
		if err := l.sameAsString(text); err != nil {
			t.Fatalf("%+q: %v", text, err)
		}
	})
}

// TestCommittedLaws cuts every committed text at every byte.
func TestCommittedLaws(t *testing.T) {
	var l lawTester
	for _, text := range committed {
		for cut := range len(text) + 1 {
			if err := l.check([]byte(text), uint(cut)); err != nil {
				t.Errorf("%+q: %v", text, err)
			}
		}
	}
}

// TestBytesAndStrings scans random texts both ways.
func TestBytesAndStrings(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	var l lawTester
	var text []byte
	for i := range 5000 {
		text = makers[i%len(makers)](text[:0], r)
		if err := l.check(text, r.Uint()); err != nil {
			t.Fatalf("%+q: %v", text, err)
		}
		if err := l.sameAsString(text); err != nil {
			t.Fatalf("%+q: %v", text, err)
		}
	}
}
