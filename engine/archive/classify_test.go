package archive

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseRole(t *testing.T) {
	for in, want := range map[string]Role{
		"user": RoleUser, "Human": RoleUser, "assistant": RoleAssistant, "MODEL": RoleAssistant, "ai": RoleAssistant,
		"system": RoleSystem, "developer": RoleSystem, "tool": RoleTool, "function": RoleTool, "tool_use": RoleTool,
		"tool_result": RoleTool, "progress": RoleTool, "result": RoleTool, "": RoleUnknown, "narrator": RoleUnknown,
	} {
		if got := ParseRole(in); got != want {
			t.Errorf("ParseRole(%q) = %s, want %s", in, got, want)
		}
	}
}

func TestClassifyText(t *testing.T) {
	for _, c := range []struct {
		text string
		want MessageType
	}{
		{"please run the tests", ""}, {"", ""}, {" \n", ""},
		{"<system-reminder>x</system-reminder>", TypeContext},
		{"<system-reminder>x</system-reminder>\n<system-reminder>y</system-reminder>\nhello", ""},
		{"<system-reminder>x</system-reminder><command-name>/clear", TypeProtocol},
		{"<system-reminder>never closed", ""},
		{"<environment_context>\n<cwd>/r</cwd>", TypeContext}, {"# AGENTS.md instructions for /r", TypeContext},
		{"This session is being continued from a previous conversation that ran out of context. More", TypeContext},
		{"[Request interrupted by user for tool use]", TypeProtocol}, {"Caveat: The messages below were", TypeProtocol},
		{"<local-command-stdout>x", TypeProtocol}, {"bash -lc 'x'", TypeProtocol}, {"python3 - <<'E'", TypeProtocol},
		{`{"queries":["a","b"]}`, TypeProtocol}, {`{"queries":["a",1]}`, ""}, {`{"queries":[],"x":1}`, ""}, {`{"queries":"a"}`, ""},
		{"see <system>a</system>", TypeContext}, {"see <system>", ""},
		{"look\nContents of /r/a.md:\nx", TypeContext}, {"the Contents of a:", ""}, {"look\n<file path=\"x\">", TypeContext},
	} {
		if got := ClassifyText(c.text); got != c.want {
			t.Errorf("ClassifyText(%q) = %q, want %q", c.text, got, c.want)
		}
	}
}

func TestClassifyMaterial(t *testing.T) {
	result := []Block{{Type: BlockToolResult}}
	for _, c := range []struct {
		role   Role
		typ    MessageType
		blocks []Block
		text   string
		want   Material
	}{
		{RoleTool, TypeMessage, nil, "x", ToolResultMaterial}, {RoleUser, TypeToolResult, nil, "", ToolResultMaterial},
		{RoleUser, TypeMessage, result, "", ToolResultMaterial},
		{RoleUser, TypeMessage, nil, "Generate a retrospective for: x", GeneratedAnalysisPack},
		{RoleUser, TypeMessage, nil, "<system-reminder>a</system-reminder># Commit abc", GeneratedContextPack},
		{RoleAssistant, TypeMessage, nil, "# Commit abc", AssistantAuthored},
		{RoleSystem, TypeSummary, nil, "x", GeneratedContextPack}, {RoleUser, TypeContext, nil, "x", RuntimeContext},
		{RoleUser, TypeProtocol, nil, "<command-name>/x", OperatorCommand}, {RoleUser, TypeProtocol, nil, "<tick>", RuntimeProtocol},
		{RoleAssistant, TypeToolUse, nil, "", AssistantAuthored}, {RoleAssistant, TypeThinking, nil, "", AssistantAuthored},
		{RoleUser, TypeMessage, nil, "hi", UnknownMaterial}, {RoleUnknown, TypeMessage, nil, "hi", UnknownMaterial},
	} {
		if got := ClassifyMaterial(c.role, c.typ, c.blocks, c.text); got != c.want {
			t.Errorf("ClassifyMaterial(%s, %s, %q) = %s, want %s", c.role, c.typ, c.text, got, c.want)
		}
	}
}

func TestFindPastes(t *testing.T) {
	for _, c := range []struct {
		text string
		want []Paste
	}{
		{"nothing", nil}, {"[Pasted text #x]", nil}, {"[Pasted text #1", nil}, {"[Pasted text #]", nil},
		{"run [Pasted text #1 +6 lines] now", []Paste{{1, 4, 29, "projected"}}},
		{"[Pasted text #2][Pasted text #10 a]", []Paste{{2, 0, 16, "projected"}, {10, 16, 35, "projected"}}},
		{"[Pasted text #[Pasted text #3]", []Paste{{3, 14, 30, "projected"}}},
	} {
		if d := cmp.Diff(c.want, FindPastes(c.text)); d != "" {
			t.Errorf("FindPastes(%q): %s", c.text, d)
		}
	}
}

