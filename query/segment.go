package query

import (
	"context"
	"fmt"
	"slices"

	"github.com/hansard-search/hansard/bm25"
	"github.com/hansard-search/hansard/postings"
)

// A segment is one source during one run.
type segment struct {
	budget   *budget
	plan     *Plan
	src      Source
	index    int      // of the source
	types    []string // of blocks that the text may match; nil: all
	sessions int
	blocks   int
	s        *scratch
	units    []*matches // by unit id, nil until asked for
	kin      [][]string // by lineage id: the sessions of each

	totals   bm25.Stats
	df       []int64        // by phrase
	hopeless bool           // no block can match the text
	selected *postings.Bits // nil: all sessions; not to be written
	lane     *postings.Bits // live blocks of the types, once asked for

	path string // what the clauses of a file say of the paths that are looked at

	ids   postings.Dictionary
	times postings.Numbers
}

func newSegment(p *Plan, src Source, index int, types []string) *segment {
	return &segment{
		plan: p, src: src, index: index, types: types,
		sessions: src.Rows(postings.Session),
		blocks:   src.Rows(postings.Block),
		units:    make([]*matches, len(p.units)),
	}
}

// unit returns the matches of u, read at the first call.
func (x *segment) unit(u *unit) (*matches, error) {
	if x.units[u.id] == nil {
		m, err := readUnit(x.src, u, x.s)
		if err != nil {
			return nil, err
		}
		x.units[u.id] = m
	}
	return x.units[u.id], nil
}

// read reads the phrases of the text, and sees whether they leave anything to match.
func (x *segment) read() error {
	for _, ph := range x.plan.phrases {
		if _, err := x.unit(ph.unit); err != nil {
			return err
		}
	}
	x.hopeless = !x.hopeful(x.plan.match)
	return nil
}

// measure reads what the segment adds to the statistics of the collection.
func (x *segment) measure() error {
	rows, tokens, err := x.src.Totals()
	if err != nil {
		return fmt.Errorf("totals: %w", err)
	}
	x.totals = bm25.Stats{Rows: rows, Tokens: tokens}
	x.df = make([]int64, len(x.plan.phrases))
	for i, ph := range x.plan.phrases {
		same := func(o *phrase) bool { return o.unit == ph.unit }
		if k := slices.IndexFunc(x.plan.phrases[:i], same); k >= 0 {
			x.df[i] = x.df[k]
		} else if x.df[i], err = x.frequency(x.units[ph.unit.id]); err != nil {
			return err
		}
	}
	return nil
}

// frequency is the number of live rows of m.
func (x *segment) frequency(m *matches) (int64, error) {
	if m.len() == 0 {
		return 0, nil
	}
	rows, err := x.textRows()
	if err != nil {
		return 0, err
	}
	if rows == nil {
		return int64(m.len()), nil
	}
	return int64(m.count(rows)), nil
}

// filter evaluates the predicates of the plan and leaves the live sessions where
// they hold in x.selected; nil stands for all sessions.
func (x *segment) filter() error {
	var live *postings.Bits
	if !x.src.AllLive() {
		var err error
		if live, err = x.src.Live(postings.Session); err != nil {
			return fmt.Errorf("live sessions: %w", err)
		}
	}
	if x.plan.where == nil {
		x.selected = live
		return nil
	}
	if err := x.budget.take(int64(x.sessions) / 8); err != nil {
		return err
	}
	b := postings.NewBits(x.sessions)
	if err := x.plan.where.add(x, live, b); err != nil {
		return fmt.Errorf("filter: %w", err)
	}
	if live != nil {
		b.And(live)
	}
	x.selected = b
	return nil
}

// columns opens what orders hits.
func (x *segment) columns() (err error) {
	if x.ids, err = x.src.Keywords("session.id"); err != nil {
		return fmt.Errorf("column session.id: %w", err)
	}
	if x.times, err = x.src.Numbers("session.time"); err != nil {
		return fmt.Errorf("column session.time: %w", err)
	}
	return nil
}

// sessionID is the id of session o, or "" if it has none.
func (x *segment) sessionID(o postings.Ord) (string, error) {
	var err error
	if x.s.ids, err = x.ids.AppendOf(x.s.ids[:0], o); err != nil || len(x.s.ids) == 0 {
		return "", err
	}
	return x.ids.Value(x.s.ids[0])
}

// blockMask returns the blocks that may match: live ones of selected sessions;
// nil stands for all. The mask is not to be written.
func (x *segment) blockMask(spans postings.Spans) (*postings.Bits, error) {
	live, err := x.textRows()
	if err != nil {
		return nil, err
	}
	if x.plan.where == nil {
		return live, nil // live blocks belong to live sessions
	}
	if err := x.budget.take(int64(x.blocks) / 8); err != nil {
		return nil, err
	}
	b := postings.NewBits(x.blocks)
	postings.Lower(x.selected, b, spans)
	if live != nil {
		b.And(live)
	}
	return b, nil
}

// A visitor takes the matching rows of one container: the rows set in w, row i
// standing for base+i, with their scores.
type visitor func(base postings.Ord, w *window, scores *[postings.ContainerRows]float64) error

// match evaluates the text expression container by container and scores what
// matches.
func (x *segment) match(ctx context.Context, spans postings.Spans, rank *ranking, visit visitor) error {
	if x.selected != nil && !x.selected.Any() {
		return nil
	}
	mask, err := x.blockMask(spans)
	if err != nil {
		return err
	}
	lengths, err := x.src.Lengths()
	if err != nil {
		return fmt.Errorf("lengths: %w", err)
	}
	x.s.size(x.plan.nodes)
	c := &container{x: x, rank: rank}
	for base := 0; base < x.blocks; base += postings.ContainerRows {
		if err := ctx.Err(); err != nil {
			return err
		}
		c.key = uint16(base >> 16)
		w := c.evaluate(mask)
		if w == nil {
			continue
		}
		end := min(base+postings.ContainerRows, x.blocks)
		if c.lengths, err = lengths.Slice(postings.Ord(base), postings.Ord(end)); err != nil {
			return fmt.Errorf("lengths: %w", err)
		}
		c.score(w)
		if err := visit(postings.Ord(base), w, x.s.scores); err != nil {
			return err
		}
	}
	return nil
}
