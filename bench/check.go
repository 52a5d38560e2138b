package main

import (
	"context"
	"fmt"
	"math"
	"slices"
)

// tolerance of scores, relative: engines add floating-point numbers in orders of
// their own.
const tolerance = 1e-6

// sameFormula are the engines that score as the oracle does. The others have
// idf or lengths of their own: of them the matching blocks are compared alone.
var sameFormula = []string{ourName, "fts5"}

// An asked is a question with what each engine made of it.
type asked struct {
	*question
	mode  mode
	by    map[string]prepared
	truth *truth
	took  map[string]*timing
}

// check compares an engine's answers to one question with the oracle's, and says how
// they differ; empty if they do not. What an engine cannot be asked is not compared.
func (x *asked) check(ctx context.Context, name string) (string, error) {
	p := x.by[name]
	ranked, err := p.Ask(ctx, top)
	if err != nil {
		return "", fmt.Errorf("%s: %s: %w", name, x.text(), err)
	}
	if want := min(limit, len(x.truth.blocks)); len(ranked.blocks) != want {
		return fmt.Sprintf("%d hits, want %d", len(ranked.blocks), want), nil
	}
	for i, b := range ranked.blocks {
		if _, ok := slices.BinarySearch(x.truth.blocks, b); !ok {
			return fmt.Sprintf("block %d does not match", b), nil
		}
		if slices.Contains(ranked.blocks[:i], b) {
			return fmt.Sprintf("block %d is there twice", b), nil
		}
	}
	if slices.Contains(sameFormula, name) {
		if why := differ(ranked.scores, x.truth.scores); why != "" {
			return why, nil
		}
	}
	if x.where != nil {
		return "", nil // FTS5 has no statement for that count
	}
	counted, err := p.Ask(ctx, count)
	if err != nil {
		return "", fmt.Errorf("%s: count of %s: %w", name, x.text(), err)
	}
	if counted.count != int64(len(x.truth.blocks)) {
		return fmt.Sprintf("%d blocks match, want %d", counted.count, len(x.truth.blocks)), nil
	}
	return "", nil
}

// differ says how two lists of scores differ; empty if they do not.
func differ(got, want []float64) string {
	if len(got) != len(want) {
		return fmt.Sprintf("%d scores, want %d", len(got), len(want))
	}
	for i, s := range got {
		if math.Abs(s-want[i]) > tolerance*max(math.Abs(s), math.Abs(want[i])) {
			return fmt.Sprintf("hit %d scores %.9g, want %.9g", i+1, s, want[i])
		}
	}
	return ""
}
