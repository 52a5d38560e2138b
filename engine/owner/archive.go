package owner

import (
	"context"
	"errors"
	"io"
	"path/filepath"
	"sync"

	"github.com/hansard-search/hansard/engine"
)

// An Archive is an archive that many processes use at once. Its calls are those of
// engine.Engine and safe for concurrent use.
type Archive struct {
	dir  string
	opts Options

	turn   chan struct{} // held by who reads or changes the two below
	own    *local        // nil while the archive is somebody else's
	closed bool

	mu    sync.Mutex // guards spare
	spare *conn      // greeted and not used yet
}

// Dir is the folder of the archive.
func (a *Archive) Dir() string { return a.dir }

// Owned reports whether this process owns the archive and answers others.
func (a *Archive) Owned() bool {
	a.turn <- struct{}{}
	defer func() { <-a.turn }()
	return a.own != nil && a.own.lock != nil && a.own.lost() == nil
}

// Close ends the use of the archive. If this process owns it, long calls that it
// serves for others are handed over to them, short ones get Options.Grace, and then
// the engine is closed. Calls of this process that still run end with ARCHIVE_CLOSED.
func (a *Archive) Close() error {
	a.turn <- struct{}{}
	defer func() { <-a.turn }()
	if a.closed {
		return nil
	}
	a.closed = true
	var err error
	if c := a.takeSpare(); c != nil {
		err = c.Close()
	}
	if a.own != nil {
		err = errors.Join(err, a.own.shut())
	}
	return err
}

func (a *Archive) takeSpare() *conn {
	a.mu.Lock()
	defer a.mu.Unlock()
	c := a.spare
	a.spare = nil
	return c
}

// maxLost is how often a call is repeated: each time an owner went away under it.
const maxLost = 100

// do makes a call, on the next owner if one goes away. What call leaves open it closes
// itself.
func (a *Archive) do(ctx context.Context, call func(b backend) error) error {
	for n := 0; ; n++ {
		b, err := a.reach(ctx)
		if err != nil {
			return err
		}
		err = call(b)
		if !isLost(err) || n == maxLost || ctx.Err() != nil {
			return plain(err)
		}
	}
}

// closing is err, or else that of closing c.
func closing(c io.Closer, err error) error {
	if e := c.Close(); err == nil {
		return e
	}
	return err
}

// plain takes off what only this package wraps errors in.
func plain(err error) error {
	var r *reported
	if errors.As(err, &r) {
		return r.err
	}
	var l *lostError
	if errors.As(err, &l) {
		return &engine.Error{Code: engine.CodeArchiveBusy, Message: "the processes that had the archive open all ended before they had answered",
			Hint: "try again", Retryable: true, Err: err}
	}
	return err
}

// once makes a call whose answer is complete when it returns.
func once[T any](ctx context.Context, a *Archive, call func(b backend) (T, error)) (out T, err error) {
	err = a.do(ctx, func(b backend) error {
		var err error
		out, err = call(b)
		return closing(b, err)
	})
	return out, err
}

// Search is engine.Engine's.
func (a *Archive) Search(ctx context.Context, req engine.SearchRequest) (*engine.SearchEnvelope, error) {
	return once(ctx, a, func(b backend) (*engine.SearchEnvelope, error) { return b.search(ctx, req) })
}

// Units is engine.Engine's.
func (a *Archive) Units(ctx context.Context, req engine.UnitRequest) (*engine.UnitEnvelope, error) {
	return once(ctx, a, func(b backend) (*engine.UnitEnvelope, error) { return b.units(ctx, req) })
}

// Stats is engine.Engine's.
func (a *Archive) Stats(ctx context.Context) (*engine.Stats, error) {
	return once(ctx, a, func(b backend) (*engine.Stats, error) { return b.stats(ctx) })
}

// Check is engine.Engine's. If the owner ends, it begins again.
func (a *Archive) Check(ctx context.Context) (*engine.CheckReport, error) {
	return once(ctx, a, func(b backend) (*engine.CheckReport, error) { return b.check(ctx) })
}

// Rebuild is engine.Engine's. If the owner ends, it begins again; progress may be nil.
func (a *Archive) Rebuild(ctx context.Context, progress func(engine.Progress)) (*engine.RebuildReport, error) {
	return once(ctx, a, func(b backend) (*engine.RebuildReport, error) { return b.rebuild(ctx, progress) })
}

// Import is engine.Engine's; relative paths are this process's. If the owner ends it
// goes on with what was not committed, and the report is of all of it; if the owner is
// killed, what it had committed is counted as unchanged.
func (a *Archive) Import(ctx context.Context, req engine.ImportRequest) (*engine.Report, error) {
	req, err := absolute(req)
	if err != nil {
		return nil, err
	}
	var before, report *engine.Report
	err = a.do(ctx, func(b backend) error {
		r, err := b.load(ctx, req)
		var lost *lostError
		var ended *reported
		switch {
		case errors.As(err, &lost):
			before = merge(before, lost.report, req.Force)
		case errors.As(err, &ended):
			report = merge(before, ended.report, req.Force)
		default:
			report = merge(before, r, req.Force)
		}
		return closing(b, err)
	})
	return report, err
}

// absolute makes the paths of a request mean the same in every process.
func absolute(req engine.ImportRequest) (engine.ImportRequest, error) {
	paths := req.Paths
	req.Paths = nil
	for _, p := range paths {
		if p != "" { // the engine refuses the empty one
			abs, err := filepath.Abs(p)
			if err != nil {
				return req, err
			}
			p = abs
		}
		req.Paths = append(req.Paths, p)
	}
	if req.Home != "" {
		abs, err := filepath.Abs(req.Home)
		if err != nil {
			return req, err
		}
		req.Home = abs
	}
	return req, nil
}

// Raw is engine.Engine's.
func (a *Archive) Raw(ctx context.Context, ref string) (io.ReadCloser, error) {
	r := &rawReader{a: a, ctx: ctx, ref: ref}
	if err := r.open(); err != nil {
		return nil, err
	}
	return r, nil
}
