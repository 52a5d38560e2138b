package archive

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestPairing(t *testing.T) {
	ok := Outcome{IsError: False}
	for _, c := range []struct {
		name  string
		steps string // u and r are a use and a result of the id that follows; one message each, + joins to the one before
		want  string // use>result by message.block
	}{
		{"plain", "uA rA", "0.0>1.0"},
		{"no result", "uA", "0.0>-"},
		{"orphan result", "rA", ""},
		{"no id", "u r", "0.0>-"},
		{"surplus results", "uA rA rA", "0.0>1.0"},
		{"surplus uses", "uA uA rA", "0.0>2.0 1.0>-"},
		{"by rank", "uA uB uA rA rB rA", "0.0>3.0 1.0>4.0 2.0>5.0"},
		{"result first", "rA uA", "1.0>0.0"},
		{"results first, by rank", "rA rA uA uA", "2.0>0.0 3.0>1.0"},
		{"reused id", "uA rA uA rA", "0.0>1.0 2.0>3.0"},
		{"one message", "uA +rA +uA +rA", "0.0>0.1 0.2>0.3"},
		{"interleaved", "uA +uB rB rA", "0.0>2.0 0.1>1.0"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var messages []Message
			for step := range strings.FieldsSeq(c.steps) {
				glued := strings.HasPrefix(step, "+")
				step = strings.TrimPrefix(step, "+")
				b := use(step[1:], "Read", "")
				if step[0] == 'r' {
					b = result(step[1:], "x", ok)
				}
				if glued {
					last := &messages[len(messages)-1]
					last.Blocks = append(last.Blocks, b)
				} else {
					messages = append(messages, Message{Role: RoleTool, Blocks: []Block{b}})
				}
			}
			s := &Session{Origin: Codex, Native: "p"}
			derive(t, s, messages)
			if got := pairsOf(s); got != c.want {
				t.Errorf("pairs = %s, want %s", got, c.want)
			}
		})
	}
}

func pairsOf(s *Session) string {
	var words []string
	for _, a := range s.Actions {
		r := "-"
		if a.Result >= 0 {
			r = fmt.Sprintf("%d.%d", a.ResultMessage, a.ResultBlock)
		}
		if (a.Result < 0) != (a.State == NoResult) || a.State == NoResult && a.IsError != Unknown {
			r += "!"
		}
		words = append(words, fmt.Sprintf("%d.%d>%s", a.UseMessage, a.UseBlock, r))
	}
	return strings.Join(words, " ")
}

// TestPairingAgainstOracle compares with the rule as it is said: rank uses and
// results of one id apart, join equal ranks; and the failure that is followed up
// with a look at every later message.
func TestPairingAgainstOracle(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 2))
	outcomes := []Outcome{{}, {IsError: True}, {IsError: False}, {ExitCode: IntOf(2)}, {ExitCode: IntOf(0)}}
	for range 500 {
		messages := make([]Message, rng.IntN(25))
		for i := range messages {
			m := &messages[i]
			m.Role = []Role{RoleAssistant, RoleTool, RoleUser}[rng.IntN(3)]
			m.Inherited = rng.IntN(5) == 0
			for range rng.IntN(4) {
				id := []string{"", "A", "B"}[rng.IntN(3)]
				switch rng.IntN(3) {
				case 0:
					m.Blocks = append(m.Blocks, use(id, "Bash", `{"command":"ls"}`))
				case 1:
					m.Blocks = append(m.Blocks, result(id, "out", outcomes[rng.IntN(len(outcomes))]))
				default:
					m.Blocks = append(m.Blocks, text(strings.Repeat("a word ", rng.IntN(9))))
				}
			}
		}
		s := &Session{Origin: Codex, Native: "p"}
		derive(t, s, messages)
		if got, want := actionsOf(s), oracleActions(messages); got != want {
			t.Fatalf("actions (-want +got):\n%s", cmp.Diff(want, got))
		}
	}
}

