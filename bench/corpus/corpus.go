// Package corpus generates archives to measure with: sessions of prose, code, tool
// calls and their output, with skewed words, some Polish and some Chinese. Equal
// options give equal bytes on every amd64 machine. A session at a time is in memory, whatever
// the size of the corpus.
package corpus

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"time"
	"unicode"
)

// Options size a corpus.
type Options struct {
	Blocks int    // how many blocks with text; sessions follow from it
	Seed   uint64 // same seed, same corpus
}

// A Block is one part of a generated message.
type Block struct {
	Kind    string // text, thinking, tool_use, tool_result
	Text    string
	Tool    string
	Command string
	Path    string
	Failed  bool
}

// A Session is one generated session.
type Session struct {
	ID     string
	Repo   string
	Start  time.Time
	Blocks []Block
}

// vocabulary size and shape: word frequencies fall off as Zipf's law, s = 1.05.
const (
	words     = 60_000
	topics    = 400
	topicSize = 120
)

// Repos is the number of repositories, each of about one session in so many.
const Repos = 100

type generator struct {
	rng   *rand.Rand
	words []string
	cum   []float64 // cumulative weights of words
	topic [][]int
	cjk   []rune
}

// Sessions yields the sessions of a corpus until its blocks are used up.
func Sessions(o Options) func(yield func(Session) bool) {
	return func(yield func(Session) bool) {
		g := newGenerator(o.Seed)
		for n, left := 0, o.Blocks; left > 0; n++ {
			s := g.session(n, left)
			left -= len(s.Blocks)
			if !yield(s) {
				return
			}
		}
	}
}

func newGenerator(seed uint64) *generator {
	g := &generator{rng: rand.New(rand.NewPCG(seed, 0x68616e73))}
	seen := map[string]bool{}
	for len(g.words) < words {
		if w := g.word(len(g.words)); !seen[w] {
			seen[w] = true
			g.words = append(g.words, w)
		}
	}
	sum := 0.0
	for i := range g.words {
		sum += math.Pow(float64(i+3), -1.05)
		g.cum = append(g.cum, sum)
	}
	for range topics {
		t := make([]int, topicSize)
		for i := range t {
			t[i] = 200 + g.rng.IntN(words-200)
		}
		g.topic = append(g.topic, t)
	}
	for r := rune(0x4e00); r < 0x4e00+1200; r++ {
		g.cjk = append(g.cjk, r)
	}
	return g
}

var onsets = strings.Fields("b c d f g h k l m n p r s t v w st tr pl gr sh ch br cl dr fl")
var nuclei = strings.Fields("a e i o u ai ea ou io a e i o")
var codas = strings.Fields("n r s t l m d k ng st nd ck")

// word makes the i-th word: frequent words are short, as in language.
func (g *generator) word(i int) string {
	syllables := 1 + min(i/80, 1) + g.rng.IntN(2)
	if i > 4000 {
		syllables++
	}
	var b strings.Builder
	for range syllables {
		b.WriteString(onsets[g.rng.IntN(len(onsets))])
		b.WriteString(nuclei[g.rng.IntN(len(nuclei))])
		if g.rng.IntN(3) == 0 {
			b.WriteString(codas[g.rng.IntN(len(codas))])
		}
	}
	if g.rng.IntN(25) == 0 {
		return b.String() + []string{"ość", "ąć", "ł", "ę"}[g.rng.IntN(4)]
	}
	return b.String()
}

