package jsonx

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/iotest"
)

// A bare reader hides that it could look ahead.
type bare struct{ io.Reader }

// describeTiny reads a stream with a decoder that buffers next to nothing unasked, so
// that most records are looked at from afar.
func describeTiny(t testing.TB, r io.Reader, o Options) string {
	t.Helper()
	d := NewDecoder(r, o)
	d.first, d.near = 3, 5
	return describeAll(t, d)
}

// checkBuffering demands the same records however much is buffered, whoever reads.
func checkBuffering(t testing.TB, in []byte, o Options) {
	t.Helper()
	want := describeAll(t, NewDecoder(bytes.NewReader(in), o))
	for _, c := range []struct {
		name, got string
	}{
		{"little is buffered", describeTiny(t, bytes.NewReader(in), o)},
		{"little is buffered of a stream", describeTiny(t, bare{bytes.NewReader(in)}, o)},
		{"a stream byte by byte", describeTiny(t, bare{iotest.OneByteReader(bytes.NewReader(in))}, o)},
		{"a stream with its end", describeAll(t, NewDecoder(bare{iotest.DataErrReader(bytes.NewReader(in))}, o))},
	} {
		if c.got != want {
			t.Fatalf("%s: %q gives\n%s\nwant\n%s", c.name, in, c.got, want)
		}
	}
}

// hostilePieces are what the files of TestBuffering are made of.
var hostilePieces = []string{
	`{"a":1}`, `{"a":"x\"y\\"}`, `[1,2,{"b":[]}]`, "{\n \"a\": [\n  1,\n  2\n ]\n}", `{"a":"cut`, `{"a":[1,`, `12`, `-0.5e+3`, `tru`, `true`, `null`,
	`"s"`, `{"a" 1}`, `{"a":1,}`, `[[[[[[[[[[`, `]`, `}`, "\x00\x00", `"\q"`, `"\u12G4"`, `"\ud800"`, "\"\xff\"", `{}`, `[]`, `01`, `1.`, `{"a":tru}`, ` `, "\t \t \t \t", ",", "xxxxxxxxxxxxxxxxxxxx",
	`{"long":"` + strings.Repeat("y", 70) + `"}`, "{\"long\":\"" + strings.Repeat("z", 30) + "\",\n\"b\":\"" + strings.Repeat("z", 30) + "\"}",
}

func makeHostile(r *rand.Rand) []byte {
	var in []byte
	for range 1 + r.IntN(12) {
		in = append(in, hostilePieces[r.IntN(len(hostilePieces))]...)
		if r.IntN(3) > 0 {
			in = append(in, '\n')
		}
	}
	if r.IntN(4) == 0 {
		in[r.IntN(len(in))] = byte(r.Uint32())
	}
	return in
}

func TestBuffering(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 2))
	for range 600 {
		checkBuffering(t, makeHostile(r), Options{RecordBytes: 1 + r.IntN(100), Depth: 1 + r.IntN(12)})
	}
}

// checkChecker demands the parser's answer of a checker that is fed in pieces.
func checkChecker(t testing.TB, in []byte, depth int, cut func(n int) int) {
	t.Helper()
	p := Parser{Depth: depth}
	want, wantErr := p.parse(in, 0)
	var c checker
	c.reset(depth)
	got, done := 0, false
	var err error
	for rest := in; len(rest) > 0 && !done; {
		piece := rest[:1+cut(len(rest))]
		var n int
		n, done, err = c.feed(piece)
		got += n
		rest = rest[len(piece):]
	}
	if !done {
		err = c.finish()
	}
	if err != wantErr || got != want {
		t.Fatalf("%q: checker says %d, %v; parser %d, %v", in, got, err, want, wantErr)
	}
	if err == nil && c.nodes != len(p.nodes) {
		t.Fatalf("%q: %d nodes, parser %d", in, c.nodes, len(p.nodes))
	}
}

func TestChecker(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 3))
	for i := range 100_000 {
		in := []byte(hostilePieces[i%len(hostilePieces)])
		for range r.IntN(4) {
			in = append(in, hostilePieces[r.IntN(len(hostilePieces))]...)
		}
		if len(in) > 0 && r.IntN(2) == 0 {
			in[r.IntN(len(in))] = `{}[]",:\ntfu0-1.eE x`[r.IntN(20)]
		}
		checkChecker(t, in, 1+r.IntN(12), r.IntN)
	}
}

func FuzzChecker(f *testing.F) {
	for _, s := range hostilePieces {
		f.Add([]byte(s), 4)
	}
	f.Fuzz(func(t *testing.T, in []byte, step int) {
		if step < 0 {
			step = -(step + 1)
		}
		checkChecker(t, in, 20, func(n int) int { return step % n })
	})
}

// TestStreamShrinks: a file that is cut between the look ahead and the reading is an
// error or a broken record, never a panic.
func TestStreamShrinks(t *testing.T) {
	in := `{"a":"` + strings.Repeat("x", 100) + "\"}\n{}\n"
	for n := range len(in) {
		d := NewDecoder(struct {
			io.Reader
			io.ReaderAt
		}{strings.NewReader(in[:n]), strings.NewReader(in)}, Options{})
		d.first, d.near = 3, 5
		for range d.Records() {
		}
	}
}

func TestLookAheadError(t *testing.T) {
	disk := errors.New("disk")
	d := NewDecoder(bare{io.MultiReader(strings.NewReader(`{"a":"`+strings.Repeat("x", 100)), iotest.ErrReader(disk))}, Options{})
	d.first, d.near = 3, 5
	for range 2 {
		if _, err := d.Next(); err != disk {
			t.Errorf("error = %v", err)
		}
	}
}
