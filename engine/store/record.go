package store

import "github.com/hansard-search/hansard/engine/archive"

// The small values: pointers, cursors, marks, segments, manifests, the counters.

const recordVersion = 1

// state is what the commits count.
type state struct {
	NextNo     No     // numbers from here on are free
	NextRev    uint64 // revisions from here on are free
	Generation uint64
	Overlays   uint64 // counts changes of overlays
	NextBlob   uint64
	RawBytes   uint64 // bytes of messages committed, before compression; never counts down
}

func (s *state) encode() []byte {
	var e encoder
	e.byte(recordVersion)
	for _, v := range []uint64{uint64(s.NextNo), s.NextRev, s.Generation, s.Overlays, s.NextBlob, s.RawBytes} {
		e.uint(v)
	}
	return e.b
}

// record starts the decoding of a small value.
func record(b []byte) decoder {
	d := decoder{s: string(b)}
	if v := d.byte(); v != recordVersion {
		d.fail(errVersion)
	}
	return d
}

// finish ends it: what names the value in the error.
func (d *decoder) finish(what string) error {
	if err := d.end(); err != nil {
		return corruptf("%s: %w", what, err)
	}
	return nil
}

func decodeState(b []byte) (state, error) {
	d := record(b)
	s := state{NextNo: No(d.uint()), NextRev: d.uint(), Generation: d.uint(), Overlays: d.uint(), NextBlob: d.uint(), RawBytes: d.uint()}
	return s, d.finish("counters")
}

func (s *Summary) encode() []byte {
	var e encoder
	e.byte(recordVersion)
	e.str(string(s.ID))
	e.uint(s.Rev)
	e.uint(s.Generation)
	e.raw(s.Hash[:])
	e.time(s.Created)
	e.time(s.Updated)
	e.int(s.Messages)
	e.int(s.Blocks)
	e.int(s.Bytes)
	e.int(s.HeadBytes)
	e.str(s.Title)
	e.str(s.Fingerprint)
	e.str(s.Path)
	e.uint(uint64(len(s.Raw)))
	for _, r := range s.Raw {
		e.raw(r[:])
	}
	e.uint(uint64(len(s.Parents)))
	for _, p := range s.Parents {
		e.str(string(p))
	}
	return e.b
}

func decodeSummary(no No, b []byte) (Summary, error) {
	d := record(b)
	s := Summary{No: no, ID: archive.SessionID(d.str()), Rev: d.uint(), Generation: d.uint(), Hash: d.hash(),
		Created: d.time(), Updated: d.time(), Messages: d.int(), Blocks: d.int(), Bytes: d.int(), HeadBytes: d.int(),
		Title: d.str(), Fingerprint: d.str(), Path: d.str()}
	for range d.count(32) {
		s.Raw = append(s.Raw, d.hash())
	}
	for range d.count(1) {
		s.Parents = append(s.Parents, archive.SessionID(d.str()))
	}
	return s, d.finish("pointer")
}

func (c *Cursor) encode() []byte {
	var e encoder
	e.byte(recordVersion)
	e.int(c.Size)
	e.time(c.ModTime)
	e.int(c.Length)
	e.int(c.Consumed)
	e.raw(c.Raw[:])
	e.str(c.Fingerprint)
	e.str(string(c.Note))
	e.uint(c.Generation)
	return e.b
}

func decodeCursor(path string, b []byte) (Cursor, error) {
	d := record(b)
	c := Cursor{Path: path, Size: d.int(), ModTime: d.time(), Length: d.int(), Consumed: d.int(), Raw: d.hash(), Fingerprint: d.str()}
	if note := d.str(); note != "" {
		c.Note = []byte(note)
	}
	c.Generation = d.uint()
	return c, d.finish("cursor")
}

func (m Dirty) encode() []byte {
	var e encoder
	e.byte(recordVersion)
	e.uint(m.Rev)
	e.uint(m.Generation)
	return e.b
}

func decodeDirty(no No, b []byte) (Dirty, error) {
	d := record(b)
	m := Dirty{No: no, Rev: d.uint(), Generation: d.uint()}
	return m, d.finish("dirty mark")
}

func (s *SegmentRecord) encode() []byte {
	var e encoder
	e.byte(recordVersion)
	e.str(s.Name)
	e.uint(s.ID)
	e.int(s.Sessions)
	e.int(s.Blocks)
	e.int(s.Bytes)
	e.int(int64(s.Level))
	e.str(string(s.Dead))
	return e.b
}

func decodeSegment(b []byte) (SegmentRecord, error) {
	d := record(b)
	s := SegmentRecord{Name: d.str(), ID: d.uint(), Sessions: d.int(), Blocks: d.int(), Bytes: d.int(), Level: d.intn()}
	if dead := d.str(); dead != "" {
		s.Dead = []byte(dead)
	}
	return s, d.finish("segment record")
}

// manifest says which chunks make up raw bytes.
type manifest struct {
	Blob   uint64 // number under which the chunks are used
	Size   int64
	Meta   RawMeta
	Chunks [][32]byte
}

func (m *manifest) encode() []byte {
	var e encoder
	e.byte(recordVersion)
	e.uint(m.Blob)
	e.int(m.Size)
	e.str(m.Meta.Path)
	e.str(string(m.Meta.Origin))
	e.time(m.Meta.ModTime)
	e.time(m.Meta.Acquired)
	e.uint(uint64(len(m.Chunks)))
	for _, c := range m.Chunks {
		e.raw(c[:])
	}
	return e.b
}

func decodeManifest(b []byte) (manifest, error) {
	d := record(b)
	m := manifest{Blob: d.uint(), Size: d.int(), Meta: RawMeta{Path: d.str(), Origin: archive.Origin(d.str()), ModTime: d.time(), Acquired: d.time()}}
	n := d.count(32)
	if n > 0 {
		m.Chunks = make([][32]byte, n)
		for i := range m.Chunks {
			m.Chunks[i] = d.hash()
		}
	}
	if d.err == nil && (m.Size < 0 || int64(n) != (m.Size+chunkBytes-1)/chunkBytes) {
		d.fail(errLength)
	}
	return m, d.finish("raw manifest")
}
