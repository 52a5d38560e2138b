package store

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hansard-search/hansard/engine/archive"
)

func (c *checker) edges() error {
	return c.each(prefixEdge, func(k, _ []byte) error {
		n := len(k) - 9
		if n < 1 || k[n] != 0 {
			c.fault(FaultDamaged, fmt.Sprintf("edge %q", k), "bad key")
			return nil
		}
		parent, no := archive.SessionID(k[1:n]), No(get64(k[n+1:]))
		p, ok, err := pointer(c.db, no)
		switch {
		case err != nil:
			return nil // named with the pointer
		case !ok:
			c.fault(FaultEdge, parent, "leads to session %d, which is not there", no)
		case !slices.Contains(p.Parents, parent):
			c.fault(FaultEdge, parent, "leads to %s, which does not hang on it", p.ID)
		}
		return nil
	})
}

func (c *checker) dirty() error {
	return c.each(prefixDirty, func(k, v []byte) error {
		if len(k) != 9 {
			c.fault(FaultDamaged, "dirty mark", "bad key")
			return nil
		}
		no := No(get64(k[1:]))
		what := fmt.Sprintf("session %d", no)
		d, err := decodeDirty(no, v)
		if err != nil {
			c.fault(FaultDamaged, what, "%v", err)
			return nil
		}
		p, ok, err := pointer(c.db, no)
		switch {
		case err != nil:
			return nil
		case !ok && !d.Deleted():
			c.fault(FaultDirty, what, "marked at revision %d, but it is not there", d.Rev)
		case ok && p.Rev != d.Rev:
			c.fault(FaultDirty, what, "marked at revision %d, stands at %d", d.Rev, p.Rev)
		case d.Generation > c.state.Generation:
			c.fault(FaultDirty, what, "marked in generation %d of %d", d.Generation, c.state.Generation)
		}
		return nil
	})
}

func (c *checker) cursors() error {
	return c.each(prefixCursor, func(k, v []byte) error {
		path := string(k[1:])
		cur, err := decodeCursor(path, v)
		if err != nil {
			c.fault(FaultDamaged, path, "%v", err)
			return nil
		}
		if cur.Length > 0 && cur.Consumed > cur.Length {
			c.fault(FaultCursor, path, "%d bytes consumed of %d", cur.Consumed, cur.Length)
		}
		if cur.Generation > c.state.Generation {
			c.fault(FaultCursor, path, "written in generation %d of %d", cur.Generation, c.state.Generation)
		}
		if stored, err := has(c.db, keyHash(prefixRaw, cur.Raw)); err != nil || !stored {
			return nil // with DropRaw a cursor names bytes that are not kept
		}
		if ok, err := has(c.db, keyLinkCursor(cur.Raw, path)); err != nil || !ok {
			c.fault(FaultRawLink, path, "no link from raw %v (%v)", cur.Raw, err)
		}
		return nil
	})
}

func (c *checker) segments() error {
	names := map[string]bool{}
	return c.each(prefixSegment, func(k, v []byte) error {
		r, err := decodeSegment(v)
		switch {
		case err != nil:
			c.fault(FaultDamaged, fmt.Sprintf("segment record %x", k[1:]), "%v", err)
		case r.Name == "" || names[r.Name]:
			c.fault(FaultSegment, fmt.Sprintf("%q", r.Name), "is empty or listed twice")
		}
		names[r.Name] = true
		return nil
	})
}

// raws reads all source bytes, and so every chunk that is needed.
func (c *checker) raws() error {
	return c.each(prefixRaw, func(k, v []byte) error {
		if len(k) != 33 {
			c.fault(FaultDamaged, "raw manifest", "bad key")
			return nil
		}
		id := RawID(k[1:])
		m, err := decodeManifest(v)
		if err != nil {
			c.fault(FaultDamaged, id, "%v", err)
			return nil
		}
		h := sha256.New()
		for _, sum := range m.Chunks {
			if err := c.alive(); err != nil {
				return err
			}
			raw, err := c.s.readChunk(c.db, sum)
			if err != nil {
				c.fault(FaultRaw, rawName(id, &m), "%v", err)
				return nil
			}
			h.Write(raw)
			if ok, err := has(c.db, keyUse(sum, m.Blob)); err != nil || !ok {
				c.fault(FaultRawLink, id, "its use of chunk %v is not recorded (%v)", RawID(sum), err)
			}
		}
		if RawID(h.Sum(nil)) != id {
			c.fault(FaultRaw, rawName(id, &m), "the bytes have another hash")
		}
		linked, err := hasPrefix(c.db, keyHash(prefixLink, id))
		if err == nil && !linked {
			if pending, err := has(c.db, key64(prefixUpload, m.Blob)); err == nil && !pending {
				c.fault(FaultRawOrphan, id, "nothing came from them")
			}
		}
		return nil
	})
}

// rawName names source bytes by the file that they came from.
func rawName(id RawID, m *manifest) string {
	return fmt.Sprintf("source bytes of %s (%v)", m.Meta.Path, id)
}

