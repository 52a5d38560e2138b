package store

import (
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// replacements are what can happen to the folder of an open store. Each leaves another
// folder at the path, or none.
var replacements = []struct {
	name string
	do   func(t *testing.T, dir string)
}{
	{"folder moved", func(t *testing.T, dir string) { must(t, os.Rename(dir, dir+".old")) }},
	{"folder moved, another in its place", func(t *testing.T, dir string) {
		must(t, os.Rename(dir, dir+".old"))
		must(t, os.Mkdir(dir, 0o700))
	}},
	{"folder moved, a copy in its place", func(t *testing.T, dir string) {
		must(t, os.Rename(dir, dir+".old"))
		must(t, os.CopyFS(dir, os.DirFS(dir+".old")))
	}},
	{"folder removed", func(t *testing.T, dir string) { must(t, os.RemoveAll(dir)) }},
	{"lock removed", func(t *testing.T, dir string) { must(t, os.Remove(filepath.Join(dir, lockFile))) }},
	{"lock replaced", func(t *testing.T, dir string) {
		must(t, os.WriteFile(filepath.Join(dir, "x"), nil, 0o600))
		must(t, os.Rename(filepath.Join(dir, "x"), filepath.Join(dir, lockFile)))
	}},
	{"link turned", func(t *testing.T, dir string) {
		must(t, os.Rename(dir, dir+".real"))
		must(t, os.Symlink(dir+".real", dir))
		must(t, os.Mkdir(dir+".other", 0o700))
		must(t, os.Remove(dir))
		must(t, os.Symlink(dir+".other", dir))
	}},
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestReplaced: a store whose folder, or whose lock, was replaced acknowledges nothing
// more, touches nothing in what is there now, and lets another store open that.
func TestReplaced(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the system keeps folders with open files where they are")
	}
	for i, r := range replacements {
		for _, own := range []bool{false, true} {
			if testing.Short() && (i < 4 || own != (i%2 == 0)) {
				continue // each takes the time that closing a failed store takes
			}
			t.Run(r.name, func(t *testing.T) {
				dir := filepath.Join(t.TempDir(), "store")
				o := Options{}
				if own {
					lock, err := TakeLock(dir, nil)
					must(t, err)
					defer lock.Close()
					o.Lock = lock
					defer func() {
						if err := lock.InPlace(); !errors.As(err, new(*ReplacedError)) {
							t.Errorf("the lock: %v", err)
						}
					}()
				}
				s, err := Open(dir, o)
				must(t, err)
				importOne(t, s, "a")
				must(t, s.Err())
				r.do(t, dir)
				before := listed(t, dir)
				if _, err := tryImport(t, s, "b"); !errors.As(err, new(*ReplacedError)) || !errors.Is(err, ErrFailed) {
					t.Errorf("a commit after that: %v", err)
				}
				if err := s.Flush(t.Context()); err == nil {
					t.Error("a flush after that")
				}
				if err := s.Err(); !errors.As(err, new(*ReplacedError)) {
					t.Errorf("the store's state: %v", err)
				}
				if after := listed(t, dir); after != before {
					t.Errorf("what is there now was changed:\n%s\n%s", before, after)
				}
				if err := s.Close(); !errors.As(err, new(*ReplacedError)) {
					t.Errorf("close: %v", err)
				}
				if after := listed(t, dir); after != before {
					t.Errorf("what is there now was changed by closing:\n%s\n%s", before, after)
				}
				next, err := Open(dir, Options{})
				must(t, err)
				importOne(t, next, "c")
				must(t, next.Close())
			})
		}
	}
}

// TestReplacedBesideAnother: while one store lives on in a folder that was moved,
// another opens what is in its place, in the same process.
func TestReplacedBesideAnother(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	old, err := Open(dir, Options{})
	must(t, err)
	importOne(t, old, "a")
	if err := os.Rename(dir, dir+".old"); err != nil {
		must(t, old.Close())
		t.Skip(err)
	}
	next, err := Open(dir, Options{})
	must(t, err)
	importOne(t, next, "b")
	if _, err := tryImport(t, old, "c"); !errors.As(err, new(*ReplacedError)) {
		t.Errorf("the old one: %v", err)
	}
	if err := old.Close(); !errors.As(err, new(*ReplacedError)) {
		t.Errorf("closing the old one: %v", err)
	}
	importOne(t, next, "d")
	must(t, next.Close())
	for at, want := range map[string]int{dir: 2, dir + ".old": 1} {
		s, err := Open(at, Options{})
		must(t, err)
		if n := s.Generation(); n != uint64(want) {
			t.Errorf("%s has %d commits, want %d", at, n, want)
		}
		must(t, s.Close())
	}
}

// TestReplacedByName: nothing that is done by name reaches a folder that took the place
// of ours, although nobody has looked before.
func TestReplacedByName(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the system keeps folders with open files where they are")
	}
	const c = vfs.WriteCategoryUnspecified
	for name, do := range map[string]func(fs FS, dir string) error{
		"create": func(fs FS, dir string) error { _, err := fs.Create(filepath.Join(dir, "new"), c); return err },
		"open":   func(fs FS, dir string) error { _, err := fs.Open(filepath.Join(dir, "there")); return err },
		"append": func(fs FS, dir string) error {
			_, err := fs.OpenReadWrite(filepath.Join(dir, "there"), c)
			return err
		},
		"reuse": func(fs FS, dir string) error {
			_, err := fs.ReuseForWrite(filepath.Join(dir, "there"), filepath.Join(dir, "new"), c)
			return err
		},
		"open folder": func(fs FS, dir string) error { _, err := fs.OpenDir(dir); return err },
		"link":        func(fs FS, dir string) error { return fs.Link(filepath.Join(dir, "there"), filepath.Join(dir, "new")) },
		"rename": func(fs FS, dir string) error {
			return fs.Rename(filepath.Join(dir, "there"), filepath.Join(dir, "new"))
		},
		"make folder": func(fs FS, dir string) error { return fs.MkdirAll(filepath.Join(dir, "new"), 0o700) },
		"remove":      func(fs FS, dir string) error { return fs.Remove(filepath.Join(dir, "there")) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "store")
			lock, err := TakeLock(dir, nil)
			must(t, err)
			fail := failure{ch: make(chan struct{})}
			p := &parkFS{FS: Disk, fail: &fail, told: true, site: lock.site}
			p.armed.Store(true)
			must(t, os.Rename(dir, dir+".old"))
			must(t, os.Mkdir(dir, 0o700))
			must(t, os.WriteFile(filepath.Join(dir, "there"), nil, 0o600))
			before := listed(t, dir)
			if err := do(p, dir); !errors.As(err, new(*ReplacedError)) {
				t.Errorf("error %v", err)
			}
			if !errors.As(fail.error(), new(*ReplacedError)) {
				t.Errorf("the store's state: %v", fail.error())
			}
			if after := listed(t, dir); after != before {
				t.Errorf("what is there now was changed:\n%s\n%s", before, after)
			}
			must(t, lock.Close())
		})
	}
}

