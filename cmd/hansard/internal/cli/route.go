package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/hansard-search/hansard/engine"
)

// route turns the command line as people write it into what cobra expects. Words
// that are no flags and do not begin with a verb are a query; flags stand
// anywhere; "-word" that is no flag belongs to the query; "--" ends the flags.
func route(root *cobra.Command, args []string) ([]string, error) {
	if len(args) > 1 && strings.HasPrefix(args[0], "__complete") {
		return routeCompletion(root, args), nil
	}
	verb, rest := findVerb(root, args)
	switch {
	case verb != nil && standsAlone(verb):
		return args, unexpectedWord(verb, args, rest)
	case verb != nil && !takesQuery(verb):
		return args, nil
	}
	if verb == nil {
		if len(rest) == 0 || onlyHelp(rest) {
			return rest, nil
		}
		verb = searchOf(root)
	}
	flags, words, err := split(verb, rest)
	if err != nil {
		return nil, err
	}
	if len(words) == 0 && verb.Name() == "search" && onlyHelp(flags) && len(flags) > 0 {
		return append([]string{"search"}, flags...), nil
	}
	out := append([]string{verb.Name()}, flags...)
	return append(append(out, "--"), words...), nil
}

// routeCompletion turns what the shell asks to complete into what cobra expects: words
// that do not begin with a verb, and flags, are those of a search.
func routeCompletion(root *cobra.Command, args []string) []string {
	before, last := args[1:len(args)-1], args[len(args)-1]
	if verb, _ := findVerb(root, before); verb != nil {
		return args
	}
	if !strings.HasPrefix(last, "-") && beforeFirstWord(root, before) {
		return args // a verb may come
	}
	return append([]string{args[0], "search"}, args[1:]...)
}

// beforeFirstWord reports whether the next argument is the first that is neither a flag
// nor the value of one, and all flags before it are those of every verb.
func beforeFirstWord(root *cobra.Command, before []string) bool {
	for i := 0; i < len(before); i++ {
		f, inline := lookup(root, before[i])
		if f == nil {
			return false
		}
		if !inline && f.NoOptDefVal == "" {
			if i++; i == len(before) {
				return false // its value comes
			}
		}
	}
	return true
}

// findVerb returns the verb that the arguments begin with, flags aside, and the
// arguments without it.
func findVerb(root *cobra.Command, args []string) (*cobra.Command, []string) {
	at := firstWord(root, args)
	if at < 0 {
		return nil, args
	}
	for _, c := range root.Commands() {
		if c.Name() != args[at] && !c.HasAlias(args[at]) {
			continue
		}
		return c, append(append([]string{}, args[:at]...), args[at+1:]...)
	}
	return nil, args
}

// firstWord is the index of the first argument that is neither a flag nor the
// value of one, or -1.
func firstWord(cmd *cobra.Command, args []string) int {
	for i := 0; i < len(args); i++ {
		if args[i] == "--" {
			return -1
		}
		f, inline := lookup(cmd, args[i])
		switch {
		case f == nil && !strings.HasPrefix(args[i], "--"):
			return i
		case f != nil && !inline && f.NoOptDefVal == "":
			i++
		}
	}
	return -1
}

// split parts arguments into flags of cmd and words of the query.
func split(cmd *cobra.Command, args []string) (flags, words []string, err error) {
	for i := 0; i < len(args); i++ {
		arg := args[i]
		if arg == "--" {
			return flags, append(words, args[i+1:]...), nil
		}
		f, inline := lookup(cmd, arg)
		switch other, _ := lookup(searchOf(cmd.Root()), arg); {
		case f == nil && other != nil:
			return nil, nil, flagOfSearch(cmd, arg, other)
		case f == nil && strings.HasPrefix(arg, "--") && len(arg) > 2:
			return nil, nil, unknownFlag(cmd, arg)
		case f == nil:
			words = append(words, arg)
		case inline || f.NoOptDefVal != "":
			flags = append(flags, arg)
		case i+1 == len(args):
			return nil, nil, &engine.Error{Code: codeUsage, Message: "flag needs a value: " + arg, Field: f.Name}
		default:
			flags = append(flags, arg, args[i+1])
			i++
		}
	}
	return flags, words, nil
}

