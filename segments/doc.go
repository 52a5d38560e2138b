// Package segments builds and reads immutable index files. One file is one
// segment: some sessions with their messages, blocks and actions as dense
// ordinals, every session's rows contiguous and in transcript order, with the
// posting lists of their terms, their columns and the spans that tie the units
// together. [Writer] makes a segment, [Merge] makes one out of several, [Segment]
// reads one, [View] hides its dead sessions, [Check] recounts it. format.go is
// the law of the bytes; docs/format.md draws them.
//
// Laws: a segment is never changed after it is written, and never truncated while
// it is mapped. Equal sessions in equal order give equal bytes (given an equal
// id), whether they came through one writer, a writer that spilled or a merge.
// Every page is verified against its CRC-32C when it is first touched, every
// length is checked before memory is taken for it, and damage is a
// [*CorruptError] that names file and section; nothing panics on bad bytes.
//
// A Segment and a View are safe for concurrent readers. What they return points
// into the file and is valid until the last reference is given back.
//
// The package does not know which sessions are current and does not choose what to
// merge: its caller does.
package segments
