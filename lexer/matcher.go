package lexer

import (
	"cmp"
	"math/bits"
	"slices"
	"strings"
)

// A Phrase is terms that stand side by side in a text.
type Phrase struct {
	Terms  []string // index terms, as [Terms] returns them
	Prefix bool     // the last one stands for all terms that begin with it
}

// A Matcher finds the occurrences of phrases while a text is scanned. It never
// changes and is safe for concurrent use; the zero value finds nothing.
type Matcher struct {
	longest  int        // terms of the longest phrase
	terms    []string   // all terms of phrases, sorted; a term's index is its id
	byFirst  [257]int32 // terms[byFirst[b]:byFirst[b+1]] begin with byte b
	endings  []ending   // of the phrases, by their last terms
	byEnding [257]int32 // endings[byEnding[b]:byEnding[b+1]] end in a term that begins with b
}

// An ending is a phrase seen from its last term.
type ending struct {
	last   string
	prefix bool
	before []int32 // ids of the terms ahead of the last
}

// NewMatcher prepares phrases. One without terms, or with an empty term, occurs
// nowhere.
func NewMatcher(phrases []Phrase) *Matcher {
	m := new(Matcher)
	for _, p := range phrases {
		m.terms = append(m.terms, p.Terms...)
	}
	slices.Sort(m.terms)
	m.terms = slices.Compact(m.terms)
	for _, p := range phrases {
		if len(p.Terms) == 0 || slices.Contains(p.Terms, "") {
			continue
		}
		m.longest = max(m.longest, len(p.Terms))
		last := len(p.Terms) - 1
		e := ending{last: p.Terms[last], prefix: p.Prefix}
		for _, t := range p.Terms[:last] {
			id, _ := slices.BinarySearch(m.terms, t)
			e.before = append(e.before, int32(id))
		}
		m.endings = append(m.endings, e)
	}
	slices.SortStableFunc(m.endings, func(a, b ending) int { return cmp.Compare(a.last, b.last) })
	for b := range 256 {
		first := string([]byte{byte(b)})
		i, _ := slices.BinarySearch(m.terms, first)
		m.byFirst[b] = int32(i)
		k, _ := slices.BinarySearchFunc(m.endings, first, func(e ending, s string) int { return strings.Compare(e.last, s) })
		m.byEnding[b] = int32(k)
	}
	m.byFirst[256], m.byEnding[256] = int32(len(m.terms)), int32(len(m.endings))
	return m
}

// id returns the id of a term that some phrase names, -1 for any other.
func (m *Matcher) id(term []byte) int32 {
	b := term[0]
	for i := m.byFirst[b]; i < m.byFirst[int(b)+1]; i++ {
		if string(term) == m.terms[i] {
			return i
		}
	}
	return -1
}

// endingIn are the phrases whose last term may be term.
func (m *Matcher) endingIn(term []byte) []ending {
	b := term[0]
	return m.endings[m.byEnding[b]:m.byEnding[int(b)+1]]
}

// at reports whether term is the last of the phrase.
func (e *ending) at(term []byte) bool {
	if e.prefix && len(term) > len(e.last) {
		term = term[:len(e.last)]
	}
	return string(term) == e.last
}

// A token is a term of the text.
type token struct {
	start, end int
	term       int32 // an id, equal for equal terms; -1 while it does not matter
	hit        bool
}

// tokens reads a text term by term and decides which of them are hits. With a
// matcher it reads ahead, since a term is a hit if the rest of a phrase follows.
type tokens struct {
	scan    Scanner
	match   func(term []byte) bool // unless matcher is set
	matcher *Matcher
	budget  int

	ring    []token // tokens taken to read; a power of two of them
	ahead   int     // tokens to read before one is decided, it included
	read    int
	taken   int
	atEnd   bool
	limit   int              // where to stop looking for phrases; -1 before the first
	over    bool             // the limit is behind
	others  map[string]int32 // ids of terms that no phrase names
	current token
}

func newTokens(text string, match func(term []byte) bool, opts SnippetOptions) tokens {
	t := tokens{match: match, matcher: opts.Matcher, budget: opts.Budget, ahead: 1, limit: -1}
	if t.matcher != nil {
		t.ahead = max(t.matcher.longest, 1)
	}
	t.ring = make([]token, 1<<bits.Len(uint(t.ahead-1)))
	t.scan.ResetString(text)
	return t
}

// next steps to the next token. At the end of the text it returns false, and the
// end of the current token is that of the text.
func (t *tokens) next() bool {
	for t.read-t.taken < t.ahead && !t.atEnd && !t.over {
		t.readOne()
	}
	if t.read == t.taken && !t.atEnd {
		t.readOne()
	}
	if t.read == t.taken {
		t.current = token{start: t.scan.End(), end: t.scan.End(), term: -1}
		return false
	}
	t.current = *t.back(t.read - t.taken)
	t.taken++
	return true
}

// back is the n-th last token read.
func (t *tokens) back(n int) *token { return &t.ring[(t.read-n)&(len(t.ring)-1)] }

func (t *tokens) readOne() {
	if !t.scan.Next() {
		t.atEnd = true
		return
	}
	t.read++
	k := t.back(1)
	*k = token{start: t.scan.Start(), end: t.scan.End(), term: -1}
	term := t.scan.Term()
	switch {
	case t.matcher == nil:
		if t.match != nil && t.match(term) {
			k.hit, k.term = true, t.id(term)
		}
	case !t.over:
		t.findPhrases(k, term)
	}
}

// findPhrases marks the tokens of the phrases that end in k, the last one read.
func (t *tokens) findPhrases(k *token, term []byte) {
	if t.ahead > 1 {
		k.term = t.matcher.id(term)
	}
	endings := t.matcher.endingIn(term)
	for i := range endings {
		e := &endings[i]
		if !e.at(term) || !t.behind(e.before) {
			continue
		}
		if k.term < 0 {
			k.term = t.id(term)
		}
		for n := range len(e.before) + 1 {
			t.back(n + 1).hit = true
		}
		if t.limit < 0 {
			t.limit = k.end + t.budget
		}
	}
	t.over = t.limit >= 0 && k.end > t.limit
}

// behind reports whether the last token stands behind terms of the given ids.
func (t *tokens) behind(ids []int32) bool {
	n := len(ids)
	if t.read <= n {
		return false
	}
	for i, id := range ids {
		if t.back(n+1-i).term != id {
			return false
		}
	}
	return true
}

// id returns the id of a term, a new one if it has none.
func (t *tokens) id(term []byte) int32 {
	named := int32(0)
	if t.matcher != nil {
		if id := t.matcher.id(term); id >= 0 {
			return id
		}
		named = int32(len(t.matcher.terms))
	}
	id, ok := t.others[string(term)]
	if !ok {
		if t.others == nil {
			t.others = map[string]int32{}
		}
		id = named + int32(len(t.others))
		t.others[string(term)] = id
	}
	return id
}

// ids is the number of ids given.
func (t *tokens) ids() int {
	n := len(t.others)
	if t.matcher != nil {
		n += len(t.matcher.terms)
	}
	return n
}
