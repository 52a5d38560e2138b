// Package zstdx is the only door to the zstd library: small frames with an
// optional dictionary, bounded streams, and dictionaries built from samples.
//
// Laws: nothing here starts a goroutine; no input, however hostile, panics or
// makes it produce or hold more than the caller allowed; equal input gives equal
// frames. A decoder that panicked inside is thrown away and the panic becomes
// [ErrCorrupt].
//
// It does not know what is inside a frame, and its frames carry the library's own
// content checksum only: who stores them checks them with a checksum of its own.
package zstdx

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/klauspost/compress/zstd"
)

var (
	// ErrCorrupt is what a damaged or foreign frame answers.
	ErrCorrupt = errors.New("zstd: corrupt frame")
	// ErrLimit is what a frame answers that would pass the caller's limits.
	ErrLimit = errors.New("zstd: limit passed")
)

// A Level trades time for size.
type Level int

const (
	Fast Level = iota
	Default
	Better
	Best
)

func (l Level) encoder() zstd.EncoderLevel {
	switch l {
	case Fast:
		return zstd.SpeedFastest
	case Better:
		return zstd.SpeedBetterCompression
	case Best:
		return zstd.SpeedBestCompression
	}
	return zstd.SpeedDefault
}

// MagicLen is how many bytes IsFrame needs to see.
const MagicLen = 4

// IsFrame reports whether head begins with the magic number of a zstd frame. A
// file may also begin with skippable frames; such a file is not recognised.
func IsFrame(head []byte) bool {
	return bytes.HasPrefix(head, []byte{0x28, 0xb5, 0x2f, 0xfd})
}

// wrap turns an error of the library into one of ours.
func wrap(err error) error {
	switch {
	case errors.Is(err, zstd.ErrDecoderSizeExceeded), errors.Is(err, zstd.ErrWindowSizeExceeded),
		errors.Is(err, zstd.ErrFrameSizeExceeded):
		return fmt.Errorf("%w: %w", ErrLimit, err)
	}
	return fmt.Errorf("%w: %w", ErrCorrupt, err)
}

// recovered turns a panic into an error; it is for deferred use.
func recovered(err *error) bool {
	if r := recover(); r != nil {
		*err = fmt.Errorf("%w: decoder panic: %v", ErrCorrupt, r)
		return true
	}
	return false
}
