package engine

import (
	"cmp"

	"github.com/hansard-search/hansard/engine/archive"
	"github.com/hansard-search/hansard/postings"
	"github.com/hansard-search/hansard/segments"
)

// A column says where the values of one index column come from. Exactly one of
// words and number is set.
type column[Row any] struct {
	name   string
	words  func(Row) []string
	number func(Row) (int64, bool)
}

// sessionRow, messageRow, blockRow and actionRow are what the columns of a unit read.
type (
	sessionRow = *archive.Session
	messageRow = *archive.Message
	blockRow   = *blockFacts
	actionRow  = *archive.Action
)

// blockFacts is a block with its message and, for a tool_use, its action.
type blockFacts struct {
	*archive.Block
	message *archive.Message
	action  *archive.Action
}

var sessionColumns = []column[sessionRow]{
	word("session.id", func(s sessionRow) string { return string(s.ID()) }),
	word("session.native", func(s sessionRow) string { return s.Native }),
	word("session.origin", func(s sessionRow) string { return string(s.Origin) }),
	words("session.tag", func(s sessionRow) []string { return s.Tags }),
	word("session.title", func(s sessionRow) string { return s.Title }),
	word("session.title_source", func(s sessionRow) string { return s.TitleSource }),
	word("session.display_name", func(s sessionRow) string { return s.DisplayName }),
	word("session.kind", func(s sessionRow) string { return s.Kind }),
	word("session.branch", func(s sessionRow) string { return string(s.Branch) }),
	word("session.parent", func(s sessionRow) string { return parentID(s) }),
	word("session.root", func(s sessionRow) string { return boolWord(s.Parent == "") }),
	word("session.repo", func(s sessionRow) string { return s.RepoName }),
	word("session.repo_full", func(s sessionRow) string { return repoFull(s) }),
	word("session.repo_url_path", func(s sessionRow) string { return s.RepoPath }),
	words("session.cwd", func(s sessionRow) []string { return s.WorkDirs }),
	word("session.git_branch", func(s sessionRow) string { return s.GitBranch }),
	word("session.commit", func(s sessionRow) string { return s.Commit }),
	word("session.project", func(s sessionRow) string { return s.Project }),
	words("session.model", func(s sessionRow) []string { return s.Models }),
	words("session.has", func(s sessionRow) []string { return s.Has }),
	moment("session.created", func(s sessionRow) int64 { return s.Created }),
	moment("session.updated", func(s sessionRow) int64 { return s.Updated }),
	moment("session.time", func(s sessionRow) int64 { return s.SortKey() }),
	optional("session.duration_ms", func(s sessionRow) archive.Int { return s.ReportedMS }),
	count("session.messages", func(s sessionRow) int64 { return s.Counters.Messages }),
	count("session.words", func(s sessionRow) int64 { return s.Counters.Words }),
	count("session.user_messages", func(s sessionRow) int64 { return s.Counters.UserMessages }),
	count("session.user_words", func(s sessionRow) int64 { return s.Counters.UserWords }),
	count("session.authored_user_messages", func(s sessionRow) int64 { return s.Counters.AuthoredUserMessages }),
	count("session.authored_user_words", func(s sessionRow) int64 { return s.Counters.AuthoredUserWords }),
	count("session.assistant_messages", func(s sessionRow) int64 { return s.Counters.AssistantMessages }),
	count("session.assistant_words", func(s sessionRow) int64 { return s.Counters.AssistantWords }),
	count("session.system_messages", func(s sessionRow) int64 { return s.Counters.SystemMessages }),
	count("session.tool_messages", func(s sessionRow) int64 { return s.Counters.ToolMessages }),
	count("session.tool_use_messages", func(s sessionRow) int64 { return s.Counters.ToolUseMessages }),
	count("session.thinking_messages", func(s sessionRow) int64 { return s.Counters.ThinkingMessages }),
	count("session.paste_messages", func(s sessionRow) int64 { return s.Counters.PasteMessages }),
	count("session.input_tokens", func(s sessionRow) int64 { return s.Counters.InputTokens }),
	count("session.output_tokens", func(s sessionRow) int64 { return s.Counters.OutputTokens }),
	count("session.cache_read_tokens", func(s sessionRow) int64 { return s.Counters.CacheRead }),
	count("session.cache_write_tokens", func(s sessionRow) int64 { return s.Counters.CacheWrite }),
}

var messageColumns = []column[messageRow]{
	word("message.role", func(m messageRow) string { return string(m.Role) }),
	word("message.type", func(m messageRow) string { return string(m.Type) }),
	word("message.material", func(m messageRow) string { return string(m.Material) }),
	word("message.model", func(m messageRow) string { return m.Model }),
	word("message.stop_reason", func(m messageRow) string { return m.StopReason }),
	count("message.position", func(m messageRow) int64 { return int64(m.Position) }),
	moment("message.time", func(m messageRow) int64 { return m.Time }),
	count("message.words", func(m messageRow) int64 { return m.Words }),
	optional("message.duration_ms", func(m messageRow) archive.Int { return m.Duration }),
	count("message.input_tokens", func(m messageRow) int64 { return m.Tokens.Input }),
	count("message.output_tokens", func(m messageRow) int64 { return m.Tokens.Output }),
	count("message.cache_read_tokens", func(m messageRow) int64 { return m.Tokens.CacheRead }),
	count("message.cache_write_tokens", func(m messageRow) int64 { return m.Tokens.CacheWrite }),
	count("message.pastes", func(m messageRow) int64 { return int64(len(m.Pastes)) }),
}

