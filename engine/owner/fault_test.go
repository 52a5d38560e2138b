package owner

import (
	"context"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/hansard-search/hansard/engine"
	"github.com/hansard-search/hansard/engine/internal/faultfs"
	"github.com/hansard-search/hansard/engine/store"
)

// TestDiskFullUnderOwner: the owner's disk fills up, or fails, while clients import and
// search. Imports end with the typed error, searches go on with what was there, and
// closing ends.
func TestDiskFullUnderOwner(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for a store that cannot close")
	}
	for name, fault := range map[string]struct {
		err  error
		code string
	}{"full": {syscall.ENOSPC, engine.CodeDiskFull}, "broken": {syscall.EIO, engine.CodeArchiveReadOnly}} {
		t.Run(name, func(t *testing.T) {
			tmp := t.TempDir()
			dir := filepath.Join(tmp, "archive")
			disk := faultfs.New(store.Disk)
			own, err := Attach(t.Context(), dir, Options{Engine: engine.Options{Create: true, FS: disk}})
			check(t, err)
			client := attach(t, dir, Options{})
			_, err = client.Import(t.Context(), engine.ImportRequest{Paths: []string{write(t, tmp, "base", 5, 10, 1)}})
			check(t, err)
			disk.Set(faultfs.Fail(faultfs.Writes, fault.err))
			src := write(t, tmp, "more", 5, 10, 2)
			var all sync.WaitGroup
			for range 2 {
				all.Go(func() {
					_, err := client.Import(context.Background(), engine.ImportRequest{Paths: []string{src}})
					if codeOf(err) != fault.code {
						t.Errorf("import: %s: %v", codeOf(err), err)
					}
				})
			}
			for range 8 {
				all.Go(func() {
					env, err := client.Search(context.Background(), engine.SearchRequest{Query: "base"})
					if err != nil || env.Total != 5 || env.Partial {
						t.Errorf("search: %v", err)
					}
				})
			}
			all.Wait()
			if env, err := client.Search(t.Context(), engine.SearchRequest{}); err != nil || env.Total != 5 {
				t.Errorf("search afterwards: %v", err)
			}
			begin := time.Now()
			err = own.Close()
			t.Logf("closed after %v: %v", time.Since(begin), err)
			if d := time.Since(begin); d > soon {
				t.Errorf("closing took %v", d)
			}
		})
	}
}
