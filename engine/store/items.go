package store

import (
	"errors"
	"fmt"
	"strings"

	"github.com/cockroachdb/pebble/v2"
)

// items walks over the items of a revision. It checks that no frame is missing: each
// frame must begin at the place that is due.
type items struct {
	s   *Store
	db  pebble.Reader
	p   *Summary
	it  *pebble.Iterator // nil until it is needed
	buf *buffer
	raw []byte // content of the current frame, in buf
	off int    // of the next item in raw
	at  place  // place of the next item in raw
	// seen is called with each frame that is read, for a check that wants them all;
	// nil is fine.
	seen   func(raw []byte)
	passed int // bytes of the items that next gave
}

// errNoFrame marks a gap between frames.
var errNoFrame = errors.New("a frame is missing")

// items begins at the frame that holds the item at a place.
func (s *Store) items(db pebble.Reader, p *Summary, at place, seen func([]byte)) (*items, error) {
	w := &items{s: s, db: db, p: p, buf: s.buffer(), seen: seen}
	if err := w.seek(at); err != nil {
		return nil, errors.Join(err, w.close())
	}
	return w, nil
}

// seek moves to the item at a place.
func (w *items) seek(at place) error {
	if err := w.frameOf(at); err != nil {
		return err
	}
	there, err := w.walk(at)
	if err == nil && !there {
		err = corruptf("%w: none holds item %d.%d", errNoFrame, at.msg, at.blk)
	}
	return err
}

// frameOf reads the frame that holds the item at a place, if any does.
func (w *items) frameOf(at place) error {
	// A cutter never cuts as little as this, so the frame's key is known, and a
	// look-up costs less than a search. It would not see frames that must not be there.
	if w.p.Bytes <= frameTarget && w.seen == nil {
		found, err := get(w.db, keyFrame(w.p.No, w.p.Rev, place{}, 0), func(v []byte) error { return w.open(place{}, v) })
		w.at = place{}
		if found || err != nil {
			return err
		}
	}
	if w.it == nil {
		prefix := keyRevision(prefixFrame, w.p.No, w.p.Rev)
		var err error
		if w.it, err = w.db.NewIter(&pebble.IterOptions{LowerBound: prefix, UpperBound: prefixEnd(prefix)}); err != nil {
			return mapErr(err)
		}
	}
	// The last frame that begins at or before the place; part 1 is after every
	// frame that begins there.
	if !w.it.SeekLT(keyFrame(w.p.No, w.p.Rev, at, 1)) {
		if err := mapErr(w.it.Error()); err != nil {
			return err
		}
		return corruptf("%w: none holds item %d.%d", errNoFrame, at.msg, at.blk)
	}
	start, part, err := w.load()
	if err == nil && part != 0 {
		err = corruptf("%w: none begins with item %d.%d", errNoFrame, at.msg, at.blk)
	}
	w.at = start
	return err
}

// walk passes over items of the current frame up to a place; there is false if the
// frame does not reach it.
func (w *items) walk(to place) (there bool, err error) {
	for w.at != to {
		size, _, err := w.header()
		if err != nil {
			return false, err
		}
		if size >= len(w.raw)-w.off {
			return false, nil
		}
		w.off += size
		w.peek()
		if to.less(w.at) {
			return false, corruptf("item %d.%d is missing", to.msg, to.blk)
		}
	}
	return true, nil
}

// reach goes on, after an item was read, to a later place: in the current frame or
// in another.
func (w *items) reach(at place) error {
	if w.off < len(w.raw) {
		w.peek()
		if there, err := w.walk(at); there || err != nil {
			return err
		}
	}
	return w.seek(at)
}

func (w *items) close() error {
	w.s.putBuffer(w.buf)
	w.buf, w.raw = nil, nil
	if w.it == nil {
		return nil
	}
	return mapErr(w.it.Close())
}

// load reads the frame under the iterator.
func (w *items) load() (at place, part uint32, err error) {
	_, _, at, part, ok := parseFrameKey(w.it.Key())
	if !ok {
		return at, 0, corruptf("frame: bad key")
	}
	v, err := w.it.ValueAndErr()
	if err != nil {
		return at, 0, mapErr(err)
	}
	return at, part, w.open(at, v)
}

// open decodes the frame that begins at a place.
func (w *items) open(at place, value []byte) (err error) {
	w.raw, err = w.s.openFrame(w.buf.b[:0], value, frameMax)
	w.buf.b, w.off = w.raw, 0
	if err != nil {
		return fmt.Errorf("frame of item %d.%d: %w", at.msg, at.blk, err)
	}
	if w.seen != nil {
		w.seen(w.raw)
	}
	if len(w.raw) == 0 {
		return corruptf("frame of item %d.%d is empty", at.msg, at.blk)
	}
	return nil
}

// nextFrame moves to the next frame, which must be part of the item at a place; more
// is false at the end of the revision.
func (w *items) nextFrame(at place, part uint32) (more bool, err error) {
	if w.it == nil {
		return false, nil // a revision of one frame
	}
	if !w.it.Next() {
		return false, mapErr(w.it.Error())
	}
	gotAt, gotPart, err := w.load()
	if err == nil && (gotAt != at || gotPart != part) {
		err = corruptf("%w: that of item %d.%d part %d stands where item %d.%d part %d is due",
			errNoFrame, gotAt.msg, gotAt.blk, gotPart, at.msg, at.blk, part)
	}
	return true, err
}

// header reads the length and kind of the next item.
func (w *items) header() (size int, kind uint64, err error) {
	v, n := uvarint(w.raw[w.off:])
	if n <= 0 || v>>1 > 1<<40 {
		return 0, 0, corruptf("item %d.%d: bad length", w.at.msg, w.at.blk)
	}
	w.off += n
	kind = v & 1
	if kind == itemMessage && w.at.blk != 0 || kind == itemBlock && w.at.blk == 0 {
		return 0, 0, corruptf("item %d.%d is of the wrong kind", w.at.msg, w.at.blk)
	}
	return int(v >> 1), kind, nil
}

// peek tells where the next item of the current frame stands: after a block comes
// another block or the next message.
func (w *items) peek() {
	if v, n := uvarint(w.raw[w.off:]); n > 0 && v&1 == itemMessage {
		w.at = place{msg: w.at.msg + 1}
		return
	}
	w.at.blk++
}

// next reads the item at w.at and moves on to the one that the caller says is due
// after it. The string is the caller's.
func (w *items) next() (item string, kind uint64, err error) {
	size, kind, err := w.header()
	if err != nil {
		return "", 0, err
	}
	w.passed += size
	if rest := len(w.raw) - w.off; size <= rest {
		item = string(w.raw[w.off : w.off+size])
		w.off += size
		return item, kind, nil
	}
	// The parts of a long item. Memory grows with what is there, not with what the
	// length claims.
	var long strings.Builder
	long.Write(w.raw[w.off:])
	for part := uint32(1); long.Len() < size; part++ {
		more, err := w.nextFrame(w.at, part)
		if err == nil && (!more || len(w.raw) > size-long.Len()) {
			err = corruptf("item %d.%d: its parts are not its length", w.at.msg, w.at.blk)
		}
		if err != nil {
			return "", 0, err
		}
		long.Write(w.raw)
	}
	w.off = len(w.raw)
	return long.String(), kind, nil
}

// advance makes the item at a place the next one; more is false if the revision
// ends before it.
func (w *items) advance(at place) (more bool, err error) {
	if w.off == len(w.raw) {
		more, err = w.nextFrame(at, 0)
		w.at = at
		return more, err
	}
	w.at = at
	return true, nil
}
