package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/hansard-search/hansard/engine/store"
	"github.com/hansard-search/hansard/postings"
	"github.com/hansard-search/hansard/segments"
)

// An unreadable session is dirty and stays so, because the store cannot give it. It
// is tried again when its mark changes: when it was imported again, or deleted.
type unreadable struct {
	mark   store.Ref
	damage Damage
}

// distrust notes the sessions that could not be read, and tells the store, so that an
// import of their sources replaces them. An old copy of one leaves the index: the
// blocks that it points at are gone.
func (x *index) distrust(ctx context.Context, bad map[store.No]error, todo []store.Dirty) {
	if len(bad) == 0 {
		return
	}
	var nos []store.No
	for _, d := range todo {
		if err := bad[d.No]; err != nil {
			nos = append(nos, d.No)
			x.unreadable[d.No] = unreadable{d.Ref(), x.sessionDamage(d.No, err)}
			x.log.Error("session cannot be read", "number", d.No, "error", err)
			delete(x.marks, d.No)
			x.kill(d.No)
		}
	}
	if x.readOnly() {
		return
	}
	marks, err := x.store.Distrust(context.WithoutCancel(ctx), nos, true)
	if err != nil {
		x.log.Error("damage not noted", "error", err)
		return
	}
	for _, m := range marks {
		u := x.unreadable[m.No]
		u.mark = m
		x.unreadable[m.No] = u
	}
}

// sessionDamage describes a session that cannot be read. Its name is known if its
// pointer is sound.
func (x *index) sessionDamage(no store.No, err error) Damage {
	d := Damage{File: storeFile, Session: fmt.Sprintf("number %d", no), Reason: err.Error(), Sessions: 1}
	snap, snapErr := x.store.Snapshot()
	if snapErr != nil {
		return d
	}
	defer snap.Close()
	if sum, err := snap.Summary(no); err == nil {
		d.Session = string(sum.ID)
	}
	return d
}

// noteDamage tells the store of a session that an answer could not show. The index
// keeps its rows: what they say is still true.
func (e *Engine) noteDamage(ctx context.Context, no store.No) {
	x := e.index
	x.mu.Lock()
	known := x.suspects[no]
	x.suspects[no] = true
	x.mu.Unlock()
	if known || e.index.readOnly() {
		return
	}
	if _, err := e.store.Distrust(context.WithoutCancel(ctx), []store.No{no}, false); err != nil {
		e.opts.Logger.Error("damage not noted", "number", no, "error", err)
	}
}

// eachSession calls f for every session of the store by number, with its summary or
// why it has none. Damage to one does not keep it from the others. f's error ends it.
func eachSession(snap *store.Snapshot, f func(no store.No, sum *store.Summary, err error) error) error {
	last := store.No(0)
	var scanErr error
	for sum, err := range snap.Sessions() {
		if scanErr = err; err != nil {
			break
		}
		last = sum.No
		if err := f(sum.No, &sum, nil); err != nil {
			return err
		}
	}
	if !errors.Is(scanErr, store.ErrCorrupt) {
		return scanErr
	}
	for no := last + 1; no <= snap.MaxNo(); no++ { // the scan stops at damage, look-ups do not
		sum, err := snap.Summary(no)
		if errors.Is(err, store.ErrNotFound) {
			continue
		}
		if err != nil && !errors.Is(err, store.ErrCorrupt) {
			return err
		}
		if err := f(no, &sum, err); err != nil {
			return err
		}
	}
	return nil
}

