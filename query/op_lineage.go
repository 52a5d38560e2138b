package query

import (
	"context"
	"fmt"
	"strings"

	"github.com/hansard-search/hansard/postings"
)

// lineage selects the sessions that share their root with a session: the parents of
// sessions lead to it. A root that is not in the archive is one all the same.
type lineage struct {
	id   int
	seed string
}

func (p *lineage) cost() Cost     { return CostBitmap }
func (p *lineage) String() string { return "lineage of " + p.seed }

// add looks up the sessions that kinOf found.
func (p *lineage) add(x *segment, _, out *postings.Bits) error {
	ids, err := x.src.Keywords("session.id")
	if err != nil {
		return fmt.Errorf("column session.id: %w", err)
	}
	return equals(x.kin[p.id]).addRows(ids, out, x.budget)
}

func (b *binder) lineage(n *Field) (predicate, *Error) {
	var of anyOf
	for _, v := range n.Values {
		seed := v.Text
		if strings.HasPrefix(strings.ToLower(seed), "id:") {
			seed = seed[len("id:"):]
		}
		if seed == "" {
			return nil, at(CodeSyntax, n.At, "lineage:id: requires a session id").field("lineage").expect("session id")
		}
		l := &lineage{id: len(b.lineages), seed: seed}
		b.lineages = append(b.lineages, l)
		of = append(of, l)
	}
	if len(of) == 1 {
		return of[0], nil
	}
	return of, nil
}

// kinOf finds, for each lineage of a plan, the sessions that belong to it. Parents may be
// in other sources than their children.
func kinOf(ctx context.Context, p *Plan, sources []Source) ([][]string, error) {
	if len(p.lineages) == 0 {
		return nil, nil
	}
	parents := map[string]string{}
	err := each(ctx, len(sources), 1, func(i int) error { return addParents(sources[i], parents) })
	if err != nil {
		return nil, err
	}
	roots := map[string][]string{} // children of a root, at any depth
	for child := range parents {
		root := rootOf(child, parents)
		roots[root] = append(roots[root], child)
	}
	out := make([][]string, len(p.lineages))
	for i, l := range p.lineages {
		root := rootOf(l.seed, parents)
		out[i] = append(roots[root], root)
	}
	return out, nil
}

// addParents adds the live sessions of a source that have a parent, with the parent.
func addParents(src Source, parents map[string]string) error {
	column, err := src.Keywords("session.parent")
	if err != nil {
		return fmt.Errorf("column session.parent: %w", err)
	}
	ids, err := src.Keywords("session.id")
	if err != nil {
		return fmt.Errorf("column session.id: %w", err)
	}
	live, err := src.Live(postings.Session)
	if err != nil {
		return fmt.Errorf("live sessions: %w", err)
	}
	rows := postings.GetBits(src.Rows(postings.Session))
	defer postings.PutBits(rows)
	var of []int
	for i := range column.Len() {
		parent, err := column.Value(i)
		if err != nil {
			return err
		}
		parent = strings.Clone(parent)
		rows.Reset(src.Rows(postings.Session))
		if err := column.AddRows(i, rows); err != nil {
			return err
		}
		rows.And(live)
		for o := range rows.All() {
			if of, err = ids.AppendOf(of[:0], o); err != nil {
				return err
			}
			if len(of) == 0 {
				continue
			}
			child, err := ids.Value(of[0])
			if err != nil {
				return err
			}
			parents[strings.Clone(child)] = parent
		}
	}
	return nil
}

// rootOf follows parents to the end. Sessions whose parents lead back to them have the
// least id among these as their root.
func rootOf(id string, parents map[string]string) string {
	seen := map[string]bool{}
	for {
		parent, ok := parents[id]
		if !ok {
			return id
		}
		if seen[id] {
			break
		}
		seen[id] = true
		id = parent
	}
	least := id
	for k := parents[id]; k != id; k = parents[k] {
		least = min(least, k)
	}
	return least
}
