package jsonx

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestParseRejects(t *testing.T) {
	for _, c := range []struct {
		in   string
		want error
	}{
		{"", ErrCut}, {"  ", ErrCut}, {"{", ErrCut}, {`{"a"`, ErrCut}, {`{"a":`, ErrCut}, {`{"a":1`, ErrCut},
		{`{"a":1,`, ErrCut}, {"[1", ErrCut}, {`"a`, ErrCut}, {`"a\`, ErrCut}, {`"\u12`, ErrCut}, {"tru", ErrCut},
		{"-", ErrCut}, {"1.", ErrCut}, {"1e", ErrCut}, {"1e+", ErrCut},
		{"}", ErrSyntax}, {"[1,]", ErrSyntax}, {`{"a":1,}`, ErrSyntax}, {`{a:1}`, ErrSyntax}, {`{"a" 1}`, ErrSyntax},
		{"[1 2]", ErrSyntax}, {"[1}", ErrSyntax}, {`{"a":1]`, ErrSyntax}, {`"\q"`, ErrSyntax}, {`"\u12g4"`, ErrSyntax},
		{"\"a\nb\"", ErrSyntax}, {"nul1", ErrSyntax}, {"NaN", ErrSyntax}, {"+1", ErrSyntax}, {".5", ErrSyntax},
		{"01", ErrTrailing}, {"1 2", ErrTrailing}, {"{}x", ErrTrailing}, {"-x", ErrSyntax}, {"1.e3", ErrSyntax},
	} {
		var p Parser
		if _, err := p.Parse([]byte(c.in)); !errors.Is(err, c.want) {
			t.Errorf("Parse(%q) error = %v, want %v", c.in, err, c.want)
		}
	}
}

func TestStrings(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{`""`, ""}, {`"plain"`, "plain"}, {`"a\"b\\c\/d"`, `a"b\c/d`}, {`"\b\f\n\r\t"`, "\b\f\n\r\t"},
		{`"\u00e9"`, "é"}, {`"\ud83d\ude00"`, "😀"}, {`"é😀"`, "é😀"},
		{`"\ud83d"`, "\uFFFD"}, {`"\ud83dx"`, "\uFFFDx"}, {`"\ude00\ud83d"`, "\uFFFD\uFFFD"},
		{`"\ud83d\u0041"`, "\uFFFDA"}, {`"\\ud83d"`, `\ud83d`}, {`"a\u0000b"`, "a\uFFFDb"}, {"\"a\x00b\"", "a\uFFFDb"},
		{"\"tab\there\"", "tab\there"}, {"\"\xff\xfe\"", "\uFFFD\uFFFD"}, {"\"\xe2\x82\"", "\uFFFD\uFFFD"},
		{"\"eight ascii then \xe2\x82\xac\"", "eight ascii then €"}, {"\"\xed\xa0\xbd\"", "\uFFFD\uFFFD\uFFFD"},
	} {
		var p Parser
		v, err := p.Parse([]byte(c.in))
		if err != nil {
			t.Errorf("Parse(%q): %v", c.in, err)
			continue
		}
		if got := v.Str(); got != c.want {
			t.Errorf("Str(%q) = %q, want %q", c.in, got, c.want)
		}
		if got := string(v.AppendStr([]byte("x"))); got != "x"+c.want {
			t.Errorf("AppendStr(%q) = %q", c.in, got)
		}
		if !v.Is(c.want) || v.Is(c.want+"!") {
			t.Errorf("Is(%q) is wrong", c.in)
		}
	}
}

func TestNumbers(t *testing.T) {
	long := strings.Repeat("9", 400)
	for _, c := range []struct {
		in      string
		i       int64
		isInt   bool
		f       float64
		isFloat bool
	}{
		{"0", 0, true, 0, true}, {"-7", -7, true, -7, true}, {"3.0", 3, true, 3, true}, {"3e2", 300, true, 300, true},
		{"1.5", 0, false, 1.5, true}, {"9223372036854775807", 1<<63 - 1, true, 1 << 63, true},
		{"9223372036854775808", 0, false, 1 << 63, true}, {long, 0, false, 0, false}, {"0.1" + long, 0, false, 0.2, true},
		{`"3"`, 0, false, 0, false}, {"null", 0, false, 0, false},
	} {
		var p Parser
		v, err := p.Parse([]byte(c.in))
		if err != nil {
			t.Fatalf("Parse(%s): %v", c.in, err)
		}
		if i, ok := v.Int(); ok != c.isInt || i != c.i {
			t.Errorf("Int(%s) = %d %v", c.in, i, ok)
		}
		if f, ok := v.Float(); ok != c.isFloat || ok && f != c.f {
			t.Errorf("Float(%s) = %v %v", c.in, f, ok)
		}
	}
}

