package query

import (
	"slices"
	"strings"
)

// Kind is the kind of values that a field takes.
type Kind uint8

const (
	KindText   Kind = iota // any string
	KindWord               // one of a closed vocabulary
	KindFlag               // true or false
	KindNumber             // a whole number, compared
	KindDate               // a date as an argument: since, until
	KindTime               // a date, compared
)

func (k Kind) String() string {
	return [...]string{"text", "word", "flag", "number", "date", "time"}[k]
}

// ordered reports whether fields of k stand beside an operator.
func (k Kind) ordered() bool { return k == KindNumber || k == KindTime }

// Match is the rule by which a field selects rows: the name of an operator.
type Match string

const (
	MatchEqual     Match = "equal"        // byte for byte
	MatchOrigin    Match = "origin"       // equal, in the vocabulary of origins
	MatchHas       Match = "has"          // equal without regard to case, in the vocabulary of has
	MatchPrefix    Match = "prefix"       // begins with
	MatchSubstring Match = "substring"    // contains, without regard to case
	MatchPath      Match = "path"         // substring, with / for \
	MatchDirectory Match = "directory"    // equal, or a directory above
	MatchTool      Match = "tool"         // key of an action, or none
	MatchAction    Match = "action"       // semantic type of an action, or none
	MatchFlag      Match = "flag"         // true or false
	MatchNumber    Match = "number"       // compared
	MatchTime      Match = "time"         // compared
	MatchSince     Match = "at-or-after"  // the value is a lower bound of the time
	MatchUntil     Match = "at-or-before" // the value is an upper bound of the time
)

// A FieldSpec declares one field of a unit: everything that binding, explain,
// completion and the documentation know about it.
type FieldSpec struct {
	Name        string
	Aliases     []string
	Kind        Kind
	Match       Match
	Columns     []string // of [Source], any of which may match
	Negatable   bool     // -name:value is allowed in compact queries
	BooleanOnly bool     // not in compact queries
	Later       bool     // declared by the language, not executed by this build
	Hidden      bool     // not in the list of recognized fields
	Description string
	Example     string
}

// works is the example, unless this build cannot run it yet.
func (f *FieldSpec) works() string {
	if f.Later {
		return ""
	}
	return f.Example
}

// SessionFields are the fields of sessions, by name. The slice is shared: read it.
func SessionFields() []FieldSpec { return sessionFields }