// draw picks a word: of the session's topic one time in five, else by frequency.
func (g *generator) draw(topic []int) string {
	if g.rng.IntN(5) == 0 {
		r := g.rng.Float64()
		return g.words[topic[int(r*r*float64(len(topic)))]]
	}
	x := g.rng.Float64() * g.cum[len(g.cum)-1]
	lo, hi := 0, len(g.cum)-1
	for lo < hi {
		if mid := (lo + hi) / 2; g.cum[mid] < x {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return g.words[lo]
}

// length draws a text length in words: log-normal, median about 60.
func (g *generator) length(median float64) int {
	return max(1, min(20_000, int(median*math.Exp(1.1*g.rng.NormFloat64()))))
}

func (g *generator) session(n, left int) Session {
	topic := g.topic[g.rng.IntN(topics)]
	s := Session{
		ID:    fmt.Sprintf("%08x-0000-4000-8000-%012x", n, g.rng.Uint64()>>16),
		Repo:  fmt.Sprintf("project-%02d", g.rng.IntN(Repos)),
		Start: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(n) * 11 * time.Minute),
	}
	size := min(left, 10+g.length(45))
	for len(s.Blocks) < size {
		switch k := g.rng.IntN(10); {
		case k < 2:
			s.Blocks = append(s.Blocks, Block{Kind: "text", Text: g.prose(topic, g.length(50))})
		case k < 3:
			s.Blocks = append(s.Blocks, Block{Kind: "thinking", Text: g.prose(topic, g.length(60))})
		default:
			s.Blocks = append(s.Blocks, g.call(topic)...)
		}
	}
	s.Blocks = s.Blocks[:size]
	return s
}

func (g *generator) prose(topic []int, n int) string {
	var b strings.Builder
	if g.rng.IntN(25) == 0 {
		for range n {
			b.WriteRune(g.cjk[int(math.Pow(g.rng.Float64(), 2)*float64(len(g.cjk)))])
		}
		b.WriteByte(' ')
	}
	for i := range n {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(g.draw(topic))
		if g.rng.IntN(11) == 0 {
			b.WriteString([]string{",", ".", ":", ";", "."}[g.rng.IntN(5)])
		}
	}
	return b.String()
}

func (g *generator) path(topic []int) string {
	return fmt.Sprintf("src/%s/%s_%s.go", g.draw(topic), g.draw(topic), g.draw(topic))
}

// call makes a tool_use and its tool_result.
func (g *generator) call(topic []int) []Block {
	use, result := Block{Kind: "tool_use"}, Block{Kind: "tool_result"}
	switch g.rng.IntN(4) {
	case 0:
		use.Tool, use.Path = "Read", g.path(topic)
		result.Text = g.code(topic, g.length(25))
	case 1:
		use.Tool, use.Path = "Edit", g.path(topic)
		result.Text = "The file " + use.Path + " has been updated. Here is the part that changed:\n" + g.code(topic, g.length(5))
	case 2:
		use.Tool, use.Command = "Bash", "cd /bench/"+g.draw(topic)+" && go test ./"+g.draw(topic)+"/... -count=1 -run "+g.name(topic)
		result.Failed = g.rng.IntN(4) == 0
		result.Text = g.output(topic, g.length(12))
	default:
		use.Tool, use.Command = "Bash", "grep -rn "+g.name(topic)+" src/"+g.draw(topic)+" --include=*.go | head -50"
		result.Text = g.output(topic, g.length(8))
	}
	return []Block{use, result}
}

// name makes an identifier: a word, or one time in three two words in camel case,
// which is one index term of its own and gives the vocabulary its long tail.
func (g *generator) name(topic []int) string {
	w := g.draw(topic)
	if g.rng.IntN(3) > 0 {
		return w
	}
	next := []rune(g.draw(topic))
	return w + string(unicode.ToUpper(next[0])) + string(next[1:])
}

// hash is a number that occurs once, on one line in odds.
func (g *generator) hash(odds int) string {
	if g.rng.IntN(odds) > 0 {
		return "0x0"
	}
	return fmt.Sprintf("%#08x", g.rng.Uint32())
}

func (g *generator) code(topic []int, lines int) string {
	var b strings.Builder
	for i := range lines {
		fmt.Fprintf(&b, "%d\tfunc (%c *%s) %s(%s int) error { return %s.%s(%s) }\n", i+1, 'a'+rune(g.rng.IntN(26)),
			g.draw(topic), g.name(topic), g.draw(topic), g.draw(topic), g.name(topic), g.hash(8))
	}
	return b.String()
}

func (g *generator) output(topic []int, lines int) string {
	var b strings.Builder
	for range lines {
		fmt.Fprintf(&b, "%s:%d: %s %s %s %s\n", g.path(topic), g.rng.IntN(900), g.draw(topic), g.name(topic), g.draw(topic), g.hash(6))
	}
	return b.String()
}
