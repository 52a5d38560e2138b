package main

import (
	"os"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// The scripts under testdata/script are transcripts of the command line: commands,
// what they print, how they exit. Run with -testscript.update... to see a difference.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"hansard": main})
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:           "testdata/script",
		UpdateScripts: os.Getenv("UPDATE_SCRIPTS") != "",
		Setup: func(e *testscript.Env) error {
			e.Setenv("HANSARD_ARCHIVE", e.WorkDir+"/archive")
			e.Setenv("HOME", e.WorkDir+"/home")
			e.Setenv("XDG_DATA_HOME", e.WorkDir+"/data")
			return nil
		},
	})
}
