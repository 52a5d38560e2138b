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
	Section string // tag and name of the section
	Reason  string
}

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
	c := checker{s: s, counts: map[string]int{}}
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
	counts map[string]int
}

func (c *checker) fault(section, format string, args ...any) {
	if c.counts[section]++; c.counts[section] <= maxFaults {
		c.faults = append(c.faults, Fault{section, fmt.Sprintf(format, args...)})
	}
}

// failed notes an error and reports whether there was one.
func (c *checker) failed(section string, err error) bool {
	var ce *CorruptError
	switch {
	case err == nil:
		return false
	case errors.As(err, &ce):
		c.fault(ce.Section, "%s", ce.Reason)
	default:
		c.fault(section, "%v", err)
	}
	return true
}

func (c *checker) done() []Fault {
	for section, n := range c.counts {
		if n > maxFaults {
			c.faults = append(c.faults, Fault{section, fmt.Sprintf("and %d more", n-maxFaults)})
		}
	}
	slices.SortStableFunc(c.faults, func(a, b Fault) int {
		return cmp.Compare(a.Section, b.Section)
	})
	return c.faults
}

// bytes reads every page and section, and the padding between sections.
func (c *checker) bytes() {
	f := c.s.file
	for p := int64(0); p*pageBytes < f.pageEnd; p++ {
		lo, hi := p*pageBytes, min((p+1)*pageBytes, f.pageEnd)
		if f.verify(lo, hi) >= 0 {
			c.fault(f.sectionAt(lo, hi), "page %d: checksum mismatch", p)
		}
	}
	at := int64(headerBytes)
	for i := range f.sections {
		s := &f.sections[i]
		for _, b := range f.b[at:s.off] {
			if b != 0 {
				c.fault(s.String(), "padding before it is not zero")
				break
			}
		}
		if at = s.off + s.size; checksum(f.b[s.off:at]) != s.crc {
			c.fault(s.String(), "checksum mismatch")
		}
		if i > 0 && f.find(s.tag, s.name) != s {
			c.fault(s.String(), "there twice")
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
	for i, k := range spanKinds {
		var err error
		if spans[i], err = c.s.Spans(k[0], k[1]); c.failed(tagSpans, err) {
			return
		}
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
			c.fault(tagSpans+" "+spanName(postings.Session, postings.Block),
				"session %d has blocks %d to %d, its messages %d to %d", o, from, to, first, last)
		}
	}
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
			c.fault(tagInherited+" "+u.String(), "row %d of %d", last, c.s.Rows(u))
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
		c.fault(tagSearchable+" "+textIndex, "bits beyond the last block")
	}
	for o, n := range lengths {
		if n > 0 && !searchable.Has(postings.Ord(o)) {
			c.fault(tagSearchable+" "+textIndex, "block %d has %d tokens and no text", o, n)
		}
	}
	own := postings.NewBits(searchable.Len())
	inherited.AddTo(own)
	own.Invert()
	own.And(searchable)
	var all, allTokens int64
	for o := range postings.Ord(c.s.Rows(postings.Session)) {
		var n, tokens int64
		for lo, hi := blocks.Run(o); lo < hi; lo++ {
			if own.Has(lo) {
				n++
				tokens += int64(lengths[lo])
			}
		}
		gotN, gotTokens, err := c.s.SessionTotals(o)
		if !c.failed(tagTotals, err) && (n != gotN || tokens != gotTokens) {
			c.fault(tagTotals, "session %d says %d blocks and %d tokens, has %d and %d", o, gotN, gotTokens, n, tokens)
		}
		all, allTokens = all+n, allTokens+tokens
	}
	if all != c.s.info.Blocks || allTokens != c.s.info.Tokens {
		c.fault(tagMeta, "says %d blocks and %d tokens, has %d and %d", c.s.info.Blocks, c.s.info.Tokens, all, allTokens)
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
				c.fault(tagActions, "action %d has blocks %d and %d of %d", a, use, result, n)
			}
		}
	}
}
