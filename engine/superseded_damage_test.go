package engine

import (
	"bytes"
	"context"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"
)

// TestSupersededDamage damages blocks in the middle of an archive whose sessions are all
// replaced then: no answer lacks anything for it, the doctor names what has not gone by
// itself, and making the index anew takes it out.
func TestSupersededDamage(t *testing.T) {
	r := seeded(t)
	w := newWorld(t, Options{NoMerge: true})
	line := func(session, n int) []byte {
		b := make([]byte, 6000)
		for i := range b {
			b[i] = byte(r.Uint32())
		}
		return fmt.Appendf(nil, `{"type":"user","uuid":"u%d-%d","parentUuid":null,"sessionId":"0f3b4c1e-0000-4000-8000-00000000000%d","timestamp":"2026-03-01T09:00:00.000Z","cwd":"/src/shop","version":"2.1.0","message":{"role":"user","content":"harbour %s"}}`+"\n",
			session, n, session, hex.EncodeToString(b))
	}
	files := make([]bytes.Buffer, 4)
	grow := func(lines int) {
		for i := range files {
			for range lines {
				files[i].Write(line(i, files[i].Len()))
			}
			w.write(fmt.Sprintf("0f3b4c1e-0000-4000-8000-00000000000%d.jsonl", i), files[i].Bytes())
		}
		w.load()
	}
	grow(12)
	w.close()
	var path string
	var size int64
	names, err := w.opts.FS.List("archive")
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range names {
		if p := w.opts.FS.PathJoin("archive", n); strings.HasSuffix(n, ".sst") {
			if info, err := w.opts.FS.Stat(p); err == nil && info.Size() > size {
				path, size = p, info.Size()
			}
		}
	}
	for _, part := range []int64{20, 40} {
		w.flip(path, int(8*size*part/100))
	}
	w.open()
	damaged, err := w.Check(t.Context())
	if err != nil || len(damaged.Faults) == 0 {
		t.Fatalf("nothing is damaged: %v", err)
	}
	grow(1) // each session has another revision now
	env := w.search(SearchRequest{Query: "harbour"})
	if env.Partial || env.Total != len(files) {
		t.Errorf("a search: partial %v, %d of %d sessions: %v", env.Partial, env.Total, len(files), env.Missing)
	}
	if _, err := w.Import(t.Context(), ImportRequest{Paths: []string{w.src}, Force: true}); err != nil {
		t.Fatal(err) // source bytes are kept again
	}
	d, err := DiagnoseOpen(t.Context(), "archive", w.opts, w.Engine)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range d.Findings {
		if f.Code != "TABLES" || !f.Fixable || f.Severity != SeverityUpkeep || !strings.Contains(f.Places[0], path) {
			t.Errorf("finding %+v", f)
		}
	}
	report, err := w.Rebuild(context.Background(), nil)
	if err != nil || len(report.Dropped) == 0 && len(d.Findings) > 0 || len(report.Unreadable) > 0 {
		t.Errorf("rebuild: %+v, %v", report, err)
	}
	t.Logf("found %d, dropped %v", len(d.Findings), report.Dropped)
	w.check()
	if env := w.search(SearchRequest{Query: "harbour"}); env.Partial || env.Total != len(files) {
		t.Errorf("after: partial %v, %d sessions", env.Partial, env.Total)
	}
}
