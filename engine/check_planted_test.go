package engine

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/hansard-search/hansard/engine/archive"
	"github.com/hansard-search/hansard/engine/internal/faultfs"
	"github.com/hansard-search/hansard/engine/store"
	"github.com/hansard-search/hansard/postings"
	"github.com/hansard-search/hansard/segments"
)

// A patient is an archive in which a fault is planted: two files of segments, sessions
// of several frames, a session that replays another, and a word in every block that is
// the first of the dictionary.
type patient struct {
	*world
	scripts []*script
}

const firstWord = "0000common" // before all other terms

func newPatient(t testing.TB) *patient {
	r := rand.New(rand.NewPCG(1, 2))
	p := &patient{world: newWorld(t, Options{NoMerge: true, NoHeal: true}), scripts: randomScripts(r, 8)}
	for i, s := range p.scripts {
		s.codex, s.parent = false, ""
		for range 6 {
			s.grow(r)
		}
		for j := range s.turns {
			s.turns[j].replays = false
			if s.turns[j].kind != "call" {
				s.turns[j].text += " " + firstWord
			}
		}
		if i == 0 {
			var long strings.Builder
			for k := range 8000 {
				fmt.Fprintf(&long, "w%d ", r.IntN(5000)+k)
			}
			for range 4 {
				s.turns = append(s.turns, turn{kind: "user", text: long.String()})
			}
		}
	}
	p.put(p.scripts[:5]...)
	p.load()
	p.reopen(p.opts)
	p.put(p.scripts[5:]...)
	p.load()
	p.reopen(p.opts)
	return p
}

// twin is a patient of the same files.
func (p *patient) twin(t testing.TB, files map[string]string) *patient {
	w := &world{t: t, opts: p.opts, src: p.src}
	disk := vfs.NewMem()
	for path, b := range files {
		if err := errors.Join(disk.MkdirAll(disk.PathDir(path), 0o700), faultfs.Replace(disk, path, []byte(b))); err != nil {
			t.Fatal(err)
		}
	}
	w.opts.FS = disk
	w.open()
	t.Cleanup(func() {
		if w.Engine != nil {
			w.check()
			w.close()
		}
	})
	out := &patient{world: w}
	for _, s := range p.scripts {
		c := *s
		c.turns = slices.Clone(s.turns)
		out.scripts = append(out.scripts, &c)
	}
	return out
}

// first is the member with the first sessions.
func (p *patient) first() *member { return p.index.files()[0] }

// graft puts a segment of other bytes in the place of the first.
func (p *patient) graft(b []byte) error {
	x := p.index
	x.mu.Lock()
	defer x.mu.Unlock()
	m, err := x.write(x.newName(), func(w io.Writer) (segments.Info, error) {
		_, err := w.Write(b)
		return segments.Info{Bytes: int64(len(b))}, err
	})
	if err != nil {
		return err
	}
	x.setAt(nil)
	return x.replace(context.Background(), []*member{p.first()}, m)
}

// craft makes the first segment anew with altered messages.
func (p *patient) craft(alter func(i int, m *archive.Message)) []byte {
	p.t.Helper()
	snap, err := p.store.Snapshot()
	if err != nil {
		p.t.Fatal(err)
	}
	defer snap.Close()
	w, err := segments.NewWriter(segments.Options{Schema: schema()})
	if err != nil {
		p.t.Fatal(err)
	}
	f := newFeeder(w)
	i := 0
	for row := range p.first().sessions() {
		ref, err := p.first().seg.SessionRef(postings.Ord(row))
		if err != nil {
			p.t.Fatal(err)
		}
		if err := f.addAltered(snap, store.No(ref.No), func(m *archive.Message) { alter(i, m); i++ }); err != nil {
			p.t.Fatal(err)
		}
	}
	var buf bytes.Buffer
	if _, err := w.Finish(&buf); err != nil {
		p.t.Fatal(err)
	}
	return buf.Bytes()
}

