package engine

import (
	"context"
	"io"
	"sync"
)

// lockWithin takes a lock, or gives up when ctx ends: who holds it may be in the
// middle of long work for somebody else.
func lockWithin(ctx context.Context, mu *sync.Mutex) error {
	if mu.TryLock() {
		return nil
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	got := make(chan struct{})
	go func() {
		mu.Lock()
		select {
		case got <- struct{}{}:
		case <-ctx.Done():
			mu.Unlock()
		}
	}()
	select {
	case <-got:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// untilDone is a writer that fails once ctx has ended, and so ends what writes to it.
type untilDone struct {
	ctx context.Context
	w   io.Writer
}

func (u untilDone) Write(p []byte) (int, error) {
	if err := u.ctx.Err(); err != nil {
		return 0, err
	}
	return u.w.Write(p)
}
