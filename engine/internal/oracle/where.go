package oracle

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/hansard-search/hansard/engine/archive"
	"github.com/hansard-search/hansard/query"
)

// holds reports whether a session satisfies p. A missing value satisfies nothing.
func (r *run) holds(p query.Pred, s *session) (bool, error) {
	switch n := p.(type) {
	case *query.And:
		return r.fold(n.Of, s, true)
	case *query.Or:
		return r.fold(n.Of, s, false)
	case *query.Not:
		ok, err := r.holds(n.Of, s)
		return !ok, err
	case *query.Matches:
		return slices.ContainsFunc(s.blocks, func(b block) bool { return r.needle(n.Of).count(b.terms) > 0 }), nil
	case *query.Exists:
		for _, row := range s.rows(n.Unit) {
			if ok, err := r.rowHolds(n.Of, s, row); ok || err != nil {
				return ok, err
			}
		}
		return false, nil
	case *query.Exclude:
		return !slices.ContainsFunc(s.blocks, func(b block) bool { return r.needle(n.Of).count(b.terms) > 0 }), nil
	case *query.Compare:
		return r.compares(n, s)
	case *query.Range:
		v, known, err := number(n.Name, s)
		if err != nil {
			return false, err
		}
		lo, _, err := r.meaning(n.Name, n.Low.Text)
		if err != nil {
			return false, err
		}
		_, hi, err := r.meaning(n.Name, n.High.Text)
		return known && lo <= v && v <= hi, err
	case *query.Field:
		for _, v := range n.Values {
			if ok, err := r.has(n.Name, v.Text, s); ok || err != nil {
				return ok, err
			}
		}
		return false, nil
	}
	return false, fmt.Errorf("oracle: unknown predicate %v", p)
}

// fold asks all of the operands; each must hold, or any.
func (r *run) fold(of []query.Pred, s *session, each bool) (bool, error) {
	for _, k := range of {
		if ok, err := r.holds(k, s); err != nil || ok != each {
			return !each, err
		}
	}
	return each, nil
}

func (r *run) compares(n *query.Compare, s *session) (bool, error) {
	v, known, err := number(n.Name, s)
	if err != nil {
		return false, err
	}
	lo, hi, err := r.meaning(n.Name, n.Value.Text)
	if !known || err != nil {
		return false, err
	}
	return inside(n.Op, v, lo, hi), nil
}

// meaning is what a value of an ordered field stands for: a number for itself, a
// date from its first to its last millisecond.
func (r *run) meaning(name, value string) (lo, hi int64, err error) {
	if name == "date" {
		return r.date(value)
	}
	v, err := strconv.ParseInt(value, 10, 64)
	return v, v, err
}

// number is the value of an ordered field.
func number(name string, s *session) (v int64, known bool, err error) {
	c := &s.Head.Counters
	switch name {
	case "messages":
		return c.Messages, true, nil
	case "words":
		return c.Words, true, nil
	case "user_messages":
		return c.UserMessages, true, nil
	case "assistant_words":
		return c.AssistantWords, true, nil
	case "tool_use_messages":
		return c.ToolUseMessages, true, nil
	case "thinking_messages":
		return c.ThinkingMessages, true, nil
	case "date":
		return s.Head.SortKey(), s.Head.SortKey() != archive.NoTime, nil
	}
	return 0, false, fmt.Errorf("oracle: unknown number %s", name)
}

// has reports whether a session has the value v in a field.
func (r *run) has(name, v string, s *session) (bool, error) {
	h := &s.Head
	switch name {
	case "id":
		return strings.HasPrefix(string(h.ID()), v) || strings.HasPrefix(h.Native, v), nil
	case "session":
		return string(h.ID()) == v, nil
	case "origin":
		return string(h.Origin) == v, nil
	case "tag":
		return slices.Contains(h.Tags, v), nil
	case "has":
		return slices.Contains(h.Has, strings.ToLower(v)), nil
	case "title":
		return contains(h.Title, v), nil
	case "repo":
		full := h.RepoOwner != "" && contains(h.RepoOwner+"/"+h.RepoName, v)
		return contains(h.RepoName, v) || full || contains(h.RepoPath, v), nil
	case "root":
		return (h.Parent == "") == slices.Contains([]string{"true", "yes", "1"}, strings.ToLower(v)), nil
	case "cwd":
		return slices.ContainsFunc(h.WorkDirs, func(dir string) bool { return under(dir, v) }), nil
	case "since":
		lo, _, err := r.date(v)
		return h.SortKey() != archive.NoTime && h.SortKey() >= lo, err
	case "until":
		_, hi, err := r.date(v)
		return h.SortKey() != archive.NoTime && h.SortKey() <= hi, err
	}
	return s.acts(name, v)
}

// acts reports whether a session has an action with the value v, or, for none, no
// action at all.
func (s *session) acts(name, v string) (bool, error) {
	if v == "none" && name != "path" {
		return len(s.actions) == 0, nil
	}
	for i := range s.actions {
		act, ok := &s.actions[i], false
		switch name {
		case "tool":
			ok = archive.MatchTool(v, act.ToolName)
		case "action":
			ok = cmp.Or(act.Semantic, "other") == strings.ToLower(v)
		case "path":
			ok = slices.ContainsFunc(act.Paths, func(p string) bool { return contains(slashes(p), slashes(v)) })
		default:
			return false, fmt.Errorf("oracle: unknown field %s", name)
		}
		if ok {
			return true, nil
		}
	}
	return false, nil
}

// contains is a substring match without regard to case. Tests use letters whose
// lower case tells as much as their fold.
func contains(s, part string) bool {
	return s != "" && strings.Contains(strings.ToLower(s), strings.ToLower(part))
}

// under reports whether dir is top or lies below it.
func under(dir, top string) bool {
	dir, top = strings.ToLower(slashes(dir)), strings.TrimRight(strings.ToLower(slashes(top)), "/")
	return dir == top || strings.HasPrefix(dir, top+"/")
}

func slashes(s string) string { return strings.ReplaceAll(s, `\`, "/") }
