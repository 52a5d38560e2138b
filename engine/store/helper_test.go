package store

import (
	"context"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/hansard-search/hansard/engine/archive"
)

// rng gives a generator whose seed is logged.
func rng(t testing.TB, seed uint64) *rand.Rand {
	t.Logf("seed %d", seed)
	return rand.New(rand.NewPCG(seed, 7))
}

// atMost is the limit d of a time: as it is in the long form, on a machine that does
// nothing else, and ten times that where others may have the processor.
func atMost(d time.Duration) time.Duration {
	if *long {
		return d
	}
	return 10 * d
}

func openMem(t testing.TB, fs FS) *Store {
	t.Helper()
	s, err := Open("store", Options{FS: fs, Now: func() time.Time { return time.UnixMilli(1_700_000_000_000) }})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// newStore opens an empty store, which is checked and closed at the end.
func newStore(t testing.TB) *Store {
	t.Helper()
	s := openMem(t, vfs.NewMem())
	t.Cleanup(func() {
		wantClean(t, s)
		if err := s.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return s
}

func wantClean(t testing.TB, s *Store) {
	t.Helper()
	faults, err := s.Check(context.Background())
	if err != nil {
		t.Errorf("check: %v", err)
	}
	for _, f := range faults {
		t.Errorf("check: %v", f)
	}
}

func snap(t testing.TB, s *Store) *Snapshot {
	t.Helper()
	sn, err := s.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = sn.Close() }) // the store may be closed before
	return sn
}

// session is a session with its messages.
type session struct {
	head *archive.Session
	msgs []*archive.Message
}

// say is a session whose messages have one text block each.
func say(native string, texts ...string) session {
	z := session{head: &archive.Session{Origin: archive.Codex, Native: native, Created: archive.NoTime, Updated: archive.NoTime}}
	for i, text := range texts {
		z.msgs = append(z.msgs, &archive.Message{Position: i, Role: archive.RoleUser, Time: int64(i),
			Blocks: []archive.Block{{Type: archive.BlockText, Seq: i, Text: text}}})
	}
	return z.count()
}

func (z session) count() session {
	z.head.Counters = archive.Counters{}
	for _, m := range z.msgs {
		if !m.Inherited {
			z.head.Counters.Messages++
			z.head.Counters.Blocks += int64(len(m.Blocks))
		}
	}
	return z
}

func (z session) under(parent string) session {
	z.head.Parent = parent
	return z
}

func seal(t testing.TB, s *Store, z session) *Sealed {
	t.Helper()
	r, err := s.NewRevision(z.head.ID())
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range z.msgs {
		if err := r.Message(m); err != nil {
			t.Fatal(err)
		}
	}
	sealed, err := r.Seal(z.head, "test 1")
	if err != nil {
		t.Fatal(err)
	}
	return sealed
}

func commit(t testing.TB, s *Store, list ...session) []Outcome {
	t.Helper()
	var c Commit
	for _, z := range list {
		c.Sessions = append(c.Sessions, seal(t, s, z))
	}
	return commitAs(t, s, c)
}

func commitAs(t testing.TB, s *Store, c Commit) []Outcome {
	t.Helper()
	out, err := s.Commit(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func statuses(out []Outcome) string {
	var list []string
	for _, o := range out {
		list = append(list, o.Status.String())
	}
	return strings.Join(list, " ")
}

// diff is cmp.Diff, which is slow, for values that are mostly equal.
func diff(want, got any) string {
	if reflect.DeepEqual(want, got) {
		return ""
	}
	return cmp.Diff(want, got, cmpopts.EquateEmpty())
}

// wantSession compares what a snapshot holds with what was put in.
func wantSession(t testing.TB, sn *Snapshot, z session) {
	t.Helper()
	if err := sameSession(sn, z); err != nil {
		t.Error(err)
	}
}

func sameSession(sn *Snapshot, z session) error {
	no, ok, err := sn.Lookup(z.head.ID())
	if err != nil || !ok {
		return fmt.Errorf("Lookup(%s) = %v, %v", z.head.ID(), ok, err)
	}
	head, err := sn.Head(no)
	if err != nil {
		return err
	}
	if d := diff(z.head, head); d != "" {
		return fmt.Errorf("head of %s (-want +got):\n%s", z.head.ID(), d)
	}
	i := 0
	for m, err := range sn.Messages(no, 0) {
		if err != nil {
			return err
		}
		if i == len(z.msgs) {
			return fmt.Errorf("session %s has more than %d messages", z.head.ID(), i)
		}
		if d := diff(z.msgs[i], m); d != "" {
			return fmt.Errorf("message %d of %s (-want +got):\n%s", i, z.head.ID(), d)
		}
		i++
	}
	if i != len(z.msgs) {
		return fmt.Errorf("session %s has %d messages, want %d", z.head.ID(), i, len(z.msgs))
	}
	return nil
}

// text is pseudo-prose of n bytes that compresses like prose.
func text(r *rand.Rand, n int) string {
	words := strings.Fields("the store keeps a session whole when its pointer moves and a frame holds what a reader wants next error build test file path main go run fix")
	var b strings.Builder
	for b.Len() < n {
		b.WriteString(words[r.IntN(len(words))])
		if r.IntN(6) == 0 {
			fmt.Fprintf(&b, " %d", r.IntN(100000))
		}
		b.WriteByte(" \n"[r.IntN(10)/9])
	}
	return b.String()[:n]
}

func word(r *rand.Rand) string {
	if r.IntN(3) == 0 {
		return ""
	}
	return text(r, r.IntN(12))
}

func list[T any](r *rand.Rand, most int, f func() T) []T {
	var l []T
	for range r.IntN(most + 1) {
		l = append(l, f())
	}
	return l
}

func when(r *rand.Rand) int64 {
	if r.IntN(3) == 0 {
		return archive.NoTime
	}
	return r.Int64()>>r.IntN(60) - 1<<20
}

func maybe(r *rand.Rand) archive.Int {
	if r.IntN(2) == 0 {
		return archive.Int{}
	}
	return archive.IntOf(r.Int64N(1000) - 500)
}

// randomLength is mostly short and sometimes around the borders of frames.
func randomLength(r *rand.Rand) int {
	switch r.IntN(40) {
	case 0:
		return frameTarget - 100 + r.IntN(200)
	case 1:
		return frameMax - 100 + r.IntN(200)
	case 2:
		return r.IntN(5 * frameMax)
	}
	return r.IntN(900)
}

func randomBlock(r *rand.Rand, seq int) archive.Block {
	str := func() string { return word(r) }
	return archive.Block{Type: archive.BlockType(word(r)), Seq: seq, Text: text(r, randomLength(r)),
		ToolName: word(r), ToolID: word(r), ToolInput: text(r, randomLength(r)/4), Media: word(r), Language: word(r), Signature: word(r),
		Outcome: archive.Outcome{IsError: archive.Tri(r.IntN(3)), ExitCode: maybe(r), Reason: word(r)}, Paths: list(r, 3, str)}
}

func randomSession(r *rand.Rand, native string, messages int) session {
	str := func() string { return word(r) }
	z := session{head: &archive.Session{
		Origin: archive.ClaudeCode, Native: native, Title: word(r), TitleSource: word(r), TitleRef: word(r), TitleConfidence: r.Float64(),
		DisplayName: word(r), Kind: word(r), Branch: archive.Fork, WorkDirs: list(r, 3, str), GitBranch: word(r), RepoURL: word(r),
		Commit: word(r), Project: word(r), Instructions: text(r, r.IntN(3*frameMax)), Version: word(r), ReportedMS: maybe(r),
		ReportedCost: r.Float64(), CostKnown: r.IntN(2) == 0, Tags: list(r, 3, str), Created: when(r), Updated: when(r),
		Usage: list(r, 2, func() archive.ModelUsage {
			return archive.ModelUsage{Model: word(r), Input: r.Int64(), Reasoning: -r.Int64()}
		}),
		Events: list(r, 2, func() archive.Event {
			return archive.Event{Kind: word(r), Time: when(r), Summary: word(r), Payload: "{}"}
		}),
		Refs:   list(r, 2, func() archive.ExternalRef { return archive.ExternalRef{Kind: word(r), URL: word(r)} }),
		Links:  list(r, 2, func() archive.Link { return archive.Link{Parent: word(r), Type: word(r), ToolUse: word(r)} }),
		Models: list(r, 2, str), Has: list(r, 2, str), Status: word(r), RepoName: word(r), RepoOwner: word(r), RepoPath: word(r), Duplicates: list(r, 2, str),
		Actions: list(r, 4, func() archive.Action {
			return archive.Action{UseMessage: r.IntN(9), ResultMessage: -1, Use: 3, Result: -1, ToolName: word(r), Command: word(r),
				Paths: list(r, 2, str), IsError: archive.True, ExitCode: maybe(r), State: archive.OutcomeError, FollowupMessage: -1, Time: when(r), ResultTime: when(r)}
		}),
	}}
	seq := 0
	for i := range messages {
		m := &archive.Message{Position: i, Variant: r.IntN(3), Native: word(r), Aliases: list(r, 2, str), Parent: word(r),
			Role: archive.Role(word(r)), Type: archive.MessageType(word(r)), Material: archive.Material(word(r)), Model: word(r), Effort: word(r),
			Sender: word(r), Recipient: word(r), StopReason: word(r), Time: when(r), Duration: maybe(r),
			Tokens: archive.Tokens{Input: r.Int64(), CacheWrite: 5}, Words: r.Int64N(9000), Inherited: r.IntN(5) == 0, Abandoned: r.IntN(5) == 0,
			Pastes:      list(r, 2, func() archive.Paste { return archive.Paste{Position: r.IntN(4), Start: 1, End: 2, Boundary: word(r)} }),
			Attachments: list(r, 2, func() archive.Attachment { return archive.Attachment{ID: word(r), Name: word(r), Size: r.Int64()} }),
		}
		for range r.IntN(5) {
			m.Blocks = append(m.Blocks, randomBlock(r, seq))
			seq++
		}
		z.msgs = append(z.msgs, m)
	}
	return z.count()
}
