package store

import (
	"errors"
	"fmt"

	"github.com/cockroachdb/pebble/v2"
)

// items walks over the items of a revision. It checks that no frame is missing: each
// frame must begin at the place that is due.
type items struct {
	s    *Store
	it   *pebble.Iterator
	raw  []byte           // content of the current frame
	off  int              // of the next item in raw
	at   place            // place of the next item in raw
	seen func(raw []byte) // called with each frame that is read; nil is fine
}

// items begins at the frame that holds the item at a place.
func (s *Store) items(db pebble.Reader, no No, rev uint64, at place, seen func([]byte)) (*items, error) {
	p := keyRevision(prefixFrame, no, rev)
	it, err := db.NewIter(&pebble.IterOptions{LowerBound: p, UpperBound: prefixEnd(p)})
	if err != nil {
		return nil, mapErr(err)
	}
	w := &items{s: s, it: it, seen: seen}
	// The last frame that begins at or before the place; part 1 is after every
	// frame that begins there.
	if !it.SeekLT(keyFrame(no, rev, at, 1)) {
		err := mapErr(it.Error())
		if err == nil {
			err = corruptf("no frame holds item %d.%d", at.msg, at.blk)
		}
		return nil, errors.Join(err, w.close())
	}
	start, part, err := w.load()
	if err == nil && part != 0 {
		err = corruptf("no frame begins with item %d.%d", at.msg, at.blk)
	}
	if err != nil {
		return nil, errors.Join(err, w.close())
	}
	w.at = start
	for w.at != at {
		if _, err := w.skip(at); err != nil {
			return nil, errors.Join(err, w.close())
		}
	}
	return w, nil
}

func (w *items) close() error { return mapErr(w.it.Close()) }

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
	w.raw, err = w.s.openFrame(w.raw[:0], v, frameMax)
	w.off = 0
	if err != nil {
		return at, 0, fmt.Errorf("frame of item %d.%d: %w", at.msg, at.blk, err)
	}
	if w.seen != nil {
		w.seen(w.raw)
	}
	if len(w.raw) == 0 {
		return at, 0, corruptf("frame of item %d.%d is empty", at.msg, at.blk)
	}
	return at, part, nil
}

// nextFrame moves to the next frame, which must be part of the item at a place; more
// is false at the end of the revision.
func (w *items) nextFrame(at place, part uint32) (more bool, err error) {
	if !w.it.Next() {
		return false, mapErr(w.it.Error())
	}
	gotAt, gotPart, err := w.load()
	if err == nil && (gotAt != at || gotPart != part) {
		err = corruptf("frame of item %d.%d part %d stands where item %d.%d part %d is due",
			gotAt.msg, gotAt.blk, gotPart, at.msg, at.blk, part)
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

// skip passes over the next item, on the way to a place in the same frame.
func (w *items) skip(to place) (place, error) {
	passed := w.at
	size, _, err := w.header()
	if err != nil {
		return passed, err
	}
	if size > len(w.raw)-w.off {
		return passed, corruptf("item %d.%d ends its frame, and item %d.%d has none", w.at.msg, w.at.blk, to.msg, to.blk)
	}
	w.off += size
	if w.off == len(w.raw) {
		return passed, corruptf("no frame holds item %d.%d", to.msg, to.blk)
	}
	w.peek()
	if to.less(w.at) {
		return passed, corruptf("item %d.%d is missing", to.msg, to.blk)
	}
	return passed, nil
}

// next reads the item at w.at and moves on to the one that the caller says is due
// after it. The string is the caller's.
func (w *items) next() (item string, kind uint64, err error) {
	size, kind, err := w.header()
	if err != nil {
		return "", 0, err
	}
	if rest := len(w.raw) - w.off; size <= rest {
		item = string(w.raw[w.off : w.off+size])
		w.off += size
		return item, kind, nil
	}
	// The parts of a long item. Memory grows with what is there, not with what the
	// length claims.
	buf := append([]byte(nil), w.raw[w.off:]...)
	for part := uint32(1); len(buf) < size; part++ {
		more, err := w.nextFrame(w.at, part)
		if err == nil && (!more || len(w.raw) > size-len(buf)) {
			err = corruptf("item %d.%d: its parts are not its length", w.at.msg, w.at.blk)
		}
		if err != nil {
			return "", 0, err
		}
		buf = append(buf, w.raw...)
	}
	w.off = len(w.raw)
	return string(buf), kind, nil
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
