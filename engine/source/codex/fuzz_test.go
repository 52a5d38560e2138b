package codex

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/hansard-search/hansard/engine/source"
)

// FuzzRead reads anything: the counts add up, texts are clean, nothing panics,
// and a second reading gives the same.
func FuzzRead(f *testing.F) {
	inputs, err := filepath.Glob("testdata/*.jsonl")
	if err != nil {
		f.Fatal(err)
	}
	for _, in := range inputs {
		b, err := os.ReadFile(in)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(b))
	}
	f.Add(`{"type":"response_item","payload":{"type":"function_call_output","output":[null,1,{"image_url":{}}]}}`)
	f.Add(`{"type":"event_msg","payload":{"type":"token_count","info":{"total_token_usage":{"input_tokens":-1e300}}}}`)
	f.Fuzz(func(t *testing.T, text string) {
		lim := source.Limits{RecordBytes: 1 << 20, Depth: 32}
		file := fileOf("rollout-fuzz.jsonl", text)
		var first string
		for range 2 {
			c := &collector{}
			n, err := Format{}.Read(context.Background(), file, lim, c)
			if err != nil {
				t.Fatal(err)
			}
			checkLaws(t, "fuzz", c, n)
			got := dump(c, n)
			if first == "" {
				first = got
			} else if got != first {
				t.Errorf("second reading differs:\n%s\n%s", first, got)
			}
		}
		Format{}.Sniff("x.jsonl", []byte(text))
	})
}
