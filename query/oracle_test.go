package query

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/hansard-search/hansard/lexer"
)

// The oracle answers queries from the sessions themselves with plain loops, from
// the syntax tree: it shares no code with the executor but the lexer of terms and
// the parser of dates.
type oracle struct {
	sessions []fakeSession // of all sources
	options  Options
}

type oracleHit struct {
	id      string
	block   int // in the session
	score   float64
	time    int64
	session int
}

type oracleAnswer struct {
	hits   []oracleHit
	blocks int
	df     []int
}

func (o *oracle) answer(q *Query) oracleAnswer {
	var a oracleAnswer
	var phrases []*Phrase
	if q.Match != nil {
		phrases = phrasesOf(q.Match)
	}
	rows, tokens := 0, 0
	df := make([]int, len(phrases))
	count := func(_, _ int, terms []string) {
		rows++
		tokens += len(terms)
		for i, p := range phrases {
			if instances(p, terms) > 0 {
				df[i]++
			}
		}
	}
	if len(phrases) > 0 {
		o.eachBlock(count)
	}
	a.df = df
	for i, s := range o.sessions {
		if s.dead || !o.selects(q, s) {
			continue
		}
		h := oracleHit{id: s.id, block: -1, time: s.time, session: i}
		if q.Match == nil {
			a.hits = append(a.hits, h)
			continue
		}
		for j, b := range s.blocks {
			terms := lexer.Terms(b.text)
			if !s.blockLives(j) || !textHolds(q.Match, terms) {
				continue
			}
			a.blocks++
			index := 0
			weights := contributions(q.Match, terms, true, &index, nil)
			score := 0.0
			for k, f := range weights {
				score += bm25Naive(f, len(terms), df[k], rows, tokens)
			}
			if h.block < 0 || score < h.score {
				h.block, h.score = j, score
			}
		}
		if h.block >= 0 {
			a.hits = append(a.hits, h)
		}
	}
	slices.SortFunc(a.hits, func(x, y oracleHit) int {
		if x.score != y.score {
			return cmpFloat(x.score, y.score)
		}
		if x.time != y.time { // unknown is 0: last
			return int(min(1, max(-1, y.time-x.time)))
		}
		return strings.Compare(x.id, y.id)
	})
	return a
}

func cmpFloat(a, b float64) int {
	if a < b {
		return -1
	}
	return 1
}

func (o *oracle) eachBlock(f func(session, block int, terms []string)) {
	for i, s := range o.sessions {
		for j, b := range s.blocks {
			if s.blockLives(j) {
				f(i, j, lexer.Terms(b.text))
			}
		}
	}
}

func bm25Naive(f float64, length, df, rows, tokens int) float64 {
	if f == 0 {
		return 0
	}
	idf := math.Log((float64(rows-df) + 0.5) / (float64(df) + 0.5))
	if idf <= 0 {
		idf = 1e-6
	}
	return -(idf * ((f * 2.2) / (f + 1.2*(1-0.75+0.75*float64(length)/(float64(tokens)/float64(rows))))))
}

// instances counts the places where p stands in terms.
func instances(p *Phrase, terms []string) int {
	want := lexer.Terms(p.Text)
	n := 0
	for i := 0; len(want) > 0 && i+len(want) <= len(terms); i++ {
		ok := true
		for k, w := range want {
			if k == len(want)-1 && p.Prefix {
				ok = ok && strings.HasPrefix(terms[i+k], w)
			} else {
				ok = ok && terms[i+k] == w
			}
		}
		if ok {
			n++
		}
	}
	return n
}

func phrasesOf(t Text) []*Phrase {
	switch n := t.(type) {
	case *Phrase:
		return []*Phrase{n}
	case *TextAnd:
		return phrasesOfAll(n.Of)
	case *TextOr:
		return phrasesOfAll(n.Of)
	case *TextNot:
		return phrasesOfAll([]Text{n.Left, n.Right})
	}
	panic("kind")
}

func phrasesOfAll(of []Text) (out []*Phrase) {
	for _, k := range of {
		out = append(out, phrasesOf(k)...)
	}
	return out
}

func textHolds(t Text, terms []string) bool {
	switch n := t.(type) {
	case *Phrase:
		return instances(n, terms) > 0
	case *TextAnd:
		return !slices.ContainsFunc(n.Of, func(k Text) bool { return !textHolds(k, terms) })
	case *TextOr:
		return slices.ContainsFunc(n.Of, func(k Text) bool { return textHolds(k, terms) })
	case *TextNot:
		return textHolds(n.Left, terms) && !textHolds(n.Right, terms)
	}
	panic("kind")
}

// contributions appends the number of counted instances of each phrase, in order.
func contributions(t Text, terms []string, counts bool, index *int, dst []float64) []float64 {
	counts = counts && textHolds(t, terms)
	switch n := t.(type) {
	case *Phrase:
		f := 0
		if counts {
			f = instances(n, terms)
		}
		return append(dst, float64(f))
	case *TextAnd:
		for _, k := range n.Of {
			dst = contributions(k, terms, counts, index, dst)
		}
	case *TextOr:
		for _, k := range n.Of {
			dst = contributions(k, terms, counts, index, dst)
		}
	case *TextNot:
		dst = contributions(n.Left, terms, counts, index, dst)
		dst = contributions(n.Right, terms, false, index, dst)
	}
	return dst
}

