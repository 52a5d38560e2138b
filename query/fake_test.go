package query

import (
	"errors"
	"fmt"
	"iter"
	"math"
	"sort"
	"strings"

	"github.com/hansard-search/hansard/lexer"
	"github.com/hansard-search/hansard/postings"
)

// A fakeSession is a session of a fake archive: what a reader would write down.
type fakeSession struct {
	id, native, origin, title, cwd string
	repo, repoFull, repoURL        string
	tags, has                      []string
	root, dead                     bool
	time                           int64 // 0: unknown
	messages, words, userMessages  int64 // below 0: unknown
	turns                          []fakeMessage
	blocks                         []fakeBlock // of the turns, one after another
	actions                        []fakeAction
}

// A fakeSource is a segment in memory, built in the plainest way.
type fakeSource struct {
	sessions []fakeSession
	rows     [postings.Units]int
	live     [postings.Units]*postings.Bits
	allLive  bool
	spans    map[[2]postings.Unit]postings.Spans
	lengths  fakeLengths
	terms    []string
	lists    map[string]postings.Encoded
	tokens   int64
	keywords map[string]*fakeDictionary
	numbers  map[string]fakeNumbers
	fail     string // the call that fails, or "panic" on Lengths
}

func newFake(sessions []fakeSession) *fakeSource {
	f := &fakeSource{sessions: sessions, allLive: true, lists: map[string]postings.Encoded{},
		keywords: map[string]*fakeDictionary{}, numbers: map[string]fakeNumbers{}}
	builders := map[string]*postings.ListBuilder{}
	row := postings.Ord(0)
	for i, s := range sessions {
		for j, b := range s.blocks {
			terms := lexer.Terms(b.text)
			f.lengths = append(f.lengths, uint32(len(terms)))
			if sessions[i].blockLives(j) {
				f.tokens += int64(len(terms))
			}
			at := map[string][]uint32{}
			for i, t := range terms {
				at[t] = append(at[t], uint32(i))
			}
			for t, positions := range at {
				if builders[t] == nil {
					builders[t] = new(postings.ListBuilder)
				}
				builders[t].Add(row, uint32(len(terms)), positions)
			}
			row++
		}
	}
	for t, b := range builders {
		f.terms = append(f.terms, t)
		f.lists[t] = b.Finish()
	}
	sort.Strings(f.terms)
	f.units()
	f.columns()
	return f
}

// open opens a list with the parts that were asked for and no more.
func (f *fakeSource) open(term string, need postings.Need) postings.List {
	var l postings.List
	var err error
	switch e, ok := f.lists[term]; {
	case !ok:
	case e.Tiny != nil:
		l, err = postings.OpenTiny(e.Tiny)
	case need == postings.Rows:
		l, err = postings.OpenList(e.Doc, nil, nil)
	case need == postings.Freqs:
		l, err = postings.OpenList(e.Doc, e.Freq, nil)
	default:
		l, err = postings.OpenList(e.Doc, e.Freq, e.Pos)
	}
	if err != nil {
		panic(err)
	}
	return l
}

var errFake = errors.New("damaged")

func (f *fakeSource) failing(call string) error {
	if f.fail == call {
		return errFake
	}
	return nil
}

func (f *fakeSource) Rows(u postings.Unit) int { return f.rows[u] }
func (f *fakeSource) Spans(parent, child postings.Unit) (postings.Spans, error) {
	spans, ok := f.spans[[2]postings.Unit{parent, child}]
	if !ok {
		return spans, fmt.Errorf("no spans of %v to %v", parent, child)
	}
	return spans, f.failing("spans")
}
func (f *fakeSource) Live(u postings.Unit) (*postings.Bits, error) {
	return f.live[u], f.failing("live")
}
func (f *fakeSource) AllLive() bool { return f.allLive }
func (f *fakeSource) Term(term []byte, need postings.Need) (postings.List, error) {
	return f.open(string(term), need), f.failing("term")
}
func (f *fakeSource) Prefix(prefix []byte, need postings.Need) iter.Seq2[postings.List, error] {
	return func(yield func(postings.List, error) bool) {
		for _, t := range f.terms {
			if strings.HasPrefix(t, string(prefix)) && !yield(f.open(t, need), nil) {
				return
			}
		}
		if err := f.failing("prefix"); err != nil {
			yield(postings.List{}, err)
		}
	}
}
func (f *fakeSource) Lengths() (postings.Lengths, error) {
	if f.fail == "panic" {
		panic("lost my mind")
	}
	return f.lengths, f.failing("lengths")
}
func (f *fakeSource) Totals() (blocks, tokens int64, err error) {
	return int64(f.live[postings.Block].Count()), f.tokens, f.failing("totals")
}
func (f *fakeSource) Keywords(column string) (postings.Dictionary, error) {
	if d := f.keywords[column]; d != nil {
		return d, f.failing("keywords")
	}
	return &fakeDictionary{}, f.failing("keywords")
}
func (f *fakeSource) Numbers(column string) (postings.Numbers, error) {
	return f.numbers[column], f.failing("numbers")
}

type fakeLengths []uint32

func (l fakeLengths) Slice(lo, hi postings.Ord) ([]uint32, error) { return l[lo:hi], nil }

type fakeDictionary struct {
	values []string
	rows   map[string][]postings.Ord
	of     map[postings.Ord][]int
}

func (d *fakeDictionary) Len() int                    { return len(d.values) }
func (d *fakeDictionary) Value(i int) (string, error) { return d.values[i], nil }
func (d *fakeDictionary) Seek(v string) (int, error)  { return sort.SearchStrings(d.values, v), nil }
func (d *fakeDictionary) Count(i int) (int, error)    { return len(d.rows[d.values[i]]), nil }
func (d *fakeDictionary) AddRows(i int, b *postings.Bits) error {
	if i >= len(d.values) {
		return fmt.Errorf("value %d of %d", i, len(d.values))
	}
	for _, o := range d.rows[d.values[i]] {
		b.Add(o)
	}
	return nil
}
func (d *fakeDictionary) AppendOf(dst []int, o postings.Ord) ([]int, error) {
	return append(dst, d.of[o]...), nil
}

type fakeNumbers map[postings.Ord]int64

func (n fakeNumbers) At(o postings.Ord) (int64, bool, error) { v, ok := n[o]; return v, ok, nil }
func (n fakeNumbers) Bounds() (lo, hi int64, any bool) {
	lo, hi = math.MaxInt64, math.MinInt64
	for _, v := range n {
		lo, hi = min(lo, v), max(hi, v)
	}
	return lo, hi, len(n) > 0
}
func (n fakeNumbers) AddRange(lo, hi int64, b *postings.Bits) error {
	for o, v := range n {
		if lo <= v && v <= hi {
			b.Add(o)
		}
	}
	return nil
}