func TestCountWords(t *testing.T) {
	for in, want := range map[string]int64{
		"": 0, " ": 0, "a": 1, " a  b\tc\n": 3, "a\u00a0b\u3000c\u2028d\u0085e": 5, "a\u200bb": 1, "日本 語": 2, "a\x1cb": 1, "\v\fx\ry": 2,
	} {
		if got := CountWords(in); got != want {
			t.Errorf("CountWords(%q) = %d, want %d", in, got, want)
		}
	}
	m := Message{Blocks: []Block{
		{Type: BlockText, Text: "one two"}, {Type: BlockThinking, Text: "not counted"}, {Type: BlockToolResult, Text: "three"},
		{Type: BlockToolUse, ToolName: "Bash", ToolInput: `{"command":"a b"}`},
	}}
	if got := MessageWords(&m); got != 3 {
		t.Errorf("MessageWords = %d, want 3", got)
	}
	text := fmt.Sprintf("%0100d é", 1)
	if n := testing.AllocsPerRun(10, func() { CountWords(text) }); n != 0 {
		t.Errorf("CountWords allocates %v times", n)
	}
}

func TestSearchText(t *testing.T) {
	for _, c := range []struct {
		b    Block
		want string
	}{
		{Block{Type: BlockText, Text: "  hello world\n"}, "hello world"},
		{Block{Type: BlockThinking, Text: "hm"}, "hm"},
		{Block{Type: BlockToolUse, ToolName: "Bash", ToolInput: `{"command":"go test","description":"no"}`}, "Bash go test"},
		{Block{Type: BlockToolUse, ToolName: "Write", ToolInput: `{"content":"secret","file_path":"/r/a","path":"b"}`}, "Write /r/a b"},
		{Block{Type: BlockToolUse, ToolName: "shell", ToolInput: `{"command":["bash","-lc","ls"]}`}, "shell ls"},
		{Block{Type: BlockToolUse, ToolName: "exec_command", ToolInput: `{"cmd":"ls"}`}, "exec_command"},
		{Block{Type: BlockToolUse, ToolName: "x", ToolInput: `broken`}, "x"},
		{Block{Type: BlockToolUse, ToolName: "x", ToolInput: `{"path":3}`}, "x 3"},
		{Block{Type: BlockImage}, ""},
	} {
		if got := string(AppendSearchText([]byte("> "), &c.b)); got != "> "+c.want {
			t.Errorf("search text = %q, want %q", got, c.want)
		}
	}
}

func TestParseTime(t *testing.T) {
	const base = 1_767_600_000_000 // 2026-01-05T08:00:00Z
	for in, want := range map[string]int64{
		"2026-01-05T08:00:00Z": base, "2026-01-05T08:00:00.123Z": base + 123, "2026-01-05T08:00:00.123456+00:00": base + 123,
		"2026-01-05T10:00:00+02:00": base, "2026-01-05T03:00:00-0500": base, "2026-01-05 08:00:00": base, "2026-01-05t08:00z": base,
		"2026-01-05T08:00:00,5Z": base + 500, "2026-01-05 08:00:00 UTC": base, "2026-01-05T10:00:00 +02": base,
		"1767600000": base, "1767600000.25": base + 250, "1767600000123": base + 123, "1767600000123456": base + 123,
		"1767600000123456789": base + 123, "2026-01-05": base - 8*3600_000, "86400": 86_400_000,
		"": NoTime, "86399": NoTime, "0": NoTime, "soon": NoTime, "2026-13-01T00:00:00Z": NoTime, "2026-01-05T08:00:00+99:00": NoTime,
		"2026-01-05T08:00:00+xx": NoTime, "1.2.3": NoTime, "99999999999999999999999": NoTime, "1969-12-31T23:59:59Z": -1000,
	} {
		if got := ParseTime(in); got != want {
			t.Errorf("ParseTime(%q) = %d, want %d", in, got, want)
		}
	}
}

func FuzzParseTime(f *testing.F) {
	f.Add("2026-01-05T08:00:00.123+02:00")
	f.Add("1767600000.5")
	f.Fuzz(func(t *testing.T, in string) {
		if got := ParseTime(in); got != NoTime && (got > maxTime || got < -62135596800000-86_400_000) {
			t.Errorf("ParseTime(%q) = %d", in, got)
		}
	})
}

func TestCleanText(t *testing.T) {
	for in, want := range map[string]string{
		"plain é😀": "plain é😀", "a\x00b": "a\uFFFDb", "\xff\xfe": "\uFFFD\uFFFD", "\xed\xa0\xbdx": "\uFFFDx", "\xe2\x82": "\uFFFD\uFFFD",
		"\uFFFD": "\uFFFD",
	} {
		if got := CleanText(in); got != want {
			t.Errorf("CleanText(%q) = %q, want %q", in, got, want)
		}
	}
}
