package engine

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A zipf draws words whose frequencies fall off as in language.
type zipf struct {
	z *rand.Zipf
	b strings.Builder
}

func newZipf(r *rand.Rand, words uint64) *zipf { return &zipf{z: rand.NewZipf(r, 1.1, 4, words-1)} }

func (z *zipf) text(n int) string {
	z.b.Reset()
	for range n {
		fmt.Fprintf(&z.b, "w%x ", z.z.Uint64())
	}
	return z.b.String()
}

// writeRollouts writes Codex sessions of so many messages of one block each, and
// returns the bytes written. Each text begins with a word that about two texts have,
// r and a number, and one that about twenty have, q and a number.
func writeRollouts(t testing.TB, dir string, r *rand.Rand, sessions, messages, words int) int64 {
	t.Helper()
	z := newZipf(r, 200_000)
	total := int64(0)
	for i := range sessions {
		native := fmt.Sprintf("bulk-%06d", i)
		f, err := os.Create(filepath.Join(dir, "rollout-"+native+".jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		w := bufio.NewWriterSize(f, 1<<20)
		start := testNow.Add(-time.Duration(i) * time.Minute)
		line := func(n int, err error) {
			total += int64(n)
			if err != nil {
				t.Fatal(err)
			}
		}
		stamp := start.UTC().Format("2006-01-02T15:04:05.000Z")
		line(fmt.Fprintf(w, `{"type":"session_meta","timestamp":%q,"payload":{"id":%q,"timestamp":%q,"cwd":"/srv/app-%d","originator":"codex_cli_rs","cli_version":"0.94.0","source":"cli"}}`+"\n", stamp, native, stamp, i%40))
		for j := range messages {
			role, kind := "assistant", "output_text"
			if j%8 == 0 {
				role, kind = "user", "input_text"
			}
			line(fmt.Fprintf(w, `{"type":"response_item","timestamp":%q,"payload":{"type":"message","role":%q,"content":[{"type":%q,"text":%q}]}}`+"\n",
				start.Add(time.Duration(j)*time.Second).UTC().Format("2006-01-02T15:04:05.000Z"), role, kind, fmt.Sprintf("r%x q%x ", r.IntN(sessions*messages/2+1), r.IntN(sessions*messages/20+1))+z.text(words)))
		}
		if err := errors.Join(w.Flush(), f.Close()); err != nil {
			t.Fatal(err)
		}
	}
	return total
}

// onDisk opens an archive in a temporary folder on the disk.
func onDisk(t *testing.T, o Options) (e *Engine, src string) {
	t.Helper()
	o.Create = true
	e, err := Open(filepath.Join(t.TempDir(), "archive"), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return e, t.TempDir()
}

// TestCancelOfMillion measures how long calls on an archive of a million blocks take
// to return after their context ends: 99 of 100 within 50 ms. Then it closes the
// engine in the middle of everything, within two seconds.
func TestCancelOfMillion(t *testing.T) {
	if !*long {
		t.Skip("needs -long")
	}
	r := seeded(t)
	e, src := onDisk(t, Options{})
	begin := time.Now()
	size := writeRollouts(t, src, r, 2000, 500, 12)
	extra := filepath.Join(src, "rollout-bulk-000000.jsonl")
	wrote := time.Since(begin)
	if _, err := e.Import(t.Context(), ImportRequest{Paths: []string{src}}); err != nil {
		t.Fatal(err)
	}
	stats, err := e.Stats(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d MB written in %v, imported in %v: %d sessions, %d blocks", size>>20, wrote, time.Since(begin)-wrote, stats.Sessions, stats.Blocks)
	ids := idsOf(searchOrFail(t, e, SearchRequest{Limit: 100}))
	search := func(q SearchRequest) func(context.Context, *Engine) error {
		return func(ctx context.Context, e *Engine) error { _, err := e.Search(ctx, q); return err }
	}
	list := calls(r, src, ids)
	list = append(list,
		call{"search frequent", search(SearchRequest{Query: "w0 OR w1 OR w2 OR w3 OR w4 OR w5 OR w6 OR w7", Limit: 20})},
		call{"search phrase", search(SearchRequest{Query: `"w0 w1" OR "w1 w0" OR "w0 w0 w0" OR "w2 w1"`, Limit: 20})},
		call{"search prefix", search(SearchRequest{Query: `w1* OR w2* OR w3* NOT w4*`, Limit: 20})},
		call{"search page of 10000", search(SearchRequest{Query: "w0", Limit: 10_000})},
		call{"list all", search(SearchRequest{Query: "messages >= 1", Limit: 10_000})},
		call{"import one", func(ctx context.Context, e *Engine) error {
			_, err := e.Import(ctx, ImportRequest{Paths: []string{extra}, Force: true})
			return err
		}})
	var all latencies
	for _, c := range list {
		start := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		err := c.do(ctx, e)
		cancel()
		if err != nil && !errors.Is(err, context.DeadlineExceeded) {
			t.Logf("%s: left out: %v", c.name, err)
			continue
		}
		whole := time.Since(start)
		tries := 60
		if whole > time.Second {
			tries = 25
		}
		var late latencies
		for range tries {
			if d, ok := cancelled(t, r, e, c, min(whole, 3*time.Second)); ok {
				late = append(late, d)
			}
		}
		if len(late) == 0 {
			t.Logf("%-22s takes %10v; ended before it was cancelled", c.name, whole.Round(time.Microsecond))
			continue
		}
		t.Logf("%-22s takes %10v; %3d cancelled: p50 %v, p99 %v", c.name, whole.Round(time.Microsecond), len(late), late.at(.5), late.at(.99))
		all = append(all, late...)
	}
	t.Logf("all: %d cancelled: p50 %v, p99 %v, max %v", len(all), all.at(.5), all.at(.99), all.at(1))
	if p := all.at(.99); p > 50*time.Millisecond {
		t.Errorf("p99 from cancel to return is %v, want at most 50ms", p)
	}
	for range 3 {
		for _, c := range list {
			go func() { _ = c.do(context.Background(), e) }()
		}
	}
	time.Sleep(2 * time.Second)
	start := time.Now()
	if err := e.Close(); err != nil {
		t.Error(err)
	}
	if took := time.Since(start); took > 2*time.Second {
		t.Errorf("Close took %v", took)
	} else {
		t.Logf("Close took %v", took)
	}
}
