package query

import "github.com/hansard-search/hansard/postings"

// The fields of the units whose rows are rows of a source: messages, actions, blocks,
// and files, which are paths of actions. A field of a message that asks for its tool
// calls reads the columns of its blocks.

var messageFields = []FieldSpec{
	{Name: "action", Kind: KindWord, Match: MatchAction, Columns: []string{"block.semantic"},
		Description: "a call of this semantic type is in the message", Example: "action:file_edit"},
	rowCount("message", "cache_read_tokens", "input tokens that came from a cache"),
	rowCount("message", "cache_write_tokens", "input tokens that went into a cache"),
	stored("command", postings.Block, Command, "a call in the message has a command that contains this", "command:pytest"),
	rowCount("message", "duration_ms", "recorded duration in milliseconds"),
	rowCount("message", "input_tokens", "input tokens"),
	stored("output", postings.Block, Output, "the result of a call in the message contains this", "output:failed"),
	rowCount("message", "output_tokens", "output tokens"),
	{Name: "path", Kind: KindText, Match: MatchPath, Columns: []string{"block.path"},
		Description: "a call in the message names a path that contains this", Example: "path:src/query"},
	{Name: "role", Kind: KindText, Match: MatchFold, Columns: []string{"message.role"},
		Description: "role of the author", Example: "role:assistant"},
	stored("text", postings.Block, SearchText, "a block of the message contains this", "text:timeout"),
	{Name: "time", Kind: KindTime, Match: MatchTime, Columns: []string{"message.time"},
		Description: "time of the message, compared", Example: "time >= 2026-01-01"},
	{Name: "tool", Kind: KindText, Match: MatchTool, Columns: []string{"block.tool"},
		Description: "a call in the message is of this tool or family", Example: "tool:bash"},
	{Name: "type", Kind: KindText, Match: MatchFold, Columns: []string{"message.type"},
		Description: "type of the message", Example: "type:summary"},
	rowCount("message", "words", "number of words"),
}

var actionFields = []FieldSpec{
	{Name: "action", Kind: KindWord, Match: MatchAction, Columns: []string{"action.semantic"},
		Description: "semantic type", Example: "action:file_edit"},
	stored("command", postings.Action, Command, "command that contains this", "command:pytest"),
	{Name: "exit_code", Kind: KindNumber, Match: MatchNumber, Columns: []string{"action.exit_code"}, Signed: true,
		Description: "exit code", Example: "exit_code:>=1"},
	{Name: "followup_class", Kind: KindText, Match: MatchFold, Columns: []string{"action.followup_class"},
		Description: "what the assistant did after the failure of this action", Example: "followup_class:acknowledged"},
	{Name: "is_error", Kind: KindFlag, Match: MatchBool, Columns: []string{"action.is_error"},
		Description: "whether the result says that it failed", Example: "is_error:true"},
	stored("output", postings.Action, Output, "output that contains this", "output:failed"),
	{Name: "path", Kind: KindText, Match: MatchPath, Columns: []string{"action.path"},
		Description: "a path that contains this", Example: "path:src/query"},
	stored("text", postings.Action, ActionText, "tool, command, path, input or output that contains this", "text:timeout"),
	{Name: "time", Kind: KindTime, Match: MatchTime, Columns: []string{"action.time"},
		Description: "time of the action, compared", Example: "time >= 2026-01-01"},
	{Name: "tool", Kind: KindText, Match: MatchTool, Columns: []string{"action.tool"},
		Description: "this tool or family", Example: "tool:bash"},
	{Name: "type", Kind: KindText, Match: MatchFold, Columns: []string{"action.semantic"},
		Description: "semantic type, whether known to this build or not", Example: "type:shell"},
}

var blockFields = []FieldSpec{
	{Name: "action", Kind: KindWord, Match: MatchAction, Columns: []string{"block.semantic"},
		Description: "a call of this semantic type", Example: "action:file_edit"},
	stored("command", postings.Block, Command, "command that contains this", "command:pytest"),
	{Name: "path", Kind: KindText, Match: MatchPath, Columns: []string{"block.path"},
		Description: "a path that contains this", Example: "path:src/query"},
	stored("text", postings.Block, SearchText, "search text that contains this", "text:timeout"),
	{Name: "time", Kind: KindTime, Match: MatchTime, Columns: []string{"block.time"},
		Description: "time of the message, compared", Example: "time >= 2026-01-01"},
	{Name: "tool", Kind: KindText, Match: MatchTool, Columns: []string{"block.tool"},
		Description: "a call of this tool or family", Example: "tool:bash"},
	{Name: "type", Kind: KindText, Match: MatchFold, Columns: []string{"block.type"},
		Description: "type of the block", Example: "type:code"},
}

var fileFields = []FieldSpec{
	{Name: "action", Kind: KindWord, Match: MatchAction, Columns: []string{"action.semantic"},
		Description: "touched by an action of this semantic type", Example: "action:file_edit"},
	stored("command", postings.Action, Command, "touched by a command that contains this", "command:pytest"),
	{Name: "path", Kind: KindText, Match: MatchPath, Columns: []string{"action.path"},
		Description: "path that contains this", Example: "path:src/query"},
	stored("text", postings.Action, FileText, "path, tool or command that contains this", "text:timeout"),
	{Name: "time", Kind: KindTime, Match: MatchTime, Columns: []string{"action.time"},
		Description: "time of the action, compared", Example: "time >= 2026-01-01"},
	{Name: "tool", Kind: KindText, Match: MatchTool, Columns: []string{"action.tool"},
		Description: "touched by this tool or family", Example: "tool:edit"},
	{Name: "type", Kind: KindText, Match: MatchFold, Columns: []string{"action.semantic"},
		Description: "touched by an action of this semantic type, whether known to this build or not", Example: "type:file_edit"},
}

func rowCount(unit, name, description string) FieldSpec {
	return FieldSpec{Name: name, Kind: KindNumber, Match: MatchNumber, Columns: []string{unit + "." + name},
		Description: description, Example: name + ":>=1000"}
}
