package jsonx

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/iotest"
)

// describe reads a stream to the end and writes one word per record:
// line:offset-end=value, or with ! and the reason instead of the value.
func describe(t *testing.T, r io.Reader, o Options) string {
	t.Helper()
	return describeAll(t, NewDecoder(r, o))
}

func describeAll(t testing.TB, d *Decoder) string {
	t.Helper()
	var words []string
	last := int64(-1)
	for rec, err := range d.Records() {
		if err != nil {
			t.Fatalf("reading: %v", err)
		}
		if rec.Offset <= last || rec.End <= rec.Offset {
			t.Fatalf("record at %d-%d after %d", rec.Offset, rec.End, last)
		}
		last = rec.Offset
		what := rec.Value.Canonical()
		if rec.Err != nil {
			what = "!" + strings.Fields(rec.Err.Error())[0]
		}
		if rec.Torn {
			what += "~"
		}
		words = append(words, fmt.Sprintf("%d:%d-%d=%s", rec.Line, rec.Offset, rec.End, what))
	}
	return strings.Join(words, " ") + fmt.Sprintf(" /%d", d.Consumed())
}

func TestDecoder(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"empty", "", " /0"},
		{"blank", "\n \n\t\r\n", " /6"},
		{"bom", "\xEF\xBB\xBF{}\n", "1:3-5={} /6"},
		{"two lines", "{\"a\":1}\n[2]\n", "1:0-7={\"a\":1} 2:8-11=[2] /12"},
		{"two values on a line", "{\"a\":1}{\"b\":2} 3\n4\n", `1:0-7={"a":1} 1:7-14={"b":2} 1:15-16=3 2:17-18=4 /19`},
		{"crlf", "{}\r\n{}\r\n", "1:0-2={} 2:4-6={} /8"},
		{"pretty", "{\n  \"a\": [\n    1\n  ]\n}\n{}\n", `1:0-22={"a":[1]} 6:23-25={} /26`},
		{"no final newline", "{}\n{}", "1:0-2={} 2:3-5={} /3"},
		{"torn", "{}\n{\"a\":\"x", "1:0-2={} 2:3-10=!value~ /3"},
		{"torn after glued", `{}{"a"`, "1:0-2={} 1:2-6=!value~ /0"},
		{"broken last line", "{}\n{oops}", "1:0-2={} 2:3-9=!invalid~ /3"},
		{"broken line", "{}\n{oops}\n{}\n", "1:0-2={} 2:3-9=!invalid 3:10-12={} /13"},
		{"rest of a line", "{} oops\n{}\n", "1:0-2={} 1:3-7=!invalid 2:8-10={} /11"},
		{"cut in the middle", "{\"a\":[1,\n{\"b\":2}\n{\"c\":3}\n", `1:0-8=!invalid 2:9-16={"b":2} 3:17-24={"c":3} /25`},
		{"cut before the last", "{\"a\":[1,\n{\"b\":2}\n", `1:0-8=!value 2:9-16={"b":2} /17`},
		{"cut before the last, no newline", "{\"a\":[1,\n{\"b\":2}", `1:0-8=!value 2:9-16={"b":2} /9`},
		{"pretty and torn", "{\n \"a\": [\n  1,", "1:0-14=!value~ /0"},
		{"pretty and cut", "{\n \"a\": [\n  1,\n", "1:0-14=!value /15"},
		{"raw line feeds", "{\"a\":\"one\ntwo\n3 apples\n[x]\n\"}\n{\"b\":1}\n",
			`1:0-9=!invalid 2:10-13=!invalid 3:14-22=!invalid 4:23-26=!invalid 5:27-29=!invalid 6:30-37={"b":1} /38`},
		{"inside of a broken pretty one", "{\n  \"a\": oops,\n  \"b\": {\n    \"c\": 1\n  },\n  {}\n}\n{}\n",
			"1:0-1=!invalid 2:4-14=!invalid 3:17-23=!invalid 4:28-34=!invalid 5:37-39=!invalid 6:42-44={} 7:45-46=!invalid 8:47-49={} /50"},
		{"scalar touches", "12x\n\"a\":1\n", "1:0-3=!invalid 2:4-9=!invalid /10"},
		{"zeros", "{}\n\x00\x00\x00{\"a\":1}\n", `1:0-2={} 2:3-6=!zero 2:6-13={"a":1} /14`},
		{"zeros at the end", "{}\n\x00\x00", "1:0-2={} 2:3-5=!zero~ /3"},
		{"deep", strings.Repeat("[", 600) + "\n{}\n", "1:0-600=!nested 2:601-603={} /604"},
		{"cut character", "{\"a\":\"\xe2\x82\"}\n", "1:0-10={\"a\":\"\uFFFD\uFFFD\"} /11"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := describe(t, strings.NewReader(c.in), Options{}); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
			if got := describe(t, iotest.OneByteReader(strings.NewReader(c.in)), Options{}); got != c.want {
				t.Errorf("byte by byte: got  %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestDecoderTooLong(t *testing.T) {
	long := `"` + strings.Repeat("x", 100) + `"`
	for _, c := range []struct{ name, in, want string }{
		{"line", `{"a":` + long + "}\n{}\n", "1:0-108=!record 2:109-111={} /112"},
		{"last line", "{}\n[" + long, "1:0-2={} 2:3-106=!record /3"},
		{"exactly", "[" + long[:49] + `"]` + "\n", "1:0-52=!record /53"},
		{"just fits", "[" + long[:47] + `"]` + "\n", "1:0-50=[" + long[:47] + `"] /51`},
		{"spans lines", "{\n\"a\":" + long + ",\n\"b\":{\"c\":\"}\\\"\"}\n}\n{}\n", "1:0-127=!record 5:128-130={} /131"},
		{"spans lines, broken", "{\n\"a\":" + long + ",\n\"b\":{}}}\n{}\n", "1:0-117=!record 3:117-118=!invalid 4:119-121={} /122"},
		{"spans lines, string cut", "{\n\"a\":" + long + ",\n\"b\":\"}\n{}\n", "1:0-116=!record 4:117-119={} /120"},
		{"spans lines, next begins", "[{\n\"a\":" + long + "}\n{\"b\":1}\n", `1:0-110=!record 3:111-118={"b":1} /119`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := describe(t, strings.NewReader(c.in), Options{RecordBytes: 50}); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

// repeat is an endless source of one byte.
type repeat byte

func (r repeat) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = byte(r)
	}
	return len(p), nil
}

func TestGiantLineIsStreamed(t *testing.T) {
	const giant = 24 << 20
	in := io.MultiReader(strings.NewReader("{}\n\""), io.LimitReader(repeat('x'), giant), strings.NewReader("\"\n{\"a\":1}\n"))
	d := NewDecoder(in, Options{RecordBytes: 1 << 20})
	var got []error
	for r, err := range d.Records() {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, r.Err)
	}
	if len(got) != 3 || got[0] != nil || got[1] != ErrTooLong || got[2] != nil {
		t.Errorf("records = %v", got)
	}
	if n := cap(d.buf); n > 4<<20 {
		t.Errorf("buffer grew to %d bytes", n)
	}
}

func TestMillionDeepLine(t *testing.T) {
	in := strings.Repeat(`{"a":`, 1_000_000) + "\n{}\n"
	const want = "1:0-5000000=!nested 2:5000001-5000003={} /5000004"
	if got := describe(t, strings.NewReader(in), Options{}); got != want {
		t.Errorf("got %.200s", got)
	}
}

// TestNestedFailuresAreNotQuadratic: every line opens a value that runs to the
// end before it fails; the work must not be lines times bytes.
func TestNestedFailuresAreNotQuadratic(t *testing.T) {
	for _, last := range []string{"oops\n", "\n", "\"\n"} {
		in := strings.Repeat("{\"a\":\n", 500) + "[\n" + strings.Repeat("1,2,3,\n", 100_000) + last
		d := NewDecoder(strings.NewReader(in), Options{})
		n := 0
		for r := range d.Records() {
			if n++; r.Err == nil {
				t.Errorf("a record at line %d", r.Line)
			}
		}
		if d.work > 8*int64(len(in)) || n == 0 {
			t.Errorf("%d records of %d bytes took a look at %d", n, len(in), d.work)
		}
	}
}

func TestReaderError(t *testing.T) {
	d := NewDecoder(io.MultiReader(strings.NewReader("{}\n{"), iotest.ErrReader(errors.New("disk"))), Options{})
	if _, err := d.Next(); err == nil || err.Error() != "disk" {
		t.Errorf("error = %v", err)
	}
	if _, err := d.Next(); err == nil || err.Error() != "disk" {
		t.Errorf("second error = %v", err)
	}
}

// TestCountsAddUp damages good files and demands that every line be accounted
// for, that the undamaged lines be found, and that chunking change nothing.
func TestCountsAddUp(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 1))
	damage := []string{
		`{"a":"cut`, `{"a":1,}`, `not json`, `{"a":"x` + "\n" + `y"}`, strings.Repeat("[", 2000), `{"a":"\q"}`,
		`"`, `{"a":[{"b":`, `}`, `{"a" 1}`, "\x01", `{"a":tru}`,
	}
	for range 300 {
		var in bytes.Buffer
		var want []string
		for i := range 1 + rng.IntN(20) {
			if rng.IntN(4) == 0 {
				in.WriteString(damage[rng.IntN(len(damage))] + "\n")
			}
			rec := fmt.Sprintf(`{"id":%d,"text":%q}`, i, strings.Repeat("é😀x", rng.IntN(200)))
			want = append(want, rec)
			in.WriteString(rec + "\n")
		}
		text := in.String()
		got := describe(t, strings.NewReader(text), Options{})
		for _, w := range want {
			if !strings.Contains(got, "="+w+" ") {
				t.Fatalf("lost %.60s of\n%s\ngot %s", w, text, got)
			}
		}
		if again := describe(t, iotest.HalfReader(strings.NewReader(text)), Options{}); again != got {
			t.Fatalf("chunking changes the records of\n%s", text)
		}
	}
}

