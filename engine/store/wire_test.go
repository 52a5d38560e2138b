package store

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/hansard-search/hansard/engine/archive"
)

func TestWireNumbers(t *testing.T) {
	for _, v := range []int64{0, 1, -1, 63, -64, 64, math.MaxInt64, math.MinInt64, math.MinInt64 + 1} {
		var e encoder
		e.int(v)
		e.time(v)
		d := decoder{s: string(e.b)}
		if a, b := d.int(), d.time(); a != v || b != v || d.end() != nil {
			t.Errorf("%d decodes as %d and as time %d, %v", v, a, b, d.err)
		}
	}
	var e encoder
	e.time(archive.NoTime)
	if len(e.b) != 1 {
		t.Errorf("an unknown time takes %d bytes", len(e.b))
	}
}

// TestWireSpelling: numbers and flags have one spelling.
func TestWireSpelling(t *testing.T) {
	long := "\x80\x80\x80\x80\x80\x80\x80\x80\x80"
	for in, want := range map[string]error{
		"": errShort, "\x80": errShort, "\x80\x00": errSpell, "\x81\x00": errSpell,
		long + "\x02": errSpell, long + "\x80\x01": errSpell, long + "\x00": errSpell,
		"\x05abc": errLength, "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01": errLength,
	} {
		d := decoder{s: in}
		if got := d.str(); got != "" || d.err != want {
			t.Errorf("string %q decodes as %q, %v, want error %v", in, got, d.err, want)
		}
	}
	d := decoder{s: "\x02"}
	if d.bool(); d.err != errSpell {
		t.Errorf("flag 2: error %v", d.err)
	}
	d = decoder{s: "\x00\x00"}
	if d.byte(); d.end() != errExcess {
		t.Errorf("byte too many: error %v", d.err)
	}
}

func TestHostileLengths(t *testing.T) {
	for _, n := range []uint64{1 << 31, 1 << 32, 1 << 62, math.MaxUint64} {
		var e encoder
		e.byte(recordVersion)
		e.str("id")
		e.uint(n)
		allocs := testing.AllocsPerRun(10, func() {
			if _, err := decodeSummary(1, e.b); err == nil {
				t.Error("decodes")
			}
		})
		if allocs > 50 {
			t.Errorf("%v allocations", allocs)
		}
	}
}

// FuzzMessage: what decodes encodes to the same bytes.
func FuzzMessage(f *testing.F) {
	r := rng(f, 5)
	for range 20 {
		z := randomSession(r, "f", 1)
		var e encoder
		appendMessage(&e, z.msgs[0])
		f.Add(e.b)
	}
	f.Add([]byte("\xff\xff\xff\xff\x7f"))
	f.Fuzz(func(t *testing.T, b []byte) {
		m, n, err := decodeMessage(string(b))
		if err != nil {
			return
		}
		var e encoder
		m.Blocks = make([]archive.Block, min(n, 1<<20))
		if appendMessage(&e, m); n < 1<<20 && string(e.b) != string(b) {
			t.Errorf("%q encodes again as %q", b, e.b)
		}
	})
}

func FuzzBlock(f *testing.F) {
	r := rng(f, 6)
	for i := range 20 {
		b := randomBlock(r, i)
		var e encoder
		appendBlock(&e, &b)
		f.Add(append(append(e.b, b.ToolInput...), b.Text...))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		b, err := decodeBlock(string(in))
		if err != nil {
			return
		}
		var e encoder
		appendBlock(&e, &b)
		if got := string(e.b) + b.ToolInput + b.Text; got != string(in) {
			t.Errorf("%q encodes again as %q", in, got)
		}
	})
}

func FuzzBrief(f *testing.F) {
	r := rng(f, 7)
	for range 20 {
		var e encoder
		appendBrief(&e, randomSession(r, "f", 0).head)
		f.Add(e.b)
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		h, err := decodeBrief(string(in))
		if err != nil {
			return
		}
		var e encoder
		if appendBrief(&e, h); string(e.b) != string(in) {
			t.Errorf("%q encodes again as %q", in, e.b)
		}
	})
}

func FuzzRest(f *testing.F) {
	r := rng(f, 8)
	for range 20 {
		h := randomSession(r, "f", 0).head
		h.Instructions = word(r)
		var e encoder
		appendRest(&e, h)
		f.Add(e.b)
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		var h archive.Session
		if decodeRest(&h, string(in)) != nil {
			return
		}
		var e encoder
		if appendRest(&e, &h); string(e.b) != string(in) {
			t.Errorf("%q encodes again as %q", in, e.b)
		}
	})
}

func FuzzRecords(f *testing.F) {
	z := Summary{ID: "a:b", Rev: 3, Created: archive.NoTime, Raw: []RawID{{1}}, Parents: []archive.SessionID{"a:c"}}
	c := Cursor{Path: "p", Size: 9, Note: []byte("n")}
	g := SegmentRecord{Name: "n", Dead: []byte{1}}
	m := manifest{Blob: 1, Size: 5, Chunks: [][32]byte{{9}}}
	st := state{NextNo: 2}
	for _, b := range [][]byte{z.encode(), c.encode(), g.encode(), m.encode(), st.encode(), Dirty{1, 2, 3}.encode()} {
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		same := func(err error, b func() []byte) {
			if err == nil && string(b()) != string(in) {
				t.Errorf("%q encodes again as %q", in, b())
			}
		}
		z, err := decodeSummary(1, in)
		same(err, z.encode)
		c, err := decodeCursor("p", in)
		same(err, c.encode)
		d, err := decodeDirty(1, in)
		same(err, d.encode)
		g, err := decodeSegment(in)
		same(err, g.encode)
		m, err := decodeManifest(in)
		same(err, m.encode)
		st, err := decodeState(in)
		same(err, st.encode)
	})
}

func TestRecordsRoundTrip(t *testing.T) {
	c := Cursor{Path: "p", Size: 9, ModTime: archive.NoTime, Length: 8, Consumed: 7, Raw: RawID{1}, Fingerprint: "f", Note: []byte("n"), Generation: 4}
	got, err := decodeCursor("p", c.encode())
	if d := cmp.Diff(c, got); d != "" || err != nil {
		t.Errorf("cursor: %v\n%s", err, d)
	}
	z := Summary{No: 5, ID: "a:b", Rev: 3, Generation: 2, Hash: [32]byte{1}, Created: 1, Updated: archive.NoTime, Messages: 2, Blocks: 3,
		Bytes: 4, HeadBytes: 5, Title: "t", Fingerprint: "f", Path: "p", Raw: []RawID{{1}, {2}}, Parents: []archive.SessionID{"a:c"}}
	zz, err := decodeSummary(5, z.encode())
	if d := cmp.Diff(z, zz, cmpopts.EquateEmpty()); d != "" || err != nil {
		t.Errorf("summary: %v\n%s", err, d)
	}
}
