package archive

import "strings"

// Semantic types of actions.
const (
	FileRead     = "file_read"
	FileWrite    = "file_write"
	FileEdit     = "file_edit"
	SearchAction = "search"
	ShellAction  = "shell"
	GitAction    = "git"
	SubagentCall = "subagent"
	AgentAction  = "agent"
	WebAction    = "web"
)

// A semanticRule gives a class by exact lower-case name or by a part of it. The
// first rule that holds decides.
type semanticRule struct {
	class    string
	names    string // separated by spaces
	contains string // separated by spaces
	prefixes string // separated by spaces
}

// shellOrGit marks a rule whose class the command decides: shell or git.
const shellOrGit = "shell|git"

var semanticRules = compileRules([]semanticRule{
	{class: FileRead, names: "read view cat", contains: "__get_file_contents"},
	{class: FileWrite, names: "write create"},
	{class: FileEdit, names: "edit patch apply_patch sed notebookedit multiedit",
		contains: "__edit_file __create_or_update_file"},
	{class: SearchAction, names: bareSearch,
		contains: "__query-docs __get-library-docs __resolve-library-id __search_code __search_tool " +
			"__search_repositories __search_users __search_issues __search_pull_requests __find_definition " +
			"__find_references __find_referencing_symbols __get_symbols_in_file __get_diagnostics"},
	{class: shellOrGit, names: "bash shell terminal run exec exec_command functions.exec functions.exec_command shell_command"},
	{class: ShellAction, names: "killshell"},
	{class: SubagentCall, names: "task subagent spawn_agent agent"},
	{class: AgentAction, prefixes: "todo task",
		names: "askuserquestion enterplanmode exitplanmode skill batch update_plan write_stdin send_input wait " +
			"wait_agent close_agent initial_instructions activate_project get_current_config get_goal update_goal " +
			"mcp__sequential-thinking__sequentialthinking mcp__cclsp__restart_server"},
	{class: WebAction, names: "web fetch browse webfetch websearch", contains: "tabs_context __web_search __webfetch"},

	// Tools of further agents.
	{class: FileRead, names: "read_file read_many_files notebookread view_image fs_read open_file get_file_contents view_file"},
	{class: FileWrite, names: "write_file create_file save_file write_to_file fs_write"},
	{class: FileEdit, names: "replace edit_file replace_in_file replace_file_content multi_replace_file_content"},
	{class: SearchAction, names: "search_file_content list_directory list_dir grep_search codebase_search file_glob " +
		"find_by_name list"},
	{class: shellOrGit, names: "run_shell_command run_command local_shell_call local_shell container.exec python " +
		"code_interpreter execute_command functions.shell functions.shell_command run_terminal_cmd"},
	{class: ShellAction, names: "bashoutput killbash"},
	{class: WebAction, prefixes: "browser.",
		names: "web_search web_fetch google_web_search web_search_call web.run search_query"},
	{class: SubagentCall, names: "delegate_task run_agent dispatch_agent"},
})

const bareSearch = "glob grep search find file_search ls toolsearch find_symbol find_referencing_symbols " +
	"search_for_pattern get_symbols_overview query_docs resolve_library_id"

type semanticTable struct {
	exact map[string]int // name -> rank of its first rule
	rules []compiledRule
}

type compiledRule struct {
	class              string
	contains, prefixes []string
}

func compileRules(rules []semanticRule) semanticTable {
	t := semanticTable{exact: map[string]int{}}
	for i, r := range rules {
		t.rules = append(t.rules, compiledRule{r.class, strings.Fields(r.contains), strings.Fields(r.prefixes)})
		for _, n := range strings.Fields(r.names) {
			if _, ok := t.exact[n]; !ok {
				t.exact[n] = i
			}
		}
	}
	return t
}

// class is the class of the first rule that holds for a lower-case name.
func (t *semanticTable) class(name string) string {
	first, ok := t.exact[name]
	if !ok {
		first = len(t.rules)
	}
	for _, r := range t.rules[:first] {
		for _, part := range r.contains {
			if strings.Contains(name, part) {
				return r.class
			}
		}
		for _, prefix := range r.prefixes {
			if strings.HasPrefix(name, prefix) {
				return r.class
			}
		}
	}
	if ok {
		return t.rules[first].class
	}
	return ""
}

// Semantic is the semantic type of a call of tool name with this input, which is
// a JSON object or empty. It is empty for tools of no known kind.
func Semantic(name, input string) string {
	var r InputReader
	return r.Read(name, input).Semantic
}

// semanticOf decides with the command already known.
func semanticOf(name, command, verb string) string {
	name = strings.ToLower(strings.TrimSpace(name))
	switch name {
	case "str_replace_editor", "str_replace_based_edit_tool":
		switch verb {
		case "view":
			return FileRead
		case "create":
			return FileWrite
		}
		return FileEdit
	}
	class := semanticRules.class(name)
	if class == "" && strings.HasPrefix(name, "mcp__") {
		bare := name[strings.LastIndex(name, "__")+2:]
		if i, ok := semanticRules.exact[bare]; ok && semanticRules.rules[i].class == SearchAction {
			return SearchAction
		}
	}
	if class == shellOrGit {
		if runsGit(command) {
			return GitAction
		}
		return ShellAction
	}
	return class
}
