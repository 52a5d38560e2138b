package engine

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// A mutant is the program with one step of its durability left out or out of order.
type mutant struct {
	name     string
	file     string // below the module's root
	old, new string // old occurs exactly once
	tests    suite  // of which at least one must fail
}

// A suite is tests of one package. At least one of them makes the states in which its
// mutants show in every run; what the others draw is besides.
type suite struct {
	pkg  string
	run  string   // see -test.run
	args []string // further ones
}

var (
	crashTests = suite{".", "^TestCrashChoices$|^TestCrashAnywhere$|^TestCrashTornWrite$", nil}
	writeTests = suite{".", "^TestWriteFails$", nil}
	nthTests   = suite{".", "^TestNthOperationFails$|^TestNthOperationFailsInRecovery$", []string{"-long"}} // every operation, not one of seven
	logTests   = suite{".", "^TestLostLogComesBack$", nil}
	ackTests   = suite{"./store", "^TestNothingIsAcknowledgedBeforeItsLog$", nil}
	orderTests = suite{"./store", "^TestMarkersAreOrdered$", nil}
	orphans    = suite{"./store", "^TestCrash$", nil}
	closeTests = suite{"./store", "^TestCloseFlushes$", nil}
	sealTests  = suite{"./store", "^TestSeal$", nil}
	siteTests  = suite{"./store", "^TestReplaced", nil}
	lossTests  = suite{"./store", "^TestLostFile$|^TestLossIsKept$|^TestPruneAndLoss$", nil}
)

var mutants = []mutant{
	{"a commit is not synced", "engine/store/commit.go", "t.s.apply(t.b, pebble.Sync)", "t.s.apply(t.b, pebble.NoSync)", crashTests},
	{"a write is acknowledged before it is done", "engine/store/jobs.go", "j.done <- s.inPlace(j.run)", "j.done <- nil\n\t\t\t_ = s.inPlace(j.run)", ackTests},
	{"a segment is not synced", "segments/folder.go", "err = file.Sync()", "err = nil", crashTests},
	{"a segment's folder is not synced", "segments/folder.go", "return info, f.sync()", "return info, nil", crashTests},
	{"the folder of segments is not synced into the archive", "segments/folder.go", "(&Folder{fs, fs.PathDir(dir)}).sync()", "error(nil)", crashTests},
	{"the folders above the archive are not synced", "engine/store/dir.go", "syncDir(s.fs, up); err", "error(nil); err", crashTests},
	{"FORMAT is renamed before it is synced", "engine/store/door.go", "err = errors.Join(err, f.Sync())", "err = errors.Join(err, nil)", crashTests},
	{"a marker may be durable before its MANIFEST", "engine/store/parkfs.go", "if err := p.orderMarkers(name); err != nil {\n\t\treturn nil, err", "if err := error(nil); err != nil {\n\t\treturn nil, err", orderTests},
	{"a marker may go before the next is durable", "engine/store/parkfs.go", "if err := p.orderMarkers(name); err != nil {\n\t\treturn err", "if err := error(nil); err != nil {\n\t\treturn err", orderTests},
	{"old segments go before the new list is durable", "engine/merge.go",
		"	if err := x.publish(ctx); err != nil {\n\t\treturn err\n\t}\n\tfor _, o := range old {\n\t\tx.retire(o)\n\t}\n",
		"	for _, o := range old {\n\t\tx.retire(o)\n\t}\n\tif err := x.publish(ctx); err != nil {\n\t\treturn err\n\t}\n", crashTests},
	{"dirty marks go before their sessions are in a file", "engine/index.go", "!ok || at.member.inFile()", "!ok || at.member != nil", crashTests},
	{"segments that are listed are swept", "engine/index.go", "!listed[n] && !x.opts.ReadOnly", "!x.opts.ReadOnly", crashTests},
	{"source bytes go although a commit names them", "engine/store/recover.go", "if linked || err != nil {", "if _ = linked; err != nil {", crashTests},
	{"what an import writes is not noted as unfinished", "engine/store/revision.go", "r.batch.Set(keyRevision(prefixPending, r.no, r.rev), nil, nil)", "error(nil)", orphans},
	{"the high-water mark is ahead of the commit", "engine/store/commit.go", "if err := t.s.apply(t.b, pebble.Sync)", "t.s.mark.write(t.state.Generation, t.s.chain.last+1)\n\tif err := t.s.apply(t.b, pebble.Sync)", crashTests},
	{"a replaced folder goes unnoticed", "engine/store/site.go", "if err == nil && s.info != nil && os.SameFile(s.info, now) {", "if _, _ = err, now; true {", siteTests},
	{"files are made in a replaced folder", "engine/store/parkfs.go", "return p.site.check()", "return p.site.seen()", siteTests},
	{"files are removed from a replaced folder", "engine/store/parkfs.go", "if err := p.site.check(); err != nil {\n\t\tp.fail.set(\"remove\"", "if err := p.site.seen(); err != nil {\n\t\tp.fail.set(\"remove\"", siteTests},
	{"a hole in the links goes unnoticed", "engine/store/whole.go", "if g.writes > 0 {", "if false {", lossTests},
	{"a lost end of the log goes unnoticed", "engine/store/whole.go", "case batch > s.chain.last:", "case false:", lossTests},
	{"a loss is not kept", "engine/store/whole.go", "g.add(l)", "_ = l", lossTests},
	{"what stands on a loss is trusted", "engine/store/mend.go", "return t.distrust(p.No, true)", "return nil", lossTests},
	{"the chain is pruned before its links are in tables", "engine/store/chain.go", "case <-c.flushed:\n\t\treturn true\n\tdefault:\n\t\treturn false", "default:\n\t\treturn c.flushed != nil", lossTests},
	{"the index is trusted after a loss", "engine/index.go", "doubt: doubtful(st.Losses())", "doubt: false", logTests},
	{"Close leaves records in the log", "engine/store/store.go", "err = mapErr(s.db.Flush())", "err = nil", closeTests},
	{"the seal is not looked at", "engine/store/opening.go", "s.checkSeal(); err", "error(nil); err", sealTests},
	{"a failed write of a segment goes unnoticed", "engine/store/parkfs.go", "	p.fail.set(op, path, err)\n\tif p.told {\n\t\treturn p.fail.error()", "	if p.told {\n\t\treturn err", writeTests},
	{"searches give up with the write that they wait for", "engine/catchup.go", "x.readOnly() != readOnly", "false && readOnly", writeTests},
	{"a failed write of Pebble is returned to it", "engine/store/parkfs.go", "if err == nil || !p.armed.Load() {", "if err == nil || !p.told {", nthTests},
	{"an opening fails under the feet of Pebble's goroutines", "engine/store/opening.go", "s.fs.armed.Store(true)\n\t\t}\n\t}}", "}\n\t}}", nthTests},
}

