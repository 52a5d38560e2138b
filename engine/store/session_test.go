package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/hansard-search/hansard/engine/archive"
)

// TestRoundTrip stores random sessions and reads them back whole, message by message
// and block by block, before and after a reopening.
func TestRoundTrip(t *testing.T) {
	t.Parallel()
	r := rng(t, 1)
	fs := vfs.NewMem()
	s := openMem(t, fs)
	var all []session
	for i := range 30 {
		z := randomSession(r, fmt.Sprintf("s%d", i), r.IntN(20))
		all = append(all, z)
		if got := statuses(commit(t, s, z)); got != "added" {
			t.Fatalf("session %d: %s", i, got)
		}
	}
	for range 2 {
		sn := snap(t, s)
		for _, z := range all {
			wantSession(t, sn, z)
			wantParts(t, sn, z)
		}
		wantClean(t, s)
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		s = openMem(t, fs)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// wantHit wants a message with one of its blocks.
func wantHit(t *testing.T, sn *Snapshot, no No, m *archive.Message, j int) {
	t.Helper()
	want := *m
	want.Blocks = m.Blocks[j : j+1]
	got, err := sn.Hit(no, m.Position, j)
	if d := diff(&want, got); d != "" || err != nil {
		t.Fatalf("hit %d.%d: %v\n%s", m.Position, j, err, d)
	}
}

// wantBrief wants a head without its long parts.
func wantBrief(t *testing.T, sn *Snapshot, no No, head *archive.Session) {
	t.Helper()
	want := *head
	want.Instructions, want.Events, want.Refs, want.Actions = "", nil, nil, nil
	got, err := sn.Brief(no)
	if d := diff(&want, got); d != "" || err != nil {
		t.Fatalf("brief: %v\n%s", err, d)
	}
}

func wantParts(t *testing.T, sn *Snapshot, z session) {
	t.Helper()
	no, _, err := sn.Lookup(z.head.ID())
	if err != nil {
		t.Fatal(err)
	}
	wantBrief(t, sn, no, z.head)
	for i, m := range z.msgs {
		got, err := sn.Message(no, i)
		if d := diff(m, got); d != "" || err != nil {
			t.Fatalf("message %d: %v\n%s", i, err, d)
		}
		for j, b := range m.Blocks {
			got, err := sn.Block(no, i, j)
			if d := diff(b, got); d != "" || err != nil {
				t.Fatalf("block %d.%d: %v\n%s", i, j, err, d)
			}
			wantHit(t, sn, no, m, j)
		}
		if _, err := sn.Hit(no, i, len(m.Blocks)); !errors.Is(err, ErrNotFound) {
			t.Fatalf("hit %d.%d: error %v, want ErrNotFound", i, len(m.Blocks), err)
		}
		if _, err := sn.Block(no, i, len(m.Blocks)); !errors.Is(err, ErrNotFound) {
			t.Fatalf("block %d.%d: error %v, want ErrNotFound", i, len(m.Blocks), err)
		}
	}
	if _, err := sn.Message(no, len(z.msgs)); !errors.Is(err, ErrNotFound) {
		t.Fatalf("message %d: error %v, want ErrNotFound", len(z.msgs), err)
	}
	from := len(z.msgs) / 2
	for m, err := range sn.Messages(no, from) {
		if err != nil || m.Position != from {
			t.Fatalf("Messages from the middle: %v, position %d, want %d", err, m.Position, from)
		}
		from++
	}
}

// TestLongBrief: what is small in almost every session may be long in one.
func TestLongBrief(t *testing.T) {
	s := newStore(t)
	r := rng(t, 8)
	z := say("long", "text")
	z.head.Title = text(r, 5*frameMax)
	for range 3000 {
		z.head.Duplicates = append(z.head.Duplicates, text(r, 30))
	}
	out := commit(t, s, z)
	sn := snap(t, s)
	wantSession(t, sn, z)
	wantBrief(t, sn, out[0].Summary.No, z.head)
}

// TestIdempotent commits the same sessions again: nothing is dirty, counted or left.
func TestIdempotent(t *testing.T) {
	r := rng(t, 2)
	s := newStore(t)
	a, b := randomSession(r, "a", 20), randomSession(r, "b", 150)
	commit(t, s, a, b)
	clearDirty(t, s)
	before := s.Generation()
	if got := statuses(commit(t, s, a, b)); got != "unchanged unchanged" {
		t.Errorf("second commit: %s", got)
	}
	sn := snap(t, s)
	if d, err := sn.Dirty(); len(d) != 0 || err != nil {
		t.Errorf("Dirty = %v, %v after an equal commit", d, err)
	}
	if s.Generation() != before {
		t.Errorf("generation %d, want %d", s.Generation(), before)
	}
	b.msgs[0].Blocks = append(b.msgs[0].Blocks, archive.Block{Type: archive.BlockText, Text: "more"})
	if got := statuses(commit(t, s, a, b.count())); got != "unchanged updated" {
		t.Errorf("third commit: %s", got)
	}
	wantSession(t, snap(t, s), b)
	if s.Generation() != before+1 {
		t.Errorf("generation %d, want %d", s.Generation(), before+1)
	}
}

func clearDirty(t testing.TB, s *Store) {
	t.Helper()
	dirty, err := snap(t, s).Dirty()
	if err != nil {
		t.Fatal(err)
	}
	var refs []Ref
	for _, d := range dirty {
		refs = append(refs, d.Ref())
	}
	if err := s.PublishSegments(context.Background(), nil, refs); err != nil {
		t.Fatal(err)
	}
}

// TestHash: every field counts, where frames are cut and which dictionary they have
// does not.
func TestHash(t *testing.T) {
	s := newStore(t)
	hash := func(z session, fingerprint string) [32]byte {
		r, err := s.NewRevision(z.head.ID())
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range z.msgs {
			if err := r.Message(m); err != nil {
				t.Fatal(err)
			}
		}
		sealed, err := r.Seal(z.head, fingerprint)
		if err != nil {
			t.Fatal(err)
		}
		if z.head.ContentHash != sealed.Hash() {
			t.Error("Seal did not set the head's hash")
		}
		if err := sealed.Abort(); err != nil {
			t.Fatal(err)
		}
		return sealed.Hash()
	}
	base := func() session { return randomSession(rng(t, 3), "h", 12) }
	want := hash(base(), "f")
	if hash(base(), "f") != want {
		t.Fatal("equal sessions have different hashes")
	}
	changes := map[string]func(session){
		"text":      func(z session) { z.msgs[3].Blocks = append(z.msgs[3].Blocks, archive.Block{}) },
		"signature": func(z session) { z.msgs[firstBlock(z)].Blocks[0].Signature += "x" },
		"exit code": func(z session) { z.msgs[firstBlock(z)].Blocks[0].Outcome.ExitCode = archive.IntOf(77) },
		"inherited": func(z session) { z.msgs[0].Inherited = !z.msgs[0].Inherited },
		"tags":      func(z session) { z.head.Tags = append(z.head.Tags, "t") },
		"updated":   func(z session) { z.head.Updated = 4 },
		"last":      func(z session) { z.head.Actions = append(z.head.Actions, archive.Action{}) },
	}
	for name, change := range changes {
		z := base()
		change(z)
		if hash(z, "f") == want {
			t.Errorf("a change of %s does not change the hash", name)
		}
	}
	if hash(base(), "g") == want {
		t.Error("another fingerprint does not change the hash")
	}
	for s.dicts.Load().current == 0 {
		commit(t, s, say(fmt.Sprint(s.Generation()), text(rng(t, s.Generation()), 1<<20)))
	}
	if hash(base(), "f") != want {
		t.Error("a dictionary changes the hash")
	}
}

func firstBlock(z session) int {
	return slices.IndexFunc(z.msgs, func(m *archive.Message) bool { return len(m.Blocks) > 0 })
}

func TestPrefer(t *testing.T) {
	s := newStore(t)
	old, older := say("p", "second"), say("p", "first")
	old.head.Updated, older.head.Updated = 20, 10
	newer := func(old, new Summary) bool { return new.SortKey() >= old.SortKey() }
	put := func(z session) string {
		return statuses(commitAs(t, s, Commit{Sessions: []*Sealed{seal(t, s, z)}, Prefer: newer}))
	}
	for _, step := range []struct {
		z    session
		want string
	}{{old, "added"}, {older, "superseded"}, {old, "unchanged"}} {
		if got := put(step.z); got != step.want {
			t.Errorf("%s, want %s", got, step.want)
		}
	}
	wantSession(t, snap(t, s), old)
	// Twice in one commit: the second sees the first.
	a, b := say("q", "one"), say("q", "two")
	if got := statuses(commit(t, s, a, b, b)); got != "added updated unchanged" {
		t.Errorf("thrice in one commit: %s", got)
	}
	wantSession(t, snap(t, s), b)
}

// TestSnapshotStays: an open snapshot answers as before while sessions are replaced
// and deleted.
func TestSnapshotStays(t *testing.T) {
	r := rng(t, 4)
	s := newStore(t)
	before, after := randomSession(r, "x", 50), randomSession(r, "x", 30)
	commit(t, s, before)
	old := snap(t, s)
	commit(t, s, after)
	mid := snap(t, s)
	no, _, err := mid.Lookup(after.head.ID())
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Delete(context.Background(), no); err != nil {
		t.Fatal(err)
	}
	wantSession(t, old, before)
	wantSession(t, mid, after)
	now := snap(t, s)
	if _, ok, err := now.Lookup(after.head.ID()); ok || err != nil {
		t.Errorf("a deleted session is found: %v", err)
	}
	if _, err := now.Head(no); !errors.Is(err, ErrNotFound) {
		t.Errorf("head of a deleted session: %v", err)
	}
	dirty, err := now.Dirty()
	if err != nil || len(dirty) != 1 || !dirty[0].Deleted() {
		t.Errorf("Dirty = %v, %v; want one deletion", dirty, err)
	}
	if err := s.Delete(context.Background(), no); !errors.Is(err, ErrNotFound) {
		t.Errorf("second Delete: %v", err)
	}
	commit(t, s, before)
	again, _, err := snap(t, s).Lookup(before.head.ID())
	if again != no || err != nil {
		t.Errorf("added again as number %d, was %d (%v)", again, no, err)
	}
}

// TestEdges: dependants become dirty when what they hang on comes, changes or goes.
func TestEdges(t *testing.T) {
	s := newStore(t)
	dirty := func() string {
		t.Helper()
		sn := snap(t, s)
		list, err := sn.Dirty()
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, d := range list {
			if d.Deleted() {
				names = append(names, "gone")
				continue
			}
			p, err := sn.Summary(d.No)
			if err != nil {
				t.Fatal(err)
			}
			names = append(names, strings.TrimPrefix(string(p.ID), "codex-session:"))
		}
		clearDirty(t, s)
		slices.Sort(names)
		return fmt.Sprint(names)
	}
	step := func(what, want string) {
		t.Helper()
		if got := dirty(); got != want {
			t.Errorf("after %s: dirty %s, want %s", what, got, want)
		}
	}
	commit(t, s, say("grandchild", "g").under("child"), say("loner", "l"))
	step("a session whose parent is missing", "[grandchild loner]")
	commit(t, s, say("child", "c").under("root"))
	step("its parent", "[child grandchild]")
	commit(t, s, say("root", "r"))
	step("the root", "[child grandchild root]")
	commit(t, s, say("root", "r", "s"))
	step("more of the root", "[child root]")
	commitAs(t, s, Commit{Sessions: []*Sealed{seal(t, s, say("grandchild", "g", "h").under("child"))}, MarkParents: true})
	step("more of the grandchild, parents too", "[child grandchild]")
	commit(t, s, say("child", "c"))
	step("the child cut loose", "[child grandchild]")
	commit(t, s, say("root", "r", "s", "t"))
	step("the root alone", "[root]")
	commit(t, s, say("child", "c").under("grandchild"))
	step("a circle", "[child grandchild]")
	no, _, err := snap(t, s).Lookup(say("child").head.ID())
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Delete(context.Background(), no); err != nil {
		t.Fatal(err)
	}
	step("a deletion", "[gone grandchild]")
}
