package query

import (
	"slices"
	"strings"
)

// closest returns at most three of names that resemble word, best first.
func closest(word string, names []string) []string {
	type scored struct {
		name string
		like float64
	}
	var all []scored
	for _, n := range names {
		if like := similarity(word, n); like >= 0.6 {
			all = append(all, scored{n, like})
		}
	}
	slices.SortStableFunc(all, func(a, b scored) int {
		switch {
		case a.like > b.like:
			return -1
		case a.like < b.like:
			return 1
		}
		return strings.Compare(b.name, a.name)
	})
	var out []string
	for _, s := range all[:min(3, len(all))] {
		out = append(out, s.name)
	}
	return out
}

// similarity is the ratio of Ratcliff and Obershelp: twice the bytes in common
// blocks over all bytes, from 0 to 1.
func similarity(a, b string) float64 {
	if len(a)+len(b) == 0 {
		return 1
	}
	if len(a) > 64 || len(b) > 64 {
		return 0 // nobody mistypes that
	}
	return 2 * float64(common(a, b)) / float64(len(a)+len(b))
}

// common counts the bytes of the longest common block and of those on its sides.
func common(a, b string) int {
	var n, ai, bi int
	for i := range len(a) {
		for j := range len(b) {
			k := 0
			for i+k < len(a) && j+k < len(b) && a[i+k] == b[j+k] {
				k++
			}
			if k > n {
				n, ai, bi = k, i, j
			}
		}
	}
	if n == 0 {
		return 0
	}
	return n + common(a[:ai], b[:bi]) + common(a[ai+n:], b[bi+n:])
}
