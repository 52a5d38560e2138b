package store

import (
	"context"

	"github.com/cockroachdb/pebble/v2"
)

// A job is a write that runs on the store's own goroutine: a write that Pebble
// never finishes, or whose goroutine it ends, takes no caller with it.
type job struct {
	ctx  context.Context
	run  func() error
	done chan error // of capacity one
}

func (s *Store) runJobs() {
	for {
		select {
		case j := <-s.jobs:
			if err := j.ctx.Err(); err != nil {
				j.done <- err
				continue
			}
			j.done <- s.inPlace(j.run)
		case <-s.quit:
			return
		}
	}
}

// inPlace runs a write, and looks before and after it: nothing is acknowledged into a
// folder that is not where it was.
func (s *Store) inPlace(run func() error) error {
	err := s.look()
	if err == nil {
		err = mapErr(run())
	}
	if err == nil {
		err = s.look()
	}
	return err
}

// do runs a write and waits for it. ctx counts until the write begins; from then on
// the wait ends with the write or with the store's failure, so that nil always
// means done and ctx's error always means not begun.
func (s *Store) do(ctx context.Context, run func() error) error {
	if s.opts.ReadOnly {
		return ErrReadOnly
	}
	if err := s.fail.error(); err != nil {
		return err
	}
	j := job{ctx: ctx, run: run, done: make(chan error, 1)}
	select {
	case s.jobs <- j:
	case <-s.quit:
		return ErrClosed
	case <-ctx.Done():
		return ctx.Err()
	case <-s.fail.ch:
		return s.fail.error()
	}
	select {
	case err := <-j.done:
		return err
	case <-s.fail.ch:
	}
	// The job may have ended before the failure.
	select {
	case err := <-j.done:
		return err
	default:
		return s.fail.error()
	}
}

// release closes a snapshot of the database. Pebble looks for work while it does, and
// after a failed write may wait there for ever: nobody waits with it then.
func (s *Store) release(db *pebble.Snapshot) error {
	if s.fail.error() != nil {
		return nil
	}
	done := make(chan error, 1)
	go func() { done <- mapErr(db.Close()) }()
	select {
	case err := <-done:
		return err
	case <-s.fail.ch:
		return nil
	}
}
