package codex

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/hansard-search/hansard/engine/archive"
	"github.com/hansard-search/hansard/engine/source"
)

// A generator writes an invented rollout of a wanted size: turns of a prompt, a
// plan, calls with their results and an answer, each in both streams, token
// counts between them, and now and then a compaction whose replaced history,
// full of pictures, is most of the bytes. Equal fields give equal bytes.
type generator struct {
	Bytes        int64   // size to reach
	CompactShare float64 // share of the bytes that compactions take
	CompactBytes int     // size of one compaction
	Seed         uint64

	out   *bufio.Writer
	rng   *rand.Rand
	size  int64
	clock int64
	turns int
	used  int64
	err   error
}

// file is the rollout as a source; each Open generates it anew.
func (g generator) file() source.File {
	return source.File{Path: "rollout-generated.jsonl", Size: -1, ModTime: archive.NoTime, Open: func() (io.ReadCloser, error) {
		r, w := io.Pipe()
		go func() { w.CloseWithError(g.writeTo(w)) }()
		return r, nil
	}}
}

// writeTo writes the rollout.
func (g generator) writeTo(w io.Writer) error {
	g.out = bufio.NewWriterSize(w, 256<<10)
	g.rng = rand.New(rand.NewPCG(g.Seed, 1))
	g.clock = 1767600000000
	g.line("session_meta", `{"id":"generated","timestamp":%q,"cwd":"/work/shop","cli_version":"0.94.0","source":"cli"}`, stamp(g.clock))
	var compact int64
	for g.size < g.Bytes && g.err == nil {
		g.turn()
		if float64(compact) < g.CompactShare*float64(g.size) {
			before := g.size
			g.compact()
			compact += g.size - before
		}
	}
	return g.out.Flush()
}

func stamp(ms int64) string { return time.UnixMilli(ms).UTC().Format("2006-01-02T15:04:05.000Z") }

// line writes a record.
func (g *generator) line(typ, payload string, args ...any) {
	g.clock += 100
	n, err := fmt.Fprintf(g.out, `{"timestamp":%q,"type":%q,"payload":`+payload+"}\n", append([]any{stamp(g.clock), typ}, args...)...)
	g.size += int64(n)
	g.err = cmp.Or(g.err, err)
}

var inventedWords = strings.Fields(`tax rounding invoice shop basket total price the a of to in error test passes
fails package func return line column file parser índice 税金 größe näive retry cache lock branch commit`)

func (g *generator) words(n int) string {
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteByte(" \n"[min(1, i%12/11)])
		}
		b.WriteString(inventedWords[g.rng.IntN(len(inventedWords))])
	}
	return b.String()
}

func (g *generator) turn() {
	g.turns++
	prompt := g.words(20)
	g.line("response_item", `{"type":"message","role":"user","content":[{"type":"input_text","text":%q}]}`, prompt)
	g.line("event_msg", `{"type":"user_message","message":%q}`, prompt)
	for i := range 6 {
		g.line("turn_context", `{"cwd":"/work/shop","model":"gpt-5-codex","effort":"high","approval_policy":"on-request"}`)
		plan := g.words(8)
		g.line("event_msg", `{"type":"agent_reasoning","text":%q}`, plan)
		g.line("response_item", `{"type":"reasoning","summary":[{"type":"summary_text","text":%q}],"encrypted_content":%q}`, plan, strings.Repeat("b3BhcXVl", 60))
		id := fmt.Sprintf("call_%d_%d", g.turns, i)
		g.line("response_item", `{"type":"function_call","name":"shell_command","arguments":%q,"call_id":%q}`, fmt.Sprintf(`{"command":"go test ./pkg%d"}`, i), id)
		g.used += 1000
		g.line("event_msg", `{"type":"token_count","info":{"total_token_usage":{"input_tokens":%d,"cached_input_tokens":%d,"output_tokens":%d,"reasoning_output_tokens":0}}}`, g.used, g.used/2, g.used/10)
		g.line("response_item", `{"type":"function_call_output","call_id":%q,"output":%q}`, id, fmt.Sprintf("Exit code: %d\nWall time: 0.2 seconds\nOutput:\n%s", g.rng.IntN(2), g.words(300)))
	}
	answer := g.words(120)
	g.line("event_msg", `{"type":"agent_message","message":%q}`, answer)
	g.line("response_item", `{"type":"message","role":"assistant","content":[{"type":"output_text","text":%q}]}`, answer)
}

func (g *generator) compact() {
	image := strings.Repeat("iVBORw0KGgo", max(1, g.CompactBytes/11/8))
	var items []string
	for range 8 {
		items = append(items, fmt.Sprintf(`{"type":"message","role":"user","content":[{"type":"input_text","text":%q},{"type":"input_image","image_url":"data:image/png;base64,%s"}]}`, g.words(40), image))
	}
	g.line("compacted", `{"message":%q,"replacement_history":[%s]}`, g.words(200), strings.Join(items, ","))
}
