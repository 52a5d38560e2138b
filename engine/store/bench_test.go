package store

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/hansard-search/hansard/engine/archive"
)

// workSession is like a session of an agent at work: messages of a few blocks, and a
// head most of which are the actions.
func workSession(r *rand.Rand, native string, messages int) session {
	z := session{head: &archive.Session{Origin: archive.ClaudeCode, Native: native, Title: text(r, 40), TitleSource: "origin",
		WorkDirs: []string{"/home/someone/project"}, GitBranch: "main", RepoURL: "https://example.org/someone/project",
		Instructions: text(r, 4000), Created: 1_700_000_000_000, Updated: 1_700_000_600_000, Models: []string{"model-one", "model-two"},
		RepoName: "project", RepoOwner: "someone", RepoPath: "someone/project"}}
	seq := 0
	for i := range messages {
		m := &archive.Message{Position: i, Native: fmt.Sprintf("%032x", r.Uint64()), Parent: fmt.Sprintf("%032x", r.Uint64()),
			Role: archive.RoleAssistant, Model: "model-one", Time: 1_700_000_000_000 + int64(i)*1000, Words: 100}
		for range 1 + r.IntN(3) {
			m.Blocks = append(m.Blocks, archive.Block{Type: archive.BlockText, Seq: seq, Text: text(r, 100+r.IntN(2000))})
			seq++
		}
		z.msgs = append(z.msgs, m)
		if i%2 == 0 {
			z.head.Actions = append(z.head.Actions, archive.Action{UseMessage: i, ResultMessage: i + 1, ToolName: "Bash", Family: "shell",
				Semantic: "test", Command: text(r, 120), Paths: []string{"engine/store/store.go"}, State: archive.OutcomeError, Time: m.Time})
		}
	}
	return z.count()
}

const workMessages = 600

// work is a store on disk of such sessions; it has a dictionary.
func work(b *testing.B) (sn *Snapshot, nos []No) {
	s, err := Open(b.TempDir(), Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = s.Close() })
	r := rng(b, 65)
	for i := range 16 {
		nos = append(nos, commit(b, s, workSession(r, fmt.Sprint(i), workMessages))[0].Summary.No)
	}
	if s.dicts.Load().current == 0 {
		b.Fatal("no dictionary")
	}
	if err := s.db.Flush(); err != nil {
		b.Fatal(err)
	}
	return snap(b, s), nos
}

// BenchmarkHit reads what one row of a search shows: the session and one message of
// it, whole or only what is needed.
func BenchmarkHit(b *testing.B) {
	sn, nos := work(b)
	run := func(name string, f func(no No, pos int) error) {
		b.Run(name, func(b *testing.B) {
			r := rng(b, 66)
			b.ReportAllocs()
			for b.Loop() {
				if err := f(nos[r.IntN(len(nos))], r.IntN(workMessages)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	run("head", func(no No, _ int) error { _, err := sn.Head(no); return err })
	run("message", func(no No, pos int) error { _, err := sn.Message(no, pos); return err })
	run("block", func(no No, pos int) error { _, err := sn.Block(no, pos, 0); return err })
	run("brief", func(no No, _ int) error { _, err := sn.Brief(no); return err })
	run("hit", func(no No, pos int) error { _, err := sn.Hit(no, pos, 0); return err })
	short := commit(b, sn.s, say("short", "one", "two", "three"))[0].Summary.No
	if err := sn.s.db.Flush(); err != nil {
		b.Fatal(err)
	}
	now := snap(b, sn.s)
	run("short", func(_ No, pos int) error { _, err := now.Hit(short, pos%3, 0); return err })
	run("summary", func(no No, _ int) error { _, err := sn.Summary(no); return err })
}
