package engine

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/hansard-search/hansard/engine/internal/faultfs"
	"github.com/hansard-search/hansard/engine/store"
)

// killVariable tells the child of TestKill its folder; the test binary runs itself.
const killVariable = "HANSARD_TEST_KILL"

// TestKill kills processes that import on a real disk, at random moments, and holds
// the archive to what they said before: each begins and ends its operations in words
// on a pipe.
func TestKill(t *testing.T) {
	kills := 3
	if *long {
		kills = 50
	} else if testing.Short() {
		t.Skip("starts processes")
	}
	r := seeded(t)
	dir := t.TempDir()
	s := &stage{t: t, may: ledger{}}
	acks := 0
	for i := range kills {
		out, err := killOne(dir, r.Uint64(), i%2 == 0, time.Duration(20+r.IntN(600))*time.Millisecond)
		if err != nil {
			t.Fatalf("kill %d: %v", i, err)
		}
		n, err := s.hear(out)
		if err != nil {
			t.Fatalf("kill %d: %v", i, err)
		}
		acks += n
		o := stageOptions
		if err := inspectDir(filepath.Join(dir, "archive"), o, s.may); err != nil {
			t.Fatalf("kill %d after %d acknowledgements: %v", i, acks, err)
		}
	}
	t.Logf("%d kills, %d acknowledgements", kills, acks)
	if acks < kills/2 {
		t.Errorf("only %d acknowledgements: the kills came too early to mean anything", acks)
	}
}

// killOne runs a child on the archive in dir and kills it once it has worked for so
// long, counted from its first acknowledgement if it is to have one. It returns what
// the child said.
func killOne(dir string, seed uint64, acknowledged bool, after time.Duration) (string, error) {
	cmd := exec.Command(os.Args[0], "-test.run=^TestKillChild$", "-test.count=1")
	cmd.Env = append(os.Environ(), killVariable+"="+dir, "HANSARD_TEST_SEED="+strconv.FormatUint(seed, 10))
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		return "", err
	}
	if err := cmd.Start(); err != nil {
		return "", err
	}
	in := bufio.NewReader(pipe)
	first, err := in.ReadString('\n')
	for line := first; err == nil && acknowledged && !strings.HasPrefix(line, "kill end"); first += line {
		line, err = in.ReadString('\n')
	}
	if err == nil {
		time.Sleep(after)
	}
	_ = cmd.Process.Kill() // it may have ended by a fault of its own: what it said tells
	rest, err2 := io.ReadAll(in)
	_ = cmd.Wait()                   // killed
	if err == nil || err == io.EOF { // it ended by itself: what it said tells why
		err = err2
	}
	return first + string(rest), err
}

// hear enters into the ledger what a child said.
func (s *stage) hear(said string) (acks int, err error) {
	for line := range strings.SplitSeq(said, "\n") {
		var verb, name string
		var v int
		if _, err := fmt.Sscanf(line, "kill %s %s %d", &verb, &name, &v); err != nil {
			if strings.Contains(line, "FAIL") || strings.Contains(line, "panic") {
				return acks, fmt.Errorf("the child ended by itself: %s", said)
			}
			continue
		}
		switch verb {
		case "begin":
			s.may[name] = append(s.may[name], v)
			if len(s.may[name]) == 1 {
				s.may[name] = append(s.may[name], 0)
			}
		case "end":
			s.may[name] = []int{v}
			acks++
		}
	}
	return acks, nil
}

func inspectDir(dir string, o Options, may ledger) error {
	o.FS, o.Now = store.Disk, func() time.Time { return testNow }
	e, err := Open(dir, o)
	if codeOf(err) == CodeArchiveMissing && len(may) == 0 {
		return nil
	}
	if err != nil {
		return fmt.Errorf("open: %w", err)
	}
	if err := e.inspect(may); err != nil {
		_ = e.Close() // the fault is the one to report
		return err
	}
	return e.Close()
}

// TestKillChild is the process that TestKill kills.
func TestKillChild(t *testing.T) {
	dir := os.Getenv(killVariable)
	if dir == "" {
		t.Skip("only as a child of TestKill")
	}
	seed, err := strconv.ParseUint(os.Getenv("HANSARD_TEST_SEED"), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(seed, 1))
	o := stageOptions
	o.Create, o.NoMerge, o.Now = true, false, func() time.Time { return testNow }
	s := &stage{t: t, fs: faultfs.New(store.Disk), src: filepath.Join(dir, "src"), may: ledger{}, force: true}
	if err := os.MkdirAll(s.src, 0o700); err != nil {
		t.Fatal(err)
	}
	if s.e, err = Open(filepath.Join(dir, "archive"), o); err != nil {
		t.Fatal(err)
	}
	fmt.Println("ready")
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); {
		if err := s.killStep(r); err != nil {
			t.Fatal(err)
		}
	}
}

// killStep does one thing at random and says so.
func (s *stage) killStep(r *rand.Rand) error {
	ctx := context.Background()
	name, v := string(rune('a'+r.IntN(8))), 1+r.IntN(4)
	switch r.IntN(10) {
	case 0:
		fmt.Println("kill begin", name, 0)
		if err := s.remove(name); err != nil {
			return err
		}
		fmt.Println("kill end", name, 0)
		return nil
	case 1:
		return s.e.index.flushNow(ctx)
	case 2:
		_, err := s.e.Rebuild(ctx, nil)
		return err
	case 3:
		return s.look()
	}
	fmt.Println("kill begin", name, v)
	if err := s.load(map[string]int{name: v}); err != nil {
		return err
	}
	fmt.Println("kill end", name, v)
	return nil
}
