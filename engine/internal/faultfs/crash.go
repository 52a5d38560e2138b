package faultfs

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"slices"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// A Tear is what a power cut does to the last write of each file that is not synced.
type Tear uint8

// The tears. Without one, blocks of 4 KiB are there or not.
const (
	Whole   Tear = iota
	Prefix       // a random first part of it is there
	Sectors      // every second sector of 512 bytes of it is there
)

// A Crash says what a power cut leaves of what is not synced.
type Crash struct {
	Percent int // of unsynced blocks, entries of folders and removals that are there all the same
	Tear    Tear
	RNG     *rand.Rand
}

// Crash makes a disk that a power cut at this moment may leave. The wrapped file
// system is a crashable one in memory.
func (f *FS) Crash(c Crash) (*vfs.MemFS, error) {
	mem, ok := f.base.(*vfs.MemFS)
	if !ok {
		return nil, fmt.Errorf("crash: %T is not a file system in memory", f.base)
	}
	f.mu.Lock()
	dirty := maps.Clone(f.dirty)
	removed := slices.Sorted(maps.Keys(f.removed))
	f.mu.Unlock()
	clone := mem.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: c.Percent, RNG: c.RNG})
	for _, name := range removed {
		if c.Percent > 0 && c.RNG.IntN(100) < c.Percent {
			if err := clone.Remove(name); err != nil && !errors.Is(err, os.ErrNotExist) {
				return nil, err
			}
		}
	}
	if c.Tear == Whole {
		return clone, nil
	}
	for _, name := range slices.Sorted(maps.Keys(dirty)) {
		if err := tear(clone, name, dirty[name], c); err != nil {
			return nil, err
		}
	}
	return clone, nil
}

// tear damages what the last write of a file left in a clone, if it is there.
func tear(fs vfs.FS, name string, e extent, c Crash) error {
	b, err := readAll(fs, name)
	end := e.off + int64(e.n)
	if err != nil || int64(len(b)) < end {
		return nil
	}
	if c.Tear == Prefix {
		keep := e.off + c.RNG.Int64N(int64(e.n)+1)
		if int64(len(b)) == end {
			b = b[:keep]
		} else {
			clear(b[keep:end])
		}
	} else {
		first := c.RNG.Int64N(2) * 512
		for off := e.off + first; off < end; off += 1024 {
			clear(b[off:min(off+512, end)])
		}
	}
	return Replace(fs, name, b)
}

func readAll(fs vfs.FS, name string) ([]byte, error) {
	h, err := fs.Open(name)
	if err != nil {
		return nil, err
	}
	b, err := io.ReadAll(h)
	return b, errors.Join(err, h.Close())
}

// Replace makes b the durable content of the file name.
func Replace(fs vfs.FS, name string, b []byte) error {
	h, err := fs.Create(name, vfs.WriteCategoryUnspecified)
	if err != nil {
		return err
	}
	_, err = h.Write(slices.Clone(b))
	if err := errors.Join(err, h.Sync(), h.Close()); err != nil {
		return err
	}
	return syncDir(fs, fs.PathDir(name))
}

func syncDir(fs vfs.FS, dir string) error {
	d, err := fs.OpenDir(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
