package source

import (
	"bytes"
	"encoding/binary"
	"io"
	"testing"
	"testing/iotest"
	"unicode/utf16"
	"unicode/utf8"
)

// FuzzUTF16: the text is valid UTF-8, equals the library's decoding, and does not
// depend on how it is read.
func FuzzUTF16(f *testing.F) {
	f.Add([]byte("a\x00b\x00"), true)
	f.Add([]byte("\xff\xfe\x3d\xd8\x00\xde"), true)
	f.Add([]byte("\xd8\x3d\x00a\xde\x00\xdc"), false)
	f.Fuzz(func(t *testing.T, in []byte, little bool) {
		var order binary.ByteOrder = binary.BigEndian
		if little {
			order = binary.LittleEndian
		}
		got, err := io.ReadAll(newUTF16Reader(bytes.NewReader(in), order))
		if err != nil {
			t.Fatal(err)
		}
		again, err := io.ReadAll(iotest.OneByteReader(newUTF16Reader(iotest.OneByteReader(bytes.NewReader(in)), order)))
		if err != nil || !bytes.Equal(got, again) || !utf8.Valid(got) {
			t.Fatalf("%q gives %q and %q, %v", in, got, again, err)
		}
		var units []uint16
		for i := 0; i+1 < len(in); i += 2 {
			units = append(units, order.Uint16(in[i:]))
		}
		if len(units) > 0 && units[0] == 0xfeff {
			units = units[1:]
		}
		want := string(utf16.Decode(units))
		if len(in)%2 == 1 {
			want += "\uFFFD"
		}
		if string(got) != want {
			t.Fatalf("%q gives %q, want %q", in, got, want)
		}
	})
}
