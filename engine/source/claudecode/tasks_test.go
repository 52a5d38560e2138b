package claudecode

import (
	"fmt"
	"testing"

	"github.com/hansard-search/hansard/engine/archive"
)

func TestNotified(t *testing.T) {
	for _, tt := range []struct{ summary, want string }{
		{`Background command "make" completed (exit code 0)`, "false 0"},
		{`Background command "make" completed (exit code 4)`, "true 4"},
		{`Background command "make" failed with exit code 7`, "true 7"},
		{`Background command "echo 'failed with exit code 9'" failed with exit code 1.`, "true 1"},
		{`Background command "make" was stopped`, ""},
		{`Background command "make" failed with exit code x`, ""},
		{`Agent "look" completed (exit code 0)`, ""},
		{``, ""},
	} {
		o, ok := notified("<summary>" + tt.summary + "</summary>")
		got := ""
		if ok {
			got = fmt.Sprint(o.IsError == archive.True, " ", o.ExitCode.Value)
		}
		if got != tt.want {
			t.Errorf("%s: %q, want %q", tt.summary, got, tt.want)
		}
	}
}

func TestTasksJoin(t *testing.T) {
	end := func(task, tool string, code int) string {
		id := ""
		if tool != "" {
			id = "<tool-use-id>" + tool + "</tool-use-id>"
		}
		return fmt.Sprintf("<task-notification><task-id>%s</task-id>%s<summary>Background command \"x\" failed with exit code %d</summary></task-notification>", task, id, code)
	}
	for _, tt := range []struct {
		name, text string
		want       map[string]int64
	}{
		{"by the tool id", end("b1", "t1", 3), map[string]int64{"t1": 3}},
		{"by the only start of the task", end("b1", "", 3), map[string]int64{"t1": 3}},
		{"two starts of the task", end("b2", "", 3), nil},
		{"no start known", end("b9", "", 3), nil},
		{"the first end counts", end("b1", "t1", 3) + " and " + end("b1", "t1", 4), map[string]int64{"t1": 3}},
		{"not closed", "<task-notification><tool-use-id>t1</tool-use-id><summary>Background command \"x\" failed with exit code 5</summary>", map[string]int64{"t1": 5}},
	} {
		ts := newTasks()
		ts.started = map[string][]string{"b1": {"t1"}, "b2": {"t2", "t3"}}
		ts.scan(tt.text)
		ts.join()
		if len(ts.outcome) != len(tt.want) {
			t.Errorf("%s: %v, want %v", tt.name, ts.outcome, tt.want)
		}
		for tool, code := range tt.want {
			if got := ts.outcome[tool].ExitCode; got != archive.IntOf(code) {
				t.Errorf("%s: %s ended with %v, want %d", tt.name, tool, got, code)
			}
		}
	}
}
