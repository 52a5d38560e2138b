package archive

import (
	"slices"
	"strings"
	"testing"
)

func TestToolKeys(t *testing.T) {
	for _, c := range []struct{ name, want string }{
		{"Bash", "bash shell"}, {"shell", "shell bash"}, {"exec_command", "exec_command bash shell"},
		{"run_shell_command", "run_shell_command bash shell"}, {"Write", "write"}, {"Edit", "edit"}, {"Read", "read"},
		{"Task", "task"}, {"Agent", "agent task"}, {"TodoWrite", "todowrite todo"}, {"update_plan", "update_plan todo"},
		{"mcp__git__log", "mcp__git__log"}, {"", ""}, {" Bash ", "bash shell"},
	} {
		if got := strings.Join(ToolKeys(c.name), " "); got != c.want {
			t.Errorf("ToolKeys(%q) = %s, want %s", c.name, got, c.want)
		}
	}
	for _, c := range []struct {
		q, name string
		want    bool
	}{
		{"shell", "Bash", true}, {"BASH", "exec_command", true}, {"bash", "shell", true}, {"shell", "shell", true},
		{"exec_command", "Bash", false}, {"write", "Edit", false}, {"write", "Write", true}, {"", "Bash", false}, {"", "", false},
	} {
		if got := MatchTool(c.q, c.name); got != c.want {
			t.Errorf("MatchTool(%q, %q) = %v", c.q, c.name, got)
		}
	}
}

func TestSemantic(t *testing.T) {
	for _, c := range []struct{ name, input, want string }{
		{"Bash", `{"command":"git status"}`, GitAction},
		{"Bash", `{"command":"cd x && git status"}`, GitAction},
		{"Bash", `{"command":"ls"}`, ShellAction},
		{"Bash", ``, ShellAction},
		{"Bash", `[1]`, ShellAction},
		{"Bash", `{"command":"gitk"}`, ShellAction},
		{"Bash", `{"command":"echo 'git status'"}`, ShellAction},
		{"Bash", `{"command":"echo a; GIT_DIR=x git log | head"}`, GitAction},
		{"Bash", `{"command":"cat <<EOF\ngit status\nEOF"}`, ShellAction},
		{"Bash", `{"command":"cat <<'EOF' > f\ngit status\nEOF\ngit add f"}`, GitAction},
		{"Bash", `{"command":"# git status"}`, ShellAction},
		{"Bash", `{"command":"if git diff --quiet; then echo; fi"}`, GitAction},
		{"Bash", `{"command":"sudo /usr/bin/git pull"}`, GitAction},
		{"Bash", `{"command":"(gh pr list)"}`, GitAction},
		{"shell", `{"command":["bash","-lc","git status"]}`, GitAction},
		{"shell", `{"command":["git","log"]}`, GitAction},
		{"shell", `{"command":["ls","git"]}`, ShellAction},
		{"exec_command", `{"cmd":"bash -lc 'cd /x && git status'"}`, GitAction},
		{"run_shell_command", `{"command":"git log"}`, GitAction},
		{"WebSearch", "", WebAction}, {"WebFetch", "", WebAction}, {"NotebookEdit", "", FileEdit}, {"MultiEdit", "", FileEdit},
		{"apply_patch", "", FileEdit}, {"TodoWrite", "", AgentAction}, {"TaskCreate", "", AgentAction},
		{"TaskOutput", "", AgentAction}, {"Skill", "", AgentAction}, {"ExitPlanMode", "", AgentAction},
		{"Task", "", SubagentCall}, {"Agent", "", SubagentCall}, {"spawn_agent", "", SubagentCall},
		{"KillShell", "", ShellAction}, {"LS", "", SearchAction}, {"find_symbol", "", SearchAction},
		{"view", "", FileRead}, {"create", "", FileWrite}, {"mcp__gh__get_file_contents", "", FileRead},
		{"mcp__gh__search_code", "", SearchAction}, {"mcp__gh__create_or_update_file", "", FileEdit},
		{"mcp__chrome__tabs_context_mcp", "", WebAction}, {"mcp__cclsp__restart_server", "", AgentAction},
		// Tools that only the extended table knows.
		{"read_file", "", FileRead}, {"write_file", "", FileWrite}, {"replace", "", FileEdit}, {"list_directory", "", SearchAction},
		{"search_file_content", "", SearchAction}, {"google_web_search", "", WebAction}, {"web_search", "", WebAction},
		{"web_fetch", "", WebAction}, {"web_search_call", "", WebAction}, {"NotebookRead", "", FileRead},
		{"BashOutput", "", ShellAction}, {"KillBash", "", ShellAction}, {"view_image", "", FileRead},
		{"local_shell_call", "", ShellAction}, {"python", "", ShellAction}, {"container.exec", "", ShellAction},
		{"str_replace_editor", `{"command":"view"}`, FileRead}, {"str_replace_editor", `{"command":"create"}`, FileWrite},
		{"str_replace_based_edit_tool", `{"command":"str_replace"}`, FileEdit}, {"browser.search", "", WebAction},
		{"mcp__serena__find_symbol", "", SearchAction}, {"mcp__x__read", "", ""}, {"delegate_task", "", SubagentCall},
		{"frobnicate", "", ""}, {"", "", ""},
	} {
		if got := Semantic(c.name, c.input); got != c.want {
			t.Errorf("Semantic(%q, %s) = %q, want %q", c.name, c.input, got, c.want)
		}
	}
}