func FuzzDecoder(f *testing.F) {
	for _, s := range []string{
		"{}\n{\"a\":1}{\"b\":2}\n", "{\"a\":[1,\n{\"b\":2}\n", "\xEF\xBB\xBF{}\n\x00\x00{}", "{\n\"a\":\"x\n{}\n", "12x\n[\n1\n]\n", "{\"a\":\"\n\n{}",
	} {
		f.Add([]byte(s), 30)
	}
	f.Fuzz(func(t *testing.T, in []byte, limit int) {
		if limit < 1 || limit > 1000 {
			limit = 1000
		}
		o := Options{RecordBytes: limit, Depth: 20}
		got := describe(t, bytes.NewReader(in), o)
		if again := describe(t, iotest.OneByteReader(bytes.NewReader(in)), o); again != got {
			t.Fatalf("chunking matters:\n%s\n%s", got, again)
		}
		checkBuffering(t, in, o)
		covered := make([]bool, len(in))
		for r := range NewDecoder(bytes.NewReader(in), o).Records() {
			if want := int64(bytes.Count(in[:r.Offset], []byte{'\n'}) + 1); r.Line != want {
				t.Fatalf("line %d at offset %d, want %d", r.Line, r.Offset, want)
			}
			for i := r.Offset; i < r.End; i++ {
				if covered[i] {
					t.Fatalf("byte %d is in two records", i)
				}
				covered[i] = true
			}
		}
		start := 0
		if bytes.HasPrefix(in, []byte("\xEF\xBB\xBF")) {
			start = 3
		}
		for i, c := range in[start:] {
			if !covered[start+i] && c != ' ' && c != '\t' && c != '\r' && c != '\n' {
				t.Fatalf("byte %d of %q is in no record", start+i, in)
			}
		}
	})
}
