package store

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// Format is the format that this package writes. It reads all from 1 on.
const Format = 1

const (
	formatFile  = "FORMAT"
	formatMagic = "hansard store "
)

// checkFormat refuses a newer store before Pebble touches it: the format stands in
// a small file besides the database.
func (s *Store) checkFormat() error {
	fs := s.opts.FS
	b, err := readFile(fs, fs.PathJoin(s.dir, formatFile))
	if errors.Is(err, os.ErrNotExist) {
		if s.opts.ReadOnly && !s.headless {
			return fmt.Errorf("%w: no store was ever made here", ErrNotFound)
		}
		return nil
	}
	if err != nil {
		return err
	}
	text, ok := strings.CutPrefix(strings.TrimSuffix(string(b), "\n"), formatMagic)
	v, err := strconv.ParseUint(text, 10, 32)
	if !ok || err != nil || v == 0 {
		if s.headless {
			return nil // as if it were missing
		}
		return ErrBadFormat
	}
	if v > Format {
		return fmt.Errorf("%w: %d, this program knows up to %d", ErrVersion, v, Format)
	}
	return nil
}

func readFile(fs vfs.FS, name string) ([]byte, error) {
	f, err := fs.Open(name)
	if err != nil {
		return nil, err
	}
	b, err := io.ReadAll(io.LimitReader(f, 4096))
	return b, errors.Join(err, f.Close())
}

// loadFormat reads the format in the database.
func (s *Store) loadFormat() error {
	var v uint64
	found, err := get(s.db, keyFormat, func(b []byte) error {
		d := decoder{s: string(b)}
		v = d.uint()
		return d.finish("format")
	})
	if err != nil {
		return err
	}
	if v > Format {
		return fmt.Errorf("%w: %d, this program knows up to %d", ErrVersion, v, Format)
	}
	if !found && s.headless {
		return corruptf("the database names no format")
	}
	s.fresh = !found
	return nil
}

// writeFormat writes the format into a new store, and beside it.
func (s *Store) writeFormat() error {
	if s.fresh {
		b := s.db.NewBatch()
		defer b.Close()
		var e encoder
		e.uint(Format)
		if err := b.Set(keyFormat, e.b, nil); err != nil {
			return err
		}
		if err := s.apply(b, pebble.Sync); err != nil {
			return mapErr(err)
		}
	}
	_, err := s.opts.FS.Stat(s.opts.FS.PathJoin(s.dir, formatFile))
	if errors.Is(err, os.ErrNotExist) {
		return s.writeFormatFile()
	}
	return err
}

func (s *Store) writeFormatFile() error {
	return s.replaceFile(formatFile, formatMagic+strconv.Itoa(Format)+"\n")
}

// replaceFile makes text the durable content of a small file in the folder.
func (s *Store) replaceFile(name, text string) error {
	return replaceFile(s.opts.FS, s.opts.FS.PathJoin(s.dir, name), []byte(text), true)
}

func (s *Store) loadState() error {
	st := state{NextNo: 1, NextRev: 1, NextBlob: 1}
	_, err := get(s.db, keyState, func(v []byte) error {
		var err error
		st, err = decodeState(v)
		return err
	})
	s.state.Store(&st)
	s.nextNo, s.nextRev, s.nextBlob = st.NextNo, st.NextRev, st.NextBlob
	return err
}

// removeOrphans removes revisions and raw bytes that no commit ever named.
func (s *Store) removeOrphans() error {
	b := s.db.NewIndexedBatch()
	defer b.Close()
	n := 0
	err := scan(s.db, []byte{prefixPending}, func(k, _ []byte) error {
		if len(k) != 17 {
			return corruptf("pending revision: bad key")
		}
		n++
		return dropRevision(b, No(get64(k[1:])), get64(k[9:]))
	})
	if err != nil {
		return err
	}
	uploads := map[uint64]bool{}
	err = scan(s.db, []byte{prefixUpload}, func(k, _ []byte) error {
		if len(k) != 9 {
			return corruptf("pending raw bytes: bad key")
		}
		uploads[get64(k[1:])] = true
		return b.Delete(k, nil)
	})
	if err != nil {
		return err
	}
	if len(uploads) > 0 {
		if err := s.removeUploads(b, uploads); err != nil {
			return err
		}
	}
	if b.Empty() {
		return nil
	}
	s.opts.Logger.Info("store: removed what an interrupted import left", "revisions", n, "raws", len(uploads))
	return mapErr(s.apply(b, pebble.Sync))
}

func (s *Store) removeUploads(b *pebble.Batch, uploads map[uint64]bool) error {
	err := scan(s.db, []byte{prefixRaw}, func(k, v []byte) error {
		m, err := decodeManifest(v)
		if err != nil || len(k) != 33 {
			return nil // Check names it; the rest must open
		}
		if !uploads[m.Blob] {
			return nil
		}
		linked, err := hasPrefix(s.db, keyHash(prefixLink, [32]byte(k[1:])))
		if linked || err != nil {
			// Put again for a commit that did not come; an earlier one did.
			delete(uploads, m.Blob)
			return err
		}
		return b.Delete(k, nil)
	})
	if err != nil {
		return err
	}
	return scan(s.db, []byte{prefixUse}, func(k, _ []byte) error {
		if len(k) != 41 {
			return corruptf("use of a chunk: bad key")
		}
		blob := get64(k[33:])
		if !uploads[blob] {
			return nil
		}
		return dropUses(b, &manifest{Blob: blob, Chunks: [][32]byte{[32]byte(k[1:33])}})
	})
}
