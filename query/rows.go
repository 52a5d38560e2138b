package query

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"unsafe"

	"github.com/hansard-search/hansard/bm25"
	"github.com/hansard-search/hansard/postings"
)

// RowOptions say which part of the rows is wanted. The zero value is the first page.
type RowOptions struct {
	Limit   int        // most rows; 0 means DefaultLimit, below 0 all
	Offset  int        // rows to leave out, counted behind After
	After   *RowAnchor // only rows that come after this one
	Seen    int        // rows of the pages up to After
	Workers int        // sources read at once; below 2 means one
	Limits  Limits
}

// A RowAnchor is the place of a row in the order of an answer: time ascending with
// unknown first, session id ascending, then the place in the session.
type RowAnchor struct {
	Time      int64 // of the row or, where that is unknown, of its session; ms since the epoch
	HasTime   bool
	SessionID string
	Place     int64 // of the row among the rows of its session, from 0
}

// A Row is a row of the unit that was asked for.
type Row struct {
	RowAnchor
	Source  int // index of the source
	Session postings.Ord
	Row     postings.Ord
}

// A RowResult is an answer to a query for rows. Equal sources and plans give equal
// results, whatever the number of workers or the spread of sessions over sources.
type RowResult struct {
	Rows  []Row
	Total int64 // what the offset and limit of the pipeline leave of the matching rows; exact
}

// RunRows answers a plan that asks for messages, actions or blocks. A failing source is
// returned as a *[SourceError], the one of the least index if there are several.
func RunRows(ctx context.Context, p *Plan, sources []Source, o RowOptions) (*RowResult, error) {
	if p.rows == nil {
		return nil, errors.New("query: rows asked of a query for sessions")
	}
	offset := min(max(o.Offset, 0), maxRows)
	skip := offset
	if o.After == nil {
		skip += int(min(p.pipe.offset, maxRows))
	}
	want := max(p.pipe.limit-int64(o.Seen)-int64(offset), 0) // of the relation
	if o.Limit >= 0 {
		want = min(want, int64(cmp.Or(o.Limit, DefaultLimit)))
	}
	limit := int(min(want, maxRows)) + skip
	found := make([]*rowCollector, len(sources))
	err := eachSegment(ctx, p, sources, workersFor(sources, o.Workers), newBudget(ctx, p, o.Limits), nil, func(i int, x *segment) error {
		found[i] = &rowCollector{x: x, unit: p.rowUnit.Rows, order: rowOrder{p.pipe.desc}, after: o.After, max: limit}
		return found[i].collect(p.rows)
	})
	if err != nil {
		return nil, err
	}
	out := &RowResult{Rows: []Row{}}
	for _, c := range found {
		out.Total += c.total
		out.Rows = append(out.Rows, c.kept...)
	}
	out.Total = p.pipe.cut(out.Total)
	slices.SortFunc(out.Rows, rowOrder{p.pipe.desc}.compare)
	out.Rows = out.Rows[:min(limit, len(out.Rows))]
	out.Rows = out.Rows[min(skip, len(out.Rows)):]
	return out, nil
}

// A rowOrder is the order of rows.
type rowOrder struct{ desc bool }

func (o rowOrder) compare(a, b Row) int {
	if o.desc {
		return compareRows(b, a)
	}
	return compareRows(a, b)
}

// compareTime compares by time alone.
func (o rowOrder) compareTime(a, b *RowAnchor) int {
	if o.desc {
		return b.compareTime(a)
	}
	return a.compareTime(b)
}

// maxRows is more than the rows of any archive: sums of a few of it do not overflow.
const maxRows = math.MaxInt32 / 4

// compareRows compares in ascending order. Two rows of one place, which a sound snapshot
// never has, go by source, so that the order is total.
func compareRows(a, b Row) int {
	if c := a.compareTime(&b.RowAnchor); c != 0 {
		return c
	}
	if c := strings.Compare(a.SessionID, b.SessionID); c != 0 {
		return c
	}
	if a.Place != b.Place {
		return int(min(max(a.Place-b.Place, -1), 1))
	}
	return a.Source - b.Source
}

