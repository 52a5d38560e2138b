package codex

import (
	"sort"

	"github.com/hansard-search/hansard/engine/archive"
	"github.com/hansard-search/hansard/engine/internal/jsonx"
)

// usage is what one request cost, or what all of them cost so far. cached is part
// of input, reasoning is part of output.
type usage struct{ input, cached, output, reasoning int64 }

func usageOf(v jsonx.Value) usage {
	return usage{
		input:     count(v.Get("input_tokens")),
		cached:    count(v.Get("cached_input_tokens")),
		output:    count(v.Get("output_tokens")),
		reasoning: count(v.Get("reasoning_output_tokens")),
	}
}

func count(v jsonx.Value) int64 {
	n, _ := v.Int()
	return max(0, n)
}

func (u usage) plus(w usage) usage {
	return usage{u.input + w.input, u.cached + w.cached, u.output + w.output, u.reasoning + w.reasoning}
}

func (u usage) minus(w usage) usage {
	return usage{u.input - w.input, u.cached - w.cached, u.output - w.output, u.reasoning - w.reasoning}
}

func (u usage) negative() bool {
	return u.input < 0 || u.cached < 0 || u.output < 0 || u.reasoning < 0
}

// tokens counts each token in one lane: cached input is not fresh input.
func (u usage) tokens() archive.Tokens {
	cached := min(u.cached, u.input)
	return archive.Tokens{Input: u.input - cached, Output: u.output, CacheRead: cached}
}

// A meter turns the cumulative counts of token_count into what was added. The
// same total is emitted again after each tool result, and a count may lack its
// numbers altogether.
type meter struct {
	fork  bool // the first total may hold a parent's tokens
	total usage
	read  bool
}

// add takes the body of a token_count and gives what it adds; ok is false when it
// adds nothing.
func (m *meter) add(body jsonx.Value) (usage, bool) {
	info := body.Get("info")
	total, last := info.Get("total_token_usage"), info.Get("last_token_usage")
	var delta usage
	switch {
	case isObject(total):
		now := usageOf(total)
		switch {
		case m.read:
			delta = now.minus(m.total)
		case m.fork && isObject(last):
			delta = usageOf(last)
		default:
			delta = now
		}
		if delta.negative() {
			// The count began anew; the request that shows it is all we know.
			if delta = now; isObject(last) {
				delta = usageOf(last)
			}
		}
		m.total, m.read = now, true
	case isObject(last):
		delta = usageOf(last)
	case !info.Exists():
		delta = usageOf(body)
	}
	return delta, delta != usage{}
}

// A ledger sums usage by model.
type ledger map[string]usage

func (l ledger) add(model string, u usage) { l[model] = l[model].plus(u) }

// settle gives the sums, sorted by model. What was used before any model was named
// goes to the first one that was.
func (l ledger) settle(first string) []archive.ModelUsage {
	if u, ok := l[""]; ok && first != "" {
		delete(l, "")
		l.add(first, u)
	}
	var list []archive.ModelUsage
	for model, u := range l {
		t := u.tokens()
		list = append(list, archive.ModelUsage{
			Model: model, Input: t.Input, Output: t.Output, CacheRead: t.CacheRead, Reasoning: u.reasoning,
		})
	}
	sort.Slice(list, func(i, j int) bool { return list[i].Model < list[j].Model })
	return list
}
