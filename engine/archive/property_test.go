package archive

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// randomMessages makes a session's worth of messages with every kind of block.
func randomMessages(rng *rand.Rand, n int) []Message {
	words := []string{"fix", "the", "tax", "é", "日本", "error", "<system>", "\n", "[Pasted text #1]", "# Commit "}
	prose := func() string {
		s := ""
		for range rng.IntN(12) {
			s += words[rng.IntN(len(words))] + " "
		}
		return s
	}
	messages := make([]Message, n)
	for i := range messages {
		m := &messages[i]
		m.Role = []Role{RoleUser, RoleAssistant, RoleTool, RoleSystem, RoleUnknown}[rng.IntN(5)]
		m.Native = []string{"", fmt.Sprint("id", rng.IntN(2*n)), fmt.Sprint("u", i)}[rng.IntN(3)]
		m.Model = []string{"", "a", "b"}[rng.IntN(3)]
		m.Time = []int64{NoTime, rng.Int64N(1000) + 1}[rng.IntN(2)]
		m.Inherited = rng.IntN(6) == 0
		m.Tokens = Tokens{rng.Int64N(3), rng.Int64N(3), rng.Int64N(3), rng.Int64N(3)}
		for range rng.IntN(4) {
			id := fmt.Sprint("t", rng.IntN(6))
			switch rng.IntN(4) {
			case 0:
				m.Blocks = append(m.Blocks, text(prose()))
			case 1:
				m.Blocks = append(m.Blocks, thinking(prose()))
			case 2:
				m.Blocks = append(m.Blocks, use(id, "Bash", `{"command":"ls"}`))
			default:
				m.Blocks = append(m.Blocks, result(id, prose(), Outcome{IsError: Tri(rng.IntN(3))}))
			}
		}
		if rng.IntN(5) == 0 {
			m.Pastes = []Paste{{Position: 1}}
		}
	}
	return messages
}

func cloneMessages(messages []Message) []Message {
	out := make([]Message, len(messages))
	for i, m := range messages {
		m.Blocks = append([]Block(nil), m.Blocks...)
		out[i] = m
	}
	return out
}

// TestNumbersDoNotDependOnOrder: counters, models, usage, times and what the
// session has are sums, sets and bounds; any order of the messages gives the
// same. The numbers are also those of a plain count.
func TestNumbersDoNotDependOnOrder(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 3))
	for range 200 {
		messages := randomMessages(rng, rng.IntN(20))
		derived := func() *Session {
			s := &Session{Origin: Codex, Native: "p"}
			derive(t, s, cloneMessages(messages))
			s.Actions, s.Title, s.TitleRef, s.TitleSource, s.TitleConfidence, s.Status = nil, "", "", "", 0, ""
			return s
		}
		want := derived()
		rng.Shuffle(len(messages), func(i, j int) { messages[i], messages[j] = messages[j], messages[i] })
		if d := cmp.Diff(want, derived()); d != "" {
			t.Fatalf("order matters: %s", d)
		}
		var own, blocks, tokens int64
		for _, m := range messages {
			if !m.Inherited {
				own++
				blocks += int64(len(m.Blocks))
				tokens += m.Tokens.Input + m.Tokens.Output + m.Tokens.CacheRead + m.Tokens.CacheWrite
			}
		}
		c := want.Counters
		for _, u := range want.Usage {
			tokens -= u.Input + u.Output + u.CacheRead + u.CacheWrite
		}
		if c.Messages != own || c.Blocks != blocks || tokens != 0 {
			t.Fatalf("counters %+v, want %d messages, %d blocks; %d tokens differ", c, own, blocks, tokens)
		}
		if c.Words < c.UserWords+c.AssistantWords || c.Messages < c.UserMessages+c.AssistantMessages+c.SystemMessages+c.ToolMessages {
			t.Fatalf("parts exceed the whole: %+v", c)
		}
	}
}

// TestDerivationIsItsInput: two derivations that take turns do not see each
// other, a second pass over messages that carry what the first one filled changes
// nothing, and the messages' own buffers may be reused after Add.
func TestDerivationIsItsInput(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 4))
	for range 100 {
		a, b := randomMessages(rng, 15), randomMessages(rng, 15)
		want := &Session{Origin: Codex, Native: "a"}
		first := cloneMessages(a)
		derive(t, want, first)

		da, db := NewDeriver(Codex), NewDeriver(ClaudeCode)
		var m Message
		for i := range a {
			blocks := m.Blocks[:0]
			m = a[i]
			m.Position, m.Blocks = i, append(blocks, a[i].Blocks...)
			b[i].Position = i
			if err := da.Add(&m); err != nil {
				t.Fatal(err)
			}
			if err := db.Add(&b[i]); err != nil {
				t.Fatal(err)
			}
		}
		got := &Session{Origin: Codex, Native: "a", Created: NoTime, Updated: NoTime}
		da.Finish(got)
		if d := cmp.Diff(want, got); d != "" {
			t.Fatalf("taking turns: %s", d)
		}
		again := &Session{Origin: Codex, Native: "a"}
		derive(t, again, first)
		if d := cmp.Diff(want, again); d != "" {
			t.Fatalf("second pass: %s", d)
		}
	}
}