// addAltered is add with altered messages.
func (f *feeder) addAltered(snap *store.Snapshot, no store.No, alter func(*archive.Message)) error {
	sum, err := snap.Summary(no)
	if err != nil {
		return err
	}
	head, err := snap.Head(no)
	if err != nil {
		return err
	}
	altered := func(yield func(*archive.Message, error) bool) {
		for m, err := range snap.Messages(no, 0) {
			if err == nil {
				alter(m)
			}
			if !yield(m, err) {
				return
			}
		}
	}
	return f.session(context.Background(), segments.Ref{No: uint64(no), Rev: sum.Rev}, head, altered)
}

// patch changes a section of a segment in place and makes all checksums right, by
// what docs/format.md says.
func patch(t testing.TB, b []byte, name string, change func(section []byte)) []byte {
	t.Helper()
	b = bytes.Clone(b)
	le, crc := binary.LittleEndian, crc32.MakeTable(crc32.Castagnoli)
	tail := b[len(b)-64:]
	table := b[le.Uint64(tail):][:le.Uint64(tail[8:])]
	at := 0
	num := func() int { v, n := binary.Uvarint(table[at:]); at += n; return int(v) }
	at += num()
	found := false
	var pages []byte
	type entry struct{ section, sum []byte }
	var entries []entry
	for range num() {
		tag := string(table[at : at+4])
		at += 4
		n := num()
		full := strings.TrimSpace(tag + " " + string(table[at:at+n]))
		at += n
		off, size := num(), num()
		e := entry{b[off : off+size], table[at : at+4]}
		at += 4
		entries = append(entries, e)
		if full == name {
			found = true
			change(e.section)
		}
		if tag == "PCRC" {
			pages = e.section
		}
	}
	if !found {
		t.Fatalf("no section %s", name)
	}
	end := len(b) - 64 - len(table) - len(pages)
	for p := 0; p*65536 < end; p++ {
		le.PutUint32(pages[4*p:], crc32.Checksum(b[p*65536:min((p+1)*65536, end)], crc))
	}
	for _, e := range entries {
		le.PutUint32(e.sum, crc32.Checksum(e.section, crc))
	}
	le.PutUint32(tail[40:], crc32.Checksum(table, crc))
	le.PutUint32(tail[52:], crc32.Checksum(tail[:52], crc))
	return b
}

// bytesOf is the first segment as it is.
func (p *patient) bytesOf() []byte {
	return readFS(p.t, p.opts.FS, p.segmentPath(p.first().name))
}

// patched plants a change of one section of the first segment.
func patched(section string, change func(b []byte)) func(p *patient) error {
	return func(p *patient) error { return p.graft(patch(p.t, p.bytesOf(), section, change)) }
}

// add32 and add64 add to the number at a place.
func add32(b []byte, i int, d int32) {
	binary.LittleEndian.PutUint32(b[4*i:], binary.LittleEndian.Uint32(b[4*i:])+uint32(d))
}

func add64(b []byte, i int, d int64) {
	binary.LittleEndian.PutUint64(b[8*i:], binary.LittleEndian.Uint64(b[8*i:])+uint64(d))
}

// retold plants a segment whose lists come from other text than its lengths and totals:
// the first block of the archive has d tokens more by them.
func retold(text string, d int32) func(p *patient) error {
	return func(p *patient) error {
		b := p.craft(func(i int, m *archive.Message) {
			if i == 0 {
				m.Blocks[0].Text = strings.Replace(m.Blocks[0].Text, firstWord, text, 1)
			}
		})
		b = patch(p.t, b, "LENS text", func(b []byte) { add32(b, 0, d) })
		b = patch(p.t, b, "TOTL", func(b []byte) { add64(b, 1, int64(d)) })
		sound := p.first().seg.Info()
		b = patch(p.t, b, "META", func(b []byte) { // rows ×4, blocks, tokens
			at := 0
			for range 5 {
				_, n := binary.Uvarint(b[at:])
				at += n
			}
			binary.PutUvarint(b[at:], uint64(sound.Tokens))
		})
		return p.graft(b)
	}
}

