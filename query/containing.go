package query

import (
	"bytes"
	"cmp"
	"iter"
	"strings"
	"unicode"

	"github.com/hansard-search/hansard/lexer"
	"github.com/hansard-search/hansard/postings"
)

// A text that contains a needle has terms that contain the needle's: where the needle
// begins or ends inside of a word, a term with that end or beginning, else the term as
// it is. So the dictionary says which blocks are worth reading.

// narrow takes from rows, which are blocks, those whose terms rule out every needle.
func (p *storedText) narrow(x *segment, src TextSource, rows *postings.Bits) error {
	any := postings.GetBits(rows.Len())
	defer postings.PutBits(any)
	for _, n := range p.needles {
		pieces := piecesOf(n.text)
		if pieces == nil {
			return nil
		}
		some := postings.GetBits(rows.Len())
		err := x.holdingAll(src, pieces, rows, some)
		any.Or(some)
		postings.PutBits(some)
		if err != nil {
			return err
		}
	}
	rows.And(any)
	return nil
}

// A piece is a term of a needle. A text that contains the needle has a term that is the
// piece, or has more characters before it (open on the left) or behind it.
type piece struct {
	term        []byte
	left, right bool
}

// piecesOf are the pieces of a needle; nil if they say nothing about the terms of a text.
func piecesOf(needle string) []piece {
	for _, r := range needle {
		if !foldsAlike(r) {
			return nil
		}
	}
	var s lexer.Scanner
	s.ResetString(needle)
	var out []piece
	first, last := 0, 0
	for s.Next() {
		if out == nil {
			first = s.Start()
		}
		out = append(out, piece{term: bytes.Clone(s.Term())})
		last = s.End()
	}
	if out == nil {
		return nil
	}
	out[0].left = joins(needle[:first])
	out[len(out)-1].right = joins(needle[last:])
	return out
}

// joins reports whether a word goes on over s: nothing and marks do not end it.
func joins(s string) bool { return len(lexer.Terms("a"+s+"a")) == 1 }

// foldsAlike reports whether r and all that differ from it by case alone become the same
// characters of a term.
func foldsAlike(r rune) bool {
	want := inWord(r)
	for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
		if inWord(f) != want {
			return false
		}
	}
	return true
}

func inWord(r rune) string { return strings.Join(lexer.Terms("a"+string(r)+"a"), " ") }

// fewToRead is the number of candidates that are read rather than thinned out by a walk
// over the dictionary.
const fewToRead = 64

// holdingAll adds the blocks that have terms for all pieces; those of rows matter.
func (x *segment) holdingAll(src TextSource, pieces []piece, rows, out *postings.Bits) error {
	out.Or(rows)
	some := postings.GetBits(rows.Len())
	defer postings.PutBits(some)
	for _, walk := range []bool{false, true} {
		for _, k := range pieces {
			if k.left != walk || walk && out.Count() <= fewToRead {
				continue
			}
			some.Reset(rows.Len())
			if err := x.holding(src, k, some); err != nil {
				return err
			}
			out.And(some)
		}
	}
	return nil
}

// holding adds the blocks with a term for a piece.
func (x *segment) holding(src TextSource, k piece, out *postings.Bits) error {
	if !k.left && !k.right {
		l, err := src.Term(k.term, postings.Rows)
		if err == nil {
			l.AddTo(out)
		}
		return err
	}
	var lists iter.Seq2[postings.List, error]
	var stopped error
	if !k.left {
		lists = src.Prefix(k.term, postings.Rows)
	} else {
		n := 0
		lists = src.Matching(func(term []byte) bool {
			if n++; n&4095 == 0 && stopped == nil {
				stopped = x.budget.alive()
			}
			if stopped != nil {
				return true // to get out of the walk
			}
			if k.right {
				return bytes.Contains(term, k.term)
			}
			return bytes.HasSuffix(term, k.term)
		}, postings.Rows)
	}
	n := 0
	for l, err := range lists {
		if n++; n&1023 == 0 && stopped == nil {
			stopped = x.budget.alive()
		}
		if err != nil || stopped != nil {
			return cmp.Or(stopped, err)
		}
		l.AddTo(out)
	}
	return stopped
}
