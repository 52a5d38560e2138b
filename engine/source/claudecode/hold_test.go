package claudecode

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/hansard-search/hansard/engine/archive"
	"github.com/hansard-search/hansard/engine/source"
)

func failing(err error) func() (io.ReadCloser, error) {
	return func() (io.ReadCloser, error) { return nil, err }
}

// replyLine is one record of a reply; the text needs no escapes.
func replyLine(uuid, id, text string, output int) string {
	return `{"type":"assistant","uuid":"` + uuid + `","sessionId":"s-1","requestId":"r","message":{"id":"` + id +
		`","role":"assistant","model":"m","content":[{"type":"text","text":"` + text + `"}],"usage":{"input_tokens":1,"output_tokens":` +
		fmt.Sprint(output) + `}}}` + "\n"
}

// A reply whose last record lies too far away is not waited for.
func TestGapIsBounded(t *testing.T) {
	for _, tt := range []struct{ between, messages int }{{maxGap - 1, maxGap}, {maxGap + 1, maxGap + 3}} {
		var in strings.Builder
		in.WriteString(replyLine("a1", "msg_1", "first", 5))
		for i := range tt.between {
			in.WriteString(line(fmt.Sprintf("u%d", i), "between") + "\n")
		}
		in.WriteString(replyLine("a2", "msg_1", "second", 7))
		r, _ := read(t, memFile("s-1.jsonl", []byte(in.String())), source.Limits{})
		if got := len(r.sessions[0].messages); got != tt.messages {
			t.Errorf("%d records between: %d messages, want %d", tt.between, got, tt.messages)
		}
	}
}

// What waits for a reply's end is bounded: the reply is closed early, its rest is a
// message of its own, and its usage is not counted again.
func TestHeldTextIsBounded(t *testing.T) {
	var in strings.Builder
	in.WriteString(replyLine("a1", "msg_1", "first", 5))
	for i := range 20 {
		in.WriteString(line(fmt.Sprintf("u%d", i), strings.Repeat("y", 1<<20)) + "\n")
	}
	in.WriteString(replyLine("a2", "msg_1", "second", 7))
	r, n := read(t, memFile("s-1.jsonl", []byte(in.String())), source.Limits{})
	if n.Stored != 22 || len(r.sessions[0].messages) != 22 {
		t.Errorf("%+v, %d messages", n, len(r.sessions[0].messages))
	}
	if u := r.sessions[0].head.Usage; len(u) != 1 || u[0].Output != 5 {
		t.Errorf("usage %+v", u)
	}
}

// A sink that forgets.
type forgetful struct{ messages int }

func (s *forgetful) Session(archive.Origin, string) (source.SessionSink, error) { return s, nil }
func (s *forgetful) Problem(source.Problem)                                     {}
func (s *forgetful) Finish(*archive.Session) error                              { return nil }
func (s *forgetful) Message(*archive.Message) error                             { s.messages++; return nil }

// generated is an endless conversation cut after left bytes: it is never in memory.
// It watches what the heap holds while it is read.
type generated struct {
	left int
	n    int
	buf  []byte
	peak *uint64 // nil to watch nothing
}

const (
	prompt = "please look at this part of the shop once more, "
	answer = "the answer goes on and on, "
)

func (g *generated) Read(p []byte) (int, error) {
	if len(g.buf) == 0 {
		if g.left <= 0 {
			return 0, io.EOF
		}
		g.n++
		if g.peak != nil && g.n%2000 == 0 {
			*g.peak = max(*g.peak, heap())
		}
		var b strings.Builder
		b.WriteString(line(fmt.Sprintf("u-%08d-0000-4000-8000-000000000000", g.n), strings.Repeat(prompt, 20)) + "\n")
		for i := range 3 {
			b.WriteString(replyLine(fmt.Sprintf("a-%08d-%d000-4000-8000-000000000000", g.n, i), fmt.Sprintf("msg_%024d", g.n), strings.Repeat(answer, 40), i))
		}
		g.buf = []byte(b.String())
		g.left -= len(g.buf)
	}
	n := copy(p, g.buf)
	g.buf = g.buf[n:]
	return n, nil
}

func (*generated) Close() error { return nil }

func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// A hundred megabytes pass under a fixed ceiling: what stays is the ids.
func TestMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("reads 100 MB twice")
	}
	const size, ceiling = 100 << 20, 24 << 20
	before := heap()
	peak := before
	f := source.File{Path: "s-1.jsonl", Size: -1, Open: func() (io.ReadCloser, error) { return &generated{left: size, peak: &peak}, nil }}
	var sink forgetful
	n, err := Format{}.Read(context.Background(), f, source.Limits{}, &sink)
	if err != nil || n.Stored != n.Read || n.Consumed < size {
		t.Fatalf("%+v, %v", n, err)
	}
	t.Logf("%d records, %d messages, %d KiB of heap at most", n.Read, sink.messages, (peak-before)>>10)
	if peak-before > ceiling {
		t.Errorf("%d MiB of heap, want at most %d", (peak-before)>>20, ceiling>>20)
	}
}

// A record costs a bounded number of allocations, the strings it keeps included.
func TestAllocations(t *testing.T) {
	in, err := io.ReadAll(&generated{left: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	f := memFile("s-1.jsonl", in)
	var n source.Records
	allocs := testing.AllocsPerRun(3, func() {
		if n, err = (Format{}).Read(context.Background(), f, source.Limits{}, &forgetful{}); err != nil {
			t.Error(err)
		}
	})
	if per := allocs / float64(n.Read); per > 7 {
		t.Errorf("%.1f allocations per record, want at most 7", per)
	}
}

func BenchmarkRead(b *testing.B) {
	const size = 8 << 20
	in, err := io.ReadAll(&generated{left: size})
	if err != nil {
		b.Fatal(err)
	}
	f := memFile("s-1.jsonl", in)
	b.SetBytes(int64(len(in)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := (Format{}).Read(context.Background(), f, source.Limits{}, &forgetful{}); err != nil {
			b.Fatal(err)
		}
	}
}
