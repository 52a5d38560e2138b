package engine

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/hansard-search/hansard/engine/archive"
	"github.com/hansard-search/hansard/engine/internal/oracle"
	"github.com/hansard-search/hansard/engine/store"
	"github.com/hansard-search/hansard/postings"
	"github.com/hansard-search/hansard/query"
)

// A blockKey names a block by its session and its rank there.
type blockKey struct {
	session archive.SessionID
	rank    int
}

// matching returns the blocks that match the text of a query, with their scores.
func (w *world) matching(text string) map[blockKey]float64 {
	w.t.Helper()
	ctx := context.Background()
	plan, err := compile(text, testNow, nil)
	if err != nil {
		w.t.Fatalf("compile %s: %v", text, err)
	}
	snap, err := w.snapshot(ctx)
	if err != nil {
		w.t.Fatal(err)
	}
	defer snap.release()
	hits, err := query.MatchBlocks(ctx, plan, snap.sources(), query.RunOptions{Workers: w.workers()})
	if err != nil {
		w.t.Fatalf("%s: %v", text, err)
	}
	out := map[blockKey]float64{}
	for _, h := range hits {
		key, err := snap.blockKey(h.Source, h.Block)
		if err != nil {
			w.t.Fatal(err)
		}
		if _, twice := out[key]; twice {
			w.t.Errorf("%s: block %v matches twice", text, key)
		}
		out[key] = h.Score
	}
	return out
}

func (s *snapshot) blockKey(view int, block postings.Ord) (blockKey, error) {
	spans, err := s.views[view].Spans(postings.Session, postings.Block)
	if err != nil {
		return blockKey{}, err
	}
	row := spans.Of(block)
	first, _ := spans.Run(row)
	id, err := s.sessionAt(view, row)
	return blockKey{id, int(block - first)}, err
}

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-6*math.Abs(a) }

// compareSearch asks the engine and the oracle, and compares what they say of
// sessions: which, in which order, how many, and by which block and score.
func (w *world) compareSearch(text string, o *oracle.Archive) oracle.Answer {
	w.t.Helper()
	q, err := query.Parse(text)
	if err != nil {
		w.t.Fatalf("parse %s: %v", text, err)
	}
	want, err := o.Answer(q)
	if err != nil {
		w.t.Fatalf("%s: %v", text, err)
	}
	got := w.search(SearchRequest{Query: text, Limit: len(want.Hits) + 1})
	if got.Total != len(want.Hits) || len(got.Hits) != len(want.Hits) || got.Returned != len(want.Hits) || got.Partial {
		w.t.Errorf("%s: total %d, %d hits, want %d", text, got.Total, len(got.Hits), len(want.Hits))
		return want
	}
	at := map[string]oracle.Hit{}
	for _, h := range want.Hits {
		at[string(h.Session)] = h
	}
	for i, h := range want.Hits {
		// Sums in another order round differently: where scores differ by that alone,
		// equal ones among them, two sessions may change places. The order must still
		// be that of our own scores.
		own, ok := at[got.Hits[i].Session.ID]
		if ok && math.Abs(own.Score-h.Score) <= 1e-12*math.Abs(h.Score) && (i == 0 || inOrder(got.Hits[i-1], got.Hits[i], at)) {
			h = own
		}
		if diff := differs(got.Hits[i], h); diff != "" {
			w.t.Errorf("%s: hit %d: %s", text, i, diff)
			return want
		}
	}
	return want
}

// inOrder reports whether b may come after a, by their own scores, then by the times
// and ids of their sessions.
func inOrder(a, b Hit, at map[string]oracle.Hit) bool {
	x, y := at[a.Session.ID], at[b.Session.ID]
	if a.Match != nil && b.Match != nil && *a.Match.Score != *b.Match.Score {
		return *a.Match.Score < *b.Match.Score
	}
	if x.Time != y.Time {
		return y.Time == archive.NoTime || x.Time != archive.NoTime && x.Time > y.Time
	}
	return x.Session < y.Session
}