func searchOf(root *cobra.Command) *cobra.Command {
	search, _, _ := root.Find([]string{"search"})
	return search
}

// flagOfSearch is the error of a flag that a search takes and cmd does not: read as text
// it would change the query in silence.
func flagOfSearch(cmd *cobra.Command, arg string, f *pflag.Flag) error {
	spelled := "--" + f.Name
	if !strings.HasPrefix(arg, "--") {
		spelled = "-" + f.Shorthand
	}
	return &engine.Error{Code: codeUsage, Field: f.Name, Message: fmt.Sprintf("%s has no flag %s: it is one of a search", cmd.Name(), spelled),
		Hint: "leave it out; after -- everything is the query"}
}

// lookup finds the flag that arg spells, and whether its value is part of arg.
func lookup(cmd *cobra.Command, arg string) (*pflag.Flag, bool) {
	cmd.InitDefaultHelpFlag()
	if name, ok := strings.CutPrefix(arg, "--"); ok {
		name, _, inline := strings.Cut(name, "=")
		if f := cmd.Flags().Lookup(name); f != nil {
			return f, inline
		}
		return cmd.InheritedFlags().Lookup(name), inline
	}
	if len(arg) < 2 || arg[0] != '-' {
		return nil, false
	}
	f := cmd.Flags().ShorthandLookup(arg[1:2])
	if f == nil {
		f = cmd.InheritedFlags().ShorthandLookup(arg[1:2])
	}
	if f == nil {
		f = cmd.PersistentFlags().ShorthandLookup(arg[1:2])
	}
	if len(arg) == 2 || f == nil {
		return f, false
	}
	// "-n5" and "-n=5" are flags with their value; "-nothing" is a word to exclude.
	if f.NoOptDefVal == "" && (arg[2] == '=' || isDigits(arg[2:])) {
		return f, true
	}
	return nil, false
}

func isDigits(s string) bool {
	return strings.Trim(s, "0123456789") == ""
}

func onlyHelp(args []string) bool {
	for _, a := range args {
		if a != "-h" && a != "--help" {
			return false
		}
	}
	return true
}

// unexpectedWord is the error of words behind a verb that takes none, or nil. Whether
// the verb is meant or a query that begins so cannot be told; each has a form of its own.
func unexpectedWord(verb *cobra.Command, args, rest []string) error {
	at := firstWord(verb, rest)
	if dashes := slices.Index(rest, "--"); at < 0 && dashes >= 0 && dashes+1 < len(rest) {
		at = dashes + 1
	}
	if at < 0 {
		return nil
	}
	return &engine.Error{Code: codeUsage, Message: fmt.Sprintf("%s takes no argument: %s", verb.Name(), clip(rest[at])),
		Hint: "to search for the words, write " + clip(shellLine(append([]string{"hansard", "search"}, args...)))}
}

// clip shortens what was typed where an error shows it.
func clip(s string) string {
	if r := []rune(s); len(r) > longestCaret {
		return string(r[:longestCaret]) + "…"
	}
	return s
}

func standsAlone(c *cobra.Command) bool { return c.Annotations["alone"] != "" }

func takesQuery(c *cobra.Command) bool { return c.Annotations["query"] != "" }

func unknownFlag(cmd *cobra.Command, arg string) error {
	name, _, _ := strings.Cut(strings.TrimPrefix(arg, "--"), "=")
	e := &engine.Error{Code: codeUsage, Field: name, Message: fmt.Sprintf("unknown flag: --%s", name),
		Hint: fmt.Sprintf("to exclude the word, write -%s; after -- everything is the query", name)}
	best := 3
	try := func(f *pflag.Flag) {
		if d := distance(name, f.Name); d < best {
			best, e.Suggestions = d, []string{"--" + f.Name}
		}
	}
	cmd.Flags().VisitAll(try)
	cmd.InheritedFlags().VisitAll(try)
	if e.Suggestions != nil {
		e.Hint = "did you mean " + e.Suggestions[0] + "?"
	}
	return e
}

// distance is the number of letters to change, add or drop between a and b.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, diagonal+1)
		}
	}
	return row[len(b)]
}