// compareTime compares by time alone.
func (a *RowAnchor) compareTime(b *RowAnchor) int {
	switch {
	case a.HasTime != b.HasTime:
		if a.HasTime {
			return 1
		}
		return -1
	case a.Time < b.Time:
		return -1
	case a.Time > b.Time:
		return 1
	}
	return 0
}

// keptRowBytes is about what a kept row takes, with what sorting and joining copy of it.
const keptRowBytes = 3 * int64(unsafe.Sizeof(Row{}))

// A rowCollector gathers the rows of one segment.
type rowCollector struct {
	x     *segment
	unit  postings.Unit
	order rowOrder
	after *RowAnchor
	max   int
	total int64
	kept  []Row

	spans postings.Spans
	times postings.Numbers
	owner struct { // the session of the row that is looked at
		session postings.Ord
		end     postings.Ord // its first row behind
		time    int64
		hasTime bool
		id      string // once asked for
	}
}

func (c *rowCollector) collect(p predicate) error {
	rows, spans, err := c.x.selectRows(c.unit, p)
	if err != nil {
		return err
	}
	c.spans = spans
	c.total = int64(rows.Count())
	if c.total == 0 {
		return nil
	}
	if err := c.x.columns(); err != nil {
		return err
	}
	if c.times, err = c.x.src.Numbers(c.unit.String() + ".time"); err != nil {
		return err
	}
	return c.pick(rows)
}

// pick keeps the first rows. The heap looks at ids only where times tie.
func (c *rowCollector) pick(rows *postings.Bits) error {
	var failed error
	keep := min(c.max, int(c.total))
	if err := c.x.budget.take(int64(keep) * keptRowBytes); err != nil {
		return err
	}
	top := bm25.NewTopK(keep, func(a, b Row) bool {
		if d := c.order.compareTime(&a.RowAnchor, &b.RowAnchor); d != 0 {
			return d < 0
		}
		if a.Session == b.Session {
			return a.Row < b.Row != c.order.desc
		}
		return a.SessionID < b.SessionID != c.order.desc
	})
	c.owner.end = 0
	for row, ok := rows.Next(0); ok && failed == nil; row, ok = rows.Next(row + 1) {
		if row&4095 == 0 {
			if failed = c.x.budget.alive(); failed != nil {
				break
			}
		}
		var r Row
		if r, failed = c.row(row); failed != nil {
			break
		}
		if w, full := top.Worst(); full && c.order.compareTime(&w.RowAnchor, &r.RowAnchor) < 0 {
			continue
		}
		if c.after != nil && c.order.compareTime(c.after, &r.RowAnchor) > 0 {
			continue
		}
		if r.SessionID, failed = c.id(); failed != nil {
			break
		}
		if c.after != nil && c.order.compare(Row{RowAnchor: *c.after}, Row{RowAnchor: r.RowAnchor}) >= 0 {
			continue
		}
		top.Offer(r)
	}
	c.kept = top.AppendSorted(nil)
	return failed
}

// row makes the row without the id of its session.
func (c *rowCollector) row(row postings.Ord) (Row, error) {
	o := &c.owner
	if row >= o.end {
		o.session = c.spans.Of(row)
		_, o.end = c.spans.Run(o.session)
		o.id = ""
		var err error
		if o.time, o.hasTime, err = c.x.times.At(o.session); err != nil {
			return Row{}, err
		}
	}
	first, _ := c.spans.Run(o.session)
	r := Row{Source: c.x.index, Session: o.session, Row: row}
	r.Place = int64(row - first)
	var err error
	if r.Time, r.HasTime, err = c.times.At(row); err != nil {
		return Row{}, err
	}
	if !r.HasTime {
		r.Time, r.HasTime = o.time, o.hasTime
	}
	if !r.HasTime {
		r.Time = 0
	}
	return r, nil
}

// id is the id of the session of the row that is looked at.
func (c *rowCollector) id() (string, error) {
	if c.owner.id == "" {
		var err error
		if c.owner.id, err = c.x.sessionID(c.owner.session); err != nil {
			return "", err
		}
	}
	return c.owner.id, nil
}
