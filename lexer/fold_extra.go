package lexer

// Name names the analysis: the tokenizer with its remove_diacritics setting, and
// the list of extra folds with its version. A change of either changes the terms
// and therefore the name; what was indexed under another name must be re-indexed.
const Name = "unicode61.2+l-stroke.1"

// foldExtra applies the extra folds, "l-stroke.1", to a code point that the
// table has already folded:
//
//	ł U+0142 → l
//	Ł U+0141 → l (the table makes it ł first)
//
// The Polish stroke is not a diacritic to Unicode, so unicode61 keeps it, yet
// people leave it out like any other when they type. No other letter is folded.
func foldExtra(r rune) rune {
	if r == 'ł' {
		return 'l'
	}
	return r
}
