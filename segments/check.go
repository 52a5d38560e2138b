package segments

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/hansard-search/hansard/postings"
)

// A Fault is one thing that [Check] found wrong in a segment.
type Fault struct {
	Code    string // one of those below; they do not change
	Section string // tag and name of the section
	Reason  string
}

// Codes of faults.
const (
	FaultChecksum          = "INDEX_CHECKSUM"           // bytes are not what was written
	FaultLayout            = "INDEX_LAYOUT"             // a section is missing, there twice, or not of its form
	FaultSpanGap           = "INDEX_SPAN_GAP"           // runs that do not cover all children
	FaultSpanOverlap       = "INDEX_SPAN_OVERLAP"       // runs that go back
	FaultSpanMismatch      = "INDEX_SPAN_MISMATCH"      // two levels of runs do not agree
	FaultDictionaryOrder   = "INDEX_DICTIONARY_ORDER"   // terms or values do not ascend
	FaultDictionary        = "INDEX_DICTIONARY"         // a term that look-ups miss, or another number of terms
	FaultDocumentFrequency = "INDEX_DOCUMENT_FREQUENCY" // what the dictionary says of a list does not fit it
	FaultPostingMissing    = "INDEX_POSTING_MISSING"    // a token of a block is in no list
	FaultPostingExtra      = "INDEX_POSTING_EXTRA"      // a list has a token that its block has not
	FaultPostings          = "INDEX_POSTINGS"           // a list is not spelled as a writer spells it
	FaultLength            = "INDEX_LENGTH"             // the length of a block
	FaultTotals            = "INDEX_TOTALS"             // the totals of a session or of all
	FaultInherited         = "INDEX_INHERITED"          // inherited rows
	FaultSearchable        = "INDEX_SEARCHABLE"         // blocks with text
	FaultAction            = "INDEX_ACTION"             // the blocks of an action
	FaultColumnValue       = "INDEX_COLUMN_VALUE"       // the two sides of a column do not agree
	FaultDiffers           = "INDEX_DIFFERS"            // not what the sessions give, see Compare
)

func (f Fault) String() string { return f.Section + ": " + f.Reason }

// maxFaults is how many faults of a section Check spells out.
const maxFaults = 8

// Check reads every byte of a segment and recounts what it says: checksums of
// pages and sections, order and reach of every list, frequencies against lengths,
// spans against each other, columns forward against inverted, totals. It returns
// nothing for a sound segment, and otherwise at most eight faults per section and
// a count of the others. It takes memory for one number per block and per value of
// one column.
func Check(s *Segment) []Fault {
	c := checker{s: s, counts: map[[2]string]int{}}
	c.bytes()
	if len(c.faults) > 0 {
		return c.done() // over damaged bytes the recount would only repeat itself
	}
	c.spans()
	c.sets()
	c.index()
	c.totals()
	c.actions()
	for _, col := range s.schema {
		if col.Kind == Number {
			c.numbers(col)
		} else {
			c.keywords(col)
		}
	}
	return c.done()
}

type checker struct {
	s      *Segment
	faults []Fault
	counts map[[2]string]int // faults per section and code
	// counted are the occurrences per block that the lists have, once all were read.
	counted []uint32
}

func (c *checker) fault(code, section, format string, args ...any) {
	key := [2]string{section, code}
	if c.counts[key]++; c.counts[key] <= maxFaults {
		c.faults = append(c.faults, Fault{code, section, fmt.Sprintf(format, args...)})
	}
}

// failed notes an error of the layout and reports whether there was one.
func (c *checker) failed(section string, err error) bool {
	return c.failedAs(FaultLayout, section, err)
}

func (c *checker) failedAs(code, section string, err error) bool {
	var ce *CorruptError
	switch {
	case err == nil:
		return false
	case errors.As(err, &ce):
		c.fault(code, ce.Section, "%s", ce.Reason)
	default:
		c.fault(code, section, "%v", err)
	}
	return true
}

