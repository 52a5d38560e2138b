package postings

import (
	"errors"
	"math"
	"slices"
	"testing"
)

// damage changes one thing in a stored list.
type damage struct {
	name  string
	shape string // of shapesOfRows
	do    func(e *Encoded)
}

func put(b []byte, at int, x ...byte) { copy(b[at:], x) }

// TestOpenListRefuses checks damage to the directory, which opening must see.
func TestOpenListRefuses(t *testing.T) {
	r := random(t)
	tests := []damage{
		{"no bytes", "four", func(e *Encoded) { e.Doc = nil }},
		{"no containers", "four", func(e *Encoded) { put(e.Doc, 0, 0) }},
		{"too many containers", "four", func(e *Encoded) { put(e.Doc, 0, 100) }},
		{"head cut off", "four", func(e *Encoded) { e.Doc = e.Doc[:1] }},
		{"payload cut off", "four", func(e *Encoded) { e.Doc = e.Doc[:len(e.Doc)-1] }},
		{"payload too long", "four", func(e *Encoded) { e.Doc = append(e.Doc, 0) }},
		{"keys do not ascend", "four in four", func(e *Encoded) { put(e.Doc, 2+4, 0, 0) }},
		{"a start beyond the end", "four in four", func(e *Encoded) { put(e.Doc, 2+4*4+4, 255) }},
		{"a start before the last", "four in four", func(e *Encoded) { put(e.Doc, 2+4*4+8+4, 0) }},
		{"a wrong rank", "four in four", func(e *Encoded) { put(e.Doc, 2+4*4, 9) }},
		{"frequencies cut off", "four", func(e *Encoded) { e.Freq = e.Freq[:1] }},
		{"part of an escape", "four", func(e *Encoded) { e.Freq = append(e.Freq, 1, 2, 3) }},
		{"index cut off", "65 rows", func(e *Encoded) { e.Pos = e.Pos[:2] }},
	}
	for _, tt := range tests {
		model := withRows(r, shapesOfRows(r)[tt.shape])
		model[0].positions = []uint32{1, 2} // so that there are frequencies
		model[1].positions = []uint32{3}
		e := build(new(ListBuilder), model)
		e.Doc[1] = 1 // occurrences, in one byte
		tt.do(&e)
		if _, err := OpenList(e.Doc, e.Freq, e.Pos); !errors.Is(err, ErrCorrupt) {
			t.Errorf("%s: OpenList says %v", tt.name, err)
		}
	}
	ones := build(new(ListBuilder), []posting{{0, 1, []uint32{1}}, {1, 1, []uint32{1}}, {2, 1, []uint32{1}}, {3, 1, []uint32{1}}})
	if _, err := OpenList(ones.Doc, []byte{1, 1, 1, 1}, nil); !errors.Is(err, ErrCorrupt) {
		t.Errorf("needless frequencies: OpenList says %v", err)
	}
}

// TestValidate checks damage that opening does not look for.
func TestValidate(t *testing.T) {
	r := random(t)
	last := func(b []byte, back int) *byte { return &b[len(b)-back] }
	tests := []damage{
		{"rows that do not ascend", "four", func(e *Encoded) { put(e.Doc, len(e.Doc)-2, 0, 0) }},
		{"a bit too many", "bitmap at its least", func(e *Encoded) { *last(e.Doc, ranksSize+1) |= 0x80 }},
		{"a wrong rank in a bitmap", "bitmap at its least", func(e *Encoded) { *last(e.Doc, 2)++ }},
		{"a wrong number of runs", "run over an edge", func(e *Encoded) { *last(e.Doc, 6)++ }},
		{"a longer run", "run over an edge", func(e *Encoded) { *last(e.Doc, 2)++ }},
		{"more occurrences", "65 rows", func(e *Encoded) { e.Freq[5]++; e.Freq[6]++ }},
		{"a wrong index", "65 rows", func(e *Encoded) { e.Pos[0]++ }},
		{"bytes after the positions", "65 rows", func(e *Encoded) { e.Pos = append(e.Pos, 0) }},
		{"positions cut off", "65 rows", func(e *Encoded) { e.Pos = e.Pos[:len(e.Pos)-1] }},
	}
	for _, tt := range tests {
		model := withRows(r, shapesOfRows(r)[tt.shape])
		for i := range model {
			model[i].positions = []uint32{1, 2}[:1+i%2]
		}
		e := build(new(ListBuilder), model)
		if err := mustOpen(t, e).Validate(1 << 20); err != nil {
			t.Fatalf("%s: before the damage: %v", tt.name, err)
		}
		tt.do(&e)
		if err := mustOpen(t, e).Validate(1 << 20); !errors.Is(err, ErrCorrupt) {
			t.Errorf("%s: Validate says %v", tt.name, err)
		}
	}
	l := mustOpen(t, build(new(ListBuilder), withRows(r, []Ord{1, 99})))
	if err := l.Validate(99); !errors.Is(err, ErrCorrupt) {
		t.Errorf("a row beyond the unit: Validate says %v", err)
	}
	if err := l.Validate(100); err != nil {
		t.Error(err)
	}
}

