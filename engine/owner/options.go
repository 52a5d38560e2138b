package owner

import (
	"cmp"
	"log/slog"
	"os"
	"time"

	"github.com/hansard-search/hansard/engine"
	"github.com/hansard-search/hansard/engine/store"
)

// Options configure Attach. The zero value is what production uses.
type Options struct {
	// Engine is how the archive is opened by whom it belongs to; Lock is set by this
	// package. With ReadOnly nothing is owned and nobody is answered.
	Engine engine.Options
	// Version of this program, for messages of others.
	Version string
	// TempDir takes a folder with the socket when the archive's path is too long for
	// one; empty means /tmp, which is also used where this is no use.
	TempDir string
	// Patience is how long an owner may be silent, or an archive belong to one who
	// answers nobody; 0 means 10 seconds.
	Patience time.Duration
	// Grace is how long Close waits for short calls of others; 0 means a second.
	Grace time.Duration

	// served, which only tests set, is called when the serving of a call for a process
	// begins; what it returns is called when that ends.
	served func(call string, pid int) func()
}

func (o Options) withDefaults() Options {
	o.Patience = cmp.Or(o.Patience, 10*time.Second)
	o.Grace = cmp.Or(o.Grace, time.Second)
	o.TempDir = cmp.Or(o.TempDir, "/tmp")
	if o.Engine.Logger == nil {
		o.Engine.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Engine.FS == nil {
		o.Engine.FS = store.Disk
	}
	if o.served == nil {
		o.served = func(string, int) func() { return func() {} }
	}
	return o
}

func (o Options) self() identity {
	host, err := os.Hostname()
	if err != nil {
		host = "" // it is only ever shown
	}
	return identity{Protocol: protocol, Version: o.Version, PID: os.Getpid(), Host: host, Started: time.Now().UnixNano()}
}
