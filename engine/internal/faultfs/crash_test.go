package faultfs

import (
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// half has a durable file, one that is not synced, and one whose folder is not.
func half(t *testing.T) *FS {
	t.Helper()
	f := New(vfs.NewCrashableMem())
	sync := func() {
		d, err := f.OpenDir(".")
		if err := errors.Join(err, d.Sync(), d.Close()); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(put(f, "durable", "1", true), put(f, "written", strings.Repeat("x", 4000), false)); err != nil {
		t.Fatal(err)
	}
	sync()
	if err := put(f, "nameless", "3", true); err != nil {
		t.Fatal(err)
	}
	return f
}

func TestCrash(t *testing.T) {
	for _, c := range []struct {
		percent int
		want    string
	}{
		{0, "1||none"},
		{100, "1|" + strings.Repeat("x", 4000) + "|3"},
	} {
		disk, err := half(t).Crash(Crash{Percent: c.percent, RNG: rand.New(rand.NewPCG(1, 1))})
		if err != nil {
			t.Fatal(err)
		}
		got := content(t, disk, "durable") + "|" + content(t, disk, "written") + "|" + content(t, disk, "nameless")
		if got != c.want {
			t.Errorf("a crash with %d %% leaves %.20s…, want %.20s…", c.percent, got, c.want)
		}
	}
	if _, err := New(vfs.Default).Crash(Crash{}); err == nil {
		t.Error("a real disk is cloned")
	}
}

// TestCrashRemovals: a removal may be there or not until its folder is synced.
func TestCrashRemovals(t *testing.T) {
	f := half(t)
	if err := f.Remove("durable"); err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct {
		percent int
		want    string
	}{{0, "1"}, {100, "none"}} {
		disk, err := f.Crash(Crash{Percent: step.percent, RNG: rand.New(rand.NewPCG(1, 1))})
		if err != nil {
			t.Fatal(err)
		}
		if got := content(t, disk, "durable"); got != step.want {
			t.Errorf("with %d %% the removed file has %q, want %q", step.percent, got, step.want)
		}
	}
	d, err := f.OpenDir(".")
	if err := errors.Join(err, d.Sync(), d.Close()); err != nil {
		t.Fatal(err)
	}
	disk, err := f.Crash(Crash{})
	if got := content(t, disk, "durable"); err != nil || got != "none" {
		t.Errorf("after a sync the removed file has %q (%v)", got, err)
	}
}

func TestTornWrites(t *testing.T) {
	f := half(t)
	for seed := range uint64(20) {
		disk, err := f.Crash(Crash{Percent: 100, Tear: Prefix, RNG: rand.New(rand.NewPCG(seed, 1))})
		if err != nil {
			t.Fatal(err)
		}
		if got := content(t, disk, "written"); strings.Trim(got, "x") != "" || len(got) > 4000 {
			t.Errorf("seed %d: a prefix has %d bytes, some of them others", seed, len(got))
		}
		if disk, err = f.Crash(Crash{Percent: 100, Tear: Sectors, RNG: rand.New(rand.NewPCG(seed, 1))}); err != nil {
			t.Fatal(err)
		}
		got := content(t, disk, "written")
		lost := 0
		for i := 0; i < len(got); i += 512 {
			if got[i] == 0 {
				lost++
			}
		}
		if len(got) != 4000 || lost != 4 {
			t.Errorf("seed %d: %d of 8 sectors of %d bytes are lost, want every second", seed, lost, len(got))
		}
		if content(t, disk, "durable") != "1" {
			t.Error("what was synced is torn")
		}
	}
}

func TestTracking(t *testing.T) {
	f := half(t)
	if got := f.Unsynced(); !slices.Equal(got, []string{"written"}) {
		t.Errorf("Unsynced = %v", got)
	}
	h, err := f.Create("a", vfs.WriteCategoryUnspecified)
	if err != nil {
		t.Fatal(err)
	}
	if got := f.OpenFiles(); !slices.Equal(got, []string{"a"}) {
		t.Errorf("OpenFiles = %v", got)
	}
	f.Set(Nth(1, false, On([]Kind{Sync}), syscall.EIO, nil))
	if err := h.Sync(); !errors.Is(err, syscall.EIO) {
		t.Errorf("Sync: %v", err)
	}
	if len(f.Retried()) > 0 {
		t.Errorf("Retried = %v before a second sync", f.Retried())
	}
	if err := errors.Join(h.Sync(), h.Close()); err != nil {
		t.Error(err)
	}
	if got := f.Retried(); !slices.Equal(got, []string{"a"}) {
		t.Errorf("Retried = %v", got)
	}
	if got := f.OpenFiles(); len(got) > 0 {
		t.Errorf("OpenFiles = %v after Close", got)
	}
}

func TestObserver(t *testing.T) {
	f := New(vfs.NewMem())
	var seen []string
	f.Observe(func(o Op) { seen = append(seen, o.Kind.String()) })
	if err := errors.Join(put(f, "a", "x", true), f.Rename("a", "b")); err != nil {
		t.Fatal(err)
	}
	content(t, f, "b")
	f.Observe(nil)
	if err := f.Remove("b"); err != nil {
		t.Fatal(err)
	}
	if want := []string{"create", "write", "sync", "close", "rename"}; !slices.Equal(seen, want) {
		t.Errorf("observed %v, want %v", seen, want)
	}
}

func TestBudget(t *testing.T) {
	f := New(vfs.NewMem())
	b := f.Limit(10)
	if err := put(f, "a", "12345678", false); err != nil || b.Full() {
		t.Fatalf("%v, full %v", err, b.Full())
	}
	if err := put(f, "b", "1234", false); !errors.Is(err, syscall.ENOSPC) || !b.Full() {
		t.Errorf("%v, full %v", err, b.Full())
	}
	if got := content(t, f, "b"); got != "12" {
		t.Errorf("what fits is %q", got)
	}
	if err := errors.Join(f.Remove("a"), put(f, "c", "12345678", false)); err != nil {
		t.Errorf("after a removal: %v", err)
	}
	f.Limit(100)
	if err := errors.Join(f.Rename("c", "d"), put(f, "e", strings.Repeat("x", 100), false)); err != nil {
		t.Errorf("with more room: %v", err)
	}
	if err := put(f, "g", "x", false); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("a full disk takes more: %v", err)
	}
}
