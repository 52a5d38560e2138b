package faultfs

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"iter"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// A Change is one of the things that are not durable at a moment: a power cut may leave
// it or undo it, whatever becomes of the others.
type Change struct {
	What Kind // Create of a name, Remove of one, or Write to a file that keeps its name
	Path string
}

func (c Change) String() string { return c.What.String() + " " + c.Path }

// A Moment is the disk between two operations. Where [FS.Crash] draws a disk that a
// power cut may leave, a Moment makes the one that is asked for.
type Moment struct {
	Changes       []Change // sorted by path
	durable, seen *vfs.MemFS
}

// Moment keeps the disk as it is now. The wrapped file system is a crashable one in
// memory. A file that took the place of another is no change, nor is one that came and
// went, nor what is written in a folder that is no longer there.
func (f *FS) Moment() (*Moment, error) {
	mem, ok := f.base.(*vfs.MemFS)
	if !ok {
		return nil, fmt.Errorf("moment: %T is not a file system in memory", f.base)
	}
	f.still.Lock() // a sync between the clones would make disks that no power cut leaves
	defer f.still.Unlock()
	m := &Moment{durable: mem.CrashClone(vfs.CrashCloneCfg{}), seen: settled(mem)}
	was, err := tree(m.durable, "")
	if err != nil {
		return nil, err
	}
	is, err := tree(mem, "") // a clone has what is removed and not synced
	if err != nil {
		return nil, err
	}
	for name := range is {
		if !was[name] && (mem.PathDir(name) == "." || was[mem.PathDir(name)]) { // a folder comes with what is in it
			m.Changes = append(m.Changes, Change{Create, name})
		}
	}
	for name := range was {
		if !is[name] {
			m.Changes = append(m.Changes, Change{Remove, name})
		}
	}
	f.mu.Lock()
	for name := range f.dirty {
		if was[name] && is[name] {
			m.Changes = append(m.Changes, Change{Write, name})
		}
	}
	f.mu.Unlock()
	slices.SortFunc(m.Changes, func(a, b Change) int { return strings.Compare(a.Path, b.Path) })
	return m, nil
}

// settled is a copy of a disk on which all is durable.
func settled(fs *vfs.MemFS) *vfs.MemFS {
	return fs.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: 100, RNG: rand.New(rand.NewPCG(1, 1))})
}

// tree names the files and folders below dir.
func tree(fs vfs.FS, dir string) (map[string]bool, error) {
	names, err := fs.List(dir)
	if err != nil {
		return nil, err
	}
	all := map[string]bool{}
	for _, n := range names {
		name := fs.PathJoin(dir, n)
		all[name] = true
		info, err := fs.Stat(name)
		if err != nil {
			return nil, err
		}
		if info.IsDir() {
			below, err := tree(fs, name)
			if err != nil {
				return nil, err
			}
			maps.Copy(all, below)
		}
	}
	return all, nil
}

// Disk is the disk with these of the changes, all of it durable. What came or was
// written is there with all that was written to it; of other files only what was synced.
func (m *Moment) Disk(left []Change) (*vfs.MemFS, error) {
	disk := m.durable.CrashClone(vfs.CrashCloneCfg{})
	for _, c := range left {
		var err error
		if c.What == Remove {
			err = errors.Join(disk.RemoveAll(c.Path), syncDir(disk, disk.PathDir(c.Path)))
		} else {
			err = carry(disk, m.seen, c.Path)
		}
		if err != nil {
			return nil, fmt.Errorf("%v: %w", c, err)
		}
	}
	return disk, nil
}

// carry copies a file, or a folder with all that is in it.
func carry(to, from vfs.FS, name string) error {
	info, err := from.Stat(name)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		b, err := readAll(from, name)
		if err != nil {
			return err
		}
		return Replace(to, name, b)
	}
	if err := errors.Join(to.MkdirAll(name, 0o700), syncDir(to, to.PathDir(name))); err != nil {
		return err
	}
	names, err := from.List(name)
	for _, n := range names {
		err = errors.Join(err, carry(to, from, from.PathJoin(name, n)))
	}
	return err
}

// Sum is equal for disks with equal files.
func Sum(fs vfs.FS) ([sha256.Size]byte, error) {
	names, err := tree(fs, "")
	if err != nil {
		return [sha256.Size]byte{}, err
	}
	h := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(names)) {
		info, err := fs.Stat(name)
		if err != nil {
			return [sha256.Size]byte{}, err
		}
		var b []byte
		if !info.IsDir() {
			if b, err = readAll(fs, name); err != nil {
				return [sha256.Size]byte{}, err
			}
		}
		fmt.Fprintf(h, "%q %v %d\n%s", name, info.IsDir(), len(b), b)
	}
	return [sha256.Size]byte(h.Sum(nil)), nil
}

// Choices are the changes that a power cut may leave: each choice of up to four; of
// more none, all, each alone, and all but one.
func (m *Moment) Choices() iter.Seq[[]Change] {
	const most = 4
	return func(yield func([]Change) bool) {
		n := len(m.Changes)
		var sets []uint64
		if n <= most {
			for set := range uint64(1) << n {
				sets = append(sets, set)
			}
		} else {
			all := uint64(1)<<n - 1
			sets = append(sets, 0, all)
			for i := range n {
				sets = append(sets, 1<<i, all&^(1<<i))
			}
		}
		for _, set := range sets {
			var left []Change
			for i, c := range m.Changes {
				if set>>i&1 == 1 {
					left = append(left, c)
				}
			}
			if !yield(left) {
				return
			}
		}
	}
}
