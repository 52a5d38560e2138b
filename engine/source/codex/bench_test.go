package codex

import (
	"bytes"
	"context"
	"io"
	"testing"

	"github.com/hansard-search/hansard/engine/archive"
	"github.com/hansard-search/hansard/engine/source"
)

func BenchmarkRead(b *testing.B) {
	for _, bench := range []struct {
		name  string
		share float64
	}{{"talk", 0}, {"compacted", 0.9}} {
		b.Run(bench.name, func(b *testing.B) {
			var buf bytes.Buffer
			if err := (generator{Bytes: 8 << 20, CompactShare: bench.share, CompactBytes: 1 << 20, Seed: 3}).writeTo(&buf); err != nil {
				b.Fatal(err)
			}
			f := source.File{Path: "rollout-x.jsonl", Size: int64(buf.Len()), ModTime: archive.NoTime, Open: func() (io.ReadCloser, error) {
				return io.NopCloser(bytes.NewReader(buf.Bytes())), nil
			}}
			b.SetBytes(int64(buf.Len()))
			b.ReportAllocs()
			var s meteredSink
			for b.Loop() {
				s = meteredSink{}
				if _, err := (Format{}).Read(context.Background(), f, source.Limits{}, &s); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(s.messages)*float64(b.N)/b.Elapsed().Seconds(), "messages/s")
		})
	}
}
