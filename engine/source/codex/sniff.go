package codex

import (
	"bytes"
	"path"
	"regexp"
	"strings"

	"github.com/hansard-search/hansard/engine/internal/jsonx"
)

// sniffLines is how many lines may say nothing before a file is refused.
const sniffLines = 16

// Sniff takes a file whose first records are those of a rollout. A record with a
// payload must bear one of Codex's own types, because other agents write
// {timestamp, type, payload} as well. A file of bare items without any head is
// taken only under the name of a rollout.
func (Format) Sniff(file string, head []byte) bool {
	named := strings.HasPrefix(path.Base(strings.ReplaceAll(file, `\`, "/")), "rollout-")
	head = bytes.TrimPrefix(head, []byte("\xef\xbb\xbf"))
	for range sniffLines {
		line, rest, whole := bytes.Cut(head, []byte{'\n'})
		if line = bytes.TrimSpace(line); len(line) > 0 {
			switch sniffLine(line, whole, named) {
			case sniffTaken:
				return true
			case sniffRefused:
				return false
			}
		}
		if !whole {
			return false
		}
		head = rest
	}
	return false
}

type verdict int

const (
	sniffOpen verdict = iota // the line decides nothing
	sniffTaken
	sniffRefused
)

// cutEnvelope recognises a record that is longer than the head that was given,
// as a first session_meta with long instructions is.
var cutEnvelope = regexp.MustCompile(`^\{\s*("timestamp"\s*:\s*"[^"]*"\s*,\s*)?("ordinal"\s*:\s*\d+\s*,\s*)?"type"\s*:\s*"(session_meta|response_item|event_msg|turn_context|compacted|world_state)"\s*,\s*("timestamp"\s*:\s*"[^"]*"\s*,\s*)?"payload"\s*:\s*\{`)

// cutLegacyHead recognises the head of a file from before version 0.40, whose
// instructions may be longer than the head that was given.
var cutLegacyHead = regexp.MustCompile(`^\{\s*"id"\s*:\s*"[^"]+"\s*,\s*"timestamp"\s*:\s*"[^"]*"\s*,\s*"instructions"\s*:`)

func sniffLine(line []byte, whole, named bool) verdict {
	if line[0] != '{' {
		return sniffRefused
	}
	if !whole && (cutEnvelope.Match(line) || cutLegacyHead.Match(line)) {
		return sniffTaken
	}
	var p jsonx.Parser
	v, err := p.Parse(line)
	if err != nil {
		// Two values on one line, a broken line, or a cut one: the next may tell.
		if cutEnvelope.Match(line) {
			return sniffTaken
		}
		return sniffOpen
	}
	switch {
	case foreign(v):
		return sniffRefused
	case isObject(v.Get("payload")):
		if envelopeTypes[v.Get("type").Str()] {
			return sniffTaken
		}
		return sniffOpen
	case v.Get("record_type").Str() == "state":
		return sniffTaken
	case isLegacyHead(v):
		return sniffTaken
	case named && bareItems[v.Get("type").Str()]:
		return sniffTaken
	}
	return sniffOpen
}

// foreign tells a record that only another agent writes: chains of uuids, a
// session head with its type, whole documents.
func foreign(v jsonx.Value) bool {
	for _, k := range []string{"uuid", "parentUuid", "sessionId", "sessionID", "messages", "chunkedPrompt", "mapping", "parentId", "info", "step_index"} {
		if v.Get(k).Exists() {
			return true
		}
	}
	switch v.Get("type").Str() {
	case "session", "system", "user", "assistant", "$set":
		return true
	}
	return false
}

// isLegacyHead tells the first line of a file from before version 0.40:
// {id, timestamp, instructions, git} without a type.
func isLegacyHead(v jsonx.Value) bool {
	if v.Get("id").Str() == "" || v.Get("timestamp").Str() == "" || v.Get("type").Exists() || v.Get("role").Exists() {
		return false
	}
	return v.Get("instructions").Exists() || v.Get("git").Exists()
}

// envelopeTypes are the record types that tell a rollout from other files with a
// payload. Records of further types are read, but do not identify a file.
var envelopeTypes = map[string]bool{
	"session_meta": true, "response_item": true, "event_msg": true,
	"turn_context": true, "compacted": true, "world_state": true,
}
