package corpus

import (
	"crypto/sha256"
	"fmt"
	"os"
	"strings"
	"testing"
	"unicode"
)

func digest(o Options) (string, int) {
	h, n := sha256.New(), 0
	for s := range Sessions(o) {
		fmt.Fprintf(h, "%+v\n", s)
		n += len(s.Blocks)
	}
	return fmt.Sprintf("%x", h.Sum(nil)[:8]), n
}

// pinned is the digest of 3,000 blocks of seed 1. Results of corpora with different
// digests cannot be compared: change it knowingly.
const pinned = "0b61c0d91b4b63db"

func TestEqualOptionsGiveEqualCorpora(t *testing.T) {
	a, n := digest(Options{Blocks: 3000, Seed: 1})
	c, _ := digest(Options{Blocks: 3000, Seed: 2})
	if a != pinned || a == c {
		t.Errorf("digests %s of seed 1, want %s; %s of seed 2", a, pinned, c)
	}
	if n != 3000 {
		t.Errorf("%d blocks, want 3000", n)
	}
}

// A larger corpus is the smaller one and more, but for the session where that ends.
func TestSizesShareTheirBeginning(t *testing.T) {
	long := Sessions(Options{Blocks: 3000, Seed: 1})
	var first []Session
	for s := range Sessions(Options{Blocks: 1000, Seed: 1}) {
		first = append(first, s)
	}
	first, i := first[:len(first)-1], 0
	for s := range long {
		if i == len(first) {
			break
		}
		if fmt.Sprint(s) != fmt.Sprint(first[i]) {
			t.Fatalf("session %d differs", i)
		}
		i++
	}
}

func TestWrittenBytesAreReproducible(t *testing.T) {
	var sums [2][32]byte
	for i := range sums {
		home := t.TempDir()
		var all []byte
		for s := range Sessions(Options{Blocks: 200, Seed: 3}) {
			path, err := Write(home, s)
			if err != nil {
				t.Fatal(err)
			}
			b, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, b...)
		}
		sums[i] = sha256.Sum256(all)
	}
	if sums[0] != sums[1] {
		t.Error("equal sessions were written as different bytes")
	}
}

// What the benchmark relies on: every kind of block, skewed words, a long tail, and
// some Chinese and Polish.
func TestShape(t *testing.T) {
	kinds, tools, df := map[string]int{}, map[string]int{}, map[string]int{}
	han, polish, blocks := 0, 0, 0
	for s := range Sessions(Options{Blocks: 3000, Seed: 1}) {
		for _, b := range s.Blocks {
			blocks++
			kinds[b.Kind]++
			tools[b.Tool]++
			seen := map[string]bool{}
			for _, w := range strings.FieldsFunc(SearchText(b), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
				if !seen[w] {
					seen[w] = true
					df[w]++
				}
			}
			if strings.ContainsFunc(b.Text, func(r rune) bool { return unicode.Is(unicode.Han, r) }) {
				han++
			}
			if strings.ContainsAny(b.Text, "łęćś") {
				polish++
			}
		}
	}
	for _, k := range []string{"text", "thinking", "tool_use", "tool_result"} {
		if kinds[k] < blocks/20 {
			t.Errorf("%d blocks of kind %s of %d", kinds[k], k, blocks)
		}
	}
	for _, k := range []string{"Read", "Edit", "Bash"} {
		if tools[k] == 0 {
			t.Errorf("no calls of %s", k)
		}
	}
	once, frequent := 0, 0
	for _, n := range df {
		if n == 1 {
			once++
		}
		if n > blocks/20 {
			frequent++
		}
	}
	if once < len(df)/2 || frequent < 30 {
		t.Errorf("of %d terms %d occur once and %d in more than 5 %% of the blocks", len(df), once, frequent)
	}
	if han < blocks/200 || polish < blocks/20 {
		t.Errorf("%d blocks with Chinese and %d with Polish letters of %d", han, polish, blocks)
	}
}
