package segments

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/hansard-search/hansard/postings"
)

// testID is the id of all segments whose bytes are compared.
var testID = ID{1, 2, 3}

func newRand(t testing.TB) *rand.Rand {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	return rand.New(rand.NewPCG(seed, 0))
}

func memFS(t testing.TB) vfs.FS {
	fs := vfs.NewMem()
	if err := fs.MkdirAll("tmp", 0o755); err != nil {
		t.Fatal(err)
	}
	return fs
}

// noTemp fails the test if a temporary file is left.
func noTemp(t testing.TB, fs vfs.FS) {
	t.Helper()
	names, err := fs.List("tmp")
	if err != nil || len(names) > 0 {
		t.Fatalf("temporary files left: %v, %v", names, err)
	}
}

func TestWriterAnswersAsModel(t *testing.T) {
	r := newRand(t)
	for range 40 {
		model := randomModel(r, r.IntN(12), 1+r.IntN(12))
		seg := open(t, build(t, Options{Schema: testSchema}, model))
		compare(t, "writer", seg, model)
		if faults := Check(seg); len(faults) > 0 {
			t.Fatalf("Check of a sound segment: %v", faults)
		}
	}
}

func TestSpillGivesEqualBytes(t *testing.T) {
	r := newRand(t)
	for range 40 {
		model := randomModel(r, r.IntN(6), 1+r.IntN(20))
		plain := build(t, Options{Schema: testSchema, ID: testID}, model)
		fs := memFS(t)
		spilt := build(t, Options{Schema: testSchema, ID: testID, SpillBytes: 500 + r.IntN(20000), FS: fs, TempDir: "tmp"}, model)
		noTemp(t, fs)
		if !bytes.Equal(plain, spilt) {
			compare(t, "spilt", open(t, spilt), model)
			t.Fatal("a writer that spilt gives other bytes")
		}
	}
}

func TestMergeGivesEqualBytes(t *testing.T) {
	r := newRand(t)
	for range 40 {
		var kept []mSession
		var inputs []MergeInput
		for range r.IntN(5) {
			model := randomModel(r, r.IntN(8), 1+r.IntN(8))
			var dead []uint32
			for i, s := range model {
				if r.IntN(3) == 0 {
					dead = append(dead, uint32(i))
				} else {
					kept = append(kept, s)
				}
			}
			seg := open(t, build(t, Options{Schema: testSchema}, model))
			inputs = append(inputs, MergeInput{seg, postings.NewSet(dead)})
		}
		var buf bytes.Buffer
		fs := memFS(t)
		info, err := Merge(context.Background(), &buf, inputs, MergeOptions{Schema: testSchema, ID: testID, FS: fs, TempDir: "tmp"})
		if err != nil {
			t.Fatal(err)
		}
		noTemp(t, fs)
		seg := open(t, buf.Bytes())
		compare(t, "merged", seg, kept)
		if faults := Check(seg); len(faults) > 0 {
			t.Fatalf("Check of a merged segment: %v", faults)
		}
		if info != seg.Info() {
			t.Errorf("Info = %+v, want %+v", info, seg.Info())
		}
		if afresh := build(t, Options{Schema: testSchema, ID: testID}, kept); !bytes.Equal(afresh, buf.Bytes()) {
			t.Fatal("a merge gives other bytes than a writer")
		}
	}
}

// TestManyRows crosses the containers of lists and sets and the widths of columns.
func TestManyRows(t *testing.T) {
	var model []mSession
	for s := range 30 {
		session := mSession{ref: Ref{uint64(s), 1}}
		for m := range 500 {
			message := mMessage{vals: []Value{{Column: 2, Text: fmt.Sprint(s, ".", m)}, {Column: 3, Number: int64(s) << 40}}}
			for b := range 6 {
				message.blocks = append(message.blocks, mBlock{text: fmt.Sprintf("all of %d and %d", m, s*b), vals: []Value{{Column: 4, Text: "text"}}})
			}
			session.messages = append(session.messages, message)
		}
		model = append(model, session)
	}
	plain := build(t, Options{Schema: testSchema, ID: testID}, model)
	s := open(t, plain)
	if faults := Check(s); len(faults) > 0 {
		t.Fatalf("Check = %v", faults)
	}
	l, err := s.Term([]byte("all"), postings.Positions)
	if err != nil || l.Len() != 90_000 || l.Containers() != 2 {
		t.Fatalf("Term(all) = %d rows in %d containers, %v", l.Len(), l.Containers(), err)
	}
	fs := memFS(t)
	if !bytes.Equal(plain, build(t, Options{Schema: testSchema, ID: testID, SpillBytes: 4 << 20, FS: fs, TempDir: "tmp"}, model)) {
		t.Error("a writer that spilt gives other bytes")
	}
	noTemp(t, fs)
	var buf bytes.Buffer
	dead := postings.NewSet([]uint32{0, 3, 4, 29})
	if _, err := Merge(t.Context(), &buf, []MergeInput{{s, dead}, {s, postings.Set{}}}, MergeOptions{Schema: testSchema, ID: testID}); err != nil {
		t.Fatal(err)
	}
	kept := slices.Concat(model[1:3], model[5:29], model)
	if !bytes.Equal(buf.Bytes(), build(t, Options{Schema: testSchema, ID: testID}, kept)) {
		t.Error("a merge gives other bytes than a writer")
	}
}

// TestOneHugeMessage spills inside one message of one session.
func TestOneHugeMessage(t *testing.T) {
	session := mSession{ref: Ref{1, 2}, vals: []Value{{Column: 0, Text: "repo"}}, messages: make([]mMessage, 1)}
	session.messages[0].vals = []Value{{Column: 2, Text: "user"}}
	for b := range 3000 {
		session.messages[0].blocks = append(session.messages[0].blocks, mBlock{text: fmt.Sprintf("block %d says %d", b, b*b)})
	}
	session.actions = []mAction{{use: 2999, result: 0}}
	fs := memFS(t)
	w, err := NewWriter(Options{Schema: testSchema, ID: testID, SpillBytes: 64 << 10, FS: fs, TempDir: "tmp"})
	if err != nil {
		t.Fatal(err)
	}
	feed(t, w, []mSession{session})
	if len(w.fragments) < 3 {
		t.Fatalf("%d fragments, want several", len(w.fragments))
	}
	if n := w.MemBytes(); n > 80<<10 {
		t.Errorf("MemBytes = %d beyond the bound", n)
	}
	var buf bytes.Buffer
	if _, err := w.Finish(&buf); err != nil {
		t.Fatal(err)
	}
	noTemp(t, fs)
	compare(t, "huge message", open(t, buf.Bytes()), []mSession{session})
	if !bytes.Equal(buf.Bytes(), build(t, Options{Schema: testSchema, ID: testID}, []mSession{session})) {
		t.Error("a writer that spilt gives other bytes")
	}
}
