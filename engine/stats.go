package engine

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/hansard-search/hansard/engine/archive"
	"github.com/hansard-search/hansard/engine/store"
	"github.com/hansard-search/hansard/lexer"
	"github.com/hansard-search/hansard/postings"
)

// Stats say what an archive holds and how its index is.
type Stats struct {
	Schema           string         `json:"schema"`
	Archive          string         `json:"archive"` // folder
	Sessions         int            `json:"sessions"`
	Messages         int            `json:"messages"` // rows that are not inherited, as the three below
	Blocks           int            `json:"blocks"`
	Actions          int            `json:"actions"`
	SearchableBlocks int64          `json:"searchable_blocks"`
	Tokens           int64          `json:"tokens"`
	Origins          []OriginCount  `json:"origins"`
	Oldest           *string        `json:"oldest"`
	Newest           *string        `json:"newest"`
	Segments         []SegmentStats `json:"segments"`
	IndexBytes       int64          `json:"index_bytes"`
	StoreBytes       uint64         `json:"store_bytes"`
	Analyzer         string         `json:"analyzer"`
	Generation       uint64         `json:"generation"`
	Ready            bool           `json:"ready"` // every acknowledged session is searchable
	Damaged          []Damage       `json:"damaged"`
	Losses           []Loss         `json:"losses"`    // what was found missing and is not settled
	ReadOnly         *ReadOnly      `json:"read_only"` // as in a SearchEnvelope
}

// An OriginCount is how many sessions come from one origin.
type OriginCount struct {
	Origin   string `json:"origin"`
	Sessions int    `json:"sessions"`
}

// SegmentStats describe one segment.
type SegmentStats struct {
	File     string `json:"file"` // "tail" in memory
	Sessions int    `json:"sessions"`
	Dead     int    `json:"dead_sessions"`
	Blocks   int    `json:"blocks"`
	Bytes    int64  `json:"bytes"`
}

const statsSchema = "hansard.status/1"

// Stats counts what the archive holds, exactly.
func (e *Engine) Stats(ctx context.Context) (*Stats, error) {
	ctx, done, err := e.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	for {
		snap, err := e.snapshot(ctx)
		if err != nil {
			return nil, err
		}
		s, err := e.stats(ctx, snap)
		again := err != nil && e.leaveOut(snap, err) // the damaged segment is named the next time
		snap.release()
		if !again {
			return s, fault(ctx, err)
		}
	}
}

func (e *Engine) stats(ctx context.Context, snap *snapshot) (*Stats, error) {
	s := &Stats{Schema: statsSchema, Archive: e.dir, Origins: []OriginCount{}, Segments: []SegmentStats{}, Analyzer: lexer.Name,
		Generation: snap.store.Generation(), StoreBytes: e.store.DiskBytes(), Ready: len(snap.damaged) == 0, Damaged: append([]Damage{}, snap.damaged...), Losses: lossesOf(e.store.Losses()), ReadOnly: e.readOnly()}
	if err := s.countRows(snap); err != nil {
		return nil, err
	}
	return s, s.countSessions(ctx, snap)
}

func (s *Stats) countRows(snap *snapshot) error {
	for i, v := range snap.views {
		var live [postings.Units]int
		for u := range postings.Unit(postings.Units) {
			b, err := v.Live(u)
			if err != nil {
				return err
			}
			live[u] = b.Count()
		}
		s.Messages += live[postings.Message]
		s.Blocks += live[postings.Block]
		s.Actions += live[postings.Action]
		blocks, tokens, err := v.Totals()
		if err != nil {
			return err
		}
		s.SearchableBlocks += blocks
		s.Tokens += tokens
		size := v.Segment().Info().Bytes
		s.IndexBytes += size
		s.Segments = append(s.Segments, SegmentStats{File: snap.names[i], Sessions: v.Rows(postings.Session), Dead: v.Dead().Len(),
			Blocks: v.Rows(postings.Block), Bytes: size})
	}
	return nil
}

func (s *Stats) countSessions(ctx context.Context, snap *snapshot) error {
	origins := map[archive.Origin]int{}
	oldest, newest := archive.NoTime, archive.NoTime
	err := eachSession(snap.store, func(no store.No, sum *store.Summary, err error) error {
		if err != nil {
			s.Ready = false
			s.Damaged = append(s.Damaged, Damage{File: storeFile, Session: fmt.Sprintf("number %d", no), Reason: err.Error(), Sessions: 1})
			return ctx.Err()
		}
		s.Sessions++
		o, _, _ := sum.ID.Split()
		origins[o]++
		t := sum.SortKey()
		newest = max(newest, t)
		if t != archive.NoTime && (oldest == archive.NoTime || t < oldest) {
			oldest = t
		}
		return ctx.Err()
	})
	if err != nil {
		return err
	}
	for o, n := range origins {
		s.Origins = append(s.Origins, OriginCount{string(o), n})
	}
	slices.SortFunc(s.Origins, func(a, b OriginCount) int { return cmp.Compare(a.Origin, b.Origin) })
	s.Oldest, s.Newest = timestamp(oldest), timestamp(newest)
	return nil
}
