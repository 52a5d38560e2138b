package lexer_test

import (
	"fmt"

	"github.com/hansard-search/hansard/lexer"
)

func ExampleScanner() {
	var s lexer.Scanner
	s.ResetString("Zażółć go1.26")
	for s.Next() {
		fmt.Println(s.Pos(), string(s.Term()), s.Start(), s.End())
	}
	// Output:
	// 0 zazolc 0 10
	// 1 go1 11 14
	// 2 26 15 17
}

func ExampleNewSnippet() {
	text := "The writer syncs the folder before the file, so the file can be truncated."
	match := func(term []byte) bool { return string(term) == "folder" }
	s := lexer.NewSnippet(text, match, lexer.SnippetOptions{Words: 5})
	fmt.Println(s.Text, s.Spans)
	// Output: syncs the folder before the [[10 16]]
}
