package claudecode

import (
	"github.com/hansard-search/hansard/engine/internal/jsonx"
	"github.com/hansard-search/hansard/engine/source"
)

// A reader is the second pass: it sends the messages to the sink.
type reader struct {
	file  source.File
	sink  source.Sink
	sv    *survey
	count source.Records
	now   int64 // number of the record at hand
	jsonp jsonx.Parser
}

func newReader(f source.File, lim source.Limits, sink source.Sink, sv *survey) *reader {
	return &reader{file: f, sink: sink, sv: sv, jsonp: jsonx.Parser{Depth: lim.Depth}}
}

// record takes one record and counts it exactly once.
func (r *reader) record(n int64, rec jsonx.Record) error {
	if rec.Err != nil && rec.Torn {
		r.count.Torn = true
		return nil
	}
	r.now = n
	r.count.Read++
	if rec.Err != nil {
		r.count.Rejected++
		r.sink.Problem(source.Problem{File: r.file.Path, Line: rec.Line, Offset: rec.Offset, Reason: rec.Err.Error(), Code: source.LimitCode(rec.TooLarge())})
		return nil
	}
	v := rec.Value
	if v.Type() != jsonx.Object {
		r.count.Skipped++
		return nil
	}
	g := r.sv.groupOf(v)
	if r.sv.twins[n] {
		r.count.Skipped++
		return nil
	}
	if g.s == nil {
		g.s = newSession(r, g)
	}
	stored, err := g.s.record(v)
	if err != nil {
		return err
	}
	if stored {
		g.s.stored++
		r.count.Stored++
	} else {
		r.count.Skipped++
	}
	return g.s.flush(n)
}

// finish ends every session of the file, in the order of their first records. What
// was stored for a session that has no message after all was not.
func (r *reader) finish() error {
	for _, g := range r.sv.order {
		if g.s == nil {
			continue
		}
		ended, err := g.s.finish()
		if err != nil {
			return err
		}
		if !ended {
			r.count.Stored -= g.s.stored
			r.count.Skipped += g.s.stored
		}
	}
	return nil
}
