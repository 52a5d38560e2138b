package owner

import (
	"fmt"

	"github.com/hansard-search/hansard/engine"
)

// silent is the error of an owner that does not answer.
func silent(id identity, err error) error {
	return &engine.Error{Code: engine.CodeArchiveBusy, Message: "the archive is open in " + describe(id) + ", which does not answer",
		Hint: "end that process or let it go on, then try again", Retryable: true, Err: err}
}

// unshared is the error of an archive that is locked by who answers nobody.
func unshared(id identity, known bool, err error) error {
	who := "another process, which does not share it"
	if known {
		who = describe(id) + ", which cannot be reached"
	}
	return &engine.Error{Code: engine.CodeArchiveBusy, Message: "the archive is open in " + who,
		Hint: "try again when that process has ended", Retryable: true, Err: err}
}

// foreign is the error of an owner that speaks another protocol.
func foreign(id identity) error {
	return &engine.Error{Code: engine.CodeArchiveBusy, Retryable: true,
		Message: fmt.Sprintf("the archive is open in %s of version %q, which speaks protocol %d; this one speaks %d", describe(id), id.Version, id.Protocol, protocol),
		Hint:    "use that version, or try again when that process has ended"}
}

// describe names the process of an owner.
func describe(id identity) string {
	who := "another process"
	if id.PID != 0 {
		who = fmt.Sprintf("process %d", id.PID)
	}
	if here := (Options{}).self().Host; id.Host != "" && id.Host != here {
		who += " on " + id.Host
	}
	return who
}
