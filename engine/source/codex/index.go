package codex

import (
	"fmt"
	"io"
	"strings"

	"github.com/hansard-search/hansard/engine/internal/jsonx"
)

// ReadIndex reads the session index that lies beside the rollouts: lines of
// {id, thread_name}, the last one of an id counting. It gives the names by native
// id, for [Format.Title]. Broken lines are passed over; the error is r's own.
func ReadIndex(r io.Reader) (map[string]string, error) {
	names := map[string]string{}
	for rec, err := range jsonx.NewDecoder(r, jsonx.Options{RecordBytes: 1 << 20}).Records() {
		if err != nil {
			return names, fmt.Errorf("session index: %w", err)
		}
		id, name := rec.Value.Get("id").Str(), strings.TrimSpace(rec.Value.Get("thread_name").Str())
		if id != "" && name != "" {
			names[id] = name
		}
	}
	return names, nil
}
