package engine

import (
	"context"
	"errors"
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
	Deep       bool    `json:"deep"` // the index was compared with one made anew
	DurationMS int64   `json:"duration_ms"`
	// ReadOnly is as in a SearchEnvelope. It is no fault of what is stored.
	ReadOnly *ReadOnly `json:"read_only"`
}

// A Fault is one thing that is not as it was written, or does not fit the rest.
type Fault struct {
	Code    string `json:"code"`              // stable: one of the codes below, of segments.Fault or of the store
	File    string `json:"file"`              // of a segment; "store"
	Section string `json:"section,omitempty"` // of a segment
	Session string `json:"session,omitempty"`
	Where   string `json:"where"` // segment file and section, session, key
	What    string `json:"what"`
}

// Codes of faults between index and store. Those within a segment are in package
// segments, those within the store begin with STORE_.
const (
	FaultSegmentMissing    = "SEGMENT_MISSING"    // a listed file is not there
	FaultSegmentDamaged    = "SEGMENT_DAMAGED"    // a listed file cannot be opened, or was set aside when it was read
	FaultSegmentRecord     = "SEGMENT_RECORD"     // the list says otherwise than the file
	FaultSessionUnreadable = "SESSION_UNREADABLE" // the store cannot give a session that is to be indexed
	FaultSessionUnindexed  = "SESSION_UNINDEXED"  // in no segment, and nothing says that it is to be indexed
	FaultSessionStale      = "SESSION_STALE"      // indexed as it was before its last change, and nothing says so
	FaultSessionDuplicate  = "SESSION_DUPLICATE"  // lives in two segments
	FaultSessionOrphan     = "SESSION_ORPHAN"     // indexed, but not in the store
	FaultSessionTombstone  = "SESSION_TOMBSTONE"  // marked dead in its segment, but alive
	FaultSessionRows       = "SESSION_ROWS"       // another number of rows than the store has
	FaultInheritedMark     = "INHERITED_MARK"     // other inherited rows than the store has
)

const checkSchema = "hansard.check/1"

// CheckOptions say how far a check goes.
type CheckOptions struct {
	// Deep makes each segment anew in memory and compares the bytes: whatever differs
	// from what the store gives is found. It takes the time of a rebuild and the memory
	// of the largest segment, twice.
	Deep bool
}

// Check reads every byte of store and index and compares what must agree. It
// changes nothing.
func (e *Engine) Check(ctx context.Context) (*CheckReport, error) {
	return e.CheckWith(ctx, CheckOptions{})
}

// CheckWith is Check with options.
func (e *Engine) CheckWith(ctx context.Context, o CheckOptions) (*CheckReport, error) {
	start := e.opts.Now()
	ctx, done, err := e.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	r := &CheckReport{Schema: checkSchema, Faults: []Fault{}, Deep: o.Deep, ReadOnly: e.readOnly()}
	stored, err := e.store.Check(ctx)
	if err != nil {
		return nil, fault(ctx, err)
	}
	for _, f := range stored {
		r.Faults = append(r.Faults, Fault{Code: f.Kind.Code(), File: storeFile, Session: string(f.Session),
			Where: "store: " + f.What, What: string(f.Kind) + ": " + f.Detail})
	}
	snap, err := e.snapshot(ctx)
	if err != nil {
		return nil, err
	}
	defer snap.release()
	a := &agreement{r: r, snap: snap, live: map[store.No]string{}, files: map[store.No]string{}}
	for _, step := range []func(context.Context) error{a.damage, a.segments, a.rows, a.stored, a.records} {
		if err := step(ctx); err != nil {
			return nil, fault(ctx, err)
		}
	}
	if o.Deep {
		if err := a.deep(ctx); err != nil {
			return nil, fault(ctx, err)
		}
	}
	r.DurationMS = e.opts.Now().Sub(start).Milliseconds()
	return r, nil
}

// An agreement checks the index by itself and against the store.
type agreement struct {
	r       *CheckReport
	snap    *snapshot
	live    map[store.No]string // segment in which a session lives
	files   map[store.No]string // file in which the list says that it lives
	dirty   map[store.No]bool   // the index may be behind for these
	partial bool                // a segment is missing
}

func (a *agreement) fault(code, file, session, where, format string, args ...any) {
	a.r.Faults = append(a.r.Faults, Fault{Code: code, File: file, Session: session, Where: where, What: fmt.Sprintf(format, args...)})
}

