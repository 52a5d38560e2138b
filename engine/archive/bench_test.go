package archive

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
)

// longSession feeds a deriver n calls with their results and gives the bytes of
// text that went through it.
func longSession(tb testing.TB, d *Deriver, n int) (size int64) {
	output := strings.Repeat("ok  \texample.org/shop/tax\t0.01s\n", 60)
	call := Message{Role: RoleAssistant, Model: "m", Time: 1, Blocks: []Block{
		text("Now I run the tests of the tax package once more."), {Type: BlockToolUse, ToolName: "Bash"}}}
	answer := Message{Role: RoleTool, Time: 2, Blocks: []Block{{Type: BlockToolResult, Text: output, Outcome: Outcome{IsError: True}}}}
	for i := range n {
		id := fmt.Sprint("toolu_", i)
		call.Position, answer.Position = 2*i, 2*i+1
		call.Blocks[0].Seq, call.Blocks[1].Seq, answer.Blocks[0].Seq = 0, 0, 0
		call.Type, call.Material, answer.Type, answer.Material = "", "", "", ""
		call.Blocks[1].ToolID, answer.Blocks[0].ToolID = id, id
		call.Blocks[1].ToolInput = `{"command":"go test ./tax","description":"Run the tests"}`
		for _, m := range []*Message{&call, &answer} {
			if err := d.Add(m); err != nil {
				tb.Fatal(err)
			}
			size += int64(len(m.Blocks[0].Text))
		}
	}
	return size
}

func BenchmarkDeriver(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		d := NewDeriver(ClaudeCode)
		b.SetBytes(longSession(b, d, 1000))
		d.Finish(&Session{Origin: ClaudeCode, Native: "s", Created: NoTime, Updated: NoTime})
	}
}

func BenchmarkSearchText(b *testing.B) {
	block := use("t", "Edit", `{"file_path":"/r/shop/tax.go","new_string":"`+strings.Repeat("x", 500)+`"}`)
	var r InputReader
	var buf []byte
	b.ReportAllocs()
	for b.Loop() {
		buf = r.AppendSearchText(buf[:0], &block)
	}
}

// TestMemoryGrowsWithActionsOnly: a long session leaves less than a kilobyte for
// each action, whatever its texts weigh.
func TestMemoryGrowsWithActionsOnly(t *testing.T) {
	heap := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	const actions = 10_000
	before := heap()
	d := NewDeriver(ClaudeCode)
	size := longSession(t, d, actions)
	grown := int64(heap()) - int64(before)
	if grown > 1024*actions {
		t.Errorf("%d bytes are held after %d actions with %d bytes of text", grown, actions, size)
	}
	t.Logf("%d bytes per action", grown/actions)
	if len(d.waiting) != 0 {
		t.Errorf("%d calls still wait", len(d.waiting))
	}
	runtime.KeepAlive(d)
}

func TestSearchTextAllocations(t *testing.T) {
	block := use("t", "Edit", `{"file_path":"/r/shop/tax.go","new_string":"x"}`)
	plain := text("a plain text")
	var r InputReader
	buf := make([]byte, 0, 1000)
	if n := testing.AllocsPerRun(100, func() { buf = r.AppendSearchText(buf[:0], &plain) }); n != 0 {
		t.Errorf("plain text takes %v allocations", n)
	}
	if n := testing.AllocsPerRun(100, func() { buf = r.AppendSearchText(buf[:0], &block) }); n > 1 {
		t.Errorf("a call takes %v allocations, want one for its path", n)
	}
}
