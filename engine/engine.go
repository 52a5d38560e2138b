package engine

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hansard-search/hansard/engine/store"
)

// An Engine is one opened archive. It is safe for concurrent use.
type Engine struct {
	dir   string
	opts  Options
	store *store.Store
	full  error // why an archive that was to be written is read-only: a full disk
	index *index

	importing sync.Mutex // one import at a time

	life   context.Context // ends with Close
	end    context.CancelFunc
	work   sync.WaitGroup // background merges and running calls
	kick   chan struct{}  // asks for a merge
	sick   chan struct{}  // asks for a healing
	closed sync.Once
	state  sync.RWMutex // guards done
	done   bool

	patience time.Duration // how long Close works on the tail; closeFlush but in tests

	// failpoint, which only tests set, is told of each point of an import that it
	// reaches: "message", "commit", "committed".
	failpoint func(point string)

	freezing sync.Mutex // held by the making of a snapshot; taken before current
	current  sync.Mutex // guards latest
	latest   *snapshot
	// acked is, while an import runs, the generation before it: what it has stored is
	// acknowledged when it returns. allAcked when none runs.
	acked atomic.Uint64
	stale atomic.Bool // a search missed what a running import has stored
}

// Open opens the archive in the folder dir. What was acknowledged before is there,
// whatever ended the last process. On a full disk an archive opens all the same, but
// only for reading, which changes nothing; Err tells, and so does each answer.
func Open(dir string, o Options) (*Engine, error) {
	o = o.withDefaults()
	e, err := open(dir, o)
	if o.ReadOnly || !store.IsFull(err) {
		return e, err
	}
	o.ReadOnly = true
	if e, again := open(dir, o); again == nil {
		e.full = err
		o.Logger.Warn("archive opened read-only", "error", err)
		return e, nil
	}
	return nil, err
}

func open(dir string, o Options) (*Engine, error) {
	exists, err := store.Exists(dir, o.FS)
	if err != nil {
		return nil, storeError(fmt.Errorf("archive %s: %w", dir, err))
	}
	if !exists && (!o.Create || o.ReadOnly) {
		return nil, &Error{Code: CodeArchiveMissing, Message: "there is no archive in " + dir,
			Hint: "make one with `hansard import`", Retryable: true}
	}
	if !exists {
		if err := store.Vacant(dir, o.FS); err != nil {
			return nil, storeError(fmt.Errorf("archive %s: %w", dir, err))
		}
	}
	st, err := store.Open(dir, store.Options{FS: o.FS, Logger: o.Logger, Now: o.Now, DropRaw: o.DropRaw, ReadOnly: o.ReadOnly, CacheBytes: o.CacheBytes, Lock: o.Lock})
	if err != nil {
		return nil, storeError(err)
	}
	e := &Engine{dir: dir, opts: o, store: st, patience: closeFlush, kick: make(chan struct{}, 1), sick: make(chan struct{}, 1)}
	if e.index, err = openIndex(dir, st, o); err != nil {
		return nil, errors.Join(storeError(err), st.Close())
	}
	e.acked.Store(allAcked)
	e.life, e.end = context.WithCancel(context.Background())
	if !o.NoMerge && !o.ReadOnly {
		e.work.Go(e.merges)
	}
	if !o.NoHeal && !o.ReadOnly {
		e.work.Go(e.heals)
	}
	return e, nil
}

// Close ends running merges, makes the tail a durable segment, and closes the
// store. Calls that still run end with ARCHIVE_CLOSED. It may be called again.
func (e *Engine) Close() error {
	var err error
	e.closed.Do(func() { err = e.shut() })
	return err
}

// closeFlush bounds how long Close works on the tail.
const closeFlush = time.Second

