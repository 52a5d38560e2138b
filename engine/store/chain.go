package store

import (
	"errors"

	"github.com/cockroachdb/pebble/v2"
)

// Every batch that the store writes carries a link: an empty record under the next
// number of a counter. What a crash cuts off is the end of the last write-ahead log, so
// that it leaves no hole in the numbers. A hole is a log that was lost, or cut, or a
// table that the MANIFEST forgot, wherever it was; Pebble replays what is left and says
// nothing. Links that are in tables for good are pruned: the guard says up to where.

// chainLong is the number of links after which the chain is pruned. It bounds what is
// read at opening, to some ms.
const chainLong = 8 << 10

// chainSkip is how many numbers are passed over when the last one cannot be read.
const chainSkip = 1 << 32

// A chain is the writer's view of the links.
type chain struct {
	base base
	last uint64 // of the batch that was applied last
	long uint64 // links that make a pruning worth it
	blur bool   // not all links could be read

	flushed <-chan struct{} // closed once the links up to next are in tables; nil if none are on the way
	next    base
}

// A base is where the chain begins: links up to it are pruned.
type base struct {
	link       uint64
	generation uint64 // that the link had
}

// put lets the chain begin at a base. All before it must be in tables.
func (a base) put(b *pebble.Batch) error {
	var e encoder
	e.byte(recordVersion)
	e.uint(a.link)
	e.uint(a.generation)
	if err := b.DeleteRange(keyLink(0), keyLink(a.link+1), nil); err != nil {
		return err
	}
	return b.Set(keyBase, e.b, nil)
}

// apply applies a batch with the next link. All writes go through it; it is called on
// the writer, or while the store opens.
func (s *Store) apply(b *pebble.Batch, o *pebble.WriteOptions) error {
	c := &s.chain
	gen := s.state.Load().Generation
	prune := c.due()
	if prune {
		if err := c.next.put(b); err != nil {
			return err
		}
	}
	var e encoder
	e.uint(gen)
	if err := b.Set(keyLink(c.last+1), e.b, nil); err != nil {
		return err
	}
	if err := s.db.Apply(b, o); err != nil {
		return err
	}
	c.last++
	if prune {
		c.base, c.flushed = c.next, nil
	}
	if c.flushed != nil || c.last-c.base.link < c.long {
		return nil
	}
	var err error
	c.next = base{c.last, gen}
	c.flushed, err = s.db.AsyncFlush()
	return err
}

// due reports whether links can be pruned now.
func (c *chain) due() bool {
	select {
	case <-c.flushed:
		return true
	default:
		return false
	}
}

func decodeLink(k, v []byte) (number, generation uint64, err error) {
	d := decoder{s: string(v)}
	generation = d.uint()
	if err := d.finish("link"); err != nil || len(k) != 9 {
		return 0, 0, corruptf("link %x: bad record (%v)", k[1:], err)
	}
	return get64(k[1:]), generation, nil
}

// A gap is what the links say of lost writes.
type gap struct {
	writes  uint64 // that are missing
	commits uint64 // at most so many of them changed sessions
	since   uint64 // generation before the first of them
}

// loadChain reads the links.
func (s *Store) loadChain() (lost gap, err error) {
	c := &s.chain
	c.long = chainLong
	_, err = get(s.db, keyBase, func(v []byte) error {
		d := record(v)
		c.base = base{d.uint(), d.uint()}
		return d.finish("base of the chain")
	})
	if err != nil {
		return gap{}, err
	}
	c.last = c.base.link
	gen := c.base.generation
	err = scanRange(s.db, keyLink(c.last+1), prefixEnd([]byte{prefixBatch}), func(k, v []byte) error {
		n, now, err := decodeLink(k, v)
		if err != nil {
			return err
		}
		if missing := n - c.last - 1; missing > 0 {
			if lost.writes == 0 {
				lost.since = gen
			}
			lost.writes += missing
			lost.commits += now - min(gen, now)
		}
		c.last, gen = n, now
		return nil
	})
	if errors.Is(err, ErrCorrupt) {
		// A damaged table costs what is in it, and the check names it.
		s.opts.Logger.Error("store: links cannot be read", "err", err)
		c.blur, err = true, nil
	}
	return lost, err
}