func (c *checker) done() []Fault {
	for key, n := range c.counts {
		if n > maxFaults {
			c.faults = append(c.faults, Fault{key[1], key[0], fmt.Sprintf("and %d more", n-maxFaults)})
		}
	}
	slices.SortFunc(c.faults, func(a, b Fault) int {
		return cmp.Or(cmp.Compare(a.Section, b.Section), cmp.Compare(a.Code, b.Code), cmp.Compare(a.Reason, b.Reason))
	})
	return c.faults
}

// bytes reads every page and section, and the padding between sections.
func (c *checker) bytes() {
	f := c.s.file
	for p := int64(0); p*pageBytes < f.pageEnd; p++ {
		lo, hi := p*pageBytes, min((p+1)*pageBytes, f.pageEnd)
		if f.verify(lo, hi) >= 0 {
			c.fault(FaultChecksum, f.sectionAt(lo, hi), "page %d: checksum mismatch", p)
		}
	}
	at := int64(headerBytes)
	for i := range f.sections {
		s := &f.sections[i]
		for _, b := range f.b[at:s.off] {
			if b != 0 {
				c.fault(FaultLayout, s.String(), "padding before it is not zero")
				break
			}
		}
		if at = s.off + s.size; checksum(f.b[s.off:at]) != s.crc {
			c.fault(FaultChecksum, s.String(), "checksum mismatch")
		}
		if i > 0 && f.find(s.tag, s.name) != s {
			c.fault(FaultLayout, s.String(), "there twice")
		}
	}
}

// sectionAt names the sections that share bytes with [lo, hi).
func (f *file) sectionAt(lo, hi int64) string {
	first, last := "header", ""
	for i := range f.sections {
		s := &f.sections[i]
		if s.off+s.size <= lo || s.off >= hi {
			continue
		}
		if last == "" && s.off <= lo {
			first = s.String()
		}
		last = s.String()
	}
	if last == "" || last == first {
		return first
	}
	return first + " to " + last
}

// spans checks that the blocks of a session are those of its messages. That each
// pair partitions its children was checked when it was opened.
func (c *checker) spans() {
	var spans [len(spanKinds)]postings.Spans
	sound := true
	for i, k := range spanKinds {
		var err error
		if spans[i], err = c.s.Spans(k[0], k[1]); err != nil {
			c.failedAs(c.spanFault(k), tagSpans+" "+spanName(k[0], k[1]), err)
			sound = false
		}
	}
	if !sound {
		return
	}
	messages, blocks, inMessage := spans[0], spans[1], spans[3]
	for o := range postings.Ord(c.s.Rows(postings.Session)) {
		lo, hi := messages.Run(o)
		from, to := blocks.Run(o)
		first, last := from, from // a session without messages has no blocks
		if lo < hi {
			first, _ = inMessage.Run(lo)
			_, last = inMessage.Run(hi - 1)
		}
		if first != from || last != to {
			c.fault(FaultSpanMismatch, tagSpans+" "+spanName(postings.Session, postings.Block),
				"session %d has blocks %d to %d, its messages %d to %d", o, from, to, first, last)
		}
	}
}

// spanFault says what is wrong with spans that cannot be opened.
func (c *checker) spanFault(k [2]postings.Unit) string {
	b, err := c.s.must(tagSpans, spanName(k[0], k[1]))
	if err != nil || len(b) != 4*(c.s.Rows(k[0])+1) {
		return FaultLayout
	}
	if slices.IsSorted(u32s(b)) {
		return FaultSpanGap
	}
	return FaultSpanOverlap
}

// sets checks that the inherited rows are there.
func (c *checker) sets() {
	for u := range postings.Unit(postings.Units) {
		set, err := c.s.Inherited(u)
		if c.failed(tagInherited, err) {
			continue
		}
		last := postings.Ord(0)
		for o := range set.All() {
			last = o
		}
		if !set.IsEmpty() && int(last) >= c.s.Rows(u) {
			c.fault(FaultInherited, tagInherited+" "+u.String(), "row %d of %d", last, c.s.Rows(u))
		}
	}
}

