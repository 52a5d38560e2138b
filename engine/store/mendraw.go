package store

import "slices"

// uses records the uses of all chunks that a manifest names. A chunk that is missing is
// kept then when it is put again.
func (m *mending) uses() error {
	return m.manifests(func(_ RawID, raw *manifest) error {
		for _, sum := range raw.Chunks {
			if err := m.t.b.Set(keyUse(sum, raw.Blob), nil, nil); err != nil {
				return err
			}
		}
		return nil
	})
}

// manifests calls f for every manifest.
func (m *mending) manifests(f func(RawID, *manifest) error) error {
	return m.each(prefixRaw, func(k, v []byte) error {
		raw, err := decodeManifest(v)
		if err != nil || len(k) != 33 {
			return nil
		}
		m.s.nextBlob = max(m.s.nextBlob, raw.Blob+1)
		return f(RawID(k[1:]), &raw)
	})
}

// cursors links the cursors to their source bytes.
func (m *mending) cursors() error {
	return m.each(prefixCursor, func(k, v []byte) error {
		c, err := decodeCursor(string(k[1:]), v)
		if err != nil {
			return nil
		}
		stored, err := has(m.t.b, keyHash(prefixRaw, c.Raw))
		if err != nil || !stored {
			return err
		}
		return m.t.linkCursor(c.Path, c.Raw, c.Raw)
	})
}

// links removes those that lead nowhere. Source bytes that have none left then are kept
// as those of a file that was rewritten.
func (m *mending) links() error {
	return m.each(prefixLink, func(k, _ []byte) error {
		if len(k) < 34 {
			return nil
		}
		id := RawID(k[1:33])
		fits, err := m.fits(id, k[33], k[34:])
		if err != nil || fits {
			return err
		}
		m.t.unlinked[id] = append(m.t.unlinked[id], RawID{})
		return m.t.b.Delete(k, nil)
	})
}

// fits reports whether a link of source bytes agrees with what it leads to.
func (m *mending) fits(id RawID, kind byte, rest []byte) (bool, error) {
	stored, err := has(m.t.b, keyHash(prefixRaw, id))
	if err != nil || !stored {
		return false, err
	}
	switch {
	case kind == linkSession && len(rest) == 8:
		p, ok, err := pointer(m.t.b, No(get64(rest)))
		if err != nil || !ok {
			return false, err
		}
		return slices.Contains(p.Raw, id), nil
	case kind == linkCursor:
		var c Cursor
		ok, err := get(m.t.b, keyString(prefixCursor, string(rest)), func(v []byte) (err error) {
			c, err = decodeCursor(string(rest), v)
			return err
		})
		return ok && c.Raw == id, err
	}
	return true, nil
}

// raws removes source bytes that nothing came from and nobody puts.
func (m *mending) raws() error {
	return m.manifests(func(id RawID, raw *manifest) error {
		for _, key := range [][]byte{keyHash(prefixLink, id), key64(prefixUpload, raw.Blob)} {
			if wanted, err := hasPrefix(m.t.b, key); err != nil || wanted {
				return err
			}
		}
		if err := dropUses(m.t.b, raw); err != nil {
			return err
		}
		return m.t.b.Delete(keyHash(prefixRaw, id), nil)
	})
}

// strayUses removes uses by source bytes that are not there.
func (m *mending) strayUses() error {
	blobs := map[uint64]bool{}
	err := m.manifests(func(_ RawID, raw *manifest) error { blobs[raw.Blob] = true; return nil })
	if err != nil {
		return err
	}
	err = m.each(prefixUpload, func(k, _ []byte) error {
		if len(k) == 9 {
			blobs[get64(k[1:])] = true
		}
		return nil
	})
	if err != nil {
		return err
	}
	return m.each(prefixUse, func(k, _ []byte) error {
		if len(k) != 41 {
			return nil
		}
		blob := get64(k[33:])
		m.s.nextBlob = max(m.s.nextBlob, blob+1)
		if blobs[blob] {
			return nil
		}
		return dropUses(m.t.b, &manifest{Blob: blob, Chunks: [][32]byte{[32]byte(k[1:33])}})
	})
}

// unused removes the chunks that nothing uses.
func (m *mending) unused() error {
	return m.each(prefixChunk, func(k, _ []byte) error {
		if len(k) != 33 {
			return nil
		}
		used, err := hasPrefix(m.t.b, keyHash(prefixUse, [32]byte(k[1:])))
		if err != nil || used {
			return err
		}
		return m.t.b.Delete(k, nil)
	})
}
