package archive

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Blocks in short.
func text(s string) Block     { return Block{Type: BlockText, Text: s} }
func thinking(s string) Block { return Block{Type: BlockThinking, Text: s} }
func use(id, name, input string) Block {
	return Block{Type: BlockToolUse, ToolID: id, ToolName: name, ToolInput: input}
}
func result(id, s string, o Outcome) Block {
	return Block{Type: BlockToolResult, ToolID: id, Text: s, Outcome: o}
}

// derive runs a whole session; it numbers the messages and fills missing times.
func derive(t testing.TB, s *Session, messages []Message) {
	t.Helper()
	d := NewDeriver(s.Origin)
	for i := range messages {
		messages[i].Position = i
		if messages[i].Time == 0 {
			messages[i].Time = NoTime
		}
		if err := d.Add(&messages[i]); err != nil {
			t.Fatal(err)
		}
	}
	if s.Created == 0 {
		s.Created = NoTime
	}
	if s.Updated == 0 {
		s.Updated = NoTime
	}
	d.Finish(s)
}

func rowsOf(s *Session, messages []Message) string {
	var b strings.Builder
	for i := range messages {
		m := &messages[i]
		id := strings.TrimPrefix(MessageID(s.ID(), m, s.Duplicates), string(s.ID()))
		fmt.Fprintf(&b, "%s %s %s %s %d\n", id, m.Role, m.Type, m.Material, m.Words)
	}
	return b.String()
}

func actionsOf(s *Session) string {
	var b strings.Builder
	for i := range s.Actions {
		a := &s.Actions[i]
		exit := "-"
		if a.ExitCode.Known {
			exit = fmt.Sprint(a.ExitCode.Value)
		}
		fmt.Fprintf(&b, "%d.%d>%d.%d %d>%d %s/%s/%s %q %v err=%d exit=%s %s %s@%d\n", a.UseMessage, a.UseBlock,
			a.ResultMessage, a.ResultBlock, a.Use, a.Result, a.ToolName, a.Family, a.Semantic, a.Command, a.Paths,
			a.IsError, exit, a.State, a.Followup, a.FollowupMessage)
	}
	return b.String()
}

func check(t *testing.T, what, got, want string) {
	t.Helper()
	if d := cmp.Diff(strings.TrimSpace(want), strings.TrimSpace(got)); d != "" {
		t.Errorf("%s (-want +got):\n%s", what, d)
	}
}

