package codex

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
)

func TestReadIndex(t *testing.T) {
	const index = `{"id":"a","thread_name":"first","updated_at":"2026-01-05T08:00:00Z"}
{"id":"b","thread_name":" Tax "}
{"id":"a","thread_name":"second"}
{"id":"c","thread_name":""}
{"id":"d"
7
{"id":"e","thread_name":"torn`
	got, err := ReadIndex(strings.NewReader(index))
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(map[string]string{"a": "second", "b": "Tax"}, got); d != "" {
		t.Errorf("names (-want +got):\n%s", d)
	}
	errRead := errors.New("disk")
	got, err = ReadIndex(io.MultiReader(strings.NewReader(index[:75]), iotest.ErrReader(errRead)))
	if !errors.Is(err, errRead) {
		t.Errorf("reader's error came out as %v with %v", err, got)
	}
}

// FuzzReadIndex: the names of an index are those of its good lines, whatever the rest
// is, and none is empty.
func FuzzReadIndex(f *testing.F) {
	for _, s := range []string{"", `{"id":"a","thread_name":" x "}`, "{\"id\":\"a\"}\n{\"id\":\"a\",\"thread_name\":\"y\"}\n{oops}\n", "\x00\xff{\"id\":1}"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, in string) {
		names, err := ReadIndex(strings.NewReader(in))
		if err != nil {
			t.Fatal(err)
		}
		for id, name := range names {
			if id == "" || strings.TrimSpace(name) == "" {
				t.Fatalf("%q names %q", id, name)
			}
		}
		if !strings.Contains(in, "\n") {
			return
		}
		more, err := ReadIndex(strings.NewReader(in + "\n" + `{"id":"last one","thread_name":"n"}` + "\n"))
		if err != nil || more["last one"] != "n" {
			t.Fatalf("a good last line is lost behind %q", in)
		}
	})
}
