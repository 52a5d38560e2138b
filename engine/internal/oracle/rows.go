package oracle

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/hansard-search/hansard/engine/archive"
	"github.com/hansard-search/hansard/query"
)

// A Row is a message, an action or a block that a query selects.
type Row struct {
	Session *Session
	Message *archive.Message // itself, or that holds the block or the call
	Block   int              // position in the message; -1 of a message
	Action  *archive.Action  // of an action
	Time    int64            // its own or, where that is unknown, its session's; archive.NoTime
	Place   int              // among the rows of its session
}

// Rows answers a query for messages, actions or blocks, in the order of its rows: time
// ascending with unknown first, session id, place. The error says that the oracle does
// not know a part of q.
func (a *Archive) Rows(q *query.Query) ([]Row, error) {
	r := &run{a, map[*query.Phrase]*needle{}}
	var out []Row
	for i := range a.sessions {
		s := &a.sessions[i]
		if q.Scope != nil {
			if ok, err := r.holds(q.Scope, s); err != nil {
				return nil, err
			} else if !ok {
				continue
			}
		}
		for _, row := range s.rows(q.Unit) {
			ok, err := r.rowHolds(q.Where, s, row)
			if err != nil {
				return nil, err
			}
			if ok {
				out = append(out, row)
			}
		}
	}
	slices.SortFunc(out, func(x, y Row) int {
		return cmp.Or(cmp.Compare(x.Time, y.Time), cmp.Compare(x.Session.Head.ID(), y.Session.Head.ID()), cmp.Compare(x.Place, y.Place))
	})
	return shape(out, q.Stages)
}

// shape applies the stages of a query for rows.
func shape(rows []Row, stages []query.Stage) ([]Row, error) {
	offset, limit := 0, len(rows)
	for _, s := range stages {
		switch s.Kind {
		case query.StageSort:
			if s.Desc {
				slices.Reverse(rows)
			}
		case query.StageOffset:
			offset = int(s.N)
		case query.StageLimit:
			limit = int(s.N)
		default:
			return nil, fmt.Errorf("oracle: unknown stage %v", s.Kind)
		}
	}
	rows = rows[min(offset, len(rows)):]
	return rows[:min(limit, len(rows))], nil
}

// rows are all rows of a unit of a session that are its own.
func (s *session) rows(u query.Unit) []Row {
	var out []Row
	add := func(r Row, t int64) {
		r.Session, r.Time = s.Session, t
		if t == archive.NoTime {
			r.Time = s.Head.SortKey()
		}
		out = append(out, r)
	}
	if u == query.UnitAction {
		for i := range s.Head.Actions {
			act := &s.Head.Actions[i]
			if m := &s.Messages[act.UseMessage]; !act.Inherited {
				add(Row{Message: m, Block: act.UseBlock, Action: act, Place: i}, m.Time)
			}
		}
		return out
	}
	place := 0
	for i := range s.Messages {
		m := &s.Messages[i]
		if u == query.UnitMessage {
			if !m.Inherited {
				add(Row{Message: m, Block: -1, Place: i}, m.Time)
			}
			continue
		}
		for j := range m.Blocks {
			if !m.Inherited {
				add(Row{Message: m, Block: j, Place: place}, m.Time)
			}
			place++
		}
	}
	return out
}

// rowHolds reports whether a row satisfies p.
func (r *run) rowHolds(p query.Pred, s *session, row Row) (bool, error) {
	each := func(of []query.Pred, want bool) (bool, error) {
		for _, k := range of {
			if ok, err := r.rowHolds(k, s, row); err != nil || ok != want {
				return !want, err
			}
		}
		return want, nil
	}
	switch n := p.(type) {
	case *query.And:
		return each(n.Of, true)
	case *query.Or:
		return each(n.Of, false)
	case *query.Not:
		ok, err := r.rowHolds(n.Of, s, row)
		return !ok, err
	case *query.Field:
		if name, ok := strings.CutPrefix(n.Name, "session."); ok {
			return r.holds(&query.Field{Name: name, Values: n.Values}, s)
		}
		for _, v := range n.Values {
			if ok, err := s.rowHas(n.Name, v.Text, row); ok || err != nil {
				return ok, err
			}
		}
		return false, nil
	case *query.Compare:
		if name, ok := strings.CutPrefix(n.Name, "session."); ok {
			return r.holds(&query.Compare{Name: name, Op: n.Op, Value: n.Value}, s)
		}
		v, known, err := rowNumber(n.Name, row)
		if err != nil || !known {
			return false, err
		}
		lo, hi, err := r.rowMeaning(n.Name, n.Value.Text)
		return inside(n.Op, v, lo, hi), err
	case *query.Range:
		if name, ok := strings.CutPrefix(n.Name, "session."); ok {
			return r.holds(&query.Range{Name: name, Low: n.Low, High: n.High}, s)
		}
		v, known, err := rowNumber(n.Name, row)
		if err != nil || !known {
			return false, err
		}
		lo, _, err := r.rowMeaning(n.Name, n.Low.Text)
		if err != nil {
			return false, err
		}
		_, hi, err := r.rowMeaning(n.Name, n.High.Text)
		return lo <= v && v <= hi, err
	}
	return false, fmt.Errorf("oracle: unknown predicate of rows %v", p)
}

