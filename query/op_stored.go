package query

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/hansard-search/hansard/postings"
)

// storedText selects the rows that have, or own a row of another unit that has, a
// stored text which contains one of its needles, without regard to case.
type storedText struct {
	field   *FieldSpec
	to      postings.Unit // the rows that are selected
	needles []needle
}

// A needle is what a stored text shall contain.
type needle struct {
	text string
	fold []byte
}

func newStored(f *FieldSpec, rows *UnitSpec, values []string) *storedText {
	p := &storedText{field: f, to: rows.Rows}
	for _, v := range values {
		p.needles = append(p.needles, needle{v, appendFold(nil, v)})
	}
	return p
}

func (p *storedText) cost() Cost { return CostStored }

func (p *storedText) String() string {
	var values []string
	for _, n := range p.needles {
		values = append(values, n.text)
	}
	return p.field.Part.String() + " " + quoteAll("contains", values)
}

func (p *storedText) add(x *segment, within, out *postings.Bits) error {
	of := p.field.Of
	live, err := x.src.Live(of)
	if err != nil {
		return fmt.Errorf("live %ss: %w", of, err)
	}
	rows := postings.GetBits(live.Len())
	defer postings.PutBits(rows)
	rows.Or(live)
	if of == p.to {
		if within != nil {
			rows.And(within)
		}
		return p.scan(x, rows, out)
	}
	spans, err := x.src.Spans(p.to, of)
	if err != nil {
		return fmt.Errorf("spans of %ss: %w", of, err)
	}
	found := postings.GetBits(live.Len())
	defer postings.PutBits(found)
	if within != nil {
		postings.Lower(within, found, spans)
		rows.And(found)
		found.Reset(live.Len())
	}
	if err := p.scan(x, rows, found); err != nil {
		return err
	}
	postings.Lift(found, out, spans)
	return nil
}

var errNoTexts = errors.New("the source has no stored texts")

// scan adds the rows that have such a text.
func (p *storedText) scan(x *segment, rows, out *postings.Bits) error {
	if !rows.Any() {
		return nil
	}
	src, ok := x.src.(TextSource)
	if !ok {
		return errNoTexts
	}
	if p.field.Of == postings.Block && p.field.Part == SearchText {
		if err := p.narrow(x, src, rows); err != nil {
			return err
		}
	}
	var fold []byte
	return src.Texts(x.budget.context(), p.field.Of, rows, p.field.Part, func(row postings.Ord, text string) bool {
		fold = appendFold(fold[:0], text)
		for _, n := range p.needles {
			if bytes.Contains(fold, n.fold) {
				out.Add(row)
				return false
			}
		}
		return true
	})
}