// TestClaudeCodeSession: records of one API message are one message, prose alone
// is counted, the exit code is read from the text, a compound command is git.
func TestClaudeCodeSession(t *testing.T) {
	prompt := "please run tests [Pasted text #1 +6 lines]"
	messages := []Message{
		{Role: RoleSystem, Type: TypeSummary},
		{Native: "u1", Role: RoleUser, Material: HumanAuthored, Blocks: []Block{text(prompt)}, Pastes: FindPastes(prompt), Time: 1000},
		{Native: "a1", Role: RoleAssistant, Model: "m-1", Tokens: Tokens{10, 5, 100, 0}, Blocks: []Block{
			thinking("hm well"), use("t1", "Bash", `{"command":"cd /repo && git status"}`)}, Time: 2000},
		{Native: "u2", Role: RoleTool, Time: 3000, Blocks: []Block{result("t1", "Exit code 1\nboom",
			Outcome{IsError: True, ExitCode: ExitFromText("Exit code 1\nboom", ExitClaude)})}},
		{Native: "c1", Role: RoleSystem, Type: TypeSummary, Blocks: []Block{text("Conversation compacted")}},
		{Native: "u3", Role: RoleUser, Blocks: []Block{text("This session is being continued from a previous conversation that ran out of context. x")}},
		{Native: "u4", Role: RoleUser, Type: TypeContext, Blocks: []Block{text("meta text")}},
	}
	s := &Session{Origin: ClaudeCode, Native: "S1", WorkDirs: []string{"/repo/a"}, GitBranch: "main"}
	derive(t, s, messages)
	check(t, "messages", rowsOf(s, messages), `
:p:0.0 system summary generated_context_pack 0
:n:u1 user message human_authored 8
:n:a1 assistant tool_use assistant_authored 0
:n:u2 tool tool_result tool_result 4
:n:c1 system summary generated_context_pack 2
:n:u3 user context runtime_context 15
:n:u4 user context runtime_context 2`)
	check(t, "actions", actionsOf(s), `2.1>3.0 2>3 Bash/bash/git "cd /repo && git status" [] err=2 exit=1 outcome_error ambiguous@-1`)
	want := Counters{
		Messages: 7, Words: 31, UserMessages: 3, UserWords: 25, AuthoredUserMessages: 1, AuthoredUserWords: 8,
		AssistantMessages: 1, SystemMessages: 2, ToolMessages: 1, ToolUseMessages: 1, ThinkingMessages: 1,
		PasteMessages: 1, Blocks: 7, InputTokens: 10, OutputTokens: 5, CacheRead: 100,
	}
	if d := cmp.Diff(want, s.Counters); d != "" {
		t.Errorf("counters: %s", d)
	}
	head := fmt.Sprint(s.Title, " ", s.TitleSource, " ", s.TitleRef, " ", s.TitleConfidence, " ", s.RepoName, " ", s.Models, s.Has,
		s.Created, s.Updated, s.Usage, s.Status)
	check(t, "head", head, prompt+" heuristic message:claude-code-session:S1:n:u1 0.5 a [m-1] "+
		"[paste summary text thinking tool_result tool_use tools] 1000 3000 [{m-1 10 5 100 0 0}]completed")
}

func TestCodexSession(t *testing.T) {
	shell := `{"output":"ok","metadata":{"exit_code":2}}`
	exec := "Chunk ID: ab12\nWall time: 0.05 seconds\nProcess exited with code 0\nOutput:\n"
	patch := `{"input":"*** Begin Patch\n*** Update File: src/a.py\n*** Add File: src/b.py\n*** End Patch"}`
	messages := []Message{
		{Role: RoleUser, Blocks: []Block{text("<environment_context>\n<cwd>/repo/b</cwd>")}},
		{Role: RoleUser, Blocks: []Block{text("do it")}},
		{Role: RoleAssistant, Type: TypeThinking, Blocks: []Block{thinking("**Plan**")}},
		{Native: "c1", Role: RoleAssistant, Blocks: []Block{use("c1", "shell", `{"command":["bash","-lc","git status"],"workdir":"/repo/b"}`)}},
		{Native: "c1", Role: RoleTool, Blocks: []Block{result("c1", shell, TextOutcome(shell))}},
		{Native: "c2", Role: RoleAssistant, Blocks: []Block{use("c2", "exec_command", `{"cmd":"ls -la"}`)}},
		{Native: "c2", Role: RoleTool, Blocks: []Block{result("c2", exec, TextOutcome(exec))}},
		{Native: "c3", Role: RoleAssistant, Blocks: []Block{use("c3", "apply_patch", patch)}},
		{Role: RoleAssistant, Blocks: []Block{use("", "web_search_call", `{"query":"foo","type":"search"}`)}},
		{Role: RoleAssistant, Blocks: []Block{text("all done here, have a look at it")}},
	}
	s := &Session{Origin: Codex, Native: "cx1", RepoURL: "git@github.com:acme/shop.git", WorkDirs: []string{"/repo/b"}}
	derive(t, s, messages)
	check(t, "messages", rowsOf(s, messages), `
:p:0.0 user context runtime_context 2
:p:1.0 user message human_authored 2
:p:2.0 assistant thinking assistant_authored 0
:p:3.0 assistant tool_use assistant_authored 0
:p:4.0 tool tool_result tool_result 1
:p:5.0 assistant tool_use assistant_authored 0
:p:6.0 tool tool_result tool_result 13
:n:c3 assistant tool_use assistant_authored 0
:p:8.0 assistant tool_use assistant_authored 0
:p:9.0 assistant message assistant_authored 8`)
	check(t, "actions", actionsOf(s), `
3.0>4.0 3>4 shell/bash/git "git status" [] err=2 exit=2 outcome_error wordless_continuation@5
5.0>6.0 5>6 exec_command/bash/shell "ls -la" [] err=1 exit=0 outcome_success @-1
7.0>-1.-1 7>-1 apply_patch/apply_patch/file_edit "" [src/a.py src/b.py] err=0 exit=- no_result @-1
8.0>-1.-1 8>-1 web_search_call/web_search_call/web "" [] err=0 exit=- no_result @-1`)
	if got := fmt.Sprint(s.Duplicates, s.Title, s.TitleRef, s.RepoName, s.RepoOwner, s.RepoPath); got != "[c1 c2]do itmessage:codex-session:cx1:p:1.0shopacmeacme/shop" {
		t.Errorf("head = %s", got)
	}
}

