package archive

import (
	"strings"
	"testing"
)

func TestRepoFromURL(t *testing.T) {
	for _, c := range []struct{ in, want string }{ // name|owner|path
		{"https://github.com/acme/shop.git", "shop|acme|acme/shop"}, {"git@github.com:acme/shop.git", "shop|acme|acme/shop"},
		{"ssh://git@host:2222/acme/shop/", "shop|acme|acme/shop"}, {"https://u:p@gitlab.com/g/sub/shop", "shop|g/sub|g/sub/shop"},
		{"git://host/shop.git", "shop||shop"}, {"host:shop", "shop||shop"}, {"/srv/git/shop.git", "shop||"},
		{`C:\git\shop`, "shop||"}, {"file:///srv/shop.git", "shop||"}, {"https://h/a/b%20c.git?x=1#y", "b c|a|a/b c"},
		{"", "||"}, {"https://github.com", "||"}, {".git", "||"}, {"..", "||"}, {"HTTPS://GitHub.com/Acme/Shop", "Shop|Acme|Acme/Shop"},
	} {
		r := RepoFromURL(c.in)
		if got := strings.Join([]string{r.Name, r.Owner, r.Path}, "|"); got != c.want {
			t.Errorf("RepoFromURL(%q) = %s, want %s", c.in, got, c.want)
		}
	}
}

func TestRepoFromDir(t *testing.T) {
	for in, want := range map[string]string{
		"/home/ann/work/shop": "shop", "/home/ann/work/shop/": "shop", `C:\work\shop`: "shop", `D:\`: "", "/": "", "/home/ann": "",
		"/Users/ann": "", "/root": "", "/tmp": "", "": "", `C:\Users\ann`: "", "/r/shop/.claude/worktrees/fix-1": "shop",
		"/r/shop/.worktrees/x/sub": "shop", ".": "", "~": "", "/tmp/x": "x",
	} {
		if got := RepoFromDir(in); got != want {
			t.Errorf("RepoFromDir(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestTitleFromPrompt(t *testing.T) {
	long := strings.Repeat("é", 81)
	for _, c := range []struct{ in, want string }{
		{"fix  the\n tax", "fix the tax"}, {"fix", ""}, {"fixx", "fixx"}, {long, long[:160] + "..."}, {long[:160], long[:160]},
		{"<system-reminder>x\ny</system-reminder>\nfix it", "fix it"}, {"<ide_opened_file>a</ide_opened_file> fix <b>it</b>", "fix <b>it</b>"},
		{"<command-name>/x</command-name>", ""}, {"# Context\n## My request for Codex:\nfix it\n", "fix it"},
		{"<command-name>open fix", "open fix"}, {"</command-name>close", "close"},
	} {
		if got := TitleFromPrompt(c.in); got != c.want {
			t.Errorf("TitleFromPrompt(%q) = %q, want %q", c.in, got, c.want)
		}
	}
	if got := TitleFromPrompt(strings.Repeat("日", titleInput)); len(got) != 3*80+3 {
		t.Errorf("title of a giant prompt has %d bytes", len(got))
	}
}
