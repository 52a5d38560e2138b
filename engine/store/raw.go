package store

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"

	"github.com/cockroachdb/pebble/v2"

	"github.com/hansard-search/hansard/engine/archive"
)

// Source bytes are kept in chunks of 1 MiB, each under its own hash: a file that
// grew shares all but the last chunk with what it was.
const chunkBytes = 1 << 20

// RawMeta says where source bytes came from.
type RawMeta struct {
	Path     string
	Origin   archive.Origin
	ModTime  int64 // of the file; NoTime when unknown
	Acquired int64 // when they were read; PutRaw fills in a zero
}

// RawInfo describes stored source bytes.
type RawInfo struct {
	ID   RawID
	Size int64
	RawMeta
}

// PutRaw stores all of r and gives its id and size; at most a few chunks are in
// memory. The bytes are there for good once a commit names them, in a session or a
// cursor; until then they are dropped when the store is next opened. With
// Options.DropRaw they are only hashed.
func (s *Store) PutRaw(ctx context.Context, r io.Reader, meta RawMeta) (RawID, int64, error) {
	if s.opts.ReadOnly {
		return RawID{}, 0, ErrReadOnly
	}
	if meta.Acquired == 0 {
		meta.Acquired = s.opts.Now().UnixMilli()
	}
	u := &upload{s: s, whole: sha256.New(), m: manifest{Meta: meta}}
	if err := u.run(ctx, r); err != nil {
		return RawID{}, 0, fmt.Errorf("raw bytes of %s: %w", meta.Path, err)
	}
	return RawID(u.whole.Sum(nil)), u.m.Size, nil
}

// An upload is raw bytes on their way into the store.
type upload struct {
	s     *Store
	whole hash.Hash
	m     manifest
	begun bool
	value []byte // a compressed chunk; reused
	bulk  bulk
}

func (u *upload) run(ctx context.Context, r io.Reader) error {
	buf := make([]byte, chunkBytes)
	for {
		n, err := io.ReadFull(r, buf)
		if err == io.EOF {
			break
		}
		if err != nil && err != io.ErrUnexpectedEOF {
			return errors.Join(err, u.abort())
		}
		u.whole.Write(buf[:n])
		u.m.Size += int64(n)
		if !u.s.opts.DropRaw {
			if err := u.chunk(ctx, buf[:n]); err != nil {
				return errors.Join(err, u.abort())
			}
		}
		if err := ctx.Err(); err != nil {
			return errors.Join(err, u.abort())
		}
		if n < len(buf) {
			break
		}
	}
	if u.s.opts.DropRaw {
		return nil
	}
	if err := u.s.do(ctx, u.finish); err != nil {
		return errors.Join(err, u.abort())
	}
	return nil
}

// chunk stores one chunk, unless it is there. Its use is recorded in the same batch,
// so that nobody removes it in between.
func (u *upload) chunk(ctx context.Context, raw []byte) error {
	sum := sha256.Sum256(raw)
	there, err := has(u.s.db, keyHash(prefixChunk, sum))
	if err != nil && !errors.Is(err, ErrCorrupt) { // a damaged chunk is written again
		return err
	}
	var value []byte
	if !there && !u.bulk.has(sum) {
		value = u.pack(raw)
	}
	u.m.Chunks = append(u.m.Chunks, sum)
	return u.s.do(ctx, func() error {
		if !there && len(raw) == chunkBytes && len(u.m.Chunks) > u.s.bulkAfter {
			return u.bulkChunk(sum, value)
		}
		b := u.s.db.NewBatch()
		defer b.Close()
		if err := u.begin(b); err != nil {
			return err
		}
		if there {
			// It may have been removed since; then it is compressed after all.
			still, err := has(u.s.db, keyHash(prefixChunk, sum))
			if err != nil {
				return err
			}
			if !still {
				value = u.pack(raw)
			}
		}
		if value != nil {
			if err := b.Set(keyHash(prefixChunk, sum), value, nil); err != nil {
				return err
			}
		}
		if err := b.Set(keyUse(sum, u.m.Blob), nil, nil); err != nil {
			return err
		}
		return u.s.apply(b, pebble.NoSync)
	})
}

