package engine

// RankingPolicy and RankingPolicyVersion name the order of ranked answers. A
// change of order is a new version, pinned by a golden test.
const (
	RankingPolicy        = "mixed-bm25-rrf-vector"
	RankingPolicyVersion = "1"
)

// searchSchema names the shape of a SearchEnvelope; it is additive within a major.
const searchSchema = "hansard.search/1"

// A SearchEnvelope is the answer to a query for sessions.
type SearchEnvelope struct {
	Schema string `json:"schema"`
	Hits   []Hit  `json:"hits"`
	// Total is the number of matching sessions, exactly, unless Partial.
	Total      int     `json:"total"`
	TotalIs    string  `json:"total_is"` // "exact" or, when Partial, "lower_bound"
	Exact      bool    `json:"exact"`
	Returned   int     `json:"returned"`
	Truncated  bool    `json:"truncated"` // more hits follow
	Limit      int     `json:"limit"`
	Offset     int     `json:"offset"`
	NextOffset *int    `json:"next_offset"`
	NextCursor *string `json:"next_cursor"`

	Query                string   `json:"query"` // the text that was matched and ranked; empty if none
	Expression           string   `json:"expression"`
	Sort                 *string  `json:"sort"` // explicit sort, null for the natural order
	LaneRequested        string   `json:"lane_requested"`
	RetrievalLane        string   `json:"retrieval_lane"` // what ran
	RankingPolicy        string   `json:"ranking_policy"`
	RankingPolicyVersion string   `json:"ranking_policy_version"`
	FiltersApplied       []string `json:"filters_applied"` // everything that narrows the answer, defaults included

	Partial     bool         `json:"partial"`   // a part of the archive could not be read
	Missing     []Damage     `json:"missing"`   // which
	Warnings    []string     `json:"warnings"`  // what of the query was left out, and why
	ReadOnly    *ReadOnly    `json:"read_only"` // why nothing can be imported, if so; the answer lacks nothing for it
	Diagnostics *Diagnostics `json:"diagnostics"`

	ActionAffordances []string `json:"action_affordances"`
	IndexGeneration   uint64   `json:"index_generation"`
	IndexAgeMS        int64    `json:"index_age_ms"` // acknowledged changes are always in the answer: 0
	TookMS            int64    `json:"took_ms"`
}

// A ReadOnly says why an archive that was opened to be written only reads: its disk is
// full, or a write failed.
type ReadOnly struct {
	Code   string `json:"code"` // DISK_FULL, TOO_MANY_FILES or ARCHIVE_READ_ONLY
	Reason string `json:"reason"`
	Hint   string `json:"hint"`
}

// A Hit is one session and, for a ranked answer, its best block.
type Hit struct {
	Session SessionSummary `json:"session"`
	Match   *Match         `json:"match"` // null when nothing was ranked
}

// A SessionSummary is the row of a session in every list.
type SessionSummary struct {
	ID              string                `json:"id"`
	Ref             string                `json:"ref"` // read resolves it
	Origin          string                `json:"origin"`
	Title           string                `json:"title"`
	TitleSource     *string               `json:"title_source"`
	TitleRef        *string               `json:"title_ref"`
	TitleConfidence *float64              `json:"title_confidence"`
	TargetRef       TargetRef             `json:"target_ref"`
	Anchor          string                `json:"anchor"`
	Actions         map[string]Affordance `json:"actions"`
	CreatedAt       *string               `json:"created_at"` // RFC 3339, UTC, milliseconds
	UpdatedAt       *string               `json:"updated_at"`
	MessageCount    int64                 `json:"message_count"`
	Tags            []string              `json:"tags"`
	Summary         *string               `json:"summary"`
	Words           int64                 `json:"words"`
	Repo            *string               `json:"repo"`
	CwdDisplay      *string               `json:"cwd_display"`
	Flags           Flags                 `json:"flags"`
}

// Flags say what a session holds.
type Flags struct {
	HasToolUse       bool `json:"has_tool_use"`
	HasThinking      bool `json:"has_thinking"`
	HasPasteEvidence bool `json:"has_paste_evidence"`
}

// A TargetRef names what a row points at.
type TargetRef struct {
	TargetType  string  `json:"target_type"` // session, message or block
	TargetID    string  `json:"target_id"`
	SessionID   *string `json:"session_id"`
	MessageID   *string `json:"message_id"`
	BlockIndex  *int    `json:"block_index"`
	IdentityKey string  `json:"identity_key"` // stable over rebuilds
}

// An Affordance says whether a reader can act on a target.
type Affordance struct {
	Enabled        bool    `json:"enabled"`
	State          string  `json:"state"`
	DisabledReason *string `json:"disabled_reason"`
}

// A Match is the evidence why a session is a hit.
type Match struct {
	Rank             int                   `json:"rank"` // from 1, over all pages
	RetrievalLane    string                `json:"retrieval_lane"`
	MatchSurface     string                `json:"match_surface"`
	TargetRef        TargetRef             `json:"target_ref"`
	Anchor           string                `json:"anchor"`
	Actions          map[string]Affordance `json:"actions"`
	Ref              string                `json:"ref"` // of the block; read resolves it
	MessageID        string                `json:"message_id"`
	BlockID          string                `json:"block_id"`
	BlockType        string                `json:"block_type"`
	Snippet          string                `json:"snippet"`    // the matched terms stand in [brackets]
	Highlights       [][2]int              `json:"highlights"` // byte ranges of those terms in Snippet, brackets excluded
	Score            *float64              `json:"score"`
	ScoreKind        *string               `json:"score_kind"` // "bm25": lower is better
	ScoreComponents  map[string]float64    `json:"score_components"`
	RawScore         *float64              `json:"raw_score"`
	LaneRank         *int                  `json:"lane_rank"`
	LaneContribution *float64              `json:"lane_contribution"`
	MatchedTerms     []string              `json:"matched_terms"`
}

// Diagnostics explain an empty answer.
type Diagnostics struct {
	Message             string   `json:"message"`
	Filters             []string `json:"filters"`
	Reasons             []Reason `json:"reasons"`
	ArchiveSessionCount int      `json:"archive_session_count"`
}

// A Reason is one explanation of an empty answer.
type Reason struct {
	Code     string `json:"code"`
	Severity string `json:"severity"` // info, warning
	Summary  string `json:"summary"`
}
