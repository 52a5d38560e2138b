package store

import (
	"errors"
	"os"
)

// loadGuard looks what is missing. Nothing is written yet; found are the losses that
// the guard does not hold, and g what the links say.
func (s *Store) loadGuard() (found []Loss, g gap, err error) {
	_, err = get(s.db, keyGuard, func(v []byte) (err error) {
		s.guard, err = decodeGuard(v)
		return err
	})
	if err != nil {
		return nil, gap{}, err
	}
	if g, err = s.loadChain(); err != nil {
		return nil, gap{}, err
	}
	add := func(l Loss) {
		l.Found = s.opts.Now().UnixMilli()
		found = append(found, l)
		s.opts.Logger.Error("store: " + l.String())
	}
	if g.writes > 0 {
		add(Loss{Kind: LossLog, Writes: g.writes, Commits: g.commits})
	}
	generation, batch, marked, err := s.readMark()
	if err != nil {
		return nil, gap{}, err
	}
	have := s.state.Load().Generation
	switch commits := generation - min(have, generation); {
	case s.chain.blur:
		s.chain.last = max(s.chain.last, batch) + chainSkip
	case batch > s.chain.last:
		add(Loss{Kind: LossTail, Writes: batch - s.chain.last, Commits: commits})
		s.chain.last = batch // those numbers are not given again
	case batch == 0 && commits > 0: // a mark of an older version
		add(Loss{Kind: LossTail, Writes: commits, Commits: commits})
	}
	if s.guard.Watched {
		if !marked {
			add(Loss{Kind: LossMark})
		}
		_, err := s.opts.FS.Stat(s.opts.FS.PathJoin(s.dir, sealFile))
		if errors.Is(err, os.ErrNotExist) {
			add(Loss{Kind: LossSeal})
		} else if err != nil {
			return nil, gap{}, err
		}
	}
	s.losses = append(s.losses, s.guard.Losses...)
	s.losses = append(s.losses, found...)
	return found, g, nil
}

// keepLosses makes the losses durable that were found, and then what would tell of the
// next ones.
func (s *Store) keepLosses(found []Loss, lost gap) error {
	if len(found) > 0 || s.chain.blur {
		if err := s.record(found, lost); err != nil {
			return err
		}
	}
	if err := s.openMark(); err != nil {
		return err
	}
	if len(found) > 0 {
		s.mark.write(s.state.Load().Generation, s.chain.last)
	}
	if err := s.makeSeal(); err != nil || s.guard.Watched {
		return err
	}
	g := s.guard
	g.Watched = true
	b := s.db.NewBatch()
	defer b.Close()
	return s.setGuard(b, g)
}

// record makes losses durable, and lets the chain begin anew after them.
func (s *Store) record(found []Loss, lost gap) error {
	if lost.writes > 0 {
		if err := s.mend(lost.since); err != nil {
			return err
		}
	}
	// From here on the links of the past do not count: they must not rest in logs.
	if err := mapErr(s.db.Flush()); err != nil {
		return err
	}
	b := s.db.NewBatch()
	defer b.Close()
	from := base{s.chain.last, s.state.Load().Generation}
	if err := from.put(b); err != nil {
		return err
	}
	g := s.guard
	g.Losses = nil
	for _, l := range append(append([]Loss{}, s.guard.Losses...), found...) {
		g.add(l)
	}
	if err := s.setGuard(b, g); err != nil {
		return err
	}
	s.chain.base = from
	return nil
}
