package segments

import (
	"errors"
	"fmt"
)

var (
	// ErrCorrupt marks bytes that cannot be what was written.
	ErrCorrupt = errors.New("segments: corrupt")
	// ErrVersion marks a file of a newer format than this program reads.
	ErrVersion = errors.New("segments: newer format")
	// ErrClosed marks the use of a segment whose last reference is gone.
	ErrClosed = errors.New("segments: closed")
)

// A CorruptError names what is damaged, so that one file can be put aside and its
// sessions indexed again. It unwraps to [ErrCorrupt].
type CorruptError struct {
	File    string
	Section string // tag and name, or "footer", "table", "page checksums"
	Page    int64  // number of the damaged 64 KiB page, or -1
	Reason  string
}

func (e *CorruptError) Error() string {
	if e.Page >= 0 {
		return fmt.Sprintf("segment %s: %s: page %d: %s", e.File, e.Section, e.Page, e.Reason)
	}
	return fmt.Sprintf("segment %s: %s: %s", e.File, e.Section, e.Reason)
}

// Unwrap makes errors.Is(err, ErrCorrupt) true.
func (e *CorruptError) Unwrap() error { return ErrCorrupt }

// corrupt makes a CorruptError without a page.
func corrupt(file, section, format string, args ...any) error {
	return &CorruptError{File: file, Section: section, Page: -1, Reason: fmt.Sprintf(format, args...)}
}
