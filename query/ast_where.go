package query

import "time"

type (
	// Exists holds for sessions with a row of Unit for which Of holds as a whole.
	Exists struct {
		Unit Unit
		Of   Pred
		At   Position
	}
	// Seq holds for sessions with distinct actions, one for each step, in this order.
	// It has at least two steps.
	Seq struct {
		Steps []Step
		At    Position
	}
	// Matches holds for sessions that have a block matching Of. It ranks nothing.
	Matches struct {
		Of *Phrase
		At Position
	}
)

// A Step is one action of a sequence.
type Step struct {
	Of Pred
	// Next says that no action stands between the step before and this one.
	Next bool
	// Within is the longest time from the step before to this one; 0 is any time.
	Within time.Duration
}

func (n *Exists) Pos() Position  { return n.At }
func (n *Seq) Pos() Position     { return n.At }
func (n *Matches) Pos() Position { return n.At }

func (*Exists) node()  {}
func (*Seq) node()     {}
func (*Matches) node() {}

func (*Exists) pred()  {}
func (*Seq) pred()     {}
func (*Matches) pred() {}
