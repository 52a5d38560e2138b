package engine

import (
	"slices"
	"testing"

	"github.com/hansard-search/hansard/engine/archive"
	"github.com/hansard-search/hansard/engine/internal/oracle"
	"github.com/hansard-search/hansard/query"
)

// toolBlocks are the blocks of tool calls and their results.
func toolBlocks(sessions []oracle.Session) map[blockKey]bool {
	out := map[blockKey]bool{}
	for _, s := range sessions {
		rank := 0
		for _, m := range s.Messages {
			for _, b := range m.Blocks {
				if b.Type == archive.BlockToolUse || b.Type == archive.BlockToolResult {
					out[blockKey{s.Head.ID(), rank}] = true
				}
				rank++
			}
		}
	}
	return out
}

// TestActionsLane holds that the actions lane finds the sessions of which a tool
// block matches, shows such a block, and gives no score.
func TestActionsLane(t *testing.T) {
	r := seeded(t)
	w := newWorld(t, Options{FlushBytes: 8 << 10})
	w.put(randomScripts(r, 30)...)
	w.load()
	sessions := readAll(t, w.src)
	o, tools := oracle.New(sessions, testNow), toolBlocks(sessions)
	found := 0
	for range 300 {
		text := randomExpression(r, 1)
		if r.IntN(2) == 0 {
			text = "(" + text + ") -retry" // drops a session for any of its blocks
		}
		q, err := query.Parse(text)
		if err != nil {
			t.Fatalf("parse %s: %v", text, err)
		}
		answer, err := o.Answer(q)
		if err != nil {
			t.Fatal(err)
		}
		want := map[string]bool{}
		for id, blocks := range answer.Matching {
			for rank := range blocks {
				if tools[blockKey{id, rank}] {
					want[string(id)] = true
				}
			}
		}
		found += min(1, len(want))
		env := w.search(SearchRequest{Query: text, Lane: LaneActions, Limit: len(want) + 1})
		compareLane(t, text, env, want)
		if t.Failed() {
			return
		}
	}
	if found < 100 {
		t.Errorf("only %d of 300 queries find anything", found)
	}
}

func compareLane(t *testing.T, text string, env *SearchEnvelope, want map[string]bool) {
	t.Helper()
	got := idsOf(env)
	if env.Total != len(want) || slices.ContainsFunc(got, func(id string) bool { return !want[id] }) {
		t.Errorf("%s: %d sessions %v, want %v", text, env.Total, got, want)
	}
	for _, h := range env.Hits {
		if m := h.Match; m.Score != nil || m.ScoreKind != nil || m.BlockType != "tool_use" && m.BlockType != "tool_result" {
			t.Errorf("%s: a %s block with score %v", text, m.BlockType, m.Score)
		}
	}
}
