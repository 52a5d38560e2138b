package owner

import (
	"path/filepath"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/hansard-search/hansard/engine"
	"github.com/hansard-search/hansard/engine/internal/faultfs"
	"github.com/hansard-search/hansard/engine/store"
)

// TestAttachOnFullDisk: a process that begins on a full disk owns the archive, answers
// itself and others completely, and says why nothing can be imported; with room again
// the next one imports.
func TestAttachOnFullDisk(t *testing.T) {
	tmp := t.TempDir()
	dir := filepath.Join(tmp, "archive")
	disk := faultfs.New(store.Disk)
	first, err := Attach(t.Context(), dir, Options{Engine: engine.Options{Create: true, FS: disk}})
	check(t, err)
	_, err = first.Import(t.Context(), engine.ImportRequest{Paths: []string{write(t, tmp, "base", 5, 10, 1)}})
	check(t, err)
	var full atomic.Bool
	full.Store(true)
	disk.Set(func(o faultfs.Op) error {
		if full.Load() && o.Kind == faultfs.Write {
			return syscall.ENOSPC
		}
		return nil
	})
	_ = first.Close() // nothing of it can be written: the log keeps it all
	src := write(t, tmp, "more", 5, 10, 2)
	own, err := Attach(t.Context(), dir, Options{Engine: engine.Options{FS: disk}})
	check(t, err)
	for name, a := range map[string]*Archive{"owner": own, "client": attach(t, dir, Options{})} {
		env, err := a.Search(t.Context(), engine.SearchRequest{Query: "base"})
		if err != nil || env.Total != 5 || !env.Exact || env.ReadOnly == nil || env.ReadOnly.Code != engine.CodeDiskFull {
			t.Fatalf("%s: search: %+v, %v", name, env, err)
		}
		r, err := a.Read(t.Context(), env.Hits[0].Session.Ref)
		check(t, err)
		if r.Head.ReadOnly == nil || r.Head.ReadOnly.Code != engine.CodeDiskFull {
			t.Errorf("%s: a reading does not say that the disk is full", name)
		}
		check(t, r.Close())
		_, err = a.Import(t.Context(), engine.ImportRequest{Paths: []string{src}})
		if codeOf(err) != engine.CodeDiskFull {
			t.Errorf("%s: import: %v", name, err)
		}
	}
	check(t, own.Close())
	full.Store(false)
	next, err := Attach(t.Context(), dir, Options{Engine: engine.Options{FS: disk}})
	check(t, err)
	_, err = next.Import(t.Context(), engine.ImportRequest{Paths: []string{src}})
	check(t, err)
	env, err := next.Search(t.Context(), engine.SearchRequest{})
	if err != nil || env.Total != 10 || env.ReadOnly != nil {
		t.Errorf("with room again: %+v, %v", env, err)
	}
	check(t, next.Close())
}
