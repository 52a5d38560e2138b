package engine

import (
	"sync/atomic"

	"github.com/hansard-search/hansard/engine/store"
	"github.com/hansard-search/hansard/postings"
	"github.com/hansard-search/hansard/segments"
)

// A member is one segment of the live list with the sessions that died in it. A
// member is immutable but for dead, which only the holder of index.mu changes, and
// the view, which is replaced whole whenever dead changed.
type member struct {
	name string // file name; empty for a tail segment, which lives in memory
	seg  *segments.Segment
	size int64 // bytes

	dead *postings.Bits // session rows; guarded by index.mu
	view atomic.Pointer[segments.View]
}

func newMember(name string, seg *segments.Segment, size int64, dead postings.Set) *member {
	m := &member{name: name, seg: seg, size: size, dead: postings.NewBits(seg.Rows(postings.Session))}
	dead.AddTo(m.dead)
	m.refresh()
	return m
}

// refresh makes the view follow dead.
func (m *member) refresh() { m.view.Store(segments.NewView(m.seg, m.deadSet())) }

func (m *member) deadSet() postings.Set { return postings.SetOf(m.dead) }

func (m *member) sessions() int { return m.seg.Rows(postings.Session) }
func (m *member) blocks() int   { return m.seg.Rows(postings.Block) }

// inFile reports whether the member is durable.
func (m *member) inFile() bool { return m.name != "" }

// record is what the store's list says of a member in a file.
func (m *member) record() (store.SegmentRecord, error) {
	rec := store.SegmentRecord{Name: m.name, ID: segmentID(m.seg), Sessions: int64(m.sessions()), Blocks: int64(m.blocks()), Bytes: m.size}
	dead := m.deadSet()
	if dead.IsEmpty() {
		return rec, nil
	}
	var err error
	rec.Dead, err = dead.AppendBinary(nil)
	return rec, err
}

// A place is where the live copy of a session is.
type place struct {
	member *member
	row    postings.Ord
	rev    uint64
}
