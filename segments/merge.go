package segments

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/hansard-search/hansard/lexer"
	"github.com/hansard-search/hansard/postings"
)

// A MergeInput is a segment and the ordinals of its sessions to leave out.
type MergeInput struct {
	Segment *Segment
	Dead    postings.Set
}

// MergeOptions configure [Merge].
type MergeOptions struct {
	// Schema of the new segment. Columns that an input lacks are empty for its
	// rows, others are dropped. Nil means the columns of all inputs.
	Schema  []Column
	ID      ID     // zero means a random one
	FS      vfs.FS // of the temporary files; nil means the disk
	TempDir string // empty means that everything stays in memory
}

// Merge writes one segment of the sessions of the inputs that are not dead, in
// the order of the inputs. It holds the dictionaries' block index, four bytes per
// distinct value of one column and some megabytes of buffers in memory, whatever
// the size of the inputs. The context is checked about every thousand terms.
//
// The result is, byte for byte, what a [Writer] of the same id makes of the
// sessions.
func Merge(ctx context.Context, dst io.Writer, inputs []MergeInput, o MergeOptions) (Info, error) {
	sc, err := newScratch(o.FS, o.TempDir)
	if err != nil {
		return Info{}, err
	}
	m := merger{ctx: ctx, scratch: sc, schema: o.Schema}
	if m.info.ID = o.ID; o.ID == (ID{}) {
		if m.info.ID, err = randomID(); err != nil {
			return Info{}, err
		}
	}
	m.info.Analyzer = lexer.Name
	for i, in := range inputs {
		if a := in.Segment.Info().Analyzer; i > 0 && a != m.info.Analyzer {
			return Info{}, fmt.Errorf("segments: merge: analyzer %q of %s beside %q", a, in.Segment.Name(), m.info.Analyzer)
		}
		m.info.Analyzer = in.Segment.Info().Analyzer
		m.in = append(m.in, mergeInput{seg: in.Segment, dead: in.Dead})
	}
	if err := m.unite(o.Schema == nil); err != nil {
		return Info{}, err
	}
	return m.run(dst)
}

// A mergeInput is one input of a merge and where its rows go.
type mergeInput struct {
	seg  *Segment
	dead postings.Set
	// The first row continues the last one of the input before and gets no row of
	// its own: fragments of one writer.
	joinSession, joinMessage bool

	kept [postings.Units]rowMap
}

// A merger holds what the steps of a merge share.
type merger struct {
	ctx     context.Context
	in      []mergeInput
	scratch *scratch
	schema  []Column
	info    Info
}

// unite checks that the inputs agree with the schema, and completes it from them
// if all is set.
func (m *merger) unite(all bool) error {
	known := make(map[string]Column)
	for _, c := range m.schema {
		known[c.Name] = c
	}
	for _, in := range m.in {
		for _, c := range in.seg.Columns() {
			k, ok := known[c.Name]
			if ok && k != c {
				return fmt.Errorf("segments: merge: column %s of %s is a %v of %v, not a %v of %v", c.Name, in.seg.Name(), c.Kind, c.Unit, k.Kind, k.Unit)
			}
			if !ok && all {
				known[c.Name] = c
				m.schema = append(m.schema, c)
			}
		}
	}
	return nil
}

func (m *merger) run(w io.Writer) (Info, error) {
	if err := m.layout(); err != nil {
		return Info{}, err
	}
	dst := newSink(w)
	if err := errors.Join(m.rows(dst), m.index(dst), m.columns(dst)); err != nil {
		return Info{}, err
	}
	return dst.finish(m.info, appendMeta(nil, m.info, m.schema))
}

// layout decides which rows are kept and where they go.
func (m *merger) layout() error {
	for i := range m.in {
		in := &m.in[i]
		for u := range postings.Unit(postings.Units) {
			if err := in.keep(u); err != nil {
				return err
			}
			in.kept[u].place(m.info.Rows[u])
			m.info.Rows[u] += in.kept[u].rows
			if m.info.Rows[u] > maxRows {
				return fmt.Errorf("%w: %d rows of %v", ErrLimit, m.info.Rows[u], u)
			}
		}
	}
	return nil
}

// keep notes the rows of u in sessions that are not dead.
func (in *mergeInput) keep(u postings.Unit) error {
	var spans postings.Spans
	if u != postings.Session {
		var err error
		if spans, err = in.seg.Spans(postings.Session, u); err != nil {
			return err
		}
	}
	add := func(lo, hi postings.Ord) {
		if lo >= hi {
			return
		}
		if u != postings.Session {
			lo, _ = spans.Run(lo)
			_, hi = spans.Run(hi - 1)
		}
		if lo == 0 && (u == postings.Session && in.joinSession || u == postings.Message && in.joinMessage) {
			lo = 1
		}
		in.kept[u].add(uint32(lo), uint32(hi))
	}
	next, n := postings.Ord(0), postings.Ord(in.seg.Rows(postings.Session))
	for dead := range in.dead.All() {
		if dead >= n {
			break
		}
		add(next, dead)
		next = dead + 1
	}
	add(next, n)
	return nil
}
