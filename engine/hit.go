package engine

import (
	"fmt"

	"github.com/hansard-search/hansard/engine/archive"
	"github.com/hansard-search/hansard/engine/store"
	"github.com/hansard-search/hansard/lexer"
	"github.com/hansard-search/hansard/postings"
	"github.com/hansard-search/hansard/query"
)

// hit fetches what is shown of one hit: the session's head and the matched block,
// nothing else.
func (s *search) hit(h query.Hit, rank int) (Hit, error) {
	view := s.snap.views[s.views[h.Source]]
	ref, err := view.Segment().SessionRef(h.Session)
	if err != nil {
		return Hit{}, err
	}
	no := store.No(ref.No)
	head, err := s.snap.store.Head(no)
	if err != nil {
		return Hit{}, err
	}
	sum, err := s.snap.summary(head)
	if err != nil || !s.result.Ranked {
		return Hit{Session: sum}, err
	}
	m, block, err := s.snap.block(s.views[h.Source], no, h)
	if err != nil {
		return Hit{}, err
	}
	match := s.match(head, m, block, rank)
	if s.lane == LaneDialogue {
		score, kind := h.Score, "bm25"
		match.Score, match.RawScore, match.ScoreKind = &score, &score, &kind
		match.ScoreComponents["bm25_raw"] = score
	}
	return Hit{Session: sum, Match: match}, nil
}

// summary is the row of a session with what people set on it.
func (s *snapshot) summary(head *archive.Session) (SessionSummary, error) {
	tags, err := s.store.Tags(head.ID())
	if err != nil {
		return SessionSummary{}, err
	}
	sum := summarise(head, mergeTags(head.Tags, tags))
	if title, err := s.store.Title(head.ID()); err != nil {
		return SessionSummary{}, err
	} else if title != "" {
		sum.Title = title
	}
	return sum, nil
}

// block fetches the message of a hit from the store and says which of its blocks
// the hit is.
func (s *snapshot) block(view int, no store.No, h query.Hit) (*archive.Message, int, error) {
	seg := s.views[view]
	toMessage, err := seg.Spans(postings.Message, postings.Block)
	if err != nil {
		return nil, 0, err
	}
	ofSession, err := seg.Spans(postings.Session, postings.Message)
	if err != nil {
		return nil, 0, err
	}
	message := toMessage.Of(h.Block)
	firstBlock, _ := toMessage.Run(message)
	firstMessage, _ := ofSession.Run(h.Session)
	m, err := s.store.Message(no, int(message-firstMessage))
	if err != nil {
		return nil, 0, err
	}
	block := int(h.Block - firstBlock)
	if block >= len(m.Blocks) {
		return nil, 0, fmt.Errorf("session %d: message %d has no block %d: %w", no, m.Position, block, store.ErrCorrupt)
	}
	return m, block, nil
}

// match describes the block of a hit.
func (s *search) match(head *archive.Session, m *archive.Message, block, rank int) *Match {
	session := string(head.ID())
	message := archive.MessageID(head.ID(), m, head.Duplicates)
	id := archive.BlockID(message, block)
	text := string(archive.AppendSearchText(nil, &m.Blocks[block]))
	snippet, spans := snippetOf(text, s.plan.Phrases())
	surface := "message"
	if s.lane == LaneActions {
		surface = "action"
	}
	return &Match{
		Rank: rank, LaneRank: &rank, RetrievalLane: s.lane, MatchSurface: surface,
		TargetRef: blockTarget(session, message, block), Anchor: anchor("message", message), Actions: messageActions(),
		MessageID: message, BlockID: id, BlockType: string(m.Blocks[block].Type), Snippet: snippet, Highlights: spans,
		ScoreComponents: map[string]float64{}, MatchedTerms: s.plan.MatchedTerms(),
	}
}

// snippetOf cuts the piece of text that shows the phrases best, its matches in
// brackets, and gives the byte ranges of the matches inside the brackets.
func snippetOf(text string, phrases []query.PhraseInfo) (string, [][2]int) {
	marks := phraseMarks(text, phrases)
	sn := lexer.NewSnippet(text, nil, lexer.SnippetOptions{MatchAt: func(_ []byte, pos int) bool { return marks[pos] }})
	out, spans := []byte(nil), [][2]int{}
	if sn.Start > 0 {
		out = append(out, "… "...)
	}
	last := 0
	for _, sp := range sn.Spans {
		out = append(append(out, sn.Text[last:sp[0]]...), '[')
		from := len(out)
		out = append(out, sn.Text[sp[0]:sp[1]]...)
		spans = append(spans, [2]int{from, len(out)})
		out = append(out, ']')
		last = sp[1]
	}
	out = append(out, sn.Text[last:]...)
	if sn.End < len(text) {
		out = append(out, " …"...)
	}
	return string(out), spans
}

// markBudget bounds how much text after a first match is searched for more.
const markBudget = 64 << 10

// phraseMarks finds the positions of the terms that belong to an occurrence of a
// scored phrase.
func phraseMarks(text string, phrases []query.PhraseInfo) map[int]bool {
	marks := map[int]bool{}
	longest := 1
	for _, ph := range phrases {
		longest = max(longest, len(ph.Terms))
	}
	var sc lexer.Scanner
	sc.ResetString(text)
	recent := make([]string, 0, longest) // the last terms, newest last
	end := -1
	for sc.Next() {
		if len(recent) == longest {
			recent = append(recent[:0], recent[1:]...)
		}
		recent = append(recent, string(sc.Term()))
		for _, ph := range phrases {
			if n := len(ph.Terms); ph.Scored && n > 0 && n <= len(recent) && endsPhrase(recent[len(recent)-n:], ph) {
				for i := range n {
					marks[sc.Pos()-i] = true
				}
				if end < 0 {
					end = sc.End() + markBudget
				}
			}
		}
		if end >= 0 && sc.End() > end {
			break
		}
	}
	return marks
}

// endsPhrase reports whether the terms are the phrase.
func endsPhrase(terms []string, ph query.PhraseInfo) bool {
	last := len(terms) - 1
	for i, t := range terms {
		want := ph.Terms[i]
		if t != want && !(i == last && ph.Prefix && len(t) > len(want) && t[:len(want)] == want) {
			return false
		}
	}
	return true
}

func mergeTags(a, b []string) []string {
	seen, out := map[string]bool{}, []string{}
	for _, t := range append(append([]string{}, a...), b...) {
		if !seen[t] {
			seen[t] = true
			out = append(out, t)
		}
	}
	return out
}
