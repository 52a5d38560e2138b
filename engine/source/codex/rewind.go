package codex

// A rewind finds the turns that the user took back. A thread_rolled_back drops
// the last turns that have a prompt, as they stand at that moment; what was
// written in them stays in the file and is marked abandoned.
type rewind struct {
	turns    []int64 // first record of each turn that has a prompt and still counts
	first    int64   // first record of the present turn
	began    bool
	prompted bool
	dropped  []span // in file order
}

// turn notes a record that opens a turn, or stands at its head with others.
func (r *rewind) turn(ord int64) {
	if !r.began {
		r.began, r.first = true, ord
	}
}

// prompt notes that the present turn has a prompt.
func (r *rewind) prompt() {
	if !r.prompted {
		r.prompted = true
		r.turns = append(r.turns, r.first)
	}
}

// settle ends the turn.
func (r *rewind) settle() { r.began, r.prompted = false, false }

// back drops the last n turns at record ord.
func (r *rewind) back(ord, n int64) {
	n = min(n, int64(len(r.turns)))
	if n <= 0 {
		return
	}
	from := r.turns[int64(len(r.turns))-n]
	r.turns = r.turns[:int64(len(r.turns))-n]
	// A second step back may reach over what an earlier one dropped.
	for len(r.dropped) > 0 && r.dropped[len(r.dropped)-1].from >= from {
		r.dropped = r.dropped[:len(r.dropped)-1]
	}
	r.dropped = append(r.dropped, span{from, ord})
}

// holds reports whether the record was dropped. It is asked in file order, so it
// forgets what lies behind.
func (r *rewind) holds(ord int64) bool {
	for len(r.dropped) > 0 && r.dropped[0].to <= ord {
		r.dropped = r.dropped[1:]
	}
	return len(r.dropped) > 0 && r.dropped[0].holds(ord)
}
