package corpus

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// Write lays a session out under home as the file that an agent would have left
// there, and returns its path.
func Write(home string, s Session) (string, error) {
	dir := filepath.Join(home, ".claude", "projects", "-bench-"+s.Repo)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	path := filepath.Join(dir, s.ID+".jsonl")
	return path, writeSession(path, s)
}

func writeSession(path string, s Session) (err error) {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	w := bufio.NewWriterSize(f, 1<<18)
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	for i, b := range s.Blocks {
		if err := enc.Encode(record(s, i, b)); err != nil {
			return err
		}
	}
	return w.Flush()
}

// Time is when the i-th block of the session was written.
func (s Session) Time(i int) time.Time { return s.Start.Add(time.Duration(i) * 7 * time.Second) }

type object = map[string]any

func record(s Session, i int, b Block) object {
	role, message := "assistant", object{}
	var content object
	tool := fmt.Sprintf("toolu_%s_%d", s.ID, i)
	switch b.Kind {
	case "text":
		content = object{"type": "text", "text": b.Text}
		if i%3 == 0 {
			role = "user"
		}
	case "thinking":
		content = object{"type": "thinking", "thinking": b.Text, "signature": "x"}
	case "tool_use":
		input := object{"description": "generated"}
		if b.Command != "" {
			input["command"] = b.Command
		}
		if b.Path != "" {
			input["file_path"] = b.Path
		}
		content = object{"type": "tool_use", "id": tool, "name": b.Tool, "input": input}
	default:
		role = "user"
		tool = fmt.Sprintf("toolu_%s_%d", s.ID, i-1)
		content = object{"type": "tool_result", "tool_use_id": tool, "is_error": b.Failed, "content": b.Text}
	}
	message["role"], message["content"] = role, []any{content}
	if role == "assistant" {
		message["id"] = fmt.Sprintf("msg_%s_%d", s.ID, i)
		message["model"] = "bench-1"
	}
	return object{"type": role, "uuid": fmt.Sprintf("%s-%06d", s.ID, i), "sessionId": s.ID, "cwd": "/bench/" + s.Repo, "gitBranch": "main",
		"timestamp": s.Time(i).Format("2006-01-02T15:04:05.000Z"), "message": message}
}

// SearchText is what a block adds to the index, for an engine that is fed texts.
func SearchText(b Block) string {
	out := b.Text
	for _, part := range []string{b.Tool, b.Command, b.Path} {
		if part == "" {
			continue
		}
		if out != "" {
			out += " "
		}
		out += part
	}
	return out
}