// TestMutantsDie tests the tests: each mutant must be caught.
func TestMutantsDie(t *testing.T) {
	if !*long {
		t.Skip("builds and tests the engine for each mutant: with -long, some ten minutes")
	}
	for _, m := range mutants {
		t.Run(m.name, func(t *testing.T) { m.mustDie(t) })
	}
}

// TestMutantsApply holds that each mutant still changes one place of the program.
func TestMutantsApply(t *testing.T) {
	for _, m := range mutants {
		m.source(t)
	}
}

// source is the mutated file.
func (m *mutant) source(t *testing.T) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("..", filepath.FromSlash(m.file)))
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(b), m.old); n != 1 {
		t.Errorf("%s: %q occurs %d times in %s, want once", m.name, m.old, n, m.file)
	}
	return []byte(strings.Replace(string(b), m.old, m.new, 1))
}

func (m *mutant) mustDie(t *testing.T) {
	dir := t.TempDir()
	original, err := filepath.Abs(filepath.Join("..", filepath.FromSlash(m.file)))
	if err != nil {
		t.Fatal(err)
	}
	changed := filepath.Join(dir, "mutant.go")
	if err := os.WriteFile(changed, m.source(t), 0o600); err != nil {
		t.Fatal(err)
	}
	overlay, err := json.Marshal(map[string]any{"Replace": map[string]string{original: changed}})
	if err != nil {
		t.Fatal(err)
	}
	list := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(list, overlay, 0o600); err != nil {
		t.Fatal(err)
	}
	binary := filepath.Join(dir, "mutant.test")
	if out, err := exec.Command("go", "test", "-c", "-vet=off", "-overlay", list, "-ldflags=-w", "-o", binary, m.tests.pkg).CombinedOutput(); err != nil {
		t.Fatalf("the mutant does not build: %s", out)
	}
	args := append([]string{"-test.run", m.tests.run, "-test.failfast", "-test.timeout", "5m"}, m.tests.args...)
	cmd := exec.Command(binary, args...)
	cmd.Dir = m.tests.pkg
	out, err := cmd.CombinedOutput()
	if err == nil {
		t.Errorf("the mutant lives")
		return
	}
	t.Logf("killed by %s: %.300s", killer.FindStringSubmatch(string(out) + "--- FAIL: nobody ")[1], cause(string(out)))
}

var killer = regexp.MustCompile(`--- FAIL: (\S+)`)

// cause is the line of a failing test that says why.
func cause(out string) string {
	for line := range strings.Lines(out) {
		if strings.Contains(line, "_test.go") && !strings.Contains(line, " seed ") && !strings.Contains(line, " disks, ") || strings.HasPrefix(line, "panic") || strings.HasPrefix(line, "fatal") {
			return strings.TrimSpace(line)
		}
	}
	return out
}
