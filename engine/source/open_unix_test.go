//go:build unix

package source

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
)

// A pipe without a writer must neither be waited for nor taken.
func TestPipe(t *testing.T) {
	root := tree(t, "p/a.jsonl")
	pipe := filepath.Join(root, "p", "pipe.jsonl")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Skip(err)
	}
	if _, err := OpenFile(pipe); !errors.Is(err, ErrNotRegular) {
		t.Errorf("open: %v, want ErrNotRegular", err)
	}
	if _, err := (Candidate{Path: pipe, Root: root, Rel: "p/pipe.jsonl"}).Open(); !errors.Is(err, ErrNotRegular) {
		t.Errorf("open within a folder: %v, want ErrNotRegular", err)
	}
	d, err := DiscoverPaths(context.Background(), []string{root, pipe})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"p/a.jsonl", "skip p/pipe.jsonl: not a regular file", "error p/pipe.jsonl: not a regular file"}
	if got := relative(root, d); !slices.Equal(got, want) {
		t.Errorf("discovered %q, want %q", got, want)
	}
}

func TestInode(t *testing.T) {
	root := tree(t, "a", "b")
	a, again, b := mustOpen(t, filepath.Join(root, "a")), mustOpen(t, filepath.Join(root, "a")), mustOpen(t, filepath.Join(root, "b"))
	if a.Stat.Inode == 0 || a.Stat.Inode != again.Stat.Inode || a.Stat.Inode == b.Stat.Inode {
		t.Errorf("inodes %d, %d and %d", a.Stat.Inode, again.Stat.Inode, b.Stat.Inode)
	}
}