// listed plants a change of the store's list of segments.
func listed(change func(p *patient, list []store.SegmentRecord)) func(p *patient) error {
	return relisted(func(p *patient, list []store.SegmentRecord) []store.SegmentRecord { change(p, list); return list })
}

func relisted(change func(p *patient, list []store.SegmentRecord) []store.SegmentRecord) func(p *patient) error {
	return func(p *patient) error {
		snap, err := p.store.Snapshot()
		if err != nil {
			return err
		}
		defer snap.Close()
		list, err := snap.Segments()
		if err != nil {
			return err
		}
		return p.store.PublishSegments(context.Background(), change(p, list), nil)
	}
}

// behind plants a change of the store's records.
func behind(change func(p *patient, db *pebble.DB, s store.Summary) error) func(p *patient) error {
	return func(p *patient) error {
		sum := p.victimOf(p.idOf(p.scripts[0]))
		p.plant2(func(db *pebble.DB) error { return change(p, db, sum) })
		return nil
	}
}

// TestCheckNamesEveryFault plants one fault after the other into a whole archive and
// wants each named with a code of its own.
func TestCheckNamesEveryFault(t *testing.T) {
	cases := []struct {
		fault, code string
		deep        bool
		plant       func(p *patient) error
	}{
		{"missing posting", segments.FaultPostingMissing, false, retold("", 1)},
		{"extra posting", segments.FaultPostingExtra, false, retold(firstWord+" "+firstWord, -1)},
		{"document frequency", segments.FaultDocumentFrequency, false, patched("DICT text", func(b []byte) {
			b[bytes.Index(b, []byte(firstWord))+len(firstWord)+1] ^= 1
		})},
		{"dictionary order", segments.FaultDictionaryOrder, false, patched("DICT text", func(b []byte) { b[bytes.Index(b, []byte(firstWord))] = 'z' })},
		{"length", segments.FaultLength, false, patched("LENS text", func(b []byte) { add32(b, 3, 2) })},
		{"span gap", segments.FaultSpanGap, false, patched("SPAN session/message", func(b []byte) { add32(b, len(b)/4-1, -1) })},
		{"span overlap", segments.FaultSpanOverlap, false, patched("SPAN message/block", func(b []byte) { add32(b, 2, 2) })},
		{"column value", segments.FaultColumnValue, false, patched("KFWD block.type", func(b []byte) { b[8] ^= 3 })},
		{"number that fits", segments.FaultDiffers, true, func(p *patient) error { return p.graft(p.otherNumber()) }},
		{"text of another", segments.FaultDiffers, true, func(p *patient) error {
			return p.graft(p.craft(func(i int, m *archive.Message) {
				if i == 1 {
					m.Blocks[0].Text = strings.Replace(m.Blocks[0].Text, firstWord, firstWord+"s", 1)
				}
			}))
		}},
		{"wrong counter", segments.FaultTotals, false, patched("TOTL", func(b []byte) { add64(b, 0, 1) })},
		{"inherited mark", FaultInheritedMark, false, func(p *patient) error {
			return p.graft(p.craft(func(i int, m *archive.Message) { m.Inherited = m.Inherited || i == 1 }))
		}},
		{"missing row", FaultSessionRows, false, func(p *patient) error {
			return p.graft(p.craft(func(i int, m *archive.Message) {
				if i == 1 {
					m.Blocks = append(m.Blocks, archive.Block{Type: m.Blocks[0].Type, Text: "x"})
				}
			}))
		}},
		{"counter of the list", FaultSegmentRecord, false, listed(func(_ *patient, l []store.SegmentRecord) { l[0].Blocks++ })},
		{"stale tombstone", FaultSessionTombstone, false, listed(func(p *patient, l []store.SegmentRecord) {
			m := p.first()
			m.dead.Add(1)
			rec, err := m.record()
			if err != nil {
				p.t.Fatal(err)
			}
			m.dead.Remove(1)
			l[0] = rec
		})},
		{"duplicate live session", FaultSessionDuplicate, false, func(p *patient) error {
			p.scripts[1].turns = append(p.scripts[1].turns, turn{kind: "user", text: "more"})
			p.put(p.scripts[1])
			p.load()
			p.reopen(p.opts)
			return listed(func(_ *patient, l []store.SegmentRecord) { l[0].Dead = nil })(p)
		}},
		{"orphan row", FaultSessionOrphan, false, behind(func(_ *patient, db *pebble.DB, s store.Summary) error {
			return db.Delete(recordKey('t', uint64(s.No)), pebble.Sync)
		})},
		{"lost session", FaultSessionUnindexed, false, relisted(func(_ *patient, l []store.SegmentRecord) []store.SegmentRecord { return l[1:] })},
		{"dirty mark lost", FaultSessionStale, false, func(p *patient) error {
			p.scripts[1].turns = append(p.scripts[1].turns, turn{kind: "user", text: "more"})
			p.put(p.scripts[1])
			p.load()
			return p.crashWithout('x')
		}},
		{"missing frame", "STORE_NO_FRAME", false, behind(func(_ *patient, db *pebble.DB, s store.Summary) error {
			return deleteNth(db, recordKey('f', uint64(s.No), s.Rev), 1)
		})},
		{"damaged frame", "STORE_DAMAGED", false, behind(func(_ *patient, db *pebble.DB, s store.Summary) error {
			return overwrite(db, recordKey('f', uint64(s.No), s.Rev), junk)
		})},
		{"missing head", "STORE_NO_HEAD", false, behind(func(_ *patient, db *pebble.DB, s store.Summary) error {
			return db.DeleteRange(recordKey('h', uint64(s.No)), recordKey('h', uint64(s.No)+1), pebble.Sync)
		})},
		{"orphan frame", "STORE_ORPHAN", false, behind(func(_ *patient, db *pebble.DB, s store.Summary) error {
			return db.Set(append(recordKey('f', 7777, 1), make([]byte, 12)...), junk, pebble.Sync)
		})},
		{"cursor ahead", "STORE_CURSOR_AHEAD", false, behind(func(_ *patient, db *pebble.DB, s store.Summary) error {
			// version, size, no time, length 5, consumed 6, no raw bytes, two empty strings, generation
			v := append([]byte{1, 0, 0, 10, 12}, make([]byte, 32)...)
			return db.Set([]byte("cnowhere"), append(v, 0, 0, 1), pebble.Sync)
		})},
		{"session id lost", "STORE_ID", false, behind(func(_ *patient, db *pebble.DB, s store.Summary) error {
			return db.Delete([]byte("i"+string(s.ID)), pebble.Sync)
		})},
		{"source bytes lost", "STORE_RAW", false, behind(func(_ *patient, db *pebble.DB, s store.Summary) error { return deleteNth(db, []byte{'y'}, 0) })},
		{"segment file lost", FaultSegmentMissing, false, func(p *patient) error {
			name := p.first().name
			p.close()
			err := p.opts.FS.Remove(p.segmentPath(name))
			p.open()
			return err
		}},
		{"segment file damaged", FaultSegmentDamaged, false, func(p *patient) error {
			name := p.first().name
			p.close()
			p.flip(p.segmentPath(name), 77)
			p.open()
			return nil
		}},
	}
	sound := newPatient(t)
	sound.check()
	sound.close()
	if t.Failed() {
		t.Fatal("not clean before")
	}
	files := contents(t, sound.opts.FS, "archive")
	sound.Engine = nil
	for _, c := range cases {
		t.Run(c.fault, func(t *testing.T) {
			p := sound.twin(t, files)
			if err := c.plant(p); err != nil {
				t.Fatal(err)
			}
			p.renew()
			p.reopen(p.opts)
			r, err := p.CheckWith(context.Background(), CheckOptions{Deep: c.deep})
			if err != nil {
				t.Fatal(err)
			}
			if !slices.ContainsFunc(r.Faults, func(f Fault) bool { return f.Code == c.code }) {
				t.Errorf("Check finds %+v, want %s", r.Faults, c.code)
			}
			for _, f := range r.Faults {
				if f.Code == "" || f.Where == "" || f.What == "" || f.File == "" && f.Session == "" {
					t.Errorf("fault %+v does not say all", f)
				}
			}
			p.search(SearchRequest{Query: firstWord}) // answers, come what may
			p.repaired(c.code)
		})
	}
}