// unread notes that a segment could not be read on the way; the check goes on.
func (a *agreement) unread(file string, err error) error {
	var ce *segments.CorruptError
	if !errors.As(err, &ce) {
		return err
	}
	a.partial = true
	for _, f := range a.r.Faults {
		if f.File == file && f.Code == segments.FaultChecksum {
			return nil // named already, byte by byte
		}
	}
	a.r.Faults = append(a.r.Faults, Fault{Code: FaultSegmentDamaged, File: file, Section: ce.Section, Where: "segment " + file + ": " + ce.Section, What: err.Error()})
	return nil
}

// damage lists what is known to be missing.
func (a *agreement) damage(context.Context) error {
	a.r.Segments = len(a.snap.views)
	for _, d := range a.snap.damaged {
		if d.isLoss() {
			continue // the store's check has named it
		}
		f := Fault{Code: FaultSegmentDamaged, File: d.File, Section: d.Section, Session: d.Session, Where: "segment " + d.File, What: d.Reason}
		switch {
		case d.File == storeFile:
			f.Code, f.Where = FaultSessionUnreadable, "session "+d.Session
		case d.Reason == missingFile:
			f.Code = FaultSegmentMissing
		}
		if d.File != storeFile {
			a.partial = true
			a.r.Segments++
		}
		a.r.Faults = append(a.r.Faults, f)
	}
	return nil
}

// segments checks each segment by itself.
func (a *agreement) segments(ctx context.Context) error {
	for i, v := range a.snap.views {
		if err := ctx.Err(); err != nil {
			return err
		}
		for _, f := range segments.Check(v.Segment()) {
			a.r.Faults = append(a.r.Faults, Fault{Code: f.Code, File: a.snap.names[i], Section: f.Section,
				Where: "segment " + a.snap.names[i] + ": " + f.Section, What: f.Reason})
		}
	}
	return nil
}

// rows checks that each live session of a segment is in the store, at the stored
// revision and with as many rows, and in no other segment.
func (a *agreement) rows(ctx context.Context) error {
	for i, v := range a.snap.views {
		if err := a.rowsOf(ctx, i, v); err != nil {
			if err := a.unread(a.snap.names[i], err); err != nil {
				return err
			}
		}
	}
	return nil
}

func (a *agreement) rowsOf(ctx context.Context, i int, v *segments.View) error {
	file := a.snap.names[i]
	rows, err := v.Live(postings.Session)
	if err != nil {
		return err
	}
	for row := range rows.All() {
		if err := ctx.Err(); err != nil {
			return err
		}
		ref, err := v.Segment().SessionRef(row)
		if err != nil {
			return err
		}
		no := store.No(ref.No)
		where := fmt.Sprintf("segment %s: session row %d", file, row)
		sum, err := a.snap.store.Summary(no)
		if other, twice := a.live[no]; twice {
			a.fault(FaultSessionDuplicate, file, string(sum.ID), where, "lives in %s too", other)
		}
		a.live[no] = file
		switch {
		case isNotFound(err):
			a.fault(FaultSessionOrphan, file, "", where, "session number %d is not in the store", no)
		case errors.Is(err, store.ErrCorrupt): // the store's check has named it
		case err != nil:
			return err
		case sum.Rev != ref.Rev:
			a.fault(FaultSessionStale, file, string(sum.ID), where, "revision %d of %s, the store has %d", ref.Rev, sum.ID, sum.Rev)
		default:
			if err := a.counts(v, row, file, where, sum); err != nil {
				return err
			}
		}
	}
	return nil
}

// counts compares the rows of a session with what the store says.
func (a *agreement) counts(v *segments.View, row postings.Ord, file, where string, sum store.Summary) error {
	head, err := a.snap.store.Brief(sum.No)
	if err != nil && !errors.Is(err, store.ErrCorrupt) {
		return err
	}
	for _, u := range []postings.Unit{postings.Message, postings.Block} {
		spans, err := v.Spans(postings.Session, u)
		if err != nil {
			return err
		}
		inherited, err := v.Segment().Inherited(u)
		if err != nil {
			return err
		}
		lo, hi := spans.Run(row)
		all, own := int64(hi-lo), int64(hi-lo)
		for o := range inherited.All() {
			if lo <= o && o < hi {
				own--
			}
		}
		want, wantOwn := sum.Messages, int64(-1)
		if u == postings.Block {
			want = sum.Blocks
		}
		if head != nil {
			wantOwn = head.Counters.Messages
			if u == postings.Block {
				wantOwn = head.Counters.Blocks
			}
		}
		switch {
		case all != want:
			a.fault(FaultSessionRows, file, string(sum.ID), where, "%d %s rows of %s, the store has %d", all, u, sum.ID, want)
		case wantOwn >= 0 && own != wantOwn:
			a.fault(FaultInheritedMark, file, string(sum.ID), where, "%d %s rows of %s are its own, the store has %d", own, u, sum.ID, wantOwn)
		}
	}
	return nil
}

