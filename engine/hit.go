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
	no, err := s.session(h.Source, h.Session)
	if err != nil {
		return Hit{}, err
	}
	var head *archive.Session
	var m *archive.Message
	block := 0
	if s.result.Ranked {
		head, m, block, err = s.snap.block(s.views[h.Source], no, h)
	} else if head, err = s.snap.store.Brief(no); isNotFound(err) {
		err = fmt.Errorf("%w: the index has a session that the store lacks: %w", store.ErrCorrupt, err)
	}
	if err != nil {
		return Hit{}, err
	}
	sum, err := s.snap.summary(head)
	if err != nil || m == nil {
		return Hit{Session: sum}, err
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

// block fetches the head and the message of a hit from the store and says which of the
// message's blocks the hit is.
func (s *snapshot) block(view int, no store.No, h query.Hit) (*archive.Session, *archive.Message, int, error) {
	seg := s.views[view]
	toMessage, err := seg.Spans(postings.Message, postings.Block)
	if err != nil {
		return nil, nil, 0, err
	}
	ofSession, err := seg.Spans(postings.Session, postings.Message)
	if err != nil {
		return nil, nil, 0, err
	}
	message := toMessage.Of(h.Block)
	firstBlock, _ := toMessage.Run(message)
	firstMessage, _ := ofSession.Run(h.Session)
	block := int(h.Block - firstBlock)
	head, m, err := s.store.Shown(no, int(message-firstMessage), block)
	if isNotFound(err) {
		err = fmt.Errorf("%w: the index has a block that the store lacks: %w", store.ErrCorrupt, err)
	}
	return head, m, block, err
}

// match describes the block of a hit, which is the only one of m. block is its
// place among the blocks of the message.
func (s *search) match(head *archive.Session, m *archive.Message, block, rank int) *Match {
	session := string(head.ID())
	message := archive.MessageID(head.ID(), m, head.Duplicates)
	id := archive.BlockID(message, block)
	text := string(archive.AppendSearchText(nil, &m.Blocks[0]))
	snippet, spans := snippetOf(text, s.plan.Matcher())
	surface := "message"
	if s.lane == LaneActions {
		surface = "action"
	}
	return &Match{
		Rank: rank, LaneRank: &rank, RetrievalLane: s.lane, MatchSurface: surface,
		TargetRef: blockTarget(session, message, block), Anchor: anchor("message", message), Actions: messageActions(),
		Ref: "block:" + id, MessageID: message, BlockID: id, BlockType: string(m.Blocks[0].Type), Snippet: snippet, Highlights: spans,
		ScoreComponents: map[string]float64{}, MatchedTerms: s.plan.MatchedTerms(),
	}
}

// snippetOf cuts the piece of text that shows the phrases of m best, its matches in
// brackets, and gives the byte ranges of the matches inside the brackets.
func snippetOf(text string, m *lexer.Matcher) (string, [][2]int) {
	return bracketed(lexer.NewSnippet(text, nil, lexer.SnippetOptions{Matcher: m}), len(text))
}

// bracketed writes a snippet of a text of the given size with its matches in
// brackets.
func bracketed(sn lexer.Snippet, size int) (string, [][2]int) {
	out := make([]byte, 0, len(sn.Text)+2*len(sn.Spans)+2*len("… "))
	spans := make([][2]int, 0, len(sn.Spans))
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
	if sn.End < size {
		out = append(out, " …"...)
	}
	return string(out), spans
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
