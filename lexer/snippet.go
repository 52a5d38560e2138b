package lexer

import (
	"unicode"
	"unicode/utf8"

	"github.com/blevesearch/segment"
)

// The defaults of [SnippetOptions].
const (
	DefaultSnippetWords  = 24
	DefaultSnippetChars  = 320
	DefaultSnippetBudget = 64 << 10
)

// SnippetOptions bound a snippet. The zero value means the defaults.
type SnippetOptions struct {
	// Words is the number of words shown, as UAX #29 counts them.
	Words int
	// Chars is the largest number of code points in Snippet.Text.
	Chars int
	// Budget is the number of bytes of text searched for further matches once
	// the first one was found. The first match is searched for in all of the text.
	Budget int
	// Matcher, if set, says what matches in place of the match function: the terms
	// of its phrases, where they stand side by side.
	Matcher *Matcher
}

func (o SnippetOptions) withDefaults() SnippetOptions {
	if o.Words <= 0 {
		o.Words = DefaultSnippetWords
	}
	if o.Chars <= 0 {
		o.Chars = DefaultSnippetChars
	}
	if o.Budget <= 0 {
		o.Budget = DefaultSnippetBudget
	}
	return o
}

// A Snippet is the piece of a text that shows its matches best.
type Snippet struct {
	// Text is the piece as displayed: each run of white space or control
	// characters is one space, none at its ends; invalid bytes are U+FFFD.
	Text string
	// Spans are the matches, as ascending byte ranges of Text.
	Spans [][2]int
	// Start and End are the byte range of the piece in the original text. What is
	// before Start or behind End was left out; callers add their own ellipsis.
	Start, End int
}

// NewSnippet cuts the window of text that holds the most distinct terms for which
// match is true, the earliest of several such, with context around it. Without a
// match it is the beginning of the text. The cuts are at word boundaries; only a
// word that does not fit alone is cut inside, between two code points.
//
// It is linear up to the first match and does a bounded amount of work after it.
func NewSnippet(text string, match func(term []byte) bool, opts SnippetOptions) Snippet {
	opts = opts.withDefaults()
	f := finder{text: text, tokens: newTokens(text, match, opts)}
	f.find(opts.Budget)
	lo, hi := f.best(opts)
	w := frame(text, lo, hi, opts)
	f.findUntil(w.end)
	return display(text, w, f.hits)
}

// Highlight returns the byte ranges of all terms of text for which match is true,
// ascending.
func Highlight(text string, match func(term []byte) bool) [][2]int {
	var s Scanner
	s.ResetString(text)
	var spans [][2]int
	for s.Next() {
		if match(s.Term()) {
			spans = append(spans, [2]int{s.Start(), s.End()})
		}
	}
	return spans
}

// A piece is a stretch of the text between two word boundaries.
type piece struct {
	start, end int
	chars      int // code points
	word       bool
	space      bool
}

// cover returns the pieces that overlap the byte range [lo, hi).
func cover(pieces []piece, lo, hi int) (first, last int) {
	for first < len(pieces) && pieces[first].end <= lo {
		first++
	}
	last = first
	for last < len(pieces) && pieces[last].start < hi {
		last++
	}
	return first, last
}

// split cuts text[lo:hi] at word boundaries, and joins pieces of white space. The
// parts of words at its two ends, unless they are the ends of the text, are left
// out.
func split(text string, lo, hi int) []piece {
	pieces := make([]piece, 0, (hi-lo)/3) // words of five letters, and the spaces between
	words := segment.NewWordSegmenterDirect([]byte(text[lo:hi]))
	at, seen := lo, lo
	for words.Segment() {
		seen += len(words.Bytes())
		// Behind an invalid byte the segmenter ends inside a code point.
		if end := runeEnd(text, seen); end > at {
			pieces = appendPiece(pieces, text, at, end, words.Type() != segment.None)
			at = end
		}
	}
	if at < hi { // the segmenter gave up on invalid text
		pieces = appendPiece(pieces, text, at, hi, true)
	}
	if hi < len(text) && len(pieces) > 1 {
		pieces = pieces[:len(pieces)-1]
	}
	if lo > 0 && len(pieces) > 1 {
		pieces = pieces[1:]
	}
	return pieces
}

// runeEnd is at, or the end of the code point that at is inside of.
func runeEnd(text string, at int) int {
	for back := 1; back < utf8.UTFMax && back <= at; back++ {
		if _, size := utf8.DecodeRuneInString(text[at-back:]); size > back {
			return at - back + size
		}
	}
	return at
}

func appendPiece(pieces []piece, text string, start, end int, word bool) []piece {
	p := piece{start: start, end: end, word: word, space: true}
	for i, r := range text[start:end] {
		if p.space = blank(r); !p.space {
			p.chars += utf8.RuneCountInString(text[start+i : end])
			break
		}
		p.chars++
	}
	if n := len(pieces); n > 0 && p.space && pieces[n-1].space {
		pieces[n-1].end, pieces[n-1].chars = end, pieces[n-1].chars+p.chars
		return pieces
	}
	return append(pieces, p)
}

// blank reports whether r is shown as a space. Control characters are, so that
// what a transcript holds cannot steer a terminal.
func blank(r rune) bool {
	if r < utf8.RuneSelf {
		return r <= ' ' || r == 0x7F
	}
	return unicode.IsSpace(r) || unicode.IsControl(r)
}

// display renders the window, and the hits inside of it as spans.
func display(text string, w window, hits []hit) Snippet {
	w.start = min(skipBlank(text, w.start), w.end)
	for w.end > w.start {
		r, size := utf8.DecodeLastRuneInString(text[w.start:w.end])
		if !blank(r) {
			break
		}
		w.end -= size
	}
	s := Snippet{Start: w.start, End: w.end}
	out := make([]byte, 0, w.end-w.start)
	for len(hits) > 0 && hits[0].end <= w.start {
		hits = hits[1:]
	}
	open := -1
	for i, r := range text[w.start:w.end] {
		at := w.start + i
		if open >= 0 && at >= hits[0].end {
			s.Spans = append(s.Spans, [2]int{open, len(out)})
			open, hits = -1, hits[1:]
		}
		if open < 0 && len(hits) > 0 && at >= hits[0].start {
			open = len(out)
		}
		switch {
		case !blank(r):
			out = utf8.AppendRune(out, r)
		case out[len(out)-1] != ' ':
			out = append(out, ' ')
		}
	}
	if open >= 0 {
		s.Spans = append(s.Spans, [2]int{open, len(out)})
	}
	s.Text = string(out)
	return s
}
