package lexer

import "unicode/utf8"

// A window is the byte range [start, end) of the text.
type window struct{ start, end int }

// A framer grows a window piece by piece.
type framer struct {
	pieces       []piece
	first, last  int // the window is pieces[first:last]
	words, chars int // what the window has
	opts         SnippetOptions
}

// frame puts context around the byte range [lo, hi): words in turn before and
// behind it, as many as the options leave.
func frame(text string, lo, hi int, opts SnippetOptions) window {
	if lo == hi {
		lo = skipBlank(text, lo)
		hi = lo
	}
	f := framer{opts: opts}
	f.pieces = split(text, before(text, lo, opts.Chars), behind(text, hi, opts.Chars))
	f.first, f.last = cover(f.pieces, lo, hi)
	for _, p := range f.pieces[f.first:f.last] {
		f.words, f.chars = f.words+p.words(), f.chars+p.shown()
	}
	whole := lo == hi || f.first < f.last && f.pieces[f.first].start <= lo && f.pieces[f.last-1].end >= hi
	if !whole || f.chars > opts.Chars {
		return window{lo, f.cut(text, lo, hi)}
	}
	first, last := f.first, f.last
	for more := true; more; {
		more = f.grow(-1)
		more = f.grow(+1) || more
	}
	f.tidy(text, first, last)
	if f.first == f.last {
		return window{lo, f.cut(text, lo, hi)}
	}
	return window{f.pieces[f.first].start, f.pieces[f.last-1].end}
}

// grow takes pieces before (-1) or behind (+1) the window up to and including one
// word, and reports whether it got one.
func (f *framer) grow(side int) bool {
	for {
		i := f.last
		if side < 0 {
			i = f.first - 1
		}
		if i < 0 || i == len(f.pieces) {
			return false
		}
		p := f.pieces[i]
		if f.words+p.words() > f.opts.Words || f.chars+p.shown() > f.opts.Chars {
			return false
		}
		f.words, f.chars = f.words+p.words(), f.chars+p.shown()
		if side < 0 {
			f.first--
		} else {
			f.last++
		}
		if p.word {
			return true
		}
	}
}

// tidy takes punctuation from the cut ends of the window that a space parts from
// the first or last word. The pieces first to last stay.
func (f *framer) tidy(text string, first, last int) {
	if f.first < first && f.pieces[f.first].start > 0 {
		for i := f.first; i < first && !f.pieces[i].word; i++ {
			if f.pieces[i].space {
				f.first = i + 1
			}
		}
	}
	if f.last > last && f.pieces[f.last-1].end < len(text) {
		for i := f.last - 1; i >= last && !f.pieces[i].word; i-- {
			if f.pieces[i].space {
				f.last = i
			}
		}
	}
}

// cut returns the end of a window from lo that is not made of whole pieces: the
// last word boundary that fits, but never before hi or what fits of it.
func (f *framer) cut(text string, lo, hi int) int {
	end := lo
	for n := f.opts.Chars; n > 0 && end < len(text); n-- {
		_, size := utf8.DecodeRuneInString(text[end:])
		end += size
	}
	for i := len(f.pieces) - 1; i >= 0; i-- {
		if e := f.pieces[i].end; e <= end && e >= hi && e > lo {
			return e
		}
	}
	return end
}

func (p piece) words() int {
	if p.word {
		return 1
	}
	return 0
}

// shown is the number of code points the piece has on display.
func (p piece) shown() int {
	if p.space {
		return 1
	}
	return p.chars
}

// slack is how far, in bytes, context is looked for beyond what is needed when
// every code point is shown: room for white space and for one partial word.
const slack = 512

// before returns where to begin looking for chars code points of context before at.
func before(text string, at, chars int) int {
	limit := max(0, at-utf8.UTFMax*chars-slack)
	space := false
	for n := chars + slack/8; n > 0 && at > limit; {
		r, size := utf8.DecodeLastRuneInString(text[:at])
		at -= size
		if !space || !blank(r) {
			n--
		}
		space = blank(r)
	}
	return at
}

// behind returns where to stop looking for chars code points of context behind at.
func behind(text string, at, chars int) int {
	limit := min(len(text), at+utf8.UTFMax*chars+slack)
	space := false
	for n := chars + slack/8; n > 0 && at < limit; {
		r, size := utf8.DecodeRuneInString(text[at:])
		at += size
		if !space || !blank(r) {
			n--
		}
		space = blank(r)
	}
	return at
}

func skipBlank(text string, at int) int {
	for i, r := range text[at:] {
		if !blank(r) {
			return at + i
		}
	}
	return len(text)
}
