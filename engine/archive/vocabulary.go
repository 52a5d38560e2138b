package archive

// Origin is where a session comes from: a closed vocabulary.
type Origin string

const (
	ClaudeCode    Origin = "claude-code-session"
	Codex         Origin = "codex-session"
	GeminiCLI     Origin = "gemini-cli-session"
	Hermes        Origin = "hermes-session"
	Antigravity   Origin = "antigravity-session"
	Beads         Origin = "beads-issue"
	ChatGPT       Origin = "chatgpt-export"
	ClaudeAI      Origin = "claude-ai-export"
	ClaudeDesign  Origin = "claude-design-session"
	AIStudio      Origin = "aistudio-drive"
	Grok          Origin = "grok-export"
	OpenCode      Origin = "opencode-session"
	Pi            Origin = "pi-session"
	UnknownOrigin Origin = "unknown-export"
)

// Origins lists the vocabulary in alphabetical order.
var Origins = []Origin{
	AIStudio, Antigravity, Beads, ChatGPT, ClaudeAI, ClaudeCode, ClaudeDesign, Codex,
	GeminiCLI, Grok, Hermes, OpenCode, Pi, UnknownOrigin,
}

// Role is who speaks in a message.
type Role string

const (
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
	RoleSystem    Role = "system"
	RoleTool      Role = "tool"
	RoleUnknown   Role = "unknown"
)

// MessageType is what kind of message it is.
type MessageType string

const (
	TypeMessage    MessageType = "message"
	TypeSummary    MessageType = "summary"
	TypeToolUse    MessageType = "tool_use"
	TypeToolResult MessageType = "tool_result"
	TypeThinking   MessageType = "thinking"
	TypeContext    MessageType = "context"
	TypeProtocol   MessageType = "protocol"
)

// Material is who made the text of a message.
type Material string

const (
	HumanAuthored         Material = "human_authored"
	AssistantAuthored     Material = "assistant_authored"
	ToolResultMaterial    Material = "tool_result"
	RuntimeContext        Material = "runtime_context"
	RuntimeProtocol       Material = "runtime_protocol"
	OperatorCommand       Material = "operator_command"
	GeneratedContextPack  Material = "generated_context_pack"
	GeneratedAnalysisPack Material = "generated_analysis_pack"
	UnknownMaterial       Material = "unknown"
)

// BlockType is what a block holds.
type BlockType string

const (
	BlockText       BlockType = "text"
	BlockThinking   BlockType = "thinking"
	BlockToolUse    BlockType = "tool_use"
	BlockToolResult BlockType = "tool_result"
	BlockImage      BlockType = "image"
	BlockCode       BlockType = "code"
	BlockDocument   BlockType = "document"
)

// BranchType is how a session hangs on its parent; empty for a plain session.
type BranchType string

const (
	Continuation BranchType = "continuation"
	Sidechain    BranchType = "sidechain"
	Fork         BranchType = "fork"
	Subagent     BranchType = "subagent"
)
