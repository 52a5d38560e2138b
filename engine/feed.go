package engine

import (
	"context"
	"fmt"
	"iter"
	"sort"

	"github.com/hansard-search/hansard/engine/archive"
	"github.com/hansard-search/hansard/engine/store"
	"github.com/hansard-search/hansard/segments"
)

// A feeder turns stored sessions into rows of a segment.
type feeder struct {
	w          *segments.Writer
	firstMsg   int // number of the first message column, and so on
	firstBlock int
	firstAct   int
	values     []segments.Value // reused
	text       []byte           // reused
}

func newFeeder(w *segments.Writer) *feeder {
	f := &feeder{w: w}
	f.firstMsg = len(sessionColumns)
	f.firstBlock = f.firstMsg + len(messageColumns)
	f.firstAct = f.firstBlock + len(blockColumns)
	return f
}

// add streams one session of the snapshot into the segment.
func (f *feeder) add(ctx context.Context, snap *store.Snapshot, no store.No) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	sum, err := snap.Summary(no)
	if err != nil {
		return err
	}
	head, err := snap.Head(no)
	if err != nil {
		return err
	}
	return f.session(ctx, segments.Ref{No: uint64(no), Rev: sum.Rev}, head, snap.Messages(no, 0))
}

// session writes a session of the given messages.
func (f *feeder) session(ctx context.Context, ref segments.Ref, head *archive.Session, messages iter.Seq2[*archive.Message, error]) error {
	f.values = appendValues(f.values[:0], 0, sessionColumns, head)
	if err := f.w.BeginSession(ref, f.values); err != nil {
		return err
	}
	byUse := actionsByUse(head.Actions)
	rank, n := 0, 0
	for m, err := range messages {
		if err != nil {
			return fmt.Errorf("session %s: %w", head.ID(), err)
		}
		if n++; n%64 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if err := f.message(m, head.Actions, byUse, &rank); err != nil {
			return err
		}
	}
	for i := range head.Actions {
		a := &head.Actions[i]
		f.values = appendValues(f.values[:0], f.firstAct, actionColumns, a)
		if err := f.w.Action(int32(a.Use), int32(a.Result), a.Inherited, f.values); err != nil {
			return err
		}
	}
	return f.w.EndSession()
}

// message writes one message and its blocks. rank counts the session's blocks.
func (f *feeder) message(m *archive.Message, actions []archive.Action, byUse []int, rank *int) error {
	f.values = appendValues(f.values[:0], f.firstMsg, messageColumns, m)
	if err := f.w.Message(m.Inherited, f.values); err != nil {
		return err
	}
	for i := range m.Blocks {
		facts := blockFacts{Block: &m.Blocks[i], message: m}
		if at := sort.Search(len(byUse), func(k int) bool { return actions[byUse[k]].Use >= *rank }); at < len(byUse) && actions[byUse[at]].Use == *rank {
			facts.action = &actions[byUse[at]]
		}
		f.text = archive.AppendSearchText(f.text[:0], &m.Blocks[i])
		f.values = appendValues(f.values[:0], f.firstBlock, blockColumns, &facts)
		if err := f.w.Block(string(f.text), m.Inherited, f.values); err != nil {
			return err
		}
		*rank++
	}
	return nil
}

// actionsByUse orders the indexes of actions by the rank of their tool_use block.
func actionsByUse(actions []archive.Action) []int {
	out := make([]int, len(actions))
	for i := range out {
		out[i] = i
	}
	sort.Slice(out, func(a, b int) bool { return actions[out[a]].Use < actions[out[b]].Use })
	return out
}
