package segments

import (
	"fmt"
	"hash/crc32"
	"io"
)

// A section is one entry of the section table.
type section struct {
	tag, name string
	off, size int64
	crc       uint32
}

func (s *section) String() string {
	if s.name == "" {
		return s.tag
	}
	return s.tag + " " + s.name
}

// A sink lays a segment file out: sections one after the other, checksums of
// pages and sections on the way, table and trailer at the end. The first error
// sticks and comes out of finish.
type sink struct {
	w        io.Writer
	page     []byte // the page being filled
	from     int    // where in page the open section's unsummed bytes begin
	off      int64  // of the end of what was given to put
	pages    []uint32
	sections []section
	sum      bool // pages are still summed
	err      error
}

func newSink(w io.Writer) *sink {
	s := &sink{w: w, page: make([]byte, 0, pageBytes), sum: true}
	head := append([]byte(headMagic), 0, 0, 0, 0, 0, 0, 0, 0)
	le.PutUint32(head[8:], formatVersion)
	s.put(head)
	return s
}

// Write appends to the open section.
func (s *sink) Write(p []byte) (int, error) {
	s.put(p)
	return len(p), s.err
}

func (s *sink) put(p []byte) {
	s.off += int64(len(p))
	for len(p) > 0 && s.err == nil {
		n := copy(s.page[len(s.page):pageBytes], p)
		s.page = s.page[:len(s.page)+n]
		if p = p[n:]; len(s.page) == pageBytes {
			s.flush()
		}
	}
}

// flush writes the page out.
func (s *sink) flush() {
	s.sumSection()
	s.from = 0
	if s.sum && len(s.page) > 0 {
		s.pages = append(s.pages, checksum(s.page))
	}
	if len(s.page) > 0 && s.err == nil {
		_, s.err = s.w.Write(s.page)
	}
	s.page = s.page[:0]
}

func (s *sink) sumSection() {
	if len(s.sections) == 0 {
		return
	}
	cur := &s.sections[len(s.sections)-1]
	cur.crc = crc32.Update(cur.crc, castagnoli, s.page[s.from:])
	s.from = len(s.page)
}

// begin opens a section. The one before it must be ended.
func (s *sink) begin(tag, name string) {
	s.align(sectionAlign)
	s.from = len(s.page)
	s.sections = append(s.sections, section{tag: tag, name: name, off: s.off})
}

// end closes the open section.
func (s *sink) end() {
	s.sumSection()
	cur := &s.sections[len(s.sections)-1]
	cur.size = s.off - cur.off
}

// align pads with zeros; outside a section they belong to none.
func (s *sink) align(to int64) {
	if r := s.off % to; r != 0 {
		s.put(make([]byte, to-r))
	}
}

// u32s, u64s and bytes write whole sections.
func (s *sink) u32s(tag, name string, v []uint32) {
	s.begin(tag, name)
	s.putU32s(v)
	s.end()
}

func (s *sink) bytes(tag, name string, b []byte) {
	s.begin(tag, name)
	s.put(b)
	s.end()
}

func (s *sink) putU32s(v []uint32) {
	var buf [4 << 10]byte
	for len(v) > 0 {
		n := min(len(v), len(buf)/4)
		for i, x := range v[:n] {
			le.PutUint32(buf[4*i:], x)
		}
		s.put(buf[:4*n])
		v = v[n:]
	}
}

func (s *sink) putU64s(v []uint64) {
	var buf [4 << 10]byte
	for len(v) > 0 {
		n := min(len(v), len(buf)/8)
		for i, x := range v[:n] {
			le.PutUint64(buf[8*i:], x)
		}
		s.put(buf[:8*n])
		v = v[n:]
	}
}

// finish writes the page checksums, the section table and the trailer.
func (s *sink) finish(info Info, meta []byte) (Info, error) {
	s.bytes(tagMeta, "", meta)
	s.align(sectionAlign)
	s.from = len(s.page)
	s.flush()
	s.sum = false
	s.u32s(tagPage, "", s.pages)
	s.flush()
	table := appendTable(nil, info.Analyzer, s.sections)
	t := trailer{version: formatVersion, id: info.ID, table: s.off, tableSize: int64(len(table)), tableCRC: checksum(table)}
	t.size = s.off + int64(len(table)) + trailerBytes
	s.put(t.append(table))
	s.sections = nil
	s.flush()
	if s.err != nil {
		return Info{}, fmt.Errorf("segments: write: %w", s.err)
	}
	info.Version, info.Bytes = formatVersion, t.size
	return info, nil
}

func (s *sink) u64s(tag, name string, v []uint64) {
	s.begin(tag, name)
	s.putU64s(v)
	s.end()
}
