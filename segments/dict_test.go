package segments

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hansard-search/hansard/postings"
)

// TestEntryForm pins the bytes of dictionary entries.
func TestEntryForm(t *testing.T) {
	long := strings.Repeat("a", 40)
	tests := []struct {
		name, last, term string
		list             postings.Encoded
		want             []byte
	}{
		{"tiny", "abc", "abd", postings.Encoded{Rows: 1, Tiny: []byte{1, 5, 0, 9}}, []byte{0x21, 'd', 1, 5, 0, 9}},
		{"longer than four bits", long[:20], long[:20] + long, postings.Encoded{Rows: 1, Tiny: []byte{1, 5, 0, 9}},
			append(append([]byte{0xff, 5, 25}, long...), 1, 5, 0, 9)},
		{"frequencies all 1", "", "a", postings.Encoded{Rows: 4, Doc: make([]byte, 14), Pos: make([]byte, 4)}, []byte{0x01, 'a', flagOnes, 4, 12, 4}},
		{"frequencies", "", "a", postings.Encoded{Rows: 5, Doc: make([]byte, 9), Freq: make([]byte, 3), Pos: make([]byte, 6)}, []byte{0x01, 'a', 0, 5, 1, 6}},
		{"escapes", "", "a", postings.Encoded{Rows: 5, Doc: make([]byte, 9), Freq: make([]byte, 11), Pos: make([]byte, 6)}, []byte{0x01, 'a', flagFreqs, 5, 1, 11, 6}},
		{"bounds", "", "a", postings.Encoded{Rows: 128, Doc: make([]byte, 256), Pos: make([]byte, 200), Bounds: make([]byte, 14)},
			[]byte{0x01, 'a', flagOnes, 0x80, 1, 0, 0xc8, 1, 14}},
	}
	for _, tt := range tests {
		shared := common([]byte(tt.term), []byte(tt.last))
		got := appendEntry(appendTerm(nil, shared, []byte(tt.term[shared:])), &tt.list)
		if !bytes.Equal(got, tt.want) {
			t.Errorf("%s: % x, want % x", tt.name, got, tt.want)
		}
		d := decoder{b: got}
		n, suffix := d.term()
		if term := tt.last[:n] + string(suffix); term != tt.term {
			t.Errorf("%s: term %q, want %q", tt.name, term, tt.term)
		}
		base := [parts]int64{1, 2, 3, 4}
		e := d.entry(&base)
		want := entry{rows: tt.list.Rows, tiny: tt.list.Tiny}
		if tt.list.Tiny == nil {
			want.off = [parts]int64{1, 2, 3, 4}
			want.size = [parts]int64{int64(len(tt.list.Doc)), int64(len(tt.list.Freq)), int64(len(tt.list.Pos)), int64(len(tt.list.Bounds))}
		}
		if diff := cmp.Diff(want, e, cmp.AllowUnexported(entry{})); diff != "" || d.bad || len(d.b) > 0 {
			t.Errorf("%s: bad %v, %d bytes left, %s", tt.name, d.bad, len(d.b), diff)
		}
	}
}

// FuzzEntry decodes arbitrary bytes as the entries of a block: what comes out lies
// within them, and its sizes are no less than nothing.
func FuzzEntry(f *testing.F) {
	f.Add([]byte{0x21, 'd', 1, 5, 0, 9, 0x01, 'a', flagOnes, 4, 12, 4})
	f.Add([]byte{0xff, 5, 0, 'a', 'a', flagFreqs, 5, 1, 11, 6})
	f.Add([]byte{0x01, 'a', flagOnes, 0x80, 1, 0, 0xc8, 1, 14})
	f.Fuzz(func(t *testing.T, b []byte) {
		d := decoder{b: b}
		var base [parts]int64
		for !d.bad && len(d.b) > 0 {
			left := len(d.b)
			shared, suffix := d.term()
			e := d.entry(&base)
			if d.bad {
				return
			}
			if len(d.b) >= left || shared < 0 || len(suffix) > left || e.rows < 0 || len(e.tiny) > postings.TinySize {
				t.Fatalf("entry %+v of %d bytes", e, left)
			}
			for i := range parts {
				if e.size[i] < 0 || base[i] < e.off[i] {
					t.Fatalf("part %d of %+v", i, e)
				}
			}
		}
	})
}
