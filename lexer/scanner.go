package lexer

import "unicode/utf8"

// A Scanner steps through the terms of a text. The zero value scans the empty
// text. It keeps one buffer for the term and allocates only when a term outgrows
// every earlier one. It must not be copied while in use, nor used concurrently.
type Scanner struct {
	bytes []byte // the text, unless str is
	str   string
	isStr bool

	term       []byte // buf[:n]
	buf        []byte
	start, end int // of the term in the text
	count      int // terms returned so far
}

// Reset begins a new text. The scanner reads text in place until the next reset;
// it neither keeps a copy nor writes to it.
func (s *Scanner) Reset(text []byte) {
	s.bytes, s.str, s.isStr = text, "", false
	s.rewind()
}

// ResetString is [Scanner.Reset] for a string; it makes no copy either.
func (s *Scanner) ResetString(text string) {
	s.bytes, s.str, s.isStr = nil, text, true
	s.rewind()
}

func (s *Scanner) rewind() {
	s.term = s.buf[:0]
	s.start, s.end, s.count = 0, 0, 0
}

// Next steps to the next term and reports whether there is one. At the end of the
// text it returns false, also when called again, and leaves Start and End at the
// end of the text.
func (s *Scanner) Next() bool {
	if s.isStr {
		return next(s, s.str)
	}
	return next(s, s.bytes)
}

// Term is the folded term, valid until the next call of Next or of a reset.
func (s *Scanner) Term() []byte { return s.term }

// Pos is the position of the term, counted from 0; -1 before the first Next.
func (s *Scanner) Pos() int { return s.count - 1 }

// Start is the offset in bytes where the term begins in the text.
func (s *Scanner) Start() int { return s.start }

// End is the offset in bytes behind the term, its trailing marks included.
func (s *Scanner) End() int { return s.end }

// Terms returns the terms of text in order, in memory of their own.
func Terms(text string) []string {
	var s Scanner
	s.ResetString(text)
	var terms []string
	for s.Next() {
		terms = append(terms, string(s.Term()))
	}
	return terms
}

type text interface{ []byte | string }

// next is written once for both kinds of text; the compiler makes two of it, so
// that no conversion is needed and no byte of the text is copied but into terms.
func next[T text](s *Scanner, t T) bool {
	i := s.end
	for {
		if i >= len(t) {
			s.start, s.end, s.term = len(t), len(t), s.buf[:0]
			return false
		}
		c := ascii[t[i]]
		if c == wide {
			r, size := decode(t, i)
			if lookup(r)&classMask == classToken {
				break
			}
			i += size
			continue
		}
		if c != 0 {
			break
		}
		i++
	}
	s.start = i
	s.end = fold(s, t, i)
	s.count++
	return true
}

// burst is the number of ASCII bytes that are folded between two looks at the
// room in the buffer.
const burst = 64

// fold reads the term that begins at i, leaves it in s.term and returns its end.
func fold[T text](s *Scanner, t T, i int) int {
	n := 0
	for {
		if len(s.buf)-n < burst+utf8.UTFMax {
			s.grow()
		}
		room := s.buf[n : n+burst]
		stop := min(len(t), i+burst)
		k := 0
		var c byte
		for ; i < stop; i++ {
			c = ascii[t[i]]
			if c-1 >= wide-1 { // a separator (0) or not ASCII
				break
			}
			room[k] = c
			k++
		}
		n += k
		if i < stop {
			if c == 0 {
				break
			}
			r, size := decode(t, i)
			e := lookup(r)
			if e&classMask == classSeparator {
				break
			}
			i += size
			if r = foldRune(r, e); r != 0 {
				n += utf8.EncodeRune(s.buf[n:], r)
			}
			continue
		}
		if i == len(t) {
			break
		}
	}
	s.term = s.buf[:n]
	return i
}

func (s *Scanner) grow() {
	s.buf = append(s.buf, make([]byte, max(2*burst, len(s.buf)))...)
}
