package owner

import (
	"context"
	"io"
	"net"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hansard-search/hansard/engine"
)

// TestCloseUnderClients: an owner closes while eight clients ask, again and again. No
// call fails, and exactly one of them owns the archive afterwards.
func TestCloseUnderClients(t *testing.T) {
	defer noLeaks(t)()
	own, first, dir := pair(t)
	check(t, first.Close())
	clients := make([]*Archive, 8)
	for i := range clients {
		clients[i] = attach(t, dir, Options{})
	}
	var asking sync.WaitGroup
	stop := make(chan struct{})
	asked := make([]atomic.Int64, len(clients))
	for i, c := range clients {
		asking.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				env, err := c.Search(context.Background(), engine.SearchRequest{Query: "needle"})
				if err != nil || env.Total != 6 {
					t.Errorf("client %d: %v", i, err)
					return
				}
				asked[i].Add(1)
			}
		})
	}
	// more waits until each client has been answered twice more: the second time it
	// asked after more was called.
	more := func() {
		for i := range asked {
			for n := asked[i].Load(); asked[i].Load() < n+2 && !t.Failed(); time.Sleep(time.Millisecond) {
			}
		}
	}
	more()
	begin := time.Now()
	check(t, own.Close())
	t.Logf("closed after %v", time.Since(begin))
	more()
	close(stop)
	asking.Wait()
	owners := 0
	for _, c := range clients {
		if c.Owned() {
			owners++
		}
	}
	if owners != 1 {
		t.Errorf("%d owners", owners)
	}
	for i := range asked {
		t.Logf("client %d: %d answers", i, asked[i].Load())
	}
	for _, c := range clients {
		check(t, c.Close())
	}
}

// TestHandover: an owner that closes gives back the import that it serves. The client
// goes on, and reports all of it.
func TestHandover(t *testing.T) {
	defer noLeaks(t)()
	tmp := t.TempDir()
	dir := filepath.Join(tmp, "archive")
	src := write(t, tmp, "src", 40, 20, 3)
	own, client := attach(t, dir, Options{}), attach(t, dir, Options{})
	half := make(chan struct{})
	var once sync.Once
	type outcome struct {
		r   *engine.Report
		err error
	}
	done := make(chan outcome)
	go func() {
		r, err := client.Import(context.Background(), engine.ImportRequest{Paths: []string{src}, Progress: func(p engine.Progress) {
			once.Do(func() { close(half) })
		}})
		done <- outcome{r, err}
	}()
	select {
	case <-half:
	case o := <-done: // faster than the first word of progress: nothing was handed over
		done = make(chan outcome, 1)
		done <- o
	}
	check(t, own.Close())
	o := <-done
	check(t, o.err)
	r := o.r
	if r.Added != 40 || r.Files.Read != 40 || r.Files.Unchanged != 0 || r.Unchanged != 0 || r.Messages != 800 || r.Stopped || r.Records.Read != 800 ||
		r.Records.Read != r.Records.Stored+r.Records.Skipped+r.Records.Rejected {
		t.Errorf("report %+v", r)
	}
	check(t, client.Close())
	if got := checked(t, dir).Sessions; got != 40 {
		t.Errorf("%d sessions", got)
	}
}

// TestReadingGoesOn: a reading, and raw bytes, go on at the next owner where they were.
func TestReadingGoesOn(t *testing.T) {
	if testing.Short() {
		t.Skip("long sessions")
	}
	tmp := t.TempDir()
	dir := filepath.Join(tmp, "archive")
	own := attach(t, dir, Options{Grace: 50 * time.Millisecond})
	_, err := own.Import(t.Context(), engine.ImportRequest{Paths: []string{write(t, tmp, "src", 1, 3000, 5)}})
	check(t, err)
	client := attach(t, dir, Options{})
	env, err := client.Search(t.Context(), engine.SearchRequest{})
	check(t, err)
	ref := env.Hits[0].Session.Ref
	raw, err := client.Raw(t.Context(), ref)
	check(t, err)
	begin := make([]byte, 1000)
	_, err = io.ReadFull(raw, begin)
	check(t, err)
	r, err := client.Read(t.Context(), ref)
	check(t, err)
	next := 0
	for m, err := range r.Messages() {
		check(t, err)
		if m.Position != next {
			t.Fatalf("message %d follows on %d", m.Position, next-1)
		}
		if next++; next == 10 {
			at := time.Now()
			check(t, own.Close()) // not held up by us, who do not read
			if d := time.Since(at); d > atMost(5*time.Second) {
				t.Errorf("closing took %v", d)
			}
		}
	}
	if next != 3000 || !client.Owned() {
		t.Errorf("%d messages, owned %v", next, client.Owned())
	}
	check(t, r.Close())
	rest, err := io.ReadAll(raw)
	check(t, err)
	check(t, raw.Close())
	if got, want := string(begin)+string(rest), rawBytes(client, ref); got != want || len(got) < 1<<20 {
		t.Errorf("%d raw bytes, want %d", len(got), len(want))
	}
}

