package engine

import (
	"context"
	"encoding/base64"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"
	"time"
)

// softHeap is the GOMEMLIMIT that the statement supposes.
const softHeap = 160 << 20

// ceiling is what Options promise of the memory of an import, in bytes.
func ceiling(o Options) int64 {
	o = o.withDefaults()
	return 192<<20 + 2*int64(o.FlushBytes) + max(o.CacheBytes-32<<20, 0)
}

// TestMemoryCeiling imports far more than is indexed at once, in a process of its own
// whose collector is told what Options suppose, and asks the system for the most that
// the process had in memory: at most a quarter above the ceiling that Options state.
func TestMemoryCeiling(t *testing.T) {
	if dir := os.Getenv("HANSARD_TEST_IMPORT"); dir != "" {
		importOnly(t, dir)
		return
	}
	if !*long {
		t.Skip("needs -long")
	}
	if _, ok := peakOf(os.Getpid()); !ok {
		t.Skip("the system does not tell the peak of a process")
	}
	for _, c := range []struct {
		flush    int
		sessions int // files
		bytes    int64
	}{
		{4 << 20, 400, 20 * 8 * 4 << 20}, // 20 × 8 × FlushBytes
		{4 << 20, 1, 200 << 20},          // one session
		{32 << 20, 400, 640 << 20},       // the default
	} {
		t.Run(fmt.Sprintf("flush %d MiB, %d sessions", c.flush>>20, c.sessions), func(t *testing.T) {
			r := seeded(t)
			dir := t.TempDir()
			src := filepath.Join(dir, "src")
			if err := os.Mkdir(src, 0o755); err != nil {
				t.Fatal(err)
			}
			const words = 120
			perMessage := int64(720)
			size := writeRollouts(t, src, r, c.sessions, int(c.bytes/int64(c.sessions)/perMessage), words)
			limit := ceiling(Options{FlushBytes: c.flush})
			peak, report := importApart(t, dir, c.flush)
			t.Logf("%d MB of source: %s; peak %d MB, stated %d MB: %.2f of it", size>>20, report, peak>>20, limit>>20, float64(peak)/float64(limit))
			if c.sessions > 1 && peak > limit*5/4 { // see Options on a single large session
				t.Errorf("the import had %d MB in memory, the ceiling is %d MB", peak>>20, limit>>20)
			}
		})
	}
}

// TestMemoryOfALine imports a line of 1 GiB that does not compress, between two others:
// it is refused, its bytes are kept, and 64 MiB are the most that the process has.
func TestMemoryOfALine(t *testing.T) {
	if !*long {
		t.Skip("needs -long")
	}
	if _, ok := peakOf(os.Getpid()); !ok {
		t.Skip("the system does not tell the peak of a process")
	}
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "src"), 0o755); err != nil {
		t.Fatal(err)
	}
	f, err := os.Create(filepath.Join(dir, "src", "11111111-1111-4111-8111-111111111111.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	line := `{"type":"user","sessionId":"11111111-1111-4111-8111-111111111111","uuid":%q,"timestamp":"2026-01-01T00:00:00Z","message":{"role":"user","content":"`
	fmt.Fprintf(f, line+"first\"}}\n", "a")
	fmt.Fprintf(f, line, "b")
	r := seeded(t)
	bytes := make([]byte, 3<<18)
	for range 1 << 10 {
		for i := range bytes {
			bytes[i] = byte(r.Uint32())
		}
		if _, err := f.WriteString(base64.StdEncoding.EncodeToString(bytes)); err != nil {
			t.Fatal(err)
		}
	}
	fmt.Fprintf(f, "\"}}\n"+line+"last\"}}\n", "c")
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	peak, report := importApart(t, dir, 0)
	t.Logf("%s; peak %d MiB", report, peak>>20)
	if !strings.HasPrefix(report, "1 sessions, 2 blocks, 1 records rejected ") {
		t.Errorf("report %q", report)
	}
	if peak > 64<<20 {
		t.Errorf("the import had %d MiB in memory", peak>>20)
	}
}

// importApart imports dir/src into dir/archive in a process of its own.
func importApart(t *testing.T, dir string, flush int) (peak int64, report string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, os.Args[0], "-test.run=^TestMemoryCeiling$", "-test.v", "-test.timeout=20m")
	cmd.Env = append(os.Environ(), "HANSARD_TEST_IMPORT="+dir, "HANSARD_TEST_FLUSH="+strconv.Itoa(flush), fmt.Sprintf("GOMEMLIMIT=%d", softHeap))
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("import apart: %v\n%s", err, out)
	}
	for line := range strings.Lines(string(out)) {
		if _, err := fmt.Sscanf(line, "peak %d", &peak); err == nil {
			_, report, _ = strings.Cut(strings.TrimSpace(line), ": ")
		}
	}
	if peak == 0 {
		t.Fatalf("no peak in\n%s", out)
	}
	return peak, report
}

// importOnly is the process apart.
func importOnly(t *testing.T, dir string) {
	flush, err := strconv.Atoi(os.Getenv("HANSARD_TEST_FLUSH"))
	if err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	e, err := Open(filepath.Join(dir, "archive"), Options{Create: true, FlushBytes: flush})
	if err != nil {
		t.Fatal(err)
	}
	r, err := e.Import(context.Background(), ImportRequest{Paths: []string{filepath.Join(dir, "src")}})
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	peak, _ := peakOf(os.Getpid())
	fmt.Printf("peak %d: %d sessions, %d blocks, %d records rejected in %v under a soft limit of %d MB\n", peak, r.Added, r.Blocks, r.Records.Rejected, time.Since(start).Round(time.Millisecond),
		debug.SetMemoryLimit(-1)>>20)
}

// peakOf is the most that a process has had in memory, as Linux tells it.
func peakOf(pid int) (int64, bool) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, false
	}
	for line := range strings.Lines(string(b)) {
		var kb int64
		if _, err := fmt.Sscanf(line, "VmHWM: %d kB", &kb); err == nil {
			return kb << 10, true
		}
	}
	return 0, false
}
