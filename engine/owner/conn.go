package owner

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"time"

	"github.com/hansard-search/hansard/engine"
)

// background is the context of what nobody ends.
var background = context.Background()

// A conn is a client's connection, good for one call.
type conn struct {
	net.Conn
	in       frameReader
	owner    identity
	patience time.Duration

	mu    sync.Mutex // guards ended
	ended bool       // the caller's context ended: the deadline stands
}

// meet says hello on a fresh connection and learns who answers.
func meet(ctx context.Context, nc net.Conn, o Options) (*conn, error) {
	c := &conn{Conn: nc, patience: o.Patience}
	c.in = frameReader{r: bufio.NewReaderSize(nc, 64<<10), limit: maxAnswer}
	stop := context.AfterFunc(ctx, func() { c.expire(0) })
	defer stop()
	kind, payload, err := 0, []byte(nil), c.send(kindHello, o.self())
	if err == nil {
		var k byte
		k, payload, err = c.receive()
		kind = int(k)
	}
	if err != nil {
		return nil, errors.Join(err, nc.Close())
	}
	if kind != kindHello || json.Unmarshal(payload, &c.owner) != nil {
		return nil, errors.Join(fmt.Errorf("%w: no greeting", errFrame), nc.Close())
	}
	return c, nil
}

// send writes one frame.
func (c *conn) send(kind byte, v any) error {
	b, err := toJSON(v)
	if err != nil {
		return err
	}
	if len(b) > maxRequest {
		return &engine.Error{Code: engine.CodeInvalidArgument, Message: fmt.Sprintf("a request of %d bytes is too long", len(b)), Hint: "name a folder instead of its files"}
	}
	if err := c.SetWriteDeadline(time.Now().Add(c.patience)); err != nil {
		return err
	}
	w := bufio.NewWriter(c.Conn)
	if err := writeFrame(w, kind, b); err != nil {
		return err
	}
	return w.Flush()
}

// receive reads one payload, which is valid until the next call. It waits for each
// for as long as patience lasts.
func (c *conn) receive() (byte, []byte, error) {
	c.mu.Lock()
	var err error
	if !c.ended {
		err = c.SetReadDeadline(time.Now().Add(c.patience))
	}
	c.mu.Unlock()
	if err != nil {
		return 0, nil, err
	}
	return c.in.next()
}

// expire ends all waiting after d.
func (c *conn) expire(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ended = true
	_ = c.SetReadDeadline(time.Now().Add(d)) // a closed connection needs none
}

// leave is told that the caller's context has ended. An import is given time to say
// how far it got; everything else is left at once.
func (c *conn) leave(call string) func() {
	return func() {
		if call != callImport {
			c.expire(0)
			return
		}
		c.expire(c.patience)
		if c.send(kindCancel, struct{}{}) != nil {
			c.expire(0)
		}
	}
}

// answer reads frames until there is one that the caller waits for.
func (c *conn) answer(ctx context.Context, progress func(engine.Progress)) (byte, []byte, error) {
	for {
		kind, payload, err := c.receive()
		if err != nil {
			return 0, nil, c.broken(ctx, err)
		}
		switch kind {
		case kindBeat:
		case kindProgress:
			var p engine.Progress
			if err := json.Unmarshal(payload, &p); err != nil {
				return 0, nil, unintelligible(err)
			}
			if progress != nil {
				progress(p)
			}
		case kindPart, kindResult:
			return kind, payload, nil
		case kindFailed, kindBye:
			return 0, nil, refusal(kind, payload)
		default:
			return 0, nil, unintelligible(fmt.Errorf("%w: kind %d", errFrame, kind))
		}
	}
}

// broken says what an error of the connection means to the call.
func (c *conn) broken(ctx context.Context, err error) error {
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, os.ErrDeadlineExceeded):
		return silent(c.owner, err)
	case errors.Is(err, errFrame):
		return unintelligible(err)
	}
	var known *engine.Error
	if errors.As(err, &known) {
		return err
	}
	return &lostError{err: err}
}

// refusal is the error that a last frame carries.
func refusal(kind byte, payload []byte) error {
	var f failure
	if err := json.Unmarshal(payload, &f); err != nil {
		return unintelligible(err)
	}
	var report *engine.Report
	if len(f.Report) > 0 {
		report = new(engine.Report)
		if err := json.Unmarshal(f.Report, report); err != nil {
			return unintelligible(err)
		}
	}
	if kind == kindBye {
		return &lostError{report, errBye}
	}
	return &reported{report, f.err()}
}

// A reported error comes with what an import did before it.
type reported struct {
	report *engine.Report
	err    error
}

func (r *reported) Error() string { return r.err.Error() }
func (r *reported) Unwrap() error { return r.err }

func unintelligible(err error) error {
	return &engine.Error{Code: engine.CodeInternal, Message: "the process that has the archive open gave an answer that is none: " + err.Error(), Err: err}
}