// TestSlowReader: who does not read its answer holds up nobody.
func TestSlowReader(t *testing.T) {
	if testing.Short() {
		t.Skip("long sessions")
	}
	tmp := t.TempDir()
	dir := filepath.Join(tmp, "archive")
	own := attach(t, dir, Options{})
	_, err := own.Import(t.Context(), engine.ImportRequest{Paths: []string{write(t, tmp, "src", 1, 3000, 5)}})
	check(t, err)
	client := attach(t, dir, Options{})
	env, err := client.Search(t.Context(), engine.SearchRequest{})
	check(t, err)
	for range 20 {
		r, err := client.Read(t.Context(), env.Hits[0].Session.Ref)
		check(t, err)
		defer r.Close()
	}
	if _, err := client.Search(t.Context(), engine.SearchRequest{Query: "needle"}); err != nil {
		t.Error(err)
	}
	_, err = client.Import(t.Context(), engine.ImportRequest{Paths: []string{write(t, tmp, "more", 1, 2, 6)}})
	check(t, err)
}

// TestVanishing: clients that go away in the middle, or whose context ends, leave
// nothing behind in the owner.
func TestVanishing(t *testing.T) {
	if testing.Short() {
		t.Skip("many imports")
	}
	defer noLeaks(t)()
	own, client, dir := pair(t)
	big := write(t, filepath.Dir(dir), "big", 30, 60, 7)
	for i := range 20 {
		ctx, cancel := context.WithTimeout(t.Context(), time.Duration(i)*time.Millisecond)
		_, err := client.Search(ctx, engine.SearchRequest{Query: "needle"})
		if err != nil && ctx.Err() == nil {
			t.Errorf("search: %v", err)
		}
		cancel()
		nc, _, err := dial(dir, time.Second)
		check(t, err)
		c, err := meet(t.Context(), nc, client.opts)
		check(t, err)
		check(t, c.send(kindRequest, request{Call: callImport, Import: &importRequest{Paths: [][]byte{[]byte(big)}}}))
		if i%2 == 0 {
			time.Sleep(time.Duration(i) * time.Millisecond)
		}
		check(t, c.Close())
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := client.Stats(ctx); err != context.Canceled {
		t.Errorf("stats: %v", err)
	}
	// An import that is ended says how far it got.
	ctx, cancel = context.WithCancel(t.Context())
	r, err := client.Import(ctx, engine.ImportRequest{Paths: []string{write(t, filepath.Dir(dir), "last", 60, 100, 8)}, Progress: func(engine.Progress) { cancel() }})
	if err == nil {
		t.Log("the import was over before the first word of progress")
	} else if ctx.Err() == nil || r == nil || !r.Stopped || r.Added == 60 {
		t.Errorf("import: %+v, %v", r, err)
	}
	cancel()
	// Whoever vanished, nothing is left to wait for.
	done := make(chan error)
	go func() { done <- own.Close() }()
	select {
	case err := <-done:
		check(t, err)
	case <-time.After(soon):
		t.Fatal("close hangs")
	}
	check(t, client.Close())
	checked(t, dir)
}

// TestGarbage: what is no protocol gets no answer and does no harm.
func TestGarbage(t *testing.T) {
	own, client, dir := pair(t)
	hello := func(id identity) []byte { b, _ := toJSON(id); return frames(t, kindHello, b) }
	good := hello(identity{Protocol: protocol})
	for name, c := range map[string]struct {
		send   []byte
		answer string // that must be in what comes back
	}{
		"nothing":        {nil, ""},
		"text":           {[]byte("GET / HTTP/1.1\r\nHost: x\r\n\r\n"), ""},
		"long frame":     {[]byte{0xff, 0xff, 0xff, 0x7f, kindHello}, ""},
		"no greeting":    {frames(t, kindRequest, []byte(`{"call":"stats"}`)), ""},
		"other protocol": {append(hello(identity{Protocol: 99}), frames(t, kindRequest, []byte(`{"call":"stats"}`))...), `"protocol":1`},
		"no json":        {append(good[:len(good):len(good)], frames(t, kindRequest, []byte(`{"call":`))...), `"text":`},
		"no such call":   {append(good[:len(good):len(good)], frames(t, kindRequest, []byte(`{"call":"burn"}`))...), "INVALID_ARGUMENT"},
		"no argument":    {append(good[:len(good):len(good)], frames(t, kindRequest, []byte(`{"call":"search"}`))...), "INVALID_ARGUMENT"},
		"long request":   {append(good[:len(good):len(good)], frames(t, kindRequest, make([]byte, maxRequest+1))...), ""},
		"negative skip":  {append(good[:len(good):len(good)], frames(t, kindRequest, []byte(`{"call":"raw","skip":-5}`))...), "text"},
	} {
		nc, err := net.Dial("unix", filepath.Join(dir, socketFile))
		check(t, err)
		check(t, nc.SetDeadline(time.Now().Add(soon)))
		_, _ = nc.Write(c.send) // it may be refused before it is all sent
		if c.answer == "" {
			_ = nc.(*net.UnixConn).CloseWrite() // it may be closed already
		} // else the end of what is sent would end the call, maybe before it is answered
		got := ""
		for buf := make([]byte, 4096); ; {
			n, err := nc.Read(buf)
			got += string(buf[:n])
			if err != nil || c.answer != "" && strings.Contains(got, c.answer) {
				break
			}
		}
		if !strings.Contains(got, c.answer) {
			t.Errorf("%s: %q", name, got)
		}
		check(t, nc.Close())
		if _, err := client.Stats(t.Context()); err != nil {
			t.Errorf("after %s: %v", name, err)
		}
	}
	// A client refuses an owner of another protocol, by name.
	own.own.srv.mu.Lock()
	own.own.srv.place.self.Protocol, own.own.srv.place.self.Version = 2, "9.9"
	own.own.srv.mu.Unlock()
	_, err := client.Stats(t.Context())
	if codeOf(err) != engine.CodeArchiveBusy || !strings.Contains(err.Error(), `version "9.9", which speaks protocol 2`) {
		t.Errorf("another protocol: %v", err)
	}
}

// TestTooMany: beyond the limit connections are turned away, and their callers try
// again until there is room.
func TestTooMany(t *testing.T) {
	if testing.Short() {
		t.Skip("many connections")
	}
	_, client, dir := pair(t)
	var idle []net.Conn
	for range maxCalls {
		nc, _, err := dial(dir, time.Second)
		check(t, err)
		idle = append(idle, nc)
	}
	time.AfterFunc(200*time.Millisecond, func() {
		for _, nc := range idle {
			nc.Close()
		}
	})
	begin := time.Now()
	if _, err := client.Stats(t.Context()); err != nil {
		t.Error(err)
	}
	t.Logf("there was room after %v", time.Since(begin))
}

// TestUnshared: an archive that is open in an engine that shares nothing.
func TestUnshared(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "archive")
	e, err := engine.Open(dir, engine.Options{Create: true})
	check(t, err)
	_, err = Attach(t.Context(), dir, Options{Patience: 100 * time.Millisecond})
	if codeOf(err) != engine.CodeArchiveBusy || !strings.Contains(err.Error(), "does not share it") {
		t.Errorf("attach: %v", err)
	}
	if _, err := engine.Open(filepath.Join(dir, "..", "archive"), engine.Options{}); codeOf(err) != engine.CodeArchiveBusy {
		t.Errorf("open: %v", err)
	}
	check(t, e.Close())
	a := attach(t, dir, Options{})
	if _, err := engine.Open(dir, engine.Options{}); codeOf(err) != engine.CodeArchiveBusy {
		t.Errorf("open of what is shared: %v", err)
	}
	if !a.Owned() {
		t.Error("not owned")
	}
}

// TestMissing: without an archive there is one typed error, and no folder is made.
func TestMissing(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "archive")
	_, err := Attach(t.Context(), dir, Options{})
	_, want := engine.Open(dir, engine.Options{})
	if document(t, nil, err) != document(t, nil, want) || codeOf(err) != engine.CodeArchiveMissing {
		t.Errorf("attach: %v, open: %v", err, want)
	}
	if _, ok := readOwner(dir); ok {
		t.Error("somebody owns what is not there")
	}
}
