package store

import (
	"context"
	"fmt"
	"runtime"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/hansard-search/hansard/engine/archive"
)

// TestMemory streams a session of 200 MB to a disk and back: the heap stays bounded.
func TestMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("writes 200 MB")
	}
	const ceiling = 100 << 20
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	if m.HeapAlloc > ceiling/4 { // with -count or -shuffle: what they parked stays
		t.Skipf("earlier tests left %d MB of heap", m.HeapAlloc>>20)
	}
	s, err := Open(t.TempDir(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	r := rng(t, 60)
	pool := text(r, 8<<20)
	peak := uint64(0)
	look := func() {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		peak = max(peak, m.HeapInuse)
	}
	rev, err := s.NewRevision("codex-session:big")
	if err != nil {
		t.Fatal(err)
	}
	const messages, size = 200, 1 << 20
	for i := range messages {
		from := r.IntN(len(pool) - size)
		m := &archive.Message{Position: i, Time: archive.NoTime}
		for j := range 4 {
			part := pool[from+j*size/4:][:size/4]
			m.Blocks = append(m.Blocks, archive.Block{Type: archive.BlockText, Text: part})
		}
		if err := rev.Message(m); err != nil {
			t.Fatal(err)
		}
		look()
	}
	head := say("big").head
	head.Counters.Messages, head.Counters.Blocks = messages, 4*messages
	sealed, err := rev.Seal(head, "f")
	if err != nil {
		t.Fatal(err)
	}
	commitAs(t, s, Commit{Sessions: []*Sealed{sealed}})
	sn := snap(t, s)
	no, _, err := sn.Lookup(head.ID())
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for m, err := range sn.Messages(no, 0) {
		if err != nil || m.Position != n {
			t.Fatalf("message %d: %v", n, err)
		}
		n++
		look()
	}
	t.Logf("%d MB in, %d MB on disk, heap at most %d MB", messages*size>>20, s.DiskBytes()>>20, peak>>20)
	if n != messages || peak > ceiling {
		t.Errorf("%d messages, heap of %d MB, want %d and at most %d MB", n, peak>>20, messages, ceiling>>20)
	}
	wantClean(t, s)
}

// TestDictionary: a store makes its dictionary from what it holds, equal stores make
// equal ones, and frames with and without it are read after a reopening.
func TestDictionary(t *testing.T) {
	t.Parallel()
	var dicts [2]string
	for i := range dicts {
		fs := vfs.NewMem()
		s := openMem(t, fs)
		r := rng(t, 61)
		var all []session
		for n := 0; s.dicts.Load().current == 0 || n < 8; n++ {
			if n > 50 {
				t.Fatal("no dictionary after 50 sessions")
			}
			var texts []string
			for range 200 {
				texts = append(texts, text(r, 4000))
			}
			z := say(fmt.Sprint(n), texts...)
			commit(t, s, z)
			all = append(all, z)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		s = openMem(t, fs)
		sn := snap(t, s)
		for _, z := range all {
			wantSession(t, sn, z)
		}
		_, err := get(s.db, keyDict(1), func(v []byte) error { dicts[i] = string(v); return nil })
		if err != nil || s.dicts.Load().current != 1 {
			t.Errorf("dictionary %d, %v", s.dicts.Load().current, err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if dicts[0] != dicts[1] || dicts[0] == "" {
		t.Errorf("equal stores have dictionaries of %d and %d bytes, or different ones", len(dicts[0]), len(dicts[1]))
	}
}

func TestOverlays(t *testing.T) {
	s := newStore(t)
	ctx := context.Background()
	for _, err := range []error{
		s.SetTags(ctx, "a:b", []string{"z", "a", "z"}), s.SetTitle(ctx, "a:b", "mine"), s.SetTags(ctx, "a:c", []string{"q"}),
		s.PutOverlays(ctx, []Overlay{{"note", "k", []byte{}}, {"note", "l", []byte("v")}, {"note", "l", nil}}),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	sn := snap(t, s)
	tags, err := sn.Tags("a:b")
	title, err2 := sn.Title("a:b")
	if fmt.Sprint(tags) != "[a z]" || title != "mine" || err != nil || err2 != nil {
		t.Errorf("tags %v, title %q, %v, %v", tags, title, err, err2)
	}
	if sn.OverlayGeneration() != 4 || sn.Generation() != 0 {
		t.Errorf("generations %d and %d", sn.OverlayGeneration(), sn.Generation())
	}
	list, err := collect(sn.Overlays("note", ""))
	if len(list) != 1 || list[0].Key != "k" || list[0].Value == nil || err != nil {
		t.Errorf("notes %v, %v", list, err)
	}
	if err := s.SetTags(ctx, "a:b", nil); err != nil {
		t.Fatal(err)
	}
	if tags, err := snap(t, s).Tags("a:b"); tags != nil || err != nil {
		t.Errorf("tags %v, %v after taking them away", tags, err)
	}
	if tags, err := sn.Tags("a:b"); len(tags) != 2 || err != nil {
		t.Errorf("the old snapshot has tags %v, %v", tags, err)
	}
}

// TestSegments: a publication swaps the list and clears the marks that were not set
// again meanwhile.
func TestSegments(t *testing.T) {
	s := newStore(t)
	ctx := context.Background()
	commit(t, s, say("a", "1"), say("b", "1"))
	dirty, err := snap(t, s).Dirty()
	if err != nil || len(dirty) != 2 {
		t.Fatalf("Dirty = %v, %v", dirty, err)
	}
	commit(t, s, say("b", "2"))
	want := []SegmentRecord{{Name: "one", ID: 1, Sessions: 2, Level: 3, Dead: []byte{1}}, {Name: "two"}}
	if err := s.PublishSegments(ctx, want, []Ref{dirty[0].Ref(), dirty[1].Ref()}); err != nil {
		t.Fatal(err)
	}
	sn := snap(t, s)
	left, err := sn.Dirty()
	if err != nil || len(left) != 1 || left[0].No != dirty[1].No {
		t.Errorf("Dirty = %v, %v; want the one that was marked again", left, err)
	}
	got, err := sn.Segments()
	if fmt.Sprint(got) != fmt.Sprint(want) || err != nil {
		t.Errorf("Segments = %v, %v", got, err)
	}
	if err := s.PublishSegments(ctx, want[1:], nil); err != nil {
		t.Fatal(err)
	}
	if got, err := snap(t, s).Segments(); len(got) != 1 || got[0].Name != "two" || err != nil {
		t.Errorf("Segments = %v, %v", got, err)
	}
}

// manyBlocks stores sessions of prose and gives a snapshot with their numbers.
func manyBlocks(b *testing.B) (sn *Snapshot, nos []No, bytes int64) {
	s, err := Open(b.TempDir(), Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = s.Close() })
	r := rng(b, 62)
	for i := range 20 {
		var texts []string
		for range 1000 {
			texts = append(texts, text(r, 1000))
		}
		out := commit(b, s, say(fmt.Sprint(i), texts...))
		nos = append(nos, out[0].Summary.No)
		bytes += out[0].Summary.Bytes
	}
	return snap(b, s), nos, bytes
}

// BenchmarkBlock reads random blocks of 1 kB.
func BenchmarkBlock(b *testing.B) {
	sn, nos, _ := manyBlocks(b)
	r := rng(b, 63)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := sn.Block(nos[r.IntN(len(nos))], r.IntN(1000), 0); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkMessages streams whole sessions of 1 MB.
func BenchmarkMessages(b *testing.B) {
	sn, nos, bytes := manyBlocks(b)
	b.SetBytes(bytes / int64(len(nos)))
	i := 0
	for b.Loop() {
		i++
		for _, err := range sn.Messages(nos[i%len(nos)], 0) {
			if err != nil {
				b.Fatal(err)
			}
		}
	}
}

// BenchmarkWrite writes and commits sessions of 1 MB.
func BenchmarkWrite(b *testing.B) {
	s, err := Open(b.TempDir(), Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	r := rng(b, 64)
	var texts []string
	for range 1000 {
		texts = append(texts, text(r, 1000))
	}
	z := say("w", texts...)
	b.SetBytes(1000 * 1000)
	i := 0
	for b.Loop() {
		i++
		z.head.Native = fmt.Sprint(i)
		commit(b, s, z)
	}
	b.ReportMetric(float64(s.DiskBytes())/float64(i)/1e6, "diskMB/op")
}
