package owner

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"iter"

	"github.com/hansard-search/hansard/engine"
)

// A backend gives the engine's answers. A lostError means that it has gone, and that
// the call can be repeated on the next one.
type backend interface {
	search(ctx context.Context, req engine.SearchRequest) (*engine.SearchEnvelope, error)
	units(ctx context.Context, req engine.UnitRequest) (*engine.UnitEnvelope, error)
	stats(ctx context.Context) (*engine.Stats, error)
	check(ctx context.Context) (*engine.CheckReport, error)
	rebuild(ctx context.Context, progress func(engine.Progress)) (*engine.RebuildReport, error)
	load(ctx context.Context, req engine.ImportRequest) (*engine.Report, error)
	read(ctx context.Context, ref string, skip int64) (stream, error)
	raw(ctx context.Context, ref string, skip int64) (io.ReadCloser, error)
	io.Closer
}

// A stream is a reading whose first messages are left out.
type stream interface {
	head() *engine.ReadingHead
	messages() iter.Seq2[*engine.MessageRow, error]
	io.Closer
}

// ask makes a call whose answer is one value.
func ask[T any](ctx context.Context, c *conn, req request, progress func(engine.Progress)) (*T, error) {
	stop := context.AfterFunc(ctx, c.leave(req.Call))
	defer stop()
	if err := c.send(kindRequest, req); err != nil {
		return nil, c.broken(ctx, err)
	}
	_, payload, err := c.answer(ctx, progress)
	if err != nil {
		return nil, err
	}
	out := new(T)
	if err := json.Unmarshal(payload, out); err != nil {
		return nil, unintelligible(err)
	}
	return out, nil
}

func (c *conn) search(ctx context.Context, req engine.SearchRequest) (*engine.SearchEnvelope, error) {
	return ask[engine.SearchEnvelope](ctx, c, request{Call: callSearch, Search: searchToWire(req)}, nil)
}

func (c *conn) units(ctx context.Context, req engine.UnitRequest) (*engine.UnitEnvelope, error) {
	return ask[engine.UnitEnvelope](ctx, c, request{Call: callUnits, Units: unitsToWire(req)}, nil)
}

func (c *conn) stats(ctx context.Context) (*engine.Stats, error) {
	return ask[engine.Stats](ctx, c, request{Call: callStats}, nil)
}

func (c *conn) check(ctx context.Context) (*engine.CheckReport, error) {
	return ask[engine.CheckReport](ctx, c, request{Call: callCheck}, nil)
}

func (c *conn) rebuild(ctx context.Context, progress func(engine.Progress)) (*engine.RebuildReport, error) {
	return ask[engine.RebuildReport](ctx, c, request{Call: callRebuild}, progress)
}

func (c *conn) load(ctx context.Context, req engine.ImportRequest) (*engine.Report, error) {
	return ask[engine.Report](ctx, c, request{Call: callImport, Import: importToWire(req)}, req.Progress)
}

func (c *conn) read(ctx context.Context, ref string, skip int64) (stream, error) {
	s := &remoteStream{c: c, ctx: ctx, stop: context.AfterFunc(ctx, c.leave(callRead))}
	payload, err := s.begin(request{Call: callRead, Ref: []byte(ref), Skip: skip})
	if err == nil {
		if s.first, err = headFromWire(payload); err != nil {
			err = unintelligible(err)
		}
	}
	if err != nil {
		s.stop()
		return nil, err
	}
	return s, nil
}

// A remoteStream is an answer that comes in pieces.
type remoteStream struct {
	c     *conn
	ctx   context.Context // of the call that this answers
	stop  func() bool
	first engine.ReadingHead
	ended bool
	rest  []byte // of raw bytes
}

func (s *remoteStream) begin(req request) ([]byte, error) {
	if err := s.c.send(kindRequest, req); err != nil {
		return nil, s.c.broken(s.ctx, err)
	}
	_, payload, err := s.c.answer(s.ctx, nil)
	return payload, err
}

func (s *remoteStream) head() *engine.ReadingHead { return &s.first }

// next is the next piece, valid until the one after; nil at the end.
func (s *remoteStream) next() ([]byte, error) {
	if s.ended {
		return nil, nil
	}
	kind, payload, err := s.c.answer(s.ctx, nil)
	if err != nil || kind == kindResult {
		s.ended = true
		return nil, err
	}
	return payload, nil
}

func (s *remoteStream) messages() iter.Seq2[*engine.MessageRow, error] {
	return func(yield func(*engine.MessageRow, error) bool) {
		for {
			b, err := s.next()
			if b == nil && err == nil {
				return
			}
			var p messagePart
			if err == nil {
				if err = json.Unmarshal(b, &p); err != nil || p.Row == nil {
					err = unintelligible(err)
				}
			}
			if err != nil {
				yield(nil, err)
				return
			}
			if !yield(p.message(), nil) {
				return
			}
		}
	}
}

func (s *remoteStream) Close() error {
	s.stop()
	return s.c.Close()
}

func (c *conn) raw(ctx context.Context, ref string, skip int64) (io.ReadCloser, error) {
	s := &remoteStream{c: c, ctx: ctx, stop: context.AfterFunc(ctx, c.leave(callRaw))}
	payload, err := s.begin(request{Call: callRaw, Ref: []byte(ref), Skip: skip})
	if err != nil {
		s.stop()
		return nil, err
	}
	s.rest = bytes.Clone(payload)
	return s, nil
}

// Read implements io.Reader for raw bytes.
func (s *remoteStream) Read(p []byte) (int, error) {
	for len(s.rest) == 0 {
		b, err := s.next()
		if err != nil {
			return 0, err
		}
		if b == nil {
			return 0, io.EOF
		}
		s.rest = append(s.rest[:0], b...)
	}
	n := copy(p, s.rest)
	s.rest = s.rest[n:]
	return n, nil
}
