package store

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/cockroachdb/pebble/v2"

	"github.com/hansard-search/hansard/engine/archive"
)

// A Commit makes revisions the current ones, all of them or none.
type Commit struct {
	Sessions []*Sealed // used up, whatever the outcome
	Cursors  []Cursor
	// Prefer decides whether the new revision of a stored session replaces the old
	// one, when they differ; nil means always. It must not call the store.
	Prefer func(old, new Summary) bool
	// MarkParents also marks the sessions dirty that an added or changed session
	// hangs on.
	MarkParents bool
}

// Commit makes its part durable: one small synced batch moves the pointers, marks
// the sessions and their dependants dirty, records edges and cursors, and counts the
// generation. The outcomes are in the order of the sessions. An error of ctx means
// that nothing happened; ErrFailed, that the outcome is known when the store is
// opened again.
func (s *Store) Commit(ctx context.Context, c Commit) ([]Outcome, error) {
	for _, z := range c.Sessions {
		if z.used || z.rev.s != s {
			return nil, fmt.Errorf("commit: session %s: %w", z.sum.ID, ErrUsed)
		}
	}
	var outcomes []Outcome
	err := s.do(ctx, func() error {
		t, err := s.begin()
		if err != nil {
			return err
		}
		defer t.close()
		if outcomes, err = t.commit(c); err != nil {
			return err
		}
		return s.trainDictionary()
	})
	if err != nil {
		return nil, fmt.Errorf("commit: %w", err)
	}
	return outcomes, nil
}

// Delete removes a session, its revision and its source bytes unless something else
// came from them. Its overlays stay, its number is not given to another.
func (s *Store) Delete(ctx context.Context, no No) error {
	err := s.do(ctx, func() error {
		t, err := s.begin()
		if err != nil {
			return err
		}
		defer t.close()
		return t.delete(no)
	})
	if err != nil {
		return fmt.Errorf("delete session %d: %w", no, err)
	}
	return nil
}

// A txn is one synced batch in the making, on the writer.
type txn struct {
	s     *Store
	b     *pebble.Batch // reads see its own writes
	state state
	fresh map[archive.SessionID]bool // ids that the batch gives a number
	// near are sessions whose dependants need a new look; far, those whose
	// dependants' dependants need one too, because where they hang has changed.
	near, far map[archive.SessionID]bool
	unlinked  map[RawID][]RawID // raws that lost a link, with what replaced them
	deleted   bool              // lost links mean that the bytes shall go
	changed   bool              // a session changed
}

func (s *Store) begin() (*txn, error) {
	return &txn{s: s, b: s.db.NewIndexedBatch(), state: *s.state.Load(),
		fresh: map[archive.SessionID]bool{}, near: map[archive.SessionID]bool{}, far: map[archive.SessionID]bool{},
		unlinked: map[RawID][]RawID{}}, nil
}

func (t *txn) close() { _ = t.b.Close() } // frees memory; its error only says it was used

func (t *txn) commit(c Commit) ([]Outcome, error) {
	t.state.Generation++
	outcomes := make([]Outcome, 0, len(c.Sessions))
	for _, z := range c.Sessions {
		o, err := t.session(z, &c)
		if err != nil {
			return nil, fmt.Errorf("session %s: %w", z.sum.ID, err)
		}
		outcomes = append(outcomes, o)
	}
	if !t.changed {
		t.state.Generation--
	}
	for i := range c.Cursors {
		if err := t.cursor(c.Cursors[i]); err != nil {
			return nil, fmt.Errorf("cursor %s: %w", c.Cursors[i].Path, err)
		}
	}
	return outcomes, t.finish()
}

