package store

import (
	"context"
	"crypto/sha256"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/cockroachdb/pebble/v2"

	"github.com/hansard-search/hansard/engine/archive"
)

const (
	headChunkBytes = frameMax // bytes of the rest of a head in one value, before compression
	// smallRevision is how much of a revision may wait in memory for the commit,
	// so that a session that turns out unchanged costs no write; maxHeld bounds
	// the sum over all revisions.
	smallRevision = 256 << 10
	maxHeld       = 8 << 20
)

// A Revision writes a session anew. It is for one goroutine, and ends with Seal or
// Abort. Nothing of it can be read before its commit.
type Revision struct {
	s       *Store
	id      archive.SessionID
	no      No
	rev     uint64
	cut     cutter
	batch   *pebble.Batch
	written bool // a part is in the database
	done    bool
	err     error // sticky
	item    encoder
	out     []byte
	msgs    int64
	blocks  int64
}

// NewRevision begins a revision of a session, which need not exist yet. Several
// sessions, and even several revisions of one, may be written at a time.
func (s *Store) NewRevision(id archive.SessionID) (*Revision, error) {
	if s.opts.ReadOnly {
		return nil, ErrReadOnly
	}
	if err := s.fail.error(); err != nil {
		return nil, err
	}
	if id == "" || strings.IndexByte(string(id), 0) >= 0 {
		return nil, fmt.Errorf("session id %q is empty or has a zero byte", id)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closing {
		return nil, ErrClosed
	}
	no, err := s.number(id)
	if err != nil {
		return nil, err
	}
	r := &Revision{s: s, id: id, no: no, rev: s.nextRev, batch: s.db.NewBatch()}
	s.nextRev++
	r.cut = cutter{emit: r.frame, hash: sha256.New()}
	return r, nil
}

// number gives the number of an id, a new one if need be. s.mu is held.
func (s *Store) number(id archive.SessionID) (No, error) {
	if no, ok := s.ids[id]; ok {
		return no, nil
	}
	no, ok, err := lookup(s.db, id)
	if err != nil || ok {
		return no, err
	}
	no = s.nextNo
	s.nextNo++
	s.ids[id] = no
	return no, nil
}

// lookup reads the number of an id, whether or not the session lives.
func lookup(r pebble.Reader, id archive.SessionID) (no No, ok bool, err error) {
	ok, err = get(r, keyString(prefixID, string(id)), func(v []byte) error {
		if len(v) != 8 {
			return corruptf("session id %s: bad number", id)
		}
		no = No(get64(v))
		return nil
	})
	return no, ok && err == nil, err
}

// Message adds the next message: m.Position is its rank. m is not kept.
func (r *Revision) Message(m *archive.Message) error {
	if err := r.usable(); err != nil {
		return err
	}
	if int64(m.Position) != r.msgs || m.Position > math.MaxInt32 || len(m.Blocks) > maxBlocks {
		r.err = fmt.Errorf("session %s: message %d with %d blocks where message %d was due", r.id, m.Position, len(m.Blocks), r.msgs)
		return r.err
	}
	if r.err = r.message(m); r.err != nil {
		r.err = fmt.Errorf("session %s: message %d: %w", r.id, m.Position, r.err)
	}
	return r.err
}

func (r *Revision) message(m *archive.Message) error {
	at := place{msg: uint32(m.Position)}
	r.item.b = r.item.b[:0]
	appendMessage(&r.item, m)
	if err := r.put(at, itemMessage, "", ""); err != nil {
		return err
	}
	for j := range m.Blocks {
		b := &m.Blocks[j]
		at.blk++
		r.item.b = r.item.b[:0]
		appendBlock(&r.item, b)
		if err := r.put(at, itemBlock, b.ToolInput, b.Text); err != nil {
			return err
		}
	}
	r.msgs++
	r.blocks += int64(len(m.Blocks))
	return nil
}

// put writes r.item and the texts after it as one item.
func (r *Revision) put(at place, kind uint64, input, text string) error {
	size := len(r.item.b) + len(input) + len(text)
	var head encoder
	var room [10]byte
	head.b = room[:0]
	head.uint(uint64(size)<<1 | kind)
	if err := r.cut.begin(at, len(head.b)+size); err != nil {
		return err
	}
	if err := write(&r.cut, head.b); err != nil {
		return err
	}
	if err := write(&r.cut, r.item.b); err != nil {
		return err
	}
	if err := write(&r.cut, input); err != nil {
		return err
	}
	if err := write(&r.cut, text); err != nil {
		return err
	}
	return r.cut.end()
}

func (r *Revision) frame(at place, part uint32, raw []byte) error {
	return r.set(keyFrame(r.no, r.rev, at, part), raw)
}

// set adds a compressed value, and writes the batch when it is full.
func (r *Revision) set(key, raw []byte) error {
	r.out = r.s.appendFrame(r.out[:0], raw)
	if err := r.batch.Set(key, r.out, nil); err != nil {
		return mapErr(err)
	}
	if r.batch.Len() >= maxBatch {
		return r.flush(context.Background())
	}
	return nil
}

// flush writes the batch, not synced: the commit's sync covers it.
func (r *Revision) flush(ctx context.Context) error {
	return r.s.do(ctx, func() error { return r.apply() })
}

// apply is flush on the writer. The first batch also says that the revision is
// being written, so that Open finds what an interrupted import left.
func (r *Revision) apply() error {
	if r.batch.Empty() {
		return nil
	}
	if !r.written {
		if err := r.batch.Set(keyRevision(prefixPending, r.no, r.rev), nil, nil); err != nil {
			return err
		}
		r.written = true
	}
	if err := r.s.apply(r.batch, pebble.NoSync); err != nil {
		return err
	}
	r.batch.Reset()
	return nil
}

func (r *Revision) usable() error {
	switch {
	case r.err != nil:
		return r.err
	case r.done:
		return fmt.Errorf("session %s: %w", r.id, ErrUsed)
	}
	return nil
}

// Seal ends the revision with the session's head and sets head.ContentHash: the
// SHA-256 over every stored byte of messages and head, and the fingerprint of the
// parser. The caller may set Path and Raw of what it gets, then commits it.
func (r *Revision) Seal(head *archive.Session, fingerprint string) (*Sealed, error) {
	if err := r.usable(); err != nil {
		return nil, err
	}
	if head.ID() != r.id {
		return nil, fmt.Errorf("session %s: sealed with the head of %s", r.id, head.ID())
	}
	r.done = true
	z, err := r.seal(head, fingerprint)
	if err != nil {
		r.err = fmt.Errorf("session %s: %w", r.id, err)
		return nil, r.err
	}
	return z, nil
}

func (r *Revision) seal(head *archive.Session, fingerprint string) (*Sealed, error) {
	if err := r.cut.cut(); err != nil {
		return nil, err
	}
	r.item.b = r.item.b[:0]
	appendBrief(&r.item, head)
	brief := len(r.item.b)
	appendRest(&r.item, head)
	raw := r.item.b
	head.ContentHash = contentHash(r.cut.hash.Sum(nil), raw, fingerprint)
	if err := r.head(raw[:brief], raw[brief:]); err != nil {
		return nil, err
	}
	z := &Sealed{rev: r, sum: Summary{
		No: r.no, ID: r.id, Rev: r.rev, Hash: head.ContentHash,
		Created: head.Created, Updated: head.Updated,
		Messages: r.msgs, Blocks: r.blocks, Bytes: r.cut.total, HeadBytes: int64(len(raw)),
		Title: head.Title, Fingerprint: fingerprint, Parents: parents(head),
	}}
	// A small rest waits for the commit, if there is room.
	n := int64(r.batch.Len())
	if r.written || n > smallRevision || r.s.held.Add(n) > maxHeld {
		if !r.written && n <= smallRevision {
			r.s.held.Add(-n)
		}
		if err := r.flush(context.Background()); err != nil {
			return nil, err
		}
	} else {
		z.held = n
	}
	r.cut.buf, r.out, r.item.b = nil, nil, nil
	return z, nil
}

// head writes the two parts of the head. The brief has one value even if some
// session makes it long.
func (r *Revision) head(brief, rest []byte) error {
	if err := r.set(keyHead(r.no, r.rev, 0), brief); err != nil {
		return err
	}
	for i := 0; i*headChunkBytes < len(rest); i++ {
		chunk := rest[i*headChunkBytes : min((i+1)*headChunkBytes, len(rest))]
		if err := r.set(keyHead(r.no, r.rev, uint32(i)+1), chunk); err != nil {
			return err
		}
	}
	return nil
}

func contentHash(messages, head []byte, fingerprint string) [32]byte {
	h := sha256.Sum256(head)
	b := append(append([]byte("hansard session 1\x00"), messages...), h[:]...)
	return sha256.Sum256(append(b, fingerprint...))
}

// parents lists the ids that a session hangs on.
func parents(head *archive.Session) []archive.SessionID {
	var list []archive.SessionID
	add := func(native string) {
		if native != "" && strings.IndexByte(native, 0) < 0 {
			if id := archive.MakeSessionID(head.Origin, native); id != head.ID() {
				list = append(list, id)
			}
		}
	}
	add(head.Parent)
	for _, l := range head.Links {
		add(l.Parent)
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// Abort gives the revision up; after Seal it does nothing.
func (r *Revision) Abort() error {
	if r.done {
		return nil
	}
	r.done = true
	return r.drop()
}

// drop removes what was written.
func (r *Revision) drop() error {
	if !r.written {
		return mapErr(r.batch.Close())
	}
	return r.s.do(context.Background(), func() error {
		b := r.s.db.NewBatch()
		defer b.Close()
		if err := dropRevision(b, r.no, r.rev); err != nil {
			return err
		}
		return r.s.apply(b, pebble.NoSync)
	})
}

// dropRevision removes the frames, the head and the mark of a revision.
func dropRevision(b *pebble.Batch, no No, rev uint64) error {
	for _, prefix := range []byte{prefixFrame, prefixHead} {
		p := keyRevision(prefix, no, rev)
		if err := b.DeleteRange(p, prefixEnd(p), nil); err != nil {
			return err
		}
	}
	return b.Delete(keyRevision(prefixPending, no, rev), nil)
}

// A Sealed is a revision that waits for its commit.
type Sealed struct {
	Path string  // source file, for Summary.Path; not part of the hash
	Raw  []RawID // source bytes, stored with PutRaw before

	rev  *Revision
	sum  Summary
	held int64
	used bool
}

// ID is the session's id.
func (z *Sealed) ID() archive.SessionID { return z.sum.ID }

// Hash is the content hash that Seal computed.
func (z *Sealed) Hash() [32]byte { return z.sum.Hash }

// Abort gives the revision up instead of committing it.
func (z *Sealed) Abort() error {
	if z.used {
		return nil
	}
	z.release()
	return z.rev.drop()
}

// release marks it as used and gives its memory back to the budget.
func (z *Sealed) release() {
	z.used = true
	z.rev.s.held.Add(-z.held)
	z.held = 0
}
