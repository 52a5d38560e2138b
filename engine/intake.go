package engine

import (
	"context"
	"errors"
	"io"

	"github.com/hansard-search/hansard/engine/archive"
	"github.com/hansard-search/hansard/engine/source"
	"github.com/hansard-search/hansard/engine/store"
)

// An intake is the sink of one file: it derives and stores what a format reads.
type intake struct {
	ctx     context.Context
	run     *importRun
	format  source.Format
	path    string
	open    []*sessionIntake
	sealed  []*store.Sealed
	refused int
	failed  error // first fault of the store
}

func (in *intake) Session(o archive.Origin, native string) (source.SessionSink, error) {
	w, err := in.run.e.store.NewRevision(archive.MakeSessionID(o, native))
	if err != nil {
		return nil, in.fail(err)
	}
	s := &sessionIntake{in: in, w: w, d: archive.NewDeriver(o)}
	in.open = append(in.open, s)
	return s, nil
}

func (in *intake) Problem(p source.Problem) {
	p.File = in.path
	in.run.report.problem(p)
}

func (in *intake) fail(err error) error {
	if in.failed == nil {
		in.failed = err
	}
	return err
}

// abort drops what was not committed. What cannot be dropped now is dropped when
// the store is next opened.
func (in *intake) abort() {
	var errs []error
	for _, s := range in.open {
		if !s.done {
			errs = append(errs, s.w.Abort())
		}
	}
	for _, s := range in.sealed {
		errs = append(errs, s.Abort())
	}
	if err := errors.Join(errs...); err != nil {
		in.run.e.opts.Logger.Warn("revision not dropped", "error", err)
	}
}

// A sessionIntake is the sink of one session.
type sessionIntake struct {
	in   *intake
	w    *store.Revision
	d    *archive.Deriver
	said bool // a block was seen
	done bool
}

func (s *sessionIntake) Message(m *archive.Message) error {
	s.in.run.e.reach("message")
	if err := s.in.ctx.Err(); err != nil {
		return err
	}
	if err := s.d.Add(m); err != nil {
		return err
	}
	s.said = s.said || len(m.Blocks) > 0
	if err := s.w.Message(m); err != nil {
		return s.in.fail(err)
	}
	return nil
}

func (s *sessionIntake) Finish(head *archive.Session) error {
	s.done = true
	if !s.said {
		s.in.refused++
		return s.w.Abort()
	}
	s.d.Finish(head)
	sealed, err := s.w.Seal(head, s.in.format.Fingerprint())
	if err != nil {
		return s.in.fail(err)
	}
	sealed.Path = s.in.path
	s.in.sealed = append(s.in.sealed, sealed)
	return nil
}

// A faultReader remembers the fault of the reader below it, to tell a source that
// cannot be read from a store that cannot be written.
type faultReader struct {
	r   io.Reader
	err error
}

func (f *faultReader) Read(p []byte) (int, error) {
	n, err := f.r.Read(p)
	if err != nil && err != io.EOF {
		f.err = err
	}
	return n, err
}