// dirty lists what the index lacks. If the marks themselves are damaged, or some of them
// were lost, it is found by comparing every session with its live copy.
func (x *index) dirty(snap *store.Snapshot) ([]store.Dirty, error) {
	list, err := snap.Dirty()
	if damaged := errors.Is(err, store.ErrCorrupt); damaged {
		x.log.Error("dirty marks cannot be read", "error", err)
		list = nil
	} else if err != nil || !x.doubt {
		return list, err
	}
	marked, there := map[store.No]bool{}, map[store.No]bool{}
	for _, d := range list {
		marked[d.No] = true
	}
	err = eachSession(snap, func(no store.No, sum *store.Summary, err error) error {
		there[no] = true
		if at, ok := x.where[no]; err == nil && !marked[no] && (!ok || at.rev != sum.Rev) {
			list = append(list, store.Dirty{No: no, Rev: sum.Rev})
		}
		return nil
	})
	for no := range x.where {
		if !there[no] && !marked[no] {
			list = append(list, store.Dirty{No: no})
		}
	}
	slices.SortFunc(list, func(a, b store.Dirty) int { return cmp.Compare(a.No, b.No) })
	return list, err
}

// missing lists the sessions that are in no segment although nothing says that they
// are still to be indexed: what broken segments held.
func (x *index) missing(snap *store.Snapshot) ([]store.Dirty, error) {
	dirty, err := x.dirty(snap)
	if err != nil {
		return nil, err
	}
	waiting := map[store.No]bool{}
	for _, d := range dirty {
		waiting[d.No] = true
	}
	var out []store.Dirty
	err = eachSession(snap, func(no store.No, sum *store.Summary, err error) error {
		_, lives := x.where[no]
		_, bad := x.unreadable[no]
		if lives || bad || waiting[no] {
			return nil
		}
		d := store.Dirty{No: no}
		if err == nil {
			d.Rev = sum.Rev
		}
		out = append(out, d)
		return nil
	})
	return out, err
}

// healPause is how long the indexing of lost sessions goes on before what it has made
// is put in place.
const healPause = 2 * time.Second

// healRetry is how long a healing that failed is not tried again.
const healRetry = 10 * time.Second

// heals indexes what broken segments held, in the background, until the engine closes:
// what was asked for before that is begun.
func (e *Engine) heals() {
	for {
		did, err := e.index.heal(e.life)
		if did {
			e.renew()
			e.wantMerge()
		}
		if err != nil && e.life.Err() == nil {
			e.opts.Logger.Error("healing failed", "error", err)
			select {
			case <-e.life.Done():
			case <-time.After(healRetry):
			}
		}
		select {
		case <-e.sick:
			continue
		default:
		}
		select {
		case <-e.sick:
		case <-e.life.Done():
			return
		}
	}
}

// wantHeal asks for a healing.
func (e *Engine) wantHeal() {
	select {
	case e.sick <- struct{}{}:
	default:
	}
}

// leaveOut sets the segment of a snapshot aside that an error of reading it names, if
// the error is damage; it reports whether the index is another now.
func (e *Engine) leaveOut(snap *snapshot, err error) bool {
	file, ok := damagedSegment(err)
	if !ok {
		return false
	}
	for _, v := range snap.views {
		if v.Segment().Name() == file {
			return e.setAside(v.Segment(), err)
		}
	}
	return false
}

// setAside takes a damaged segment out of the index and lets its sessions be indexed
// again. Snapshots that hold it keep it.
func (e *Engine) setAside(seg *segments.Segment, err error) bool {
	e.index.mu.Lock()
	did := e.index.setAside(seg, err)
	e.index.mu.Unlock()
	if did {
		e.renew()
		e.wantHeal()
	}
	return did
}

// A healing is the indexing of what broken segments held.
type healing struct {
	snap   *store.Snapshot
	todo   []store.Dirty
	broken map[string]bool // the segments whose sessions these are
}

// heal indexes the sessions of broken segments again, a part at a time, and then takes
// the segments off the list. Some time after life it ends, with what is done in place:
// a process that answers one query heals something too. It is called without mu, and
// holds it only to look and to replace.
func (x *index) heal(life context.Context) (did bool, err error) {
	x.merging.Lock()
	defer x.merging.Unlock()
	h, err := x.planHealing()
	if h == nil || err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, h.snap.Close()) }()
	ctx, cancel := outlive(life, closeHeal)
	defer cancel()
	beginning, ended := outlive(life, closeHeal/2)
	defer ended()
	for len(h.todo) > 0 {
		if err := x.healSome(ctx, beginning, h); err != nil {
			return did, err
		}
		did = true
		if beginning.Err() != nil && len(h.todo) > 0 {
			return did, beginning.Err()
		}
	}
	return true, x.healed(ctx, h)
}

