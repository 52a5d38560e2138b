package codex

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/cespare/xxhash/v2"
)

// A voice is one of the streams that may write the same text.
type voice int

const (
	voiceItem      voice = iota // response_item: canonical
	voiceEvent                  // event_msg user_message, agent_message, agent_reasoning
	voiceCompleted              // event_msg item_completed
	voices
)

// A speaker keeps equal texts of different roles apart.
type speaker byte

const (
	speakerUser      speaker = 'u'
	speakerAssistant speaker = 'a'
	speakerReasoning speaker = 'r'
)

// A speech is the fingerprint of a text under its speaker. Whitespace does not
// count, nor does what an editor wraps around a prompt.
type speech uint64

func speechOf(who speaker, s string) (speech, bool) {
	if who == speakerUser {
		s = unwrapPrompt(s)
	}
	var d xxhash.Digest
	d.Reset()
	buf := [1]byte{byte(who)}
	d.Write(buf[:])
	words := 0
	for len(s) > 0 {
		s = strings.TrimLeftFunc(s, unicode.IsSpace)
		n := wordEnd(s)
		if n == 0 {
			break
		}
		d.WriteString(s[:n])
		d.WriteString(" ")
		s = s[n:]
		words++
	}
	return speech(d.Sum64()), words > 0
}

func wordEnd(s string) int {
	for i := 0; i < len(s); {
		if b := s[i]; b < utf8.RuneSelf {
			if b == ' ' || b >= '\t' && b <= '\r' {
				return i
			}
			i++
			continue
		}
		c, n := utf8.DecodeRuneInString(s[i:])
		if unicode.IsSpace(c) {
			return i
		}
		i += n
	}
	return len(s)
}

// requestMark opens the prompt inside what an editor sends.
const requestMark = "## My request for Codex:"

func unwrapPrompt(s string) string {
	if !isWrapped(s) {
		return s
	}
	_, s, _ = strings.Cut(s, requestMark)
	return s
}

// isWrapped reports whether an editor wrapped the prompt.
func isWrapped(s string) bool {
	return strings.Contains(s, requestMark) && strings.HasPrefix(strings.TrimSpace(s), "#")
}

// A copyist decides, turn by turn, which texts of the two event streams only
// repeat another stream. It counts: a prompt that was typed twice and stands
// twice in each stream stays two messages.
type copyist struct {
	counts  map[speech]*tally
	pending []pendingText
}

// A tally counts the texts of one speech in a turn, by voice: those that were
// written, and those that were found to be copies.
type tally struct{ heard, copies [voices]int32 }

type pendingText struct {
	ord   int64
	what  speech
	voice voice
}

// hear notes a text of record ord.
func (c *copyist) hear(ord int64, v voice, who speaker, s string) {
	what, ok := speechOf(who, s)
	if !ok {
		return
	}
	if c.counts == nil {
		c.counts = map[speech]*tally{}
	}
	n := c.counts[what]
	if n == nil {
		n = new(tally)
		c.counts[what] = n
	}
	n.heard[v]++
	if v != voiceItem {
		c.pending = append(c.pending, pendingText{ord, what, v})
	}
}

// settle ends the turn. It reports the records that stay messages; all other
// pending ones are copies.
func (c *copyist) settle(keep func(ord int64)) {
	for _, p := range c.pending {
		n := c.counts[p.what]
		model := n.heard[voiceItem]
		if p.voice == voiceCompleted {
			model = max(model, n.heard[voiceEvent])
		}
		if n.copies[p.voice] < model {
			n.copies[p.voice]++
		} else {
			keep(p.ord)
		}
	}
	clear(c.counts)
	c.pending = c.pending[:0]
}
