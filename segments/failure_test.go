package segments

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"github.com/hansard-search/hansard/postings"
)

func TestWriterRefusesCallsOutOfOrder(t *testing.T) {
	begin := func(w *Writer) error { return w.BeginSession(Ref{}, nil) }
	message := func(w *Writer) error { return w.Message(false, nil) }
	block := func(w *Writer) error { return w.Block("x", false, nil) }
	end := func(w *Writer) error { return w.EndSession() }
	finish := func(w *Writer) error { _, err := w.Finish(io.Discard); return err }
	action := func(use int32) func(w *Writer) error {
		return func(w *Writer) error { return w.Action(use, -1, false, nil) }
	}
	value := func(v ...Value) func(w *Writer) error {
		return func(w *Writer) error { return w.BeginSession(Ref{}, v) }
	}
	for _, c := range []struct {
		name  string
		calls []func(*Writer) error
		want  string
	}{
		{"message outside", []func(*Writer) error{message}, "out of order"},
		{"block outside", []func(*Writer) error{block}, "out of order"},
		{"block without message", []func(*Writer) error{begin, block}, "out of order"},
		{"begin twice", []func(*Writer) error{begin, begin}, "out of order"},
		{"end twice", []func(*Writer) error{begin, end, end}, "out of order"},
		{"finish inside", []func(*Writer) error{begin, finish}, "out of order"},
		{"finish twice", []func(*Writer) error{finish, finish}, "closed"},
		{"action without block", []func(*Writer) error{begin, message, block, action(1), end}, "block 1 of 1"},
		{"action with block -2", []func(*Writer) error{begin, action(-2)}, "block -2"},
		{"column of another unit", []func(*Writer) error{value(Value{Column: 2})}, "column 2 for a session"},
		{"no column", []func(*Writer) error{value(Value{Column: 99})}, "column 99"},
		{"two numbers", []func(*Writer) error{value(Value{Column: 1}, Value{Column: 1})}, "two numbers"},
	} {
		w, err := NewWriter(Options{Schema: testSchema})
		if err != nil {
			t.Fatal(err)
		}
		for i, call := range c.calls {
			err = call(w)
			if last := i == len(c.calls)-1; last != (err != nil) {
				t.Errorf("%s: call %d gives %v", c.name, i, err)
			}
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
		if again := begin(w); again == nil {
			t.Errorf("%s: the error does not stick", c.name)
		}
	}
	for _, schema := range [][]Column{{{Name: ""}}, {{Name: "a"}, {Name: "a"}}, {{Name: "a", Unit: 9}}, {{Name: "a", Kind: 9}}} {
		if _, err := NewWriter(Options{Schema: schema}); err == nil {
			t.Errorf("schema %v is taken", schema)
		}
	}
}

func TestMergeOfUnlikeSchemas(t *testing.T) {
	model := plantModel()
	full := open(t, build(t, Options{Schema: testSchema}, model))
	w, err := NewWriter(Options{Schema: []Column{{"session.new", postings.Session, Keyword}}})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(w.BeginSession(Ref{7, 7}, []Value{{Text: "v"}}), w.EndSession()); err != nil {
		t.Fatal(err)
	}
	var buf bytes.Buffer
	if _, err := w.Finish(&buf); err != nil {
		t.Fatal(err)
	}
	other := open(t, bytes.Clone(buf.Bytes()))
	buf.Reset()
	if _, err := Merge(t.Context(), &buf, []MergeInput{{Segment: other}, {Segment: full}}, MergeOptions{}); err != nil {
		t.Fatal(err)
	}
	s := open(t, buf.Bytes())
	if faults := Check(s); len(faults) > 0 {
		t.Errorf("Check = %v", faults)
	}
	compareColumn := func(column string, row postings.Ord, want string) {
		d, err := s.Keywords(column)
		if err != nil {
			t.Fatal(err)
		}
		ids, err := d.AppendOf(nil, row)
		got := "none"
		if len(ids) > 0 {
			got, _ = d.Value(ids[0])
		}
		if err != nil || got != want {
			t.Errorf("%s of session %d = %s, %v, want %s", column, row, got, err, want)
		}
	}
	compareColumn("session.new", 0, "v")
	compareColumn("session.new", 1, "none")
	compareColumn("session.repo", 0, "none")
	compareColumn("session.repo", 2, "repo1")
	_, err = Merge(t.Context(), io.Discard, []MergeInput{{Segment: full}}, MergeOptions{Schema: []Column{{"session.repo", postings.Session, Number}}})
	if err == nil {
		t.Error("a column of another kind is merged")
	}
}

func TestMergeStopsWithItsContext(t *testing.T) {
	s := open(t, build(t, Options{Schema: testSchema}, plantModel()))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Merge(ctx, io.Discard, []MergeInput{{Segment: s}}, MergeOptions{}); !errors.Is(err, context.Canceled) {
		t.Errorf("Merge = %v, want context.Canceled", err)
	}
}

// TestEveryFileOperationFails lets the n-th operation on temporary files fail, for
// every n until nothing fails: the error is reported, nothing panics, and what can
// be removed is.
func TestEveryFileOperationFails(t *testing.T) {
	model := plantModel()
	for n := 0; ; n++ {
		mem := memFS(t)
		inj := &nthFails{n: n}
		w, err := NewWriter(Options{Schema: testSchema, SpillBytes: 8_000, FS: errorfs.Wrap(mem, inj), TempDir: "tmp"})
		if err != nil {
			t.Fatal(err)
		}
		err = feedErr(w, model)
		if err == nil {
			_, err = w.Finish(io.Discard)
		}
		if err2 := w.Close(); err == nil {
			err = err2
		}
		if !inj.failed {
			if n < 10 || err != nil {
				t.Fatalf("after %d operations: %v", n, err)
			}
			noTemp(t, mem)
			return
		}
		if err == nil && inj.kind != errorfs.OpFileClose {
			t.Errorf("operation %d (%v) fails and nobody says so", n, inj.kind)
		}
	}
}

type nthFails struct {
	n      int
	failed bool
	kind   errorfs.OpKind
}

func (f *nthFails) String() string { return fmt.Sprint("operation ", f.n) }

func (f *nthFails) MaybeError(op errorfs.Op) error {
	if f.n--; f.n != -1 {
		return nil
	}
	f.failed, f.kind = true, op.Kind
	return errorfs.ErrInjected
}

func feedErr(w *Writer, model []mSession) error {
	for _, s := range model {
		if err := w.BeginSession(s.ref, s.vals); err != nil {
			return err
		}
		for _, m := range s.messages {
			if err := w.Message(m.inherited, m.vals); err != nil {
				return err
			}
			for _, b := range m.blocks {
				if err := w.Block(b.text, b.inherited, b.vals); err != nil {
					return err
				}
			}
		}
		if err := w.EndSession(); err != nil {
			return err
		}
	}
	return nil
}

func TestFolder(t *testing.T) {
	fs := vfs.NewMem()
	f, err := OpenFolder(fs, "segments")
	if err != nil {
		t.Fatal(err)
	}
	model := plantModel()
	name := Name(7)
	if _, err := f.Write(name, func(w io.Writer) (Info, error) {
		_, err := w.Write(build(t, Options{Schema: testSchema}, model))
		return Info{}, err
	}); err != nil {
		t.Fatal(err)
	}
	broken := errors.New("broken")
	if _, err := f.Write(Name(8), func(io.Writer) (Info, error) { return Info{}, broken }); !errors.Is(err, broken) {
		t.Errorf("Write = %v, want %v", err, broken)
	}
	names, err := f.Names()
	if err != nil || len(names) != 1 || names[0] != name {
		t.Errorf("Names = %v, %v, want %s", names, err, name)
	}
	s, err := f.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	compare(t, "folder", s, model)
	if err := f.Remove(name); err != nil {
		t.Error(err)
	}
}