// appendChunk compresses a chunk. Chunks need no dictionary.
func (s *Store) appendChunk(dst, raw []byte) []byte {
	e := encoder{dst}
	e.byte(frameVersion)
	e.uint(0)
	return s.dicts.Load().codecs[0].Encode(e.b, raw)
}

// pack compresses a chunk into the upload's buffer.
func (u *upload) pack(raw []byte) []byte {
	u.value = u.s.appendChunk(u.value[:0], raw)
	return u.value
}

// begin gives the upload its number and says that it is under way.
func (u *upload) begin(b *pebble.Batch) error {
	if u.begun {
		return nil
	}
	u.s.mu.Lock()
	u.m.Blob = u.s.nextBlob
	u.s.nextBlob++
	u.s.mu.Unlock()
	u.begun = true
	return b.Set(key64(prefixUpload, u.m.Blob), nil, nil)
}

// finish writes the manifest, or drops the upload if the bytes are known already.
func (u *upload) finish() error {
	if err := u.ingest(); err != nil {
		return err
	}
	b := u.s.db.NewIndexedBatch()
	defer b.Close()
	if err := u.begin(b); err != nil {
		return err
	}
	id := RawID(u.whole.Sum(nil))
	key := keyHash(prefixRaw, id)
	old, there, err := readManifest(u.s.db, id)
	if err != nil && !errors.Is(err, ErrCorrupt) { // a damaged manifest is written again
		return err
	}
	if there {
		// The mark holds them for the commit that comes, whatever is dropped until then.
		if err := b.Set(key64(prefixUpload, old.Blob), nil, nil); err != nil {
			return err
		}
		if err := dropUses(b, &u.m); err != nil {
			return err
		}
		if err := b.Delete(key64(prefixUpload, u.m.Blob), nil); err != nil {
			return err
		}
	} else if err := b.Set(key, u.m.encode(), nil); err != nil {
		return err
	}
	return u.s.apply(b, pebble.NoSync)
}

// abort drops the chunks of an upload that will not be finished.
func (u *upload) abort() error {
	if !u.begun && len(u.bulk.paths) == 0 || u.s.fail.error() != nil {
		return nil
	}
	return u.s.do(context.Background(), func() error {
		if err := u.dropBulk(); err != nil || !u.begun {
			return err
		}
		b := u.s.db.NewIndexedBatch()
		defer b.Close()
		if err := dropUses(b, &u.m); err != nil {
			return err
		}
		if err := b.Delete(key64(prefixUpload, u.m.Blob), nil); err != nil {
			return err
		}
		return u.s.apply(b, pebble.NoSync)
	})
}

// dropUses removes the uses of a manifest's chunks, and the chunks that nothing uses
// any more. b is indexed.
func dropUses(b *pebble.Batch, m *manifest) error {
	for _, c := range m.Chunks {
		if err := b.Delete(keyUse(c, m.Blob), nil); err != nil {
			return err
		}
		used, err := hasPrefix(b, keyHash(prefixUse, c))
		if err != nil {
			return err
		}
		if !used {
			if err := b.Delete(keyHash(prefixChunk, c), nil); err != nil {
				return err
			}
		}
	}
	return nil
}

// readManifest reads the manifest of raw bytes.
func readManifest(r pebble.Reader, id RawID) (m manifest, ok bool, err error) {
	ok, err = get(r, keyHash(prefixRaw, id), func(v []byte) error {
		m, err = decodeManifest(v)
		return err
	})
	if err != nil {
		return manifest{}, false, fmt.Errorf("raw %v: %w", id, err)
	}
	return m, ok, nil
}

// readChunk reads a chunk and checks its hash.
func (s *Store) readChunk(r pebble.Reader, sum [32]byte) (raw []byte, err error) {
	found, err := get(r, keyHash(prefixChunk, sum), func(v []byte) error {
		raw, err = s.openFrame(nil, v, chunkBytes)
		return err
	})
	switch {
	case err != nil:
		return nil, fmt.Errorf("chunk %v: %w", RawID(sum), err)
	case !found:
		return nil, corruptf("chunk %v is missing", RawID(sum))
	case sha256.Sum256(raw) != sum:
		return nil, corruptf("chunk %v has other bytes", RawID(sum))
	}
	return raw, nil
}
