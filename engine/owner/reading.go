package owner

import (
	"context"
	"errors"
	"io"
	"iter"

	"github.com/hansard-search/hansard/engine"
)

// A Reading is engine.Reading from whichever process. Close it.
type Reading struct {
	Head engine.ReadingHead

	a   *Archive
	ctx context.Context // of the Read that this answers
	ref string
	in  stream
}

// Read is engine.Engine's.
func (a *Archive) Read(ctx context.Context, ref string) (*Reading, error) {
	r := &Reading{a: a, ctx: ctx, ref: ref}
	if err := r.open(0); err != nil {
		return nil, err
	}
	r.Head = *r.in.head()
	return r, nil
}

func (r *Reading) open(skip int64) error {
	return r.a.do(r.ctx, func(b backend) error {
		in, err := b.read(r.ctx, r.ref, skip)
		if err != nil {
			return closing(b, err)
		}
		r.in = in
		return nil
	})
}

// Messages yields the messages that the reference points at, in transcript order. An
// error ends the sequence. It may be ranged over once.
func (r *Reading) Messages() iter.Seq2[*engine.MessageRow, error] {
	return func(yield func(*engine.MessageRow, error) bool) {
		for seen := int64(0); ; {
			var lost error
			for m, err := range r.in.messages() {
				if isLost(err) {
					lost = err
					break
				}
				if err != nil {
					yield(nil, plain(err))
					return
				}
				seen++
				if !yield(m, nil) {
					return
				}
			}
			if lost == nil {
				return
			}
			if err := r.resume(seen); err != nil {
				yield(nil, err)
				return
			}
		}
	}
}

// resume goes on after the first seen messages, at the next owner.
func (r *Reading) resume(seen int64) error {
	if err := errors.Join(r.in.Close(), r.open(seen)); err != nil {
		return err
	}
	now := r.in.head()
	if now.NormalizedRef != r.Head.NormalizedRef || now.TotalMessages != r.Head.TotalMessages {
		return &engine.Error{Code: engine.CodeArchiveBusy, Message: "the session changed while it was read, and the process that read it ended",
			Hint: "read it again", Retryable: true}
	}
	return nil
}

// Close lets go of the session.
func (r *Reading) Close() error { return r.in.Close() }

// A rawReader reads source bytes from one owner after the other.
type rawReader struct {
	a    *Archive
	ctx  context.Context // of the Raw that this answers
	ref  string
	seen int64
	in   io.ReadCloser
}

func (r *rawReader) open() error {
	return r.a.do(r.ctx, func(b backend) error {
		in, err := b.raw(r.ctx, r.ref, r.seen)
		if err != nil {
			return closing(b, err)
		}
		r.in = in
		return nil
	})
}

func (r *rawReader) Read(p []byte) (int, error) {
	for {
		n, err := r.in.Read(p)
		r.seen += int64(n)
		if n > 0 || !isLost(err) {
			if err != nil && err != io.EOF {
				err = plain(err)
			}
			return n, err
		}
		if err := errors.Join(r.in.Close(), r.open()); err != nil {
			return 0, err
		}
	}
}

func (r *rawReader) Close() error { return r.in.Close() }
