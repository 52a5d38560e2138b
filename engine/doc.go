// Package engine is hansard as a library: it opens an archive of AI sessions,
// imports session files into it, and answers queries over them.
//
// An [Engine] is one opened archive folder. It is safe for concurrent use. The
// store inside the folder is the truth; segments are an index over it that can be
// rebuilt at any time.
//
// Laws: what Import acknowledged is durable and found by the next search; a
// search runs on a snapshot that nothing later changes; every answer is complete
// or says what is missing; a fault is returned as an error and never ends the
// process. The package reads no environment, opens no socket, and logs only to
// Options.Logger.
//
// Caveat: one process may open an archive at a time; package owner, on top of this
// one, lets many processes use it.
package engine
