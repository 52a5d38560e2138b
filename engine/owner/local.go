package owner

import (
	"context"
	"errors"
	"io"
	"iter"

	"github.com/hansard-search/hansard/engine"
	"github.com/hansard-search/hansard/engine/store"
)

// A local backend is the engine in this process, owned by it or, where nothing can be
// written, only read.
type local struct {
	eng  *engine.Engine
	lock *store.Lock // nil when only read
	srv  *server     // nil when nobody can be answered
}

// shut ends the engine and then lets go of the archive.
func (l *local) shut() error {
	if l.srv != nil {
		l.srv.drain()
	}
	err := l.eng.Close()
	if l.srv != nil && l.lock.InPlace() == nil {
		err = errors.Join(err, l.srv.place.forget())
	}
	if l.lock != nil {
		err = errors.Join(err, l.lock.Close())
	}
	return err
}

// lost is why this process owns the archive no longer: its folder was moved or
// replaced. It stays so until the archive is closed, and nobody is answered any more.
func (l *local) lost() error {
	if l.lock == nil || l.lock.InPlace() == nil {
		return nil
	}
	if l.srv != nil {
		l.srv.lost()
	}
	return l.eng.Err()
}

// Close ends the use for one call; the engine stays.
func (l *local) Close() error { return nil }

func (l *local) search(ctx context.Context, req engine.SearchRequest) (*engine.SearchEnvelope, error) {
	return l.eng.Search(ctx, req)
}

func (l *local) units(ctx context.Context, req engine.UnitRequest) (*engine.UnitEnvelope, error) {
	return l.eng.Units(ctx, req)
}

func (l *local) stats(ctx context.Context) (*engine.Stats, error)       { return l.eng.Stats(ctx) }
func (l *local) check(ctx context.Context) (*engine.CheckReport, error) { return l.eng.Check(ctx) }

func (l *local) rebuild(ctx context.Context, progress func(engine.Progress)) (*engine.RebuildReport, error) {
	return l.eng.Rebuild(ctx, progress)
}

func (l *local) load(ctx context.Context, req engine.ImportRequest) (*engine.Report, error) {
	return l.eng.Import(ctx, req)
}

func (l *local) read(ctx context.Context, ref string, skip int64) (stream, error) {
	r, err := l.eng.Read(ctx, ref)
	if err != nil {
		return nil, err
	}
	return &localStream{r, skip}, nil
}

func (l *local) raw(ctx context.Context, ref string, skip int64) (io.ReadCloser, error) {
	r, err := l.eng.Raw(ctx, ref)
	if err != nil {
		return nil, err
	}
	if _, err := io.CopyN(io.Discard, r, skip); err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return r, nil
}

type localStream struct {
	r    *engine.Reading
	skip int64
}

func (s *localStream) head() *engine.ReadingHead { return &s.r.Head }

func (s *localStream) messages() iter.Seq2[*engine.MessageRow, error] {
	return func(yield func(*engine.MessageRow, error) bool) {
		skip := s.skip
		for m, err := range s.r.Messages() {
			if err == nil && skip > 0 {
				skip--
				continue
			}
			if !yield(m, err) {
				return
			}
		}
	}
}

func (s *localStream) Close() error {
	s.r.Close()
	return nil
}
