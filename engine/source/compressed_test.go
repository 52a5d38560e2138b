package source

import (
	"bytes"
	"errors"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hansard-search/hansard/engine/internal/zstdtest"
	"github.com/hansard-search/hansard/engine/internal/zstdx"
)

func readAll(t *testing.T, name string, content []byte) (got []byte, o *Opened, err error) {
	t.Helper()
	o = mustOpen(t, write(t, filepath.Join(t.TempDir(), name), content))
	r, err := o.Open()
	if err != nil {
		return nil, o, err
	}
	got, err = io.ReadAll(r)
	if e := r.Close(); e != nil {
		t.Errorf("close: %v", e)
	}
	return got, o, err
}

func TestCompressed(t *testing.T) {
	text := []byte(strings.Repeat("some text, and more of it\n", 5000))
	whole := frame(t, text)
	flipped := bytes.Clone(whole)
	flipped[len(flipped)/2] ^= 1
	for _, c := range []struct {
		name    string
		content []byte
		want    []byte
		cut     bool
		err     error
	}{
		{"whole", whole, text, false, nil},
		{"two frames", append(bytes.Clone(whole), whole...), append(bytes.Clone(text), text...), false, nil},
		{"a frame within a frame", frame(t, whole), whole, false, nil},
		{"flipped", flipped, nil, false, zstdx.ErrCorrupt},
		{"noise behind", append(bytes.Clone(whole), "noise"...), nil, false, zstdx.ErrCorrupt},
		{"dense", zstdtest.Dense(100, ' ', 17, 0), bytes.Repeat([]byte(" "), 100*128<<10), false, nil},
		{"too dense", zstdtest.Dense(1000, ' ', 17, 0), nil, false, zstdx.ErrLimit},
		{"too dense in many frames", bytes.Repeat(zstdtest.Dense(10, ' ', 17, 0), 100), nil, false, zstdx.ErrLimit},
		{"claims too little", zstdtest.Dense(4, ' ', 17, 5), nil, false, zstdx.ErrLimit},
		{"claims too much", zstdtest.Dense(4, ' ', 17, 1<<20), nil, false, zstdx.ErrCorrupt},
		{"claims all", zstdtest.Dense(4, ' ', 17, 1<<63), nil, false, zstdx.ErrCorrupt},
		{"a window of 16 MiB", zstdtest.Dense(4, ' ', 24, 0), bytes.Repeat([]byte(" "), 4*128<<10), false, nil},
		{"a window of 32 MiB", zstdtest.Dense(4, ' ', 25, 0), nil, false, zstdx.ErrLimit},
		{"a window of 1 TiB", zstdtest.Dense(4, ' ', 40, 0), nil, false, zstdx.ErrLimit},
		{"cut between blocks", zstdtest.Dense(9, ' ', 17, 0)[:6+3*4], bytes.Repeat([]byte(" "), 3*128<<10), true, nil},
		{"cut within a header", append(bytes.Clone(whole), whole[:7]...), text, true, nil},
	} {
		got, o, err := readAll(t, "f.zst", c.content)
		at, cut := o.Cut()
		if !errors.Is(err, c.err) || (err == nil) != (c.err == nil) || cut != c.cut {
			t.Errorf("%s: %v, cut %v; want %v, %v", c.name, err, cut, c.err, c.cut)
		}
		if c.err == nil && !bytes.Equal(got, c.want) {
			t.Errorf("%s: %d bytes, want %d", c.name, len(got), len(c.want))
		}
		if cut && at != int64(len(c.want)) {
			t.Errorf("%s: cut at %d, want %d", c.name, at, len(c.want))
		}
	}
}

// TestCutAnywhere: whatever is left of a compressed file is read, and the cut is told,
// except where so little is left that it is no frame.
func TestCutAnywhere(t *testing.T) {
	text := []byte(strings.Repeat("some text, and more of it: 0123456789\n", 20_000))
	whole := frame(t, text)
	least := 0
	for n := 8; n < len(whole); n += 1 + len(whole)/60 {
		got, o, err := readAll(t, "f.zst", whole[:n])
		_, cut := o.Cut()
		if err != nil || !cut || !bytes.HasPrefix(text, got) || len(got) < least {
			t.Errorf("%d of %d bytes: %d bytes read, cut %v, %v", n, len(whole), len(got), cut, err)
		}
		least = len(got)
	}
}
