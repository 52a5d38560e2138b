package archive

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestTimes(t *testing.T) {
	n := NoTime
	for _, c := range []struct {
		created, updated int64
		messages, events []int64
		want             string
	}{
		{n, n, []int64{5, 3, n, 9}, nil, "3 9"},
		{1, n, []int64{5, 9}, nil, "1 9"},
		{n, 20, []int64{5, 9}, nil, "5 20"},
		{7, n, nil, nil, "7 7"},
		{n, 7, nil, nil, "7 7"},
		{9, 2, nil, nil, "2 9"},
		{n, n, []int64{n}, []int64{n, 4, 2}, "2 4"},
		{n, n, []int64{8}, []int64{4, 2}, "8 8"},
		{50, n, []int64{5, 9}, nil, "9 50"},
		{n, n, []int64{n}, nil, fmt.Sprint(n, n)},
		{n, n, []int64{-5, 3}, nil, "-5 3"},
	} {
		s := &Session{Origin: Codex, Native: "t", Created: c.created, Updated: c.updated}
		d := NewDeriver(Codex)
		for i, at := range c.messages {
			if err := d.Add(&Message{Position: i, Time: at}); err != nil {
				t.Fatal(err)
			}
		}
		for _, at := range c.events {
			s.Events = append(s.Events, Event{Time: at})
		}
		d.Finish(s)
		if got := fmt.Sprint(s.Created, s.Updated); got != c.want {
			t.Errorf("times of %+v = %s, want %s", c, got, c.want)
		}
	}
}

func TestUsageAndModels(t *testing.T) {
	messages := []Message{
		{Role: RoleAssistant, Model: "b", Tokens: Tokens{1, 2, 3, 4}}, {Role: RoleAssistant, Model: "a", Tokens: Tokens{Input: 1}},
		{Role: RoleAssistant, Model: "b", Tokens: Tokens{Output: 5}}, {Role: RoleAssistant, Model: "c"}, {Role: RoleUser, Model: "u"},
	}
	s := &Session{Origin: Codex, Native: "u"}
	derive(t, s, messages)
	if got := fmt.Sprint(s.Models); got != "[b a c]" {
		t.Errorf("models = %s", got)
	}
	want := []ModelUsage{{Model: "a", Input: 1}, {Model: "b", Input: 1, Output: 7, CacheRead: 3, CacheWrite: 4}}
	if d := cmp.Diff(want, s.Usage); d != "" {
		t.Errorf("summed usage: %s", d)
	}
	s = &Session{Origin: Codex, Native: "u", Usage: []ModelUsage{{Model: "z", Input: 1}, {Model: "y"}, {Model: "z", Input: 2, Reasoning: 1}}}
	derive(t, s, messages)
	if d := cmp.Diff([]ModelUsage{{Model: "y"}, {Model: "z", Input: 3, Reasoning: 1}}, s.Usage); d != "" {
		t.Errorf("recorded usage: %s", d)
	}
}

func TestRecordedTitleStays(t *testing.T) {
	s := &Session{Origin: Codex, Native: "t", Title: " given ", TitleSource: "origin", TitleConfidence: 1, TitleRef: "x"}
	derive(t, s, []Message{{Role: RoleUser, Blocks: []Block{text("a prompt here")}}})
	if got := fmt.Sprint(s.Title, s.TitleSource, s.TitleConfidence, s.TitleRef); got != "givenorigin1x" {
		t.Errorf("title = %s", got)
	}
	s = &Session{Origin: Codex, Native: "t"}
	derive(t, s, []Message{{Native: "m", Role: RoleUser, Inherited: true, Blocks: []Block{text("a prompt here")}}})
	if s.Title != "a prompt here" || s.TitleRef != "message:codex-session:t:n:m" {
		t.Errorf("inherited title = %q %s", s.Title, s.TitleRef)
	}
}

func TestStatus(t *testing.T) {
	fails := Message{Role: RoleTool, Blocks: []Block{result("t", "x", Outcome{IsError: True})}}
	for _, c := range []struct {
		last Message
		want string
	}{
		{Message{Role: RoleAssistant, Blocks: []Block{text("done")}}, StatusCompleted},
		{Message{Role: RoleUser, Blocks: []Block{text("[Request interrupted by user for tool use]")}}, StatusInterrupted},
		{Message{Role: RoleUser, Blocks: []Block{text("<turn_aborted>\nx")}}, StatusInterrupted},
		{Message{Role: RoleAssistant, Blocks: []Block{text("[Request interrupted by user] means")}}, StatusCompleted},
		{fails, StatusFailed},
		{Message{Role: RoleAssistant, StopReason: "refusal"}, StatusFailed},
		{Message{Role: RoleAssistant, StopReason: "refusal", Inherited: true}, StatusFailed},
	} {
		s := &Session{Origin: Codex, Native: "s"}
		derive(t, s, []Message{fails, c.last})
		if s.Status != c.want {
			t.Errorf("status after %+v = %s, want %s", c.last, s.Status, c.want)
		}
	}
	s := &Session{Origin: Codex, Native: "s"}
	derive(t, s, nil)
	if s.Status != StatusUnknown || s.Actions != nil || s.Has != nil || s.Models != nil || s.Duplicates != nil {
		t.Errorf("empty session = %+v", s)
	}
}

// TestMaterialByOrigin: who is taken for human without the importer's word.
func TestMaterialByOrigin(t *testing.T) {
	for _, c := range []struct {
		origin Origin
		m      Message
		want   string
	}{
		{ClaudeCode, Message{Role: RoleUser, Blocks: []Block{text("hi")}}, "message unknown"},
		{Codex, Message{Role: RoleUser, Blocks: []Block{text("hi")}}, "message human_authored"},
		{ChatGPT, Message{Role: RoleUser, Blocks: []Block{text("hi")}}, "message human_authored"},
		{Beads, Message{Role: RoleUser, Blocks: []Block{text("hi")}}, "message runtime_protocol"},
		{Codex, Message{Role: RoleSystem, Blocks: []Block{text("hi")}}, "context runtime_context"},
		{ChatGPT, Message{Role: RoleSystem, Blocks: []Block{text("hi")}}, "message unknown"},
		{ClaudeAI, Message{Role: RoleUser, Blocks: []Block{text("<system>hi")}}, "message human_authored"},
		{Codex, Message{Role: RoleUser, Blocks: []Block{text("<system>hi")}}, "context runtime_context"},
		{Codex, Message{Role: RoleAssistant, Blocks: []Block{text("use <system>x</system>")}}, "message assistant_authored"},
		{Codex, Message{Role: RoleUser, Type: TypeProtocol, Blocks: []Block{text("x")}}, "protocol runtime_protocol"},
		{ClaudeCode, Message{Role: RoleUser, Blocks: []Block{result("t", "x", Outcome{})}}, "tool_result tool_result"},
		{ClaudeCode, Message{Role: RoleUser, Material: HumanAuthored, Blocks: []Block{text("hi"), result("t", "x", Outcome{})}}, "message human_authored"},
	} {
		messages := []Message{c.m}
		derive(t, &Session{Origin: c.origin, Native: "m"}, messages)
		if got := fmt.Sprint(messages[0].Type, " ", messages[0].Material); got != c.want {
			t.Errorf("%s %+v = %s, want %s", c.origin, c.m, got, c.want)
		}
	}
}
