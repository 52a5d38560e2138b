package archive

// A Session is the head of one session: all that is not in its messages. An
// importer fills the recorded part; [Deriver.Finish] fills the rest.
type Session struct {
	Origin Origin
	Native string // native id, trimmed, never empty

	// Recorded by the source.
	Title           string  // recorded title; empty when the source has none
	TitleSource     string  // "origin", "path", "heuristic", or "" without title evidence
	TitleRef        string  // what gave the title, for example "message:<id>"
	TitleConfidence float64 // 0..1
	DisplayName     string
	Kind            string // "standard" or "temporary"; empty means standard
	Branch          BranchType
	Parent          string   // native id of the recorded parent, same origin
	WorkDirs        []string // recorded working directories, in order of first appearance, distinct
	GitBranch       string
	RepoURL         string // recorded remote
	Commit          string
	Project         string // the provider's own project reference
	Instructions    string
	Version         string  // version of the program that wrote the session
	ReportedMS      Int     // duration that the source reports
	ReportedCost    float64 // US dollars that the source reports
	CostKnown       bool
	Tags            []string // tags the importer gives, lower case, sorted
	Created         int64    // producer's own value, else NoTime; Finish completes it from messages
	Updated         int64
	Usage           []ModelUsage // per model, sorted by model
	Events          []Event
	Refs            []ExternalRef
	Links           []Link

	// Derived by Finish.
	Counters    Counters
	Models      []string // distinct models of assistant messages, most used first, then by name
	Has         []string // what `has:` finds: block types, and paste, tools, attachments, summary; sorted
	RepoName    string   // last segment of the remote, else a candidate from the working directory
	RepoOwner   string   // "owner" of owner/name, when the remote has one
	RepoPath    string   // path of the remote without host, for example "owner/name"
	Duplicates  []string // native message ids that occur more than once, sorted: their holders go by position
	Actions     []Action
	Status      string   // how the session ends: completed, interrupted, failed, or unknown without messages
	ContentHash [32]byte // over every persisted field and the parser's fingerprint
}

// ID is the public id of the session.
func (s *Session) ID() SessionID { return MakeSessionID(s.Origin, s.Native) }

// SortKey is the session's time in every order and date filter: the last update,
// else the creation, else NoTime.
func (s *Session) SortKey() int64 {
	if s.Updated != NoTime {
		return s.Updated
	}
	return s.Created
}

// Counters are a session's numbers over its own (not inherited) messages.
type Counters struct {
	Messages, Words                                  int64
	UserMessages, UserWords                          int64
	AuthoredUserMessages, AuthoredUserWords          int64
	AssistantMessages, AssistantWords                int64
	SystemMessages, ToolMessages                     int64
	ToolUseMessages, ThinkingMessages, PasteMessages int64 // messages that carry the signal
	Blocks                                           int64
	InputTokens, OutputTokens, CacheRead, CacheWrite int64
}

// ModelUsage sums the tokens of one model.
type ModelUsage struct {
	Model                                           string
	Input, Output, CacheRead, CacheWrite, Reasoning int64
}

// An Event is something a session records that is not a message: a compaction, a
// mode change, a title. Payload is canonical JSON of bounded size.
type Event struct {
	Kind    string
	Time    int64
	Summary string
	Payload string
}

// An ExternalRef points out of the archive, for example to a pull request.
type ExternalRef struct{ Kind, URL, Repo, Number string }

// A Link is recorded evidence that this session hangs on another one.
type Link struct {
	Parent      string // native id, same origin
	Type        string // continuation, sidechain, subagent, branch, fork, resume
	Method      string // which evidence said so
	BranchPoint string // native message id in the parent, if recorded
	ToolUse     string // tool id of the dispatching call in the parent, if recorded
}
