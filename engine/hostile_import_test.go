package engine

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A hostileReport is what a process that imported hostile files tells.
type hostileReport struct {
	Report *Report
	Peak   int64 // bytes in memory at most, as the system tells
	Millis int64
}

// importHostile imports dir/src into dir/archive in a process of its own, of default
// options, and gives its report, its peak of memory and the bytes of the archive.
func importHostile(t *testing.T, dir string, dropRaw bool) (hostileReport, int64) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, os.Args[0], "-test.run=^TestHostileProcess$", "-test.v")
	cmd.Env = append(os.Environ(), "HANSARD_TEST_HOSTILE="+dir, fmt.Sprintf("HANSARD_TEST_DROP_RAW=%v", dropRaw))
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("import apart: %v\n%s", err, out)
	}
	b, err := os.ReadFile(filepath.Join(dir, "report.json"))
	if err != nil {
		t.Fatal(err)
	}
	var r hostileReport
	if err := json.Unmarshal(b, &r); err != nil {
		t.Fatal(err)
	}
	return r, diskBytes(t, filepath.Join(dir, "archive"))
}

func diskBytes(t *testing.T, dir string) (n int64) {
	t.Helper()
	err := filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		fi, err := d.Info()
		if err == nil {
			n += fi.Size()
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestHostileProcess is the process apart.
func TestHostileProcess(t *testing.T) {
	dir := os.Getenv("HANSARD_TEST_HOSTILE")
	if dir == "" {
		t.Skip("runs in a process that another test starts")
	}
	e, err := Open(filepath.Join(dir, "archive"), Options{Create: true, DropRaw: os.Getenv("HANSARD_TEST_DROP_RAW") == "true"})
	if err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	var r hostileReport
	r.Report, err = e.Import(t.Context(), ImportRequest{Paths: []string{filepath.Join(dir, "src")}})
	if r.Report == nil {
		t.Fatal(err)
	}
	r.Millis = time.Since(start).Milliseconds()
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	r.Peak, _ = peakOf(os.Getpid())
	b, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "report.json"), b, 0o600); err != nil {
		t.Fatal(err)
	}
}

// hostileHead and hostileTail stand around the text of a message.
const (
	hostileHead = `{"type":"user","uuid":"%d","sessionId":"hostile","cwd":"/x","timestamp":"2026-01-01T00:00:00Z","message":{"role":"user","content":"`
	hostileTail = `"}}` + "\n"
)

func goodRecord(i int) string { return fmt.Sprintf(hostileHead, i) + "good one" + hostileTail }

// writeGiant writes a file of a record of n bytes of text between two good ones. The
// text is a hole of the file where fill is nil: zero bytes, which cost no disk.
func writeGiant(t *testing.T, name string, n int64, fill func(w *bufio.Writer, n int64)) {
	t.Helper()
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	w := bufio.NewWriterSize(f, 1<<20)
	fmt.Fprint(w, goodRecord(1)+fmt.Sprintf(hostileHead, 2))
	if fill != nil {
		fill(w, n)
	} else {
		w.Flush()
		if _, err := f.Seek(n, 1); err != nil {
			t.Fatal(err)
		}
	}
	fmt.Fprint(w, hostileTail+goodRecord(3))
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
}

