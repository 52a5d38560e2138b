package term

import (
	"io"
	"unicode/utf8"
)

// JSON returns a writer of JSON documents that are safe to show on a terminal: what
// encoding/json leaves as it is and [Escape] does not, C1 controls and invisible format
// characters, becomes \u009b, which means the same to a reader of JSON. Each Write is a
// whole number of characters.
func JSON(w io.Writer) io.Writer { return jsonWriter{w} }

type jsonWriter struct{ w io.Writer }

func (j jsonWriter) Write(p []byte) (int, error) {
	var out []byte
	last := 0
	for i := 0; i < len(p); {
		if p[i] < 0x7f {
			i++
			continue
		}
		r, n := utf8.DecodeRune(p[i:])
		if hostile(r) {
			out = append(out, p[last:i]...)
			out = append(out, '\\', 'u')
			for shift := 12; shift >= 0; shift -= 4 {
				out = append(out, hexDigits[r>>shift&15])
			}
			last = i + n
		}
		i += n
	}
	if last == 0 {
		return j.w.Write(p)
	}
	if _, err := j.w.Write(append(out, p[last:]...)); err != nil {
		return 0, err
	}
	return len(p), nil
}
