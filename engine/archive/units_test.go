package archive

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// unitSession has two edits, a failed command and a compaction.
func unitSession(t *testing.T) (*Session, []Message) {
	messages := []Message{
		{Native: "m0", Role: RoleUser, Time: 100, Blocks: []Block{text("change the tax rule")}},
		{Native: "m1", Role: RoleAssistant, Time: 300, Blocks: []Block{
			use("e1", "Edit", `{"file_path":"/r/b.go"}`), use("e2", "Edit", `{"file_path":"/r/a.go"}`)}},
		{Native: "m2", Role: RoleTool, Time: 200, Blocks: []Block{result("e1", "ok", Outcome{IsError: False}), result("e2", "ok", Outcome{})}},
		{Native: "m3", Role: RoleAssistant, Blocks: []Block{use("x", "Bash", `{"command":"go test"}`), use("e3", "Edit", `{"file_path":"/r/b.go"}`)}},
		{Native: "m3", Role: RoleTool, Time: 500, Blocks: []Block{result("x", "FAIL", Outcome{IsError: True})}},
	}
	s := &Session{Origin: ClaudeCode, Native: "u", Branch: Subagent, Parent: "p", GitBranch: "main", WorkDirs: []string{"/r"},
		Events: []Event{{Kind: "mode", Time: NoTime}, {Kind: BoundaryCompaction, Time: 450, Summary: "short now", Payload: `{"trigger":"auto"}`}}}
	derive(t, s, messages)
	return s, messages
}

func TestFiles(t *testing.T) {
	s, _ := unitSession(t)
	describe := func(files []File) string {
		var b strings.Builder
		for _, f := range files {
			fmt.Fprintf(&b, "%s %d %d-%d %d-%d\n", f.Path, f.Actions, f.First, f.Last, f.FirstSeen, f.LastSeen)
		}
		return b.String()
	}
	check(t, "files", describe(Files(s, nil)), "/r/a.go 1 1-1 300-300\n/r/b.go 2 0-3 300-500")
	check(t, "some", describe(Files(s, func(a *Action) bool { return a.UseMessage == 3 })), "/r/b.go 1 3-3 500-500")
	s.Actions[1].Inherited = true
	check(t, "own", describe(Files(s, nil)), "/r/b.go 2 0-3 300-500")
}

func TestRun(t *testing.T) {
	s, _ := unitSession(t)
	r := RunOf(s, "Explore")
	got := fmt.Sprintf("%s %s %s %s %s %s %s %s %s|%s", r.Ref, r.ParentRun, r.Agent, r.Role, r.Dir, r.Status, r.Confidence, r.Snapshot, r.Lineage, r.SearchText)
	check(t, "run", got, "run:claude-code-session:u run:claude-code-session:p agent:claude-code/subagent/Explore subagent /r failed raw "+
		"context-snapshot:claude-code-session:u:subagent_start [run:claude-code-session:u]|u u main")
	r = RunOf(&Session{Origin: GeminiCLI, Native: "g"}, "")
	if got := fmt.Sprint(r.Agent, r.Title, r.Parent, r.ParentRun, r.Status); got != "agent:local/maingemini-cli-session:gunknown" {
		t.Errorf("plain run = %s", got)
	}
}

func TestSnapshots(t *testing.T) {
	s, _ := unitSession(t)
	var got []string
	for _, c := range Snapshots(s) {
		got = append(got, fmt.Sprint(c.Ref, " ", c.Inheritance, " ", c.Time, " ", c.SearchText))
		if refs, err := ParseRef(c.Ref); err != nil || refs[0].Name != c.Boundary || refs[0].Session != s.ID() {
			t.Errorf("ParseRef(%s) = %v, %v", c.Ref, refs, err)
		}
	}
	check(t, "snapshots", strings.Join(got, "\n"), `
context-snapshot:claude-code-session:u:subagent_start spawned-fresh 500 u u
context-snapshot:claude-code-session:u:compaction:0 none 450 u u short now`)
	s.Branch = Continuation
	if c := Snapshots(s)[0]; c.Boundary != BoundaryResume || c.Inheritance != PrefixSharing {
		t.Errorf("resumed = %+v", c)
	}
}

func TestObservedEvents(t *testing.T) {
	s, messages := unitSession(t)
	ids := func(pos int) string { return MessageID(s.ID(), &messages[pos], s.Duplicates) }
	tools := func(a *Action) string { return messages[a.UseMessage].Blocks[a.UseBlock].ToolID }
	var got []string
	for _, e := range ObservedEvents(s, ids, tools) {
		got = append(got, fmt.Sprint(strings.TrimPrefix(e.Ref, "observed-event:claude-code-session:"), " ", e.Summary, " ", e.Handler, " ", e.Status, " ", e.Objects, " ", e.Time))
		if refs, err := ParseRef(e.Ref); err != nil || refs[0].Name != e.Kind {
			t.Errorf("ParseRef(%s) = %v, %v", e.Ref, refs, err)
		}
		if e.Payload != "" && !json.Valid([]byte(e.Payload)) {
			t.Errorf("payload %s", e.Payload)
		}
	}
	check(t, "events", strings.Join(got, "\n"), `
u:session_started u   [session:claude-code-session:u] 100
u:n:m1:0:tool_finished Edit [file_edit] (ok) file_edit ok [tool-call:claude-code-session:u:e1] 200
u:n:m1:1:tool_finished Edit [file_edit] (unknown) file_edit unknown [tool-call:claude-code-session:u:e2] 200
u:p:3.0:0:tool_finished Bash [shell] (failed) - go test shell failed [tool-call:claude-code-session:u:x] 500
u:mode:0 mode   [session:claude-code-session:u] `+fmt.Sprint(NoTime)+`
u:compaction:1 short now   [session:claude-code-session:u] 450`)
}

// TestRepeatedResult: one call whose id has two results has one action and one
// event, that of the first result.
func TestRepeatedResult(t *testing.T) {
	messages := []Message{
		{Blocks: []Block{use("t", "Bash", `{"command":"ls"}`)}}, {Blocks: []Block{result("t", "r1", Outcome{IsError: False})}},
		{Blocks: []Block{result("t", "r2", Outcome{})}},
	}
	s := &Session{Origin: ClaudeCode, Native: "d"}
	derive(t, s, messages)
	events := ObservedEvents(s, func(pos int) string { return MessageID(s.ID(), &messages[pos], nil) }, nil)
	if len(s.Actions) != 1 || len(events) != 2 || events[1].Status != "ok" || s.Actions[0].ResultMessage != 1 {
		t.Errorf("actions %+v, events %+v", s.Actions, events)
	}
}

func TestHandlerKind(t *testing.T) {
	for _, c := range []struct {
		a    Action
		want string
	}{
		{Action{ToolName: "mcp__x__y", Command: "ls"}, "mcp"}, {Action{ToolName: "Bash", Command: "ls", Semantic: ShellAction}, "shell"},
		{Action{ToolName: "str_replace_editor", Command: "view", Semantic: FileRead}, "file_read"}, {Action{ToolName: "x"}, "tool_use"},
		{Action{ToolName: "x", Command: "ls"}, "shell"},
	} {
		if got := HandlerKind(&c.a); got != c.want {
			t.Errorf("HandlerKind(%s) = %s, want %s", c.a.ToolName, got, c.want)
		}
	}
}
