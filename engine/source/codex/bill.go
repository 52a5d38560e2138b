package codex

import "github.com/hansard-search/hansard/engine/archive"

// A share is what the message of one record cost.
type share struct {
	ord    int64
	tokens archive.Tokens
}

// A bill gives each token count to the reply that it pays for. The rollout does
// not say which that is, and older versions wrote the count before the reply,
// newer ones after it. A turn with as many counts as replies pairs them in order,
// which is right for both; any other turn puts its whole cost on its last reply.
// So the messages of a session always sum up to its usage, save where a turn has
// no reply; its cost goes to the next one.
type bill struct {
	replies []int64 // last record of each run of assistant items
	open    bool    // the last run still grows
	costs   []usage
	debt    usage
	shares  []share // in order of ord
}

// reply notes an item of the assistant.
func (b *bill) reply(ord int64) {
	if b.open {
		b.replies[len(b.replies)-1] = ord
		return
	}
	b.replies, b.open = append(b.replies, ord), true
}

// pause notes a record that ends a run of assistant items.
func (b *bill) pause() { b.open = false }

func (b *bill) cost(u usage) { b.costs = append(b.costs, u) }

// settle ends the turn.
func (b *bill) settle() {
	sum := b.debt
	for _, u := range b.costs {
		sum = sum.plus(u)
	}
	switch n := len(b.replies); {
	case n == 0:
		b.debt = sum
	case n == len(b.costs):
		for i, u := range b.costs {
			if i == 0 {
				u = u.plus(b.debt)
			}
			b.shares = append(b.shares, share{b.replies[i], u.tokens()})
		}
		b.debt = usage{}
	default:
		if sum != (usage{}) {
			b.shares = append(b.shares, share{b.replies[n-1], sum.tokens()})
		}
		b.debt = usage{}
	}
	b.replies, b.costs, b.open = b.replies[:0], b.costs[:0], false
}
