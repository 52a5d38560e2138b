// Package source turns archive files into sessions. Each format is a package
// below it; this one holds what they share: the file as they see it, the sink
// they write to, limits, problems, and the discovery of files under a home.
//
// Laws: a reader streams, and holds no more than its limits; one bad record costs
// one record and is reported; nothing here reads the environment.
package source

import (
	"context"
	"errors"
	"io"

	"github.com/hansard-search/hansard/engine/archive"
	"github.com/hansard-search/hansard/engine/internal/zstdx"
)

// A File is a fixed view of one source file: its bytes as they were when it was
// opened, decompressed. Open may be called more than once and gives equal bytes.
type File struct {
	Path    string // where it lies; a label, never opened by a format
	Size    int64  // decompressed bytes when known, else -1
	ModTime int64  // Unix milliseconds, archive.NoTime when unknown
	Open    func() (io.ReadCloser, error)
	// Sidecar reads a small file that belongs to this one, by a path relative to
	// this one's folder with forward slashes, and gives at most limit bytes of it.
	// It never leaves the folder that the discovery was confined to. It may be nil.
	Sidecar func(rel string, limit int64) ([]byte, error)
}

// A Format reads one kind of archive file.
type Format interface {
	// Name is the format's short name, for example "codex".
	Name() string
	// Fingerprint names the parser's version; it is part of every session's
	// content hash, so that an improved parser updates old sessions.
	Fingerprint() string
	// Sniff reports whether the file is of this format from its path and first
	// bytes (up to 64 KiB). It must not take the files of other agents.
	Sniff(path string, head []byte) bool
	// Read parses the file into the sink. It returns an error only if the file
	// cannot be read at all or ctx ends; bad records go to Sink.Problem. Records
	// counts every JSON value (or broken line) of the file exactly once.
	Read(ctx context.Context, f File, lim Limits, sink Sink) (Records, error)
}

// Limits bound what one file may cost. The zero value means the defaults.
type Limits struct {
	RecordBytes int // longest record; default 64 MiB
	Depth       int // deepest JSON nesting; default 512
}

// A Sink takes the sessions of a file.
type Sink interface {
	// Session opens a session by its native id. A reader may have several open
	// at once, and opens each id at most once per file.
	Session(o archive.Origin, native string) (SessionSink, error)
	// Problem reports a record that was rejected.
	Problem(p Problem)
}

// A SessionSink takes the messages of one session in transcript order.
type SessionSink interface {
	// Message takes the next message. The importer sets Position; the sink does
	// not keep m. It fills what derivation adds to a message (Words, and Type and
	// Material where the importer left them empty).
	Message(m *archive.Message) error
	// Finish ends the session with its head. A session without any message is
	// refused by the sink, not an error.
	Finish(s *archive.Session) error
}

// Records counts the records of a file: Read = Stored + Skipped + Rejected.
type Records struct {
	Read     int64 `json:"read"`
	Stored   int64 `json:"stored"`   // became messages, blocks, events or session fields
	Skipped  int64 `json:"skipped"`  // understood and not kept, or of an unknown type
	Rejected int64 `json:"rejected"` // could not be parsed; each has a Problem
	Torn     bool  `json:"-"`        // the last line has no newline and does not parse: it may still be being written; it is counted in no other number
	Consumed int64 `json:"-"`        // bytes up to the end of the last complete record
}

// A Problem is one record that was rejected.
type Problem struct {
	File   string `json:"file"`
	Line   int64  `json:"line"`   // 1-based
	Offset int64  `json:"offset"` // byte offset of the record in the decompressed file
	Reason string `json:"reason"`
	// Code is "LIMIT" where the record or the file would cost more than is allowed.
	Code string `json:"code,omitempty"`
}

// CodeLimit is the code of a problem with something too large to be read.
const CodeLimit = "LIMIT"

// LimitCode is CodeLimit for what is too large, else nothing.
func LimitCode(tooLarge bool) string {
	if tooLarge {
		return CodeLimit
	}
	return ""
}

// FileProblem describes a file that cannot be read.
func FileProblem(file string, err error) Problem {
	return Problem{File: file, Reason: err.Error(), Code: LimitCode(errors.Is(err, zstdx.ErrLimit))}
}
