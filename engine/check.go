package engine

import (
	"context"
	"fmt"

	"github.com/hansard-search/hansard/engine/store"
	"github.com/hansard-search/hansard/postings"
	"github.com/hansard-search/hansard/segments"
)

// A CheckReport lists what Check found wrong. An archive without a fault has none.
type CheckReport struct {
	Schema     string  `json:"schema"`
	Faults     []Fault `json:"faults"`
	Sessions   int     `json:"sessions"`
	Segments   int     `json:"segments"`
	DurationMS int64   `json:"duration_ms"`
}

// A Fault is one thing that is not as it was written, or does not fit the rest.
type Fault struct {
	Where string `json:"where"` // segment file and section, session, key
	What  string `json:"what"`
}

const checkSchema = "hansard.check/1"

// Check reads every byte of store and index and compares what must agree. It
// changes nothing.
func (e *Engine) Check(ctx context.Context) (*CheckReport, error) {
	start := e.opts.Now()
	ctx, done, err := e.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	r := &CheckReport{Schema: checkSchema, Faults: []Fault{}}
	stored, err := e.store.Check(ctx)
	if err != nil {
		return nil, fault(ctx, err)
	}
	for _, f := range stored {
		r.Faults = append(r.Faults, Fault{"store: " + f.What, string(f.Kind) + ": " + f.Detail})
	}
	snap, err := e.snapshot(ctx)
	if err != nil {
		return nil, err
	}
	defer snap.release()
	if err := r.segments(ctx, snap); err != nil {
		return nil, fault(ctx, err)
	}
	if err := r.agreement(ctx, snap); err != nil {
		return nil, fault(ctx, err)
	}
	r.DurationMS = e.opts.Now().Sub(start).Milliseconds()
	return r, nil
}

// segments checks each segment by itself.
func (r *CheckReport) segments(ctx context.Context, snap *snapshot) error {
	for _, d := range snap.damaged {
		r.Faults = append(r.Faults, Fault{"segment " + d.File, d.Reason})
	}
	r.Segments = len(snap.views) + len(snap.damaged)
	for i, v := range snap.views {
		if err := ctx.Err(); err != nil {
			return err
		}
		for _, f := range segments.Check(v.Segment()) {
			r.Faults = append(r.Faults, Fault{"segment " + snap.names[i] + ": " + f.Section, f.Reason})
		}
	}
	return nil
}

// agreement checks that index and store hold the same sessions: each stored one
// lives in exactly one segment, at the stored revision and with as many rows.
func (r *CheckReport) agreement(ctx context.Context, snap *snapshot) error {
	live := map[store.No]string{}
	for i, v := range snap.views {
		if err := r.liveRows(snap, i, v, live); err != nil {
			return err
		}
	}
	for sum, err := range snap.store.Sessions() {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
		r.Sessions++
		if _, ok := live[sum.No]; !ok && len(snap.damaged) == 0 {
			r.Faults = append(r.Faults, Fault{"session " + string(sum.ID), "is in no live segment"})
		}
	}
	return nil
}

func (r *CheckReport) liveRows(snap *snapshot, i int, v *segments.View, live map[store.No]string) error {
	rows, err := v.Live(postings.Session)
	if err != nil {
		return err
	}
	for row := range rows.All() {
		ref, err := v.Segment().SessionRef(row)
		if err != nil {
			return err
		}
		no := store.No(ref.No)
		where := fmt.Sprintf("segment %s: session row %d", snap.names[i], row)
		if other, twice := live[no]; twice {
			r.Faults = append(r.Faults, Fault{where, "lives in " + other + " too"})
		}
		live[no] = snap.names[i]
		sum, err := snap.store.Summary(no)
		switch {
		case isNotFound(err):
			r.Faults = append(r.Faults, Fault{where, fmt.Sprintf("session number %d is not in the store", no)})
		case err != nil:
			return err
		case sum.Rev != ref.Rev:
			r.Faults = append(r.Faults, Fault{where, fmt.Sprintf("revision %d of %s, the store has %d", ref.Rev, sum.ID, sum.Rev)})
		default:
			if err := r.counts(v, row, where, sum); err != nil {
				return err
			}
		}
	}
	return nil
}

// counts compares the rows of a session with what the store says.
func (r *CheckReport) counts(v *segments.View, row postings.Ord, where string, sum store.Summary) error {
	for _, u := range []struct {
		unit postings.Unit
		want int64
	}{{postings.Message, sum.Messages}, {postings.Block, sum.Blocks}} {
		spans, err := v.Spans(postings.Session, u.unit)
		if err != nil {
			return err
		}
		lo, hi := spans.Run(row)
		if got := int64(hi - lo); got != u.want {
			r.Faults = append(r.Faults, Fault{where, fmt.Sprintf("%d %s rows of %s, the store has %d", got, u.unit, sum.ID, u.want)})
		}
	}
	return nil
}
