package owner

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hansard-search/hansard/engine"
)

// A call is one request of another process while it is served.
type call struct {
	s    *server
	conn net.Conn
	peer identity
	req  request

	mu sync.Mutex // guards w
	w  *bufio.Writer

	progress atomic.Pointer[engine.Progress] // the latest that was not sent
}

// run serves the request. Its context ends when the caller says so or goes away, and
// when the server is drained.
func (c *call) run(in *frameReader) {
	parent := c.s.short
	if isLong(c.req.Call) {
		parent = c.s.long
	}
	ctx, cancel := context.WithCancelCause(parent)
	var beside sync.WaitGroup
	beside.Go(func() {
		for {
			kind, _, err := in.next()
			if kind == kindCancel && err == nil {
				cancel(context.Canceled)
			}
			if err != nil {
				cancel(err)
				return
			}
		}
	})
	beside.Go(func() { c.talk(ctx) })
	stop := context.AfterFunc(ctx, func() {
		if !isLong(c.req.Call) && errors.Is(context.Cause(ctx), errHandover) {
			// What waits for a reader that sleeps is cut off; others get their bye.
			_ = c.conn.SetWriteDeadline(time.Now().Add(byeTime))
		}
	})
	report, err := c.serve(ctx)
	stop()
	switch {
	case err != nil && c.s.lost():
		c.bye(nil) // what the report counts is not in the archive that the caller means
	case err != nil && (errors.Is(err, errHandover) || errors.Is(context.Cause(ctx), errHandover)):
		c.bye(report)
	case err != nil:
		c.fail(err, report)
	}
	cancel(nil)
	_ = c.conn.Close() // ends the reader; the answer has been sent or cannot be
	beside.Wait()
}

// talk tells the caller now and then how far the call is, or that it is not dead. It
// is not the call's goroutine, so that a caller that sleeps does not halt an import.
func (c *call) talk(ctx context.Context) {
	t := time.NewTicker(talkTime)
	defer t.Stop()
	last := time.Now()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		}
		var err error
		if p := c.progress.Swap(nil); p != nil {
			err = c.write(kindProgress, p)
		} else if time.Since(last) >= beatTime {
			err = c.write(kindBeat, struct{}{})
		} else {
			continue
		}
		last = time.Now()
		if err != nil {
			return // the reader of the connection sees it too
		}
	}
}

