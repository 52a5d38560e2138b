package query

import (
	"strings"
	"testing"
)

// whereSessions are a small archive whose sessions are named by what is in them.
func whereSessions() []fakeSession {
	call := func(semantic string, second int64) fakeAction {
		return fakeAction{keys: []string{"bash", "shell"}, semantic: semantic, time: second * 1000}
	}
	dead := func(a fakeAction) fakeAction { a.dead = true; return a }
	return []fakeSession{
		{id: "edit,shell", time: 9, repo: "x", actions: []fakeAction{call("file_edit", 10), call("shell", 20)}},
		{id: "edit,git,shell", time: 8, actions: []fakeAction{call("file_edit", 10), call("git", 11), call("shell", 310)}},
		{id: "edit,dead git,shell", time: 7, actions: []fakeAction{call("file_edit", 10), dead(call("git", 11)), call("shell", 0)}},
		{id: "shell,edit", time: 6, actions: []fakeAction{call("shell", 10), call("file_edit", 20)}},
		{id: "edit", time: 5, actions: []fakeAction{{semantic: "file_edit", path: "a.go", failed: "0", exit: "-1", time: 1000}}},
		{id: "inherited edit", time: 4, actions: []fakeAction{dead(call("file_edit", 1))}},
		{id: "message", time: 3, turns: []fakeMessage{
			{role: "user", numbers: map[string]int64{"words": 5}, blocks: 1},
			{role: "assistant", numbers: map[string]int64{"words": 50}, blocks: 1},
			{role: "tool", blocks: 1, dead: true}},
			blocks: []fakeBlock{{kind: "text", text: "null pointer"}, {kind: "tool_use", keys: []string{"bash"}}, {kind: "image", text: "pointer"}}},
		{id: "two files", time: 2, actions: []fakeAction{{semantic: "file_read", path: "b.go", paths: []string{`c\d.go`}}}},
		{id: "empty", time: 1},
	}
}

func TestWhere(t *testing.T) {
	sources := []Source{newFake(whereSessions()[:3]), newFake(whereSessions()[3:])}
	for _, c := range []struct{ text, want string }{
		{"sessions where seq(action:file_edit -> action:shell)", "edit,shell edit,git,shell edit,dead git,shell"},
		{"sessions where seq(action:file_edit -> [next] action:shell)", "edit,shell edit,dead git,shell"},
		{"sessions where seq(action:file_edit -> [within:5m] action:shell)", "edit,shell edit,git,shell"},
		{"sessions where seq(action:file_edit -> [within:299s] action:shell)", "edit,shell"},
		{"sessions where seq(action:shell -> action:shell)", ""},
		{"sessions where seq(tool:shell -> tool:shell -> tool:shell)", "edit,git,shell"},
		{"sessions where seq(action:file_edit AND session.repo:x -> action:shell)", "edit,shell"},
		{"sessions where NOT seq(action:file_edit -> action:shell)", "shell,edit edit inherited edit message two files empty"},
		{"actions where action:file_edit AND tool:shell", "edit,shell edit,git,shell edit,dead git,shell shell,edit"},
		{"actions where NOT tool:shell", "edit two files"},
		{"sessions where NOT exists action(tool:shell)", "edit inherited edit message two files empty"},
		{"actions where is_error:ok", "edit"},
		{"actions where is_error:error OR is_error:maybe", ""},
		{"actions where NOT is_error:ok AND session.repo:x", "edit,shell"},
		{"actions where exit_code < 0", "edit"},
		{"actions where exit_code < -9223372036854775808", ""},
		{"actions where exit_code:>=-1 AND exit_code:<=-1", "edit"},
		{"sessions where tool:none", "inherited edit message empty"}, // the tool of an edit has no name
		{"sessions where action:none", "inherited edit message empty"},
		{"files where action:file_edit", "edit"},
		{"files where NOT path:a.go", "two files"},
		{"files where path:b.go AND NOT path:c/d", "two files"},
		{"files where NOT path:b.go AND NOT path:c/d AND action:file_read", ""},
		{"files where path:b.go AND path:c/d", ""}, // not on one path
		{"actions where path:b.go AND path:c/d", "two files"},
		{"sessions where exists file(path:.go AND NOT path:b)", "edit two files"},
		{"messages where role:assistant AND words > 5", "message"},
		{"messages where role:user AND words > 5", ""}, // not on one message
		{"messages where role:user OR words > 5", "message"},
		{"messages where role:tool", ""}, // inherited
		{"messages where NOT tool:bash AND role:assistant", ""},
		{"messages where tool:none", "message"},
		{"blocks where type:image", ""},
		{"blocks where type:text AND tool:none", "message"},
		{`sessions where ~"null pointer" AND ~"pointer null"`, ""},
		{"sessions where ~pointer AND NOT ~zzz", "message"},
		{"sessions where repo:x | actions where action:shell", "edit,shell"},
		{"sessions where tag:y OR repo:x", "edit,shell"},
		{"sessions where (tag:y OR repo:x) OR (tag:z OR tag:x)", "edit,shell"},
		{"sessions where (NOT repo:x AND tool:bash) AND (tag:z AND NOT tag:y)", ""},
		{"actions where (exit_code > 0 OR exit_code < 0) OR is_error:true", "edit"},
		{"sessions where exists action(tool:bash OR is_error:true) AND repo:x", "edit,shell"},
	} {
		got := []string{}
		for _, h := range runAll(t, mustCompile(t, c.text), sources, RunOptions{Limit: -1}).Hits {
			got = append(got, h.ID)
		}
		if s := strings.Join(got, " "); s != c.want {
			t.Errorf("%s: %s, want %s", c.text, s, c.want)
		}
	}
}
