package archive

import (
	"path"
	"slices"
	"strings"
)

// JoinCommand is an argument vector as one command line. ["bash","-lc",X] and
// its like are X; other words are joined by spaces and quoted where a shell
// would split or change them.
func JoinCommand(words []string) string {
	if script, ok := unwrapShell(words); ok {
		return script
	}
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = quoteWord(w)
	}
	return strings.Join(quoted, " ")
}

var shells = []string{"sh", "bash", "zsh", "dash", "ksh", "fish", "bash.exe", "sh.exe"}

// unwrapShell returns the script of [shell, flags with c, script].
func unwrapShell(words []string) (script string, ok bool) {
	if len(words) < 3 || !slices.Contains(shells, path.Base(forward(words[0]))) {
		return "", false
	}
	for i, w := range words[1:] {
		if !strings.HasPrefix(w, "-") {
			return "", false
		}
		if strings.HasSuffix(w, "c") && !strings.HasPrefix(w, "--") {
			if i+3 != len(words) {
				return "", false // further words are the script's parameters
			}
			return words[i+2], true
		}
	}
	return "", false
}

func quoteWord(w string) string {
	if w != "" && strings.IndexFunc(w, needsQuote) < 0 {
		return w
	}
	return "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
}

func needsQuote(r rune) bool {
	return strings.ContainsRune(" \t\r\n'\"\\$`&|;<>()*?[]{}!#~", r)
}

// runsGit reports whether one of the simple commands of a script runs git or gh.
func runsGit(script string) bool { return scriptRunsGit(script, 0) }

func scriptRunsGit(script string, depth int) bool {
	if depth > 3 || !strings.Contains(script, "g") {
		return false
	}
	for words := range simpleCommands(script) {
		words = commandWords(words)
		if len(words) == 0 {
			continue
		}
		switch path.Base(words[0]) {
		case "git", "gh", "git.exe", "gh.exe":
			return true
		}
		if inner, ok := unwrapShell(words); ok && scriptRunsGit(inner, depth+1) {
			return true
		}
	}
	return false
}

// commandWords drops what may stand before the name of a program: assignments,
// keywords of the shell, and programs that run another.
func commandWords(words []string) []string {
	for len(words) > 0 {
		w := words[0]
		switch {
		case isAssignment(w):
		case slices.Contains(commandPrefixes, w):
		default:
			return words
		}
		words = words[1:]
	}
	return words
}

var commandPrefixes = []string{
	"!", "{", "(", "if", "then", "else", "elif", "while", "until", "do",
	"sudo", "env", "time", "command", "exec", "nohup",
}

func isAssignment(w string) bool {
	name, _, ok := strings.Cut(w, "=")
	if !ok || name == "" {
		return false
	}
	for i, c := range []byte(name) {
		letter := c == '_' || c|0x20 >= 'a' && c|0x20 <= 'z'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return true
}
