// Package oracle answers queries from the sessions themselves, by loops over all
// rows: no index, no plan, no cache. Tests compare the engine with it.
//
// Laws: an answer depends on nothing but the sessions, the query and the time; the
// code shares nothing with the executor but the syntax tree and the lexer of terms.
//
// Caveat: every query reads everything.
package oracle

import (
	"cmp"
	"slices"
	"time"

	"github.com/hansard-search/hansard/engine/archive"
	"github.com/hansard-search/hansard/lexer"
	"github.com/hansard-search/hansard/query"
)

// A Session is a session with all its messages.
type Session struct {
	Head     archive.Session
	Messages []archive.Message
}

// An Archive is sessions that queries can be asked of. It is safe for concurrent use.
type Archive struct {
	sessions []session
	now      time.Time // what relative dates are relative to
	rows     int       // blocks that are searched
	tokens   int       // in them
}

type session struct {
	*Session
	blocks  []block          // not inherited, in transcript order
	actions []archive.Action // not inherited
}

type block struct {
	id    string
	rank  int // among all blocks of the session
	terms []string
}

// A Hit is a session and, when the query has text, its best block.
type Hit struct {
	Session archive.SessionID
	Block   int // rank among the blocks of the session; -1 if the query has no text
	BlockID string
	Score   float64
	Time    int64 // archive.NoTime when unknown
}

// An Answer is what a query selects, in order. Matching says which blocks match, by
// session and rank, with their scores.
type Answer struct {
	Hits     []Hit
	Matching map[archive.SessionID]map[int]float64
}

// New prepares sessions for queries.
func New(sessions []Session, now time.Time) *Archive {
	a := &Archive{now: now}
	for i := range sessions {
		s := session{Session: &sessions[i]}
		rank := 0
		for j := range s.Messages {
			m := &s.Messages[j]
			a.take(&s, m, rank)
			rank += len(m.Blocks)
		}
		for _, act := range s.Head.Actions {
			if !act.Inherited {
				s.actions = append(s.actions, act)
			}
		}
		a.sessions = append(a.sessions, s)
	}
	return a
}

// take counts the blocks of a message of the session's own.
func (a *Archive) take(s *session, m *archive.Message, rank int) {
	if m.Inherited {
		return
	}
	id := archive.MessageID(s.Head.ID(), m, s.Head.Duplicates)
	for i := range m.Blocks {
		text := string(archive.AppendSearchText(nil, &m.Blocks[i]))
		b := block{archive.BlockID(id, i), rank + i, lexer.Terms(text)}
		s.blocks = append(s.blocks, b)
		a.tokens += len(b.terms)
		if text != "" {
			a.rows++
		}
	}
}

// Answer answers q. The error says that the oracle does not know a part of q.
func (a *Archive) Answer(q *query.Query) (Answer, error) {
	ans := Answer{Matching: map[archive.SessionID]map[int]float64{}}
	r := &run{a, map[*query.Phrase]*needle{}}
	for i := range a.sessions {
		s := &a.sessions[i]
		if q.Where != nil {
			if ok, err := r.holds(q.Where, s); err != nil {
				return ans, err
			} else if !ok {
				continue
			}
		}
		hit := Hit{Session: s.Head.ID(), Block: -1, Time: s.Head.SortKey()}
		if q.Match == nil {
			ans.Hits = append(ans.Hits, hit)
			continue
		}
		matching := map[int]float64{}
		for _, b := range s.blocks {
			if !r.matches(q.Match, b.terms) {
				continue
			}
			score := r.score(q.Match, b.terms)
			matching[b.rank] = score
			if hit.Block < 0 || score < hit.Score {
				hit.Block, hit.BlockID, hit.Score = b.rank, b.id, score
			}
		}
		if hit.Block >= 0 {
			ans.Hits = append(ans.Hits, hit)
			ans.Matching[hit.Session] = matching
		}
	}
	slices.SortFunc(ans.Hits, order)
	return ans, nil
}

// order is the order of hits: score ascending, time descending with unknown last,
// id ascending.
func order(x, y Hit) int {
	return cmp.Or(cmp.Compare(x.Score, y.Score), cmp.Compare(y.Time, x.Time), cmp.Compare(x.Session, y.Session))
}
