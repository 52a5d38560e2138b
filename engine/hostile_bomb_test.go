package engine

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hansard-search/hansard/engine/internal/zstdtest"
	"github.com/hansard-search/hansard/engine/internal/zstdx"
)

func zstdFrame(t *testing.T, content []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	w, err := zstdx.NewWriter(&out, zstdx.Default)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(content); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func gzipped(t *testing.T, content []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	if _, err := w.Write(content); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// TestBombs: what a compressed file claims or unpacks to costs its own file and
// nothing more; the file after it is stored. Each runs in a process of its own.
func TestBombs(t *testing.T) {
	if _, ok := peakOf(os.Getpid()); !ok {
		t.Skip("the system does not tell the peak of a process")
	}
	head := zstdFrame(t, []byte(goodRecord(1)))
	var records []byte
	for i, r := 0, seeded(t); i < 10_000; i++ {
		records = append(records, strings.Replace(goodRecord(i), "good one", fmt.Sprintf("%x", r.Uint64()), 1)...)
	}
	varied := zstdFrame(t, records)
	const gib = 8192 // blocks
	for _, c := range []struct {
		name    string
		content []byte
		code    string // of the file's problem
		reason  string // the whole of it, where it has no code
		stored  int    // sessions of the file
		quick   bool
	}{
		{"2 GiB of spaces", zstdtest.Dense(2*gib, ' ', 17, 0), "", "", 0, false}, // an empty file, by its head
		{"64 GiB in one line", append(bytes.Clone(head), zstdtest.Dense(64*gib, 'x', 23, 0)...), "LIMIT", "", 0, true},
		{"of many frames", append(bytes.Clone(head), bytes.Repeat(zstdtest.Dense(1, 'x', 17, 0), 2*gib)...), "LIMIT", "", 0, false},
		{"of lines", append(bytes.Clone(head), bytes.Repeat(append(zstdtest.Dense(8, '\n', 17, 0), head...), 3000)...), "LIMIT", "", 0, false},
		{"nested", zstdFrame(t, zstdFrame(t, zstdtest.Dense(2*gib, ' ', 17, 0))), "", "", 0, false},
		{"claims 8 EiB", zstdtest.Dense(4, ' ', 17, 1<<63), "", "", 0, false},
		{"window of 1 TiB", zstdtest.Dense(4, ' ', 40, 0), "LIMIT", "", 0, true},
		{"window of 16 MiB", append(bytes.Clone(head), zstdtest.Dense(200, ' ', 24, 0)...), "", "", 1, false},
		{"cut", varied[:len(varied)/2], "", "compressed file is cut off; what came before is stored", 1, true},
		{"gzip", gzipped(t, make([]byte, 64<<20)), "", "", 0, false},
		{"zip", append([]byte("PK\x03\x04"), make([]byte, 1000)...), "", "", 0, false},
	} {
		if !c.quick && !*long {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			src := filepath.Join(dir, "src")
			if err := os.Mkdir(src, 0o700); err != nil {
				t.Fatal(err)
			}
			bomb := filepath.Join(src, "a.jsonl.zst")
			for name, content := range map[string][]byte{bomb: c.content, filepath.Join(src, "hostile.jsonl"): []byte(goodRecord(1))} {
				if err := os.WriteFile(name, content, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			r, disk := importHostile(t, dir, false)
			t.Logf("%d KiB of file: peak %d MiB, archive %d KiB, %d ms; %v", len(c.content)>>10, r.Peak>>20, disk>>10, r.Millis, r.Report.Problems)
			if r.Peak > 128<<20 || disk > 64<<20 || r.Millis > 2000 {
				t.Errorf("peak %d MiB of 128, archive %d MiB of 64, %d ms of 2000", r.Peak>>20, disk>>20, r.Millis)
			}
			if r.Report.Added+r.Report.Unchanged+r.Report.Updated != 1+c.stored {
				t.Errorf("report %+v, want the other file's session and %d", r.Report, c.stored)
			}
			code, reason := "", ""
			for _, p := range r.Report.Problems {
				if p.File != bomb {
					t.Errorf("problem %+v of another file", p)
				}
				if code, reason = p.Code, ""; code == "" {
					reason = p.Reason
				}
			}
			if code != c.code || c.reason != "" && reason != c.reason {
				t.Errorf("problems %+v, want code %q, reason %q", r.Report.Problems, c.code, c.reason)
			}
		})
	}
}
