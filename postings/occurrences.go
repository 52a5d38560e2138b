package postings

import "encoding/binary"

// AddOccurrences is Add for all rows of a list at once, given as the string of
// uvarints that a writer gathers while rows come:
//
//	first of a row   rows since the last one << 1 | 1 (rows count from 1), position
//	another one      gap to the position before << 1
//
// lengths has the length of every row. The string is not checked: it never comes
// from a file.
func (b *ListBuilder) AddOccurrences(s []byte, lengths []uint32) {
	gaps, row, freq := b.gaps, uint32(0), uint32(0)
	for i := 0; i < len(s); {
		x := uint64(s[i])
		if i++; x >= 0x80 {
			var n int
			x, n = binary.Uvarint(s[i-1:])
			i += n - 1
		}
		if x&1 != 0 {
			if freq > 0 {
				b.add(Ord(row-1), lengths[row-1], freq)
			}
			b.gaps = gaps // add asks where the row begins
			row += uint32(x >> 1)
			freq = 0
			x = uint64(s[i])
			if i++; x >= 0x80 {
				var n int
				x, n = binary.Uvarint(s[i-1:])
				i += n - 1
			}
			x <<= 1
		}
		freq++
		if x >>= 1; x < 0x80 {
			gaps = append(gaps, byte(x))
		} else {
			gaps = binary.AppendUvarint(gaps, x)
		}
	}
	if freq > 0 {
		b.add(Ord(row-1), lengths[row-1], freq)
	}
	b.gaps = gaps
}
