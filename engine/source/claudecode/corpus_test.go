package claudecode

import (
	"context"
	"os"
	"testing"

	"github.com/hansard-search/hansard/engine/source"
)

func TestCorpus(t *testing.T) {
	var total source.Records
	sessions, messages := 0, 0
	for _, name := range corpusFiles(t) {
		o, err := source.OpenFile(name)
		if err != nil {
			t.Fatal(err)
		}
		head, err := o.Head()
		if err != nil {
			t.Fatal(err)
		}
		if f, reason := source.Identify([]source.Format{Format{}}, name, head); f == nil {
			t.Logf("not taken: %s: %s", name, reason)
		}
		r, n := read(t, o.File, source.Limits{})
		var again recorder
		m, err := Format{}.Read(context.Background(), o.File, source.Limits{}, &again)
		if err != nil || m != n || dump(&again, m) != dump(r, n) {
			t.Errorf("%s: a second reading differs (%v)", name, err)
		}
		sessions += len(r.sessions)
		for _, s := range r.sessions {
			messages += len(s.messages)
		}
		total.Read += n.Read
		total.Stored += n.Stored
		total.Skipped += n.Skipped
		total.Rejected += n.Rejected
		if err := o.Close(); err != nil {
			t.Error(err)
		}
	}
	t.Logf("%d sessions, %d messages, %+v", sessions, messages, total)
}

func BenchmarkCorpus(b *testing.B) {
	var files []source.File
	var size int64
	for _, name := range corpusFiles(b) {
		content, err := os.ReadFile(name)
		if err != nil {
			b.Fatal(err)
		}
		size += int64(len(content))
		files = append(files, memFile(name, content))
	}
	b.SetBytes(size)
	b.ReportAllocs()
	for b.Loop() {
		for _, f := range files {
			if _, err := (Format{}).Read(context.Background(), f, source.Limits{}, &forgetful{}); err != nil {
				b.Fatal(err)
			}
		}
	}
}
