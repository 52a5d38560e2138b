package store

import (
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// The seal is the length and the checksum of Pebble's MANIFEST and OPTIONS at the last
// clean close. Pebble takes damage near a MANIFEST's end for the trace of a crash and
// opens an older state of the database, silently. These files only grow, and their
// numbers are never given again, so a seal stays true: a file with its name must begin
// with what was sealed.
const (
	sealFile  = "SEAL"
	sealMagic = "hansard seal 1"
)

// writeSeal seals the files, after Pebble is closed.
func (s *Store) writeSeal() error {
	fs := s.opts.FS
	names, err := fs.List(s.dir)
	if err != nil {
		return err
	}
	var manifest, options string // that Pebble used last, and has synced
	slices.Sort(names)           // numbers are padded
	for _, n := range names {
		if rest, ok := strings.CutPrefix(n, "marker.manifest."); ok {
			_, manifest, _ = strings.Cut(rest, ".")
		}
		if isOptions(n) {
			options = n
		}
	}
	var text strings.Builder
	text.WriteString(sealMagic + "\n")
	for _, n := range []string{manifest, options} {
		if n == "" {
			continue
		}
		size, sum, err := checksum(fs, fs.PathJoin(s.dir, n), -1)
		if err != nil {
			return err
		}
		fmt.Fprintf(&text, "%s %d %08x\n", n, size, sum)
	}
	return s.replaceFile(sealFile, sealed(text.String()))
}

// makeSeal makes a seal of nothing if there is none, so that a missing one can be told.
func (s *Store) makeSeal() error {
	_, err := s.opts.FS.Stat(s.opts.FS.PathJoin(s.dir, sealFile))
	if !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return s.replaceFile(sealFile, sealed(sealMagic+"\n"))
}

// sealed puts the checksum of a seal under it.
func sealed(lines string) string {
	return fmt.Sprintf("%s%08x\n", lines, crc32.Checksum([]byte(lines), castagnoli()))
}

// isOptions tells the files of which Pebble needs none.
func isOptions(name string) bool { return strings.HasPrefix(name, "OPTIONS-") }

// checkSeal compares the files with the seal, if there is one. A seal that is damaged
// itself says nothing. Damaged OPTIONS are removed.
func (s *Store) checkSeal() error {
	fs := s.opts.FS
	b, err := readFile(fs, fs.PathJoin(s.dir, sealFile))
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	lines := strings.SplitAfter(string(b), "\n")
	if len(lines) < 2 || lines[0] != sealMagic+"\n" {
		return nil
	}
	body := strings.Join(lines[:len(lines)-2], "")
	if lines[len(lines)-2] != fmt.Sprintf("%08x\n", crc32.Checksum([]byte(body), castagnoli())) {
		return nil
	}
	for _, line := range lines[1 : len(lines)-2] {
		var name string
		var size int64
		var sum uint32
		if _, err := fmt.Sscanf(line, "%s %d %x\n", &name, &size, &sum); err != nil {
			return nil
		}
		err := s.checkSealed(name, size, sum)
		if errors.Is(err, ErrCorrupt) && isOptions(name) {
			err = s.badOptions(name, err)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// checkOptions looks at the OPTIONS that Pebble reads when it opens, which after a crash
// no seal holds, and removes them if it could not.
func (s *Store) checkOptions() error {
	fs := s.opts.FS
	names, err := fs.List(s.dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	newest := ""
	for _, n := range names {
		if isOptions(n) {
			newest = max(newest, n) // numbers are padded
		}
	}
	if newest == "" {
		return nil
	}
	f, err := fs.Open(fs.PathJoin(s.dir, newest))
	if err != nil {
		return err
	}
	text, err := io.ReadAll(io.LimitReader(f, 1<<20))
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	known := &pebble.Options{}
	known.EnsureDefaults()
	if err := known.CheckCompatibility(s.dir, string(text)); err != nil {
		return s.badOptions(newest, corruptf("file %s: %w", newest, err))
	}
	return nil
}

// badOptions removes damaged OPTIONS, or returns why they are damaged if nothing may be
// changed.
func (s *Store) badOptions(name string, err error) error {
	if s.opts.ReadOnly {
		return err
	}
	s.opts.Logger.Warn("store: damaged file removed, it is not needed", "err", err)
	return s.opts.FS.Remove(s.opts.FS.PathJoin(s.dir, name))
}

func (s *Store) checkSealed(name string, size int64, want uint32) error {
	n, sum, err := checksum(s.opts.FS, s.opts.FS.PathJoin(s.dir, name), size)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil // a newer one is in its place, or Pebble misses it
	case err != nil:
		return err
	case n < size:
		return corruptf("file %s has %d bytes, %d were written", name, n, size)
	case sum != want:
		return corruptf("file %s: checksum mismatch", name)
	}
	return nil
}

// checksum is that of the first size bytes of a file, of all if size is negative, and
// how many there were.
func checksum(fs vfs.FS, name string, size int64) (int64, uint32, error) {
	f, err := fs.Open(name)
	if err != nil {
		return 0, 0, err
	}
	var r io.Reader = f
	if size >= 0 {
		r = io.LimitReader(f, size)
	}
	h := crc32.New(castagnoli())
	n, err := io.Copy(h, r)
	return n, h.Sum32(), errors.Join(err, f.Close())
}
