package segments

import (
	"fmt"
	"io"
	"sync"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/hansard-search/hansard/postings"
)

// A Segment reads one segment file. It is safe for concurrent use and counted:
// it is born with one reference, and the bytes go when the last one does. What
// its methods return must not be used after that.
type Segment struct {
	*file
	refs  atomic.Int64
	unmap func() error // nil when the garbage collector does it

	text      index
	spans     [postings.Units][postings.Units]lazy[postings.Spans]
	sessions  lazy[sessionTable]
	actions   lazy[[]uint32]
	inherited [postings.Units]lazy[postings.Set]
	keywords  map[string]*keywordColumn
	numbers   map[string]*numberColumn
}

// A lazy value is made once, by the first caller that can; errors are tried again.
type lazy[T any] struct {
	mu sync.Mutex
	v  atomic.Pointer[T]
}

func (l *lazy[T]) get(open func() (T, error)) (T, error) {
	if v := l.v.Load(); v != nil {
		return *v, nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if v := l.v.Load(); v != nil {
		return *v, nil
	}
	v, err := open()
	if err == nil {
		l.v.Store(&v)
	}
	return v, err
}

// OpenBytes reads a segment from memory. The name is for errors. b belongs to the
// segment from now on.
func OpenBytes(name string, b []byte) (*Segment, error) {
	return newSegment(name, mapping{b: b})
}

// OpenFile reads a segment file: mapped where the file system is the disk and the
// platform can, else read whole.
func OpenFile(fs vfs.FS, path string) (_ *Segment, err error) {
	f, err := fs.Open(path)
	if err != nil {
		return nil, fmt.Errorf("segment %s: %w", path, err)
	}
	defer f.Close() // read only; a mapping outlives the descriptor
	st, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("segment %s: %w", path, err)
	}
	if st.Size() > 0 && f.Fd() != vfs.InvalidFd {
		if m, ok := mapFile(f.Fd(), st.Size()); ok {
			return newSegment(path, m)
		}
	}
	b := make([]byte, st.Size())
	if _, err := f.ReadAt(b, 0); err != nil && err != io.EOF {
		return nil, fmt.Errorf("segment %s: %w", path, err)
	}
	return newSegment(path, mapping{b: b})
}

func newSegment(name string, m mapping) (*Segment, error) {
	f, err := openFile(name, m)
	if err == nil {
		err = f.checkRows()
	}
	if err != nil {
		if m.unmap != nil {
			_ = m.unmap() // the open error is the one that matters
		}
		return nil, err
	}
	s := &Segment{file: f, unmap: m.unmap}
	s.refs.Store(1)
	s.text = index{f: f, name: textIndex, rows: f.info.Rows[postings.Block]}
	s.openColumns()
	return s, nil
}

// Ref adds a reference. The caller must hold one.
func (s *Segment) Ref() { s.refs.Add(1) }

// Unref gives a reference back; the last one ends the segment.
func (s *Segment) Unref() error {
	n := s.refs.Add(-1)
	if n > 0 {
		return nil
	}
	if n < 0 {
		return fmt.Errorf("segment %s: %w", s.name, ErrClosed)
	}
	if s.unmap == nil {
		return nil
	}
	if err := s.unmap(); err != nil {
		return fmt.Errorf("segment %s: unmap: %w", s.name, err)
	}
	return nil
}

// Name is the name that the segment was opened under.
func (s *Segment) Name() string { return s.name }

// Info says what the segment says about itself.
func (s *Segment) Info() Info { return s.info }

// Columns is the schema; it must not be written.
func (s *Segment) Columns() []Column { return s.schema }

// Rows is the number of rows of u, dead and inherited ones included.
func (s *Segment) Rows(u postings.Unit) int { return s.info.Rows[u] }
