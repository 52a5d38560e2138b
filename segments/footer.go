package segments

import (
	"encoding/binary"

	"github.com/hansard-search/hansard/postings"
)

var le = binary.LittleEndian

// A trailer is the last 64 bytes of a file: where the section table is, how long
// the file is, who it is. Its checksum is read before its version, so that damage
// never looks like a newer format.
type trailer struct {
	table, tableSize int64
	size             int64
	id               ID
	tableCRC         uint32
	version          uint32
}

func (t *trailer) append(dst []byte) []byte {
	start := len(dst)
	dst = le.AppendUint64(dst, uint64(t.table))
	dst = le.AppendUint64(dst, uint64(t.tableSize))
	dst = le.AppendUint64(dst, uint64(t.size))
	dst = append(dst, t.id[:]...)
	dst = le.AppendUint32(dst, t.tableCRC)
	dst = le.AppendUint32(dst, t.version)
	dst = le.AppendUint32(dst, 0)
	dst = le.AppendUint32(dst, checksum(dst[start:]))
	return append(dst, tailMagic...)
}

// parseTrailer reads the trailer of a file of the given bytes.
func parseTrailer(file string, b []byte) (t trailer, err error) {
	const sect = "footer"
	if len(b) < headerBytes+trailerBytes {
		return t, corrupt(file, sect, "%d bytes are too few", len(b))
	}
	e := b[len(b)-trailerBytes:]
	switch {
	case string(e[56:]) != tailMagic:
		return t, corrupt(file, sect, "no magic")
	case le.Uint32(e[52:]) != checksum(e[:52]):
		return t, corrupt(file, sect, "checksum mismatch")
	}
	t = trailer{
		table: int64(le.Uint64(e)), tableSize: int64(le.Uint64(e[8:])), size: int64(le.Uint64(e[16:])),
		id: ID(e[24:40]), tableCRC: le.Uint32(e[40:]), version: le.Uint32(e[44:]),
	}
	switch {
	case t.version > formatVersion:
		return t, versionError(file, t.version)
	case t.version == 0:
		return t, corrupt(file, sect, "version 0")
	case t.size != int64(len(b)):
		return t, corrupt(file, sect, "%d bytes, want %d", len(b), t.size)
	case t.table < headerBytes || t.tableSize < 0 || t.table > t.size-trailerBytes || t.table+t.tableSize != t.size-trailerBytes:
		return t, corrupt(file, sect, "table out of the file")
	}
	return t, nil
}

// appendTable encodes the analyzer's name and the section table.
func appendTable(dst []byte, analyzer string, sections []section) []byte {
	dst = appendString(dst, analyzer)
	dst = binary.AppendUvarint(dst, uint64(len(sections)))
	for _, s := range sections {
		dst = append(dst, s.tag...)
		dst = appendString(dst, s.name)
		dst = binary.AppendUvarint(dst, uint64(s.off))
		dst = binary.AppendUvarint(dst, uint64(s.size))
		dst = le.AppendUint32(dst, s.crc)
	}
	return dst
}

// parseTable decodes a section table; every section lies before end.
func parseTable(file string, b []byte, end int64) (analyzer string, sections []section, err error) {
	d := decoder{b: b}
	analyzer = d.str()
	n := d.uvarint()
	if d.bad || n > maxSections || n > uint64(len(d.b)) {
		return "", nil, corrupt(file, "table", "%d sections", n)
	}
	sections = make([]section, n)
	last := int64(headerBytes)
	for i := range sections {
		s := section{tag: string(d.take(4)), name: d.str(), off: int64(d.uvarint()), size: int64(d.uvarint()), crc: d.u32()}
		if d.bad || s.off < last || s.off%sectionAlign != 0 || s.size < 0 || s.size > end-s.off {
			return "", nil, corrupt(file, "table", "section %d out of place", i)
		}
		last = s.off + s.size
		sections[i] = s
	}
	if len(d.b) != 0 {
		return "", nil, corrupt(file, "table", "%d bytes too many", len(d.b))
	}
	return analyzer, sections, nil
}

// appendMeta encodes what Info does not share with the footer, and the schema.
func appendMeta(dst []byte, info Info, schema []Column) []byte {
	for _, n := range info.Rows {
		dst = binary.AppendUvarint(dst, uint64(n))
	}
	dst = binary.AppendUvarint(dst, uint64(info.Blocks))
	dst = binary.AppendUvarint(dst, uint64(info.Tokens))
	dst = binary.AppendUvarint(dst, uint64(len(schema)))
	for _, c := range schema {
		dst = append(dst, byte(c.Unit), byte(c.Kind))
		dst = appendString(dst, c.Name)
	}
	return dst
}

// parseMeta fills info and returns the schema.
func parseMeta(file string, b []byte, info *Info) ([]Column, error) {
	d := decoder{b: b}
	for u := range info.Rows {
		n := d.uvarint()
		if n > maxRows {
			return nil, corrupt(file, tagMeta, "%d rows of %v", n, postings.Unit(u))
		}
		info.Rows[u] = int(n)
	}
	info.Blocks, info.Tokens = int64(d.uvarint()), int64(d.uvarint())
	n := d.uvarint()
	if d.bad || info.Blocks < 0 || info.Tokens < 0 || n > uint64(len(d.b)) {
		return nil, corrupt(file, tagMeta, "cut short")
	}
	schema := make([]Column, n)
	for i := range schema {
		head := d.take(2)
		c := Column{Name: d.str()}
		if d.bad || head[0] >= postings.Units || head[1] > byte(Number) {
			return nil, corrupt(file, tagMeta, "column %d", i)
		}
		c.Unit, c.Kind = postings.Unit(head[0]), Kind(head[1])
		schema[i] = c
	}
	return schema, nil
}
