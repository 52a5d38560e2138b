package segments

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestFormatPage compares the constants of format.go with the tables of the page
// that documents them.
func TestFormatPage(t *testing.T) {
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, "format.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	code := map[string]string{}
	for _, d := range f.Decls {
		g, ok := d.(*ast.GenDecl)
		if !ok || g.Tok != token.CONST {
			continue
		}
		for _, s := range g.Specs {
			v := s.(*ast.ValueSpec)
			for i, name := range v.Names {
				got, err := types.Eval(fset, nil, token.NoPos, types.ExprString(v.Values[i]))
				if err != nil {
					t.Fatal(err)
				}
				code[name.Name] = got.Value.ExactString()
			}
		}
	}
	page, err := os.ReadFile(filepath.Join("..", "docs", "format.md"))
	if err != nil {
		t.Fatal(err)
	}
	doc := map[string]string{}
	for _, m := range regexp.MustCompile(`(?m)^\| ([a-z][A-Za-z]+) \| ([^|]+) \|`).FindAllSubmatch(page, -1) {
		if string(m[1]) != "constant" {
			doc[string(m[1])] = string(m[2])
		}
	}
	if diff := cmp.Diff(code, doc); diff != "" {
		t.Errorf("docs/format.md differs from format.go (-code +page):\n%s", diff)
	}
}