// TestCursorErr checks that a merge learns of damage.
func TestCursorErr(t *testing.T) {
	model := withRows(random(t), []Ord{1, 2, 3, 4})
	model[3].positions = []uint32{200, 400, 401} // five bytes, four of which look like enough
	e := build(new(ListBuilder), model)
	walk := func(e Encoded) error {
		c := mustOpen(t, e).Cursor()
		for c.Next() {
			c.Encoded()
			if c.Encoded() != nil {
				t.Error("Encoded yields positions twice")
			}
		}
		return c.Err()
	}
	if err := walk(e); err != nil {
		t.Error(err)
	}
	cut := e
	cut.Pos = cut.Pos[:len(cut.Pos)-1]
	if err := walk(cut); !errors.Is(err, ErrCorrupt) {
		t.Errorf("positions cut off: %v", err)
	}
	e.Doc = slices.Clone(e.Doc)
	put(e.Doc, len(e.Doc)-2, 0, 0)
	if err := walk(e); !errors.Is(err, ErrCorrupt) {
		t.Errorf("rows out of order: %v", err)
	}
}

func TestOpenTinyErrors(t *testing.T) {
	tests := map[string][]byte{
		"nothing":              {},
		"shape 0":              {0, 0, 0, 0, 0},
		"no such shape":        {8, 0, 0, 0, 0, 0},
		"cut off":              {1, 5},
		"key cut off":          {9},
		"three bytes per key":  {0x19, 0, 0, 0, 5, 0, 1},
		"frequency cut off":    {0x81, 5, 0},
		"keys do not ascend":   {0x0b, 1, 1, 5, 0, 6, 0, 1, 1},
		"two keys left out":    {3, 5, 0, 6, 0, 1, 1},
		"a bit without sense":  {0x21, 5, 0, 1},
		"longer than a length": make([]byte, TinySize+1),
	}
	tests["longer than a length"][0] = 1
	for name, b := range tests {
		if _, err := OpenTiny(b); !errors.Is(err, ErrCorrupt) {
			t.Errorf("%s: OpenTiny says %v", name, err)
		}
	}
}

func TestOpenBoundsErrors(t *testing.T) {
	r := random(t)
	e := build(new(ListBuilder), withRows(r, shapesOfRows(r)["dense"]))
	l := mustOpen(t, e)
	for name, b := range map[string][]byte{
		"nothing":     nil,
		"cut off":     e.Bounds[:len(e.Bounds)-1],
		"too long":    append(slices.Clone(e.Bounds), 0, 0),
		"wrong start": append([]byte{1, 0, 0, 0, 0, 0, 0, 0, 5}, e.Bounds[9:]...),
	} {
		if _, err := OpenBounds(b, l); !errors.Is(err, ErrCorrupt) {
			t.Errorf("%s: OpenBounds says %v", name, err)
		}
	}
}

// TestLimit checks that a list over the limit of its format is never written.
func TestLimit(t *testing.T) {
	var b ListBuilder
	b.AddEncoded(1, 1, MaxOccurrences, nil)
	b.AddEncoded(2, 1, 1, nil)
	defer func() {
		if recover() == nil {
			t.Error("Finish writes a list over the limit")
		}
	}()
	if int64(MaxOccurrences) > math.MaxUint32/binaryMax32 {
		t.Errorf("MaxOccurrences = %d does not fit offsets", MaxOccurrences)
	}
	b.Finish()
}

// binaryMax32 is the most bytes of a 32-bit uvarint.
const binaryMax32 = 5