// repaired rebuilds the index: faults that are in it alone are gone then.
func (p *patient) repaired(code string) {
	p.t.Helper()
	if strings.HasPrefix(code, "STORE_") || code == FaultSessionOrphan {
		p.Engine.Close()
		p.Engine = nil // the world would check it
		return
	}
	p.rebuild()
	p.search(SearchRequest{Query: firstWord})
}

// otherNumber changes a number of the first segment between the least and the greatest.
func (p *patient) otherNumber() []byte {
	return patch(p.t, p.bytesOf(), "NUMB message.position", func(b []byte) {
		if len(b) < 40 {
			p.t.Fatal("a short column")
		}
		b[len(b)/2] ^= 1
	})
}

// deleteNth deletes the nth record under a prefix.
func deleteNth(db *pebble.DB, prefix []byte, n int) error {
	it, err := db.NewIter(&pebble.IterOptions{LowerBound: prefix})
	if err != nil {
		return err
	}
	ok := it.First()
	for ; ok && n > 0; n-- {
		ok = it.Next()
	}
	if !ok || !strings.HasPrefix(string(it.Key()), string(prefix)) {
		it.Close()
		return fmt.Errorf("too few records under %q", prefix)
	}
	k := slices.Clone(it.Key())
	if err := it.Close(); err != nil {
		return err
	}
	return db.Delete(k, pebble.Sync)
}