// TestGiantLine: a line beyond the limit costs its reading and no memory to speak of;
// the records around it are stored, and the report says where it was.
func TestGiantLine(t *testing.T) {
	if raceDetector {
		t.Skip("the race detector's memory is not the program's")
	}
	if _, ok := peakOf(os.Getpid()); !ok {
		t.Skip("the system does not tell the peak of a process")
	}
	size := int64(96 << 20)
	if *long {
		size = 1 << 30
	}
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "src"), 0o700); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(dir, "src", "hostile.jsonl")
	writeGiant(t, name, size, nil)
	r, disk := importHostile(t, dir, false)
	t.Logf("a line of %d MiB: peak %d MiB, archive %d KiB, %d ms", size>>20, r.Peak>>20, disk>>10, r.Millis)
	if r.Peak > 64<<20 {
		t.Errorf("peak memory %d MiB, want at most 64", r.Peak>>20)
	}
	rec := r.Report.Records
	if rec.Read != 3 || rec.Stored != 2 || rec.Rejected != 1 || len(r.Report.Problems) != 1 {
		t.Fatalf("records %+v, problems %v", rec, r.Report.Problems)
	}
	p := r.Report.Problems[0]
	if p.File != name || p.Line != 2 || p.Offset != int64(len(goodRecord(1))) || p.Reason != "record is too long" || p.Code != "LIMIT" {
		t.Errorf("problem %+v", p)
	}
}

// TestHostileLines: each line is stored or rejected with its number and a reason, and
// the counts add up.
func TestHostileLines(t *testing.T) {
	deep := strings.Repeat(`{"a":`, 1_000_000)
	for _, c := range []struct{ name, line, reason, code string }{
		{"depth", deep, "nested too deeply", "LIMIT"},
		{"depth, closed", strings.Repeat("[", 1_000_000) + strings.Repeat("]", 1_000_000), "nested too deeply", "LIMIT"},
		{"depth in a message", fmt.Sprintf(hostileHead, 2) + `","x":` + strings.Repeat("[", 600) + strings.Repeat("]", 600) + "}}", "nested too deeply", "LIMIT"},
		{"many values", `{"a":[` + strings.Repeat("1,", 5_000_000) + "1]}", "too many values in one record", "LIMIT"},
		{"NUL in a string", fmt.Sprintf(hostileHead, 2) + "a\x00b" + strings.TrimSpace(hostileTail), "", ""},
		{"NULs alone", "\x00\x00\x00", "zero bytes between records", ""},
		{"lone surrogates", fmt.Sprintf(hostileHead, 2) + `\ud800 \udc00 \ud83d` + strings.TrimSpace(hostileTail), "", ""},
		{"duplicate keys", `{"type":"x","type":"user","uuid":"2","sessionId":"hostile","message":{"role":"user","content":"a","content":"b"},"timestamp":"2026-01-01T00:00:00Z"}`, "", ""},
		{"400 digits", fmt.Sprintf(hostileHead, 2) + `x"},"n":` + strings.Repeat("9", 400) + `,"m":{"k":1e400}}`, "", ""},
		{"cut UTF-8", fmt.Sprintf(hostileHead, 2) + "a\xe2\x82 \xf0\x9f\xa6 \xff" + strings.TrimSpace(hostileTail), "", ""},
		{"cut line", fmt.Sprintf(hostileHead, 2), "invalid JSON", ""},
		{"bad escape", fmt.Sprintf(hostileHead, 2) + `\q` + strings.TrimSpace(hostileTail), "invalid JSON", ""},
		{"noise", strings.Repeat("x", 2_000_000), "invalid JSON", ""},
		{"a long number", strings.Repeat("9", 2_000_000), "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, Options{})
			first := goodRecord(1)
			w.write("hostile.jsonl", []byte(first+c.line+"\n"+goodRecord(3)))
			r := w.load("hostile.jsonl")
			rec := r.Records
			if rec.Read != 3 || rec.Read != rec.Stored+rec.Skipped+rec.Rejected || rec.Stored < 2 {
				t.Fatalf("records %+v", rec)
			}
			if c.reason == "" {
				if rec.Rejected != 0 || len(r.Problems) != 0 {
					t.Errorf("records %+v, problems %v", rec, r.Problems)
				}
				return
			}
			if len(r.Problems) != 1 {
				t.Fatalf("problems %v", r.Problems)
			}
			if p := r.Problems[0]; p.Line != 2 || p.Offset != int64(len(first)) || p.Reason != c.reason || p.Code != c.code {
				t.Errorf("problem %+v, want line 2, %q %q", p, c.reason, c.code)
			}
		})
	}
}
