package segments

import (
	"errors"
	"io"
	"slices"

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

// encodeIndex writes the lists in the order of their terms.
func (b *batch) encodeIndex(dst *sink, sc *scratch) (err error) {
	enc := newIndexEncoder(sc)
	defer func() { err = errors.Join(err, enc.close()) }()
	var term, occurrences []byte
	ids := b.text.sorted()
	for i, id := range ids {
		if i%batchTokens == 0 {
			b.text.touchRecords(ids[i:min(i+batchTokens, len(ids))])
		}
		r := b.text.record(id)
		term = b.text.appendTerm(term[:0], r)
		occurrences = b.text.appendOccurrences(occurrences[:0], r)
		enc.list.AddOccurrences(occurrences, b.lengths)
		enc.add(term)
	}
	return enc.finish(dst, textIndex)
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

// encode writes a keyword column: values in order, each with its rows, which a
// counting sort by value gives.
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
