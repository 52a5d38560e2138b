package query

import (
	"context"
	"errors"
	"fmt"
	"math"
	"testing"
)

// manyMessages is a source of n messages of one session.
func manyMessages(n int) []Source {
	s := fakeSession{id: "codex-session:a", origin: "codex-session"}
	for i := range n {
		s.turns = append(s.turns, fakeMessage{role: "user", time: int64(i + 1)})
	}
	return []Source{newFake([]fakeSession{s})}
}

// TestRowOffsets asks for pages that begin far behind the end, which are empty, whatever
// their numbers add up to.
func TestRowOffsets(t *testing.T) {
	for _, stages := range []string{"", " | offset 5", " | offset 9223372036854775807", " | limit 9223372036854775807 | offset 3"} {
		p, err := Compile("messages where role:user"+stages, Options{Now: testNow})
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range []RowOptions{{Limit: 1, Offset: math.MaxInt}, {Limit: math.MaxInt, Offset: math.MaxInt}, {Limit: -1, Offset: math.MaxInt - 3}} {
			r, err := RunRows(context.Background(), p, manyMessages(10), o)
			if err != nil || len(r.Rows) > 0 {
				t.Errorf("%s, %+v: %d rows, %v", stages, o, len(r.Rows), err)
			}
		}
	}
}

// TestRowMemory holds the memory of a page to its limit: what an offset leaves out has to
// be kept while the page is made.
func TestRowMemory(t *testing.T) {
	p, err := Compile("messages where role:user", Options{Now: testNow})
	if err != nil {
		t.Fatal(err)
	}
	src := manyMessages(20_000)
	o := RowOptions{Limit: 1, Limits: Limits{Memory: 1 << 20}}
	if r, err := RunRows(context.Background(), p, src, o); err != nil || len(r.Rows) != 1 {
		t.Errorf("the first row: %v, %v", r, err)
	}
	o.Offset = 19_999
	_, err = RunRows(context.Background(), p, src, o)
	if e := new(Error); !errors.As(err, &e) || e.Code != CodeLimit {
		t.Errorf("the last row in a megabyte: %v", err)
	}
}

// TestGroupTies groups rows by a value that looks like none: the order is the same every
// time.
func TestGroupTies(t *testing.T) {
	src := []Source{newFake([]fakeSession{
		{id: "a", origin: "codex-session", repo: "[missing]", turns: []fakeMessage{{role: "user"}}},
		{id: "b", origin: "codex-session", turns: []fakeMessage{{role: "user"}}},
	})}
	p, err := Compile("messages where role:user | group by session.repo | agg count", Options{Now: testNow})
	if err != nil {
		t.Fatal(err)
	}
	for range 20 {
		r, err := RunGroups(context.Background(), p, src, GroupOptions{})
		if got := fmt.Sprint(r.Groups); err != nil || got != "[{[{[missing] false}] 1 [{1 true}]} {[{ true}] 1 [{1 true}]}]" {
			t.Fatalf("groups %s, %v", got, err)
		}
	}
}
