package postings

import (
	"bytes"
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestListRoundTrip compares every way of reading a list with the model.
func TestListRoundTrip(t *testing.T) {
	r := random(t)
	var b ListBuilder
	for name, rows := range shapesOfRows(r) {
		t.Run(name, func(t *testing.T) {
			model := withRows(r, rows)
			e := build(&b, model)
			l := mustOpen(t, e)
			if err := l.Validate(math.MaxInt); err != nil && name != "last row" { // on 32 bits that is beyond any unit
				t.Fatal(err)
			}
			checkTotals(t, l, e, model)
			checkContainers(t, l, model)
			checkWalks(t, l, model)
		})
	}
}

func checkTotals(t *testing.T, l List, e Encoded, model []posting) {
	t.Helper()
	total := uint64(0)
	for _, p := range model {
		total += uint64(len(p.positions))
	}
	if l.Len() != len(model) || e.Rows != len(model) || l.Total() != total || e.Total != total {
		t.Errorf("Len %d, Rows %d, want %d; Total %d and %d, want %d", l.Len(), e.Rows, len(model), l.Total(), e.Total, total)
	}
	if tiny := e.Tiny != nil; tiny && len(model) > TinyRows || tiny && e.Doc != nil {
		t.Errorf("%d rows are tiny: %v", len(model), tiny)
	}
}

func checkContainers(t *testing.T, l List, model []posting) {
	t.Helper()
	var rows []Ord
	var freqs []uint32
	i := 0
	for k := range l.Containers() {
		c := l.Container(k)
		if f, ok := l.Find(c.Key()); !ok || f.Key() != c.Key() || f.Len() != c.Len() || l.Seek(c.Key()) != k || l.Key(k) != c.Key() {
			t.Fatalf("Find(%d) does not lead to container %d", c.Key(), k)
		}
		lows := c.AppendRows(nil)
		freqs = c.AppendFreqs(freqs)
		for rank, low := range lows {
			rows = append(rows, c.Base()+Ord(low))
			if i%7 == 0 || rank < 130 {
				if got, ok := c.Rank(low); !ok || got != rank || !c.Contains(low) {
					t.Fatalf("Rank(%d) = %d, %v, want %d", low, got, ok, rank)
				}
				if got := c.AppendPositions(nil, rank); !slices.Equal(got, model[i].positions) {
					t.Fatalf("positions of row %d = %v, want %v", model[i].row, got, model[i].positions)
				}
				if got := c.Freq(rank); int(got) != len(model[i].positions) {
					t.Fatalf("Freq(%d) = %d, want %d", rank, got, len(model[i].positions))
				}
			}
			i++
		}
	}
	var want []Ord
	var wantFreqs []uint32
	for _, p := range model {
		want = append(want, p.row)
		wantFreqs = append(wantFreqs, uint32(len(p.positions)))
	}
	if !slices.Equal(rows, want) || !slices.Equal(freqs, wantFreqs) {
		t.Errorf("rows and frequencies of the containers differ from the model")
	}
}

func checkWalks(t *testing.T, l List, model []posting) {
	t.Helper()
	var copied ListBuilder
	i := 0
	for c := l.Cursor(); c.Next(); i++ {
		if p := model[i]; c.Row() != p.row || int(c.Freq()) != len(p.positions) {
			t.Fatalf("cursor at row %d ×%d, want %d ×%d", c.Row(), c.Freq(), p.row, len(p.positions))
		}
		if i%3 != 1 { // leaves some rows unread
			if got := c.AppendPositions(nil); !slices.Equal(got, model[i].positions) {
				t.Fatalf("cursor: positions of row %d = %v, want %v", c.Row(), got, model[i].positions)
			}
		}
	}
	if i != len(model) {
		t.Errorf("cursor yields %d rows, want %d", i, len(model))
	}
	c := l.Cursor()
	for i := 0; c.Next(); i++ {
		copied.AddEncoded(c.Row(), model[i].length, c.Freq(), c.Encoded())
	}
	if c.Err() != nil {
		t.Fatal(c.Err())
	}
	if want, got := build(new(ListBuilder), model), copied.Finish(); !sameParts(got, want) {
		t.Error("a copied list differs")
	}
	i = 0
	l.All(func(row Ord, freq uint32) bool {
		if row != model[i].row || int(freq) != len(model[i].positions) {
			t.Fatalf("All yields %d ×%d, want %d", row, freq, model[i].row)
		}
		i++
		return i < 10
	})
	if i != min(10, len(model)) {
		t.Errorf("All yields %d rows", i)
	}
}

func sameParts(a, b Encoded) bool {
	return a.Rows == b.Rows && a.Total == b.Total && bytes.Equal(a.Tiny, b.Tiny) && bytes.Equal(a.Doc, b.Doc) &&
		bytes.Equal(a.Freq, b.Freq) && bytes.Equal(a.Pos, b.Pos) && bytes.Equal(a.Bounds, b.Bounds)
}

// TestListParts checks what a list opened without some of its parts says.
func TestListParts(t *testing.T) {
	model := withRows(random(t), []Ord{1, 2, 3, 70000, 70001})
	model[0].positions = []uint32{1, 2}
	e := build(new(ListBuilder), model)
	l, err := OpenList(e.Doc, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	c := l.Container(0)
	if got := c.AppendFreqs(nil); !slices.Equal(got, []uint32{0, 0, 0}) || c.Freq(0) != 0 {
		t.Errorf("frequencies without their part = %v", got)
	}
	if got := c.AppendPositions(nil, 0); got != nil {
		t.Errorf("positions without their part = %v", got)
	}
	if _, err := OpenList(e.Doc, nil, e.Pos); !errors.Is(err, ErrCorrupt) {
		t.Errorf("positions opened without frequencies: %v", err)
	}
	if _, ok := l.Find(2); ok {
		t.Error("Find(2) finds a container that is not there")
	}
	if got := (List{}).Len() + (List{}).Containers(); got != 0 {
		t.Errorf("the zero list has %d rows and containers", got)
	}
	zero := List{}.Cursor()
	if zero.Next() {
		t.Error("the zero list has a row")
	}
}

// TestRankOfAbsent checks the rank that a row would have.
func TestRankOfAbsent(t *testing.T) {
	r := random(t)
	for name, rows := range shapesOfRows(r) {
		l := mustOpen(t, build(new(ListBuilder), withRows(r, rows)))
		for k := range l.Containers() {
			c := l.Container(k)
			lows := c.AppendRows(nil)
			for range 200 {
				low := uint16(r.Uint32())
				rank, ok := c.Rank(low)
				want, wantOK := slices.BinarySearch(lows, low)
				if rank != want || ok != wantOK || c.Contains(low) != ok {
					t.Fatalf("%s: Rank(%d) = %d, %v, want %d, %v", name, low, rank, ok, want, wantOK)
				}
			}
		}
	}
}

// TestTinyForm pins the bytes of tiny lists and when a list is one.
func TestTinyForm(t *testing.T) {
	many := make([]uint32, 130)
	for i := range many {
		many[i] = uint32(i)
	}
	tests := []struct {
		name  string
		model []posting
		want  []byte
	}{
		{"one", []posting{{row: 5, positions: []uint32{9}}}, []byte{1, 5, 0, 9}},
		{"twice in one", []posting{{row: 5, positions: []uint32{9, 10}}}, []byte{0x81, 5, 0, 2, 9, 1}},
		{"two containers", []posting{{row: 5, positions: []uint32{1}}, {row: 65537, positions: []uint32{200}}}, []byte{0x0b, 0, 1, 5, 0, 1, 0, 1, 0xc8, 1}},
		{"a wide key", []posting{{row: 300<<16 + 5, positions: []uint32{9}}}, []byte{0x11, 0x2c, 1, 5, 0, 9}},
		{"too long", []posting{{row: 5, positions: many}}, nil},
	}
	for _, tt := range tests {
		e := build(new(ListBuilder), tt.model)
		if !slices.Equal(e.Tiny, tt.want) {
			t.Errorf("%s: tiny form % x, want % x", tt.name, e.Tiny, tt.want)
		}
		if n, rows := TinyLen(append(slices.Clone(e.Tiny), 1, 2)); n != len(tt.want) || n > 0 && rows != len(tt.model) {
			t.Errorf("%s: TinyLen = %d, %d", tt.name, n, rows)
		}
		l := mustOpen(t, e)
		c := l.Container(0)
		if got := c.AppendPositions(nil, 0); !slices.Equal(got, tt.model[0].positions) {
			t.Errorf("%s: positions %v, want %v", tt.name, got, tt.model[0].positions)
		}
	}
}

// TestListForm pins the bytes of a stored list.
func TestListForm(t *testing.T) {
	model := []posting{
		{row: 1, positions: []uint32{4}},
		{row: 3, positions: []uint32{0, 300}},
		{row: 65536, positions: []uint32{7}},
		{row: 65540, positions: []uint32{8}},
	}
	want := Encoded{
		Rows:  4,
		Total: 5,
		Doc: []byte{
			2, 1, // containers, occurrences beyond one per row
			0, 0, 1, 0, // key 0, two rows
			1, 0, 1, 0, // key 1, two rows
			2, 0, 0, 0, 4, 0, 0, 0, // the second begins at rank 2, byte 4
			1, 0, 3, 0, 0, 0, 4, 0, // lows
		},
		Freq: []byte{0x21, 0x11},
		Pos:  []byte{4, 0, 0xac, 2, 7, 8},
	}
	if diff := cmp.Diff(want, build(new(ListBuilder), model)); diff != "" {
		t.Error(diff)
	}
}
