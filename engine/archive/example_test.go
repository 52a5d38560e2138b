package archive_test

import (
	"fmt"

	"github.com/hansard-search/hansard/engine/archive"
)

// An importer hands every message to a deriver and finishes the session's head.
func ExampleDeriver() {
	messages := []archive.Message{
		{Role: archive.RoleUser, Time: 1_000, Blocks: []archive.Block{
			{Type: archive.BlockText, Text: "run the tests"}}},
		{Role: archive.RoleAssistant, Time: 2_000, Blocks: []archive.Block{
			{Type: archive.BlockToolUse, ToolID: "c1", ToolName: "shell", ToolInput: `{"command":["bash","-lc","go test"]}`}}},
		{Role: archive.RoleTool, Time: 3_000, Blocks: []archive.Block{
			{Type: archive.BlockToolResult, ToolID: "c1", Text: "Exit code: 1\nFAIL", Outcome: archive.TextOutcome("Exit code: 1\nFAIL")}}},
	}
	s := archive.Session{Origin: archive.Codex, Native: "5f0c", Created: archive.NoTime, Updated: archive.NoTime}
	d := archive.NewDeriver(s.Origin)
	for i := range messages {
		messages[i].Position = i
		if err := d.Add(&messages[i]); err != nil {
			fmt.Println(err)
		}
	}
	d.Finish(&s)
	fmt.Println(s.Title, s.Counters.Messages, s.Counters.Words)
	for _, a := range s.Actions {
		fmt.Println(a.Family, a.Semantic, a.Command, a.State, a.ExitCode.Value)
	}
	// Output:
	// run the tests 3 7
	// bash shell go test outcome_error 1
}
