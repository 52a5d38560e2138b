package claudecode

import (
	"cmp"
	"slices"

	"github.com/hansard-search/hansard/engine/archive"
	"github.com/hansard-search/hansard/engine/internal/jsonx"
	"github.com/hansard-search/hansard/engine/source"
)

const (
	// maxHeld is how much text may wait for the end of a streamed reply.
	maxHeld = 16 << 20
	// perHeld is what a waiting message counts besides its text.
	perHeld = 512
	// maxEvents is how many events a session keeps; later ones are skipped.
	maxEvents = 50_000
	// maxListed is how many working directories or references a session keeps.
	maxListed = 1024
	// maxFree is how many sent messages are kept to use again.
	maxFree = 64
)

// A session collects one group's messages and head during the second pass.
type session struct {
	r      *reader
	g      *group
	out    source.SessionSink // opened with the first message
	head   archive.Session
	title  titles
	stored int64 // records

	queue []*pending          // messages not yet sent, in transcript order
	open  map[string]*pending // streamed replies by id, while they wait
	ended map[string]bool     // replies that were closed early: their usage has been counted
	free  []*pending          // to use again
	held  int                 // bytes of text in queue
	seq   int                 // blocks so far
	sent  int                 // messages so far
	usage map[string]*archive.ModelUsage
	progress
}

// A pending message waits for its last record.
type pending struct {
	m       archive.Message
	id      string // of the reply, if it was streamed
	request string
	last    int64 // number of its last record
	records int64 // so far
	held    int
	cost    float64
}

func newSession(r *reader, g *group) *session {
	s := &session{r: r, g: g, open: make(map[string]*pending), ended: make(map[string]bool), usage: make(map[string]*archive.ModelUsage)}
	s.head = archive.Session{
		Origin: archive.ClaudeCode, Native: g.native, Parent: g.parent,
		Branch:  g.branch(r.sv.file),
		Created: archive.NoTime, Updated: archive.NoTime,
	}
	if g.agent {
		s.agentFacts()
	} else if parent := archive.NormalNative(g.resumes); parent != "" {
		s.link(archive.Link{Parent: parent, Type: "resume", Method: "parent-uuid", BranchPoint: g.root})
	}
	return s
}

// record takes one record of the session and reports whether anything of it was
// kept.
func (s *session) record(v jsonx.Value) (stored bool, err error) {
	switch typ := v.Get("type").Str(); typ {
	case "user":
		return s.user(v), nil
	case "assistant":
		return s.assistant(v), nil
	default:
		if take := others[typ]; take != nil {
			return take(s, v), nil
		}
	}
	return false, nil
}

// facts notes what every turn says of its session.
func (s *session) facts(v jsonx.Value) {
	s.workDir(v.Get("cwd").Str())
	if s.head.GitBranch == "" {
		s.head.GitBranch = v.Get("gitBranch").Str()
	}
	s.head.Version = cmp.Or(v.Get("version").Str(), s.head.Version)
	if s.head.DisplayName == "" {
		s.head.DisplayName = v.Get("slug").Str()
	}
	if from := v.Get("forkedFrom"); from.Type() == jsonx.Object {
		s.forked(from)
	}
}

func (s *session) workDir(dir string) {
	if dir != "" && len(s.head.WorkDirs) < maxListed && !slices.Contains(s.head.WorkDirs, dir) {
		s.head.WorkDirs = append(s.head.WorkDirs, dir)
	}
}

// forked notes the session that this one was branched off from; the last copied
// record is where.
func (s *session) forked(from jsonx.Value) {
	parent := archive.NormalNative(from.Get("sessionId").Str())
	if parent == "" || parent == s.head.Native {
		return
	}
	if s.head.Parent == "" {
		s.head.Parent, s.head.Branch = parent, archive.Fork
	}
	if s.head.Parent == parent {
		s.link(archive.Link{Parent: parent, Type: "fork", Method: "forked-from", BranchPoint: from.Get("messageUuid").Str()})
	}
}

// link notes evidence; a later word on the same parent and method counts.
func (s *session) link(l archive.Link) {
	for i, old := range s.head.Links {
		if old.Parent == l.Parent && old.Method == l.Method {
			l.ToolUse = cmp.Or(l.ToolUse, old.ToolUse)
			s.head.Links[i] = l
			return
		}
	}
	s.head.Links = append(s.head.Links, l)
}

