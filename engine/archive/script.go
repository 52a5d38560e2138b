package archive

import (
	"iter"
	"strings"
)

// maxScript bounds how much of a script is split into commands: what follows is
// text that a command carries, not commands.
const maxScript = 64 << 10

// simpleCommands yields the words of each simple command of a shell script. It
// knows quotes, escapes, comments, the operators ; & | newline and parentheses,
// and skips here-documents. It expands nothing, and what it does not know it
// takes as words. The slice is reused.
func simpleCommands(script string) iter.Seq[[]string] {
	return func(yield func([]string) bool) {
		s := splitter{text: script[:min(len(script), maxScript)]}
		for !s.done() {
			if s.command(); len(s.words) > 0 && !yield(s.words) {
				return
			}
		}
	}
}

type splitter struct {
	text     string
	i        int
	words    []string
	heredocs []string // delimiters whose bodies follow the next line feed
}

func (s *splitter) done() bool { return s.i >= len(s.text) }

// command reads up to the next operator.
func (s *splitter) command() {
	s.words = s.words[:0]
	for !s.done() {
		switch c := s.text[s.i]; {
		case c == '\n':
			s.i++
			s.skipHeredocs()
			return
		case strings.IndexByte(";&|()", c) >= 0:
			s.i++
			return
		case c == ' ' || c == '\t' || c == '\r':
			s.i++
		case c == '#':
			n := strings.IndexByte(s.text[s.i:], '\n')
			if n < 0 {
				n = len(s.text) - s.i
			}
			s.i += n
		case strings.HasPrefix(s.text[s.i:], "<<<"):
			s.i += 3
		case strings.HasPrefix(s.text[s.i:], "<<"):
			s.i += 2
			if !s.done() && s.text[s.i] == '-' {
				s.i++
			}
			for !s.done() && s.text[s.i] == ' ' {
				s.i++
			}
			s.heredocs = append(s.heredocs, s.word())
		case c == '<' || c == '>':
			s.i++
			if !s.done() && s.text[s.i] == '&' {
				s.i++
			}
		default:
			s.words = append(s.words, s.word())
		}
	}
}

// word reads one word with its quotes taken off.
func (s *splitter) word() string {
	var b strings.Builder
	for !s.done() {
		c := s.text[s.i]
		if strings.IndexByte(" \t\r\n;&|()<>", c) >= 0 {
			break
		}
		s.i++
		switch c {
		case '\\':
			if !s.done() {
				if s.text[s.i] != '\n' {
					b.WriteByte(s.text[s.i])
				}
				s.i++
			}
		case '\'', '"':
			s.quoted(&b, c)
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

func (s *splitter) quoted(b *strings.Builder, quote byte) {
	for !s.done() {
		c := s.text[s.i]
		s.i++
		if c == quote {
			return
		}
		if c == '\\' && quote == '"' && !s.done() && strings.IndexByte("\"\\$`\n", s.text[s.i]) >= 0 {
			c = s.text[s.i]
			s.i++
			if c == '\n' {
				continue
			}
		}
		b.WriteByte(c)
	}
}

// skipHeredocs passes over the bodies of the here-documents of the line before.
func (s *splitter) skipHeredocs() {
	for _, end := range s.heredocs {
		for !s.done() {
			line, _, _ := strings.Cut(s.text[s.i:], "\n")
			s.i = min(len(s.text), s.i+len(line)+1)
			if strings.TrimSpace(line) == end {
				break
			}
		}
	}
	s.heredocs = s.heredocs[:0]
}
