package segments

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/hansard-search/hansard/postings"
)

// rewrite lays a segment out again with one section changed, so that all checksums
// are right and only the content is wrong. change gets the bytes to keep and to
// alter; a nil result drops the section.
func rewrite(t *testing.T, b []byte, section string, change func([]byte) []byte) []byte {
	t.Helper()
	f, err := openFile("rewrite", mapping{b: b})
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	dst := newSink(&out)
	found := false
	meta, err := f.must(tagMeta, "")
	if err != nil {
		t.Fatal(err)
	}
	for i := range f.sections {
		s := &f.sections[i]
		raw := bytes.Clone(b[s.off : s.off+s.size])
		if s.String() == section {
			found = true
			raw = change(raw)
		}
		switch {
		case s.tag == tagMeta:
			meta = raw
		case s.tag != tagPage && raw != nil:
			dst.bytes(s.tag, s.name, raw)
		}
	}
	if !found {
		t.Fatalf("no section %q", section)
	}
	if _, err := dst.finish(f.info, meta); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// plantModel is small and has something in every section: frequent terms for
// bounds, several values per row, missing numbers, inherited rows.
func plantModel() []mSession {
	var model []mSession
	for s := range 4 {
		session := mSession{ref: Ref{uint64(s), 1}, vals: []Value{{Column: 0, Text: fmt.Sprint("repo", s%2)}, {Column: 1, Number: int64(10 * s)}}}
		for m := range 10 {
			message := mMessage{inherited: s == 1 && m < 3, vals: []Value{{Column: 2, Text: "user"}, {Column: 2, Text: fmt.Sprint("r", m)}}}
			for b := range 10 {
				message.blocks = append(message.blocks, mBlock{text: fmt.Sprintf("common words common in block b%d", b), inherited: message.inherited})
			}
			session.messages = append(session.messages, message)
		}
		session.actions = []mAction{{use: 3, result: 4, vals: []Value{{Column: 6, Text: "p"}}}, {use: 99, result: -1, inherited: s == 1}}
		model = append(model, session)
	}
	return model
}

// section text for lists: the first long list in the dictionary is that of "block".
func TestCheckNamesPlantedFaults(t *testing.T) {
	sound := build(t, Options{Schema: testSchema}, plantModel())
	u32 := func(i int, v uint32) func([]byte) []byte {
		return func(b []byte) []byte { binary.LittleEndian.PutUint32(b[4*i:], v); return b }
	}
	u64 := func(i int, v uint64) func([]byte) []byte {
		return func(b []byte) []byte { binary.LittleEndian.PutUint64(b[8*i:], v); return b }
	}
	flip := func(i int) func([]byte) []byte {
		return func(b []byte) []byte { b[(i+len(b))%len(b)] ^= 1; return b }
	}
	drop := func([]byte) []byte { return nil }
	for _, c := range []struct{ fault, code, want string }{
		{"missing posting", FaultPostingMissing, "LENS text: block 10 has 5 tokens, says 6"},
		{"extra posting", FaultPostingExtra, "LENS text: block 10 has 7 tokens, says 6"},
	} {
		wantFault(t, c.fault, Check(open(t, plantPosting(t, c.fault))), c.code, c.want)
	}
	for _, c := range []struct {
		fault, section string
		change         func([]byte) []byte
		code, want     string
	}{
		{"length", "LENS text", u32(7, 9), FaultLength, "LENS text: block 7 has 6 tokens, says 9"},
		{"frequency", "FREQ text", flip(5), FaultPostings, "POSN text: list of"},
		{"position", "POSN text", flip(-1), FaultPostingExtra, "POSN text: list of"},
		{"row", "DOCS text", flip(-1), FaultPostings, "DOCS text: "},
		{"score bound", "BNDS text", flip(-1), FaultPostings, "BNDS text: list of"},
		{"dictionary order", "DICT text", func(b []byte) []byte { return bytes.Replace(b, []byte("common"), []byte("aommon"), 1) }, FaultDictionaryOrder, "DICT text: term \"aommon\" after"},
		{"shared prefix", "DICT text", func(b []byte) []byte { return bytes.Replace(b, []byte("common"), []byte("bommon"), 1) }, FaultDictionary, "DICT text: term \"bommon\" is there and not found"},
		{"block key", "DIDX text", flip(-1), FaultDictionary, "DIDX text: block"},
		{"document frequency", "DICT text", func(b []byte) []byte {
			i := bytes.Index(b, []byte("common")) + len("common")
			b[i+1] ^= 1 // the rows of the list, by one: its sizes follow from them
			return b
		}, FaultDocumentFrequency, "DOCS text: bytes 899 to 911 of 909"},
		{"span gap", "SPAN session/message", u32(4, 39), FaultSpanGap, "SPAN session/message: runs cover 39 of 40"},
		{"span overlap", "SPAN message/block", u32(2, 5), FaultSpanOverlap, "SPAN message/block: run 2 overlaps"},
		{"spans disagree", "SPAN session/block", u32(1, 101), FaultSpanMismatch, "SPAN session/block: session 0 has blocks 0 to 101, its messages 0 to 100"},
		{"forward value", "KFWD session.repo", flip(8), FaultColumnValue, "KFWD session.repo: row 0 has the values"},
		{"value set", "KSET session.repo", flip(0), FaultColumnValue, "KSET session.repo: value 0 is in"},
		{"value order", "KVAL session.repo", flip(-1), FaultDictionaryOrder, "KVAL session.repo: value 1 is not after"},
		{"number", "NUMB session.words", func(b []byte) []byte { b[numberHead+3] = 31; return b }, FaultColumnValue, "NUMB session.words: 4 numbers from 0 to 31, says 4 from 0 to 30"},
		{"number bounds", "NUMB session.words", u64(2, 31), FaultColumnValue, "NUMB session.words: 4 numbers from 0 to 30, says 4 from 0 to 31"},
		{"inherited row", "INHR block", func([]byte) []byte { b, _ := postings.NewSet([]uint32{400}).AppendBinary(nil); return b }, FaultInherited, "INHR block: row 400 of 400"},
		{"lost inherited rows", "INHR block", drop, FaultTotals, "TOTL: session 1 says 70 blocks"},
		{"action block", "ACTB", u32(3, 1<<31), FaultAction, "ACTB: action 1 has blocks 99 and -2147483648"},
		{"session totals", "TOTL", u64(0, 99), FaultTotals, "TOTL: session 0 says 99 blocks"},
		{"searchable", "SRCH text", u64(0, 0), FaultSearchable, "SRCH text: block 0 has 6 tokens and no text"},
		{"archive totals", "META", flip(8), FaultTotals, "META: says"},
		{"lost column", "NUMB block.size", drop, FaultLayout, "NUMB block.size: missing"},
	} {
		s, err := OpenBytes("planted", rewrite(t, sound, c.section, c.change))
		if err != nil {
			t.Errorf("%s: %v", c.fault, err)
			continue
		}
		wantFault(t, c.fault, Check(s), c.code, c.want)
	}
}

// wantFault fails unless the fault is named with its code.
func wantFault(t *testing.T, fault string, got []Fault, code, want string) {
	t.Helper()
	for _, f := range got {
		if f.Code == code && strings.HasPrefix(f.String(), want) {
			return
		}
	}
	t.Errorf("%s: Check = %+v, want %s %q", fault, got, code, want)
}

// plantPosting makes a segment whose list of "common" lacks its second row or has
// a posting too many.
func plantPosting(t *testing.T, fault string) []byte {
	t.Helper()
	model := plantModel()
	if fault == "missing posting" {
		model[0].messages[1].blocks[0].text = "common words in block b0"
	} else {
		model[0].messages[1].blocks[0].text += " common"
	}
	other := open(t, build(t, Options{Schema: testSchema, ID: testID}, model))
	sound := open(t, build(t, Options{Schema: testSchema, ID: testID}, plantModel()))
	b := sound.b
	for _, tag := range []string{tagDict, tagDictIndex, tagDocs, tagFreqs, tagPositions, tagBounds} {
		raw, err := other.must(tag, textIndex)
		if err != nil {
			t.Fatal(err)
		}
		b = rewrite(t, b, tag+" "+textIndex, func([]byte) []byte { return raw })
	}
	return b
}

func TestCheckNamesDamagedPages(t *testing.T) {
	r := newRand(t)
	b := build(t, Options{Schema: testSchema}, randomModel(r, 400, 20))
	sect := open(t, b).find(tagPositions, textIndex)
	at := sect.off + sect.size/2
	b[at] ^= 4
	s := open(t, b)
	faults := fmt.Sprint(Check(s))
	for _, want := range []string{"POSN text: checksum mismatch", fmt.Sprintf("page %d: checksum mismatch", at/pageBytes)} {
		if !strings.Contains(faults, want) {
			t.Errorf("Check = %v, want %q", faults, want)
		}
	}
	if _, err := got(s); !errors.Is(err, ErrCorrupt) {
		t.Errorf("read of a damaged segment: %v, want ErrCorrupt", err)
	}
	if n, err := s.Numbers("block.size"); err != nil || n == nil {
		t.Errorf("a column beside the damage: %v", err)
	}
}
