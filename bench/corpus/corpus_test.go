package corpus

import (
	"crypto/sha256"
	"fmt"
	"testing"
)

func digest(o Options) (string, int) {
	h, n := sha256.New(), 0
	for s := range Sessions(o) {
		fmt.Fprintf(h, "%+v\n", s)
		n += len(s.Blocks)
	}
	return fmt.Sprintf("%x", h.Sum(nil)[:8]), n
}

func TestEqualOptionsGiveEqualCorpora(t *testing.T) {
	a, n := digest(Options{Blocks: 3000, Seed: 1})
	b, _ := digest(Options{Blocks: 3000, Seed: 1})
	c, _ := digest(Options{Blocks: 3000, Seed: 2})
	if a != b || a == c {
		t.Errorf("digests %s, %s of one seed and %s of another", a, b, c)
	}
	if n != 3000 {
		t.Errorf("%d blocks, want 3000", n)
	}
}