func TestCommand(t *testing.T) {
	for _, c := range []struct{ name, input, want string }{
		{"Bash", `{"command":"ls -la"}`, "ls -la"},
		{"Bash", `{"command":"","cmd":"ls"}`, "ls"},
		{"exec_command", `{"cmd":"ls"}`, "ls"}, {"exec", `{"arguments":"ls"}`, "ls"}, {"exec", `{"arguments":["ls"]}`, ""},
		{"Read", `{"cmd":"ls"}`, ""}, {"Read", `{"command":"ls"}`, "ls"},
		{"shell", `{"command":["bash","-lc","ls | wc"]}`, "ls | wc"},
		{"shell", `{"command":["/bin/zsh","-c","ls"]}`, "ls"},
		{"shell", `{"command":["bash","-l","-c","ls"]}`, "ls"},
		{"shell", `{"command":["bash","-lc","echo $1","x"]}`, `bash -lc 'echo $1' x`},
		{"shell", `{"command":["bash","run.sh"]}`, "bash run.sh"},
		{"shell", `{"command":["rg","a b","it's",""]}`, `rg 'a b' 'it'\''s' ''`},
		{"shell", `{"command":["a",1]}`, `["a",1]`}, {"shell", `{"command":{"b":1,"a":2}}`, `{"a":2,"b":1}`},
		{"shell", `{"command":null}`, ""}, {"shell", `broken`, ""}, {"shell", ``, ""},
	} {
		if got := Command(c.name, c.input); got != c.want {
			t.Errorf("Command(%q, %s) = %q, want %q", c.name, c.input, got, c.want)
		}
	}
}

func TestPaths(t *testing.T) {
	patch := `*** Begin Patch\n*** Update File: src/a.py\n@@\n+++ not/a/path\n*** Add File: src/b.py\n+x\n*** Move to: src\\c.py\n*** End Patch`
	diff := `diff --git a/x.go b/x.go\n--- a/x.go\t2026\n+++ b/x.go\n@@ -1 +1 @@\n--- a comment\n`
	for _, c := range []struct{ name, input, want string }{
		{"Read", `{"file_path":"/r/a.go"}`, "/r/a.go"},
		{"Grep", `{"path":"C:\\r\\src","pattern":"x"}`, "C:/r/src"},
		{"NotebookEdit", `{"notebook_path":"n.ipynb"}`, "n.ipynb"},
		{"read_file", `{"absolute_path":"/r/a","file_path":"/r/a"}`, "/r/a"},
		{"read_many_files", `{"paths":["a","b","a",1]}`, "a b"},
		{"edit", `{"filePath":"a","path":"b"}`, "b a"},
		{"apply_patch", `{"input":"` + patch + `"}`, "src/a.py src/b.py src/c.py"},
		{"shell", `{"command":["apply_patch","*** Begin Patch\n*** Delete File: d\n*** End Patch"]}`, "d"},
		{"Bash", `{"command":"apply_patch <<'EOF'\n` + patch + `\nEOF"}`, "src/a.py src/b.py src/c.py"},
		{"patch", `{"diff":"` + diff + `"}`, "x.go"},
		{"patch", `{"diff":"--- a/x\n+++ b/y\n@@ -1 +1 @@\n-a\n--- /dev/null\n+++ \"b/z z\"\n"}`, "x y z z"},
		{"Bash", `{"command":"cat a b"}`, ""}, {"Bash", ``, ""},
	} {
		if got := strings.Join(Paths(c.name, c.input, Command(c.name, c.input)), " "); got != c.want {
			t.Errorf("Paths(%q, %s) = %s, want %s", c.name, c.input, got, c.want)
		}
	}
}

func TestInputStrings(t *testing.T) {
	var got []string
	var r InputReader
	r.Strings(`{"a":["x\ny",{"b":2}],"c":null,"d":true}`, func(s string) bool { got = append(got, s); return true })
	if want := []string{"a", "x\ny", "b", "2", "c", "d", "true"}; !slices.Equal(got, want) {
		t.Errorf("Strings = %q, want %q", got, want)
	}
	n := 0
	r.Strings(`{"a":["x","y"]}`, func(string) bool { n++; return n < 2 })
	if n != 2 {
		t.Errorf("Strings went on after the end: %d", n)
	}
}

func FuzzFacts(f *testing.F) {
	f.Add("Bash", `{"command":"cat <<EOF\ngit\nEOF\n'a\\"}`)
	f.Add("shell", `{"command":["bash","-lc","a=b git"]}`)
	f.Add("apply_patch", `{"input":"*** Begin Patch\n*** Add File: x\ndiff --git "}`)
	f.Fuzz(func(t *testing.T, name, input string) {
		var r InputReader
		a := r.Read(name, input)
		b := r.Read(name, input)
		if a.Command != b.Command || a.Semantic != b.Semantic || !slices.Equal(a.Paths, b.Paths) {
			t.Fatalf("Read(%q, %q) is not stable", name, input)
		}
		for i, p := range a.Paths {
			if p == "" || strings.Contains(p, `\`) || slices.Contains(a.Paths[:i], p) {
				t.Fatalf("bad path %q of %q", p, input)
			}
		}
	})
}
