package owner

import (
	"context"
	"errors"
	"net"
	"path/filepath"
	"time"

	"github.com/hansard-search/hansard/engine"
	"github.com/hansard-search/hansard/engine/store"
)

// pauses between looks at an archive that belongs to somebody who cannot be reached:
// one that begins or ends.
const (
	firstPause = time.Millisecond
	lastPause  = 10 * time.Millisecond
)

// Attach attaches to the archive in the folder dir. If nobody owns it, this process
// does from now on, until Close. Its errors are those of engine.Open, and
// ARCHIVE_BUSY with the owner's process id when an owner does not answer.
func Attach(ctx context.Context, dir string, o Options) (*Archive, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	a := &Archive{dir: dir, opts: o.withDefaults(), turn: make(chan struct{}, 1)}
	b, err := a.reach(ctx)
	if err != nil {
		return nil, err
	}
	if c, ok := b.(*conn); ok {
		a.spare = c // for the first call
	}
	return a, nil
}

// reach finds who answers: this process if it owns the archive or can take it, else
// the owner.
func (a *Archive) reach(ctx context.Context) (backend, error) {
	start, pause, last := time.Now(), firstPause, identity{}
	for {
		b, err := a.take(ctx)
		if err == nil || !errors.Is(err, store.ErrLocked) {
			return b, err
		}
		c, owner, err := a.connect(ctx)
		if err == nil || !passing(err) {
			return c, err
		}
		if owner != last { // somebody else: that is progress
			start, last = time.Now(), owner
		}
		if time.Since(start) > a.opts.Patience || errors.Is(err, errStranger) || readOnlyFolder(err) {
			return nil, unshared(owner, owner.PID != 0, err)
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(pause):
		}
		pause = min(2*pause, lastPause)
	}
}

// passing reports whether err is one of a socket that nobody listens at: an owner
// begins or ends, or is of another user.
func passing(err error) bool {
	var known *engine.Error
	return !errors.As(err, &known) && !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded)
}

// take gives the engine of this process: the one there is, or a new one if the archive
// is nobody's. The error is store.ErrLocked when it is somebody's.
func (a *Archive) take(ctx context.Context) (backend, error) {
	select {
	case a.turn <- struct{}{}:
		defer func() { <-a.turn }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	switch {
	case a.closed:
		return nil, &engine.Error{Code: engine.CodeClosed, Message: "the archive is closed"}
	case a.own != nil:
		if err := a.own.lost(); err != nil {
			return nil, err
		}
		return a.own, nil
	}
	own, err := open(a.dir, a.opts)
	if err != nil {
		return nil, err
	}
	a.own = own
	return own, nil
}

// open makes this process the owner, or a reader where nothing can be written.
func open(dir string, o Options) (*local, error) {
	if o.Engine.ReadOnly {
		return openToRead(dir, o)
	}
	if nothingToOwn(dir, o) {
		_, err := engine.Open(dir, o.Engine) // says why, before anything is made there
		return nil, err
	}
	lock, err := store.TakeLock(dir, o.Engine.FS)
	switch {
	case errors.Is(err, store.ErrLocked):
		return nil, err
	case readOnlyFolder(err) && !o.Engine.Create:
		return openToRead(dir, o)
	case err != nil:
		return nil, openError(dir, o, err)
	}
	if err := outlived(dir, o); err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	l := &local{lock: lock}
	o.Engine.Lock = lock
	place, err := occupy(dir, o)
	if readOnlyFolder(err) {
		if err := lock.Close(); err != nil {
			return nil, err
		}
		if !o.Engine.Create {
			return openToRead(dir, o)
		}
		return nil, &engine.Error{Code: engine.CodeArchiveUnreadable, Message: "the archive cannot be opened: " + err.Error(),
			Hint: "check the folder and its permissions; --archive names another", Err: err}
	}
	if err != nil {
		// A full disk, mostly. The archive can still be used; others wait.
		o.Engine.Logger.Warn("nobody can be answered", "error", err)
	} else {
		l.srv = serve(place, lock, o)
	}
	if l.eng, err = engine.Open(dir, o.Engine); err != nil {
		if l.srv != nil {
			l.srv.drain()
			if lock.InPlace() == nil {
				err = errors.Join(err, place.forget())
			}
		}
		return nil, errors.Join(err, lock.Close())
	}
	if l.srv != nil {
		l.srv.open(l.eng)
	}
	return l, nil
}

// outlived makes sure that no owner is left of a lock that was replaced. Greeted, it
// sees that, and goes; one that does not go keeps the archive.
func outlived(dir string, o Options) error {
	old, _ := readOwner(dir)
	for _, path := range sockets(dir, old) {
		nc, err := net.DialTimeout("unix", path, o.Patience)
		if err != nil {
			continue // nobody, as a rule
		}
		c, err := meet(background, nc, o)
		switch {
		case err == nil && filepath.Dir(path) != dir:
			_ = c.Close() // whose lock is in its place: this folder is a copy of theirs
		case err == nil:
			return errors.Join(unshared(c.owner, true, errTwoLocks), c.Close())
		case isTimeout(err):
			return silent(old, err)
		}
	}
	return nil
}

// errOtherArchive is of a socket that leads to the owner of another archive.
var errOtherArchive = errors.New("who answers owns another archive")

var errTwoLocks = errors.New("it has another lock of the same archive")

// nothingToOwn reports whether there is no archive in dir and none is to be made there.
func nothingToOwn(dir string, o Options) bool {
	exists, err := store.Exists(dir, o.Engine.FS)
	switch {
	case err != nil:
		return errors.Is(err, store.ErrNoFormat)
	case exists:
		return false
	case o.Engine.Create:
		return errors.Is(store.Vacant(dir, o.Engine.FS), store.ErrForeign)
	}
	_, owned := readOwner(dir)
	return !owned
}

// openError is err, of taking the lock, as engine.Open would have put it.
func openError(dir string, o Options, err error) error {
	eng, typed := engine.Open(dir, o.Engine)
	if typed != nil {
		return typed
	}
	return errors.Join(err, eng.Close())
}

// openToRead opens the archive without owning it. Readers hold a lock together; one
// who writes excludes them.
func openToRead(dir string, o Options) (*local, error) {
	o.Engine.ReadOnly, o.Engine.Create, o.Engine.Lock = true, false, nil
	eng, err := engine.Open(dir, o.Engine)
	if err != nil {
		return nil, err // its cause is store.ErrLocked when somebody writes
	}
	return &local{eng: eng}, nil
}

// connect greets the owner.
func (a *Archive) connect(ctx context.Context) (*conn, identity, error) {
	if c := a.takeSpare(); c != nil {
		return c, c.owner, nil
	}
	nc, owner, err := dial(a.dir, a.opts.Patience)
	if err != nil {
		return nil, owner, err
	}
	c, err := meet(ctx, nc, a.opts)
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, owner, ctx.Err()
	case isTimeout(err):
		return nil, owner, silent(owner, err)
	case err != nil:
		return nil, owner, err
	case c.owner.Protocol != protocol:
		return nil, owner, errors.Join(foreign(c.owner), c.Close())
	case c.owner.Archive != store.LockID(a.dir):
		return nil, owner, errors.Join(errOtherArchive, c.Close())
	}
	return c, c.owner, nil
}

func isTimeout(err error) bool {
	var t interface{ Timeout() bool }
	return err != nil && errors.As(err, &t) && t.Timeout()
}
