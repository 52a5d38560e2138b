package store

import (
	"encoding/hex"
	"fmt"

	"github.com/hansard-search/hansard/engine/archive"
)

// A No is the store's number of a session. It is given once and for ever to a
// session id; numbers start at 1 and have gaps.
type No uint64

// A RawID is the SHA-256 of source bytes. The zero value means none.
type RawID [32]byte

func (id RawID) String() string { return hex.EncodeToString(id[:]) }

// ParseRawID reads what String writes.
func ParseRawID(s string) (RawID, error) {
	b, err := hex.DecodeString(s)
	if err != nil || len(b) != len(RawID{}) {
		return RawID{}, fmt.Errorf("raw id %q is not 64 hexadecimal digits", s)
	}
	return RawID(b), nil
}

// A Summary is what the pointer of a session says of it.
type Summary struct {
	No          No
	ID          archive.SessionID
	Rev         uint64 // revision that the session stands at
	Generation  uint64 // commit that put it there
	Hash        [32]byte
	Created     int64
	Updated     int64
	Messages    int64 // stored, inherited ones too
	Blocks      int64
	Bytes       int64 // of messages, before compression
	HeadBytes   int64
	Title       string
	Fingerprint string              // of the parser
	Path        string              // source file
	Raw         []RawID             // source bytes that are kept
	Parents     []archive.SessionID // what it hangs on, sorted, distinct; they need not be in the store
}

// SortKey is the session's time, as archive.Session.SortKey.
func (s *Summary) SortKey() int64 {
	if s.Updated != archive.NoTime {
		return s.Updated
	}
	return s.Created
}

// A Cursor says how far a source file was imported. Everything but Path is the
// importer's; Generation is set by the store.
type Cursor struct {
	Path        string
	Size        int64 // of the file on disk
	ModTime     int64 // Unix milliseconds, archive.NoTime when unknown
	Length      int64 // decompressed bytes of the file; 0 when unknown
	Consumed    int64 // decompressed bytes up to the end of the last complete record
	Raw         RawID // bytes that the file had
	Fingerprint string
	Note        []byte // whatever else the importer wants back
	Generation  uint64
}

// Dirty is a session that the index does not have as the store has it.
type Dirty struct {
	No         No
	Rev        uint64 // revision at the mark; 0 when the session was deleted
	Generation uint64 // of the last mark
}

// Deleted reports whether the session is gone.
func (d Dirty) Deleted() bool { return d.Rev == 0 }

// Ref is the mark to clear once its session is indexed.
func (d Dirty) Ref() Ref { return Ref{d.No, d.Generation} }

// A Ref is a dirty mark as it was read. A mark that was set again since then is
// another mark.
type Ref struct {
	No         No
	Generation uint64
}

// A SegmentRecord is one live segment of the index.
type SegmentRecord struct {
	Name     string
	ID       uint64
	Sessions int64
	Blocks   int64
	Bytes    int64
	Level    int
	Dead     []byte // sessions of the segment that no longer live in it; the index's own coding
}

// Status is what a commit did with a session.
type Status uint8

const (
	Added      Status = iota + 1
	Updated           // a new revision replaced the old one
	Unchanged         // equal to what is stored; nothing was written
	Superseded        // Prefer kept the old revision
)

func (s Status) String() string {
	switch s {
	case Added:
		return "added"
	case Updated:
		return "updated"
	case Unchanged:
		return "unchanged"
	case Superseded:
		return "superseded"
	}
	return fmt.Sprintf("status %d", uint8(s))
}

// An Outcome is what a commit did with one of its sessions.
type Outcome struct {
	Status  Status
	Summary Summary // as stored after the commit
}

// A place is where an item stands in a session: blk is 0 for the fields of message
// msg and j+1 for its block j.
type place struct{ msg, blk uint32 }

func (p place) less(q place) bool {
	return p.msg < q.msg || p.msg == q.msg && p.blk < q.blk
}
