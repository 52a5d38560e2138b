package engine

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"
)

// A script is an invented session that can be written in the format of an agent.
type script struct {
	codex  bool
	native string
	cwd    string
	repo   string // remote; Codex only
	title  string // Claude Code only
	parent string
	start  time.Time // zero: no record has a time
	turns  []turn
}

// A turn is one record of a session.
type turn struct {
	kind    string // user, assistant, thinking, call, result
	text    string
	tool    string
	input   map[string]any
	replays bool // of the parent
	failed  bool // of a result
	untimed bool // has no time though its session has one
	joined  bool // of the message before; Claude Code only
}

// file is the name and the content of the session's file.
func (s *script) file() (string, []byte) {
	if s.codex {
		return "rollout-" + s.native + ".jsonl", s.rollout()
	}
	return s.native + ".jsonl", s.claude()
}

func (s *script) stamp(i int) string {
	return s.start.Add(time.Duration(i) * time.Minute).UTC().Format("2006-01-02T15:04:05.000Z")
}

func jsonLine(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return append(b, '\n')
}

func (s *script) claude() []byte {
	var out []byte
	lead := 0 // the first record of the message
	for i, t := range s.turns {
		role, content := "assistant", map[string]any{"type": "text", "text": t.text}
		switch t.kind {
		case "user":
			role = "user"
		case "thinking":
			content = map[string]any{"type": "thinking", "thinking": t.text}
		case "call":
			content = map[string]any{"type": "tool_use", "id": fmt.Sprintf("t%d", i), "name": t.tool, "input": t.input}
		case "result":
			role, content = "user", map[string]any{"type": "tool_result", "tool_use_id": fmt.Sprintf("t%d", i-1), "content": t.text}
			if t.failed {
				content["is_error"], content["content"] = true, "Exit code 2\n"+t.text
			}
		}
		rec := map[string]any{"type": role, "uuid": fmt.Sprintf("%s-u%d", s.native, i), "parentUuid": nil, "sessionId": s.native,
			"cwd": s.cwd, "gitBranch": "main", "version": "2.1.40", "isSidechain": false,
			"message": map[string]any{"role": role, "content": []any{content}}}
		if role == "assistant" {
			if !t.joined {
				lead = i
			}
			rec["message"].(map[string]any)["id"] = fmt.Sprintf("msg-%s-%d", s.native, lead)
			rec["message"].(map[string]any)["model"] = "claude-x-1"
		}
		if !s.start.IsZero() && !t.untimed {
			rec["timestamp"] = s.stamp(i)
		}
		if t.replays {
			rec["forkedFrom"] = map[string]any{"sessionId": s.parent, "messageUuid": fmt.Sprintf("%s-u%d", s.parent, i)}
		}
		out = append(out, jsonLine(rec)...)
	}
	if s.title != "" {
		out = append(out, jsonLine(map[string]any{"type": "custom-title", "sessionId": s.native, "customTitle": s.title})...)
	}
	return out
}

func (s *script) rollout() []byte {
	meta := map[string]any{"id": s.native, "cwd": s.cwd, "originator": "codex_cli_rs", "cli_version": "0.94.0", "source": "cli"}
	if !s.start.IsZero() {
		meta["timestamp"] = s.stamp(0)
	}
	if s.repo != "" {
		meta["git"] = map[string]any{"repository_url": s.repo, "branch": "main"}
	}
	if s.parent != "" {
		meta["forked_from_id"] = s.parent
	}
	out := s.record(0, "session_meta", meta)
	for i, t := range s.turns {
		item := map[string]any{"type": "message", "role": "assistant", "content": []any{map[string]any{"type": "output_text", "text": t.text}}}
		switch t.kind {
		case "user":
			item["role"] = "user"
			item["content"] = []any{map[string]any{"type": "input_text", "text": t.text}}
		case "thinking":
			item = map[string]any{"type": "reasoning", "summary": []any{map[string]any{"type": "summary_text", "text": t.text}}}
		case "call":
			args := jsonLine(t.input)
			item = map[string]any{"type": "function_call", "name": t.tool, "arguments": string(args[:len(args)-1]), "call_id": fmt.Sprintf("c%d", i)}
		case "result":
			item = map[string]any{"type": "function_call_output", "call_id": fmt.Sprintf("c%d", i-1), "output": t.text}
			if t.failed {
				item["output"] = "Exit code: 2\nWall time: 0.1 seconds\nOutput:\n" + t.text
			}
		}
		line := s.record(i+1, "response_item", item)
		if t.untimed {
			line = jsonLine(map[string]any{"type": "response_item", "payload": item})
		}
		out = append(out, line...)
	}
	return out
}