func differs(got Hit, want oracle.Hit) string {
	if got.Session.ID != string(want.Session) {
		return fmt.Sprintf("session %s, want %s", got.Session.ID, want.Session)
	}
	if (got.Match != nil) != (want.Block >= 0) {
		return fmt.Sprintf("match %v, want block %d", got.Match, want.Block)
	}
	if got.Match != nil && got.Match.BlockID != want.BlockID {
		return fmt.Sprintf("block %s, want %s", got.Match.BlockID, want.BlockID)
	}
	if got.Match != nil && !near(want.Score, *got.Match.Score) {
		return fmt.Sprintf("score %v, want %v", *got.Match.Score, want.Score)
	}
	return ""
}

// compareBlocks compares which blocks match a query with text, and their scores.
func (w *world) compareBlocks(text string, want map[blockKey]float64, scores bool) {
	w.t.Helper()
	got := w.matching(text)
	if len(got) != len(want) {
		w.t.Errorf("%s: %d blocks, want %d", text, len(got), len(want))
	}
	for k, score := range want {
		if have, ok := got[k]; !ok || scores && !near(score, have) {
			w.t.Errorf("%s: block %v scores %v, want %v (found %v)", text, k, have, score, ok)
			return
		}
	}
}

// sessionAt is the id of the session of a row.
func (s *snapshot) sessionAt(view int, row postings.Ord) (archive.SessionID, error) {
	ref, err := s.views[view].Segment().SessionRef(row)
	if err != nil {
		return "", err
	}
	sum, err := s.store.Summary(store.No(ref.No))
	return sum.ID, err
}

// randomExpression makes text that FTS5 and we read alike.
func randomExpression(r *rand.Rand, depth int) string {
	list := func() string {
		s := randomTerm(r)
		for r.IntN(3) == 0 {
			s += " " + randomTerm(r)
		}
		return s
	}
	if depth == 0 {
		return list()
	}
	s := ""
	for i := range 1 + r.IntN(4) {
		if i > 0 {
			s += pick(r, " AND ", " OR ", " OR ", " NOT ")
		}
		if r.IntN(3) == 0 {
			s += "(" + randomExpression(r, depth-1) + ")"
		} else {
			s += list()
		}
	}
	return s
}

// randomTerm makes a word, a phrase or a prefix. Words with a sign inside are
// quoted, as FTS5 needs.
func randomTerm(r *rand.Rand) string {
	word := func() string { return strings.ToLower(randomWord(r)) }
	switch r.IntN(6) {
	case 0:
		return quoted(word() + " " + word())
	case 1:
		return `"` + start(word(), 1+r.IntN(2)) + `"*`
	case 2:
		return `"` + word() + `-` + start(word(), 1) + `"*`
	}
	return quoted(word())
}

func quoted(s string) string {
	if strings.ContainsAny(s, " -./_0123456789") {
		return `"` + s + `"`
	}
	return s
}

func start(s string, n int) string {
	r := []rune(s)
	return strings.TrimRight(string(r[:min(n, len(r))]), "-./_")
}

// testSeed repeats what a log tells.
var testSeed = flag.Uint64("seed", 0, "seed of the random tests; 0 means a new one")

// long asks for the long random comparisons.
var long = flag.Bool("long", false, "ten thousand random queries instead of some hundreds")

// soon is what nothing takes that does not hang, however busy the machine is.
const soon = time.Minute

// atMost is the limit d of a time: as it is in the long form, on a machine that does
// nothing else, and ten times that where others may have the processor.
func atMost(d time.Duration) time.Duration {
	if *long {
		return d
	}
	return 10 * d
}

// seeded is a source of chance whose seed is in the log.
func seeded(t testing.TB) *rand.Rand {
	seed := cmp.Or(*testSeed, uint64(time.Now().UnixNano()))
	t.Logf("seed %d", seed)
	return rand.New(rand.NewPCG(seed, 1))
}
