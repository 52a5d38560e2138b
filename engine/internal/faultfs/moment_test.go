package faultfs

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// TestMoment: every choice of what is not durable makes its disk, always the same.
func TestMoment(t *testing.T) {
	f := New(vfs.NewCrashableMem())
	if err := errors.Join(put(f, "gone", "1", true), put(f, "grown", "2", true), syncDir(f, ".")); err != nil {
		t.Fatal(err)
	}
	grown, err := f.OpenReadWrite("grown", vfs.WriteCategoryUnspecified)
	if err != nil {
		t.Fatal(err)
	}
	if _, err = grown.Write([]byte("23")); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(f.Remove("gone"), f.MkdirAll("new/deep", 0o700), put(f, "new/deep/file", "3", false)); err != nil {
		t.Fatal(err)
	}
	m, err := f.Moment()
	if err != nil {
		t.Fatal(err)
	}
	if got, want := fmt.Sprint(m.Changes), "[remove gone write grown create new]"; got != want {
		t.Errorf("changes %s, want %s", got, want)
	}
	// What happens next is not in the moment.
	if err := errors.Join(grown.Sync(), grown.Close(), f.Remove("grown"), syncDir(f, ".")); err != nil {
		t.Fatal(err)
	}
	sums := map[[32]byte]bool{}
	for left := range m.Choices() {
		disk, err := m.Disk(left)
		if err != nil {
			t.Fatal(err)
		}
		want := [3]string{"1", "2", "none"}
		for _, c := range left {
			i := slices.Index(m.Changes, c)
			want[i] = [3]string{"none", "23", "3"}[i]
		}
		for _, fs := range []*vfs.MemFS{disk, disk.CrashClone(vfs.CrashCloneCfg{})} {
			if got := [3]string{content(t, fs, "gone"), content(t, fs, "grown"), content(t, fs, "new/deep/file")}; got != want {
				t.Errorf("with %v the files have %v, want %v", left, got, want)
			}
		}
		again, err := m.Disk(left)
		if err != nil {
			t.Fatal(err)
		}
		one, err1 := Sum(disk)
		two, err2 := Sum(again)
		if err := errors.Join(err1, err2); err != nil || one != two {
			t.Errorf("with %v the disk differs the second time (%v)", left, err)
		}
		sums[one] = true
	}
	if len(sums) != 8 {
		t.Errorf("%d disks of three changes, want 8", len(sums))
	}
	if _, err := New(vfs.Default).Moment(); err == nil {
		t.Error("a real disk is kept")
	}
}

// TestChoices: of many changes the choices are few, and hold each alone and all but each.
func TestChoices(t *testing.T) {
	m := &Moment{}
	for n := range 8 {
		seen := map[string]bool{}
		for left := range m.Choices() {
			seen[fmt.Sprint(left)] = true
		}
		want := 1 << n
		if n > 4 {
			want = 2*n + 2
		}
		if len(seen) != want {
			t.Errorf("%d choices of %d changes, want %d", len(seen), n, want)
		}
		for i, c := range m.Changes {
			others := slices.Concat(m.Changes[:i], m.Changes[i+1:])
			if !seen[fmt.Sprint([]Change{c})] || !seen[fmt.Sprint(others)] {
				t.Errorf("of %d changes %v is not chosen alone, or all others", n, c)
			}
		}
		m.Changes = append(m.Changes, Change{Create, fmt.Sprint(n)})
	}
}
