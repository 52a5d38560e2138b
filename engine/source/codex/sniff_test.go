package codex

import (
	"strings"
	"testing"
)

func TestSniff(t *testing.T) {
	for _, c := range []struct {
		why, path, head string
		want            bool
	}{
		{"envelope", "a.jsonl", `{"timestamp":"2026-01-05T08:00:00.000Z","type":"session_meta","payload":{"id":"x"}}` + "\n", true},
		{"order of fields", "a.jsonl", `{"payload":{"id":"x"},"type":"event_msg"}` + "\n", true},
		{"byte order mark", "a.jsonl", "\xef\xbb\xbf" + `{"type":"turn_context","payload":{}}`, true},
		{"unknown type first", "a.jsonl", `{"type":"new_in_2027","payload":{}}` + "\n" + `{"type":"response_item","payload":{}}` + "\n", true},
		{"broken first line", "a.jsonl", `{"type":"respo` + "\n" + `{"type":"response_item","payload":{}}` + "\n", true},
		{"cut head", "a.jsonl", `{"timestamp":"2026-01-05T08:00:00.000Z","type":"session_meta","payload":{"id":"x","instructions":"` + strings.Repeat("a", 70000), true},
		{"two values on a line", "a.jsonl", `{"timestamp":"t","type":"event_msg","payload":{}}{"timestamp":"t","type":"event_msg","payload":{}}` + "\n", true},
		{"old head", "a.jsonl", `{"id":"x","timestamp":"2025-06-01T10:00:00Z","instructions":null}` + "\n", true},
		{"old head, cut", "a.jsonl", `{"id":"x","timestamp":"2025-06-01T10:00:00Z","instructions":"` + strings.Repeat("a", 70000), true},
		{"state mark", "a.jsonl", `{"record_type":"state"}` + "\n", true},
		{"bare items under a rollout's name", `C:\x\rollout-1.jsonl`, `{"type":"message","role":"user","content":[]}` + "\n", true},

		{"bare items elsewhere", "a.jsonl", `{"type":"message","role":"user","content":[]}` + "\n", false},
		{"claude", "a.jsonl", `{"parentUuid":null,"sessionId":"s","type":"user","uuid":"u","message":{}}` + "\n", false},
		{"claude summary", "a.jsonl", `{"type":"summary","summary":"s","leafUuid":"l"}` + "\n", false},
		{"qwen", "a.jsonl", `{"uuid":"u","sessionId":"s","type":"system","systemPayload":{},"payload":{}}` + "\n", false},
		{"pi", "a.jsonl", `{"type":"session","version":3,"id":"x","timestamp":"t","cwd":"/w"}` + "\n", false},
		{"pi, cut session", "a.jsonl", `{"type":"message","id":"a","parentId":null,"timestamp":"t","message":{}}` + "\n", false},
		{"gemini", "a.json", `{"sessionId":"s","projectHash":"h","messages":[]}`, false},
		{"gemini lines", "a.jsonl", `{"sessionId":"s","projectHash":"h","startTime":"t"}` + "\n", false},
		{"grok", "a.jsonl", `{"type":"system","content":"You are"}` + "\n" + `{"type":"user","content":"hi"}`, false},
		{"prompt history", "history.jsonl", `{"session_id":"s","ts":1,"text":"hi"}` + "\n", false},
		{"payload of another program", "a.jsonl", `{"timestamp":"t","type":"metric","payload":{"v":1}}` + "\n", false},
		{"array", "a.json", `[{"type":"event_msg","payload":{}}]`, false},
		{"text", "rollout-1.jsonl", "hello\n", false},
		{"empty", "rollout-1.jsonl", "", false},
		{"blank", "rollout-1.jsonl", "\n\n \n", false},
	} {
		if got := (Format{}).Sniff(c.path, []byte(c.head)); got != c.want {
			t.Errorf("%s: Sniff = %v, want %v", c.why, got, c.want)
		}
	}
}
