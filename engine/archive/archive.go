// Package archive is the data model: what a session, a message, a block and the
// units derived from them are, how they are identified, and how their derived
// facts are computed. It knows no file format and touches no disk.
//
// Laws: values are plain data; a time is Unix milliseconds UTC or [NoTime];
// text is valid UTF-8 without NUL; equal input derives equal values.
package archive

import "math"

// NoTime is the time of something whose time is unknown. It is below every real time.
const NoTime int64 = math.MinInt64

// A SessionID is "<origin>:<native id>". An origin holds no colon, so the first
// colon separates the two.
type SessionID string

// MakeSessionID joins an origin and a native id.
func MakeSessionID(o Origin, native string) SessionID {
	return SessionID(string(o) + ":" + native)
}

// Tri is a fact that may be unknown.
type Tri uint8

const (
	Unknown Tri = iota
	False
	True
)

// TriOf is the known value of b.
func TriOf(b bool) Tri {
	if b {
		return True
	}
	return False
}

// An Int is a number that may be missing; the zero value is missing.
type Int struct {
	Value int64
	Known bool
}

// IntOf is the known number v.
func IntOf(v int64) Int { return Int{v, true} }