func (c *checker) links() error {
	return c.each(prefixLink, func(k, _ []byte) error {
		if len(k) < 34 {
			c.fault(FaultDamaged, "raw link", "bad key")
			return nil
		}
		id := RawID(k[1:33])
		if ok, err := has(c.db, keyHash(prefixRaw, id)); err == nil && !ok {
			c.fault(FaultRawLink, id, "linked but not stored")
		}
		switch rest := k[34:]; {
		case k[33] == linkSession && len(rest) == 8:
			p, ok, err := pointer(c.db, No(get64(rest)))
			if err == nil && (!ok || !slices.Contains(p.Raw, id)) {
				c.fault(FaultRawLink, id, "linked to session %d, which did not come from it", get64(rest))
			}
		case k[33] == linkCursor:
			var cur Cursor
			ok, err := get(c.db, keyString(prefixCursor, string(rest)), func(v []byte) (err error) {
				cur, err = decodeCursor(string(rest), v)
				return err
			})
			if err == nil && (!ok || cur.Raw != id) {
				c.fault(FaultRawLink, id, "linked to cursor %s, which is not in it", rest)
			}
		case k[33] == linkKept && len(rest) == 0:
		default:
			c.fault(FaultDamaged, id, "bad link")
		}
		return nil
	})
}

// uses looks for chunks in use by raw bytes that are not there.
func (c *checker) uses() error {
	blobs := map[uint64]bool{}
	err := c.each(prefixRaw, func(_, v []byte) error {
		if m, err := decodeManifest(v); err == nil {
			blobs[m.Blob] = true
		}
		return nil
	})
	if err != nil {
		return err
	}
	err = c.each(prefixUpload, func(k, _ []byte) error {
		if len(k) == 9 {
			blobs[get64(k[1:])] = true
		}
		return nil
	})
	if err != nil {
		return err
	}
	return c.each(prefixUse, func(k, _ []byte) error {
		if len(k) != 41 {
			c.fault(FaultDamaged, "use of a chunk", "bad key")
		} else if blob := get64(k[33:]); !blobs[blob] {
			c.fault(FaultRawOrphan, RawID(k[1:33]), "chunk used by raw bytes %d, which are not there", blob)
		}
		return nil
	})
}

// chunks looks for those that nothing uses. Damage is no fault here: raws has read what
// is needed, and where source bytes were kept again the damaged ones lie behind them.
func (c *checker) chunks() error {
	err := scan(c.db, []byte{prefixChunk}, func(k, _ []byte) error {
		if len(k) != 33 {
			c.fault(FaultDamaged, "chunk", "bad key")
			return c.alive()
		}
		if used, err := hasPrefix(c.db, keyHash(prefixUse, [32]byte(k[1:]))); err == nil && !used {
			c.fault(FaultRawOrphan, RawID(k[1:]), "chunk that nothing uses")
		}
		return c.alive()
	})
	if errors.Is(err, ErrCorrupt) {
		return c.alive()
	}
	return err
}

// losses names what was missing when the store was opened, now or earlier.
func (c *checker) losses() {
	for _, l := range c.s.Losses() {
		what := "write-ahead log"
		switch l.Kind {
		case LossMark:
			what = "file " + markFile
		case LossSeal:
			what = "file " + sealFile
		}
		c.fault(l.Fault(), what, "%s (found %s)", l, time.UnixMilli(l.Found).UTC().Format(time.RFC3339))
	}
}

// batches looks whether the links can be read. A hole was found when the store opened.
func (c *checker) batches() error {
	return c.each(prefixBatch, func(k, v []byte) error {
		if _, _, err := decodeLink(k, v); err != nil {
			c.fault(FaultDamaged, recordNames[prefixBatch], "%v", err)
		}
		return nil
	})
}

// unknown looks for keys of no known kind, between the known ones.
func (c *checker) unknown() error {
	const known = "bcdefhiklmopqrstxy"
	from := []byte{0}
	for i := range len(known) + 1 {
		var to []byte
		if i < len(known) {
			to = []byte{known[i]}
		}
		err := scanRange(c.db, from, to, func(k, _ []byte) error {
			c.fault(FaultUnknownRecord, fmt.Sprintf("%q", k), "key of no known kind")
			return errStop
		})
		if err != nil {
			return err
		}
		if to != nil {
			from = []byte{to[0] + 1}
		}
	}
	return nil
}

// tables reads the blocks of all tables. Damage that something needs is named already, as
// what it is damage to.
func (c *checker) tables() error {
	list, err := c.s.liveTables()
	if err != nil {
		return err
	}
	for _, t := range list {
		opened, bad, err := c.s.damagedBlocks(t, c.alive)
		if err != nil {
			if c.alive() == nil && errors.Is(err, ErrCorrupt) {
				c.fault(FaultTable, t.path, "%v", err)
				continue
			}
			return err
		}
		for _, one := range bad {
			if !c.named(one) {
				c.fault(FaultTable, t.path, "%v", one)
			}
		}
		if opened != nil {
			opened.close()
		}
	}
	return nil
}

// named reports whether a fault names the block, or, if it is small, the table.
func (c *checker) named(one *blockError) bool {
	at := fmt.Sprintf("%s: block at %d,", one.path, one.off)
	var n uint64
	small := one.length < largeBlock
	if _, err := fmt.Sscanf(c.s.fs.PathBase(one.path), "%d", &n); err != nil {
		small = false
	}
	return slices.ContainsFunc(c.faults, func(f Fault) bool {
		return strings.Contains(f.Detail, at) || small && strings.Contains(f.Detail, fmt.Sprintf("file %06d", n))
	})
}
