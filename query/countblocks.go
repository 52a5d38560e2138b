package query

import (
	"context"
	"errors"

	"github.com/hansard-search/hansard/postings"
)

// CountBlocks is the number of blocks that match a ranked plan, exactly: the length
// of what [MatchBlocks] returns, without a score. Of o it reads Workers,
// BlockTypes and Limits.
func CountBlocks(ctx context.Context, p *Plan, sources []Source, o RunOptions) (int64, error) {
	if !p.ranked {
		return 0, errors.New("query: blocks asked of a query without text")
	}
	counts := make([]int64, len(sources))
	spent := newBudget(ctx, p, o.Limits)
	err := each(ctx, len(sources), workersFor(sources, o.Workers), func(i int) error {
		x := newSegment(p, sources[i], i, o.BlockTypes)
		x.budget = spent
		return x.use(func() (err error) {
			if err := x.prepare(false); err != nil || x.hopeless {
				return err
			}
			counts[i], err = x.count(ctx)
			return err
		})
	})
	total := int64(0)
	for _, n := range counts {
		total += n
	}
	return total, err
}

// count is the number of blocks that match.
func (x *segment) count(ctx context.Context) (int64, error) {
	if x.selected != nil && !x.selected.Any() {
		return 0, nil
	}
	spans, err := x.src.Spans(postings.Session, postings.Block)
	if err != nil {
		return 0, err
	}
	mask, err := x.blockMask(spans)
	if err != nil {
		return 0, err
	}
	if l, ok := x.plan.match.(*leaf); ok {
		m := x.units[l.unit.id]
		if mask == nil {
			return int64(m.len()), nil
		}
		return int64(m.count(mask)), nil
	}
	x.s.size(x.plan.nodes)
	c, total := &container{x: x}, int64(0)
	for base := 0; base < x.blocks; base += postings.ContainerRows {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		c.key = uint16(base >> 16)
		if w := c.evaluate(mask); w != nil {
			total += int64(w.count())
		}
	}
	return total, nil
}