func (e *Engine) shut() error {
	e.end()
	e.state.Lock()
	e.done = true
	e.state.Unlock()
	e.work.Wait()
	e.forget()
	e.index.mu.Lock()
	defer e.index.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), e.patience)
	defer cancel()
	flushed := e.index.flush(ctx)
	if errors.Is(flushed, context.DeadlineExceeded) {
		e.opts.Logger.Info("tail not flushed in time; it is indexed again when the archive is opened", "dir", e.dir)
		flushed = nil
	}
	return storeError(errors.Join(flushed, e.index.close(), e.store.Close()))
}

// begin marks a call as running, so that Close waits for it. The returned context
// also ends with the engine.
func (e *Engine) begin(ctx context.Context) (context.Context, func(), error) {
	e.state.RLock()
	defer e.state.RUnlock()
	if e.done {
		return nil, nil, &Error{Code: CodeClosed, Message: "the archive is closed"}
	}
	e.work.Add(1)
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(e.life, func() { cancel(errClosing) })
	return ctx, func() { stop(); cancel(nil); e.work.Done() }, nil
}

// writable says why no write is begun: the archive was opened read-only, or a write
// failed.
func (e *Engine) writable() error {
	if err := e.Err(); err != nil || !e.opts.ReadOnly {
		return err
	}
	return &Error{Code: CodeArchiveReadOnly, Message: "the archive was opened read-only"}
}

// Err is nil while the archive can be written, or was opened to be read. Once a write has
// failed it says which, with code ARCHIVE_READ_ONLY, DISK_FULL or TOO_MANY_FILES: searches
// and reads go on, and what was acknowledged is safe, but only opening the archive again
// ends that state. A write that failed without an acknowledgement may be found done then,
// or not done.
func (e *Engine) Err() error {
	if err := e.store.Err(); err != nil {
		return storeError(err)
	}
	return e.full
}

// readOnly is Err for people and programs that only asked for an answer.
func (e *Engine) readOnly() *ReadOnly {
	var known *Error
	if err := e.Err(); !errors.As(err, &known) {
		return nil
	}
	return &ReadOnly{Code: known.Code, Reason: known.Message, Hint: known.Hint}
}

// errClosing is why the context of a call ended: not the caller, but Close.
var errClosing = errors.New("the archive is closing")

// fault gives the error of a call its code. ctx is the one that begin returned.
func fault(ctx context.Context, err error) error {
	if errors.Is(err, context.Canceled) && errors.Is(context.Cause(ctx), errClosing) {
		return &Error{Code: CodeClosed, Message: "the archive was closed meanwhile", Err: err}
	}
	return storeError(err)
}

// merges runs background merges until the engine closes.
func (e *Engine) merges() {
	for {
		select {
		case <-e.life.Done():
			return
		case <-e.kick:
		}
		if err := e.settle(e.life); err != nil && e.life.Err() == nil {
			e.opts.Logger.Error("merge failed", "error", err)
		}
	}
}

// settle merges until no merge is due.
func (e *Engine) settle(ctx context.Context) error {
	for {
		did, err := e.index.mergeOnce(ctx)
		if did {
			e.renew()
		}
		if did && err != nil {
			e.opts.Logger.Error("merge met damage", "error", err)
			e.wantHeal()
			continue
		}
		if !did || err != nil {
			return err
		}
	}
}

// forget drops the kept snapshot, so that it holds no replaced segment.
func (e *Engine) forget() {
	e.current.Lock()
	defer e.current.Unlock()
	if e.latest != nil {
		e.latest.release()
		e.latest = nil
	}
}

// wantMerge asks the merger to look whether a merge is due.
func (e *Engine) wantMerge() {
	select {
	case e.kick <- struct{}{}:
	default:
	}
}

func (e *Engine) reach(point string) {
	if e.failpoint != nil {
		e.failpoint(point)
	}
}

// workers is how many segments one query works on at once.
func (e *Engine) workers() int {
	if e.opts.Workers > 0 {
		return e.opts.Workers
	}
	return runtime.GOMAXPROCS(0)
}

// Dir is the folder of the archive.
func (e *Engine) Dir() string { return e.dir }
