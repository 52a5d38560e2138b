package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/hansard-search/hansard/engine/source"
	"github.com/hansard-search/hansard/engine/source/claudecode"
	"github.com/hansard-search/hansard/engine/source/codex"
	"github.com/hansard-search/hansard/engine/store"
)

// An ImportRequest says what to import. With Paths, exactly those files and
// folders; without, everything found under Home.
type ImportRequest struct {
	Home     string            // home folder to discover agents' sessions in
	Env      map[string]string // the agents' own variables (CLAUDE_CONFIG_DIR, CODEX_HOME)
	Paths    []string
	Force    bool           // read files again although they are unchanged
	DropRaw  bool           // do not keep the source bytes of these files; see Options.DropRaw
	Progress func(Progress) // may be nil; called from the importing goroutine
}

// SessionFolders are the folders in which an import of home looks for agents' sessions.
func SessionFolders(home string, env map[string]string) []string {
	return source.HomeFolders(home, env)
}

// formats are the archive formats that are read, in the order they are tried.
// threads gives the names that Codex keeps beside its sessions.
func formats(threads map[string]string) []source.Format {
	return []source.Format{claudecode.Format{}, codex.Format{Title: func(native string) string { return threads[native] }}}
}

// threadNames reads the names that Codex keeps beside its sessions, if it does.
func (r *importRun) threadNames() (map[string]string, error) {
	if len(r.req.Paths) > 0 {
		return nil, nil
	}
	// Opened as a source is: it may be a pipe, which would never end.
	f, err := source.OpenFile(filepath.Join(source.CodexHome(r.req.Home, r.req.Env), "session_index.jsonl"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		r.broken("session_index.jsonl", err)
		return nil, nil
	}
	defer f.Close()
	in, err := f.Open()
	if err != nil {
		r.broken("session_index.jsonl", err)
		return nil, nil
	}
	names, err := codex.ReadIndex(io.LimitReader(in, maxIndexBytes))
	return names, errors.Join(err, in.Close())
}

// maxIndexBytes bounds the file of names, which is kept in memory: half a million
// threads.
const maxIndexBytes = 64 << 20

// An importRun is the state of one Import call.
type importRun struct {
	e       *Engine
	req     ImportRequest
	formats []source.Format
	report  *Report
	sources map[string]*SourceReport
	prog    Progress
	waiting int64      // source bytes stored since the index began to catch up
	indexed chan error // the end of the catching up that runs, nil when none does
	looked  time.Time  // when the last one began
	strange int        // named files of a format that is not read
}

// Import reads session files into the archive. It returns a report also when it
// fails: what the report counts as added or updated is durable and searchable. A
// bad record costs that record; an unreadable file is a problem of the report and,
// if it was named in Paths, a SOURCE_UNREADABLE error at the end, as a named file of
// a format that is not read is. A second import of unchanged files changes nothing.
func (e *Engine) Import(ctx context.Context, req ImportRequest) (*Report, error) {
	ctx, done, err := e.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	if err := lockWithin(ctx, &e.importing); err != nil {
		return nil, fault(ctx, err)
	}
	defer e.importing.Unlock()
	if err := e.writable(); err != nil {
		return nil, err
	}
	if len(req.Paths) == 0 && req.Home == "" {
		return nil, &Error{Code: CodeInvalidArgument, Field: "home", Message: "neither a home folder nor paths were given"}
	}
	if slices.Contains(req.Paths, "") {
		return nil, &Error{Code: CodeInvalidArgument, Field: "paths", Message: "a path is empty"}
	}
	e.acked.Store(e.store.Generation())
	start := e.opts.Now()
	r := &importRun{e: e, req: req, report: newReport(), sources: map[string]*SourceReport{}, looked: start}
	err = errors.Join(r.run(ctx), r.indexEnds())
	if now := e.store.Err(); errors.As(now, new(*store.ReplacedError)) {
		err = r.stop(now) // what was found unchanged is not there
	}
	e.acked.Store(allAcked)
	r.close(start)
	return r.report, fault(ctx, err)
}

func (r *importRun) run(ctx context.Context) error {
	if err := r.e.catchUp(ctx); err != nil { // from here on searches have a snapshot to use
		return r.stop(err)
	}
	names, err := r.threadNames()
	if err != nil {
		return r.stop(err)
	}
	r.formats = formats(names)
	found, err := r.discover(ctx)
	if err != nil {
		return r.stop(err)
	}
	sizes := r.plan(found)
	for i, c := range found.Files {
		if err := ctx.Err(); err != nil {
			return r.stop(err)
		}
		r.prog.Path = c.Path
		r.tell()
		if err := r.file(ctx, c); err != nil {
			return r.stop(err)
		}
		r.prog.FilesDone++
		r.prog.BytesDone += sizes[i]
		if err := r.indexIfDue(ctx); err != nil {
			return r.stop(err)
		}
	}
	r.prog.Phase, r.prog.Path = "index", ""
	r.tell()
	if err := errors.Join(r.indexEnds(), r.e.catchUp(ctx)); err != nil {
		return r.stop(err)
	}
	if !r.e.opts.NoMerge {
		if err := r.e.settle(ctx); err != nil {
			return r.stop(err)
		}
	}
	return r.unreadable()
}

func (r *importRun) discover(ctx context.Context) (source.Discovery, error) {
	if len(r.req.Paths) > 0 {
		return source.DiscoverPaths(ctx, r.req.Paths)
	}
	return source.DiscoverHome(ctx, r.req.Home, r.req.Env)
}

// plan enters what was found into the report and sums the work ahead.
func (r *importRun) plan(found source.Discovery) []int64 {
	r.report.Files.Found = len(found.Files)
	r.report.Skips = append(r.report.Skips, found.Skips...)
	for _, err := range found.Errors {
		path := ""
		var pe *fs.PathError
		if errors.As(err, &pe) {
			path = pe.Path
		}
		r.broken(path, err)
	}
	r.prog = Progress{Phase: "read", FilesTotal: len(found.Files)}
	sizes := make([]int64, len(found.Files))
	for i, c := range found.Files {
		if fi, err := os.Stat(c.Path); err == nil {
			sizes[i] = fi.Size()
			r.prog.BytesTotal += fi.Size()
		}
	}
	return sizes
}

// stop marks the report of an import that ended early.
func (r *importRun) stop(err error) error {
	r.report.Stopped = true
	return err
}

// unreadable makes an error of files that the caller named and nobody can read, be it
// that their format is none that is.
func (r *importRun) unreadable() error {
	if n := r.report.Files.Unreadable + r.strange; n > 0 && len(r.req.Paths) > 0 {
		return &Error{Code: CodeSourceMissing, Message: fmt.Sprintf("%d of the named files could not be read", n), Hint: "the report's problems and skips say why"}
	}
	return nil
}

// indexIfDue lets the index catch up beside the reading of further files, before too
// much is waiting.
func (r *importRun) indexIfDue(ctx context.Context) error {
	if r.waiting < int64(r.e.opts.FlushBytes) && !r.indexWanted() {
		return nil
	}
	if err := r.indexEnds(); err != nil {
		return err
	}
	r.looked = r.e.opts.Now()
	r.e.stale.Store(false)
	r.waiting, r.indexed = 0, make(chan error, 1)
	go func(done chan<- error) { done <- r.e.catchUp(ctx) }(r.indexed)
	return nil
}

// indexEvery is how old the index may grow under searches while an import runs.
const indexEvery = time.Second

// indexWanted reports whether a search missed what this import has stored, unless the
// index catches up already or did a moment ago.
func (r *importRun) indexWanted() bool {
	running := r.indexed != nil && len(r.indexed) == 0
	return !running && r.e.stale.Load() && r.e.opts.Now().Sub(r.looked) >= indexEvery
}

// indexEnds waits for the catching up that runs.
func (r *importRun) indexEnds() error {
	if r.indexed == nil {
		return nil
	}
	err := <-r.indexed
	r.indexed = nil
	return err
}

// catchUp brings the index up to the store.
func (e *Engine) catchUp(ctx context.Context) error {
	s, err := e.fresh(ctx)
	if err != nil {
		return err
	}
	s.release()
	return nil
}

func (r *importRun) tell() {
	if r.req.Progress != nil {
		r.req.Progress(r.prog)
	}
}

func (r *importRun) source(format string) *SourceReport {
	s := r.sources[format]
	if s == nil {
		s = &SourceReport{Format: format}
		r.sources[format] = s
	}
	return s
}

func (r *importRun) close(start time.Time) {
	for _, s := range r.sources {
		r.report.Sources = append(r.report.Sources, *s)
	}
	slices.SortFunc(r.report.Sources, func(a, b SourceReport) int { return cmp.Compare(a.Format, b.Format) })
	r.report.DurationMS = r.e.opts.Now().Sub(start).Milliseconds()
}