func inside(op string, v, lo, hi int64) bool {
	switch op {
	case ">":
		return v > hi
	case ">=":
		return v >= lo
	case "<":
		return v < lo
	case "<=":
		return v <= hi
	}
	return lo <= v && v <= hi
}

func (r *run) rowMeaning(name, value string) (lo, hi int64, err error) {
	if name == "time" {
		name = "date"
	}
	return r.meaning(name, value)
}

// rowNumber is the value of an ordered field of a row.
func rowNumber(name string, row Row) (v int64, known bool, err error) {
	m := row.Message
	switch name {
	case "time":
		return m.Time, m.Time != archive.NoTime, nil
	case "words":
		return m.Words, true, nil
	case "output_tokens":
		return m.Tokens.Output, true, nil
	case "duration_ms":
		return m.Duration.Value, m.Duration.Known, nil
	case "exit_code":
		return row.Action.ExitCode.Value, row.Action.ExitCode.Known, nil
	}
	return 0, false, fmt.Errorf("oracle: unknown number of a row: %s", name)
}

// calls are the calls that a row holds: itself, its own, or those of its blocks.
func (s *session) calls(row Row) []*archive.Action {
	if row.Action != nil {
		return []*archive.Action{row.Action}
	}
	var out []*archive.Action
	for i := range s.Head.Actions {
		act := &s.Head.Actions[i]
		if act.UseMessage == row.Message.Position && (row.Block < 0 || act.UseBlock == row.Block) {
			out = append(out, act)
		}
	}
	return out
}

// rowHas reports whether a row has the value v in a field.
func (s *session) rowHas(name, v string, row Row) (bool, error) {
	calls := s.calls(row)
	any := func(f func(*archive.Action) bool) (bool, error) { return slices.ContainsFunc(calls, f), nil }
	switch name {
	case "command":
		return any(func(a *archive.Action) bool { return contains(a.Command, v) })
	case "output":
		return any(func(a *archive.Action) bool {
			return a.ResultMessage >= 0 && contains(s.Messages[a.ResultMessage].Blocks[a.ResultBlock].Text, v)
		})
	case "text":
		blocks := row.Message.Blocks
		if row.Block >= 0 && row.Action == nil {
			blocks = blocks[row.Block : row.Block+1]
		} else if row.Action != nil {
			return false, fmt.Errorf("oracle: the text of actions is not known")
		}
		return slices.ContainsFunc(blocks, func(b archive.Block) bool {
			return contains(string(archive.AppendSearchText(nil, &b)), v)
		}), nil
	case "role":
		return strings.EqualFold(string(row.Message.Role), v), nil
	case "type":
		switch {
		case row.Action != nil:
			return strings.EqualFold(cmp.Or(row.Action.Semantic, "other"), v), nil
		case row.Block >= 0:
			return strings.EqualFold(string(row.Message.Blocks[row.Block].Type), v), nil
		}
		return strings.EqualFold(string(row.Message.Type), v), nil
	case "tool", "action":
		if v == "none" {
			return len(calls) == 0, nil
		}
		if name == "tool" {
			return any(func(a *archive.Action) bool { return archive.MatchTool(v, a.ToolName) })
		}
		return any(func(a *archive.Action) bool { return cmp.Or(a.Semantic, "other") == strings.ToLower(v) })
	case "path":
		return any(func(a *archive.Action) bool {
			return slices.ContainsFunc(a.Paths, func(p string) bool { return contains(slashes(p), slashes(v)) })
		})
	case "is_error":
		want := map[string]archive.Tri{"true": archive.True, "failed": archive.True, "no": archive.False, "ok": archive.False}
		known, ok := want[strings.ToLower(v)]
		return ok && row.Action.IsError == known, nil
	case "followup_class":
		return strings.EqualFold(row.Action.Followup, v) && v != "", nil
	}
	return false, fmt.Errorf("oracle: unknown field of a row: %s", name)
}