// add queues a message that will be whole with record number last. The caller
// fills the returned message.
func (s *session) add(v jsonx.Value, last int64) *pending {
	p := &pending{}
	if n := len(s.free); n > 0 {
		p, s.free = s.free[n-1], s.free[:n-1]
	}
	m := archive.Message{
		Native: v.Get("uuid").Str(),
		Parent: cmp.Or(v.Get("parentUuid").Str(), v.Get("logicalParentUuid").Str()),
		Time:   archive.ParseTime(v.Get("timestamp").Str()),
		Blocks: p.m.Blocks[:0], Aliases: p.m.Aliases[:0], Pastes: p.m.Pastes[:0], Attachments: p.m.Attachments[:0],
	}
	if t := v.Get("timestamp"); t.Type() == jsonx.Number {
		n, _ := t.Float()
		m.Time = archive.EpochTime(n)
	}
	if v.Get("forkedFrom", "sessionId").Str() != "" {
		m.Inherited = true
		if from := v.Get("forkedFrom", "messageUuid").Str(); from != "" && from != m.Native {
			m.Aliases = append(m.Aliases, from)
		}
	}
	*p = pending{m: m, last: last, records: 1, held: perHeld}
	s.held += perHeld
	s.queue = append(s.queue, p)
	return p
}

// block appends a block to a waiting message.
func (s *session) block(p *pending, b archive.Block) {
	b.Seq = s.seq
	s.seq++
	p.m.Blocks = append(p.m.Blocks, b)
	n := len(b.Text) + len(b.ToolInput)
	p.held += n
	s.held += n
}

// drop takes back the message that was queued last, with its blocks.
func (s *session) drop(p *pending) {
	s.seq -= len(p.m.Blocks)
	s.held -= p.held
	s.queue = s.queue[:len(s.queue)-1]
	s.release(p)
}

// release keeps a message's slices to use again, without what they hold.
func (s *session) release(p *pending) {
	if len(s.free) == maxFree {
		return
	}
	clear(p.m.Blocks)
	clear(p.m.Aliases)
	clear(p.m.Attachments)
	s.free = append(s.free, p)
}

// flush sends the messages at the queue's head that are whole after record number
// now, and more if too much is held.
func (s *session) flush(now int64) error {
	n := 0
	for n < len(s.queue) && (s.queue[n].last <= now || s.held > maxHeld) {
		p := s.queue[n]
		n++
		if p.id != "" && s.open[p.id] == p {
			delete(s.open, p.id)
			if p.last > now {
				s.ended[p.id] = true
			}
		}
		s.held -= p.held
		if err := s.send(p); err != nil {
			return err
		}
		s.release(p)
	}
	if n > 0 {
		clear(s.queue[copy(s.queue, s.queue[n:]):])
		s.queue = s.queue[:len(s.queue)-n]
	}
	return nil
}

// send passes a whole message on. A reply that has no block in any of its records
// is none; its records are then skipped ones.
func (s *session) send(p *pending) (err error) {
	if len(p.m.Blocks) == 0 && p.m.Role == archive.RoleAssistant {
		s.stored -= p.records
		s.r.count.Stored -= p.records
		s.r.count.Skipped += p.records
		return nil
	}
	if s.out == nil {
		if s.out, err = s.r.sink.Session(archive.ClaudeCode, s.g.native); err != nil {
			return err
		}
	}
	m := &p.m
	m.Position = s.sent
	s.sent++
	s.classify(p)
	if m.Duration.Known && !m.Inherited {
		s.head.ReportedMS = archive.IntOf(s.head.ReportedMS.Value + m.Duration.Value)
	}
	if !m.Inherited {
		s.head.ReportedCost += p.cost
		s.spend(m)
	}
	return s.out.Message(m)
}

// spend adds a message's tokens to its model's.
func (s *session) spend(m *archive.Message) {
	if m.Tokens == (archive.Tokens{}) || m.Model == "" {
		return
	}
	u := s.usage[m.Model]
	if u == nil {
		u = &archive.ModelUsage{Model: m.Model}
		s.usage[m.Model] = u
	}
	u.Input += m.Tokens.Input
	u.Output += m.Tokens.Output
	u.CacheRead += m.Tokens.CacheRead
	u.CacheWrite += m.Tokens.CacheWrite
}

// finish sends what is left and the head. Without a message there is no session.
func (s *session) finish() (ended bool, err error) {
	if err := s.flush(1<<63 - 1); err != nil {
		return false, err
	}
	if s.out == nil {
		return false, nil
	}
	s.title.fill(&s.head)
	s.head.Events = append(s.head.Events, s.progress.events()...)
	for _, u := range s.usage {
		s.head.Usage = append(s.head.Usage, *u)
	}
	slices.SortFunc(s.head.Usage, func(a, b archive.ModelUsage) int { return cmp.Compare(a.Model, b.Model) })
	if s.head.Parent != "" && s.g.agent {
		s.link(archive.Link{Parent: s.head.Parent, Type: string(s.head.Branch), Method: "agent-file"})
	}
	return true, s.out.Finish(&s.head)
}