// holds reports whether p holds for s.
func (o *oracle) holds(p Pred, s fakeSession) bool {
	return tree(p, func(leaf Pred) bool {
		switch n := leaf.(type) {
		case *Exclude:
			return !s.hasBlock(n.Of)
		case *Matches:
			return s.hasBlock(n.Of)
		case *Exists:
			return slices.ContainsFunc(o.rows(n.Unit, s), func(r oracleRow) bool { return o.rowHolds(n.Of, s, r) })
		case *Seq:
			return o.follows(n.Steps, s, o.rows(UnitAction, s), -1)
		case *Field:
			return slices.ContainsFunc(n.Values, func(v Value) bool { return o.fieldHolds(n.Name, v.Text, s) })
		}
		return o.compares(leaf, func(name string) (int64, bool) { return numberOf(s, name) })
	})
}

// hasBlock reports whether p stands in a live block.
func (s *fakeSession) hasBlock(p *Phrase) bool {
	for j, b := range s.blocks {
		if s.blockLives(j) && instances(p, lexer.Terms(b.text)) > 0 {
			return true
		}
	}
	return false
}

// tree evaluates AND, OR and NOT over leaves.
func tree(p Pred, leaf func(Pred) bool) bool {
	switch n := p.(type) {
	case *And:
		return !slices.ContainsFunc(n.Of, func(k Pred) bool { return !tree(k, leaf) })
	case *Or:
		return slices.ContainsFunc(n.Of, func(k Pred) bool { return tree(k, leaf) })
	case *Not:
		return !tree(n.Of, leaf)
	}
	return leaf(p)
}

// compares evaluates a comparison or a range of a number or a time.
func (o *oracle) compares(p Pred, number func(name string) (int64, bool)) bool {
	switch n := p.(type) {
	case *Compare:
		lo, hi := o.meaning(n.Name, n.Value.Text)
		v, ok := number(n.Name)
		switch {
		case !ok:
			return false
		case n.Op == ">":
			return v > hi
		case n.Op == ">=":
			return v >= lo
		case n.Op == "<":
			return v < lo
		case n.Op == "<=":
			return v <= hi
		}
		return v == lo
	case *Range:
		lo, _ := o.meaning(n.Name, n.Low.Text)
		_, hi := o.meaning(n.Name, n.High.Text)
		v, ok := number(n.Name)
		return ok && lo <= v && v <= hi
	}
	panic("kind")
}

func (o *oracle) meaning(name, value string) (lo, hi int64) {
	if !slices.Contains([]string{"date", "since", "until", "time"}, name) {
		v, err := strconv.ParseInt(value, 10, 64)
		if err != nil {
			panic(err)
		}
		return v, v
	}
	iv, _ := parseDate(value, o.options.Now)
	return iv.lo, iv.hi
}

func numberOf(s fakeSession, name string) (int64, bool) {
	switch name {
	case "messages":
		return s.messages, s.messages >= 0
	case "words":
		return s.words, s.words >= 0
	case "user_messages":
		return s.userMessages, s.userMessages >= 0
	case "date":
		return s.time, s.time != 0
	}
	panic("number " + name)
}

func foldContains(s, sub string) bool {
	return strings.Contains(strings.ToLower(s), strings.ToLower(sub))
}

// pathHas reports whether path contains v, whatever the slashes.
func pathHas(path, v string) bool {
	slash := strings.NewReplacer(`\`, "/")
	return foldContains(slash.Replace(path), slash.Replace(v))
}

func (o *oracle) fieldHolds(name, v string, s fakeSession) bool {
	slash := strings.NewReplacer(`\`, "/")
	liveActions := slices.DeleteFunc(slices.Clone(s.actions), func(a fakeAction) bool { return a.dead })
	action := func(f func(a fakeAction) bool) bool { return slices.ContainsFunc(liveActions, f) }
	switch name {
	case "id":
		return strings.HasPrefix(s.id, v) || strings.HasPrefix(s.native, v)
	case "session":
		return s.id == v
	case "contains":
		return slices.ContainsFunc(o.rows(UnitBlock, s), func(r oracleRow) bool { return r.has("text", v) })
	case "repo":
		return foldContains(s.repo, v) || foldContains(s.repoFull, v) || foldContains(s.repoURL, v)
	case "title":
		return foldContains(s.title, v)
	case "origin":
		return s.origin == v
	case "tag":
		return slices.Contains(s.tags, v)
	case "has":
		return slices.Contains(s.has, strings.ToLower(v))
	case "root":
		return s.root == (v == "true" || v == "1" || v == "yes")
	case "cwd":
		a, b := slash.Replace(strings.ToLower(s.cwd)), strings.TrimRight(slash.Replace(strings.ToLower(v)), "/")
		return s.cwd != "" && (a == b || strings.HasPrefix(a, b+"/"))
	case "path":
		return action(func(a fakeAction) bool {
			return slices.ContainsFunc(a.allPaths(), func(p string) bool { return pathHas(p, v) })
		})
	case "tool":
		return v == "none" && len(liveActions) == 0 ||
			action(func(a fakeAction) bool { return slices.Contains(a.keys, strings.ToLower(v)) })
	case "action":
		return v == "none" && len(liveActions) == 0 ||
			action(func(a fakeAction) bool { return strings.EqualFold(a.semantic, v) })
	case "since":
		lo, _ := o.meaning(name, v)
		return s.time != 0 && s.time >= lo
	case "until":
		_, hi := o.meaning(name, v)
		return s.time != 0 && s.time <= hi
	}
	panic("field " + name)
}
