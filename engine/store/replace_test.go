package store

import (
	"errors"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/hansard-search/hansard/engine/internal/faultfs"
)

// TestReplaceLeavesNothing: whichever operation fails, a small file that could not be
// replaced is what it was, and the one that was to take its place is gone.
func TestReplaceLeavesNothing(t *testing.T) {
	for _, durable := range []bool{false, true} {
		failed := 0
		for _, kind := range []faultfs.Kind{faultfs.Create, faultfs.Write, faultfs.Sync, faultfs.Close, faultfs.Rename} {
			disk := vfs.NewMem()
			must(t, disk.MkdirAll("dir", 0o700))
			must(t, replaceFile(disk, "dir/owner.json", []byte("old"), durable))
			fs := faultfs.New(disk)
			fs.Set(func(o faultfs.Op) error {
				if o.Kind == kind && strings.HasPrefix(o.Path, "dir/owner.json") {
					return &faultfs.Short{Err: syscall.ENOSPC}
				}
				return nil
			})
			err := replaceFile(fs, "dir/owner.json", []byte("new"), durable)
			want := "new"
			if errors.Is(err, syscall.ENOSPC) {
				failed++
				want = "old"
			} else if err != nil {
				t.Errorf("%v fails: %v", kind, err)
			}
			if got := contentOf(t, disk, "dir/owner.json"); got != want {
				t.Errorf("%v fails: the file holds %q, want %q", kind, got, want)
			}
			if _, err := disk.Stat("dir/owner.json.new"); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("%v fails: owner.json.new stays: %v", kind, err)
			}
		}
		if want := map[bool]int{false: 4, true: 5}[durable]; failed != want {
			t.Errorf("durable %v: %d operations failed, want %d", durable, failed, want)
		}
	}
}

func contentOf(t *testing.T, fs vfs.FS, path string) string {
	t.Helper()
	f, err := fs.Open(path)
	must(t, err)
	b := make([]byte, 100)
	n, _ := f.Read(b)
	must(t, f.Close())
	return string(b[:n])
}
