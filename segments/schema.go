package segments

import (
	"cmp"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/hansard-search/hansard/lexer"
	"github.com/hansard-search/hansard/postings"
)

// Kind is what a column holds.
type Kind uint8

const (
	Keyword Kind = iota // byte strings, any number per row
	Number              // an int64, one or none per row
)

func (k Kind) String() string {
	if k == Keyword {
		return "keyword"
	}
	return "number"
}

// A Column is one field of one unit. Names are unique in a schema.
type Column struct {
	Name string // "session.repo"
	Unit postings.Unit
	Kind Kind
}

// A Value is one value of a row: of the column with that index in the schema.
type Value struct {
	Column int
	Text   string // for Keyword; may be empty, which is a value too
	Number int64  // for Number
}

// A Ref names what a session ordinal stands for: a stored session's number and
// the revision that was indexed.
type Ref struct{ No, Rev uint64 }

// An ID names a segment file for good. The footer carries it, so that one file
// under another's name is noticed.
type ID [16]byte

func (id ID) String() string { return hex.EncodeToString(id[:]) }

// Info is what a segment says about itself.
type Info struct {
	ID       ID
	Version  uint32 // of the format
	Analyzer string
	Rows     [postings.Units]int
	Bytes    int64 // length of the file
	Blocks   int64 // searchable blocks that are not inherited
	Tokens   int64 // and their tokens
}

// Options configure a [Writer]. Only Schema is needed.
type Options struct {
	Schema   []Column
	Analyzer string // empty means lexer.Name
	ID       ID     // zero means a random one

	// SpillBytes bounds the memory of the writer: beyond it, what was gathered
	// moves to a fragment in TempDir. One block always fits whole, so the real
	// bound is SpillBytes plus twice the longest block. 0 means 64 MiB.
	SpillBytes int
	FS         vfs.FS // of the temporary files; nil means the disk
	TempDir    string // empty means that nothing is spilled
}

func (o Options) withDefaults() Options {
	o.Analyzer = cmp.Or(o.Analyzer, lexer.Name)
	o.SpillBytes = min(cmp.Or(o.SpillBytes, 64<<20), maxArena)
	return o
}

func (o Options) validate() error {
	seen := make(map[string]bool, len(o.Schema))
	for i, c := range o.Schema {
		switch {
		case c.Name == "" || len(c.Name) > maxName:
			return fmt.Errorf("segments: Schema[%d]: bad name %q", i, c.Name)
		case seen[c.Name]:
			return fmt.Errorf("segments: Schema[%d]: column %q twice", i, c.Name)
		case c.Unit >= postings.Units:
			return fmt.Errorf("segments: Schema[%d]: unknown unit %d", i, c.Unit)
		case c.Kind > Number:
			return fmt.Errorf("segments: Schema[%d]: unknown kind %d", i, c.Kind)
		}
		seen[c.Name] = true
	}
	if len(o.Analyzer) > maxName {
		return errors.New("segments: Analyzer: name too long")
	}
	return nil
}

// randomID returns an id that no other segment has.
func randomID() (id ID, err error) {
	if _, err = rand.Read(id[:]); err != nil {
		return id, fmt.Errorf("segments: random id: %w", err)
	}
	return id, nil
}
