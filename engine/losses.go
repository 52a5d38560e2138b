package engine

import (
	"context"
	"time"

	"github.com/hansard-search/hansard/engine/store"
)

// A Loss is something that was missing from the store when the archive was opened. It is
// kept, whatever is imported later, until it is settled.
type Loss struct {
	Code    string `json:"code"` // STORE_LOST_COMMITS, STORE_NO_MARK or STORE_NO_SEAL
	What    string `json:"what"`
	FoundAt string `json:"found_at"` // RFC 3339
	Writes  uint64 `json:"writes"`   // that are missing
	Commits uint64 `json:"commits"`  // of them, at most so many changed sessions
}

func lossesOf(list []store.Loss) []Loss {
	out := []Loss{}
	for _, l := range list {
		out = append(out, Loss{Code: l.Fault().Code(), What: l.String(), FoundAt: time.UnixMilli(l.Found).UTC().Format(time.RFC3339), Writes: l.Writes, Commits: l.Commits})
	}
	return out
}

// lostData says in answers that stored data is missing. Nobody knows which sessions.
func lostData(list []store.Loss) []Damage {
	var out []Damage
	for _, l := range list {
		if l.Data() {
			out = append(out, Damage{File: storeFile, Reason: l.String()})
		}
	}
	return out
}

// isLoss tells damage that lostData made from that of a session.
func (d Damage) isLoss() bool { return d.File == storeFile && d.Session == "" }

// Settle forgets what was found missing, because somebody has seen it and imported what
// could be imported again; answers are whole from then on. It returns what it was.
func (e *Engine) Settle(ctx context.Context) ([]Loss, error) {
	ctx, done, err := e.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	if err := e.writable(); err != nil {
		return nil, err
	}
	was, err := e.store.Settle(ctx)
	if err != nil {
		return nil, fault(ctx, err)
	}
	e.forget()
	return lossesOf(was), nil
}

// doubtful reports whether the index may hold what the store has lost: the list of
// segments survived and the commits between did not.
func doubtful(list []store.Loss) bool {
	for _, l := range list {
		if l.Kind == store.LossLog {
			return true
		}
	}
	return false
}
