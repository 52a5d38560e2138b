package segments

import (
	"errors"
	"io"
	"slices"
	"sort"

	"github.com/hansard-search/hansard/postings"
)

// encode writes the batch as a segment.
func (b *batch) encode(w io.Writer, sc *scratch, info Info) (Info, error) {
	dst := newSink(w)
	info.Rows = b.rows
	for i := 0; i < len(b.totals); i += 2 {
		info.Blocks += int64(b.totals[i])
		info.Tokens += int64(b.totals[i+1])
	}
	if err := errors.Join(b.encodeRows(dst), b.encodeIndex(dst, sc), b.encodeColumns(dst, sc)); err != nil {
		return Info{}, err
	}
	return dst.finish(info, appendMeta(nil, info, b.schema))
}

func (b *batch) encodeRows(dst *sink) error {
	dst.u64s(tagRefs, "", b.refs)
	dst.u64s(tagTotals, "", b.totals)
	for i, k := range spanKinds {
		dst.begin(tagSpans, spanName(k[0], k[1]))
		dst.putU32s(b.spans[i])
		dst.putU32s([]uint32{uint32(b.rows[k[1]])})
		dst.end()
	}
	dst.u32s(tagActions, "", b.actions)
	for u := range postings.Unit(postings.Units) {
		if err := encodeInherited(dst, u, b.inherited[u].set(b.rows[u])); err != nil {
			return err
		}
	}
	dst.u64s(tagSearchable, textIndex, b.searchable.padded(b.rows[postings.Block]))
	dst.u32s(tagLengths, textIndex, b.lengths)
	return nil
}

// encodeInherited writes the inherited rows of a unit, if there are any.
func encodeInherited(dst *sink, u postings.Unit, set postings.Set) error {
	if set.IsEmpty() {
		return nil
	}
	raw, err := set.AppendBinary(nil)
	if err == nil {
		dst.bytes(tagInherited, u.String(), raw)
	}
	return err
}

// encodeIndex inverts the stream: a counting sort of the places in the stream by
// term gives, per term, the places of its occurrences in order, and a place gives
// the row and the position.
func (b *batch) encodeIndex(dst *sink, sc *scratch) (err error) {
	enc := newIndexEncoder(sc)
	defer func() { err = errors.Join(err, enc.close()) }()
	ends := make([]uint32, b.terms.len())
	b.stream.all(func(_ int, ids []uint32) {
		for _, id := range ids {
			ends[id]++
		}
	})
	sum := uint32(0)
	for i, n := range ends {
		ends[i] = sum
		sum += n
	}
	places := make([]uint32, b.stream.n)
	b.stream.all(func(at int, ids []uint32) {
		for i, id := range ids {
			places[ends[id]] = uint32(at + i)
			ends[id]++
		}
	})
	inv := newInverter(b.lengths)
	for _, id := range b.terms.sorted() {
		lo := uint32(0)
		if id > 0 {
			lo = ends[id-1]
		}
		inv.add(&enc.list, places[lo:ends[id]])
		enc.add(b.terms.at(id))
	}
	return enc.finish(dst, textIndex)
}

// An inverter turns places in the stream into rows and positions.
type inverter struct {
	lengths   []uint32
	starts    []uint32 // of each row in the stream, and the end
	rows      []uint32 // row of every 64th place
	positions []uint32
}

func newInverter(lengths []uint32) *inverter {
	v := &inverter{lengths: lengths, starts: make([]uint32, len(lengths)+1)}
	at := uint32(0)
	for row, n := range lengths {
		v.starts[row] = at
		for next := at + n; n > 0 && uint32(len(v.rows))<<6 < next; {
			v.rows = append(v.rows, uint32(row))
		}
		at += n
	}
	v.starts[len(lengths)] = at
	return v
}

// add appends the rows of a term to its list.
func (v *inverter) add(l *postings.ListBuilder, places []uint32) {
	for i := 0; i < len(places); {
		row := v.row(places[i])
		start, end := v.starts[row], v.starts[row+1]
		v.positions = v.positions[:0]
		for ; i < len(places) && places[i] < end; i++ {
			v.positions = append(v.positions, places[i]-start)
		}
		l.Add(postings.Ord(row), v.lengths[row], v.positions)
	}
}

// row finds the row of a place: near the noted row of the 64 places around it,
// unless many rows there are empty.
func (v *inverter) row(place uint32) uint32 {
	row := v.rows[place>>6]
	for range 8 {
		if v.starts[row+1] > place {
			return row
		}
		row++
	}
	rest := v.starts[row+1:]
	return row + uint32(sort.Search(len(rest), func(i int) bool { return rest[i] > place }))
}

func (b *batch) encodeColumns(dst *sink, sc *scratch) error {
	for i, c := range b.schema {
		if c.Kind == Number {
			encodeNumbers(dst, c.Name, b.rows[c.Unit], b.numbers[i].all)
		} else if err := b.keywords[i].encode(dst, sc, c.Name, b.rows[c.Unit]); err != nil {
			return err
		}
	}
	return nil
}

// encode writes a keyword column: values in order, each with its rows, by the
// same counting sort as terms.
func (k *keywordBatch) encode(dst *sink, sc *scratch, name string, rows int) (err error) {
	enc := newKeywordEncoder(sc, name, rows)
	defer func() { err = errors.Join(err, enc.close()) }()
	ends := make([]uint32, k.values.len())
	for _, id := range k.ids {
		ends[id]++
	}
	sum := uint32(0)
	for i, n := range ends {
		ends[i] = sum
		sum += n
	}
	sorted := make([]uint32, len(k.ids))
	for i, id := range k.ids {
		sorted[ends[id]] = k.rows[i]
		ends[id]++
	}
	ranks := make([]uint32, len(ends))
	for rank, id := range k.values.sorted() {
		ranks[id] = uint32(rank)
		lo := uint32(0)
		if id > 0 {
			lo = ends[id-1]
		}
		enc.add(k.values.at(id), sorted[lo:ends[id]])
	}
	next := 0
	return enc.finish(dst, func(dst []uint32, row uint32) ([]uint32, error) {
		for ; next < len(k.rows) && k.rows[next] == row; next++ {
			dst = append(dst, ranks[k.ids[next]])
		}
		slices.Sort(dst)
		return dst, nil
	})
}