var sessionFields = []FieldSpec{
	{Name: "action", Kind: KindWord, Match: MatchAction, Columns: []string{"action.semantic"}, Negatable: true,
		Description: "sessions with an action of this semantic type, or none", Example: "action:file_edit"},
	count("assistant_messages", "messages of the assistant"),
	count("assistant_words", "words of the assistant"),
	count("authored_user_messages", "messages a person wrote"),
	count("authored_user_words", "words a person wrote"),
	later("contains", "text that contains this substring", "contains:sqlite"),
	{Name: "cwd", Kind: KindText, Match: MatchDirectory, Columns: []string{"session.cwd"},
		Description: "working directory, or a directory above it", Example: "cwd:/srv/project"},
	{Name: "date", Kind: KindTime, Match: MatchTime, Columns: []string{"session.time"}, Hidden: true,
		Description: "time of the session, compared", Example: "date >= 2026-01-01"},
	count("duration_ms", "reported duration in milliseconds"),
	{Name: "has", Kind: KindWord, Match: MatchHas, Columns: []string{"session.has"},
		Description: "sessions with paste, tools, thinking, or a block of this type", Example: "has:paste"},
	{Name: "id", Kind: KindText, Match: MatchPrefix, Columns: []string{"session.id", "session.native"},
		Description: "session id or native id, or the beginning of one", Example: "id:codex-session:abc"},
	later("lane", "retrieval lane", "lane:dialogue"),
	later("lineage", "sessions that share a root with this one", "lineage:id:abc"),
	flatCount("messages", "number of messages", "messages:>=10"),
	later("near", "sessions similar to a text or a session", `near:"semantic search"`),
	{Name: "origin", Kind: KindWord, Match: MatchOrigin, Columns: []string{"session.origin"}, Negatable: true,
		Description: "where the session comes from", Example: "origin:codex-session"},
	count("paste_messages", "messages with pasted text"),
	{Name: "path", Kind: KindText, Match: MatchPath, Columns: []string{"action.path"},
		Description: "sessions with an action on a path that contains this", Example: "path:src/query"},
	later("project", "project reference of the provider", "project:example"),
	{Name: "repo", Kind: KindText, Match: MatchSubstring,
		Columns:     []string{"session.repo", "session.repo_full", "session.repo_url_path"},
		Description: "repository name, owner/name or URL path that contains this", Example: "repo:example-repo"},
	{Name: "root", Kind: KindFlag, Match: MatchFlag, Columns: []string{"session.root"},
		Description: "whether the session has no parent", Example: "root:true"},
	{Name: "semantic", Later: true, Hidden: true,
		Description: "sessions similar to a text", Example: `semantic:"query compiler"`},
	{Name: "session", Kind: KindText, Match: MatchEqual, Columns: []string{"session.id"},
		Description: "exactly this session id", Example: "session:codex-session:abc"},
	{Name: "since", Kind: KindDate, Match: MatchSince, Columns: []string{"session.time"},
		Description: "sessions at or after this time", Example: "since:7d"},
	count("system_messages", "messages of the system"),
	{Name: "tag", Kind: KindText, Match: MatchEqual, Columns: []string{"session.tag"}, Negatable: true,
		Description: "sessions with this tag", Example: "tag:review"},
	count("thinking_messages", "messages with thinking"),
	{Name: "title", Kind: KindText, Match: MatchSubstring, Columns: []string{"session.title"},
		Description: "title that contains this", Example: "title:refactor"},
	{Name: "tool", Kind: KindText, Match: MatchTool, Columns: []string{"action.tool"}, Negatable: true,
		Description: "sessions that used this tool or family, or none", Example: "tool:bash"},
	count("tool_messages", "messages of tools"),
	count("tool_use_messages", "messages that use tools"),
	{Name: "until", Kind: KindDate, Match: MatchUntil, Columns: []string{"session.time"},
		Description: "sessions at or before this time", Example: "until:2026-06-30"},
	count("user_messages", "messages in the role of the user"),
	count("user_words", "words in the role of the user"),
	flatCount("words", "number of words", "words:>=100"),
}

func count(name, description string) FieldSpec {
	f := flatCount(name, description, name+" >= 10 AND root:true")
	f.BooleanOnly = true
	return f
}

func flatCount(name, description, example string) FieldSpec {
	return FieldSpec{Name: name, Kind: KindNumber, Match: MatchNumber, Columns: []string{"session." + name},
		Description: description, Example: example}
}

func later(name, description, example string) FieldSpec {
	return FieldSpec{Name: name, Later: true, Description: description, Example: example}
}

// LookupField returns the session field of that name or alias, in any case, or nil.
func LookupField(name string) *FieldSpec {
	name = strings.ToLower(name)
	i, ok := slices.BinarySearchFunc(sessionFields, name, func(f FieldSpec, n string) int {
		return strings.Compare(f.Name, n)
	})
	if ok {
		return &sessionFields[i]
	}
	for i := range sessionFields {
		if slices.Contains(sessionFields[i].Aliases, name) {
			return &sessionFields[i]
		}
	}
	return nil
}

// recognized are the names that the unknown-field error lists.
func recognized() []string {
	var names []string
	for _, f := range sessionFields {
		if !f.Hidden {
			names = append(names, f.Name)
		}
	}
	return names
}

func unknownField(name string, p Position) *Error {
	name = strings.ToLower(name)
	names := recognized()
	e := at(CodeUnknownField, p, "unknown query field '%s'; recognized fields: %s", name, strings.Join(names, ", "))
	names = slices.DeleteFunc(names, func(n string) bool { return LookupField(n).Later })
	if near := closest(name, names); len(near) > 0 {
		e.Message += "; did you mean: " + strings.Join(near, ", ")
		for _, n := range near {
			e.Suggestions = append(e.Suggestions, n+":")
		}
	}
	return e.field(name).hint("quote the text if it is not a field")
}
