package cli

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/hansard-search/hansard/engine"
)

// A choice is a flag with a fixed set of values: what it takes, what the shell offers
// and what help and errors say come from one list.
type choice struct {
	flag, short string
	help        string
	words       []string // the first is the default
}

func formatChoice() choice {
	return choice{"format", "f", "output", []string{"text", "json", "jsonl"}}
}

func colourChoice() choice {
	return choice{"color", "", "colour", []string{"auto", "always", "never"}}
}

func progressChoice() choice {
	return choice{"progress", "", "progress on stderr", []string{"auto", "plain", "none"}}
}

func viewChoice() choice {
	return choice{"view", "", "what to show; raw is the whole source file of the session, decompressed", []string{"messages", "raw"}}
}

func laneChoice() choice {
	return choice{"retrieval-lane", "", "which blocks are matched", engine.Lanes()}
}

// add adds the flag to a command, for it alone or for those below it too.
func (c choice) add(cmd *cobra.Command, flags *pflag.FlagSet, value *string) {
	flags.StringVarP(value, c.flag, c.short, c.words[0], c.help+": "+c.list())
	mustComplete(cmd, c.flag, cobra.FixedCompletions(c.words, cobra.ShellCompDirectiveNoFileComp))
}

func (c choice) list() string {
	last := len(c.words) - 1
	return strings.Join(c.words[:last], ", ") + " or " + c.words[last]
}

// check refuses what is not one of the words.
func (c choice) check(value string) error {
	if oneOf(value, c.words...) {
		return nil
	}
	return badFlag(c.flag, value, strings.Join(c.words, ", "))
}

// completeFlags says of the flags of cmd that have no fixed values what the shell may
// offer: folders, or nothing instead of files.
func completeFlags(cmd *cobra.Command, folders ...string) {
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if _, done := cmd.GetFlagCompletionFunc(f.Name); done || f.NoOptDefVal != "" {
			return
		}
		offer := cobra.NoFileCompletions
		if oneOf(f.Name, folders...) {
			offer = func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
				return nil, cobra.ShellCompDirectiveFilterDirs
			}
		}
		mustComplete(cmd, f.Name, offer)
	})
}

// mustComplete registers a completion. It fails only for a flag that is not there or
// has one already, which the tests of completion would show.
func mustComplete(cmd *cobra.Command, flag string, f cobra.CompletionFunc) {
	if err := cmd.RegisterFlagCompletionFunc(flag, f); err != nil {
		cmd.PrintErrln(err)
	}
}
