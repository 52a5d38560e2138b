package store

import (
	"context"
	"slices"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/hansard-search/hansard/engine/archive"
)

// planted is a store with two sessions, the second under the first, a raw and a cursor.
func planted(t *testing.T) (s *Store, a, b Summary) {
	s = openMem(t, vfs.NewMem())
	r := rng(t, 50)
	raw := putRaw(t, s, []byte("source"))
	one, two := randomSession(r, "a", 30), say("b", "child").under("nobody")
	z := seal(t, s, one)
	z.Raw = []RawID{raw}
	out := commitAs(t, s, Commit{Sessions: []*Sealed{z, seal(t, s, two)}, Cursors: []Cursor{{Path: "p", Raw: raw, Length: 6, Consumed: 6}}})
	wantClean(t, s)
	return s, out[0].Summary, out[1].Summary
}

// TestCheck plants faults and wants each named.
func TestCheck(t *testing.T) {
	set := func(s *Store, k, v []byte) error { return s.db.Set(k, v, pebble.NoSync) }
	del := func(s *Store, k []byte) error { return s.db.Delete(k, pebble.NoSync) }
	point := func(s *Store, p Summary, change func(*Summary)) error {
		change(&p)
		return set(s, key64(prefixPointer, uint64(p.No)), p.encode())
	}
	zeros := make([]byte, 8)
	faults := []struct {
		name  string
		kind  FaultKind
		plant func(s *Store, a, b Summary) error
	}{
		{"no head", FaultNoHead, func(s *Store, a, b Summary) error {
			return s.db.DeleteRange(keyRevision(prefixHead, a.No, a.Rev), keyRevision(prefixHead, a.No, a.Rev+1), pebble.NoSync)
		}},
		{"no frames", FaultNoFrames, func(s *Store, a, b Summary) error {
			return s.db.DeleteRange(keyRevision(prefixFrame, a.No, a.Rev), keyRevision(prefixFrame, a.No, a.Rev+1), pebble.NoSync)
		}},
		{"first frame missing", FaultNoFrame, func(s *Store, a, b Summary) error { return del(s, keyFrame(a.No, a.Rev, place{}, 0)) }},
		{"frame does not decode", FaultDamaged, func(s *Store, a, b Summary) error {
			return set(s, keyFrame(b.No, b.Rev, place{}, 0), []byte("\x01\x00junk"))
		}},
		{"frame of a missing dictionary", FaultDamaged, func(s *Store, a, b Summary) error {
			return set(s, keyFrame(b.No, b.Rev, place{}, 0), []byte("\x01\x63junk"))
		}},
		{"pointer does not decode", FaultDamaged, func(s *Store, a, b Summary) error {
			return set(s, key64(prefixPointer, uint64(a.No)), []byte{1, 2, 3})
		}},
		{"orphan frames", FaultOrphan, func(s *Store, a, b Summary) error { return set(s, keyFrame(77, 1, place{}, 0), zeros) }},
		{"frames of an old revision", FaultOrphan, func(s *Store, a, b Summary) error {
			return set(s, keyFrame(a.No, a.Rev+1, place{}, 0), zeros)
		}},
		{"orphan head", FaultOrphan, func(s *Store, a, b Summary) error { return set(s, keyHead(77, 1, 0), zeros) }},
		{"head past its end", FaultOrphan, func(s *Store, a, b Summary) error { return set(s, keyHead(b.No, b.Rev, 2), zeros) }},
		{"head cut short", FaultDamaged, func(s *Store, a, b Summary) error { return del(s, keyHead(b.No, b.Rev, 1)) }},
		{"brief missing", FaultDamaged, func(s *Store, a, b Summary) error { return del(s, keyHead(b.No, b.Rev, 0)) }},
		{"frame past its end", FaultCounters, func(s *Store, a, b Summary) error {
			var e encoder
			appendMessage(&e, &archive.Message{})
			raw := append([]byte{byte(len(e.b)<<1 | itemMessage)}, e.b...)
			return set(s, keyFrame(b.No, b.Rev, place{msg: 1}, 0), s.appendFrame(nil, raw))
		}},
		{"message count", FaultCounters, func(s *Store, a, b Summary) error {
			return point(s, b, func(p *Summary) { p.Messages++ })
		}},
		{"byte count", FaultCounters, func(s *Store, a, b Summary) error { return point(s, b, func(p *Summary) { p.Bytes++ }) }},
		{"hash", FaultHash, func(s *Store, a, b Summary) error { return point(s, b, func(p *Summary) { p.Hash[0]++ }) }},
		{"duplicate session", FaultDuplicate, func(s *Store, a, b Summary) error {
			a.No, a.Rev = b.No, b.Rev
			return set(s, key64(prefixPointer, uint64(b.No)), a.encode())
		}},
		{"no id", FaultID, func(s *Store, a, b Summary) error { return del(s, keyString(prefixID, string(a.ID))) }},
		{"dangling edge", FaultEdge, func(s *Store, a, b Summary) error { return set(s, keyEdge("codex-session:x", 99), nil) }},
		{"edge to a stranger", FaultEdge, func(s *Store, a, b Summary) error { return set(s, keyEdge("codex-session:x", b.No), nil) }},
		{"missing edge", FaultEdge, func(s *Store, a, b Summary) error { return del(s, keyEdge("codex-session:nobody", b.No)) }},
		{"cursor past its file", FaultCursor, func(s *Store, a, b Summary) error {
			return set(s, []byte("cq"), (&Cursor{Length: 5, Consumed: 6}).encode())
		}},
		{"cursor of the future", FaultCursor, func(s *Store, a, b Summary) error {
			return set(s, []byte("cq"), (&Cursor{Generation: 99}).encode())
		}},
		{"mark of nothing", FaultDirty, func(s *Store, a, b Summary) error {
			return set(s, key64(prefixDirty, 99), Dirty{99, 1, 1}.encode())
		}},
		{"stale tombstone", FaultDirty, func(s *Store, a, b Summary) error {
			return set(s, key64(prefixDirty, uint64(a.No)), Dirty{a.No, 0, 1}.encode())
		}},
		{"raw chunk gone", FaultRaw, func(s *Store, a, b Summary) error {
			return s.db.DeleteRange([]byte{prefixChunk}, []byte{prefixChunk + 1}, pebble.NoSync)
		}},
		{"raw link to nothing", FaultRawLink, func(s *Store, a, b Summary) error { return set(s, keyLinkSession(RawID{9}, a.No), nil) }},
		{"raw without link", FaultRawLink, func(s *Store, a, b Summary) error { return del(s, keyLinkSession(a.Raw[0], a.No)) }},
		{"raw of nothing", FaultRawOrphan, func(s *Store, a, b Summary) error {
			empty := manifest{Blob: 1}
			return set(s, keyHash(prefixRaw, RawID{0xe3}), empty.encode())
		}},
		{"chunk of nothing", FaultRawOrphan, func(s *Store, a, b Summary) error { return set(s, keyHash(prefixChunk, [32]byte{9}), zeros) }},
		{"segment twice", FaultSegment, func(s *Store, a, b Summary) error {
			return s.PublishSegments(context.Background(), []SegmentRecord{{Name: "x"}, {Name: "x"}}, nil)
		}},
		{"number of the future", FaultCounter, func(s *Store, a, b Summary) error { return set(s, keyString(prefixID, "a:z"), be64(nil, 99)) }},
		{"unknown record", FaultUnknownRecord, func(s *Store, a, b Summary) error { return set(s, []byte("g?"), nil) }},
	}
	for _, f := range faults {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			s, a, b := planted(t)
			defer s.Close()
			if err := f.plant(s, a, b); err != nil {
				t.Fatal(err)
			}
			got, err := s.Check(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			if !slices.ContainsFunc(got, func(g Fault) bool { return g.Kind == f.kind }) {
				t.Errorf("faults %v, want one of kind %q", got, f.kind)
			}
		})
	}
}
