package archive

// A waiter is a tool_use without its result, or a result without its tool_use:
// then action is -1. The waiters of one tool id are all of one sort, oldest
// first, so that the k-th use meets the k-th result whichever comes first.
type waiter struct {
	action int32
	result toolResult
}

type toolResult struct {
	message, block, rank int
	time                 int64
	outcome              Outcome
	paths                []string
	followup             int32 // index into followups; -1 unless it failed
}

// addBlocks numbers the blocks of a message and takes its actions and results.
// It reports whether one of its results failed.
func (d *Deriver) addBlocks(m *Message) (failed bool) {
	for i := range m.Blocks {
		b := &m.Blocks[i]
		rank := d.ranks
		d.ranks++
		if b.Seq == 0 {
			b.Seq = rank
		}
		switch b.Type {
		case BlockToolUse:
			d.addUse(m, i, rank)
		case BlockToolResult:
			d.addResult(m, i, rank)
			failed = failed || b.Outcome.failed()
		}
	}
	return failed
}

func (d *Deriver) addUse(m *Message, block, rank int) {
	b := &m.Blocks[block]
	facts := d.reader.Read(b.ToolName, b.ToolInput)
	index := int32(len(d.actions))
	d.actions = append(d.actions, Action{
		UseMessage: m.Position, UseBlock: block, Use: rank,
		ResultMessage: -1, ResultBlock: -1, Result: -1,
		ToolName: b.ToolName, Family: facts.Family, Semantic: facts.Semantic,
		Command: facts.Command, Paths: facts.Paths,
		State: NoResult, FollowupMessage: -1,
		Time: m.Time, ResultTime: NoTime, Inherited: m.Inherited,
	})
	d.follow = append(d.follow, -1)
	d.seqs = append(d.seqs, b.Seq)
	if b.ToolID == "" {
		return
	}
	if w, ok := d.takeWaiter(b.ToolID, false); ok {
		d.pair(index, &w.result)
		return
	}
	d.waiting[b.ToolID] = append(d.waiting[b.ToolID], waiter{action: index})
}

func (d *Deriver) addResult(m *Message, block, rank int) {
	b := &m.Blocks[block]
	if b.ToolID == "" {
		return
	}
	r := toolResult{
		message: m.Position, block: block, rank: rank, time: m.Time,
		outcome: b.Outcome, paths: b.Paths, followup: -1,
	}
	if b.Outcome.failed() {
		r.followup = int32(len(d.followups))
		d.open = append(d.open, r.followup)
		d.followups = append(d.followups, followup{class: FollowupAmbiguous, message: -1})
	}
	if w, ok := d.takeWaiter(b.ToolID, true); ok {
		d.pair(w.action, &r)
		return
	}
	d.waiting[b.ToolID] = append(d.waiting[b.ToolID], waiter{action: -1, result: r})
}

// takeWaiter takes the oldest waiter of a tool id, if they are uses (or results).
func (d *Deriver) takeWaiter(id string, use bool) (waiter, bool) {
	queue := d.waiting[id]
	if len(queue) == 0 || queue[0].action >= 0 != use {
		return waiter{}, false
	}
	w := queue[0]
	if len(queue) == 1 {
		delete(d.waiting, id)
	} else {
		d.waiting[id] = queue[1:]
	}
	return w, true
}

// pair gives an action its result.
func (d *Deriver) pair(index int32, r *toolResult) {
	a := &d.actions[index]
	a.ResultMessage, a.ResultBlock, a.Result, a.ResultTime = r.message, r.block, r.rank, r.time
	a.IsError, a.ExitCode, a.State = r.outcome.errorFlag(), r.outcome.ExitCode, r.outcome.State()
	for _, p := range r.paths {
		a.Paths = addPath(a.Paths, p)
	}
	d.follow[index] = r.followup
}
