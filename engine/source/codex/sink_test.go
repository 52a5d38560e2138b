package codex

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/hansard-search/hansard/engine/archive"
	"github.com/hansard-search/hansard/engine/source"
)

// A collector is a sink that keeps everything.
type collector struct {
	sessions []*collected
	problems []source.Problem
}

type collected struct {
	head     archive.Session
	messages []archive.Message
	finished bool
}

func (c *collector) Session(o archive.Origin, native string) (source.SessionSink, error) {
	s := &collected{}
	c.sessions = append(c.sessions, s)
	return s, nil
}

func (c *collector) Problem(p source.Problem) { c.problems = append(c.problems, p) }

func (s *collected) Message(m *archive.Message) error {
	if s.finished {
		return fmt.Errorf("message after the end")
	}
	s.messages = append(s.messages, *m)
	return nil
}

func (s *collected) Finish(head *archive.Session) error {
	s.head, s.finished = *head, true
	return nil
}

// fileOf is a source file in memory.
func fileOf(name, text string) source.File {
	return source.File{Path: name, Size: int64(len(text)), ModTime: archive.NoTime, Open: func() (io.ReadCloser, error) {
		return io.NopCloser(strings.NewReader(text)), nil
	}}
}

func diskFile(path string) source.File {
	return source.File{Path: path, Size: -1, ModTime: archive.NoTime, Open: func() (io.ReadCloser, error) { return os.Open(path) }}
}

// read parses text and checks the laws that hold for every file.
func read(t testing.TB, f source.File) (*collector, source.Records) {
	t.Helper()
	c := &collector{}
	n, err := Format{}.Read(context.Background(), f, source.Limits{}, c)
	if err != nil {
		t.Fatalf("%s: %v", f.Path, err)
	}
	checkLaws(t, f.Path, c, n)
	return c, n
}

func checkLaws(t testing.TB, name string, c *collector, n source.Records) {
	t.Helper()
	if n.Read != n.Stored+n.Skipped+n.Rejected {
		t.Errorf("%s: read %d, stored %d, skipped %d, rejected %d", name, n.Read, n.Stored, n.Skipped, n.Rejected)
	}
	if int64(len(c.problems)) != n.Rejected {
		t.Errorf("%s: %d problems for %d rejected records", name, len(c.problems), n.Rejected)
	}
	if len(c.sessions) > 1 {
		t.Errorf("%s: %d sessions", name, len(c.sessions))
	}
	for _, s := range c.sessions {
		if !s.finished {
			t.Errorf("%s: session was not finished", name)
		}
		seq := 0
		for i := range s.messages {
			m := &s.messages[i]
			if m.Position != i {
				t.Errorf("%s: message %d has position %d", name, i, m.Position)
			}
			if len(m.Blocks)+len(m.Attachments) == 0 {
				t.Errorf("%s: message %d is empty", name, i)
			}
			for j := range m.Blocks {
				if b := &m.Blocks[j]; b.Seq != seq {
					t.Errorf("%s: block %d of message %d has rank %d, want %d", name, j, i, b.Seq, seq)
				} else if s := b.Text; strings.Contains(s, "\x00") || !bytes.Equal([]byte(s), bytes.ToValidUTF8([]byte(s), nil)) {
					t.Errorf("%s: text of message %d is not clean", name, i)
				}
				seq++
			}
		}
	}
}
