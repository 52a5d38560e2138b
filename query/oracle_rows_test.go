package query

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// An oracleRow is a live row of a session: what the predicates of a unit see of it.
type oracleRow struct {
	place   int                 // among the rows of the session, live or not
	words   map[string][]string // values by field, "role"; for tool, action and path of any call in it
	failed  string
	numbers map[string]int64 // by field; absent: unknown
}

// rows are the live rows of u in s, in order. A file is a path of an action.
func (o *oracle) rows(u Unit, s fakeSession) []oracleRow {
	var out []oracleRow
	switch u {
	case UnitMessage:
		block := 0
		for i, m := range s.allTurns() {
			r := oracleRow{place: i, words: map[string][]string{"role": {m.role}, "type": {m.kind}}, numbers: moment(m.numbers, m.time)}
			for range m.blocks {
				if b := s.blocks[block]; s.blockLives(block) {
					r.words["tool"] = append(r.words["tool"], b.keys...)
					r.words["action"] = append(r.words["action"], b.semantic)
					r.words["path"] = append(r.words["path"], b.paths...)
					r.words["text"] = append(r.words["text"], b.text)
					r.words["command"] = append(r.words["command"], b.command)
					r.words["output"] = append(r.words["output"], b.output)
				}
				block++
			}
			if !s.dead && !m.dead {
				out = append(out, r)
			}
		}
	case UnitBlock:
		for j, b := range s.blocks {
			if s.blockLives(j) {
				out = append(out, oracleRow{place: j, numbers: moment(nil, s.turnOf(j).time), words: map[string][]string{
					"type": {b.kind}, "tool": b.keys, "action": {b.semantic}, "path": b.paths, "text": {b.text}, "command": {b.command}}})
			}
		}
	case UnitAction, UnitFile:
		for i, a := range s.actions {
			if s.dead || a.dead {
				continue
			}
			r := oracleRow{place: i, failed: a.failed, numbers: moment(nil, a.time), words: map[string][]string{
				"type": {a.semantic}, "tool": a.keys, "action": {a.semantic}, "path": a.allPaths(), "followup_class": {a.followup},
				"command": {a.command}, "output": {a.output},
				"text":       append(a.allPaths(), a.name(), a.semantic, a.command, a.output),
				"tool shown": {a.name()}, "tool_family shown": {a.family()}}}
			if code, err := strconv.ParseInt(a.exit, 10, 64); err == nil {
				r.numbers["exit_code"] = code
			}
			if u == UnitAction {
				out = append(out, r)
				continue
			}
			for _, path := range a.allPaths() {
				file := r
				file.words = map[string][]string{"type": {a.semantic}, "tool": a.keys, "action": {a.semantic}, "path": {path},
					"command": {a.command}, "text": append(a.allPaths(), a.name(), a.semantic, a.command)}
				out = append(out, file)
			}
		}
	default:
		panic("unit " + u)
	}
	return out
}

// moment is numbers and a time, if it is known.
func moment(numbers map[string]int64, time int64) map[string]int64 {
	out := map[string]int64{}
	for k, v := range numbers {
		out[k] = v
	}
	if time != 0 {
		out["time"] = time
	}
	return out
}

// selects reports whether s is found by the predicates of q: it owns a row, if rows are
// asked for, for which they hold.
func (o *oracle) selects(q *Query, s fakeSession) bool {
	if q.Scope != nil && !o.holds(q.Scope, s) {
		return false
	}
	if q.Unit != UnitSession {
		return o.holds(&Exists{Unit: q.Unit, Of: q.Where}, s)
	}
	return q.Where == nil || o.holds(q.Where, s)
}

// answerRows are the rows that q asks for, in their order.
func (o *oracle) answerRows(q *Query) []RowAnchor {
	var out []RowAnchor
	for _, s := range o.sessions {
		if s.dead || q.Scope != nil && !o.holds(q.Scope, s) {
			continue
		}
		for _, r := range o.rows(q.Unit, s) {
			if !o.rowHolds(q.Where, s, r) {
				continue
			}
			a := RowAnchor{SessionID: s.id, Place: int64(r.place)}
			if a.Time, a.HasTime = r.numbers["time"]; !a.HasTime {
				a.Time, a.HasTime = s.time, s.time != 0
			}
			out = append(out, a)
		}
	}
	slices.SortFunc(out, func(a, b RowAnchor) int {
		// The time of an unknown one is 0, before all others.
		return cmp.Or(cmp.Compare(a.Time, b.Time), strings.Compare(a.SessionID, b.SessionID), cmp.Compare(a.Place, b.Place))
	})
	return out
}

// rowHolds reports whether p holds for row r of s as a whole.
func (o *oracle) rowHolds(p Pred, s fakeSession, r oracleRow) bool {
	return tree(p, func(leaf Pred) bool {
		switch n := leaf.(type) {
		case *Field:
			if name, ok := strings.CutPrefix(n.Name, "session."); ok {
				return o.holds(&Field{Name: name, Values: n.Values}, s)
			}
			if n.Name == "is_error" {
				return r.fails(n.Values)
			}
			return slices.ContainsFunc(n.Values, func(v Value) bool { return r.has(n.Name, v.Text) })
		case *Compare:
			if name, ok := strings.CutPrefix(n.Name, "session."); ok {
				return o.holds(&Compare{Name: name, Op: n.Op, Value: n.Value}, s)
			}
		case *Range:
			if name, ok := strings.CutPrefix(n.Name, "session."); ok {
				return o.holds(&Range{Name: name, Low: n.Low, High: n.High}, s)
			}
		}
		return o.compares(leaf, func(name string) (int64, bool) { v, ok := r.numbers[name]; return v, ok })
	})
}

// has reports whether r has value v in the field.
func (r oracleRow) has(field, v string) bool {
	known := slices.DeleteFunc(slices.Clone(r.words[field]), func(w string) bool { return w == "" })
	if (field == "tool" || field == "action") && strings.EqualFold(v, "none") {
		return len(known) == 0
	}
	return slices.ContainsFunc(known, func(w string) bool {
		switch field {
		case "path":
			return pathHas(w, v)
		case "text", "command", "output":
			return foldContains(w, v)
		}
		return strings.EqualFold(w, v)
	})
}

// fails reports whether the outcome of r is one that values name.
func (r oracleRow) fails(values []Value) bool {
	return slices.ContainsFunc(values, func(v Value) bool {
		switch strings.ToLower(v.Text) {
		case "1", "true", "yes", "y", "error", "failed", "failure":
			return r.failed == "1"
		case "0", "false", "no", "n", "ok", "success", "passed":
			return r.failed == "0"
		}
		return false
	})
}

// follows reports whether the steps are found among actions, of which at, an index or
// -1, was the step before: every way is tried.
func (o *oracle) follows(steps []Step, s fakeSession, actions []oracleRow, at int) bool {
	if len(steps) == 0 {
		return true
	}
	for i := at + 1; i < len(actions); i++ {
		if !o.rowHolds(steps[0].Of, s, actions[i]) || at >= 0 && !reaches(steps[0], at, i, actions) {
			continue
		}
		if o.follows(steps[1:], s, actions, i) {
			return true
		}
	}
	return false
}

// reaches reports whether step may go from action i to j.
func reaches(step Step, i, j int, actions []oracleRow) bool {
	if step.Next && j != i+1 {
		return false
	}
	from, known := actions[i].numbers["time"]
	to, too := actions[j].numbers["time"]
	return step.Within == 0 || known && too && from <= to && to-from <= step.Within.Milliseconds()
}