// TestNoSiteInMemory: what is not on a disk has no place that could be replaced.
func TestNoSiteInMemory(t *testing.T) {
	fs := vfs.NewMem()
	lock, err := TakeLock("store", fs)
	must(t, err)
	must(t, lock.InPlace())
	must(t, lock.Close())
}

// BenchmarkSite is what one look costs.
func BenchmarkSite(b *testing.B) {
	dir := b.TempDir()
	lock, err := TakeLock(dir, nil)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if err := lock.InPlace(); err != nil {
			b.Fatal(err)
		}
	}
	if err := lock.Close(); err != nil {
		b.Fatal(err)
	}
}

func importOne(t *testing.T, s *Store, native string) {
	t.Helper()
	commit(t, s, say(native, "text of "+native))
}

func tryImport(t *testing.T, s *Store, native string) ([]Outcome, error) {
	t.Helper()
	return s.Commit(t.Context(), Commit{Sessions: []*Sealed{seal(t, s, say(native, "text of "+native))}})
}

// listed is what is at a path, in one line per file.
func listed(t *testing.T, dir string) string {
	t.Helper()
	var out strings.Builder
	_ = filepath.WalkDir(dir+string(filepath.Separator), func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return nil
		}
		b, err := os.ReadFile(path)
		must(t, err)
		fmt.Fprintf(&out, "%s %08x\n", d.Name(), crc32.ChecksumIEEE(b))
		return nil
	})
	return out.String()
}
