package claudecode

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/hansard-search/hansard/engine/source"
)

// Whatever a file holds, reading it ends without panic, its records add up, its
// sessions keep the sink's laws, and a second reading gives the same.
func FuzzRead(f *testing.F) {
	files, err := filepath.Glob("testdata/*.jsonl")
	if err != nil {
		f.Fatal(err)
	}
	for _, name := range files {
		content, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(filepath.Base(name), content)
	}
	f.Fuzz(func(t *testing.T, name string, content []byte) {
		lim := source.Limits{RecordBytes: 1 << 16, Depth: 64}
		file := memFile(name, content)
		r, n := read(t, file, lim)
		var again recorder
		m, err := Format{}.Read(context.Background(), file, lim, &again)
		if err != nil || m != n || dump(&again, m) != dump(r, n) {
			t.Errorf("a second reading differs: %+v, %+v, %v", n, m, err)
		}
		Format{}.Sniff(name, content)
	})
}
