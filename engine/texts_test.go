package engine

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hansard-search/hansard/engine/archive"
	"github.com/hansard-search/hansard/engine/internal/oracle"
)

// TestStoredText compares the substring predicates with plain loops over the sessions.
func TestStoredText(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 8))
	w := newWorld(t, Options{NoMerge: true})
	for i, s := range randomScripts(r, 24) {
		w.put(s)
		if i%7 == 0 {
			w.load()
			w.search(SearchRequest{})
		}
	}
	w.load()
	sessions := readAll(t, w.src)
	needles := []string{"go test", "GIT", "status", "100%", "a_b", "src/query", "zebra quark", "café", "CAFÉ", "cafe", "łódź", "Query",
		"file_path", "tmp", "Bash", "shell", "e", " ", "\n", "plan.go", "ls src/index", "%", "_", "other", "no such text"}
	for range 20 {
		text := randomText(r, 3)
		from := r.IntN(len(text))
		needles = append(needles, strings.ToValidUTF8(text[from:from+r.IntN(len(text)-from)]+"", ""))
	}
	found := 0
	for _, n := range needles {
		if n == "" {
			continue
		}
		quoted, err := json.Marshal(n)
		if err != nil {
			t.Fatal(err)
		}
		for _, unit := range []string{"message", "block", "action"} {
			for _, field := range []string{"text", "command", "output"} {
				if unit == "block" && field == "output" {
					continue
				}
				for _, not := range []string{"", "NOT "} {
					expression := fmt.Sprintf("%ss where %s%s:%s", unit, not, field, quoted)
					want := naiveRows(sessions, unit, func(s *oracle.Session, m *archive.Message, b int, a *archive.Action) bool {
						return naiveHas(s, unit, field, n, m, b, a) != (not != "")
					})
					var got []string
					for _, item := range w.units(UnitRequest{Expression: expression, Limit: MaxLimit}).Items {
						got = append(got, rowName(item))
					}
					slices.Sort(got)
					found += len(got)
					if d := cmp.Diff(want, got); d != "" {
						t.Errorf("%s (-want +got):\n%s", expression, d)
					}
				}
			}
		}
		// A session contains what any of its blocks contains.
		want := map[string]bool{}
		for i := range sessions {
			s := &sessions[i]
			for m := range s.Messages {
				for b := range s.Messages[m].Blocks {
					if !s.Messages[m].Inherited && naiveHas(s, "block", "text", n, &s.Messages[m], b, nil) {
						want[string(s.Head.ID())] = true
					}
				}
			}
		}
		if env := w.search(SearchRequest{Query: "contains:" + string(quoted), Limit: 1000}); env.Total != len(want) {
			t.Errorf("contains:%s: %d sessions, want %d", quoted, env.Total, len(want))
		}
	}
	t.Logf("%d rows for %d needles", found, len(needles))
}

// naiveRows are the names of the rows of a unit that accept holds for, sorted.
func naiveRows(sessions []oracle.Session, unit string, accept func(*oracle.Session, *archive.Message, int, *archive.Action) bool) []string {
	var out []string
	for i := range sessions {
		s := &sessions[i]
		id := s.Head.ID()
		for k := range s.Messages {
			m := &s.Messages[k]
			name := archive.MessageID(id, m, s.Head.Duplicates)
			if m.Inherited {
				continue
			}
			if unit == "message" && accept(s, m, -1, nil) {
				out = append(out, name)
			}
			for b := range m.Blocks {
				if unit == "block" && accept(s, m, b, nil) {
					out = append(out, archive.BlockID(name, b))
				}
			}
		}
		for k := range s.Head.Actions {
			a := &s.Head.Actions[k]
			if unit == "action" && !a.Inherited && accept(s, nil, -1, a) {
				name := archive.MessageID(id, &s.Messages[a.UseMessage], s.Head.Duplicates)
				out = append(out, archive.BlockID(name, a.UseBlock))
			}
		}
	}
	slices.Sort(out)
	return out
}

func rowName(item any) string {
	switch item := item.(type) {
	case *MessageItem:
		return item.MessageID
	case *BlockItem:
		return item.BlockID
	case *ActionItem:
		return item.UseBlockID
	}
	panic(fmt.Sprintf("%T", item))
}

// naiveHas reports whether a field of a row contains a needle.
func naiveHas(s *oracle.Session, unit, field, needle string, m *archive.Message, b int, a *archive.Action) bool {
	holds := func(texts ...string) bool {
		return slices.ContainsFunc(texts, func(x string) bool {
			return strings.Contains(strings.ToUpper(x), strings.ToUpper(needle))
		})
	}
	input := func(block *archive.Block) map[string]any {
		var v map[string]any
		_ = json.Unmarshal([]byte(block.ToolInput), &v)
		return v
	}
	blockHas := func(block *archive.Block) bool {
		if field == "command" {
			return block.Type == archive.BlockToolUse && holds(archive.Command(block.ToolName, block.ToolInput))
		}
		in := input(block)
		texts := []string{block.Text, block.ToolName}
		for _, k := range []string{"command", "file_path", "path"} {
			if v, ok := in[k].(string); ok {
				texts = append(texts, v)
			}
		}
		for i := range texts {
			texts[i] = strings.TrimSpace(texts[i])
		}
		return holds(texts...)
	}
	output := func(a *archive.Action) bool {
		return a.ResultMessage >= 0 && holds(s.Messages[a.ResultMessage].Blocks[a.ResultBlock].Text)
	}
	switch {
	case unit == "action":
		switch field {
		case "command":
			return holds(a.Command)
		case "output":
			return output(a)
		}
		kind := a.Semantic
		if kind == "" {
			kind = "other"
		}
		texts := append([]string{a.ToolName, kind, a.Command}, a.Paths...)
		for k, v := range input(&s.Messages[a.UseMessage].Blocks[a.UseBlock]) {
			texts = append(texts, k)
			if v, ok := v.(string); ok {
				texts = append(texts, v)
			}
		}
		return holds(texts...) || output(a)
	case field == "output":
		for i := range s.Head.Actions {
			if a := &s.Head.Actions[i]; a.UseMessage == m.Position && output(a) {
				return true
			}
		}
		return false
	case unit == "block":
		return blockHas(&m.Blocks[b])
	}
	for i := range m.Blocks {
		if blockHas(&m.Blocks[i]) {
			return true
		}
	}
	return false
}
