package zstdx

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// transcripts are up to 12 MB of the corpus, if there is one, or samples.
func transcripts(b *testing.B) [][]byte {
	root := os.Getenv("HANSARD_CORPUS")
	if root == "" {
		return [][]byte{bytes.Join(samples(8000, 7), []byte("\n"))}
	}
	var files [][]byte
	total := 0
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".jsonl") || total > 12<<20 {
			return err
		}
		text, err := os.ReadFile(path)
		files = append(files, text)
		total += len(text)
		return err
	})
	if err != nil {
		b.Fatal(err)
	}
	return files
}

// pieces cuts files into frames.
func pieces(files [][]byte, size int) (frames [][]byte) {
	for _, f := range files {
		for from := 0; from < len(f); from += size {
			frames = append(frames, f[from:min(len(f), from+size)])
		}
	}
	return frames
}

// dictionaryOf makes a dictionary from frames spread over all.
func dictionaryOf(b *testing.B, frames [][]byte) []byte {
	var some [][]byte
	for i := 0; i < len(frames); i += max(1, len(frames)/256) {
		some = append(some, frames[i][:min(8<<10, len(frames[i]))])
	}
	dict, err := BuildDict(some, 64<<10)
	if err != nil {
		b.Fatal(err)
	}
	return dict
}

// BenchmarkCodec compares levels, frame sizes and dictionaries by speed and by the
// ratio of sizes.
func BenchmarkCodec(b *testing.B) {
	files := transcripts(b)
	for _, size := range []int{8 << 10, 16 << 10, 32 << 10, 1 << 20} {
		frames := pieces(files, size)
		for _, trained := range []bool{false, true} {
			var dict []byte
			if trained && size == 1<<20 {
				continue
			}
			if trained {
				dict = dictionaryOf(b, frames)
			}
			for _, level := range []Level{Fast, Default} {
				benchCodec(b, fmt.Sprintf("size=%d/dict=%v/level=%d", size, trained, level), mustCodec(b, level, dict), frames)
			}
		}
	}
}

func benchCodec(b *testing.B, name string, c *Codec, frames [][]byte) {
	var packed [][]byte
	in, out := 0, 0
	for _, f := range frames {
		packed = append(packed, c.Encode(nil, f))
		in, out = in+len(f), out+len(packed[len(packed)-1])
	}
	var buf []byte
	b.Run("encode/"+name, func(b *testing.B) {
		b.SetBytes(int64(in))
		for b.Loop() {
			for _, f := range frames {
				buf = c.Encode(buf[:0], f)
			}
		}
		b.ReportMetric(float64(in)/float64(out), "ratio")
	})
	b.Run("decode/"+name, func(b *testing.B) {
		b.SetBytes(int64(in))
		for b.Loop() {
			for _, p := range packed {
				var err error
				if buf, err = c.Decode(buf[:0], p, 1<<20); err != nil {
					b.Fatal(err)
				}
			}
		}
	})
}
