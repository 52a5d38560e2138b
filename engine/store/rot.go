package store

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/cockroachdb/pebble/v2"
)

// A rot is what the store knows of damage that its compactions have met, and what it does
// about that by itself.
type rot struct {
	every time.Duration // at most so often the tables are looked at
	stall time.Duration // so long writing may halt for tables in front of damage

	mu     sync.Mutex // guards those below
	ready  bool       // the database is open
	closed bool
	met    map[string]bool // paths of damaged tables
	asked  bool            // a compaction has failed since anybody looked
	stuck  error           // damage that stays; nil if there is none
	halted int             // which halt of writing it is; odd while it lasts
	end    context.CancelFunc
	work   sync.WaitGroup
}

const (
	rotEvery = 5 * time.Second
	rotStall = 30 * time.Second
)

// meet remembers the table in which somebody has met damage.
func (r *rot) meet(path string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.remember(path)
}

func (r *rot) remember(path string) {
	if r.met == nil {
		r.met = map[string]bool{}
	}
	r.met[path] = true
}

// compactionFailed lets the tables be looked at soon.
func (s *Store) compactionFailed() {
	r := &s.rot
	r.mu.Lock()
	defer r.mu.Unlock()
	r.asked = true
	s.startDropping()
}

// rotReady says that the database is open.
func (s *Store) rotReady() {
	r := &s.rot
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ready = true
	s.startDropping()
}

// startDropping starts what drops damage, unless it runs. The rot is locked.
func (s *Store) startDropping() {
	r := &s.rot
	if !r.ready || r.closed || !r.asked || r.end != nil || s.opts.ReadOnly {
		return
	}
	ctx, end := context.WithCancel(context.Background())
	r.end = end
	r.work.Go(func() {
		defer end()
		s.dropMet(ctx)
	})
}

// dropMet drops the damage that compactions meet, as long as they meet any.
func (s *Store) dropMet(ctx context.Context) {
	r := &s.rot
	for {
		r.mu.Lock()
		if !r.asked || r.closed {
			r.end = nil
			r.mu.Unlock()
			return
		}
		r.asked = false
		met := r.met
		r.met = nil
		r.mu.Unlock()
		left, err := s.dropAmong(ctx, met)
		if err != nil && ctx.Err() == nil {
			s.opts.Logger.Error("store: damage cannot be dropped", "err", err)
		}
		r.mu.Lock()
		r.stuck = left
		r.mu.Unlock()
		select {
		case <-time.After(r.every):
		case <-ctx.Done():
		case <-s.fail.ch:
			return
		}
	}
}

// dropAmong drops what nothing needs from the tables of those paths. left is damage that
// stays, if any does.
func (s *Store) dropAmong(ctx context.Context, met map[string]bool) (left, err error) {
	list, err := s.liveTables()
	if err != nil {
		return nil, err
	}
	for _, t := range list {
		if !met[t.path] {
			continue
		}
		dropped, bad, err := s.dropFrom(ctx, t, false)
		if err != nil {
			return errors.Join(bad, err), err
		}
		if bad != nil && len(dropped) == 0 {
			left = bad
			s.rot.meet(t.path) // what needs it may be replaced
		}
	}
	return left, nil
}

// stopDropping ends it and waits for that.
func (s *Store) stopDropping() {
	r := &s.rot
	r.mu.Lock()
	r.closed = true
	if r.end != nil {
		r.end()
	}
	r.mu.Unlock()
	r.work.Wait()
}

// halt hears that writing halts until a compaction has made room. If none gets through
// damage that stays, it would for ever: the store ends writing then, and says why.
func (s *Store) halt() {
	r := &s.rot
	r.mu.Lock()
	defer r.mu.Unlock()
	r.halted++
	which := r.halted
	if r.stuck != nil {
		r.asked = true
		s.startDropping()
	}
	time.AfterFunc(r.stall, func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.halted == which && r.stuck != nil && !r.closed {
			// Not as ErrCorrupt: what was to be written is sound.
			s.fail.set("compact", s.dir, fmt.Errorf("%w: %s", ErrInTheWay, r.stuck.Error()))
		}
	})
}

func (s *Store) goOn() {
	s.rot.mu.Lock()
	defer s.rot.mu.Unlock()
	s.rot.halted++
}

// listen adds what the rot hears of the database.
func (s *Store) listen(l *pebble.EventListener) {
	l.WriteStallBegin = func(pebble.WriteStallBeginInfo) { s.halt() }
	l.WriteStallEnd = func() { s.goOn() }
}
