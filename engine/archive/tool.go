package archive

import "strings"

// families maps lower-case tool names to the canonical family. A tool that is
// not listed is its own family.
var families = map[string]string{
	"bash": FamilyBash, "shell": FamilyBash, "terminal": FamilyBash, "run": FamilyBash,
	"exec": FamilyBash, "exec_command": FamilyBash, "functions.exec": FamilyBash,
	"functions.exec_command": FamilyBash, "shell_command": FamilyBash, "functions.shell": FamilyBash,
	"functions.shell_command": FamilyBash, "local_shell_call": FamilyBash, "local_shell": FamilyBash,
	"run_shell_command": FamilyBash, "run_command": FamilyBash, "execute_command": FamilyBash,
	"container.exec": FamilyBash, "run_terminal_cmd": FamilyBash,

	"task": FamilyTask, "spawn_agent": FamilyTask, "subagent": FamilyTask, "agent": FamilyTask,
	"delegate_task": FamilyTask, "run_agent": FamilyTask, "dispatch_agent": FamilyTask,

	"update_plan": FamilyTodo,
}

// Families that gather several tools. Every other family is one tool name in
// lower case: "read", "write", "edit", "apply_patch".
const (
	FamilyBash = "bash" // runs commands; also found as "shell"
	FamilyTask = "task" // dispatches a subagent
	FamilyTodo = "todo" // keeps a plan: update_plan and every name that begins with "todo"
)

// familyAlias is a second name under which a family is found.
const familyAlias = "shell"

// ToolFamily is the canonical family of a tool name, in lower case; empty for an
// empty name.
func ToolFamily(name string) string {
	name = strings.ToLower(strings.TrimSpace(name))
	if f, ok := families[name]; ok {
		return f
	}
	if strings.HasPrefix(name, "todo") {
		return FamilyTodo
	}
	return name
}

// ToolKeys are the distinct keys under which an action of this tool is found:
// its name in lower case, its family, and the family's alias. A query finds it
// when the query's own lower case is one of them; nothing else is needed, so
// "exec_command" finds only that tool and "bash" and "shell" find the family.
func ToolKeys(name string) []string {
	raw := strings.ToLower(strings.TrimSpace(name))
	if raw == "" {
		return nil
	}
	keys := []string{raw}
	family := ToolFamily(raw)
	if family != raw {
		keys = append(keys, family)
	}
	if family == FamilyBash && raw != familyAlias {
		keys = append(keys, familyAlias)
	}
	return keys
}

// MatchTool reports whether a query for tool q finds the tool called name.
func MatchTool(q, name string) bool {
	q = strings.ToLower(strings.TrimSpace(q))
	for _, k := range ToolKeys(name) {
		if k == q {
			return true
		}
	}
	return false
}

// isShell reports whether a tool runs the command that its input holds.
func isShell(name string) bool { return ToolFamily(name) == FamilyBash }
