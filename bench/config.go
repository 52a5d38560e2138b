package main

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/hansard-search/hansard/bench/corpus"
)

// limit is the page size of every ranked query.
const limit = 10

// peerNames are the engines that can stand beside ours, in the order of the tables.
var peerNames = []string{"fts5", "bleve", "bluge", "xapian"}

// A config is what a run measures and where.
type config struct {
	blocks, queries, rounds int
	seed                    uint64
	peers                   []string // of peerNames
	rows                    []string // ids of goals; empty: all
	dir                     string   // for corpus and indexes
	profiles                string   // folder; empty for no profiles
	log                     func(format string, args ...any)
}

func (c config) corpus() corpus.Options { return corpus.Options{Blocks: c.blocks, Seed: c.seed} }

// wants reports whether any of the rows is to be measured.
func (c config) wants(ids ...string) bool {
	return len(c.rows) == 0 || slices.ContainsFunc(ids, func(id string) bool { return slices.Contains(c.rows, id) })
}

func (c config) hasPeer(name string) bool { return slices.Contains(c.peers, name) }

// check refuses what cannot be measured.
func (c config) check() error {
	if c.blocks < 1 || c.queries < 1 || c.rounds < 1 {
		return fmt.Errorf("blocks, queries and rounds must be at least 1")
	}
	for _, p := range c.peers {
		if !slices.Contains(peerNames, p) {
			return fmt.Errorf("no such peer: %s; there are %s", p, strings.Join(peerNames, ", "))
		}
	}
	for _, r := range c.rows {
		if goalOf(r) == nil {
			return fmt.Errorf("no such row: %s; there are %s", r, strings.Join(goalIDs(), ", "))
		}
	}
	return nil
}

// list splits the value of a flag.
func list(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return r == ',' || r == ' ' })
}

func logTo(f *os.File) func(string, ...any) {
	return func(format string, args ...any) { fmt.Fprintf(f, format+"\n", args...) }
}
