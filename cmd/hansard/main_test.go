package main

import (
	"fmt"
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
		Condition: func(name string) (bool, error) {
			if name != "short-path" { // the socket has its place in the archive's folder
				return false, fmt.Errorf("unknown condition %s", name)
			}
			return len(os.TempDir())+len("/go-test-script1234567890/script-share/archive/socket") <= 100, nil
		},
		Setup: func(e *testscript.Env) error {
			e.Setenv("HANSARD_ARCHIVE", e.WorkDir+"/archive")
			e.Setenv("HOME", e.WorkDir+"/home")
			e.Setenv("XDG_DATA_HOME", e.WorkDir+"/data")
			return nil
		},
	})
}
