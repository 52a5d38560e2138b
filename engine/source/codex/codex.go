// Package codex reads the rollouts of Codex CLI.
//
// A rollout is a stream of records {timestamp, type, payload}; files from before
// version 0.40 hold the bare payloads behind a head of their own. A file is one
// session, named by its first session_meta.
//
// Laws:
//   - Read streams and reads the file twice. The first pass keeps what a reader
//     cannot know when it meets a record: which texts of the event stream the
//     item stream repeats, how calls ended, where a replayed history ends, and
//     which reply the tokens of a request belong to. It holds some tens of bytes
//     for a call or a reply and one bit for a record, never a text.
//   - The item stream (response_item) is canonical. A text of the event stream
//     becomes a message only if its turn holds fewer items with that text.
//   - Each call and each result is a message of its own.
//   - Rows are inherited only on the evidence of a recorded parent and a recorded
//     end of the replay, see [replay]; else they stay the file's own.
//
// What it does not do: it reads no side files. Thread names of the session index
// come in through [Format.Title].
package codex

import (
	"context"

	"github.com/hansard-search/hansard/engine/archive"
	"github.com/hansard-search/hansard/engine/source"
)

// Format reads rollouts. The zero value is ready to use.
type Format struct {
	// Title gives the name that the session index holds for a thread, or "". It
	// may be nil. A name recorded in the rollout itself goes first.
	Title func(native string) string
}

var _ source.Format = Format{}

// Name is "codex".
func (Format) Name() string { return "codex" }

// Fingerprint names the version of this parser.
func (Format) Fingerprint() string { return "codex/1" }

// Read parses one rollout.
func (fm Format) Read(ctx context.Context, f source.File, lim source.Limits, sink source.Sink) (source.Records, error) {
	sv, err := takeSurvey(ctx, f, lim)
	if err != nil {
		return source.Records{}, err
	}
	r := reader{sink: sink, survey: sv, file: f.Path}
	n, err := r.run(ctx, f, lim)
	if err != nil {
		return n, err
	}
	return n, r.finish(fm.Title)
}

// origin is what every session of this package comes from.
const origin = archive.Codex