// crashWithout ends the process as a crash does and deletes the records of a prefix.
func (p *patient) crashWithout(prefix byte) error {
	crashed := p.twin(p.t, contents(p.t, p.opts.FS, "archive"))
	crashed.close()
	p.close()
	p.opts.FS = crashed.opts.FS
	p.plant(func(db *pebble.DB) error { return db.DeleteRange([]byte{prefix}, []byte{prefix + 1}, pebble.Sync) })
	p.open()
	return nil
}

// TestCheckOfCleanArchives checks random archives after random histories: there is
// nothing to be found, not even by comparing every byte of the index.
func TestCheckOfCleanArchives(t *testing.T) {
	n := 8
	if *long {
		n = 1000
	}
	for i := range n {
		r := seeded(t)
		o := Options{NoMerge: r.IntN(2) == 0, FlushBytes: []int{1, 4 << 10, 64 << 10, 1 << 20}[r.IntN(4)], DropRaw: r.IntN(4) == 0}
		w := newWorld(t, o)
		scripts := randomScripts(r, 1+r.IntN(8))
		w.put(scripts...)
		for range r.IntN(6) {
			switch s := scripts[r.IntN(len(scripts))]; r.IntN(5) {
			case 0, 1:
				s.grow(r)
				w.put(s)
				w.load()
			case 2:
				w.reopen(o)
			case 3:
				w.load()
				if env := w.search(SearchRequest{}); env.Total > 0 {
					w.remove(archive.SessionID(ids(env)[0]))
				}
			case 4:
				w.rebuild()
			}
		}
		rep, err := w.CheckWith(context.Background(), CheckOptions{Deep: true})
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range rep.Faults {
			t.Errorf("false alarm: %+v", f)
		}
		w.check()
		w.close()
		if t.Failed() {
			t.Fatalf("archive %d", i)
		}
	}
	t.Logf("%d archives", n)
}
