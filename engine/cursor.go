package engine

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"github.com/hansard-search/hansard/query"
)

// A cursor is where a page ended: the place of its last hit in the order, and the
// statistics that it was scored with. Later pages score with the same statistics,
// so that imports and merges in between neither repeat nor skip a hit.
type cursor struct {
	rank   int
	anchor query.Anchor
	stats  *query.Stats
}

// cursorVersion is the version of the token.
const cursorVersion = 1

// A cursorToken is a cursor as it travels: JSON in URL-safe base64.
type cursorToken struct {
	Version int          `json:"v"`
	Rank    int          `json:"r"`
	Score   float64      `json:"s"`
	Time    *int64       `json:"t"`
	ID      string       `json:"c"`
	Lane    string       `json:"l"`
	Request string       `json:"q"`
	Stats   *query.Stats `json:"n"`
}

// requestHash binds a cursor to its query and lane.
func (s *search) requestHash() string {
	return hashOf(s.lane + "\x00" + s.plan.Query.String())
}

func (s *search) encodeCursor(last query.Hit, rank int) (string, error) {
	t := cursorToken{Version: cursorVersion, Rank: rank, Score: last.Score, ID: last.ID, Lane: s.lane, Request: s.requestHash()}
	if last.HasTime {
		t.Time = &last.Time
	}
	if s.result.Ranked {
		t.Stats = &s.result.Stats
	}
	return encodeToken(t)
}

// hashOf binds a token to the request that gave it.
func hashOf(request string) string {
	sum := sha256.Sum256([]byte(request))
	return hex.EncodeToString(sum[:12])
}

// encodeToken writes a token as it travels: JSON in URL-safe base64.
func encodeToken(t any) (string, error) {
	b, err := json.Marshal(t)
	if err != nil {
		return "", fmt.Errorf("cursor: %w", err)
	}
	return base64.RawURLEncoding.EncodeToString(b), nil
}

// decodeToken reads what encodeToken wrote, and reports whether it could.
func decodeToken(token string, t any) bool {
	b, err := base64.RawURLEncoding.DecodeString(token)
	return err == nil && json.Unmarshal(b, t) == nil
}

// decodeCursor reads a token and refuses one of another request.
func (s *search) decodeCursor(token string) (*cursor, error) {
	bad := func(why, hint string) error {
		return &Error{Code: CodeInvalidCursor, Field: "cursor", Message: "the cursor " + why, Hint: hint}
	}
	var t cursorToken
	if !decodeToken(token, &t) {
		return nil, bad("is not one of ours", "pass next_cursor of an answer unchanged")
	}
	switch {
	case t.Version != cursorVersion:
		return nil, bad(fmt.Sprintf("has version %d", t.Version), "start again from the first page")
	case t.Lane != s.lane:
		return nil, bad(fmt.Sprintf("belongs to the lane %s", t.Lane), "repeat the request that gave it")
	case t.Request != s.requestHash():
		return nil, bad("belongs to another query", "repeat the request that gave it")
	case t.Rank < 1 || s.plan.Ranked() != (t.Stats != nil) || t.Stats != nil && len(t.Stats.DF) != len(s.plan.Phrases()):
		return nil, bad("is damaged", "start again from the first page")
	}
	c := &cursor{rank: t.Rank, stats: t.Stats, anchor: query.Anchor{Score: t.Score, ID: t.ID}}
	if t.Time != nil {
		c.anchor.Time, c.anchor.HasTime = *t.Time, true
	}
	return c, nil
}
