package codex

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/hansard-search/hansard/engine/archive"
	"github.com/hansard-search/hansard/engine/internal/jsonx"
	"github.com/hansard-search/hansard/engine/source"
)

// checkEvery is how many records pass between two looks at the context.
const checkEvery = 256

// eachRecord gives every value of the file to take, whose answer tells whether it
// was stored. Broken records go to problem, which may be nil. The last value is
// counted even if no newline ends it, but not as consumed.
func eachRecord(ctx context.Context, f source.File, lim source.Limits, take func(record) (bool, error), problem func(source.Problem)) (n source.Records, err error) {
	in, err := f.Open()
	if err != nil {
		return n, fmt.Errorf("open %s: %w", f.Path, err)
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	dec := jsonx.NewDecoder(in, jsonx.Options{RecordBytes: lim.RecordBytes, Depth: lim.Depth})
	for ord := int64(0); ; ord++ {
		if ord%checkEvery == 0 && ctx.Err() != nil {
			return n, ctx.Err()
		}
		r, err := dec.Next()
		if err == io.EOF {
			n.Consumed = dec.Consumed()
			return n, nil
		}
		if err != nil {
			return n, fmt.Errorf("read %s: %w", f.Path, err)
		}
		switch {
		case r.Torn:
			n.Torn = true
			continue
		case r.Err != nil:
			n.Read++
			n.Rejected++
			if problem != nil {
				problem(source.Problem{File: f.Path, Line: r.Line, Offset: r.Offset, Reason: r.Err.Error(), Code: source.LimitCode(r.TooLarge())})
			}
			continue
		}
		stored, err := take(openRecord(ord, r.Value))
		if err != nil {
			return n, err
		}
		n.Read++
		if stored {
			n.Stored++
		} else {
			n.Skipped++
		}
	}
}

// timeOf reads a time as rollouts spell it.
func timeOf(v jsonx.Value) int64 {
	if n, ok := v.Float(); ok {
		return archive.EpochTime(n)
	}
	return archive.ParseTime(v.Str())
}
