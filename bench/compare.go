package main

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"time"
)

// A comparison is one run: what it has built and drawn so far.
type comparison struct {
	c         config
	r         *report
	layout    *layout
	built     map[string]*built
	questions []*question
	oracle    *oracle
	scratches []string // folders to remove at the end
}

// compare measures all wanted rows. An answer on which an engine differs from the
// oracle is an error that comes with the report, and no time is taken then.
func compare(ctx context.Context, c config) (*report, error) {
	x := &comparison{c: c, r: newReport(c), built: map[string]*built{}}
	started := time.Now()
	var err error
	if x.layout, err = prepare(c); err != nil {
		return nil, err
	}
	x.r.Corpus.Bytes, x.r.Corpus.Sessions = x.layout.Bytes, x.layout.Sessions
	for _, step := range []struct {
		run func(context.Context) error
		ids []string
	}{
		{x.draw, append(queryIDs(), "Search", "Q14", "Q15", "P1")},
		{x.blockRows, queryIDs()},
		{x.searchRow, []string{"Search"}},
		{x.buildRows, []string{"I1", "I2", "I5", "I6", "S1", "S2"}},
		{x.firstHitsRow, []string{"Q15"}},
		{x.budgetRow, []string{"P1"}},
		{x.scratchRows, []string{"Q14", "I4", "I7"}},
		{x.scalingRow, []string{"I3"}},
	} {
		if err == nil && c.wants(step.ids...) {
			err = step.run(ctx)
		}
	}
	err = errors.Join(err, x.removeScratches())
	for _, g := range goals {
		if g.later != "" && c.wants(g.id) {
			x.r.add(newRow(g.id, "", false).finish())
		}
	}
	ids := goalIDs()
	slices.SortStableFunc(x.r.Rows, func(a, b *row) int { return slices.Index(ids, a.ID) - slices.Index(ids, b.ID) })
	x.r.Machine.LoadAfter, x.r.Machine.Seconds = load(), time.Since(started).Seconds()
	return x.r, err
}

// make builds an index once and remembers what it took.
func (x *comparison) make(ctx context.Context, what string) (*built, error) {
	if b := x.built[what]; b != nil {
		return b, nil
	}
	b, err := x.c.build(ctx, what)
	if err != nil {
		return nil, err
	}
	x.built[what] = b
	return b, nil
}

// peer builds what a peer needs, and reports why there is none: it was not asked for,
// or is missing here. The reason is empty if all is there.
func (x *comparison) peer(ctx context.Context, name, what string) (b *built, why string, err error) {
	if !x.c.hasPeer(name) {
		return nil, "not asked for", nil
	}
	if b, err = x.make(ctx, what); err != nil {
		return nil, "", err
	}
	if b.Missing != "" {
		x.r.Machine.Engines[name] = b.Missing
		return nil, b.Missing, nil
	}
	x.r.Machine.Engines[name] = b.Version
	return b, "", nil
}

// draw makes the questions and reads the texts again for the oracle.
func (x *comparison) draw(context.Context) error {
	x.c.log("drawing questions")
	v := newVocabulary(x.c.seed)
	err := documents(x.c.dir, func(b *block) error {
		v.add(b)
		return nil
	})
	if err != nil {
		return err
	}
	x.r.Corpus.Tokens, x.r.Corpus.Terms = v.tokens, len(v.terms)
	wanted := x.classes()
	x.questions = v.drawAll(x.c.queries, func(class string) bool { return slices.Contains(wanted, class) })
	x.oracle = newOracle(x.questions)
	err = documents(x.c.dir, func(b *block) error {
		x.oracle.add(b)
		return nil
	})
	runtime.GC()
	return err
}

// classes are those that the wanted rows ask.
func (x *comparison) classes() []string {
	var out []string
	for _, r := range queryRows {
		if x.c.wants(r.id) {
			for _, k := range r.cases {
				out = append(out, k.class)
			}
		}
	}
	if x.c.wants("Search", "Q14", "Q15", "P1") {
		out = append(out, searchClasses...)
	}
	return out
}

func (x *comparison) ofClass(class string) []*question {
	var out []*question
	for _, q := range x.questions {
		if q.class == class {
			out = append(out, q)
		}
	}
	return out
}

// checkAll compares the answers of the engines with the oracle's.
func (x *comparison) checkAll(ctx context.Context, names []string, questions []*asked) error {
	x.c.log("checking %d questions", len(questions))
	before := len(x.r.Checked.Differences)
	for _, q := range questions {
		x.r.Checked.Queries++
		for _, name := range names {
			if q.by[name] == nil {
				continue
			}
			why, err := q.check(ctx, name)
			if err != nil {
				return err
			}
			x.r.Checked.Answers[name]++
			if why != "" {
				x.r.Checked.Differences = append(x.r.Checked.Differences, fmt.Sprintf("%s: %s %s: %s", name, q.class, q.text(), why))
			}
		}
	}
	if n := len(x.r.Checked.Differences) - before; n > 0 {
		return fmt.Errorf("%d answers differ, the first: %s", n, x.r.Checked.Differences[before])
	}
	return nil
}

// engines opens ours and every wanted peer that is there. The reasons of the others
// are returned by name.
func (x *comparison) engines(ctx context.Context) (open map[string]engineUnderTest, missing map[string]string, err error) {
	open, missing = map[string]engineUnderTest{}, map[string]string{}
	if _, err := x.make(ctx, "blocks"); err != nil {
		return open, missing, err
	}
	ours, err := openBlocks(x.c.dir)
	if err != nil {
		return open, missing, err
	}
	open[ourName] = ours
	x.r.Machine.Engines[ourName] = "this checkout"
	for _, name := range peerNames {
		_, why, err := x.peer(ctx, name, name)
		if err != nil {
			return open, missing, err
		}
		if why != "" {
			missing[name] = why
			continue
		}
		e, err := openPeer(x.c, name)
		if err != nil {
			return open, missing, err
		}
		open[name] = e
		x.r.Machine.Engines[name] = e.Name()
	}
	return open, missing, nil
}

func closeAll(open map[string]engineUnderTest) error {
	var errs []error
	for _, e := range open {
		errs = append(errs, e.Close())
	}
	return errors.Join(errs...)
}
