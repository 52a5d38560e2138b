package lexer

import (
	"strings"
	"testing"
)

// transcript is what an agent's session looks like, about one part in fifty of it
// not ASCII.
const transcript = `I'll look at the failing test first: ` + "`go test ./engine/store/... -run TestReopenAfterCrash`" + `.

    --- FAIL: TestReopenAfterCrash (0.42s)
        store_test.go:118: open /tmp/TestReopenAfterCrash3312/001/archive: segment 000017.seg: checksum mismatch (want 0x8f3a11c0, got 0x00000000)
        {"level":"error","ts":"2026-03-14T09:26:53.589Z","msg":"merge failed","segments":[12,13,17],"bytes":10485760}

The file is truncated — the writer syncs the folder before the file. Zażółć gęślą jaźń… café, naïve, Ünïcödé.
	if err := w.Sync(); err != nil { return fmt.Errorf("segment %s: %w", w.name, err) }
Let me edit internal/segments/writer.go and rerun everything with GOFLAGS=-race to be sure that HTTPServer, parseJSONBody and user_id still work.
`

func BenchmarkScan(b *testing.B) {
	inputs := []struct{ name, text string }{
		{"transcript", strings.Repeat(transcript, 100)},
		{"polish", strings.Repeat("Zażółć gęślą jaźń, wróć do pliku źródłowego i popraw błąd. ", 1000)},
		{"cyrillic", strings.Repeat("Съешь же ещё этих мягких французских булок, да выпей чаю. ", 1000)},
		{"han", strings.Repeat("検索エンジンは、文書を単語に分割します。", 1000)},
		{"base64", strings.Repeat("QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVphYmNkZWZnaGlqa2xtbm9wcXJzdHV2d3h5ejAxMjM0NTY3ODk", 1000)},
	}
	for _, in := range inputs {
		b.Run(in.name, func(b *testing.B) {
			text := []byte(in.text)
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			var s Scanner
			terms := 0
			for b.Loop() {
				s.Reset(text)
				for s.Next() {
					terms += len(s.Term())
				}
			}
			if terms == 0 {
				b.Fatal("no terms")
			}
		})
	}
}
