package archive

import (
	"cmp"
	"slices"
	"strings"
)

// How a session ends.
const (
	StatusCompleted   = "completed"
	StatusInterrupted = "interrupted" // the user or the program broke the last turn off
	StatusFailed      = "failed"      // it ends with a failed tool result or a refusal
	StatusUnknown     = "unknown"     // it has no message of its own
)

var interruptHeads = []string{"[Request interrupted by user", "<turn_aborted>"}

// statusAfter is the status of a session that ends with m.
func statusAfter(m *Message, failedResult bool) string {
	switch {
	case m.Role == RoleUser && hasAnyPrefix(firstText(m), interruptHeads):
		return StatusInterrupted
	case failedResult || m.StopReason == "refusal":
		return StatusFailed
	}
	return StatusCompleted
}

func firstText(m *Message) string {
	for i := range m.Blocks {
		if m.Blocks[i].Type == BlockText {
			return strings.TrimSpace(m.Blocks[i].Text)
		}
	}
	return ""
}

// Finish fills the derived fields of the session's head, and completes the
// recorded ones: Created and Updated, Title, Usage. The deriver is then spent.
func (d *Deriver) Finish(s *Session) {
	s.Counters = d.counters
	s.Status = d.status
	s.Models = d.modelNames()
	s.Has = sortedKeys(d.has)
	s.Duplicates = s.Duplicates[:0]
	for native, twice := range d.natives {
		if twice {
			s.Duplicates = append(s.Duplicates, native)
		}
	}
	slices.Sort(s.Duplicates)
	s.Actions = d.finishActions()
	d.finishTimes(s)
	d.finishUsage(s)
	repo := repoOf(s)
	s.RepoName, s.RepoOwner, s.RepoPath = repo.Name, repo.Owner, repo.Path
	d.finishTitle(s)
}

func sortedKeys(set map[string]bool) []string {
	var keys []string
	for k := range set {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// modelNames are the models of assistant messages, most used first.
func (d *Deriver) modelNames() []string {
	var names []string
	for m := range d.models {
		names = append(names, m)
	}
	slices.SortFunc(names, func(a, b string) int {
		return cmp.Or(cmp.Compare(d.models[b], d.models[a]), cmp.Compare(a, b))
	})
	return names
}

// finishActions puts the actions in file order.
func (d *Deriver) finishActions() []Action {
	order := make([]int, len(d.actions))
	for i := range order {
		order[i] = i
		if f := d.follow[i]; f >= 0 {
			d.actions[i].Followup = d.followups[f].class
			d.actions[i].FollowupMessage = d.followups[f].message
		}
	}
	if slices.IsSorted(d.seqs) {
		return d.actions
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(d.seqs[a], d.seqs[b]) })
	sorted := make([]Action, len(order))
	for i, from := range order {
		sorted[i] = d.actions[from]
	}
	return sorted
}

// finishTimes completes the session's times from its own messages, else from all
// messages, else from its events. One known side fills the other, and an
// inverted interval is turned.
func (d *Deriver) finishTimes(s *Session) {
	t := d.own
	if t == emptySpan {
		t = d.all
	}
	if t == emptySpan {
		for _, e := range s.Events {
			t.add(e.Time)
		}
	}
	if s.Created == NoTime {
		s.Created = t.min
	}
	if s.Updated == NoTime {
		s.Updated = t.max
	}
	if s.Created == NoTime {
		s.Created = s.Updated
	}
	if s.Updated == NoTime {
		s.Updated = s.Created
	}
	if s.Updated < s.Created {
		s.Created, s.Updated = s.Updated, s.Created
	}
}

// finishUsage sorts the recorded usage and merges equal models; without any
// record it is summed from the messages.
func (d *Deriver) finishUsage(s *Session) {
	if len(s.Usage) == 0 {
		for _, u := range d.usage {
			s.Usage = append(s.Usage, *u)
		}
	}
	slices.SortStableFunc(s.Usage, func(a, b ModelUsage) int { return cmp.Compare(a.Model, b.Model) })
	merged := s.Usage[:0]
	for _, u := range s.Usage {
		n := len(merged)
		if n == 0 || merged[n-1].Model != u.Model {
			merged = append(merged, u)
			continue
		}
		m := &merged[n-1]
		m.Input += u.Input
		m.Output += u.Output
		m.CacheRead += u.CacheRead
		m.CacheWrite += u.CacheWrite
		m.Reasoning += u.Reasoning
	}
	s.Usage = merged
}

// finishTitle gives a session without a recorded title that of its first human
// prompt, else its native id, which is no evidence of a title.
func (d *Deriver) finishTitle(s *Session) {
	if s.Title = strings.TrimSpace(s.Title); s.Title != "" {
		return
	}
	c := d.title
	if c.text == "" {
		c = d.titleOther
	}
	if c.text == "" {
		s.Title, s.TitleSource, s.TitleRef, s.TitleConfidence = s.Native, "", "", 0
		return
	}
	if d.natives[c.key.Native] {
		c.key.Native = ""
	}
	s.Title, s.TitleSource, s.TitleConfidence = c.text, heuristic, guessedTitle
	s.TitleRef = string(RefMessage) + ":" + c.key.ID(s.ID())
}