var blockColumns = []column[blockRow]{
	word("block.type", func(b blockRow) string { return string(b.Type) }),
	words("block.tool", func(b blockRow) []string { return toolKeys(b.ToolName) }),
	word("block.semantic", func(b blockRow) string {
		if b.action == nil {
			return ""
		}
		return cmp.Or(b.action.Semantic, "other")
	}),
	words("block.path", func(b blockRow) []string {
		if b.action == nil {
			return nil
		}
		return b.action.Paths
	}),
	word("block.language", func(b blockRow) string { return b.Language }),
	word("block.media", func(b blockRow) string { return b.Media }),
	moment("block.time", func(b blockRow) int64 { return b.message.Time }),
}

var actionColumns = []column[actionRow]{
	words("action.tool", func(a actionRow) []string { return toolKeys(a.ToolName) }),
	word("action.tool_name", func(a actionRow) string { return a.ToolName }),
	word("action.tool_family", func(a actionRow) string { return a.Family }),
	word("action.semantic", func(a actionRow) string { return cmp.Or(a.Semantic, "other") }),
	words("action.path", func(a actionRow) []string { return a.Paths }),
	word("action.result_state", func(a actionRow) string { return string(a.State) }),
	word("action.followup_class", func(a actionRow) string { return a.Followup }),
	word("action.is_error", func(a actionRow) string { return triWord(a.IsError) }),
	optional("action.exit_code", func(a actionRow) archive.Int { return a.ExitCode }),
	moment("action.time", func(a actionRow) int64 { return a.Time }),
}

func word[R any](name string, f func(R) string) column[R] {
	return column[R]{name: name, words: func(r R) []string {
		if v := f(r); v != "" {
			return []string{v}
		}
		return nil
	}}
}

func words[R any](name string, f func(R) []string) column[R] { return column[R]{name: name, words: f} }

func count[R any](name string, f func(R) int64) column[R] {
	return column[R]{name: name, number: func(r R) (int64, bool) { return f(r), true }}
}

func optional[R any](name string, f func(R) archive.Int) column[R] {
	return column[R]{name: name, number: func(r R) (int64, bool) { v := f(r); return v.Value, v.Known }}
}

func moment[R any](name string, f func(R) int64) column[R] {
	return column[R]{name: name, number: func(r R) (int64, bool) { t := f(r); return t, t != archive.NoTime }}
}

// schema lists the index columns of all units in the order of their numbers.
func schema() []segments.Column {
	var out []segments.Column
	out = appendColumns(out, postings.Session, sessionColumns)
	out = appendColumns(out, postings.Message, messageColumns)
	out = appendColumns(out, postings.Block, blockColumns)
	return appendColumns(out, postings.Action, actionColumns)
}

func appendColumns[R any](dst []segments.Column, u postings.Unit, cols []column[R]) []segments.Column {
	for _, c := range cols {
		kind := segments.Keyword
		if c.number != nil {
			kind = segments.Number
		}
		dst = append(dst, segments.Column{Name: c.name, Unit: u, Kind: kind})
	}
	return dst
}

// appendValues appends the values of row r, whose columns begin at number first.
func appendValues[R any](dst []segments.Value, first int, cols []column[R], r R) []segments.Value {
	for i, c := range cols {
		if c.number != nil {
			if v, ok := c.number(r); ok {
				dst = append(dst, segments.Value{Column: first + i, Number: v})
			}
			continue
		}
		for _, w := range c.words(r) {
			dst = append(dst, segments.Value{Column: first + i, Text: w})
		}
	}
	return dst
}

// toolKeys are the lower-cased keys under which a tool is found: its raw name and
// the names of its family. A block that is no tool_use has none.
func toolKeys(name string) []string {
	if name == "" {
		return nil
	}
	return archive.ToolKeys(name)
}

func parentID(s *archive.Session) string {
	if s.Parent == "" {
		return ""
	}
	return string(archive.MakeSessionID(s.Origin, s.Parent))
}

func repoFull(s *archive.Session) string {
	if s.RepoOwner == "" {
		return ""
	}
	return s.RepoOwner + "/" + s.RepoName
}

func boolWord(b bool) string {
	if b {
		return "true"
	}
	return "false"
}

// triWord spells a known flag; an unknown one has no value and matches neither.
func triWord(t archive.Tri) string {
	switch t {
	case archive.True:
		return "1"
	case archive.False:
		return "0"
	}
	return ""
}
