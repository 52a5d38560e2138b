package jsonx

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// transcript makes lines as agents write them: prose, escaped output, numbers.
func transcript(lines int) []byte {
	var b bytes.Buffer
	output := strings.Repeat(`func main() {\n\tfmt.Println(\"hello\")\n}\n// naïve comment, and some more of it\n`, 20)
	for i := range lines {
		fmt.Fprintf(&b, `{"parentUuid":"p%d","isSidechain":false,"cwd":"/home/ann/shop","sessionId":"5f0c","version":"2.1.37","type":"user",`+
			`"uuid":"u%d","timestamp":"2026-02-01T09:00:00.000Z","message":{"role":"user","content":[{"type":"tool_result",`+
			`"tool_use_id":"toolu_%d","is_error":false,"content":"%s"}],"usage":{"input_tokens":%d,"output_tokens":12}}}`+"\n", i, i, i, output, i)
	}
	return b.Bytes()
}

func read(tb testing.TB, in []byte) (records, texts int) {
	d := NewDecoder(bytes.NewReader(in), Options{})
	var buf []byte
	for {
		r, err := d.Next()
		if err != nil {
			return records, texts
		}
		if r.Err != nil {
			tb.Fatal(r.Err)
		}
		records++
		if !r.Value.Get("type").Is("user") {
			tb.Fatal("no type")
		}
		for b := range r.Value.Get("message", "content").Array() {
			buf = b.Get("content").AppendStr(buf[:0])
			texts += len(buf)
		}
	}
}

func BenchmarkDecoder(b *testing.B) {
	in := transcript(2000)
	b.SetBytes(int64(len(in)))
	b.ReportAllocs()
	for b.Loop() {
		read(b, in)
	}
}

func BenchmarkCanonical(b *testing.B) {
	in := transcript(1)
	var p Parser
	v, err := p.Parse(in)
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(in)))
	b.ReportAllocs()
	var buf []byte
	for b.Loop() {
		buf = v.AppendCanonical(buf[:0])
	}
}

// TestReadingAllocatesNothingPerRecord: the arena and the buffer are reused, and
// the little that stays does not grow with the input.
func TestReadingAllocatesNothingPerRecord(t *testing.T) {
	small, big := transcript(10), transcript(1000)
	n := testing.AllocsPerRun(5, func() { read(t, small) })
	m := testing.AllocsPerRun(5, func() { read(t, big) })
	if m > n+10 {
		t.Errorf("10 records take %v allocations, 1000 take %v", n, m)
	}
}

// TestCorpus reads every JSONL file of a corpus twice, in whole and line by
// line, and demands that every line which is one good value be found as such.
func TestCorpus(t *testing.T) {
	root := os.Getenv("HANSARD_CORPUS")
	if root == "" {
		t.Skip("HANSARD_CORPUS is not set")
	}
	var files, records, broken, lines int
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || filepath.Ext(path) != ".jsonl" {
			return err
		}
		in, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		files++
		starts := map[int64]bool{}
		for r, err := range NewDecoder(bytes.NewReader(in), Options{}).Records() {
			if err != nil {
				return err
			}
			records++
			if r.Err != nil {
				broken++
				t.Logf("%s:%d: %v torn=%v", filepath.Base(path), r.Line, r.Err, r.Torn)
				continue
			}
			starts[r.Offset] = true
		}
		offset := int64(0)
		var p Parser
		for line := range bytes.Lines(in) {
			if v, err := p.Parse(line); err == nil && v.Type() == Object && line[0] == '{' {
				lines++
				if !starts[offset] {
					t.Errorf("%s: the record at %d is lost", path, offset)
				}
			}
			offset += int64(len(line))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d files, %d records, %d broken, %d one-line objects", files, records, broken, lines)
}
