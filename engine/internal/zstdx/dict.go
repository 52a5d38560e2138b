package zstdx

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/cespare/xxhash/v2"
	"github.com/klauspost/compress/zstd"
)

// ErrSamples is what BuildDict answers when the samples are too few, too short or
// too unlike each other to gain from a dictionary.
var ErrSamples = errors.New("zstd: samples do not make a dictionary")

const (
	gramLen    = 8   // bytes that count as a repetition
	segmentLen = 256 // bytes that enter a dictionary together
	tableBits  = 18  // counters of grams; a collision only blurs a score
	minHistory = 256
)

// BuildDict makes a dictionary of at most about maxLen bytes (its tables add a few
// hundred) from samples of what will be encoded. Equal samples in equal order make
// equal dictionaries. It counts how many samples share each run of 8 bytes, takes
// the segments that cover most of what is shared, one per stretch of the samples,
// and puts the most valuable last, where references to it are shortest.
func BuildDict(samples [][]byte, maxLen int) (dict []byte, err error) {
	defer recovered(&err)
	counts := countGrams(samples)
	history := pickSegments(samples, counts, maxLen)
	if len(history) < minHistory {
		return nil, ErrSamples
	}
	contents := make([][]byte, 0, len(samples))
	for _, s := range samples {
		if len(s) >= gramLen {
			contents = append(contents, s)
		}
	}
	// Ids below 32768 and from 2^31 up are reserved by the format.
	id := 32768 + uint32(xxhash.Sum64(history)%(1<<31-32768))
	dict, err = zstd.BuildDict(zstd.BuildDictOptions{
		ID:       id,
		Contents: contents,
		History:  history,
		Offsets:  [3]int{1, 4, 8},
		Level:    zstd.SpeedDefault,
	})
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrSamples, err)
	}
	return dict, nil
}

func gramSlot(b []byte) uint32 {
	return uint32(binary.LittleEndian.Uint64(b) * 0x9e3779b97f4a7c15 >> (64 - tableBits))
}

// countGrams counts the samples that hold each gram: a sample counts once however
// often it repeats the gram, since its own repetitions need no dictionary.
func countGrams(samples [][]byte) []uint32 {
	counts := make([]uint32, 1<<tableBits)
	last := make([]uint32, 1<<tableBits) // number of the last sample that counted, from one
	for i, s := range samples {
		for j := 0; j+gramLen <= len(s); j++ {
			slot := gramSlot(s[j:])
			if last[slot] != uint32(i+1) {
				last[slot] = uint32(i + 1)
				counts[slot]++
			}
		}
	}
	return counts
}

// pickSegments walks the samples in as many stretches as segments fit and takes the
// best segment of each, best first in the walk, so that the caller's history ends
// with the first picks. A taken gram is worth nothing afterwards.
func pickSegments(samples [][]byte, counts []uint32, maxLen int) []byte {
	want := maxLen / segmentLen
	if want <= 0 {
		return nil
	}
	var picked [][]byte
	for n := 0; n < want; {
		before := n
		stride := max(1, len(samples)/(want-n+1))
		for from := 0; from < len(samples) && n < want; from += stride {
			seg := bestSegment(samples[from:min(from+stride, len(samples))], counts)
			if seg == nil {
				continue
			}
			for j := 0; j+gramLen <= len(seg); j++ {
				counts[gramSlot(seg[j:])] = 0
			}
			picked = append(picked, seg)
			n++
		}
		if n == before {
			break
		}
	}
	var history []byte
	for i := len(picked) - 1; i >= 0; i-- {
		history = append(history, picked[i]...)
	}
	return history
}

// bestSegment gives the segment of the samples whose grams most samples share; nil
// if none is shared by two.
func bestSegment(samples [][]byte, counts []uint32) []byte {
	var best []byte
	var bestScore uint64
	for _, s := range samples {
		var score uint64
		from := 0
		for j := 0; j+gramLen <= len(s); j++ {
			score += worth(counts, s[j:])
			if j+gramLen-from > segmentLen {
				score -= worth(counts, s[from:])
				from++
			}
			if score > bestScore {
				best, bestScore = s[from:j+gramLen], score
			}
		}
	}
	return best
}

func worth(counts []uint32, gram []byte) uint64 {
	if c := counts[gramSlot(gram)]; c > 1 {
		return uint64(c)
	}
	return 0
}
