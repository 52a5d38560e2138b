package claudecode

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/hansard-search/hansard/engine/archive"
	"github.com/hansard-search/hansard/engine/internal/jsonx"
)

// maxOverflow is how much is read of a result that was written to a file of its own.
const maxOverflow = 4 << 20

// toolResult keeps a result: its text, how it ended, and what the structured copy
// beside the message adds. Pictures inside become blocks of their own.
func (s *session) toolResult(p *pending, rec, seg jsonx.Value) {
	text, pictures := resultText(seg.Get("content"))
	b := archive.Block{Type: archive.BlockToolResult, ToolID: seg.Get("tool_use_id").Str(), Text: text}
	if full, ok := s.overflow(b.ToolID, text); ok {
		b.Text = full
	}
	b.Outcome = outcome(seg, text)
	// The copy speaks of one result; with several in the record it is not known
	// which.
	if structured := rec.Get("toolUseResult"); structured.Type() == jsonx.Object && results(rec) == 1 {
		b.Paths = resultPaths(structured)
		b.Outcome = s.structured(b.ToolID, b.Outcome, structured)
	}
	s.block(p, b)
	for _, seg := range pictures {
		s.media(p, seg)
	}
}

func results(rec jsonx.Value) int {
	n := 0
	for seg := range rec.Get("message", "content").Array() {
		if strings.HasSuffix(seg.Get("type").Str(), "tool_result") {
			n++
		}
	}
	return n
}

// resultText is the text of a result's content, in any of its spellings: a string,
// a list of parts, or an object.
func resultText(c jsonx.Value) (text string, pictures []jsonx.Value) {
	switch c.Type() {
	case jsonx.String:
		return c.Str(), nil
	case jsonx.Object:
		return partText(c), nil
	}
	var parts []string
	for e := range c.Array() {
		if t := e.Get("type"); t.Is("image") || t.Is("document") {
			pictures = append(pictures, e)
			continue
		}
		if t := partText(e); t != "" {
			parts = append(parts, t)
		}
	}
	return strings.Join(parts, "\n"), pictures
}

// partText is the text of one part: its own, the tool that it refers to, or, for
// shapes that are not known, all strings in it.
func partText(e jsonx.Value) string {
	if e.Type() == jsonx.String {
		return e.Str()
	}
	switch {
	case e.Get("text").Type() == jsonx.String:
		return e.Get("text").Str()
	case e.Get("content").Type() == jsonx.String:
		return e.Get("content").Str()
	case e.Get("type").Is("tool_reference"):
		return cmp.Or(e.Get("tool_name").Str(), e.Get("name").Str())
	}
	return strings.Join(leaves(nil, e), "\n")
}

// maxLeaf keeps base64 and the like out of the text of unknown shapes.
const maxLeaf = 64 << 10

// leaves collects the strings in a value, without those that name its kind, its
// ciphertext or its bytes.
func leaves(dst []string, v jsonx.Value) []string {
	switch v.Type() {
	case jsonx.String:
		if t := v.Str(); t != "" && len(t) <= maxLeaf {
			dst = append(dst, t)
		}
	case jsonx.Array:
		for e := range v.Array() {
			dst = leaves(dst, e)
		}
	case jsonx.Object:
		for k, e := range v.Object() {
			switch k {
			case "type", "encrypted_content", "data", "signature", "media_type":
			default:
				dst = leaves(dst, e)
			}
		}
	}
	return dst
}

// outcome reads what the result itself says: the flag, and the exit code that the
// shell's errors begin with.
func outcome(seg jsonx.Value, text string) archive.Outcome {
	o := archive.Outcome{Reason: archive.NotReported}
	if flag, ok := seg.Get("is_error").Bool(); ok {
		o = archive.Outcome{IsError: archive.TriOf(flag)}
	}
	if o.IsError != archive.False {
		o.ExitCode = archive.ExitFromText(strings.TrimPrefix(text, "Error: "), archive.ExitClaude)
	}
	return o
}

// structured corrects an outcome by the structured copy. A command that was sent
// to the background has not ended when its call answers: only a later notice tells.
func (s *session) structured(tool string, o archive.Outcome, r jsonx.Value) archive.Outcome {
	if r.Get("backgroundTaskId").Str() != "" {
		if ended, ok := s.r.sv.tasks.outcome[tool]; ok {
			return ended
		}
		return archive.Outcome{Reason: archive.Distrusted}
	}
	task := r.Get("task")
	if !r.Get("retrieval_status").Is("success") || task.Type() != jsonx.Object {
		return o
	}
	if code, ok := task.Get("exitCode").Int(); ok {
		return archive.ExitOutcome(archive.IntOf(code))
	}
	switch task.Get("status").Str() {
	case "completed":
		return archive.Outcome{IsError: archive.False}
	case "failed", "killed":
		return archive.Outcome{IsError: archive.True}
	}
	return archive.Outcome{Reason: archive.NotReported}
}

// resultPaths are the files that a structured result names.
func resultPaths(r jsonx.Value) []string {
	var paths []string
	for _, v := range []jsonx.Value{r.Get("filePath"), r.Get("file", "filePath"), r.Get("notebook_path")} {
		if name := v.Str(); name != "" && !slices.Contains(paths, name) {
			paths = append(paths, name)
		}
	}
	return paths
}

// overflow reads the file that a long result was written to. The file is looked up
// by its name alone, in the one folder where this session's results lie: the path
// in the text is a label.
func (s *session) overflow(tool, text string) (string, bool) {
	mark := max(strings.Index(text, "Full output saved to: "), strings.Index(text, "Output has been saved to: "))
	if s.r.file.Sidecar == nil || mark < 0 || mark > 512 || s.g.sid == "" {
		return "", false
	}
	line, _, _ := strings.Cut(text[mark:], "\n")
	_, saved, _ := strings.Cut(line, ": ")
	names := []string{path.Base(strings.ReplaceAll(strings.TrimSpace(saved), `\`, "/"))}
	if tool != "" && !strings.ContainsAny(tool, `/\`) {
		names = append(names, tool+".txt", tool+".json")
	}
	for _, name := range names {
		if name == "." || name == ".." || name == "/" {
			continue
		}
		for _, dir := range s.overflowDirs() {
			raw, err := s.r.file.Sidecar(dir+"/"+name, maxOverflow)
			if err == nil && len(raw) > 0 {
				return archive.CleanText(string(raw)), true
			}
		}
	}
	return "", false
}

// overflowDirs are the folders of long results, seen from the session's file and
// from an agent's file below it.
func (s *session) overflowDirs() []string {
	sid := path.Base(strings.ReplaceAll(s.g.sid, `\`, "/"))
	return []string{sid + "/tool-results", "../tool-results", "../../" + sid + "/tool-results"}
}
