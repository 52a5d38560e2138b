package claudecode

import (
	"strconv"
	"strings"

	"github.com/hansard-search/hansard/engine/archive"
	"github.com/hansard-search/hansard/engine/internal/jsonx"
)

// tasks joins the start of background commands to what a later record says of
// their end. The start answers at once, so its own result tells nothing.
type tasks struct {
	started map[string][]string // task id -> tool ids that started it
	ended   []taskEnd
	outcome map[string]archive.Outcome // tool id -> how it ended
}

type taskEnd struct {
	task, tool string
	outcome    archive.Outcome
}

func newTasks() tasks {
	return tasks{started: make(map[string][]string), outcome: make(map[string]archive.Outcome)}
}

// survey looks at one record for a start or an end.
func (t *tasks) survey(typ string, v jsonx.Value) {
	switch typ {
	case "user", "queue-operation", "attachment":
	default:
		return
	}
	if id := v.Get("toolUseResult", "backgroundTaskId").Str(); id != "" {
		for b := range v.Get("message", "content").Array() {
			if tool := b.Get("tool_use_id").Str(); tool != "" {
				t.started[id] = append(t.started[id], tool)
			}
		}
	}
	if !hasTask(v) {
		return
	}
	content := v.Get("message", "content")
	t.scan(content.Str())
	for b := range content.Array() {
		t.scan(b.Get("text").Str())
	}
	t.scan(v.Get("content").Str())
	t.scan(v.Get("attachment", "prompt").Str())
}

// scan reads every notification in a text.
func (t *tasks) scan(text string) {
	for {
		_, rest, ok := strings.Cut(text, "<task-notification>")
		if !ok {
			return
		}
		body, after, _ := strings.Cut(rest, "</task-notification>")
		text = after
		if out, ok := notified(body); ok {
			t.ended = append(t.ended, taskEnd{tag(body, "task-id"), tag(body, "tool-use-id"), out})
		}
	}
}

// notified reads the outcome from a notification's summary. Only the sentences of a
// background command count; an agent's end says nothing of an exit code.
func notified(body string) (archive.Outcome, bool) {
	summary := tag(body, "summary")
	if !strings.HasPrefix(summary, "Background command ") {
		return archive.Outcome{}, false
	}
	for _, p := range []struct{ before, after string }{
		{" completed (exit code ", ")"}, {" failed with exit code ", ""},
	} {
		i := strings.LastIndex(summary, p.before)
		if i < 0 {
			continue
		}
		digits := summary[i+len(p.before):]
		if p.after != "" {
			digits, _, _ = strings.Cut(digits, p.after)
		}
		code, err := strconv.ParseInt(strings.TrimRight(strings.TrimSpace(digits), "."), 10, 64)
		if err == nil {
			return archive.Outcome{IsError: archive.TriOf(code != 0), ExitCode: archive.IntOf(code)}, true
		}
	}
	return archive.Outcome{}, false
}

func tag(body, name string) string {
	_, rest, ok := strings.Cut(body, "<"+name+">")
	if !ok {
		return ""
	}
	text, _, _ := strings.Cut(rest, "</"+name+">")
	return strings.TrimSpace(text)
}

// join finds the tool call of each end: by its tool id, or by the task id when one
// call alone started that task. The first end of a call counts.
func (t *tasks) join() {
	for _, e := range t.ended {
		tool := e.tool
		if tool == "" {
			if s := t.started[e.task]; len(s) == 1 {
				tool = s[0]
			}
		}
		if _, known := t.outcome[tool]; tool != "" && !known {
			t.outcome[tool] = e.outcome
		}
	}
	t.started, t.ended = nil, nil
}
