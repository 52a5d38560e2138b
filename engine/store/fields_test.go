package store

import (
	"fmt"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hansard-search/hansard/engine/archive"
)

// fill gives every field below v a value of its own, so that a field that a codec
// forgets shows.
func fill(v reflect.Value, n *int) {
	*n++
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			fill(v.Field(i), n)
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range 2 {
			fill(v.Index(i), n)
		}
	case reflect.String:
		v.SetString(fmt.Sprintf("value %d", *n))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(int64(*n))
	case reflect.Uint8:
		v.SetUint(uint64(archive.True))
	case reflect.Float64:
		v.SetFloat(float64(*n) / 4)
	case reflect.Array: // the hash, which is not coded
	default:
		panic("a field of a kind that fill does not know: " + v.Type().String())
	}
}

// TestEveryField: what package archive adds to its types is stored too.
func TestEveryField(t *testing.T) {
	n := 0
	var head, got archive.Session
	fill(reflect.ValueOf(&head).Elem(), &n)
	var e encoder
	appendBrief(&e, &head)
	brief, err := decodeBrief(string(e.b))
	if err != nil {
		t.Fatal(err)
	}
	got = *brief
	e.b = nil
	appendRest(&e, &head)
	if err := decodeRest(&got, string(e.b)); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(head, got); d != "" {
		t.Errorf("head (-put +got):\n%s", d)
	}
	var m archive.Message
	fill(reflect.ValueOf(&m).Elem(), &n)
	e.b = nil
	appendMessage(&e, &m)
	gotM, blocks, err := decodeMessage(string(e.b))
	if err != nil || blocks != len(m.Blocks) {
		t.Fatalf("%d blocks, %v", blocks, err)
	}
	gotM.Position, gotM.Blocks = m.Position, m.Blocks
	if d := cmp.Diff(&m, gotM); d != "" {
		t.Errorf("message (-put +got):\n%s", d)
	}
	e.b = nil
	b := m.Blocks[0]
	appendBlock(&e, &b)
	gotB, err := decodeBlock(string(e.b) + b.ToolInput + b.Text)
	if d := cmp.Diff(b, gotB); d != "" || err != nil {
		t.Errorf("block (-put +got): %v\n%s", err, d)
	}
}
