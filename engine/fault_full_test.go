package engine

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/hansard-search/hansard/engine/store"
)

// TestDiskFull plays the story on disks of every size from nothing to enough, in
// steps of 4 KiB: who writes is told that the disk is full, who reads gets answers,
// and with more room the archive opens again as it was, without repair.
func TestDiskFull(t *testing.T) {
	step := int64(4 << 10)
	if *long {
		step = 1 << 10
	} else if testing.Short() {
		step = 24 << 10
	}
	left := watchGoroutines(t)
	var room, enough, full atomic.Int64
	room.Store(-step)
	var work sync.WaitGroup
	for range 16 {
		work.Go(func() {
			for enough.Load() == 0 && !t.Failed() {
				size := room.Add(step)
				was, err := fillDisk(t, size)
				if err != nil {
					t.Errorf("a disk of %d bytes: %v", size, err)
				}
				if was {
					full.Add(1)
				} else if old := enough.Load(); old == 0 || size < old {
					enough.Store(size)
				}
			}
		})
	}
	work.Wait()
	left.check()
	t.Logf("%d disks filled up; %d bytes are enough", full.Load(), enough.Load())
}

// fillDisk plays the story on a disk with so much room and reports whether it was
// full.
func fillDisk(t *testing.T, room int64) (bool, error) {
	s := newStage(t, vfs.NewCrashableMem(), stageOptions)
	disk := s.fs.Limit(room)
	for i, step := range s.steps() {
		if s.e == nil && i > 0 && i != 14 {
			continue
		}
		var err error
		if !inTime(soon, func() { err = step() }) {
			return disk.Full(), fmt.Errorf("step %d hangs", i)
		}
		if err != nil {
			if !disk.Full() {
				return false, fmt.Errorf("step %d: %w", i, err)
			}
			if s.e != nil && s.e.Err() != nil && errors.Is(err, store.ErrReadOnly) {
				continue // it was opened on the full disk
			}
			if code := codeOf(storeError(err)); code != CodeDiskFull {
				return true, fmt.Errorf("step %d: code %s of %w", i, code, err)
			}
		}
		if s.e != nil && s.e.isClosed() {
			s.e = nil
		}
	}
	may := s.now()
	if s.e != nil {
		if err := s.e.inspect(may); err != nil {
			return true, fmt.Errorf("while it is full: %w", err)
		}
		if err := s.e.Close(); err != nil && !errors.Is(err, store.ErrDiskFull) {
			return true, fmt.Errorf("close: %w", err)
		}
	}
	full := disk.Full()
	if err := s.readOnFullDisk(may); err != nil {
		return full, fmt.Errorf("opened on the full disk: %w", err)
	}
	s.fs.Limit(1 << 40)
	s.fs.Restart()
	if err := inspect(s.fs, stageOptions, may); err != nil {
		return full, fmt.Errorf("with room again: %w", err)
	}
	return full, nil
}

// readOnFullDisk opens the archive although there is no room for a single byte, if
// there is one: it can be read, and who writes is told why not.
func (s *stage) readOnFullDisk(may ledger) error {
	s.fs.Limit(0)
	s.fs.Restart()
	if ok, err := store.Exists(stageDir, s.fs); !ok || err != nil {
		return err
	}
	o := s.opts
	o.Create = false
	e, err := Open(stageDir, o)
	if codeOf(err) == CodeDiskFull && len(may) == 0 {
		return nil // it was never complete
	}
	if err != nil {
		return err
	}
	_, err = e.Import(context.Background(), ImportRequest{Paths: []string{s.src}})
	if codeOf(err) != CodeDiskFull {
		return errors.Join(fmt.Errorf("a write on the full disk: %w", err), e.Close())
	}
	if err := e.inspect(may); err != nil {
		return errors.Join(err, e.Close())
	}
	return e.Close()
}
