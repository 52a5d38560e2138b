package segments

import (
	"errors"
	"fmt"
	"io"

	"github.com/hansard-search/hansard/lexer"
	"github.com/hansard-search/hansard/postings"
)

// A Writer makes one segment out of sessions, given one after the other. It
// belongs to one goroutine and is used up by [Writer.Finish] or [Writer.Close];
// one of them must be called, for the temporary files.
//
// The first error sticks: every later call returns it.
type Writer struct {
	opt     Options
	scratch *scratch
	batch   *batch
	scan    lexer.Scanner
	err     error

	open       bool // between BeginSession and EndSession
	inMessage  bool // a message of the open session is there
	ref        Ref  // of the open session
	blocks     int  // of the open session
	lastAction int32
	fragments  []fragment
	tokens     int64 // in all fragments and the batch
	growth     int   // about the bytes that came since the batch was last measured
}

// ErrOrder marks calls of a Writer that do not follow one another as they must.
var ErrOrder = errors.New("segments: call out of order")

// ErrLimit marks input that does not fit one segment.
var ErrLimit = errors.New("segments: too much for one segment")

// NewWriter returns a writer without sessions.
func NewWriter(o Options) (*Writer, error) {
	o = o.withDefaults()
	if err := o.validate(); err != nil {
		return nil, err
	}
	sc, err := newScratch(o.FS, o.TempDir)
	if err != nil {
		return nil, err
	}
	if o.ID == (ID{}) {
		if o.ID, err = randomID(); err != nil {
			return nil, err
		}
	}
	return &Writer{opt: o, scratch: sc, batch: newBatch(o.Schema)}, nil
}

// BeginSession begins a session. The values are those of its session columns.
func (w *Writer) BeginSession(ref Ref, vals []Value) error {
	if !w.ready(!w.open, "BeginSession") {
		return w.err
	}
	w.open, w.inMessage, w.ref, w.blocks, w.lastAction = true, false, ref, 0, -1
	w.batch.addSession(ref)
	w.values(postings.Session, vals)
	return w.grown(postings.Session)
}

// Message begins a message of the open session. inherited says that it was
// replayed from a parent session.
func (w *Writer) Message(inherited bool, vals []Value) error {
	if !w.ready(w.open, "Message") {
		return w.err
	}
	w.inMessage = true
	w.batch.addMessage(inherited)
	w.values(postings.Message, vals)
	return w.grown(postings.Message)
}

// Block adds a block to the open message. text is its search text; a block
// without any is not searchable and counts in no statistics, one that holds no
// term counts as a document of no tokens.
func (w *Writer) Block(text string, inherited bool, vals []Value) error {
	if !w.ready(w.open && w.inMessage, "Block") {
		return w.err
	}
	if len(text) > maxBlockText {
		w.err = fmt.Errorf("%w: block of %d bytes", ErrLimit, len(text))
		return w.err
	}
	w.scan.ResetString(text)
	length := w.batch.text.addBlock(&w.scan, uint32(w.batch.rows[postings.Block]))
	w.blocks++
	w.tokens += int64(length)
	w.growth += 16 * int(length)
	w.batch.addBlock(length, text != "", inherited)
	w.values(postings.Block, vals)
	return w.grown(postings.Block)
}

// Action adds an action to the open session. use and result are the blocks that
// call the tool and bring its result, as ranks among the session's blocks, which
// may come later; -1 is none.
func (w *Writer) Action(use, result int32, inherited bool, vals []Value) error {
	if !w.ready(w.open, "Action") {
		return w.err
	}
	if use < -1 || result < -1 {
		w.err = fmt.Errorf("%w: action with block %d, %d", ErrOrder, use, result)
		return w.err
	}
	w.lastAction = max(w.lastAction, use, result)
	w.batch.addAction(use, result, inherited)
	w.values(postings.Action, vals)
	return w.grown(postings.Action)
}

// EndSession ends the open session.
func (w *Writer) EndSession() error {
	if !w.ready(w.open, "EndSession") {
		return w.err
	}
	w.open = false
	if int(w.lastAction) >= w.blocks {
		w.err = fmt.Errorf("%w: action with block %d of %d", ErrOrder, w.lastAction, w.blocks)
	}
	return w.err
}

// MemBytes is about the memory that the writer holds, and will take to finish, but
// for the spools of the sections: these hold up to 4 MiB each, or what they will
// have in the file if there is no TempDir. It is about 0.7 to 1.3 bytes per byte of
// text, the more the rarer its terms.
func (w *Writer) MemBytes() int { return w.batch.bytes() }

func (w *Writer) ready(ok bool, call string) bool {
	if w.err == nil && w.batch == nil {
		w.err = ErrClosed
	}
	if w.err == nil && !ok {
		w.err = fmt.Errorf("%w: %s", ErrOrder, call)
	}
	return w.err == nil
}

// values gives the last row of u its values.
func (w *Writer) values(u postings.Unit, vals []Value) {
	row := uint32(w.batch.rows[u] - 1)
	for i := range vals {
		v := &vals[i]
		w.growth += 16 + len(v.Text)
		if uint(v.Column) >= uint(len(w.opt.Schema)) || w.opt.Schema[v.Column].Unit != u {
			w.err = fmt.Errorf("segments: value of column %d for a %v", v.Column, u)
			return
		}
		if w.opt.Schema[v.Column].Kind == Keyword {
			w.batch.keywords[v.Column].add(row, v.Text)
		} else if !w.batch.numbers[v.Column].add(row, v.Number) {
			w.err = fmt.Errorf("segments: two numbers in column %s for one %v", w.opt.Schema[v.Column].Name, u)
			return
		}
	}
}

// grown holds the writer to its limits after a row of u was added.
func (w *Writer) grown(u postings.Unit) error {
	if w.err == nil && (w.batch.rows[u] > maxRows || w.tokens > postings.MaxOccurrences || w.batch.text.full()) {
		w.err = ErrLimit
	}
	// To measure the batch costs a look at every column: once per 1/16 of the bound.
	if w.growth += 32; w.err != nil || w.opt.TempDir == "" || w.growth < w.opt.SpillBytes/16 {
		return w.err
	}
	w.growth = 0
	if w.batch.bytes() > w.opt.SpillBytes {
		w.err = w.spill()
	}
	return w.err
}

// Finish writes the segment. The last session must be ended.
func (w *Writer) Finish(dst io.Writer) (info Info, err error) {
	defer func() { err = errors.Join(err, w.Close()) }()
	if !w.ready(!w.open, "Finish") {
		return Info{}, w.err
	}
	info = Info{ID: w.opt.ID, Analyzer: w.opt.Analyzer}
	if len(w.fragments) == 0 {
		return w.batch.encode(dst, w.scratch, info)
	}
	if err := w.spill(); err != nil {
		return Info{}, err
	}
	return w.join(dst, info)
}

// Close gives up what is not finished and removes the temporary files. It may be
// called again, and after Finish.
func (w *Writer) Close() error {
	w.batch = nil
	var errs []error
	for i := range w.fragments {
		errs = append(errs, w.fragments[i].close(w.scratch.fs))
	}
	w.fragments = nil
	return errors.Join(errs...)
}
