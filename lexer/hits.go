package lexer

import "unicode/utf8"

// maxHits bounds the matches that compete for the window of a snippet.
const maxHits = 4096

// A hit is one matching term of the text.
type hit struct {
	start, end int
	pos        int
	term       int32 // equal for equal terms
}

// A finder collects the hits of a text in order.
type finder struct {
	text   string
	tokens tokens
	hits   []hit
}

// find collects hits until the budget behind the first one is used up.
func (f *finder) find(budget int) {
	for f.tokens.next() {
		f.note()
		if len(f.hits) == maxHits || len(f.hits) > 0 && f.tokens.current.end-f.hits[0].end >= budget {
			return
		}
	}
}

// findUntil goes on up to the byte offset end.
func (f *finder) findUntil(end int) {
	for f.tokens.current.end < end && f.tokens.next() {
		f.note()
	}
}

func (f *finder) note() {
	if t := &f.tokens.current; t.hit {
		f.hits = append(f.hits, hit{t.start, t.end, f.tokens.taken - 1, t.term})
	}
}

// best returns the byte range of the hits to show: of all runs of hits that fit
// the options, the first with the most distinct terms, without hits at its end
// that add none. It is empty at 0 without hits.
func (f *finder) best(opts SnippetOptions) (lo, hi int) {
	if len(f.hits) == 0 {
		return 0, 0
	}
	times := make([]int, f.tokens.ids())
	distinct, most := 0, 0
	i, chars := 0, 0 // of the run hits[i:j+1], and its length in code points
	for j, h := range f.hits {
		if j > 0 {
			chars += utf8.RuneCountInString(f.text[f.hits[j-1].end:h.start])
		}
		chars += utf8.RuneCountInString(f.text[h.start:h.end])
		if times[h.term]++; times[h.term] == 1 {
			distinct++
		}
		for i < j && (h.pos-f.hits[i].pos >= opts.Words || chars > opts.Chars) {
			chars -= utf8.RuneCountInString(f.text[f.hits[i].start:f.hits[i+1].start])
			if times[f.hits[i].term]--; times[f.hits[i].term] == 0 {
				distinct--
			}
			i++
		}
		if distinct > most {
			most, lo, hi = distinct, f.hits[i].start, h.end
		}
	}
	return lo, hi
}