func TestValueWalk(t *testing.T) {
	var p Parser
	v, err := p.ParseString(`{"a":{"b":[1,{"c":"x"},null,true]},"n\u0061me":false,"dup":1,"dup":2}`)
	if err != nil {
		t.Fatal(err)
	}
	list := v.Get("a", "b")
	if list.Len() != 4 || list.Index(1).Get("c").Str() != "x" || list.Index(4).Exists() || list.Index(-1).Exists() {
		t.Errorf("array is read wrongly: %s", list.Raw())
	}
	if list.Index(2).Type() != Null || !list.Index(3).True() {
		t.Error("null or true is read wrongly")
	}
	if b, ok := v.Get("name").Bool(); b || !ok {
		t.Error("escaped name is not found")
	}
	if n, _ := v.Get("dup").Int(); n != 2 {
		t.Errorf("dup = %d, want the last", n)
	}
	if v.Get("a", "x", "y").Exists() || v.Get("dup", "x").Exists() || (Value{}).Get("a").Exists() {
		t.Error("a path beyond the value exists")
	}
	var names []string
	for k := range v.Object() {
		names = append(names, k)
	}
	if got := strings.Join(names, " "); got != "a name dup dup" {
		t.Errorf("members = %s", got)
	}
	for range (Value{}).Object() {
		t.Error("missing value has members")
	}
	if s := (Value{}).Canonical(); s != "" {
		t.Errorf("canonical missing = %q", s)
	}
}

func TestCanonical(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{` { "b" : [ 1 , 2.50 ] , "a" : "x" } `, `{"a":"x","b":[1,2.50]}`},
		{`{"a":1,"b":2,"a":{"z":1,"y":2}}`, `{"a":{"y":2,"z":1},"b":2}`},
		{`{"\u0061":1,"a":2}`, `{"a":2}`}, {`"<é\u2028\u0001>"`, "\"<é\u2028\\u0001>\""},
		{`[]`, `[]`}, {`{}`, `{}`}, {`null`, `null`}, {`"\ud800\u0000"`, "\"\uFFFD\uFFFD\""},
	} {
		var p Parser
		v, err := p.Parse([]byte(c.in))
		if err != nil {
			t.Fatal(err)
		}
		got := v.Canonical()
		if got != c.want {
			t.Errorf("Canonical(%s) = %s, want %s", c.in, got, c.want)
		}
		if v, err = p.ParseString(got); err != nil || v.Canonical() != got {
			t.Errorf("canonical %s does not repeat itself: %v", got, err)
		}
	}
}

func TestDepth(t *testing.T) {
	nest := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	var p Parser
	if _, err := p.ParseString(nest(DefaultDepth)); err != nil {
		t.Errorf("depth %d: %v", DefaultDepth, err)
	}
	for _, n := range []int{DefaultDepth + 1, 1_000_000} {
		if _, err := p.ParseString(nest(n)); err != ErrTooDeep {
			t.Errorf("depth %d: %v, want ErrTooDeep", n, err)
		}
	}
	p.Depth = 3
	if _, err := p.ParseString(`{"a":[{"b":[]}]}`); err != ErrTooDeep {
		t.Errorf("depth 4 of 3: %v", err)
	}
}

func TestNodesAreBounded(t *testing.T) {
	var p Parser
	_, err := p.Parse([]byte("[" + strings.Repeat("1,", maxNodes) + "1]"))
	if err != ErrTooMany {
		t.Errorf("error = %v, want ErrTooMany", err)
	}
}

// plain turns a value into what encoding/json would make of it.
func plain(v Value) any {
	switch v.Type() {
	case Object:
		m := map[string]any{}
		for k, e := range v.Object() {
			m[k] = plain(e)
		}
		return m
	case Array:
		a := []any{}
		for e := range v.Array() {
			a = append(a, plain(e))
		}
		return a
	case String:
		return v.Str()
	case Number:
		return json.Number(v.Raw())
	case Bool:
		return v.True()
	}
	return nil
}

// noNUL is what our texts have in place of NUL.
func noNUL(v any) any {
	switch v := v.(type) {
	case map[string]any:
		m := map[string]any{}
		for k, e := range v {
			m[strings.ReplaceAll(k, "\x00", "\uFFFD")] = noNUL(e)
		}
		return m
	case []any:
		for i := range v {
			v[i] = noNUL(v[i])
		}
	case string:
		return strings.ReplaceAll(v, "\x00", "\uFFFD")
	}
	return v
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{
		`{"a":[1,-2.5e3,true,null,"\ud83d\ude00 \u0041"],"a":{}}`, `"\ud83d\ud83d\ude00"`, "\"\xff\"", "[[[]]]", "12 ", "{\"a\":\"\t\"}",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		p := Parser{Depth: 10_000}
		v, err := p.Parse(in)
		dec := json.NewDecoder(strings.NewReader(string(in)))
		dec.UseNumber()
		var want any
		wantErr := dec.Decode(&want)
		valid := json.Valid(in)
		if valid && err != nil {
			t.Fatalf("rejected %q: %v", in, err)
		}
		raw := strings.ContainsFunc(string(in), func(r rune) bool { return r < 0x20 && r != '\n' && r != '\r' && r != '\t' })
		if !valid && err == nil && !raw && !strings.ContainsAny(string(in), "\t\r") {
			t.Fatalf("accepted %q", in)
		}
		if err != nil {
			return
		}
		out := v.Canonical()
		if !utf8.ValidString(out) || !json.Valid([]byte(out)) {
			t.Fatalf("canonical of %q is no JSON: %q", in, out)
		}
		if again, err := new(Parser).ParseString(out); err != nil || again.Canonical() != out {
			t.Fatalf("canonical of %q does not repeat itself: %q", in, out)
		}
		if strings.Contains(string(in), `\u0000`) && strings.Contains(string(in), `":`) {
			return // names that differ in NUL only become equal
		}
		if got := plain(v); wantErr == nil && !reflect.DeepEqual(got, noNUL(want)) {
			t.Fatalf("%q = %v, want %v", in, got, want)
		}
	})
}
