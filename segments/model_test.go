package segments

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hansard-search/hansard/lexer"
	"github.com/hansard-search/hansard/postings"
)

// The model is an archive as plain values, and what a segment of it must answer,
// found by loops.
type (
	mSession struct {
		ref      Ref
		vals     []Value
		messages []mMessage
		actions  []mAction
	}
	mMessage struct {
		inherited bool
		vals      []Value
		blocks    []mBlock
	}
	mBlock struct {
		text      string
		inherited bool
		vals      []Value
	}
	mAction struct {
		use, result int32
		inherited   bool
		vals        []Value
	}
)

var testSchema = []Column{
	{"session.repo", postings.Session, Keyword},
	{"session.words", postings.Session, Number},
	{"message.role", postings.Message, Keyword},
	{"message.time", postings.Message, Number},
	{"block.type", postings.Block, Keyword},
	{"block.size", postings.Block, Number},
	{"action.path", postings.Action, Keyword},
	{"action.exit", postings.Action, Number},
}

// randomModel makes sessions of up to size messages.
func randomModel(r *rand.Rand, sessions, size int) []mSession {
	vocabulary := make([]string, 300)
	for i := range vocabulary {
		vocabulary[i] = fmt.Sprintf("%s%d", []string{"go", "Żółw", "parse", "x", "日本"}[r.IntN(5)], r.IntN(200))
	}
	word := func() string { return vocabulary[int(float64(len(vocabulary))*r.Float64()*r.Float64())] }
	some := func(unit int) (v []Value) {
		for range r.IntN(3) {
			v = append(v, Value{Column: 2 * unit, Text: fmt.Sprint("v", r.IntN(5)*r.IntN(5))})
		}
		if r.IntN(4) > 0 {
			n := []int64{r.Int64N(5), r.Int64N(300) - 100, r.Int64(), -r.Int64()}
			v = append(v, Value{Column: 2*unit + 1, Number: n[min(unit, r.IntN(4))]})
		}
		return v
	}
	model := make([]mSession, sessions)
	for i := range model {
		s := mSession{ref: Ref{r.Uint64(), uint64(i)}, vals: some(0)}
		blocks := int32(0)
		for range r.IntN(size + 1) {
			m := mMessage{inherited: r.IntN(6) == 0, vals: some(1)}
			for range r.IntN(5) {
				b := mBlock{inherited: m.inherited, vals: some(2)}
				for range r.IntN(40) * r.IntN(2) {
					b.text += word() + []string{" ", "-", "\n"}[r.IntN(3)]
				}
				if r.IntN(20) == 0 {
					b.text = " ... "
				}
				m.blocks = append(m.blocks, b)
				blocks++
			}
			s.messages = append(s.messages, m)
		}
		for range r.IntN(4) {
			s.actions = append(s.actions, mAction{r.Int32N(blocks+1) - 1, r.Int32N(blocks+1) - 1, r.IntN(6) == 0, some(3)})
		}
		model[i] = s
	}
	return model
}

// feed gives the sessions to a writer, actions spread over the session.
func feed(t testing.TB, w *Writer, model []mSession) {
	t.Helper()
	must := func(err error) {
		if err != nil {
			t.Helper()
			t.Fatal(err)
		}
	}
	for _, s := range model {
		must(w.BeginSession(s.ref, s.vals))
		actions := s.actions
		for i, m := range s.messages {
			must(w.Message(m.inherited, m.vals))
			for _, b := range m.blocks {
				must(w.Block(b.text, b.inherited, b.vals))
			}
			if i%2 == 0 && len(actions) > 0 {
				a := actions[0]
				actions = actions[1:]
				must(w.Action(a.use, a.result, a.inherited, a.vals))
			}
		}
		for _, a := range actions {
			must(w.Action(a.use, a.result, a.inherited, a.vals))
		}
		must(w.EndSession())
	}
}

// build writes the sessions and returns the bytes.
func build(t testing.TB, o Options, model []mSession) []byte {
	t.Helper()
	w, err := NewWriter(o)
	if err != nil {
		t.Fatal(err)
	}
	feed(t, w, model)
	var buf bytes.Buffer
	info, err := w.Finish(&buf)
	if err != nil {
		t.Fatal(err)
	}
	if info.Bytes != int64(buf.Len()) {
		t.Fatalf("Info.Bytes = %d, want %d", info.Bytes, buf.Len())
	}
	return buf.Bytes()
}