func (s *script) record(i int, typ string, payload any) []byte {
	rec := map[string]any{"type": typ, "payload": payload}
	if !s.start.IsZero() {
		rec["timestamp"] = s.stamp(i)
	}
	return jsonLine(rec)
}

// testWords are what random texts are made of; the first are frequent.
var testWords = strings.Fields(`the of to a in retry token cache parser lock alpha beta gamma delta index segment
Café cafe naïve Łódź łan lan ÜBER uber x1 P2.2 foo-bar base.go snake_case 3.14 query/plan hansard récit résumé resume
al alp alpine alps refactor refactors refactoring error errors zebra quark`)

func randomWord(r *rand.Rand) string {
	n := len(testWords)
	return testWords[min(r.IntN(n), r.IntN(n))]
}

func randomText(r *rand.Rand, n int) string {
	var b strings.Builder
	for range n {
		b.WriteString(randomWord(r))
		b.WriteString(pick(r, " ", " ", " ", "\n", ", ", "-", ". "))
	}
	return b.String()
}

func pick(r *rand.Rand, from ...string) string { return from[r.IntN(len(from))] }

// randomScript invents session number i.
func randomScript(r *rand.Rand, i int) *script {
	s := &script{
		native: fmt.Sprintf("%02x-session-%d", r.IntN(256), i), codex: r.IntN(3) == 0,
		cwd:   pick(r, "/srv/App", "/srv/apple", "/srv/app/sub", `C:\work\App`, "/home/ann/hansard"),
		title: pick(r, "", "", "100% done", "Fix ÜBER query", "fix_query", "Retry storms"),
		repo:  pick(r, "", "https://example.com/Acme/Tools.git", "git@example.com:acme/hansard.git"),
	}
	if r.IntN(8) > 0 {
		s.start = testNow.Add(-time.Duration(r.IntN(120*24)) * time.Hour)
	}
	if i > 0 && r.IntN(4) == 0 {
		s.parent = fmt.Sprintf("parent-%d", r.IntN(5))
	}
	for range 1 + r.IntN(5) {
		s.grow(r)
	}
	for j := range s.turns {
		s.turns[j].replays = s.parent != "" && !s.codex && j < 2
	}
	return s
}

// grow adds what a user asks and an assistant does.
func (s *script) grow(r *rand.Rand) {
	s.turns = append(s.turns, turn{kind: "user", text: randomText(r, 1+r.IntN(12))})
	if r.IntN(3) == 0 {
		s.turns = append(s.turns, turn{kind: "thinking", text: randomText(r, 1+r.IntN(20))})
	}
	for range r.IntN(3) {
		call := turn{kind: "call", tool: pick(r, "Read", "Edit", "Grep"), input: map[string]any{"file_path": pick(r, "src/query/plan.go", `src\Query\a_b.go`, "docs/100%.md")}}
		if s.codex || r.IntN(2) == 0 {
			call = turn{kind: "call", tool: pick(r, "Bash", "exec_command", "shell"), input: map[string]any{"command": pick(r, "git status", "ls src/index", "go test ./...")}}
		}
		s.turns = append(s.turns, call)
		if r.IntN(4) > 0 {
			s.turns = append(s.turns, turn{kind: "result", text: randomText(r, r.IntN(40))})
		}
	}
	s.turns = append(s.turns, turn{kind: "assistant", text: randomText(r, 1+r.IntN(60))})
}

// randomScripts invents n sessions.
func randomScripts(r *rand.Rand, n int) []*script {
	var out []*script
	for i := range n {
		out = append(out, randomScript(r, i))
	}
	return out
}

// put writes the files of scripts and returns their names.
func (w *world) put(scripts ...*script) []string {
	w.t.Helper()
	var names []string
	for _, s := range scripts {
		name, content := s.file()
		w.write(name, content)
		names = append(names, name)
	}
	return names
}
