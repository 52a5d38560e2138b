package postings

// phraseCursors is how many terms of a phrase have a cursor on the stack; the
// terms beyond are searched from the start of their list each time.
const phraseCursors = 16

// PhraseFreq is the number of instances of a phrase in one row: of the positions p
// such that each lists[i] holds p+offsets[i]. The lists are the positions of the
// phrase's terms in the row, ascending; there are as many offsets as lists. A
// phrase without terms has no instance.
func PhraseFreq(lists [][]uint32, offsets []uint32) int {
	n := 0
	walkPhrase(lists, offsets, func(uint32) { n++ })
	return n
}

// AppendPhrase appends the positions p of the instances that [PhraseFreq] counts,
// ascending.
func AppendPhrase(dst []uint32, lists [][]uint32, offsets []uint32) []uint32 {
	walkPhrase(lists, offsets, func(p uint32) { dst = append(dst, p) })
	return dst
}

// walkPhrase drives the search from the shortest list and gallops in the others.
func walkPhrase(lists [][]uint32, offsets []uint32, found func(p uint32)) {
	if len(lists) == 0 {
		return
	}
	driver := 0
	for i, l := range lists {
		if len(l) < len(lists[driver]) {
			driver = i
		}
	}
	var cursors [phraseCursors]int
	last := int64(-1)
next:
	for _, x := range lists[driver] {
		if x < offsets[driver] || int64(x) == last {
			continue
		}
		last = int64(x)
		p := x - offsets[driver]
		for i, l := range lists {
			if i == driver {
				continue
			}
			want := uint64(p) + uint64(offsets[i])
			from := 0
			if i < phraseCursors {
				from = cursors[i]
			}
			at := seek(l, from, want)
			if i < phraseCursors {
				cursors[i] = at
			}
			if at == len(l) {
				return
			}
			if uint64(l[at]) != want {
				continue next
			}
		}
		found(p)
	}
}

// seek returns the first i at or after from with l[i] >= want, or len(l).
func seek(l []uint32, from int, want uint64) int {
	lo, step := from, 1
	for lo < len(l) && uint64(l[lo]) < want {
		lo += step
		step *= 2
	}
	if lo == from {
		return lo
	}
	lo, hi := lo-step/2+1, min(lo, len(l))
	for lo < hi {
		if m := int(uint(lo+hi) >> 1); uint64(l[m]) < want {
			lo = m + 1
		} else {
			hi = m
		}
	}
	return lo
}
