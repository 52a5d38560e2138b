package store

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/cockroachdb/pebble/v2"
)

// errStopped is the error of a goroutine that Pebble ended.
var errStopped = errors.New("stopped")

// open opens the store on a goroutine of its own, because Pebble may end the
// goroutine that meets a fatal error, and parkFS one whose write fails.
func (s *Store) open() error {
	if err := s.checkFormat(); err != nil {
		return err
	}
	if !s.opts.ReadOnly {
		if err := s.makeDir(); err != nil {
			return err
		}
	}
	lock, err := s.lock()
	if err != nil {
		return err
	}
	if err := s.checkSeal(); err != nil {
		return errors.Join(err, s.unlock())
	}
	if err := s.checkOptions(); err != nil {
		return errors.Join(err, s.unlock())
	}
	done := make(chan error, 1)
	go func() {
		err := errStopped
		defer func() {
			// Pebble panics when a folder cannot be synced.
			if r := recover(); r != nil {
				err = fmt.Errorf("open: %v", r)
				if cause, ok := r.(error); ok {
					err = fmt.Errorf("open: %w", cause)
				}
			}
			done <- err
		}()
		err = s.openPebble(lock)
	}()
	select {
	case err = <-done:
	case <-s.fail.ch:
	}
	if failed := s.fail.error(); failed != nil {
		// Whatever is parked stays; the folder can be opened again.
		return errors.Join(failed, s.giveUp(time.Second), s.unlock())
	}
	if err != nil {
		return errors.Join(lockError(mapErr(err)), s.unlock())
	}
	if !s.opts.ReadOnly {
		s.writer.Go(s.runJobs)
	}
	return nil
}

func (s *Store) openPebble(lock *pebble.Lock) error {
	s.cache = pebble.NewCache(s.opts.CacheBytes)
	defer s.cache.Unref() // the database has a reference of its own
	o := s.pebbleOptions(s.opts.ReadOnly)
	o.Lock = lock
	db, err := pebble.Open(s.dir, o)
	s.fs.opening.Store(false)
	if err != nil {
		return openDamage(otherKindIn(s.opts.FS, s.dir, err))
	}
	s.db = db
	s.tables = o.MakeWriterOptions(lastLevel, db.TableFormat())
	defaults := o.Clone()
	defaults.EnsureDefaults()
	s.readers = defaults.MakeReaderOptions()
	if err := s.load(); err != nil {
		s.stopDropping()
		return errors.Join(err, mapErr(db.Close()), s.mark.close())
	}
	s.rotReady()
	return nil
}

// giveUp cuts Pebble off. ErrRestart means that the disk holds on to something; the
// caller's lock then stays lent.
func (s *Store) giveUp(wait time.Duration) error {
	clean, err := s.fs.cutOff(wait)
	if !clean {
		s.lent.Store(nil)
		return errors.Join(ErrRestart, err)
	}
	s.removeScrap()
	s.giveBack()
	return err
}

// removeScrap removes the table that could not be written because the disk was full:
// each opening on a full disk would leave one, and take what room there is. No list
// names a table before it is written. What else is left the next opening removes.
func (s *Store) removeScrap() {
	var f *FailedError
	if err := s.fail.error(); errors.As(err, &f) && f.Op == "write" && IsFull(f.Err) && strings.HasSuffix(f.Path, ".sst") && s.fs.site.check() == nil {
		_ = s.opts.FS.Remove(f.Path) // the next opening removes it else
	}
}

// scheduler is Pebble's own, which lets compactions run as they come; Pebble's default
// has a goroutine besides, which outlives a failed opening. Registering is the moment
// from which Pebble has goroutines that work on the database: an opening that fails
// later would take the files from under them, and they would end the process.
type scheduler struct {
	pebble.CompactionScheduler
	registered func()
}

func (s *Store) newScheduler() *scheduler {
	return &scheduler{pebble.NewConcurrencyLimitSchedulerWithNoPeriodicGrantingForTest(), func() {
		if !s.opts.ReadOnly {
			s.fs.opening.Store(true)
			s.fs.armed.Store(true)
		}
	}}
}

// Register implements pebble.CompactionScheduler.
func (c *scheduler) Register(n int, db pebble.DBForCompaction) {
	c.registered()
	c.CompactionScheduler.Register(n, db)
}
