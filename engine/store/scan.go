package store

import (
	"errors"

	"github.com/cockroachdb/pebble/v2"
)

// errStop ends a scan early without error.
var errStop = errors.New("stop")

// scan calls f for every key with the prefix, in order. Key and value are valid
// during the call only.
func scan(r pebble.Reader, prefix []byte, f func(k, v []byte) error) error {
	return scanRange(r, prefix, prefixEnd(prefix), f)
}

func scanRange(r pebble.Reader, from, to []byte, f func(k, v []byte) error) (err error) {
	it, err := r.NewIter(&pebble.IterOptions{LowerBound: from, UpperBound: to})
	if err != nil {
		return mapErr(err)
	}
	defer func() {
		if err2 := mapErr(it.Close()); err == nil {
			err = err2
		}
	}()
	for ok := it.First(); ok; ok = it.Next() {
		v, err := it.ValueAndErr()
		if err != nil {
			return mapErr(err)
		}
		if err := f(it.Key(), v); err != nil {
			if err == errStop {
				return nil
			}
			return err
		}
	}
	return mapErr(it.Error())
}

// get calls f with a key's value, which is valid during the call only. It reports
// whether the key is there.
func get(r pebble.Reader, key []byte, f func(v []byte) error) (found bool, err error) {
	v, closer, err := r.Get(key)
	if errors.Is(err, pebble.ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, mapErr(err)
	}
	err = f(v)
	return true, errors.Join(err, closer.Close())
}

func has(r pebble.Reader, key []byte) (bool, error) {
	return get(r, key, func([]byte) error { return nil })
}

// hasPrefix reports whether any key has the prefix.
func hasPrefix(r pebble.Reader, prefix []byte) (bool, error) {
	found := false
	err := scan(r, prefix, func(_, _ []byte) error { found = true; return errStop })
	return found, err
}
