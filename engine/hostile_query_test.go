package engine

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/hansard-search/hansard/query"
)

// everywhere is a world of the worst kind: every session has every common word, in
// every block, and the blocks together have so many words that begin with "w".
func everywhere(t *testing.T, sessions, blocks, words int) *world {
	w := newWorld(t, Options{})
	n := 0
	for s := range sessions {
		var b strings.Builder
		for i := range blocks {
			fmt.Fprintf(&b, `{"type":"user","uuid":"%d-%d","sessionId":"s%d","cwd":"/x","timestamp":"2026-01-01T00:00:00Z","message":{"role":"user","content":"`, s, i, s)
			for c := range 256 {
				fmt.Fprintf(&b, "c%d ", c)
			}
			for range words / (sessions * blocks) {
				fmt.Fprintf(&b, "w%d ", n)
				n++
			}
			b.WriteString(hostileTail)
		}
		w.write(fmt.Sprintf("s%d.jsonl", s), []byte(b.String()))
	}
	w.load()
	return w
}

// hostileQueries cost as much as a query can, or are none.
func hostileQueries(r *rand.Rand) []string {
	list := func(n int, sep, format string) string {
		var parts []string
		for i := range n {
			parts = append(parts, fmt.Sprintf(format, i))
		}
		return strings.Join(parts, sep)
	}
	noise := make([]byte, 8<<10)
	for i := range noise {
		noise[i] = byte(r.Uint32())
	}
	printable := make([]byte, 8<<10)
	for i := range printable {
		const alphabet = " ab\"()|:*-<>=NOTANDOR\\{}[]1"
		printable[i] = alphabet[r.IntN(len(alphabet))]
	}
	return []string{
		list(256, " ", "c%d"), list(256, " OR ", "c%d"), list(256, " NOT ", "c%d"), list(256, " ", "-c%d"),
		`"` + list(256, " ", "c%d") + `"`, `"` + list(256, " ", "c%d") + `"*`, list(64, " OR ", `"c0 c1 c%d"`),
		"w*", "w1* w2* w3*", "-w*", `"c255 w"*`, "c*", list(200, " ", "c%d*"), list(100, " OR ", `"c255 w%d"*`), "*", "a*",
		strings.Repeat("(", 1_000_000), strings.Repeat("(", 4000) + "a" + strings.Repeat(")", 4000), strings.Repeat("(", 64) + "c0" + strings.Repeat(")", 64),
		strings.Repeat("(c0 OR ", 63) + "c1" + strings.Repeat(")", 63), strings.Repeat("(c0 NOT ", 63) + "c1" + strings.Repeat(")", 63),
		strings.Repeat("NOT ", 1500) + "tag:x", "tag:a AND " + strings.Repeat("NOT ", 1500) + "tag:x",
		strings.Repeat("-", 8000), strings.Repeat(")", 8000), strings.Repeat("a-", 4000), strings.Repeat("a ", 4000), strings.Repeat("|", 8000), strings.Repeat(`"`, 8000),
		"tag:(" + strings.Repeat("a|", 255) + "b)", "title:" + strings.Repeat("x", 8000), "cwd:" + strings.Repeat("/x", 4000), strings.Repeat("cwd:x ", 256),
		"since:" + strings.Repeat("9", 4000) + "d", "messages > " + strings.Repeat("9", 4000), strings.Repeat("messages:>0 ", 256),
		strings.Repeat("\u0301", 4000), strings.Repeat("\U0010ffff", 2000), string(noise), string(printable), strings.Repeat("\x00", 8000), strings.Repeat("x", 8193), strings.Repeat("x", 10_000_000),
	}
}

// TestHostileQueries: whatever is asked, the answer or a typed error comes within the
// limit of time and a tenth of a second (see atMost), and within the limit of memory and a tenth.
func TestHostileQueries(t *testing.T) {
	w := everywhere(t, 20, 25, 12_000)
	if *long {
		w = everywhere(t, 100, 100, 50_000)
	}
	const limit = time.Second
	memory := int64(256 << 20)
	w.Engine.opts.QueryLimits = QueryLimits{Time: limit, Limits: query.Limits{Memory: memory}}
	answers, refused := 0, map[string]int{}
	var longest, most int64
	for _, text := range hostileQueries(seeded(t)) {
		runtime.GC()
		peak := watchHeap()
		start := time.Now()
		env, err := w.Search(context.Background(), SearchRequest{Query: text, Limit: 100})
		took := time.Since(start)
		used := peak()
		var e *query.Error
		switch {
		case err == nil:
			answers++
			if env.Partial {
				t.Errorf("%.40q: the answer is partial", text)
			}
		case errors.As(err, &e) && e.Code != "" && e.Message != "":
			refused[e.Code]++
			if e.Code == query.CodeLimit && e.Hint == "" {
				t.Errorf("%.40q: %v has no hint", text, err)
			}
		default:
			t.Errorf("%.40q: %v", text, err)
		}
		longest, most = max(longest, took.Milliseconds()), max(most, used)
		if took > atMost(limit+100*time.Millisecond) {
			t.Errorf("%.40q took %v", text, took)
		}
		if used > memory+memory/10 {
			t.Errorf("%.40q took %d MiB", text, used>>20)
		}
	}
	t.Logf("%d answers, refused %v; longest %d ms, most memory %d MiB", answers, refused, longest, most>>20)
	if answers == 0 || refused[query.CodeLimit] == 0 {
		t.Error("no query was answered, or none passed a limit")
	}
}

// watchHeap looks at the heap until the function is called that it returns, which
// gives how far it grew.
func watchHeap() func() int64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	before, most := int64(m.HeapAlloc), int64(m.HeapAlloc)
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-stop:
				return
			case <-time.After(2 * time.Millisecond):
			}
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			most = max(most, int64(m.HeapAlloc))
		}
	}()
	return func() int64 {
		close(stop)
		<-done
		return most - before
	}
}

// TestQueryTime: a query that runs out of its time says so, and one whose caller gave
// up is the caller's.
func TestQueryTime(t *testing.T) {
	w := newWorld(t, Options{QueryLimits: QueryLimits{Time: 1}})
	w.write("s.jsonl", []byte(goodRecord(1)))
	w.load()
	_, err := w.Search(context.Background(), SearchRequest{Query: "good"})
	var e *query.Error
	if !errors.As(err, &e) || e.Code != query.CodeLimit || e.Field != "time" || e.Hint == "" || e.Position.End != len("good") {
		t.Errorf("out of time: %+v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := w.Search(ctx, SearchRequest{Query: "good"}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	w.Engine.opts.QueryLimits.Time = -1
	if env, err := w.Search(context.Background(), SearchRequest{Query: "good"}); err != nil || env.Total != 1 {
		t.Errorf("without a limit: %v", err)
	}
}
