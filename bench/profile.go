package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime/pprof"
	"time"
)

// profileTime is how long a row is asked under the profiler.
const profileTime = 5 * time.Second

// profile runs f under the CPU profiler.
func profile(path string, f func() error) (err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	out, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	if err := pprof.StartCPUProfile(out); err != nil {
		return err
	}
	defer pprof.StopCPUProfile()
	return f()
}

// profiled runs what a row measures, under the profiler if profiles are wanted.
func (x *comparison) profiled(name string, f func() error) error {
	if x.c.profiles == "" {
		return f()
	}
	return profile(filepath.Join(x.c.profiles, name+".pprof"), f)
}

// profileBlocks asks ours the questions of each row, if profiles are wanted.
func (x *comparison) profileBlocks(ctx context.Context, questions []*asked) error {
	for _, r := range queryRows {
		if !x.c.wants(r.id) {
			continue
		}
		if err := x.profileClass(ctx, r.id, r.cases[0].class, r.cases[0].mode, questions); err != nil {
			return err
		}
	}
	return nil
}

// profileSearches does so for each class of whole searches.
func (x *comparison) profileSearches(ctx context.Context, questions []*asked) error {
	for _, class := range searchClasses {
		if err := x.profileClass(ctx, "Search-"+class, class, top, questions); err != nil {
			return err
		}
	}
	return nil
}

func (x *comparison) profileClass(ctx context.Context, name, class string, m mode, questions []*asked) error {
	if x.c.profiles == "" {
		return nil
	}
	var mine []*asked
	for _, q := range questions {
		if q.class == class && q.mode == m {
			mine = append(mine, q)
		}
	}
	if len(mine) == 0 {
		return nil
	}
	return profile(filepath.Join(x.c.profiles, name+".pprof"), func() error {
		for start := time.Now(); time.Since(start) < profileTime; {
			for _, q := range mine {
				if _, err := q.by[ourName].Time(ctx, m, 1); err != nil {
					return err
				}
			}
		}
		return nil
	})
}
