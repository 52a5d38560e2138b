// Package demo holds a small invented archive: some dozens of sessions of two
// coding agents, written as the agents write them. sessions.txt is their script;
// this package turns it into session files.
package demo

import (
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

//go:embed sessions.txt
var script string

// A session is one session of the script.
type session struct {
	agent  string // "claude" or "codex"
	repo   string // "owner/name"
	branch string
	start  time.Time
	lines  []line
}

// A line is one line of a session: its first character says what it is.
//
//	> the user's words      = the assistant's words     * thinking
//	$ a shell command       ! its exit code             | a line of its output
//	r w e g p               a file read, written, edited, searched for, patched
type line struct {
	kind byte
	text string
}

// Write lays the sessions out under home as the agents do and returns how many
// there are. Equal calls write equal bytes.
func Write(home string) (int, error) {
	sessions, err := parse(script)
	if err != nil {
		return 0, err
	}
	for i, s := range sessions {
		path, text := claudeFile(s, i)
		if s.agent == "codex" {
			path, text = codexFile(s, i)
		}
		path = filepath.Join(home, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return 0, err
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			return 0, err
		}
	}
	return len(sessions), nil
}

func parse(script string) ([]session, error) {
	var out []session
	for n, l := range strings.Split(script, "\n") {
		switch {
		case strings.HasPrefix(l, "## "):
			f := strings.Fields(l[3:])
			if len(f) != 4 {
				return nil, fmt.Errorf("line %d: want agent, repository, branch and time", n+1)
			}
			start, err := time.Parse("2006-01-02T15:04", f[3])
			if err != nil {
				return nil, fmt.Errorf("line %d: %w", n+1, err)
			}
			out = append(out, session{agent: f[0], repo: f[1], branch: f[2], start: start})
		case strings.TrimSpace(l) != "":
			if len(out) == 0 || len(l) < 2 || !strings.ContainsRune(">=*$!|rwegp", rune(l[0])) {
				return nil, fmt.Errorf("line %d: not understood", n+1)
			}
			s := &out[len(out)-1]
			s.lines = append(s.lines, line{l[0], strings.TrimPrefix(l[1:], " ")})
		}
	}
	return out, nil
}

// A call is a tool call with its result.
type call struct {
	kind   byte
	text   string
	output string
	exit   string // "" when the tool reports none
}

// each joins a tool line with the output and exit code that follow it and hands
// every other line on as it is.
func (s session) each(say func(kind byte, text string), do func(call)) {
	for i := 0; i < len(s.lines); i++ {
		l := s.lines[i]
		if strings.IndexByte(">=*", l.kind) >= 0 {
			say(l.kind, l.text)
			continue
		}
		c := call{kind: l.kind, text: l.text}
		var out []string
		for ; i+1 < len(s.lines) && strings.IndexByte("!|", s.lines[i+1].kind) >= 0; i++ {
			if next := s.lines[i+1]; next.kind == '!' {
				c.exit = next.text
			} else {
				out = append(out, next.text)
			}
		}
		c.output = strings.Join(out, "\n")
		do(c)
	}
}

// dir is where the session's repository is checked out.
func (s session) dir() string {
	_, name, _ := strings.Cut(s.repo, "/")
	return "/home/ada/src/" + name
}
