package jsonx_test

import (
	"fmt"
	"strings"

	"github.com/hansard-search/hansard/engine/internal/jsonx"
)

func ExampleDecoder() {
	in := `{"type":"user","n":1}{"type":"glued"}` + "\n{broken\n" + `{"type":"last"}` + "\n" + `{"ty`
	d := jsonx.NewDecoder(strings.NewReader(in), jsonx.Options{})
	for r, err := range d.Records() {
		switch {
		case err != nil:
			fmt.Println("cannot read:", err)
		case r.Torn:
			fmt.Println("torn from", r.Offset)
		case r.Err != nil:
			fmt.Printf("line %d: %v\n", r.Line, r.Err)
		default:
			fmt.Println(r.Line, r.Offset, r.Value.Get("type").Str())
		}
	}
	fmt.Println("consumed", d.Consumed())
	// Output:
	// 1 0 user
	// 1 21 glued
	// line 2: invalid JSON
	// 3 46 last
	// torn from 62
	// consumed 62
}