// session decides on one session of a commit.
func (t *txn) session(z *Sealed, c *Commit) (Outcome, error) {
	z.release()
	next := z.sum
	next.Path = z.Path
	next.Generation = t.state.Generation
	var err error
	if next.Raw, err = t.storedRaws(z.Raw); err != nil {
		return Outcome{}, err
	}
	old, exists, err := pointer(t.b, next.No)
	switch {
	case errors.Is(err, ErrCorrupt):
		// What it stood at cannot be read: what comes takes its place.
		if err := dropBefore(t.b, next.No, next.Rev); err != nil {
			return Outcome{}, err
		}
		return Outcome{Updated, next}, t.move(z, nil, &next, c)
	case err != nil:
		return Outcome{}, err
	case !exists:
		return Outcome{Added, next}, t.move(z, nil, &next, c)
	case old.Hash == next.Hash:
		err := t.unchanged(z, &old, next.Raw)
		return Outcome{Unchanged, old}, err
	case c.Prefer != nil && !c.Prefer(old, next):
		return Outcome{Superseded, old}, t.drop(z)
	}
	return Outcome{Updated, next}, t.move(z, &old, &next, c)
}

// unchanged drops the new revision. The source bytes may have grown all the same.
func (t *txn) unchanged(z *Sealed, old *Summary, raw []RawID) error {
	if err := t.drop(z); err != nil {
		return err
	}
	if len(raw) == 0 || slices.Equal(raw, old.Raw) && z.Path == old.Path {
		return nil
	}
	if err := t.relink(old.No, old.Raw, raw); err != nil {
		return err
	}
	old.Raw, old.Path = raw, z.Path
	return t.b.Set(key64(prefixPointer, uint64(old.No)), old.encode(), nil)
}

func (t *txn) drop(z *Sealed) error {
	if !z.rev.written {
		return z.rev.batch.Close()
	}
	return dropRevision(t.b, z.sum.No, z.sum.Rev)
}

// move makes next the session's revision.
func (t *txn) move(z *Sealed, old, next *Summary, c *Commit) error {
	if err := z.rev.apply(); err != nil {
		return err
	}
	var before []archive.SessionID
	var raws []RawID
	if old != nil {
		before, raws = old.Parents, old.Raw
		if err := dropRevision(t.b, old.No, old.Rev); err != nil {
			return err
		}
	} else {
		if err := t.b.Set(keyString(prefixID, string(next.ID)), be64(nil, uint64(next.No)), nil); err != nil {
			return err
		}
		t.fresh[next.ID] = true
	}
	if err := t.b.Delete(keyRevision(prefixPending, next.No, next.Rev), nil); err != nil {
		return err
	}
	if err := t.b.Set(key64(prefixPointer, uint64(next.No)), next.encode(), nil); err != nil {
		return err
	}
	if err := t.edges(next.No, before, next.Parents); err != nil {
		return err
	}
	if err := t.relink(next.No, raws, next.Raw); err != nil {
		return err
	}
	t.changed = true
	t.state.RawBytes += uint64(next.Bytes)
	if old == nil || !slices.Equal(before, next.Parents) {
		t.far[next.ID] = true
	} else {
		t.near[next.ID] = true
	}
	if c.MarkParents {
		if err := t.markIDs(slices.Concat(before, next.Parents)); err != nil {
			return err
		}
	}
	return t.mark(next.No, next.Rev)
}

// edges replaces the edges that lead to a session.
func (t *txn) edges(no No, before, after []archive.SessionID) error {
	for _, p := range before {
		if err := t.b.Delete(keyEdge(p, no), nil); err != nil {
			return err
		}
	}
	for _, p := range after {
		if err := t.b.Set(keyEdge(p, no), nil, nil); err != nil {
			return err
		}
	}
	return nil
}

func (t *txn) cursor(c Cursor) error {
	key := keyString(prefixCursor, c.Path)
	var old Cursor
	found, err := get(t.b, key, func(v []byte) error {
		var err error
		old, err = decodeCursor(c.Path, v)
		return err
	})
	if err != nil {
		return err
	}
	if err := t.linkCursor(c.Path, old.Raw, c.Raw); err != nil {
		return err
	}
	c.Generation = t.state.Generation
	if found {
		same := c
		same.Generation = old.Generation
		if string(same.encode()) == string(old.encode()) {
			return nil
		}
	}
	return t.b.Set(key, c.encode(), nil)
}

