package segments

import (
	"context"
	"errors"
	"fmt"
	"io"
)

// A fragment is a part of a segment that a writer moved to a temporary file: a
// segment of its own, except that its first session and message may continue the
// last ones of the fragment before, and that its actions count blocks from where
// their whole session begins.
type fragment struct {
	name                     string
	seg                      *Segment
	joinSession, joinMessage bool
}

func (f *fragment) close(fs interface{ Remove(string) error }) error {
	var err error
	if f.seg != nil {
		err = f.seg.Unref()
	}
	return errors.Join(err, fs.Remove(f.name))
}

// spill moves the batch to a fragment and begins the next batch, which continues
// the open session and message.
func (w *Writer) spill() error {
	f, name, err := w.scratch.create()
	if err != nil {
		return err
	}
	w.fragments = append(w.fragments, fragment{name: name, joinSession: w.batch.joinSession, joinMessage: w.batch.joinMessage})
	info := Info{ID: w.opt.ID, Analyzer: w.opt.Analyzer}
	_, err = w.batch.encode(f, w.scratch, info)
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("segments: fragment %s: %w", name, err)
	}
	seg, err := OpenFile(w.scratch.fs, name)
	if err != nil {
		return err
	}
	w.fragments[len(w.fragments)-1].seg = seg
	w.batch.reset()
	if w.open {
		w.batch.addSession(w.ref)
		w.batch.joinSession = true
		if w.inMessage {
			w.batch.addMessage(false)
			w.batch.joinMessage = true
		}
	}
	return nil
}

// join merges the fragments.
func (w *Writer) join(dst io.Writer, info Info) (Info, error) {
	m := merger{ctx: context.Background(), scratch: w.scratch, schema: w.opt.Schema, info: info}
	for _, f := range w.fragments {
		m.in = append(m.in, mergeInput{seg: f.seg, joinSession: f.joinSession, joinMessage: f.joinMessage})
	}
	return m.run(dst)
}