func TestGeminiSession(t *testing.T) {
	messages := []Message{{Role: RoleAssistant, Tokens: Tokens{7, 2, 3, 0}, Blocks: []Block{
		thinking("desc"), use("g", "run_shell_command", `{"command":"git status"}`), result("g", "clean", StatusOutcome("success"))}}}
	s := &Session{Origin: GeminiCLI, Native: "g1"}
	derive(t, s, messages)
	check(t, "actions", actionsOf(s), `0.1>0.2 1>2 run_shell_command/bash/git "git status" [] err=1 exit=- outcome_success @-1`)
	if s.Title != "g1" || s.TitleSource != "" || s.Counters.CacheRead != 3 || s.Created != NoTime {
		t.Errorf("head = %+v", s)
	}
	files := []Message{{Role: RoleUser, Blocks: []Block{text("hello you")}}}
	s = &Session{Origin: Beads, Native: "b"}
	derive(t, s, files)
	if files[0].Material != RuntimeProtocol {
		t.Errorf("an issue's text is %s", files[0].Material)
	}
}

func TestPositionsMustBeDense(t *testing.T) {
	d := NewDeriver(Codex)
	for i, c := range []struct {
		position int
		ok       bool
	}{{1, false}, {0, true}, {0, false}, {2, false}, {1, true}} {
		if err := d.Add(&Message{Position: c.position, Time: NoTime}); (err == nil) != c.ok {
			t.Errorf("step %d: position %d: %v", i, c.position, err)
		}
	}
}

func TestInheritedMessagesAreNotCounted(t *testing.T) {
	messages := []Message{
		{Native: "x", Role: RoleUser, Inherited: true, Time: 5, Blocks: []Block{text("from the parent session")}},
		{Role: RoleAssistant, Inherited: true, Time: 6, Model: "old", Tokens: Tokens{1, 1, 1, 1}, Blocks: []Block{use("t", "Bash", `{"command":"ls"}`)}},
		{Native: "x", Role: RoleTool, Time: 100, Blocks: []Block{result("t", "a b", Outcome{})}},
		{Role: RoleUser, Time: 200, Blocks: []Block{text("the own prompt")}},
	}
	s := &Session{Origin: Codex, Native: "child"}
	derive(t, s, messages)
	want := Counters{Messages: 2, Words: 5, UserMessages: 1, UserWords: 3, AuthoredUserMessages: 1, AuthoredUserWords: 3, ToolMessages: 1, Blocks: 2}
	if d := cmp.Diff(want, s.Counters); d != "" {
		t.Errorf("counters: %s", d)
	}
	if got := fmt.Sprint(s.Title, s.Created, s.Updated, s.Models, s.Usage, s.Duplicates, s.Has); got != "the own prompt100 200 [] [] [x] [text tool_result]" {
		t.Errorf("head = %s", got)
	}
	check(t, "actions", actionsOf(s), `1.0>2.0 1>2 Bash/bash/shell "ls" [] err=1 exit=- outcome_unknown @-1`)
	if !s.Actions[0].Inherited {
		t.Error("the action is not inherited")
	}
}
