// Package term writes to terminals: text from archives is neutralised, colour
// follows the user's wishes, progress stays on one line.
//
// Laws: what [Escape] returns holds no control character but newline and tab, so
// that nothing in a session can move the cursor, set a title, fill a clipboard or
// reorder what is read; colour never carries meaning alone.
package term

import (
	"io"
	"os"

	"github.com/mattn/go-isatty"
)

// IsTerminal reports whether w is a terminal.
func IsTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if o, wrapped := w.(interface{ File() (*os.File, bool) }); wrapped {
		f, ok = o.File()
	}
	return ok && (isatty.IsTerminal(f.Fd()) || isatty.IsCygwinTerminal(f.Fd()))
}

// Colour says whether to colour the output: the choice "always" or "never", and
// for "auto" the usual variables and whether the output is a terminal.
func Colour(choice string, env func(string) string, terminal bool) bool {
	switch choice {
	case "always":
		return true
	case "never":
		return false
	}
	if env("NO_COLOR") != "" || env("TERM") == "dumb" {
		return false
	}
	if env("CLICOLOR_FORCE") != "" || env("FORCE_COLOR") != "" {
		return true
	}
	return terminal
}

// A Style wraps text in colour, or leaves it as it is when off.
type Style struct{ On bool }

func (s Style) Bold(t string) string   { return s.wrap("1", t) }
func (s Style) Faint(t string) string  { return s.wrap("2", t) }
func (s Style) Red(t string) string    { return s.wrap("31", t) }
func (s Style) Green(t string) string  { return s.wrap("32", t) }
func (s Style) Yellow(t string) string { return s.wrap("33", t) }
func (s Style) Cyan(t string) string   { return s.wrap("36", t) }

// Hit marks a matched term: bold and yellow, or in brackets without colour.
func (s Style) Hit(t string) string {
	if !s.On {
		return "[" + t + "]"
	}
	return s.wrap("1;33", t)
}

func (s Style) wrap(code, t string) string {
	if !s.On || t == "" {
		return t
	}
	return "\x1b[" + code + "m" + t + "\x1b[0m"
}
