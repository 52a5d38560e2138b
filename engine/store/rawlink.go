package store

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
)

// Source bytes live while a session or a cursor came from them. When a file grew,
// what it was is a prefix of what it is, and goes. When it was rewritten, the old
// bytes are evidence that nothing else has, and are kept.

// storedRaws drops duplicates, and with Options.DropRaw what is not stored.
func (t *txn) storedRaws(ids []RawID) ([]RawID, error) {
	var list []RawID
	for _, id := range ids {
		if id == (RawID{}) || slices.Contains(list, id) {
			continue
		}
		ok, err := has(t.b, keyHash(prefixRaw, id))
		switch {
		case err != nil:
			return nil, err
		case ok:
			list = append(list, id)
		case !t.s.opts.DropRaw:
			return nil, fmt.Errorf("raw %v: %w", id, ErrNotFound)
		}
	}
	return list, nil
}

// relink moves the links of a session.
func (t *txn) relink(no No, before, after []RawID) error {
	for _, id := range before {
		if !slices.Contains(after, id) {
			if err := t.b.Delete(keyLinkSession(id, no), nil); err != nil {
				return err
			}
			t.unlinked[id] = append(t.unlinked[id], after...)
		}
	}
	for _, id := range after {
		if err := t.b.Set(keyLinkSession(id, no), nil, nil); err != nil {
			return err
		}
		if err := t.committed(id); err != nil {
			return err
		}
	}
	return nil
}

// linkCursor moves the link of a cursor. A cursor that stays may lack its link: its
// bytes were not kept when it was made.
func (t *txn) linkCursor(path string, before, after RawID) error {
	if before != after && before != (RawID{}) {
		if err := t.b.Delete(keyLinkCursor(before, path), nil); err != nil {
			return err
		}
		t.unlinked[before] = append(t.unlinked[before], after)
	}
	stored, err := t.storedRaws([]RawID{after})
	if err != nil || len(stored) == 0 {
		return err
	}
	linked, err := has(t.b, keyLinkCursor(after, path))
	if err != nil || linked {
		return err
	}
	if err := t.b.Set(keyLinkCursor(after, path), nil, nil); err != nil {
		return err
	}
	return t.committed(after)
}

// committed takes away the mark that the bytes are on their way.
func (t *txn) committed(id RawID) error {
	m, ok, err := readManifest(t.b, id)
	if err != nil || !ok {
		return err
	}
	return t.b.Delete(key64(prefixUpload, m.Blob), nil)
}

// collectRaws removes the bytes that lost their last link.
func (t *txn) collectRaws() error {
	for id, successors := range t.unlinked {
		err := t.collectRaw(id, successors)
		if errors.Is(err, ErrCorrupt) {
			continue // Check names it; the commit is another session's
		}
		if err != nil {
			return fmt.Errorf("raw %v: %w", id, err)
		}
	}
	return nil
}

func (t *txn) collectRaw(id RawID, successors []RawID) error {
	linked, err := hasPrefix(t.b, keyHash(prefixLink, id))
	if err != nil || linked {
		return err
	}
	m, ok, err := readManifest(t.b, id)
	if err != nil || !ok {
		return err
	}
	wanted, err := has(t.b, key64(prefixUpload, m.Blob))
	if err != nil || wanted {
		return err // put again for a commit that is still to come
	}
	drop := t.deleted
	for _, next := range successors {
		if drop {
			break
		}
		if drop, err = t.isPrefix(&m, next); err != nil {
			return err
		}
	}
	if !drop {
		return t.b.Set(keyLinkKept(id), nil, nil)
	}
	if err := dropUses(t.b, &m); err != nil {
		return err
	}
	return t.b.Delete(keyHash(prefixRaw, id), nil)
}

// isPrefix reports whether the bytes of m begin those of next.
func (t *txn) isPrefix(m *manifest, next RawID) (bool, error) {
	n, ok, err := readManifest(t.b, next)
	if err != nil || !ok || m.Size > n.Size {
		return false, err
	}
	if len(m.Chunks) == 0 {
		return true, nil
	}
	last := len(m.Chunks) - 1
	for i := range last {
		if m.Chunks[i] != n.Chunks[i] {
			return false, nil
		}
	}
	if m.Chunks[last] == n.Chunks[last] {
		return true, nil
	}
	longer, err := t.s.readChunk(t.b, n.Chunks[last])
	if err != nil {
		return false, err
	}
	tail := int(m.Size - int64(last)*chunkBytes)
	if tail > len(longer) {
		return false, nil
	}
	sum := sha256.Sum256(longer[:tail])
	return bytes.Equal(sum[:], m.Chunks[last][:]), nil
}
