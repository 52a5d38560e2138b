// Package claudecode reads the session files of Claude Code:
// projects/<folder>/<session>.jsonl, and the files of its agents beside or below.
//
// A file is read twice. The survey learns what only the whole file tells: which
// sessions it holds, which records repeat, where a reply that was streamed in
// several records ends, and how background commands ended. The second pass streams
// the messages out.
//
// Laws: a file's records are split by their sessionId, and each group is one
// session (see names.go). The records of one API reply are one message at the place
// of the first, with the usage of the last. Records repeated with the same uuid
// count once. Every record is counted as stored, skipped or rejected, exactly.
//
// Bounds: memory grows with the number of distinct ids (uuids and reply ids, about
// 150 bytes each), of events (at most maxEvents per session, each of bounded size),
// and with what must wait for a reply's last record: at most maxHeld bytes of text,
// beyond which the oldest reply is closed and its later records become a message of
// their own. Records of one reply further apart than maxGap messages are not joined.
//
// Not done here: which rows are replays of another file. Only records that name the
// session they were forked from are marked as inherited; equal uuids across files
// are for whoever sees both.
package claudecode

import (
	"context"
	"fmt"
	"io"
	"path"
	"strings"

	"github.com/hansard-search/hansard/engine/internal/jsonx"
	"github.com/hansard-search/hansard/engine/source"
)

// Format reads Claude Code's session files. The zero value is ready and safe for
// concurrent use.
type Format struct{}

var _ source.Format = Format{}

// Name implements source.Format.
func (Format) Name() string { return "claude-code" }

// Fingerprint implements source.Format. It changes whenever the same bytes give
// other sessions.
func (Format) Fingerprint() string { return "claude-code/1" }

// Sniff takes a file that has, among its first records, one that only Claude Code
// writes: a turn with its place in the conversation, or a record of its own kinds.
func (Format) Sniff(name string, head []byte) bool {
	shapes := source.Peek(head, 12)
	if source.Foreign(name, head, shapes) != "" {
		return false
	}
	for _, s := range shapes {
		if s.Has("payload") {
			return false // Codex's envelope
		}
		if own(s) {
			return true
		}
	}
	return false
}

func own(s source.Shape) bool {
	if s.Array || !s.Has("type") {
		return false
	}
	switch s.Keys["type"] {
	case "user", "assistant":
		return s.Has("message") && (s.Has("sessionId") || s.Has("uuid") || s.Has("parentUuid") || s.Has("cwd"))
	case "summary":
		return s.Has("summary") && (s.Has("leafUuid") || len(s.Keys) <= 3)
	case "file-history-snapshot":
		return s.Has("snapshot")
	}
	return s.Has("sessionId") && (s.Has("uuid") || knownTypes[s.Keys["type"]])
}

// Read implements source.Format.
func (Format) Read(ctx context.Context, f source.File, lim source.Limits, sink source.Sink) (source.Records, error) {
	sv := newSurvey(stem(f.Path))
	if _, err := eachRecord(ctx, f, lim, sv.record); err != nil {
		return source.Records{}, err
	}
	sv.finish()

	r := newReader(f, lim, sink, sv)
	consumed, err := eachRecord(ctx, f, lim, r.record)
	r.count.Consumed = consumed
	if err != nil {
		return r.count, err
	}
	return r.count, r.finish()
}

// stem is the file's name without its folders and endings: the id that a session
// has when its records name none, and the one that its own records name.
func stem(name string) string {
	base := path.Base(strings.ReplaceAll(name, `\`, "/"))
	for _, ext := range []string{".zst", ".jsonl", ".json", ".txt", ".ndjson"} {
		base = strings.TrimSuffix(base, ext)
	}
	return base
}

// eachRecord decodes the file once, values and broken records alike, and passes
// each with its number, counted from zero. It returns how far the file need not be
// read again when it grows.
func eachRecord(ctx context.Context, f source.File, lim source.Limits, each func(n int64, rec jsonx.Record) error) (consumed int64, err error) {
	in, err := f.Open()
	if err != nil {
		return 0, fmt.Errorf("%s: %w", f.Path, err)
	}
	defer func() {
		if e := in.Close(); err == nil && e != nil {
			err = fmt.Errorf("%s: %w", f.Path, e)
		}
	}()
	dec := jsonx.NewDecoder(in, jsonx.Options{RecordBytes: lim.RecordBytes, Depth: lim.Depth})
	for n := int64(0); ; n++ {
		if n%256 == 0 {
			if err := ctx.Err(); err != nil {
				return dec.Consumed(), err
			}
		}
		rec, err := dec.Next()
		if err == io.EOF {
			return dec.Consumed(), nil
		}
		if err != nil {
			return dec.Consumed(), fmt.Errorf("%s: %w", f.Path, err)
		}
		if err := each(n, rec); err != nil {
			return dec.Consumed(), err
		}
	}
}
