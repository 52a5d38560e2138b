package owner

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"runtime"
	"sync"
	"time"

	"github.com/hansard-search/hansard/engine"
	"github.com/hansard-search/hansard/engine/store"
)

const (
	maxCalls  = 256                    // of others at once; more are turned away and try again
	helloTime = 5 * time.Second        // for a greeting and a request
	talkTime  = 100 * time.Millisecond // between reports of progress
	beatTime  = time.Second            // between signs of life
	lookTime  = time.Second            // between looks at the socket
	byeTime   = 250 * time.Millisecond // for the end of an answer, after Grace
	stopTime  = 10 * time.Second       // for long calls to stop, before their callers are cut off
)

// errHandover is why a call that is served for another process was ended.
var errHandover = errors.New("the owner is closing")

var errGone = errors.New("the archive was moved or replaced")

// A server answers other processes. It listens before its engine is open, so that
// they can wait for that here.
type server struct {
	opts  Options
	log   *slog.Logger
	place *place
	lock  *store.Lock
	eng   *engine.Engine // once opened is closed
	slots chan struct{}  // searches that run at once

	opened   chan struct{}
	draining chan struct{}
	// The calls' contexts: those of long ones end when draining begins.
	short, long         context.Context
	endShort, endLong   context.CancelCauseFunc
	calls, housekeeping sync.WaitGroup
	leave, drained      sync.Once

	mu     sync.Mutex        // guards those below, and what place says
	conns  map[net.Conn]bool // whether it has asked
	closed bool
}

// serve begins to answer at p, for as long as lock is in its place.
func serve(p *place, lock *store.Lock, o Options) *server {
	s := &server{opts: o, log: o.Engine.Logger, place: p, lock: lock, slots: make(chan struct{}, max(2, runtime.GOMAXPROCS(0))),
		opened: make(chan struct{}), draining: make(chan struct{}), conns: map[net.Conn]bool{}}
	s.short, s.endShort = context.WithCancelCause(background)
	s.long, s.endLong = context.WithCancelCause(background)
	s.housekeeping.Go(func() { s.accept(p.listen) })
	s.housekeeping.Go(s.look)
	return s
}

// open says that the engine is there.
func (s *server) open(e *engine.Engine) {
	s.eng = e
	close(s.opened)
}

func (s *server) accept(l net.Listener) {
	for {
		c, err := l.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil { // out of descriptors, most likely
			s.log.Warn("no connection accepted", "error", err)
			time.Sleep(10 * time.Millisecond)
			continue
		}
		if !s.enter(c) {
			_ = c.Close() // it was never used
		}
	}
}

// enter begins to serve a connection, unless the server is closing or full.
func (s *server) enter(c net.Conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || len(s.conns) >= maxCalls {
		return false
	}
	s.conns[c] = false
	s.calls.Go(func() {
		s.serveConn(c)
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.conns, c)
	})
	return true
}

// asked notes that a connection has made its request; false when it came too late.
func (s *server) asked(c net.Conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.conns[c] = true
	return !s.closed
}

// lost reports whether the archive's folder was moved or replaced. Callers then go to
// who owns what is in its place.
func (s *server) lost() bool {
	err := s.lock.InPlace()
	if err == nil {
		return false
	}
	s.leave.Do(func() {
		s.log.Error("archive given up", "error", err)
		go s.drain()
	})
	return true
}

// look keeps the socket where callers look for it: cleaners remove such files.
func (s *server) look() {
	t := time.NewTicker(lookTime)
	defer t.Stop()
	for {
		select {
		case <-s.draining:
			return
		case <-t.C:
		}
		if s.lost() {
			return
		}
		if runtime.GOOS == "windows" {
			continue // sockets have no identity there
		}
		s.mu.Lock()
		if !s.closed && !s.place.intact() {
			s.log.Warn("the socket was taken away and is made anew", "socket", s.place.socket)
			old := s.place.listen
			if err := errors.Join(s.place.bind(), s.place.name()); err != nil {
				s.log.Warn("no socket", "error", err)
			}
			if s.place.listen != old {
				_ = old.Close() // nobody finds it any more
				s.housekeeping.Go(func() { s.accept(s.place.listen) })
			}
		}
		s.mu.Unlock()
	}
}

// drain stops answering: nobody new is let in, long calls are handed over, short ones
// get the grace that was set, and who does not read is cut off.
func (s *server) drain() { s.drained.Do(s.end) }

func (s *server) end() {
	s.mu.Lock()
	s.closed = true
	if err := s.place.leave(); err != nil {
		s.log.Warn("socket not removed", "error", err)
	}
	for c, asked := range s.conns {
		if !asked {
			_ = c.Close() // it sees that and turns to the next owner
		}
	}
	s.mu.Unlock()
	close(s.draining)
	s.endLong(errHandover)
	handover := time.AfterFunc(s.opts.Grace, func() { s.endShort(errHandover) })
	cut := time.AfterFunc(s.opts.Grace+stopTime, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		for c := range s.conns {
			_ = c.Close() // its handler sees the error
		}
	})
	s.calls.Wait()
	handover.Stop()
	cut.Stop()
	s.housekeeping.Wait()
	s.endShort(errHandover)
}

// serveConn serves the one call of a connection.
func (s *server) serveConn(nc net.Conn) {
	defer nc.Close()
	c := &call{s: s, conn: nc, w: bufio.NewWriterSize(nc, 64<<10)}
	in := &frameReader{r: nc, limit: maxRequest}
	if err := s.greet(nc, c, in); err != nil {
		s.log.Info("connection refused", "error", err)
		return
	}
	kind, payload, err := in.next()
	if err != nil || kind != kindRequest {
		return // it has gone, or makes no sense; either way there is nobody to tell
	}
	if s.lost() || !s.asked(nc) {
		c.bye(nil)
		return
	}
	if err := json.Unmarshal(payload, &c.req); err != nil {
		c.fail(fmt.Errorf("request: %w", err), nil)
		return
	}
	if err := nc.SetDeadline(time.Time{}); err != nil {
		return
	}
	c.run(in)
}

// greet exchanges identities. A caller of another protocol learns ours and goes.
func (s *server) greet(nc net.Conn, c *call, in *frameReader) error {
	if u, ok := nc.(*net.UnixConn); ok {
		if err := samePeer(u); err != nil {
			return err
		}
	}
	if s.lost() {
		return errGone
	}
	if err := nc.SetDeadline(time.Now().Add(helloTime)); err != nil {
		return err
	}
	kind, payload, err := in.next()
	if err != nil {
		return err
	}
	if kind != kindHello || json.Unmarshal(payload, &c.peer) != nil {
		return fmt.Errorf("%w: no greeting", errFrame)
	}
	s.mu.Lock()
	self := s.place.self
	s.mu.Unlock()
	if err := c.write(kindHello, self); err != nil {
		return err
	}
	if c.peer.Protocol != protocol {
		return fmt.Errorf("process %d speaks protocol %d", c.peer.PID, c.peer.Protocol)
	}
	return nil
}
