package faultfs

import (
	"slices"
	"sync/atomic"
	"time"
)

// A Rule is asked before each operation. An error lets the operation fail with it.
type Rule func(Op) error

// A Short error lets a write keep its first Keep bytes and then fail with Err.
type Short struct {
	Keep int
	Err  error
}

func (s *Short) Error() string { return s.Err.Error() }

// Unwrap gives the error that the writer sees.
func (s *Short) Unwrap() error { return s.Err }

// A Match chooses operations.
type Match func(Op) bool

// On chooses the given kinds of operations on the given kinds of files; without
// files, on all.
func On(ops []Kind, files ...FileKind) Match {
	return func(o Op) bool {
		return slices.Contains(ops, o.Kind) && (len(files) == 0 || slices.Contains(files, o.File))
	}
}

// Writes chooses what may change the disk.
func Writes(o Op) bool { return o.Kind.Writes() }

// Fail lets the operations that match fail.
func Fail(m Match, err error) Rule {
	return func(o Op) error {
		if m(o) {
			return err
		}
		return nil
	}
}

// Nth lets the n-th operation that matches fail, from 1 on; with forever, all later
// ones too. hit, which may be nil, is told of those.
func Nth(n int64, forever bool, m Match, err error, hit func(Op)) Rule {
	var seen atomic.Int64
	return func(o Op) error {
		if !m(o) {
			return nil
		}
		i := seen.Add(1)
		if i < n || i > n && !forever {
			return nil
		}
		if hit != nil {
			hit(o)
		}
		return err
	}
}

// Cut lets the n-th write that matches keep half of its bytes and fail.
func Cut(n int64, m Match, err error) Rule {
	var seen atomic.Int64
	return func(o Op) error {
		if o.Kind != Write || !m(o) || seen.Add(1) != n {
			return nil
		}
		return &Short{Keep: o.Bytes / 2, Err: err}
	}
}

// Slow delays the operations that match.
func Slow(m Match, d time.Duration) Rule {
	return func(o Op) error {
		if m(o) {
			time.Sleep(d)
		}
		return nil
	}
}

// A Gate holds the operations that match until it is opened.
type Gate struct {
	match Match
	open  chan struct{}
	held  chan Op
}

// NewGate makes a closed gate.
func NewGate(m Match) *Gate {
	return &Gate{match: m, open: make(chan struct{}), held: make(chan Op, 1)}
}

// Rule is what holds.
func (g *Gate) Rule(o Op) error {
	if g.match(o) {
		select {
		case g.held <- o:
		default:
		}
		<-g.open
	}
	return nil
}

// Held gives the first operation that waits at the gate.
func (g *Gate) Held() <-chan Op { return g.held }

// Open lets all pass, from now on. It may be called once.
func (g *Gate) Open() { close(g.open) }