// totals recounts the searchable blocks and their tokens.
func (c *checker) totals() {
	blocks, err := c.s.Spans(postings.Session, postings.Block)
	inherited, err2 := c.s.Inherited(postings.Block)
	lengths, err3 := c.s.text.Slice(0, postings.Ord(c.s.Rows(postings.Block)))
	searchable := postings.NewBits(c.s.Rows(postings.Block))
	if c.failed(tagTotals, errors.Join(err, err2, err3)) || c.failed(tagSearchable, c.s.Searchable(searchable)) {
		return
	}
	if raw, err := c.s.must(tagSearchable, textIndex); err == nil && !slices.Equal(u64s(raw), searchable.Words()) {
		c.fault(FaultSearchable, tagSearchable+" "+textIndex, "bits beyond the last block")
	}
	for o, n := range lengths {
		if n > 0 && !searchable.Has(postings.Ord(o)) {
			c.fault(FaultSearchable, tagSearchable+" "+textIndex, "block %d has %d tokens and no text", o, n)
		}
	}
	own := postings.NewBits(searchable.Len())
	inherited.AddTo(own)
	own.Invert()
	own.And(searchable)
	var all, allTokens int64
	for o := range postings.Ord(c.s.Rows(postings.Session)) {
		var n, tokens, counted int64
		lo, hi := blocks.Run(o)
		for row := lo; row < hi; row++ {
			if own.Has(row) {
				n++
				tokens += int64(lengths[row])
				if c.counted != nil {
					counted += int64(c.counted[row])
				}
			}
		}
		gotN, gotTokens, err := c.s.SessionTotals(o)
		if c.failed(tagTotals, err) {
			return
		}
		if n != gotN || tokens != gotTokens {
			c.fault(FaultTotals, tagTotals, "session %d says %d blocks and %d tokens, has %d and %d", o, gotN, gotTokens, n, tokens)
		}
		c.lengths(lo, hi, lengths, tokens != counted && counted == gotTokens)
		all, allTokens = all+n, allTokens+tokens
	}
	if all != c.s.info.Blocks || allTokens != c.s.info.Tokens {
		c.fault(FaultTotals, tagMeta, "says %d blocks and %d tokens, has %d and %d", c.s.info.Blocks, c.s.info.Tokens, all, allTokens)
	}
}

// lengths compares the lengths of a session's blocks with what the lists have. Where
// they differ one of them is wrong: the lists if the length agrees with the session's
// totals, the length if they do.
func (c *checker) lengths(lo, hi postings.Ord, lengths []uint32, listsAgree bool) {
	if c.counted == nil {
		return
	}
	for o := lo; o < hi; o++ {
		want, got := lengths[o], c.counted[o]
		code := FaultPostingMissing
		switch {
		case got == want:
			continue
		case listsAgree:
			code = FaultLength
		case got > want:
			code = FaultPostingExtra
		}
		c.fault(code, tagLengths+" "+textIndex, "block %d has %d tokens, says %d", o, got, want)
	}
}

// actions checks that the blocks of actions are blocks of their session.
func (c *checker) actions() {
	actions, err := c.s.Spans(postings.Session, postings.Action)
	blocks, err2 := c.s.Spans(postings.Session, postings.Block)
	if c.failed(tagActions, errors.Join(err, err2)) {
		return
	}
	for o := range postings.Ord(c.s.Rows(postings.Session)) {
		from, to := blocks.Run(o)
		n := int32(to - from)
		for a, hi := actions.Run(o); a < hi; a++ {
			use, result, err := c.s.ActionBlocks(a)
			if c.failed(tagActions, err) {
				return
			}
			if use < -1 || result < -1 || use >= n || result >= n {
				c.fault(FaultAction, tagActions, "action %d has blocks %d and %d of %d", a, use, result, n)
			}
		}
	}
}
