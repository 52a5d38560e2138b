package store

import (
	"context"
	"fmt"
	"slices"

	"github.com/cockroachdb/pebble/v2"
)

// A Loss is something that was missing when the store was opened. A store that can be
// written keeps it, whatever is written later, until [Store.Settle].
type Loss struct {
	Kind    LossKind
	Found   int64  // Unix milliseconds
	Writes  uint64 // that are missing, if they are known to be
	Commits uint64 // of them, at most so many acknowledged commits
}

// LossKind says what is missing.
type LossKind byte

const (
	LossLog  LossKind = 1 // writes between others
	LossTail LossKind = 2 // the last writes, acknowledged ones
	LossMark LossKind = 3 // the file of the high-water mark
	LossSeal LossKind = 4 // the file of the seal
)

// Data reports whether stored data is missing, not only what would tell.
func (l Loss) Data() bool { return l.Kind == LossLog || l.Kind == LossTail }

// Fault is the kind of fault that a check names it as.
func (l Loss) Fault() FaultKind {
	switch l.Kind {
	case LossMark:
		return FaultNoMark
	case LossSeal:
		return FaultNoSeal
	}
	return FaultLost
}

func (l Loss) String() string {
	switch l.Kind {
	case LossLog:
		return fmt.Sprintf("%d writes are missing between others, at most %d commits of sessions among them: a write-ahead log was lost or cut", l.Writes, l.Commits)
	case LossTail:
		return fmt.Sprintf("the last %d acknowledged writes are missing, %d commits of sessions among them", l.Writes, l.Commits)
	case LossMark:
		return "the file " + markFile + " was missing: a loss of the last commits would not have been noticed"
	case LossSeal:
		return "the file " + sealFile + " was missing: damage near the end of the MANIFEST would not have been noticed"
	}
	return fmt.Sprintf("loss %d", l.Kind)
}

// maxLosses bounds what is kept; of one kind the counts are added up.
const maxLosses = 16

// A guard is what the store knows of its own wholeness.
type guard struct {
	Watched bool // MARK and SEAL were made and are synced
	Losses  []Loss
}

func (g *guard) encode() []byte {
	var e encoder
	e.byte(recordVersion)
	e.bool(g.Watched)
	e.uint(uint64(len(g.Losses)))
	for _, l := range g.Losses {
		e.byte(byte(l.Kind))
		e.time(l.Found)
		e.uint(l.Writes)
		e.uint(l.Commits)
	}
	return e.b
}

func decodeGuard(b []byte) (guard, error) {
	d := record(b)
	g := guard{Watched: d.bool()}
	for range d.count(4) {
		g.Losses = append(g.Losses, Loss{Kind: LossKind(d.byte()), Found: d.time(), Writes: d.uint(), Commits: d.uint()})
	}
	return g, d.finish("guard")
}

// add notes a loss.
func (g *guard) add(l Loss) {
	if len(g.Losses) >= maxLosses {
		for i := range g.Losses {
			if g.Losses[i].Kind == l.Kind {
				g.Losses[i].Writes += l.Writes
				g.Losses[i].Commits += l.Commits
				return
			}
		}
	}
	g.Losses = append(g.Losses, l)
}

// Losses lists what was found missing and is not settled, oldest first.
func (s *Store) Losses() []Loss {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.losses)
}

// Settle forgets the losses, because somebody has seen them and done what could be
// done. It returns them.
func (s *Store) Settle(ctx context.Context) ([]Loss, error) {
	was := s.Losses()
	err := s.do(ctx, func() error {
		if len(s.guard.Losses) == 0 {
			return nil
		}
		g := s.guard
		g.Losses = nil
		b := s.db.NewBatch()
		defer b.Close()
		return s.setGuard(b, g)
	})
	if err != nil {
		return nil, fmt.Errorf("settle: %w", err)
	}
	return was, nil
}

// setGuard makes g the durable guard, with what is in b. It runs where apply does.
func (s *Store) setGuard(b *pebble.Batch, g guard) error {
	if err := b.Set(keyGuard, g.encode(), nil); err != nil {
		return err
	}
	if err := s.apply(b, pebble.Sync); err != nil {
		return mapErr(err)
	}
	s.guard = g
	s.mu.Lock()
	defer s.mu.Unlock()
	s.losses = slices.Clone(g.Losses)
	return nil
}
