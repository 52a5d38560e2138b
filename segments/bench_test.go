//go:build linux || darwin

package segments

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/hansard-search/hansard/postings"
)

// benchText makes blocks of about a kilobyte whose words follow Zipf's law, one
// in a hundred of them unique, as identifiers and hashes are.
//
// With HANSARD_CORPUS set it cuts the files of that folder into blocks instead.
func benchText(blocks int) []string {
	if dir := os.Getenv("HANSARD_CORPUS"); dir != "" {
		return corpusText(dir, blocks)
	}
	r := rand.New(rand.NewPCG(1, 2))
	z := rand.NewZipf(r, 1.1, 4, 200_000)
	text := make([]string, blocks)
	var b strings.Builder
	for i := range text {
		b.Reset()
		for b.Len() < 1000 {
			if r.IntN(100) == 0 {
				fmt.Fprintf(&b, "%x ", r.Uint32())
			} else {
				fmt.Fprintf(&b, "w%d ", z.Uint64())
			}
		}
		text[i] = b.String()
	}
	return text
}

func corpusText(dir string, blocks int) (text []string) {
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		b, err := os.ReadFile(path)
		for len(b) > 0 && len(text) < blocks {
			n := min(1024, len(b))
			text = append(text, strings.ReplaceAll(string(b[:n]), "\\n", "\n"))
			b = b[n:]
		}
		return err
	})
	return text
}

// benchFeed gives the blocks to a writer, 64 to a session.
func benchFeed(b testing.TB, w *Writer, text []string) (size int64) {
	for i, s := range text {
		if i%64 == 0 {
			if i > 0 {
				_ = w.EndSession()
			}
			_ = w.BeginSession(Ref{uint64(i), 1}, []Value{{Column: 0, Text: fmt.Sprint("repo", i%7)}})
		}
		if i%4 == 0 {
			_ = w.Message(false, []Value{{Column: 2, Text: "user"}, {Column: 3, Number: int64(i)}})
		}
		_ = w.Block(s, false, []Value{{Column: 4, Text: "text"}})
		size += int64(len(s))
	}
	if err := w.EndSession(); err != nil {
		b.Fatal(err)
	}
	return size
}

func benchSegment(b testing.TB, text []string) *Segment {
	w, err := NewWriter(Options{Schema: testSchema})
	if err != nil {
		b.Fatal(err)
	}
	benchFeed(b, w, text)
	var buf bytes.Buffer
	if _, err := w.Finish(&buf); err != nil {
		b.Fatal(err)
	}
	return open(b, buf.Bytes())
}

// cpuClock is the CPU time of the process: other processes on the machine do not
// spoil it.
type cpuClock time.Duration

func startCPU() cpuClock {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return cpuClock(u.Utime.Nano() + u.Stime.Nano())
}

func (c cpuClock) seconds() float64 { return time.Duration(startCPU() - c).Seconds() }

// report says how many megabytes of text a CPU second does.
func (c cpuClock) report(b *testing.B, size int64) {
	b.ReportMetric(float64(size)*float64(b.N)/1e6/c.seconds(), "MB/cpu-s")
}

func BenchmarkWriter(b *testing.B) {
	for _, spill := range []bool{false, true} {
		b.Run(fmt.Sprintf("spill=%v", spill), func(b *testing.B) {
			text := benchText(20_000)
			o := Options{Schema: testSchema}
			if spill {
				o.SpillBytes, o.TempDir = 8<<20, b.TempDir()
			}
			b.ReportAllocs()
			var size, out int64
			cpu := startCPU()
			for b.Loop() {
				w, err := NewWriter(o)
				if err != nil {
					b.Fatal(err)
				}
				size = benchFeed(b, w, text)
				info, err := w.Finish(io.Discard)
				if err != nil {
					b.Fatal(err)
				}
				out = info.Bytes
			}
			b.ReportMetric(float64(out)/float64(size), "index/text")
			cpu.report(b, size)
		})
	}
}

func BenchmarkTerm(b *testing.B) {
	seg := benchSegment(b, benchText(20_000))
	var terms [][]byte
	i := 0
	for term := range seg.Terms(nil) {
		if i++; i%101 == 0 {
			terms = append(terms, bytes.Clone(term))
		}
	}
	for _, need := range []postings.Need{postings.Rows, postings.Positions} {
		b.Run(fmt.Sprint("need=", need), func(b *testing.B) {
			b.ReportAllocs()
			n := 0
			cpu := startCPU()
			for b.Loop() {
				l, err := seg.Term(terms[n%len(terms)], need)
				if n++; err != nil || l.Len() == 0 {
					b.Fatal(l.Len(), err)
				}
			}
			b.ReportMetric(cpu.seconds()*1e9/float64(b.N), "cpu-ns/op")
		})
	}
}

func BenchmarkMerge(b *testing.B) {
	text := benchText(20_000)
	var in []MergeInput
	var size int64
	for i := range 8 {
		part := text[i*len(text)/8 : (i+1)*len(text)/8]
		in = append(in, MergeInput{Segment: benchSegment(b, part)})
		for _, s := range part {
			size += int64(len(s))
		}
	}
	b.ReportAllocs()
	cpu := startCPU()
	defer func() { cpu.report(b, size) }()
	for b.Loop() {
		if _, err := Merge(context.Background(), io.Discard, in, MergeOptions{TempDir: b.TempDir()}); err != nil {
			b.Fatal(err)
		}
	}
}