func open(t testing.TB, b []byte) *Segment {
	t.Helper()
	s, err := OpenBytes("test", b)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// answers is everything that a segment can be asked, in a form to compare.
type answers struct {
	Rows     [postings.Units]int
	Offsets  [len(spanKinds)][]uint32
	Sessions []string // per session: ref and totals
	Actions  []string
	Marks    []string // inherited rows per unit, searchable blocks
	Lengths  []uint32
	Terms    []string // term, then row and positions
	Columns  []string // per value or per row
	Blocks   int64
	Tokens   int64
}

// want answers from the model.
func want(model []mSession) (a answers) {
	terms := map[string][]string{}
	marks := make([][]uint32, postings.Units+1)
	vals := make([][][]Value, postings.Units)
	note := func(u postings.Unit, inherited bool, v []Value) {
		if inherited {
			marks[u] = append(marks[u], uint32(a.Rows[u]))
		}
		vals[u] = append(vals[u], v)
		a.Rows[u]++
	}
	for _, s := range model {
		for i, k := range spanKinds[:3] {
			a.Offsets[i] = append(a.Offsets[i], uint32(a.Rows[k[1]]))
		}
		note(postings.Session, false, s.vals)
		blocks, tokens := 0, 0
		for _, m := range s.messages {
			a.Offsets[3] = append(a.Offsets[3], uint32(a.Rows[postings.Block]))
			note(postings.Message, m.inherited, m.vals)
			for _, b := range m.blocks {
				at := map[string][]int{}
				words := lexer.Terms(b.text)
				for i, w := range words {
					at[w] = append(at[w], i)
				}
				for w, pos := range at {
					terms[w] = append(terms[w], fmt.Sprint(a.Rows[postings.Block], pos))
				}
				a.Lengths = append(a.Lengths, uint32(len(words)))
				if b.text != "" {
					marks[postings.Units] = append(marks[postings.Units], uint32(a.Rows[postings.Block]))
					if !b.inherited {
						blocks++
						tokens += len(words)
					}
				}
				note(postings.Block, b.inherited, b.vals)
			}
		}
		for _, x := range s.actions {
			a.Actions = append(a.Actions, fmt.Sprint(x.use, x.result))
			note(postings.Action, x.inherited, x.vals)
		}
		a.Sessions = append(a.Sessions, fmt.Sprint(s.ref, blocks, tokens))
		a.Blocks += int64(blocks)
		a.Tokens += int64(tokens)
	}
	for i, k := range spanKinds {
		a.Offsets[i] = append(a.Offsets[i], uint32(a.Rows[k[1]]))
	}
	for _, m := range marks {
		a.Marks = append(a.Marks, fmt.Sprint(m))
	}
	for w, rows := range terms {
		a.Terms = append(a.Terms, w+" "+strings.Join(rows, " "))
	}
	slices.Sort(a.Terms)
	for i, c := range testSchema {
		a.Columns = append(a.Columns, wantColumn(i, c, vals[c.Unit])...)
	}
	return a
}

func wantColumn(i int, c Column, rows [][]Value) (out []string) {
	byValue := map[string][]uint32{}
	for row, vals := range rows {
		var texts []string
		number := "-"
		for _, v := range vals {
			if v.Column == i {
				texts = append(texts, v.Text)
				number = fmt.Sprint(v.Number)
			}
		}
		if c.Kind == Number {
			out = append(out, fmt.Sprint(c.Name, " ", row, " ", number))
			continue
		}
		slices.Sort(texts)
		texts = slices.Compact(texts)
		for _, v := range texts {
			byValue[v] = append(byValue[v], uint32(row))
		}
		out = append(out, fmt.Sprint(c.Name, " ", row, " ", texts))
	}
	for v, rows := range byValue {
		out = append(out, fmt.Sprint(c.Name, "=", v, " ", rows))
	}
	slices.Sort(out)
	return out
}

// got answers from a segment.
func got(s *Segment) (a answers, err error) {
	a.Rows, a.Blocks, a.Tokens = s.info.Rows, s.info.Blocks, s.info.Tokens
	for i, k := range spanKinds {
		spans, err := s.Spans(k[0], k[1])
		if err != nil {
			return a, err
		}
		a.Offsets[i] = spans.Offsets()
	}
	for o := range a.Rows[postings.Session] {
		ref, err := s.SessionRef(postings.Ord(o))
		if err != nil {
			return a, err
		}
		blocks, tokens, err := s.SessionTotals(postings.Ord(o))
		if err != nil {
			return a, err
		}
		a.Sessions = append(a.Sessions, fmt.Sprint(ref, blocks, tokens))
	}
	for o := range a.Rows[postings.Action] {
		use, result, err := s.ActionBlocks(postings.Ord(o))
		if err != nil {
			return a, err
		}
		a.Actions = append(a.Actions, fmt.Sprint(use, result))
	}
	if err := a.marks(s); err != nil {
		return a, err
	}
	if err := a.terms(s); err != nil {
		return a, err
	}
	return a, a.columns(s)
}

func (a *answers) marks(s *Segment) error {
	for u := range postings.Unit(postings.Units) {
		set, err := s.Inherited(u)
		if err != nil {
			return err
		}
		a.Marks = append(a.Marks, fmt.Sprint(slices.Collect(set.All())))
	}
	bits := postings.NewBits(a.Rows[postings.Block])
	if err := s.Searchable(bits); err != nil {
		return err
	}
	a.Marks = append(a.Marks, fmt.Sprint(slices.Collect(bits.All())))
	l, err := s.Lengths()
	if err != nil {
		return err
	}
	a.Lengths, err = l.Slice(0, postings.Ord(a.Rows[postings.Block]))
	return err
}

func (a *answers) terms(s *Segment) error {
	var names []string
	for term, err := range s.Terms(nil) {
		if err != nil {
			return err
		}
		names = append(names, string(term))
	}
	for _, term := range names {
		l, err := s.Term([]byte(term), postings.Positions)
		if err != nil {
			return err
		}
		line := term
		c := l.Cursor()
		for c.Next() {
			line += fmt.Sprint(" ", c.Row(), " ", c.AppendPositions(nil))
		}
		if c.Err() != nil {
			return c.Err()
		}
		a.Terms = append(a.Terms, line)
	}
	return nil
}

func (a *answers) columns(s *Segment) error {
	for _, c := range testSchema {
		var out []string
		var err error
		if c.Kind == Number {
			out, err = numberAnswers(s, c)
		} else {
			out, err = keywordAnswers(s, c)
		}
		if err != nil {
			return err
		}
		slices.Sort(out)
		a.Columns = append(a.Columns, out...)
	}
	return nil
}

func numberAnswers(s *Segment, c Column) (out []string, err error) {
	n, err := s.Numbers(c.Name)
	if err != nil {
		return nil, err
	}
	for o := range s.Rows(c.Unit) {
		v, ok, err := n.At(postings.Ord(o))
		if err != nil {
			return nil, err
		}
		text := "-"
		if ok {
			text = fmt.Sprint(v)
		}
		out = append(out, fmt.Sprint(c.Name, " ", o, " ", text))
	}
	return out, nil
}

func keywordAnswers(s *Segment, c Column) (out []string, err error) {
	d, err := s.Keywords(c.Name)
	if err != nil {
		return nil, err
	}
	var names []string
	for i := range d.Len() {
		v, err := d.Value(i)
		if err != nil {
			return nil, err
		}
		bits := postings.NewBits(s.Rows(c.Unit))
		if err := d.AddRows(i, bits); err != nil {
			return nil, err
		}
		names = append(names, v)
		out = append(out, fmt.Sprint(c.Name, "=", v, " ", slices.Collect(bits.All())))
	}
	var ids []int
	for o := range s.Rows(c.Unit) {
		if ids, err = d.AppendOf(ids[:0], postings.Ord(o)); err != nil {
			return nil, err
		}
		var texts []string
		for _, i := range ids {
			texts = append(texts, names[i])
		}
		out = append(out, fmt.Sprint(c.Name, " ", o, " ", texts))
	}
	return out, nil
}

// compare fails the test if the segment does not answer as the model.
func compare(t *testing.T, what string, s *Segment, model []mSession) {
	t.Helper()
	a, err := got(s)
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	if diff := cmp.Diff(want(model), a); diff != "" {
		t.Fatalf("%s: answers differ from the model (-want +got):\n%s", what, diff)
	}
}
