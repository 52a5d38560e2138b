package store

import (
	"errors"
	"slices"

	"github.com/cockroachdb/pebble/v2"

	"github.com/hansard-search/hansard/engine/archive"
)

// A mending puts in order what lost writes leave behind: what was written after them may
// stand on them. The sessions that were committed since are not trusted, so that the
// next import of their sources writes them again; links lead somewhere again; what
// belongs to nothing is removed, and its numbers are not given again. Doing it twice
// changes nothing more.
type mending struct {
	s     *Store
	t     *txn
	since uint64 // generation before the loss
}

func (s *Store) mend(since uint64) error {
	t, err := s.begin()
	if err != nil {
		return err
	}
	m := &mending{s, t, since}
	defer func() { m.t.close() }()
	for _, step := range []func() error{
		m.uses, m.sessions, m.edges, m.marks, m.cursors, m.links, m.raws, m.strayUses, m.unused,
		func() error { return m.revisions(prefixFrame) },
		func() error { return m.revisions(prefixHead) },
	} {
		// What is damaged besides is named by the check; the rest is put in order.
		if err := step(); err != nil && !errors.Is(err, ErrCorrupt) {
			return err
		}
	}
	return m.t.finish()
}

// sweep removes chunks that nothing uses, and revisions that no pointer leads to: a damaged
// block that was dropped may have held their deletions. It runs on the writer, while no
// import does.
func (s *Store) sweep() error {
	t, err := s.begin()
	if err != nil {
		return err
	}
	m := &mending{s: s, t: t}
	defer func() { m.t.close() }()
	for _, step := range []func() error{m.unused,
		func() error { return m.revisions(prefixFrame) }, func() error { return m.revisions(prefixHead) }} {
		if err := step(); err != nil && !errors.Is(err, ErrCorrupt) {
			return err
		}
	}
	return m.t.finish()
}

// more writes the batch when it is full.
func (m *mending) more() error {
	if m.t.b.Len() < maxBatch {
		return nil
	}
	err := m.t.finish()
	m.t.close()
	if err == nil {
		m.t, err = m.s.begin()
	}
	return err
}

// each calls f for every record under a prefix, as it was when the mending began.
func (m *mending) each(prefix byte, f func(k, v []byte) error) error {
	return scan(m.s.db, []byte{prefix}, func(k, v []byte) error {
		if err := f(k, v); err != nil {
			return err
		}
		return m.more()
	})
}

// sessions distrusts what was committed since the loss.
func (m *mending) sessions() error {
	return m.each(prefixPointer, func(k, v []byte) error {
		if len(k) != 9 {
			return nil
		}
		p, err := decodeSummary(No(get64(k[1:])), v)
		if err != nil || p.Generation <= m.since {
			return nil
		}
		return m.session(&p)
	})
}

func (m *mending) session(p *Summary) error {
	t := m.t
	if err := t.b.Set(keyString(prefixID, string(p.ID)), be64(nil, uint64(p.No)), nil); err != nil {
		return err
	}
	if err := t.edges(p.No, nil, p.Parents); err != nil {
		return err
	}
	stored := p.Raw[:0]
	for _, id := range p.Raw {
		ok, err := has(t.b, keyHash(prefixRaw, id))
		if err != nil {
			return err
		}
		if ok {
			stored = append(stored, id)
		}
	}
	p.Raw = stored
	if err := t.relink(p.No, nil, p.Raw); err != nil {
		return err
	}
	if err := t.b.Set(key64(prefixPointer, uint64(p.No)), p.encode(), nil); err != nil {
		return err
	}
	return t.distrust(p.No, true)
}

// edges removes those that no session names any more.
func (m *mending) edges() error {
	return m.each(prefixEdge, func(k, _ []byte) error {
		n := len(k) - 9
		if n < 1 || k[n] != 0 {
			return nil
		}
		p, ok, err := pointer(m.t.b, No(get64(k[n+1:])))
		if err != nil || ok && slices.Contains(p.Parents, archive.SessionID(k[1:n])) {
			return err
		}
		return m.t.b.Delete(k, nil)
	})
}

// marks lets dirty marks say what their sessions are now.
func (m *mending) marks() error {
	return m.each(prefixDirty, func(k, v []byte) error {
		if len(k) != 9 {
			return nil
		}
		no := No(get64(k[1:]))
		d, err := decodeDirty(no, v)
		if err != nil {
			return nil
		}
		p, _, err := pointer(m.t.b, no)
		if err != nil || p.Rev == d.Rev { // 0 if there is none
			return err
		}
		return m.t.mark(no, p.Rev)
	})
}

// revisions removes what no pointer leads to and nobody writes.
func (m *mending) revisions(prefix byte) (err error) {
	s := m.s
	it, err := s.db.NewIter(&pebble.IterOptions{LowerBound: []byte{prefix}, UpperBound: []byte{prefix + 1}})
	if err != nil {
		return mapErr(err)
	}
	defer func() { err = errors.Join(err, mapErr(it.Close())) }()
	for ok := it.First(); ok; {
		k := it.Key()
		if len(k) < 17 {
			ok = it.Next()
			continue
		}
		no, rev := No(get64(k[1:])), get64(k[9:])
		s.nextRev = max(s.nextRev, rev+1)
		end := prefixEnd(k[:17])
		p, living, err := pointer(s.db, no)
		if err == nil && (!living || p.Rev != rev) {
			pending, err := has(s.db, keyRevision(prefixPending, no, rev))
			if err != nil {
				return err
			}
			if !pending {
				if err := errors.Join(dropRevision(m.t.b, no, rev), m.more()); err != nil {
					return err
				}
			}
		}
		ok = it.SeekGE(end)
	}
	return mapErr(it.Error())
}