// stored checks that each stored session lives in a segment.
func (a *agreement) stored(ctx context.Context) error {
	unreadable := map[string]bool{}
	for _, d := range a.snap.damaged {
		unreadable[d.Session] = true
	}
	tombs, err := a.tombstones()
	if err != nil {
		return err
	}
	return eachSession(a.snap.store, func(no store.No, sum *store.Summary, err error) error {
		a.r.Sessions++
		if err != nil {
			return ctx.Err() // the store's check has named it
		}
		id := string(sum.ID)
		file, buried := tombs[no]
		switch _, ok := a.live[no]; {
		case ok || unreadable[id]:
		case buried:
			a.fault(FaultSessionTombstone, file, id, "session "+id, "is marked dead in %s, but nothing took its place", file)
		case !a.partial:
			a.fault(FaultSessionUnindexed, "", id, "session "+id, "is in no live segment")
		}
		return ctx.Err()
	})
}

// tombstones are the sessions whose dead rows are those of their present revision.
func (a *agreement) tombstones() (map[store.No]string, error) {
	out := map[store.No]string{}
	for i, v := range a.snap.views {
		for row := range v.Dead().All() {
			ref, err := v.Segment().SessionRef(row)
			if err != nil {
				if err := a.unread(a.snap.names[i], err); err != nil {
					return nil, err
				}
				break
			}
			if sum, err := a.snap.store.Summary(store.No(ref.No)); err == nil && sum.Rev == ref.Rev {
				out[sum.No] = a.snap.names[i]
			}
		}
	}
	return out, nil
}

// records checks what the store's list says of the segments that are in it.
func (a *agreement) records(context.Context) error {
	dirty, err := a.snap.store.Dirty()
	if errors.Is(err, store.ErrCorrupt) {
		return nil // the store's check has named it
	}
	if err != nil {
		return err
	}
	a.dirty = map[store.No]bool{}
	for _, d := range dirty {
		a.dirty[d.No] = true
	}
	list, err := a.snap.store.Segments()
	if errors.Is(err, store.ErrCorrupt) {
		return nil
	}
	for _, rec := range list {
		for i, v := range a.snap.views {
			if a.snap.names[i] == rec.Name {
				if err := a.unread(rec.Name, a.record(rec, v)); err != nil {
					return err
				}
			}
		}
	}
	return err
}

// record checks one record of the list. A session that lives in two segments by the
// list lives in one by the index, which takes the later one.
func (a *agreement) record(rec store.SegmentRecord, v *segments.View) error {
	where := "segment " + rec.Name
	info := v.Segment().Info()
	if got := [3]int64{int64(v.Rows(postings.Session)), int64(v.Rows(postings.Block)), info.Bytes}; got != [3]int64{rec.Sessions, rec.Blocks, rec.Bytes} {
		a.fault(FaultSegmentRecord, rec.Name, "", where, "has %d sessions, %d blocks, %d bytes; the list says %d, %d, %d", got[0], got[1], got[2], rec.Sessions, rec.Blocks, rec.Bytes)
	}
	dead := postings.NewBits(v.Rows(postings.Session))
	if len(rec.Dead) > 0 {
		set, err := postings.ReadSet(rec.Dead)
		if err != nil {
			a.fault(FaultSegmentRecord, rec.Name, "", where, "dead sessions: %v", err)
			return nil
		}
		set.AddTo(dead)
	}
	for row := range postings.Ord(v.Rows(postings.Session)) {
		if dead.Has(row) {
			continue
		}
		ref, err := v.Segment().SessionRef(row)
		if err != nil {
			return err
		}
		no := store.No(ref.No)
		if a.dirty[no] {
			continue
		}
		if other, twice := a.files[no]; twice && other != rec.Name {
			a.fault(FaultSessionDuplicate, rec.Name, a.id(no), fmt.Sprintf("%s: session row %d", where, row), "lives in %s too, says the list", other)
		}
		a.files[no] = rec.Name
	}
	return nil
}

// id is the id of a session, or its number.
func (a *agreement) id(no store.No) string {
	if sum, err := a.snap.store.Summary(no); err == nil {
		return string(sum.ID)
	}
	return fmt.Sprintf("number %d", no)
}