// delete removes a session.
func (t *txn) delete(no No) error {
	old, exists, err := pointer(t.b, no)
	if err != nil {
		return err
	}
	if !exists {
		return ErrNotFound
	}
	t.state.Generation++
	t.changed, t.deleted = true, true
	t.far[old.ID] = true
	if err := dropRevision(t.b, no, old.Rev); err != nil {
		return err
	}
	if err := t.b.Delete(key64(prefixPointer, uint64(no)), nil); err != nil {
		return err
	}
	if err := t.edges(no, old.Parents, nil); err != nil {
		return err
	}
	if err := t.relink(no, old.Raw, nil); err != nil {
		return err
	}
	if err := t.mark(no, 0); err != nil {
		return err
	}
	return t.finish()
}

func (t *txn) mark(no No, rev uint64) error {
	return t.b.Set(key64(prefixDirty, uint64(no)), Dirty{no, rev, t.state.Generation}.encode(), nil)
}

// markIDs marks those of the sessions that live.
func (t *txn) markIDs(ids []archive.SessionID) error {
	for _, id := range ids {
		no, ok, err := lookup(t.b, id)
		if err != nil {
			return err
		}
		if ok {
			if _, err := t.markLiving(no); err != nil {
				return err
			}
		}
	}
	return nil
}

func (t *txn) markLiving(no No) (archive.SessionID, error) {
	p, ok, err := pointer(t.b, no)
	if err != nil || !ok {
		return "", err
	}
	return p.ID, t.mark(no, p.Rev)
}

// dependants marks what hangs on the changed sessions.
func (t *txn) dependants() error {
	seen := map[archive.SessionID]bool{}
	queue := slices.Sorted(maps.Keys(t.far))
	for len(queue) > 0 {
		id := queue[0]
		queue = queue[1:]
		if seen[id] {
			continue
		}
		seen[id] = true
		children, err := t.markChildren(id)
		if err != nil {
			return err
		}
		queue = append(queue, children...)
	}
	for _, id := range slices.Sorted(maps.Keys(t.near)) {
		if !seen[id] {
			if _, err := t.markChildren(id); err != nil {
				return err
			}
		}
	}
	return nil
}

func (t *txn) markChildren(id archive.SessionID) ([]archive.SessionID, error) {
	nos, err := dependants(t.b, id)
	if err != nil {
		return nil, err
	}
	var ids []archive.SessionID
	for _, no := range nos {
		child, err := t.markLiving(no)
		if err != nil {
			return nil, err
		}
		if child != "" {
			ids = append(ids, child)
		}
	}
	return ids, nil
}

// finish writes the batch; it is the commit. Without any change nothing is synced.
func (t *txn) finish() error {
	if err := t.dependants(); err != nil {
		return err
	}
	if err := t.collectRaws(); err != nil {
		return err
	}
	if t.b.Empty() {
		return nil
	}
	return t.sync()
}

func (t *txn) sync() error {
	t.s.mu.Lock()
	t.state.NextNo, t.state.NextRev, t.state.NextBlob = t.s.nextNo, t.s.nextRev, t.s.nextBlob
	t.s.mu.Unlock()
	if err := t.b.Set(keyState, t.state.encode(), nil); err != nil {
		return err
	}
	if err := t.s.apply(t.b, pebble.Sync); err != nil {
		return err
	}
	st := t.state
	t.s.state.Store(&st)
	t.s.mark.write(st.Generation, t.s.chain.last)
	t.s.mu.Lock()
	for id := range t.fresh {
		delete(t.s.ids, id)
	}
	t.s.mu.Unlock()
	return nil
}

// pointer reads the pointer of a session.
func pointer(r pebble.Reader, no No) (p Summary, ok bool, err error) {
	ok, err = get(r, key64(prefixPointer, uint64(no)), func(v []byte) error {
		p, err = decodeSummary(no, v)
		return err
	})
	if err != nil {
		return Summary{}, false, fmt.Errorf("session %d: %w", no, err)
	}
	return p, ok, nil
}

// dependants lists the sessions that name id as a parent.
func dependants(r pebble.Reader, id archive.SessionID) ([]No, error) {
	var nos []No
	p := keyEdges(id)
	err := scan(r, p, func(k, _ []byte) error {
		if len(k) != len(p)+8 {
			return corruptf("edge of %s: bad key", id)
		}
		nos = append(nos, No(get64(k[len(p):])))
		return nil
	})
	return nos, err
}
