package faultfs

import (
	"errors"
	"io/fs"
	"syscall"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// put writes a file through fs, synced if asked for, and closes it.
func put(f *FS, name, text string, sync bool) error {
	h, err := f.Create(name, vfs.WriteCategoryUnspecified)
	if err != nil {
		return err
	}
	_, err = h.Write([]byte(text))
	if sync {
		err = errors.Join(err, h.Sync())
	}
	return errors.Join(err, h.Close())
}

func content(t *testing.T, fs vfs.FS, name string) string {
	t.Helper()
	b, err := readAll(fs, name)
	if err != nil {
		return "none"
	}
	return string(b)
}

func TestNthFails(t *testing.T) {
	for _, c := range []struct {
		n       int64
		forever bool
		want    string // one letter for each of five writes: ok or failed
	}{
		{1, false, "foooo"},
		{3, false, "oofoo"},
		{3, true, "oofff"},
		{9, true, "ooooo"},
	} {
		f := New(vfs.NewMem())
		var hits []int64
		f.Set(Nth(c.n, c.forever, On([]Kind{Write}, WAL), syscall.EIO, func(o Op) { hits = append(hits, o.N) }))
		got := ""
		for range 5 {
			h, err := f.Create("1.log", vfs.WriteCategoryUnspecified)
			if err != nil {
				t.Fatal(err)
			}
			_, err = h.Write([]byte("x"))
			var named *fs.PathError
			switch {
			case err == nil:
				got += "o"
			case errors.As(err, &named) && named.Path == "1.log" && errors.Is(err, syscall.EIO):
				got += "f"
				if s := content(t, f.base, "1.log"); s != "" {
					t.Errorf("a failed write wrote %q", s)
				}
			default:
				t.Errorf("error %v", err)
			}
			if err := errors.Join(put(f, "other", "x", true), h.Close()); err != nil {
				t.Error(err)
			}
		}
		if got != c.want {
			t.Errorf("Nth(%d, %v) = %s, want %s", c.n, c.forever, got, c.want)
		}
		if want := len(got) - len(stripped(got)); len(hits) != want {
			t.Errorf("Nth(%d, %v) tells of %d failures, want %d", c.n, c.forever, len(hits), want)
		}
	}
}

// stripped is s without its failures.
func stripped(s string) (out string) {
	for _, r := range s {
		if r != 'f' {
			out += string(r)
		}
	}
	return out
}

func TestCutKeepsHalf(t *testing.T) {
	f := New(vfs.NewMem())
	f.Set(Cut(1, Writes, syscall.EIO))
	if err := put(f, "a", "12345678", false); !errors.Is(err, syscall.EIO) {
		t.Errorf("error %v", err)
	}
	if got := content(t, f.base, "a"); got != "1234" {
		t.Errorf("a cut write left %q", got)
	}
}

func TestGateHolds(t *testing.T) {
	f := New(vfs.NewMem())
	g := NewGate(On([]Kind{Sync}))
	f.Set(g.Rule)
	done := make(chan error, 1)
	go func() { done <- put(f, "a", "x", true) }()
	if op := <-g.Held(); op.Path != "a" || op.Kind != Sync {
		t.Errorf("held %v", op)
	}
	select {
	case <-done:
		t.Error("the gate lets pass")
	default:
	}
	g.Open()
	if err := <-done; err != nil {
		t.Error(err)
	}
	if err := put(f, "b", "x", true); err != nil {
		t.Error(err)
	}
}

func TestSlow(t *testing.T) {
	f := New(vfs.NewMem())
	f.Set(Slow(On([]Kind{Write}), 20*time.Millisecond))
	start := time.Now()
	if err := put(f, "a", "x", false); err != nil || time.Since(start) < 20*time.Millisecond {
		t.Errorf("%v after %v", err, time.Since(start))
	}
}

func TestKindOf(t *testing.T) {
	for name, want := range map[string]FileKind{
		"d/000004.log": WAL, "d/MANIFEST-000001": Manifest, "d/marker.manifest.000002.MANIFEST-000007": Manifest,
		"d/000005.sst": Table, "d/segments/0000000000000001.seg": Segment, "d/segments/ab-1.segment.tmp": Temp,
		"d/FORMAT": Other, "d/marker.format-version.000011.024": Other,
	} {
		if got := KindOf(name); got != want {
			t.Errorf("KindOf(%s) = %v, want %v", name, got, want)
		}
	}
}
