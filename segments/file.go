package segments

import "sync/atomic"

// A file is the checked bytes of a segment: its sections, and which of its pages
// were seen to match their checksum.
type file struct {
	name     string
	b        []byte
	info     Info
	schema   []Column
	sections []section
	pages    []byte          // section PCRC
	pageEnd  int64           // where the pages end and PCRC begins
	seen     []atomic.Uint64 // one bit per verified page
	drop     func() error    // nil in the heap
	touched  atomic.Int64    // bytes verified since the last drop
}

// A mapping is the bytes of a file, in the heap or mapped.
type mapping struct {
	b     []byte
	unmap func() error // nil in the heap
	drop  func() error // lets the system take back the memory of what was read; nil in the heap
}

// residentBytes is how much of a mapped file is touched for the first time before
// its memory is given back once. A merge or an import thus holds little of the
// files that it walks through, while what queries come back to stays.
const residentBytes = 2 << 20

// openFile parses the footer of m and verifies everything that is not a page.
func openFile(name string, m mapping) (*file, error) {
	b := m.b
	t, err := parseTrailer(name, b)
	if err != nil {
		return nil, err
	}
	table := b[t.table : t.table+t.tableSize]
	if checksum(table) != t.tableCRC {
		return nil, corrupt(name, "table", "checksum mismatch")
	}
	f := &file{name: name, b: b, drop: m.drop}
	f.info = Info{ID: t.id, Version: t.version, Bytes: t.size}
	if f.info.Analyzer, f.sections, err = parseTable(name, table, t.table); err != nil {
		return nil, err
	}
	if err := f.openPages(t.table); err != nil {
		return nil, err
	}
	if p := f.verify(0, headerBytes); p >= 0 {
		page := f.sectionAt(0, min(pageBytes, f.pageEnd)) // the header shares it with others
		return nil, &CorruptError{File: name, Section: page, Page: p, Reason: "checksum mismatch"}
	}
	if string(b[:8]) != headMagic || le.Uint32(b[8:]) != t.version {
		return nil, corrupt(name, "header", "not that of a segment")
	}
	meta, err := f.must(tagMeta, "")
	if err != nil {
		return nil, err
	}
	f.schema, err = parseMeta(name, meta, &f.info)
	return f, err
}

// openPages verifies the page checksums themselves; they fill the file from the
// last page to the table.
func (f *file) openPages(table int64) error {
	s := f.find(tagPage, "")
	if s == nil || s.off+s.size != table {
		return corrupt(f.name, "page checksums", "missing or out of place")
	}
	n := (s.off + pageBytes - 1) / pageBytes
	f.pages, f.pageEnd = f.b[s.off:s.off+s.size], s.off
	if s.size != 4*n || checksum(f.pages) != s.crc {
		return corrupt(f.name, "page checksums", "checksum mismatch")
	}
	f.seen = make([]atomic.Uint64, (n+63)/64)
	return nil
}

func (f *file) find(tag, name string) *section {
	for i := range f.sections {
		if s := &f.sections[i]; s.tag == tag && s.name == name {
			return s
		}
	}
	return nil
}

// must returns the verified bytes of a section that every segment has.
func (f *file) must(tag, name string) ([]byte, error) {
	s := f.find(tag, name)
	if s == nil {
		return nil, corrupt(f.name, (&section{tag: tag, name: name}).String(), "missing")
	}
	return f.read(s, 0, s.size)
}

// read returns bytes [lo, hi) of a section after its pages are verified.
func (f *file) read(s *section, lo, hi int64) ([]byte, error) {
	if lo < 0 || hi < lo || hi > s.size {
		return nil, corrupt(f.name, s.String(), "bytes %d to %d of %d", lo, hi, s.size)
	}
	if err := f.check(s.off+lo, s.off+hi, s); err != nil {
		return nil, err
	}
	return f.b[s.off+lo : s.off+hi : s.off+hi], nil
}

// check is verify with an error that names the section.
func (f *file) check(lo, hi int64, s *section) error {
	if p := f.verify(lo, hi); p >= 0 {
		return &CorruptError{File: f.name, Section: s.String(), Page: p, Reason: "checksum mismatch"}
	}
	return nil
}

// verify checks the pages of bytes [lo, hi) that were not checked before. It
// returns the number of the first damaged one, or -1.
func (f *file) verify(lo, hi int64) int64 {
	if lo >= hi {
		return -1
	}
	if hi > f.pageEnd {
		return f.pageEnd / pageBytes
	}
	for p := lo / pageBytes; p <= (hi-1)/pageBytes; p++ {
		w := &f.seen[p/64]
		if w.Load()>>(p&63)&1 != 0 {
			continue
		}
		page := f.b[p*pageBytes : min((p+1)*pageBytes, f.pageEnd)]
		if checksum(page) != le.Uint32(f.pages[4*p:]) {
			return p
		}
		w.Or(1 << (p & 63))
		f.touch(int64(len(page)))
	}
	return -1
}

// touch counts bytes that were read for the first time.
func (f *file) touch(n int64) {
	if f.drop == nil || f.touched.Add(n) < residentBytes {
		return
	}
	f.touched.Store(0)
	_ = f.drop() // advice: the bytes are the same without it
}