// serve runs the call and sends its answer. The report is that of an import that
// fails. A panic is the call's alone.
func (c *call) serve(ctx context.Context) (report *engine.Report, err error) {
	defer func() {
		if p := recover(); p != nil {
			c.s.log.Error("panic in a call", "call", c.req.Call, "panic", p, "stack", string(debug.Stack()))
			err = &engine.Error{Code: engine.CodeInternal, Message: fmt.Sprintf("the owner of the archive met a fault of its own: %v", p)}
		}
	}()
	select {
	case <-c.s.opened:
	case <-c.s.draining:
		<-c.s.long.Done() // drained before the engine was there
		return nil, context.Cause(c.s.long)
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	defer c.s.opts.served(c.req.Call, c.peer.PID)()
	e := c.s.eng
	switch c.req.Call {
	case callSearch:
		return nil, c.search(ctx, e)
	case callUnits:
		return nil, c.units(ctx, e)
	case callRead:
		return nil, c.read(ctx, e)
	case callRaw:
		return nil, c.raw(ctx, e)
	case callStats:
		s, err := e.Stats(ctx)
		return nil, c.result(s, err)
	case callCheck:
		r, err := e.Check(ctx)
		return nil, c.result(r, err)
	case callRebuild:
		r, err := e.Rebuild(ctx, c.note)
		return nil, c.result(r, err)
	case callImport:
		return c.load(ctx, e)
	}
	return nil, &engine.Error{Code: engine.CodeInvalidArgument, Field: "call", Message: fmt.Sprintf("there is no call %q", c.req.Call)}
}

func (c *call) note(p engine.Progress) { c.progress.Store(&p) }

func (c *call) search(ctx context.Context, e *engine.Engine) error {
	if c.req.Search == nil {
		return errNoArgument
	}
	env, err := inSlot(ctx, c, func() (*engine.SearchEnvelope, error) { return e.Search(ctx, c.req.Search.engine()) })
	return c.result(env, err)
}

func (c *call) units(ctx context.Context, e *engine.Engine) error {
	if c.req.Units == nil {
		return errNoArgument
	}
	env, err := inSlot(ctx, c, func() (*engine.UnitEnvelope, error) { return e.Units(ctx, c.req.Units.engine()) })
	return c.result(env, err)
}

// inSlot runs a few queries at a time: more would only take each other's memory and
// time.
func inSlot[T any](ctx context.Context, c *call, run func() (T, error)) (out T, err error) {
	select {
	case c.s.slots <- struct{}{}:
	case <-ctx.Done():
		return out, context.Cause(ctx)
	}
	defer func() { <-c.s.slots }()
	return run()
}

func (c *call) load(ctx context.Context, e *engine.Engine) (*engine.Report, error) {
	if c.req.Import == nil {
		return nil, errNoArgument
	}
	req := c.req.Import.engine()
	req.Progress = c.note
	r, err := e.Import(ctx, req)
	if err != nil {
		return r, err
	}
	return nil, c.result(r, nil)
}

// read sends the head and then the messages, those left out that the caller has.
func (c *call) read(ctx context.Context, e *engine.Engine) error {
	r, err := e.Read(ctx, string(c.req.Ref))
	if err != nil {
		return err
	}
	defer r.Close()
	if err := c.write(kindPart, r.Head); err != nil {
		return err
	}
	skip := c.req.Skip
	for m, err := range r.Messages() {
		if err != nil {
			return err
		}
		if skip--; skip >= 0 {
			continue
		}
		if err := c.put(kindPart, messageToWire(m)); err != nil {
			return err
		}
	}
	return c.result(struct{}{}, nil)
}

func (c *call) raw(ctx context.Context, e *engine.Engine) (err error) {
	r, err := e.Raw(ctx, string(c.req.Ref))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	if _, err := io.CopyN(io.Discard, r, c.req.Skip); err != nil {
		return err
	}
	buf := make([]byte, 128<<10)
	for first := true; ; first = false {
		n, err := io.ReadFull(r, buf)
		if n > 0 || first { // the first part says that there is an answer
			if err := c.putBytes(kindPart, buf[:n], false); err != nil {
				return err
			}
		}
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			return c.result(struct{}{}, nil)
		}
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
	}
}

var errNoArgument = &engine.Error{Code: engine.CodeInvalidArgument, Field: "call", Message: "the call lacks its argument"}

// result sends the answer, unless there is an error.
func (c *call) result(v any, err error) error {
	if err != nil {
		return err
	}
	return c.write(kindResult, v)
}

func (c *call) fail(err error, r *engine.Report) { c.last(kindFailed, failureOf(err), r) }
func (c *call) bye(r *engine.Report)             { c.last(kindBye, failure{}, r) }

// last sends a last frame. Nobody hears of an error: the caller has gone.
func (c *call) last(kind byte, f failure, r *engine.Report) {
	if r != nil {
		b, err := toJSON(r)
		if err != nil {
			c.s.log.Error("a report is lost", "error", err)
		}
		f.Report = b
	}
	_ = c.write(kind, f)
}

// write sends one payload at once, put some time.
func (c *call) write(kind byte, v any) error {
	b, err := toJSON(v)
	if err != nil {
		return err
	}
	return c.putBytes(kind, b, true)
}

func (c *call) put(kind byte, v any) error {
	b, err := toJSON(v)
	if err != nil {
		return err
	}
	return c.putBytes(kind, b, false)
}

func (c *call) putBytes(kind byte, b []byte, flush bool) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	err := writeFrame(c.w, kind, b)
	if err == nil && flush {
		err = c.w.Flush()
	}
	return err
}