func oracleActions(messages []Message) string {
	type place struct{ message, block, rank int }
	s := &Session{}
	results := map[string][]place{}
	rank := 0
	for i := range messages {
		for j, b := range messages[i].Blocks {
			if b.Type == BlockToolResult && b.ToolID != "" {
				results[b.ToolID] = append(results[b.ToolID], place{i, j, rank})
			}
			rank++
		}
	}
	rank = 0
	seen := map[string]int{}
	for i := range messages {
		for j, b := range messages[i].Blocks {
			rank++
			if b.Type != BlockToolUse {
				continue
			}
			a := Action{UseMessage: i, UseBlock: j, Use: rank - 1, ResultMessage: -1, ResultBlock: -1, Result: -1,
				ToolName: "Bash", Family: "bash", Semantic: "shell", Command: "ls", State: NoResult, FollowupMessage: -1}
			if k := seen[b.ToolID]; k < len(results[b.ToolID]) {
				r := results[b.ToolID][k]
				o := messages[r.message].Blocks[r.block].Outcome
				a.ResultMessage, a.ResultBlock, a.Result = r.message, r.block, r.rank
				a.IsError, a.ExitCode, a.State = o.errorFlag(), o.ExitCode, o.State()
				if o.failed() {
					a.Followup = FollowupAmbiguous
					if n := slices.IndexFunc(messages[r.message+1:], func(m Message) bool { return m.Role == RoleAssistant }); n >= 0 {
						a.FollowupMessage = r.message + 1 + n
						a.Followup = ClassifyFollowup(&messages[a.FollowupMessage])
					}
				}
			}
			seen[b.ToolID]++
			s.Actions = append(s.Actions, a)
		}
	}
	return actionsOf(s)
}

// TestFileOrder: where results interleave a streamed reply, the actions follow
// the file and not the transcript.
func TestFileOrder(t *testing.T) {
	messages := []Message{
		{Role: RoleAssistant, Blocks: []Block{use("A", "Read", ""), use("C", "Edit", "")}},
		{Role: RoleAssistant, Blocks: []Block{use("B", "Bash", "")}},
	}
	messages[0].Blocks[1].Seq = 2
	messages[1].Blocks[0].Seq = 1
	s := &Session{Origin: ClaudeCode, Native: "f"}
	derive(t, s, messages)
	if got := pairsOf(s); got != "0.0>- 1.0>- 0.1>-" {
		t.Errorf("order = %s", got)
	}
	plain := []Message{{Blocks: []Block{text("a"), text("b")}}, {Blocks: []Block{text("c")}}}
	derive(t, &Session{Origin: ClaudeCode, Native: "f"}, plain)
	if got := []int{plain[0].Blocks[0].Seq, plain[0].Blocks[1].Seq, plain[1].Blocks[0].Seq}; !slices.Equal(got, []int{0, 1, 2}) {
		t.Errorf("Seq = %v", got)
	}
}

func TestResultPaths(t *testing.T) {
	r := result("t", "ok", Outcome{IsError: False})
	r.Paths = []string{`C:\r\a.go`, "b.go", ""}
	messages := []Message{{Blocks: []Block{use("t", "Edit", `{"file_path":"C:/r/a.go"}`), r}, Time: 4}}
	s := &Session{Origin: ClaudeCode, Native: "f"}
	derive(t, s, messages)
	if got := s.Actions[0].Paths; !slices.Equal(got, []string{"C:/r/a.go", "b.go"}) {
		t.Errorf("paths = %q", got)
	}
	if s.Actions[0].Time != 4 || s.Actions[0].ResultTime != 4 {
		t.Errorf("times = %+v", s.Actions[0])
	}
}

func TestFollowup(t *testing.T) {
	for _, c := range []struct {
		name   string
		blocks []Block
		want   string
	}{
		{"empty", nil, FollowupAmbiguous},
		{"marker", []Block{text("That Failed, so")}, FollowupAcknowledged},
		{"marker in a command", []Block{use("", "Bash", `{"command":"cat error_handler.go"}`)}, FollowupAcknowledged},
		{"marker in a Write body is not seen", []Block{text("now I go on with the next step"), use("", "Write", `{"content":"error"}`)}, FollowupWordless},
		{"tagged thought", []Block{text("<thinking>I should look elsewhere now</thinking>")}, FollowupAmbiguous},
		{"thought and more", []Block{text("<thinking>I look</thinking> and then go on")}, FollowupSilent},
		{"wordless", []Block{text(strings.Repeat("é", 40)), use("", "Bash", "")}, FollowupWordless},
		{"wordy", []Block{text(strings.Repeat("é", 41)), use("", "Bash", "")}, FollowupSilent},
		{"text after the call", []Block{use("", "Bash", ""), text(strings.Repeat("é", 41))}, FollowupWordless},
		{"short", []Block{text("next step, then ok.")}, FollowupAmbiguous},
		{"long enough", []Block{text("next step, then okay")}, FollowupSilent},
	} {
		if got := ClassifyFollowup(&Message{Blocks: c.blocks}); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
	if len(acknowledgements) != 47 {
		t.Errorf("%d markers, want 47", len(acknowledgements))
	}
}
