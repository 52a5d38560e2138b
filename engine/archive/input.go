package archive

import (
	"slices"
	"strings"

	"github.com/hansard-search/hansard/engine/internal/jsonx"
)

// Facts are what a tool's name and input say of a call.
type Facts struct {
	Family   string
	Semantic string
	Command  string   // what the call runs, as text
	Path     string   // the first of file_path and path, slashes forward
	Paths    []string // every path that the input names, distinct, in order of evidence, slashes forward
}

// An InputReader derives facts from tool inputs and reuses its memory. The zero
// value is ready; it is not safe for concurrent use.
type InputReader struct{ parser jsonx.Parser }

// Read returns the facts of a call of tool name with this input: a JSON object,
// or empty. Other input gives the facts of the name alone.
func (r *InputReader) Read(name, input string) Facts {
	f := Facts{Family: ToolFamily(name)}
	v := r.parse(input)
	f.Command = commandOf(name, v)
	verb := ""
	if v.Exists() {
		verb = v.Get("command").Str()
	}
	f.Semantic = semanticOf(name, f.Command, verb)
	f.Path = scalarPath(v)
	f.Paths = pathsOf(name, v, f.Command)
	return f
}

func (r *InputReader) parse(input string) jsonx.Value {
	if input == "" {
		return jsonx.Value{}
	}
	v, err := r.parser.ParseString(input)
	if err != nil || v.Type() != jsonx.Object {
		return jsonx.Value{}
	}
	return v
}

// Strings yields every member name and every string below input, decoded, in
// the order in which they are written; numbers, true and false as they are
// spelled. These are the parts of an input in which a text can be found.
func (r *InputReader) Strings(input string, yield func(string) bool) {
	leaves(r.parse(input), yield)
}

func leaves(v jsonx.Value, yield func(string) bool) bool {
	switch v.Type() {
	case jsonx.Object:
		for k, e := range v.Object() {
			if !yield(k) || !leaves(e, yield) {
				return false
			}
		}
	case jsonx.Array:
		for e := range v.Array() {
			if !leaves(e, yield) {
				return false
			}
		}
	case jsonx.String:
		return yield(v.Str())
	case jsonx.Number, jsonx.Bool:
		return yield(string(v.Raw()))
	}
	return true
}

// Command is what a call of tool name runs: the input's "command"; for tools
// that run commands also its "cmd", or its "arguments" when they are text.
// Arrays are unwrapped: ["bash","-lc",X] is X, others are joined and quoted as a
// shell would need them.
func Command(name, input string) string {
	var r InputReader
	return commandOf(name, r.parse(input))
}

func commandOf(name string, v jsonx.Value) string {
	if c := commandText(v.Get("command")); c != "" {
		return c
	}
	if !isShell(name) {
		return ""
	}
	if c := commandText(v.Get("cmd")); c != "" {
		return c
	}
	return v.Get("arguments").Str()
}

// commandText is a command as text: strings as they are, arrays unwrapped, other
// values as JSON.
func commandText(v jsonx.Value) string {
	switch v.Type() {
	case jsonx.Missing, jsonx.Null:
		return ""
	case jsonx.String:
		return v.Str()
	case jsonx.Array:
		words := make([]string, 0, v.Len())
		for e := range v.Array() {
			w, ok := e.StrOK()
			if !ok {
				return v.Canonical()
			}
			words = append(words, w)
		}
		return JoinCommand(words)
	}
	return v.Canonical()
}

// pathKeys are the members of an input that name one file, best evidence first.
var pathKeys = []string{
	"file_path", "path", "notebook_path", "absolute_path", "filePath", "target_file", "dir_path",
	"TargetFile", "AbsolutePath", "DirectoryPath", "SearchPath",
}

// pathLists are the members that name several.
var pathLists = []string{"paths", "file_paths", "files"}

// patchKeys are the members that may hold a patch.
var patchKeys = []string{"patch", "input", "diff", "arguments"}

// Paths are the files and folders that a call names: in the members that hold
// paths, and in the headers of patches, also of those inside a command.
func Paths(name, input, command string) []string {
	var r InputReader
	return pathsOf(name, r.parse(input), command)
}

func scalarPath(v jsonx.Value) string {
	for _, k := range pathKeys[:2] {
		if p := v.Get(k).Str(); p != "" {
			return forward(p)
		}
	}
	return ""
}

func pathsOf(name string, v jsonx.Value, command string) []string {
	var paths []string
	add := func(p string) {
		paths = addPath(paths, p)
	}
	for _, k := range pathKeys {
		add(v.Get(k).Str())
	}
	for _, k := range pathLists {
		for e := range v.Get(k).Array() {
			add(e.Str())
		}
	}
	for _, k := range patchKeys {
		if s := v.Get(k).Str(); looksLikePatch(s) || s != "" && isPatchTool(name) {
			patchPaths(s, add)
		}
	}
	if looksLikePatch(command) {
		patchPaths(command, add)
	}
	return paths
}

func isPatchTool(name string) bool {
	name = strings.ToLower(name)
	return name == "patch" || strings.HasSuffix(name, "apply_patch")
}

// addPath adds a path unless it is empty or there already.
func addPath(paths []string, p string) []string {
	if p = forward(p); p != "" && !slices.Contains(paths, p) {
		paths = append(paths, p)
	}
	return paths
}

// forward is a path with forward slashes and without surrounding white space.
func forward(p string) string {
	return strings.ReplaceAll(strings.TrimSpace(p), `\`, "/")
}
