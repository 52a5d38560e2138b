package query

import (
	"context"
	"math/bits"
	"slices"

	"github.com/hansard-search/hansard/bm25"
	"github.com/hansard-search/hansard/postings"
)

// keepAll is the number of hits from which on a heap is not worth it.
const keepAll = 1 << 16

// top keeps the best limit hits of those offered.
type top struct {
	heap *bm25.TopK[Hit] // nil: hits keeps all, and sorted cuts
	hits []Hit
	max  int
}

// newTop makes a top for at most so many offers.
func newTop(limit, offers int) *top {
	t := &top{max: limit}
	if limit < keepAll {
		t.heap = bm25.NewTopK(min(limit, offers), better)
	}
	return t
}

// worst is the hit to beat, if there is one.
func (t *top) worst() (Hit, bool) {
	if t.heap == nil {
		return Hit{}, false
	}
	return t.heap.Worst()
}

func (t *top) offer(h Hit) {
	if t.heap != nil {
		t.heap.Offer(h)
	} else {
		t.hits = append(t.hits, h)
	}
}

// sorted returns the kept hits, best first, and forgets them.
func (t *top) sorted() []Hit {
	if t.heap != nil {
		return t.heap.AppendSorted(nil)
	}
	slices.SortFunc(t.hits, func(a, b Hit) int {
		if better(a, b) {
			return -1
		}
		return 1
	})
	out := t.hits[:min(t.max, len(t.hits))]
	t.hits = nil
	return out
}

// A collector gathers the hits of one segment.
type collector struct {
	x        *segment
	spans    postings.Spans
	top      *top
	after    *Anchor
	sessions int64
	blocks   int64

	// The session whose blocks are being seen, and its best block so far.
	open    bool
	session postings.Ord
	end     postings.Ord // its first block behind
	block   postings.Ord
	score   float64
}

func newCollector(x *segment, limit int, after *Anchor) (*collector, error) {
	if err := x.columns(); err != nil {
		return nil, err
	}
	return &collector{x: x, top: newTop(limit, x.sessions), after: after}, nil
}

// rank collects the sessions with a matching block, best block first.
func (c *collector) rank(ctx context.Context, r *ranking) error {
	var err error
	if c.spans, err = c.x.src.Spans(postings.Session, postings.Block); err != nil {
		return err
	}
	if err := c.x.match(ctx, c.spans, r, c.visit); err != nil {
		return err
	}
	return c.close()
}

// visit takes the matching rows of a container. Rows ascend and the blocks of a
// session are one run, so that a session is complete when the next one begins.
func (c *collector) visit(base postings.Ord, w *window, scores *[postings.ContainerRows]float64) error {
	for i, word := range w {
		c.blocks += int64(bits.OnesCount64(word))
		for ; word != 0; word &= word - 1 {
			low := i<<6 + bits.TrailingZeros64(word)
			row, score := base+postings.Ord(low), scores[low]
			if c.open && row < c.end {
				if score < c.score {
					c.block, c.score = row, score
				}
				continue
			}
			if err := c.close(); err != nil {
				return err
			}
			c.enter(row)
			c.block, c.score = row, score
		}
	}
	return nil
}

// enter moves to the session of row, which lies behind the last one: usually one
// of the next few, else it is searched for.
func (c *collector) enter(row postings.Ord) {
	offsets := c.spans.Offsets()
	from := int(c.session)
	for i := from; i < min(from+8, len(offsets)-1); i++ {
		if end := postings.Ord(offsets[i+1]); row < end {
			c.open, c.session, c.end = true, postings.Ord(i), end
			return
		}
	}
	c.open, c.session = true, c.spans.Of(row)
	_, c.end = c.spans.Run(c.session)
}

// close offers the session that was seen last.
func (c *collector) close() error {
	if !c.open {
		return nil
	}
	c.open = false
	c.sessions++
	return c.offer(c.session, c.block, c.score)
}

// offer gives a session to the top. Time and id are read only where the order
// depends on them.
func (c *collector) offer(session, block postings.Ord, score float64) error {
	worst, full := c.top.worst()
	if full && score > worst.Score || c.after != nil && score < c.after.Score {
		return nil
	}
	h := Hit{Source: c.x.index, Session: session, Block: block}
	h.Score = score
	var err error
	if h.Time, h.HasTime, err = c.x.times.At(session); err != nil {
		return err
	}
	if !h.HasTime {
		h.Time = 0
	}
	if full {
		if before, tie := worst.before(&h.Anchor); before && !tie {
			return nil
		}
	}
	if c.after != nil {
		if before, tie := h.before(c.after); before && !tie {
			return nil
		}
	}
	if h.ID, err = c.x.sessionID(session); err != nil {
		return err
	}
	if c.after != nil {
		if _, tie := h.before(c.after); tie && h.ID <= c.after.ID {
			return nil
		}
	}
	c.top.offer(h)
	return nil
}

// list collects the selected sessions, newest first.
func (c *collector) list(ctx context.Context) error {
	b := c.x.selected
	if b == nil {
		b = postings.NewBits(c.x.sessions)
		b.Fill()
	}
	n := 0
	for o, ok := b.Next(0); ok; o, ok = b.Next(o + 1) {
		if n++; n&1023 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		c.sessions++
		if err := c.offer(o, 0, 0); err != nil {
			return err
		}
	}
	return nil
}