// closeHeal bounds how long Close works on a healing: for half of it sessions are
// indexed, and the rest is to put them in place.
const closeHeal = time.Second

// outlive gives a context that ends the given time after life, for what has begun.
func outlive(life context.Context, by time.Duration) (context.Context, func()) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(life))
	stop := context.AfterFunc(life, func() { time.AfterFunc(by, cancel) })
	return ctx, func() { stop(); cancel() }
}

// planHealing lists what is to be indexed again; nil if nothing is.
func (x *index) planHealing() (*healing, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.readOnly() || !slices.ContainsFunc(x.broken, func(b brokenSegment) bool { return b.heals }) {
		return nil, nil
	}
	h := &healing{broken: map[string]bool{}}
	for _, b := range x.broken {
		h.broken[b.record.Name] = true
	}
	var err error
	if h.snap, err = x.store.Snapshot(); err != nil {
		return nil, err
	}
	if h.todo, err = x.missing(h.snap); err != nil {
		return nil, errors.Join(err, h.snap.Close())
	}
	return h, nil
}

// healSome indexes the first sessions of what is to be healed into one file. It takes no
// more of them once beginning has ended.
func (x *index) healSome(ctx, beginning context.Context, h *healing) error {
	began := x.opts.Now()
	p, err := x.compose(ctx, h.snap, h.todo, func() bool { return beginning.Err() != nil || x.opts.Now().Sub(began) > healPause })
	if err != nil {
		return err
	}
	x.mu.Lock()
	name := x.newName()
	x.mu.Unlock()
	var m *member
	if p.n > len(p.bad) {
		m, err = x.write(name, p.w.Finish)
	}
	if err = errors.Join(err, p.w.Close()); err != nil {
		return err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.setAt(nil) // sessions that changed meanwhile wait for the next snapshot
	if m != nil {
		if err := x.admit(m); err != nil {
			x.retire(m)
			return err
		}
	}
	x.distrust(ctx, p.bad, h.todo[:p.n])
	h.todo = h.todo[p.n:]
	x.spread(int64(len(h.todo)))
	return x.publish(ctx)
}

// admit adds a member of sessions as they were when healing began. What has changed
// since, or is in a segment by now, is dead in it from the start.
func (x *index) admit(m *member) error {
	now, err := x.store.Snapshot()
	if err != nil {
		return err
	}
	defer now.Close()
	for row := range postings.Ord(m.sessions()) {
		ref, err := m.seg.SessionRef(row)
		if err != nil {
			return err
		}
		no := store.No(ref.No)
		sum, err := now.Summary(no)
		if _, lives := x.where[no]; lives || err != nil || sum.Rev != ref.Rev {
			m.dead.Add(row)
		} else {
			x.where[no] = place{m, row, ref.Rev}
		}
	}
	m.refresh()
	x.members = append(x.members, m)
	x.order()
	return nil
}

// spread says that n sessions of broken segments are still missing, wherever they were.
func (x *index) spread(n int64) {
	for i := range x.broken {
		d := &x.broken[i].damage
		d.Sessions = min(d.Sessions, n)
		n -= d.Sessions
	}
}

// healed takes the segments whose sessions are in others now off the list.
func (x *index) healed(ctx context.Context, h *healing) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.setAt(nil)
	var gone []brokenSegment
	before := x.broken
	x.broken = nil
	for _, b := range before {
		if h.broken[b.record.Name] {
			gone = append(gone, b)
		} else {
			x.broken = append(x.broken, b)
		}
	}
	if err := x.publish(ctx); err != nil {
		x.broken = before
		return err
	}
	x.putAside(gone)
	x.log.Info("damaged segments were indexed again", "segments", len(gone))
	return nil
}
