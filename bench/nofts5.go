//go:build !(cgo && sqlite_fts5)

package main

import (
	"context"
	"fmt"
	"time"
)

var errNoFTS5 = fmt.Errorf("%w: built without cgo or without -tags sqlite_fts5", errMissing)

func openFTS5(string) (engineUnderTest, error) { return nil, errNoFTS5 }

func openGrouped(string) (sessionSearcher, error) { return nil, errNoFTS5 }

func buildFTS5(string) func(context.Context, string, *built) (func() error, error) {
	return func(context.Context, string, *built) (func() error, error) { return nil, errNoFTS5 }
}

func appendFTS5(string, []string) (float64, error) { return 0, errNoFTS5 }

func reindexFTS5(string, map[int64]string) (time.Duration, error) { return 0, errNoFTS5 }

func firstFTS5(string, string) (int, error) { return 0, errNoFTS5 }
