package demo

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// object is a JSON object; encoding/json writes its keys in order, so equal
// sessions are equal bytes.
type object = map[string]any

// A recorder collects the records of one file and tells the time, a few seconds
// per record.
type recorder struct {
	now time.Time
	out strings.Builder
	n   int
}

func (r *recorder) stamp() string {
	r.now = r.now.Add(time.Duration(4+r.n%7) * time.Second)
	r.n++
	return r.now.UTC().Format("2006-01-02T15:04:05.000Z")
}

func (r *recorder) put(o object) {
	b, err := json.Marshal(o)
	if err != nil {
		panic(fmt.Sprintf("demo record: %v", err)) // maps of strings always marshal
	}
	r.out.Write(b)
	r.out.WriteByte('\n')
}

func uuid(kind, session, n int) string {
	return fmt.Sprintf("%08x-de70-4%03x-8000-%012x", 0x5e550000+session, kind, n)
}

var claudeTools = map[byte]string{'$': "Bash", 'r': "Read", 'w': "Write", 'e': "Edit", 'g': "Grep", 'p': "Edit"}

func claudeInput(c call, dir string) object {
	switch c.kind {
	case '$':
		return object{"command": c.text}
	case 'g':
		return object{"pattern": c.text, "path": dir}
	case 'w':
		return object{"file_path": dir + "/" + c.text, "content": "…\n"}
	case 'r':
		return object{"file_path": dir + "/" + c.text}
	}
	return object{"file_path": dir + "/" + c.text, "old_string": "before", "new_string": "after"}
}

// claudeFile is one session as ~/.claude/projects holds it.
func claudeFile(s session, n int) (path, text string) {
	r := &recorder{now: s.start}
	id, parent := uuid(0, n, 0), any(nil)
	record := func(kind string, message object) {
		u := uuid(1, n, r.n)
		r.put(object{"type": kind, "uuid": u, "parentUuid": parent, "sessionId": id, "timestamp": r.stamp(), "cwd": s.dir(),
			"gitBranch": s.branch, "version": "2.1.40", "isSidechain": false, "userType": "external", "message": message})
		parent = u
	}
	assistant := func(block object) {
		record("assistant", object{"role": "assistant", "id": fmt.Sprintf("msg_%04d%04d", n, r.n), "model": "claude-demo-1", "content": []any{block},
			"usage": object{"input_tokens": 900 + 10*r.n, "output_tokens": 40 + r.n}})
	}
	s.each(func(kind byte, text string) {
		switch kind {
		case '>':
			record("user", object{"role": "user", "content": text})
		case '*':
			assistant(object{"type": "thinking", "thinking": text, "signature": "demo"})
		default:
			assistant(object{"type": "text", "text": text})
		}
	}, func(c call) {
		tool := fmt.Sprintf("toolu_%04d%04d", n, r.n)
		assistant(object{"type": "tool_use", "id": tool, "name": claudeTools[c.kind], "input": claudeInput(c, s.dir())})
		failed := c.exit != "" && c.exit != "0"
		if failed {
			c.output = "Exit code " + c.exit + "\n" + c.output
		}
		record("user", object{"role": "user", "content": []any{object{"type": "tool_result", "tool_use_id": tool, "is_error": failed, "content": c.output}}})
	})
	return ".claude/projects/" + strings.ReplaceAll(s.dir(), "/", "-") + "/" + id + ".jsonl", r.out.String()
}

// codexFile is one session as ~/.codex/sessions holds it.
func codexFile(s session, n int) (path, text string) {
	r := &recorder{now: s.start}
	id := uuid(2, n, 0)
	item := func(kind string, payload object) {
		r.put(object{"timestamp": r.stamp(), "type": kind, "payload": payload})
	}
	item("session_meta", object{"id": id, "timestamp": s.start.UTC().Format(time.RFC3339), "cwd": s.dir(), "originator": "codex_cli", "cli_version": "0.142.0", "source": "cli",
		"git": object{"branch": s.branch, "repository_url": "https://git.example.com/" + s.repo + ".git", "commit_hash": fmt.Sprintf("%040x", 0xdea0+n)}})
	item("turn_context", object{"cwd": s.dir(), "model": "gpt-demo-1", "effort": "medium", "approval_policy": "on-request"})
	message := func(role, kind, text string) {
		item("response_item", object{"type": "message", "role": role, "content": []any{object{"type": kind, "text": text}}})
	}
	s.each(func(kind byte, text string) {
		switch kind {
		case '>':
			message("user", "input_text", text)
			item("event_msg", object{"type": "user_message", "message": text})
		case '*':
			item("response_item", object{"type": "reasoning", "summary": []any{object{"type": "summary_text", "text": text}}})
		default:
			message("assistant", "output_text", text)
			item("event_msg", object{"type": "agent_message", "message": text})
		}
	}, func(c call) { codexCall(item, c, s, fmt.Sprintf("call_%04d%04d", n, r.n)) })
	at := s.start.UTC()
	return fmt.Sprintf(".codex/sessions/%s/rollout-%s-%s.jsonl", at.Format("2006/01/02"), at.Format("2006-01-02T15-04-05"), id), r.out.String()
}

func codexCall(item func(string, object), c call, s session, id string) {
	if c.kind == 'p' {
		patch := "*** Begin Patch\n*** Update File: " + c.text + "\n@@\n-before\n+after\n*** End Patch\n"
		item("response_item", object{"type": "custom_tool_call", "name": "apply_patch", "call_id": id, "input": patch})
		item("response_item", object{"type": "custom_tool_call_output", "call_id": id, "output": "Exit code: 0\nWall time: 0.1 seconds\nOutput:\nSuccess. Updated the following files:\nM " + c.text})
		return
	}
	args, err := json.Marshal(object{"cmd": c.text, "workdir": s.dir()})
	if err != nil {
		panic(fmt.Sprintf("demo arguments: %v", err)) // strings always marshal
	}
	item("response_item", object{"type": "function_call", "name": "exec_command", "arguments": string(args), "call_id": id})
	item("response_item", object{"type": "function_call_output", "call_id": id, "output": "Exit code: " + c.exit + "\nWall time: 0.4 seconds\nOutput:\n" + c.output})
}
