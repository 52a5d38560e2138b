package engine

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/hansard-search/hansard/engine/source"
	"github.com/hansard-search/hansard/engine/store"
)

// file imports one file if it changed since the last import. An error ends the
// import; what is wrong with this file alone is in the report.
func (r *importRun) file(ctx context.Context, c source.Candidate) error {
	f, err := c.Open()
	if err != nil {
		r.broken(c.Path, err)
		return nil
	}
	defer f.Close()
	seen, err := r.seen(ctx, f)
	if seen || err != nil {
		return err
	}
	format, err := r.identify(c, f)
	if format == nil || err != nil {
		return err
	}
	return r.read(ctx, f, format)
}

// identify finds the format of a file, or enters into the report why it is skipped.
func (r *importRun) identify(c source.Candidate, f *source.Opened) (source.Format, error) {
	head, err := f.Head()
	if err != nil {
		r.broken(c.Path, err)
		return nil, nil
	}
	format, why := source.Identify(r.formats, c.Path, head)
	if format != nil {
		return format, nil
	}
	r.report.Files.Skipped++
	s := r.source(why)
	s.Files++
	s.Note = "not read"
	if c.Named() {
		r.strange++
		r.report.Skips = append(r.report.Skips, source.Skip{Path: c.Path, Reason: why})
	}
	return nil, nil
}

// seen reports whether the file is as the last import left it. Its format is what it
// was then: it is looked for only in files that have changed.
func (r *importRun) seen(ctx context.Context, f *source.Opened) (bool, error) {
	if r.req.Force {
		return false, nil
	}
	mark, ok, err := r.e.mark(f.Path)
	if errors.Is(err, store.ErrCorrupt) {
		return false, nil
	}
	if err != nil || !ok {
		return false, err
	}
	format := r.format(mark)
	if format == nil {
		return false, nil
	}
	if !mark.same(f.Stat) {
		if nothing, err := nothingNew(ctx, f, mark); err != nil || !nothing {
			return false, ctx.Err() // a file that cannot be read is reported where it is read
		}
		if err := r.touched(ctx, f, format, mark); err != nil {
			return false, err
		}
	}
	r.report.Files.Unchanged++
	r.report.Unchanged += mark.Sessions
	s := r.source(format.Name())
	s.Files++
	s.Unchanged += mark.Sessions
	return true, nil
}

// format is the one that a file was read in, nil if it would be read otherwise now.
func (r *importRun) format(m fileMark) source.Format {
	for _, f := range r.formats {
		if f.Name() == m.Format && f.Fingerprint() == m.Fingerprint {
			return f
		}
	}
	return nil
}

// broken records a file that cannot be read.
func (r *importRun) broken(path string, err error) {
	r.report.Files.Unreadable++
	r.report.problem(source.FileProblem(path, err))
}

// read parses a file and commits its sessions and its cursor in one batch.
func (r *importRun) read(ctx context.Context, f *source.Opened, format source.Format) error {
	in := &intake{ctx: ctx, run: r, format: format, path: f.Path}
	defer in.abort()
	raw, size, ok, err := r.keep(ctx, f)
	if !ok || err != nil {
		return err
	}
	records, err := format.Read(ctx, f.File, r.e.opts.Limits, in)
	switch {
	case in.failed != nil:
		return r.damaged(f.Path, in.failed) // the store's fault, not the file's
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		r.broken(f.Path, err)
		return nil
	}
	for _, z := range in.sealed {
		if raw != (store.RawID{}) {
			z.Raw = []store.RawID{raw}
		}
	}
	cur, err := newMark(f.Stat, format, records, len(in.sealed)).cursor(f.Path, raw)
	if err != nil {
		return err
	}
	r.e.reach("commit")
	outcomes, err := r.e.store.Commit(ctx, store.Commit{Sessions: in.sealed, Cursors: []store.Cursor{cur}, Prefer: prefer})
	if err != nil {
		return r.damaged(f.Path, err)
	}
	in.sealed = nil
	if at, cut := f.Cut(); cut {
		r.report.problem(source.Problem{File: f.Path, Offset: at, Reason: "compressed file is cut off; what came before is stored"})
	}
	r.e.reach("committed")
	r.count(format.Name(), records, size, in, outcomes)
	return nil
}

// damaged records a file whose sessions the store cannot take because what it has of
// them is damaged; other files go on. Any other error of the store ends the import.
func (r *importRun) damaged(path string, err error) error {
	if errors.Is(err, store.ErrCorrupt) && r.e.store.Err() == nil {
		r.broken(path, err)
		return nil
	}
	return err
}

func (r *importRun) dropRaw() bool { return r.req.DropRaw || r.e.opts.DropRaw }

// keep stores the source bytes, which the agents may delete. It reports false when
// the file cannot be read.
func (r *importRun) keep(ctx context.Context, f *source.Opened) (store.RawID, int64, bool, error) {
	bytes, err := f.Open()
	if err != nil {
		r.broken(f.Path, err)
		return store.RawID{}, 0, false, nil
	}
	in := &faultReader{r: bytes}
	defer bytes.Close()
	var id store.RawID
	var size int64
	if r.dropRaw() {
		size, err = io.Copy(io.Discard, in)
	} else {
		id, size, err = r.e.store.PutRaw(ctx, in, store.RawMeta{Path: f.Path, ModTime: f.Stat.ModTime})
	}
	if in.err != nil {
		r.broken(f.Path, in.err)
		return id, size, false, nil
	}
	if err != nil {
		return id, size, false, r.damaged(f.Path, fmt.Errorf("keep %s: %w", f.Path, err))
	}
	return id, size, true, nil
}

// count enters a committed file into the report.
func (r *importRun) count(format string, records source.Records, size int64, in *intake, outcomes []store.Outcome) {
	r.waiting += size
	r.report.Bytes += size
	r.report.Files.Read++
	addRecords(&r.report.Records, records)
	s := r.source(format)
	s.Files++
	addRecords(&s.Records, records)
	r.report.Rejected += in.refused
	s.Rejected += in.refused
	for _, o := range outcomes {
		switch o.Status {
		case store.Added:
			r.report.Added++
			s.Added++
		case store.Updated:
			r.report.Updated++
			s.Updated++
		default:
			r.report.Unchanged++
			s.Unchanged++
			continue
		}
		r.report.Messages += o.Summary.Messages
		r.report.Blocks += o.Summary.Blocks
	}
}

// prefer says whether a new parse of a session replaces the stored one. The same
// source file always does: it is the session's own later state. Between copies in
// different files the one that goes further wins, whatever order they came in.
func prefer(old, next store.Summary) bool {
	if old.Path == next.Path {
		return true
	}
	if old.Updated != next.Updated {
		return next.Updated > old.Updated
	}
	if old.Messages != next.Messages {
		return next.Messages > old.Messages
	}
	return string(next.Hash[:]) > string(old.Hash[:])
}
