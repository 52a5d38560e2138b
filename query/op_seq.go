package query

import (
	"fmt"
	"strings"
	"time"

	"github.com/hansard-search/hansard/postings"
)

// sequence selects the sessions that have live actions in transcript order, one for
// each step. Every way to arrive at a step is kept until the next, so that the answer
// does not depend on which of several candidates comes first.
type sequence []sequenceStep

type sequenceStep struct {
	of     predicate
	next   bool
	within time.Duration
}

func (p sequence) cost() Cost {
	c := CostBitmap
	for _, s := range p {
		c = max(c, s.of.cost())
		if s.within > 0 {
			c = max(c, CostColumn)
		}
	}
	return c
}

func (p sequence) String() string {
	var b strings.Builder
	b.WriteString("seq(")
	for i, s := range p {
		if i > 0 {
			b.WriteString(" -> ")
			printLink(&b, Step{Next: s.next, Within: s.within})
		}
		b.WriteString(operand(s.of))
	}
	b.WriteByte(')')
	return b.String()
}

func (p sequence) add(x *segment, within, out *postings.Bits) error {
	n := x.src.Rows(postings.Action)
	spans, err := x.src.Spans(postings.Session, postings.Action)
	if err != nil {
		return fmt.Errorf("spans of actions: %w", err)
	}
	at, step, arrived := postings.GetBits(n), postings.GetBits(n), postings.GetBits(n)
	defer func() {
		postings.PutBits(at)
		postings.PutBits(step)
		postings.PutBits(arrived)
	}()
	if err := x.rowsOf(postings.Action, p[0].of, within, spans, at); err != nil {
		return err
	}
	for _, s := range p[1:] {
		if err := x.budget.alive(); err != nil {
			return err
		}
		if !at.Any() {
			return nil
		}
		step.Reset(n)
		arrived.Reset(n)
		if err := x.rowsOf(postings.Action, s.of, within, spans, step); err != nil {
			return err
		}
		if err := x.follow(s, at, step, arrived, spans); err != nil {
			return err
		}
		at, arrived = arrived, at
	}
	postings.Lift(at, out, spans)
	return nil
}

// follow adds to out the rows of next on which a sequence that is at a row of prev can
// arrive by step s.
func (x *segment) follow(s sequenceStep, prev, next, out *postings.Bits, spans postings.Spans) error {
	switch {
	case s.next:
		live, err := x.src.Live(postings.Action)
		if err != nil {
			return fmt.Errorf("live actions: %w", err)
		}
		postings.FollowNext(prev, next, live, out, spans)
	case s.within > 0:
		times, err := x.src.Numbers("action.time")
		if err != nil {
			return fmt.Errorf("column action.time: %w", err)
		}
		return postings.FollowWithin(prev, next, out, spans, times, s.within.Milliseconds())
	default:
		postings.Follow(prev, next, out, spans)
	}
	return nil
}
