package main

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/hansard-search/hansard/bench/corpus"
)

// A block is one document as an engine is given it. Its number counts from 0 over
// the corpus.
type block struct {
	number  uint32
	session uint32 // ordinal of the session in the corpus
	rank    uint32 // rank of the block in its session
	repo    uint32
	time    int64 // of the session's last block, ms since the epoch
	text    string
}

// repoName is the name of a repository as the corpus writes it.
func repoName(repo uint32) string { return fmt.Sprintf("project-%02d", repo) }

// A layout says what the files of a corpus hold.
type layout struct {
	Blocks   int    `json:"blocks"`
	Seed     uint64 `json:"seed"`
	Sessions int    `json:"sessions"`
	Bytes    int64  `json:"bytes"`
}

func textsPath(dir string) string { return filepath.Join(dir, "texts.bin") }
func homePath(dir string) string  { return filepath.Join(dir, "home") }

// prepare writes the corpus twice below the work folder, as texts for the peers and
// as session files for the engine, unless an equal one is there.
func prepare(c config) (*layout, error) {
	var have layout
	mark := filepath.Join(c.dir, "corpus.json")
	if b, err := os.ReadFile(mark); err == nil && json.Unmarshal(b, &have) == nil {
		if have.Blocks != c.blocks || have.Seed != c.seed {
			return nil, fmt.Errorf("%s holds another corpus: %d blocks of seed %d", c.dir, have.Blocks, have.Seed)
		}
		return &have, nil
	}
	c.log("writing %d blocks", c.blocks)
	f, err := os.Create(textsPath(c.dir))
	if err != nil {
		return nil, err
	}
	w := bufio.NewWriterSize(f, 1<<20)
	l := &layout{Blocks: c.blocks, Seed: c.seed}
	for s := range corpus.Sessions(c.corpus()) {
		if _, err = corpus.Write(homePath(c.dir), s); err != nil {
			break
		}
		if err = writeTexts(w, s, l); err != nil {
			break
		}
	}
	if err = errors.Join(err, w.Flush(), f.Close()); err != nil {
		return nil, fmt.Errorf("write the corpus: %w", err)
	}
	b, err := json.Marshal(l)
	if err != nil {
		return nil, err
	}
	return l, os.WriteFile(mark, b, 0o644)
}

// writeTexts appends the documents of a session: session, block, repo, length, time,
// text.
func writeTexts(w io.Writer, s corpus.Session, l *layout) error {
	repo, err := strconv.Atoi(strings.TrimPrefix(s.Repo, "project-"))
	if err != nil {
		return err
	}
	last := s.Time(len(s.Blocks) - 1).UnixMilli()
	var head [24]byte
	for i, b := range s.Blocks {
		text := corpus.SearchText(b)
		binary.LittleEndian.PutUint32(head[0:], uint32(l.Sessions))
		binary.LittleEndian.PutUint32(head[4:], uint32(i))
		binary.LittleEndian.PutUint32(head[8:], uint32(repo))
		binary.LittleEndian.PutUint32(head[12:], uint32(len(text)))
		binary.LittleEndian.PutUint64(head[16:], uint64(last))
		if _, err := w.Write(head[:]); err != nil {
			return err
		}
		if _, err := io.WriteString(w, text); err != nil {
			return err
		}
		l.Bytes += int64(len(text))
	}
	l.Sessions++
	return nil
}

// documents reads the texts of a corpus, in order.
func documents(dir string, each func(*block) error) error {
	f, err := os.Open(textsPath(dir))
	if err != nil {
		return err
	}
	defer f.Close()
	r := bufio.NewReaderSize(f, 1<<20)
	var head [24]byte
	var text []byte
	for n := uint32(0); ; n++ {
		if _, err := io.ReadFull(r, head[:]); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		text = slices.Grow(text[:0], int(binary.LittleEndian.Uint32(head[12:])))[:binary.LittleEndian.Uint32(head[12:])]
		if _, err := io.ReadFull(r, text); err != nil {
			return err
		}
		d := block{
			number: n, session: binary.LittleEndian.Uint32(head[0:]), rank: binary.LittleEndian.Uint32(head[4:]),
			repo: binary.LittleEndian.Uint32(head[8:]), time: int64(binary.LittleEndian.Uint64(head[16:])), text: string(text),
		}
		if err := each(&d); err != nil {
			return err
		}
	}
}
