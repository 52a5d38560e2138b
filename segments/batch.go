package segments

import (
	"github.com/hansard-search/hansard/postings"
)

// A batch is what a writer has gathered since it began or last spilled.
type batch struct {
	schema []Column

	refs      []uint64 // No, Rev per session
	totals    []uint64 // blocks, tokens per session
	spans     [len(spanKinds)][]uint32
	rows      [postings.Units]int
	inherited [postings.Units]bitWords
	actions   []uint32 // use, result per action

	text       *inverter
	lengths    []uint32
	searchable bitWords

	keywords []keywordBatch // by column; empty for numbers
	numbers  []numberBatch

	// The first session, and its first message, continue the last ones of the
	// batch before.
	joinSession, joinMessage bool
}

// bitWords is a bitset that grows.
type bitWords []uint64

func (b *bitWords) add(row int) {
	for len(*b) <= row/64 {
		*b = append(*b, 0)
	}
	(*b)[row/64] |= 1 << (row % 64)
}

// set returns the rows below n as a set.
func (b bitWords) set(n int) postings.Set {
	bits := postings.NewBits(n)
	copy(bits.Words(), b)
	return postings.SetOf(bits)
}

// padded returns the words of exactly n rows.
func (b bitWords) padded(n int) []uint64 {
	for len(b) < (n+63)/64 {
		b = append(b, 0)
	}
	return b
}

func newBatch(schema []Column) *batch {
	b := &batch{schema: schema, text: newInverter()}
	b.keywords = make([]keywordBatch, len(schema))
	b.numbers = make([]numberBatch, len(schema))
	for i, c := range schema {
		if c.Kind == Keyword {
			b.keywords[i].values = newTermTable()
		}
	}
	return b
}

// reset forgets everything and keeps the memory.
func (b *batch) reset() {
	b.refs, b.totals, b.actions = b.refs[:0], b.totals[:0], b.actions[:0]
	b.rows = [postings.Units]int{}
	for i := range b.spans {
		b.spans[i] = b.spans[i][:0]
	}
	for u := range b.inherited {
		b.inherited[u] = b.inherited[u][:0]
	}
	b.text.reset()
	b.lengths, b.searchable = b.lengths[:0], b.searchable[:0]
	for i := range b.schema {
		b.keywords[i].reset()
		b.numbers[i].reset()
	}
	b.joinSession, b.joinMessage = false, false
}

// bytes is about the memory that the batch holds and will take to be written, but
// for the spools.
func (b *batch) bytes() int {
	n := b.text.bytes()
	n += 32*b.rows[postings.Session] + 12*b.rows[postings.Message] + 8*b.rows[postings.Block] + 12*b.rows[postings.Action]
	for i := range b.schema {
		n += b.keywords[i].bytes() + b.numbers[i].bytes()
	}
	return n
}

// addSession, addMessage, addBlock and addAction append a row.
func (b *batch) addSession(ref Ref) {
	b.refs = append(b.refs, ref.No, ref.Rev)
	b.totals = append(b.totals, 0, 0)
	for i, k := range spanKinds {
		if k[0] == postings.Session {
			b.spans[i] = append(b.spans[i], uint32(b.rows[k[1]]))
		}
	}
	b.rows[postings.Session]++
}

func (b *batch) addMessage(inherited bool) {
	for i, k := range spanKinds {
		if k[0] == postings.Message {
			b.spans[i] = append(b.spans[i], uint32(b.rows[k[1]]))
		}
	}
	b.addRow(postings.Message, inherited)
}

func (b *batch) addRow(u postings.Unit, inherited bool) {
	if inherited {
		b.inherited[u].add(b.rows[u])
	}
	b.rows[u]++
}

// addBlock appends a block of length terms.
func (b *batch) addBlock(length uint32, searchable, inherited bool) {
	if searchable {
		b.searchable.add(b.rows[postings.Block])
		if !inherited {
			t := b.totals[len(b.totals)-2:]
			t[0]++
			t[1] += uint64(length)
		}
	}
	b.lengths = append(b.lengths, length)
	b.addRow(postings.Block, inherited)
}

func (b *batch) addAction(use, result int32, inherited bool) {
	b.actions = append(b.actions, uint32(use), uint32(result))
	b.addRow(postings.Action, inherited)
}

// A keywordBatch holds the values of a keyword column: their numbers, in the order
// of rows.
type keywordBatch struct {
	values *termTable
	rows   []uint32
	ids    []uint32
	buf    []byte
}

func (k *keywordBatch) reset() {
	if k.values != nil {
		k.values.reset()
	}
	k.rows, k.ids = k.rows[:0], k.ids[:0]
}

func (k *keywordBatch) bytes() int {
	if k.values == nil {
		return 0
	}
	return k.values.bytes() + 16*k.values.len() + 16*len(k.ids)
}

// add gives row another value; one that it has is left out.
func (k *keywordBatch) add(row uint32, v string) {
	k.buf = append(k.buf[:0], v...)
	id := k.values.id(k.buf)
	for i := len(k.rows) - 1; i >= 0 && k.rows[i] == row; i-- {
		if k.ids[i] == id {
			return
		}
	}
	k.rows, k.ids = append(k.rows, row), append(k.ids, id)
}

// A numberBatch holds the numbers of a column in the order of rows.
type numberBatch struct {
	rows []uint32
	nums []int64
}

func (n *numberBatch) reset()     { n.rows, n.nums = n.rows[:0], n.nums[:0] }
func (n *numberBatch) bytes() int { return 12 * len(n.rows) }

// add gives row its number, and reports false if it has one.
func (n *numberBatch) add(row uint32, v int64) bool {
	if len(n.rows) > 0 && n.rows[len(n.rows)-1] == row {
		return false
	}
	n.rows, n.nums = append(n.rows, row), append(n.nums, v)
	return true
}

func (n *numberBatch) all(yield func(row uint32, v int64) bool) {
	for i, row := range n.rows {
		if !yield(row, n.nums[i]) {
			return
		}
	}
}
