package codex

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"testing"
	"time"

	"github.com/hansard-search/hansard/engine/archive"
	"github.com/hansard-search/hansard/engine/source"
)

// A meteredSink counts messages, keeps none, and watches the heap.
type meteredSink struct {
	messages, blocks int
	peak             uint64
}

func (s *meteredSink) Session(archive.Origin, string) (source.SessionSink, error) { return s, nil }
func (s *meteredSink) Problem(source.Problem)                                     {}
func (s *meteredSink) Finish(*archive.Session) error                              { s.look(); return nil }

func (s *meteredSink) Message(m *archive.Message) error {
	s.messages++
	s.blocks += len(m.Blocks)
	if s.messages%64 == 0 {
		s.look()
	}
	return nil
}

func (s *meteredSink) look() {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	s.peak = max(s.peak, m.HeapInuse)
}

// TestMemory reads a long rollout, most of it compactions of 4 MiB, and bounds the
// heap. HANSARD_ROLLOUT_MB sets its size.
func TestMemory(t *testing.T) {
	mb := 100
	if s := os.Getenv("HANSARD_ROLLOUT_MB"); s != "" {
		n, err := strconv.Atoi(s)
		if err != nil {
			t.Fatalf("HANSARD_ROLLOUT_MB: %v", err)
		}
		mb = n
	} else if testing.Short() {
		mb = 20
	}
	g := generator{Bytes: int64(mb) << 20, CompactShare: 0.8, CompactBytes: 4 << 20, Seed: 7}
	var s meteredSink
	runtime.GC()
	start := time.Now()
	n, err := Format{}.Read(context.Background(), g.file(), source.Limits{}, &s)
	if err != nil {
		t.Fatal(err)
	}
	took := time.Since(start)
	t.Logf("%d MB in %v with two generations (%.0f MB/s), %d records, %d messages, peak heap in use %d MiB",
		n.Consumed>>20, took.Round(time.Millisecond), float64(n.Consumed)/1e6/took.Seconds(), n.Read, s.messages, s.peak>>20)
	if n.Rejected != 0 || n.Consumed < g.Bytes || s.messages == 0 {
		t.Errorf("records %+v, messages %d", n, s.messages)
	}
	if limit := uint64(80 << 20); s.peak > limit {
		t.Errorf("peak heap %s, want at most %s", mib(s.peak), mib(limit))
	}
}

func mib(n uint64) string { return fmt.Sprintf("%d MiB", n>>20) }
