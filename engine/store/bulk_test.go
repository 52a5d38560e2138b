package store

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/hansard-search/hansard/engine/internal/faultfs"
)

var long = flag.Bool("long", false, "crash at and fail every operation instead of each seventh")

// stride is the distance of the operations that a test tries.
func stride() int {
	switch {
	case *long:
		return 1
	case testing.Short():
		return 40
	}
	return 7
}

// wantNoBulk fails if tables lie outside of the database.
func wantNoBulk(t testing.TB, fs FS) {
	t.Helper()
	names, err := fs.List("store")
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range names {
		if strings.HasPrefix(n, bulkFile) {
			t.Errorf("%s is left", n)
		}
	}
}

// bulkBytes are n chunks and a little, of which some are equal.
func bulkBytes(r *rand.Rand, n int) []byte {
	all := randomBytes(r, n*chunkBytes+99)
	copy(all[(n-1)*chunkBytes:n*chunkBytes], all[(n-2)*chunkBytes:])
	return all
}

// TestBulk: chunks that are written as tables are there like others, are shared like
// others and go like others.
func TestBulk(t *testing.T) {
	fs := vfs.NewMem()
	s := openMem(t, fs)
	r := rng(t, 31)
	all := bulkBytes(r, bulkAfter+bulkGroup+3)
	chunks := bulkAfter + bulkGroup + 3 // one is there twice, one is cut
	before := s.db.Metrics().WAL.BytesIn
	id := putRaw(t, s, all)
	if n := s.db.Metrics().WAL.BytesIn - before; n > (bulkAfter+1)*chunkBytes {
		t.Errorf("%d bytes went through the log", n)
	}
	z := seal(t, s, say("r", "same"))
	z.Raw = []RawID{id}
	commitAs(t, s, Commit{Sessions: []*Sealed{z}})
	wantRaw(t, s, id, all)
	if n := keys(t, s, prefixChunk); n != chunks {
		t.Errorf("%d chunks, want %d", n, chunks)
	}
	wantClean(t, s)
	wantNoBulk(t, fs)

	longer := append(bytes.Clone(all), randomBytes(r, chunkBytes)...)
	id = putRaw(t, s, longer)
	z = seal(t, s, say("r", "more"))
	z.Raw = []RawID{id}
	commitAs(t, s, Commit{Sessions: []*Sealed{z}})
	if n := keys(t, s, prefixChunk); n != chunks+1 {
		t.Errorf("%d chunks after a chunk more, want %d", n, chunks+1)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = openMem(t, fs)
	defer s.Close()
	wantRaw(t, s, id, longer)
	wantClean(t, s)
	no, _, err := snap(t, s).Lookup(say("r").head.ID())
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Delete(context.Background(), no); err != nil {
		t.Fatal(err)
	}
	if n := keys(t, s, prefixChunk); n != 0 {
		t.Errorf("%d chunks of nothing", n)
	}
	wantClean(t, s)
}

// TestBulkLeavesOthers: opening removes what a crash has left, and nothing else.
func TestBulkLeavesOthers(t *testing.T) {
	fs := vfs.NewMem()
	if err := openMem(t, fs).Close(); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"ingest-notes.txt", "ingest-1-2.old", "ingest-7-0"} {
		f, err := fs.Create(fs.PathJoin("store", name), vfs.WriteCategoryUnspecified)
		if err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if err := fs.MkdirAll(fs.PathJoin("store", "ingest-8-0", "within"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := openMem(t, fs).Close(); err != nil {
		t.Fatal(err)
	}
	names, err := fs.List("store")
	if err != nil {
		t.Fatal(err)
	}
	names = slices.DeleteFunc(names, func(n string) bool { return !strings.HasPrefix(n, bulkFile) })
	slices.Sort(names)
	if want := []string{"ingest-1-2.old", "ingest-8-0", "ingest-notes.txt"}; !slices.Equal(names, want) {
		t.Errorf("left: %v, want %v", names, want)
	}
}

// TestBulkStops: an upload that its reader or its context ends leaves nothing.
func TestBulkStops(t *testing.T) {
	fs := vfs.NewMem()
	s := openMem(t, fs)
	defer s.Close()
	r := rng(t, 32)
	for chunks := 0; chunks < bulkAfter+2*bulkGroup; chunks += 1 + stride()/7 {
		part := randomBytes(r, chunks*chunkBytes)
		bad := io.MultiReader(bytes.NewReader(part), readerFunc(func([]byte) (int, error) { return 0, syscall.EIO }))
		if _, _, err := s.PutRaw(context.Background(), bad, RawMeta{}); !errors.Is(err, syscall.EIO) {
			t.Fatalf("after %d chunks: %v", chunks, err)
		}
		ctx, cancel := context.WithCancel(context.Background())
		ends := io.MultiReader(bytes.NewReader(part), readerFunc(func(p []byte) (int, error) { cancel(); return len(p), nil }))
		if _, _, err := s.PutRaw(ctx, ends, RawMeta{}); !errors.Is(err, context.Canceled) {
			t.Fatalf("after %d chunks: %v", chunks, err)
		}
	}
	if c, u := keys(t, s, prefixChunk), keys(t, s, prefixUse); c != 0 || u != 0 {
		t.Errorf("%d chunks and %d uses are left", c, u)
	}
	wantClean(t, s)
	wantNoBulk(t, fs)
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// TestBulkCrash crashes at operations of an upload and of its commit: the bytes
// are there once the commit is acknowledged, and nothing is there that nobody named.
func TestBulkCrash(t *testing.T) {
	t.Parallel()
	for _, percent := range []int{0, 50, 100} {
		mem := vfs.NewCrashableMem()
		fs := faultfs.New(mem)
		s, err := Open("store", Options{FS: fs})
		if err != nil {
			t.Fatal(err)
		}
		s.bulkAfter = 1
		r := rng(t, 40+uint64(percent))
		all := bulkBytes(r, bulkGroup+3)
		type clone struct {
			op string
			fs FS
		}
		var clones []clone
		ops := r.IntN(stride())
		var mu sync.Mutex // Pebble has goroutines of its own
		fs.Observe(func(op faultfs.Op) {
			mu.Lock()
			defer mu.Unlock()
			if ops++; ops%stride() != 0 {
				return
			}
			cfg := vfs.CrashCloneCfg{UnsyncedDataPercent: percent, RNG: rand.New(rand.NewPCG(r.Uint64(), 1))}
			clones = append(clones, clone{fmt.Sprint(op.Kind, " ", op.Path), mem.CrashClone(cfg)})
		})
		id := putRaw(t, s, all)
		commitAs(t, s, Commit{Cursors: []Cursor{{Path: "p", Raw: id}}})
		fs.Observe(nil)
		mu.Lock()
		clones = append(clones, clone{"committed", mem.CrashClone(vfs.CrashCloneCfg{})})
		mu.Unlock()
		for i, c := range clones {
			again := openMem(t, c.fs)
			wantClean(t, again)
			wantNoBulk(t, c.fs)
			cur, ok, err := snap(t, again).Cursor("p")
			if err != nil || !ok && i == len(clones)-1 {
				t.Errorf("cursor: %v, %v", ok, err)
			}
			if ok {
				wantRaw(t, again, cur.Raw, all)
			} else if n := keys(t, again, prefixChunk); n != 0 {
				t.Errorf("%d chunks that nobody named", n)
			}
			if err := again.Close(); err != nil {
				t.Error(err)
			}
			if t.Failed() {
				t.Fatalf("crash after operation %d, %s, %d %% unsynced", i, c.op, percent)
			}
		}
		t.Logf("%d crashes", len(clones))
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestBulkFails: any operation of an upload may fail; the store says so and what is
// on disk opens and is whole.
func TestBulkFails(t *testing.T) {
	t.Parallel()
	r := rng(t, 50)
	all := bulkBytes(r, bulkGroup+3)
	for n := int64(1 + r.IntN(stride())); ; n += int64(stride()) {
		mem := vfs.NewCrashableMem()
		fs := faultfs.New(mem)
		s, err := Open("store", Options{FS: fs, CloseTimeout: time.Second})
		if err != nil {
			t.Fatal(err)
		}
		s.bulkAfter = 1
		var hit atomic.Bool
		fs.Set(faultfs.Nth(n, false, faultfs.Writes, syscall.EIO, func(faultfs.Op) { hit.Store(true) }))
		_, _, err = s.PutRaw(context.Background(), bytes.NewReader(all), RawMeta{})
		fs.Set()
		clone := mem.CrashClone(vfs.CrashCloneCfg{})
		closed := s.Close()
		if err == nil && s.Err() == nil && closed != nil {
			t.Errorf("operation %d: close: %v", n, closed)
		}
		again := openMem(t, clone)
		wantClean(t, again)
		wantNoBulk(t, clone)
		if c := keys(t, again, prefixChunk); c != 0 {
			t.Errorf("operation %d: %d chunks that nobody named", n, c)
		}
		if err := again.Close(); err != nil {
			t.Error(err)
		}
		if t.Failed() {
			t.FailNow()
		}
		if !hit.Load() {
			t.Logf("fewer than %d operations", n)
			return
		}
	}
}
